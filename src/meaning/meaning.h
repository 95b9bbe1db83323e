/* The stage that interprets events, and its state; shared by the files of this folder.
 *
 *   stage.c      the reader: batches in, batches out
 *   machines.c   machines, their CPUs, threads and names
 *   threads.c    actions of scheduling and of threads
 *   pairs.c      rules of the caller
 *   actions.c    actions of spans and counters
 *   calls.c      actions of system calls
 *   locks.c      actions of mutexes
 *   flows.c      actions of flows
 *
 * An action changes one event in place, in the buffer of the input: no event is copied. It may owe
 * ends of other spans, which the stage returns before the event. If it is about to rename a thread
 * and the batch is not empty, it returns ACTION_CUT before it changes anything: the batch ends, and
 * the event starts the next one. */
#ifndef TRACETTA_MEANING_MEANING_H
#define TRACETTA_MEANING_MEANING_H

#include <string.h>

#include "base/arena.h"
#include "base/pair_map.h"
#include "meaning/rule_compile.h"
#include "meaning/spans.h"
#include "model/reader.h"
#include "pipeline/stage_notes.h"

#define MEANING_CPU_MAX 65535u /* events of CPUs with greater numbers have no running thread */
#define MEANING_RECENT 256u    /* slots of the cache from tid to thread */
#define MEANING_CPU_POSITIONS 64u
#define FLOWS_MAX 65536u /* flows with a known begin; older ones are forgotten */
#define COMM_MAX 16u     /* TASK_COMM_LEN of Linux */

/* System calls with rules of their own. */
enum {
    CALL_EXIT, /* the call never returns */
    CALL_EXIT_GROUP,
    CALL_EXECVE, /* the call returns in another program */
    CALL_EXECVEAT,
    CALL_RT_SIGRETURN, /* the call never returns */
    CALL_SKIPPED,      /* number -1: a tracer or seccomp skipped the call */
    CALL_NAMES_N
};

enum action_result { ACTION_DONE, ACTION_CUT, ACTION_OUT_OF_MEMORY };

/* Sources of a thread's name, from weak to strong. A name replaces only those of the same or a
 * weaker source. */
enum name_rank { NAME_NONE, NAME_SNAPSHOT, NAME_EVENT, NAME_CONTAINER };

/* State of the stage for a thread, by ttr_id. */
struct task {
    uint64_t tid;
    struct span_lane lane;
    bool is_known; /* true if the other members are valid */
    bool is_dead;  /* the thread has exited and does not run again */
    uint8_t rank;  /* enum name_rank */
    char comm[COMM_MAX];
};

struct cpu_state {
    ttr_id running; /* 0 = unknown */
    ttr_id idle;    /* the CPU's own idle thread; 0 = not created yet */
    ttr_id track;   /* track of interrupts; 0 = not created yet */
    struct span_lane lane;
};

struct machine {
    uint16_t owner;   /* source that has the threads in its tables */
    uint16_t release; /* version of the kernel: 256 * major + minor; 0 = unknown */
    bool is_x86_64;
    bool has_switches; /* a context switch was read */
    bool has_waking;   /* the trace has sched_waking events */
    bool has_wake_new; /* the trace records the wake-up of new threads, or may record it */
    struct cpu_state *cpu;
    size_t cpus_n;
    struct {
        uint64_t tid;
        ttr_id id;
    } recent[MEANING_RECENT];
};

/* Position of the CPU in the events of a schema. */
struct cpu_position {
    ttr_id schema; /* 0 = the entry is free */
    bool is_fixed;
    struct field_position position;
};

/* The begin of a flow. */
struct flow {
    uint64_t link;
    uint16_t group; /* 0 = the entry is free */
};

/* State of the stage for a source. */
struct source_state {
    bool is_known;
    bool has_cpu_field;      /* CTF of perf: the CPU is a field of the events */
    uint8_t worlds;          /* bit set of rules.h; 0 = events pass unchanged */
    struct machine *machine; /* NULL if worlds is 0 */
};

