/* The nettrace reader: shared types, and the functions that its files offer to each other.
 *
 * Reading goes through four steps. Each call of nettrace_reader_next() repeats them until the batch
 * has events.
 *
 *   input bytes
 *      | nettrace_read.c: choose what to read next
 *      v
 *   object (V3 to V5) or block (V6): nettrace_objects.c, nettrace_blocks.c
 *      | metadata, stacks, threads, labels: stored in tables
 *      | events: nettrace_scan.c checks each header once and cuts the block into runs
 *      v
 *   runs: events of one capture thread with ascending times
 *      | nettrace_order.c: k-way merge by (ticks, position), with a binary heap
 *      v
 *   batch of ttr_event
 *
 *   nettrace_read.c      opening; the loop above; events of V1 and V2
 *   nettrace_objects.c   V3 to V5: object frames, and resynchronisation after damage
 *   nettrace_resync.c    V1, V2, V6: resynchronisation after damage
 *   nettrace_trace.c     the Trace object: clock, pointer size, process
 *   nettrace_header.c    decoding of event headers
 *   nettrace_scan.c      a block becomes runs; sequence counters; metadata events of V3 to V5
 *   nettrace_order.c     runs become batches in order of time
 *   nettrace_threads.c   capture threads with their sequence counters; lost events
 *   nettrace_stacks.c    stacks by number
 *   nettrace_metadata.c  metadata of V1 to V5
 *   nettrace_blocks.c    V6: blocks, threads
 *   nettrace_metadata6.c V6: metadata
 *   nettrace_labels.c    V6: label lists
 *   nettrace_types.c     event types: metadata plus schema
 *   nettrace_layouts.c  layouts of payloads, compiled at first use
 *   nettrace_fields.c    field iterator
 *   nettrace_spans.c     spans of the runtime: collections, compilation, thread pool
 *   nettrace_symbols.c   functions and modules that runtime events declare
 *   nettrace_universal.c the same for traces of a complete machine, and process names
 *   nettrace_pieces.c    the window of the input; raw pieces for copies
 *
 * Memory grows with the number of threads and with the bytes between two sequence points, not with
 * the events: a run keeps its position and its next header. The decoded headers of up to
 * NETTRACE_CACHED_MAX waiting events are cached; later ones are decoded a second time when they are
 * emitted. The input window keeps the bytes of all events that wait.
 *
 * Invariant: tables that events refer to (metadata, stacks, threads, labels) are cleared only while
 * the batch is empty and no event waits. */
#ifndef TRACETTA_NETTRACE_H
#define TRACETTA_NETTRACE_H

#include "base/arena.h"
#include "base/clock_math.h"
#include "base/cursor.h"
#include "base/pair_map.h"
#include "formats/nettrace/nettrace_header.h"
#include "model/input.h"
#include "layout/layout.h"

#define NETTRACE_NONE UINT32_MAX
/* Interpretations of a payload if its metadata may be wrong: bit 0: booleans have one byte,
 * bit 1: bytes have four. */
#define NETTRACE_LAYOUTS_MAX 4u
#define NETTRACE_DENSE_MAX 65536u  /* metadata numbers below this are looked up in a plain array */
#define NETTRACE_RUNS_MAX 65536u   /* waiting runs; beyond that events are emitted out of order */
#define NETTRACE_CACHED_MAX 16384u /* cached decoded headers of waiting events; a power of two */
/* bytes from the oldest waiting event to the current block; beyond that events are emitted out of
 * order */
#define NETTRACE_REGION_MAX ((uint64_t)256 << 20)
/* waiting gaps; beyond that their counts are added to the last one */
#define NETTRACE_GAPS_MAX 65536u
#define NETTRACE_THREAD_CACHE 256u

struct nettrace_reader;

/* Declaration of code or processes that an event type carries. */
enum symbols_kind {
    SYMBOLS_NONE,
    SYMBOLS_METHOD,
    SYMBOLS_METHOD_RUNDOWN,
    SYMBOLS_MODULE,
    SYMBOLS_MODULE_OF_DOMAIN,
    SYMBOLS_PROCESS,
    SYMBOLS_MAPPED,
    SYMBOLS_SYMBOL
};

