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
 *   nettrace_salvage.c   events of a damaged block
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
/* A boolean may be stored in one byte or four, and so may a byte. Each combination is one layout of
 * the payload: bit 0 of its index: booleans have one byte, bit 1: bytes have four. */
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

/* Declarations of symbols or processes that the events of a type carry. */
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
    /* compiled layouts by index; an entry is valid if its bit in `tried` is set, NULL if
     * compilation failed */
    const struct layout *layout[NETTRACE_LAYOUTS_MAX];
    uint64_t offset; /* file offset of the metadata, for diagnostics */
    /* bit i: root member i is converted before it is returned; valid if `is_plain` is set */
    uint64_t converted;
    /* tried: bit per layout that was compiled; could_lie: bits of layouts that the metadata permit
     */
    uint8_t tried, could_lie;
    /* true if the fields of an event without labels are exactly the root members; valid after
     * layout 0 is compiled */
    bool is_plain;
};

/* An event type: one metadata record, and the schema built from it. */
struct nettrace_type {
    struct nettrace_reader *reader;
    struct nettrace_layouts *layouts;
    uint64_t events_emitted; /* events of this type emitted so far */
    /* index: position in nettrace_types.all; provider_index: number of the provider */
    uint32_t index, provider_index;
    /* V6: some fields refer to bytes after the last field, so trailing bytes are not reported as
     * undecoded */
    bool has_locations;
    ttr_id schema, name, provider;
    /* event name without the suffix Start or Stop; pairs begin and end events (model/activity.h) */
    ttr_id task;
    uint64_t keyword;
    uint32_t id, version;
    uint8_t level, opcode, kind;
    /* rule that pairs its begin and end events; enum span_kind in nettrace_spans.c */
    uint8_t span;
    bool has_misfits;     /* large payloads do not end with the last field, although undamaged */
    uint8_t symbols_kind; /* enum symbols_kind: code or processes that its events declare */
    uint32_t number;      /* number of the metadata in the file */
    ttr_text message, description;
    /* metadata record as stored, in V6 without its number; owned by reader->arena */
    const uint8_t *stored;
    uint32_t stored_n;
    ttr_event template; /* event with the members that all events of this type share */
};

/* Tables of event types. Types are never freed before the reader is closed. */
struct nettrace_types {
    struct nettrace_type *
        *dense; /* type by metadata number, for numbers below NETTRACE_DENSE_MAX */
    size_t dense_n;
    struct nettrace_type **all;
    size_t all_n, all_capacity;
    /* metadata number to index in `all`, for numbers from NETTRACE_DENSE_MAX on */
    struct pair_map sparse;
    /* (hash of the stored record, metadata number) to index in `all` */
    struct pair_map known;
    struct pair_map providers;     /* (provider, 0) to provider number */
    struct nettrace_type **sorted; /* `all` sorted by provider, for descriptions */
    size_t sorted_n, sorted_capacity;
    /* metadata number of the last scanned event with an undefined number; 0 if none */
    uint32_t awaited;
};

/* A thread that captured events. Its sequence counter reveals lost events. */
struct nettrace_capture_thread {
    uint64_t id;
    uint64_t ticks;    /* ticks of the last event scanned; that event may not be emitted yet */
    uint32_t sequence; /* sequence number of the last event scanned; valid if `is_known` */
    /* index of the queued run of this thread that ends last; NETTRACE_NONE if none is queued */
    uint32_t tail;
    /* `stamp` of run `tail`; a different stamp in that slot means that the slot was reused */
    uint32_t tail_stamp;
    ttr_id track;
    bool is_known; /* `sequence` is valid */
};

struct nettrace_threads {
    struct pair_map by_index; /* V6: (thread index, 0) to thread id */
    struct nettrace_capture_thread *capture;
    size_t capture_n, capture_capacity;
    /* (OS thread id, 0) to index in `capture`; in V6 (ttr_id of the thread, 0) */
    struct pair_map by_id;
    struct {
        uint64_t tid;
        ttr_id thread;
    } cache[NETTRACE_THREAD_CACHE];
};

/* A number of lost events of a capture thread, with the ticks between which they were lost. */
struct nettrace_gap {
    uint64_t from, to, count, offset;
    ttr_id track;
};

/* Cached header of an event that is not emitted yet: the members that differ from the previous
 * event. Positions are bytes from the start of the event, 0 if absent. A header that names a thread
 * is not cached, but decoded again. */
