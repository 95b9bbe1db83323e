/* Tests of framing: Heph packets in pieces of any size, and with garbage between them. */
#include "network/packet_framer.h"

#include "formats/table.h"
#include "support/heph_packets.h"
#include "support/support.h"

static const struct format_transfer *heph(void)
{
    for (size_t i = 0; format_at(i); i++)
        if (strcmp(format_at(i)->name, "heph") == 0)
            return format_at(i)->transfer;
    return NULL;
}

/* Frames the bytes in pieces of `piece` bytes and appends the packets to `to`. Returns the number
 * of garbage bytes. */
static uint64_t frame(const struct buffer *from, size_t piece, struct buffer *to)
{
    struct packet_framer framer;
    struct framed_packet packet;
    packet_framer_init(&framer, alloc_default(), heph(), 1u << 20);
    for (size_t at = 0; at <= from->n; at += piece) {
        size_t n = from->n - at < piece ? from->n - at : piece;
        uint8_t *room = packet_framer_room(&framer, n);
        assert_non_null(room);
        if (n)
            memcpy(room, from->bytes + at, n);
        packet_framer_commit(&framer, n);
        framer.is_ended = at + n == from->n;
        while (packet_framer_next(&framer, &packet) == FRAMER_PACKET)
            buffer_add(to, packet.bytes, packet.n);
    }
    uint64_t garbage = framer.garbage;
    packet_framer_free(&framer);
    return garbage;
}

static void check_frames(const struct buffer *from, const struct buffer *expected, uint64_t garbage)
{
    static const size_t pieces[] = {1, 2, 3, 7, 41, 100, 1000, 100000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct buffer got;
        buffer_init(&got, alloc_default());
        assert_int_equal(frame(from, pieces[i], &got), garbage);
        assert_int_equal(got.n, expected->n);
        assert_memory_equal(got.bytes, expected->bytes, got.n);
        buffer_free(&got);
    }
}

static void packets_in_pieces_of_any_size_are_complete(void **state)
{
    (void)state;
    struct buffer bytes;
    buffer_init(&bytes, alloc_default());
    heph_packets_add_epoch(&bytes, 1000);
    for (uint32_t i = 0; i < 20; i++)
        heph_packets_add_event(&bytes, 1, i, "work");
    check_frames(&bytes, &bytes, 0);
    buffer_free(&bytes);
}

static void garbage_between_packets_is_counted_and_skipped(void **state)
{
    (void)state;
    struct buffer bytes, good;
    uint64_t random = 7;
    buffer_init(&bytes, alloc_default());
    buffer_init(&good, alloc_default());
    for (uint32_t i = 0; i < 20; i++) {
        heph_packets_add_event(&bytes, 1, i, "work");
        heph_packets_add_event(&good, 1, i, "work");
        for (unsigned j = 0; i % 5 == 4 && j < 30; j++)
            buffer_add_byte(&bytes, (uint8_t)(support_random(&random) & 0x7f));
    }
    check_frames(&bytes, &good, 4 * 30);
    buffer_free(&bytes);
    buffer_free(&good);
}

/* A string holds the first bytes of an event packet. The framer must not accept them as a packet
 * after garbage has made it lose its place. */
static void magic_number_in_a_string_is_not_a_packet(void **state)
{
    (void)state;
    struct buffer bytes, good;
    static const char trap[] = "\xC1\xFC\x1F\xB7\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
                               "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01";
    buffer_init(&bytes, alloc_default());
    buffer_init(&good, alloc_default());
    buffer_add_text(&bytes, "garbage ");
    buffer_add_text(&bytes, trap + 0);
    for (uint32_t i = 0; i < 5; i++) {
        heph_packets_add_event(&bytes, 1, i, trap);
        heph_packets_add_event(&good, 1, i, trap);
    }
    check_frames(&bytes, &good, 8 + sizeof trap - 1);
    buffer_free(&bytes);
    buffer_free(&good);
}

static void oversized_packet_is_garbage(void **state)
{
    (void)state;
    struct buffer bytes, good;
    buffer_init(&bytes, alloc_default());
    buffer_init(&good, alloc_default());
    buffer_add(&bytes, "\xC1\xFC\x1F\xB7\xFF\xFF\xFF\xFF", 8);
    for (uint32_t i = 0; i < 3; i++) {
        heph_packets_add_event(&bytes, 1, i, "a");
        heph_packets_add_event(&good, 1, i, "a");
    }
    check_frames(&bytes, &good, 8);
    buffer_free(&bytes);
    buffer_free(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_in_pieces_of_any_size_are_complete),
        cmocka_unit_test(garbage_between_packets_is_counted_and_skipped),
        cmocka_unit_test(magic_number_in_a_string_is_not_a_packet),
        cmocka_unit_test(oversized_packet_is_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
