/* Names of threads and processes that inputs tell before their turn has come.
 *
 * Inputs of one trace are read side by side, each some way ahead of what is given in order.  A name
 * told by one of them holds for the events of all, from its time on: until then it waits here.  Who
 * puts the events in order owns this, lends it to the inputs (reader_set_pending_names), and asks
 * before each batch how much of it comes before the next name; without any that costs one
 * comparison a batch. Order: by time, then by lane (the place of the input among those that are put
 * in order), then as told.  Thread rule: one thread at a time. */
#ifndef TRACETTA_MODEL_PENDING_NAMES_H
#define TRACETTA_MODEL_PENDING_NAMES_H

#include <tracetta/event.h>

#include "base/alloc.h"

/* A name, and whose it is. */
struct rename {
    ttr_id thread;
    bool is_of_process; /* of the thread's process, not of itself */
    ttr_id name;        /* 0 = none, where `like` is 0, too */
    ttr_id like; /* the thread whose name it is to be, as this is called then; without effect where
                    that has none */
};

struct pending_name {
    int64_t time;
    uint64_t told; /* how many were told before it */
    uint32_t lane;
    struct rename what;
};

struct pending_names {
    ttr *t;
    struct pending_name *waiting; /* a heap: the first one before all others */
    size_t n, room;
    uint64_t told;
};

void pending_names_init(struct pending_names *renames, ttr *t);
void pending_names_free(struct pending_names *renames);

/* Lets a name wait for its time; false when memory is out. */
TTR_MUST bool pending_names_add(struct pending_names *renames, const struct rename *what,
                                int64_t time, uint32_t lane);

/* Names what a rename says now. */
void name_change_apply(ttr *t, const struct rename *what);

/* Names whatever waits. */
void pending_names_apply_all(struct pending_names *renames);

/* Applies what comes before the first event of a batch; how many events come before the next name.
 */
uint32_t pending_names_apply(struct pending_names *renames, const ttr_batch *batch);

/* Ends a batch of at least one event before the next name; *rest is what is behind it, to be given
 * next. */
static inline void pending_names_split_batch(struct pending_names *renames, ttr_batch *batch,
                                             ttr_batch *rest)
{
    const uint32_t n = renames->n ? pending_names_apply(renames, batch) : batch->n;
    *rest = (ttr_batch){.event = batch->pick ? batch->event : batch->event + n,
                        .pick = batch->pick ? batch->pick + n : NULL,
                        .n = batch->n - n};
    batch->n = n;
}

#endif
