/* The perf.data reader: shared types, and the functions that each of its files offers. Layouts are
 * drawn in encodings/perf_data/perf_layout.h, rules by id in README.md.
 *
 *   perf_folder.c    opens a folder of many files (perf record --threads)
 *   perf_open.c      reads the header of a file or pipe, its attributes and its table of features
 *   perf_features.c  parses a feature: a section of a file, a record of a pipe
 *   perf_feature_table.c  finds a table of features that is not at its declared offset
 *   perf_kinds.c     perf_kind: an attribute, its ids, its name, the layout of its samples
 *   perf_names.c     names an event by type and config if the file does not
 *   perf_read.c      the loop: scans records, releases them in order of time, decodes them
 *   perf_order.c     queue of scanned records, sorted by time
 *   perf_resync.c    plausibility of a record; resynchronization after damage
 *   perf_unpack.c    compressed records
 *   perf_tool.c      records of the tool (types of 64 and more)
 *   perf_records.c   other kernel records to events; names of threads
 *   perf_sample.c    samples to events
 *   perf_parts.c     parts of a sample that have no fixed offset
 *   perf_fields.c, perf_record_fields.c   fields of samples, of other records
 *   perf_event.c     threads, times and events, shared by all kinds of records
 *   perf_symbols.c   mappings and build ids, for symbols
 *   perf_tracing.c   tracepoints; encodings/tracepoint decodes their fields
 *
 * Input of a file (a pipe has 16 bytes, then only records; attributes and features are records):
 *
 *   +--------+-------------+---------------------------------------------+-------------------+
 *   | header | attributes  | records: round | FINISHED_ROUND | round ... | table of features |
 *   | 104    | each + ids  | each: u32 type, u16 misc, u16 size, body    | then the features |
 *   +--------+-------------+---------------------------------------------+-------------------+
 *
 * Order of calls.  perf_open reads the header, attributes and features, and decides by
 * perf_decide_sorting whether records can be sorted. Each call of perf_read_batch then fills one
 * batch: it decodes released records; if none is released, it scans until some are.
 *
 * Algorithm: a windowed natural merge sort. The recorder stores one ring buffer after the other,
 * and marks the end of each pass over all buffers by FINISHED_ROUND.  No record is older than the
 * newest one of the round before the last, so at each mark the records up to that time are released
 * (PERF-TIME-2). Scanning stores only a 16-byte key per record (time, offset, size); the keys of a
 * round consist of about one sorted run per CPU, which passes of a two-way merge sort in O(n log
 * runs). A record is decoded when it is emitted.
 *
 * Invariants:
 *   - Bytes of queued records stay in the input window (or in perf_unpacked) until emitted.
 *   - Thread names change while records are emitted, in order of time; kinds, names of kinds and
 *     features change only while the batch is empty.
 *   - Equal times keep the order of the file.
 *
 * Cost: two rounds of the recorder's buffers in memory; limits are the _MAX constants below. A
 * file of more than 16 MiB without rounds is read as stored, and sorted by the caller if needed.
 *
 * Left out: processor traces (AUXTRACE data are skipped), statistics of perf stat record. */
#ifndef TRACETTA_PERF_H
#define TRACETTA_PERF_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/pair_map.h"
#include "encodings/perf_data/perf_layout.h"
#include "model/input.h"

#define PERF_LIKELY(x) __builtin_expect(!!(x), 1)
#define PERF_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define PERF_KINDS_MAX 65536u
#define PERF_IDS_MAX ((uint64_t)1 << 24)
#define PERF_ID_CACHE 1024u
#define PERF_THREAD_CACHE 1024u
/* Limits of the queue of scanned records. If a limit is reached, records leave the queue early, so
 * events may be out of order. */
#define PERF_KEYS_MAX ((size_t)1 << 22) /* maximum number of queued records */
/* maximum number of decompressed bytes that queued records occupy */
#define PERF_UNPACKED_MAX ((size_t)64 << 20)
/* maximum distance in bytes, in the file, from the first queued record to the next record to
 * scan */
#define PERF_REGION_MAX ((uint64_t)256 << 20)
/* A payload of up to this number of bytes that follows a record of a pipe must have arrived
 * completely before the record is copied. */
#define PERF_DATA_MAX ((uint64_t)16 << 20)
/* maximum size in bytes of a feature that is parsed */
#define PERF_SECTION_MAX ((uint64_t)256 << 20)

