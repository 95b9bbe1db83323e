/* The scheduling state machine: which thread runs on each CPU, and in which state each thread is.
 *
 *   schedule_init, { schedule_apply per event in time order }, schedule_free
 *
 * Input are events of the kinds SWITCH, WAKE and GAP; other kinds change nothing. Each event yields
 * the changes of state that it implies, outgoing threads first:
 *
 *   switch on CPU n, from P to N:
 *     1. F, the thread that ran on n, if it is not P: unknown. Events were lost.
 *     2. P: its state from the tag
 *     3. N: running on n; it no longer runs on any other CPU
 *   wake of a thread that does not run:  runnable
 *   gap: each thread that ran on the gap's CPU, or on all CPUs: unknown
 *
 * Invariants: a thread runs on at most one CPU, a CPU runs at most one thread, and no thread is
 * running in two changes without another state between. Wakes do not change dead threads; a switch
 * does, because the tid was reused.
 *
 * A switch may name an incoming thread of which nothing was recorded, if only some tasks of a
 * machine were recorded. The change to running is then not certain: see schedule_change.is_certain.
 *
 * Memory: 12 bytes per thread and 40 bytes per CPU. Thread rule: that of the context. */
#ifndef TRACETTA_MODEL_SCHEDULE_H
#define TRACETTA_MODEL_SCHEDULE_H

#include <tracetta/event.h>

#include "base/alloc.h"
#include "base/pair_map.h"

enum schedule_state {
    SCHEDULE_UNKNOWN = 0,
    SCHEDULE_RUNNABLE,
    SCHEDULE_PREEMPTED, /* runnable, because another thread displaced it */
    SCHEDULE_RUNNING,
    SCHEDULE_SLEEPING,        /* interruptible wait */
    SCHEDULE_UNINTERRUPTIBLE, /* wait that signals do not end */
    SCHEDULE_STOPPED,
    SCHEDULE_DEAD
};

struct schedule_change {
    ttr_id thread;
    uint8_t state; /* enum schedule_state */
    /* RUNNING: true if the trace cannot have omitted a switch to another thread before this one,
     * since it records all threads of the CPU or has recorded this thread before */
    bool is_certain;
    /* other states: true if the previous switch of the CPU started the run of the thread, so that
     * `ran_ns` is exact */
    bool has_run;
    uint32_t cpu;    /* RUNNING: the CPU */
    uint64_t ran_ns; /* ns; valid with has_run */
};

struct schedule_cpu {
    uint64_t machine;
    uint32_t number;
    ttr_id running;   /* 0 = unknown */
    int64_t since;    /* ns; start of the run, if `running` is not 0 */
    bool is_certain;  /* is_certain of the change that started the run */
    bool is_complete; /* a switch continued the one before: all threads of the CPU are recorded */
};

struct schedule_thread {
    uint32_t cpu; /* RUNNING: index of the CPU */
    uint8_t state;
    bool is_recorded; /* the state was recorded by a switch away from the thread */
};

struct schedule {
    const struct alloc *alloc;
    struct schedule_cpu *cpu;
    size_t cpus_n, cpus_capacity;
    struct pair_map cpu_of;         /* (machine, number of the CPU) to index in `cpu` */
    struct schedule_thread *thread; /* states of threads, indexed by ttr_id */
    size_t threads_n;
    /* the changes of the last event, borrowed until the next schedule_apply */
    struct schedule_change *change;
    size_t changes_n, changes_capacity;
    uint64_t discontinued; /* switches with an outgoing thread that did not run */
    uint64_t spurious;     /* wakes of threads that were running or runnable */
};

void schedule_init(struct schedule *schedule, const struct alloc *alloc);
void schedule_free(struct schedule *schedule);

/* Applies an event. `machine` is any number that distinguishes machines with CPUs of their own, for
 * example the trace. The changes are in schedule->change, in the order in which they are to be
 * written. Returns false if memory runs out. */
TTR_MUST bool schedule_apply(struct schedule *schedule, uint64_t machine, const ttr_event *event);

/* Returns the thread that runs on a CPU, or 0 if it is unknown. */
ttr_id schedule_get_running_thread(const struct schedule *schedule, uint64_t machine, uint32_t cpu);

/* Returns the state of a thread; SCHEDULE_UNKNOWN if nothing is known. */
enum schedule_state schedule_get_thread_state(const struct schedule *schedule, ttr_id thread);

/* Forgets the state of a thread, if its id is reused for a new thread. */
void schedule_forget_thread(struct schedule *schedule, ttr_id thread);

#endif
