/* Reading, combining, filtering and writing traces: the simple interface.
 *
 *     #include <stdio.h>
 *     #include <tracetta/tracetta.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *         ttr_error error = {0};
 *         ttr_batch batch;
 *         ttr *t = ttr_new(NULL);
 *         ttr_reader *in = t ? ttr_open(t, argc > 1 ? argv[1] : "-", NULL, &error) : NULL;
 *         while (in && ttr_read(in, &batch, &error) == TTR_OK)
 *             for (uint32_t i = 0; i < batch.n; i++)
 *                 puts(ttr_text_get(t, ttr_batch_at(&batch, i)->name).p);
 *         if (error.status != TTR_OK)
 *             fprintf(stderr, "%s\n", error.text);
 *         ttr_close(in);
 *         ttr_free(t);
 *         return error.status != TTR_OK;
 *     }
 *
 * A program opens readers and writers in a context.  A reader returns events in batches. A stage
 * (sort, merge, filter, pair) is a reader that wraps other readers.  advanced.h has options,
 * streams and files in memory.  The other headers have one topic each.
 *
 * Conventions of all headers:
 *   - Ownership: the caller frees what ttr_..._new, ttr_open and ttr_create return.  A stage owns
 *     the readers that it wraps.  Each function states how long events and texts stay valid.
 *   - Errors: a function that can fail returns a ttr_status, or NULL.  `error` is filled only on
 *     failure and may be NULL, as may every options argument.  Functions that free accept NULL.
 *   - Threads: one thread at a time uses a context with its readers and writers.  Contexts are
 *     independent of each other.  The library has no global state and prints nothing.
 *   - Structs that start with `size` can grow in later versions: set it to sizeof the struct.
 */
#ifndef TRACETTA_TRACETTA_H
#define TRACETTA_TRACETTA_H

#include "error.h"
#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_VERSION "0.1.0"

/* --- Context --- */

typedef struct ttr_options ttr_options;

/* Creates a context: the strings, threads, tracks and clocks that its readers and writers share.
 * Returns NULL if memory is exhausted or options->size is not set. */
TTR_API ttr *ttr_new(const ttr_options *options);

/* Frees a context.  Close its readers and finish its writers first. */
TTR_API void ttr_free(ttr *t);

/* Returns the version of the library that is loaded, such as "0.1.0"; TTR_VERSION is that of the
 * headers. */
TTR_API const char *ttr_version(void);

/* Returns the string with an id, followed by a zero byte that `n` does not count.  Returns "" for 0
 * and unknown ids.  Valid as long as the context. */
TTR_API ttr_text ttr_text_get(const ttr *t, ttr_id id);

/* Copies what is known so far of a thread.  Returns false for an unknown id. */
TTR_API bool ttr_thread_get(const ttr *t, ttr_id id, ttr_thread *thread);

/* --- Reading --- */

typedef struct ttr_read_options ttr_read_options;

typedef struct ttr_reader ttr_reader;

/* Opens a trace: a file of any supported format and compression, a folder, a URL, or "-" for stdin.
 * Returns NULL with `error` if the path cannot be read or is not a trace.
 *
 * A trace of several files (CTF) is opened by its folder or by its metadata file; another of its
 * files opens only that file.  Any other directory opens all traces below it, up to 8 levels deep,
 * merged by time.  Files that are not traces are skipped and counted by the diagnostic
 * "directory.passed-over".  An unreadable trace among others is reported as damage
 * "trace.unreadable"; it is an error if it is the only one, or with TTR_READ_STRICT. */
TTR_API ttr_reader *ttr_open(ttr *t, const char *path, const ttr_read_options *options,
                             ttr_error *error);

/* Reads the next batch, which is borrowed until the next ttr_read or ttr_close of this reader.
 * Returns TTR_OK with batch->n >= 1, TTR_END at the end, TTR_AGAIN if a live input has no data yet,
 * or an error. Errors are permanent: each later call repeats them.  Damage is not an error: the
 * reader records it (ttr_reader_report in report.h), resynchronizes and continues. */
