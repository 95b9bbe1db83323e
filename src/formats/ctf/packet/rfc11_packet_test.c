/* Packets of RFC v1.1. The expected checksums, compressed and encrypted bytes come from md5sum,
 * sha1sum, python3 and openssl:
 *
 *   printf 'trace data of a packet' > c; md5sum c; sha1sum c
 *   python3 -c 'import zlib; print(hex(zlib.crc32(open("c","rb").read())))'
 *   python3 -c 'import gzip; print(gzip.compress(open("c","rb").read(), 9, mtime=0).hex())'
 *   openssl enc -aes-256-ctr -K 000102...1f -iv f0f1f2...ff -in c | xxd -p */
#include "formats/ctf/packet/rfc11_packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/support.h"

#define PLAIN "74726163652064617461206f662061207061636b6574"
#define GZIP "1f8b08000000000002032b294a4c4e5548492c4954c84f53485428484cce4e2d0100ec5df59116000000"
#define BZIP2                                                                                      \
    "425a68393141592653596a903d8d00000a118040002f08d40020003100d34d03498d478a13826c888d4e5e0478fe" \
    "2ee48a70a120d5207b1a"
#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define IV "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define CIPHER "e672acee46b6e4aa2e08c63b26120234ba3e182b945e"
#define GZIP_CIPHER \
    "8d8bc58d239680cb5a6acd7d0a7e2d4182165709a5e27b9226f37d6906b9c8a3986ccd06e189e3987885"

static const char little[] = "c11ffcc1 78563412 50000000 60000000 04030201 07000000 "
                             "0807060504030201 1817161514131211 2a000000 20 01 00 03";
static const char big[] = "c1fc1fc1 12345678 00000050 00000060 01020304 00000007 0102030405060708 "
                          "1112131415161718 0000002a 20 01 00 03";

static void headers_of_both_byte_orders_are_equal(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[RFC11_HEADER], again[RFC11_HEADER];
        struct rfc11_packet packet;
        assert_int_equal(support_hex(bytes, sizeof bytes, i ? big : little), RFC11_HEADER);
        assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_FINE);
        assert_int_equal(packet.is_big_endian, i);
        assert_int_equal(packet.session_id, 0x12345678);
        assert_int_equal(packet.content_size, 80);
        assert_int_equal(packet.packet_size, 96);
        assert_int_equal(packet.checksum, 0x01020304);
        assert_int_equal(packet.section_packet_count, 7);
        assert_true(packet.timestamp_begin == 0x0102030405060708);
        assert_true(packet.timestamp_end == 0x1112131415161718);
        assert_int_equal(packet.events_discarded, 42);
        assert_int_equal(packet.section_packet_count_bits, 32);
        assert_int_equal(packet.compression_scheme, RFC11_BZIP2);
        assert_int_equal(packet.encryption_scheme, RFC11_ENCRYPTION_NONE);
        assert_int_equal(packet.checksum_scheme, RFC11_CRC32);
        rfc11_write_header(&packet, again);
        assert_memory_equal(again, bytes, sizeof bytes);
    }
}

static void invalid_headers_return_fault(void **state)
{
    (void)state;
    uint8_t bytes[RFC11_HEADER];
    struct rfc11_packet packet;
    (void)support_hex(bytes, sizeof bytes, little);
    assert_int_equal(rfc11_read_header(bytes, RFC11_HEADER - 1, &packet), RFC11_SHORT);
    assert_non_null(strstr(rfc11_fault_text(RFC11_SHORT), "48"));
    bytes[12] = 79;
    assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_OVERFULL);
    bytes[12] = 80;
    assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_FINE);
    bytes[8] = 47;
    assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_SMALL);
    bytes[0] = 0xc2;
    assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_NO_MAGIC);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(rfc11_read_header(bytes, sizeof bytes, &packet), RFC11_NO_MAGIC);
}