static inline uint16_t perf_u16(const void *p, bool is_big)
{
    return is_big ? load_u16be(p) : load_u16le(p);
}

static inline uint32_t perf_u32(const void *p, bool is_big)
{
    return is_big ? load_u32be(p) : load_u32le(p);
}

static inline uint64_t perf_u64(const void *p, bool is_big)
{
    return is_big ? load_u64be(p) : load_u64le(p);
}

/* Cursor over bytes of a file in which numbers have the byte order of the recording machine. */
struct perf_cursor {
    struct cursor c;
    bool is_big;
};

static inline uint32_t perf_read_u32(struct perf_cursor *at)
{
    return at->is_big ? cursor_u32be(&at->c) : cursor_u32le(&at->c);
}

static inline uint64_t perf_read_u64(struct perf_cursor *at)
{
    return at->is_big ? cursor_u64be(&at->c) : cursor_u64le(&at->c);
}

/* Members of struct perf_event_attr. A member is 0 if the stored attribute is too short to contain
 * it. */
struct perf_request {
    uint64_t config, period, sample_type, read_format, flags, config1, config2, branch_type,
        regs_user, regs_intr;
    uint32_t type, bp_type;
    int32_t clockid;
};

struct perf_trace;
struct tracepoint;
struct tracepoints;

/* A number that has the same offset in all samples of an event kind. */
struct perf_fixed_field {
    const char *name;
    ttr_id name_id;
    uint16_t at; /* offset of the number from the start of the record, in bytes */
    bool is_pointer;
};

#define PERF_FIXED_FIELDS_MAX 4u

/* Event kind: one recorded attribute, with the sample layout and names derived from it. */
struct perf_kind {
    const struct perf_trace *trace;
    struct perf_request request;
    ttr_id name, provider, schema;
    /* complete event name as stored in the file, such as "sched:sched_switch" */
    ttr_id whole;
    uint64_t samples;
    uint32_t index;
    /* Offsets of eight-byte values in a SAMPLE record; 0 if samples do not have the value. */
    uint16_t ip_at, tid_at, time_at, id_at, cpu_at;
    /* offset of the first value after those of fixed size (READ and later parts) */
    uint16_t parts_at;
    /* offset of RAW if no value of variable size precedes RAW, else 0 */
    uint16_t raw_at;
    /* Distances in bytes from the end of a record that is not a sample to its sample_id values; 0
     * if absent. */
    /* `back`: size in bytes of the complete sample_id trailer */
    uint8_t back, tid_back, time_back, id_back, cpu_back;
    /* format of the tracepoint; NULL if the event is not a tracepoint or its format is unknown */
    const struct tracepoint *tracepoint;
    /* true if samples have values other than RAW without a fixed offset */
    bool has_parts;
    /* true if samples have no PERIOD; the last entry of `plain` is then the period that the
     * attribute declares */
    bool has_fixed_period;
    struct perf_fixed_field plain[PERF_FIXED_FIELDS_MAX];
    uint8_t plain_n;
};

/* State shared by all readers of one trace; a folder has one reader per file. */
struct perf_trace {
    ttr *t;
    const struct format *format;
    uint32_t users; /* number of readers that refer to this state */
    /* number of readers that have not reached the end of their file */
    uint32_t running;
    /* totals of the readers that have reached the end of their file */
    uint64_t samples, records;
    uint16_t source; /* index of the source (input trace) to which the threads belong */
    bool is_big, is_pipe;
    bool has_descriptions; /* true if the feature EVENT_DESC was read */
    bool is_anchored;
    /* number of nanoseconds that is added to the time of each record */
    int64_t anchor_ns;
    uint64_t anchor_ticks;
    int64_t anchor_wall;
    struct perf_kind **kind;
    size_t kinds_n, kinds_capacity;
    struct pair_map by_id; /* maps (event id, 0) to an index in `kind` */
    struct {
        uint64_t id;
        struct perf_kind *kind;
    } ids[PERF_ID_CACHE];
    struct {
        uint64_t both;
        ttr_id thread;
    } threads[PERF_THREAD_CACHE];
    /* formats of tracepoints; NULL if the file has no TRACING_DATA */
    struct tracepoints *tracepoints;
    /* offset of TIME in samples of all kinds; invalid if has_mixed_times */
    uint16_t time_at;
    bool has_mixed_times;
    ttr_id record_schema;
    ttr_id record_name[PERF_TOOL_FIRST]; /* event names of kernel records, by record type */
    /* names of registers by number; NULL if the architecture is unknown */
    const char *const *registers;
    struct arena arena; /* arena that owns the event kinds */
};

