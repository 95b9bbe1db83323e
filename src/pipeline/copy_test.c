/* Copying passes every event on, and failures of both sides. */
#include "support/support.h"

#include <errno.h>

#include <tracetta/analyse.h>
#include <tracetta/write.h>

#include "support/memory_reader.h"

#define N 2000

static ttr_event events[N];

struct received {
    size_t lines, room;
};

static int64_t receive(void *ctx, const void *bytes, size_t n)
{
    struct received *received = ctx;
    const char *at = bytes;
    if (n > received->room) {
        errno = ENOSPC;
        return -1;
    }
    received->room -= n;
    for (size_t i = 0; i < n; i++)
        received->lines += at[i] == '\n';
    return (int64_t)n;
}

static ttr_status copy(const struct memory_events *given, struct received *received,
                       ttr_progress progress, ttr_error *error)
{
    ttr *t = ttr_new(NULL);
    memory_random_events(t, events, N, 1, 1000);
    ttr_reader *reader = memory_reader(t, given);
    ttr_writer *writer = ttr_create_push(t, receive, received, "jsonl", NULL, error);
    assert_non_null(writer);
    ttr_status status = ttr_copy(reader, writer, progress, NULL, error);
    ttr_status finished = ttr_finish(writer, NULL);
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
    return status == TTR_OK ? finished : status;
}

static void every_event_is_written(void **state)
{
    struct received received = {.room = SIZE_MAX};
    (void)state;
    assert_int_equal(copy(&(struct memory_events){.event = events, .n = N}, &received, NULL, NULL),
                     TTR_OK);
    assert_int_equal(received.lines, N);
}

static void failures_of_both_sides_end_it(void **state)
{
    struct received received = {.room = SIZE_MAX}, full = {.room = 1000};
    struct memory_events broken = {.event = events, .n = 300, .ending = TTR_E_MALFORMED};
    (void)state;
    assert_int_equal(copy(&broken, &received, NULL, NULL), TTR_E_MALFORMED);
    assert_int_equal(received.lines, 300);
    assert_int_equal(copy(&(struct memory_events){.event = events, .n = N}, &full, NULL, NULL),
                     TTR_E_IO);
}

static bool stop_at_once(void *ctx)
{
    (void)ctx;
    return false;
}

static void ended_early_the_output_is_whole_so_far(void **state)
{
    struct received received = {.room = SIZE_MAX};
    ttr_error error = {0};
    (void)state;
    struct memory_events given = {.event = events, .n = N, .batch_max = 1};
    assert_int_equal(copy(&given, &received, stop_at_once, &error), TTR_AGAIN);
    assert_int_equal(error.status, TTR_AGAIN);
    assert_int_equal(received.lines, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_written),
        cmocka_unit_test(failures_of_both_sides_end_it),
        cmocka_unit_test(ended_early_the_output_is_whole_so_far),
    };
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
