/* Sorting what was read before: the same as sorting without knowing anything, and a temporary file
 * only where more is out of order than memory holds. */
#include "support/support.h"

#include <signal.h>
#include <sys/resource.h>

#include <tracetta/analyse.h>
#include <tracetta/read.h>

#include "support/memory_reader.h"
#include "model/reader.h"
#include "pipeline/order/order_index.h"
#include "pipeline/order/sort.h"

#define N 5000
#define MANY 150000

static ttr_event events[MANY];

static const struct sort_limits tiny = {
    .run_events = 80, .run_bytes = 8192, .fan_in = 3, .read_bytes = 200};

static ttr_order_index *find(ttr *t, const ttr_event *given, size_t n)
{
    ttr_reader *in = memory_reader(
        t, &(struct memory_events){.event = given, .n = n, .batch_max = 300, .seed = 7});
    ttr_order_index *disorder = ttr_order_index_find(t, in, NULL, NULL, NULL);
    ttr_close(in);
    return disorder;
}

static void number(size_t n)
{
    for (size_t i = 0; i < n; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT, .time = (int64_t)i, .offset = i};
}

/* A file size limit of nothing: whoever needs a temporary file fails. */
static bool is_sorted_without_a_file(size_t n, const struct sort_limits *limits)
{
    ttr *t = ttr_new(NULL);
    struct rlimit old;
    ttr_batch batch;
    ttr_status status;
    size_t got = 0;
    int64_t last = INT64_MIN;
    ttr_order_index *disorder = find(t, events, n);
    ttr_reader *reader = sort_known(
        memory_reader(t, &(struct memory_events){.event = events, .n = n, .batch_max = 300}),
        disorder, limits, NULL);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max}), 0);
    while ((status = ttr_read(reader, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, got++) {
            assert_true(batch.event[i].time >= last);
            last = batch.event[i].time;
        }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    ttr_close(reader);
    ttr_order_index_free(disorder);
    ttr_free(t);
    return status == TTR_END && got == n;
}

static void what_is_in_order_is_told(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    number(10);
    events[5].time = events[4].time;
    ttr_order_index *disorder = find(t, events, 10);
    assert_false(ttr_order_index_has_disorder(disorder));
    assert_int_equal(disorder_floor(disorder, 0), 0);
    assert_int_equal(disorder_floor(disorder, 9), 9);
    assert_true(disorder_floor(disorder, 10) == INT64_MIN); /* maybe there are more by now */
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = 10});
    assert_ptr_equal(ttr_sort_indexed(in, disorder, NULL), in);
    ttr_close(in);
    ttr_order_index_free(disorder);
    events[4].source = 1; /* is behind 0 at the same time */
    disorder = find(t, events, 10);
    assert_true(ttr_order_index_has_disorder(disorder));
    ttr_order_index_free(disorder);
    ttr_free(t);
}

static void no_event_behind_a_place_is_earlier_than_is_said(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    memory_random_events(t, events, MANY, 5, 1000000000);
    for (size_t i = 0; i < MANY; i++)
        events[i].time = (int64_t)i * 10 + events[i].time % 5000;
    ttr_order_index *disorder = find(t, events, MANY);
    int64_t least = INT64_MAX;
    for (size_t i = MANY; i-- > 0;) {
        least = events[i].kind != TTR_KIND_DEFINITION && events[i].time < least ? events[i].time
                                                                                : least;
        events[i].duration = (uint64_t)least;
    }
    size_t taken = 0, exact = 0, n = 0;
    for (size_t i = 0; i < MANY; i++) {
        if (events[i].kind == TTR_KIND_DEFINITION)
            continue;
        assert_true(disorder_floor(disorder, taken) <= (int64_t)events[i].duration);
        exact += disorder_floor(disorder, taken++) == (int64_t)events[i].duration;
        n++;
    }
    assert_true(exact > n / 8);
    assert_true(ttr_order_index_has_disorder(disorder));
    ttr_order_index_free(disorder);
    memory_events_free(events, MANY);
    ttr_free(t);
}

