/* The scheduling state machine: single events by hand, and random schedules with lost events; their
 * changes are checked by a model of one CPU per thread and one thread per CPU. */
#include <stdio.h>

#include "support/support.h"

#include "model/schedule.h"

#include <tracetta/build.h>
#include <tracetta/fields.h>

#define CPUS_MAX 8u
#define THREADS_MAX 40u
#define SCHEDULES 1000u
#define STEPS 400u

static struct schedule schedule;

static void begin(void)
{
    schedule_init(&schedule, alloc_default());
}

static ttr_event switch_event(int64_t time, uint32_t cpu, ttr_id from, unsigned state, ttr_id to)
{
    return (ttr_event){.kind = TTR_KIND_SWITCH,
                       .time = time,
                       .cpu = cpu,
                       .flags = TTR_EVENT_HAS_CPU,
                       .link = from,
                       .tag = (uint16_t)state,
                       .thread = to};
}

/* Applies an event and fails unless it yields these states, "thread:state ...". */
static void expect_changes(const ttr_event *event, const char *wanted)
{
    static const char *const names[] = {"unknown",  "runnable",        "preempted", "running",
                                        "sleeping", "uninterruptible", "stopped",   "dead"};
    char text[256] = "";
    size_t n = 0;
    assert_true(schedule_apply(&schedule, 0, event));
    for (size_t i = 0; i < schedule.changes_n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u:%s", i ? " " : "",
                              schedule.change[i].thread, names[schedule.change[i].state]);
    assert_string_equal(text, wanted);
}

static void switch_yields_outgoing_then_incoming_thread(void **state)
{
    (void)state;
    begin();
    ttr_event event = switch_event(10, 0, 1, TTR_THREAD_BLOCKED, 2);
    expect_changes(&event, "1:sleeping 2:running");
    assert_false(schedule.change[0].has_run);
    event = switch_event(25, 0, 2, TTR_THREAD_UNINTERRUPTIBLE, 1);
    expect_changes(&event, "2:uninterruptible 1:running");
    assert_true(schedule.change[0].has_run);
    assert_int_equal(schedule.change[0].ran_ns, 15);
    assert_true(schedule.change[1].is_certain);
    event = switch_event(30, 0, 1, TTR_THREAD_PREEMPTED, 2);
    expect_changes(&event, "1:preempted 2:running");
    assert_int_equal(schedule.discontinued, 0);
    schedule_free(&schedule);
}

static void switch_from_another_thread_makes_the_running_one_unknown(void **state)
{
    (void)state;
    begin();
    ttr_event event = switch_event(10, 0, 1, TTR_THREAD_BLOCKED, 2);
    expect_changes(&event, "1:sleeping 2:running");
    assert_false(schedule.change[1].is_certain); /* nothing of thread 2 was recorded */
    event = switch_event(20, 0, 3, TTR_THREAD_DEAD, 1);
    expect_changes(&event, "2:unknown 3:dead 1:running");
    assert_false(schedule.change[0].has_run);
    assert_false(schedule.change[1].has_run);
    assert_true(schedule.change[2].is_certain);
    assert_int_equal(schedule.discontinued, 1);
    schedule_free(&schedule);
}

static void thread_that_runs_elsewhere_leaves_the_other_cpu(void **state)
{
    (void)state;
    begin();
    ttr_event event = switch_event(10, 0, 1, TTR_THREAD_BLOCKED, 2);
    expect_changes(&event, "1:sleeping 2:running");
    event = switch_event(20, 1, 3, TTR_THREAD_BLOCKED, 2);
    expect_changes(&event, "3:sleeping 2:unknown 2:running");
    assert_int_equal(schedule_get_running_thread(&schedule, 0, 0), 0);
    assert_int_equal(schedule_get_running_thread(&schedule, 0, 1), 2);
    schedule_free(&schedule);
}

static void wake_changes_waiting_threads_only(void **state)
{
    (void)state;
    begin();
    ttr_event wake = {.kind = TTR_KIND_WAKE, .thread = 2};
    expect_changes(&wake, "2:runnable");
    expect_changes(&wake, "");
    assert_int_equal(schedule.spurious, 1);
    ttr_event event = switch_event(10, 0, 1, TTR_THREAD_DEAD, 2);
    expect_changes(&event, "1:dead 2:running");
    expect_changes(&wake, "");
    assert_int_equal(schedule_get_thread_state(&schedule, 2), SCHEDULE_RUNNING);
    wake.thread = 1;
    expect_changes(&wake, "");
    schedule_forget_thread(&schedule, 1);
    expect_changes(&wake, "1:runnable");
    schedule_free(&schedule);
}

