/* Software and hardware events of the kernel, which need no tracefs. */
#ifndef TRACETTA_PERF_EVENTS_COUNTERS_H
#define TRACETTA_PERF_EVENTS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter {
    const char *name, *alias; /* name and alias as in `perf list`; the alias may be NULL */
    uint32_t type;            /* perf_event_attr.type */
    uint64_t config;
    /* the counter measures time or work, so it is sampled at a frequency, not at each occurrence */
    bool is_clock;
};

/* Returns the i-th entry, NULL at the end. */
const struct counter *get_perf_counter(size_t i);

#endif
