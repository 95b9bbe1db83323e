/* Call stacks and symbols as data that any format can store (ttr_stack_fields).
 *
 *   stack_fields.c   the reader: events with stacks get array fields
 *   stack_symbols.c  object events with the functions and mapped files of the stacks */
#ifndef TRACETTA_PIPELINE_STACKS_H
#define TRACETTA_PIPELINE_STACKS_H

#include <tracetta/tracetta.h>

#include "base/key_map.h"
#include "base/pair_map.h"

#define OBJECT_FIELDS_MAX 3u

/* Fields of an object event. */
struct object_fields {
    ttr_field field[OBJECT_FIELDS_MAX];
    uint32_t n;
};

/* The object events to emit before an event, and what was emitted before. */
struct stack_symbols {
    ttr *t;
    const struct alloc *alloc;
    ttr_event *event;             /* object events that are not emitted yet */
    struct object_fields *fields; /* fields[i] are the fields of event[i] */
    size_t n, events_capacity, fields_capacity;
    ttr_id schema;           /* schema of object events; 0 = not created yet */
    ttr_id name_of_function; /* the string "function" */
    struct key_map stacks;   /* hashes of the stacks with emitted symbols */
    /* (address, process) to the name of the function that was emitted for it; 0 = none is known */
    struct pair_map functions;
    struct pair_map mappings; /* (start of a mapping, process) to its module */
    struct pair_map modules;  /* (module, process) */
};

void stack_symbols_init(struct stack_symbols *symbols, ttr *t);
void stack_symbols_free(struct stack_symbols *symbols);

/* Adds object events for the symbols of an event's stack that were not emitted yet. Returns false
 * if memory runs out. */
TTR_MUST bool stack_symbols_add(struct stack_symbols *symbols, const ttr_event *event,
                                const uint64_t *addresses, uint32_t n);

/* Returns the object events to emit, at most a batch of them from `first` on. */
ttr_batch stack_symbols_batch(const struct stack_symbols *symbols, size_t first);

#endif