static void gap_makes_running_threads_unknown(void **state)
{
    (void)state;
    begin();
    ttr_event event = switch_event(10, 0, 1, TTR_THREAD_BLOCKED, 2);
    expect_changes(&event, "1:sleeping 2:running");
    event = switch_event(10, 1, 3, TTR_THREAD_BLOCKED, 4);
    expect_changes(&event, "3:sleeping 4:running");
    event = switch_event(10, 5, 6, TTR_THREAD_BLOCKED, 5);
    expect_changes(&event, "6:sleeping 5:running");
    ttr_event gap = {.kind = TTR_KIND_GAP, .cpu = 1, .flags = TTR_EVENT_HAS_CPU};
    expect_changes(&gap, "4:unknown");
    gap.flags = 0;
    expect_changes(&gap, "2:unknown 5:unknown");
    schedule_free(&schedule);
}

static void every_state_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(ttr_thread_state_text(TTR_THREAD_NEW), "new");
    assert_string_equal(ttr_thread_state_text(TTR_THREAD_UNINTERRUPTIBLE), "uninterruptible");
    assert_string_equal(ttr_thread_state_text(TTR_THREAD_PREEMPTED), "preempted");
    assert_null(ttr_thread_state_text(8));
}

static void expect_priorities(ttr *t, const char *out_name, const char *in_name, bool is_lttng,
                              int64_t outgoing, int64_t incoming)
{
    int64_t priority[2] = {7, 7};
    ttr_batch batch;
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_SWITCH, 5, NULL, NULL);
    if (is_lttng)
        ttr_add_int(builder, "prev_tid", 17);
    ttr_add_int(builder, out_name, 20);
    ttr_add_int(builder, "comm", 99);
    ttr_add_int(builder, in_name, -1);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_switch_priorities(t, batch.event, &priority[0], &priority[1]),
                     outgoing || incoming);
    assert_int_equal(priority[0], outgoing);
    assert_int_equal(priority[1], incoming);
    ttr_builder_free(builder);
}

static void priorities_are_those_of_the_kernel(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    expect_priorities(t, "prev_prio", "next_prio", false, 20, -1);
    expect_priorities(t, "prev_prio", "next_prio", true, 120, 99);
    expect_priorities(t, "outgoing_priority", "incoming_priority", false, 20, -1);
    expect_priorities(t, "outgoing_weight", "incoming_weight", false, 20, -1);
    expect_priorities(t, "prev_prio", "other", false, 0, 0);
    ttr_free(t);
}

/* --- Random schedules --- */

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* A machine that schedules its threads at random, and what the changes have claimed so far. Thread
 * ids are 1 to `threads`; the idle threads of the CPUs come first. */
struct machine {
    uint32_t cpus, threads;
    int64_t now, began;
    ttr_id on[CPUS_MAX];            /* thread that really runs on the CPU */
    bool is_ready[THREADS_MAX + 1]; /* may be scheduled */
    ttr_id claimed[CPUS_MAX];       /* thread that runs on the CPU by the changes */
    uint32_t state[THREADS_MAX + 1];
    uint32_t claimed_cpu[THREADS_MAX + 1];
    uint64_t ran[CPUS_MAX]; /* sum of the exact runs */
    uint64_t runs;
};

static void check_change(struct machine *machine, const struct schedule_change *change)
{
    const ttr_id thread = change->thread;
    assert_in_range(thread, 1, machine->threads);
    const uint32_t before = machine->claimed_cpu[thread];
    if (change->state == SCHEDULE_RUNNING) {
        assert_int_not_equal(machine->state[thread], SCHEDULE_RUNNING); /* never twice */
        assert_int_equal(machine->claimed[change->cpu], 0);             /* one thread per CPU */
        machine->claimed[change->cpu] = thread;
        machine->claimed_cpu[thread] = change->cpu;
    } else if (machine->state[thread] == SCHEDULE_RUNNING) {
        assert_int_equal(machine->claimed[before], thread); /* on one CPU only */
        machine->claimed[before] = 0;
        machine->ran[before] += change->has_run ? change->ran_ns : 0;
        machine->runs += change->has_run;
    } else {
        assert_false(change->has_run);
    }
    machine->state[thread] = change->state;
}

static void apply_and_check(struct machine *machine, const ttr_event *event)
{
    assert_true(schedule_apply(&schedule, 0, event));
    for (size_t i = 0; i < schedule.changes_n; i++)
        check_change(machine, &schedule.change[i]);
}

/* Chooses a thread that waits for a CPU, else the idle thread of the CPU. */
static ttr_id choose_next(const struct machine *machine, uint32_t cpu)
{
    const uint32_t others = machine->threads - machine->cpus;
    const uint32_t first = random_below(others);
    for (uint32_t i = 0; i < others; i++) {
        const ttr_id thread = machine->cpus + 1 + (first + i) % others;
        if (machine->is_ready[thread])
            return thread;
    }
    return cpu + 1;
}