struct nettrace_cached_header {
    uint64_t ticks;
    uint32_t metadata, stack, payload_size;
    uint8_t payload_at, activity_at, related_at;
    uint8_t flags;
};

/* A run: consecutive events of a block with ascending times, of which at least one is not emitted
 * yet. */
struct nettrace_run {
    struct nettrace_header at;         /* decoded header of the next event to emit */
    struct nettrace_header_range span; /* bytes from the start of the block to the end of the run */
    uint64_t last;                     /* ticks of the last event of the run */
    uint64_t keep_from; /* file offset; the input window must keep bytes from here on */
    /* thread numbers for which `track` and `thread` were looked up last */
    uint64_t capture_id, thread_id;
    ttr_id track, thread;
    /* next: index of the next run of the chain, or of the next free run; stamp: changes when the
     * slot is reused */
    uint32_t next, stamp;
    /* indices in order->cached of the headers after `at`; equal if none are cached */
    uint32_t cached, cached_end;
};

/* Heap entry: the next event of a chain of runs. */
struct nettrace_heap_entry {
    uint64_t ticks;
    const uint8_t *place; /* address of the event in the window; breaks ties of equal ticks */
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
    /* cached_n: headers stored so far; cached_first_needed: number of the oldest one that a queued
     * run still needs */
    uint32_t cached_n, cached_first_needed;
    struct nettrace_gap *gaps; /* sorted by `from` while emitting */
    size_t gaps_n, gaps_capacity, gaps_emitted;
    uint64_t limit;   /* ticks of the last event that may be emitted; valid while emitting */
    uint64_t emitted; /* ticks of the last event emitted */
    /* lowest file offset that queued runs need; UINT64_MAX if none is queued; not updated while
     * emitting */
    uint64_t keep_from;
    bool is_emitting, has_emitted;
};

/* Position and size of the addresses of a stack. The size is stored here, so that reading it does
 * not touch `bytes`. */
struct nettrace_stack_extent {
    uint64_t at;
    uint32_t bytes;
};

/* Stacks since the last sequence point. Runtimes number stacks in ascending order: `ranges` has
 * those, sorted by number. A stack with a lower number than the previous one is in `others`, so
 * that each lookup stays logarithmic. No known runtime writes such stacks. */
struct nettrace_stacks {
    uint8_t *bytes; /* addresses of all stacks; each stack starts at a multiple of 8 */
    size_t bytes_n, bytes_capacity;
    struct nettrace_stack_extent *at; /* entries that locate each stack in `bytes` */
    size_t at_n, at_capacity;
    struct nettrace_stack_range *ranges;
    size_t ranges_n, ranges_capacity;
    /* stack number to index in `at`, for numbers below that of the previous stack */
    struct pair_map others;
    /* fast path: stacks at[number - fast_first], valid if all addresses are native 64-bit integers;
     * fast_n is 0 if the fast path is disabled */
    uint32_t fast_first, fast_n;
};

/* Stacks numbered first to first + n - 1 (within 32 bits) have the entries at[begin] and following.
 */
struct nettrace_stack_range {
    uint32_t first, n;
    size_t begin;
};

struct nettrace_label_list {
    size_t at, n; /* at: offset in `bytes`; n: size in bytes */
};

/* Label lists since the last sequence point. */
struct nettrace_labels {
    uint8_t *bytes;
    size_t bytes_n, bytes_capacity;
    struct nettrace_label_list *list;
    size_t list_n, list_capacity;
    struct pair_map by_number; /* number of a label list to index in `list` */
};

/* A process that has mapped a file. */
struct nettrace_mapping {
    /* process: process index; module: module of the mapped file, 0 if none */
    uint32_t process, module;
    /* index of the next entry with the same mapping id; NETTRACE_NONE if none */
    uint32_t next;
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
 * before it were emitted. TTR_EVENT_PARTIAL: the piece ends where decoding stopped. `duration`: the
 * last bytes of the payload are not input, but an array of struct nettrace_segment (damaged
 * blocks). */
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
    /* a damaged block: its segments, directly after a copy of its bytes; NULL if undamaged */
    const uint8_t *segments;
    uint32_t segments_bytes;
};

#define NETTRACE_PIECES_MAX 4u
#define NETTRACE_SEGMENTS_MAX 16u

/* Undamaged events of a damaged block. `before` is the header from which the first one is decoded.
 */
