/* Writing traces, and saying what a target cannot hold.
 *
 * A writer made for a path creates a temporary file (or folder) beside it and renames it in
 * ttr_finish, so a half-written trace never bears the name.  Every loss is counted in the ledger:
 * what, how often, where first; it is complete behind ttr_writer_end.  Thread rule as in event.h.
 */
#ifndef TRACETTA_WRITE_H
#define TRACETTA_WRITE_H

#include "read.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_writer ttr_writer;

#define TTR_WRITE_OVERWRITE 1u /* replace an existing file, or a folder that is a trace */
#define TTR_WRITE_STRICT                                                                         \
    2u                     /* the first loss is an error (TTR_E_LOSS) and nothing is left behind \
                            */
#define TTR_WRITE_COLOR 4u /* text output with colours */

typedef struct ttr_write_options {
    size_t size;                       /* sizeof(ttr_write_options) */
    uint32_t flags;                    /* TTR_WRITE_*; others are TTR_E_MISUSE */
    const char *const *format_options; /* "key=value", or "FORMAT.key=value", which other formats
                                          pass over; NULL at the end */
} ttr_write_options;

/* Makes a writer: any path, "-" is standard output, NULL is nowhere (to count what would be lost);
 * NULL options are fine.  NULL with `error` when the format is unknown or cannot write, or the path
 * cannot be made.  Of a format whose traces are folders (TTR_FORMAT_FOLDER) the path is that of the
 * folder; one that exists is only replaced, with TTR_WRITE_OVERWRITE, where it is such a trace
 * itself or empty.  Some formats want events by time (TTR_FORMAT_ORDERED). */
TTR_API ttr_writer *ttr_create(ttr *t, const char *path, const char *format,
                               const ttr_write_options *options, ttr_error *error);

/* Takes n bytes: how many were taken (> 0), or -1 with errno set. */
typedef int64_t (*ttr_push)(void *ctx, const void *bytes, size_t n);

/* Makes a writer into a function of the caller's; TTR_E_MISUSE where the format's traces are
 * folders. */
TTR_API ttr_writer *ttr_create_push(ttr *t, ttr_push push, void *ctx, const char *format,
                                    const ttr_write_options *options, ttr_error *error);

/* Says that all events of `in`, of which nothing was read yet, will be written here and nowhere
 * else. If the order of streams does not matter to the format, they are read one after another:
 * without the cost of ordering their events, and with the memory of one. That is so for CTF streams
 * that are copied as they are (read with TTR_READ_DEFINITIONS). Returns whether they are read so;
 * else nothing changes. */
TTR_API bool ttr_writer_allow_stream_order(ttr_writer *writer, ttr_reader *in);

/* Lets `threads` other threads write parts of what the writer is going to be given, where its
 * format is one of lines that stand alone: text, jsonl, babeltrace2.  Each of them reads all once
 * more: `open` is called there, with a context of that thread's own, and gives a reader of the same
 * trace, opened in the same way (ttr_read_options.readers: all of them, with the first), or NULL;
 * the library closes it.  The writer is then given what such a reader gives, batch for batch, from
 * the first on; where a batch is another one after all, the rest is written by the caller's thread
 * alone.  What is written is the same; some of it goes out a few batches later, by ttr_flush or
 * ttr_finish at the latest.  Memory functions (ttr_options.resize) are called by all threads.
 * False, and nothing changes, where it cannot be. */
TTR_API bool ttr_writer_parallel(ttr_writer *writer, unsigned threads,
                                 ttr_reader *(*open)(void *ctx, ttr *t), void *ctx);

/* Writes a batch.  An error sticks. */
TTR_API TTR_MUST ttr_status ttr_write(ttr_writer *writer, const ttr_batch *batch, ttr_error *error);

/* Hands what is written so far to the system; for live output. */
TTR_API TTR_MUST ttr_status ttr_flush(ttr_writer *writer, ttr_error *error);

/* Ends the output and puts it in place, and keeps the writer, also when it fails: formats that
 * write their last packets and descriptions only at the end count losses there, and only now
 * ttr_losses, ttr_writer_bytes and ttr_writer_events tell of all.  Nothing can be written any more
 * (TTR_E_MISUSE); ttr_finish or ttr_writer_abort frees the writer.  Repeats a sticky error. */
TTR_API TTR_MUST ttr_status ttr_writer_end(ttr_writer *writer, ttr_error *error);

/* Ends the output, where ttr_writer_end has not, and frees the writer, also when it fails; repeats
 * a sticky error. */
TTR_API TTR_MUST ttr_status ttr_finish(ttr_writer *writer, ttr_error *error);

/* Frees the writer and leaves no file behind, but what ttr_writer_end put in place.  NULL is fine.
 */
TTR_API void ttr_writer_abort(ttr_writer *writer);

/* Path of the temporary file or folder until the output ends, NULL where there is none: for signal
 * handlers that must remove it. */
TTR_API const char *ttr_writer_temporary_path(const ttr_writer *writer);

