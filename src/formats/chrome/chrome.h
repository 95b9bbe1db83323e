/* The Chrome JSON writer: its state and the parts its files give each other.  README.md says what
 * becomes of each kind.
 *
 * A line is one event: chrome_begin appends everything up to its args into room asked for once; the
 * args follow, member by member; chrome_end closes both. */
#ifndef TRACETTA_FORMATS_CHROME_CHROME_H
#define TRACETTA_FORMATS_CHROME_CHROME_H

#include "base/pairmap.h"
#include "encodings/json/field_json.h"
#include "encodings/json/append.h"
#include "encodings/json/text_cache.h"
#include "model/output.h"

/* Indices into the loss table; those of fields come first. */
enum chrome_loss {
    CHROME_POINTER = FIELD_JSON_LOSSES,
    CHROME_CONTEXT,
    CHROME_PROVIDER,
    CHROME_DETAIL,
    CHROME_NO_THREAD,
    CHROME_WIDE_ID,
    CHROME_SAME_PID,
    CHROME_RENAMED,
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

/* The pseudo process whose threads are CPUs: no kernel object and no Unix process has this id. */
#define CHROME_CPU_PID UINT32_MAX

/* Integers that every JSON reader holds exactly. */
#define CHROME_EXACT_MAX ((uint64_t)1 << 53)

/* `"pid":1,"tid":2` of a thread; both quoted when they are large. */
#define CHROME_IDS_MAX 64

struct chrome_thread {
    uint32_t batch; /* in which its names were looked at last */
    ttr_id name;    /* as written, 0 = not yet */
    uint8_t ids_n;  /* 0: not seen yet */
    bool is_guess;  /* process or thread is not known */
    char ids[CHROME_IDS_MAX];
};

struct chrome {
    struct field_json fields;
    struct chrome_thread *threads; /* by ttr_id; [0] stands for none */
    size_t threads_n;
    ttr_id *processes; /* name as written, by index of the context */
    size_t processes_n;
    struct pairmap pids; /* pid to the source that used it first */
    struct pairmap cpus; /* those that run something */
    uint32_t batch;
    int64_t base_ns;
    ttr_id provider; /* of the first event; told once, in otherData */
    bool has_begun, has_base, has_line, has_provider;
};

/* What a line is before its args. */
struct chrome_line {
    char phase;
    int64_t time_ns;
    const char *ids; /* as in chrome_thread: CHROME_IDS_MAX bytes can be read there */
    size_t ids_n;
    ttr_text category, name;
    const char *extra; /* more members: `,"s":"t"`; at most 64 bytes */
    size_t extra_n;
};

/* The time a line bears for an event.  Before the first event with a time that is the base,
 * whatever it will be. */
static inline int64_t chrome_time(const struct chrome *own, const ttr_event *event)
{
    return own->has_base ? event->time : own->base_ns;
}

/* Appends a line up to `"args":{`. */
void chrome_begin(struct ttr_writer *out, const struct chrome_line *line);

/* Ends a line; empty args are taken back. */
void chrome_end(struct ttr_writer *out);

/* Appends a number as a member of the args; a text (constant); a known string. */
void chrome_arg_number(struct chrome *own, const char *name, uint64_t value);
void chrome_arg_text(struct chrome *own, const char *name, const char *value);
void chrome_arg_string(struct chrome *own, const char *name, const ttr *t, ttr_id value);

/* Appends CPU, level and flags where the event has them. */
void chrome_arg_attributes(struct chrome *own, const ttr_event *event);

/* Appends the numeric fields of a counter and counts what else it has. */
void chrome_arg_series(struct ttr_writer *out, const ttr_event *event);

/* Gives a string as JSON, `otherwise` (constant) where it is empty, and counts bytes that are no
 * UTF-8. */
static inline ttr_text chrome_string(struct ttr_writer *out, ttr_id id, const char *otherwise,
                                     uint64_t offset)
{
    struct chrome *own = out->own;
    const struct text_piece *piece = text_cache_get(&own->fields.texts, out->t, id);
    if (piece->changed)
        output_lost(out, FIELD_JSON_TEXT, offset);
    return piece->text.n ? piece->text : (ttr_text){otherwise, strlen(otherwise)};
}

/* Writes the names of a thread and its process where they are news; once a batch for each thread.
 */
void chrome_tell_names(struct ttr_writer *out, ttr_id id, uint64_t offset);

/* The same for all threads seen: names that became known after a thread's last event. */
void chrome_tell_all_names(struct ttr_writer *out);

/* Writes an object that names a process or thread as metadata. */
void chrome_write_name(struct ttr_writer *out, const ttr_event *event);

/* Writes a context switch as the end of one slice and the begin of another. */
void chrome_write_switch(struct ttr_writer *out, const ttr_event *event);

#endif
