/* The Chrome JSON writer: its state and the internal functions of its files. README.md describes
 * how each kind of event is written.
 *
 * A line is one event. chrome_begin_line appends everything up to the args object, with one
 * reservation of buffer space. The members of args follow one by one, and chrome_end_line closes
 * args and line. */
#ifndef TRACETTA_FORMATS_CHROME_CHROME_H
#define TRACETTA_FORMATS_CHROME_CHROME_H

#include "base/pair_map.h"
#include "encodings/json/field_json.h"
#include "encodings/json/emit.h"
#include "encodings/json/text_cache.h"
#include "model/output.h"

/* Kinds of losses, used as indices into the table of losses. The losses of field_json come
 * first. */
enum chrome_loss {
    CHROME_POINTER = FIELD_JSON_LOSSES,
    CHROME_CONTEXT,
    CHROME_PROVIDER,
    CHROME_DETAIL,
    CHROME_NO_THREAD,
    CHROME_WIDE_ID,
    CHROME_SAME_PID,
    CHROME_RENAMED,
    CHROME_SPAN_END,
    CHROME_NO_TIME,
    CHROME_COUNTER_EMPTY,
    CHROME_COUNTER_VALUE,
    CHROME_COUNTER_ATTRIBUTE,
    CHROME_SWITCH,
    CHROME_WAKE,
    CHROME_SAMPLE,
    CHROME_LOG,
    CHROME_BLOB,
    CHROME_BLOB_CUT,
    CHROME_OBJECT,
    CHROME_GAP,
    CHROME_LOSSES
};

/* Greatest pid and tid that all viewers can store. Greater ids are replaced by numbers from
 * CHROME_ID_FIRST on. */
#define CHROME_ID_MAX ((uint64_t)INT32_MAX)
#define CHROME_ID_FIRST 1000000000u

/* Pids of pseudo processes: one has a thread for each CPU, the other a thread for each named track
 * without threads. */
#define CHROME_CPU_PID 2147483647u
#define CHROME_TRACK_PID 2147483646u

/* maximum length in bytes of `"pid":1,"tid":2`, in which large numbers are quoted */
#define CHROME_IDS_MAX 64

/* Number of lines with one timestamp on a thread, see chrome_count_line_rank. */
struct chrome_rank {
    int64_t time_ns;
    uint32_t next;
};

/* Context switches of a CPU. */
struct chrome_cpu {
    struct chrome_rank rank;
    bool has_switch;  /* true if a switch was written */
    int64_t first_ns; /* time of the earliest switch so far, in ns; valid if has_switch */
};

struct chrome_thread {
    struct chrome_rank rank;
    uint32_t open_n; /* number of begins on the thread that have no end yet */
    /* value of writer->batch at the last comparison of the thread's names */
    uint32_t batch;
    ttr_id name;   /* text id of the name that was written last; 0 if none was written */
    uint8_t ids_n; /* length of `ids` in bytes; 0 if the ids are not formatted yet */
    bool is_guess; /* true if the pid or the tid is unknown */
    char ids[CHROME_IDS_MAX];
};

struct chrome {
    struct field_json fields;
    /* entries of threads, indexed by thread id; entry 0 is for events without a thread */
    struct chrome_thread *threads;
    size_t threads_n;
    /* text id of the name that was last written for each process, indexed by the context's
     * process index */
    ttr_id *processes;
    size_t processes_n;
    struct pair_map pids; /* maps (pid, 0) to the first source that has used this pid */
    /* maps an id above CHROME_ID_MAX, as (pid, 0) or (tid, 1), to the number that replaces it */
    struct pair_map renumbered;
    uint32_t next_id;
    /* entries for events without a thread, indexed by track id */
    struct chrome_thread *tracks;
    size_t tracks_n;
    bool has_tracks; /* true if the name of the pseudo process for tracks was written */
    /* maps each CPU of which the name was written to its index in `cpus` */
    struct pair_map cpu_index;
    struct chrome_cpu *cpus;
    size_t cpus_n, cpus_capacity;
    uint32_t batch;
    int64_t base_ns;
    /* provider of the first event; it is written once, in "otherData" */
    ttr_id provider;
    bool has_begun, has_base, has_line, has_provider;
};

