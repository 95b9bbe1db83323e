/* Packets whose header says a wrong size: all events of all packets are given, and the damage is
 * told. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/read.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

#define PACKETS 12u
#define PACKET_BYTES 256u
#define EVENTS 5u
#define HEAD_BYTES 32u
#define EVENT_BYTES 10u
#define SIZE_AT 12u    /* of the packet's size, in its header; that of its content stands behind */
#define MAGIC_BYTES 4u /* which streams without a magic number do not have */

static const char metadata[] =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8; typealias integer { size = "
    "32; align = 8; } := u32;"
    "typealias integer { size = 64; align = 8; } := u64; clock { name = c; freq = 1000000000; };"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := time;"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; u32 stream_instance_id; }; };"
    "stream { id = 0; packet.context := struct { u64 packet_size; u32 content_size; u64 unused; }; "
    "event.header := struct { u8 id; time timestamp; }; };"
    "event { name = e; id = 1; stream_id = 0; fields := struct { u8 x; }; };";

static const char plain_metadata[] =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8; typealias integer { size = "
    "32; align = 8; } := u32;"
    "typealias integer { size = 64; align = 8; } := u64; clock { name = c; freq = 1000000000; };"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := time;"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 stream_id; u32 "
    "stream_instance_id; }; };"
    "stream { id = 0; packet.context := struct { u64 packet_size; u32 content_size; u64 "
    "packet_seq_num; }; event.header := struct { u8 id; time timestamp; }; };"
    "event { name = e; id = 1; stream_id = 0; fields := struct { u8 x; }; };";

static void put_number(struct buffer *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buffer_add_byte(to, (uint8_t)(value >> 8 * i));
}

static void put_packet(struct buffer *to, unsigned i, bool has_magic)
{
    const size_t begin = to->n, head = has_magic ? HEAD_BYTES : HEAD_BYTES - MAGIC_BYTES;
    if (has_magic)
        put_number(to, CTF_MAGIC, 4);
    put_number(to, 0, 4);
    put_number(to, 7, 4);
    put_number(to, PACKET_BYTES * 8, 8);
    put_number(to, (head + EVENTS * EVENT_BYTES) * 8, 4);
    put_number(to, has_magic ? 0 : i, 8);
    for (unsigned k = 0; k < EVENTS; k++) {
        put_number(to, 1, 1); /* so that zeros are no event */
        put_number(to, 1000 + 10 * i + k, 8);
        put_number(to, k, 1);
    }
    while (to->n < begin + PACKET_BYTES)
        buffer_add_byte(to, 0);
}

/* A stream of packets, of the last of which `cut` bytes are missing; it ends with padding. */
static void make_stream(struct buffer *to, size_t cut)
{
    buffer_init(to, alloc_default());
    for (unsigned i = 0; i < PACKETS; i++)
        put_packet(to, i, true);
    assert_false(to->failed);
    to->n -= cut;
}

/* The same without magic numbers, and with numbers of packets. */
static void make_plain(struct buffer *to)
{
    buffer_init(to, alloc_default());
    for (unsigned i = 0; i < PACKETS; i++)
        put_packet(to, i, false);
    assert_false(to->failed);
}

struct given {
    uint32_t flags;
    size_t events, damage;
    ttr_status status;
    char code[32];
};

static struct given read_as(const struct buffer *stream, const char *text, uint32_t flags)
{
    struct given given = {.flags = flags};
    const ttr_file files[] = {{"metadata", text, strlen(text)}, {"s", stream->bytes, stream->n}};
    const ttr_read_options options = {.size = sizeof options, .flags = flags};
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, &options, &error);
    int64_t last = 0;
    assert_non_null(reader);
    while ((given.status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_DEFINITION)
                continue;
            assert_true(event->time > last);
            last = event->time;
            given.events++;
        }
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        given.damage += report.damage_regions;
        for (size_t k = 0; k < report.regions_n; k++)
            (void)snprintf(given.code, sizeof given.code, "%s", report.regions[k].code);
    }
    ttr_close(reader);
    ttr_free(t);
    return given;
}