struct nettrace_segment {
    struct nettrace_header before;
    uint32_t begin, end; /* bytes from the first event of the block */
    /* positions of before.activity and before.related, bytes from the first event of the block; 0
     * if NULL */
    uint32_t activity_at, related_at;
};

struct nettrace_segments {
    struct nettrace_segment all[NETTRACE_SEGMENTS_MAX];
    uint32_t n;
};

struct nettrace_reader {
    struct input *in;
    ttr *t;
    ttr_error *error; /* error target of the current nettrace_reader_next() call */
    unsigned version;
    uint32_t pointer_bytes;
    uint64_t pid;
    struct clock_math clock;
    uint64_t sync_ticks;
    int64_t sync_ns;
    uint64_t
        /* if ticks - sync_ticks is below this, the time in ns is sync_ns plus that difference; 0 if
         * ticks are not nanoseconds */
        unscaled_ticks;
    uint64_t at; /* file offset of the next object or block */
    /* option order=block: events are emitted after each block, without merging */
    bool emits_blocks;
    bool has_trace; /* the Trace object has been read */
    /* the input is read to its end; waiting events may remain */
    bool is_over;
    /* clear stacks and labels once no event is waiting to be emitted */
    bool resets_stacks;
    bool resets_threads, resets_metadata; /* clear threads or metadata numbers at the same moment */
    /* damage was found: the next read searches for an object or block */
    bool needs_resync;
    /* an allocation failed in the field iterator, which has no error to set; reported by the next
     * read */
    bool is_out_of_memory;
    ttr_status failed; /* status of the last failed nettrace_order_emit() */
    struct nettrace_types types;
    struct nettrace_threads threads;
    struct nettrace_order order;
    struct nettrace_stacks stacks;
    struct nettrace_labels labels;
    struct nettrace_universal universal;
    /* requested time range in ns; valid if `has_range`; blocks outside of it are skipped */
    int64_t from, to;
    bool has_range;
    /* some event type is MethodJittingStarted, which begins a compilation */
    bool has_jit;
    bool has_universal;   /* some event type has the provider Universal.System */
    struct arena arena;   /* event types; freed at close */
    struct arena scratch; /* texts of the current batch */
    struct buffer symbol; /* scratch space for one symbol name */
    /* has_end: the end mark was read, and `at` is the offset after it */
    bool emits_pieces, has_end;
    /* file offset; the window keeps bytes from here on for a queued piece; UINT64_MAX if none */
    uint64_t keep_from;
    struct nettrace_piece pieces[NETTRACE_PIECES_MAX];
    uint32_t pieces_n;
    uint32_t
        /* decoded events of the current block, including those with undefined metadata */
        known_events;
    bool has_bad_metadata; /* some metadata of the current block end before the event id */
    struct nettrace_segments segments; /* of the current block; none if it is undamaged */
    /* blocks with the exact times of their events in the header, and blocks with others */
    uint64_t blocks_exact, blocks_inexact;
    uint32_t fruitless_salvages; /* searches in undamaged blocks with large events */
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
/* Fills the batch. With TTR_READ_SYMBOLS the context also gets the symbols that the events of the
 * batch declare. */
ttr_status nettrace_reader_next(struct input *in, ttr_error *error);
void nettrace_reader_close(struct input *in);

/* Allows the reader to skip blocks without events in [from_ns, to_ns). Has no effect with
 * TTR_READ_SYMBOLS: symbols may be declared at any time. */
void nettrace_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* --- nettrace_trace.c --- */

/* Parses the Trace object; `c` is after its frame. Sets c->failed if the object is truncated. */
TTR_MUST ttr_status nettrace_parse_trace(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_pieces.c --- */

/* Loads `need` bytes from file offset `offset` on, or fewer if the input ends. `offset` must not be
 * below bytes that the window must keep. May move the window; pointers of queued runs are adjusted.
 */
TTR_MUST ttr_status nettrace_load_bytes(struct nettrace_reader *reader, uint64_t offset,
                                        uint64_t need, struct nettrace_bytes *bytes);

/* Ends the trace at the end mark, which has `size` bytes at reader->at. Adds a note if bytes
 * follow. */
TTR_MUST ttr_status nettrace_finish_trace(struct nettrace_reader *reader, uint32_t size);

/* Enables the collection of pieces if the caller wants definitions. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_pieces_init(struct nettrace_reader *reader);

/* Queues a piece that is completely in the window. Does nothing unless pieces are collected. */
void nettrace_queue_piece(struct nettrace_reader *reader, const struct nettrace_piece *piece);

/* Queues the piece of a damaged block, with reader->segments after its bytes. Does nothing unless
 * pieces are collected. */
void nettrace_queue_damaged_piece(struct nettrace_reader *reader,
                                  const struct nettrace_piece *piece);

/* Appends the queued pieces to the batch, which must be empty. */
void nettrace_emit_pieces(struct nettrace_reader *reader);

/* Queues the next bytes after the end mark. Returns TTR_END if none are left. */
TTR_MUST ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader);

/* --- nettrace_objects.c --- */

/* Reads the object at reader->at (V3 to V5). After damage, searches for the next object first. */
TTR_MUST ttr_status nettrace_read_object(struct nettrace_reader *reader);

/* --- nettrace_resync.c --- */

/* Searches for the next event (V1, V2) or block (V6) after damage and sets reader->at to its
 * offset. In V1 and V2 the end mark is found, too. */
TTR_MUST ttr_status nettrace_resync(struct nettrace_reader *reader);

/* Extent of a V6 block, as found by nettrace_measure_block6(). */
struct nettrace_block_extent {
    uint64_t size;
    /* file offset of the following block if `size` is wrong; 0 if `size` is right or no block was
     * found */
    uint64_t next;
    bool is_cut;         /* the input ends inside the block */
    bool is_lost;        /* `size` is wrong */
    bool is_strange;     /* the block has an unknown kind, but contains events */
    bool is_short_chain; /* only one or two blocks and the end mark were found at `next` */
};

TTR_MUST ttr_status nettrace_measure_block6(struct nettrace_reader *reader, uint64_t at,
                                            uint32_t head, struct nettrace_block_extent *extent);

/* --- nettrace_scan.c --- */

struct nettrace_block {
    const uint8_t *begin, *end; /* first event, end of the last one */
    uint64_t offset;            /* file offset of `begin` */
    uint64_t least, most;       /* lowest and highest ticks in its header; valid if `has_times` */
    uint8_t codec;
    bool is_metadata; /* all events of the block are metadata */
    bool has_times;
    /* the input may end within the last event; the caller reports the damage */
    bool is_cut;
    bool has_end;        /* the last event ends exactly at `end`, unless it is damaged */
    const uint8_t *stop; /* output: end of the last event decoded */
};

/* Parses the header of a block of events: u16 size, u16 flags, u64 lowest ticks, u64 highest ticks.
 * Sets codec and times, and moves the cursor to the first event. Returns false if the header does
 * not fit, with the size that it declares in `size`. */
TTR_MUST bool nettrace_parse_block_header(struct cursor *c, bool is_v6,
                                          struct nettrace_block *block, uint16_t *size);

/* Scans a block of events, in V3 with metadata among them, and queues its runs for emission. */
TTR_MUST ttr_status nettrace_scan_block(struct nettrace_reader *reader,
                                        struct nettrace_block *block);

/* --- nettrace_salvage.c --- */

/* Payloads from this size on are compared with the fields of their type, since a damaged size may
 * make many events a single one. */
#define NETTRACE_LARGE_PAYLOAD 8192u

/* Splits a damaged block into segments of plausible events. `is_strict`: the payload of each event
 * must end with the last field of its type. Returns false if there are no segments. */
TTR_MUST bool nettrace_salvage_block(struct nettrace_reader *reader,
                                     const struct nettrace_block *block, bool is_strict,
                                     struct nettrace_segments *segments);

/* Explains times that differ from those in the block's header by one damaged time delta. `least`
 * and `most` are the lowest and the highest ticks of the events. Returns false if no single bit
 * explains the difference; else the block is split before the damaged event, and the second segment
 * has corrected times. */
TTR_MUST bool nettrace_undo_time(const struct nettrace_reader *reader,
                                 const struct nettrace_block *block, uint64_t least, uint64_t most,
                                 struct nettrace_segments *segments);

/* --- nettrace_order.c --- */

/* Frees a run that was not queued. */
void nettrace_run_discard(struct nettrace_order *order, struct nettrace_run *run);

void nettrace_order_init(struct nettrace_order *order);
void nettrace_order_free(struct nettrace_reader *reader);

/* Returns a new run with `header` as its first event, or NULL if memory is exhausted. Pass it to
 * nettrace_run_enqueue(). */
TTR_MUST struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                               const struct nettrace_header *header);