TTR_API TTR_MUST ttr_status ttr_read(ttr_reader *reader, ttr_batch *batch, ttr_error *error);

/* Closes a reader and the readers that it wraps. */
TTR_API void ttr_close(ttr_reader *reader);

/* An iterator over the fields of one event, on the caller's stack.  Members are internal. */
typedef struct ttr_fields {
    const ttr_event *event;
    const void *ops, *ctx;
    uint64_t state[84];
} ttr_fields;

/* Starts an iteration over the fields of an event, in stored order.  `event` must stay valid during
 * it.  Never fails. */
TTR_API void ttr_fields_begin(const ttr *t, const ttr_event *event, ttr_fields *fields);

/* Decodes the next field; its texts are borrowed as long as the event is valid.  Returns false
 * after the last one, and where the record is damaged (the event then has TTR_EVENT_PARTIAL). */
TTR_API bool ttr_fields_next(ttr_fields *fields, ttr_field *field);

/* Finds the first top-level field with a name.  Returns false if the event has none. */
TTR_API bool ttr_field_find(const ttr *t, const ttr_event *event, const char *name,
                            ttr_field *field);

/* --- Stages ---
 *
 * Each stage owns the readers passed to it from the call on, even if the call fails.  A NULL reader
 * returns NULL and keeps `error`, so calls can be nested: ttr_sort(ttr_open(...), &error). */

/* Sorts events by time, then by input, then by position.  Memory is bounded by
 * ttr_options.max_memory; the rest is written to an unlinked temporary file.  A reader can be read
 * only once, so even ordered input is stored until its end.  If the input can be opened twice,
 * ttr_sort_indexed (analyse.h) sorts without storing it: ordered input costs two reads. */
TTR_API ttr_reader *ttr_sort(ttr_reader *in, ttr_error *error);

/* Merges n readers of one context by time; events of equal time come in the order of `in`, then by
 * position.  Readers that are not ordered by time are sorted first. */
TTR_API ttr_reader *ttr_merge(ttr *t, ttr_reader **in, size_t n, ttr_error *error);

/* Conditions on events.  An event matches if all conditions hold; an empty list always holds.
 * Lists end with NULL.  Patterns are globs such as "net*" or "[ab]?". */
typedef struct ttr_filter {
    size_t size;
    /* ns; from_ns <= time < to_ns, spans match if they overlap the range; INT64_MIN, INT64_MAX:
     * unlimited */
    int64_t from_ns, to_ns;
    const char *const
        *names; /* one of these patterns matches, also the name before ttr_interpret */
    const char *const *not_names;  /* none of these patterns matches */
    const char *const *categories; /* as `names`, for each part of the comma-separated list */
    const char *const *providers;
    const char *const *threads;   /* tid in decimal, or a pattern for the thread's name */
    const char *const *processes; /* pid in decimal, or a pattern for the process's name */
    const char *const
        *cpus;         /* numbers and ranges, "0,4-7"; an event without a CPU does not match */
    uint32_t kinds;    /* bit mask of 1 << ttr_kind; 0: all kinds */
    uint8_t min_level; /* ttr_level; events without a level match */
    bool invert;       /* select the events that do not match */
    /* a condition in SQL, "name GLOB 'sched*' AND next_prio > 20"; NULL = none.  Names are columns:
     * name, kind, ts, dur, category, provider, level, cpu, utid, pid, tid, thread_name,
     * process_name, source, offset; all others are fields of the event, NULL if it has none, and
     * "field_name" is a field that a column hides.  Operators, NULL and conversions are those of
     * SQLite; functions are coalesce, ifnull, nullif, iif, length, lower, upper, instr, substr,
     * typeof.  "16ms" is a duration in ns.  An error has the byte of the text in error->offset and
     * "where" in error->option. */
    const char *where;
} ttr_filter;

