/* The interpretation of single events, built by hand in the spellings of LTTng and of perf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory_reader.h"
#include "support/support.h"

#include "meaning/meaning.h"

#include <tracetta/build.h>
#include <tracetta/meaning.h>

#define EVENTS_MAX 32u
#define OUT_MAX 64u

/* Events of one source, and what the stage made of them. */
struct scene {
    ttr *t;
    ttr_builder *builder;
    uint16_t source;
    ttr_event event[EVENTS_MAX];
    size_t n;
    char text[4096]; /* a line for each event, see append_line */
    size_t text_n;
};

/* Makes a source one of LTTng-UST. Returns false if memory runs out. */
static bool add_ust_domain(ttr *t, uint16_t source)
{
    const ttr_value ust = {.type = TTR_TYPE_TEXT, .text = {"ust", 3}};
    return context_add_attribute(t, source, "domain", &ust);
}

static void scene_begin(struct scene *scene, ttr *t, const char *format)
{
    *scene = (struct scene){.t = t, .builder = ttr_builder_new(t)};
    const bool is_ust = strcmp(format, "ust") == 0;
    scene->source = context_add_source(t, "here", is_ust ? "ctf" : format);
    assert_true(!is_ust || add_ust_domain(t, scene->source));
}

static void scene_end(struct scene *scene)
{
    for (size_t i = 0; i < scene->n; i++)
        free((void *)(uintptr_t)scene->event[i].payload);
    ttr_builder_free(scene->builder);
}

/* Adds an event "name field=number field=text ...", 10 ns after the one before. A name with a
 * prefix "system:" has the provider "system"; "@tid=7" is a thread of process 1. */
static void add(struct scene *scene, uint32_t cpu, const char *text)
{
    char words[256], *rest = words;
    ttr_batch batch;
    (void)snprintf(words, sizeof words, "%s", text);
    const char *name = strtok_r(words, " ", &rest), *colon = strchr(name, ':');
    ttr_event_begin(scene->builder, TTR_KIND_INSTANT, 10 * (int64_t)(scene->n + 1), NULL,
                    colon ? colon + 1 : name);
    if (colon) {
        char system[64];
        (void)snprintf(system, sizeof system, "%.*s", (int)(colon - name), name);
        ttr_event_set_provider(scene->builder, system);
    }
    for (char *word = strtok_r(NULL, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '='), *end;
        assert_non_null(value);
        *value++ = 0;
        const uint64_t number = strtoull(value, &end, 0);
        if (strcmp(word, "@tid") == 0)
            ttr_event_set_thread(scene->builder, 1, number);
        else if (*end)
            ttr_add_text(scene->builder, word, value);
        else
            ttr_add_uint(scene->builder, word, number);
    }
    ttr_event *attributes = ttr_event_attributes(scene->builder);
    attributes->cpu = cpu;
    attributes->flags |= TTR_EVENT_HAS_CPU;
    attributes->source = scene->source;
    attributes->offset = scene->n;
    assert_int_equal(ttr_event_build(scene->builder, &batch, NULL), TTR_OK);
    assert_true(scene->n < EVENTS_MAX);
    ttr_event *event = &scene->event[scene->n++];
    *event = batch.event[0];
    uint8_t *payload = malloc(event->payload_size + 1u);
    assert_non_null(payload);
    memcpy(payload, batch.event[0].payload, event->payload_size);
    event->payload = payload;
}

static const char *thread_text(ttr *t, uint64_t id, char text[64])
{
    ttr_thread thread;
    if (id > UINT32_MAX || !ttr_thread_get(t, (ttr_id)id, &thread))
        return "-";
    (void)snprintf(text, 64, "%llu(%s)", (unsigned long long)thread.tid,
                   ttr_text_get(t, thread.thread_name).p);
    return text;
}

