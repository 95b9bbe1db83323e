/* Scheduling packets of the Perfetto writer, compared with packets derived by hand from the public
 * schema. The packets are compared as lines of text (perfetto_lines.h). */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/perfetto_lines.h"

static struct writing w;

static void begin(void)
{
    writing_open(&w, "perfetto", 0, NULL);
}

static void expect(const char *text)
{
    writing_finish(&w);
    assert_int_equal(w.status, TTR_OK);
    char *lines = perfetto_packet_lines(w.text, w.n);
    support_assert_text(lines, strlen(lines), text);
    free(lines);
    writing_close(&w);
}

static void switch_becomes_two_task_states(void **state)
{
    (void)state;
    begin();
    ttr_thread_name(w.t, 7, 9, "proc", "in");
    ttr_thread_name(w.t, 7, 8, NULL, "out");
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, 5, NULL, NULL);
    ttr_event_set_thread(w.builder, 7, 8);
    ttr_event *event = ttr_event_attributes(w.builder);
    event->link = event->thread;
    event->tag = TTR_THREAD_BLOCKED;
    event->cpu = 3;
    event->flags = TTR_EVENT_HAS_CPU;
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_add_uint(w.builder, "outgoing_priority", 20);
    ttr_add_uint(w.builder, "incoming_priority", 21);
    ttr_add_uint(w.builder, "weight", 1);
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_WAKE, 6, NULL, NULL);
    ttr_event_set_thread(w.builder, 7, 8);
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "sched.attribute"), 1);
    expect("60{1:1 3{1:7 6\"proc\"}}\n"
           "122{2{1:8 2:7 3\"out\"}}\n"
           "8:5 117{1:3 2\"out\" 3:8 4:4 5:20}\n"
           "122{2{1:9 2:7 3\"in\"}}\n"
           "8:5 117{1:3 2\"in\" 3:9 4:3 5:21}\n"
           "8:6 117{1:0 2\"out\" 3:8 4:2}\n");
}

/* Writes a switch of CPU `cpu` from thread `out` to thread `in` of process 7; 0 = the idle thread.
 */
static void write_switch(int64_t time, uint32_t cpu, uint64_t out, uint64_t in)
{
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, time, NULL, NULL);
    ttr_event_set_thread(w.builder, out ? 7 : 0, out);
    ttr_event *event = ttr_event_attributes(w.builder);
    event->link = event->thread;
    event->tag = TTR_THREAD_BLOCKED;
    event->cpu = cpu;
    event->flags = TTR_EVENT_HAS_CPU;
    ttr_event_set_thread(w.builder, in ? 7 : 0, in);
    writing_end(&w);
}

static void write_wake(int64_t time, uint64_t tid)
{
    ttr_event_begin(w.builder, TTR_KIND_WAKE, time, NULL, NULL);
    ttr_event_set_thread(w.builder, 7, tid);
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    writing_end(&w);
}

/* Keeps the lines of scheduling packets only. */
static void expect_scheduling(const char *text)
{
    char *kept = NULL;
    size_t n;
    FILE *to = open_memstream(&kept, &n);
    writing_finish(&w);
    char *lines = perfetto_packet_lines(w.text, w.n), *state = NULL;
    for (char *line = strtok_r(lines, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
        if (strstr(line, "117{"))
            (void)fprintf(to, "%s\n", line);
    (void)fclose(to);
    support_assert_text(kept, n, text);
    free(kept);
    free(lines);
    writing_close(&w);
}

static void displaced_thread_becomes_runnable(void **state)
{
    (void)state;
    begin();
    write_switch(1, 0, 8, 9);
    write_switch(2, 0, 8, 10); /* the switch from 9 to 8 is missing */
    expect_scheduling("8:1 117{1:0 3:8 4:4}\n"
                      "8:1 117{1:0 3:9 4:3}\n"
                      "8:2 117{1:0 3:9 4:2}\n"
                      "8:2 117{1:0 3:8 4:4}\n"
                      "8:2 117{1:0 3:10 4:3}\n");
}

static void thread_never_runs_on_two_cpus(void **state)
{
    (void)state;
    begin();
    write_switch(1, 0, 8, 9);
    write_switch(2, 1, 10, 9);
    write_switch(3, 0, 9, 8); /* 9 stops where the reader has it running: on CPU 1 */
    expect_scheduling("8:1 117{1:0 3:8 4:4}\n"
                      "8:1 117{1:0 3:9 4:3}\n"
                      "8:2 117{1:1 3:10 4:4}\n"
                      "8:2 117{1:0 3:9 4:2}\n"
                      "8:2 117{1:1 3:9 4:3}\n"
                      "8:3 117{1:1 3:9 4:4}\n"
                      "8:3 117{1:0 3:8 4:3}\n");
}

static void thread_has_one_state_at_a_time(void **state)
{
    (void)state;
    begin();
    write_switch(1, 0, 8, 9);
    write_switch(5, 0, 8, 9); /* the switch from 9 to 8 is missing */
    write_switch(9, 0, 9, 9);
    expect_scheduling("8:1 117{1:0 3:8 4:4}\n"
                      "8:1 117{1:0 3:9 4:3}\n"
                      "8:4 117{1:0 3:9 4:2}\n"
                      "8:5 117{1:0 3:8 4:4}\n"
                      "8:5 117{1:0 3:9 4:3}\n"
                      "8:8 117{1:0 3:9 4:2}\n"
                      "8:9 117{1:0 3:9 4:3}\n");
}

static void idle_thread_is_one_per_cpu(void **state)
{
    (void)state;
    begin();
    write_switch(1, 0, 8, 0);
    write_switch(2, 1, 9, 0);
    write_switch(3, 0, 0, 8);
    expect_scheduling("8:1 117{1:0 3:8 4:4}\n"
                      "8:1 117{1:0 2\"swapper/0\" 3:2000000000 4:3}\n"
                      "8:2 117{1:1 3:9 4:4}\n"
                      "8:2 117{1:1 2\"swapper/1\" 3:2000000001 4:3}\n"
                      "8:3 117{1:0 2\"swapper/0\" 3:2000000000 4:2}\n"
                      "8:3 117{1:0 3:8 4:3}\n");
}

static void wake_of_running_or_runnable_thread_is_ignored(void **state)
{
    (void)state;
    begin();
    write_switch(1, 0, 8, 9);
    write_wake(2, 9);
    write_wake(3, 8);
    write_wake(4, 8);
    expect_scheduling("8:1 117{1:0 3:8 4:4}\n"
                      "8:1 117{1:0 3:9 4:3}\n"
                      "8:3 117{1:0 3:8 4:2}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switch_becomes_two_task_states),
        cmocka_unit_test(displaced_thread_becomes_runnable),
        cmocka_unit_test(thread_never_runs_on_two_cpus),
        cmocka_unit_test(thread_has_one_state_at_a_time),
        cmocka_unit_test(idle_thread_is_one_per_cpu),
        cmocka_unit_test(wake_of_running_or_runnable_thread_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
