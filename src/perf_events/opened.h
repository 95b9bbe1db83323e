/* Events opened with perf_event_open: of each thread and processor one, those of a processor
 * writing into one ring.
 *
 * Beside what was asked for there is one that never happens (dummy), whose records tell of
 * processes and mapped files.  In a snapshot it has rings of its own, which are not overwritten.
 * Ownership: opened_free closes everything. */
#ifndef TRACETTA_PERF_EVENTS_OPENED_H
#define TRACETTA_PERF_EVENTS_OPENED_H

#include "perf_events/chosen.h"
#include "perf_events/ring.h"

/* An event of one thread and processor. */
struct opened_one {
    uint64_t id;
    int fd;
};

/* All of one event. */
struct opened_event {
    struct perf_event_attr attr;
    const char *system, *name; /* borrowed from the set; "" and "dummy" for the first */
    struct opened_one *list;
    size_t n, capacity;
};

struct opened {
    const struct alloc *alloc;
    struct opened_event *events; /* [0] is the dummy */
    size_t events_n;
    struct ring *rings;
    size_t rings_n, rings_capacity;
    size_t rings_bytes;
    bool is_user_only; /* kernel time had to be left out */
    bool counts_lost;  /* the kernel tells of each event how many were lost */
};

/* Opens what a wish asks for; false with `error`, and opened_free is due in any case. */
TTR_MUST bool opened_open(struct opened *opened, const ttr_perf_wish *wish, ttr_error *error);
void opened_free(struct opened *opened);

/* Lets all events happen, or not any more. */
void opened_enable(const struct opened *opened, bool is_on);

/* How many events were lost, as the events themselves say; 0 where they do not. */
uint64_t opened_lost(const struct opened *opened);

#endif