/* Bytes and events written so far; gaps are no events. */
TTR_API uint64_t ttr_writer_bytes(const ttr_writer *writer);
TTR_API uint64_t ttr_writer_events(const ttr_writer *writer);

/* What happens to something the target cannot hold. */
typedef enum ttr_loss_kind {
    TTR_LOSS_CHANGED =
        0, /* kept in another shape: a reader of the target sees it, but not as it was */
    TTR_LOSS_DROPPED = 1 /* gone */
} ttr_loss_kind;

typedef struct ttr_loss {
    const char *code;      /* stable, "kind.counter"; static */
    const char *what;      /* "counters" ; static */
    const char *rule;      /* "become zero-length spans with their values as attributes"; static */
    uint64_t count;        /* how often so far */
    uint64_t first_offset; /* of the first event that lost, in its source */
    ttr_loss_kind kind;
} ttr_loss;

/* Gives what has been lost so far (count > 0), borrowed until the next call on the writer.  Some
 * losses are counted while the output ends: who wants all of them asks behind ttr_writer_end. */
TTR_API size_t ttr_losses(ttr_writer *writer, const ttr_loss **losses);

/* Gives what a format may lose, before anything is written: count is 0.  Static; 0 for a format
 * that is none or only read. */
TTR_API size_t ttr_format_losses(const char *format, ttr_loss *losses, size_t room);

/* --- Building events --- */

/* Makes events by hand.  One builder, one event at a time; its memory is reused. */
typedef struct ttr_builder ttr_builder;

/* Makes a builder; NULL when memory is out. */
TTR_API ttr_builder *ttr_builder_new(ttr *t);

/* Frees a builder; NULL is fine. */
TTR_API void ttr_builder_free(ttr_builder *builder);

/* Begins an event of a kind at a time (ns) in a category with a name; what was begun before and not
 * ended is dropped. */
TTR_API void ttr_event_begin(ttr_builder *builder, ttr_kind kind, int64_t time,
                             const char *category, const char *name);

/* The event under construction, to set any attribute directly (duration, link, cpu, ...), or all of
 * them as those of an event that was read; valid until ttr_event_end; without effect before
 * ttr_event_begin.  What tells where fields are stays the builder's: payload, payload_size, body,
 * schema, stack, part and TTR_EVENT_RAW are set at the end.  What `activity` and `related` point to
 * must stay until then. */
TTR_API ttr_event *ttr_event_attributes(ttr_builder *builder);

/* Puts the event on a thread, or under a provider (NULL: none).  The thread is one of the event's
 * `source`, 0 unless it was set before; one that is no input is TTR_E_MISUSE at the end. */
TTR_API void ttr_event_set_thread(ttr_builder *builder, uint64_t pid, uint64_t tid);
TTR_API void ttr_event_set_provider(ttr_builder *builder, const char *provider);

/* Appends a field.  Text and bytes are copied; a NULL text becomes a null, a NULL name is "". */
TTR_API void ttr_add_null(ttr_builder *builder, const char *name);
TTR_API void ttr_add_bool(ttr_builder *builder, const char *name, bool value);
TTR_API void ttr_add_uint(ttr_builder *builder, const char *name, uint64_t value);
TTR_API void ttr_add_int(ttr_builder *builder, const char *name, int64_t value);
TTR_API void ttr_add_float(ttr_builder *builder, const char *name, double value);
TTR_API void ttr_add_text(ttr_builder *builder, const char *name, const char *value);
TTR_API void ttr_add_bytes(ttr_builder *builder, const char *name, const void *bytes, size_t n);

/* Appends any field as it is; an ARRAY or STRUCT is followed by its `count` fields, one level
 * deeper: nothing checks that it is.  A type, hint, group or id that is none, or bytes at NULL, are
 * TTR_E_MISUSE at the event's end, more than 255 levels TTR_E_LIMIT. */
TTR_API void ttr_add_field(ttr_builder *builder, const ttr_field *field);

/* Ends the event and writes it, with what ttr_write gives.  TTR_E_MISUSE, which does not stick to
 * the writer, when none was begun since the last end, or a part of it was refused: it is dropped
 * then. */
TTR_API TTR_MUST ttr_status ttr_event_end(ttr_builder *builder, ttr_writer *writer,
                                          ttr_error *error);

/* Ends the event and gives it as a batch of one, borrowed until the builder's next event.
 * TTR_E_NOMEM when memory was out, TTR_E_MISUSE when none was begun or a part of it was refused. */
TTR_API TTR_MUST ttr_status ttr_event_build(ttr_builder *builder, ttr_batch *batch,
                                            ttr_error *error);

/* Names a thread and its process, for events built by hand; NULL leaves a name as it is.  False
 * when memory is out. */
TTR_API bool ttr_thread_name(ttr *t, uint64_t pid, uint64_t tid, const char *process_name,
                             const char *thread_name);

#ifdef __cplusplus
}
#endif
#endif
