/* A bounded window that puts the events of spans into the order in which spans end, which pairing
 * and nesting need.
 *
 * It holds 65,536 of them without their fields; when it is full, the earlier half goes.  So an
 * event may be 32,768 places late, and a span that was written when it began waits for its end
 * however long it is. */
#ifndef TRACETTA_PIPELINE_ORDER_REORDER_WINDOW_H
#define TRACETTA_PIPELINE_ORDER_REORDER_WINDOW_H

#include <stdbool.h>

#include <tracetta/event.h>

#include "base/alloc.h"
#include "pipeline/order/radix_sort.h"

#define REORDER_ROOM 65536u

/* What is kept of an event. */
struct slim_event {
    int64_t time;
    uint64_t duration, link, offset;
    ttr_id name, category, provider, thread, track;
    uint32_t bytes;    /* of its record */
    uint32_t activity; /* see span_stream.h */
    uint16_t source;
    uint8_t kind, flags;
};

struct reorder {
    const struct alloc *alloc;
    struct slim_event *event;
    struct order_key *key; /* [0, sorted) in order, then those that came since; rank is the end */
    struct order_key *merged, *spare;
    uint32_t *free; /* places in `event` */
    size_t n, sorted, free_n;
    size_t event_room, key_room, merged_room, spare_room, free_room;
};

void reorder_init(struct reorder *window, const struct alloc *alloc);
void reorder_free(struct reorder *window);

/* Adds an event; false when memory is out.  Only while the window is not full. */
TTR_MUST bool reorder_add(struct reorder *window, const struct slim_event *event);

static inline bool reorder_is_full(const struct reorder *window)
{
    return window->n == REORDER_ROOM;
}

/* Sorts, and says how many events may go now: half of them, or all at the end of input. */
size_t reorder_ready(struct reorder *window, bool is_at_end);

/* The i-th in order, below what reorder_ready said. */
static inline const struct slim_event *reorder_at(const struct reorder *window, size_t i)
{
    return &window->event[window->key[i].index];
}

/* Takes the first n out. */
void reorder_drop(struct reorder *window, size_t n);

#endif
