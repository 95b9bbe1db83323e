/* The FXT writer: state and internal functions of its files.
 *
 *   fxt_write.c         loop over events, byte-for-byte copies, provider sections, losses
 *   fxt_write_tables.c  string and thread refs; names of threads and processes
 *   fxt_write_args.c    converts fields to arguments
 *   fxt_write_kinds.c   writes one record for each kind of event
 *
 * A record is written in two steps. First all its refs are resolved, which may write definition
 * records and determines the size of the record. Then its words are appended in order. So no word
 * is overwritten later, and definitions precede their first use. Allocation failures set the
 * buffer's `failed` flag or writer->failed, which fxt_writer_write reports once per batch. */
#ifndef TRACETTA_FXT_WRITE_H
#define TRACETTA_FXT_WRITE_H

#include "base/clock_math.h"
#include "base/endian.h"
#include "base/key_map.h"
#include "formats/fxt/fxt_format.h"
#include "model/output.h"

/* Losses of the FXT writer, as indexes of the table fxt_losses. */
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

/* bytes; maximum length of an inline name; two such names need half of the maximum size of a
 * record */
#define FXT_INLINE_MAX 8000u
#define FXT_FRAMES_MAX 255u
#define FXT_SCRATCH_SIZE 8192u
#define FXT_STACKS_MAX 16384u /* repeated stacks that become strings, and are written once */
#define FXT_STACKS_SEEN_MAX 1048576u
#define FXT_STACK_TEXT_MAX 28000u /* bytes of the addresses of a stack, which fit in a record */
#define FXT_PATH_MAX 512u
#define FXT_DEPTH_MAX 16u
#define FXT_SLOTS_PAGE 64u

/* String or thread table of a written provider: maps a ttr_id to its slot. An entry is epoch << 16
 * | cut << 15 | slot. An entry of another epoch than that of the table is empty, so incrementing
 * the epoch clears the table. Entries are in pages by id, because each provider uses only some
 * ids. */
struct fxt_slots {
    /* index of the page in `entry`, by ttr_id / FXT_SLOTS_PAGE; page 0 is always empty */
    uint16_t *page;
    uint32_t *entry;
    size_t pages, entries, used_pages;
    uint32_t used, limit;
    uint32_t refused,
        /* refused: number of ids that were written inline since the table became full; at
         * `patience`, the table is cleared */
        patience;
    uint32_t epoch; /* current epoch, 1 to 65535; incremented to clear the table */
};

/* A provider of the output, with its tables. */
struct fxt_written_provider {
    uint32_t id;
    struct fxt_slots strings, threads;
};

/* A string ref, and the string that follows if the ref is inline. */
struct fxt_text {
    uint32_t ref;
    const char *p;
};

/* A thread ref, and the two koids that follow if the ref is inline. */
struct fxt_thread {
    uint32_t ref;
    uint64_t pid, tid;
};

struct fxt_argument {
    uint64_t header, value;
    struct fxt_text name, text;
    ttr_text bytes; /* payload of a blob argument, borrowed from the event */
};

struct fxt_level {
    /* end: length of `path` with the name of this array or struct; index: that of its next element
     */
    uint32_t end, index;
    bool is_array;
};

/* A field that is not written as an argument. The caller sets `name` and `type`; fxt_collect_args
 * sets the value. */
struct fxt_wanted_field {
    const char *name;
    uint8_t type;
    bool found;
    ttr_value value;
};

/* Which names of a thread were written. */
struct fxt_thread_names {
    /* writer->stamp when the thread's names were compared last; 0 if never */
    uint32_t stamp;
    ttr_id name; /* thread name that was last written */
    /* true if an earlier record contains both koids, of the process and of the thread */
    bool is_introduced;
    /* is_introduced is set and the koid is known, so fxt_get_thread_ref need not check anything */
    bool is_plain;
};

/* The source of the records that are copied byte by byte. */
struct fxt_copied {
    uint16_t source;
    bool is_active;
    /* true if the copied trace has a provider record, so a section record can switch back to its
     * provider */
    bool has_provider;
    uint32_t provider;
    struct clock_math clock;
    uint64_t base_ticks;
    int64_t base_ns;
};

