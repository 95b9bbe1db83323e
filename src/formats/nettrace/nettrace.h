/* The nettrace reader: shared types, and the functions that its files offer to each other.
 *
 * Reading goes through four steps. Each call of nettrace_read_batch() repeats them until the batch
 * has events.
 *
 *   input bytes
 *      | nettrace_read.c: choose what to read next
 *      v
 *   object (V3 to V5) or block (V6): nettrace_objects.c, nettrace_blocks.c
 *      | metadata, stacks, threads, labels: stored in tables
 *      | events: nettrace_scan.c checks each header once and cuts the block into sorted runs
 *      v
 *   sorted runs: events of one capture thread with ascending times
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
 *   nettrace_layouts.c   layouts of payloads, compiled at first use
 *   nettrace_fields.c    field iterator
 *   nettrace_spans.c     spans of the runtime: collections, compilation, thread pool
 *   nettrace_symbols.c   functions and modules that runtime events declare
 *   nettrace_universal.c the same for traces of a complete machine, and process names
 *   nettrace_chunks.c    the window of the input; raw chunks for copies
 *
 * Memory grows with the number of threads and with the bytes between two sequence points, not with
 * the number of events: a sorted run stores its position and its next decoded header. The decoded
 * headers of up to NETTRACE_CACHED_MAX waiting events are cached; later ones are decoded a second
 * time when they are emitted. The input window keeps the bytes of all events that wait.
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
/* A boolean may be stored in one byte or four, and so may a byte. Each combination is a layout of
 * the payload with an index. Bit 0 of the index: booleans have one byte; bit 1: bytes have four;
 * bit 2: the number of array elements is an earlier field, not stored with the array. */
#define NETTRACE_LAYOUTS_MAX 8u
/* metadata numbers below this are looked up in an array, larger ones in a map */
#define NETTRACE_DENSE_MAX 65536u
/* sorted runs that wait to be emitted; if there are more, events are emitted out of order */
#define NETTRACE_RUNS_MAX 65536u
#define NETTRACE_CACHED_MAX 16384u /* cached decoded headers of waiting events; a power of two */
/* Maximum distance in bytes from the oldest waiting event to the current block. If it is exceeded,
 * events are returned out of order. */
#define NETTRACE_WAITING_BYTES_MAX ((uint64_t)256 << 20)
/* Maximum number of waiting gaps (reports of lost events). The counts of further gaps are added to
 * the last one. */
#define NETTRACE_GAPS_MAX 65536u
#define NETTRACE_THREAD_CACHE 256u

struct nettrace_reader;

/* Declarations by events of a type: symbols of methods, modules, processes ... */
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

/* Payload layouts of an event type. Each is compiled when the first event needs it. */
struct nettrace_layouts {
    const struct type *root; /* type of the payload; NULL if its fields are unknown */
    /* layouts by index; valid if the layout's bit in `tried` is set; NULL if compiling failed */
    const struct layout *layout[NETTRACE_LAYOUTS_MAX];
    uint64_t offset; /* file offset of the metadata, for diagnostics */
    /* bit i is set if the value of root member i is converted before it is returned; valid if
     * `is_plain` */
    uint64_t converted;
    /* tried: bits of the layouts that were compiled; could_lie: bits of the index that may differ
     * from 0, because metadata do not state these sizes reliably */
    uint8_t tried, could_lie;
    /* true if the fields of an event without labels are the members of the root; valid after
     * layout 0 was compiled */
    bool is_plain;
};

/* An event type: a metadata record, and the schema made from it. */
struct nettrace_type {
    struct nettrace_reader *reader;
    struct nettrace_layouts *layouts;
    uint64_t events_emitted; /* number of events of this type returned so far */
    /* index: position in nettrace_types.all; provider_index: number of the provider */
    uint32_t index, provider_index;
    /* V6: fields refer to bytes after the last field, so these are not reported as undecoded */
    bool has_locations;
    ttr_id schema, name, provider;
    /* event name without the suffix Start or Stop, by which begin and end events are paired
     * (model/activity.h) */
    ttr_id task;
    uint64_t keyword;
    uint32_t id, version;
    uint8_t level, opcode, kind;
    uint8_t span;         /* how begin and end events are paired (enum span_kind) */
    bool has_misfits;     /* true if payloads do not end with the last field */
    uint8_t symbols_kind; /* kind of symbols that events of the type declare (enum symbols_kind) */
    uint32_t number;      /* metadata number in the file */
    ttr_text message, description;
    /* bytes of the metadata record, in V6 without its number; in the memory of reader->arena */
    const uint8_t *stored;
    uint32_t stored_n;
    ttr_event template; /* an event with the values that all events of the type have */
    /* true if the metadata declare the fields; otherwise they are in the runtime's manifest and
     * depend on the version */
    bool has_stored_fields;
    /* V6: next copy of this type for another version, which a label declares; NULL at the end of
     * the list */
    struct nettrace_type *next_version;
};

