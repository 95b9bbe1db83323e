/* The parts of the perf.data reader: what they share, and what each of them offers.
 *
 *   perf_open.c      the head of a file or a pipe, its sections
 *   perf_kinds.c     what was recorded: attributes, ids, names
 *   perf_names.c     how perf calls an event whose name nobody wrote down
 *   perf_features.c  features: sections of a file, records of a pipe
 *   perf_read.c      what comes next; records as they are stored
 *   perf_tool.c      records of the tool
 *   perf_unpack.c    compressed records
 *   perf_resync.c    which bytes may be a record, and the next one behind damage
 *   perf_order.c     records of a region in order of time
 *   perf_event.c     threads, times and events, for all kinds of records
 *   perf_records.c   records of the kernel become events, and name threads
 *   perf_parts.c     parts of a sample that have no fixed offset
 *   perf_sample.c    samples become events
 *   perf_fields.c    fields of samples
 *   perf_record_fields.c   fields of other records
 *   perf_symbols.c   which code was where, where that is wanted
 *   perf_tracing.c   tracepoints, whose fields other code knows
 *   perf_folder.c    a trace of many files
 *
 * Records are looked at twice.  Scanning finds where they are and their times, which become keys;
 * what may be given (nothing older can come: the round before is over) is sorted, and each record
 * is decoded where it is given.  Records of a recorder's buffer are in order already, so that
 * sorting is merging a few runs.  Memory grows with two rounds of the recorder's buffers; bytes
 * stay in the window until they are given. What the trace knows of its threads changes as records
 * are given; of its events, only while the batch is empty. */
#ifndef TRACETTA_PERF_H
#define TRACETTA_PERF_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/pairmap.h"
#include "encodings/perf_data/perf_layout.h"
#include "model/input.h"

#define PERF_LIKELY(x) __builtin_expect(!!(x), 1)
#define PERF_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define PERF_KINDS_MAX 65536u
#define PERF_IDS_MAX ((uint64_t)1 << 24)
#define PERF_ID_CACHE 1024u
#define PERF_THREAD_CACHE 1024u
#define PERF_KEYS_MAX ((size_t)1 << 22)       /* records that wait; more are given out of order */
#define PERF_UNPACKED_MAX ((size_t)64 << 20)  /* those of what was unpacked */
#define PERF_REGION_MAX ((uint64_t)256 << 20) /* bytes that wait; the same */
#define PERF_DATA_MAX                                                          \
    ((uint64_t)16 << 20) /* bytes behind a record of a pipe that are looked at \
                          */
#define PERF_SECTION_MAX ((uint64_t)256 << 20) /* bytes of a feature that is looked at */

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

/* A cursor that knows the byte order. */
struct perf_cursor {
    struct cursor c;
    bool is_big;
};

static inline uint32_t perf_take32(struct perf_cursor *at)
{
    return at->is_big ? cursor_u32be(&at->c) : cursor_u32le(&at->c);
}

static inline uint64_t perf_take64(struct perf_cursor *at)
{
    return at->is_big ? cursor_u64be(&at->c) : cursor_u64le(&at->c);
}

/* What the kernel was asked for: struct perf_event_attr, as far as it is there. */
struct perf_request {
    uint64_t config, period, sample_type, read_format, flags, config1, config2, branch_type,
        regs_user, regs_intr;
    uint32_t type, bp_type;
    int32_t clockid;
};

struct perf_trace;
struct tracepoint;
struct tracepoints;

/* A number of a sample that stands at the same place in all samples of a kind. */
struct perf_plain {
    const char *name;
    ttr_id name_id;
    uint16_t at; /* in the record */
    bool is_pointer;
};

#define PERF_PLAIN_MAX 4u

/* One kind of events that was recorded. */
struct perf_kind {
    const struct perf_trace *trace;
    struct perf_request request;
    ttr_id name, provider, schema;
    ttr_id whole; /* "sched:sched_switch", the name as it was told */
    uint64_t samples;
    uint32_t index;
    /* Places in a sample's record, 0 = it has none. */
    uint16_t ip_at, tid_at, time_at, id_at, cpu_at;
    uint16_t parts_at; /* behind what stands at fixed places: READ and so on */
    uint16_t raw_at;   /* of RAW where nothing of variable length stands before it */
    /* The same from the end of other records, 0 = it has none. */
    uint8_t back, tid_back, time_back, id_back, cpu_back; /* back: bytes of all of it */
    const struct tracepoint *tracepoint; /* NULL: it is none, or nobody told its format */
    bool has_parts;                      /* others than RAW */
    bool has_fixed_period; /* samples do not tell it: the last of `plain` is the one asked for */
    struct perf_plain plain[PERF_PLAIN_MAX];
    uint8_t plain_n;
};

