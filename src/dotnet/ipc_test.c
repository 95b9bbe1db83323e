/* Tests for Diagnostic IPC messages: bytes from the specification and from recorded connections. */
#include "dotnet/ipc.h"

#include "base/status.h"
#include "dotnet/providers.h"
#include "dotnet/utf16.h"
#include "support/support.h"

#define HEAD "44 4f 54 4e 45 54 5f 49 50 43 5f 56 31 00 "

static void plain_commands_match_the_specification(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, alloc_default());
    ipc_write_plain(&out, IPC_PROCESS, IPC_INFO);
    support_assert_hex(out.bytes, out.n, HEAD "14 00 04 00 00 00");
    buffer_clear(&out);
    ipc_write_stop(&out, 0x0102030405060708);
    support_assert_hex(out.bytes, out.n, HEAD "1c 00 02 01 00 00 08 07 06 05 04 03 02 01");
    buffer_free(&out);
}

/* Each version of CollectTracing adds one field. */
static void collect_versions_match_the_specification(void **state)
{
    static const struct {
        enum ipc_command command;
        const char *hex;
    } all[] = {
        {2, HEAD
         "37 00 02 02 00 00 10 00 00 00 01 00 00 00"
         "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 00"},
        {3, HEAD
         "38 00 02 03 00 00 10 00 00 00 01 00 00 00 01"
         "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 00"},
        {4, HEAD
         "39 00 02 04 00 00 10 00 00 00 01 00 00 00 01 00"
         "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 00"},
        {5, HEAD
         "40 00 02 05 00 00 10 00 00 00 01 00 00 00 39 01 02 80 00 00 00 00 00"
         "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 00"},
        {6, HEAD "49 00 02 06 00 00 00 00 00 00 10 00 00 00 01 00 00 00 39 01 02 80 00 00 00 00 00"
                 "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 "
                 "00 00 00 00 00 00"},
        {7, HEAD "4d 00 02 07 00 00 00 00 00 00 10 00 00 00 01 00 00 00 39 01 02 80 00 00 00 00 00"
                 "01 00 00 00 ff 00 00 00 00 00 00 00 05 00 00 00 02 00 00 00 41 00 00 00 00 00 00 "
                 "00 00 00 00 00 00 01 00 00 00"},
    };
    (void)state;
    struct buffer out;
    buffer_init(&out, alloc_default());
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add(set, "A:ff:5", NULL), TTR_OK);
    const ttr_dotnet_config wish = {.size = sizeof wish,
                                    .providers = set,
                                    .buffer_mb = 16,
                                    .rundown = TTR_DOTNET_RUNDOWN,
                                    .flags = TTR_DOTNET_NO_STACKS | TTR_DOTNET_BLOCK};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        /* byte 14 is the size of the complete message */
        uint8_t wanted[128];
        size_t n = support_hex(wanted, sizeof wanted, all[i].hex);
        wanted[14] = (uint8_t)n;
        buffer_clear(&out);
        assert_int_equal(ipc_write_collect(&out, all[i].command, &wish, NULL), TTR_OK);
        assert_int_equal(out.n, n);
        assert_memory_equal(out.bytes, wanted, n);
    }
    ttr_dotnet_providers_free(set);
    buffer_free(&out);
}

