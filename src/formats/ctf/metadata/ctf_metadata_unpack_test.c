/* Detection of metadata languages, and packets of CTF 1.8 and 2. The bytes follow CTF 1.8.3 section
 * 7.1 and CTF2-PMETA-1.0. */
#include <stdio.h>

#include "formats/ctf/description/ctf_description.h"
#include "support/support.h"

#define UUID "0102030405060708090a0b0c0d0e0f10"
/* magic, UUID, checksum; the tests append content bits, packet bits, schemes and version */
#define HEADER_LE "571dd175" UUID "00000000"
#define HEADER_BE "75d11d57" UUID "00000000"
#define TAIL "0000000108"

struct unpacked {
    struct ctf_description description;
    struct ctf_text text;
    ttr_error error;
    ttr_status status;
};

static void unpack(struct unpacked *unpacked, const char *hex)
{
    uint8_t bytes[400];
    size_t n = support_hex(bytes, sizeof bytes, hex);
    *unpacked = (struct unpacked){.text.file = "metadata"};
    ctf_description_init(&unpacked->description, alloc_default());
    unpacked->status = ctf_unpack_metadata(&unpacked->description, bytes, n, NULL, &unpacked->text,
                                           &unpacked->error);
}

static void assert_text(const char *hex, const char *text)
{
    struct unpacked unpacked;
    unpack(&unpacked, hex);
    assert_int_equal(unpacked.status, TTR_OK);
    support_assert_text(unpacked.text.p, unpacked.text.n, text);
    assert_int_equal(unpacked.text.p[unpacked.text.n], 0);
    ctf_description_free(&unpacked.description);
}

static void refuse(const char *hex, ttr_status status, const char *message)
{
    struct unpacked unpacked;
    unpack(&unpacked, hex);
    if (unpacked.status != status || !strstr(unpacked.error.text, message))
        fail_msg("expected \"%s\", got %d: %s", message, (int)unpacked.status,
                 unpacked.status ? unpacked.error.text : "");
    ctf_description_free(&unpacked.description);
}

static void languages_are_detected_by_first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ctf_version version;
    } texts[] = {{"/* CTF 1.8 */", CTF_1_8},
                 {"/* CTF 1.1 */", CTF_1_8},
                 {"\x1e{", CTF_2},
                 {"  {\"type\"", CTF_2},
                 {"trace { major = 1;", CTF_RFC_1_1},
                 {"/* any */", CTF_RFC_1_1},
                 {"type x { }", CTF_RFC_1_1},
                 {"hello", CTF_UNKNOWN},
                 {"", CTF_UNKNOWN}};
    bool is_packetised;
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(ctf_detect_metadata_language((const uint8_t *)texts[i].text,
                                                      strlen(texts[i].text), &is_packetised),
                         texts[i].version);
        assert_false(is_packetised);
    }
    size_t n = support_hex(bytes, sizeof bytes, HEADER_LE "2801000028010000" TAIL);
    assert_int_equal(ctf_detect_metadata_language(bytes, n, &is_packetised), CTF_1_8);
    assert_true(is_packetised);
    bytes[35] = 2;
    assert_int_equal(ctf_detect_metadata_language(bytes, n, &is_packetised), CTF_2);
    n = support_hex(bytes, sizeof bytes, "c1fc1fc1");
    assert_int_equal(ctf_detect_metadata_language(bytes, n, &is_packetised), CTF_RFC_1_1);
    n = support_hex(bytes, sizeof bytes, "c11ffcc1");
    assert_int_equal(ctf_detect_metadata_language(bytes, n, &is_packetised), CTF_RFC_1_1);
}

static void plain_text_is_returned_unchanged(void **state)
{
    (void)state;
    assert_text("2f2a2043544620312e38202a2f", "/* CTF 1.8 */");
}

/* 37 bytes of header and 3 of content are 320 bits. */
static void packet_contents_are_concatenated(void **state)
{
    (void)state;
    assert_text(HEADER_LE "4001000040010000" TAIL "616263", "abc");
    assert_text(HEADER_BE "0000014000000140" TAIL "616263", "abc");
    assert_text(HEADER_LE "4001000050010000" TAIL "6162630000" HEADER_LE "3001000038010000" TAIL
                          "6400",
                "abcd");
    assert_text(HEADER_LE "2801000028010000" TAIL, "");
}

/* CTF2-PMETA-1.0: 3 more bytes and the header size of 352 bits; some writers omit these. */
static void packets_of_version_2_have_long_or_short_headers(void **state)
{
    (void)state;
    assert_text(HEADER_LE "7801000078010000"
                          "0000000200"
                          "000000"
                          "60010000"
                          "616263",
                "abc");
    assert_text(HEADER_LE "4001000040010000"
                          "0000000200"
                          "616263",
                "abc");
}

