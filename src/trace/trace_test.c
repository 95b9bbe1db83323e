/* Events of the macros, recorded to a file and compared with FXT records that are written by hand
 * from the specification. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/trace.h>

#include "trace/trace_shared.h"
#include "support/support.h"

#define TEST_CATEGORIES(X) X(net, "net", "network") X(disk, "disk.slow", "files")
TTR_CATEGORIES_DECLARE(TEST_CATEGORIES);
TTR_CATEGORIES_DEFINE(TEST_CATEGORIES);

#define WORDS_MAX (1u << 20)

static char path[64];
static uint64_t words[WORDS_MAX];
static size_t words_n;

static void start(const ttr_trace_options *options)
{
    snprintf(path, sizeof path, "/tmp/tracetta-trace-%d.fxt", (int)getpid());
    assert_int_equal(ttr_trace_start_file(path, options), 0);
}

static void stop(void)
{
    assert_int_equal(ttr_trace_stop(), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    words_n = fread(words, 8, WORDS_MAX, file);
    fclose(file);
    unlink(path);
}

static size_t record_words(uint64_t header)
{
    return header >> 4 & 0xfff;
}

/* Returns the index of a string in the file, which must have it. */
static uint64_t string_index(const char *text)
{
    for (size_t i = 0; i < words_n; i += record_words(words[i]))
        if ((words[i] & 15) == TRACE_FXT_STRING && (words[i] >> 32 & 0x7fff) == strlen(text) &&
            memcmp(words + i + 1, text, strlen(text)) == 0)
            return words[i] >> 16 & 0x7fff;
    fail_msg("no string record \"%s\"", text);
    return 0;
}

/* Returns the i-th record of a type that has `kind` in the bits from 16 on, or NULL. */
static const uint64_t *find_event(unsigned type, const char *name, size_t i)
{
    const uint64_t index = string_index(name);
    for (size_t at = 0; at < words_n; at += record_words(words[at])) {
        assert_true(record_words(words[at]) > 0);
        if ((words[at] & 15) == TRACE_FXT_EVENT && (words[at] >> 16 & 15) == type &&
            words[at] >> 48 == index && i-- == 0)
            return words + at;
    }
    return NULL;
}

/* Returns the event of lost events, or NULL. Its category (14 bytes), name (11 bytes) and argument
 * names are inline; the count is its word 8. */
static const uint64_t *find_losses(void)
{
    for (size_t at = 0; at < words_n; at += record_words(words[at]))
        if ((words[at] & 15) == TRACE_FXT_EVENT && words[at] >> 32 == 0x800b800e &&
            memcmp(words + at + 2, "tracetta.trace\0\0events lost", 27) == 0)
            return words + at;
    return NULL;
}

static uint64_t event_header(unsigned size, unsigned type, unsigned args, const char *category,
                             const char *name)
{
    return 4u | (uint64_t)size << 4 | (uint64_t)type << 16 | (uint64_t)args << 20 |
           UINT64_C(1) << 24 | string_index(category) << 32 | string_index(name) << 48;
}

static void values_of_all_types_become_arguments(void **state)
{
    (void)state;
    const uint64_t before = ttr_trace_now();
    start(NULL);
    TTR_INSTANT(net, "all", TTR_ARG("i", -3), TTR_ARG("u", 7u), TTR_ARG("l", -5L),
                TTR_ARG("ul", 9UL), TTR_ARG("f", 1.5), TTR_ARG("s", "hello, all"),
                TTR_ARG("b", (bool)1), TTR_ARG_NULL("none"), TTR_ARG_KOID("k", 11),
                TTR_ARG("p", (void *)0x1234));
    stop();
    const uint64_t *p = find_event(0, "all", 0);
    assert_non_null(p);
    assert_int_equal(p[0],
                     event_header(2 + 1 + 1 + 2 + 2 + 2 + 3 + 1 + 1 + 2 + 2, 0, 10, "net", "all"));
    assert_true(p[1] >= before && p[1] <= ttr_trace_now());
    const double f = 1.5;
    uint64_t text[2] = {0}, bits;
    memcpy(text, "hello, all", 10);
    memcpy(&bits, &f, 8);
    const uint64_t expected[] = {
        1 | 1 << 4 | string_index("i") << 16 | UINT64_C(0xfffffffd) << 32,
        2 | 1 << 4 | string_index("u") << 16 | UINT64_C(7) << 32,
        3 | 2 << 4 | string_index("l") << 16,
        (uint64_t)-5,
        4 | 2 << 4 | string_index("ul") << 16,
        9,
        5 | 2 << 4 | string_index("f") << 16,
        bits,
        6 | 3 << 4 | string_index("s") << 16 | UINT64_C(0x800a) << 32,
        text[0],
        text[1],
        9 | 1 << 4 | string_index("b") << 16 | UINT64_C(1) << 32,
        0 | 1 << 4 | string_index("none") << 16,
        8 | 2 << 4 | string_index("k") << 16,
        11,
        7 | 2 << 4 | string_index("p") << 16,
        0x1234,
    };
    assert_memory_equal(p + 2, expected, sizeof expected);
}

