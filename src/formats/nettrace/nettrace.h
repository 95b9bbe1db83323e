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
/* A boolean may be stored in one byte or four, and so may a byte. Each combination is one layout of
 * the payload: bit 0 of its index: booleans have one byte, bit 1: bytes have four, bit 2: arrays
 * have no count of their own, but that of an earlier field. */
#define NETTRACE_LAYOUTS_MAX 8u
#define NETTRACE_DENSE_MAX 65536u /* metadata numbers below this are looked up in a plain array */
#define NETTRACE_RUNS_MAX                                                                       \
    65536u /* sorted runs that wait to be emitted; if there are more, events are emitted out of \
              order */
#define NETTRACE_CACHED_MAX 16384u /* cached decoded headers of waiting events; a power of two */
/* Bytes from the oldest waiting event to the current block. If there are more, events are emitted
 * out of order. */
#define NETTRACE_WAITING_BYTES_MAX ((uint64_t)256 << 20)
/* Limit of waiting gaps (reports of lost events). Counts of further gaps are added to the last one.
 */
#define NETTRACE_GAPS_MAX 65536u
#define NETTRACE_THREAD_CACHE 256u

struct nettrace_reader;

/* Kind of symbol or process that events of a type declare. */
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

/* Payload layouts of an event type. Each is compiled when an event first needs it. */
struct nettrace_layouts {
    /* type of the payload; NULL if the fields are unknown */
    const struct type *root;
    /* Compiled layouts by index. An entry is valid if its bit in `tried` is set, and is NULL if
     * compilation failed. */
    const struct layout *layout[NETTRACE_LAYOUTS_MAX];
    uint64_t offset; /* file offset of the metadata, for diagnostics */
    /* bit i: the value of root member i is converted before it is returned; valid if `is_plain` is
     * set */
    uint64_t converted;
    /* tried: one bit per layout that was compiled; could_lie: bits of the layouts that the metadata
     * permit */
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
    /* V6: true if some fields refer to bytes after the last field; trailing bytes are then not
     * reported as undecoded */
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
    /* bytes of the metadata record, in V6 without its number; owned by reader->arena */
    const uint8_t *stored;
    uint32_t stored_n;
    ttr_event template; /* event with the members that all events of this type share */
    /* true if the metadata declare fields; else the version decides which fields of the manifest
     * apply */
    bool has_stored_fields;
    /* V6: next copy of this type, with a version that a label declares; NULL at the end of the list
     */
    struct nettrace_type *next_version;
};

/* Tables of event types. Types are freed only when the reader is closed. */
struct nettrace_types {
    struct nettrace_type *
        *dense; /* type by metadata number, for numbers below NETTRACE_DENSE_MAX */
    size_t dense_n;
    struct nettrace_type **all;
    size_t all_n, all_capacity;
    /* maps a metadata number to an index in `all`, for numbers from NETTRACE_DENSE_MAX on */
    struct pair_map sparse;
    /* maps (hash of the stored record, metadata number) to an index in `all` */
    struct pair_map known;
    struct pair_map providers;     /* maps (provider, 0) to provider number */
    struct nettrace_type **sorted; /* `all` sorted by provider, for descriptions */
    size_t sorted_n, sorted_capacity;
    /* metadata number of the last scanned event of which the metadata are not defined yet; 0 if
     * none */
    uint32_t awaited;
};

/* A thread that captured events. Its sequence counter reveals lost events. */
struct nettrace_capture_thread {
    uint64_t id;
    uint64_t ticks;    /* ticks of the last event scanned; that event may not be emitted yet */
    uint32_t sequence; /* sequence number of the last event scanned; valid if `is_known` */
    /* index of the last queued sorted run of this thread; NETTRACE_NONE if none is queued */
    uint32_t tail;
    /* `stamp` of the run at index `tail`; if the run has another stamp, its slot was reused */
    uint32_t tail_stamp;
    ttr_id track;
    bool is_known; /* `sequence` is valid */
};

