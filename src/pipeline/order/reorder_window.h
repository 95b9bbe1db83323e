/* A bounded buffer that orders the events of spans by the time at which they end or happen, as
 * pairing and nesting require.
 *
 * It holds 65,536 events without fields.  When it is full, the earlier half is returned.  So an
 * event may be up to 32,768 positions late.  A span that was written at its start (TTR_KIND_SPAN)
 * waits until its end, however long it is. */
#ifndef TRACETTA_PIPELINE_ORDER_REORDER_WINDOW_H
#define TRACETTA_PIPELINE_ORDER_REORDER_WINDOW_H

#include <stdbool.h>

#include <tracetta/event.h>

#include "base/alloc.h"
#include "pipeline/order/radix_sort.h"

#define REORDER_ROOM 65536u

/* The attributes of an event that pairing begins and ends needs. */
struct event_ref {
    int64_t time;
    uint64_t duration, link, offset;
    ttr_id name, category, provider, thread, track;
    uint32_t bytes;    /* size in bytes of the event's record in the input */
    uint32_t activity; /* SPAN_PLAIN, SPAN_OF_THREAD or the number of an activity; see
                        * span_stream.h */
    uint16_t source;
    uint8_t kind, flags;
};

struct reorder {
    const struct alloc *alloc;
    struct event_ref *event;
    /* the first `sorted` keys are sorted, the others are in order of arrival; key.rank is the time
     * in ns at which the span ends */
    struct order_key *key;
    struct order_key *merged, *spare;
    uint32_t *free; /* free indices of `event` */
    size_t n, sorted, free_n;
    size_t event_room, key_room, merged_room, spare_room, free_room;
};

void reorder_init(struct reorder *window, const struct alloc *alloc);
void reorder_free(struct reorder *window);

/* Adds an event; the window must not be full.  Returns false if memory is exhausted. */
TTR_MUST bool reorder_add(struct reorder *window, const struct event_ref *event);

static inline bool reorder_is_full(const struct reorder *window)
{
    return window->n == REORDER_ROOM;
}

/* Sorts the window. Returns how many events the caller may remove from its start: half of them, or
 * all if `is_at_end`. */
size_t reorder_count_ready(struct reorder *window, bool is_at_end);

/* Returns the i-th event in sorted order; i is less than the result of reorder_count_ready. */
static inline const struct event_ref *reorder_get_event(const struct reorder *window, size_t i)
{
    return &window->event[window->key[i].index];
}

/* Removes the first n events of the sorted order. */
void reorder_drop_front(struct reorder *window, size_t n);

#endif