static struct given read_stream(const struct buffer *stream, uint32_t flags)
{
    return read_as(stream, metadata, flags);
}

static void turn_bit(struct buffer *stream, unsigned packet, unsigned at, unsigned bit)
{
    stream->bytes[packet * PACKET_BYTES + at + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void a_good_stream_has_no_damage(void **state)
{
    (void)state;
    struct buffer stream;
    make_stream(&stream, 0);
    const struct given given = read_stream(&stream, 0);
    assert_int_equal(given.events, PACKETS * EVENTS);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.status, TTR_END);
    buffer_free(&stream);
}

/* Whichever bit of a size that is whole bytes: it is larger or smaller, ends in another packet,
 * between two, or behind the file. */
static void a_wrong_size_hides_no_packet(void **state)
{
    (void)state;
    static const unsigned packets[] = {0, 1, 5, PACKETS - 2, PACKETS - 1};
    for (size_t p = 0; p < sizeof packets / sizeof *packets; p++)
        for (unsigned bit = 3; bit < 64; bit++) {
            struct buffer stream;
            make_stream(&stream, 0);
            turn_bit(&stream, packets[p], SIZE_AT, bit);
            const bool is_unset = PACKET_BYTES * 8 ==
                                  UINT64_C(1) << bit; /* it says 0 then, and the padding is zero */
            const struct given given = read_stream(&stream, 0);
            assert_int_equal(given.events, PACKETS * EVENTS);
            assert_int_equal(given.damage, !is_unset);
            if (!is_unset)
                assert_int_equal(read_stream(&stream, TTR_READ_STRICT).status, TTR_E_MALFORMED);
            assert_true(read_stream(&stream, TTR_READ_DEFINITIONS).events >=
                        EVENTS); /* those of the packet that is not copied */
            buffer_free(&stream);
        }
}

static void set_size(struct buffer *stream, unsigned packet, uint64_t bytes)
{
    store_u64le(stream->bytes + packet * PACKET_BYTES + SIZE_AT, bytes * 8);
}

/* One that is smaller than the header, or ends inside the content, whose size is right. */
static void a_size_that_is_too_small_costs_no_event(void **state)
{
    (void)state;
    for (uint64_t size = 1; size < HEAD_BYTES + EVENTS * EVENT_BYTES; size++)
        for (unsigned first = 4; first < PACKETS;
             first += PACKETS - 5) { /* in the middle; and the last one */
            struct buffer stream;
            make_stream(&stream, 0);
            set_size(&stream, first, size);
            const struct given given = read_stream(&stream, 0);
            assert_int_equal(given.events, PACKETS * EVENTS);
            assert_int_equal(given.damage, 1);
            assert_string_equal(given.code, "ctf.bad-size");
            buffer_free(&stream);
        }
}

static void nor_do_two_in_sequence(void **state)
{
    (void)state;
    for (uint64_t size = HEAD_BYTES; size + 3 < HEAD_BYTES + EVENTS * EVENT_BYTES; size += 5) {
        struct buffer stream;
        make_stream(&stream, 0);
        set_size(&stream, 4, size);
        set_size(&stream, 5, size + 3);
        const struct given given = read_stream(&stream, 0);
        assert_int_equal(given.events, PACKETS * EVENTS);
        assert_int_equal(given.damage, 2);
        buffer_free(&stream);
    }
}

/* By their numbers, which say that a packet comes behind another, also packets are found whose
 * sizes cannot be. */
static void a_wrong_size_hides_nothing_without_magic_numbers_either(void **state)
{
    (void)state;
    for (uint64_t size = 1; size < 5 * PACKET_BYTES; size += 3) {
        struct buffer stream;
        make_plain(&stream);
        store_u64le(stream.bytes + 4 * PACKET_BYTES + SIZE_AT - MAGIC_BYTES, size * 8);
        const struct given given = read_as(&stream, plain_metadata, 0);
        assert_int_equal(given.events, PACKETS * EVENTS);
        assert_int_equal(given.damage, size != PACKET_BYTES);
        if (size != PACKET_BYTES)
            assert_string_equal(given.code, "ctf.bad-size");
        store_u64le(stream.bytes + 5 * PACKET_BYTES + SIZE_AT - MAGIC_BYTES, size * 16);
        assert_int_equal(read_as(&stream, plain_metadata, 0).events, PACKETS * EVENTS);
        buffer_free(&stream);
    }
}

/* What is left of a packet may hold numbers that would be the header of one that ends with the
 * file. */
static void a_cut_packet_without_magic_number_is_not_taken_for_two(void **state)
{
    (void)state;
    static const char text[] =
        "/* CTF 1.8 */ typealias integer { size = 32; align = 8; } := u32; trace { major = 1; "
        "minor = 8; byte_order = le; };"
        "stream { packet.context := struct { u32 packet_size; u32 unused; }; };"
        "event { name = e; fields := struct { u32 x; u32 y; }; };";
    const uint32_t words[] = {12 * 32, 0, 1, 2, 3, 4, 4 * 32, 5, 6, 7};
    struct buffer stream;
    buffer_init(&stream, alloc_default());
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        put_number(&stream, words[i], 4);
    const ttr_file files[] = {{"metadata", text, sizeof text - 1}, {"s", stream.bytes, stream.n}};
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, NULL, &error);
    assert_non_null(reader);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(batch.n, 4);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&stream);
}