/* Payload layouts of an event type. Each is compiled when an event is first decoded by it. */
struct nettrace_layouts {
    /* type of the payload; NULL if the fields are unknown */
    const struct type *root;
    /* valid if its bit in `tried` is set; NULL if it cannot be compiled */
    const struct layout *layout[NETTRACE_LAYOUTS_MAX];
    uint64_t offset; /* file offset of the metadata, for notes */
    /* bit i: root member i is converted before it is returned; valid if `is_plain` */
    uint64_t converted;
    /* tried: bit per compiled layout; could_lie: bits of interpretations that are possible */
    uint8_t tried, could_lie;
    /* all events without labels consist of the root members alone, if layout 0 fits; valid after
     * the first compilation */
    bool is_plain;
};

/* An event type: the metadata with one number, and the schema made of them. */
struct nettrace_type {
    struct nettrace_reader *reader;
    struct nettrace_layouts *layouts;
    uint64_t events_emitted;        /* events of this type emitted so far */
    uint32_t index, provider_index; /* position among all types; number of its provider */
    /* V6: some fields refer to bytes after the last field, so these are not undecoded bytes */
    bool has_locations;
    ttr_id schema, name, provider;
    /* name without Start or Stop, which pairs begin and end events (model/activity.h) */
    ttr_id task;
    uint64_t keyword;
    uint32_t id, version;
    uint8_t level, opcode, kind;
    /* rule that pairs its begin and end events; enum span_kind in nettrace_spans.c */
    uint8_t span;
    uint8_t symbols_kind; /* enum symbols_kind: code or processes that its events declare */
    uint32_t number;      /* number of the metadata in the file */
    ttr_text message, description;
    /* metadata bytes as stored, in V6 without their number; owned by reader->arena */
    const uint8_t *stored;
    uint32_t stored_n;
    ttr_event template; /* event with all members that are equal in each event of this type */
};

/* Tables of event types. Types are never freed before the reader is closed. */
struct nettrace_types {
    struct nettrace_type *
        *dense; /* type by metadata number; numbers below NETTRACE_DENSE_MAX only */
    size_t dense_n;
    struct nettrace_type **all;
    size_t all_n, all_capacity;
    struct pair_map sparse;        /* number to index in `all`, for other numbers */
    struct pair_map known;         /* (hash of stored bytes, number) to index in `all` */
    struct pair_map providers;     /* (provider, 0) to provider number */
    struct nettrace_type **sorted; /* `all` sorted by provider, for descriptions */
    size_t sorted_n, sorted_capacity;
    /* metadata number of the last event with metadata that were not yet read; 0 if none */
    uint32_t awaited;
};

/* A thread that captured events. Its sequence counter shows whether events are missing. */
struct nettrace_capture_thread {
    uint64_t id;
    uint64_t ticks;    /* ticks of the last event scanned, which may still wait */
    uint32_t sequence; /* sequence number of that event */
    /* index of the waiting run with the latest end; NETTRACE_NONE if none waits */
    uint32_t tail;
    uint32_t tail_stamp; /* stamp of that run; another stamp means that the slot was reused */
    ttr_id track;
    bool is_known; /* `sequence` is valid */
};

struct nettrace_threads {
    struct pair_map by_index; /* V6: (thread index, 0) to thread id */
    struct nettrace_capture_thread *capture;
    size_t capture_n, capture_capacity;
    /* (thread id of the OS, 0) to index in `capture`; V6: (id of the model, 0) */
    struct pair_map by_id;
    struct {
        uint64_t tid;
        ttr_id thread;
    } cache[NETTRACE_THREAD_CACHE];
};

/* Missing events of a capture thread. Times are ticks. */
struct nettrace_gap {
    uint64_t from, to, count, offset;
    ttr_id track;
};

/* Cached header of a waiting event: members that differ from the event before it. Positions are
 * bytes from the start of the event, 0 if absent. A header that names a thread is decoded again
 * instead. */
struct nettrace_cached_header {
    uint64_t ticks;
    uint32_t metadata, stack, payload_size;
    uint8_t payload_at, activity_at, related_at;
    uint8_t flags;
};

