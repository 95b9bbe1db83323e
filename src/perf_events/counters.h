/* Events that the kernel has without tracefs: those of its own software, and those of processors.
 */
#ifndef TRACETTA_PERF_EVENTS_COUNTERS_H
#define TRACETTA_PERF_EVENTS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter {
    const char *name, *other; /* as perf list names it, and its short name or NULL */
    uint32_t type;            /* perf_event_attr.type */
    uint64_t config;
    bool is_clock; /* counts time or work: sampled so many times a second, not each time */
};

/* The i-th one, NULL past the end. */
const struct counter *counter_at(size_t i);

#endif
