/* A stage that adds fields to events, as if the trace had them.
 *
 * The stage owns the reader that it wraps, and `own`.  Added fields and their texts are borrowed by
 * the events of a batch until the next read.  A chain of readers may have at most one such stage.
 */
#ifndef TRACETTA_PIPELINE_FIELD_INJECTOR_H
#define TRACETTA_PIPELINE_FIELD_INJECTOR_H

#include <tracetta/tracetta.h>

#define ANNOTATE_FAILED SIZE_MAX

struct annotate_how {
    /* Returns the fields to add to an event: all of one group, members directly after their struct.
     * Called for each event in order.  0 = none, ANNOTATE_FAILED = memory is exhausted. */
    size_t (*add)(void *own, const ttr_event *event, const ttr_field **fields);
    /* The fields returned so far are no longer used; called between batches. */
    void (*refresh)(void *own);
    void (*close)(void *own);
    void *own;
};

/* Returns a reader that inserts the fields after the last one of their group.  Events lose
 * TTR_EVENT_RAW, and definitions are omitted.  Owns `in` and `how` from the call on, even if it
 * fails. */
ttr_reader *annotate_new(ttr_reader *in, const struct annotate_how *how, ttr_error *error);

#endif
