/* Tests for the ring reader with rings filled as the kernel does: wrapped, full, lossy,
 * overwritten. */
#include "perf_events/ring.h"

#include "support/support.h"

#define SIZE 64u

struct scripted_ring {
    struct perf_event_mmap_page page;
    uint8_t data[SIZE];
    struct ring ring;
    struct ring_stats stats;
    uint8_t got[256], mapped[SIZE];
    size_t got_n, mapped_n;
};

static void scripted_ring_init(struct scripted_ring *s, bool is_backward)
{
    *s = (struct scripted_ring){0};
    s->ring =
        (struct ring){.page = &s->page, .data = s->data, .size = SIZE, .is_backward = is_backward};
}

static void append_bytes(void *ctx, const void *bytes, size_t n)
{
    struct scripted_ring *s = ctx;
    assert_true(s->got_n + n <= sizeof s->got);
    memcpy(s->got + s->got_n, bytes, n);
    s->got_n += n;
}

static uint64_t read_ring(struct scripted_ring *s)
{
    s->got_n = 0;
    return ring_read_records(&s->ring, alloc_default(), &s->stats, append_bytes, s);
}

static void store_wrapped(struct scripted_ring *s, uint64_t at, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->data[(at + i) % SIZE] = ((const uint8_t *)bytes)[i];
}

/* Writes a record of n >= 8 bytes; its payload counts up from `first`. */
static void store_record(struct scripted_ring *s, uint64_t at, uint32_t type, uint16_t n,
                         uint8_t first)
{
    const struct perf_event_header header = {.type = type, .size = n};
    uint8_t bytes[SIZE];
    memcpy(bytes, &header, sizeof header);
    for (uint16_t i = 8; i < n; i++)
        bytes[i] = (uint8_t)(first + i - 8);
    store_wrapped(s, at, bytes, n);
}

static void write_forward(struct scripted_ring *s, uint32_t type, uint16_t n, uint8_t first)
{
    store_record(s, s->page.data_head, type, n, first);
    s->page.data_head += n;
}

static void write_backward(struct scripted_ring *s, uint32_t type, uint16_t n, uint8_t first)
{
    s->page.data_head -= n;
    store_record(s, s->page.data_head, type, n, first);
}

static void forward_records_are_read_once_and_tail_advances(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, false);
    assert_int_equal(read_ring(&s), 0);
    write_forward(&s, PERF_RECORD_SAMPLE, 16, 0x10);
    write_forward(&s, PERF_RECORD_COMM, 24, 0x20);
    assert_int_equal(read_ring(&s), 40);
    assert_int_equal(s.got_n, 40);
    assert_int_equal(s.got[8], 0x10);
    assert_int_equal(s.got[16 + 8], 0x20);
    assert_int_equal(s.page.data_tail, 40);
    assert_int_equal(s.stats.records, 2);
    assert_int_equal(s.stats.samples, 1);
    assert_int_equal(read_ring(&s), 0);
}

static void wrapped_record_is_joined(void **state)
{
    (void)state;
    struct scripted_ring s;
    uint8_t whole[40];
    scripted_ring_init(&s, false);
    write_forward(&s, PERF_RECORD_SAMPLE, 48, 0);
    (void)read_ring(&s);
    write_forward(&s, PERF_RECORD_SAMPLE, 40, 0x40);
    assert_int_equal(read_ring(&s), 40);
    for (size_t i = 8; i < sizeof whole; i++)
        assert_int_equal(s.got[i], 0x40 + i - 8);
    assert_int_equal(s.stats.samples, 2);
}

static void wrapped_header_is_read(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, false);
    /* offset 60 of 64: the header's size field wraps around */
    s.page.data_head = s.ring.at = UINT64_C(1) << 40 | 60;
    write_forward(&s, PERF_RECORD_SAMPLE, 24, 7);
    assert_int_equal(read_ring(&s), 24);
    assert_int_equal(s.got[8], 7);
    assert_int_equal(s.stats.samples, 1);
}

static void full_ring_is_read_completely(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, false);
    s.page.data_head = s.ring.at = 8;
    write_forward(&s, PERF_RECORD_SAMPLE, SIZE, 0);
    assert_int_equal(read_ring(&s), SIZE);
    assert_int_equal(s.page.data_tail, 8 + SIZE);
}

static void lost_records_are_summed(void **state)
{
    (void)state;
    struct scripted_ring s;
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } lost = {{.type = PERF_RECORD_LOST, .size = 24}, 5, 1000};
    const struct {
        struct perf_event_header header;
        uint64_t lost;
    } lost_samples = {{.type = PERF_RECORD_LOST_SAMPLES, .size = 16}, 7};
    scripted_ring_init(&s, false);
    s.page.data_head = s.ring.at = 56;
    store_wrapped(&s, 56, &lost, sizeof lost);
    store_wrapped(&s, 80, &lost_samples, sizeof lost_samples);
    s.page.data_head = 96;
    assert_int_equal(read_ring(&s), 40);
    assert_int_equal(s.stats.lost, 1007);
    assert_int_equal(s.stats.records, 2);
}

