/* Rings written by hand as the kernel writes them: wrapped, full, lost, overwritten. */
#include "perf_events/ring.h"

#include "support/support.h"

#define SIZE 64u

struct scripted {
    struct perf_event_mmap_page page;
    uint8_t data[SIZE];
    struct ring ring;
    struct ring_sums sums;
    uint8_t got[256], mapped[SIZE];
    size_t got_n, mapped_n;
};

static void open_scripted(struct scripted *s, bool is_backward)
{
    *s = (struct scripted){0};
    s->ring =
        (struct ring){.page = &s->page, .data = s->data, .size = SIZE, .is_backward = is_backward};
}

static void keep(void *own, const void *bytes, size_t n)
{
    struct scripted *s = own;
    assert_true(s->got_n + n <= sizeof s->got);
    memcpy(s->got + s->got_n, bytes, n);
    s->got_n += n;
}

static uint64_t take(struct scripted *s)
{
    s->got_n = 0;
    return ring_take(&s->ring, alloc_default(), &s->sums, keep, s);
}

static void put(struct scripted *s, uint64_t at, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->data[(at + i) % SIZE] = ((const uint8_t *)bytes)[i];
}

/* A record of n bytes, n >= 8, whose content counts up from `first`. */
static void put_record(struct scripted *s, uint64_t at, uint32_t type, uint16_t n, uint8_t first)
{
    const struct perf_event_header header = {.type = type, .size = n};
    uint8_t bytes[SIZE];
    memcpy(bytes, &header, sizeof header);
    for (uint16_t i = 8; i < n; i++)
        bytes[i] = (uint8_t)(first + i - 8);
    put(s, at, bytes, n);
}

static void write_forward(struct scripted *s, uint32_t type, uint16_t n, uint8_t first)
{
    put_record(s, s->page.data_head, type, n, first);
    s->page.data_head += n;
}

static void write_backward(struct scripted *s, uint32_t type, uint16_t n, uint8_t first)
{
    s->page.data_head -= n;
    put_record(s, s->page.data_head, type, n, first);
}

static void records_are_given_once_and_the_tail_follows(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, false);
    assert_int_equal(take(&s), 0);
    write_forward(&s, PERF_RECORD_SAMPLE, 16, 0x10);
    write_forward(&s, PERF_RECORD_COMM, 24, 0x20);
    assert_int_equal(take(&s), 40);
    assert_int_equal(s.got_n, 40);
    assert_int_equal(s.got[8], 0x10);
    assert_int_equal(s.got[16 + 8], 0x20);
    assert_int_equal(s.page.data_tail, 40);
    assert_int_equal(s.sums.records, 2);
    assert_int_equal(s.sums.samples, 1);
    assert_int_equal(take(&s), 0);
}

static void a_record_across_the_end_is_put_together(void **state)
{
    (void)state;
    struct scripted s;
    uint8_t whole[40];
    open_scripted(&s, false);
    write_forward(&s, PERF_RECORD_SAMPLE, 48, 0);
    (void)take(&s);
    write_forward(&s, PERF_RECORD_SAMPLE, 40, 0x40);
    assert_int_equal(take(&s), 40);
    for (size_t i = 8; i < sizeof whole; i++)
        assert_int_equal(s.got[i], 0x40 + i - 8);
    assert_int_equal(s.sums.samples, 2);
}

static void a_header_across_the_end_is_read(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, false);
    s.page.data_head = s.ring.at = UINT64_C(1) << 40 | 60; /* the header's size is beyond the end */
    write_forward(&s, PERF_RECORD_SAMPLE, 24, 7);
    assert_int_equal(take(&s), 24);
    assert_int_equal(s.got[8], 7);
    assert_int_equal(s.sums.samples, 1);
}

static void a_full_ring_is_given_whole(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, false);
    s.page.data_head = s.ring.at = 8;
    write_forward(&s, PERF_RECORD_SAMPLE, SIZE, 0);
    assert_int_equal(take(&s), SIZE);
    assert_int_equal(s.page.data_tail, 8 + SIZE);
}

static void what_the_kernel_lost_is_counted(void **state)
{
    (void)state;
    struct scripted s;
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } lost = {{.type = PERF_RECORD_LOST, .size = 24}, 5, 1000};
    const struct {
        struct perf_event_header header;
        uint64_t lost;
    } lost_samples = {{.type = PERF_RECORD_LOST_SAMPLES, .size = 16}, 7};
    open_scripted(&s, false);
    s.page.data_head = s.ring.at = 56;
    put(&s, 56, &lost, sizeof lost);
    put(&s, 80, &lost_samples, sizeof lost_samples);
    s.page.data_head = 96;
    assert_int_equal(take(&s), 40);
    assert_int_equal(s.sums.lost, 1007);
    assert_int_equal(s.sums.records, 2);
}

