/* The FXT writer: state and internal functions of its parts.
 *
 *   fxt_write.c         loop over events, byte-for-byte copies, provider sections, losses
 *   fxt_write_tables.c  string and thread refs; names of threads and processes
 *   fxt_write_args.c    converts fields to arguments
 *   fxt_write_kinds.c   writes one record for each kind of event
 *
 * A record is written in two steps. First all its refs are resolved, which may emit definition
 * records and determines the size. Then its words are appended in order. So nothing is patched
 * later, and definitions precede their first use. Allocation failures set the buffer's `failed`
 * flag or writer->failed, which fxt_writer_write reports once per batch. */
#ifndef TRACETTA_FXT_WRITE_H
#define TRACETTA_FXT_WRITE_H

#include "base/clock_math.h"
#include "base/endian.h"
#include "formats/fxt/fxt_format.h"
#include "model/output.h"

/* Information that FXT cannot represent: indices into fxt_losses. */
enum fxt_loss {
    FXT_LOST_TIME_NEGATIVE,
    FXT_LOST_TIME_PLACE,
    FXT_LOST_TIME_UNKNOWN,
    FXT_LOST_TICKS,
    FXT_LOST_SPAN_END,
    FXT_LOST_BACKWARD,
    FXT_LOST_LEVEL,
    FXT_LOST_OPCODE,
    FXT_LOST_KEYWORD,
    FXT_LOST_ACTIVITY,
    FXT_LOST_NUMBER,
    FXT_LOST_SEQUENCE,
    FXT_LOST_CPU,
    FXT_LOST_CPU_RANGE,
    FXT_LOST_STATE,
    FXT_LOST_THREAD_NONE,
    FXT_LOST_THREAD_NAME,
    FXT_LOST_THREAD_KOID,
    FXT_LOST_THREAD_PLACE,
    FXT_LOST_CATEGORY,
    FXT_LOST_NAME,
    FXT_LOST_FIELD_COUNT,
    FXT_LOST_FIELD_ROOM,
    FXT_LOST_FIELD_PLACE,
    FXT_LOST_FIELD_NESTED,
    FXT_LOST_FIELD_LABEL,
    FXT_LOST_FIELD_CONTEXT,
    FXT_LOST_TEXT,
    FXT_LOST_BLOB_TYPE,
    FXT_LOST_FRAMES,
    FXT_LOST_GAP_COUNT,
    FXT_LOST_OBJECT_ID,
    FXT_LOST_EVENT_ID,
    FXT_LOST_PARTIAL,
    FXT_LOST_KIND,
    FXT_LOSSES
};

extern const ttr_loss fxt_losses[FXT_LOSSES];

/* bytes, maximum of an inline name; two of them leave half of a record for arguments */
#define FXT_INLINE_MAX 8000u
#define FXT_FRAMES_MAX 255u
#define FXT_SCRATCH_SIZE 8192u
#define FXT_PATH_MAX 512u
#define FXT_DEPTH_MAX 16u
#define FXT_SLOTS_PAGE 64u

/* A string or thread table as the writer fills it. It maps ttr_id to entry = epoch << 16 | cut <<
 * 15 | slot; entries of other epochs are empty.  Entries are in pages indexed by id, because each
 * target has its own tables and uses few of all ids. */
struct fxt_slots {
    /* by ttr_id / FXT_SLOTS_PAGE: index of its page in `entry`; 0 is an empty page */
    uint16_t *page;
    uint32_t *entry;
    size_t pages, entries, used_pages;
    uint32_t used, limit;
    uint32_t refused,
        /* refused: inline refs since the table was full; at `patience` the table is cleared */
        patience;
    uint32_t epoch; /* 1 to 65535 */
};

/* A provider of the written trace. */
struct fxt_written_provider {
    uint32_t id;
    struct fxt_slots strings, threads;
};

/* A string ref, with its stream if it is inline. */
struct fxt_text {
    uint32_t ref;
    const char *p;
};

/* A thread ref, with its two words if it is inline. */
struct fxt_thread {
    uint32_t ref;
    uint64_t pid, tid;
};

struct fxt_argument {
    uint64_t header, value;
    struct fxt_text name, text;
    ttr_text bytes; /* payload of a blob argument */
};

struct fxt_level {
    uint32_t end, index; /* end: length of its name in `path`; index: of its next element */
    bool is_array;
};

/* A field that the record stores outside of its arguments; the caller sets `name` and `type`. */
struct fxt_wanted_field {
    const char *name;
    uint8_t type;
    bool found;
    ttr_value value;
};