struct fxt_writer {
    struct ttr_writer *out;
    const ttr_event *event; /* event that is being written */
    bool is_big, is_started, is_anchored, failed;
    /* true if the current section is copied: its tables are those of the source, so encoded events
     * must use inline refs */
    bool is_inline;
    struct fxt_copied copied;
    struct fxt_written_provider *targets,
        /* provider of the current section; NULL before the first section, and in a copied section
         */
        *target;
    size_t targets_n, targets_capacity;
    struct pair_map target_by; /* maps (source, provider name) to an index in `targets` */
    uint16_t target_source;
    ttr_id target_name;
    struct fxt_thread_names *known; /* names last written for each thread, by thread id */
    size_t known_n;
    /* set of (process koid, thread koid): pairs that are together in a written record */
    struct pair_map introduced;
    /* maps (koid, 0) to the thread with which it was written last; readers assign the koid to that
     * thread */
    struct pair_map by_koid;
    ttr_id *processes; /* process names last written, by process index */
    size_t processes_n;
    /* stamp of the current batch; also incremented when a name changes */
    uint32_t stamp;
    struct fxt_argument args[FXT_ARGS_MAX];
    uint32_t args_n, args_words, args_room;
    bool is_full;   /* true if an argument was dropped, because a record has at most 15 */
    bool has_scope; /* true if the event is an instant with the scope `scope` */
    uint64_t scope;
    struct fxt_level level[FXT_DEPTH_MAX];
    uint32_t scratch_n, path_n;
    uint64_t frames[FXT_FRAMES_MAX];
    uint32_t frames_n;
    char stack_text[FXT_STACK_TEXT_MAX]; /* addresses of callstack fields, as text */
    uint32_t stack_text_n;
    /* hash of a stack's text to its string; 0 = the text was written once, and is not a string */
    struct key_map stacks;
    uint32_t stacks_n;              /* stacks that are strings */
    ttr_id sample_category;         /* the string FXT_SAMPLE_CATEGORY; 0 = not interned yet */
    char scratch[FXT_SCRATCH_SIZE]; /* buffer for dotted names of nested fields */
    char path[FXT_PATH_MAX];
};

static inline void fxt_count_loss(struct fxt_writer *w, enum fxt_loss loss)
{
    output_count_loss(w->out, loss, w->event ? w->event->offset : 0);
}

/* Position in the output of the record that is being written. Callers copy it to a local variable,
 * so that the compiler can keep it in a register. */
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

/* Appends the header of a record of `words` words, and sets `to` to the position after it. Returns
 * false if memory runs out. */
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
        header | fxt_set_bits(fxt_get_record_type(header) == FXT_LARGE ? FXT_LARGE_SIZE : FXT_SIZE,
                              words));
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

static inline uint32_t fxt_count_thread_words(const struct fxt_thread *thread)
{
    return thread->ref ? 0 : 2;
}

/* --- String and thread tables (fxt_write_tables.c) --- */

void fxt_slots_init(struct fxt_slots *slots, uint32_t limit, uint32_t patience);
void fxt_slots_free(struct fxt_slots *slots, const struct alloc *alloc);

/* Clears a full table, so that new ids can get slots. Refs become invalid, so this is called only
 * between two records. */
void fxt_slots_clear(struct fxt_slots *slots, const struct alloc *alloc);

static inline void fxt_slots_clear_if_stale(struct fxt_slots *slots, const struct alloc *alloc)
{
    if (slots->refused >= slots->patience)
        fxt_slots_clear(slots, alloc);
}

/* Returns the slot of an id, with FXT_SLOT_CUT set if its string was cut off; 0 if it has no
 * slot. */
static inline uint32_t fxt_slots_find(const struct fxt_slots *slots, ttr_id id)
{
    size_t page = id / FXT_SLOTS_PAGE;
    uint32_t entry =
        page < slots->pages
            ? slots->entry[(size_t)slots->page[page] * FXT_SLOTS_PAGE + id % FXT_SLOTS_PAGE]
            : 0;
    return entry >> 16 == slots->epoch ? entry & UINT16_MAX : 0;
}