/* Queues a finished run: appended to the chain of its thread if it starts after the end of that
 * chain, else as a new chain. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_run_enqueue(struct nettrace_reader *reader, struct nettrace_run *run,
                                   uint64_t first_ticks);

/* Starts to emit all waiting events with ticks up to `limit`. */
void nettrace_order_flush_until(struct nettrace_reader *reader, uint64_t limit);

/* Appends events to the batch until the batch is full or the limit is reached. Returns false on
 * failure, with the status in reader->failed. */
TTR_MUST bool nettrace_order_emit(struct nettrace_reader *reader);

/* Converts ticks to ns since 1970. Adds TTR_EVENT_CLAMPED to `flags` if the result does not fit. */
int64_t nettrace_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags);

/* Adjusts all pointers of queued runs after the window moved from `before` to `after`. */
void nettrace_order_rebase_pointers(struct nettrace_order *order, const struct window *before,
                                    const struct window *after);

/* --- nettrace_threads.c --- */

/* Returns the index of a capture thread in threads.capture, and adds the thread if it is new.
 * Returns SIZE_MAX if memory is exhausted. */
size_t nettrace_capture_index(struct nettrace_reader *reader, uint64_t id);

/* Compares the sequence number in `header` with the thread's counter and queues a gap if events are
 * missing. `is_point`: the number is from a sequence point, not from an event. Returns false if
 * memory is exhausted. */