/* State of a thread's names in the output. */
struct fxt_thread_names {
    uint32_t stamp;     /* writer->stamp when its names were last checked; 0 if never used */
    ttr_id name;        /* name that was last written */
    bool is_introduced; /* some record contains its process koid together with its thread koid */
    /* introduced, and its koid is known: fxt_thread_ref may use its slot at once */
    bool is_plain;
};

/* The source whose records are copied byte for byte. */
struct fxt_copied {
    uint16_t source;
    bool is_active;
    bool has_provider; /* its current section can be resumed by a section record */
    uint32_t provider;
    struct clock_math clock;
    uint64_t base_ticks;
    int64_t base_ns;
};

struct fxt_writer {
    struct ttr_writer *out;
    const ttr_event *event; /* the event being written */
    bool is_big, is_started, is_anchored, failed;
    /* the current section is a copied one: use inline refs, because its tables are not ours */
    bool is_inline;
    struct fxt_copied copied;
    struct fxt_written_provider *targets,
        *target; /* target: provider of the current section; NULL if none, or a copied section */
    size_t targets_n, targets_capacity;
    struct pair_map target_by; /* maps (source, provider name) to an index in `targets` */
    uint16_t target_source;
    ttr_id target_name;
    struct fxt_thread_names *known; /* by thread id */
    size_t known_n;
    struct pair_map introduced; /* pairs (process koid, thread koid) that some record contains */
    /* maps (koid, 0) to the thread that appeared last with it, which readers assign to that koid */
    struct pair_map by_koid;
    ttr_id *processes; /* names as last written, by process index */
    size_t processes_n;
    uint32_t stamp; /* stamp of the current batch; it grows when a name changes */
    struct fxt_argument args[FXT_ARGS_MAX];
    uint32_t args_n, args_words, args_room;
    bool is_full;   /* a 16th argument was dropped */
    bool has_scope; /* `scope` holds the scope of an instant */
    uint64_t scope;
    struct fxt_level level[FXT_DEPTH_MAX];
    uint32_t scratch_n, path_n;
    uint64_t frames[FXT_FRAMES_MAX];
    uint32_t frames_n;
    char scratch[FXT_SCRATCH_SIZE]; /* storage for dotted names */
    char path[FXT_PATH_MAX];
};

static inline void fxt_count_loss(struct fxt_writer *w, enum fxt_loss loss)
{
    output_count_loss(w->out, loss, w->event ? w->event->offset : 0);
}

/* Output position of a record.  Kept in a local variable so that the compiler knows that the stores
 * do not change it. */
struct fxt_output {
    uint8_t *at;
    bool is_big;
};

/* Appends a word in the byte order of the trace. */
static inline void fxt_append_word(struct fxt_output *to, uint64_t word)
{
    store_u64le(to->at, to->is_big ? __builtin_bswap64(word) : word);
    to->at += FXT_WORD_BYTES;
}

/* Starts a record of `words` words and appends its header.  Returns false if out of memory. */
static inline bool fxt_begin_record(struct fxt_writer *w, struct fxt_output *to, uint64_t words,
                                    uint64_t header)
{
    *to = (struct fxt_output){.at = buffer_room(&w->out->buffer, words * FXT_WORD_BYTES),
                              .is_big = w->is_big};
    if (!to->at)
        return false;
    buffer_commit(&w->out->buffer, words * FXT_WORD_BYTES);
    fxt_append_word(
        to,
        header | fxt_set_bits(fxt_type(header) == FXT_LARGE ? FXT_LARGE_SIZE : FXT_SIZE, words));
    return true;
}

static inline void fxt_append_stream(struct fxt_output *to, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    memset(to->at + (n - 1) / FXT_WORD_BYTES * FXT_WORD_BYTES, 0, FXT_WORD_BYTES);
    memcpy(to->at, bytes, n);
    to->at += (n + FXT_WORD_BYTES - 1) / FXT_WORD_BYTES * FXT_WORD_BYTES;
}

static inline void fxt_append_text(struct fxt_output *to, const struct fxt_text *text)
{
    if (text->ref & FXT_REF_INLINE)
        fxt_append_stream(to, text->p, text->ref & FXT_REF_LENGTH);
}

static inline void fxt_append_thread(struct fxt_output *to, const struct fxt_thread *thread)
{
    if (thread->ref)
        return;
    fxt_append_word(to, thread->pid);
    fxt_append_word(to, thread->tid);
}

static inline uint32_t fxt_thread_words(const struct fxt_thread *thread)
{
    return thread->ref ? 0 : 2;
}

/* --- fxt_write_tables.c --- */