static void several_wrong_sizes_hide_none(void **state)
{
    (void)state;
    struct buffer stream;
    make_stream(&stream, 0);
    turn_bit(&stream, 0, SIZE_AT, 40);
    turn_bit(&stream, 1, SIZE_AT, 12);
    turn_bit(&stream, 4, SIZE_AT, 6);
    turn_bit(&stream, 7, SIZE_AT, 20);
    const struct given given = read_stream(&stream, 0);
    assert_int_equal(given.events, PACKETS * EVENTS);
    assert_int_equal(given.damage, 4);
    assert_string_equal(given.code, "ctf.bad-size");
    buffer_free(&stream);
}

static void a_file_that_ends_in_padding_is_cut(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < PACKET_BYTES - HEAD_BYTES - EVENTS * EVENT_BYTES; cut += 29) {
        struct buffer stream;
        make_stream(&stream, cut);
        const struct given given = read_stream(&stream, 0);
        assert_int_equal(given.events, PACKETS * EVENTS);
        assert_int_equal(given.damage, 1);
        assert_string_equal(given.code, "ctf.cut");
        buffer_free(&stream);
    }
}

/* A wrong size of the content, too: what stands behind is found all the same. Only the times of
 * packets tell that it is not part of this one. */
static void wrong_sizes_of_both_cost_one_packet_at_most(void **state)
{
    (void)state;
    struct buffer stream;
    make_stream(&stream, 0);
    turn_bit(&stream, 3, SIZE_AT, 30);
    turn_bit(&stream, 3, SIZE_AT + 8, 29);
    const struct given given = read_stream(&stream, 0);
    assert_true(given.events >= (PACKETS - 1) * EVENTS);
    assert_true(given.damage >= 1);
    buffer_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_stream_has_no_damage),
        cmocka_unit_test(a_wrong_size_hides_no_packet),
        cmocka_unit_test(a_size_that_is_too_small_costs_no_event),
        cmocka_unit_test(nor_do_two_in_sequence),
        cmocka_unit_test(a_wrong_size_hides_nothing_without_magic_numbers_either),
        cmocka_unit_test(a_cut_packet_without_magic_number_is_not_taken_for_two),
        cmocka_unit_test(several_wrong_sizes_hide_none),
        cmocka_unit_test(a_file_that_ends_in_padding_is_cut),
        cmocka_unit_test(wrong_sizes_of_both_cost_one_packet_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