static void ids_follow_the_arguments(void **state)
{
    (void)state;
    start(NULL);
    TTR_COUNTER(net, "queue", 5, TTR_ARG("depth", 4));
    TTR_ASYNC_BEGIN(77, disk, "request");
    TTR_FLOW_END(UINT64_C(1) << 40, net, "arrow");
    stop();
    const uint64_t *counter = find_event(1, "queue", 0), *async = find_event(5, "request", 0),
                   *flow = find_event(10, "arrow", 0);
    assert_true(counter && async && flow);
    assert_int_equal(counter[0], event_header(4, 1, 1, "net", "queue"));
    assert_int_equal(counter[3], 5);
    assert_int_equal(async[0], event_header(3, 5, 0, "disk.slow", "request"));
    assert_int_equal(async[2], 77);
    assert_int_equal(flow[2], UINT64_C(1) << 40);
}

static void zone_is_one_record_with_its_end(void **state)
{
    (void)state;
    start(NULL);
    {
        TTR_ZONE(net, "outer", TTR_ARG("n", 1));
        TTR_ZONE_ARG("rows", 2);
        {
            TTR_ZONE(net, "first");
            TTR_LAP(net, "second");
        }
    }
    stop();
    const uint64_t *outer = find_event(4, "outer", 0), *first = find_event(4, "first", 0),
                   *second = find_event(4, "second", 0);
    assert_true(outer && first && second);
    assert_int_equal(outer[0], event_header(5, 4, 2, "net", "outer"));
    assert_int_equal(outer[3], 1 | 1 << 4 | string_index("rows") << 16 | UINT64_C(2) << 32);
    assert_int_equal(first[2], second[1]);
    assert_true(outer[1] <= first[1] && second[2] <= outer[4]);
}

static void filter_and_level_decide_what_is_recorded(void **state)
{
    (void)state;
    const ttr_trace_options options = {.size = sizeof options, .categories = "disk.*:3"};
    start(&options);
    int computed = 0;
    TTR_INSTANT(net, "not recorded", TTR_ARG("n", ++computed));
    TTR_INSTANT(disk, "too detailed", TTR_ARG("n", ++computed));
    TTR_INSTANT_LEVEL(TTR_TRACE_WARNING, disk, "recorded", TTR_ARG("n", ++computed));
    stop();
    assert_int_equal(computed, 1);
    assert_non_null(find_event(0, "recorded", 0));
    TTR_INSTANT(disk, "after the end", TTR_ARG("n", ++computed));
    assert_int_equal(computed, 1);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    ttr_trace_options options = {.size = sizeof options, .categories = "net:9"};
    assert_int_equal(ttr_trace_start_file("/tmp/none.fxt", &options), EINVAL);
    options = (ttr_trace_options){.size = 3};
    assert_int_equal(ttr_trace_start_file("/tmp/none.fxt", &options), EINVAL);
    assert_int_equal(ttr_trace_start_file("/nowhere/none.fxt", NULL), ENOENT);
    start(NULL);
    assert_int_equal(ttr_trace_start_file(path, NULL), EBUSY);
    stop();
}

