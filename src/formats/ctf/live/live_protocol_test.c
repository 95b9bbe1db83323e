/* The live protocol, byte by byte as drawn in its header, and the URLs of daemons and sessions. */
#include "formats/ctf/live/live_protocol.h"

#include <stdio.h>

#include "formats/ctf/live/live_url.h"
#include "support/support.h"

/* --- Requests --- */

static void requests_are_big_endian_with_length(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, alloc_default());
    live_append_connect(&out);
    support_assert_hex(out.bytes, out.n,
                       "00 00 00 00 00 00 00 14  00 00 00 01  00 00 00 00"
                       "ff ff ff ff ff ff ff ff  00 00 00 02  00 00 00 0f  00 00 00 01");
    buffer_clear(&out);
    live_append_list(&out);
    support_assert_hex(out.bytes, out.n, "00 00 00 00 00 00 00 00  00 00 00 02  00 00 00 00");
    buffer_clear(&out);
    live_append_create(&out);
    support_assert_hex(out.bytes, out.n, "00 00 00 00 00 00 00 00  00 00 00 08  00 00 00 00");
    buffer_clear(&out);
    live_append_attach(&out, 0x0102030405060708, LIVE_SEEK_NOW);
    support_assert_hex(out.bytes, out.n,
                       "00 00 00 00 00 00 00 14  00 00 00 03  00 00 00 00"
                       "01 02 03 04 05 06 07 08  00 00 00 00 00 00 00 00  00 00 00 02");
    buffer_clear(&out);
    live_append_attach(&out, 1, LIVE_SEEK_BEGIN);
    support_assert_hex(out.bytes + 32, out.n - 32, "00 00 00 01");
    buffer_free(&out);
}

static void stream_requests_contain_stream_id(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, alloc_default());
    live_append_command_with_id(&out, LIVE_NEXT_INDEX, 0x1122334455667788);
    support_assert_hex(
        out.bytes, out.n,
        "00 00 00 00 00 00 00 08  00 00 00 04  00 00 00 00  11 22 33 44 55 66 77 88");
    buffer_clear(&out);
    live_append_command_with_id(&out, LIVE_METADATA, 3);
    support_assert_hex(
        out.bytes, out.n,
        "00 00 00 00 00 00 00 08  00 00 00 06  00 00 00 00  00 00 00 00 00 00 00 03");
    buffer_clear(&out);
    live_append_command_with_id(&out, LIVE_NEW_STREAMS, 4);
    live_append_command_with_id(&out, LIVE_DETACH, 5);
    support_assert_hex(
        out.bytes, out.n,
        "00 00 00 00 00 00 00 08  00 00 00 07  00 00 00 00  00 00 00 00 00 00 00 04"
        "00 00 00 00 00 00 00 08  00 00 00 09  00 00 00 00  00 00 00 00 00 00 00 05");
    buffer_clear(&out);
    live_append_packet_request(&out, 7, 0x10000, 0x2000);
    support_assert_hex(out.bytes, out.n,
                       "00 00 00 00 00 00 00 14  00 00 00 05  00 00 00 00"
                       "00 00 00 00 00 00 00 07  00 00 00 00 00 01 00 00  00 00 20 00");
    buffer_free(&out);
}

/* --- Answers --- */

/* Every prefix of an answer is incomplete. */
#define ASSERT_CUT(bytes, n, request)                    \
    for (size_t cut = 0; cut < (n); cut++) {             \
        struct cursor from = cursor_init(bytes, cut, 0); \
        assert_false(request);                           \
    }

static void version_answer_has_daemon_version(void **state)
{
    (void)state;
    uint8_t bytes[LIVE_CONNECT_BYTES];
    struct live_version version;
    assert_int_equal(support_hex(bytes, sizeof bytes,
                                 "00 00 00 00 00 00 00 2a  00 00 00 02  00 00 00 0d  00 00 00 01"),
                     sizeof bytes);
    struct cursor at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_connect(&at, &version));
    assert_int_equal(version.major, 2);
    assert_int_equal(version.minor, 13);
    assert_int_equal(cursor_left(&at), 0);
    ASSERT_CUT(bytes, sizeof bytes, live_read_connect(&from, &version));
}

