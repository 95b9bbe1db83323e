/* Base of all readers: of those that decode a file and of those that wrap other readers (merge,
 * sort, filter).
 *
 * A stage may change the events of a batch until it reads the next one: no reader uses an event
 * after returning it. */
#ifndef TRACETTA_MODEL_READER_H
#define TRACETTA_MODEL_READER_H

#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/alloc.h"

struct format;
struct input;
struct diagnostics;
struct pending_names;

/* Parameters of reader_read_until, which returns only the events before a given time. Used to merge
 * many inputs. */
struct reader_partial_read {
    /* end of the time range, in ns; later events are not needed, but may be returned */
    int64_t until;
    ttr_event *events; /* the caller's buffer for events; borrowed until the next read */
    uint32_t room;     /* capacity of `events`, at least INPUT_BATCH_MIN */
    uint32_t n;        /* out: number of events returned; may be 0 */
    /* out: true if the next event is at `next` >= `until`; false if more events before `until` may
     * come */
    bool is_stopped;
    int64_t next;
};

#define READER_ANY_KIND UINT32_MAX

struct reader_ops {
    ttr_status (*next)(struct ttr_reader *reader, ttr_batch *batch, ttr_error *error);
    void (*close)(struct ttr_reader *reader); /* frees the reader and all that it owns */
    /* Limits reading to events in [from_ns, to_ns); others may still be returned. Called before the
     * first read. NULL = not supported, all events are returned. */
    void (*range)(struct ttr_reader *reader, int64_t from_ns, int64_t to_ns);
    /* Limits the batch size, to bound memory when many readers are open. Called before the first
     * read; NULL = not supported. */
    void (*set_batch_size)(struct ttr_reader *reader, uint32_t batch);
    /* Makes the reader store events in a buffer of the caller. With events NULL, returns the
     * required capacity in events, 0 = not supported. Called before the first read, after
     * set_batch_size. NULL = not supported. */
    uint32_t (*set_buffer)(struct ttr_reader *reader, ttr_event *events);
    /* Permits reading the inputs one after another instead of merging them by time. Returns false
     * if the reader cannot. Called before the first read. NULL = not supported. */
    bool (*allow_stream_order)(struct ttr_reader *reader);
    /* Returns a bit set of the kinds of events that the reader may return, as far as known before
     * the first read. NULL = any kind. */
    uint32_t (*kinds)(struct ttr_reader *reader);
    /* Makes the reader queue name changes of threads and processes in `renames`. The merging reader
     * applies them. `merge_position`: position of this reader in the merge. Called before the first
     * read. NULL = name changes apply when they are read. */
    void (*renames)(struct ttr_reader *reader, struct pending_names *renames,
                    uint32_t merge_position);
    /* Implements reader_read_until. With `some` NULL, only returns TTR_OK: it is supported. NULL =
     * not supported. */
    ttr_status (*read_until)(struct ttr_reader *reader, struct reader_partial_read *some,
                             ttr_error *error);
    /* Assigns consecutive ranks, from *next on, to the sources of all inputs. Events of equal time
     * are ordered by rank. NULL = the reader has no inputs. */
    void (*rank)(struct ttr_reader *reader, uint32_t *next);
    bool (*report)(struct ttr_reader *reader, size_t index, ttr_report *report);
    /* Returns the input that report `index` describes; NULL after the last. NULL = the reader has
     * no inputs. */
    struct input *(*input)(struct ttr_reader *reader, size_t index);
    /* Returns the diagnostics that concern the complete trace, not one input. NULL = none. */
    struct diagnostics *(*notes)(struct ttr_reader *reader);
};

struct ttr_reader {
    ttr *t;
    const struct reader_ops *ops;
    ttr_order order;
    /* Format with a writer that keeps the events of each source in a separate file. A merge of
     * readers of this format keeps their definitions and raw records. NULL = a merge drops them. */
    const struct format *per_source_format;
    /* number of reports; 0 = unknown, the caller calls `report` until it returns false */
    uint32_t reports;
    bool has_begun;   /* a batch was read; properties can no longer be changed */
    ttr_status stuck; /* TTR_OK, or the status of a failure that every later read returns */
    ttr_error stuck_error;
};

/* Limits a reader, and the readers that it wraps, to [from_ns, to_ns). No effect after the first
 * read. */
void reader_set_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns);

/* Returns true if an event overlaps a time range. A span overlaps if any part of it does; an
 * instant or empty span overlaps if its time is in the range. */
static inline bool event_is_in_range(const ttr_event *event, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == INT64_MIN && to_ns == INT64_MAX)
        return true;
    if (event->time >= to_ns && to_ns != INT64_MAX)
        return false;
    return event->time >= from_ns || (event->kind == TTR_KIND_SPAN &&
                                      event->duration > (uint64_t)from_ns - (uint64_t)event->time);
}

/* Permits a reader, and the readers that it wraps, to read inputs one after another. Returns false
 * if that is not possible. */
bool reader_allow_stream_order(ttr_reader *reader);

/* Returns a bit set of the kinds of events that the reader may return; all kinds if unknown. */
uint32_t reader_get_kinds(ttr_reader *reader);

/* Frees the buffers of the inputs of a reader that has ended; its reports stay valid. */
void reader_free_buffers(ttr_reader *reader);

/* Limits the batch size of a reader and of the readers that it wraps. No effect after the first
 * read. */
void reader_set_batch_size(ttr_reader *reader, uint32_t batch);

/* Makes the reader store events in `events`, a buffer that outlives the reader; with NULL only
 * returns the required capacity (reader_ops.set_buffer). */
uint32_t reader_set_buffer(ttr_reader *reader, ttr_event *events);

/* Assigns ranks to the sources of the reader's inputs, which order events of equal time
 * (reader_ops.rank). */
void reader_assign_ranks(ttr_reader *reader, uint32_t *next);

/* Makes the reader queue name changes in `renames`, which must outlive the reader
 * (reader_ops.renames). */
void reader_set_pending_names(ttr_reader *reader, struct pending_names *renames,
                              uint32_t merge_position);

/* Returns true if reader_read_until is supported. The reader must then be read by that function
 * only. */
bool reader_can_read_until(ttr_reader *reader);

/* Reads events before some->until. Returns TTR_OK even without such events. */
TTR_MUST ttr_status reader_read_until(ttr_reader *reader, struct reader_partial_read *some,
                                      ttr_error *error);

/* Returns the input that report `index` describes, or NULL. */
struct input *reader_get_input(ttr_reader *reader, size_t index);

/* Returns the diagnostics that concern the complete trace, or NULL. */
struct diagnostics *reader_get_diagnostics(ttr_reader *reader);

#endif
