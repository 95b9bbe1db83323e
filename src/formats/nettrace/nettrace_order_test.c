/* Many events that wait for each other, more than the reader caches headers of. The bytes are
 * generated here, since a vector would be large; the reader must return the same events by time. */
#include "support/support.h"

#include <tracetta/read.h>

#include "base/buffer.h"
#include "base/endian.h"

enum { BLOCK_EVENTS = 3000, FIRST_TICKS = 1000 };

static void append32(struct buffer *to, uint32_t x)
{
    uint8_t bytes[4];
    store_u32le(bytes, x);
    buffer_add(to, bytes, sizeof bytes);
}

static void append64(struct buffer *to, uint64_t x)
{
    append32(to, (uint32_t)x);
    append32(to, (uint32_t)(x >> 32));
}

static void append_varint(struct buffer *to, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        buffer_add(to, &(uint8_t){(uint8_t)(x | 0x80)}, 1);
    buffer_add(to, &(uint8_t){(uint8_t)x}, 1);
}

static void append_z16(struct buffer *to, const char *text)
{
    for (;; text++) {
        buffer_add(to, (const uint8_t[]){(uint8_t)*text, 0}, 2);
        if (!*text)
            return;
    }
}

static void append_object(struct buffer *to, const char *name, uint32_t version,
                          const struct buffer *content)
{
    buffer_add(to, "\5\5\1", 3);
    append32(to, version);
    append32(to, version);
    append32(to, (uint32_t)strlen(name));
    buffer_add(to, name, strlen(name));
    buffer_add(to, "\6", 1);
    if (version == 2) {
        append32(to, (uint32_t)content->n);
        buffer_add_zeros(to, (4 - to->n % 4) % 4);
    }
    buffer_add(to, content->bytes, content->n);
    buffer_add(to, "\6", 1);
}

static void append_block_header(struct buffer *to)
{
    append32(to, 20 | 1 << 16);
    append64(to, 0);
    append64(to, 0);
}

static void append_head(struct buffer *to)
{
    static const uint8_t date[16] = {0xe8, 7, 2, 0, 4, 0, 29, 0};
    struct buffer content;
    buffer_init(&content, alloc_default());
    buffer_add(to, "Nettrace\x14\0\0\0!FastSerialization.1", 32);
    buffer_add(&content, date, sizeof date);
    append64(&content, 0);
    append64(&content, 1000000000);
    append32(&content, 8);
    append32(&content, 1);
    append32(&content, 1);
    append32(&content, 0);
    append_object(to, "Trace", 4, &content);
    buffer_clear(&content);
    append_block_header(&content);
    for (uint32_t i = 1; i <= 2; i++) {
        struct buffer said;
        buffer_init(&said, alloc_default());
        append32(&said, i);
        append_z16(&said, "Demo");
        append32(&said, i);
        append_z16(&said, i == 1 ? "Odd" : "Even");
        append64(&said, 0);
        append32(&said, 0);
        append32(&said, 4);
        append32(&said, 1);
        append32(&said, 9);
        append_z16(&said, "v");
        buffer_add(&content, "\x80\0", 2);
        append_varint(&content, said.n);
        buffer_add(&content, said.bytes, said.n);
        buffer_free(&said);
    }
    append_object(to, "MetadataBlock", 2, &content);
    buffer_free(&content);
}

/* Appends a block of one thread with the times first, first + threads, ... Every third event has an
 * activity, every hundredth repeats its thread. `is_sorted`: the first event has the sorted flag.
 */
static void append_event_block(struct buffer *to, uint32_t thread, uint64_t first, uint32_t threads,
                               bool is_sorted)
{
    struct buffer content;
    buffer_init(&content, alloc_default());
    append_block_header(&content);
    for (uint32_t i = 0; i < BLOCK_EVENTS; i++) {
        const bool has_activity = i % 3 == 0, tells = i % 100 == 0;
        const uint64_t value = first + (uint64_t)i * threads;
        buffer_add(&content,
                   &(uint8_t){(uint8_t)(0x81 | (tells ? 6 : 0) | (has_activity ? 16 : 0) |
                                        (is_sorted && i == 0 ? 64 : 0))},
                   1);
        append_varint(&content, 1 + value % 2);
        if (tells) {
            append_varint(&content, i == 0 ? (first - FIRST_TICKS) / threads : 0);
            append_varint(&content, thread);
            append_varint(&content, 0);
            append_varint(&content, thread);
        }
        append_varint(&content, i == 0 ? first : threads);
        if (has_activity) {
            append64(&content, i % 2 ? value : 0); /* an activity of zeros is absent */
            append64(&content, 0);
        }
        append_varint(&content, 4);
        append32(&content, (uint32_t)value);
    }
    append_object(to, "EventBlock", 2, &content);
    buffer_free(&content);
}

