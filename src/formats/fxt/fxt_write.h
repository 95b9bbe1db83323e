/* The parts of the FXT writer: what they share, and what each of them offers.
 *
 *   fxt_write.c         the loop over events, copying of raw records, provider sections, times
 *   fxt_write_tables.c  string and thread references, names of threads and processes
 *   fxt_write_args.c    fields to arguments
 *   fxt_write_kinds.c   one record for each kind of event
 *
 * A record is made in two steps: first everything it refers to is looked up, which may emit
 * definitions and tells its size; then its words go out one after the other.  So nothing is
 * patched, and definitions stand before what needs them. Failures (memory) are collected in the
 * buffer's failed flag and writer->failed, and told once a batch. */
#ifndef TRACETTA_FXT_WRITE_H
#define TRACETTA_FXT_WRITE_H

#include "base/clockmath.h"
#include "base/endian.h"
#include "formats/fxt/fxt_format.h"
#include "model/output.h"

/* What FXT cannot hold, index into fxt_losses. */
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

/* bytes of a name that stands in the record: two of them leave half of it for arguments  */
#define FXT_INLINE_MAX 8000u
#define FXT_FRAMES_MAX 255u
#define FXT_SCRATCH 8192u
#define FXT_PATH 512u
#define FXT_DEPTH 16u
#define FXT_SLOTS_PAGE 64u

/* A table of the trace as the writer fills it.  An entry = epoch << 16 | cut << 15 | slot; those of
 * other epochs do not count.  Entries stand by id in pages, for every target has tables of its own
 * and few of all ids. */
struct fxt_slots {
    uint16_t *page; /* by ttr_id / FXT_SLOTS_PAGE: which page of `entry`; 0, in which nothing is,
                       where there is none */
    uint32_t *entry;
    size_t pages, entries, used_pages;
    uint32_t used, limit;
    uint32_t refused,
        patience;   /* references made inline as the table was full; so many, and it begins anew */
    uint32_t epoch; /* 1 .. 65535 */
};

/* A provider of the trace written. */
struct fxt_target {
    uint32_t id;
    struct fxt_slots strings, threads;
};

/* A string reference, with the stream of an inline one. */
struct fxt_text {
    uint32_t ref;
    const char *p;
};

/* A thread reference, with the words of an inline one. */
struct fxt_thread {
    uint32_t ref;
    uint64_t pid, tid;
};

struct fxt_argument {
    uint64_t header, value;
    struct fxt_text name, text;
    ttr_text bytes; /* of a blob argument */
};

struct fxt_level {
    uint32_t end, index; /* of its name in the path; of the next element */
    bool is_array;
};

/* A field that has a place of its own in the record. */
struct fxt_wanted {
    const char *name;
    uint8_t type;
    bool found;
    ttr_value value;
};

/* What has become of the names of a thread. */
struct fxt_known {
    uint32_t stamp; /* the stamp of the batch when its names were looked at last; 0: never used */
    ttr_id name;    /* as written */
    bool is_introduced; /* its process and koid stood together somewhere */
    bool is_plain;      /* introduced, and its number is known: nothing to look after */
};

/* The trace that is copied byte by byte. */
struct fxt_copied {
    uint16_t source;
    bool is_active;
    bool has_provider; /* its current section can be come back to */
    uint32_t provider;
    struct clockmath clock;
    uint64_t base_ticks;
    int64_t base_ns;
};

struct fxt_writer {
    struct ttr_writer *out;
    const ttr_event *event; /* under way */
    bool is_big, is_started, is_anchored, failed;
    bool is_inline; /* tables belong to copied bytes: refer to nothing */
    struct fxt_copied copied;
    struct fxt_target *targets,
        *target; /* target: whose section it is now; NULL: none, or a copied one */
    size_t targets_n, targets_capacity;
    struct pairmap target_by; /* (source, provider) to index */
    uint16_t target_source;
    ttr_id target_name;
    struct fxt_known *known; /* by thread */
    size_t known_n;
    struct pairmap introduced; /* (process, koid) that stood together somewhere */
    /* (koid, 0) to the thread that came up last with it: what readers take it for */
    struct pairmap by_koid;
    ttr_id *processes; /* names as written, by process index */
    size_t processes_n;
    uint32_t stamp; /* of this batch: one more than how often names changed before it */
    struct fxt_argument args[FXT_ARGS_MAX];
    uint32_t args_n, args_words, args_room;
    bool is_full;   /* there was a 16th */
    bool has_scope; /* it is the scope of an instant */
    uint64_t scope;
    struct fxt_level level[FXT_DEPTH];
    uint32_t scratch_n, path_n;
    uint64_t frames[FXT_FRAMES_MAX];
    uint32_t frames_n;
    char scratch[FXT_SCRATCH]; /* dotted names */
    char path[FXT_PATH];
};

static inline void fxt_lost(struct fxt_writer *w, enum fxt_loss loss)
{
    output_lost(w->out, loss, w->event ? w->event->offset : 0);
}

/* Where the words of a record go.  A local variable, so that the stores cannot be taken for changes
 * of it. */
struct fxt_out {
    uint8_t *at;
    bool is_big;
};

/* The next word, or stream, of the record. */
static inline void fxt_word_out(struct fxt_out *to, uint64_t word)
{
    store_u64le(to->at, to->is_big ? __builtin_bswap64(word) : word);
    to->at += FXT_WORD;
}