static ttr_event random_switch(struct machine *machine)
{
    static const uint8_t tags[] = {TTR_THREAD_RUNNING, TTR_THREAD_BLOCKED, TTR_THREAD_PREEMPTED,
                                   TTR_THREAD_UNINTERRUPTIBLE, TTR_THREAD_SUSPENDED};
    const uint32_t cpu = random_below(machine->cpus);
    const ttr_id from = machine->on[cpu];
    const bool is_idle = from <= machine->cpus;
    const uint8_t tag = is_idle ? TTR_THREAD_RUNNING : tags[random_below(sizeof tags)];
    ttr_id to = choose_next(machine, cpu);
    if (to == from) /* idle goes on: switch to nothing is not recorded */
        to = from;
    machine->is_ready[to] = false;
    machine->is_ready[from] =
        !is_idle && (tag == TTR_THREAD_RUNNING || tag == TTR_THREAD_PREEMPTED);
    machine->on[cpu] = to;
    return switch_event(machine->now, cpu, from, tag, to);
}

static ttr_event random_wake(struct machine *machine)
{
    const ttr_id thread = machine->cpus + 1 + random_below(machine->threads - machine->cpus);
    bool is_running = false;
    for (uint32_t i = 0; i < machine->cpus; i++)
        is_running |= machine->on[i] == thread;
    machine->is_ready[thread] |= !is_running;
    return (ttr_event){.kind = TTR_KIND_WAKE, .time = machine->now, .thread = thread};
}

static void run_schedule(struct machine *machine, uint32_t loss_percent)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        machine->now += 1 + random_below(1000);
        const bool is_switch = random_below(3) > 0;
        const ttr_event event = is_switch ? random_switch(machine) : random_wake(machine);
        if (is_switch && event.link == event.thread)
            continue;
        if (random_below(100) >= loss_percent) {
            apply_and_check(machine, &event);
        } else if (random_below(2)) { /* half of the losses are recorded */
            const ttr_event gap = {.kind = TTR_KIND_GAP,
                                   .cpu = event.cpu,
                                   .flags = random_below(2) ? TTR_EVENT_HAS_CPU : 0};
            apply_and_check(machine, &gap);
        }
    }
    for (uint32_t cpu = 0; cpu < machine->cpus; cpu++)
        assert_true(machine->ran[cpu] <= (uint64_t)(machine->now - machine->began));
}

static void random_schedules_never_run_a_thread_twice(void **state)
{
    uint64_t runs = 0, discontinued = 0;
    (void)state;
    for (uint32_t i = 0; i < SCHEDULES; i++) {
        seed = i + 1;
        struct machine machine = {.cpus = 1 + random_below(CPUS_MAX), .now = 5, .began = 5};
        machine.threads = machine.cpus + 1 + random_below(THREADS_MAX - machine.cpus);
        for (uint32_t cpu = 0; cpu < machine.cpus; cpu++)
            machine.on[cpu] = cpu + 1;
        begin();
        run_schedule(&machine, random_below(4) * 10);
        runs += machine.runs;
        discontinued += schedule.discontinued;
        schedule_free(&schedule);
    }
    assert_true(runs > SCHEDULES * 10);
    assert_true(discontinued > SCHEDULES);
}

/* Without losses, all runs but the last of each CPU are known, and they are as long as the time
 * from the first switch of the CPU to its last. */
static void complete_schedules_have_all_runs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        int64_t first[CPUS_MAX] = {0}, last[CPUS_MAX] = {0};
        seed = i + 5000;
        struct machine machine = {.cpus = 1 + random_below(CPUS_MAX), .threads = THREADS_MAX};
        for (uint32_t cpu = 0; cpu < machine.cpus; cpu++)
            machine.on[cpu] = cpu + 1;
        begin();
        for (uint32_t step = 0; step < STEPS; step++) {
            machine.now += 1 + random_below(1000);
            const ttr_event event =
                random_below(3) ? random_switch(&machine) : random_wake(&machine);
            if (event.kind == TTR_KIND_SWITCH && event.link != event.thread) {
                first[event.cpu] = first[event.cpu] ? first[event.cpu] : event.time;
                last[event.cpu] = event.time;
            }
            if (event.kind != TTR_KIND_SWITCH || event.link != event.thread)
                apply_and_check(&machine, &event);
        }
        for (uint32_t cpu = 0; cpu < machine.cpus; cpu++)
            assert_int_equal(machine.ran[cpu], last[cpu] - first[cpu]);
        assert_int_equal(schedule.discontinued, 0);
        schedule_free(&schedule);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(switch_yields_outgoing_then_incoming_thread),
        cmocka_unit_test(switch_from_another_thread_makes_the_running_one_unknown),
        cmocka_unit_test(thread_that_runs_elsewhere_leaves_the_other_cpu),
        cmocka_unit_test(wake_changes_waiting_threads_only),
        cmocka_unit_test(gap_makes_running_threads_unknown),
        cmocka_unit_test(every_state_has_a_name),
        cmocka_unit_test(priorities_are_those_of_the_kernel),
        cmocka_unit_test(random_schedules_never_run_a_thread_twice),
        cmocka_unit_test(complete_schedules_have_all_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