struct nettrace_threads {
    struct pair_map by_index; /* V6: maps (thread index, 0) to thread id */
    /* V6: maps (thread index, pid) to the id of a thread without a tid; never cleared */
    struct pair_map unnumbered;
    struct nettrace_capture_thread *capture;
    size_t capture_n, capture_capacity;
    /* maps (OS thread id, 0), in V6 (ttr_id of the thread, 0), to an index in `capture` */
    struct pair_map by_id;
    struct {
        uint64_t tid;
        ttr_id thread;
    } cache[NETTRACE_THREAD_CACHE];
};

/* Events that a capture thread lost: their count, and the ticks between which they were lost. */
struct nettrace_gap {
    uint64_t from, to, count, offset;
    ttr_id track;
};

/* Cached header of an event that is not emitted yet: only the members that can differ from the
 * previous event. Positions are in bytes from the start of the event, 0 if absent. A header that
 * names a thread is not cached, but decoded again. */
struct nettrace_cached_header {
    uint64_t ticks;
    uint32_t metadata, stack, payload_size;
    uint8_t payload_at, activity_at, related_at;
    uint8_t flags;
};

/* Sorted run: consecutive events of a block with ascending times. At least one of the events is not
 * emitted yet. */
struct nettrace_run {
    struct nettrace_header at;         /* decoded header of the next event to emit */
    struct nettrace_header_range span; /* bytes from the start of the block to the end of the run */
    uint64_t last;                     /* ticks of the last event of this run */
    uint64_t keep_from; /* file offset; the input window must keep bytes from here on */
    /* thread numbers for which `track` and `thread` were looked up last */
    uint64_t capture_id, thread_id;
    ttr_id track, thread;
    /* next: index of the next run in the list of the capture thread, or in the free list; stamp:
     * changes when the slot is reused */
    uint32_t next, stamp;
    /* range of indices in order->cached with the headers after `at`; equal if none are cached */
    uint32_t cached, cached_end;
};

/* Heap entry: the next event of one capture thread's list of sorted runs. */
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
    /* cached_n: number of headers stored so far; cached_first_needed: number of the oldest header
     * that a queued run still needs */
    uint32_t cached_n, cached_first_needed;
    struct nettrace_gap *gaps; /* sorted by `from` while emitting */
    size_t gaps_n, gaps_capacity, gaps_emitted;
    uint64_t limit;   /* ticks of the last event that may be emitted; valid while emitting */
    uint64_t emitted; /* ticks of the last event emitted */
    /* Lowest file offset that queued runs need; UINT64_MAX if none is queued. Not updated while
     * events are emitted. */
    uint64_t keep_from;
    bool is_emitting, has_emitted;
};

/* Position and size of a stack's addresses in `bytes`. The size is stored here, so that reading it
 * does not access `bytes`. */
struct nettrace_stack_extent {
    uint64_t at;
    uint32_t bytes;
};

/* Stacks since the last sequence point. Runtimes number stacks in ascending order; `ranges` has
 * these stacks, sorted by number. A stack with a lower number than the previous one is in `others`,
 * so that each lookup stays logarithmic. No known runtime writes such stacks. */
struct nettrace_stacks {
    uint8_t *bytes; /* addresses of all stacks; each stack starts at a multiple of 8 */
    size_t bytes_n, bytes_capacity;
    struct nettrace_stack_extent *at; /* entries that locate each stack in `bytes` */
    size_t at_n, at_capacity;
    struct nettrace_stack_range *ranges;
    size_t ranges_n, ranges_capacity;
    /* maps a stack number to an index in `at`, for numbers below that of the previous stack */
    struct pair_map others;
    /* Fast path: stack `number` is at[number - fast_first], for fast_n numbers. Valid only if all
     * addresses are native 64-bit integers; else fast_n is 0. */
    uint32_t fast_first, fast_n;
};

/* The stacks with the numbers first to first + n - 1 (modulo 2^32) are at[begin] and following. */
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
    /* process: process index; module: module id of the mapped file, 0 if none */
    uint32_t process, module;
    /* index of the next entry with the same mapping id; NETTRACE_NONE if none */
    uint32_t next;
};

