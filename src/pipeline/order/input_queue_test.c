/* The queue returns all events of all inputs in order of (rank, input), for each distribution of
 * times. */
#include "pipeline/order/input_queue.h"

#include <stdlib.h>

#include "support/support.h"

enum { EVENTS_MAX = 60000 };

/* All inputs in one array: input i has [begin[i], begin[i + 1]), ascending. */
static uint64_t ranks[EVENTS_MAX];
static size_t begin[EVENTS_MAX + 1], at[EVENTS_MAX];

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Distributes `total` ranks, made by the pattern, to n inputs. */
static void deal(size_t n, size_t total,
                 uint64_t (*pattern)(uint64_t *seed, size_t input, size_t i), uint64_t seed)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count =
            i + 1 == n ? total - k : support_random(&seed) % (2 * total / n + 1) % (total - k + 1);
        begin[i] = k;
        for (size_t end = k + count; k < end; k++)
            ranks[k] = pattern(&seed, i, k);
        if (count)
            qsort(ranks + begin[i], count, sizeof *ranks, compare_ranks);
    }
    begin[n] = k;
}

/* Empties the queue.  Returns the number of events, and checks their order if the inputs are
 * ordered. */
static size_t walk(struct input_queue *queue, size_t n, bool is_ordered)
{
    size_t given = 0;
    uint64_t last_rank = 0;
    size_t last_input = 0;
    for (size_t i = 0; i < n; i++) {
        at[i] = begin[i];
        if (at[i] < begin[i + 1])
            input_queue_add(queue, i, ranks[at[i]]);
    }
    while (queue->n > 0) {
        size_t top = input_queue_top(queue);
        uint64_t rank = ranks[at[top]];
        bool is_later = rank > last_rank || (rank == last_rank && top >= last_input);
        if (is_ordered && !is_later)
            fail_msg("event %zu of %zu inputs is out of order", given, n);
        last_rank = rank;
        last_input = top;
        given++;
        if (++at[top] == begin[top + 1])
            input_queue_drop_top(queue);
        else
            input_queue_move_top(queue, ranks[at[top]]);
    }
    return given;
}

static void check(size_t n, size_t total, uint64_t (*pattern)(uint64_t *, size_t, size_t))
{
    struct input_queue queue;
    deal(n, total, pattern, n + total);
    assert_true(input_queue_init(&queue, alloc_default(), n));
    assert_int_equal(walk(&queue, n, true), total);
    input_queue_free(&queue);
}

static uint64_t evenly(uint64_t *seed, size_t input, size_t i)
{
    (void)input;
    (void)i;
    return UINT64_C(1) << 63 | support_random(seed) % 50000000;
}

static uint64_t at_one_time(uint64_t *seed, size_t input, size_t i)
{
    (void)seed;
    (void)input;
    (void)i;
    return 77;
}

static uint64_t at_few_times(uint64_t *seed, size_t input, size_t i)
{
    (void)input;
    (void)i;
    return support_random(seed) % 5 * 1000000000;
}

/* Some inputs have an event per second, others one per microsecond. */
static uint64_t at_uneven_rates(uint64_t *seed, size_t input, size_t i)
{
    (void)i;
    return input % 16 ? support_random(seed) % 1000 * 1000000000
                      : 5000000000 + support_random(seed) % 10000000;
}

/* Bursts of nanoseconds with pauses of hours. */
static uint64_t in_bursts(uint64_t *seed, size_t input, size_t i)
{
    (void)input;
    (void)i;
    return support_random(seed) % 20 * 3600000000000 + support_random(seed) % 1000;
}

static uint64_t at_the_ends_of_all_numbers(uint64_t *seed, size_t input, size_t i)
{
    (void)input;
    (void)i;
    uint64_t few = support_random(seed) % 4;
    return support_random(seed) % 2 ? few : UINT64_MAX - few;
}

static uint64_t anywhere(uint64_t *seed, size_t input, size_t i)
{
    (void)input;
    (void)i;
    return support_random_word(seed);
}

static uint64_t one_after_the_other(uint64_t *seed, size_t input, size_t i)
{
    (void)seed;
    (void)input;
    return i;
}

static void any_distribution_of_times_is_ordered(void **state)
{
    (void)state;
    static uint64_t (*const patterns[])(uint64_t *, size_t, size_t) = {
        evenly,          at_one_time,        at_few_times,
        at_uneven_rates, in_bursts,          at_the_ends_of_all_numbers,
        anywhere,        one_after_the_other};
    static const size_t counts[] = {1, 2, 3, 4, 5, 17, 512, 3000};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            check(counts[c], EVENTS_MAX, patterns[p]);
}

static void inputs_without_events_are_never_the_top(void **state)
{
    (void)state;
    for (size_t total = 0; total < 4; total++)
        check(600, total, anywhere);
    struct input_queue queue;
    assert_true(input_queue_init(&queue, alloc_default(), 0));
    assert_int_equal(queue.n, 0);
    input_queue_free(&queue);
}

static void unordered_inputs_return_all_events(void **state)
{
    (void)state;
    for (size_t n = 1; n < 600; n += 37) {
        struct input_queue queue;
        uint64_t seed = n;
        deal(n, EVENTS_MAX, in_bursts, n);
        for (size_t i = 0; i < EVENTS_MAX; i += 1 + support_random(&seed) % 5)
            ranks[i] = support_random_word(&seed);
        assert_true(input_queue_init(&queue, alloc_default(), n));
        assert_int_equal(walk(&queue, n, false), EVENTS_MAX);
        input_queue_free(&queue);
    }
}

static bool begins_through(const struct alloc *alloc)
{
    struct input_queue queue;
    bool is_fine = input_queue_init(&queue, alloc, 9);
    input_queue_free(&queue);
    return is_fine;
}

static void failing_allocation_of_any_call_is_reported(void **state)
{
    (void)state;
    support_fail_each(begins_through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_distribution_of_times_is_ordered),
        cmocka_unit_test(inputs_without_events_are_never_the_top),
        cmocka_unit_test(unordered_inputs_return_all_events),
        cmocka_unit_test(failing_allocation_of_any_call_is_reported),
    };
    return cmocka_run_group_tests_name("input_queue", tests, NULL, NULL);
}