static void command_above_64k_is_refused(void **state)
{
    (void)state;
    struct buffer out;
    ttr_error error;
    buffer_init(&out, alloc_default());
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    char text[40000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(ttr_dotnet_providers_add(set, text, NULL), TTR_OK);
    const ttr_dotnet_config wish = {.size = sizeof wish, .providers = set};
    assert_int_equal(ipc_write_collect(&out, IPC_COLLECT, &wish, &error), TTR_E_LIMIT);
    assert_non_null(strstr(error.text, "request fewer"));
    ttr_dotnet_providers_free(set);
    buffer_free(&out);
}

static void answer_with_wrong_magic_or_set_is_refused(void **state)
{
    (void)state;
    uint8_t head[IPC_HEADER_SIZE];
    struct ipc_answer answer;
    assert_int_equal(support_hex(head, sizeof head, HEAD "1c 00 ff 00 00 00"), IPC_HEADER_SIZE);
    assert_true(ipc_parse_answer(head, &answer));
    assert_int_equal(answer.payload, 8);
    assert_false(answer.is_error);
    (void)support_hex(head, sizeof head, HEAD "18 00 ff ff 00 00");
    assert_true(ipc_parse_answer(head, &answer));
    assert_true(answer.is_error);
    static const char *const bad[] = {
        HEAD "13 00 ff 00 00 00", HEAD "1c 00 04 00 00 00", HEAD "1c 00 ff 01 00 00",
        "44 4f 54 4e 45 54 5f 49 50 43 5f 56 32 00 1c 00 ff 00 00 00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)support_hex(head, sizeof head, bad[i]);
        assert_false(ipc_parse_answer(head, &answer));
    }
}

static void advertise_message_yields_pid_and_cookie(void **state)
{
    (void)state;
    uint8_t bytes[IPC_ADVERTISE_SIZE];
    struct ipc_advertise who;
    assert_int_equal(
        support_hex(
            bytes, sizeof bytes,
            "41 44 56 52 5f 56 31 00 000102030405060708090a0b0c0d0e0f d204000000000000 0000"),
        IPC_ADVERTISE_SIZE);
    assert_true(ipc_parse_advertise(bytes, &who));
    assert_int_equal(who.pid, 1234);
    assert_int_equal(who.cookie[15], 15);
    bytes[6] = '2';
    assert_false(ipc_parse_advertise(bytes, &who));
}

/* Answer to ProcessInfo 3: version 1, pid 1234, command "d x", Linux, x64, assembly "a", runtime
 * 8.0.1, no RID. */
static const char info3[] = "01000000 d204000000000000 000102030405060708090a0b0c0d0e0f 04000000 "
                            "6400 2000 7800 0000 06000000 4c00 6900 6e00 7500 7800 0000"
                            "04000000 7800 3600 3400 0000 02000000 6100 0000 06000000 3800 2e00 "
                            "3000 2e00 3100 0000 00000000";

static void process_info_of_each_version_is_parsed(void **state)
{
    (void)state;
    uint8_t bytes[160];
    size_t n = support_hex(bytes, sizeof bytes, info3);
    struct arena arena;
    arena_init(&arena, alloc_default());
    ttr_dotnet_info info = {.size = sizeof info};
    assert_int_equal(ipc_parse_info(cursor_init(bytes, n, 0), IPC_INFO3, &arena, &info, NULL),
                     TTR_OK);
    assert_int_equal(info.pid, 1234);
    assert_string_equal(info.command, "d x");
    assert_string_equal(info.os, "Linux");
    assert_string_equal(info.arch, "x64");
    assert_string_equal(info.assembly, "a");
    assert_string_equal(info.runtime, "8.0.1");
    assert_string_equal(info.rid, "");
    assert_int_equal(
        ipc_parse_info(cursor_init(bytes + 4, n - 4, 0), IPC_INFO2, &arena, &info, NULL), TTR_OK);
    assert_string_equal(info.runtime, "8.0.1");
    assert_int_equal(
        ipc_parse_info(cursor_init(bytes + 4, n - 4, 0), IPC_INFO, &arena, &info, NULL), TTR_OK);
    assert_string_equal(info.runtime, "");
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(ipc_parse_info(cursor_init(bytes, cut, 0), IPC_INFO3, &arena, &info, NULL),
                         TTR_E_MALFORMED);
    arena_free(&arena);
}

static void environment_with_impossible_count_is_malformed(void **state)
{
    (void)state;
    uint8_t bytes[64];
    const char **list;
    struct arena arena;
    arena_init(&arena, alloc_default());
    size_t count, n = support_hex(bytes, sizeof bytes,
                                  "02000000 04000000 4100 3d00 3100 0000 02000000 4200 0000");
    assert_int_equal(ipc_parse_environment(cursor_init(bytes, n, 0), &arena, &list, &count, NULL),
                     TTR_OK);
    assert_int_equal(count, 2);
    assert_string_equal(list[0], "A=1");
    assert_string_equal(list[1], "B");
    assert_null(list[2]);
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(
            ipc_parse_environment(cursor_init(bytes, cut, 0), &arena, &list, &count, NULL),
            TTR_E_MALFORMED);
    n = support_hex(bytes, sizeof bytes, "ffffffff 00000000");
    assert_int_equal(ipc_parse_environment(cursor_init(bytes, n, 0), &arena, &list, &count, NULL),
                     TTR_E_MALFORMED);
    arena_free(&arena);
}

static void utf16_round_trip_preserves_text(void **state)
{
    static const char *const texts[] = {"", "a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80 x"};
    (void)state;
    struct buffer out;
    struct arena arena;
    buffer_init(&out, alloc_default());
    arena_init(&arena, alloc_default());
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buffer_clear(&out);
        utf16_append(&out, texts[i]);
        struct cursor from = cursor_init(out.bytes, out.n, 0);
        assert_string_equal(utf16_parse(&from, &arena), texts[i]);
        assert_int_equal(cursor_left(&from), 0);
    }
    buffer_clear(&out);
    utf16_append(&out, "\xf0\x9f\x98\x80\xff");
    support_assert_hex(out.bytes, out.n, "04000000 3dd8 00de fdff 0000");
    uint8_t bytes[16];
    size_t n = support_hex(bytes, sizeof bytes, "03000000 3dd8 4100 00de");
    struct cursor from = cursor_init(bytes, n, 0);
    assert_string_equal(utf16_parse(&from, &arena), "\xef\xbf\xbd"
                                                    "A"
                                                    "\xef\xbf\xbd");
    buffer_free(&out);
    arena_free(&arena);
}

static bool build_collect_command(const struct alloc *alloc)
{
    struct buffer out;
    buffer_init(&out, alloc);
    ttr_dotnet_providers *set = providers_new(alloc);
    bool is_fine = set && ttr_dotnet_providers_add(set, "A:1:5:x=1,B", NULL) == TTR_OK &&
                   ttr_dotnet_providers_add_profile(set, "database", NULL) == TTR_OK;
    const ttr_dotnet_config wish = {.size = sizeof wish, .providers = set};
    is_fine = is_fine && ipc_write_collect(&out, IPC_COLLECT_FILTER, &wish, NULL) == TTR_OK;
    ttr_dotnet_providers_free(set);
    buffer_free(&out);
    return is_fine;
}

static void failed_allocation_fails_the_command_without_leak(void **state)
{
    (void)state;
    support_fail_each(build_collect_command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_commands_match_the_specification),
        cmocka_unit_test(collect_versions_match_the_specification),
        cmocka_unit_test(command_above_64k_is_refused),
        cmocka_unit_test(answer_with_wrong_magic_or_set_is_refused),
        cmocka_unit_test(advertise_message_yields_pid_and_cookie),
        cmocka_unit_test(process_info_of_each_version_is_parsed),
        cmocka_unit_test(environment_with_impossible_count_is_malformed),
        cmocka_unit_test(utf16_round_trip_preserves_text),
        cmocka_unit_test(failed_allocation_fails_the_command_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
