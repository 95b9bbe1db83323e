/* A stage that adds fields to events, as if the trace had them.
 *
 * The stage owns the reader that it wraps, and `ctx`.  Added fields and their texts are borrowed by
 * the events of a batch until the next read.  A chain of readers may have at most one such stage.
 */
#ifndef TRACETTA_PIPELINE_FIELD_INJECTOR_H
#define TRACETTA_PIPELINE_FIELD_INJECTOR_H

#include <tracetta/tracetta.h>

#define FIELD_INJECTOR_FAILED SIZE_MAX

struct field_injector_options {
    /* Returns the fields to add to an event. They must be of one group, members directly after
     * their struct. Called for each event in order. 0 = none, FIELD_INJECTOR_FAILED = memory ran
     * out. */
    size_t (*add)(void *ctx, const ttr_event *event, const ttr_field **fields);
    /* Called between batches: the fields returned so far are no longer used. */
    void (*refresh)(void *ctx);
    void (*close)(void *ctx);
    void *ctx;
};

/* Returns a reader that adds fields to the events of `in`, after the last field of their group.
 * Events lose TTR_EVENT_RAW, and definitions are omitted. Owns `in` and `options` from the call on,
 * even if it fails. */
ttr_reader *field_injector_new(ttr_reader *in, const struct field_injector_options *how,
                               ttr_error *error);

#endif