/* Both are read to their ends side by side. */
static void compare(ttr_reader *a, ttr_reader *b)
{
    ttr_batch x = {.n = 0}, y = {.n = 0};
    ttr_status one = TTR_OK, other = TTR_OK;
    uint32_t i = 0, k = 0;
    for (size_t n = 0;; n++, i++, k++) {
        if (i == x.n) {
            one = ttr_read(a, &x, NULL);
            i = 0;
        }
        if (k == y.n) {
            other = ttr_read(b, &y, NULL);
            k = 0;
        }
        assert_int_equal(one, other);
        if (one != TTR_OK)
            break;
        const ttr_event *e = ttr_batch_at(&x, i), *f = ttr_batch_at(&y, k);
        assert_true(e->time == f->time && e->offset == f->offset && e->source == f->source &&
                    e->kind == f->kind && e->part == f->part);
        assert_int_equal(e->payload_size, f->payload_size);
        assert_true(!e->payload_size || memcmp(e->payload, f->payload, e->payload_size) == 0);
    }
    assert_int_equal(one, TTR_END);
}

static void known_order_changes_nothing_in_what_is_given(void **state)
{
    static const int64_t late[] = {0, 3, 40, 300, 3000, 100000};
    (void)state;
    for (uint64_t seed = 1; seed < 13; seed++) {
        ttr *t = ttr_new(NULL);
        memory_random_events(t, events, N, seed, 1000000);
        for (size_t i = 0; i < N; i++) {
            const int64_t most = late[seed % 6];
            events[i].source = (uint16_t)(i % seed);
            events[i].time =
                (int64_t)i - (most ? events[i].time % most : 0) - (seed > 6 && i > N / 2 ? 700 : 0);
        }
        if (seed % 3 == 0)
            events[10].time = INT64_MAX; /* far ahead of all others */
        ttr_order_index *disorder = find(t, events, N);
        ttr_reader *in = memory_reader(
            t, &(struct memory_events){.event = events, .n = N, .batch_max = 300, .seed = seed});
        ttr_reader *plain = sort_readers(t, &in, 1, &tiny, NULL);
        ttr_reader *known = sort_known(memory_reader(t, &(struct memory_events){.event = events,
                                                                                .n = N,
                                                                                .batch_max = 70,
                                                                                .seed = seed + 1}),
                                       disorder, &tiny, NULL);
        compare(plain, known);
        ttr_close(plain);
        ttr_close(known);
        ttr_order_index_free(disorder);
        memory_events_free(events, N);
        ttr_free(t);
    }
}

static void what_is_nearly_in_order_needs_no_file(void **state)
{
    (void)state;
    number(MANY);
    for (size_t i = 100; i < MANY; i += 7)
        events[i].time -= 90;
    assert_true(is_sorted_without_a_file(
        MANY, &(struct sort_limits){
                  .run_events = 1000, .run_bytes = 1 << 20, .fan_in = 3, .read_bytes = 1000}));
    events[50].time = INT64_MAX;
    assert_true(is_sorted_without_a_file(
        MANY, &(struct sort_limits){
                  .run_events = 1000, .run_bytes = 1 << 20, .fan_in = 3, .read_bytes = 1000}));
    events[MANY - 1].time = 10;
    assert_false(is_sorted_without_a_file(
        MANY, &(struct sort_limits){
                  .run_events = 1000, .run_bytes = 1 << 20, .fan_in = 3, .read_bytes = 1000}));
}

/* A stretch that goes back by more than memory holds, with much before and behind it: a limit of
 * what the temporary file may be. */
static void only_what_is_out_of_order_goes_to_the_file(void **state)
{
    const struct sort_limits limits = {
        .run_events = 1000, .run_bytes = 1 << 20, .fan_in = 16, .read_bytes = 1000};
    ttr *t = ttr_new(NULL);
    struct rlimit old;
    ttr_batch batch;
    ttr_status status = TTR_OK;
    size_t most = 0;
    (void)state;
    number(MANY);
    for (size_t i = MANY / 2; i < MANY; i++)
        events[i].time -= 5000;
    for (size_t known = 0; known < 2; known++) {
        ttr_order_index *disorder = known ? find(t, events, MANY) : NULL;
        ttr_reader *in =
            memory_reader(t, &(struct memory_events){.event = events, .n = MANY, .batch_max = 300});
        ttr_reader *reader = known ? sort_known(in, disorder, &limits, NULL)
                                   : sort_readers(t, &in, 1, &limits, NULL);
        (void)signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 400000, .rlim_max = old.rlim_max}),
            0);
        size_t got = 0;
        while ((status = ttr_read(reader, &batch, NULL)) == TTR_OK)
            got += batch.n;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        most = known ? got : most;
        assert_int_equal(status, known ? TTR_END : TTR_E_IO);
        ttr_close(reader);
        ttr_order_index_free(disorder);
    }
    assert_int_equal(most, MANY);
    ttr_free(t);
}