struct nettrace_universal {
    struct nettrace_mapping *mapping;
    size_t n, capacity;
    struct pair_map by_id; /* maps (mapping id, 0) to the first entry in `mapping` */
};

/* Kinds of chunks. A chunk is a contiguous part of the input: an object, a block or the file head.
 * Pieces are emitted as definition events (TTR_READ_DEFINITIONS). In order they cover every
 * undamaged byte. Members of the event: `tag` is the kind, `body` is the offset of the content in
 * the chunk, `sequence` counts its events, which follow later. `link` is a file offset: all events
 * before it were emitted. TTR_EVENT_PARTIAL: the chunk ends where decoding stopped. `duration`: the
 * last bytes of the payload are not input, but an array of struct nettrace_segment (damaged
 * blocks). */
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
    NETTRACE_CHUNK_FLAT,    /* V1, V2: events */
    NETTRACE_CHUNK_END,     /* the end mark */
    NETTRACE_CHUNK_TRAILING /* bytes after the end mark */
};

struct nettrace_chunk {
    uint64_t offset;
    uint32_t size, body, events;
    uint8_t kind;
    bool is_part;
    /* a damaged block: its segments, directly after a copy of its bytes; NULL if undamaged */
    const uint8_t *segments;
    uint32_t segments_bytes;
};

#define NETTRACE_CHUNKS_MAX 4u
#define NETTRACE_SEGMENTS_MAX 16u

/* Undamaged events of a damaged block. `before` is the header from which the first one is decoded.
 */
struct nettrace_segment {
    struct nettrace_header before;
    uint32_t begin, end; /* bytes from the first event of the block */
    /* positions of the activity ids of the header `before`, in bytes from the first event of the
     * block; 0 if it has none */
    uint32_t activity_at, related_at;
};

struct nettrace_segments {
    struct nettrace_segment all[NETTRACE_SEGMENTS_MAX];
    uint32_t n;
};

struct nettrace_reader {
    struct input *in;
    ttr *t;
    ttr_error *error; /* error to fill if the current nettrace_read_batch() call fails */
    unsigned version;
    uint32_t pointer_bytes;
    uint64_t pid;
    struct clock_math clock;
    uint64_t sync_ticks;
    int64_t sync_ns;
    /* If ticks - sync_ticks is below this limit, the time in ns is sync_ns plus that difference. 0
     * if ticks are not nanoseconds. */
    uint64_t unscaled_ticks;
    uint64_t at; /* file offset of the next object or block */
    /* option order=block: events of each block are emitted at once, without merging */
    bool emits_blocks;
    bool has_trace; /* the Trace object has been read */
    /* The input has been read to its end. Waiting events may remain. */
    bool is_over;
    /* A sequence point was read: clear stacks and labels once all events before it are emitted. */
    bool resets_stacks;
    bool resets_threads,
        resets_metadata; /* the sequence point also clears threads or metadata numbers */
    /* damage was found: the next read searches for an object or block */
    bool needs_resync;
    /* An allocation failed in the field iterator, which cannot report errors. The next read reports
     * it. */
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
    struct buffer symbol; /* buffer for the symbol name that is being built */
    /* has_end: the end mark was read; `at` is then the file offset after it */
    bool emits_chunks, has_end;
    /* file offset of the first queued chunk; the window keeps bytes from here on; UINT64_MAX if
     * none */
    uint64_t keep_from;
    struct nettrace_chunk chunks[NETTRACE_CHUNKS_MAX];
    uint32_t chunks_n;
    /* number of decoded events of the current block, including those with undefined metadata */
    uint32_t known_events;
    bool has_bad_metadata; /* some metadata of the current block end before the event id */
    struct nettrace_segments segments; /* segments of the current block; none if it is undamaged */
    /* blocks with the exact times of their events in the header, and blocks with others */
    uint64_t blocks_exact, blocks_inexact;
    uint32_t fruitless_salvages; /* searches in undamaged blocks with large events */
    ttr_id chunk_schema;
};