/* Appends "TIME KIND NAME thread=TID(NAME) link=... tag=... cpu=..." */
static void append_line(struct scene *scene, const ttr_event *event)
{
    char thread[64], link[64];
    ttr_track track = {.name = 0};
    const bool is_scheduling = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    const bool has_track = !event->thread && ttr_track_get(scene->t, event->track, &track);
    scene->text_n += (size_t)snprintf(
        scene->text + scene->text_n, sizeof scene->text - scene->text_n, "%lld %s %s %s%s%s%s",
        (long long)event->time, ttr_kind_text(event->kind), ttr_text_get(scene->t, event->name).p,
        has_track ? ttr_text_get(scene->t, track.name).p
                  : thread_text(scene->t, event->thread, thread),
        is_scheduling ? " from " : "",
        is_scheduling ? thread_text(scene->t, event->link, link) : "",
        event->flags & TTR_EVENT_PARTIAL ? " partial\n" : "\n");
    assert_true(scene->text_n < sizeof scene->text);
}

static ttr_reader *interpret(struct scene *scene, const char *const *pairs, ttr_error *error)
{
    const ttr_interpret_options options = {.size = sizeof options, .pairs = pairs};
    return ttr_interpret(memory_reader(scene->t, &(struct memory_events){.event = scene->event,
                                                                         .n = scene->n,
                                                                         .order = TTR_ORDER_TIME}),
                         &options, error);
}