static void packet_counts_wrap_at_field_width(void **state)
{
    (void)state;
    assert_int_equal(rfc11_count_lost_packets(6, 7, 32), 0);
    assert_int_equal(rfc11_count_lost_packets(6, 9, 32), 2);
    assert_int_equal(rfc11_count_lost_packets(255, 0, 8), 0);
    assert_int_equal(rfc11_count_lost_packets(254, 1, 8), 2);
    assert_int_equal(rfc11_count_lost_packets(1, 0, 1), 0);
    assert_int_equal(rfc11_count_lost_packets(UINT32_MAX, 1, 0), 1);
    assert_int_equal(rfc11_count_lost_packets(UINT32_MAX, 1, 33), 1);
    assert_int_equal(rfc11_count_lost_packets(5, 5, 4), 15);
}

static void checksums_equal_reference_tools(void **state)
{
    (void)state;
    uint8_t plain[64];
    uint32_t checksum = 1;
    size_t n = support_hex(plain, sizeof plain, PLAIN);
    assert_true(rfc11_compute_checksum(RFC11_CHECKSUM_NONE, plain, n, &checksum));
    assert_int_equal(checksum, 0);
    assert_true(rfc11_compute_checksum(RFC11_MD5, plain, n, &checksum));
    assert_int_equal(checksum, 0xfa2cc8fe);
    assert_true(rfc11_compute_checksum(RFC11_SHA1, plain, n, &checksum));
    assert_int_equal(checksum, 0x39aa87cf);
    assert_true(rfc11_compute_checksum(RFC11_CRC32, plain, n, &checksum));
    assert_int_equal(checksum, 0x91f55dec);
    assert_false(rfc11_compute_checksum(4, plain, n, &checksum));
}

/* Writes a packet with this content, unencoded. Returns its size. */
static size_t stored_packet(uint8_t *to, size_t size, uint8_t compression, uint8_t encryption,
                            const char *content)
{
    size_t n = RFC11_HEADER + support_hex(to + RFC11_HEADER, size - RFC11_HEADER, content);
    struct rfc11_packet packet = {.content_size = (uint32_t)n, .packet_size = (uint32_t)n};
    packet.compression_scheme = compression;
    packet.encryption_scheme = encryption;
    rfc11_write_header(&packet, to);
    return n;
}

static enum rfc11_content unpack(const struct alloc *alloc, uint8_t compression, uint8_t encryption,
                                 const char *content, struct rfc11_unpack_options *how,
                                 struct buffer *to)
{
    uint8_t bytes[256];
    struct rfc11_packet packet;
    size_t n = stored_packet(bytes, sizeof bytes, compression, encryption, content);
    assert_int_equal(rfc11_read_header(bytes, n, &packet), RFC11_FINE);
    buffer_init(to, alloc);
    return rfc11_unpack_content(&packet, bytes, how, to);
}

static void contents_are_unpacked_after_header(void **state)
{
    (void)state;
    static const struct {
        uint8_t compression, encryption;
        const char *content;
    } cases[] = {
        {RFC11_GZIP, 0, GZIP},
        {RFC11_BZIP2, 0, BZIP2},
        {0, RFC11_AES, IV CIPHER},
        {RFC11_GZIP, RFC11_AES, IV GZIP_CIPHER},
    };
    uint8_t key[RFC11_KEY];
    (void)support_hex(key, sizeof key, KEY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rfc11_unpack_options how = {.key = {key}};
        struct buffer to;
        assert_int_equal(unpack(alloc_default(), cases[i].compression, cases[i].encryption,
                                cases[i].content, &how, &to),
                         RFC11_UNPACKED);
        support_assert_hex(to.bytes, 4, "c11ffcc1");
        support_assert_hex(to.bytes + RFC11_HEADER, to.n - RFC11_HEADER, PLAIN);
        assert_int_equal(how.unused, 0);
        buffer_free(&to);
    }
}

