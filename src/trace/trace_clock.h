/* The clock of a session: the time stamp counter, or CLOCK_MONOTONIC. Used by the recorded process
 * and by the manager, which run on one machine and choose the same clock. */
#ifndef TRACETTA_TRACE_TRACE_CLOCK_H
#define TRACETTA_TRACE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the ticks of the clock that trace_clock_start chose. */
uint64_t trace_clock_now(void);

/* Returns true if ticks are of the time stamp counter. */
bool trace_clock_is_tsc(void);

/* Chooses the clock. The manager and the process choose the same. */
void trace_clock_choose(void);

/* Chooses the clock, and returns the ticks per second. Measures for about 5 ms if that is not known
 * yet. */
uint64_t trace_clock_start(void);

/* Returns the ticks per second measured since trace_clock_start; more exact the later. */
uint64_t trace_clock_frequency(void);

#endif