static void text_offsets_map_to_file_offsets(void **state)
{
    (void)state;
    struct unpacked unpacked;
    unpack(&unpacked,
           HEADER_LE "4001000050010000" TAIL "6162630000" HEADER_LE "3001000038010000" TAIL "6400");
    assert_int_equal(ctf_compute_text_offset(&unpacked.text, 2), 39);
    assert_int_equal(ctf_compute_text_offset(&unpacked.text, 3), 42 + 37);
    assert_true(unpacked.description.has_byte_order && !unpacked.description.is_big_endian);
    ctf_description_free(&unpacked.description);
}

static void last_packet_without_padding_is_accepted(void **state)
{
    (void)state;
    assert_text(HEADER_LE "40010000"
                          "00800000" TAIL "616263",
                "abc");
}

static void note_cut(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                     const char *text)
{
    struct unpacked *unpacked = ctx;
    assert_int_equal(severity, TTR_SEVERITY_DAMAGE);
    assert_string_equal(code, "ctf.cut");
    unpacked->error.offset = offset;
    (void)snprintf(unpacked->error.text, sizeof unpacked->error.text, "%s", text);
}

static void blanks_after_the_last_packet_are_not_damage(void **state)
{
    static const struct {
        const char *after;
        uint64_t cut_at;
    } ends[] = {{"0a", UINT64_MAX}, {"0d0a", UINT64_MAX}, {"0a75", 40}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint8_t bytes[100];
        char hex[300];
        struct unpacked unpacked = {.text.file = "metadata", .error.offset = UINT64_MAX};
        (void)snprintf(hex, sizeof hex, HEADER_LE "4001000040010000" TAIL "616263%s",
                       ends[i].after);
        size_t n = support_hex(bytes, sizeof bytes, hex);
        ctf_description_init(&unpacked.description, alloc_default());
        unpacked.description.note = note_cut;
        unpacked.description.note_ctx = &unpacked;
        assert_int_equal(
            ctf_unpack_metadata(&unpacked.description, bytes, n, NULL, &unpacked.text, NULL),
            TTR_OK);
        support_assert_text(unpacked.text.p, unpacked.text.n, "abc");
        assert_int_equal(unpacked.error.offset, ends[i].cut_at);
        ctf_description_free(&unpacked.description);
    }
}

/* Expects this text from the first n bytes of two packets with "abc" and "de". */
static void assert_cut(size_t n, const char *text, uint64_t cut_at)
{
    uint8_t bytes[100];
    struct unpacked unpacked = {.text.file = "metadata", .error.offset = UINT64_MAX};
    size_t whole = support_hex(bytes, sizeof bytes,
                               HEADER_LE "4001000040010000" TAIL "616263" HEADER_LE
                                         "3801000038010000" TAIL "6465");
    assert_true(n <= whole);
    ctf_description_init(&unpacked.description, alloc_default());
    unpacked.description.note = note_cut;
    unpacked.description.note_ctx = &unpacked;
    assert_int_equal(
        ctf_unpack_metadata(&unpacked.description, bytes, n, NULL, &unpacked.text, NULL), TTR_OK);
    support_assert_text(unpacked.text.p, unpacked.text.n, text);
    assert_int_equal(unpacked.error.offset, cut_at);
    ctf_description_free(&unpacked.description);
}

static void cut_last_packet_yields_its_available_text(void **state)
{
    (void)state;
    assert_cut(79, "abcde", UINT64_MAX);
    assert_cut(78, "abcd", 40);
    assert_cut(77, "abc", 40);
    assert_cut(76, "abc", 40);
    assert_cut(41, "abc", 40);
    assert_cut(40, "abc", UINT64_MAX);
    assert_cut(39, "ab", 0);
    assert_cut(37, "", 0);
}

