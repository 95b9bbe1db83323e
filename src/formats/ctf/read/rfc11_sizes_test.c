/* v1.1 packets with a wrong content_size or packet_size, plain, compressed and encrypted. The right
 * size follows from the next packet, the checksum or the compressed data; all events must be read.
 */
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "support/support.h"

#define PACKETS 6u
#define EVENTS 20u
#define EVENT_BYTES 10u
#define ALIGN 64u
#define WRONG 2u /* index of the changed packet; the next one is changed too in some tests */
#define CONTENT_AT 8u
#define SIZE_AT 12u
#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static const char metadata[] =
    "trace { major = 1; minor = 1; alignment = packed; }\n"
    "section { name = s; event { header_type = type2; } }\n"
    "event { name = e; id = 1; section = s; fields = { { uint32_t, a } }; }\n";

struct stream {
    struct buffer bytes;
    size_t begin[PACKETS + 1];
    struct rfc11_packet packet[PACKETS];
};

/* Makes packets of different sizes: each has one event more than the previous one. */
static void make_stream(struct stream *stream, uint8_t compression, uint8_t encryption,
                        uint8_t checksum)
{
    uint8_t key[RFC11_KEY];
    (void)support_hex(key, sizeof key, KEY);
    buffer_init(&stream->bytes, alloc_default());
    for (uint32_t i = 0; i < PACKETS; i++) {
        struct buffer content;
        const struct rfc11_pack_options how = {.compression = compression,
                                               .encryption = encryption,
                                               .checksum = checksum,
                                               .key = {key},
                                               .iv = {(uint8_t)(i + 1)},
                                               .align = ALIGN};
        struct rfc11_packet packet = {.session_id = 7,
                                      .section_packet_count = i,
                                      .section_packet_count_bits = 32,
                                      .timestamp_begin = 1000 * i + 1000,
                                      .timestamp_end = 1000 * i + 1000 + EVENTS + i};
        buffer_init(&content, alloc_default());
        for (uint32_t k = 0; k < EVENTS + i; k++) {
            uint8_t event[EVENT_BYTES];
            store_u32le(event, 1000 * i + 1000 + k);
            store_u16le(event + 4, 1);
            store_u32le(event + 6, 100 * i + k);
            buffer_add(&content, event, sizeof event);
        }
        stream->begin[i] = stream->bytes.n;
        assert_int_equal(
            rfc11_append_packet(&packet, content.bytes, content.n, &how, &stream->bytes, NULL),
            TTR_OK);
        stream->packet[i] = packet;
        buffer_free(&content);
    }
    stream->begin[PACKETS] = stream->bytes.n;
}

#define ALL (PACKETS * EVENTS + PACKETS * (PACKETS - 1) / 2)

struct given {
    size_t events, notes, damage;
};

static struct given read_stream(const struct stream *stream)
{
    struct given given = {0};
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", stream->bytes.bytes, stream->bytes.n}};
    const char *const format_options[] = {"key-env=RFC11_SIZES_KEY", NULL};
    const ttr_read_options options = {.size = sizeof options, .format_options = format_options};
    ttr_error error = {0};
    ttr_batch batch;
    ttr_status status;
    int64_t last = 0;
    ttr *t = ttr_new(NULL);
    (void)setenv("RFC11_SIZES_KEY", KEY, 1);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, &options, &error);
    assert_non_null(reader);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_GAP)
                continue;
            assert_true(event->time > last);
            last = event->time;
            given.events++;
        }
    assert_int_equal(status, TTR_END);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    given.notes = report.notes_n;
    given.damage = report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
    return given;
}

static void set(struct stream *stream, unsigned packet, size_t at, uint32_t value)
{
    store_u32le(stream->bytes.bytes + stream->begin[packet] + at, value);
}

/* Kinds of content; `has_end`: the end of the content can be determined. */
static const struct kind {
    uint8_t compression, encryption, checksum;
    bool has_end;
} kinds[] = {
    {0, 0, 0, false},
    {0, 0, RFC11_CRC32, true},
    {0, 0, RFC11_MD5, true},
    {0, 0, RFC11_SHA1, true},
    {RFC11_GZIP, 0, 0, true},
    {RFC11_GZIP, 0, RFC11_CRC32, true},
    {RFC11_BZIP2, 0, 0, true},
    {0, RFC11_AES, RFC11_CRC32, true},
    {RFC11_GZIP, RFC11_AES, 0, true},
};

static const uint32_t sizes[] = {0,   1,   47,   52,   100,        150,
                                 400, 640, 1000, 5000, 0x7FFFFFFF, 0xFFFFFFFF};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void stream_with_right_sizes_reports_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct stream stream;
        make_stream(&stream, kinds[i].compression, kinds[i].encryption, kinds[i].checksum);
        const struct given given = read_stream(&stream);
        assert_int_equal(given.events, ALL);
        assert_int_equal(given.notes, 0);
        buffer_free(&stream.bytes);
    }
}

