/* Recognition of tracepoints that have a meaning in the trace model: context switches, wake-ups,
 * and events that name threads. Their fields remain unchanged.
 *
 *   sched_switch                        switch from the current thread to `next_pid`
 *   sched_wakeup, sched_wakeup_new      `pid` becomes runnable on `target_cpu`
 *   sched_process_fork, task_newtask    the new thread inherits the name of its creator
 *   sched_process_exec, task_rename     the thread changes its name
 *
 * Names from the container (COMM records of perf) have precedence: only threads without a name are
 * named here. */
#include <string.h>

#include "encodings/tracepoint/tracepoint.h"

static const struct {
    const char *system, *name;
    uint8_t role;
    const char *pid, *comm, *state, *cpu;
} roles[] = {
    {"sched", "sched_switch", TRACEPOINT_SWITCH, "next_pid", "next_comm", "prev_state", NULL},
    {"sched", "sched_wakeup", TRACEPOINT_WAKE, "pid", "comm", NULL, "target_cpu"},
    {"sched", "sched_wakeup_new", TRACEPOINT_WAKE, "pid", "comm", NULL, "target_cpu"},
    {"sched", "sched_process_fork", TRACEPOINT_NAMES, "child_pid", "child_comm", NULL, NULL},
    {"task", "task_newtask", TRACEPOINT_NAMES, "pid", "comm", NULL, NULL},
    {"task", "task_rename", TRACEPOINT_NAMES, "pid", "newcomm", NULL, NULL},
};

static bool equals_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static const struct tracepoint_field *find_role_field(const struct tracepoint *tp, const char *name)
{
    for (uint32_t i = tp->common_n; name && i < tp->fields_n; i++)
        if (equals_word(tp->field[i].name, name))
            return &tp->field[i];
    return NULL;
}

static const struct tracepoint_field *find_number_field(const struct tracepoint *tp,
                                                        const char *name)
{
    const struct tracepoint_field *field = find_role_field(tp, name);
    return field && field->shape <= TRACEPOINT_INT ? field : NULL;
}

void tracepoint_find_role(struct tracepoint *tp)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (!equals_word(tp->system, roles[i].system) || !equals_word(tp->name, roles[i].name))
            continue;
        tp->roles = (struct tracepoint_roles){.pid = find_number_field(tp, roles[i].pid),
                                              .comm = find_role_field(tp, roles[i].comm),
                                              .state = find_number_field(tp, roles[i].state),
                                              .cpu = find_number_field(tp, roles[i].cpu)};
        bool is_whole = tp->roles.pid && (!roles[i].state || tp->roles.state) &&
                        (!roles[i].cpu || tp->roles.cpu);
        tp->role = is_whole ? roles[i].role : TRACEPOINT_PLAIN;
    }
}

static uint64_t read_number(const struct tracepoint *tp, const struct tracepoint_field *field,
                            struct tracepoint_raw raw)
{
    return tracepoint_load_integer(raw.p + field->offset, field->size, tp->all->spec.is_big_endian);
}

/* Converts prev_state of sched_switch to a thread state. The bits of TASK_REPORT below 0x40 are
 * stable since Linux 2.6.33: S 1, D 2, T 4, t 8; X and Z share 0x10 and 0x20, but their order
 * changed. P, I and older states are above; values from 0x100 on mark a preempted thread. */
static uint16_t thread_state_from_kernel(uint64_t state)
{
    if ((state & 0xff) == 0)
        return TTR_THREAD_RUNNING;
    if (state & 0x30)
        return TTR_THREAD_DEAD;
    return state & 0x0c ? TTR_THREAD_SUSPENDED : TTR_THREAD_BLOCKED;
}

/* Names a thread by the field `comm` if the thread has no name yet. Returns false if memory is
 * exhausted. */
static bool name_unnamed_thread(const struct tracepoint *tp, struct tracepoint_raw raw, ttr_id id)
{
    ttr *t = tp->all->spec.t;
    ttr_thread thread;
    const uint8_t *p;
    size_t n;
    if (!tp->roles.comm || !ttr_thread_get(t, id, &thread) || thread.thread_name || thread.tid == 0)
        return true;
    if (!tracepoint_locate_bytes(tp->roles.comm, tp->all->spec.is_big_endian, raw, &p, &n) ||
        n == 0)
        return true;
    const uint8_t *zero = memchr(p, 0, n);
    n = zero ? (size_t)(zero - p) : n;
    ttr_id name = n ? ttr_text_add(t, p, n) : 0;
    context_name_thread(t, id, name);
    return name || n == 0;
}

bool tracepoint_apply_role(const struct tracepoint *tp, struct tracepoint_raw raw, ttr_event *event)
{
    ttr_id thread = context_thread_by_tid(tp->all->spec.t, tp->all->spec.source,
                                          read_number(tp, tp->roles.pid, raw) & UINT32_MAX);
    if (!thread)
        return false;
    if (tp->role == TRACEPOINT_SWITCH && event->thread) {
        event->kind = TTR_KIND_SWITCH;
        event->link = event->thread;
        event->thread = thread;
        event->tag = thread_state_from_kernel(read_number(tp, tp->roles.state, raw));
    } else if (tp->role == TRACEPOINT_WAKE && event->cpu <= UINT16_MAX) {
        event->kind = TTR_KIND_WAKE;
        event->link = event->thread;
        event->thread = thread;
        event->tag = (uint16_t)event->cpu;
        event->cpu = (uint32_t)read_number(tp, tp->roles.cpu, raw);
    }
    return name_unnamed_thread(tp, raw, thread);
}
