/* The scheduling state machine: tables of CPUs and threads. */
#include "model/schedule.h"

#include <string.h>

void schedule_init(struct schedule *schedule, const struct alloc *alloc)
{
    *schedule = (struct schedule){.alloc = alloc};
    pair_map_init(&schedule->cpu_of, alloc);
}

void schedule_free(struct schedule *schedule)
{
    const struct alloc *alloc = schedule->alloc;
    alloc_free(alloc, schedule->cpu, schedule->cpus_capacity, sizeof *schedule->cpu);
    alloc_free(alloc, schedule->thread, schedule->threads_n, sizeof *schedule->thread);
    alloc_free(alloc, schedule->change, schedule->changes_capacity, sizeof *schedule->change);
    pair_map_free(&schedule->cpu_of);
}

/* Returns the index of a CPU, which is added if it is new. Returns UINT32_MAX if memory runs out.
 */
static uint32_t cpu_index(struct schedule *schedule, uint64_t machine, uint32_t number)
{
    const uint32_t *known = pair_map_get(&schedule->cpu_of, machine, number);
    if (known)
        return *known;
    const uint32_t index = (uint32_t)schedule->cpus_n;
    if (!alloc_reserve(schedule->alloc, (void **)&schedule->cpu, &schedule->cpus_capacity,
                       schedule->cpus_n + 1, sizeof *schedule->cpu) ||
        !pair_map_put(&schedule->cpu_of, machine, number, index))
        return UINT32_MAX;
    schedule->cpu[schedule->cpus_n++] = (struct schedule_cpu){.machine = machine, .number = number};
    return index;
}

static bool reserve_thread(struct schedule *schedule, ttr_id thread)
{
    const size_t before = schedule->threads_n;
    if (thread < before)
        return true;
    if (!alloc_reserve(schedule->alloc, (void **)&schedule->thread, &schedule->threads_n,
                       (size_t)thread + 1, sizeof *schedule->thread))
        return false;
    memset(schedule->thread + before, 0, (schedule->threads_n - before) * sizeof *schedule->thread);
    return true;
}

static void add_change(struct schedule *schedule, const struct schedule_change *change)
{
    schedule->thread[change->thread].state = change->state;
    schedule->change[schedule->changes_n++] = *change;
}

/* Ends the run on a CPU. `state` is the next state of the thread that ran. */
static void end_thread_run(struct schedule *schedule, struct schedule_cpu *cpu, uint8_t state,
                           const int64_t *until)
{
    struct schedule_change change = {.thread = cpu->running, .state = state};
    if (until) {
        change.has_run = true;
        change.ran_ns = *until > cpu->since ? (uint64_t)*until - (uint64_t)cpu->since : 0;
    }
    cpu->running = 0;
    add_change(schedule, &change);
}

static uint8_t convert_state_tag(unsigned tag)
{
    static const uint8_t states[] = {
        [TTR_THREAD_NEW] = SCHEDULE_RUNNABLE,
        [TTR_THREAD_RUNNING] = SCHEDULE_RUNNABLE,
        [TTR_THREAD_SUSPENDED] = SCHEDULE_STOPPED,
        [TTR_THREAD_BLOCKED] = SCHEDULE_SLEEPING,
        [TTR_THREAD_DYING] = SCHEDULE_DEAD,
        [TTR_THREAD_DEAD] = SCHEDULE_DEAD,
        [TTR_THREAD_UNINTERRUPTIBLE] = SCHEDULE_UNINTERRUPTIBLE,
        [TTR_THREAD_PREEMPTED] = SCHEDULE_PREEMPTED,
    };
    return tag < sizeof states ? states[tag] : SCHEDULE_SLEEPING;
}

/* Changes the state of the outgoing thread. */
static void switch_thread_out(struct schedule *schedule, struct schedule_cpu *cpu,
                              const ttr_event *event)
{
    const ttr_id out = (ttr_id)event->link;
    const uint8_t state = convert_state_tag(event->tag);
    if (cpu->running && cpu->running != out) {
        schedule->discontinued++;
        end_thread_run(schedule, cpu, SCHEDULE_UNKNOWN, NULL);
    } else if (cpu->running) {
        cpu->is_complete = true;
        end_thread_run(schedule, cpu, state, &event->time);
        schedule->thread[out].is_recorded = true;
        return;
    }
    if (!out)
        return;
    struct schedule_thread *thread = &schedule->thread[out];
    if (thread->state == SCHEDULE_RUNNING) /* on another CPU: that run was not ended by a record */
        schedule->cpu[thread->cpu].running = 0;
    thread->is_recorded = true;
    add_change(schedule, &(struct schedule_change){.thread = out, .state = state});
}

