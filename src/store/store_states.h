/* State of the builder of sched and thread_state (store_states.c). */
#ifndef TRACETTA_STORE_STORE_STATES_H
#define TRACETTA_STORE_STORE_STATES_H

#include "model/schedule.h"

/* A row of thread_state; a running one is a row of sched too. */
struct raw_state {
    int64_t ts, dur; /* ns; dur: -1 = until the end of the trace; TTR_STORE_NULL = unknown */
    uint32_t thread; /* 0 = a run of no known thread: a row of sched only */
    uint32_t cpu;    /* valid if `state` is running */
    uint32_t waker;
    uint32_t waker_row; /* running row of the waker + 1; 0 = none */
    uint8_t state;      /* enum schedule_state */
    uint8_t end_state;  /* the next state; SCHEDULE_UNKNOWN = unknown, or none */
};

struct store_states {
    struct schedule schedule;
    struct raw_state *rows;
    size_t rows_n, rows_capacity;
    uint32_t *open; /* open row of each thread + 1, by id; 0 = none */
    size_t open_n;
    struct pair_map unnamed; /* CPU to the open row of a run of no known thread + 1 */
};

#endif