/* Members of an output line that precede its "args" object. */
struct chrome_line {
    char phase;
    int64_t time_ns;
    uint32_t rank; /* order of lines with equal time; see chrome_count_line_rank */
    /* text of pid and tid (see chrome_thread), of which CHROME_IDS_MAX bytes must be readable */
    const char *ids;
    size_t ids_n;
    ttr_text category, name;
    /* text of additional members such as `,"s":"t"`, at most 64 bytes */
    const char *extra;
    size_t extra_n;
};

/* Returns the time to write for an event, in ns. Before the first event with a time, this is the
 * base of all times, which is chosen later. */
static inline int64_t chrome_get_line_time(const struct chrome *ctx, const ttr_event *event)
{
    return ctx->has_base ? event->time : ctx->base_ns;
}

#define CHROME_RANK_MAX 499u

/* Returns the number of lines before this one that begin or end a span at the same time on the same
 * thread. Viewers sort lines by time, some of them not stably, so the rank is written as digits
 * below the nanosecond; less than half a nanosecond, which others round. */
static inline uint32_t chrome_count_line_rank(struct chrome_rank *rank, int64_t time_ns)
{
    if (rank->time_ns != time_ns)
        *rank = (struct chrome_rank){.time_ns = time_ns};
    uint32_t n = rank->next;
    rank->next += n < CHROME_RANK_MAX;
    return n;
}

/* Appends a line up to the start of its args object, `"args":{`. */
void chrome_begin_line(struct ttr_writer *out, const struct chrome_line *line);

/* Ends a line. Removes the args object if it is empty. */
void chrome_end_line(struct ttr_writer *out);

/* Append a member to the args object: a number, a constant text, or an interned string. */
void chrome_add_number(struct chrome *ctx, const char *name, uint64_t value);
void chrome_add_text(struct chrome *ctx, const char *name, const char *value);
void chrome_add_string(struct chrome *ctx, const char *name, const ttr *t, ttr_id value);

/* Appends CPU, level and flags of an event, as far as the event has them. */
void chrome_add_attributes(struct chrome *ctx, const ttr_event *event);

/* Returns true if an event has a numeric field at the top level, which can be drawn as a
 * counter. */
bool chrome_has_series(const ttr *t, const ttr_event *event);

/* Appends the numeric fields of a counter event. All other fields are counted as lost. */
void chrome_add_series(struct ttr_writer *out, const ttr_event *event);

/* Returns a string as JSON text, or `otherwise` (a JSON constant) if the string is empty. Counts
 * invalid UTF-8 bytes as losses. */
static inline ttr_text chrome_get_json_string(struct ttr_writer *out, ttr_id id,
                                              const char *otherwise, uint64_t offset)
{
    struct chrome *ctx = out->ctx;
    const struct text_piece *piece = text_cache_get(&ctx->fields.texts, out->t, id);
    if (piece->changed)
        output_count_loss(out, FIELD_JSON_TEXT, offset);
    return piece->text.n ? piece->text : (ttr_text){otherwise, strlen(otherwise)};
}

/* Writes the names of a thread and of its process if they have changed. They are compared once per
 * batch and thread. */
void chrome_write_changed_names(struct ttr_writer *out, ttr_id id, uint64_t offset);

/* Returns the pseudo thread for the events of a track that has no threads. Writes its name on
 * first use. Returns NULL if the track has no name, or if memory runs out. */
struct chrome_thread *chrome_find_track(struct ttr_writer *out, ttr_id id);

/* Writes all changed names of threads and processes, since names may arrive after the last event
 * of a thread. */
void chrome_write_all_changed_names(struct ttr_writer *out);

/* Writes an object event that contains the name of a process or thread as a metadata line. */
void chrome_write_name_object(struct ttr_writer *out, const ttr_event *event);

/* Writes a context switch: the end of the previous slice, and the start of the next one. */
void chrome_write_switch(struct ttr_writer *out, const ttr_event *event);

#endif