/* Makes the incoming thread run on a CPU. */
static void switch_thread_in(struct schedule *schedule, uint32_t index, const ttr_event *event)
{
    struct schedule_cpu *cpu = &schedule->cpu[index];
    struct schedule_thread *thread = &schedule->thread[event->thread];
    if (!event->thread)
        return;
    if (thread->state == SCHEDULE_RUNNING)
        end_thread_run(schedule, &schedule->cpu[thread->cpu], SCHEDULE_UNKNOWN, NULL);
    thread->cpu = index;
    cpu->running = event->thread;
    cpu->since = event->time;
    cpu->is_certain = cpu->is_complete || thread->is_recorded;
    add_change(schedule, &(struct schedule_change){.thread = event->thread,
                                                   .state = SCHEDULE_RUNNING,
                                                   .cpu = cpu->number,
                                                   .is_certain = cpu->is_certain});
}

static bool apply_switch(struct schedule *schedule, uint64_t machine, const ttr_event *event)
{
    const uint32_t index = cpu_index(schedule, machine, event->cpu);
    if (index == UINT32_MAX || !reserve_thread(schedule, event->thread) ||
        !reserve_thread(schedule, (ttr_id)event->link))
        return false;
    switch_thread_out(schedule, &schedule->cpu[index], event);
    switch_thread_in(schedule, index, event);
    return true;
}

static bool apply_wake(struct schedule *schedule, const ttr_event *event)
{
    if (!event->thread)
        return true;
    if (!reserve_thread(schedule, event->thread))
        return false;
    switch (schedule->thread[event->thread].state) {
    case SCHEDULE_RUNNING:
    case SCHEDULE_RUNNABLE:
    case SCHEDULE_PREEMPTED:
        schedule->spurious++;
        return true;
    case SCHEDULE_DEAD:
        return true;
    default:
        add_change(schedule,
                   &(struct schedule_change){.thread = event->thread, .state = SCHEDULE_RUNNABLE});
        return true;
    }
}

static void apply_gap(struct schedule *schedule, uint64_t machine, const ttr_event *event)
{
    for (size_t i = 0; i < schedule->cpus_n; i++) {
        struct schedule_cpu *cpu = &schedule->cpu[i];
        const bool is_lost = cpu->machine == machine &&
                             (!(event->flags & TTR_EVENT_HAS_CPU) || event->cpu == cpu->number);
        if (is_lost && cpu->running)
            end_thread_run(schedule, cpu, SCHEDULE_UNKNOWN, NULL);
    }
}

bool schedule_apply(struct schedule *schedule, uint64_t machine, const ttr_event *event)
{
    schedule->changes_n = 0;
    if (!alloc_reserve(schedule->alloc, (void **)&schedule->change, &schedule->changes_capacity,
                       schedule->cpus_n + 4, sizeof *schedule->change))
        return false;
    switch (event->kind) {
    case TTR_KIND_SWITCH:
        return !(event->flags & TTR_EVENT_HAS_CPU) || event->link > UINT32_MAX ||
               apply_switch(schedule, machine, event);
    case TTR_KIND_WAKE:
        return apply_wake(schedule, event);
    case TTR_KIND_GAP:
        apply_gap(schedule, machine, event);
        return true;
    default:
        return true;
    }
}

ttr_id schedule_get_running_thread(const struct schedule *schedule, uint64_t machine, uint32_t cpu)
{
    const uint32_t *index = pair_map_get(&schedule->cpu_of, machine, cpu);
    return index ? schedule->cpu[*index].running : 0;
}

enum schedule_state schedule_get_thread_state(const struct schedule *schedule, ttr_id thread)
{
    return thread < schedule->threads_n ? (enum schedule_state)schedule->thread[thread].state
                                        : SCHEDULE_UNKNOWN;
}

void schedule_forget_thread(struct schedule *schedule, ttr_id thread)
{
    if (thread >= schedule->threads_n)
        return;
    if (schedule->thread[thread].state == SCHEDULE_RUNNING)
        schedule->cpu[schedule->thread[thread].cpu].running = 0;
    schedule->thread[thread] = (struct schedule_thread){0};
}