static void wrong_content_size_loses_no_event_if_repairable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            struct stream stream;
            make_stream(&stream, kinds[i].compression, kinds[i].encryption, kinds[i].checksum);
            set(&stream, WRONG, CONTENT_AT, sizes[k]);
            const struct given given = read_stream(&stream);
            assert_true(given.notes > 0);
            const bool is_inside = sizes[k] >= RFC11_HEADER &&
                                   /* plain content: events stop at the wrong end */
                                   sizes[k] < stream.packet[WRONG].content_size;
            if (kinds[i].has_end || !is_inside)
                assert_int_equal(given.events, ALL);
            else
                assert_true(given.events >= ALL - EVENTS - WRONG && given.damage);
            buffer_free(&stream.bytes);
        }
}

static void wrong_v1_1_packet_size_loses_no_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t k = 0; k < COUNT(sizes); k++)
            for (unsigned n = 1; n <= 2; n++) { /* number of consecutive changed packets */
                struct stream stream;
                make_stream(&stream, kinds[i].compression, kinds[i].encryption, kinds[i].checksum);
                set(&stream, WRONG, SIZE_AT, sizes[k]);
                if (n == 2)
                    set(&stream, WRONG + 1, SIZE_AT, sizes[k]);
                const struct given given = read_stream(&stream);
                assert_int_equal(given.events, ALL);
                assert_true(given.notes > 0);
                buffer_free(&stream.bytes);
            }
}

/* The wrong size leads to a packet that is not the next one. */
static void size_leading_to_a_later_packet_hides_no_packet(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (unsigned to = WRONG + 2; to <= PACKETS; to++) {
            struct stream stream;
            make_stream(&stream, kinds[i].compression, kinds[i].encryption, kinds[i].checksum);
            set(&stream, WRONG, SIZE_AT, (uint32_t)(stream.begin[to] - stream.begin[WRONG]));
            const struct given given = read_stream(&stream);
            assert_int_equal(given.events, ALL);
            assert_int_equal(given.damage, 1);
            buffer_free(&stream.bytes);
        }
}

/* --- Truncated files --- */

/* Returns how many bytes of events zlib decompresses from the first n bytes. */
static size_t inflated(const uint8_t *bytes, size_t n)
{
    uint8_t out[EVENT_BYTES * (EVENTS + PACKETS)];
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes,
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = sizeof out};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    (void)inflate(&z, Z_SYNC_FLUSH);
    const size_t got = sizeof out - z.avail_out;
    (void)inflateEnd(&z);
    return got;
}

/* Returns the number of complete events in the rest of a packet. */
static size_t whole_events(const struct stream *stream, const struct kind *kind, unsigned i,
                           size_t cut)
{
    const size_t begin = stream->begin[i] + RFC11_HEADER,
                 end = stream->begin[i] + stream->packet[i].content_size,
                 iv = kind->encryption ? RFC11_IV : 0;
    if (cut >= end)
        return EVENTS + i;
    if (cut < begin + iv)
        return 0;
    if (kind->compression == RFC11_GZIP && !kind->encryption)
        return inflated(stream->bytes.bytes + begin, cut - begin) / EVENT_BYTES;
    return kind->compression ? 0
                             : (cut - begin - iv) /
                                   /* for the others, at least those of complete packets */
                                   EVENT_BYTES;
}

static void truncated_stream_returns_all_complete_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct stream stream;
        make_stream(&stream, kinds[i].compression, kinds[i].encryption, kinds[i].checksum);
        const size_t n = stream.bytes.n;
        /* by day all cuts of the last packet, and some of the others */
        for (size_t at = 1, cut; at < n;
             at += support_stride(at, n - stream.begin[PACKETS - 1], 11)) {
            size_t whole = 0;
            cut = n - at;
            stream.bytes.n = cut;
            for (unsigned k = 0; k < PACKETS; k++)
                whole += whole_events(&stream, &kinds[i], k, cut);
            const size_t events = read_stream(&stream).events;
            if (kinds[i].compression &&
                (kinds[i].encryption || kinds[i].compression == RFC11_BZIP2))
                assert_true(events >= whole && events <= ALL);
            else
                assert_int_equal(events, whole);
        }
        buffer_free(&stream.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_with_right_sizes_reports_nothing),
        cmocka_unit_test(wrong_content_size_loses_no_event_if_repairable),
        cmocka_unit_test(wrong_v1_1_packet_size_loses_no_event),
        cmocka_unit_test(size_leading_to_a_later_packet_hides_no_packet),
        cmocka_unit_test(truncated_stream_returns_all_complete_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