/* Consecutive events of a block with ascending times. At least one of them waits. */
struct nettrace_run {
    struct nettrace_header at;         /* decoded header of the next event to emit */
    struct nettrace_header_range span; /* bytes from the start of the block to the end of the run */
    uint64_t last;                     /* ticks of the last event */
    uint64_t keep_from; /* file offset; the input window must keep bytes from here on */
    /* thread numbers for which `track` and `thread` were looked up */
    uint64_t capture_id, thread_id;
    ttr_id track, thread;
    uint32_t next, stamp; /* next: index of the next run of the chain, or of the next free run */
    uint32_t cached, cached_end; /* range of order->cached: cached headers of the events after `at`;
                                    equal if none */
};

/* Heap entry: the first waiting event of a chain of runs. */
struct nettrace_heap_entry {
    uint64_t ticks;
    const uint8_t *place; /* position in the window; breaks ties of equal ticks */
    uint32_t run;
};

struct nettrace_order {
    struct nettrace_run *runs;
    size_t runs_capacity;
    uint32_t runs_n, runs_used, free, stamp;
    struct nettrace_heap_entry *heap;
    size_t heap_capacity;
    uint32_t heap_n;
    /* ring of NETTRACE_CACHED_MAX cached headers; NULL until first needed */
    struct nettrace_cached_header *cached;
    uint32_t cached_n, cached_first_needed; /* count of headers ever stored; lowest number that a
                                               waiting run still needs */
    struct nettrace_gap *gaps;              /* sorted by `from` while emitting */
    size_t gaps_n, gaps_capacity, gaps_emitted;
    uint64_t limit;   /* while emitting: ticks of the last event that may be emitted */
    uint64_t emitted; /* ticks of the last event emitted */
    /* lowest file offset that waiting runs need; UINT64_MAX if none waits; not updated while
     * emitting */
    uint64_t keep_from;
    bool is_emitting, has_emitted;
};

/* Extent of the addresses of a stack. The size is here, so that it is known before the bytes are
 * loaded into the cache. */
struct nettrace_stack_extent {
    uint64_t at;
    uint32_t bytes;
};

/* Stacks since the last sequence point. Runtimes number them in ascending order: `ranges` holds
 * those, sorted by number. Stacks with lower numbers than the one before, which no known runtime
 * writes, are in `others`, so that each lookup stays logarithmic. */
struct nettrace_stacks {
    uint8_t *bytes; /* addresses of all stacks; each stack starts at a multiple of 8 */
    size_t bytes_n, bytes_capacity;
    struct nettrace_stack_extent *at; /* extent of each stack in `bytes` */
    size_t at_n, at_capacity;
    struct nettrace_stack_range *ranges;
    size_t ranges_n, ranges_capacity;
    struct pair_map others; /* number to index in `at` */
    /* fast path: stacks at[number - fast_first] with addresses that can be copied as native 64-bit
     * integers; fast_n is 0 if that is not possible for all */
    uint32_t fast_first, fast_n;
};

/* Numbers first to first + n - 1 (within 32 bits) have the extents at[begin] and following. */
struct nettrace_stack_range {
    uint32_t first, n;
    size_t begin;
};

struct nettrace_label_list {
    size_t at, n; /* extent in `bytes` */
};

/* Label lists since the last sequence point. */
struct nettrace_labels {
    uint8_t *bytes;
    size_t bytes_n, bytes_capacity;
    struct nettrace_label_list *list;
    size_t list_n, list_capacity;
    struct pair_map by_number; /* number of a list to index in `list` */
};

/* A process that uses a mapping of a file. */
struct nettrace_mapping {
    uint32_t process, module; /* module of the mapped file; 0 if none */
    uint32_t next;            /* next process with the same mapping; NETTRACE_NONE if none */
};

struct nettrace_universal {
    struct nettrace_mapping *mapping;
    size_t n, capacity;
    struct pair_map by_id; /* (mapping id, 0) to the first entry in `mapping` */
};

/* Kinds of pieces. A piece is a contiguous part of the input: an object, a block or the file head.
 * Pieces are emitted as definition events (TTR_READ_DEFINITIONS). In order they cover every
 * undamaged byte. Members of the event: `tag` is the kind, `body` is the offset of the content in
 * the piece, `sequence` counts its events, which follow later. `link` is a file offset: all events
 * before it were emitted. TTR_EVENT_PARTIAL: the piece ends where decoding stopped. */