static void invalid_packets_fail_with_offset(void **state)
{
    (void)state;
    refuse("571dd175" UUID, TTR_E_TRUNCATED,
           "metadata ends at byte 20, inside the header of its first metadata packet, which has 37 "
           "bytes");
    refuse(HEADER_LE "4001000040010000" TAIL "616263"
                     "57" UUID UUID "00000000",
           TTR_E_MALFORMED, "expected the magic number 75D11D57");
    refuse(HEADER_LE "2001000040010000" TAIL "616263", TTR_E_MALFORMED,
           "has a content of 288 bits in 320");
    refuse(HEADER_LE "4001000038010000" TAIL "616263", TTR_E_MALFORMED,
           "has a content of 320 bits in 312");
    refuse(HEADER_LE "4101000048010000" TAIL "61626300", TTR_E_MALFORMED,
           "has a content of 321 bits");
    refuse(HEADER_LE "4001000040010000"
                     "0100000108"
                     "616263",
           TTR_E_UNSUPPORTED, "compressed, encrypted or checked (schemes 1, 0, 0)");
    refuse(HEADER_LE "4001000040010000"
                     "0000000300"
                     "616263",
           TTR_E_UNSUPPORTED,
           "the metadata packet at byte 0 is of version 3.0: expected 1.8 or 2.0");
    refuse(HEADER_LE "4001000040010000" TAIL "616263"
                     "571dd175" UUID "00000000"
                     "4001000040010000"
                     "0000000208"
                     "616263",
           TTR_E_MALFORMED, "is of version 2.8, not 1");
    refuse(HEADER_LE "2801000028010000" TAIL "571dd175"
                     "ff02030405060708090a0b0c0d0e0f10"
                     "00000000"
                     "2801000028010000" TAIL,
           TTR_E_MALFORMED, "the metadata packet at byte 37 has another UUID");
}

static void note_order(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                       const char *text)
{
    uint64_t *at = ctx;
    assert_int_equal(severity, TTR_SEVERITY_ODD);
    assert_string_equal(code, "ctf.metadata-byte-order");
    assert_non_null(strstr(text, "another byte order than the first"));
    *at = *at * 1000 + offset;
}

/* CTF2-PMETA-1.0: the magic number of each packet shows its byte order. */
static void each_packet_has_its_own_byte_order(void **state)
{
    (void)state;
    uint8_t bytes[400];
    uint64_t noted_offset = 0;
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    size_t n =
        support_hex(bytes, sizeof bytes,
                    HEADER_LE "4001000040010000" TAIL "616263" HEADER_BE "0000013800000148" TAIL
                              "64650000" HEADER_BE "0000013000000130" TAIL "66");
    ctf_description_init(&description, alloc_default());
    description.note = note_order;
    description.note_ctx = &noted_offset;
    assert_int_equal(ctf_unpack_metadata(&description, bytes, n, NULL, &text, NULL), TTR_OK);
    support_assert_text(text.p, text.n, "abcdef");
    assert_int_equal(noted_offset, 40);
    assert_false(description.is_big_endian);
    ctf_description_free(&description);
}

/* The memory limit of parsers depends on the bytes allocated for the text. */
static void padding_takes_no_memory(void **state)
{
    (void)state;
    enum { PACKETS = 2000, BYTES = 1024 };
    static uint8_t bytes[PACKETS * BYTES];
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    for (size_t i = 0; i < PACKETS; i++)
        (void)support_hex(bytes + i * BYTES, BYTES, HEADER_LE "3001000000200000" TAIL "61");
    ctf_description_init(&description, alloc_default());
    assert_int_equal(ctf_unpack_metadata(&description, bytes, sizeof bytes, NULL, &text, NULL),
                     TTR_OK);
    assert_int_equal(text.n, PACKETS);
    assert_true(description.arena.total < 64 * text.n);
    assert_int_equal(ctf_compute_text_offset(&text, PACKETS - 1), (PACKETS - 1) * BYTES + 37);
    ctf_description_free(&description);
}

static bool unpack_with(const struct alloc *alloc)
{
    uint8_t bytes[64];
    size_t n = support_hex(bytes, sizeof bytes, HEADER_LE "4001000040010000" TAIL "616263");
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    ctf_description_init(&description, alloc);
    ttr_status status = ctf_unpack_metadata(&description, bytes, n, NULL, &text, NULL);
    ctf_description_free(&description);
    return status == TTR_OK;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(unpack_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_are_detected_by_first_bytes),
        cmocka_unit_test(plain_text_is_returned_unchanged),
        cmocka_unit_test(packet_contents_are_concatenated),
        cmocka_unit_test(packets_of_version_2_have_long_or_short_headers),
        cmocka_unit_test(text_offsets_map_to_file_offsets),
        cmocka_unit_test(last_packet_without_padding_is_accepted),
        cmocka_unit_test(blanks_after_the_last_packet_are_not_damage),
        cmocka_unit_test(cut_last_packet_yields_its_available_text),
        cmocka_unit_test(invalid_packets_fail_with_offset),
        cmocka_unit_test(each_packet_has_its_own_byte_order),
        cmocka_unit_test(padding_takes_no_memory),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