/* Checks that events are one tick apart and their payload is their time. Returns their count. */
static uint64_t check_times(const struct buffer *bytes, uint32_t threads)
{
    ttr_batch batch;
    ttr_field field;
    ttr_error error = {0};
    uint64_t n = 0;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, bytes->bytes, bytes->n, "many", NULL, &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, n++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            const uint64_t at = n / threads % BLOCK_EVENTS;
            ttr_thread thread;
            assert_int_equal(event->kind, TTR_KIND_INSTANT);
            assert_int_equal(event->ticks, FIRST_TICKS + n);
            assert_true(ttr_field_find(t, event, "v", &field));
            assert_int_equal(field.value.v.u, event->ticks);
            assert_int_equal(ttr_text_get(t, event->name).p[0], event->ticks % 2 ? 'E' : 'O');
            assert_true(ttr_thread_get(t, event->thread, &thread));
            assert_int_equal(thread.tid, 1 + n % threads);
            assert_int_equal(event->sequence, 1 + n / threads);
            assert_int_equal(event->activity != NULL, at / 3 % 2 == 1);
            if (event->activity)
                assert_int_equal(load_u64le(event->activity), event->ticks - at % 3 * threads);
        }
    ttr_close(reader);
    ttr_free(t);
    return n;
}

/* Checks `blocks` blocks of each thread; all blocks of one thread come before those of the next. */
static void check_merge(uint32_t threads, uint32_t blocks, bool is_sorted)
{
    struct buffer bytes;
    buffer_init(&bytes, alloc_default());
    append_head(&bytes);
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t thread = 0; thread < threads; thread++)
            append_event_block(&bytes, 1 + thread,
                               FIRST_TICKS + thread + (uint64_t)block * BLOCK_EVENTS * threads,
                               threads, is_sorted && thread == 0);
    buffer_add(&bytes, "\1", 1);
    assert_int_equal(check_times(&bytes, threads), (uint64_t)threads * blocks * BLOCK_EVENTS);
    buffer_free(&bytes);
}

static void many_waiting_events_are_emitted_by_time(void **state)
{
    (void)state;
    check_merge(1, 12, false);
    check_merge(2, 6, false);
    check_merge(7, 3, false);
}

static void many_sorted_events_are_emitted_by_time(void **state)
{
    (void)state;
    check_merge(1, 12, true);
    check_merge(2, 12, true);
    check_merge(7, 6, true);
}

/* Returns how often a note with this code was reported. */
static uint64_t note_count(ttr_reader *reader, const char *code)
{
    ttr_report report = {.size = sizeof report};
    uint64_t n = 0;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            n += strcmp(report.notes[k].code, code) == 0 ? report.notes[k].count : 0;
    return n;
}

/* Appends events of one thread each, every one earlier than the one before. */
static void append_single_event_runs(struct buffer *to, uint32_t first)
{
    struct buffer content;
    buffer_init(&content, alloc_default());
    append_block_header(&content);
    for (uint32_t i = 0; i < BLOCK_EVENTS; i++) {
        buffer_add(&content, &(uint8_t){0x87}, 1);
        append_varint(&content, 1);
        append_varint(&content, 0);
        append_varint(&content, first + i);
        append_varint(&content, 0);
        append_varint(&content, first + i);
        append_varint(&content,
                      /* tick deltas wrap at 2^64 */
                      i == 0 ? FIRST_TICKS + 1000000 - first : UINT64_MAX);
        append_varint(&content, 4);
        append32(&content, first + i);
    }
    append_object(to, "EventBlock", 2, &content);
    buffer_free(&content);
}

static void too_many_waiting_runs_are_reported(void **state)
{
    (void)state;
    /* below and above the limit of 65,536 runs */
    for (uint32_t blocks = 20; blocks <= 24; blocks += 4) {
        struct buffer bytes;
        ttr_batch batch;
        uint64_t n = 0;
        buffer_init(&bytes, alloc_default());
        append_head(&bytes);
        for (uint32_t block = 0; block < blocks; block++)
            append_single_event_runs(&bytes, 1 + block * BLOCK_EVENTS);
        buffer_add(&bytes, "\1", 1);
        ttr *t = ttr_new(NULL);
        ttr_reader *reader = ttr_open_memory(t, bytes.bytes, bytes.n, "many", NULL, NULL);
        assert_non_null(reader);
        while (ttr_read(reader, &batch, NULL) == TTR_OK)
            n += batch.n;
        assert_int_equal(n, blocks * BLOCK_EVENTS);
        assert_int_equal(note_count(reader, "nettrace.long-region"), blocks == 24);
        ttr_close(reader);
        ttr_free(t);
        buffer_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_waiting_events_are_emitted_by_time),
                                       cmocka_unit_test(many_sorted_events_are_emitted_by_time),
                                       cmocka_unit_test(too_many_waiting_runs_are_reported)};
    return cmocka_run_group_tests_name("nettrace_many", tests, NULL, NULL);
}
