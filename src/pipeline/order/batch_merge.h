/* Merging many inputs in rounds: all events before a time are read, input after input, and put in
 * order at once.
 *
 * Where hundreds of inputs have the next event in turn, going to one of them for each event costs
 * more than the event: what it needs has left the nearer caches.  So every input is gone to once in
 * a round, for as many events as are before the round's end, and the order of the round's events is
 * that of numbers.  It is the order in which a merge gives them: by time, then by input; an event
 * before the one that it follows in its input comes right behind that.
 *
 * A round ends as early as an input demands that cannot give all that is before the end (its window
 * or the room is full): what is behind that is kept for the next round, and inputs that have such
 * events are not read before these were given.
 *
 * Where inputs are many, of one in its usual case only a slim is kept of each event
 * (model/reader.h), half of a view, with the bytes of small ones: so that a round has room in the
 * nearer caches, and nothing is looked for in hundreds of pages.  Views are made of them batch by
 * batch, when they are given. Ownership: the readers are the caller's.  Thread rule: one thread at
 * a time. */
#ifndef TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H
#define TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H

#include "model/reader.h"

/* Fewer inputs are merged by going to them in turn. */
#define ROUNDS_LEAST 5u

/* Inputs with slims: with fewer a round of views has room in the nearer caches. */
#define ROUNDS_SLIMS_LEAST 200u

struct order_key;
struct rounds_lane;

struct rounds {
    const struct alloc *alloc;
    ttr_reader *const *in;
    size_t n;
    ttr_event *events;        /* room for `capacity` of them */
    struct reader_slim *slim; /* the same for those of runs; what is at a place here is none where
                                 it is in `events` */
    void *slim_memory; /* where these are, at whole lines of the cache; `slims_most` of them */
    size_t slims_most;
    size_t capacity;
    struct rounds_lane *lane;
    union reader_place
        *run; /* of lanes, at whole lines of the cache; in `run_memory`, which has one more */
    void *run_memory;
    ttr_event *out; /* views of a batch, `room` of them; NULL before the first */
    uint32_t *pick; /* the same, where no views are made */
    uint32_t room;
    uint32_t *placed; /* lanes that have events, in the order in which these lie in `events` */
    size_t placed_n, used;
    uint64_t *keys, *spare; /* of events: rank since `begin`, place in `events` */
    uint32_t
        *place; /* for sorting: of events by the lower digit of their keys, then by the upper one */
    struct order_key *wide, *wide_spare; /* for sorting where places do not rise with lanes */
    size_t keys_n, given;
    size_t slims_n;            /* of the round's events */
    bool has_slims;            /* inputs are many; else runs give views */
    size_t reading;            /* the lane to be read next in the round; n = all were */
    uint64_t begin, until;     /* ranks: of the round */
    uint64_t most;             /* the highest rank in the round; of events, then of those given */
    bool is_cut, is_shortened; /* the round is shorter than its span: from its begin; since an input
                                  gave less */
    uint64_t span;             /* how long rounds are */
    uint64_t surplus;          /* events that lanes may have beyond the least of each */
    bool is_over;
    ttr_status ending; /* of the first input that failed */
    ttr_error ending_error;
};

/* Whether inputs can be merged so; not before reading begins. */
bool rounds_can(ttr_reader *const *in, size_t n);

/* For `n` inputs, borrowed, with slims or without, and batches of up to `room` events; false when
 * memory is out (rounds_free is fine then, too). */
TTR_MUST bool rounds_init(struct rounds *rounds, const struct alloc *alloc, ttr_reader *const *in,
                          size_t n, uint32_t room, bool has_slims);
void rounds_free(struct rounds *rounds);

/* Gives the next events: none at the end, then rounds->ending says how it ended.  Valid until the
 * next call.  TTR_AGAIN where an input has nothing for now. */
TTR_MUST ttr_status rounds_next(struct rounds *rounds, ttr_batch *batch);

#endif