static void session_names_have_fixed_size(void **state)
{
    (void)state;
    uint8_t bytes[LIVE_SESSION_BYTES] = {0};
    struct live_session session;
    bool is_bad;
    (void)support_hex(bytes, sizeof bytes,
                      "00 00 00 00 00 00 00 05  00 0f 42 40  00 00 00 01  00 00 00 09");
    memcpy(bytes + 20, "raton", 5);
    memcpy(bytes + 84, "auto-1", 6);
    struct cursor at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_session(&at, 14, &session, &is_bad));
    assert_false(is_bad);
    assert_int_equal(session.id, 5);
    assert_int_equal(session.timer_us, 1000000);
    assert_int_equal(session.viewers, 1);
    assert_int_equal(session.streams, 9);
    assert_false(session.is_ctf2);
    support_assert_text(session.host.p, session.host.n, "raton");
    support_assert_text(session.name.p, session.name.n, "auto-1");
    assert_int_equal(cursor_left(&at), 0);
    ASSERT_CUT(bytes, sizeof bytes, live_read_session(&from, 14, &session, &is_bad));
}

static void name_without_nul_ends_at_field_end(void **state)
{
    (void)state;
    uint8_t bytes[LIVE_SESSION_BYTES];
    struct live_session session;
    bool is_bad;
    memset(bytes, 'x', sizeof bytes);
    struct cursor at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_session(&at, 4, &session, &is_bad));
    assert_int_equal(session.host.n, 64);
    assert_int_equal(session.name.n, 255);
}

static void names_have_lengths_from_minor_15(void **state)
{
    (void)state;
    uint8_t bytes[64];
    struct live_session session;
    bool is_bad;
    size_t n = support_hex(bytes, sizeof bytes,
                           "00 00 00 00 00 00 00 06  00 00 03 e8  00 00 00 00  00 00 00 02"
                           "00 00 00 02  00 00 00 03  00 00 00 01  68 69  61 62 63");
    struct cursor at = cursor_init(bytes, n, 0);
    assert_true(live_read_session(&at, 15, &session, &is_bad));
    assert_true(session.is_ctf2);
    support_assert_text(session.host.p, session.host.n, "hi");
    support_assert_text(session.name.p, session.name.n, "abc");
    assert_int_equal(cursor_left(&at), 0);
    ASSERT_CUT(bytes, n, live_read_session(&from, 15, &session, &is_bad) || is_bad);
}

static void invalid_name_length_is_bad_before_its_bytes_arrive(void **state)
{
    (void)state;
    uint8_t bytes[64];
    struct live_session session;
    bool is_bad;
    size_t n = support_hex(bytes, sizeof bytes,
                           "00 00 00 00 00 00 00 06  00 00 03 e8  00 00 00 00  00 00 00 02"
                           "00 00 00 02  00 00 10 01  00 00 00 00");
    struct cursor at = cursor_init(bytes, n, 0);
    assert_false(live_read_session(&at, 15, &session, &is_bad));
    assert_true(is_bad);
}

static void stream_answer_has_its_trace(void **state)
{
    (void)state;
    static uint8_t bytes[LIVE_STREAM_BYTES];
    struct live_stream_head stream;
    (void)support_hex(bytes, sizeof bytes,
                      "00 00 00 00 00 00 00 11  00 00 00 00 00 00 00 02  00 00 00 01");
    memcpy(bytes + 20, "ust/uid", 7);
    memcpy(bytes + 20 + 4096, "metadata", 8);
    struct cursor at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_stream(&at, &stream));
    assert_int_equal(stream.id, 17);
    assert_int_equal(stream.trace, 2);
    assert_true(stream.is_metadata);
    support_assert_text(stream.path.p, stream.path.n, "ust/uid");
    support_assert_text(stream.channel.p, stream.channel.n, "metadata");
    assert_int_equal(cursor_left(&at), 0);
    ASSERT_CUT(bytes, sizeof bytes, live_read_stream(&from, &stream));
}