/* All event types, and tables to find them. Types are freed when the reader is closed. */
struct nettrace_types {
    struct nettrace_type *
        *dense; /* types by metadata number, for numbers below NETTRACE_DENSE_MAX */
    size_t dense_n;
    struct nettrace_type **all;
    size_t all_n, all_capacity;
    struct pair_map sparse; /* maps larger metadata numbers to an index in `all` */
    /* maps (hash of the stored record, metadata number) to an index in `all` */
    struct pair_map known;
    struct pair_map providers;     /* maps (provider, 0) to provider number */
    struct nettrace_type **sorted; /* `all`, sorted by provider, for descriptions */
    size_t sorted_n, sorted_capacity;
    /* metadata number of the last scanned event with metadata that are not defined yet; 0 if there
     * is none */
    uint32_t awaited;
};

/* A thread that captured events. Gaps in its sequence numbers mean that events were lost. */
struct nettrace_capture_thread {
    uint64_t id;
    uint64_t ticks;    /* ticks of the last scanned event */
    uint32_t sequence; /* sequence number of that event; valid if is_known */
    /* index of the last sorted run of this thread in the queue; NETTRACE_NONE if there is none */
    uint32_t tail;
    /* `stamp` of that run; if the run at index `tail` has another stamp, its slot was used again */
    uint32_t tail_stamp;
    ttr_id track;
    bool is_known; /* true if at least one event was scanned */
};

struct nettrace_threads {
    struct pair_map by_index; /* V6: maps (thread index, 0) to thread id */
    /* V6: maps (thread index, pid) to the id of a thread that has no tid; never cleared */
    struct pair_map unnumbered;
    struct nettrace_capture_thread *capture;
    size_t capture_n, capture_capacity;
    /* maps (OS thread id, 0) to an index in `capture`; in V6 the key is (ttr_id of the thread, 0)
     */
    struct pair_map by_id;
    struct {
        uint64_t tid;
        ttr_id thread;
    } cache[NETTRACE_THREAD_CACHE];
};

/* Events that a capture thread lost: their number, and the ticks between which they were lost. */
struct nettrace_gap {
    uint64_t from, to, count, offset;
    ttr_id track;
};

/* Cached header of an event that was not returned yet. Contains only members that can differ from
 * those of the previous event. Positions are in bytes from the start of the event; 0 if absent. A
 * header that names a thread is not cached, but decoded again. */
struct nettrace_cached_header {
    uint64_t ticks;
    uint32_t metadata, stack, payload_size;
    uint8_t payload_at, activity_at, related_at;
    uint8_t flags;
};

/* Sorted run: consecutive events of a block with ascending times, of which at least one was not
 * returned yet. */
struct nettrace_run {
    struct nettrace_header at;         /* decoded header of the next event to return */
    struct nettrace_header_range span; /* bytes from the start of the block to the end of the run */
    uint64_t last;                     /* ticks of the last event of this run */
    uint64_t keep_from;             /* file offset from which on the input window must keep bytes */
    uint64_t capture_id, thread_id; /* thread numbers of `track` and `thread` */
    ttr_id track, thread;
    /* next: index of the next run of the capture thread, or in the free list; stamp: changes when
     * the slot is used again */
    uint32_t next, stamp;
    /* indexes in order->cached of the headers after `at`: from `cached` up to but not including
     * `cached_end` */
    uint32_t cached, cached_end;
};

/* Heap entry: the next event of a list of sorted runs. */
struct nettrace_heap_entry {
    uint64_t ticks;
    const uint8_t *place; /* address of the event; orders equal ticks */
    uint32_t run;
};