/* Sort key of a queued record. */
struct perf_key {
    uint64_t time;
    uint32_t at; /* offset of the record in bytes, relative to `perf_order.base` */
    /* record size in bytes; bit 31 is set if the record is in the decompressed bytes */
    uint32_t size;
};
#define PERF_KEY_UNPACKED (1u << 31)

struct perf_order {
    /* keys: sorted from index `emitted_n` (next to emit) to index `sorted`; spare: output buffer of
     * a merge pass */
    struct perf_key *keys, *spare;
    size_t keys_capacity, spare_capacity, n, sorted, emitted_n;
    /* bases to which perf_key.at is added: [0] file offset, [1] offset in the decompressed bytes */
    uint64_t base[2];
    /* greatest time of records that may leave the queue; valid while records are emitted */
    uint64_t limit;
    /* newest: greatest time scanned so far; before: greatest time scanned when the previous round
     * ended */
    uint64_t newest, before;
    uint64_t round_end; /* file offset that follows the last FINISHED_ROUND record */
    uint64_t last;      /* time of the last emitted record */
    bool is_emitting;
};

/* Start of a compressed record in the decompressed bytes. It converts offsets of decompressed
 * bytes to file offsets. */
struct perf_piece {
    /* `at`: offset in the decompressed bytes; `offset`: file offset of the compressed record */
    uint64_t at, offset;
};

struct perf_unpacked {
    uint8_t *bytes; /* decompressed bytes [from, from + n), which are still needed */
    size_t n, capacity;
    /* from: offset of bytes[0] in the decompressed stream; at: offset of the next record to scan */
    uint64_t from, at;
    struct perf_piece *pieces;
    size_t pieces_n, pieces_capacity;
    void *decoder;
    /* number of bytes read of the current compressed record, including its header; 0 if reading
     * has not started */
    uint32_t done;
    /* true if complete decompressed records remain unscanned because the queue is full */
    bool has_more;
    bool is_broken;
};

struct perf_reader {
    struct input *in;
    struct perf_trace *trace;
    /* receives errors during a call of perf_read_batch(); never NULL */
    ttr_error *error;
    ttr_error own_error; /* receives errors if the caller passed NULL */
    /* second open source of the same input, to read features that are after the records; NULL if
     * not needed or impossible */
    struct source *again;
    /* current file offset of `again`, which can only increase */
    uint64_t again_at;
    uint64_t at, end; /* file offsets of the next record, and of the end of the records */
    /* bytes of the file up to this offset are not records: they are emitted as definitions with tag
     * `pass_tag` */
    uint64_t pass_end;
    uint16_t pass_tag;
    uint64_t data_at; /* file offset of the first record, in bytes */
    /* file offset of the payload of the record that was skipped last; 0 if it has no payload, or
     * if damage of the payload was reported */
    uint64_t payload_at;
    uint64_t samples, records, unknown;
    int64_t last_time; /* time of the last event, in nanoseconds */
    bool has_time;
    /* true if records are sorted by time; otherwise they are emitted in file order */
    bool sorts;
    bool is_over; /* true if all records were read */
    /* true while the bytes after the last record are returned, as definitions */
    bool is_tail;
    /* number of bytes, modulo 2^64, by which all that is after the records was moved, since bytes
     * of the file are missing or were added; 0 if it is where the header says */
    uint64_t tail_moved;
    uint64_t declared_end; /* file offset at which the records end by the header; if tail_moved */
    /* true if the totals of this reader were added to those of the trace */
    bool is_counted;
    struct perf_order order;
    struct perf_unpacked unpacked;
};

/* Tags of definitions that are not records: the bytes before the records, the bytes after all
 * records, and the payload after one record. The tag of other definitions is the type of their
 * record. */
enum { PERF_TAG_HEAD = 256, PERF_TAG_TAIL = 257, PERF_TAG_DATA = 258 };
/* maximum size in bytes of a definition that is not a record */
#define PERF_DEFINITION_MAX ((size_t)1 << 20)

/* the only type of EVENT_UPDATE that the reader uses: a new name */
enum { PERF_UPDATE_NAME = 2 };

/* A record of which all bytes are in memory. */
struct perf_view {
    const uint8_t *p;
    uint32_t size, type;
    uint16_t misc;
    uint64_t offset; /* file offset of the record, for diagnostics */
};