/* What all readers of one trace share: a trace may be a folder of many files. */
struct perf_trace {
    ttr *t;
    const struct format *format;
    uint32_t users;            /* readers */
    uint32_t running;          /* of them not at their end */
    uint64_t samples, records; /* in those that are */
    uint16_t source;           /* that its threads belong to */
    bool is_big, is_pipe;
    bool has_descriptions; /* EVENT_DESC was read */
    bool is_anchored;
    int64_t anchor_ns; /* to be added to times */
    uint64_t anchor_ticks;
    int64_t anchor_wall;
    struct perf_kind **kind;
    size_t kinds_n, kinds_capacity;
    struct pairmap by_id; /* (id, 0) to kind */
    struct {
        uint64_t id;
        struct perf_kind *kind;
    } ids[PERF_ID_CACHE];
    struct {
        uint64_t both;
        ttr_id thread;
    } threads[PERF_THREAD_CACHE];
    struct tracepoints *tracepoints; /* NULL: no formats were told */
    uint16_t time_at;                /* of samples of all kinds, unless those differ */
    bool has_mixed_times;
    ttr_id record_schema;
    ttr_id record_name[PERF_TOOL_FIRST]; /* of records of the kernel, by type */
    const char *const *registers;        /* names, by number; NULL = not known */
    struct arena arena;                  /* kinds */
};

/* A record that waits. */
struct perf_key {
    uint64_t time;
    uint32_t at;   /* from the base of its bytes */
    uint32_t size; /* bit 31: it was unpacked */
};
#define PERF_KEY_UNPACKED (1u << 31)

struct perf_order {
    struct perf_key *keys, *spare; /* sorted from `given` to `sorted` */
    size_t keys_capacity, spare_capacity, n, sorted, given;
    uint64_t base[2];        /* what `at` counts from: in the file, in what was unpacked */
    uint64_t limit;          /* while giving: the last time that may be given */
    uint64_t newest, before; /* times: the newest seen, the newest of the round before */
    uint64_t last;           /* given */
    bool is_giving;
};

/* Where a piece of what was unpacked came from. */
struct perf_piece {
    uint64_t at, offset; /* first byte: in what was unpacked, in the file */
};

struct perf_unpacked {
    uint8_t *bytes; /* [from, from + n) of all that was unpacked */
    size_t n, capacity;
    uint64_t from, at; /* at: of the next record */
    struct perf_piece *pieces;
    size_t pieces_n, pieces_capacity;
    void *decoder;
    uint32_t done; /* bytes of the record at hand that were unpacked, with its header; 0 = it has
                      not begun */
    bool has_more; /* records that are all there wait for room */
    bool is_broken;
};

struct perf_reader {
    struct input *in;
    struct perf_trace *trace;
    ttr_error *error;     /* of the call that is under way, never NULL */
    ttr_error own_error;  /* where the caller wants none */
    struct source *again; /* the input once more, for what stands behind the records; NULL = not
                             needed, or it cannot be */
    uint64_t again_at;    /* the first byte that it can still show */
    uint64_t at, end;     /* of the next record; of all records */
    uint64_t
        pass_end; /* bytes up to here are no record but are given as definitions, with this tag */
    uint16_t pass_tag;
    uint64_t data_at;   /* of the first record */
    uint64_t behind_at; /* of the data behind a record that were passed over last, 0 = none, or it
                           was told that they are damaged */
    uint64_t samples, records, unknown;
    int64_t last_time; /* of events */
    bool has_time;
    bool sorts;            /* by time; else as stored */
    bool is_over, is_tail; /* all records are looked at; what is behind them is being given */
    bool is_counted;       /* the end was told */
    struct perf_order order;
    struct perf_unpacked unpacked;
};

/* Tags of definitions that are no record, whose tag is its type: what stands before the records,
 * behind them, and behind one of them. */
enum { PERF_TAG_HEAD = 256, PERF_TAG_TAIL = 257, PERF_TAG_DATA = 258 };
#define PERF_PIECE ((size_t)1 << 20) /* most bytes of such a one */

enum { PERF_UPDATE_NAME = 2 }; /* what an EVENT_UPDATE may tell */

/* A record whose bytes are all there. */
struct perf_view {
    const uint8_t *p;
    uint32_t size, type;
    uint16_t misc;
    uint64_t offset; /* in the file */
};

enum perf_taken {
    PERF_TAKEN,
    PERF_HOLD /* the batch must be empty */,
    PERF_FAILED /* error is filled */
};

