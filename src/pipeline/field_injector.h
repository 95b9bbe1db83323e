/* Adding fields to events, as if their trace had them.
 *
 * Ownership: the stage owns what it wraps; `ctx` is closed with it.  Added fields and their texts
 * are borrowed by the events of a batch until the next read.  At most one such stage may stand in a
 * chain of readers. */
#ifndef TRACETTA_PIPELINE_FIELD_INJECTOR_H
#define TRACETTA_PIPELINE_FIELD_INJECTOR_H

#include <tracetta/read.h>

#define ANNOTATE_FAILED SIZE_MAX

struct annotate_how {
    /* Gives what to add to an event, asked for each in the order of the reader: how many fields,
     * all of one group, what is in a struct behind it; 0 = nothing, ANNOTATE_FAILED = memory is
     * out. */
    size_t (*add)(void *ctx, const ttr_event *event, const ttr_field **fields);
    /* What was given before is used no more. */
    void (*refresh)(void *ctx);
    void (*close)(void *ctx);
    void *ctx;
};

/* Puts the fields behind the last of their group.  Events are not raw then, and definitions are
 * left out.  Takes `in` and `how` over, also when it fails (then NULL and `error`). */
ttr_reader *annotate_new(ttr_reader *in, const struct annotate_how *how, ttr_error *error);

#endif