/* Bytes of the input window, valid until the next nettrace_load_bytes(). */
struct nettrace_bytes {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
};

/* --- nettrace_read.c: entry points of the reader --- */

ttr_status nettrace_reader_open(struct input *in, ttr_error *error);
/* Fills the batch. With TTR_READ_SYMBOLS the context also gets the symbols that the events of the
 * batch declare. */
ttr_status nettrace_read_batch(struct input *in, ttr_error *error);
void nettrace_reader_close(struct input *in);

/* Allows the reader to skip blocks without events in [from_ns, to_ns). Has no effect with
 * TTR_READ_SYMBOLS: symbols may be declared at any time. */
void nettrace_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* --- nettrace_trace.c: the Trace object --- */

/* Parses the Trace object; `c` is after its frame. Sets c->failed if the object is truncated. */
TTR_MUST ttr_status nettrace_parse_trace(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_chunks.c: input window and chunks --- */

/* Loads `need` bytes from file offset `offset` on, or fewer if the input ends. `offset` must not be
 * below order.keep_from. May move the window; pointers of queued runs are then adjusted. */
TTR_MUST ttr_status nettrace_load_bytes(struct nettrace_reader *reader, uint64_t offset,
                                        uint64_t need, struct nettrace_bytes *bytes);

/* Ends the trace at the end mark, which has `size` bytes at reader->at. Adds a note if bytes follow
 * the mark. */
TTR_MUST ttr_status nettrace_finish_trace(struct nettrace_reader *reader, uint32_t size);

/* Enables the collection of chunks if the caller requested definitions. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_chunks_init(struct nettrace_reader *reader);

/* Queues a chunk that is completely in the window. Does nothing unless chunks are collected. */
void nettrace_queue_chunk(struct nettrace_reader *reader, const struct nettrace_chunk *chunk);

/* Queues the chunk of a damaged block, with reader->segments after its bytes. Does nothing unless
 * chunks are collected. */
void nettrace_queue_damaged_chunk(struct nettrace_reader *reader,
                                  const struct nettrace_chunk *chunk);

/* Appends the queued chunks to the batch, which must be empty. */
void nettrace_emit_chunks(struct nettrace_reader *reader);

/* Queues the next bytes after the end mark as a chunk. Returns TTR_END if none are left. */
TTR_MUST ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader);

/* --- nettrace_objects.c: objects of V3 to V5 --- */

/* Reads the object at reader->at (V3 to V5). After damage, searches for the next object first. */
TTR_MUST ttr_status nettrace_read_object(struct nettrace_reader *reader);

/* --- nettrace_resync.c: search after damage --- */

/* Searches for the next event (V1, V2) or block (V6) after damage and sets reader->at to its
 * offset. In V1 and V2 the end mark is found, too. */
TTR_MUST ttr_status nettrace_resync(struct nettrace_reader *reader);

/* Extent of a V6 block, as found by nettrace_measure_block6(). */
struct nettrace_block_extent {
    uint64_t size;
    /* file offset of the next block that was found, if `size` is wrong; else 0 */
    uint64_t next;
    bool is_cut;         /* the input ends inside the block */
    bool is_lost;        /* `size` is wrong */
    bool is_strange;     /* the block has an unknown kind, but contains events */
    bool is_short_chain; /* only one or two blocks and the end mark were found at `next` */
};

TTR_MUST ttr_status nettrace_measure_block6(struct nettrace_reader *reader, uint64_t at,
                                            uint32_t head, struct nettrace_block_extent *extent);

/* --- nettrace_scan.c: scan of event blocks --- */

struct nettrace_block {
    const uint8_t *begin, *end; /* begin: first event; end: end of the last event */
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

/* Returns a new sorted run with `header` as its first event, or NULL if memory is exhausted. The
 * caller passes it to nettrace_run_enqueue() when it is complete. */
TTR_MUST struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                               const struct nettrace_header *header);

