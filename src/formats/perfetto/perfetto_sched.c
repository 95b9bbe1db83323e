/* Scheduling as GenericKernelTaskStateEvent, the stable interface of Perfetto for any kernel.
 *
 *   switch   the outgoing thread gets its new state, then the incoming thread runs on the CPU
 *   wake     the thread becomes runnable
 *
 * A packet has one thread, its state, and the CPU of a running thread. Readers reject a thread that
 * runs twice without another state between, and a state "unknown". The changes of state are those
 * of model/schedule.h, which adds the ones that the trace lacks:
 *
 *   CPU 0   A runs      the trace switches from B to C      written: A runnable, B's state, C runs
 *   CPU 1   C runs      (C was on CPU 1)                    written: C runnable, C runs on CPU 0
 *   wake of a thread that runs or is runnable: nothing
 *
 * Every CPU has a separate idle thread, "swapper/N", because one tid cannot run on two CPUs. These
 * packets contain only tids, so a thread is added to the kernel process tree at its first
 * scheduling event. Cost: O(1) per event; memory grows with threads and CPUs. Left out: CPU
 * frequency, and the waking thread of a wake-up. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perfetto/perfetto.h"

/* First tid of idle threads: their tid is this number plus the CPU number. Linux has no tids above
 * 2^22. */
#define IDLE_TID_FIRST 2000000000u
#define IDLE_TIDS_MAX 100000000u

/* --- Packets of a thread's state --- */

struct task {
    ttr_id thread; /* id of the thread; 0 means the idle thread of `cpu` */
    unsigned state;
    uint32_t cpu;
    int32_t priority; /* priority of the thread; 0 if the trace does not contain it */
};

static void append_thread_name(struct perfetto *p, uint32_t field, const struct thread_state *state,
                               const ttr_thread *thread)
{
    perfetto_add_name(p, field, thread->thread_name,
                      &(struct renumbered){"tid", thread->tid, state->tid});
}

/* Adds a thread to the kernel process tree, or writes its new name if the name has changed. */
static void add_to_process_tree(struct perfetto *p, struct thread_state *state,
                                const ttr_thread *thread)
{
    const struct process_state *process =
        thread->pid_known ? perfetto_describe_process(p, state->process) : NULL;
    if (!process || (state->is_in_tree && state->tree_name == thread->thread_name))
        return;
    state->is_in_tree = true;
    state->tree_name = thread->thread_name;
    size_t packet = perfetto_begin_packet(p);
    size_t tree = protobuf_begin_message(p->to, PACKET_PROCESS_TREE);
    size_t entry = protobuf_begin_message(p->to, TREE_THREADS);
    protobuf_write_u64(p->to, TREE_TID, state->tid);
    protobuf_write_i64(p->to, TREE_PID, process->pid);
    append_thread_name(p, TREE_NAME, state, thread);
    protobuf_end_message(p->to, entry);
    protobuf_end_message(p->to, tree);
    perfetto_end_packet(p, packet);
}

static void add_idle_thread_to_tree(struct perfetto *p, uint32_t cpu)
{
    char name[32];
    (void)snprintf(name, sizeof name, "swapper/%" PRIu32, cpu);
    size_t packet = perfetto_begin_packet(p);
    size_t tree = protobuf_begin_message(p->to, PACKET_PROCESS_TREE);
    size_t entry = protobuf_begin_message(p->to, TREE_THREADS);
    protobuf_write_u64(p->to, TREE_TID, IDLE_TID_FIRST + cpu);
    protobuf_write_i64(p->to, TREE_PID, 0);
    protobuf_write_string(p->to, TREE_NAME, name);
    protobuf_write_bool(p->to, TREE_IS_IDLE, true);
    protobuf_end_message(p->to, entry);
    protobuf_end_message(p->to, tree);
    perfetto_end_packet(p, packet);
}

static void end_task_state(struct perfetto *p, const struct task *task, size_t packet, size_t body)
{
    protobuf_write_u64(p->to, TASK_STATE, task->state);
    if (task->priority)
        protobuf_write_i64(p->to, TASK_PRIORITY, task->priority);
    protobuf_end_message(p->to, body);
    perfetto_end_packet(p, packet);
}

static void write_idle_state(struct perfetto *p, int64_t time, const struct task *task)
{
    char name[32];
    (void)snprintf(name, sizeof name, "swapper/%" PRIu32, task->cpu);
    size_t packet = perfetto_begin_packet_at(p, time);
    size_t body = protobuf_begin_message(p->to, PACKET_TASK_STATE);
    protobuf_write_u64(p->to, TASK_CPU, task->cpu);
    protobuf_write_string(p->to, TASK_NAME, name);
    protobuf_write_u64(p->to, TASK_TID, IDLE_TID_FIRST + task->cpu);
    end_task_state(p, task, packet, body);
}

