/* Event headers: the reader decodes what the writer encodes, on the fast path, with threads, and
 * near the end of a block. */
#include <string.h>

#include "formats/nettrace/nettrace_header.h"
#include "formats/nettrace/nettrace_bytes.h"
#include "support/support.h"

enum { EVENTS = 4000, ROOM = EVENTS * 200, BEHIND = 128 };

static const uint8_t guids[32] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                  17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Returns a number of a random length in bits. */
static uint64_t random_number(uint64_t *state)
{
    uint64_t shift = random_bits(state) % 64;
    return random_bits(state) >> shift;
}

static uint32_t random_u32(uint64_t *state)
{
    uint64_t shift = random_bits(state) % 32;
    return (uint32_t)random_bits(state) >> shift;
}

/* Changes each member with a probability of one quarter. */
static void change_members(struct nettrace_header *h, uint64_t *state, bool is_v6)
{
    uint64_t which = random_bits(state) & random_bits(state);
    h->flags = which & 1 ? NETTRACE_IS_SORTED : 0;
    h->metadata = which & 2 ? random_u32(state) : h->metadata;
    h->capture = which & 4 ? random_number(state) : h->capture;
    h->cpu = which & 8 ? random_u32(state) : h->cpu;
    h->sequence = which & 16 ? random_u32(state) : h->sequence + (h->metadata != 0);
    h->thread = which & 32 ? random_number(state) : h->thread;
    h->stack = which & 64 ? random_u32(state) : h->stack;
    h->ticks += random_number(state);
    h->payload_size = which & 128 ? (uint32_t)(random_bits(state) % 40) : h->payload_size;
    if (is_v6)
        h->labels = which & 256 ? random_u32(state) : h->labels;
    else
        h->activity = which & 256 ? guids : which & 512 ? NULL : h->activity;
    if (!is_v6)
        h->related = which & 1024 ? guids + 16 : which & 2048 ? NULL : h->related;
}

static bool is_same_guid(const uint8_t *a, const uint8_t *b)
{
    return a && b ? memcmp(a, b, 16) == 0 : a == b;
}

static void check_same_header(const struct nettrace_header *got, const struct nettrace_header *put)
{
    assert_int_equal(got->ticks, put->ticks);
    assert_int_equal(got->thread, put->thread);
    assert_int_equal(got->capture, put->capture);
    assert_int_equal(got->metadata, put->metadata);
    assert_int_equal(got->sequence, put->sequence);
    assert_int_equal(got->cpu, put->cpu);
    assert_int_equal(got->stack, put->stack);
    assert_int_equal(got->labels, put->labels);
    assert_int_equal(got->payload_size, put->payload_size);
    assert_int_equal(got->flags & NETTRACE_IS_SORTED, put->flags & NETTRACE_IS_SORTED);
    assert_true(is_same_guid(got->activity, put->activity));
    assert_true(is_same_guid(got->related, put->related));
}

/* Encodes consecutive events and decodes each twice: with many bytes after it, and at the end of
 * the block. */
static void check_events(bool is_v6)
{
    static uint8_t bytes[ROOM];
    struct nettrace_header put = {.cpu = 0}, last = put, got = {.next = bytes};
    uint64_t state = 0x9e3779b97f4a7c15;
    uint8_t *to = bytes;
    const struct nettrace_header_range whole =
        nettrace_make_header_range(bytes, bytes + ROOM, CODEC_COMPRESSED);
    for (unsigned i = 0; i < EVENTS; i++) {
        change_members(&put, &state, is_v6);
        to = nettrace_encode_header(to, &last, &put, is_v6);
        struct nettrace_header before = got, at_end = got;
        const struct nettrace_header_range one =
            nettrace_make_header_range(before.next, to + put.payload_size, CODEC_COMPRESSED);
        const struct nettrace_header_range cut =
            nettrace_make_header_range(before.next, to + put.payload_size - 1, CODEC_COMPRESSED);
        assert_true(nettrace_decode_header(&got, &whole, is_v6));
        check_same_header(&got, &put);
        assert_ptr_equal(got.payload, to);
        assert_true(nettrace_decode_header(&at_end, &one, is_v6));
        check_same_header(&at_end, &put);
        assert_ptr_equal(at_end.next, got.next);
        assert_false(nettrace_decode_header(&before, &cut, is_v6));
        memset(to, 0xff, put.payload_size);
        to += put.payload_size;
    }
}

static void encoded_header_is_decoded_in_v4_and_v5(void **state)
{
    (void)state;
    check_events(false);
}

static void encoded_header_is_decoded_in_v6(void **state)
{
    (void)state;
    check_events(true);
}

static void endless_varint_is_refused(void **state)
{
    static const uint8_t flags[] = {
        NETTRACE_HAS_METADATA, NETTRACE_HAS_CAPTURE, NETTRACE_HAS_THREAD, NETTRACE_HAS_STACK, 0,
        NETTRACE_HAS_SIZE};
    uint8_t bytes[NETTRACE_HEADER_MAX + BEHIND];
    (void)state;
    for (size_t i = 0; i < sizeof flags; i++)
        for (size_t n = 1; n <= sizeof bytes; n++) {
            struct nettrace_header h = {.next = bytes};
            const struct nettrace_header_range span =
                nettrace_make_header_range(bytes, bytes + n, CODEC_COMPRESSED);
            memset(bytes, 0xff, sizeof bytes);
            bytes[0] = flags[i];
            assert_false(nettrace_decode_header(&h, &span, false));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_header_is_decoded_in_v4_and_v5),
        cmocka_unit_test(encoded_header_is_decoded_in_v6),
        cmocka_unit_test(endless_varint_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
