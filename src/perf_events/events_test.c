/* Choosing events: names, globs and mistakes, in a folder that looks like tracefs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/collect.h>

#include "support/failing_readdir.h"
#include "support/files.h"
#include "support/support.h"

static void make_event(const char *root, const char *system, const char *name, const char *id)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/events/%s", root, system);
    (void)mkdir(path, 0777);
    (void)snprintf(path, sizeof path, "%s/events/%s/%s", root, system, name);
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof path, "%s/events/%s/%s/id", root, system, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(id, file);
    (void)fclose(file);
}

static int make_tracefs(void **state)
{
    char *root = strdup("/tmp/tracefs_test.XXXXXX"), path[64];
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof path, "%s/events", root);
    assert_int_equal(mkdir(path, 0777), 0);
    make_event(root, "sched", "sched_switch", "10\n");
    make_event(root, "sched", "sched_wakeup", "11\n");
    make_event(root, "irq", "irq_handler_entry", "20\n");
    make_event(root, "user_events", "Shop_L5K1", "1500\n");
    make_event(root, "user_events", "Shop_L5Kff", "1501\n");
    make_event(root, "user_events", "Shop_L2K1", "1502\n");
    *state = root;
    return 0;
}

static int remove_tracefs(void **state)
{
    char *root = *state;
    int failed = files_remove(root);
    free(root);
    return failed;
}

/* The events of a list, "NUMBER" each, ascending. */
static void expect(const char *root, const char *list, const char *numbers)
{
    ttr_perf_events *set = ttr_perf_events_new(root);
    ttr_perf_event event;
    ttr_error error = {.text = ""};
    char found[256] = "";
    size_t n = 0;
    assert_non_null(set);
    if (ttr_perf_events_add(set, list, &error) != TTR_OK)
        fail_msg("%s: %s", list, error.text);
    for (uint64_t id = 0; id < 2000; id++)
        for (size_t i = 0; ttr_perf_events_at(set, i, &event); i++)
            if (event.type == 2 && event.config == id)
                n += (size_t)snprintf(found + n, sizeof found - n, "%s%d", n ? " " : "", (int)id);
    assert_string_equal(found, numbers);
    ttr_perf_events_free(set);
}

static void tracepoints_are_found_by_names_and_globs(void **state)
{
    const char *root = *state;
    expect(root, "sched:sched_switch", "10");
    expect(root, "sched:*", "10 11");
    expect(root, "*:*_[se]*", "10 20");
    expect(root, "sched:*,irq:irq_handler_entry,sched:sched_switch", "10 11 20");
}

static void user_events_need_no_system(void **state)
{
    const char *root = *state;
    expect(root, "Shop_L5K*", "1500 1501");
    expect(root, "Shop_*", "1500 1501 1502");
    expect(root, "sched_wakeup", "11");
}

static void counters_have_their_names(void **state)
{
    ttr_perf_events *set = ttr_perf_events_new(*state);
    ttr_perf_event event;
    assert_int_equal(ttr_perf_events_add(set, "cpu-clock,cs,,context-switches", NULL), TTR_OK);
    assert_true(ttr_perf_events_at(set, 0, &event));
    assert_string_equal(event.name, "cpu-clock");
    assert_string_equal(event.system, "");
    assert_int_equal(event.type, 1);
    assert_true(event.is_clock);
    assert_true(ttr_perf_events_at(set, 1, &event));
    assert_string_equal(event.name, "context-switches");
    assert_int_equal(event.config, 3);
    assert_false(event.is_clock);
    assert_false(ttr_perf_events_at(set, 2, &event));
    ttr_perf_events_free(set);
}

static void expect_refusal(const char *root, const char *list, const char *text)
{
    ttr_perf_events *set = ttr_perf_events_new(root);
    ttr_error error = {.text = ""};
    assert_int_not_equal(ttr_perf_events_add(set, list, &error), TTR_OK);
    assert_string_equal(error.text, text);
    ttr_perf_events_free(set);
}

