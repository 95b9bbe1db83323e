/* Field injector: a stage that adds fields to events, as if the trace had recorded them. The stage
 * owns the reader that it wraps, and `ctx`. Events borrow added fields and their texts until the
 * next read. A chain of readers may have at most one such stage. */
#ifndef TRACETTA_PIPELINE_FIELD_INJECTOR_H
#define TRACETTA_PIPELINE_FIELD_INJECTOR_H

#include <tracetta/tracetta.h>

#define FIELD_INJECTOR_FAILED SIZE_MAX

struct field_injector_options {
    /* Returns the number of fields to add to an event, 0 = none, and sets *fields. A struct
     * precedes its members; all fields are in one group. Called for each event in order. Returns
     * FIELD_INJECTOR_FAILED if memory ran out. */
    size_t (*add)(void *ctx, const ttr_event *event, const ttr_field **fields);
    /* Called between batches, when no event refers to the fields returned so far. */
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