struct meaning {
    ttr_reader base;
    ttr_reader *in;
    ttr_batch batch; /* current batch of `in` */
    uint32_t first;  /* events of `batch` from here to `at` are interpreted, and not returned yet */
    uint32_t at;     /* next event of `batch` to interpret */
    ttr_event *pending_ends; /* end events that are returned before event `first` */
    size_t pending_ends_n, pending_ends_at,
        pending_ends_capacity; /* pending_ends_at: the next one to return */
    struct source_state *source;
    size_t sources_n;
    struct machine **machine;
    size_t machines_n, machines_capacity;
    struct task *task; /* states of threads, indexed by ttr_id */
    size_t tasks_n;
    struct span_lane *track; /* spans of the caller's rules on unknown threads, indexed by track */
    size_t tracks_n;
    struct compiled_rule *rule;
    size_t rules_n, rules_capacity;
    uint32_t *rule_of; /* rule of the events of each schema, indexed by schema id; see stage.c */
    size_t rule_of_n;
    struct pair_map rule_by_name; /* (schema, name), for schemas that several classes share */
    struct cpu_position cpu_position[MEANING_CPU_POSITIONS]; /* cache, by schema */
    struct pair_map async;                                   /* open async spans: (group, link) */
    struct pair_map flow_of;                                 /* begun flows: (group, link) */
    struct flow *flow; /* ring of the last begins; NULL = none yet */
    size_t flows_n;    /* number of flow begins so far */
    struct spans spans;
    ttr_id known_call[CALL_NAMES_N];
    struct user_rule *pair; /* rules of the caller, two for each pair */
    size_t pairs_n, pairs_capacity;
    struct arena arena;      /* texts of the caller's rules */
    struct pair_map name_of; /* (process, address) to the name that a record gives it */
    struct stage_notes notes;
    struct series_schema **series; /* schemas of counters; freed with the stage */
    size_t series_n, series_capacity;
};

/* --- machines.c --- */

/* Returns the worlds with rules that may apply to the events of a source. */
uint8_t meaning_find_rule_tables(const ttr *t, uint16_t source);

/* Returns the state of a source, which is found out at its first event. Returns NULL if memory runs
 * out. */
struct source_state *meaning_get_source(struct meaning *meaning, uint16_t source);

/* Adds the state of CPUs up to that of an event. Returns the latter, or NULL if memory runs out. */
struct cpu_state *meaning_add_cpu(struct meaning *meaning, struct machine *machine,
                                  const ttr_event *event);

/* Returns the CPU of an event, or NULL if it has none, or if memory runs out. */
static inline struct cpu_state *meaning_get_cpu(struct meaning *meaning, struct machine *machine,
                                                const ttr_event *event)
{
    if (!(event->flags & TTR_EVENT_HAS_CPU) || event->cpu > MEANING_CPU_MAX)
        return NULL;
    return event->cpu < machine->cpus_n ? &machine->cpu[event->cpu]
                                        : meaning_add_cpu(meaning, machine, event);
}

/* Sets the CPU of an event from its field perf_cpu, if it has that. */
void meaning_set_cpu(struct meaning *meaning, ttr_event *event);

/* Finds or adds a thread as meaning_find_or_add_thread does, without the cache. */
ttr_id meaning_look_up_thread(struct meaning *meaning, struct machine *machine, uint64_t tid,
                              struct cpu_state *cpu, uint32_t number);

/* Returns the thread with a tid. `cpu`: of tid 0; NULL if unknown. A thread that is dead is
 * replaced by a new one. Returns 0 if memory runs out, and for tid 0 without a CPU. */
static inline ttr_id meaning_find_or_add_thread(struct meaning *meaning, struct machine *machine,
                                                uint64_t tid, struct cpu_state *cpu,
                                                uint32_t number)
{
    const size_t slot = tid % MEANING_RECENT;
    const ttr_id id = machine->recent[slot].tid == tid ? machine->recent[slot].id : 0;
    return id && !meaning->task[id].is_dead
               ? id
               : meaning_look_up_thread(meaning, machine, tid, cpu, number);
}

/* Returns the thread with a pid and a tid, as meaning_find_or_add_thread does. The tid must not be
 * 0. */
ttr_id meaning_add_thread(struct meaning *meaning, struct machine *machine, uint64_t pid,
                          uint64_t tid);

/* Returns the thread with a tid if an earlier record was about it, else 0. */
ttr_id meaning_find_thread(struct meaning *meaning, const struct machine *machine, uint64_t tid);

/* Adds the state of a thread. Returns NULL if memory runs out. */
struct task *meaning_add_task(struct meaning *meaning, ttr_id thread);

/* Returns the state of a thread; NULL if memory runs out. Valid until the next call. */
static inline struct task *meaning_get_task(struct meaning *meaning, ttr_id thread)
{
    return thread < meaning->tasks_n && meaning->task[thread].is_known
               ? &meaning->task[thread]
               : meaning_add_task(meaning, thread);
}

/* Returns true if naming a thread changes nothing: it has the name, or that of a better source. */
static inline bool meaning_is_named(const struct task *task, ttr_text name, uint8_t rank)
{
    return name.n == 0 || task->rank > rank ||
           (task->rank == rank && name.n < COMM_MAX && memcmp(task->comm, name.p, name.n) == 0 &&
            task->comm[name.n] == 0);
}

/* Returns true if naming a thread would replace a name that events of the batch show. */
bool meaning_would_rename(struct meaning *meaning, ttr_id thread, ttr_text name, uint8_t rank);

/* Names a thread, and its process if it is the first thread of it. Returns false if memory runs
 * out. */