enum nettrace_piece_kind {
    NETTRACE_PIECE_HEAD = 1,
    NETTRACE_PIECE_TRACE,
    NETTRACE_PIECE_EVENTS,
    NETTRACE_PIECE_METADATA,
    NETTRACE_PIECE_STACKS,
    NETTRACE_PIECE_POINT,
    NETTRACE_PIECE_THREADS,
    NETTRACE_PIECE_GONE,
    NETTRACE_PIECE_LABELS,
    NETTRACE_PIECE_OTHER,
    NETTRACE_PIECE_FLAT, /* V1, V2: events */
    NETTRACE_PIECE_END,  /* the end mark */
    NETTRACE_PIECE_REST  /* bytes after the end mark */
};

struct nettrace_piece {
    uint64_t offset;
    uint32_t size, body, events;
    uint8_t kind;
    bool is_part;
};

#define NETTRACE_PIECES_MAX 4u

struct nettrace_reader {
    struct input *in;
    ttr *t;
    ttr_error *error; /* of the call of nettrace_reader_next() that is running */
    unsigned version;
    uint32_t pointer_bytes;
    uint64_t pid;
    struct clock_math clock;
    uint64_t sync_ticks;
    int64_t sync_ns;
    uint64_t
        /* while ticks - sync_ticks is below this, sync_ns plus it is the time in ns; 0 if the clock
         * has another frequency */
        unscaled_ticks;
    uint64_t at; /* file offset of the next object or block */
    /* option order=block: events are emitted after each block, without merging */
    bool emits_blocks;
    bool has_trace;                       /* the Trace object was read */
    bool is_over;                         /* no further object will be read */
    bool resets_stacks;                   /* clear stacks and labels as soon as no event waits */
    bool resets_threads, resets_metadata; /* clear these too */
    /* damage was found: search for the next object or block */
    bool needs_resync;
    /* an allocation failed in the field iterator, which has no error to set; reported by the next
     * read */
    bool is_out_of_memory;
    ttr_status failed; /* status of a failed nettrace_order_emit() */
    struct nettrace_types types;
    struct nettrace_threads threads;
    struct nettrace_order order;
    struct nettrace_stacks stacks;
    struct nettrace_labels labels;
    struct nettrace_universal universal;
    int64_t from, to; /* time range in ns; valid if `has_range`; blocks outside of it are skipped */
    bool has_range;
    bool has_jit;               /* some event type begins a compilation (MethodJittingStarted) */
    bool has_universal;         /* some event type is from Universal.System */
    struct arena arena;         /* event types; freed at close */
    struct arena scratch;       /* texts of the current batch */
    struct buffer symbol;       /* scratch space for one symbol name */
    bool emits_pieces, has_end; /* has_end: the end mark was read; it ends at `at` */
    /* file offset; the window keeps bytes from here on for a piece; UINT64_MAX if none */
    uint64_t keep_from;
    struct nettrace_piece pieces[NETTRACE_PIECES_MAX];
    uint32_t pieces_n;
    uint32_t
        /* events of the current block that were decoded, with or without known metadata */
        known_events;
    bool has_bad_metadata; /* some metadata of the current block end before the event's id */
    ttr_id piece_schema;
};

/* Bytes of the input window, valid until the next nettrace_load_bytes(). */
struct nettrace_bytes {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
};

/* --- nettrace_read.c --- */

ttr_status nettrace_reader_open(struct input *in, ttr_error *error);
/* Fills the batch. With TTR_READ_SYMBOLS the context also gets the symbols that these events
 * declare. */
ttr_status nettrace_reader_next(struct input *in, ttr_error *error);
void nettrace_reader_close(struct input *in);

/* Allows the reader to skip blocks without events in [from_ns, to_ns). Has no effect with
 * TTR_READ_SYMBOLS: symbols may be declared at any time. */
void nettrace_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* --- nettrace_trace.c --- */