static void write_task_state(struct perfetto *p, int64_t time, const struct task *task)
{
    ttr_thread thread;
    if (!task->thread) {
        write_idle_state(p, time, task);
        return;
    }
    struct thread_state *state = ttr_thread_get(p->out->t, task->thread, &thread)
                                     ? perfetto_assign_thread_ids(p, task->thread)
                                     : NULL;
    if (!state)
        return;
    add_to_process_tree(p, state, &thread);
    size_t packet = perfetto_begin_packet_at(p, time);
    size_t body = protobuf_begin_message(p->to, PACKET_TASK_STATE);
    protobuf_write_u64(p->to, TASK_CPU, task->cpu);
    append_thread_name(p, TASK_NAME, state, &thread);
    protobuf_write_u64(p->to, TASK_TID, state->tid);
    end_task_state(p, task, packet, body);
}

/* --- State of threads and CPUs --- */

/* Returns `id` if the context has a thread with this id; else 0, which means unknown. */
static ttr_id get_known_thread(const struct perfetto *p, uint64_t id)
{
    return id < p->out->t->threads_n ? (ttr_id)id : 0;
}

static bool is_idle_thread(const struct perfetto *p, ttr_id id)
{
    ttr_thread thread;
    return ttr_thread_get(p->out->t, id, &thread) && thread.tid_known && thread.tid == 0 &&
           thread.pid == 0;
}

/* Returns the state of a CPU's idle thread. Adds the thread if it is new. Returns NULL if memory
 * is out. */
static struct idle_state *find_or_add_idle_thread(struct perfetto *p, uint32_t cpu)
{
    const uint32_t *known = pair_map_get(&p->cpu_index, cpu, 0);
    if (known)
        return (struct idle_state *)p->cpus.items + *known;
    struct idle_state *state = perfetto_get_table_item(p, &p->cpus, p->cpus_n, sizeof *state);
    if (!state || !pair_map_put(&p->cpu_index, cpu, 0, (uint32_t)p->cpus_n)) {
        p->to->failed = true;
        return NULL;
    }
    p->cpus_n++;
    return state;
}

static struct thread_state *find_thread(struct perfetto *p, ttr_id thread)
{
    return perfetto_get_table_item(p, &p->threads, thread, sizeof(struct thread_state));
}

/* Writes that a thread stops running, and its new state. The CPU is the one on which the thread
 * runs according to earlier packets. */
static void write_thread_stop(struct perfetto *p, int64_t time, struct task task)
{
    struct thread_state *thread = find_thread(p, task.thread);
    if (!thread)
        return;
    if (thread->is_running)
        task.cpu = thread->cpu;
    thread->is_running = false;
    write_task_state(p, time, &task);
}

static void write_thread_start(struct perfetto *p, int64_t time, const struct task *task)
{
    struct thread_state *thread = find_thread(p, task->thread);
    if (!thread)
        return;
    thread->is_running = true;
    thread->cpu = task->cpu;
    thread->running_since = time;
    write_task_state(p, time, task);
}

static void write_idle_stop(struct perfetto *p, int64_t time, uint32_t cpu)
{
    struct idle_state *idle = find_or_add_idle_thread(p, cpu);
    if (!idle || !idle->is_running)
        return;
    idle->is_running = false;
    write_task_state(p, time, &(struct task){.state = STATE_RUNNABLE, .cpu = cpu});
}

static void write_idle_start(struct perfetto *p, int64_t time, const struct task *task)
{
    struct idle_state *idle = find_or_add_idle_thread(p, task->cpu);
    if (!idle || task->cpu >= IDLE_TIDS_MAX)
        return;
    if (!idle->is_in_tree)
        add_idle_thread_to_tree(p, task->cpu);
    idle->is_in_tree = true;
    idle->is_running = true;
    write_task_state(
        p, time,
        &(struct task){.state = STATE_RUNNING, .cpu = task->cpu, .priority = task->priority});
}

/* --- Switches and wake-ups --- */

static unsigned convert_thread_state(struct perfetto *p, unsigned tag)
{
    static const uint8_t states[] = {
        [TTR_THREAD_NEW] = STATE_RUNNABLE,
        [TTR_THREAD_RUNNING] = STATE_RUNNABLE,
        [TTR_THREAD_SUSPENDED] = STATE_STOPPED,
        [TTR_THREAD_BLOCKED] = STATE_SLEEPING,
        [TTR_THREAD_DYING] = STATE_WAITING,
        [TTR_THREAD_DEAD] = STATE_DESTROYED,
        [TTR_THREAD_UNINTERRUPTIBLE] = STATE_WAITING,
        [TTR_THREAD_PREEMPTED] = STATE_RUNNABLE,
    };
    /* Write these states as similar ones: readers may not know "created", and expect only
     * "destroyed" after "dead". */
    if (tag == TTR_THREAD_NEW || tag == TTR_THREAD_DYING || tag >= sizeof states)
        perfetto_count_loss(p, LOSS_SCHED_STATE);
    return tag < sizeof states ? states[tag] : STATE_WAITING;
}

