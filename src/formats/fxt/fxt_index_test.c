/* Skipping by the index of an archive, and indexes that are wrong. The files are made word by word
 * from the layout in fxt_index.c. */
#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "formats/fxt/fxt_format.h"
#include "support/support.h"

#define PARTS 4u
#define PART_EVENTS 100u
#define WORDS_MAX 2048u

/* An archive of PARTS parts of PART_EVENTS instants each; event i has time 1000 * i ns. */
struct file {
    uint64_t word[WORDS_MAX];
    size_t n;
    size_t part[PARTS]; /* index of the first word */
    size_t index;       /* index of the first word of the index */
};

static void add_word(struct file *file, uint64_t word)
{
    assert_true(file->n < WORDS_MAX);
    file->word[file->n++] = word;
}

static void add_part(struct file *file, size_t part)
{
    file->part[part] = file->n;
    if (part == 0) {
        add_word(file, FXT_INITIALIZATION | fxt_set_bits(FXT_SIZE, 2));
        add_word(file, 1000000000);
        add_word(file,
                 FXT_STRING | fxt_set_bits(FXT_SIZE, 2) | (uint64_t)1 << 16 | (uint64_t)4 << 32);
        add_word(file, 0x656d616e); /* "name" */
    }
    add_word(file, FXT_THREAD | fxt_set_bits(FXT_SIZE, 3) | fxt_set_bits(FXT_THREAD_INDEX, 1));
    add_word(file, 7);
    add_word(file, 8);
    for (size_t i = 0; i < PART_EVENTS; i++) {
        add_word(file, FXT_EVENT | fxt_set_bits(FXT_SIZE, 2) | fxt_set_bits(FXT_EVENT_THREAD, 1) |
                           (uint64_t)1 << 48);
        add_word(file, 1000 * (part * PART_EVENTS + i));
    }
}

/* Completes the hash of the locator, which must be the last record. */
static void set_hash(struct file *file)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = file->index + 3; i < file->n - 6; i++)
        hash = (hash ^ file->word[i]) * UINT64_C(1099511628211);
    file->word[file->n - 1] = hash;
}

/* Adds the head of a blob of n words, named "tracetta" and `name_end`. */
static void add_blob_head(struct file *file, uint64_t n, const char *name_end)
{
    uint8_t name[16] = "tracetta";
    memcpy(name + 8, name_end, strlen(name_end));
    add_word(file, FXT_BLOB | (3 + n) << 4 | (uint64_t)(0x8000 | 14) << 16 | n * 8 << 32 |
                       UINT64_C(1) << 48);
    add_word(file, load_u64le(name));
    add_word(file, load_u64le(name + 8));
}

static void make_file(struct file *file)
{
    file->n = 0;
    add_word(file, FXT_MAGIC);
    for (size_t i = 0; i < PARTS; i++)
        add_part(file, i);
    file->index = file->n;
    add_blob_head(file, 4 * PARTS, ".index");
    for (size_t i = 0; i < PARTS; i++) {
        add_word(file, file->part[i] * 8);
        add_word(file, i == 0);
        add_word(file, 1000 * i * PART_EVENTS);
        add_word(file, 1000 * (i * PART_EVENTS + PART_EVENTS - 1));
    }
    add_blob_head(file, 3, ".where");
    add_word(file, file->index * 8);
    add_word(file, PARTS);
    add_word(file, 0);
    set_hash(file);
}