static void counters_carry_through_all_sixteen_bytes(void **state)
{
    (void)state;
    /* openssl enc -aes-256-ctr -K 0001...1f -iv ff..fe -in <(head -c 64 /dev/zero) | xxd -p */
    uint8_t key[RFC11_KEY], iv[RFC11_IV], zeros[64] = {0}, stream[64];
    (void)support_hex(key, sizeof key, KEY);
    (void)support_hex(iv, sizeof iv, "fffffffffffffffffffffffffffffffe");
    rfc11_encrypt_or_decrypt(key, iv, zeros, sizeof zeros, stream);
    support_assert_hex(stream, sizeof stream,
                       "63e5b402b51e48ddfaedf9de99cc2744e999e41d4ca770da5387117b5d8f57ee"
                       "f29000b62a499fd0a9f39a6add2e7780f05d76ae4ab99fe5a6f69b3148c2363d");
}

static void damaged_contents_return_reason(void **state)
{
    (void)state;
    uint8_t key[RFC11_KEY] = {0};
    struct buffer to;
    struct rfc11_unpack_options how = {.max = 0};
    assert_int_equal(unpack(alloc_default(), 0, 0, PLAIN, &how, &to), RFC11_PLAIN);
    assert_int_equal(unpack(alloc_default(), 0, RFC11_AES, IV CIPHER, &how, &to), RFC11_NO_KEY);
    assert_int_equal(unpack(alloc_default(), 3, 0, PLAIN, &how, &to), RFC11_UNKNOWN);
    assert_int_equal(unpack(alloc_default(), 0, 2, PLAIN, &how, &to), RFC11_UNKNOWN);
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, BZIP2, &how, &to), RFC11_DAMAGED);
    assert_non_null(strstr(how.reason, "gzip"));
    buffer_free(&to);
    assert_int_equal(unpack(alloc_default(), RFC11_BZIP2, 0, PLAIN, &how, &to), RFC11_DAMAGED);
    assert_non_null(strstr(how.reason, "bzip2"));
    buffer_free(&to);
    how.key.bytes = key;
    assert_int_equal(
        unpack(alloc_default(), 0, RFC11_AES, "00112233445566778899aabbccddee", &how, &to),
        RFC11_DAMAGED);
    assert_non_null(strstr(how.reason, "16 bytes"));
    buffer_free(&to);
}

static void truncated_content_returns_partial_output(void **state)
{
    (void)state;
    char cut[sizeof GZIP];
    struct buffer to;
    struct rfc11_unpack_options how = {.max = 0};
    memcpy(cut, GZIP, sizeof cut);
    cut[sizeof GZIP - 1 - 2 * 8] = '\0';
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, cut, &how, &to), RFC11_DAMAGED);
    assert_non_null(strstr(how.reason, "ends before"));
    support_assert_hex(to.bytes + RFC11_HEADER, to.n - RFC11_HEADER, PLAIN);
    buffer_free(&to);
}

static void bytes_after_member_are_counted(void **state)
{
    (void)state;
    struct buffer to;
    struct rfc11_unpack_options how = {.max = 0};
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, GZIP "000000", &how, &to),
                     RFC11_UNPACKED);
    assert_int_equal(how.unused, 3);
    buffer_free(&to);
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, "", &how, &to), RFC11_UNPACKED);
    assert_int_equal(to.n, RFC11_HEADER);
    buffer_free(&to);
}

static void unpacking_stops_at_its_limit(void **state)
{
    (void)state;
    struct buffer to;
    struct rfc11_unpack_options how = {.max = RFC11_HEADER + 22};
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, GZIP, &how, &to), RFC11_UNPACKED);
    buffer_free(&to);
    how.max--;
    assert_int_equal(unpack(alloc_default(), RFC11_GZIP, 0, GZIP, &how, &to), RFC11_TOO_LARGE);
    assert_int_equal(to.n, RFC11_HEADER + 21);
    buffer_free(&to);
    uint8_t key[RFC11_KEY] = {0};
    how.key.bytes = key;
    assert_int_equal(unpack(alloc_default(), 0, RFC11_AES, IV PLAIN PLAIN, &how, &to),
                     RFC11_TOO_LARGE);
    buffer_free(&to);
}