static void impossible_record_size_ends_the_batch(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, false);
    write_forward(&s, PERF_RECORD_SAMPLE, 16, 0);
    store_record(&s, 16, PERF_RECORD_SAMPLE, 48, 0);
    /* the head is 16 bytes before the end that the second record's size implies */
    s.page.data_head = 48;
    assert_int_equal(read_ring(&s), 16);
    assert_int_equal(s.stats.broken, 1);
    assert_int_equal(s.page.data_tail, 48);
    s.data[48 + 6] = s.data[48 + 7] = 0;
    s.page.data_head = 56;
    assert_int_equal(read_ring(&s), 0);
    assert_int_equal(s.stats.broken, 2);
}

static void backward_ring_is_read_oldest_first(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, true);
    assert_int_equal(read_ring(&s), 0);
    write_backward(&s, PERF_RECORD_SAMPLE, 16, 1);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 2);
    assert_int_equal(read_ring(&s), 40);
    assert_int_equal(s.got[8], 1);
    assert_int_equal(s.got[16 + 8], 2);
    assert_int_equal(s.stats.samples, 2);
    assert_int_equal(s.page.data_tail, 0); /* the tail belongs to the kernel in backward mode */
}

static void partly_overwritten_record_is_skipped(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, true);
    for (uint8_t i = 1; i <= 5;
         i++) /* records of 24 bytes in 64: two are complete, the third has lost its end */
        write_backward(&s, PERF_RECORD_SAMPLE, 24, (uint8_t)(i * 16));
    assert_int_equal(read_ring(&s), 48);
    assert_int_equal(s.got[8], 4 * 16);
    assert_int_equal(s.got[24 + 8], 5 * 16);
}

static void second_snapshot_has_only_new_records(void **state)
{
    (void)state;
    struct scripted_ring s;
    scripted_ring_init(&s, true);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 1);
    assert_int_equal(read_ring(&s), 24);
    write_backward(&s, PERF_RECORD_SAMPLE, 16, 2);
    assert_int_equal(read_ring(&s), 16);
    assert_int_equal(s.got[8], 2);
    assert_int_equal(read_ring(&s), 0);
    for (uint8_t i = 3; i <= 6; i++) /* more new records than the ring can hold */
        write_backward(&s, PERF_RECORD_SAMPLE, 24, i);
    assert_int_equal(read_ring(&s), 48);
    assert_int_equal(s.got[8], 5);
}

static bool read_with_allocator(const struct alloc *alloc)
{
    struct scripted_ring s;
    scripted_ring_init(&s, true);
    write_backward(&s, PERF_RECORD_SAMPLE, 24, 1);
    s.got_n = 0;
    bool is_read = ring_read_records(&s.ring, alloc, &s.stats, append_bytes, &s) == 24;
    assert_true(is_read || s.ring.at == 0);
    return is_read;
}

static void failed_allocation_keeps_backward_records(void **state)
{
    (void)state;
    support_fail_each(read_with_allocator);
}

static void keep_mapping(void *ctx, const void *bytes, size_t n)
{
    struct scripted_ring *s = ctx;
    memcpy(s->mapped, bytes, n);
    s->mapped_n = n;
}

static void wrapped_mapping_is_passed_completely(void **state)
{
    struct scripted_ring s;
    (void)state;
    scripted_ring_init(&s, false);
    s.stats.mapped = keep_mapping;
    s.stats.ctx = &s;
    write_forward(&s, PERF_RECORD_SAMPLE, 40, 1);
    (void)read_ring(&s);
    assert_int_equal(s.mapped_n, 0);
    write_forward(&s, PERF_RECORD_MMAP2, 40, 7);
    assert_int_equal(read_ring(&s), 40);
    assert_int_equal(s.mapped_n, 40);
    assert_int_equal(s.mapped[8], 7);
    assert_int_equal(s.mapped[39], 38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped_mapping_is_passed_completely),
        cmocka_unit_test(forward_records_are_read_once_and_tail_advances),
        cmocka_unit_test(wrapped_record_is_joined),
        cmocka_unit_test(wrapped_header_is_read),
        cmocka_unit_test(full_ring_is_read_completely),
        cmocka_unit_test(lost_records_are_summed),
        cmocka_unit_test(impossible_record_size_ends_the_batch),
        cmocka_unit_test(backward_ring_is_read_oldest_first),
        cmocka_unit_test(partly_overwritten_record_is_skipped),
        cmocka_unit_test(second_snapshot_has_only_new_records),
        cmocka_unit_test(failed_allocation_keeps_backward_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
