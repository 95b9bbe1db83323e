/* What every ttr_reader is, whether it decodes a file or wraps others. */
#ifndef TRACETTA_MODEL_READER_H
#define TRACETTA_MODEL_READER_H

#include <tracetta/read.h>

#include "base/alloc.h"

struct format;
struct input;
struct notes;
struct reader_run;
struct renames;

/* A read of the events before a time, for who reads many inputs in turn (reader_read_some). */
struct reader_some {
    int64_t until;     /* no event at this time or later is wanted, though some may come */
    ttr_event *events; /* where to put them; valid until the next read */
    uint32_t room;     /* at least INPUT_BATCH_LEAST */
    uint32_t
        n; /* in: how many the run found there just before; out: how many there are; may be 0 */
    struct reader_run *run; /* room for one, zeroed before the first read and kept as long as the
                               reader; NULL = none */
    bool is_stopped; /* out: the next event is at `next`, which is not before `until`; else there
                        may be more before that */
    int64_t next;
};

/* All that a reader needs to go on in the usual case, in READER_RUN bytes: who reads hundreds of
 * inputs in turn keeps these side by side, where one visit looks at two lines of the cache instead
 * of twenty.  The reader fills it in when it was read and the usual case goes on.  A run gives
 * views, or only finds events; then views are made when these are given, all that is needed for one
 * being where it was until the run or the reader goes on. */
#define READER_RUN 128u

/* An event that a run found, in a line of the cache.  Its bytes are at hand when it is found; when
 * its turn comes they lie in one of hundreds of pages, more than the processor knows the places of.
 * So those of a small one are taken along. */
#define READER_SLIM_BYTES 40u

struct reader_slim {
    const uint8_t *
        payload; /* where the run has it; NULL: this is none, and all else of it is 0 but `bytes` */
    void *own;   /* what the run knows the event's class by */
    uint32_t size;
    uint16_t lane;                    /* the run's number */
    uint16_t body;                    /* the run's, too */
    uint8_t bytes[READER_SLIM_BYTES]; /* of the payload, all where it has no more */
};

_Static_assert(sizeof(struct reader_slim) == 64, "a line of the cache");

/* Its key: its time since the begin of what is merged at once, above the place of its slim. */
#define READER_PLACE_BITS 20u
#define READER_PLACE ((UINT64_C(1) << READER_PLACE_BITS) - 1)

/* What a run is asked for. */
struct reader_hunt {
    int64_t since, until;     /* events before or behind are not for the run */
    struct reader_slim *slim; /* where to put events, and their keys: time << READER_PLACE_BITS plus
                                 `key_base`, which grows by one each */
    uint64_t *key, key_base;
    uint32_t room;   /* at least 1 */
    uint16_t lane;   /* of the run */
    uint32_t n;      /* out */
    bool is_stopped; /* out: see reader_some */
    int64_t next;
};

struct reader_run;

/* Slims of runs of one kind, of which views are wanted. */
struct reader_slims {
    union reader_place *runs; /* by lane */
    const struct reader_slim *slim;
    uint64_t origin; /* what the time in a key is to be added to */
    bool are_kept;   /* longer than the slims: payloads are to be where the runs have them */
    const uint64_t *keys_end; /* of keys that are there: views of those behind the ones asked for
                                 are wanted next */
};

struct reader_run_ops {
    /* Gives events as reader_read_some does; false where something else is to be done, which that
     * does, maybe behind some events. */
    bool (*go)(struct reader_run *run, struct reader_some *some);
    /* Only finds them, all up to the time or as many as there is room for; false where that cannot
     * be: then nothing was taken, and reader_read_some goes on from where the run was. */
    bool (*hunt)(struct reader_run *run, struct reader_hunt *hunt);
    /* Makes views of the events with these keys, up to the first that is none: how many. */
    uint32_t (*view)(const struct reader_slims *slims, const uint64_t *key, uint32_t n,
                     ttr_event *to);
};

struct reader_run {
    const struct reader_run_ops *ops; /* NULL: reader_read_some is to be called at once */
    const uint8_t *next;              /* with `ops`: the bytes that it looks at next */
};

union reader_place {
    struct reader_run run;
    uint8_t bytes[READER_RUN];
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
    void (*crowd)(struct ttr_reader *reader, uint32_t batch);
    /* With NULL: how many events it keeps its batches in, 0 = it cannot be told where.  Else: keeps
     * them there from now on.  Called before the first read and behind `crowd`; NULL = 0. */
    uint32_t (*lend)(struct ttr_reader *reader, ttr_event *events);
    /* Events of different inputs need not come by time: gives all of one, then all of the next,
     * where it knows them apart; false where it does not.  Called before the first read; NULL = it
     * does not. */
    bool (*scatter)(struct ttr_reader *reader);
    /* The kinds of events that it may give, as bits, as far as that is known before the first read;
     * NULL = any. */
    uint32_t (*kinds)(struct ttr_reader *reader);
    /* Names that it tells of threads are to wait there, as those of this lane, until whoever puts
     * its events in order applies them.  Called before the first read; NULL = they hold from the
     * batch on behind which they were told. */
    void (*renames)(struct ttr_reader *reader, struct renames *renames, uint32_t lane);
    /* For reader_read_some.  With NULL: TTR_OK where it can.  NULL = it cannot. */
    ttr_status (*some)(struct ttr_reader *reader, struct reader_some *some, ttr_error *error);
    /* Gives its inputs their ranks from *next on, in the order of what is at one time; NULL: it has
     * none that are known by their source. */
    void (*rank)(struct ttr_reader *reader, uint32_t *next);
    bool (*report)(struct ttr_reader *reader, size_t index, ttr_report *report);
    /* The input that the index-th report is of; NULL past the end.  NULL: those have none. */
    struct input *(*input)(struct ttr_reader *reader, size_t index);
    /* Where remarks about the whole trace are kept; NULL = nowhere. */
    struct notes *(*notes)(struct ttr_reader *reader);
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
void reader_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns);

/* Whether an event counts in such a range: a span when any of it lies there, an instant (or a span
 * of no length) when its time does. */
static inline bool is_in_range(const ttr_event *event, int64_t from_ns, int64_t to_ns)
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
bool reader_scatter(ttr_reader *reader);

/* See reader_ops.kinds. */
uint32_t reader_kinds(ttr_reader *reader);

/* Frees what a reader that has ended has at hand of its inputs; its reports stay. */
void reader_rest(ttr_reader *reader);

/* Tells a reader, and those it wraps, that batches of so many events will do; without effect once
 * it was read. */
void reader_crowd(ttr_reader *reader, uint32_t batch);

/* Lends a reader room for its batches, until it is closed: see reader_ops.lend. */
uint32_t reader_lend(ttr_reader *reader, ttr_event *events);

/* See reader_ops.rank: of each source, in its entry of the context. */
void reader_rank(ttr_reader *reader, uint32_t *next);

/* See reader_ops.renames; they must outlive the reader. */
void reader_renames(ttr_reader *reader, struct renames *renames, uint32_t lane);

/* Whether a reader can be read up to a time; then it is read in no other way. */
bool reader_can_read_some(ttr_reader *reader);

/* As ttr_read, of the events before a time.  TTR_OK also without any. */
TTR_MUST ttr_status reader_read_some(ttr_reader *reader, struct reader_some *some,
                                     ttr_error *error);

/* See reader_ops.input. */
struct input *reader_input(ttr_reader *reader, size_t index);

/* See reader_ops.notes; may be NULL. */
struct notes *reader_notes(ttr_reader *reader);

#endif