enum perf_result {
    PERF_CONSUMED,
    PERF_HOLD /* the record was not decoded: the current batch must end first */,
    PERF_FAILED /* decoding failed, and `reader->error` is set */
};

/* --- perf_open.c: header, attributes, features --- */

/* Name of the source attribute with the bit mask of damaged or incomplete features (bits 1 to 63).
 * The writer leaves these features out of a copy. */
#define PERF_BAD_PARTS "trace.bad_parts"
/* bit 0 of that mask: attributes, or features above 63, are damaged; bit 0 is unused otherwise,
 * since feature 0 does not exist */
#define PERF_BAD_OTHERS ((uint64_t)1)

ttr_status perf_open(struct input *in, ttr_error *error);

/* --- perf_feature_table.c: a table of features that is not at its declared offset --- */

enum { PERF_TABLE_MOVED_MAX = 4096 };

/* Bytes of the file from file offset `offset` on. */
struct perf_bytes_at {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
};

/* Searches the bytes for a table of features of `size` bytes, at most PERF_TABLE_MOVED_MAX bytes
 * from its declared file offset. Returns its offset; `declared` if none is found. */
uint64_t perf_find_feature_table(const struct perf_bytes_at *bytes, uint64_t declared,
                                 uint64_t size, bool is_big);

/* Swaps back the 32-bit halves of feature words, which big-endian 32-bit machines write in the
 * wrong order. Returns true if the halves were swapped. */
bool perf_unswap_feature_words(uint64_t *words);
void perf_close(struct input *in);

/* Decides whether the reader can sort events: sets reader->sorts if a FINISHED_ROUND record is in
 * the first 16 MiB, or if the file is shorter than that. */
TTR_MUST ttr_status perf_decide_sorting(struct perf_reader *reader);

/* --- perf_folder.c: folders of many files --- */

extern const struct format format_perf;

ttr_reader *perf_open_folder(ttr *t, struct folder *folder, const char *only,
                             const ttr_read_options *options, ttr_error *error);

/* --- perf_kinds.c: event kinds --- */

/* Returns a cursor over the bytes of the attribute at `at`, and advances `at` by `room` bytes. The
 * attribute may declare a smaller size. */
struct cursor perf_read_attribute_bytes(struct perf_cursor *at, uint64_t room);

struct perf_trace *perf_trace_new(struct input *in, bool is_big);
void perf_trace_free(struct perf_trace *trace);

/* Adds an event kind for the bytes of an attribute. Returns NULL if memory runs out. */
TTR_MUST struct perf_kind *perf_add_event_kind(struct perf_trace *trace, struct cursor attr);

/* Adds an event id that samples of the event kind contain. Returns false if memory runs out. */
TTR_MUST bool perf_add_id_of_kind(struct perf_trace *trace, struct perf_kind *kind, uint64_t id);

/* Returns the event kind of an event id; NULL if the id is unknown. */
struct perf_kind *perf_find_kind_by_id(struct perf_trace *trace, uint64_t id);

/* Sets the name of an event kind. The name "system:event" of a tracepoint is split into provider
 * and name. Returns false if memory runs out. */
TTR_MUST bool perf_set_event_name(struct perf_trace *trace, struct perf_kind *kind, ttr_text name);

/* Return the event kind of a sample, or of another record; NULL if its id is unknown. */
static inline struct perf_kind *perf_get_sample_kind(struct perf_trace *trace,
                                                     const struct perf_view *record);
struct perf_kind *perf_find_record_kind(struct perf_trace *trace, const struct perf_view *record);

/* Implements format_description.describe: an event kind is an event class; its stream class is the
 * PMU or the tracepoint system. */
bool perf_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events);

/* --- perf_names.c: names of unnamed events --- */

/* Writes the name that perf prints for an event without a stored name. Returns the length of the
 * name in bytes. */
size_t perf_format_event_name(const struct perf_request *request, char *to, size_t size);

/* --- perf_features.c: parsing of features --- */

/* Returns true if the reader uses the content of this feature. */
bool perf_is_used_feature(unsigned feature);

/* Parses the content of a feature. If the content is damaged, adds a note but does not fail. */
TTR_MUST ttr_status perf_parse_feature(struct perf_reader *reader, unsigned feature,
                                       struct perf_cursor *at);

