/* The clock of a session: the time stamp counter, or CLOCK_MONOTONIC. Used by the recorded process
 * and by the manager, which run on one machine and choose the same clock. */
#ifndef TRACETTA_TRACE_TRACE_CLOCK_H
#define TRACETTA_TRACE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct trace_clock {
    bool is_tsc;         /* ticks are of the time stamp counter */
    uint64_t ticks;      /* reading when the clock was chosen */
    int64_t ns;          /* CLOCK_MONOTONIC at that moment; 0 = not chosen yet */
    uint64_t unix_ticks; /* a reading soon after that ... */
    int64_t unix_ns;     /* ... and CLOCK_REALTIME at that moment */
};

/* Chooses the clock, at the first call. The manager and the process choose the same. */
void trace_clock_choose(struct trace_clock *clock);

/* Returns the ticks per second, measured since the clock was chosen; more exact the later. Waits
 * until that was 5 ms ago. */
uint64_t trace_clock_frequency(const struct trace_clock *clock);

#endif