/* Fails unless the events become these lines. */
static void expect_pairs(struct scene *scene, const char *const *pairs, const char *wanted)
{
    ttr_batch batch;
    ttr_error error = {0};
    ttr_reader *in = interpret(scene, pairs, &error);
    assert_non_null(in);
    while (ttr_read(in, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            append_line(scene, ttr_batch_at(&batch, i));
    assert_string_equal(scene->text, wanted);
    assert_int_equal(error.status, 0);
    ttr_close(in);
}

static void expect(const char *format, const char *const *events, const char *wanted)
{
    struct scene scene;
    ttr *t = ttr_new(NULL);
    scene_begin(&scene, t, format);
    for (; *events; events++)
        add(&scene, (uint32_t)strtoul(*events, NULL, 10), strchr(*events, ' ') + 1);
    expect_pairs(&scene, NULL, wanted);
    scene_end(&scene);
    ttr_free(t);
}

static void spellings_of_tracers_mean_the_same(void **state)
{
    static const char *const lttng[] = {
        "1 sched_waking comm=cat tid=7 prio=20 target_cpu=0",
        "0 sched_switch prev_comm=swapper/0 prev_tid=0 prev_prio=20 prev_state=0 next_comm=cat "
        "next_tid=7 next_prio=20",
        "0 syscall_entry_read fd=3",
        "0 irq_softirq_entry vec=3",
        "0 irq_softirq_exit vec=3",
        "0 syscall_exit_read ret=0",
        "0 sched_switch prev_comm=cat prev_tid=7 prev_prio=20 prev_state=2 next_comm=swapper/0 "
        "next_tid=0 next_prio=20",
        NULL};
    static const char *const perf[] = {
        "1 sched:sched_waking comm=cat pid=7 prio=120 target_cpu=0",
        "0 sched:sched_switch prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=0 "
        "next_comm=cat next_pid=7 next_prio=120",
        "0 syscalls:sys_enter_read fd=3",
        "0 irq:softirq_entry vec=3",
        "0 irq:softirq_exit vec=3",
        "0 syscalls:sys_exit_read ret=0",
        "0 sched:sched_switch prev_comm=cat prev_pid=7 prev_prio=120 prev_state=2 "
        "next_comm=swapper/0 next_pid=0 next_prio=120",
        NULL};
    static const char wanted[] = "10 wake sched_waking 7(cat) from -\n"
                                 "20 switch sched_switch 7(cat) from 0(swapper/0)\n"
                                 "30 begin read 7(cat)\n"
                                 "40 begin NET_RX CPU 0\n"
                                 "50 end NET_RX CPU 0\n"
                                 "60 end read 7(cat)\n"
                                 "70 switch sched_switch 0(swapper/0) from 7(cat)\n";
    (void)state;
    expect("ctf", lttng, wanted);
    expect("perf", perf, wanted);
}

#define TO_7                                                                                 \
    "0 sched_switch prev_comm=a prev_tid=5 prev_prio=0 prev_state=1 next_comm=b next_tid=7 " \
    "next_prio=0"

static void events_that_only_have_the_name_stay_as_they_are(void **state)
{
    static const char *const events[] = {"0 sched_switch who=me", "0 net:sched_switch a=1",
                                         "0 irq_handler_entry name=x", NULL};
    (void)state;
    expect("ctf", events,
           "10 instant sched_switch -\n20 instant sched_switch -\n"
           "30 instant irq_handler_entry -\n");
    expect("fxt", events,
           "10 instant sched_switch -\n20 instant sched_switch -\n"
           "30 instant irq_handler_entry -\n");
}

static void lost_ends_are_added_as_incomplete(void **state)
{
    static const char *const events[] = {TO_7,
                                         "0 syscall_entry_read fd=3",
                                         "0 syscall_entry_write fd=3",
                                         "0 syscall_exit_close ret=0",
                                         "0 syscall_exit_close ret=0",
                                         "0 irq_handler_entry irq=5 name=disk",
                                         "0 irq_softirq_entry vec=4",
                                         "0 irq_handler_exit irq=5 ret=1",
                                         "0 irq_handler_exit irq=5 ret=1",
                                         NULL};
    (void)state;
    expect("ctf", events,
           "10 switch sched_switch 7(b) from 5(a)\n20 begin read 7(b)\n"
           "30 end read 7(b) partial\n30 begin write 7(b)\n"
           "40 end write 7(b) partial\n40 instant syscall_exit_close 7(b)\n"
           "50 instant syscall_exit_close 7(b)\n"
           "60 begin disk CPU 0\n70 begin BLOCK CPU 0\n80 end BLOCK CPU 0 partial\n"
           "80 end disk CPU 0\n90 instant irq_handler_exit 7(b)\n");
}

static void exit_ends_with_its_thread(void **state)
{
    static const char *const events[] = {
        TO_7,
        "0 syscall_entry_exit status=0",
        "0 sched_process_exit comm=b tid=7 prio=0",
        "0 sched_switch prev_comm=b prev_tid=7 prev_prio=0 prev_state=64 next_comm=a next_tid=5 "
        "next_prio=0",
        "0 sched_process_fork parent_tid=5 child_comm=c child_tid=7 child_pid=7",
        NULL};
    (void)state;
    expect("ctf", events,
           "10 switch sched_switch 7(b) from 5(a)\n20 begin exit 7(b)\n30 end exit 7(b)\n"
           "30 instant sched_process_exit 7(b)\n40 switch sched_switch 5(a) from 7(b)\n"
           "50 wake sched_process_fork 7(c) from 5(a)\n");
}

static void two_records_of_a_call_are_one_span(void **state)
{
    static const char *const events[] = {
        "0 sched:sched_switch prev_pid=5 prev_state=1 next_pid=7 next_comm=b",
        "0 raw_syscalls:sys_enter id=9",
        "0 syscalls:sys_enter_mmap addr=0",
        "0 raw_syscalls:sys_exit id=9 ret=0",
        "0 syscalls:sys_exit_mmap ret=0",
        "0 raw_syscalls:sys_enter id=100000",
        "0 raw_syscalls:sys_exit id=-1",
        NULL};
    (void)state;
    expect("perf", events,
           "10 switch sched_switch 7(b) from 5()\n20 begin syscall 9 7(b)\n"
           "30 instant sys_enter_mmap 7(b)\n40 end syscall 9 7(b)\n"
           "50 instant sys_exit_mmap 7(b)\n60 begin syscall 100000 7(b)\n"
           "70 end syscall 100000 7(b)\n");
}

/* A CTF trace that was converted from perf: its system calls are spans already. */
static void rules_of_lttng_ignore_events_of_other_tracers(void **state)
{
    static const char *const events[] = {TO_7,
                                         "0 raw_syscalls:sys_enter id=9",
                                         "0 raw_syscalls:sys_exit id=9 ret=0",
                                         "0 syscalls:sys_enter_mmap addr=0",
                                         "0 sys_open flags=0",
                                         NULL};
    (void)state;
    expect("ctf", events,
           "10 switch sched_switch 7(b) from 5(a)\n20 instant sys_enter 7(b)\n"
           "30 instant sys_exit 7(b)\n40 instant sys_enter_mmap 7(b)\n50 begin open 7(b)\n");
}

static void names_of_threads_change_between_batches(void **state)
{
    static const char *const events[] = {TO_7, "0 syscall_entry_execve filename=/bin/c",
                                         "0 task_rename tid=7 newcomm=c", NULL};
    struct scene scene;
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    (void)state;
    scene_begin(&scene, t, "ctf");
    for (size_t i = 0; events[i]; i++)
        add(&scene, 0, strchr(events[i], ' ') + 1);
    ttr_reader *in = interpret(&scene, NULL, NULL);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 2);
    append_line(&scene, &batch.event[1]);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 1);
    append_line(&scene, &batch.event[0]);
    assert_string_equal(scene.text, "20 begin execve 7(b)\n30 instant task_rename 7(c)\n");
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_END);
    ttr_close(in);
    scene_end(&scene);
    ttr_free(t);
}