/* 32 MiB of zeros in a gzip member: the buffer must stop at the limit. */
static void bombs_are_not_inflated_beyond_the_limit(void **state)
{
    (void)state;
    struct support_heap heap;
    struct rfc11_packet packet = {.is_big_endian = false};
    struct rfc11_pack_options how = {.compression = RFC11_GZIP};
    struct buffer bomb, to;
    uint8_t *zeros = test_calloc(1, 32 << 20);
    support_heap_init(&heap, 0);
    buffer_init(&bomb, alloc_default());
    buffer_init(&to, &heap.alloc);
    assert_int_equal(rfc11_append_packet(&packet, zeros, 32 << 20, &how, &bomb, NULL), TTR_OK);
    assert_true(bomb.n < 64 << 10);
    struct rfc11_unpack_options unpacking = {.max = 1 << 20};
    assert_int_equal(rfc11_unpack_content(&packet, bomb.bytes, &unpacking, &to), RFC11_TOO_LARGE);
    assert_int_equal(to.n, 1 << 20);
    assert_true(heap.peak < 4 << 20);
    buffer_free(&to);
    buffer_free(&bomb);
    support_heap_check(&heap);
    test_free(zeros);
}

static void packed_packets_survive_round_trip(void **state)
{
    (void)state;
    uint8_t content[5000], key[RFC11_KEY];
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)(support_random(&seed) & 0x33);
    (void)support_hex(key, sizeof key, KEY);
    for (unsigned i = 0; i < 3 * 2 * 4 * 2; i++) {
        struct rfc11_pack_options how = {.compression = (uint8_t)(i % 3),
                                         .encryption = (uint8_t)(i / 3 % 2),
                                         .checksum = (uint8_t)(i / 6 % 4)};
        struct rfc11_packet packet = {.session_id = 7,
                                      .section_packet_count = i,
                                      .is_big_endian = i / 24},
                            again;
        struct rfc11_unpack_options unpacking = {.key = {key}};
        struct buffer stored, to;
        uint32_t checksum;
        how.key.bytes = key;
        how.align = 4096;
        buffer_init(&stored, alloc_default());
        buffer_init(&to, alloc_default());
        buffer_add_text(&stored, "before");
        assert_int_equal(rfc11_make_random_iv(how.iv, NULL), TTR_OK);
        assert_int_equal(rfc11_append_packet(&packet, content, sizeof content, &how, &stored, NULL),
                         TTR_OK);
        assert_int_equal((stored.n - 6) % 4096, 0);
        const uint8_t *bytes = stored.bytes + 6;
        assert_int_equal(rfc11_read_header(bytes, stored.n - 6, &again), RFC11_FINE);
        assert_int_equal(again.packet_size, stored.n - 6);
        assert_int_equal(again.section_packet_count, i);
        assert_true(rfc11_compute_checksum(again.checksum_scheme, bytes + RFC11_HEADER,
                                           again.content_size - RFC11_HEADER, &checksum));
        assert_int_equal(again.checksum, checksum);
        if (how.compression || how.encryption) {
            assert_int_equal(rfc11_unpack_content(&again, bytes, &unpacking, &to), RFC11_UNPACKED);
            assert_int_equal(to.n, RFC11_HEADER + sizeof content);
            assert_memory_equal(to.bytes + RFC11_HEADER, content, sizeof content);
        } else {
            assert_int_equal(rfc11_unpack_content(&again, bytes, &unpacking, &to), RFC11_PLAIN);
            assert_memory_equal(bytes + RFC11_HEADER, content, sizeof content);
        }
        buffer_free(&stored);
        buffer_free(&to);
    }
}