static void index_answer_has_offset_and_flags(void **state)
{
    (void)state;
    uint8_t bytes[LIVE_INDEX_BYTES];
    struct live_index index;
    size_t n =
        support_hex(bytes, sizeof bytes,
                    "00 00 00 00 00 00 10 00  00 00 00 00 00 00 80 00  00 00 00 00 00 00 7f f8"
                    "00 00 00 00 00 00 00 64  00 00 00 00 00 00 00 c8  00 00 00 00 00 00 00 03"
                    "00 00 00 00 00 00 00 01  00 00 00 01  00 00 00 03");
    assert_int_equal(n, sizeof bytes);
    struct cursor at = cursor_init(bytes, n, 0);
    assert_true(live_read_index(&at, &index));
    assert_int_equal(index.offset, 4096);
    assert_int_equal(index.packet_bits, 32768);
    assert_int_equal(index.content_bits, 32760);
    assert_int_equal(index.begin, 100);
    assert_int_equal(index.end, 200);
    assert_int_equal(index.discarded, 3);
    assert_int_equal(index.class_id, 1);
    assert_int_equal(index.status, LIVE_OK);
    assert_int_equal(index.flags, LIVE_NEW_METADATA | LIVE_NEW_STREAM);
    ASSERT_CUT(bytes, n, live_read_index(&from, &index));
}

static void answers_with_bytes_have_counts(void **state)
{
    (void)state;
    uint8_t bytes[12];
    struct live_answer_head head;
    uint32_t status;
    uint64_t n;
    (void)support_hex(bytes, sizeof bytes, "00 00 00 01  00 00 02 00  00 00 00 02");
    struct cursor at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_packet_head(&at, &head));
    assert_int_equal(head.status, 1);
    assert_int_equal(head.count, 512);
    assert_int_equal(head.flags, LIVE_NEW_STREAM);
    ASSERT_CUT(bytes, sizeof bytes, live_read_packet_head(&from, &head));
    at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_streams(&at, &head));
    assert_int_equal(head.count, 512);
    assert_int_equal(cursor_left(&at), 4);
    ASSERT_CUT(bytes, LIVE_STREAMS_BYTES, live_read_streams(&from, &head));
    (void)support_hex(bytes, sizeof bytes, "00 00 00 00 00 00 0a 00  00 00 00 02");
    at = cursor_init(bytes, sizeof bytes, 0);
    assert_true(live_read_metadata_head(&at, &status, &n));
    assert_int_equal(status, LIVE_METADATA_NONE);
    assert_int_equal(n, 2560);
    ASSERT_CUT(bytes, sizeof bytes, live_read_metadata_head(&from, &status, &n));
}

static void commands_have_names(void **state)
{
    (void)state;
    assert_string_equal(live_command_text(LIVE_ATTACH), "ATTACH");
    assert_string_equal(live_command_text(LIVE_DETACH), "DETACH");
    assert_string_equal(live_command_text(LIVE_COMMAND_COUNT), "unknown");
    assert_string_equal(live_command_text((enum live_command)0), "unknown");
}

/* --- URLs --- */

static void url_has_daemon_host_and_session(void **state)
{
    (void)state;
    struct live_url url;
    assert_int_equal(live_parse_url("net://relay.example/host/raton/auto-1", &url, NULL), TTR_OK);
    assert_string_equal(url.daemon, "relay.example");
    assert_string_equal(url.host, "raton");
    assert_string_equal(url.session, "auto-1");
    assert_int_equal(url.port, 5344);
    assert_int_equal(url.family, SOCKET_ANY);
    assert_true(url.has_session);
    assert_int_equal(live_parse_url("net4://10.0.0.1:99/host/h/s", &url, NULL), TTR_OK);
    assert_int_equal(url.port, 99);
    assert_int_equal(url.family, SOCKET_IPV4);
    assert_int_equal(live_parse_url("net6://[::1]:65535/host/h/s", &url, NULL), TTR_OK);
    assert_string_equal(url.daemon, "::1");
    assert_int_equal(url.port, 65535);
    assert_int_equal(url.family, SOCKET_IPV6);
}