static void an_input_that_became_another_one_is_told(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status = TTR_OK;
    (void)state;
    number(N);
    events[3].time = 1;
    ttr_order_index *disorder = find(t, events, N);
    ttr_reader *reader = ttr_sort_indexed(
        memory_reader(t, &(struct memory_events){.event = events, .n = N}), disorder, NULL);
    events[N - 1].time = 0;
    while (status == TTR_OK)
        status = ttr_read(reader, &batch, &error);
    assert_int_equal(status, TTR_E_IO);
    assert_non_null(strstr(error.text, "is not what it was"));
    ttr_close(reader);
    ttr_order_index_free(disorder);
    ttr_free(t);
}

static bool stop(void *ctx)
{
    (void)ctx;
    return false;
}

static void a_failing_input_ends_there_and_a_user_who_calls_it_off_is_heard(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    (void)state;
    number(N);
    ttr_reader *in = memory_reader(
        t, &(struct memory_events){.event = events, .n = N, .ending = TTR_E_IO, .batch_max = 10});
    ttr_order_index *disorder = ttr_order_index_find(t, in, NULL, NULL, &error);
    assert_non_null(disorder);
    assert_int_equal(disorder_floor(disorder, N - 1), N - 1);
    ttr_order_index_free(disorder);
    ttr_order_index_free(NULL);
    ttr_close(in);
    in = memory_reader(t, &(struct memory_events){.event = events, .n = N, .batch_max = 10});
    assert_null(ttr_order_index_find(t, in, stop, NULL, &error));
    assert_int_equal(error.status, TTR_AGAIN);
    ttr_close(in);
    ttr_free(t);
}

static bool sorts_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_order_index *disorder = ttr_order_index_find(t, in, NULL, NULL, &error);
    ttr_close(in);
    ttr_reader *reader =
        disorder ? sort_known(memory_reader(t, &(struct memory_events){.event = given, .n = n}),
                              disorder, &tiny, &error)
                 : NULL;
    const bool is_through = memory_reads_through(reader, &error);
    ttr_order_index_free(disorder);
    return is_through;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    memory_fail_each(sorts_through, 500);
}

static void memory_stays_flat(void **state)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .ctx = heap.alloc.ctx});
    (void)state;
    memory_random_events(t, events, MANY, 3, 100000);
    for (size_t i = 0; i < MANY; i++)
        events[i].time = (int64_t)i - events[i].time % 30000;
    const size_t before = heap.bytes;
    ttr_order_index *disorder = find(t, events, MANY);
    ttr_reader *reader = ttr_sort_indexed(
        memory_reader(t, &(struct memory_events){.event = events, .n = MANY}), disorder, NULL);
    ttr_batch batch;
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        assert_true(batch.n > 0);
    assert_true(heap.peak - before < (size_t)16 << 20);
    ttr_close(reader);
    ttr_order_index_free(disorder);
    memory_events_free(events, MANY);
    ttr_free(t);
    support_heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_order_is_told),
        cmocka_unit_test(no_event_behind_a_place_is_earlier_than_is_said),
        cmocka_unit_test(known_order_changes_nothing_in_what_is_given),
        cmocka_unit_test(what_is_nearly_in_order_needs_no_file),
        cmocka_unit_test(only_what_is_out_of_order_goes_to_the_file),
        cmocka_unit_test(an_input_that_became_another_one_is_told),
        cmocka_unit_test(a_failing_input_ends_there_and_a_user_who_calls_it_off_is_heard),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(memory_stays_flat),
    };
    return cmocka_run_group_tests_name("disorder", tests, NULL, NULL);
}