const char *perfetto_get_thread_state_name(unsigned state)
{
    static const char *const words[] = {"new",   "running", "suspended",       "blocked",
                                        "dying", "dead",    "uninterruptible", "preempted"};
    return state < sizeof words / sizeof *words ? words[state] : NULL;
}

static bool has_usable_cpu(const ttr_event *event)
{
    return (event->flags & TTR_EVENT_HAS_CPU) && event->cpu <= INT32_MAX;
}

/* Returns the priority if a packet can store it; else 0. */
static int32_t clamp_priority(int64_t priority)
{
    return priority > 0 && priority <= INT32_MAX ? (int32_t)priority : 0;
}

static unsigned count_fields(const struct perfetto *p, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    unsigned n = 0;
    ttr_fields_begin(p->out->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        n += field.depth == 0;
    return n;
}

/* Returns the time in ns at which a thread stops running. If the same event also starts the
 * thread, this is one ns before the event, since readers treat two states at one time as an
 * error. */
static int64_t get_stop_time(struct perfetto *p, ttr_id id, const ttr_event *event)
{
    const struct thread_state *thread = find_thread(p, id);
    return id == event->thread && thread && thread->is_running &&
                   thread->running_since < event->time - 1
               ? event->time - 1
               : event->time;
}

/* Writes the changes of state that a switch or wake-up implies. Readers accept no unknown state,
 * so a thread without a recorded state becomes runnable. */
static void write_state_changes(struct perfetto *p, const ttr_event *event, const struct task *out,
                                const struct task *in)
{
    /* an idle thread runs on each CPU separately, and has no other states */
    ttr_event active = *event;
    active.link = out->thread;
    active.thread = in->thread;
    if (!schedule_apply(&p->schedule, 0, &active)) {
        p->to->failed = true;
        return;
    }
    for (size_t i = 0; i < p->schedule.changes_n; i++) {
        const struct schedule_change *change = &p->schedule.change[i];
        struct task task = {.thread = change->thread, .state = STATE_RUNNABLE, .cpu = event->cpu};
        if (change->state == SCHEDULE_RUNNING)
            write_thread_start(p, event->time, in);
        else if (change->thread == out->thread && out->thread != in->thread)
            write_thread_stop(p, event->time, *out);
        else
            write_thread_stop(p, get_stop_time(p, task.thread, &active), task);
    }
}

bool perfetto_write_switch(struct perfetto *p, const ttr_event *event)
{
    struct task out = {.thread = get_known_thread(p, event->link), .cpu = event->cpu},
                in = {.thread = get_known_thread(p, event->thread),
                      .state = STATE_RUNNING,
                      .cpu = event->cpu};
    if (!has_usable_cpu(event))
        return false;
    int64_t outgoing, incoming;
    const unsigned priorities_n =
        ttr_switch_priorities(p->out->t, event, &outgoing, &incoming) ? 2 : 0;
    out.priority = clamp_priority(outgoing);
    in.priority = clamp_priority(incoming);
    perfetto_count_lost_parts(p, event, LOSS_SCHED_ATTRIBUTE,
                              count_fields(p, event) - priorities_n);
    const bool goes_idle = is_idle_thread(p, in.thread);
    if (is_idle_thread(p, out.thread))
        out.thread = 0;
    if (out.thread && out.thread != in.thread)
        out.state = convert_thread_state(p, event->tag);
    if (goes_idle)
        in.thread = 0;
    write_idle_stop(p, event->time, event->cpu);
    write_state_changes(p, event, &out, &in);
    if (goes_idle)
        write_idle_start(p, event->time, &in);
    return true;
}

bool perfetto_write_wake(struct perfetto *p, const ttr_event *event)
{
    if (!has_usable_cpu(event))
        return false;
    perfetto_count_lost_parts(p, event, LOSS_SCHED_ATTRIBUTE, count_fields(p, event));
    const ttr_id woken = get_known_thread(p, event->thread);
    if (!is_idle_thread(p, woken))
        write_state_changes(p, event, &(struct task){0}, &(struct task){.thread = woken});
    return true;
}

void perfetto_init_sched(struct perfetto *p)
{
    schedule_init(&p->schedule, &p->out->t->counted);
    pair_map_init(&p->cpu_index, &p->out->t->counted);
}

void perfetto_free_sched(struct perfetto *p)
{
    schedule_free(&p->schedule);
    pair_map_free(&p->cpu_index);
    alloc_free(&p->out->t->counted, p->cpus.items, p->cpus.n, sizeof(struct idle_state));
}