struct nettrace_order {
    struct nettrace_run *runs;
    size_t runs_capacity;
    uint32_t runs_n, runs_used, free, stamp;
    struct nettrace_heap_entry *heap;
    size_t heap_capacity;
    uint32_t heap_n;
    /* ring buffer of NETTRACE_CACHED_MAX headers; NULL until needed */
    struct nettrace_cached_header *cached;
    /* cached_n: number of headers stored so far; cached_first_needed: number of the oldest header
     * that a queued run still needs */
    uint32_t cached_n, cached_first_needed;
    struct nettrace_gap *gaps; /* gaps, sorted by `from` while events are returned */
    size_t gaps_n, gaps_capacity, gaps_emitted;
    uint64_t limit;   /* ticks up to which events may be returned now */
    uint64_t emitted; /* ticks of the event that was returned last */
    /* lowest file offset that runs in the queue need; UINT64_MAX if the queue is empty; not
     * updated while events are returned */
    uint64_t keep_from;
    bool is_emitting, has_emitted;
};

/* Position of the addresses of a stack in `bytes`. Contains their size, so that reading the size
 * does not load `bytes`. */
struct nettrace_stack_extent {
    uint64_t at;
    uint32_t bytes;
};

/* Stacks since the last sequence point. Runtimes number stacks in ascending order; `ranges`
 * contains them, sorted by number. Stacks with a lower number than the stack before are in
 * `others`, so that each lookup takes logarithmic time; no known runtime writes them. */
struct nettrace_stacks {
    /* addresses of all stacks; each stack starts at a multiple of 8 bytes */
    uint8_t *bytes;
    size_t bytes_n, bytes_capacity;
    struct nettrace_stack_extent *at; /* position of each stack in `bytes` */
    size_t at_n, at_capacity;
    struct nettrace_stack_range *ranges;
    size_t ranges_n, ranges_capacity;
    /* maps a stack number to an index in `at`, if the number is lower than that of the stack
     * before */
    struct pair_map others;
    /* for fast lookup: stack `number` is at[number - fast_first], for fast_n numbers; fast_n is 0
     * unless all addresses are 64-bit integers in the byte order of this machine */
    uint32_t fast_first, fast_n;
};

/* Stacks with the numbers first to first + n - 1 (modulo 2^32), which are in `at` from index
 * `begin` on. */
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
    struct pair_map by_number; /* maps the number of a label list to an index in `list` */
};

/* A file that a process has mapped into memory. */
struct nettrace_mapping {
    /* process: index of the process; module: id of the mapped file; 0 if it has none */
    uint32_t process, module;
    uint32_t next; /* index of the next entry with the same mapping id; or NETTRACE_NONE */
};

struct nettrace_universal {
    struct nettrace_mapping *mapping;
    size_t n, capacity;
    struct pair_map by_id; /* maps (mapping id, 0) to the first entry in `mapping` */
};

/* Kinds of chunks. A chunk is a contiguous part of the input: an object, a block or the file head.
 * Chunks are returned as definition events (TTR_READ_DEFINITIONS). Together they contain every
 * undamaged byte, in order. Members of the event: `tag`: the kind; `body`: offset of the content
 * in the chunk; `sequence`: number of its events, which follow later; `link`: file offset, all
 * events before it were returned. TTR_EVENT_PARTIAL: decoding stopped at the end of the chunk.
 * `duration`: number of bytes at the end of the payload that are an array of struct
 * nettrace_segment, not input (damaged blocks). */
enum nettrace_chunk_kind {
    NETTRACE_CHUNK_FILE_HEAD = 1,
    NETTRACE_CHUNK_TRACE,
    NETTRACE_CHUNK_EVENTS,
    NETTRACE_CHUNK_METADATA,
    NETTRACE_CHUNK_STACKS,
    NETTRACE_CHUNK_POINT,
    NETTRACE_CHUNK_THREADS,
    NETTRACE_CHUNK_ENDED_THREADS,
    NETTRACE_CHUNK_LABELS,
    NETTRACE_CHUNK_OTHER,
    NETTRACE_CHUNK_FLAT,    /* V1, V2: events without blocks */
    NETTRACE_CHUNK_END,     /* the end mark of the trace */
    NETTRACE_CHUNK_TRAILING /* bytes that follow the end mark */
};

struct nettrace_chunk {
    uint64_t offset;
    uint32_t size, body, events;
    uint8_t kind;
    bool is_part;
    const uint8_t *segments; /* after a copy of a damaged block; NULL if undamaged */
    uint32_t segments_bytes;
};

