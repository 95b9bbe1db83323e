/* Providers with a backend that keeps bytes: events as the specification of EventHeader has them,
 * what switches them on and off, limits, threads, and what is refused.  Bytes that another library
 * writes are compared in tests/provider. */
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

/* What an event begins with: pointers of 64 bits and extensions, and that it is little-endian where
 * this machine is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLAGS "07"
#else
#define FLAGS "05"
#endif

TTR_PROVIDER_DEFINE(shop, "Test_Shop");
TTR_PROVIDER_DEFINE_GROUP(grouped, "Test_Grouped", "g1");

/* Keeps the last event and counts them. */
struct kept {
    uint8_t event[TTR_EVENT_MAX];
    size_t n;
    uint32_t added, removed, written; /* written: atomic */
    int add_fails, write_fails;
    bool is_silent; /* nobody listens */
    char name[256]; /* of the last that was added */
    uint32_t *enabled[64];
};

static int keep_add(void *own, const ttr_wish *wish, uint32_t *index)
{
    struct kept *kept = own;
    if (kept->add_fails)
        return kept->add_fails;
    *index = kept->added;
    kept->enabled[kept->added++ % 64] = wish->enabled;
    (void)snprintf(kept->name, sizeof kept->name, "%s", wish->name);
    if (!kept->is_silent)
        (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static void keep_remove(void *own, const ttr_wish *wish, uint32_t index)
{
    struct kept *kept = own;
    assert_non_null(wish->enabled);
    assert_in_range(index, 0, kept->added);
    kept->removed++;
}

static int keep_write(void *own, uint32_t index, uint8_t *event, size_t n)
{
    struct kept *kept = own;
    assert_true(index < kept->added);
    memcpy(event - 4, &index, 4);
    if (__atomic_fetch_add(&kept->written, 1, __ATOMIC_RELAXED) == 0 || n > 12) {
        memcpy(kept->event, event, n);
        kept->n = n;
    }
    return kept->write_fails;
}

static int count_write(void *own, uint32_t index, uint8_t *event, size_t n)
{
    struct kept *kept = own;
    (void)__atomic_fetch_add(&kept->written, index < 64 && n >= 8 && event[7] > 0,
                             __ATOMIC_RELAXED);
    return 0;
}

static const ttr_backend_functions keeping = {sizeof keeping, keep_add, keep_remove, keep_write};
static const ttr_backend_functions counting = {sizeof counting, keep_add, NULL, count_write};

static ttr_backend *keep(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    ttr_backend *backend = ttr_backend_new(&keeping, kept, NULL);
    assert_non_null(backend);
    return backend;
}

static ttr_backend *open_shop(struct kept *kept)
{
    ttr_error error;
    ttr_backend *backend = keep(kept);
    if (ttr_provider_open(&shop, backend, &error) != TTR_OK)
        fail_msg("%s", error.text);
    return backend;
}

static void close_shop(ttr_backend *backend)
{
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
}

static void an_event_is_header_metadata_and_payload(void **state)
{
    (void)state;
    struct kept kept;
    ttr_backend *backend = open_shop(&kept);
    assert_int_equal(TTR_WRITE(shop, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_KEYWORD(0x1),
                               TTR_ID(0x102, 3), TTR_TAG(0x405), TTR_OPCODE(9), TTR_U32("n", 7),
                               TTR_TEXT("what", "ab")),
                     TTR_OK);
    /* flags, version, id, tag, opcode, level | size 15, kind 1 | "Sold" | "n" value32 | "what"
     * zstring8 | 7 | "ab" */
    support_assert_hex(
        kept.event, kept.n,
        FLAGS
        " 03 =0102 =0405 09 04  =000e =0001  536f6c6400 6e00 04 7768617400 07  =00000007 616200");
    assert_int_equal(shop.last - shop.first > 3, true);
    close_shop(backend);
    assert_int_equal(kept.added, kept.removed);
}

static void an_activity_stands_between_header_and_metadata(void **state)
{
    (void)state;
    struct kept kept;
    static const uint8_t id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                         other[16] = {0xff};
    ttr_backend *backend = open_shop(&kept);
    TTR_WRITE(shop, "a", TTR_ACTIVITY(id), TTR_OPCODE(TTR_EH_START), TTR_RELATED(other));
    support_assert_hex(kept.event, kept.n,
                       FLAGS " 00 0000 0000 01 05  =0020 =8002 0102030405060708090a0b0c0d0e0f10 "
                             "ff000000000000000000000000000000"
                             "  =0002 =0001 6100");
    TTR_WRITE(shop, "a", TTR_ACTIVITY(id), TTR_OPCODE(TTR_EH_STOP));
    support_assert_hex(
        kept.event, kept.n,
        FLAGS
        " 00 0000 0000 02 05  =0010 =8002 0102030405060708090a0b0c0d0e0f10  =0002 =0001 6100");
    TTR_WRITE(shop, "a", TTR_ACTIVITY(NULL), TTR_RELATED(other), TTR_U8("x", 1));
    support_assert_hex(kept.event, kept.n,
                       FLAGS " 00 0000 0000 00 05  =0005 =0001 6100 7800 02  01");
    close_shop(backend);
}

static void fields_may_have_tags_counts_and_attributes(void **state)
{
    (void)state;
    struct kept kept;
    const uint16_t list[3] = {1, 2, 0x304};
    ttr_backend *backend = open_shop(&kept);
    TTR_WRITE(shop, "t", TTR_U8("x;unit=B", 1, 0x1234), TTR_FIXED(U16, "f", list, 3, 0x5678),
              TTR_ARRAY(X16, "v", list, 2, 9), TTR_FIXED(U16, "g", list, 1));
    support_assert_hex(kept.event + 12, kept.n - 12,
                       "7400  783b756e69743d4200 82 80 =1234  6600 a3 80 =5678 =0003  7600 c3 83 "
                       "=0009  6700 23 =0001"
                       "  01  =0001 =0002 =0304  =0002 =0001 =0002  =0001");
    TTR_WRITE(shop, "s", TTR_STRUCT("o", 2), TTR_BOOL("b", true), TTR_STRUCT_FIXED("p", 1, 2),
              TTR_METADATA("k", TTR_EH_VALUE8), TTR_PAYLOAD("AB", 2),
              TTR_TEXT_AS("c", TTR_EH_AS_JSON, "{}", 2), TTR_BINARY_AS("d", TTR_EH_AS_IP, NULL, 0));
    support_assert_hex(kept.event + 12, kept.n - 12,
                       "7300  6f00 81 02  6200 82 07  7000 a1 01 =0002  6b00 02  6300 8a 0e  6400 "
                       "8d 11  01 4142 =0002 7b7d 0000");
    close_shop(backend);
}

static unsigned touched;

static uint32_t touch(void)
{
    return ++touched;
}

static void values_are_computed_only_while_somebody_listens(void **state)
{
    (void)state;
    struct kept kept;
    ttr_backend *backend = keep(&kept);
    kept.is_silent = true;
    touched = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
        for (uint32_t at = 0; i == 2 && at < kept.added; at++)
            *kept.enabled[at] = 1;
        for (uint32_t at = 0; i == 3 && at < kept.added; at++)
            *kept.enabled[at] = 0;
        assert_int_equal(TTR_WRITE(shop, "seen", TTR_U32("n", touch())), TTR_OK);
    }
    assert_int_equal(touched, 1);
    assert_int_equal(kept.written, 1);
    close_shop(backend);
}

static ttr_status write_bytes(size_t n)
{
    static const uint8_t zeros[9000];
    return TTR_WRITE(shop, "large", TTR_BINARY("b", zeros, n));
}

static void an_event_above_the_kernels_limit_is_refused_and_counted(void **state)
{
    (void)state;
    struct kept kept;
    const size_t around =
        8 + 4 + 6 + 4 + 2; /* header, extension, "large", "b" and its type, length */
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_backend *backend = open_shop(&kept);
    ttr_provider_count(&shop, &before);
    assert_int_equal(write_bytes(TTR_EVENT_MAX - around), TTR_OK);
    assert_int_equal(kept.n, TTR_EVENT_MAX);
    assert_int_equal(write_bytes(TTR_EVENT_MAX - around + 1), TTR_E_LIMIT);
    assert_int_equal(write_bytes(70000), TTR_E_LIMIT);
    assert_int_equal(write_bytes(SIZE_MAX), TTR_E_LIMIT);
    assert_int_equal(write_bytes(1000), TTR_OK);
    assert_int_equal(kept.written, 2);
    ttr_provider_count(&shop, &counts);
    assert_int_equal(counts.written - before.written, 2);
    assert_int_equal(counts.too_large - before.too_large, 3);
    assert_int_equal(counts.above_page - before.above_page, 1);
    close_shop(backend);
}

static void a_text_without_end_is_not_read_far(void **state)
{
    (void)state;
    struct kept kept;
    ttr_backend *backend = open_shop(&kept);
    char *text = test_malloc(100000);
    memset(text, 'x', 100000);
    assert_int_equal(TTR_WRITE(shop, "endless", TTR_TEXT("t", text)), TTR_E_LIMIT);
    test_free(text);
    close_shop(backend);
}

static void what_a_backend_refuses_is_told_and_counted(void **state)
{
    (void)state;
    struct kept kept, other;
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_backend *backend = open_shop(&kept), *second = keep(&other);
    assert_int_equal(ttr_provider_open(&shop, second, NULL), TTR_OK);
    ttr_provider_count(&shop, &before);
    kept.write_fails = ENOSPC;
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

static void opening_says_what_is_wrong(void **state)
{
    (void)state;
    struct kept kept;
    ttr_error error;
    ttr_backend *backend = open_shop(&kept);
    assert_int_equal(ttr_provider_open(&shop, backend, &error), TTR_E_MISUSE);
    ttr_provider_close(&shop);
    ttr_provider_close(&shop);
    kept.add_fails = EADDRINUSE;
    assert_int_equal(ttr_provider_open(&shop, backend, &error), TTR_E_IO);
    assert_int_equal(error.sys, EADDRINUSE);
    assert_non_null(strstr(error.text, "is registered with other fields already"));
    assert_int_equal(TTR_WRITE(shop, "nowhere"), TTR_OK);
    assert_int_equal(kept.written, 0);
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
    ttr_backend_functions bad = keeping;
    bad.size--;
    assert_null(ttr_backend_new(&bad, &kept, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
}

static void at_most_four_backends_get_the_events(void **state)
{
    (void)state;
    struct kept kept[5];
    ttr_backend *backends[5];
    for (int i = 0; i < 5; i++) {
        backends[i] = keep(&kept[i]);
        assert_int_equal(ttr_provider_open(&shop, backends[i], NULL), i < 4 ? TTR_OK : TTR_E_LIMIT);
    }
    TTR_WRITE(shop, "to all");
    for (int i = 0; i < 5; i++)
        assert_int_equal(kept[i].written, i < 4);
    ttr_provider_close(&shop);
    TTR_WRITE(shop, "to none");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(kept[i].written, i < 4);
        ttr_backend_free(backends[i]);
    }
}

static void write_late(void)
{
    TTR_WRITE_LATE(grouped, "late", TTR_LEVEL(0x1f), TTR_KEYWORD(0xABC), TTR_U8("x", 1));
}

static void a_late_place_is_registered_when_it_is_passed(void **state)
{
    (void)state;
    struct kept kept;
    ttr_backend *backend = keep(&kept);
    write_late();
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(kept.added, 0);
    write_late();
    assert_string_equal(kept.name, "Test_Grouped_L1fKabcGg1");
    assert_int_equal(kept.written, 1);
    ttr_provider_close(&grouped);
    write_late();
    assert_int_equal(kept.written, 1);
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(kept.added, 2);
    write_late();
    assert_int_equal(kept.written, 2);
    ttr_provider_close(&grouped);
    ttr_backend_free(backend);
}

static void *write_often(void *own)
{
    const unsigned *stop = own;
    size_t n = 0;
    for (; !__atomic_load_n(stop, __ATOMIC_RELAXED) || n < 2000; n++)
        TTR_WRITE(shop, "often", TTR_U64("n", n));
    return NULL;
}

static void threads_write_while_others_open_and_close(void **state)
{
    (void)state;
    pthread_t threads[4];
    unsigned stop = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &stop), 0);
    uint64_t written = 0;
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    ttr_provider_count(&shop, &before);
    for (int i = 0; i < 50; i++) {
        struct kept kept = {.n = 0};
        ttr_backend *backend = ttr_backend_new(&counting, &kept, NULL);
        assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
        (void)usleep(200);
        ttr_provider_close(&shop);
        ttr_backend_free(backend);
        written += __atomic_load_n(&kept.written, __ATOMIC_RELAXED);
        memset(&kept, 0xff, sizeof kept); /* nobody comes late */
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    ttr_provider_count(&shop, &counts);
    assert_true(
        written <=
        counts.written -
            before.written); /* who came while it was closed is counted, but met no backend */
}

static void a_child_of_fork_writes_and_closes_on_its_own(void **state)
{
    (void)state;
    struct kept kept;
    int status;
    ttr_backend *backend = open_shop(&kept);
    TTR_WRITE(shop, "before");
    pid_t child = fork();
    if (child == 0) {
        TTR_WRITE(shop, "in the child");
        ttr_provider_close(&shop);
        TTR_WRITE(shop, "closed");
        _exit(kept.written == 2 && kept.removed == kept.added ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    TTR_WRITE(shop, "after");
    assert_int_equal(kept.written, 2);
    assert_int_equal(kept.removed, 0);
    close_shop(backend);
}

static void ids_of_activities_differ(void **state)
{
    (void)state;
    uint8_t ids[2][16];
    for (int i = 0; i < 2; i++) {
        ttr_activity_make(ids[i]);
        assert_int_equal(ids[i][6] >> 4, 4);
        assert_int_equal(ids[i][8] >> 6, 2);
    }
    assert_memory_not_equal(ids[0], ids[1], 16);
}

static void pieces_may_be_made_by_hand(void **state)
{
    (void)state;
    struct kept kept;
    static const uint8_t metadata[] = {7, 0, 0, 0, 0, 0, 0, 5, 5, 0, 1, 0, 'e', 0, 'x', 0, 2};
    static ttr_site site = {.point = {.level = 5,
                                      .provider = &grouped,
                                      .index = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                      .enabled = TTR_SITE_LATE},
                            .metadata = metadata,
                            .metadata_n = sizeof metadata};
    const ttr_piece pieces[] = {ttr_piece_of(NULL, 0, 1, 77), ttr_piece_of_u8(9),
                                ttr_piece_of(NULL, 0, 0, TTR_PIECE_END)};
    ttr_backend *backend = keep(&kept);
    assert_int_equal(ttr_site_write(&site, pieces), TTR_OK);
    assert_int_equal(ttr_provider_open(&grouped, backend, NULL), TTR_OK);
    assert_int_equal(ttr_site_write(&site, pieces), TTR_OK);
    support_assert_hex(kept.event, kept.n, "07 00 0000 0000 00 05  0500 0100 6500 7800 02  09");
    ttr_provider_close(&grouped);
    ttr_backend_free(backend);
}

static volatile sig_atomic_t signals;

static void write_in_handler(int number)
{
    signals += number == SIGALRM && TTR_WRITE(shop, "signal", TTR_U32("n", 1),
                                              TTR_TEXT("text", "from a handler")) == TTR_OK;
}

static void handlers_of_signals_write_too(void **state)
{
    (void)state;
    struct kept kept = {.n = 0};
    ttr_backend *backend = ttr_backend_new(&counting, &kept, NULL);
    assert_int_equal(ttr_provider_open(&shop, backend, NULL), TTR_OK);
    const struct sigaction action = {.sa_handler = write_in_handler};
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    uint32_t n = 0;
    while (signals < 200 || n < 20000)
        n += TTR_WRITE(shop, "plain", TTR_U32("n", n)) == TTR_OK;
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(kept.written, n + (uint32_t)signals);
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
}

static void a_kernel_without_user_events_is_told_from_one_without_permission(void **state)
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
                     TTR_E_IO); /* an ordinary file knows no ioctl */
    assert_true(error.sys == ENOTTY ||
                error.sys == ENOSYS); /* ENOSYS: an emulator that does not know this one */
    ttr_provider_close(&shop);
    ttr_backend_free(backend);
    (void)unlink(file);
    (void)rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_header_metadata_and_payload),
        cmocka_unit_test(an_activity_stands_between_header_and_metadata),
        cmocka_unit_test(fields_may_have_tags_counts_and_attributes),
        cmocka_unit_test(values_are_computed_only_while_somebody_listens),
        cmocka_unit_test(an_event_above_the_kernels_limit_is_refused_and_counted),
        cmocka_unit_test(a_text_without_end_is_not_read_far),
        cmocka_unit_test(what_a_backend_refuses_is_told_and_counted),
        cmocka_unit_test(opening_says_what_is_wrong),
        cmocka_unit_test(at_most_four_backends_get_the_events),
        cmocka_unit_test(a_late_place_is_registered_when_it_is_passed),
        cmocka_unit_test(threads_write_while_others_open_and_close),
        cmocka_unit_test(a_child_of_fork_writes_and_closes_on_its_own),
        cmocka_unit_test(ids_of_activities_differ),
        cmocka_unit_test(pieces_may_be_made_by_hand),
        cmocka_unit_test(handlers_of_signals_write_too),
        cmocka_unit_test(a_kernel_without_user_events_is_told_from_one_without_permission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