static void a_record_whose_size_cannot_be_ends_what_is_given(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, false);
    write_forward(&s, PERF_RECORD_SAMPLE, 16, 0);
    put_record(&s, 16, PERF_RECORD_SAMPLE, 48, 0);
    s.page.data_head = 48; /* 16 bytes fewer than the second one says */
    assert_int_equal(take(&s), 16);
    assert_int_equal(s.sums.broken, 1);
    assert_int_equal(s.page.data_tail, 48);
    s.data[48 + 6] = s.data[48 + 7] = 0;
    s.page.data_head = 56;
    assert_int_equal(take(&s), 0);
    assert_int_equal(s.sums.broken, 2);
}

static void an_overwriting_ring_gives_the_oldest_first(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, true);
    assert_int_equal(take(&s), 0);
    write_backward(&s, PERF_RECORD_SAMPLE, 16, 1);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 2);
    assert_int_equal(take(&s), 40);
    assert_int_equal(s.got[8], 1);
    assert_int_equal(s.got[16 + 8], 2);
    assert_int_equal(s.sums.samples, 2);
    assert_int_equal(s.page.data_tail, 0); /* not ours to write */
}

static void an_overwritten_record_is_left_out(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, true);
    for (uint8_t i = 1; i <= 5;
         i++) /* 24 of 64 bytes each: two are whole, of the third the end is gone */
        write_backward(&s, PERF_RECORD_SAMPLE, 24, (uint8_t)(i * 16));
    assert_int_equal(take(&s), 48);
    assert_int_equal(s.got[8], 4 * 16);
    assert_int_equal(s.got[24 + 8], 5 * 16);
}

static void what_was_given_is_not_given_again(void **state)
{
    (void)state;
    struct scripted s;
    open_scripted(&s, true);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 1);
    assert_int_equal(take(&s), 24);
    write_backward(&s, PERF_RECORD_SAMPLE, 16, 2);
    assert_int_equal(take(&s), 16);
    assert_int_equal(s.got[8], 2);
    assert_int_equal(take(&s), 0);
    for (uint8_t i = 3; i <= 6; i++) /* more than fits, since then */
        write_backward(&s, PERF_RECORD_SAMPLE, 24, i);
    assert_int_equal(take(&s), 48);
    assert_int_equal(s.got[8], 5);
}

static bool take_with(const struct alloc *alloc)
{
    struct scripted s;
    open_scripted(&s, true);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 1);
    s.got_n = 0;
    bool is_given = ring_take(&s.ring, alloc, &s.sums, keep, &s) == 24;
    assert_true(is_given || s.ring.at == 0);
    return is_given;
}

static void without_memory_an_overwriting_ring_waits(void **state)
{
    (void)state;
    support_fail_each(take_with);
}

static void keep_mapping(void *own, const void *bytes, size_t n)
{
    struct scripted *s = own;
    memcpy(s->mapped, bytes, n);
    s->mapped_n = n;
}

static void mappings_are_shown_whole_also_where_they_wrap(void **state)
{
    struct scripted s;
    (void)state;
    open_scripted(&s, false);
    s.sums.mapped = keep_mapping;
    s.sums.own = &s;
    write_forward(&s, PERF_RECORD_SAMPLE, 40, 1);
    (void)take(&s);
    assert_int_equal(s.mapped_n, 0);
    write_forward(&s, PERF_RECORD_MMAP2, 40, 7);
    assert_int_equal(take(&s), 40);
    assert_int_equal(s.mapped_n, 40);
    assert_int_equal(s.mapped[8], 7);
    assert_int_equal(s.mapped[39], 38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_shown_whole_also_where_they_wrap),
        cmocka_unit_test(records_are_given_once_and_the_tail_follows),
        cmocka_unit_test(a_record_across_the_end_is_put_together),
        cmocka_unit_test(a_header_across_the_end_is_read),
        cmocka_unit_test(a_full_ring_is_given_whole),
        cmocka_unit_test(what_the_kernel_lost_is_counted),
        cmocka_unit_test(a_record_whose_size_cannot_be_ends_what_is_given),
        cmocka_unit_test(an_overwriting_ring_gives_the_oldest_first),
        cmocka_unit_test(an_overwritten_record_is_left_out),
        cmocka_unit_test(what_was_given_is_not_given_again),
        cmocka_unit_test(without_memory_an_overwriting_ring_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