TTR_MUST bool nettrace_update_sequence(struct nettrace_reader *reader, size_t capture,
                                       const struct nettrace_header *header, bool is_point);

/* Returns the thread with an OS thread id, in V6 with a thread index. Returns 0 if memory is
 * exhausted. */
ttr_id nettrace_resolve_thread(struct nettrace_reader *reader, uint64_t tid);

/* V6: define the thread at an index, remove one, remove all. nettrace_thread_define() returns false
 * if memory is exhausted. */
TTR_MUST bool nettrace_thread_define(struct nettrace_reader *reader, uint64_t index, ttr_id thread);
void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index);
void nettrace_threads_reset(struct nettrace_reader *reader);

/* --- nettrace_stacks.c --- */

/* Parses `n` stacks, which have the numbers from `first` on. Sets c->failed if fewer stacks are
 * complete. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_stacks_parse(struct nettrace_reader *reader, uint32_t first, uint32_t n,
                                    struct cursor *c);
void nettrace_stacks_reset(struct nettrace_stacks *stacks);
void nettrace_stacks_free(struct nettrace_reader *reader);

/* Returns the addresses of an event's stack as stored, and their count in `*n`. Returns NULL if the
 * event has no stack. Valid until the next sequence point. */
const uint8_t *nettrace_stored_frames(const struct nettrace_reader *reader, const ttr_event *event,
                                      uint32_t *n);

/* Implements ttr_event_frames(): copies up to `room` addresses, and returns the depth of the stack.
 * `ctx` is the event's type. */
uint32_t nettrace_copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                              uint32_t room);

/* Implements ttr_event_stack(): returns the stored addresses without a copy, or NULL if they are
 * not native 64-bit integers. `ctx` is the event's type. */
const uint64_t *nettrace_borrow_frames(const void *ctx, const ttr_event *event, uint32_t *n);

/* Reads an address of `bytes` bytes, which is 4 or 8. */
static inline uint64_t nettrace_load_address(const uint8_t *p, uint32_t bytes)
{
    return bytes == 8 ? load_u64le(p) : load_u32le(p);
}

/* --- nettrace_metadata.c --- */

/* Parses metadata of V1 to V5 from the payload at the cursor. `number` is the file offset of the
 * event, which V1 and V2 use as metadata number. */
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

/* Reads the V6 block at reader->at. After damage, searches for the next block first. */
TTR_MUST ttr_status nettrace_read_block6(struct nettrace_reader *reader);

/* --- nettrace_metadata6.c --- */