/* Queues a complete sorted run. A run that starts after the end of its thread's last run is
 * appended to that thread's list of runs; else it starts another list. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_run_enqueue(struct nettrace_reader *reader, struct nettrace_run *run,
                                   uint64_t first_ticks);

/* Requests that all waiting events with ticks up to `limit` are emitted. */
void nettrace_order_flush_until(struct nettrace_reader *reader, uint64_t limit);

/* Appends requested events to the batch until it is full or the limit is reached. Returns false on
 * failure, with the status in reader->failed. */
TTR_MUST bool nettrace_order_emit(struct nettrace_reader *reader);

/* Converts ticks to ns since 1970. Adds TTR_EVENT_CLAMPED to `flags` if the result does not fit. */
int64_t nettrace_ticks_to_ns(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags);

/* Adjusts all pointers into the window that queued runs hold, after the window moved from `before`
 * to `after`. */
void nettrace_order_rebase_pointers(struct nettrace_order *order, const struct window *before,
                                    const struct window *after);

/* --- nettrace_threads.c: threads and sequence counters --- */

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

/* V6: returns the thread of an index that has no tid; 0 if memory is exhausted. */
ttr_id nettrace_get_thread_without_tid(struct nettrace_reader *reader, uint64_t index,
                                       uint64_t pid);

/* V6: define the thread at an index, remove one thread, remove all threads.
 * nettrace_thread_define() returns false if memory is exhausted. */
TTR_MUST bool nettrace_thread_define(struct nettrace_reader *reader, uint64_t index, ttr_id thread);
void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index);
void nettrace_threads_reset(struct nettrace_reader *reader);

/* --- nettrace_stacks.c: stacks by number --- */

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

/* Implements ttr_event_frames(): copies up to `room` addresses, and returns the full depth of the
 * stack. `ctx` is the event's type. */
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

/* --- nettrace_metadata.c: metadata of V1 to V5 --- */

/* Parses metadata of V1 to V5 from the payload at the cursor. `number` is the file offset of the
 * event, which V1 and V2 use as metadata number. */
TTR_MUST ttr_status nettrace_parse_metadata(struct nettrace_reader *reader, struct cursor *c,
                                            uint64_t number);

/* Returns whether metadata of V1 to V5 contain at least a provider and an event id. */
bool nettrace_metadata_is_usable(unsigned version, struct cursor c);

struct nettrace_definition;

/* Completes metadata without a name or fields from the runtime's manifest
 * (encodings/dotnet/clr_events.h). Returns false if memory is exhausted. */
TTR_MUST bool nettrace_fill_known_event(struct nettrace_reader *reader,
                                        struct nettrace_definition *stored);

/* Returns the type for events of `type` with another version, which a label declares. Returns NULL
 * if memory is exhausted. */
struct nettrace_type *nettrace_get_type_of_version(struct nettrace_type *type, uint8_t version);

/* --- nettrace_blocks.c: blocks of V6 --- */

/* Reads the V6 block at reader->at. After damage, searches for the next block first. */
TTR_MUST ttr_status nettrace_read_block6(struct nettrace_reader *reader);

/* --- nettrace_metadata6.c: metadata of V6 --- */