#define NETTRACE_CHUNKS_MAX 4u
#define NETTRACE_SEGMENTS_MAX 16u

/* Undamaged events of a damaged block. The first is decoded relative to the header `before`. */
struct nettrace_segment {
    struct nettrace_header before;
    uint32_t begin, end; /* byte offsets from the first event of the block */
    /* byte offsets, from the first event of the block, of the activity ids of the header `before`;
     * 0 if it has none */
    uint32_t activity_at, related_at;
};

struct nettrace_segments {
    struct nettrace_segment all[NETTRACE_SEGMENTS_MAX];
    uint32_t n;
};

struct nettrace_reader {
    struct input *in;
    ttr *t;
    ttr_error *error; /* error of the current nettrace_read_batch() call */
    unsigned version;
    uint32_t pointer_bytes;
    uint64_t pid;
    struct clock_math clock;
    uint64_t sync_ticks;
    int64_t sync_ns;
    /* if ticks - sync_ticks is below this, the time is sync_ns plus that difference; 0 if ticks
     * are not nanoseconds */
    uint64_t unscaled_ticks;
    uint64_t at;       /* file offset of the next object or block to read */
    bool emits_blocks; /* order=block: return each block's events at once */
    bool has_trace;    /* true if the Trace object has been read */
    bool is_over;      /* true if all input was read; waiting events may remain */
    /* true if stacks and labels must be cleared after the events before a sequence point */
    bool resets_stacks;
    /* the sequence point also clears: threads; metadata numbers */
    bool resets_threads, resets_metadata;
    /* true if damage was found, so the next read must search for an object or block first */
    bool needs_resync;
    /* true if memory ran out in the field iterator, which cannot report errors; the next read
     * reports it */
    bool is_out_of_memory;
    ttr_status failed; /* status of the nettrace_emit_ordered_events() call that failed last */
    struct nettrace_types types;
    struct nettrace_threads threads;
    struct nettrace_order order;
    struct nettrace_stacks stacks;
    struct nettrace_labels labels;
    struct nettrace_universal universal;
    /* time range in ns that the caller requested; valid if has_range; blocks outside of it are
     * skipped */
    int64_t from, to;
    bool has_range;
    bool has_jit;               /* true if a type is MethodJittingStarted (begins a compilation) */
    bool has_universal;         /* true if an event type has the provider Universal.System */
    struct arena arena;         /* memory of the event types; freed when the reader is closed */
    struct arena scratch;       /* memory of the texts in the current batch */
    struct buffer symbol;       /* buffer in which symbol names are built */
    bool emits_chunks, has_end; /* has_end: `at` is after the end mark */
    /* file offset of the first chunk in the queue, from which on the window must keep bytes;
     * UINT64_MAX if there is none */
    uint64_t keep_from;
    struct nettrace_chunk chunks[NETTRACE_CHUNKS_MAX];
    uint32_t chunks_n;
    /* number of events in the current block that could be decoded, even if their metadata are
     * undefined */
    uint32_t known_events;
    /* true if metadata in the current block end before the event id */
    bool has_bad_metadata;
    struct nettrace_segments segments; /* segments of the current block if it is damaged */
    /* number of blocks with headers that state the exact times of their events; number of all
     * other blocks */
    uint64_t blocks_exact, blocks_inexact;
    uint32_t fruitless_salvages; /* searches in large events that found no damage */
    ttr_id chunk_schema;
};

/* Bytes of the input window, valid until the next nettrace_load_bytes(). */
struct nettrace_bytes {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
};

/* --- Entry points of the reader (nettrace_read.c) --- */

ttr_status nettrace_reader_open(struct input *in, ttr_error *error);
/* Fills the batch. With TTR_READ_SYMBOLS, also adds the symbols that its events declare to the
 * library context. */
ttr_status nettrace_read_batch(struct input *in, ttr_error *error);
void nettrace_reader_close(struct input *in);

/* Allows the reader to skip blocks that contain only events outside of [from_ns, to_ns). No effect
 * with TTR_READ_SYMBOLS, since symbols may be declared at any time. */
void nettrace_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* --- Trace object (nettrace_trace.c) --- */