static void url_without_path_is_daemon(void **state)
{
    (void)state;
    static const char *const texts[] = {"net://relay", "net://relay/", "net://relay:5344",
                                        "net://[relay]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct live_url url;
        assert_int_equal(live_parse_url(texts[i], &url, NULL), TTR_OK);
        assert_false(url.has_session);
        assert_string_equal(url.daemon, "relay");
        assert_int_equal(url.port, 5344);
    }
}

static void invalid_url_error_shows_the_form(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "net:relay",         "net://",         "net:///host/h/s", "net://[::1",
        "net://r:0",         "net://r:65536",  "net://r:x",       "net://r:/host/h/s",
        "net://r/hosts/h/s", "net://r/host/h", "net://r/host//s", "net://r/host/h/",
        "net://r/host/h/s/t"};
    char longer[400];
    struct live_url url;
    ttr_error error;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(live_parse_url(texts[i], &url, &error), TTR_E_MISUSE);
        assert_non_null(strstr(error.text, texts[i]));
        assert_non_null(strstr(error.text, "net://HOST[:PORT]/host/HOSTNAME/SESSION"));
    }
    assert_int_equal(live_parse_url("net://r/host/h", &url, &error),
                     TTR_E_MISUSE); /* the session is missing, too */
    assert_non_null(strstr(error.text, "the session is missing"));
    (void)snprintf(longer, sizeof longer, "net://r/host/h/%0300d", 1);
    assert_int_equal(live_parse_url(longer, &url, &error), TTR_E_MISUSE);
}

static void session_urls_survive_round_trip(void **state)
{
    (void)state;
    static const char *const daemons[] = {"net://relay", "net4://1.2.3.4:77", "net6://[fe80::1]"};
    static const char *const expected[] = {"net://relay/host/h/s", "net4://1.2.3.4:77/host/h/s",
                                           "net6://[fe80::1]/host/h/s"};
    for (size_t i = 0; i < 3; i++) {
        struct live_url url, again;
        char text[100];
        assert_int_equal(live_parse_url(daemons[i], &url, NULL), TTR_OK);
        live_format_daemon_url(&url, text, sizeof text);
        assert_string_equal(text, daemons[i]);
        live_format_session_url(&url, (ttr_text){"h", 1}, (ttr_text){"s", 1}, text, sizeof text);
        assert_string_equal(text, expected[i]);
        assert_int_equal(live_parse_url(text, &again, NULL), TTR_OK);
        assert_string_equal(again.daemon, url.daemon);
        assert_int_equal(again.port, url.port);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_big_endian_with_length),
        cmocka_unit_test(stream_requests_contain_stream_id),
        cmocka_unit_test(version_answer_has_daemon_version),
        cmocka_unit_test(session_names_have_fixed_size),
        cmocka_unit_test(name_without_nul_ends_at_field_end),
        cmocka_unit_test(names_have_lengths_from_minor_15),
        cmocka_unit_test(invalid_name_length_is_bad_before_its_bytes_arrive),
        cmocka_unit_test(stream_answer_has_its_trace),
        cmocka_unit_test(index_answer_has_offset_and_flags),
        cmocka_unit_test(answers_with_bytes_have_counts),
        cmocka_unit_test(commands_have_names),
        cmocka_unit_test(url_has_daemon_host_and_session),
        cmocka_unit_test(url_without_path_is_daemon),
        cmocka_unit_test(invalid_url_error_shows_the_form),
        cmocka_unit_test(session_urls_survive_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