static void names_that_are_none_are_told_with_near_ones(void **state)
{
    const char *root = *state;
    expect_refusal(root, "sched:sched_swich",
                   "the kernel has no event \"sched:sched_swich\"; near to it: sched:sched_switch");
    expect_refusal(root, "cpu-clok", "the kernel has no event \"cpu-clok\"; near to it: cpu-clock");
    expect_refusal(
        root, "Shop_L5K2",
        "the kernel has no event \"Shop_L5K2\"; near to it: Shop_L5K1, Shop_L5Kff, Shop_L2K1");
    expect_refusal(root, "nothing:like_it", "the kernel has no event \"nothing:like_it\"");
}

/* What lies behind would be recorded neither, without a word. */
static void tracepoints_that_cannot_be_listed_to_their_end_are_told(void **state)
{
    for (readdir_fails_at = 1; readdir_fails_at <= 9;
         readdir_fails_at++) { /* two entries of itself, and its parent, in each folder */
        ttr_perf_events *set = ttr_perf_events_new(*state);
        ttr_error error = {.text = ""};
        readdir_calls = 0;
        const ttr_status status = ttr_perf_events_add(set, "sched:*,irq:*", &error);
        ttr_perf_events_free(set);
        assert_int_equal(status, TTR_E_IO);
        assert_non_null(strstr(error.text, "/events cannot be listed to their end"));
    }
    readdir_fails_at = 0;
}

static void threads_that_cannot_be_listed_are_told(void **state)
{
    ttr_perf_events *set = ttr_perf_events_new(*state);
    ttr_error error = {.text = ""};
    assert_int_equal(ttr_perf_events_add(set, "cpu-clock", &error), TTR_OK);
    const ttr_perf_wish wish = {.size = sizeof wish, .events = set, .pid = (uint64_t)getpid()};
    readdir_calls = 0;
    readdir_fails_at = 3;
    assert_null(ttr_perf_open(&wish, &error));
    readdir_fails_at = 0;
    assert_int_equal(error.status, TTR_E_IO);
    assert_non_null(strstr(error.text, "cannot be listed"));
    ttr_perf_events_free(set);
}

static void without_tracefs_only_tracepoints_are_missing(void **state)
{
    (void)state;
    ttr_perf_events *set = ttr_perf_events_new("/nowhere/at/all");
    ttr_error error = {.text = ""};
    assert_int_equal(ttr_perf_events_add(set, "cpu-clock", &error), TTR_OK);
    assert_int_not_equal(ttr_perf_events_add(set, "sched:sched_switch", &error), TTR_OK);
    assert_non_null(strstr(error.text,
                           "no event \"sched:sched_switch\" is known without tracefs; it is not "
                           "mounted (mount -t tracefs none /sys/kernel/tracing)"));
    assert_int_not_equal(ttr_perf_events_add(set, "cpu-clok", &error), TTR_OK);
    assert_non_null(strstr(error.text, "no event \"cpu-clok\" is known without tracefs; near to "
                                       "it: cpu-clock; it is not mounted"));
    ttr_perf_events_free(set);
    ttr_perf_events_free(NULL);
}

static void a_recording_of_nothing_is_refused(void **state)
{
    ttr_perf_events *set = ttr_perf_events_new(*state);
    ttr_error error;
    const ttr_perf_wish wish = {.size = sizeof wish, .events = set};
    assert_null(ttr_perf_open(&wish, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_perf_close(NULL);
    ttr_perf_events_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tracepoints_are_found_by_names_and_globs, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(user_events_need_no_system, make_tracefs, remove_tracefs),
        cmocka_unit_test_setup_teardown(counters_have_their_names, make_tracefs, remove_tracefs),
        cmocka_unit_test_setup_teardown(names_that_are_none_are_told_with_near_ones, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(tracepoints_that_cannot_be_listed_to_their_end_are_told,
                                        make_tracefs, remove_tracefs),
        cmocka_unit_test_setup_teardown(threads_that_cannot_be_listed_are_told, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test(without_tracefs_only_tracepoints_are_missing),
        cmocka_unit_test_setup_teardown(a_recording_of_nothing_is_refused, make_tracefs,
                                        remove_tracefs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