/* Parses the Trace object; `c` is after its frame. Sets c->failed if the object is cut off. */
TTR_MUST ttr_status nettrace_parse_trace(struct nettrace_reader *reader, struct cursor *c);

/* --- Input window and chunks (nettrace_chunks.c) --- */

/* Loads `need` bytes from file offset `offset` on; fewer if the input ends. `offset` must be at
 * least order.keep_from. May move the window; then adjusts the pointers of runs in the queue. */
TTR_MUST ttr_status nettrace_load_bytes(struct nettrace_reader *reader, uint64_t offset,
                                        uint64_t need, struct nettrace_bytes *bytes);

/* Ends the trace at the end mark, `size` bytes at reader->at. Reports a diagnostic if bytes follow
 * the mark. */
TTR_MUST ttr_status nettrace_finish_trace(struct nettrace_reader *reader, uint32_t size);

/* Starts collecting chunks if the caller requested definitions. Returns false if memory runs out.
 */
TTR_MUST bool nettrace_chunks_init(struct nettrace_reader *reader);

/* If chunks are collected, adds one to the queue; all its bytes must be in the window. */
void nettrace_queue_chunk(struct nettrace_reader *reader, const struct nettrace_chunk *chunk);

/* If chunks are collected, adds the chunk of a damaged block to the queue, with reader->segments
 * after its bytes. */
void nettrace_queue_damaged_chunk(struct nettrace_reader *reader,
                                  const struct nettrace_chunk *chunk);

/* Appends all chunks of the queue to the batch, which must be empty. */
void nettrace_emit_chunks(struct nettrace_reader *reader);

/* Adds the next bytes after the end mark to the queue as a chunk. Returns TTR_END if there are no
 * more. */
TTR_MUST ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader);

/* --- Objects of V3 to V5 (nettrace_objects.c) --- */

/* Reads the object at reader->at (V3 to V5). After damage, first searches for the next object. */
TTR_MUST ttr_status nettrace_read_object(struct nettrace_reader *reader);

/* --- Search after damage (nettrace_resync.c) --- */

/* After damage, searches for the next event (V1, V2; also the end mark) or block (V6), and sets
 * reader->at to its offset. */
TTR_MUST ttr_status nettrace_resync(struct nettrace_reader *reader);

/* End of a V6 block, as nettrace_measure_block6() found it. */
struct nettrace_block_extent {
    uint64_t size;
    uint64_t next; /* offset of the next block if `size` is wrong; else 0 */
    bool is_cut;   /* true if the input ends inside the block */
    bool is_lost;  /* true if the size that the block declares is wrong */
    /* true if the kind of the block is unknown, but it contains events */
    bool is_strange;
    bool is_short_chain; /* true if only one or two blocks follow at `next` */
};

TTR_MUST ttr_status nettrace_measure_block6(struct nettrace_reader *reader, uint64_t at,
                                            uint32_t head, struct nettrace_block_extent *extent);

/* --- Scan of event blocks (nettrace_scan.c) --- */

struct nettrace_block {
    const uint8_t *begin, *end; /* begin: first event; end: end of the last event */
    uint64_t offset;            /* file offset of `begin` */
    uint64_t least, most;       /* ticks that its header states; valid if has_times */
    uint8_t codec;
    bool is_metadata; /* true if the block contains only metadata */
    bool has_times;
    bool is_cut;         /* true if the input may end inside the last event */
    bool has_end;        /* true if undamaged events end exactly at `end` */
    const uint8_t *stop; /* out: end of the last event that was decoded */
};

/* Parses the header of a block of events: u16 size, u16 flags, u64 lowest ticks, u64 highest
 * ticks. Sets codec and times, and moves the cursor to the first event. Returns false if the
 * header is longer than the block. `size`: size that the header declares. */
TTR_MUST bool nettrace_parse_block_header(struct cursor *c, bool is_v6,
                                          struct nettrace_block *block, uint16_t *size);

/* Scans a block of events, which in V3 contains metadata, too. Adds its sorted runs to the
 * queue. */
TTR_MUST ttr_status nettrace_scan_block(struct nettrace_reader *reader,
                                        struct nettrace_block *block);

/* --- Recovery of events in damaged blocks (nettrace_salvage.c) --- */

/* Larger payloads are compared with the fields of their type, since many events may have become
 * one if its size is damaged. */
#define NETTRACE_LARGE_PAYLOAD 8192u