TTR_MUST bool meaning_name_thread(struct meaning *meaning, ttr_id thread, ttr_text name,
                                  uint8_t rank);

/* --- actions.c --- */

/* Adds the end of a span of a lane, before the current event. */
TTR_MUST bool meaning_append_end(struct meaning *meaning, const ttr_event *cause, ttr_id thread,
                                 ttr_id track, const struct span *span, bool is_complete);

/* Ends the innermost `n` spans of a lane as incomplete. */
TTR_MUST bool meaning_end_innermost_spans(struct meaning *meaning, const ttr_event *cause,
                                          ttr_id thread, ttr_id track, struct span_lane *lane,
                                          uint32_t n);

/* Ends all open spans of a lane. */
TTR_MUST bool meaning_end_lane_spans(struct meaning *meaning, const ttr_event *cause, ttr_id thread,
                                     ttr_id track, struct span_lane *lane);

/* Applies a rule of spans or counters to an event. */
enum action_result meaning_apply_span(struct meaning *meaning, struct machine *machine,
                                      const struct compiled_rule *compiled, ttr_event *event);

/* Returns the index of the process of an event, plus 1; 0 if it is unknown. */
static inline uint64_t meaning_get_process(const ttr *t, const ttr_event *event)
{
    return event->thread && event->thread < t->threads_n
               ? (uint64_t)t->threads[event->thread].process + 1
               : 0;
}

/* --- locks.c --- */

/* Applies a rule of mutexes to an event. */
enum action_result meaning_apply_lock(struct meaning *meaning, const struct compiled_rule *compiled,
                                      ttr_event *event);

/* --- flows.c --- */

/* Make an event the begin or end of a flow. */
enum action_result meaning_begin_flow(struct meaning *meaning, const struct compiled_rule *compiled,
                                      ttr_event *event);
enum action_result meaning_end_flow(struct meaning *meaning, const struct compiled_rule *compiled,
                                    ttr_event *event);

/* Inserts the end of a flow before the event `cause`, which begins the work that the flow leads to.
 * Does nothing if no begin of the flow was seen. Returns false if memory runs out. */
TTR_MUST bool meaning_end_flow_before(struct meaning *meaning, const struct compiled_rule *compiled,
                                      const ttr_event *cause);

/* --- calls.c --- */

/* Interns the names of the system calls that have rules. Returns false if memory runs out. */
TTR_MUST bool meaning_add_call_names(struct meaning *meaning);

/* Apply the entry and the exit of a system call. */
enum action_result meaning_begin_call(struct meaning *meaning, const struct machine *machine,
                                      const struct compiled_rule *compiled, ttr_event *event);
enum action_result meaning_end_call(struct meaning *meaning, const struct machine *machine,
                                    const struct compiled_rule *compiled, ttr_event *event);

/* Ends the call `exit` or `exit_group` of a thread. */
TTR_MUST bool meaning_end_exit_call(struct meaning *meaning, const ttr_event *cause, ttr_id thread);

/* --- pairs.c --- */

/* Adds the rules of a list of "START,END[,FIELD...]", which ends with NULL and may be NULL. */
TTR_MUST ttr_status meaning_add_pairs(struct meaning *meaning, const char *const *pairs,
                                      ttr_error *error);

/* Adds a diagnostic for each name of a pair that no event has. */
void meaning_report_unused_pairs(struct meaning *meaning);

/* --- threads.c --- */

/* Applies a rule of scheduling or of threads to an event. */
enum action_result meaning_apply_thread_rule(struct meaning *meaning, struct machine *machine,
                                             const struct compiled_rule *compiled,
                                             ttr_event *event);

/* Forgets the running threads that a gap makes unknown, and ends the spans of their CPUs. */
TTR_MUST bool meaning_apply_gap(struct meaning *meaning, struct machine *machine,
                                const ttr_event *event);

/* --- series.c --- */

struct series_schema;

/* Returns true if a name is one of the alternatives, which `|` separates. */
bool series_is_named(const char *names, ttr_text name);

/* Returns the id of a schema that returns only the series of a counter: the first field of the
 * rule, the second of RULE_NAMED_COUNTER. Returns 0 if memory runs out. */
ttr_id series_schema_add(struct meaning *meaning, const struct compiled_rule *compiled,
                         const ttr_event *event);
void series_schemas_free(struct meaning *meaning);

/* --- task_state.c --- */

/* Returns the ttr_thread_state of a `prev_state` of the kernel. `release`: 256 * major + minor. */
uint16_t meaning_task_state(uint16_t release, uint64_t prev_state);

/* Parses a version such as "4.4.3-1-ARCH", with any text before the first digit. */
uint16_t meaning_parse_release(ttr_text text);

/* --- syscall_names.c --- */

/* Returns the name of a system call of x86-64; NULL for unknown numbers. */
const char *meaning_syscall_name(uint64_t number);

#endif