/* Bytes of the input file that are in memory. */
struct perf_span {
    const uint8_t *p;
    size_t n;
};

/* --- perf_read.c: entry points of the reader --- */

ttr_status perf_read_batch(struct input *in, ttr_error *error);

/* --- perf_tool.c: records of the perf tool --- */

/* Processes a complete record of the perf tool. If a payload that the record's size does not
 * include follows, also skips the payload. */
TTR_MUST ttr_status perf_process_tool_record(struct perf_reader *reader,
                                             const struct perf_view *record);

/* Reports as damage that the payload of a record ends at file offset `there`, before its declared
 * end `end`. */
TTR_MUST ttr_status perf_report_cut_payload(struct perf_reader *reader, uint64_t there,
                                            uint64_t end);

/* --- perf_unpack.c: compressed records --- */

/* Decompresses the next part of a compressed record into `reader->unpacked`. The caller repeats
 * the call until *is_done is true. */
TTR_MUST ttr_status perf_decompress_chunk(struct perf_reader *reader,
                                          const struct perf_view *record, bool *is_done);
/* Returns the file offset of the compressed record that contains the decompressed byte at offset
 * `at`. */
uint64_t perf_get_compressed_file_offset(const struct perf_unpacked *unpacked, uint64_t at);
void perf_free_unpacked_bytes(struct perf_reader *reader);

/* --- perf_resync.c: plausibility, search after damage --- */

/* Returns true if a record header is plausible: its type is known, and its size is possible for
 * this type. */
bool perf_is_plausible_record(const uint8_t *header, bool is_big);

/* Returns true if this record type is known. */
bool perf_is_known_type(uint32_t type);

/* Returns the first index, not below `from`, at which several plausible records follow each other;
 * span->n if there is none. `is_end` is true if the input ends at the end of the span. */
size_t perf_find_record(const struct perf_span *span, size_t from, bool is_end, bool is_big);

/* Searches for the next record after damage at reader->at, and sets *offset to the file offset of
 * that record. */
TTR_MUST ttr_status perf_resync(struct perf_reader *reader, uint64_t *offset);

/* --- perf_order.c: queue sorted by time --- */

/* Loads at least `need` bytes from file offset `offset` on, or fewer if the file ends. Queued
 * records remain in memory. Call it only while the batch is empty, since bytes in memory may
 * move. */
TTR_MUST ttr_status perf_load_bytes(struct perf_reader *reader, uint64_t offset, uint64_t need,
                                    struct perf_span *span);

/* Adds a record to the queue. Returns false if memory runs out. */
TTR_MUST bool perf_queue_record(struct perf_reader *reader, struct perf_key key);

/* Sorts the queue, and allows records up to time `limit` to leave it. Returns false if memory is
 * out. */
TTR_MUST bool perf_release_queued_records(struct perf_reader *reader, uint64_t limit);

/* Removes emitted records from the queue, and frees the decompressed bytes that no queued record
 * needs. */
void perf_remove_emitted_records(struct perf_reader *reader);
void perf_free_queue(struct perf_reader *reader);

/* --- perf_event.c: threads, times, events --- */

/* Returns the thread with this pid and tid. Adds the thread if it is new. Returns 0 if memory is
 * out. */
ttr_id perf_find_thread(struct perf_trace *trace, uint32_t pid, uint32_t tid);

/* Converts stored ticks to nanoseconds. If the result overflows, sets TTR_EVENT_CLAMPED in *flags
 * (may be NULL). */
int64_t perf_ticks_to_ns(const struct perf_trace *trace, uint64_t ticks, uint8_t *flags);

/* Appends an event to the batch for a record. `time` is the stored time in ticks, or 0 if the
 * record has no time: then the event gets the time of the previous event. */
ttr_event *perf_add_event(struct perf_reader *reader, const struct perf_view *record,
                          uint64_t time);

/* --- perf_records.c: kernel records except samples --- */

/* Decodes a kernel record that is not a sample into an event. */
TTR_MUST enum perf_result perf_decode_record(struct perf_reader *reader,
                                             const struct perf_view *record);

/* pid -1 means the kernel, or a thread that has exited */
#define PERF_NO_PROCESS UINT32_MAX

/* --- perf_parts.c: variable parts of samples --- */

