/* Tests for the tracepoint list of the running kernel, or the error without tracefs. The output is
 * tested with the command. */
#include <tracetta/tracepoints.h>

#include "support/support.h"

static void running_kernel_lists_events_or_fails_with_reason(void **state)
{
    (void)state;
    ttr_error error = {0};
    ttr_kernel_event event = {.size = sizeof event};
    ttr_kernel_events *events = ttr_kernel_events_list(NULL, &error);
    if (!events) {
        assert_int_equal(error.status, TTR_E_IO);
        assert_true(strlen(error.text) > 0);
        return;
    }
    size_t n = 0;
    for (; ttr_kernel_events_at(events, n, &event); n++)
        assert_true(event.is_user_event || !event.is_event_header);
    assert_true(n > 0);
    (void)ttr_kernel_events_has_user_events(events);
    ttr_kernel_events_free(events);
    ttr_kernel_events_free(NULL);
}

static void invalid_name_is_refused_before_the_kernel_call(void **state)
{
    (void)state;
    ttr_error error;
    char name[2000];
    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 6, "_L1K1", 6);
    assert_int_equal(ttr_kernel_events_register("/nowhere", "Shop", &error), TTR_E_MISUSE);
    assert_int_equal(ttr_kernel_events_register("/nowhere", name, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_kernel_events_register("/nowhere", "Shop_L1K1", &error),
                     TTR_E_UNSUPPORTED);
    assert_int_equal(ttr_kernel_events_delete("/nowhere", "Shop_L1K1", &error), TTR_E_UNSUPPORTED);
    assert_null(ttr_kernel_events_list("/nowhere", &error));
    assert_int_equal(error.status, TTR_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_kernel_lists_events_or_fails_with_reason),
        cmocka_unit_test(invalid_name_is_refused_before_the_kernel_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