/* Parses the Trace object; `c` is after its frame. Sets c->failed if the object is truncated. */
TTR_MUST ttr_status nettrace_parse_trace(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_pieces.c --- */

/* Loads `need` bytes from `offset` on, fewer only at the end of the input. `offset` must not be
 * below the bytes that the window keeps. May move the window; pointers of waiting runs are
 * adjusted. */
TTR_MUST ttr_status nettrace_load_bytes(struct nettrace_reader *reader, uint64_t offset,
                                        uint64_t need, struct nettrace_bytes *bytes);

/* Ends the trace at an end mark of `size` bytes at reader->at. Notes any bytes that follow it. */
TTR_MUST ttr_status nettrace_finish_trace(struct nettrace_reader *reader, uint32_t size);

/* Starts to collect pieces if the caller wants definitions. Returns false if memory is exhausted.
 */
TTR_MUST bool nettrace_pieces_init(struct nettrace_reader *reader);

/* Queues a piece, which must be in the window; does nothing if pieces are not wanted. */
void nettrace_queue_piece(struct nettrace_reader *reader, const struct nettrace_piece *piece);

/* Appends the queued pieces to the batch, which must be empty. */
void nettrace_emit_pieces(struct nettrace_reader *reader);

/* Queues the next bytes after the end mark. Returns TTR_END if none are left. */
TTR_MUST ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader);

/* --- nettrace_objects.c --- */

/* Reads the object at reader->at (V3 to V5), or searches for the next one after damage. */
TTR_MUST ttr_status nettrace_read_object(struct nettrace_reader *reader);

/* --- nettrace_resync.c --- */

/* Searches for the next event (V1, V2) or block (V6) after damage and sets reader->at to it. Also
 * recognises the end mark of V1 and V2. */
TTR_MUST ttr_status nettrace_resync(struct nettrace_reader *reader);

/* Extent of a V6 block, as found by nettrace_measure_block6(). */
struct nettrace_block_extent {
    uint64_t size;
    /* file offset of the following block if `size` is wrong; 0 if `size` is right or none was found
     */
    uint64_t next;
    bool is_cut;     /* the input ends inside the block */
    bool is_lost;    /* the size is wrong */
    bool is_strange; /* unknown kind, but the content is a block of events */
};

TTR_MUST ttr_status nettrace_measure_block6(struct nettrace_reader *reader, uint64_t at,
                                            uint32_t head, struct nettrace_block_extent *extent);

/* --- nettrace_scan.c --- */

struct nettrace_block {
    const uint8_t *begin, *end; /* first event, end of the last one */
    uint64_t offset;            /* file offset of `begin` */
    uint8_t codec;
    bool is_metadata;    /* all events are metadata */
    bool is_cut;         /* the last event may be truncated; the caller reports that */
    const uint8_t *stop; /* output: end of the last event decoded */
};

/* Scans a block of events, in V3 with metadata among them, and queues its runs for emission. */
TTR_MUST ttr_status nettrace_scan_block(struct nettrace_reader *reader,
                                        struct nettrace_block *block);

/* --- nettrace_order.c --- */

void nettrace_order_init(struct nettrace_order *order);
void nettrace_order_free(struct nettrace_reader *reader);

/* Returns a new run with `header` as its first event, or NULL if memory is exhausted. Pass it to
 * nettrace_run_enqueue(). */
TTR_MUST struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                               const struct nettrace_header *header);

/* Queues a complete run: at the end of its thread's chain if times allow, else as a new chain.
 * Returns false if memory is exhausted. */
TTR_MUST bool nettrace_run_enqueue(struct nettrace_reader *reader, struct nettrace_run *run,
                                   uint64_t first_ticks);

/* Starts to emit all waiting events with ticks up to `limit`. */
void nettrace_order_flush_until(struct nettrace_reader *reader, uint64_t limit);

/* Appends events to the batch until it is full or all permitted ones are emitted. Returns false on
 * failure; the status is in reader->failed. */
TTR_MUST bool nettrace_order_emit(struct nettrace_reader *reader);

/* Converts ticks to ns since 1970. Adds TTR_EVENT_CLAMPED to `flags` if the result does not fit. */
int64_t nettrace_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags);

/* Adjusts all pointers of waiting runs after the window moved from `before` to `after`. */
void nettrace_order_rebase_pointers(struct nettrace_order *order, const struct window *before,
                                    const struct window *after);