/* Splits a damaged block into segments of plausible events. is_strict: each payload must end with
 * the last field of its type. Returns false if there are no plausible events. */
TTR_MUST bool nettrace_salvage_block(struct nettrace_reader *reader,
                                     const struct nettrace_block *block, bool is_strict,
                                     struct nettrace_segments *segments);

/* Times of events differ from those in the header of the block; least, most: lowest and highest
 * ticks of events. If one damaged bit in a time delta explains this, splits the block before the
 * damaged event and corrects the times of the second segment. Otherwise returns false. */
TTR_MUST bool nettrace_correct_damaged_time(const struct nettrace_reader *reader,
                                            const struct nettrace_block *block, uint64_t least,
                                            uint64_t most, struct nettrace_segments *segments);

/* --- Order of events (nettrace_order.c) --- */

/* Frees a run that is not in the queue. */
void nettrace_run_discard(struct nettrace_order *order, struct nettrace_run *run);

void nettrace_order_init(struct nettrace_order *order);
void nettrace_order_free(struct nettrace_reader *reader);

/* Returns a sorted run with `header` as its first event; NULL if memory runs out. The caller adds
 * events and calls nettrace_run_enqueue(). */
TTR_MUST struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                               const struct nettrace_header *header);

/* Adds a complete sorted run to the queue. If it starts after the end of its thread's last run,
 * appends it to that thread's list of runs; else starts another list. Returns false if memory is
 * out. */
TTR_MUST bool nettrace_run_enqueue(struct nettrace_reader *reader, struct nettrace_run *run,
                                   uint64_t first_ticks);

/* Requests that all waiting events with ticks up to `limit` are returned. */
void nettrace_order_flush_until(struct nettrace_reader *reader, uint64_t limit);

/* Appends events that were requested to the batch, until it is full or the limit is reached. On
 * failure, returns false and stores the status in reader->failed. */
TTR_MUST bool nettrace_emit_ordered_events(struct nettrace_reader *reader);

/* Converts ticks to ns since 1970. Adds TTR_EVENT_CLAMPED to `flags` if the result does not fit. */
int64_t nettrace_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags);

/* Adjusts the pointers of all runs in the queue after the window moved from `before` to `after`. */
void nettrace_order_rebase_pointers(struct nettrace_order *order, const struct window *before,
                                    const struct window *after);

/* --- Threads and sequence numbers (nettrace_threads.c) --- */

/* Returns the index of a capture thread in threads.capture; adds the thread if it is new. Returns
 * SIZE_MAX if memory runs out. */
size_t nettrace_get_capture_thread_index(struct nettrace_reader *reader, uint64_t id);

/* Compares the sequence number in `header` with that of the thread's last event. If events are
 * missing, adds a gap to the queue. is_point: the number is in a sequence point, not in an event.
 * Returns false if memory runs out. */
TTR_MUST bool nettrace_update_sequence(struct nettrace_reader *reader, size_t capture,
                                       const struct nettrace_header *header, bool is_point);

/* Returns the thread with that OS thread id; in V6, with that thread index. Returns 0 if memory is
 * out. */
ttr_id nettrace_get_thread(struct nettrace_reader *reader, uint64_t tid);

/* V6: returns the thread with an index but no tid. Returns 0 if memory runs out. */
ttr_id nettrace_get_thread_without_tid(struct nettrace_reader *reader, uint64_t index,
                                       uint64_t pid);

/* V6: define the thread of an index; remove one thread; remove all threads.
 * nettrace_thread_define() returns false if memory runs out. */
TTR_MUST bool nettrace_thread_define(struct nettrace_reader *reader, uint64_t index, ttr_id thread);
void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index);
void nettrace_threads_reset(struct nettrace_reader *reader);

/* --- Stacks by number (nettrace_stacks.c) --- */

/* Parses `n` stacks, numbered from `first` on. Sets c->failed if not all are complete. Returns
 * false if memory runs out. */
TTR_MUST bool nettrace_stacks_parse(struct nettrace_reader *reader, uint32_t first, uint32_t n,
                                    struct cursor *c);
void nettrace_stacks_reset(struct nettrace_stacks *stacks);
void nettrace_stacks_free(struct nettrace_reader *reader);

/* Returns the addresses of an event's stack as stored, and sets `*n` to their number. Returns NULL
 * if the event has no stack. Valid until the next sequence point. */