static void packing_is_refused_without_key_and_scheme(void **state)
{
    (void)state;
    struct rfc11_packet packet = {.is_big_endian = false};
    struct buffer to;
    ttr_error error;
    buffer_init(&to, alloc_default());
    assert_int_equal(rfc11_append_packet(&packet, NULL, 0,
                                         &(struct rfc11_pack_options){.encryption = RFC11_AES}, &to,
                                         &error),
                     TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "key=FILE"));
    assert_int_equal(rfc11_append_packet(&packet, NULL, 0,
                                         &(struct rfc11_pack_options){.compression = 3}, &to,
                                         &error),
                     TTR_E_UNSUPPORTED);
    buffer_free(&to);
}

static bool pack_and_unpack(const struct alloc *alloc)
{
    uint8_t content[300] = {1, 2, 3}, key[RFC11_KEY] = {4};
    struct rfc11_pack_options how = {
        .compression = RFC11_GZIP, .encryption = RFC11_AES, .key = {key}};
    struct rfc11_unpack_options unpacking = {.key = {key}};
    struct rfc11_packet packet = {.is_big_endian = true};
    struct buffer stored, to;
    buffer_init(&stored, alloc);
    buffer_init(&to, alloc);
    ttr_status status = rfc11_append_packet(&packet, content, sizeof content, &how, &stored, NULL);
    enum rfc11_content got = RFC11_NO_MEMORY;
    if (status == TTR_OK)
        got = rfc11_unpack_content(&packet, stored.bytes, &unpacking, &to);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    assert_true(got == RFC11_UNPACKED || got == RFC11_NO_MEMORY);
    buffer_free(&stored);
    buffer_free(&to);
    return got == RFC11_UNPACKED;
}

static void each_failing_allocation_is_reported_without_leak(void **state)
{
    (void)state;
    support_fail_each(pack_and_unpack);
}

/* --- Keys --- */

static void keys_are_bytes_or_digits(void **state)
{
    (void)state;
    uint8_t key[RFC11_KEY], raw[RFC11_KEY];
    (void)support_hex(raw, sizeof raw, KEY);
    assert_true(rfc11_parse_key(raw, sizeof raw, key));
    assert_memory_equal(key, raw, sizeof key);
    memset(key, 0, sizeof key);
    assert_true(rfc11_parse_key((const uint8_t *)"  " KEY "\n", sizeof KEY + 2, key));
    assert_memory_equal(key, raw, sizeof key);
    assert_true(rfc11_parse_key(
        (const uint8_t *)"000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F", 64,
        key));
    assert_false(rfc11_parse_key((const uint8_t *)KEY, 63, key));
    assert_false(rfc11_parse_key((const uint8_t *)"", 0, key));
    assert_false(rfc11_parse_key(
        (const uint8_t *)"g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 64,
        key));
}

static void keys_come_from_files_and_the_environment(void **state)
{
    (void)state;
    uint8_t key[RFC11_KEY], raw[RFC11_KEY];
    ttr_error error;
    char path[] = "/tmp/rfc11-key-XXXXXX";
    int file = mkstemp(path);
    (void)support_hex(raw, sizeof raw, KEY);
    assert_int_equal(write(file, KEY "\n", 65), 65);
    assert_int_equal(rfc11_read_key_file(path, key, &error), TTR_OK);
    assert_memory_equal(key, raw, sizeof key);
    assert_int_equal(write(file, KEY, 64), 64);
    assert_int_equal(rfc11_read_key_file(path, key, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "64 hexadecimal digits"));
    assert_null(strstr(error.text, "000102"));
    (void)close(file);
    (void)unlink(path);
    assert_int_equal(rfc11_read_key_file(path, key, &error), TTR_E_IO);
    (void)setenv("RFC11_TEST_KEY", KEY, 1);
    memset(key, 0, sizeof key);
    assert_int_equal(rfc11_read_key_variable("RFC11_TEST_KEY", key, &error), TTR_OK);
    assert_memory_equal(key, raw, sizeof key);
    (void)setenv("RFC11_TEST_KEY", "00010203040506070809", 1);
    assert_int_equal(rfc11_read_key_variable("RFC11_TEST_KEY", key, &error), TTR_E_MISUSE);
    (void)unsetenv("RFC11_TEST_KEY");
    assert_int_equal(rfc11_read_key_variable("RFC11_TEST_KEY", key, &error), TTR_E_MISUSE);
}

