/* The set of events to record: implementation of ttr_perf_events. */
#ifndef TRACETTA_PERF_EVENTS_EVENT_SET_H
#define TRACETTA_PERF_EVENTS_EVENT_SET_H

#include <tracetta/collect.h>

#include "base/arena.h"
#include "perf_events/tracing_files.h"

struct ttr_perf_events {
    struct arena texts;
    struct tracing_files tracefs;
    bool has_tracefs;
    int tracefs_reason; /* if !has_tracefs: errno of the search for tracefs */
    ttr_perf_event *list;
    size_t n, capacity;
};

#endif