/* Reads the events in [from, to) and returns their number. */
static unsigned count_events(const struct file *file, int64_t from, int64_t to,
                             uint64_t *damage_regions)
{
    ttr_read_options options = {.size = sizeof options, .from = "fxt"};
    ttr_report report = {.size = sizeof report};
    ttr_filter filter;
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    unsigned events = 0;
    static uint8_t bytes[8 * WORDS_MAX]; /* little-endian on every machine */
    for (size_t i = 0; i < file->n; i++)
        store_u64le(bytes + 8 * i, file->word[i]);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, bytes, file->n * 8, "archive", &options, &error);
    assert_non_null(reader);
    ttr_filter_init(&filter);
    filter.from_ns = from;
    filter.to_ns = to;
    reader = ttr_filter_new(reader, &filter, &error);
    assert_non_null(reader);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        events += batch.n;
    assert_int_equal(status, TTR_END);
    assert_true(ttr_reader_report(reader, 0, &report));
    *damage_regions = report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
    return events;
}

/* Makes all events of a part unreadable, which shows whether it is read. */
static void destroy_part(struct file *file, size_t part)
{
    for (size_t i = file->part[part] + 3; i < file->part[part] + 3 + 2 * PART_EVENTS; i++)
        file->word[i] = UINT64_C(0xffffffffffffffff);
}

static void parts_outside_the_range_are_not_read(void **state)
{
    (void)state;
    static struct file file;
    uint64_t damage;
    make_file(&file);
    assert_int_equal(count_events(&file, INT64_MIN, INT64_MAX, &damage), PARTS * PART_EVENTS);
    assert_int_equal(damage, 0);
    assert_int_equal(count_events(&file, 205000, 210000, &damage), 5);
    destroy_part(&file, 1);
    destroy_part(&file, 3);
    assert_int_equal(count_events(&file, 205000, 210000, &damage), 5);
    assert_int_equal(damage, 0);
    assert_int_equal(count_events(&file, 199000, 210000, &damage), 10);
    assert_true(damage > 0);
}

static void index_that_was_moved_is_ignored(void **state)
{
    (void)state;
    static struct file file;
    uint64_t damage;
    make_file(&file);
    memmove(file.word + 2, file.word + 1, (file.n - 1) * 8); /* a second magic record */
    file.word[1] = FXT_MAGIC;
    file.n++;
    for (size_t i = 0; i < PARTS; i++)
        file.part[i]++;
    destroy_part(&file, 1);
    (void)count_events(&file, 205000, 210000, &damage);
    assert_true(damage > 0);
}

static void index_with_another_hash_is_ignored(void **state)
{
    (void)state;
    static struct file file;
    uint64_t damage;
    make_file(&file);
    destroy_part(&file, 1);
    file.word[file.index + 6] ^= 8; /* last time of the first part */
    (void)count_events(&file, 205000, 210000, &damage);
    assert_true(damage > 0);
    set_hash(&file);
    (void)count_events(&file, 205000, 210000, &damage);
    assert_int_equal(damage, 0);
}

static void boundary_inside_a_record_ends_the_use_of_the_index(void **state)
{
    (void)state;
    static struct file file;
    uint64_t damage;
    make_file(&file);
    file.word[file.index + 3 + 4] +=
        8; /* offset of the second part: its thread record begins before */
    set_hash(&file);
    assert_int_equal(count_events(&file, 150000, 210000, &damage), 60);
    assert_int_equal(damage, 0);
}

static void index_of_random_words_does_no_harm(void **state)
{
    (void)state;
    static struct file file;
    uint64_t seed = 1, damage;
    for (unsigned i = 0; i < 4000; i++) {
        make_file(&file);
        for (unsigned k = 0; k < 1 + i % 3; k++) {
            uint64_t *word = &file.word[file.index + support_random(&seed) % (file.n - file.index)];
            *word = i & 4 ? support_random_word(&seed) : *word ^ (uint64_t)8 << i % 60;
        }
        if (i & 1)
            set_hash(&file);
        (void)count_events(&file, 205000, 210000, &damage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_outside_the_range_are_not_read),
        cmocka_unit_test(index_that_was_moved_is_ignored),
        cmocka_unit_test(index_with_another_hash_is_ignored),
        cmocka_unit_test(boundary_inside_a_record_ends_the_use_of_the_index),
        cmocka_unit_test(index_of_random_words_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