/* --- nettrace_threads.c --- */

/* Returns the index of a capture thread in threads.capture, which is added if new; SIZE_MAX if
 * memory is exhausted. */
size_t nettrace_capture_index(struct nettrace_reader *reader, uint64_t id);

/* Compares the sequence number in `header` with the thread's counter and queues a gap if events are
 * missing. `is_point`: the number is from a sequence point, not from an event. Returns false if
 * memory is exhausted. */
TTR_MUST bool nettrace_update_sequence(struct nettrace_reader *reader, size_t capture,
                                       const struct nettrace_header *header, bool is_point);

/* Returns the thread with a tid, or in V6 with an index; 0 if memory is exhausted. */
ttr_id nettrace_resolve_thread(struct nettrace_reader *reader, uint64_t tid);

/* V6: define the thread of an index, remove one, remove all. The first returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_thread_define(struct nettrace_reader *reader, uint64_t index, ttr_id thread);
void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index);
void nettrace_threads_reset(struct nettrace_reader *reader);

/* --- nettrace_stacks.c --- */

/* Stores `n` stacks with numbers from `first` on, parsed at the cursor. Sets c->failed if fewer are
 * complete. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_stacks_parse(struct nettrace_reader *reader, uint32_t first, uint32_t n,
                                    struct cursor *c);
void nettrace_stacks_reset(struct nettrace_stacks *stacks);
void nettrace_stacks_free(struct nettrace_reader *reader);

/* Returns the addresses of an event's stack as stored, and their count in `*n`; NULL if it has
 * none. Valid until the next sequence point. */
const uint8_t *nettrace_stored_frames(const struct nettrace_reader *reader, const ttr_event *event,
                                      uint32_t *n);

/* Implements ttr_event_frames(): copies up to `room` addresses, returns the count of all. `ctx` is
 * the event's type. */
uint32_t nettrace_copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                              uint32_t room);

/* Implements ttr_event_stack(): returns the stored addresses without a copy, or NULL if they are
 * not native 64-bit integers. `ctx` is the event's type. */
const uint64_t *nettrace_borrow_frames(const void *ctx, const ttr_event *event, uint32_t *n);

/* Reads an address of 4 or 8 bytes. */
static inline uint64_t nettrace_load_address(const uint8_t *p, uint32_t bytes)
{
    return bytes == 8 ? load_u64le(p) : load_u32le(p);
}

/* --- nettrace_metadata.c --- */

/* Parses metadata of V1 to V5 from the payload at the cursor. `number`: file offset of the event,
 * which numbers metadata in V1 and V2. */
TTR_MUST ttr_status nettrace_parse_metadata(struct nettrace_reader *reader, struct cursor *c,
                                            uint64_t number);

/* True if metadata of V1 to V5 contain at least a provider and an event id. */
bool nettrace_metadata_is_usable(unsigned version, struct cursor c);

struct nettrace_definition;

/* Completes metadata without a name or fields from the runtime's manifest
 * (encodings/dotnet/clr_events.h). Returns false if memory is exhausted. */
TTR_MUST bool nettrace_fill_known_event(struct nettrace_reader *reader,
                                        struct nettrace_definition *stored);

/* --- nettrace_blocks.c --- */

/* Reads the V6 block at reader->at, or searches for the next one after damage. */
TTR_MUST ttr_status nettrace_read_block6(struct nettrace_reader *reader);

/* --- nettrace_metadata6.c --- */