/* Begins a record of so many words; false when memory is out. */
static inline bool fxt_record(struct fxt_writer *w, struct fxt_out *to, uint64_t words,
                              uint64_t header)
{
    *to =
        (struct fxt_out){.at = buffer_room(&w->out->buffer, words * FXT_WORD), .is_big = w->is_big};
    if (!to->at)
        return false;
    buffer_filled(&w->out->buffer, words * FXT_WORD);
    fxt_word_out(to, header |
                         fxt_put(fxt_type(header) == FXT_LARGE ? FXT_LARGE_SIZE : FXT_SIZE, words));
    return true;
}

static inline void fxt_stream_out(struct fxt_out *to, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    memset(to->at + (n - 1) / FXT_WORD * FXT_WORD, 0, FXT_WORD);
    memcpy(to->at, bytes, n);
    to->at += (n + FXT_WORD - 1) / FXT_WORD * FXT_WORD;
}

static inline void fxt_text_out(struct fxt_out *to, const struct fxt_text *text)
{
    if (text->ref & FXT_REF_INLINE)
        fxt_stream_out(to, text->p, text->ref & FXT_REF_LENGTH);
}

static inline void fxt_thread_out(struct fxt_out *to, const struct fxt_thread *thread)
{
    if (thread->ref)
        return;
    fxt_word_out(to, thread->pid);
    fxt_word_out(to, thread->tid);
}

static inline uint32_t fxt_thread_words(const struct fxt_thread *thread)
{
    return thread->ref ? 0 : 2;
}

/* --- fxt_write_tables.c --- */

void fxt_slots_init(struct fxt_slots *slots, uint32_t limit, uint32_t patience);
void fxt_slots_free(struct fxt_slots *slots, const struct alloc *alloc);

/* Between records: lets a table that has been full for long begin anew. */
void fxt_slots_restart(struct fxt_slots *slots, const struct alloc *alloc);

static inline void fxt_slots_refresh(struct fxt_slots *slots, const struct alloc *alloc)
{
    if (slots->refused >= slots->patience)
        fxt_slots_restart(slots, alloc);
}

/* Slot and cut mark of an id, 0 where it has none. */
static inline uint32_t fxt_slots_find(const struct fxt_slots *slots, ttr_id id)
{
    size_t page = id / FXT_SLOTS_PAGE;
    uint32_t entry =
        page < slots->pages
            ? slots->entry[(size_t)slots->page[page] * FXT_SLOTS_PAGE + id % FXT_SLOTS_PAGE]
            : 0;
    return entry >> 16 == slots->epoch ? entry & UINT16_MAX : 0;
}

#define FXT_SLOT_CUT 0x8000u /* the string registered is shorter than the text */

/* Refers to a known string, which is registered when new, or to any text in place (cut to `limit`
 * bytes). */
struct fxt_text fxt_text_slowly(struct fxt_writer *w, ttr_id id);

static inline struct fxt_text fxt_text_by_id(struct fxt_writer *w, ttr_id id)
{
    uint32_t slot = w->is_inline ? 0 : fxt_slots_find(&w->target->strings, id);
    if (slot - 1 < FXT_SLOT_CUT - 1)
        return (struct fxt_text){.ref = slot};
    return fxt_text_slowly(w, id);
}

bool fxt_text_has_slot(const struct fxt_writer *w,
                       ttr_id id); /* whether it would not be in place */
struct fxt_text fxt_text_in_place(struct fxt_writer *w, ttr_text text, size_t limit);

/* Refers to a thread; registers it when new, and writes the names of it and its process when they
 * are news. */
struct fxt_thread fxt_thread_slowly(struct fxt_writer *w, ttr_id id);

static inline struct fxt_thread fxt_thread_by_id(struct fxt_writer *w, ttr_id id)
{
    if (!w->is_inline && id < w->known_n && w->known[id].is_plain &&
        w->known[id].stamp == w->stamp) {
        uint32_t slot = fxt_slots_find(&w->target->threads, id);
        if (slot)
            return (struct fxt_thread){.ref = slot};
    }
    return fxt_thread_slowly(w, id);
}

/* For records that name threads by koid alone.  First prepare all of them: a thread whose process
 * is known is put in the table, so that readers know it by its koid; then get the koids, which
 * counts those that will be taken for another thread. */
void fxt_koid_prepare(struct fxt_writer *w, ttr_id id);
uint64_t fxt_koid_by_id(struct fxt_writer *w, ttr_id id);

/* Remembers that an object record named this thread, or its process. */
void fxt_thread_named(struct fxt_writer *w, ttr_id thread, ttr_id name);
void fxt_process_named(struct fxt_writer *w, ttr_id thread, ttr_id name);

/* Writes the names of threads used that are not written yet. */
void fxt_names_finish(struct fxt_writer *w);

/* --- fxt_write_args.c --- */

/* Collects the fields of the event: those wanted, the frames of a sample, and the rest as arguments
 * that take at most `room` words (0: the record has no arguments, and the rest is lost). */
void fxt_args_collect(struct fxt_writer *w, struct fxt_wanted *wanted, size_t n, uint32_t room);

/* Writes the arguments collected; gives the place behind them. */
uint8_t *fxt_args_out(const struct fxt_writer *w, struct fxt_out to);

/* --- fxt_write_kinds.c --- */

/* Writes the event under way. */
void fxt_write_kind(struct fxt_writer *w);

/* The time of the event under way in ticks of the section, and any other time of it. */
uint64_t fxt_ticks_slowly(struct fxt_writer *w);

static inline uint64_t fxt_ticks(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (!w->is_inline && e->time >= 0 && e->ticks == (uint64_t)e->time)
        return e->ticks;
    return fxt_ticks_slowly(w);
}

/* --- fxt_write.c --- */

ttr_status fxt_create(struct ttr_writer *out, ttr_error *error);
ttr_status fxt_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status fxt_finish(struct ttr_writer *out, ttr_error *error);
void fxt_drop(struct ttr_writer *out);

#endif
