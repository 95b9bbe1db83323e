/* Base of every ttr_reader: one that decodes a file, and one that wraps other readers. */
#ifndef TRACETTA_MODEL_READER_H
#define TRACETTA_MODEL_READER_H

#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/alloc.h"

struct format;
struct input;
struct diagnostics;
struct pending_names;

/* Parameters of reader_read_until: a read of the events before a time, for merging many inputs. */
struct reader_partial_read {
    int64_t until;     /* ns; later events are not needed, but may be returned */
    ttr_event *events; /* the caller's buffer for events; valid until the next read */
    uint32_t room;     /* capacity of `events`, at least INPUT_BATCH_MIN */
    uint32_t n;        /* out: number of events; may be 0 */
    /* out: the next event is at `next` >= `until`; otherwise more events before `until` may follow
     */
    bool is_stopped;
    int64_t next;
};

#define READER_ANY_KIND UINT32_MAX

struct reader_ops {
    ttr_status (*next)(struct ttr_reader *reader, ttr_batch *batch, ttr_error *error);
    void (*close)(struct ttr_reader *reader); /* also frees the reader itself */
    /* Events outside [from_ns, to_ns) are not needed and may be skipped if that is cheap. Called
     * before the first read; NULL = not supported, all events are returned. */
    void (*range)(struct ttr_reader *reader, int64_t from_ns, int64_t to_ns);
    /* Limits the batch size, to bound memory when many readers are open. Called before the first
     * read; NULL = not supported. */
    void (*set_batch_size)(struct ttr_reader *reader, uint32_t batch);
    /* With events NULL: returns the number of events that its buffer must hold, 0 = it cannot use a
     * caller's buffer. Otherwise: uses `events` as its buffer. Called before the first read, after
     * `crowd`; NULL = not supported. */
    uint32_t (*lend)(struct ttr_reader *reader, ttr_event *events);
    /* Allows it to read its inputs one after another instead of in time order. Returns false if it
     * cannot. Called before the first read; NULL = cannot. */
    bool (*allow_stream_order)(struct ttr_reader *reader);
    /* Returns a bit set of the kinds of events it may return, as far as known before the first
     * read. NULL = any. */
    uint32_t (*kinds)(struct ttr_reader *reader);
    /* Makes it queue names of threads and processes in `renames`, with this lane, until the merging
     * reader applies them. Called before the first read; NULL = names apply after the batch that
     * precedes them. */
    void (*renames)(struct ttr_reader *reader, struct pending_names *renames, uint32_t lane);
    /* Implements reader_read_until. With some NULL: returns TTR_OK if supported. NULL = not
     * supported. */
    ttr_status (*some)(struct ttr_reader *reader, struct reader_partial_read *some,
                       ttr_error *error);
    /* Assigns consecutive ranks from *next on to its inputs, in the order that breaks ties of time.
     * NULL = has no inputs with a source. */
    void (*rank)(struct ttr_reader *reader, uint32_t *next);
    bool (*report)(struct ttr_reader *reader, size_t index, ttr_report *report);
    /* Returns the input of the report `index`; NULL past the last. NULL: it has no inputs. */
    struct input *(*input)(struct ttr_reader *reader, size_t index);
    /* Returns the diagnostics about the whole trace. NULL = none. */
    struct diagnostics *(*notes)(struct ttr_reader *reader);
};

struct ttr_reader {
    ttr *t;
    const struct reader_ops *ops;
    ttr_order order;
    /* Format whose definitions and raw records remain valid when readers are merged, because its
     * writer keeps the sources separate (a trace of many files). NULL = a merge drops both. */
    const struct format *apart;
    uint32_t reports; /* number of reports; 0 = unknown: call `report` until it returns false */
    bool has_begun;   /* something was read */
    ttr_status stuck; /* TTR_OK, or the status that every later read returns */
    ttr_error stuck_error;
};

/* Restricts a reader and the readers it wraps to [from_ns, to_ns). No effect after the first read.
 */
void reader_set_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns);

/* Returns true if an event is in a range: a span if any part of it is, an instant or empty span if
 * its time is. */
static inline bool event_is_in_range(const ttr_event *event, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == INT64_MIN && to_ns == INT64_MAX)
        return true;
    if (event->time >= to_ns && to_ns != INT64_MAX)
        return false;
    return event->time >= from_ns || (event->kind == TTR_KIND_SPAN &&
                                      event->duration > (uint64_t)from_ns - (uint64_t)event->time);
}

/* Allows a reader and the readers it wraps to read inputs one after another. Returns false if that
 * is not possible. */
bool reader_allow_stream_order(ttr_reader *reader);

/* Calls reader_ops.kinds. */
uint32_t reader_kinds(ttr_reader *reader);

/* Frees the buffers of the inputs of a reader that has ended; its reports stay valid. */
void reader_free_buffers(ttr_reader *reader);

/* Limits the batch size of a reader and the readers it wraps. No effect after the first read. */
void reader_set_batch_size(ttr_reader *reader, uint32_t batch);

/* Supplies a buffer for batches that outlives the reader; see reader_ops.lend. */
uint32_t reader_set_buffer(ttr_reader *reader, ttr_event *events);

/* Calls reader_ops.rank; the ranks are stored in the context's sources. */
void reader_assign_ranks(ttr_reader *reader, uint32_t *next);

/* Calls reader_ops.renames. `renames` must outlive the reader. */
void reader_set_pending_names(ttr_reader *reader, struct pending_names *renames, uint32_t lane);

/* Returns true if reader_read_until is supported. The reader must then be read in no other way. */
bool reader_can_read_until(ttr_reader *reader);

/* Reads the events before a time. Returns TTR_OK even without events. */
TTR_MUST ttr_status reader_read_until(ttr_reader *reader, struct reader_partial_read *some,
                                      ttr_error *error);

/* Calls reader_ops.input. */
struct input *reader_input(ttr_reader *reader, size_t index);

/* Calls reader_ops.notes; may return NULL. */
struct diagnostics *reader_diagnostics(ttr_reader *reader);

#endif
