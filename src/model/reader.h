/* What every ttr_reader is, whether it decodes a file or wraps others. */
#ifndef TRACETTA_MODEL_READER_H
#define TRACETTA_MODEL_READER_H

#include <tracetta/read.h>

#include "base/alloc.h"

struct format;
struct input;
struct diagnostics;
struct pending_names;

/* A read of the events before a time, for a merge of many inputs (reader_read_until). */
struct reader_partial_read {
    int64_t until;     /* no event at this time or later is wanted, though some may come */
    ttr_event *events; /* where to put them; valid until the next read */
    uint32_t room;     /* at least INPUT_BATCH_MIN */
    uint32_t n;        /* out: how many there are; may be 0 */
    bool is_stopped;   /* out: the next event is at `next`, which is not before `until`; else there
                          may be more before that */
    int64_t next;
};

#define READER_ANY_KIND UINT32_MAX

struct reader_ops {
    ttr_status (*next)(struct ttr_reader *reader, ttr_batch *batch, ttr_error *error);
    void (*close)(struct ttr_reader *reader); /* frees the reader itself too */
    /* Events outside [from_ns, to_ns) are not needed: the reader may leave out those it need not
     * even look at.  Called before the first read; NULL = gives all the same. */
    void (*range)(struct ttr_reader *reader, int64_t from_ns, int64_t to_ns);
    /* Many readers are read at once: batches of this many events will do, so that memory stays
     * bounded.  Called before the first read; NULL = batches stay as they are. */
    void (*set_batch_size)(struct ttr_reader *reader, uint32_t batch);
    /* With NULL: how many events it keeps its batches in, 0 = it cannot be told where.  Else: keeps
     * them there from now on.  Called before the first read and behind `crowd`; NULL = 0. */
    uint32_t (*lend)(struct ttr_reader *reader, ttr_event *events);
    /* Events of different inputs need not come by time: gives all of one, then all of the next,
     * where it knows them apart; false where it does not.  Called before the first read; NULL = it
     * does not. */
    bool (*allow_stream_order)(struct ttr_reader *reader);
    /* The kinds of events that it may give, as bits, as far as that is known before the first read;
     * NULL = any. */
    uint32_t (*kinds)(struct ttr_reader *reader);
    /* Names that it tells of threads are to wait there, as those of this lane, until whoever puts
     * its events in order applies them.  Called before the first read; NULL = they hold from the
     * batch on behind which they were told. */
    void (*renames)(struct ttr_reader *reader, struct pending_names *renames, uint32_t lane);
    /* For reader_read_until.  With NULL: TTR_OK where it can.  NULL = it cannot. */
    ttr_status (*some)(struct ttr_reader *reader, struct reader_partial_read *some,
                       ttr_error *error);
    /* Gives its inputs their ranks from *next on, in the order of what is at one time; NULL: it has
     * none that are known by their source. */
    void (*rank)(struct ttr_reader *reader, uint32_t *next);
    bool (*report)(struct ttr_reader *reader, size_t index, ttr_report *report);
    /* The input that the index-th report is of; NULL past the end.  NULL: those have none. */
    struct input *(*input)(struct ttr_reader *reader, size_t index);
    /* Where remarks about the whole trace are kept; NULL = nowhere. */
    struct diagnostics *(*notes)(struct ttr_reader *reader);
};

struct ttr_reader {
    ttr *t;
    const struct reader_ops *ops;
    ttr_order order;
    /* The format whose definitions and raw records stay what they are when readers are merged,
     * because its writer tells the sources apart (a trace of many files); NULL = a merge gives
     * neither. */
    const struct format *apart;
    uint32_t
        reports;    /* how many `report` gives; 0 = unknown: ask until it says there are no more */
    bool has_begun; /* something was read */
    ttr_status stuck; /* TTR_OK, or what every later read gives */
    ttr_error stuck_error;
};

/* Tells a reader, and those it wraps, that nothing outside of [from_ns, to_ns) is needed; without
 * effect once it was read. */
void reader_set_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns);

/* Whether an event counts in such a range: a span when any of it lies there, an instant (or a span
 * of no length) when its time does. */
static inline bool event_is_in_range(const ttr_event *event, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == INT64_MIN && to_ns == INT64_MAX)
        return true;
    if (event->time >= to_ns && to_ns != INT64_MAX)
        return false;
    return event->time >= from_ns || (event->kind == TTR_KIND_SPAN &&
                                      event->duration > (uint64_t)from_ns - (uint64_t)event->time);
}

/* Tells a reader, and those it wraps, that its inputs may come one after another; false where they
 * will not, or it was read. */
bool reader_allow_stream_order(ttr_reader *reader);

/* See reader_ops.kinds. */
uint32_t reader_kinds(ttr_reader *reader);

/* Frees what a reader that has ended has at hand of its inputs; its reports stay. */
void reader_free_buffers(ttr_reader *reader);

/* Tells a reader, and those it wraps, that batches of so many events will do; without effect once
 * it was read. */
void reader_set_batch_size(ttr_reader *reader, uint32_t batch);

/* Lends a reader room for its batches, until it is closed: see reader_ops.lend. */
uint32_t reader_set_buffer(ttr_reader *reader, ttr_event *events);

/* See reader_ops.rank: of each source, in its entry of the context. */
void reader_assign_ranks(ttr_reader *reader, uint32_t *next);

/* See reader_ops.renames; they must outlive the reader. */
void reader_set_pending_names(ttr_reader *reader, struct pending_names *renames, uint32_t lane);

/* Whether a reader can be read up to a time; then it is read in no other way. */
bool reader_can_read_until(ttr_reader *reader);

/* As ttr_read, of the events before a time.  TTR_OK also without any. */
TTR_MUST ttr_status reader_read_until(ttr_reader *reader, struct reader_partial_read *some,
                                      ttr_error *error);

/* See reader_ops.input. */
struct input *reader_input(ttr_reader *reader, size_t index);

/* See reader_ops.notes; may be NULL. */
struct diagnostics *reader_diagnostics(ttr_reader *reader);

#endif