/* --- perf_open.c --- */

/* Attributes of a source that tell which of its features (bits 1 to 63) are not all there, or
 * damaged, and whether attributes of events or other features are. */
#define PERF_BAD_PARTS "trace.bad_parts"
#define PERF_BAD_OTHERS ((uint64_t)1) /* no feature has bit 0 */

ttr_status perf_open(struct input *in, ttr_error *error);

/* Puts the words of feature bits right, whose halves the other byte order swaps on machines of 32
 * bits; true where it did. */
bool perf_features_settle(uint64_t *words);
void perf_close(struct input *in);

/* Decides how the records are put in order. */
TTR_MUST ttr_status perf_choose_order(struct perf_reader *reader);

/* --- perf_folder.c --- */

extern const struct format format_perf;

ttr_reader *perf_open_folder(ttr *t, struct folder *folder, const char *only,
                             const ttr_read_options *options, ttr_error *error);

/* --- perf_kinds.c --- */

/* Takes the bytes of an attribute that has room for so many: those that its size tells. */
struct cursor perf_attr_bytes(struct perf_cursor *at, uint64_t room);

struct perf_trace *perf_trace_new(struct input *in, bool is_big);
void perf_trace_free(struct perf_trace *trace);

/* Adds a kind from the bytes of its attribute; NULL when memory is out. */
TTR_MUST struct perf_kind *perf_kind_add(struct perf_trace *trace, struct cursor attr);

/* Gives an id to a kind; false when memory is out. */
TTR_MUST bool perf_kind_add_id(struct perf_trace *trace, struct perf_kind *kind, uint64_t id);

/* The kind with an id, NULL = none. */
struct perf_kind *perf_kind_of_id(struct perf_trace *trace, uint64_t id);

/* Names a kind, "system:event" being two names of a tracepoint; false when memory is out. */
TTR_MUST bool perf_kind_name(struct perf_trace *trace, struct perf_kind *kind, ttr_text name);

/* The kind of a sample, and of another record; NULL = unknown. */
static inline struct perf_kind *perf_kind_of_sample(struct perf_trace *trace,
                                                    const struct perf_view *record);
struct perf_kind *perf_kind_of_record(struct perf_trace *trace, const struct perf_view *record);

/* format_description.describe: each kind is a class, its stream class the PMU or the system of
 * tracepoints. */
bool perf_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events);

/* --- perf_names.c --- */

/* Writes how perf calls an event; gives the bytes. */
size_t perf_event_name(const struct perf_request *request, char *to, size_t size);

/* --- perf_features.c --- */

/* Whether anything is learned from a feature. */
bool perf_feature_is_used(unsigned feature);

/* Takes a feature whose content is at the cursor. */
TTR_MUST ttr_status perf_feature_take(struct perf_reader *reader, unsigned feature,
                                      struct perf_cursor *at);

/* Bytes of the file that are in the window. */
struct perf_span {
    const uint8_t *p;
    size_t n;
};

/* --- perf_read.c --- */

ttr_status perf_next(struct input *in, ttr_error *error);

/* --- perf_tool.c --- */

/* Attends to a record of the tool, whose bytes are all there. */
TTR_MUST ttr_status perf_tool_take(struct perf_reader *reader, const struct perf_view *record);

/* Tells that the data behind a record, which should have ended at `end`, end `there`. */
TTR_MUST ttr_status perf_cut_data(struct perf_reader *reader, uint64_t there, uint64_t end);

/* --- perf_unpack.c --- */

/* Unpacks the next bytes of a piece, by which what was unpacked grows; until *is_done. */
TTR_MUST ttr_status perf_unpack(struct perf_reader *reader, const struct perf_view *record,
                                bool *is_done);
/* Where in the file the piece stands that a byte came from. */
uint64_t perf_unpacked_offset(const struct perf_unpacked *unpacked, uint64_t at);
void perf_unpacked_free(struct perf_reader *reader);

/* --- perf_resync.c --- */

/* Whether a header may be one: its type is known, and its size is one that such records have. */
bool perf_is_plausible(const uint8_t *header, bool is_big);

/* Whether a type of records is known. */
bool perf_is_known(uint32_t type);

/* The first place from `from` on where records follow each other; the end of the span when there is
 * none.  is_end: nothing is behind it. */
size_t perf_find(const struct perf_span *span, size_t from, bool is_end, bool is_big);

/* Finds the next record behind damage at reader->at. */
TTR_MUST ttr_status perf_resync(struct perf_reader *reader, uint64_t *offset);

/* --- perf_order.c --- */