/* --- Metadata in packets --- */

struct diagnostics {
    char text[1000];
};

static void take_note(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                      const char *text)
{
    struct diagnostics *notes = ctx;
    size_t n = strlen(notes->text);
    (void)text;
    (void)snprintf(notes->text + n, sizeof notes->text - n, "%d %s %llu\n", (int)severity, code,
                   (unsigned long long)offset);
}

static void add_packet(struct buffer *to, const char *content, size_t n, struct rfc11_packet packet,
                       struct rfc11_pack_options how)
{
    assert_int_equal(rfc11_append_packet(&packet, (const uint8_t *)content, n, &how, to, NULL),
                     TTR_OK);
}

static void strings_continue_in_next_packet(void **state)
{
    (void)state;
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    struct buffer bytes;
    struct rfc11_packet packet = {.session_id = 9, .is_big_endian = true};
    buffer_init(&bytes, alloc_default());
    ctf_description_init(&description, alloc_default());
    add_packet(&bytes, "trace { ma", 10, packet, (struct rfc11_pack_options){.align = 64});
    add_packet(&bytes, "jor = 1;\0\0 }\0", 13, packet,
               (struct rfc11_pack_options){.checksum = RFC11_SHA1});
    add_packet(&bytes, "section", 7, packet,
               (struct rfc11_pack_options){.compression = RFC11_BZIP2});
    assert_int_equal(rfc11_unpack_metadata(&description, bytes.bytes, bytes.n, NULL, &text, NULL),
                     TTR_OK);
    assert_int_equal(text.p[text.n], 0);
    support_assert_text(text.p, text.n, "trace { major = 1; }section");
    assert_true(description.is_big_endian && description.has_byte_order &&
                description.has_session_id);
    assert_int_equal(description.session_id, 9);
    assert_int_equal(ctf_compute_text_offset(&text, 0), 48);
    assert_int_equal(ctf_compute_text_offset(&text, 9), 57);
    assert_int_equal(ctf_compute_text_offset(&text, 10), 64 + 48);      /* after the padding */
    assert_int_equal(ctf_compute_text_offset(&text, 18), 64 + 48 + 10); /* after the zero bytes */
    assert_int_equal(ctf_compute_text_offset(&text, 20),
                     /* the start of the content: offsets inside compressed content are unknown */
                     64 + 61 + 48);
    buffer_free(&bytes);
    ctf_description_free(&description);
}