static void counter_has_only_its_series(void **state)
{
    struct scene scene;
    ttr_batch batch;
    ttr_fields fields;
    ttr_field field;
    ttr_event original;
    ttr *t = ttr_new(NULL);
    (void)state;
    scene_begin(&scene, t, "perf");
    add(&scene, 0, "power:cpu_idle state=4294967295 cpu_id=3");
    ttr_reader *in = interpret(&scene, NULL, NULL);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    const ttr_event *event = &batch.event[0];
    assert_int_equal(event->kind, TTR_KIND_COUNTER);
    assert_int_equal(event->link, 3);
    ttr_fields_begin(t, event, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    assert_int_equal(field.value.v.s, -1);
    assert_false(ttr_fields_next(&fields, &field));
    assert_true(ttr_event_original(t, event, &original));
    assert_true(ttr_field_find(t, &original, "cpu_id", &field));
    assert_int_equal(field.value.v.u, 3);
    assert_int_equal(original.kind, TTR_KIND_INSTANT);
    ttr_close(in);
    scene_end(&scene);
    ttr_free(t);
}

static void gap_hides_the_running_thread(void **state)
{
    struct scene scene;
    ttr *t = ttr_new(NULL);
    (void)state;
    scene_begin(&scene, t, "ctf");
    add(&scene, 0, strchr(TO_7, ' ') + 1);
    add(&scene, 0, "irq_softirq_entry vec=1");
    add(&scene, 0, "gap");
    scene.event[2].kind = TTR_KIND_GAP;
    add(&scene, 0, "irq_softirq_exit vec=1");
    add(&scene, 0, "other");
    expect_pairs(&scene, NULL,
                 "10 switch sched_switch 7(b) from 5(a)\n20 begin TIMER CPU 0\n"
                 "30 end TIMER CPU 0 partial\n30 gap gap -\n40 instant irq_softirq_exit -\n"
                 "50 instant other -\n");
    scene_end(&scene);
    ttr_free(t);
}

static void pairs_of_the_caller_make_spans(void **state)
{
    static const char *const pairs[] = {"mpi:*_in,mpi:*_out", "start,stop,id", NULL};
    struct scene scene;
    ttr *t = ttr_new(NULL);
    (void)state;
    scene_begin(&scene, t, "fxt");
    for (size_t i = 0; i < 8; i++) {
        static const char *const events[] = {"send_in",   "recv_in",    "recv_out",   "send_out",
                                             "stop id=1", "start id=2", "start id=x", "stop id=2"};
        add(&scene, 0, events[i]);
        if (i < 4) { /* the names contain colons */
            char name[32];
            (void)snprintf(name, sizeof name, "mpi:%s", events[i]);
            scene.event[i].name = ttr_text_add(t, name, strlen(name));
        }
        scene.event[i].thread = context_thread(t, scene.source, 1, 2);
    }
    expect_pairs(&scene, pairs,
                 "10 begin send 2()\n20 begin recv 2()\n30 end recv 2()\n40 end send 2()\n"
                 "50 instant stop 2()\n60 async_begin start 2()\n70 async_begin start 2()\n"
                 "80 async_end start 2()\n");
    scene_end(&scene);
    ttr_free(t);
}

static void unknown_and_malformed_pairs_are_reported(void **state)
{
    static const char *const unknown[] = {"a,b", NULL};
    static const char *const malformed[][2] = {
        {"a", NULL}, {",b", NULL}, {"a,b,1,2,3,4,5,6", NULL}};
    struct scene scene;
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    (void)state;
    scene_begin(&scene, t, "fxt");
    add(&scene, 0, "a");
    ttr_reader *in = interpret(&scene, unknown, NULL);
    assert_non_null(in);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_END);
    ttr_close(in);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        ttr_error error = {0};
        assert_null(interpret(&scene, malformed[i], &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    scene_end(&scene);
    ttr_free(t);
}

static void task_states_depend_on_the_kernel(void **state)
{
    static const struct {
        const char *release;
        unsigned bits, state;
    } rows[] = {
        {"3.10.92", 0x400, TTR_THREAD_PREEMPTED},
        {"4.4.3-1-ARCH", 0x800, TTR_THREAD_PREEMPTED},
        {"4.4.3", 0x40, TTR_THREAD_DEAD},
        {"4.4.3", 0x82, TTR_THREAD_UNINTERRUPTIBLE},
        {"4.9", 0x1000, TTR_THREAD_PREEMPTED},
        {"4.14.0", 0x40, TTR_THREAD_BLOCKED},
        {"6.12", 0x100, TTR_THREAD_PREEMPTED},
        {"6.12", 0x80, TTR_THREAD_BLOCKED},
        {"6.12", 0x20, TTR_THREAD_DEAD},
        {"6.12", 2, TTR_THREAD_UNINTERRUPTIBLE},
        {"6.12", 1, TTR_THREAD_BLOCKED},
        {"6.12", 4, TTR_THREAD_SUSPENDED},
        {"6.12", 8, TTR_THREAD_SUSPENDED},
        {"6.12", 0, TTR_THREAD_RUNNING},
        {"", 0x1000, TTR_THREAD_PREEMPTED},
        {"", 0x100, TTR_THREAD_PREEMPTED},
        {"", 0x40, TTR_THREAD_DEAD},
        {"2.6.32", 0x20, TTR_THREAD_DEAD},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(meaning_task_state(meaning_parse_release((ttr_text){
                                                rows[i].release, strlen(rows[i].release)}),
                                            rows[i].bits),
                         rows[i].state);
}

static void mutexes_are_waited_for_and_held(void **state)
{
    static const char *const events[] = {
        "0 lttng_ust_pthread:pthread_mutex_lock_req @tid=7 mutex=0x10",
        "0 lttng_ust_pthread:pthread_mutex_lock_acq @tid=7 mutex=0x10 status=0",
        "0 lttng_ust_pthread:pthread_mutex_lock_req @tid=8 mutex=0x10",
        "0 lttng_ust_pthread:pthread_mutex_trylock @tid=7 mutex=0x20 status=16",
        "0 lttng_ust_pthread:pthread_mutex_unlock @tid=7 mutex=0x10 status=0",
        "0 lttng_ust_pthread:pthread_mutex_lock_acq @tid=8 mutex=0x10 status=35",
        "0 lttng_ust_pthread:pthread_mutex_trylock @tid=8 mutex=0x20 status=0",
        "0 lttng_ust_pthread:pthread_mutex_unlock @tid=8 mutex=0x20 status=0",
        "0 lttng_ust_pthread:pthread_mutex_unlock @tid=8 mutex=0x20 status=1",
        NULL};
    (void)state;
    expect("ust", events,
           "10 begin wait mutex 7()\n20 end wait mutex 7()\n20 async_begin hold mutex 7()\n"
           "30 begin wait mutex 8()\n40 instant pthread_mutex_trylock 7()\n"
           "50 async_end hold mutex 7()\n60 end wait mutex 8()\n70 async_begin hold mutex 8()\n"
           "80 async_end hold mutex 8()\n90 instant pthread_mutex_unlock 8()\n");
}

static void recursive_mutex_is_held_until_last_unlock(void **state)
{
    static const char *const events[] = {
        "0 lttng_ust_pthread:pthread_mutex_lock_req @tid=7 mutex=0x10",
        "0 lttng_ust_pthread:pthread_mutex_lock_acq @tid=7 mutex=0x10 status=0",
        "0 lttng_ust_pthread:pthread_mutex_lock_req @tid=7 mutex=0x10",
        "0 lttng_ust_pthread:pthread_mutex_lock_acq @tid=7 mutex=0x10 status=0",
        "0 lttng_ust_pthread:pthread_mutex_unlock @tid=7 mutex=0x10 status=0",
        "0 lttng_ust_pthread:pthread_mutex_unlock @tid=7 mutex=0x10 status=0",
        NULL};
    (void)state;
    expect("ust", events,
           "10 begin wait mutex 7()\n20 end wait mutex 7()\n20 async_begin hold mutex 7()\n"
           "30 begin wait mutex 7()\n40 end wait mutex 7()\n"
           "50 instant pthread_mutex_unlock 7()\n60 async_end hold mutex 7()\n");
}

static void message_flows_from_its_write_to_each_take(void **state)
{
    static const char *const events[] = {
        "0 dds:write @tid=7 writer=1 timestamp=5",
        "0 ros2:rmw_publish @tid=7 message=9 timestamp=5",
        "0 ros2:rmw_take @tid=8 message=3 source_timestamp=5 taken=0",
        "0 ros2:rmw_take @tid=8 message=3 source_timestamp=5 taken=1",
        "0 ros2:rmw_take @tid=9 message=4 source_timestamp=5 taken=1",
        "0 ros2:rmw_take @tid=9 message=4 source_timestamp=6 taken=1",
        "0 ros2:rmw_publish @tid=7 message=9",
        NULL};
    (void)state;
    expect("ust", events,
           "10 flow_begin message 7()\n20 instant rmw_publish 7()\n30 instant rmw_take 8()\n"
           "40 flow_end message 8()\n50 flow_end message 9()\n60 instant rmw_take 9()\n"
           "70 instant rmw_publish 7()\n");
}

static void tasks_flow_from_scheduler_to_their_span(void **state)
{
    static const char *const events[] = {
        "0 System.Threading.Tasks.TplEventSource:TaskScheduled @tid=7 OriginatingTaskID=0 TaskID=3",
        "0 System.Threading.Tasks.TplEventSource:TaskWaitBegin @tid=7 TaskID=3 Behavior=2",
        "0 System.Threading.Tasks.TplEventSource:TaskStarted @tid=8 TaskID=3",
        "0 System.Threading.Tasks.TplEventSource:TaskStarted @tid=9 TaskID=4",
        "0 System.Threading.Tasks.TplEventSource:TaskCompleted @tid=8 TaskID=3 IsExceptional=0",
        "0 System.Threading.Tasks.TplEventSource:TaskWaitEnd @tid=8 TaskID=3",
        "0 System.Threading.Tasks.TplEventSource:TaskCompleted @tid=9 TaskID=4 IsExceptional=0",
        "0 System.Threading.Tasks.TplEventSource:TaskCompleted @tid=9 TaskID=5 IsExceptional=0",
        NULL};
    (void)state;
    expect("nettrace", events,
           "10 flow_begin task 7()\n20 async_begin wait for task 7()\n30 flow_end task 8()\n"
           "30 begin task 8()\n40 begin task 9()\n50 end task 8()\n60 async_end wait for task 8()\n"
           "70 end task 9()\n80 instant TaskCompleted 9()\n");
}

static void every_rule_is_listed(void **state)
{
    ttr_interpret_row row = {.size = sizeof row};
    size_t n = 0;
    (void)state;
    for (; ttr_interpret_rule(n, &row); n++) {
        assert_non_null(row.world);
        assert_non_null(row.becomes);
        assert_true(strlen(row.events) > 0);
    }
    assert_int_equal(n, linux_kernel_rules.n + lttng_ust_rules.n + dotnet_rules.n);
}

/* --- Allocation failures --- */

/* Events with strings that are interned in the same order in each context that fails. */
static struct scene failing;
static bool is_failing_ust; /* the events are of LTTng-UST, not of the kernel */

static bool intern_same_texts(ttr *t)
{
    for (ttr_id id = 1; id < ttr_text_count(failing.t); id++) {
        const ttr_text text = ttr_text_get(failing.t, id);
        const ttr_id same = ttr_text_add(t, text.p, text.n);
        if (!same)
            return false;
        assert_int_equal(same, id);
    }
    return true;
}

static bool interpret_with(const struct alloc *alloc)
{
    static const char *const pairs[] = {"mpi_*_in,mpi_*_out,rank", NULL};
    ttr_error error = {0};
    ttr_reader *in = NULL;
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = alloc->resize, .user_data = alloc->ctx});
    if (t && intern_same_texts(t) && context_add_source(t, "here", "ctf") == failing.source &&
        (!is_failing_ust || add_ust_domain(t, failing.source))) {
        const ttr_interpret_options options = {.size = sizeof options,
                                               .pairs = is_failing_ust ? NULL : pairs};
        in = ttr_interpret(memory_reader(t, &(struct memory_events){.event = failing.event,
                                                                    .n = failing.n,
                                                                    .order = TTR_ORDER_TIME}),
                           &options, &error);
    }
    const bool is_fine = in && memory_reads_through(in, &error);
    ttr_free(t);
    return is_fine;
}

static void fail_allocations(const char *format, const char *const *events, size_t n)
{
    ttr *t = ttr_new(NULL);
    is_failing_ust = strcmp(format, "ust") == 0;
    scene_begin(&failing, t, format);
    for (size_t i = 0; i < n; i++)
        add(&failing, 0, events[i]);
    support_fail_each(interpret_with);
    scene_end(&failing);
    ttr_free(t);
}

static void allocation_failure_is_reported(void **state)
{
    static const char *const events[] = {
        "sched_waking comm=cat tid=7 target_cpu=0",
        "sched_switch prev_comm=a prev_tid=5 prev_state=1 next_comm=b next_tid=7",
        "syscall_entry_read fd=3",
        "irq_softirq_entry vec=1",
        "syscall_entry_write fd=3",
        "irq_softirq_exit vec=1",
        "block_rq_issue dev=1 sector=2",
        "block_rq_complete dev=1 sector=2",
        "power_cpu_frequency state=5 cpu_id=1",
        "mpi_send_in rank=x",
        "mpi_send_out rank=x",
        "sched_process_fork parent_tid=7 child_comm=c child_tid=9 child_pid=9",
    };
    static const char *const ust_events[] = {
        "lttng_ust_pthread:pthread_mutex_lock_req mutex=0x10",
        "lttng_ust_pthread:pthread_mutex_lock_acq mutex=0x10 status=0",
        "lttng_ust_pthread:pthread_mutex_unlock mutex=0x10 status=0",
        "dds:write writer=1 timestamp=5",
        "ros2:rmw_take message=3 source_timestamp=5 taken=1",
    };
    (void)state;
    fail_allocations("ctf", events, sizeof events / sizeof *events);
    fail_allocations("ust", ust_events, sizeof ust_events / sizeof *ust_events);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_tracers_mean_the_same),
        cmocka_unit_test(events_that_only_have_the_name_stay_as_they_are),
        cmocka_unit_test(lost_ends_are_added_as_incomplete),
        cmocka_unit_test(exit_ends_with_its_thread),
        cmocka_unit_test(two_records_of_a_call_are_one_span),
        cmocka_unit_test(rules_of_lttng_ignore_events_of_other_tracers),
        cmocka_unit_test(names_of_threads_change_between_batches),
        cmocka_unit_test(counter_has_only_its_series),
        cmocka_unit_test(gap_hides_the_running_thread),
        cmocka_unit_test(pairs_of_the_caller_make_spans),
        cmocka_unit_test(unknown_and_malformed_pairs_are_reported),
        cmocka_unit_test(task_states_depend_on_the_kernel),
        cmocka_unit_test(mutexes_are_waited_for_and_held),
        cmocka_unit_test(recursive_mutex_is_held_until_last_unlock),
        cmocka_unit_test(message_flows_from_its_write_to_each_take),
        cmocka_unit_test(tasks_flow_from_scheduler_to_their_span),
        cmocka_unit_test(every_rule_is_listed),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
