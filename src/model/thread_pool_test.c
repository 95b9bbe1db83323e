/* Tasks done by others, or not at all. */
#include "model/thread_pool.h"

#include <time.h>

#include "support/support.h"

struct sum {
    struct ahead_task task;
    uint64_t from, to, sum, runs;
};

static void add_up(void *own)
{
    struct sum *sum = own;
    sum->sum = 0;
    for (uint64_t i = sum->from; i < sum->to; i++)
        sum->sum += i;
    sum->runs++;
}

static void a_task_is_done_once_or_not_at_all(void **state)
{
    (void)state;
    struct ahead *ahead = ahead_new(alloc_default(), 3);
    assert_non_null(ahead);
    struct sum sums[16] = {{.runs = 0}};
    uint64_t taken = 0, runs = 0;
    for (unsigned round = 0; round < 2000; round++) {
        for (size_t i = 0; i < 16; i++) {
            sums[i].task.run = add_up;
            sums[i].task.own = &sums[i];
            sums[i].from = round;
            sums[i].to = round + i * 10;
            ahead_post(ahead, &sums[i].task);
        }
        for (size_t k = 0; k < 16; k++) {
            struct sum *sum = &sums[(k * 7 + round) % 16];
            if (!ahead_take(ahead, &sum->task))
                continue;
            uint64_t n = sum->to - sum->from;
            assert_int_equal(sum->sum, n * sum->from + (n ? n * (n - 1) / 2 : 0));
            taken++;
        }
    }
    for (size_t i = 0; i < 16; i++)
        runs += sums[i].runs;
    assert_int_equal(runs, taken);
    ahead_free(ahead);
}

static void a_task_that_waits_long_enough_is_done(void **state)
{
    (void)state;
    struct ahead *ahead = ahead_new(alloc_default(), 1);
    struct sum sum = {.task = {.run = add_up}, .from = 0, .to = 100};
    sum.task.own = &sum;
    for (unsigned attempt = 0;; attempt++) {
        assert_true(attempt < 3000); /* a minute, which no machine lets a thread wait */
        ahead_post(ahead, &sum.task);
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (ahead_take(ahead, &sum.task))
            break;
    }
    assert_int_equal(sum.sum, 4950);
    assert_false(ahead_take(ahead, &sum.task)); /* idle */
    ahead_free(ahead);
}

static void nothing_is_left_of_a_pool_without_memory(void **state)
{
    (void)state;
    ahead_free(NULL);
    struct ahead *ahead = ahead_new(alloc_default(), 64);
    assert_non_null(ahead);
    ahead_free(ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_done_once_or_not_at_all),
        cmocka_unit_test(a_task_that_waits_long_enough_is_done),
        cmocka_unit_test(nothing_is_left_of_a_pool_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