static void damaged_metadata_packets_are_skipped_with_note(void **state)
{
    (void)state;
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    struct buffer bytes;
    struct diagnostics notes = {""};
    struct rfc11_packet packet = {.session_id = 9}, other = {.session_id = 8},
                        turned = {.session_id = 9, .is_big_endian = true};
    buffer_init(&bytes, alloc_default());
    ctf_description_init(&description, alloc_default());
    description.note = take_note;
    description.note_ctx = &notes;
    add_packet(&bytes, "a", 1, packet, (struct rfc11_pack_options){.checksum = RFC11_CRC32});
    bytes.bytes[16] ^= 1; /* its checksum */
    add_packet(&bytes, "b", 1, other, (struct rfc11_pack_options){.align = 0});
    add_packet(&bytes, "c", 1, turned, (struct rfc11_pack_options){.align = 0});
    add_packet(&bytes, "d", 1, packet, (struct rfc11_pack_options){.align = 0});
    bytes.bytes[3 * 49] = 0; /* its magic */
    add_packet(&bytes, "e", 1, packet, (struct rfc11_pack_options){.align = 0});
    bytes.bytes[4 * 49 + 8] = 100; /* its sizes exceed the file */
    bytes.bytes[4 * 49 + 12] = 100;
    assert_int_equal(rfc11_unpack_metadata(&description, bytes.bytes, bytes.n, NULL, &text, NULL),
                     TTR_OK);
    support_assert_text(text.p, text.n, "ace");
    support_assert_text(notes.text, strlen(notes.text),
                        "2 ctf.checksum 48\n2 ctf.session-id 53\n2 ctf.byte-order 98\n2 "
                        "ctf.packet-header 147\n2 ctf.cut 245\n");
    buffer_free(&bytes);
    ctf_description_free(&description);
}

static void metadata_without_its_key_is_refused(void **state)
{
    (void)state;
    struct ctf_description description;
    struct ctf_text text = {.file = "metadata"};
    struct buffer bytes;
    ttr_error error;
    uint8_t key[RFC11_KEY] = {1};
    struct rfc11_packet packet = {.session_id = 9};
    buffer_init(&bytes, alloc_default());
    add_packet(&bytes, "secret", 6, packet,
               (struct rfc11_pack_options){.encryption = RFC11_AES, .key = {key}});
    ctf_description_init(&description, alloc_default());
    assert_int_equal(rfc11_unpack_metadata(&description, bytes.bytes, bytes.n, NULL, &text, &error),
                     TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "key=FILE"));
    ctf_description_free(&description);
    ctf_description_init(&description, alloc_default());
    assert_int_equal(rfc11_unpack_metadata(&description, bytes.bytes, bytes.n,
                                           &(struct ctf_key){key}, &text, &error),
                     TTR_OK);
    support_assert_text(text.p, text.n, "secret");
    ctf_description_free(&description);
    ctf_description_init(&description, alloc_default());
    bytes.bytes[46] = 9;
    assert_int_equal(rfc11_unpack_metadata(&description, bytes.bytes, bytes.n, NULL, &text, &error),
                     TTR_E_UNSUPPORTED);
    ctf_description_free(&description);
    ctf_description_init(&description, alloc_default());
    assert_int_equal(
        rfc11_unpack_metadata(&description, (const uint8_t *)"junk", 4, NULL, &text, &error),
        TTR_E_MALFORMED);
    ctf_description_free(&description);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_both_byte_orders_are_equal),
        cmocka_unit_test(invalid_headers_return_fault),
        cmocka_unit_test(packet_counts_wrap_at_field_width),
        cmocka_unit_test(checksums_equal_reference_tools),
        cmocka_unit_test(contents_are_unpacked_after_header),
        cmocka_unit_test(counters_carry_through_all_sixteen_bytes),
        cmocka_unit_test(damaged_contents_return_reason),
        cmocka_unit_test(truncated_content_returns_partial_output),
        cmocka_unit_test(bytes_after_member_are_counted),
        cmocka_unit_test(unpacking_stops_at_its_limit),
        cmocka_unit_test(bombs_are_not_inflated_beyond_the_limit),
        cmocka_unit_test(packed_packets_survive_round_trip),
        cmocka_unit_test(packing_is_refused_without_key_and_scheme),
        cmocka_unit_test(each_failing_allocation_is_reported_without_leak),
        cmocka_unit_test(keys_are_bytes_or_digits),
        cmocka_unit_test(keys_come_from_files_and_the_environment),
        cmocka_unit_test(strings_continue_in_next_packet),
        cmocka_unit_test(damaged_metadata_packets_are_skipped_with_note),
        cmocka_unit_test(metadata_without_its_key_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
