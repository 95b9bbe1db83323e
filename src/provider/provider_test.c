/* Tests for providers with a recording backend: event bytes from the EventHeader specification,
 * enabling, limits, threads and refusals. tests/provider compares the bytes with Microsoft's
 * library. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/provider.h>

#include "support/support.h"

/* First header byte: 64-bit pointers, extension present, and byte order of this machine. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLAGS "07"
#else
#define FLAGS "05"
#endif

TTR_PROVIDER_DEFINE(shop, "Test_Shop");
TTR_PROVIDER_DEFINE_GROUP(grouped, "Test_Grouped", "g1");

/* Backend context: keeps the last event and counts calls. */
struct recorded {
    uint8_t event[TTR_EVENT_MAX];
    size_t n;
    uint32_t added, removed, written; /* updated atomically, since several threads write */
    int add_fails, write_fails;
    bool is_silent; /* do not set the enable bits */
    char name[256]; /* name of the last added tracepoint */
    uint32_t *enabled[64];
};

static int recorder_add(void *user_data, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct recorded *recorded = user_data;
    if (recorded->add_fails)
        return recorded->add_fails;
    *index = recorded->added;
    recorded->enabled[recorded->added++ % 64] = wish->enabled;
    (void)snprintf(recorded->name, sizeof recorded->name, "%s", wish->name);
    if (!recorded->is_silent)
        (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static void recorder_remove(void *user_data, const ttr_tracepoint_request *wish, uint32_t index)
{
    struct recorded *recorded = user_data;
    assert_non_null(wish->enabled);
    assert_in_range(index, 0, recorded->added);
    recorded->removed++;
}

static int recorder_write(void *user_data, uint32_t index, uint8_t *event, size_t n)
{
    struct recorded *recorded = user_data;
    assert_true(index < recorded->added);
    memcpy(event - 4, &index, 4);
    if (__atomic_fetch_add(&recorded->written, 1, __ATOMIC_RELAXED) == 0 || n > 12) {
        memcpy(recorded->event, event, n);
        recorded->n = n;
    }
    return recorded->write_fails;
}

static int counter_write(void *user_data, uint32_t index, uint8_t *event, size_t n)
{
    struct recorded *recorded = user_data;
    (void)__atomic_fetch_add(&recorded->written, index < 64 && n >= 8 && event[7] > 0,
                             __ATOMIC_RELAXED);
    return 0;
}

static const ttr_backend_functions recorder_functions = {sizeof recorder_functions, recorder_add,
                                                         recorder_remove, recorder_write};
static const ttr_backend_functions counter_functions = {sizeof counter_functions, recorder_add,
                                                        NULL, counter_write};

static ttr_backend *recorder_new(struct recorded *recorded)
{
    memset(recorded, 0, sizeof *recorded);
    ttr_backend *backend = ttr_backend_new(&recorder_functions, recorded, NULL);
    assert_non_null(backend);
    return backend;
}

static ttr_backend *open_shop(struct recorded *recorded)
{
    ttr_error error;
    ttr_backend *backend = recorder_new(recorded);
    if (ttr_provider_open(&shop, backend, &error) != TTR_OK)
        fail_msg("%s", error.text);
    return backend;
}

static void close_shop(ttr_backend *backend)
{
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
}

static void event_bytes_match_the_specification(void **state)
{
    (void)state;
    struct recorded recorded;
    ttr_backend *backend = open_shop(&recorded);
    assert_int_equal(TTR_WRITE(shop, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_KEYWORD(0x1),
                               TTR_ID(0x102, 3), TTR_TAG(0x405), TTR_OPCODE(9), TTR_U32("n", 7),
                               TTR_TEXT("what", "ab")),
                     TTR_OK);
    /* flags, version, id, tag, opcode, level | size 14, kind 1 | "Sold" | "n" value32 | "what"
     * zstring8 | 7 | "ab" */
    support_assert_hex(
        recorded.event, recorded.n,
        FLAGS
        " 03 =0102 =0405 09 04  =000e =0001  536f6c6400 6e00 04 7768617400 07  =00000007 616200");
    assert_int_equal(shop.last - shop.first > 3, true);
    close_shop(backend);
    assert_int_equal(recorded.added, recorded.removed);
}

static void activity_precedes_metadata(void **state)
{
    (void)state;
    struct recorded recorded;
    static const uint8_t id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                         other[16] = {0xff};
    ttr_backend *backend = open_shop(&recorded);
    TTR_WRITE(shop, "a", TTR_ACTIVITY(id), TTR_OPCODE(TTR_EH_START), TTR_RELATED(other));
    support_assert_hex(recorded.event, recorded.n,
                       FLAGS " 00 0000 0000 01 05  =0020 =8002 0102030405060708090a0b0c0d0e0f10 "
                             "ff000000000000000000000000000000"
                             "  =0002 =0001 6100");
    TTR_WRITE(shop, "a", TTR_ACTIVITY(id), TTR_OPCODE(TTR_EH_STOP));
    support_assert_hex(
        recorded.event, recorded.n,
        FLAGS
        " 00 0000 0000 02 05  =0010 =8002 0102030405060708090a0b0c0d0e0f10  =0002 =0001 6100");
    TTR_WRITE(shop, "a", TTR_ACTIVITY(NULL), TTR_RELATED(other), TTR_U8("x", 1));
    support_assert_hex(recorded.event, recorded.n,
                       FLAGS " 00 0000 0000 00 05  =0005 =0001 6100 7800 02  01");
    close_shop(backend);
}

static void field_tags_counts_and_attributes_are_encoded(void **state)
{
    (void)state;
    struct recorded recorded;
    const uint16_t list[3] = {1, 2, 0x304};
    ttr_backend *backend = open_shop(&recorded);
    TTR_WRITE(shop, "t", TTR_U8("x;unit=B", 1, 0x1234), TTR_FIXED(U16, "f", list, 3, 0x5678),
              TTR_ARRAY(X16, "v", list, 2, 9), TTR_FIXED(U16, "g", list, 1));
    support_assert_hex(recorded.event + 12, recorded.n - 12,
                       "7400  783b756e69743d4200 82 80 =1234  6600 a3 80 =5678 =0003  7600 c3 83 "
                       "=0009  6700 23 =0001"
                       "  01  =0001 =0002 =0304  =0002 =0001 =0002  =0001");
    TTR_WRITE(shop, "s", TTR_STRUCT("o", 2), TTR_BOOL("b", true), TTR_STRUCT_FIXED("p", 1, 2),
              TTR_METADATA("k", TTR_EH_VALUE8), TTR_PAYLOAD("AB", 2),
              TTR_TEXT_AS("c", TTR_EH_AS_JSON, "{}", 2), TTR_BINARY_AS("d", TTR_EH_AS_IP, NULL, 0));
    support_assert_hex(recorded.event + 12, recorded.n - 12,
                       "7300  6f00 81 02  6200 82 07  7000 a1 01 =0002  6b00 02  6300 8a 0e  6400 "
                       "8d 11  01 4142 =0002 7b7d 0000");
    close_shop(backend);
}

static unsigned evaluations;

static uint32_t count_evaluation(void)
{
    return ++evaluations;
}

static void values_without_consumer_are_not_evaluated(void **state)
{
    (void)state;
    struct recorded recorded;
    ttr_backend *backend = recorder_new(&recorded);
    recorded.is_silent = true;
    evaluations = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
        for (uint32_t at = 0; i == 2 && at < recorded.added; at++)
            *recorded.enabled[at] = 1;
        for (uint32_t at = 0; i == 3 && at < recorded.added; at++)
            *recorded.enabled[at] = 0;
        assert_int_equal(TTR_WRITE(shop, "seen", TTR_U32("n", count_evaluation())), TTR_OK);
    }
    assert_int_equal(evaluations, 1);
    assert_int_equal(recorded.written, 1);
    close_shop(backend);
}

static ttr_status write_bytes(size_t n)
{
    static const uint8_t zeros[9000];
    return TTR_WRITE(shop, "large", TTR_BINARY("b", zeros, n));
}

static void event_above_limit_is_refused_and_counted(void **state)
{
    (void)state;
    struct recorded recorded;
    const size_t overhead_bytes =
        /* header, extension head, "large", "b" with encoding and format, length field */
        8 + 4 + 6 + 4 + 2;
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_backend *backend = open_shop(&recorded);
    ttr_provider_count(&shop, &before);
    assert_int_equal(write_bytes(TTR_EVENT_MAX - overhead_bytes), TTR_OK);
    assert_int_equal(recorded.n, TTR_EVENT_MAX);
    assert_int_equal(write_bytes(TTR_EVENT_MAX - overhead_bytes + 1), TTR_E_LIMIT);
    assert_int_equal(write_bytes(70000), TTR_E_LIMIT);
    assert_int_equal(write_bytes(SIZE_MAX), TTR_E_LIMIT);
    assert_int_equal(write_bytes(1000), TTR_OK);
    assert_int_equal(recorded.written, 2);
    ttr_provider_count(&shop, &counts);
    assert_int_equal(counts.written - before.written, 2);
    assert_int_equal(counts.too_large - before.too_large, 3);
    assert_int_equal(counts.above_page - before.above_page, 1);
    close_shop(backend);
}

static void unterminated_text_is_read_at_most_to_the_limit(void **state)
{
    (void)state;
    struct recorded recorded;
    ttr_backend *backend = open_shop(&recorded);
    char *text = test_malloc(100000);
    memset(text, 'x', 100000);
    assert_int_equal(TTR_WRITE(shop, "endless", TTR_TEXT("t", text)), TTR_E_LIMIT);
    test_free(text);
    close_shop(backend);
}

static void backend_failure_is_reported_and_counted(void **state)
{
    (void)state;
    struct recorded recorded, other;
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_backend *backend = open_shop(&recorded), *second = recorder_new(&other);
    assert_int_equal(ttr_provider_open(&shop, second, NULL), TTR_OK);
    ttr_provider_count(&shop, &before);
    recorded.write_fails = ENOSPC;
    errno = 5;
    assert_int_equal(TTR_WRITE(shop, "one"), TTR_E_IO);
    assert_int_equal(errno, 5);
    assert_int_equal(other.written, 1);
    ttr_provider_count(&shop, &counts);
    assert_int_equal(counts.failed - before.failed, 1);
    assert_int_equal(counts.last_errno, ENOSPC);
    ttr_provider_close(&shop);
    ttr_backend_free(second);
    ttr_backend_free(backend);
}

static void open_with_wrong_argument_fails_with_reason(void **state)
{
    (void)state;
    struct recorded recorded;
    ttr_error error;
    ttr_backend *backend = open_shop(&recorded);
    assert_int_equal(ttr_provider_open(&shop, backend, &error), TTR_E_MISUSE);
    ttr_provider_close(&shop);
    ttr_provider_close(&shop);
    recorded.add_fails = EADDRINUSE;
    assert_int_equal(ttr_provider_open(&shop, backend, &error), TTR_E_IO);
    assert_int_equal(error.sys, EADDRINUSE);
    assert_non_null(strstr(error.text, "is already registered with other fields"));
    assert_int_equal(TTR_WRITE(shop, "nowhere"), TTR_OK);
    assert_int_equal(recorded.written, 0);
    close_shop(backend);
    assert_null(ttr_provider_new("a b", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_provider_new("", NULL, NULL));
    assert_null(ttr_provider_new("a", "G", NULL));
    assert_null(ttr_provider_new("a/b", "g", NULL));
    char name[300];
    memset(name, 'n', sizeof name);
    name[251] = '\0';
    assert_null(ttr_provider_new(name, "", &error));
    name[250] = '\0';
    assert_null(ttr_provider_new(name, "g", &error));
    ttr_provider *longest = ttr_provider_new(name, "", &error);
    assert_non_null(ttr_provider_point(longest, 1, 0, &error));
    assert_null(ttr_provider_point(longest, 1, 16, &error));
    ttr_provider_free(longest);
    ttr_backend_functions bad = recorder_functions;
    bad.size--;
    assert_null(ttr_backend_new(&bad, &recorded, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
}

static void fifth_backend_is_refused(void **state)
{
    (void)state;
    struct recorded recorded[5];
    ttr_backend *backends[5];
    for (int i = 0; i < 5; i++) {
        backends[i] = recorder_new(&recorded[i]);
        assert_int_equal(ttr_provider_open(&shop, backends[i], NULL), i < 4 ? TTR_OK : TTR_E_LIMIT);
    }
    TTR_WRITE(shop, "to all");
    for (int i = 0; i < 5; i++)
        assert_int_equal(recorded[i].written, i < 4);
    ttr_provider_close(&shop);
    TTR_WRITE(shop, "to none");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(recorded[i].written, i < 4);
        ttr_backend_free(backends[i]);
    }
}

static void write_late(void)
{
    TTR_WRITE_LATE(grouped, "late", TTR_LEVEL(0x1f), TTR_KEYWORD(0xABC), TTR_U8("x", 1));
}

static void late_site_is_registered_at_first_execution(void **state)
{
    (void)state;
    struct recorded recorded;
    ttr_backend *backend = recorder_new(&recorded);
    write_late();
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(recorded.added, 0);
    write_late();
    assert_string_equal(recorded.name, "Test_Grouped_L1fKabcGg1");
    assert_int_equal(recorded.written, 1);
    ttr_provider_close(&grouped);
    write_late();
    assert_int_equal(recorded.written, 1);
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(recorded.added, 2);
    write_late();
    assert_int_equal(recorded.written, 2);
    ttr_provider_close(&grouped);
    ttr_backend_free(backend);
}

static void *write_until_stopped(void *user_data)
{
    const unsigned *stop = user_data;
    size_t n = 0;
    for (; !__atomic_load_n(stop, __ATOMIC_RELAXED) || n < 2000; n++)
        TTR_WRITE(shop, "often", TTR_U64("n", n));
    return NULL;
}

static void close_waits_for_concurrent_writers(void **state)
{
    (void)state;
    pthread_t threads[4];
    unsigned stop = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_until_stopped, &stop), 0);
    uint64_t written = 0;
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_provider_count(&shop, &before);
    for (int i = 0; i < 50; i++) {
        struct recorded recorded = {.n = 0};
        ttr_backend *backend = ttr_backend_new(&counter_functions, &recorded, NULL);
        assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
        (void)usleep(200);
        ttr_provider_close(&shop);
        ttr_backend_free(backend);
        written += __atomic_load_n(&recorded.written, __ATOMIC_RELAXED);
        memset(&recorded, 0xff,
               sizeof recorded); /* a late write to this freed context would crash */
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    ttr_provider_count(&shop, &counts);
    assert_true(written <=
                counts.written -
                    before.written); /* writes without an open backend are counted as written too */
}

static void forked_child_writes_and_closes_independently(void **state)
{
    (void)state;
    struct recorded recorded;
    int status;
    ttr_backend *backend = open_shop(&recorded);
    TTR_WRITE(shop, "before");
    pid_t child = fork();
    if (child == 0) {
        TTR_WRITE(shop, "in the child");
        ttr_provider_close(&shop);
        TTR_WRITE(shop, "closed");
        _exit(recorded.written == 2 && recorded.removed == recorded.added ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    TTR_WRITE(shop, "after");
    assert_int_equal(recorded.written, 2);
    assert_int_equal(recorded.removed, 0);
    close_shop(backend);
}

static void activity_ids_are_distinct_version_4_uuids(void **state)
{
    (void)state;
    uint8_t ids[2][16];
    for (int i = 0; i < 2; i++) {
        ttr_activity_new_id(ids[i]);
        assert_int_equal(ids[i][6] >> 4, 4);
        assert_int_equal(ids[i][8] >> 6, 2);
    }
    assert_memory_not_equal(ids[0], ids[1], 16);
}

static void handmade_pieces_are_written(void **state)
{
    (void)state;
    struct recorded recorded;
    static const uint8_t metadata[] = {7, 0, 0, 0, 0, 0, 0, 5, 5, 0, 1, 0, 'e', 0, 'x', 0, 2};
    static ttr_site site = {.point = {.level = 5,
                                      .provider = &grouped,
                                      .index = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                      .enabled = TTR_SITE_LATE},
                            .metadata = metadata,
                            .metadata_n = sizeof metadata};
    const ttr_piece pieces[] = {ttr_piece_of(NULL, 0, 1, 77), ttr_piece_of_u8(9),
                                ttr_piece_of(NULL, 0, 0, TTR_PIECE_END)};
    ttr_backend *backend = recorder_new(&recorded);
    assert_int_equal(ttr_site_write(&site, pieces), TTR_OK);
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(ttr_site_write(&site, pieces), TTR_OK);
    support_assert_hex(recorded.event, recorded.n,
                       "07 00 0000 0000 00 05  0500 0100 6500 7800 02  09");
    ttr_provider_close(&grouped);
    ttr_backend_free(backend);
}

static volatile sig_atomic_t signals;

static void write_in_handler(int number)
{
    signals += number == SIGALRM && TTR_WRITE(shop, "signal", TTR_U32("n", 1),
                                              TTR_TEXT("text", "from a handler")) == TTR_OK;
}

static void signal_handler_can_write(void **state)
{
    (void)state;
    struct recorded recorded = {.n = 0};
    ttr_backend *backend = ttr_backend_new(&counter_functions, &recorded, NULL);
    assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
    const struct sigaction action = {.sa_handler = write_in_handler};
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    uint32_t n = 0;
    while (signals < 200 || n < 20000)
        n += TTR_WRITE(shop, "plain", TTR_U32("n", n)) == TTR_OK;
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(recorded.written, n + (uint32_t)signals);
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
}

static void missing_user_events_is_unsupported(void **state)
{
    (void)state;
    ttr_error error;
    char folder[] = "/tmp/provider_test.XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    ttr_user_events_options options = {.size = sizeof options, .tracefs = folder};
    assert_null(ttr_backend_user_events(&options, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "CONFIG_USER_EVENTS"));
    (void)snprintf(file, sizeof file, "%s/user_events_data", folder);
    FILE *data = fopen(file, "w");
    assert_non_null(data);
    assert_int_equal(fclose(data), 0);
    ttr_backend *backend = ttr_backend_user_events(&options, &error);
    assert_non_null(backend);
    assert_int_equal(ttr_provider_open(&shop, backend, &error),
                     TTR_E_IO); /* a regular file rejects the ioctl */
    assert_true(error.sys == ENOTTY ||
                error.sys == ENOSYS); /* ENOSYS: an emulator that lacks this ioctl */
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
    (void)unlink(file);
    (void)rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_bytes_match_the_specification),
        cmocka_unit_test(activity_precedes_metadata),
        cmocka_unit_test(field_tags_counts_and_attributes_are_encoded),
        cmocka_unit_test(values_without_consumer_are_not_evaluated),
        cmocka_unit_test(event_above_limit_is_refused_and_counted),
        cmocka_unit_test(unterminated_text_is_read_at_most_to_the_limit),
        cmocka_unit_test(backend_failure_is_reported_and_counted),
        cmocka_unit_test(open_with_wrong_argument_fails_with_reason),
        cmocka_unit_test(fifth_backend_is_refused),
        cmocka_unit_test(late_site_is_registered_at_first_execution),
        cmocka_unit_test(close_waits_for_concurrent_writers),
        cmocka_unit_test(forked_child_writes_and_closes_independently),
        cmocka_unit_test(activity_ids_are_distinct_version_4_uuids),
        cmocka_unit_test(handmade_pieces_are_written),
        cmocka_unit_test(signal_handler_can_write),
        cmocka_unit_test(missing_user_events_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