/* Counts the instants of a name, and checks that their numbers rise by one from `first`. */
static uint64_t count_numbers(const char *name, uint64_t first)
{
    const uint64_t index = string_index(name);
    uint64_t n = 0;
    for (size_t at = 0; at < words_n; at += record_words(words[at])) {
        assert_true(record_words(words[at]) > 0);
        if ((words[at] & 15) != TRACE_FXT_EVENT || words[at] >> 48 != index)
            continue;
        assert_int_equal(words[at + 3], first + n);
        n++;
    }
    return n;
}

static void file_has_every_event_of_a_long_session(void **state)
{
    (void)state;
    start(NULL);
    for (uint64_t i = 0; i < 100000; i++)
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
    ttr_trace_stats stats;
    ttr_trace_get_stats(&stats);
    stop();
    assert_int_equal(stats.written, 100000);
    assert_int_equal(stats.dropped, 0);
    assert_int_equal(count_numbers("numbered", 0), 100000);
}

static void circular_mode_keeps_the_newest_events(void **state)
{
    (void)state;
    const ttr_trace_options options = {
        .size = sizeof options, .mode = TTR_TRACE_CIRCULAR, .buffer_bytes = 4 * TRACE_CHUNK};
    start(&options);
    for (uint64_t i = 0; i < 100000; i++)
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
    stop();
    uint64_t n = 0;
    const uint64_t index = string_index("numbered");
    for (size_t at = 0; at < words_n && n == 0; at += record_words(words[at]))
        n = (words[at] & 15) == TRACE_FXT_EVENT && words[at] >> 48 == index ? words[at + 3] : 0;
    assert_int_equal(count_numbers("numbered", n), 100000 - n);
    assert_in_range(100000 - n, 3 * TRACE_CHUNK / 32 - 10, 4 * TRACE_CHUNK / 32);
}

static void oneshot_mode_counts_what_it_drops(void **state)
{
    (void)state;
    const ttr_trace_options options = {
        .size = sizeof options, .mode = TTR_TRACE_ONESHOT, .buffer_bytes = 2 * TRACE_CHUNK};
    start(&options);
    for (uint64_t i = 0; i < 10000; i++)
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
    ttr_trace_stats stats;
    ttr_trace_get_stats(&stats);
    stop();
    const uint64_t *lost = find_losses();
    assert_non_null(lost);
    assert_int_equal(stats.written + stats.dropped, 10000);
    assert_int_equal(lost[8], stats.dropped);
    assert_int_equal(count_numbers("numbered", 0), stats.written);
}

static void *write_numbers(void *context)
{
    for (uint64_t i = 0; i < 20000; i++)
        TTR_INSTANT(disk, "of a thread", TTR_ARG("n", i));
    return context;
}

static void each_thread_has_its_own_ring(void **state)
{
    (void)state;
    pthread_t thread[8];
    start(NULL);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_numbers, NULL), 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    stop();
    uint64_t n = 0, threads[8] = {0}, next[8] = {0}, current = 0;
    for (size_t at = 0; at < words_n; at += record_words(words[at])) {
        if ((words[at] & 15) == TRACE_FXT_THREAD)
            current = words[at + 2];
        if ((words[at] & 15) != TRACE_FXT_EVENT || words[at] >> 48 != string_index("of a thread"))
            continue;
        size_t i = 0;
        while (threads[i] && threads[i] != current)
            i++;
        threads[i] = current;
        assert_int_equal(words[at + 3], next[i]++);
        n++;
    }
    assert_int_equal(n, 8 * 20000);
}

static void forked_child_has_no_session(void **state)
{
    (void)state;
    start(NULL);
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
    const pid_t child = fork();
    if (child == 0) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)99));
        _exit(TTR_TRACE_ENABLED(net) ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)1));
    stop();
    assert_int_equal(count_numbers("numbered", 0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_all_types_become_arguments),
        cmocka_unit_test(ids_follow_the_arguments),
        cmocka_unit_test(zone_is_one_record_with_its_end),
        cmocka_unit_test(filter_and_level_decide_what_is_recorded),
        cmocka_unit_test(invalid_options_are_refused),
        cmocka_unit_test(file_has_every_event_of_a_long_session),
        cmocka_unit_test(circular_mode_keeps_the_newest_events),
        cmocka_unit_test(oneshot_mode_counts_what_it_drops),
        cmocka_unit_test(each_thread_has_its_own_ring),
        cmocka_unit_test(forked_child_has_no_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