const uint8_t *nettrace_get_stored_frames(const struct nettrace_reader *reader,
                                          const ttr_event *event, uint32_t *n);

/* Implements ttr_event_frames(): copies up to `room` addresses, and returns the full depth of the
 * stack. `ctx` is the event's type. */
uint32_t nettrace_copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                              uint32_t room);

/* Implements ttr_event_stack(): returns the stored addresses without copying them; or NULL if they
 * are not 64-bit integers in the byte order of this machine. `ctx` is the event's type. */
const uint64_t *nettrace_borrow_frames(const void *ctx, const ttr_event *event, uint32_t *n);

/* Reads an address of `bytes` bytes, which is 4 or 8. */
static inline uint64_t nettrace_load_address(const uint8_t *p, uint32_t bytes)
{
    return bytes == 8 ? load_u64le(p) : load_u32le(p);
}

/* --- Metadata of V1 to V5 (nettrace_metadata.c) --- */

/* Parses metadata of V1 to V5 from the payload at the cursor. `number` is the file offset of the
 * event, which V1 and V2 use as metadata number. */
TTR_MUST ttr_status nettrace_parse_metadata(struct nettrace_reader *reader, struct cursor *c,
                                            uint64_t number);

/* Returns true if metadata of V1 to V5 contain a provider and an event id. */
bool nettrace_metadata_is_usable(unsigned version, struct cursor c);

struct nettrace_definition;

/* Adds name or fields from the runtime's manifest to metadata that do not contain them
 * (encodings/dotnet/clr_events.h). Returns false if memory runs out. */
TTR_MUST bool nettrace_fill_known_event(struct nettrace_reader *reader,
                                        struct nettrace_definition *stored);

/* Returns the type of events of `type` that have another version, as a label declares. Returns
 * NULL if memory runs out. */
struct nettrace_type *nettrace_get_type_of_version(struct nettrace_type *type, uint8_t version);

/* --- Blocks of V6 (nettrace_blocks.c) --- */

/* Reads the V6 block at reader->at. After damage, first searches for the next block. */
TTR_MUST ttr_status nettrace_read_block6(struct nettrace_reader *reader);

/* --- Metadata of V6 (nettrace_metadata6.c) --- */

TTR_MUST ttr_status nettrace_parse_metadata6(struct nettrace_reader *reader, struct cursor *c);

/* --- Label lists of V6 (nettrace_labels.c) --- */

TTR_MUST ttr_status nettrace_labels_parse(struct nettrace_reader *reader, struct cursor *c);
void nettrace_labels_reset(struct nettrace_reader *reader);
void nettrace_labels_free(struct nettrace_reader *reader);

/* Moves the cursor to the end of one label list. Returns false if the list is cut off or has an
 * unknown label. */
bool nettrace_skip_label_list(struct cursor *c);

/* Finds the bytes of a label list. Returns false if no list has this number. */
bool nettrace_find_label_list(const struct nettrace_reader *reader, uint32_t number,
                              const uint8_t **p, uint32_t *n);

/* Sets the members of an event that its labels override. event->part has the number of the label
 * list. */
void nettrace_override_by_labels(struct nettrace_type *type, ttr_event *event);

/* Returns the next label that is a field, and advances `*p` and `*n` to the one after it. Returns
 * false if there are no more. */
bool nettrace_next_label_field(const uint8_t **p, uint32_t *n, ttr_field *field);

/* --- Table of event types (nettrace_types.c) --- */

/* Content of one metadata record, of any version. */
struct nettrace_definition {
    ttr_id provider, name;
    uint32_t number, id, version;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    bool has_opcode;               /* true if the record contains an opcode, which may be 0 */
    bool has_locations;            /* V6: fields have the type rel_loc or data_loc */
    bool is_known;                 /* true if name and fields are from the runtime's manifest */
    bool has_stored_fields;        /* true if the record declares the fields */
    struct type *root;             /* type of the payload; NULL if its fields are unknown */
    ttr_text message, description; /* texts of V6, borrowed from the record */
    uint8_t could_lie;             /* bits of possible layouts (nettrace_layouts.c) */
    const uint8_t *bytes;          /* bytes of the record, in V6 without its number */
    size_t bytes_n;
};