TTR_MUST ttr_status nettrace_parse_metadata6(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_labels.c: label lists of V6 --- */

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
void nettrace_labels_apply(struct nettrace_type *type, ttr_event *event);

/* Returns the next label that becomes a field, and advances `*p` and `*n` past it. Returns false
 * after the last label. */
bool nettrace_next_label_field(const uint8_t **p, uint32_t *n, ttr_field *field);

/* --- nettrace_types.c: table of event types --- */

/* Contents of one metadata record, independent of the version. */
struct nettrace_definition {
    ttr_id provider, name;
    uint32_t number, id, version;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    bool has_opcode;    /* the record stores an opcode, which may be 0 */
    bool has_locations; /* V6: some fields have the type rel_loc or data_loc */
    /* true if name and fields come from the manifest of the runtime, not from the record */
    bool is_known;
    bool has_stored_fields; /* the record declares fields; set by nettrace_fill_known_event() */
    struct type *root;      /* type of the payload; NULL if unknown */
    ttr_text message, description; /* V6 only; both point into the record */
    uint8_t could_lie;    /* bits of the layouts that the metadata permit; see nettrace_layouts.c */
    const uint8_t *bytes; /* stored bytes of the record, in V6 without the number */
    size_t bytes_n;
};

void nettrace_types_init(struct nettrace_reader *reader);
void nettrace_types_free(struct nettrace_reader *reader);
TTR_MUST ttr_status nettrace_type_add(struct nettrace_reader *reader,
                                      const struct nettrace_definition *stored, uint64_t offset);

/* Returns true if the same record was declared before with the same number; the number then refers
 * to that type again. Returns false otherwise, or if memory is exhausted. */
bool nettrace_type_reuse(struct nettrace_reader *reader, const struct nettrace_definition *stored);

/* Adds a copy of a type with another version and payload to its list of versions. Returns NULL if
 * memory is exhausted. */
struct nettrace_type *nettrace_type_add_version(struct nettrace_type *type, uint32_t version,
                                                const struct type *root);

/* Undefines all metadata numbers; the types remain valid. */
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

/* --- nettrace_types.c: description of event types for `info` --- */

bool nettrace_describe_type(struct input *in, size_t i, struct event_class *about,
                            uint64_t *events);

/* --- nettrace_layouts.c: layouts of payloads --- */

/* Returns the layout that fits the size of an event's payload, and compiles it at first use.
 * Returns NULL if the fields are unknown. */
const struct layout *nettrace_get_event_layout(const struct nettrace_type *type,
                                               const ttr_event *event);

/* Returns whether the fields of a type end exactly at the end of a payload. True if the fields are
 * unknown. */
bool nettrace_payload_fits(const struct nettrace_type *type, const uint8_t *payload, uint32_t n);

/* Returns the bit of could_lie for a payload with arrays that may have their count in an earlier
 * field, else 0. */
uint8_t nettrace_make_corrected_type(const struct type *root);

/* --- nettrace_fields.c --- */

extern const struct field_ops nettrace_field_ops;

/* --- nettrace_spans.c: begin and end events of the runtime --- */

/* Sets span rule and opcode of a type if the runtime does not mark its begin and end events by
 * opcodes. type->name and type->provider must be set. */
void nettrace_choose_span_rule(struct nettrace_reader *reader, struct nettrace_type *type);

/* Sets `kind` and `link` of an event with an opcode, so that begin and end events can be paired. */
void nettrace_mark_span(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type);

/* --- nettrace_symbols.c: methods and modules of .NET --- */

/* Returns which symbols events of the runtime's providers declare (enum symbols_kind); 0 if none.
 */
uint8_t nettrace_symbol_event_kind(ttr_text provider, uint32_t id);

/* Adds the symbols that an event declares to the context. Returns false if memory is exhausted. */
TTR_MUST bool nettrace_add_symbols(struct nettrace_reader *reader, const ttr_event *event);

/* --- nettrace_universal.c: symbols of machine-wide traces --- */

/* Returns whether a provider is "Universal.*". These providers store texts in another encoding than
 * their metadata declare. */
bool nettrace_is_universal(ttr_text provider);

/* Returns whether events with this provider and name are CPU samples. */
bool nettrace_is_universal_sample(ttr_text provider, ttr_text name);

/* Returns which symbols events of Universal.System declare (enum symbols_kind); 0 if the reader
 * does not use them. */
uint8_t nettrace_universal_event_kind(ttr_text provider, uint32_t id);

/* Adds the process name, mapping or symbol that an event declares. Returns false if memory is
 * exhausted. */
TTR_MUST bool nettrace_add_universal_symbols(struct nettrace_reader *reader, const ttr_event *event,
                                             uint8_t kind);
void nettrace_universal_free(struct nettrace_reader *reader);

/* --- nettrace_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info nettrace_diagnostics[];

#endif