/* Indices in perf_parts.single of the eight-byte values that have no fixed offset in samples. */
enum {
    PERF_SINGLE_WEIGHT,
    PERF_SINGLE_DATA_SRC,
    PERF_SINGLE_TRANSACTION,
    PERF_SINGLE_PHYS_ADDR,
    PERF_SINGLE_CGROUP,
    PERF_SINGLE_DATA_PAGE,
    PERF_SINGLE_CODE_PAGE,
    PERF_SINGLES
};

/* Bit of branch_type: a u64 index precedes the list of branches. */
#define PERF_BRANCH_HW_INDEX ((uint64_t)1 << 17)
/* bit of branch_type: one u64 for each branch follows the list of branches */
#define PERF_BRANCH_COUNTERS ((uint64_t)1 << 19)

/* A part of a sample without a fixed size: an array, a text or a stack. p is NULL if the part is
 * absent or damaged. */
struct perf_part {
    const uint8_t *p;
    uint64_t n;
};

/* The variable parts of a sample, which have no fixed offset. n is a number of bytes for RAW,
 * STACK_USER and AUX, else a number of items. READ includes the count and times before its values.
 */
struct perf_parts {
    struct perf_part read, chain, raw, branches, regs_user, stack_user, regs_intr, aux;
    const uint8_t *single[PERF_SINGLES];
    /* true if all parts fit into the record and no bytes follow the last part */
    bool is_whole;
};

/* Finds the variable parts of a sample and stores their addresses in *parts. */
void perf_find_sample_parts(const struct perf_kind *kind, const uint8_t *record, uint32_t size,
                            struct perf_parts *parts);

/* --- perf_sample.c: samples to events --- */

TTR_MUST enum perf_result perf_decode_sample(struct perf_reader *reader,
                                             const struct perf_view *record);

/* --- perf_fields.c, perf_record_fields.c: lazy decoding of fields --- */

/* Implements field_ops.frames. A sample without a callchain has its ip as only frame. */
uint32_t perf_get_sample_frames(const struct perf_kind *kind, const ttr_event *event,
                                uint64_t *addresses, uint32_t room);

extern const struct field_ops perf_sample_field_ops, perf_record_field_ops;

/* Reads field number `i` of the common context. Returns false if `i` is too large. */
bool perf_read_common_field(const struct perf_kind *kind, const ttr_event *event, uint32_t i,
                            ttr_field *field);

/* --- perf_symbols.c: mappings and build ids --- */

/* Adds a mapping, kernel symbol or fork to the data for symbolization. `end` is the size in bytes
 * of the record without its trailer. Returns false if memory runs out. */
TTR_MUST bool perf_add_symbol_record(struct perf_trace *trace, const struct perf_view *record,
                                     uint32_t end, int64_t time);

/* Read the build ids of one BUILD_ID record, or of a feature that consists of such records. */
TTR_MUST bool perf_add_build_id_record(struct perf_trace *trace, const struct perf_view *record);
TTR_MUST ttr_status perf_parse_build_ids(struct perf_reader *reader, struct perf_cursor *at);

/* --- perf_tracing.c: tracepoints --- */

/* Parses the feature TRACING_DATA, which contains the formats of all tracepoints. */
TTR_MUST ttr_status perf_parse_tracing_data(struct perf_reader *reader, struct perf_cursor *at);

/* Finds the tracepoint of an event kind by its id, which is the config of the attribute. */
void perf_set_tracepoint_of_kind(struct perf_trace *trace, struct perf_kind *kind);

/* Decodes the RAW bytes of a sample into the event, by the format of the tracepoint. Returns false
 * if memory runs out. */
TTR_MUST bool perf_decode_tracepoint(struct perf_reader *reader, const struct perf_kind *kind,
                                     ttr_event *event);

static inline struct perf_kind *perf_get_sample_kind(struct perf_trace *trace,
                                                     const struct perf_view *record)
{
    const struct perf_kind *first = trace->kinds_n ? trace->kind[0] : NULL;
    if (!first || trace->kinds_n == 1 || !first->id_at)
        return first ? trace->kind[0] : NULL;
    if (PERF_UNLIKELY((uint32_t)first->id_at + 8 > record->size))
        return NULL;
    uint64_t id = perf_u64(record->p + first->id_at, trace->is_big);
    size_t slot = (size_t)(id % PERF_ID_CACHE);
    return PERF_LIKELY(trace->ids[slot].id == id && trace->ids[slot].kind)
               ? trace->ids[slot].kind
               : perf_find_kind_by_id(trace, id);
}

/* --- perf_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info perf_diagnostics[];

#endif
