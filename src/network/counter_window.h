/* Lost, late and duplicate events of one stream while they arrive: a sliding window over the
 * stream's 32-bit counters. Memory is constant, at most COUNTER_WINDOW / 8 bytes per stream. */
#ifndef TRACETTA_NETWORK_COUNTER_WINDOW_H
#define TRACETTA_NETWORK_COUNTER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* An event that arrives up to this many counters late still closes its gap. */
#define COUNTER_WINDOW 65536u

enum counter_result { COUNTER_NEW, COUNTER_LATE, COUNTER_DUPLICATE, COUNTER_RESTART };

struct counter_window {
    uint32_t next;   /* counter that is expected next */
    uint32_t first;  /* lowest counter of the stream so far */
    bool is_started; /* at least one counter was added */
    bool has_stale;  /* `stale` is valid */
    uint32_t stale;  /* last counter that arrived before the window */
    uint32_t any;    /* bitwise OR of all counters; 0 = the sender does not number events */
    uint64_t *seen;  /* bit set of the last COUNTER_WINDOW counters; NULL = all were seen */
    uint64_t lost;   /* missing counters between the first and `next` */
    uint64_t before; /* counters before `first`, also of earlier runs of the stream */
    uint64_t late, duplicates, restarts;
};

/* Adds the counter of an event. Returns COUNTER_NEW without a window if memory runs out. */
enum counter_result counter_window_add(struct counter_window *window, const struct alloc *alloc,
                                       uint32_t counter);

void counter_window_free(struct counter_window *window, const struct alloc *alloc);

#endif
