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

/* Indices into the table of losses; the losses of field_json precede them. */
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

/* Greatest pid and tid that every viewer keeps. Greater ids are replaced by numbers from
 * CHROME_ID_FIRST on. */
#define CHROME_ID_MAX ((uint64_t)INT32_MAX)
#define CHROME_ID_FIRST 1000000000u

/* Pseudo processes with one thread per CPU, and with one per named track without threads. */
#define CHROME_CPU_PID 2147483647u
#define CHROME_TRACK_PID 2147483646u

/* maximum length of `"pid":1,"tid":2`, where large numbers are quoted */
#define CHROME_IDS_MAX 64

/* Number of lines with one timestamp on a thread, see chrome_count_line_rank. */
struct chrome_rank {
    int64_t time_ns;
    uint32_t next;
};

struct chrome_thread {
    struct chrome_rank rank;
    uint32_t open_n; /* begins without an end so far */
    uint32_t batch;  /* value of writer->batch when the thread's names were last compared */
    ttr_id name;     /* name that was last written; 0 if none */
    uint8_t ids_n;   /* length of `ids`; 0 if the ids are not formatted yet */
    bool is_guess;   /* process id or thread id is unknown */
    char ids[CHROME_IDS_MAX];
};

struct chrome {
    struct field_json fields;
    /* entries by thread id; [0] is used for events without a thread */
    struct chrome_thread *threads;
    size_t threads_n;
    ttr_id *processes; /* name last written per process, indexed by process index of the context */
    size_t processes_n;
    struct pair_map pids; /* maps (pid, 0) to the first source that used this pid */
    /* maps (pid, 0) and (tid, 1) above CHROME_ID_MAX to the number that replaces it */
    struct pair_map renumbered;
    uint32_t next_id;
    struct chrome_thread *tracks; /* indexed by track id, for events without a thread */
    size_t tracks_n;
    bool has_tracks;      /* the pseudo process of the tracks has been named */
    struct pair_map cpus; /* maps a CPU that has been named to its index in `cpu_rank` */
    struct chrome_rank *cpu_rank;
    size_t cpus_n, cpus_capacity;
    uint32_t batch;
    int64_t base_ns;
    ttr_id provider; /* provider of the first event; written once, to "otherData" */
    bool has_begun, has_base, has_line, has_provider;
};

/* Members of an output line that precede its args. */
struct chrome_line {
    char phase;
    int64_t time_ns;
    uint32_t rank; /* order of lines with equal time; see chrome_count_line_rank */
    /* text of pid and tid, see chrome_thread; CHROME_IDS_MAX bytes must be readable */
    const char *ids;
    size_t ids_n;
    ttr_text category, name;
    const char *extra; /* additional members such as `,"s":"t"`, at most 64 bytes */
    size_t extra_n;
};

/* Returns the time to write for an event. If no event before had a time, an event without a time
 * gets the base of all times, which is chosen later. */
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

/* Appends a line up to `"args":{`. */
void chrome_begin_line(struct ttr_writer *out, const struct chrome_line *line);

/* Ends a line. If its args object is empty, removes it. */
void chrome_end_line(struct ttr_writer *out);

/* Append a member to args: a number, a constant text, or an interned string. */
void chrome_add_number(struct chrome *ctx, const char *name, uint64_t value);
void chrome_add_text(struct chrome *ctx, const char *name, const char *value);
void chrome_add_string(struct chrome *ctx, const char *name, const ttr *t, ttr_id value);

/* Appends CPU, level and flags if the event has them. */
void chrome_add_attributes(struct chrome *ctx, const ttr_event *event);

/* Returns whether an event has a field that is a number, at the top level. */
bool chrome_has_series(const ttr *t, const ttr_event *event);

/* Appends the numeric fields of a counter event. Counts other fields as losses. */
void chrome_add_series(struct ttr_writer *out, const ttr_event *event);

/* Returns a string as JSON; `otherwise`, a JSON constant, if the string is empty. Counts bytes that
 * are not UTF-8 as losses. */
static inline ttr_text chrome_get_json_string(struct ttr_writer *out, ttr_id id,
                                              const char *otherwise, uint64_t offset)
{
    struct chrome *ctx = out->ctx;
    const struct text_piece *piece = text_cache_get(&ctx->fields.texts, out->t, id);
    if (piece->changed)
        output_count_loss(out, FIELD_JSON_TEXT, offset);
    return piece->text.n ? piece->text : (ttr_text){otherwise, strlen(otherwise)};
}

/* Writes the names of a thread and its process if they changed. Compares them once per batch and
 * thread. */
void chrome_write_changed_names(struct ttr_writer *out, ttr_id id, uint64_t offset);

/* Returns the pseudo thread for the events of a track without threads, and names it at first use.
 * Returns NULL if the track has no name, or if memory is exhausted. */
struct chrome_thread *chrome_find_track(struct ttr_writer *out, ttr_id id);

/* Writes changed names of all threads and processes, to include names that arrived after the last
 * event of a thread. */
void chrome_write_all_changed_names(struct ttr_writer *out);

/* Writes an object event that names a process or thread as a metadata line. */
void chrome_write_name_object(struct ttr_writer *out, const ttr_event *event);

/* Writes a context switch as the end of the previous slice and the start of the next one. */
void chrome_write_switch(struct ttr_writer *out, const ttr_event *event);

#endif