void fxt_slots_init(struct fxt_slots *slots, uint32_t limit, uint32_t patience);
void fxt_slots_free(struct fxt_slots *slots, const struct alloc *alloc);

/* Clears a table that has been full for long.  May only be called between records. */
void fxt_slots_clear(struct fxt_slots *slots, const struct alloc *alloc);

static inline void fxt_slots_clear_if_stale(struct fxt_slots *slots, const struct alloc *alloc)
{
    if (slots->refused >= slots->patience)
        fxt_slots_clear(slots, alloc);
}

/* Returns the slot and cut mark of an id, 0 if it has none. */
static inline uint32_t fxt_slots_find(const struct fxt_slots *slots, ttr_id id)
{
    size_t page = id / FXT_SLOTS_PAGE;
    uint32_t entry =
        page < slots->pages
            ? slots->entry[(size_t)slots->page[page] * FXT_SLOTS_PAGE + id % FXT_SLOTS_PAGE]
            : 0;
    return entry >> 16 == slots->epoch ? entry & UINT16_MAX : 0;
}

#define FXT_SLOT_CUT 0x8000u /* the registered string is a prefix of the text */

/* Returns a ref to a known string, and registers a new one if the table has room. Otherwise the ref
 * is inline, cut to FXT_INLINE_MAX bytes. */
struct fxt_text fxt_register_text(struct fxt_writer *w, ttr_id id);

static inline struct fxt_text fxt_string_ref(struct fxt_writer *w, ttr_id id)
{
    uint32_t slot = w->is_inline ? 0 : fxt_slots_find(&w->target->strings, id);
    if (slot - 1 < FXT_SLOT_CUT - 1)
        return (struct fxt_text){.ref = slot};
    return fxt_register_text(w, id);
}

bool fxt_is_text_registered(const struct fxt_writer *w,
                            ttr_id id); /* returns whether its ref would be an index */
struct fxt_text fxt_inline_text(struct fxt_writer *w, ttr_text text, size_t limit);

/* Returns a ref to a thread. Registers a new thread, and writes the names of thread and process if
 * they changed. */
struct fxt_thread fxt_register_thread(struct fxt_writer *w, ttr_id id);

static inline struct fxt_thread fxt_thread_ref(struct fxt_writer *w, ttr_id id)
{
    if (!w->is_inline && id < w->known_n && w->known[id].is_plain &&
        w->known[id].stamp == w->stamp) {
        uint32_t slot = fxt_slots_find(&w->target->threads, id);
        if (slot)
            return (struct fxt_thread){.ref = slot};
    }
    return fxt_register_thread(w, id);
}

/* For records that identify threads by koid alone. Call fxt_prepare_koid for each thread first: it
 * registers a thread whose process is known, so that readers find it by its koid. Then
 * fxt_thread_koid returns the koid, and counts a loss if readers will assign it to another thread.
 */
void fxt_prepare_koid(struct fxt_writer *w, ttr_id id);
uint64_t fxt_thread_koid(struct fxt_writer *w, ttr_id id);

/* Record that an object record named this thread, or its process. */
void fxt_record_thread_name(struct fxt_writer *w, ttr_id thread, ttr_id name);
void fxt_record_process_name(struct fxt_writer *w, ttr_id thread, ttr_id name);

/* Writes the names that threads received after their last event. */
void fxt_write_missing_names(struct fxt_writer *w);

/* --- fxt_write_args.c --- */

/* Collects the fields of the event: those in `wanted`, the frames of a sample, and the others as
 * arguments of at most `room` words.  With room 0 the record has no arguments, and the others are
 * lost. */
void fxt_collect_args(struct fxt_writer *w, struct fxt_wanted_field *wanted, size_t n,
                      uint32_t room);

/* Appends the collected arguments.  Returns the position after them. */
uint8_t *fxt_append_args(const struct fxt_writer *w, struct fxt_output to);

/* --- fxt_write_kinds.c --- */

/* Writes the record of w->event. */
void fxt_write_kind(struct fxt_writer *w);

/* Converts the time of w->event to ticks of the current section. */
uint64_t fxt_convert_event_ticks(struct fxt_writer *w);

static inline uint64_t fxt_event_ticks(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (!w->is_inline && e->time >= 0 && e->ticks == (uint64_t)e->time)
        return e->ticks;
    return fxt_convert_event_ticks(w);
}

/* --- fxt_write.c --- */

ttr_status fxt_writer_create(struct ttr_writer *out, ttr_error *error);
ttr_status fxt_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status fxt_writer_finish(struct ttr_writer *out, ttr_error *error);
void fxt_writer_free(struct ttr_writer *out);

#endif