TTR_MUST ttr_status nettrace_parse_metadata6(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_labels.c --- */

TTR_MUST ttr_status nettrace_labels_parse(struct nettrace_reader *reader, struct cursor *c);
void nettrace_labels_reset(struct nettrace_reader *reader);
void nettrace_labels_free(struct nettrace_reader *reader);

/* Skips one label list. Returns false if it is truncated or has an unknown label. */
bool nettrace_skip_label_list(struct cursor *c);

/* Finds the bytes of a label list. Returns false if no list has this number. */
bool nettrace_find_label_list(const struct nettrace_reader *reader, uint32_t number,
                              const uint8_t **p, uint32_t *n);

/* Overrides members of an event by its labels; the list number is in event->part. */
void nettrace_labels_apply(const struct nettrace_reader *reader, ttr_event *event);

/* Returns the next label that is a field, and moves `*p` and `*n` past it. Returns false after the
 * last one. */
bool nettrace_next_label_field(const uint8_t **p, uint32_t *n, ttr_field *field);

/* --- nettrace_types.c --- */

/* Contents of one metadata record, in the form that all versions share. */
struct nettrace_definition {
    ttr_id provider, name;
    uint32_t number, id, version;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    bool has_opcode;    /* an opcode is stored, even if it is 0 */
    bool has_locations; /* V6: fields with the types rel_loc or data_loc */
    /* name and fields are not stored but known from the runtime's manifest */
    bool is_known;
    struct type *root;             /* type of the payload; NULL if unknown */
    ttr_text message, description; /* V6 only; they point into the record */
    uint8_t could_lie;             /* interpretations that are possible, see nettrace_layouts.c */
    const uint8_t *bytes;          /* stored bytes of the record, in V6 without the number */
    size_t bytes_n;
};

void nettrace_types_init(struct nettrace_reader *reader);
void nettrace_types_free(struct nettrace_reader *reader);
TTR_MUST ttr_status nettrace_type_add(struct nettrace_reader *reader,
                                      const struct nettrace_definition *stored, uint64_t offset);

/* Returns true if the same bytes were declared before under this number; the number then refers to
 * that type again. Returns false otherwise, and if memory is exhausted. */
bool nettrace_type_reuse(struct nettrace_reader *reader, const struct nettrace_definition *stored);

/* Removes all metadata numbers; the types stay. */
void nettrace_types_clear_numbers(struct nettrace_reader *reader);

/* Converts a level of .NET (1 = critical to 5 = verbose) to one of the model. */
uint8_t nettrace_level_from_clr(uint32_t level);

struct nettrace_type *nettrace_find_sparse_type(const struct nettrace_types *types,
                                                uint32_t number);

static inline struct nettrace_type *nettrace_find_type(const struct nettrace_types *types,
                                                       uint32_t number)
{
    return NETTRACE_LIKELY(number < types->dense_n) ? types->dense[number]
                                                    : nettrace_find_sparse_type(types, number);
}

/* --- nettrace_types.c: description --- */

bool nettrace_describe_type(struct input *in, size_t i, struct event_class *about,
                            uint64_t *events);

/* --- nettrace_layouts.c --- */

/* Returns the layout of the event's type that fits the size of its payload, compiled at first use;
 * NULL if the fields are unknown. */
const struct layout *nettrace_layout_of_event(const struct nettrace_type *type,
                                              const ttr_event *event);

/* --- nettrace_fields.c --- */

extern const struct field_ops nettrace_field_ops;

/* --- nettrace_spans.c --- */

/* Sets span rule and opcode of a type if the runtime does not mark its begin and end events with
 * opcodes. type->name and type->provider must be set. */
void nettrace_set_span_rule(struct nettrace_reader *reader, struct nettrace_type *type);

/* Sets kind and link of an event with an opcode, so that begin and end events pair. */
void nettrace_mark_span(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type);

/* --- nettrace_symbols.c --- */

/* Returns the enum symbols_kind of an event of the runtime's providers; 0 if it declares no code.
 */
uint8_t nettrace_symbol_event_kind(ttr_text provider, uint32_t id);

/* Adds the symbols that an event declares to the context. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_add_symbols(struct nettrace_reader *reader, const ttr_event *event);

/* --- nettrace_universal.c --- */

/* True for providers "Universal.*", which store texts differently from their metadata. */
bool nettrace_is_universal(ttr_text provider);

/* True if events with this name are CPU samples. */
bool nettrace_is_universal_sample(ttr_text provider, ttr_text name);

/* Returns the enum symbols_kind of an event of Universal.System; 0 if it declares nothing of use.
 */
uint8_t nettrace_universal_event_kind(ttr_text provider, uint32_t id);

/* Adds the process name, mapping or symbol that an event declares. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_add_universal_symbols(struct nettrace_reader *reader, const ttr_event *event,
                                             uint8_t kind);
void nettrace_universal_free(struct nettrace_reader *reader);

#endif