/* Shows the bytes of the file from `offset` on, at least `need` if it has so many.  Records that
 * wait in order stay in the window.  To be called before the first event of a batch. */
TTR_MUST ttr_status perf_show(struct perf_reader *reader, uint64_t offset, uint64_t need,
                              struct perf_span *span);

/* Adds a record of a time; false when memory is out. */
TTR_MUST bool perf_order_add(struct perf_reader *reader, struct perf_key key);

/* Lets everything up to `limit` be given; false when memory is out. */
TTR_MUST bool perf_order_release(struct perf_reader *reader, uint64_t limit);

/* Forgets what was given. */
void perf_order_settle(struct perf_reader *reader);
void perf_order_free(struct perf_reader *reader);

/* --- perf_event.c --- */

/* Returns the thread, 0 when memory is out. */
ttr_id perf_thread(struct perf_trace *trace, uint32_t pid, uint32_t tid);

/* Converts ticks to nanoseconds; sets TTR_EVENT_CLAMPED, unless flags is NULL, if they are out of
 * range. */
int64_t perf_time(const struct perf_trace *trace, uint64_t ticks, uint8_t *flags);

/* Adds an event of a record at a time as stored, 0 = the record has none. */
ttr_event *perf_event(struct perf_reader *reader, const struct perf_view *record, uint64_t time);

/* --- perf_records.c --- */

/* Makes an event of a record of the kernel. */
TTR_MUST enum perf_taken perf_record_take(struct perf_reader *reader,
                                          const struct perf_view *record);

#define PERF_NOBODY \
    UINT32_MAX /* the pid where it is no process's: the kernel, or a thread that has ended */

/* --- perf_parts.c --- */

/* Parts of eight bytes, none of them at a fixed place. */
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

#define PERF_BRANCH_HW_INDEX                                                                      \
    ((uint64_t)1 << 17)                          /* of branch_type: u64 index before the branches \
                                                  */
#define PERF_BRANCH_COUNTERS ((uint64_t)1 << 19) /* u64 each behind them */

/* Items of a part; p NULL: it is absent, or damaged. */
struct perf_part {
    const uint8_t *p;
    uint64_t n;
};

/* The parts of a sample that have no fixed place.  RAW, STACK_USER and AUX count bytes; READ begins
 * with what it has before its values. */
struct perf_parts {
    struct perf_part read, chain, raw, branches, regs_user, stack_user, regs_intr, aux;
    const uint8_t *single[PERF_SINGLES];
    bool is_whole; /* and the record ends behind them */
};

/* Finds the parts of a sample. */
void perf_parts_find(const struct perf_kind *kind, const uint8_t *record, uint32_t size,
                     struct perf_parts *parts);

/* --- perf_sample.c --- */

TTR_MUST enum perf_taken perf_sample_take(struct perf_reader *reader,
                                          const struct perf_view *record);

/* --- perf_fields.c, perf_record_fields.c --- */

/* As field_ops.frames; a sample without a callchain has its ip for a stack. */
uint32_t perf_frames(const struct perf_kind *kind, const ttr_event *event, uint64_t *addresses,
                     uint32_t room);

extern const struct field_ops perf_sample_field_ops, perf_record_field_ops;

/* The i-th field of the common context; false past the last. */
bool perf_common_field(const struct perf_kind *kind, const ttr_event *event, uint32_t i,
                       ttr_field *field);

/* --- perf_symbols.c --- */

/* Tells the context what a record says of code; its own bytes end at `end`.  False when memory is
 * out. */
TTR_MUST bool perf_symbols_take(struct perf_trace *trace, const struct perf_view *record,
                                uint32_t end, int64_t time);

/* Takes a BUILD_ID record, and a section of them. */
TTR_MUST bool perf_build_id_take(struct perf_trace *trace, const struct perf_view *record);
TTR_MUST ttr_status perf_build_ids_take(struct perf_reader *reader, struct perf_cursor *at);

/* --- perf_tracing.c --- */

/* Takes the formats of tracepoints, TRACING_DATA. */
TTR_MUST ttr_status perf_tracing_take(struct perf_reader *reader, struct perf_cursor *at);

/* Finds the tracepoint of a kind by its number. */
void perf_tracing_find(struct perf_trace *trace, struct perf_kind *kind);

/* Fills what a tracepoint says of a sample; false when memory is out. */
TTR_MUST bool perf_tracepoint_take(struct perf_reader *reader, const struct perf_kind *kind,
                                   ttr_event *event);

static inline struct perf_kind *perf_kind_of_sample(struct perf_trace *trace,
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
               : perf_kind_of_id(trace, id);
}

#endif