TTR_MUST ttr_status nettrace_parse_metadata6(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_labels.c --- */

TTR_MUST ttr_status nettrace_labels_parse(struct nettrace_reader *reader, struct cursor *c);
void nettrace_labels_reset(struct nettrace_reader *reader);
void nettrace_labels_free(struct nettrace_reader *reader);

/* Advances the cursor over one label list. Returns false if the list is truncated or has an unknown
 * label. */
bool nettrace_skip_label_list(struct cursor *c);

/* Finds the bytes of a label list. Returns false if no list has this number. */
bool nettrace_find_label_list(const struct nettrace_reader *reader, uint32_t number,
                              const uint8_t **p, uint32_t *n);

/* Sets the members of an event that its labels override. The number of the label list is in
 * event->part. */
void nettrace_labels_apply(const struct nettrace_reader *reader, ttr_event *event);

/* Returns the next label that becomes a field, and advances `*p` and `*n` past it. Returns false
 * after the last label. */
bool nettrace_next_label_field(const uint8_t **p, uint32_t *n, ttr_field *field);

/* --- nettrace_types.c --- */

/* Contents of one metadata record, independent of the version. */
struct nettrace_definition {
    ttr_id provider, name;
    uint32_t number, id, version;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    bool has_opcode;    /* the record stores an opcode, possibly 0 */
    bool has_locations; /* V6: fields with the types rel_loc or data_loc */
    /* name and fields come from the manifest of the runtime, not from the record */
    bool is_known;
    struct type *root;             /* type of the payload; NULL if unknown */
    ttr_text message, description; /* V6 only; they point into the record */
    uint8_t could_lie;             /* layouts that the metadata permit; see nettrace_layouts.c */
    const uint8_t *bytes;          /* stored bytes of the record, in V6 without the number */
    size_t bytes_n;
};

void nettrace_types_init(struct nettrace_reader *reader);
void nettrace_types_free(struct nettrace_reader *reader);
TTR_MUST ttr_status nettrace_type_add(struct nettrace_reader *reader,
                                      const struct nettrace_definition *stored, uint64_t offset);

/* Returns true if the same record was declared before with the same number, and makes the number
 * refer to that type again. Returns false otherwise, or if memory is exhausted. */
bool nettrace_type_reuse(struct nettrace_reader *reader, const struct nettrace_definition *stored);

/* Undefines all metadata numbers; the types remain valid. */
void nettrace_types_clear_numbers(struct nettrace_reader *reader);

/* Converts a level of .NET (1 = critical to 5 = verbose) to a level of ttr_event. */
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

/* Returns the layout that fits the size of an event's payload, and compiles it at first use.
 * Returns NULL if the fields are unknown. */
const struct layout *nettrace_layout_of_event(const struct nettrace_type *type,
                                              const ttr_event *event);

/* Returns whether the fields of a type end exactly at the end of a payload. True if the fields are
 * unknown. */
bool nettrace_payload_fits(const struct nettrace_type *type, const uint8_t *payload, uint32_t n);

/* --- nettrace_fields.c --- */

extern const struct field_ops nettrace_field_ops;

/* --- nettrace_spans.c --- */

/* Sets span rule and opcode of a type whose begin and end events the runtime does not mark with
 * opcodes. type->name and type->provider must be set. */
void nettrace_set_span_rule(struct nettrace_reader *reader, struct nettrace_type *type);

/* Sets `kind` and `link` of an event with an opcode, so that begin and end events pair. */
void nettrace_mark_span(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type);

/* --- nettrace_symbols.c --- */

/* Returns the enum symbols_kind of an event of the runtime's providers; 0 if it declares no
 * symbols. */
uint8_t nettrace_symbol_event_kind(ttr_text provider, uint32_t id);

/* Adds the symbols that an event declares to the context. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_add_symbols(struct nettrace_reader *reader, const ttr_event *event);

/* --- nettrace_universal.c --- */

/* Returns whether a provider is "Universal.*". Those store texts in another encoding than their
 * metadata declare. */
bool nettrace_is_universal(ttr_text provider);

/* True if events with this name are CPU samples. */
bool nettrace_is_universal_sample(ttr_text provider, ttr_text name);

/* Returns the enum symbols_kind of an event of Universal.System; 0 if the reader does not use it.
 */
uint8_t nettrace_universal_event_kind(ttr_text provider, uint32_t id);

/* Adds the process name, mapping or symbol that an event declares. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_add_universal_symbols(struct nettrace_reader *reader, const ttr_event *event,
                                             uint8_t kind);
void nettrace_universal_free(struct nettrace_reader *reader);

/* --- nettrace_diagnostics.c --- */
extern const ttr_diagnostic_info nettrace_diagnostics[];

#endif
