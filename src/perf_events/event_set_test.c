/* Tests for event selection by names, globs and wrong names, in a directory that imitates tracefs.
 */
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

static void make_tracepoint(const char *root, const char *system, const char *name, const char *id)
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
    make_tracepoint(root, "sched", "sched_switch", "10\n");
    make_tracepoint(root, "sched", "sched_wakeup", "11\n");
    make_tracepoint(root, "irq", "irq_handler_entry", "20\n");
    make_tracepoint(root, "user_events", "Shop_L5K1", "1500\n");
    make_tracepoint(root, "user_events", "Shop_L5Kff", "1501\n");
    make_tracepoint(root, "user_events", "Shop_L2K1", "1502\n");
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

/* Checks the tracepoint ids that a list selects, in ascending order. */
static void expect_tracepoints(const char *root, const char *list, const char *numbers)
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

static void name_or_glob_selects_tracepoints(void **state)
{
    const char *root = *state;
    expect_tracepoints(root, "sched:sched_switch", "10");
    expect_tracepoints(root, "sched:*", "10 11");
    expect_tracepoints(root, "*:*_[se]*", "10 20");
    expect_tracepoints(root, "sched:*,irq:irq_handler_entry,sched:sched_switch", "10 11 20");
}

static void user_event_without_system_is_found(void **state)
{
    const char *root = *state;
    expect_tracepoints(root, "Shop_L5K*", "1500 1501");
    expect_tracepoints(root, "Shop_*", "1500 1501 1502");
    expect_tracepoints(root, "sched_wakeup", "11");
}

static void counter_alias_selects_counter_once(void **state)
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

static void unknown_name_error_suggests_similar_names(void **state)
{
    const char *root = *state;
    expect_refusal(root, "sched:sched_swich",
                   "the kernel has no event \"sched:sched_swich\"; similar: sched:sched_switch");
    expect_refusal(root, "cpu-clok", "the kernel has no event \"cpu-clok\"; similar: cpu-clock");
    expect_refusal(
        root, "Shop_L5K2",
        "the kernel has no event \"Shop_L5K2\"; similar: Shop_L5K1, Shop_L5Kff, Shop_L2K1");
    expect_refusal(root, "nothing:like_it", "the kernel has no event \"nothing:like_it\"");
}

/* Events after the failed entry would be silently missing from the recording. */
static void failed_tracepoint_listing_is_an_error(void **state)
{
    /* each of 3 directories has 3 entries before its end: ".", ".." and a child */
    for (readdir_fails_at = 1; readdir_fails_at <= 9; readdir_fails_at++) {
        ttr_perf_events *set = ttr_perf_events_new(*state);
        ttr_error error = {.text = ""};
        readdir_calls = 0;
        const ttr_status status = ttr_perf_events_add(set, "sched:*,irq:*", &error);
        ttr_perf_events_free(set);
        assert_int_equal(status, TTR_E_IO);
        assert_non_null(strstr(error.text, "cannot list all tracepoints in "));
    }
    readdir_fails_at = 0;
}

static void failed_thread_listing_is_an_error(void **state)
{
    ttr_perf_events *set = ttr_perf_events_new(*state);
    ttr_error error = {.text = ""};
    assert_int_equal(ttr_perf_events_add(set, "cpu-clock", &error), TTR_OK);
    const ttr_perf_config wish = {.size = sizeof wish, .events = set, .pid = (uint64_t)getpid()};
    readdir_calls = 0;
    readdir_fails_at = 3;
    assert_null(ttr_perf_open(&wish, &error));
    readdir_fails_at = 0;
    assert_int_equal(error.status, TTR_E_IO);
    assert_non_null(strstr(error.text, "cannot list the threads of process "));
    ttr_perf_events_free(set);
}

static void missing_tracefs_leaves_counters_usable(void **state)
{
    (void)state;
    ttr_perf_events *set = ttr_perf_events_new("/nowhere/at/all");
    ttr_error error = {.text = ""};
    assert_int_equal(ttr_perf_events_add(set, "cpu-clock", &error), TTR_OK);
    assert_int_not_equal(ttr_perf_events_add(set, "sched:sched_switch", &error), TTR_OK);
    assert_non_null(strstr(error.text,
                           "event \"sched:sched_switch\" is unknown without tracefs; tracefs is "
                           "not mounted; as root: mount -t tracefs none /sys/kernel/tracing"));
    assert_int_not_equal(ttr_perf_events_add(set, "cpu-clok", &error), TTR_OK);
    assert_non_null(strstr(error.text, "event \"cpu-clok\" is unknown without tracefs; similar: "
                                       "cpu-clock; tracefs is not mounted"));
    ttr_perf_events_free(set);
    ttr_perf_events_free(NULL);
}

static void recording_without_events_is_refused(void **state)
{
    ttr_perf_events *set = ttr_perf_events_new(*state);
    ttr_error error;
    const ttr_perf_config wish = {.size = sizeof wish, .events = set};
    assert_null(ttr_perf_open(&wish, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_perf_close(NULL);
    ttr_perf_events_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(name_or_glob_selects_tracepoints, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(user_event_without_system_is_found, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(counter_alias_selects_counter_once, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(unknown_name_error_suggests_similar_names, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(failed_tracepoint_listing_is_an_error, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test_setup_teardown(failed_thread_listing_is_an_error, make_tracefs,
                                        remove_tracefs),
        cmocka_unit_test(missing_tracefs_leaves_counters_usable),
        cmocka_unit_test_setup_teardown(recording_without_events_is_refused, make_tracefs,
                                        remove_tracefs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