/* Initializes a filter that all events match. */
TTR_API void ttr_filter_init(ttr_filter *filter);

/* Passes the events that match; the filter's strings are copied.  Definitions, objects and gaps
 * pass too if only time, thread, process and CPU are filtered. Formats with an index seek to the
 * time range, and then omit the objects and gaps outside of it. */
TTR_API ttr_reader *ttr_filter_new(ttr_reader *in, const ttr_filter *filter, ttr_error *error);

/* Pairs begin and end events, and async begin and end events, into spans; other events pass.  A
 * span is returned at the time of its end.  Begins without an end become spans to the end of the
 * input with TTR_EVENT_PARTIAL. */
TTR_API ttr_reader *ttr_pair_spans(ttr_reader *in, ttr_error *error);

/* --- Writing --- */

typedef struct ttr_write_options ttr_write_options;

typedef struct ttr_writer ttr_writer;

#define TTR_WRITE_OVERWRITE 1u /* replace an existing file, or a folder that is a trace */
#define TTR_WRITE_STRICT 2u    /* the first loss is an error, TTR_E_LOSS; no output is kept */
#define TTR_WRITE_COLOR 4u     /* text formats use terminal colours */
#define TTR_WRITE_TERMINAL 8u  /* text formats escape control characters, as "\x1b" */

/* Creates a writer for a path, for "-" (stdout), or for NULL (discards the output but counts
 * losses).  Returns NULL with `error` if the format is unknown or read-only, or the output cannot
 * be created.
 *
 * The output has a temporary name until ttr_finish renames it, so a partial trace never has the
 * final name.  A format with TTR_FORMAT_FOLDER creates a folder; an existing one is replaced only
 * with TTR_WRITE_OVERWRITE and if it is empty or such a trace.  A format with TTR_FORMAT_ORDERED
 * needs events in order of time: use ttr_sort or ttr_merge. */
TTR_API ttr_writer *ttr_create(ttr *t, const char *path, const char *format,
                               const ttr_write_options *options, ttr_error *error);

/* Writes a batch.  Errors are permanent: later calls repeat them. */
TTR_API TTR_MUST ttr_status ttr_write(ttr_writer *writer, const ttr_batch *batch, ttr_error *error);

/* Called regularly during a long call.  Returns false to stop it early; the call then keeps the
 * partial result and returns TTR_AGAIN. */
typedef bool (*ttr_progress)(void *user_data);

/* Writes all events of a reader to a writer; neither is closed.  `progress` may be NULL. */
TTR_API TTR_MUST ttr_status ttr_copy(ttr_reader *in, ttr_writer *out, ttr_progress progress,
                                     void *user_data, ttr_error *error);

/* How the target represents something that it cannot hold exactly. */
typedef enum ttr_loss_kind {
    TTR_LOSS_CHANGED = 0, /* converted to another representation */
    TTR_LOSS_DROPPED = 1  /* omitted */
} ttr_loss_kind;

typedef struct ttr_loss {
    const char *code; /* stable identifier, "kind.counter"; static */
    const char *what; /* affected data, "counters"; static */
    /* conversion rule, "become zero-length spans with their values as attributes"; static */
    const char *rule;
    uint64_t count;        /* occurrences so far */
    uint64_t first_offset; /* byte offset of the first affected event in its source */
    ttr_loss_kind kind;
} ttr_loss;

/* Returns the number of different losses so far, and the array of them in *losses, borrowed until
 * the next call on the writer.  Some formats count losses only when the output ends: call
 * ttr_writer_end (advanced.h) first to get all of them. */
TTR_API size_t ttr_losses(ttr_writer *writer, const ttr_loss **losses);

/* Completes the output, renames it to its final path, and frees the writer even on failure.
 * Repeats an earlier error of the writer, in which case no output is kept. */
TTR_API TTR_MUST ttr_status ttr_finish(ttr_writer *writer, ttr_error *error);

/* Frees the writer and deletes its unfinished output. */
TTR_API void ttr_writer_abort(ttr_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
