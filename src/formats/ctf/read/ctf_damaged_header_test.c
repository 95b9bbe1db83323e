/* Packets with a damaged magic number, UUID or class id in their header: all events of all packets
 * must be read and the damage reported. */
#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

enum { PACKETS = 6, EVENTS = 5, EVENT_BYTES = 9, PADDING = 40, STREAM_MAX = 1000 };
/* offsets in the header of a CTF 2 packet: magic number, UUID, class id, sizes */
enum { UUID_AT = 4, CLASS_AT = 20, UUID_HEAD_BYTES = 40, HEAD_BYTES = 20 };

static const uint8_t uuid[16] = {0x2a, 0x64, 0x22, 0xd0, 0x6c, 0xee, 0x11, 0xe0,
                                 0x8c, 0x08, 0xcb, 0x07, 0xd7, 0xb3, 0xa5, 0x64};

#define U32(name, role)                                                                   \
    "{\"name\":\"" name "\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\"," \
    "\"length\":32,\"byte-order\":\"little-endian\",\"alignment\":8,\"roles\":[\"" role "\"]}}"
#define U64(name, role)                                                                   \
    "{\"name\":\"" name "\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\"," \
    "\"length\":64,\"byte-order\":\"little-endian\",\"alignment\":8,\"roles\":[\"" role "\"]}}"

static const char metadata_with_uuid[] =
    "\x1e{\"type\":\"preamble\",\"version\":2,\"uuid\":[42,100,34,208,108,238,17,224,140,8,203,7,"
    "215,179,165,100]}\n"
    "\x1e{\"type\":\"trace-class\",\"uuid\":[42,100,34,208,108,238,17,224,140,8,203,7,215,179,"
    "165,100],\"packet-header-field-class\":{\"type\":\"structure\",\"member-classes\":[" U32(
        "magic",
        "packet-magic-number") ",{\"name\":\"uuid\",\"field-class\":{\"type\":"
                               "\"static-length-blob\",\"length\":16,\"roles\":[\"metadata-stream-"
                               "uuid\"]}}," U32(
                                   "class",
                                   "data-stream-class-id") "]}}\n"
                                                           "\x1e{\"type\":\"clock-class\",\"name\":"
                                                           "\"c\",\"frequency\":1000000000}\n"
                                                           "\x1e{\"type\":\"data-stream-class\","
                                                           "\"id\":0,\"default-clock-class-name\":"
                                                           "\"c\","
                                                           "\"packet-context-field-class\":{"
                                                           "\"type\":\"structure\",\"member-"
                                                           "classes\":[" U64(
                                                               "size",
                                                               "packet-total-"
                                                               "length") "," U64("content",
                                                                                 "packet-content-"
                                                                                 "length") "]},"
                                                                                           "\"event"
                                                                                           "-"
                                                                                           "record-"
                                                                                           "header-"
                                                                                           "field-"
                                                                                           "class\""
                                                                                           ":{"
                                                                                           "\"type"
                                                                                           "\":"
                                                                                           "\"struc"
                                                                                           "tur"
                                                                                           "e\","
                                                                                           "\"membe"
                                                                                           "r-"
                                                                                           "classes"
                                                                                           "\":"
                                                                                           "[" U64(
                                                                                               "tim"
                                                                                               "e",
                                                                                               "def"
                                                                                               "aul"
                                                                                               "t-"
                                                                                               "clo"
                                                                                               "ck-"
                                                                                               "tim"
                                                                                               "est"
                                                                                               "am"
                                                                                               "p") "]}}\n"
                                                                                                    "\x1e{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":{\"type\":"
                                                                                                    "\"structure\",\"member-classes\":[{\"name\":\"x\",\"field-class\":{\"type\":"
                                                                                                    "\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"little-endian\"}}]}}\n";

static const char metadata_without_uuid[] =
    "/* CTF 1.8 */ typealias integer { size = 64; align = 8; } := u64;"
    "clock { name = c; freq = 1000000000; };"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
    "  integer { size = 32; align = 8; } magic; }; };"
    "stream { packet.context := struct { u64 packet_size; u64 content_size; };"
    "  event.header := struct {"
    "    integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };"
    "event { name = e; fields := struct { integer { size = 8; align = 8; } x; }; };";

struct stream {
    uint8_t bytes[STREAM_MAX];
    size_t n;
    size_t packet_at[PACKETS];
};

/* Makes packets of growing size, so that no size proves the next one. */
static void make_stream(struct stream *stream, bool has_uuid)
{
    const size_t head = has_uuid ? UUID_HEAD_BYTES : HEAD_BYTES;
    memset(stream, 0, sizeof *stream);
    for (unsigned i = 0; i < PACKETS; i++) {
        uint8_t *p = stream->bytes + stream->n, *event = p + head;
        const size_t content = head + EVENTS * EVENT_BYTES, size = content + PADDING + i;
        stream->packet_at[i] = stream->n;
        store_u32le(p, CTF_MAGIC);
        if (has_uuid)
            memcpy(p + UUID_AT, uuid, sizeof uuid);
        store_u64le(p + head - 16, size * 8);
        store_u64le(p + head - 8, content * 8);
        for (unsigned k = 0; k < EVENTS; k++, event += EVENT_BYTES)
            store_u64le(event, 1000 + 10 * i + k);
        stream->n += size;
        assert_true(stream->n < STREAM_MAX);
    }
}

struct result {
    size_t events;
    uint64_t damage;
    ttr_status status;
};

static struct result read_stream(const struct stream *stream, const char *metadata, uint32_t flags)
{
    struct result result = {0};
    const ttr_file files[] = {{"metadata", metadata, strlen(metadata)},
                              {"s", stream->bytes, stream->n}};
    const ttr_read_options options = {.size = sizeof options, .flags = flags};
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, &options, &error);
    if (!reader)
        fail_msg("%s", error.text);
    while ((result.status = ttr_read(reader, &batch, &error)) == TTR_OK)
        result.events += batch.n;
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        result.damage += report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
    return result;
}

