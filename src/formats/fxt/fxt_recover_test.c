/* Recovery from random damage: one size field of a file of 10,000 events is changed, and the events
 * that remain readable are counted. */
#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "formats/fxt/fxt_format.h"
#include "support/support.h"

#define EVENTS 10000u
#define TRIALS 300u

struct file {
    struct buffer bytes;
    size_t place[EVENTS]; /* byte offset of each event */
};

static void add_word(struct buffer *to, uint64_t word)
{
    uint8_t bytes[8];
    store_u64le(bytes, word);
    buffer_add(to, bytes, 8);
}

/* Writes events of all kinds with up to three arguments, and with as many words as their kind
 * needs. */
static void make_file(struct file *file, uint64_t seed)
{
    struct buffer *to = &file->bytes;
    buffer_init(to, alloc_default());
    add_word(to, FXT_MAGIC);
    add_word(to, FXT_THREAD | fxt_set_bits(FXT_SIZE, 3) | fxt_set_bits(FXT_THREAD_INDEX, 1));
    add_word(to, 7);
    add_word(to, 8);
    for (uint32_t i = 0; i < EVENTS; i++) {
        unsigned kind = (unsigned)(support_random(&seed) % FXT_EVENT_KINDS),
                 args = (unsigned)(support_random(&seed) % 4);
        uint64_t words = 2 + 2 * args + fxt_count_event_last_words(kind);
        file->place[i] = to->n;
        add_word(to, FXT_EVENT | fxt_set_bits(FXT_SIZE, words) |
                         fxt_set_bits(FXT_EVENT_KIND, kind) | fxt_set_bits(FXT_EVENT_ARGS, args) |
                         fxt_set_bits(FXT_EVENT_THREAD, 1));
        add_word(to, 1000 + i);
        for (unsigned j = 0; j < args; j++) {
            add_word(to, FXT_ARG_UINT64 | fxt_set_bits(FXT_ARG_SIZE, 2));
            add_word(to, support_random_word(&seed));
        }
        if (fxt_count_event_last_words(kind))
            add_word(to, 2000 + i);
    }
    assert_false(to->failed);
}

/* Counts events that are read with their own time, without the damaged one. `damaged` is EVENTS if
 * none is. */
static unsigned count_kept(const struct file *file, size_t damaged, uint64_t *damages)
{
    ttr_read_options options = {.size = sizeof options, .from = "fxt"};
    ttr_report report = {.size = sizeof report};
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    unsigned kept = 0, at = 0;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader =
        ttr_open_memory(t, file->bytes.bytes, file->bytes.n, "damaged", &options, &error);
    assert_non_null(reader);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            while (at < EVENTS && file->place[at] < event->offset)
                at++;
            kept += at < EVENTS && at != damaged && file->place[at] == event->offset &&
                    event->time == 1000 + (int64_t)at;
        }
    }
    assert_int_equal(status, TTR_END);
    assert_true(ttr_reader_report(reader, 0, &report));
    *damages = report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
    return kept;
}

static void changed_size_loses_at_most_its_record(void **state)
{
    (void)state;
    static struct file file;
    uint64_t seed = 2026, damages, lost = 0;
    make_file(&file, seed);
    assert_int_equal(count_kept(&file, EVENTS, &damages), EVENTS);
    assert_int_equal(damages, 0);
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        size_t damaged = support_random(&seed) % EVENTS;
        uint8_t *header = file.bytes.bytes + file.place[damaged];
        uint64_t right = load_u64le(header);
        uint64_t size = support_random(&seed) & FXT_SIZE_MAX;
        store_u64le(header,
                    (right & ~fxt_set_bits(FXT_SIZE, FXT_SIZE_MAX)) | fxt_set_bits(FXT_SIZE, size));
        lost += EVENTS - 1 - count_kept(&file, damaged, &damages);
        assert_true(damages == 1 || size == fxt_get_record_words(right));
        store_u64le(header, right);
    }
    double kept = 100 - 100 * (double)lost / ((double)TRIALS * (EVENTS - 1));
    print_message("# %u trials on %u events: %.4f %% of the undamaged records kept\n", TRIALS,
                  EVENTS, kept);
    assert_true(kept > 99.9);
    assert_int_equal(lost, 0);
    buffer_free(&file.bytes);
}

static void zeros_at_the_end_are_not_damage(void **state)
{
    (void)state;
    static const size_t tails[] = {1, 7, 8, 9, 64, 4095, 4096, 65536, 3 << 20};
    static struct file file;
    uint64_t damages;
    make_file(&file, 7);
    size_t whole = file.bytes.n;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        file.bytes.n = whole;
        buffer_add_zeros(&file.bytes, tails[i]);
        assert_int_equal(count_kept(&file, EVENTS, &damages), EVENTS);
        assert_int_equal(damages, 0);
    }
    print_message("# tails of 1 to %zu zero bytes: all %u events, no damage\n",
                  tails[sizeof tails / sizeof *tails - 1], EVENTS);
    buffer_free(&file.bytes);
}

/* Inserts a large record before event i, and moves the offsets of later events. */
static void insert_large(struct file *file, size_t i, const uint8_t *bytes, size_t n)
{
    size_t at = file->place[i];
    buffer_add_zeros(&file->bytes, n);
    assert_false(file->bytes.failed);
    memmove(file->bytes.bytes + at + n, file->bytes.bytes + at, file->bytes.n - n - at);
    memcpy(file->bytes.bytes + at, bytes, n);
    for (; i < EVENTS; i++)
        file->place[i] += n;
}

/* Builds a large record with a blob: header, format header, size, and a payload that looks like
 * records. */
static void make_large(struct buffer *to, const struct file *file, size_t words)
{
    buffer_init(to, alloc_default());
    add_word(to, FXT_LARGE | fxt_set_bits(FXT_LARGE_SIZE, words) |
                     fxt_set_bits(FXT_LARGE_FORMAT, FXT_LARGE_BARE));
    add_word(to, fxt_set_bits(FXT_LARGE_NAME, FXT_REF_INLINE | 4));
    buffer_add(to, "blob\0\0\0\0", 8);
    add_word(to, (words - 4) * 8);
    buffer_add(to, file->bytes.bytes + file->place[100], (words - 4) * 8);
    assert_false(to->failed);
}

static void damaged_large_record_keeps_following_events(void **state)
{
    (void)state;
    static const size_t sizes[] = {5, 4094, 4095, 4096, 5000, 20000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        static struct file file;
        struct buffer large;
        uint64_t damages;
        make_file(&file, 11 + i);
        make_large(&large, &file, sizes[i]);
        for (size_t at = 500; at < EVENTS; at += 1000)
            insert_large(&file, at, large.bytes, large.n);
        assert_int_equal(count_kept(&file, EVENTS, &damages), EVENTS);
        assert_int_equal(damages, 0);
        buffer_free(&large);
        buffer_free(&file.bytes);
    }
    print_message("# large records of 5 to 20000 words, full of what looks like records: all %u "
                  "events, no damage\n",
                  EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_size_loses_at_most_its_record),
        cmocka_unit_test(zeros_at_the_end_are_not_damage),
        cmocka_unit_test(damaged_large_record_keeps_following_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
