/* Tests of ring buffer pages: golden pages for both byte orders and sizes of `long`, every event
 * type, and truncation at every byte. */
#include "encodings/tracepoint/ring_buffer.h"

#include "support/support.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const struct ring_buffer_layout little64 = {false, 8, 16}, little32 = {false, 4, 12},
                                       big64 = {true, 8, 16};

static void expect_event(struct ring_buffer_page *page, uint64_t time, const void *bytes, size_t n)
{
    struct ring_buffer_event event;
    assert_int_equal(ring_buffer_next_event(page, &event), RING_BUFFER_EVENT);
    assert_int_equal(event.time, time);
    assert_int_equal(event.n, n);
    assert_memory_equal(event.p, bytes, n);
}

static void expect_end(struct ring_buffer_page *page, enum ring_buffer_step step)
{
    struct ring_buffer_event event;
    assert_int_equal(ring_buffer_next_event(page, &event), step);
}

static void every_event_type_is_read(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(ring_buffer_begin_page(
        &little64,
        BYTES(0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,
              /* data: 4 bytes, delta 1 */
              0x21, 0, 0, 0, 'a', 'b', 'c', 'd', 0x40, 0, 0, 0, 9, 0, 0, 0, 'l', 'o', 'n', 'g', '!',
              0, 0, 0,                   /* data with length word: 5 bytes, delta 2 */
              0x7e, 0, 0, 0, 1, 0, 0, 0, /* time extend: 2^27 + 3 later */
              0x5d, 0, 0, 0, 8, 0, 0, 0, 0xff, 0xff, 0xff,
              0xff,                      /* padding event: 4 discarded bytes, delta 2 */
              0xbf, 0, 0, 0, 0, 1, 0, 0, /* absolute time 2^35 + 5 */
              0x01, 0, 0, 0, 'e', 'f', 'g', 'h', 0x1d, 0, 0, 0),
        false, &page)); /* padding with delta 0 ends the page */
    assert_false(page.is_lossy);
    expect_event(&page, 0x1001, "abcd", 4);
    expect_event(&page, 0x1003, "long!\0\0", 8);
    expect_event(&page, (UINT64_C(1) << 35) + 5, "efgh", 4);
    expect_end(&page, RING_BUFFER_END);
}

static void lost_events_are_reported(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(
        ring_buffer_begin_page(&little64,
                               BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0, 0, 0xc0, 0, 0, 0, 0, 0x21, 0,
                                     0, 0, 1, 2, 3, 4, 0x39, 0x30, 0, 0, 0, 0, 0, 0),
                               false, &page));
    assert_true(page.is_lossy);
    assert_int_equal(page.lost, 12345);
    assert_true(ring_buffer_begin_page(
        &little32,
        BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0, 0, 0xc0, 0x21, 0, 0, 0, 1, 2, 3, 4, 7, 0, 0, 0),
        false, &page));
    assert_int_equal(page.lost, 7);
    expect_event(&page, 1, "\1\2\3\4", 4);
    expect_end(&page, RING_BUFFER_END);
    assert_true(ring_buffer_begin_page(&little32, BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80),
                                       false, &page));
    assert_true(page.is_lossy);
    assert_int_equal(page.lost, 0);
    expect_end(&page, RING_BUFFER_END);
}

static void big_endian_type_is_in_upper_bits(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(
        ring_buffer_begin_page(&big64,
                               BYTES(0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 0xf0, 0,
                                     0, 1, 0, 0, 0, 2, /* time extend: 2^28 + 1 later */
                                     0x10, 0, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8, 0xe8, 0, 0, 0),
                               false, &page));
    expect_event(&page, 0x1000 + (UINT64_C(1) << 28) + 6, "\1\2\3\4\5\6\7\10", 8);
    expect_end(&page, RING_BUFFER_END);
}

static void absolute_time_inherits_upper_bits(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(
        ring_buffer_begin_page(&little64,
                               BYTES(0xff, 0, 0, 0, 0, 0, 0, 0x08, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x1f,
                                     0, 0, 0, 1, 0, 0, 0, 0x01, 0, 0, 0, 1, 2, 3, 4),
                               false, &page));
    expect_event(&page, (UINT64_C(0x08) << 56) + (UINT64_C(1) << 27), "\1\2\3\4", 4);
}

/* Kernels add 1 << 31 to a 64-bit commit as a signed int, so the upper half becomes all ones. */
static void sign_extended_commit_reports_lost_events(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(ring_buffer_begin_page(&little64,
                                       BYTES(1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0x80, 0xff, 0xff,
                                             0xff, 0xff, 0x41, 0, 0, 0, 1, 2, 3, 4),
                                       false, &page));
    assert_true(page.is_lossy);
    assert_int_equal(page.lost, 0);
    expect_event(&page, 3, "\1\2\3\4", 4);
    assert_true(
        ring_buffer_begin_page(&little64,
                               BYTES(1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0xff,
                                     0x41, 0, 0, 0, 1, 2, 3, 4, 7, 0, 0, 0, 0, 0, 0, 0),
                               false, &page));
    assert_true(page.is_lossy);
    assert_int_equal(page.lost, 7);
    assert_false(ring_buffer_begin_page(&little64,
                                        BYTES(1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0xff, 0xff, 0xff,
                                              0xff, 0x41, 0, 0, 0, 1, 2, 3, 4),
                                        false, &page));
}