#define FXT_SLOT_CUT                                                            \
    0x8000u /* flag of a slot: the written string is only the start of the text \
             */

/* Returns a ref to a string. Writes a string record if the table has a free slot; otherwise the
 * ref is inline, cut off after FXT_INLINE_MAX bytes. */
struct fxt_text fxt_register_text(struct fxt_writer *w, ttr_id id);

static inline struct fxt_text fxt_get_string_ref(struct fxt_writer *w, ttr_id id)
{
    uint32_t slot = w->is_inline ? 0 : fxt_slots_find(&w->target->strings, id);
    if (slot - 1 < FXT_SLOT_CUT - 1)
        return (struct fxt_text){.ref = slot};
    return fxt_register_text(w, id);
}

bool fxt_is_text_registered(const struct fxt_writer *w,
                            /* Returns true if the string has a slot, so that a ref to it is an
                             * index. */
                            ttr_id id);
struct fxt_text fxt_inline_text(struct fxt_writer *w, ttr_text text, size_t limit);

/* Returns a ref to a thread. Writes a thread record for a new thread, and the names of the thread
 * and its process if they changed. */
struct fxt_thread fxt_register_thread(struct fxt_writer *w, ttr_id id);

static inline struct fxt_thread fxt_get_thread_ref(struct fxt_writer *w, ttr_id id)
{
    if (!w->is_inline && id < w->known_n && w->known[id].is_plain &&
        w->known[id].stamp == w->stamp) {
        uint32_t slot = fxt_slots_find(&w->target->threads, id);
        if (slot)
            return (struct fxt_thread){.ref = slot};
    }
    return fxt_register_thread(w, id);
}

/* Koids of threads in records that contain no thread refs. fxt_prepare_koid must be called for
 * each thread before the record is started: if the process is known, it writes a thread record, so
 * that readers find the thread by its koid. fxt_get_thread_koid returns the koid. It counts a loss
 * if readers will assign the koid to another thread. */
void fxt_prepare_koid(struct fxt_writer *w, ttr_id id);
uint64_t fxt_get_thread_koid(struct fxt_writer *w, ttr_id id);

/* Remember that an object record with this name was written, for the thread or for its process. */
void fxt_record_thread_name(struct fxt_writer *w, ttr_id thread, ttr_id name);
void fxt_record_process_name(struct fxt_writer *w, ttr_id thread, ttr_id name);

/* Writes names of threads that became known after the last event of the thread. */
void fxt_write_missing_names(struct fxt_writer *w);

/* --- Fields to arguments (fxt_write_args.c) --- */

/* Returns true for a field of ttr_stack_fields: an array, or its text in FXT. */
bool fxt_is_stack_field(const ttr_field *field);

/* Collects the fields of the event: values of those in `wanted`, the frames of a sample, and all
 * others as arguments of at most `room` words. If room is 0, the record cannot have arguments;
 * other fields then count as lost. */
void fxt_collect_args(struct fxt_writer *w, struct fxt_wanted_field *wanted, size_t n,
                      uint32_t room);

/* Appends the collected arguments to the record. Returns the end of the arguments. */
uint8_t *fxt_append_args(const struct fxt_writer *w, struct fxt_output to);

/* --- One record per event (fxt_write_kinds.c) --- */

/* Writes the record for w->event, by its kind. */
void fxt_write_event_record(struct fxt_writer *w);

/* Returns the time of w->event in ticks of the current section. */
uint64_t fxt_convert_event_ticks(struct fxt_writer *w);

static inline uint64_t fxt_get_event_ticks(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (!w->is_inline && e->time >= 0 && e->ticks == (uint64_t)e->time)
        return e->ticks;
    return fxt_convert_event_ticks(w);
}

/* --- Entry points of the writer (fxt_write.c) --- */

ttr_status fxt_writer_create(struct ttr_writer *out, ttr_error *error);
ttr_status fxt_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status fxt_writer_finish(struct ttr_writer *out, ttr_error *error);
void fxt_writer_free(struct ttr_writer *out);

#endif
