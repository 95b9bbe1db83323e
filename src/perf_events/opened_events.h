/* The perf events of a recording, opened by perf_event_open: one descriptor per event, thread and
 * CPU. All events of a CPU share one ring.
 *
 * Event 0 is a software "dummy" event that never fires. It carries the COMM, MMAP2, FORK and EXIT
 * records. In snapshot mode the dummy has a forward ring per CPU and the other events share an
 * overwritten one, so process records are never overwritten. Ownership: opened_events_free closes
 * everything. */
#ifndef TRACETTA_PERF_EVENTS_OPENED_EVENTS_H
#define TRACETTA_PERF_EVENTS_OPENED_EVENTS_H

#include "perf_events/event_set.h"
#include "perf_events/ring.h"

/* Descriptor of one event on one thread and CPU. */
struct opened_descriptor {
    uint64_t id;
    int fd;
};

/* All descriptors of one event. */
struct opened_event {
    struct perf_event_attr attr;
    const char *system, *name; /* names from the event set, borrowed; "" and "dummy" for event 0 */
    struct opened_descriptor *list;
    size_t n, capacity;
};

struct opened_events {
    const struct alloc *alloc;
    struct opened_event *events; /* [0] is the dummy event */
    size_t events_n;
    struct ring *rings;
    size_t rings_n, rings_capacity;
    size_t rings_bytes;
    bool is_user_only; /* the kernel refused samples of kernel mode, so they are not recorded */
    bool counts_lost;  /* read() of an event also returns its number of lost records (Linux 6.0) */
};

/* Opens all events and rings of a request. Returns false on failure; the caller must call
 * opened_events_free in either case. */
TTR_MUST bool opened_events_open(struct opened_events *opened_events, const ttr_perf_config *wish,
                                 ttr_error *error);
void opened_events_free(struct opened_events *opened_events);

/* Enables all events if `is_on`, else disables them. */
void opened_events_enable(const struct opened_events *opened_events, bool is_on);

/* Returns the number of lost records according to the counters of the events; 0 before Linux
 * 6.0. */
uint64_t opened_events_lost_count(const struct opened_events *opened_events);

#endif