void nettrace_types_init(struct nettrace_reader *reader);
void nettrace_types_free(struct nettrace_reader *reader);
TTR_MUST ttr_status nettrace_add_event_type(struct nettrace_reader *reader,
                                            const struct nettrace_definition *stored,
                                            uint64_t offset);

/* If the same record was declared before with this number, makes the number refer to that type
 * again, and returns true. Returns false if not, or if memory runs out. */
bool nettrace_reuse_known_type(struct nettrace_reader *reader,
                               const struct nettrace_definition *stored);

/* Adds a copy of a type, with another version and payload, to the type's list of versions. Returns
 * NULL if memory runs out. */
struct nettrace_type *nettrace_type_add_version(struct nettrace_type *type, uint32_t version,
                                                const struct type *root);

/* Removes all metadata numbers from the tables; the types remain valid. */
void nettrace_types_clear_numbers(struct nettrace_reader *reader);

/* Converts a level of .NET (1 = critical to 5 = verbose) to a level of ttr_event. */
uint8_t nettrace_convert_clr_level(uint32_t level);

struct nettrace_type *nettrace_find_sparse_type(const struct nettrace_types *types,
                                                uint32_t number);

static inline struct nettrace_type *nettrace_find_type(const struct nettrace_types *types,
                                                       uint32_t number)
{
    return NETTRACE_LIKELY(number < types->dense_n) ? types->dense[number]
                                                    : nettrace_find_sparse_type(types, number);
}

/* --- Description of event types (nettrace_types.c) --- */

bool nettrace_describe_type(struct input *in, size_t i, struct event_class *about,
                            uint64_t *events);

/* --- Layouts of payloads (nettrace_layouts.c) --- */

/* Returns the layout that matches the size of an event's payload; compiles it at first use.
 * Returns NULL if the fields are unknown. */
const struct layout *nettrace_get_event_layout(const struct nettrace_type *type,
                                               const ttr_event *event);

/* Returns true if the last field of a type ends exactly at the end of a payload, or the fields are
 * unknown. */
bool nettrace_fields_end_with_payload(const struct nettrace_type *type, const uint8_t *payload,
                                      uint32_t n);

/* Returns the could_lie bit of a payload with arrays if the number of their elements may be an
 * earlier field; 0 for other payloads. */
uint8_t nettrace_get_earlier_count_bit(const struct type *root);

/* --- Field iterator (nettrace_fields.c) --- */

extern const struct field_ops nettrace_field_ops;

/* --- Begin and end events of the runtime (nettrace_spans.c) --- */

/* Sets span rule and opcode of a type, for runtime events that are begin and end events but do not
 * have such opcodes. type->name and type->provider must be set. */
void nettrace_choose_span_rule(struct nettrace_reader *reader, struct nettrace_type *type);

/* Sets `kind` and `link` of an event by its opcode, so that begin and end events can be paired. */
void nettrace_mark_span(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type);

/* --- Methods and modules of .NET (nettrace_symbols.c) --- */

/* Returns the kind of symbols that an event of the runtime's providers declares (enum
 * symbols_kind); 0 if none. */
uint8_t nettrace_get_symbol_kind(ttr_text provider, uint32_t id);

/* Adds the symbols of an event to the library context. Returns false if memory runs out. */
TTR_MUST bool nettrace_add_symbols(struct nettrace_reader *reader, const ttr_event *event);

/* --- Symbols of machine-wide traces (nettrace_universal.c) --- */

/* Returns true if a provider is "Universal.*". Texts of these providers have another encoding than
 * their metadata declare. */
bool nettrace_is_universal(ttr_text provider);

/* Returns true if events with this provider and name are CPU samples. */
bool nettrace_is_universal_sample(ttr_text provider, ttr_text name);

/* Returns the kind of symbols that an event of Universal.System declares (enum symbols_kind); 0 if
 * the reader does not use them. */
uint8_t nettrace_get_universal_symbol_kind(ttr_text provider, uint32_t id);

/* Adds the process name, mapping or symbol of an event. Returns false if memory runs out. */
TTR_MUST bool nettrace_add_universal_symbols(struct nettrace_reader *reader, const ttr_event *event,
                                             uint8_t kind);
void nettrace_universal_free(struct nettrace_reader *reader);

/* --- Table of diagnostic codes (nettrace_diagnostics.c) --- */
extern const ttr_diagnostic_info nettrace_diagnostics[];

#endif