static void expect_all_events(const struct stream *stream, const char *metadata, uint64_t damage)
{
    const struct result result = read_stream(stream, metadata, 0);
    assert_int_equal(result.status, TTR_END);
    assert_int_equal(result.events, PACKETS * EVENTS);
    assert_int_equal(result.damage, damage);
    if (damage)
        assert_int_equal(read_stream(stream, metadata, TTR_READ_STRICT).status, TTR_E_MALFORMED);
}

static void valid_packets_have_no_damage(void **state)
{
    struct stream stream;
    (void)state;
    make_stream(&stream, false);
    expect_all_events(&stream, metadata_without_uuid, 0);
    make_stream(&stream, true);
    expect_all_events(&stream, metadata_with_uuid, 0);
}

static void damaged_magic_loses_no_packet(void **state)
{
    struct stream stream;
    (void)state;
    for (unsigned i = 0; i < PACKETS; i++)
        for (unsigned k = 0; k < 2; k++) {
            const bool has_uuid = k > 0;
            const char *metadata = has_uuid ? metadata_with_uuid : metadata_without_uuid;
            make_stream(&stream, has_uuid);
            stream.bytes[stream.packet_at[i] + 2] ^= 0x10;
            expect_all_events(&stream, metadata, 1);
            store_u32le(stream.bytes + stream.packet_at[i], 0);
            expect_all_events(&stream, metadata, 1);
        }
}

/* Without a magic number, wrong sizes prove nothing. */
static void damaged_magic_and_size_lose_one_packet(void **state)
{
    struct stream stream;
    (void)state;
    make_stream(&stream, false);
    stream.bytes[stream.packet_at[2]] ^= 1;
    stream.bytes[stream.packet_at[2] + 4 + 1] ^= 4;
    const struct result result = read_stream(&stream, metadata_without_uuid, 0);
    assert_int_equal(result.events, (PACKETS - 1) * EVENTS);
    assert_true(result.damage > 0);
}

static void damaged_uuid_loses_no_packet(void **state)
{
    struct stream stream;
    (void)state;
    for (unsigned bit = 0; bit < 128; bit += 5) {
        make_stream(&stream, true);
        stream.bytes[stream.packet_at[bit % PACKETS] + UUID_AT + bit / 8] ^=
            (uint8_t)(1u << bit % 8);
        expect_all_events(&stream, metadata_with_uuid, 1);
    }
    make_stream(&stream, true);
    memset(stream.bytes + stream.packet_at[3] + UUID_AT + 5, 0, 11);
    expect_all_events(&stream, metadata_with_uuid, 1);
}

static void packet_with_another_uuid_is_skipped(void **state)
{
    struct stream stream;
    (void)state;
    make_stream(&stream, true);
    stream.bytes[stream.packet_at[3] + UUID_AT] ^= 3;
    assert_int_equal(read_stream(&stream, metadata_with_uuid, 0).events, (PACKETS - 1) * EVENTS);
}

static void damaged_class_id_loses_no_packet(void **state)
{
    struct stream stream;
    (void)state;
    for (unsigned bit = 8; bit < 32; bit++) {
        make_stream(&stream, true);
        stream.bytes[stream.packet_at[bit % PACKETS] + CLASS_AT + bit / 8] ^=
            (uint8_t)(1u << bit % 8);
        expect_all_events(&stream, metadata_with_uuid, 1);
    }
}

/* Class 1 may exist in the metadata that the tracer wrote later. */
static void packet_of_undeclared_class_is_skipped(void **state)
{
    struct stream stream;
    (void)state;
    make_stream(&stream, true);
    stream.bytes[stream.packet_at[3] + CLASS_AT] = 1;
    assert_int_equal(read_stream(&stream, metadata_with_uuid, 0).events, (PACKETS - 1) * EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_packets_have_no_damage),
        cmocka_unit_test(damaged_magic_loses_no_packet),
        cmocka_unit_test(damaged_magic_and_size_lose_one_packet),
        cmocka_unit_test(damaged_uuid_loses_no_packet),
        cmocka_unit_test(packet_with_another_uuid_is_skipped),
        cmocka_unit_test(damaged_class_id_loses_no_packet),
        cmocka_unit_test(packet_of_undeclared_class_is_skipped),
    };
    return cmocka_run_group_tests_name("ctf_damaged_header", tests, NULL, NULL);
}
