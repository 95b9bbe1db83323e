/* Pending names: names of threads and processes that an input has read before their time in the
 * merged order.
 *
 * A merge reads several inputs of one trace in parallel, so each input is read some time ahead of
 * the merged output. A name from one input applies to the events of all inputs from its time on, so
 * it waits in this queue. The merging reader owns the queue and passes it to its inputs
 * (reader_set_pending_names). Before each batch it asks how many events of the batch precede the
 * next name. Without names this costs one comparison per batch.
 *
 * Order: by time, then by `merge_position` (position of the input in the merge), then by arrival.
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_MODEL_PENDING_NAMES_H
#define TRACETTA_MODEL_PENDING_NAMES_H

#include <tracetta/event.h>

#include "base/alloc.h"

/* A name change of a thread or process. */
struct rename {
    ttr_id thread;
    bool is_of_process; /* true: the name is that of the thread's process */
    ttr_id name;        /* new name as a string id, used if `like` is 0; 0 = none */
    /* thread that has the new name when the change applies; no change if it then has no name. 0 =
     * use `name` */
    ttr_id like;
};

struct pending_name {
    int64_t time;
    uint64_t arrival; /* arrival number, unique in the queue */
    uint32_t merge_position;
    struct rename what;
};

struct pending_names {
    ttr *t;
    struct pending_name *waiting; /* binary min-heap by time, merge_position, arrival */
    size_t n, room;
    uint64_t arrival;
};

void pending_names_init(struct pending_names *renames, ttr *t);
void pending_names_free(struct pending_names *renames);

/* Queues a name until its time. Returns false if memory runs out. */
TTR_MUST bool pending_names_add(struct pending_names *renames, const struct rename *what,
                                int64_t time, uint32_t merge_position);

/* Sets the new name of a thread or process at once. */
void name_change_apply(ttr *t, const struct rename *what);

/* Applies all queued name changes, in order. */
void pending_names_apply_all(struct pending_names *renames);

/* Applies the name changes that precede the first event of the batch. Returns how many events
 * precede the next change. */
uint32_t pending_names_apply(struct pending_names *renames, const ttr_batch *batch);

/* Shortens a batch to the events before the next name change, but not to less than one. *rest: the
 * other events, for the caller's next read. */
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