static void event_beyond_page_end_is_damage(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_false(ring_buffer_begin_page(
        &little64, BYTES(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0), false, &page));
    assert_false(ring_buffer_begin_page(
        &little64, BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0), false, &page));
    assert_false(
        ring_buffer_begin_page(&little64, BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), false, &page));
    static const uint8_t whole[] = {0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0, 0, 0, 1, 2,
                                    3, 4, 0x40, 0, 0, 0, 9, 0, 0, 0, 1, 2, 3,    4, 5, 0, 0, 0};
    for (uint8_t n = 1; n < sizeof whole - 12; n++) {
        uint8_t cut[sizeof whole];
        memcpy(cut, whole, sizeof whole);
        cut[8] = n;
        assert_true(ring_buffer_begin_page(&little32, cut, 12u + n, false, &page));
        if (n >= 8)
            expect_event(&page, 2, "\1\2\3\4", 4);
        if (n >= 21)
            expect_event(&page, 4, "\1\2\3\4\5\0\0", n - 16u);
        expect_end(&page, n == 8 || n >= 21 ? RING_BUFFER_END : RING_BUFFER_DAMAGED);
    }
}

static void page_with_cleared_header_is_damage(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    uint8_t bytes[32] = {0};
    assert_true(ring_buffer_begin_page(&little64, bytes, sizeof bytes, false, &page));
    expect_end(&page, RING_BUFFER_END); /* a page without events */
    bytes[31] = 1;
    assert_false(ring_buffer_begin_page(&little64, bytes, sizeof bytes, false, &page));
    bytes[0] = 1; /* the time is valid */
    assert_false(ring_buffer_begin_page(&little64, bytes, sizeof bytes, false, &page));
    bytes[31] = 0;
    assert_true(ring_buffer_begin_page(&little64, bytes, sizeof bytes, false, &page));
}

static void truncated_page_returns_present_events(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(ring_buffer_begin_page(
        &little64,
        BYTES(0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 1, 2, 3, 4, 0x21, 0),
        true, &page));
    expect_event(&page, 1, "\1\2\3\4", 4);
    expect_end(&page, RING_BUFFER_DAMAGED);
}

static bool accept_letters(const void *ctx, const uint8_t *p, size_t n)
{
    (void)ctx;
    return n >= 4 && p[0] >= 'a' && p[0] <= 'z';
}

/* The second of four events claims a size beyond the page; its bytes contain what looks like an
 * event, but no chain from there reaches the end of the page. */
static void resync_after_oversized_event_finds_next(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(ring_buffer_begin_page(
        &little64,
        BYTES(0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 'a', 'b', 'c',
              'd', 0x5c, 0, 0, 0, 0x21, 0, 0, 0, 'x', 'y', 'z', 0, 0x21, 0, 0, 0, '1', 0, 0,
              0, /* header that claims 112 bytes, delta 2 */
              0x61, 0, 0, 0, 'e', 'f', 'g', 'h', 0x21, 0, 0, 0, 'i', 'j', 'k', 'l'),
        false, &page));
    expect_event(&page, 0x1001, "abcd", 4);
    ring_buffer_confirm_event(&page);
    expect_end(&page, RING_BUFFER_DAMAGED);
    assert_true(ring_buffer_resync(&page, accept_letters, NULL));
    expect_event(&page, 0x1006, "efgh", 4);
    expect_event(&page, 0x1007, "ijkl", 4);
    expect_end(&page, RING_BUFFER_END);
    assert_true(ring_buffer_begin_page(&little64,
                                       BYTES(0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0x5c,
                                             0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8),
                                       false, &page));
    expect_end(&page, RING_BUFFER_DAMAGED);
    assert_false(ring_buffer_resync(&page, accept_letters, NULL));
}

/* One byte of the second of four events is missing, so the later ones are not aligned to the start
 * of the page. */
static void shortened_page_is_resynced_from_its_end(void **state)
{
    (void)state;
    struct ring_buffer_page page;
    assert_true(ring_buffer_begin_page(
        &little64,
        BYTES(0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 'a', 'b', 'c',
              'd', 0x41, 0, 0, 0, 'x', 'y', 'z', /* its fourth byte is missing */
              0x61, 0, 0, 0, 'e', 'f', 'g', 'h', 0x21, 0, 0, 0, 'i', 'j', 'k', 'l', 0),
        false, &page));
    expect_event(&page, 0x1001, "abcd", 4);
    ring_buffer_confirm_event(&page);
    expect_event(&page, 0x1003, "xyz\x61", 4);
    expect_end(&page, RING_BUFFER_DAMAGED);
    assert_false(ring_buffer_resync(&page, accept_letters, NULL));
    ring_buffer_shorten_page(&page, 1);
    assert_true(ring_buffer_resync(&page, accept_letters, NULL));
    expect_event(&page, 0x1006, "efgh", 4);
    expect_event(&page, 0x1007, "ijkl", 4);
    expect_end(&page, RING_BUFFER_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_type_is_read),
        cmocka_unit_test(lost_events_are_reported),
        cmocka_unit_test(big_endian_type_is_in_upper_bits),
        cmocka_unit_test(absolute_time_inherits_upper_bits),
        cmocka_unit_test(sign_extended_commit_reports_lost_events),
        cmocka_unit_test(event_beyond_page_end_is_damage),
        cmocka_unit_test(page_with_cleared_header_is_damage),
        cmocka_unit_test(truncated_page_returns_present_events),
        cmocka_unit_test(resync_after_oversized_event_finds_next),
        cmocka_unit_test(shortened_page_is_resynced_from_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
