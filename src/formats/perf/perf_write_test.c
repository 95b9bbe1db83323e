/* The perf.data writer: encoded events read back from files and pipes; copies equal their source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/dump.h"
#include "formats/perf/perf.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"
#include "support/writing.h"

#define DAY INT64_C(1700000000000000000)

static void build_event(struct writing *w, ttr_kind kind, int64_t time, const char *name)
{
    ttr_event_begin(w->builder, kind, time, NULL, name);
    ttr_event_set_thread(w->builder, 7, 9);
    ttr_event_set_provider(w->builder, "Shop");
}

/* Checks how a trace reads, and that reading adds no note. */
static void expect_bytes(const void *bytes, size_t n, const char *text)
{
    struct dump dump;
    ttr *t = ttr_new(NULL);
    ttr_error error = {.text = ""};
    ttr_reader *in = ttr_open_memory(t, bytes, n, "written", NULL, &error);
    if (!in)
        fail_msg("%s", error.text);
    dump_init(&dump);
    dump_events(&dump, t, in);
    dump_report(&dump, in);
    dump_names(&dump, t);
    support_assert_text(dump.text.bytes, dump.text.n, text);
    dump_free(&dump);
    ttr_close(in);
    ttr_free(t);
}

static void expect_read(struct writing *w, const char *text)
{
    writing_finish(w);
    expect_bytes(w->text, w->n, text);
    writing_close(w);
}

static void add_sale_fields(ttr_builder *b)
{
    ttr_event *event = ttr_event_attributes(b);
    event->level = TTR_LEVEL_WARNING;
    event->keyword = 0x1f;
    event->cpu = 3;
    event->flags |= TTR_EVENT_HAS_CPU;
    ttr_add_text(b, "what", "tea");
    ttr_add_int(b, "count", -5);
}

#define SALE                                                                                   \
    "instant time=1700000000000000000 ticks=3600000000000 provider=Shop name=sold thread=7/9 " \
    "cpu=3 level=4 keyword=0x1f {what=\"tea\", count=-5}\n"

static void event_becomes_sample_of_provider_tracepoint(void **state)
{
    struct writing w;
    (void)state;
    for (int big = 0; big < 2; big++) {
        writing_open(&w, "perf", 0,
                     (const char *const[]){big ? "byte-order=big" : "byte-order=little", NULL});
        build_event(&w, TTR_KIND_INSTANT, DAY, "sold");
        add_sale_fields(w.builder);
        writing_end(&w);
        writing_finish(&w);
        assert_memory_equal(w.text,
                            big ? "2ELIFREP\0\0\0\0\0\0\0\x10" : "PERFILE2\x10\0\0\0\0\0\0\0", 16);
        assert_non_null(memmem(w.text, w.n, "name: Shop_L3K1f\nID: 2000\n", 26));
        expect_bytes(w.text, w.n, SALE);
        writing_close(&w);
    }
}

static void other_kinds_store_their_kind_as_field(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, (const char *const[]){"zstd=3", NULL});
    build_event(&w, TTR_KIND_SPAN, 1000, "work");
    ttr_event_attributes(w.builder)->duration = 50;
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "event.kind"), 1);
    expect_read(&w, "instant time=1000 provider=Shop name=work thread=7/9 level=3 "
                    "{ttr.kind=\"span\", ttr.duration_ns=50u}\n");
}

static void empty_trace_is_valid_file(void **state)
{
    struct writing w;
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        writing_open(&w, "perf", 0, (const char *const[]){packed ? "zstd=3" : NULL, NULL});
        expect_read(&w, "");
    }
}

static void gap_becomes_lost_record(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, NULL);
    build_event(&w, TTR_KIND_GAP, 1000, "");
    ttr_event_attributes(w.builder)->link = 12;
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "event.gap"), 1);
    expect_read(&w, "gap time=1000 id=12 name=lost thread=7/9 {id=1u, lost=12u}\nlost 12 in 1\n");
}

static void thread_name_precedes_first_event(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, NULL);
    assert_true(ttr_thread_name(w.t, 7, 9, "shop", "cashier"));
    build_event(&w, TTR_KIND_INSTANT, 1000, "open");
    writing_end(&w);
    build_event(&w, TTR_KIND_INSTANT, 2000, "close");
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "thread.name"), 1);
    expect_read(&w, "object time=1000 id=7 name=shop thread=7/7 tag=2 {pid=7i32, tid=7i32, "
                    "comm=\"shop\", is_exec=false}\n"
                    "object time=1000 id=9 name=cashier thread=7/9 tag=2 {pid=7i32, tid=9i32, "
                    "comm=\"cashier\", is_exec=false}\n"
                    "instant time=1000 provider=Shop name=open thread=7/9 level=3 {}\n"
                    "instant time=2000 provider=Shop name=close thread=7/9 level=3 {}\n");
}

static void thread_name_becomes_comm_record(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 1000, NULL, "cashier");
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_THREAD;
    ttr_add_text(w.builder, "comm", "cashier");
    ttr_add_bool(w.builder, "is_exec", true);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "thread.name"), 0);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 2000, NULL, "the name of the thread");
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_THREAD;
    ttr_add_text(w.builder, "comm", "the name of the thread");
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "thread.name"), 1);
    expect_read(&w, "object time=1000 id=9 name=cashier thread=7/9 tag=2 {pid=7i32, tid=9i32, "
                    "comm=\"cashier\", is_exec=true}\n"
                    "object time=2000 id=9 name=\"the name of the\" thread=7/9 tag=2 {pid=7i32, "
                    "tid=9i32, comm=\"the name of the\", is_exec=false}\n");
}

static void mapping_becomes_mmap2_record(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, NULL);
    build_event(&w, TTR_KIND_OBJECT, 1000, "/bin/shop");
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_MAPPING;
    ttr_add_uint(w.builder, "start", 0x4000);
    ttr_add_uint(w.builder, "size", 0x1000);
    ttr_add_uint(w.builder, "major", 8);
    ttr_add_uint(w.builder, "minor", 1);
    ttr_add_uint(w.builder, "inode", 99);
    ttr_add_uint(w.builder, "generation", 3);
    ttr_add_uint(w.builder, "flags", 0x1002);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "object.mapping"), 1);
    writing_finish(&w);
    assert_non_null(
        memmem(w.text, w.n,
               "\x8\0\0\0\x1\0\0\0\x63\0\0\0\0\0\0\0\x3\0\0\0\0\0\0\0\x5\0\0\0\x2\x10\0\0", 32));
    assert_non_null(memmem(w.text, w.n, "\0\x40\0\0\0\0\0\0\0\x10\0\0\0\0\0\0", 16));
    assert_non_null(memmem(w.text, w.n, "/bin/shop", 9));
    writing_close(&w);
}

static void unsupported_content_is_counted_as_loss(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perf", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, "trade", "x");
    ttr_event_set_provider(w.builder, "My Shop");
    ttr_event_set_thread(w.builder, UINT64_C(1) << 32, 5);
    ttr_event_attributes(w.builder)->flags |= TTR_EVENT_NO_TIME | TTR_EVENT_PARTIAL;
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "event.category"), 1);
    assert_int_equal(writing_lost(&w, "time.range"), 1);
    assert_int_equal(writing_lost(&w, "time.mark"), 1);
    assert_int_equal(writing_lost(&w, "thread.number"), 1);
    assert_int_equal(writing_lost(&w, "event.partial"), 1);
    assert_int_equal(writing_lost(&w, "provider.characters"), 1);
    expect_read(&w, "instant time=1 provider=My_Shop name=x thread=0/5 level=3 {}\n");
}

static void invalid_option_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"byte-order=middle", "zstd=0", "zstd=20", "zstd=x"};
    for (size_t i = 0; i < 4; i++) {
        ttr *t = ttr_new(NULL);
        ttr_error error;
        const ttr_write_options options = {.size = sizeof options,
                                           .format_options = (const char *const[]){wrong[i], NULL}};
        assert_null(ttr_create(t, NULL, "perf", &options, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        ttr_free(t);
    }
}

/* --- Files --- */

struct bytes {
    uint8_t *p;
    size_t n, capacity;
};

static struct bytes read_file(const char *path)
{
    struct bytes bytes = {.p = malloc(8 << 20)};
    FILE *file = fopen(path, "rb");
    assert_true(file && bytes.p);
    bytes.n = fread(bytes.p, 1, 8 << 20, file);
    (void)fclose(file);
    return bytes;
}

/* Returns the bytes of a file with n encoded events, written with a writer option. */
static struct bytes write_file_with(const char *option, unsigned n)
{
    char path[] = "/tmp/perf_write_test.XXXXXX";
    const char *const list[] = {option, NULL};
    const ttr_write_options options = {
        .size = sizeof options, .flags = TTR_WRITE_OVERWRITE, .format_options = list};
    ttr *t = ttr_new(NULL);
    (void)close(mkstemp(path));
    ttr_writer *out = ttr_create(t, path, "perf", &options, NULL);
    ttr_builder *b = ttr_builder_new(t);
    for (unsigned i = 0; i < n; i++) {
        ttr_event_begin(b, TTR_KIND_INSTANT, DAY + i, NULL, "sold");
        ttr_event_set_thread(b, 7, 9);
        ttr_event_set_provider(b, "Shop");
        add_sale_fields(b);
        assert_int_equal(ttr_event_end(b, out, NULL), TTR_OK);
    }
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_builder_free(b);
    ttr_free(t);
    struct bytes bytes = read_file(path);
    (void)unlink(path);
    return bytes;
}

static struct bytes write_file(unsigned n)
{
    return write_file_with(NULL, n);
}

static void written_file_has_final_header(void **state)
{
    struct bytes file = write_file(1);
    (void)state;
    assert_memory_equal(file.p, "PERFILE2\x68\0\0\0\0\0\0\0\x90\0\0\0\0\0\0\0", 24);
    assert_int_equal(load_u64le(file.p + PERF_AT_DATA), PERF_HEADER_BYTES + 8 + 144);
    assert_int_equal(load_u64le(file.p + PERF_AT_ATTRS + 8), 2 * 144);
    assert_int_equal(load_u64le(file.p + PERF_AT_ATTRS) + 2 * 144, file.n);
    expect_bytes(file.p, file.n, SALE);
    free(file.p);
}

static int64_t append_bytes(void *ctx, const void *bytes, size_t n)
{
    struct bytes *to = ctx;
    if (to->n + n > to->capacity) {
        to->capacity = (to->n + n) * 2;
        to->p = realloc(to->p, to->capacity);
        if (!to->p)
            abort();
    }
    memcpy(to->p + to->n, bytes, n);
    to->n += n;
    return (int64_t)n;
}

/* Returns a copy of the events from begin_time on, definitions included. */
static struct bytes copy_trace(const struct bytes *from, int64_t begin_time)
{
    struct bytes to = {0};
    ttr *t = ttr_new(NULL);
    ttr_error error = {.text = ""};
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_DEFINITIONS};
    ttr_reader *in = ttr_open_memory(t, from->p, from->n, "original", &options, &error);
    ttr_writer *out = ttr_create_push(t, append_bytes, &to, "perf", NULL, &error);
    ttr_batch batch;
    assert_true(in && out);
    while (ttr_read(in, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            const uint32_t pick[] = {(uint32_t)(event - batch.event)};
            const ttr_batch one = {batch.event, pick, 1};
            if (event->kind == TTR_KIND_DEFINITION || event->time >= begin_time)
                assert_int_equal(ttr_write(out, &one, &error), TTR_OK);
        }
    if (ttr_finish(out, &error) != TTR_OK)
        fail_msg("%s", error.text);
    ttr_close(in);
    ttr_free(t);
    return to;
}

static void copy_of_file_is_byte_identical(void **state)
{
    struct bytes file = write_file(2000), copied = copy_trace(&file, INT64_MIN);
    (void)state;
    assert_int_equal(copied.n, file.n);
    assert_memory_equal(copied.p, file.p, file.n);
    free(file.p);
    free(copied.p);
}

static void copy_of_time_range_is_valid_file(void **state)
{
    struct bytes file = write_file(2000), part = copy_trace(&file, DAY + 1999);
    (void)state;
    assert_true(part.n < 4096);
    assert_int_equal(load_u64le(part.p + PERF_AT_ATTRS) + 2 * 144, part.n);
    expect_bytes(part.p, part.n,
                 "instant time=1700000000000001999 ticks=3600000001999 provider=Shop name=sold "
                 "thread=7/9 cpu=3 level=4 keyword=0x1f {what=\"tea\", count=-5}\n");
    free(file.p);
    free(part.p);
}

static unsigned count_records(const struct bytes *file, uint32_t type)
{
    size_t at = (size_t)load_u64le(file->p + PERF_AT_DATA),
           end = at + (size_t)load_u64le(file->p + PERF_AT_DATA + 8);
    unsigned n = 0;
    for (; at < end; at += load_u16le(file->p + at + 6))
        n += load_u32le(file->p + at) == type;
    return n;
}

/* Returns the number of events of a trace; *damaged is set to the number of damaged regions. */
static uint64_t count_events(const struct bytes *trace, uint64_t *damaged)
{
    ttr *t = ttr_new(NULL);
    ttr_report report = {.size = sizeof report};
    ttr_reader *in = ttr_open_memory(t, trace->p, trace->n, "trace", NULL, NULL);
    ttr_batch batch;
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        continue;
    assert_true(ttr_reader_report(in, 0, &report));
    *damaged = report.damage_regions;
    ttr_close(in);
    ttr_free(t);
    return report.events;
}

/* Returns the number of events of a trace that are named "sold". */
static uint64_t count_named_events(const struct bytes *trace)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t n = 0;
    ttr_reader *in = ttr_open_memory(t, trace->p, trace->n, "trace", NULL, NULL);
    while (in && ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            n += strcmp(ttr_text_get(t, ttr_batch_at(&batch, i)->name).p, "sold") == 0;
    ttr_close(in);
    ttr_free(t);
    return n;
}

/* The last record of the scan window may end within a compressed record. */
static void copy_of_compressed_file_has_all_events(void **state)
{
    (void)state;
    for (unsigned n = 4200; n < 60000; n *= 11) {
        struct bytes file = write_file_with("zstd=3", n), copied = copy_trace(&file, INT64_MIN);
        uint64_t damaged;
        assert_int_equal(count_events(&copied, &damaged), n);
        assert_int_equal(count_events(&file, &damaged), n);
        assert_int_equal(count_records(&copied, PERF_FINISHED_ROUND),
                         count_records(&file, PERF_FINISHED_ROUND));
        assert_true(count_records(&file, PERF_COMPRESSED) > 0);
        free(file.p);
        free(copied.p);
    }
}

/* Each damaged number makes the copy leave out its part; all events remain. */
static void damaged_part_is_dropped_from_copy(void **state)
{
    uint64_t damaged, before;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct bytes file = write_file(20);
        uint64_t features =
            load_u64le(file.p + PERF_AT_DATA) + load_u64le(file.p + PERF_AT_DATA + 8);
        const uint64_t places[] = {PERF_AT_ATTR_SIZE, PERF_AT_ATTRS,
                                   load_u64le(file.p + PERF_AT_ATTRS) + 144 -
                                       PERF_SECTION_BYTES /* `size` of the ids */,
                                   features + 8 /* `size` of the first feature */};
        store_u64le(file.p + places[i], i == 0 ? 7 : 1u << 20);
        before = count_events(&file, &damaged);
        assert_true(damaged > 0);
        struct bytes copied = copy_trace(&file, INT64_MIN);
        assert_int_equal(count_events(&copied, &damaged), before);
        assert_int_equal(damaged, 0);
        free(file.p);
        free(copied.p);
    }
}

/* A removed byte moves features and attributes, which then are found: events keep their names. A
 * removed byte of a size costs a few events. */
static void removed_byte_of_records_keeps_features(void **state)
{
    struct bytes file = write_file(200);
    const uint64_t begin = load_u64le(file.p + PERF_AT_DATA),
                   n = load_u64le(file.p + PERF_AT_DATA + 8);
    uint64_t damaged;
    (void)state;
    const uint64_t all = count_named_events(&file);
    assert_int_equal(all, 200);
    for (uint64_t at = begin + n / 4; at < begin + n / 4 + 256; at++) {
        struct bytes copy = {.p = malloc(file.n), .n = file.n - 1};
        assert_non_null(copy.p);
        memcpy(copy.p, file.p, at);
        memcpy(copy.p + at, file.p + at + 1, file.n - at - 1);
        if (count_named_events(&copy) + 10 < all)
            fail_msg("without byte %zu: %zu of %zu events", (size_t)at,
                     (size_t)count_named_events(&copy), (size_t)all);
        (void)count_events(&copy, &damaged);
        assert_true(damaged > 0);
        free(copy.p);
    }
    free(file.p);
}

/* Checks that a vector is copied byte by byte; compressed ones become uncompressed. */
static void expect_copied(const char *path, const struct hexa *hexa, const char *format)
{
    const struct bytes original = {hexa->bytes, hexa->n, 0};
    struct bytes copied = copy_trace(&original, INT64_MIN);
    bool is_packed = memmem(hexa->bytes, hexa->n, "\x28\xb5\x2f\xfd", 4) != NULL;
    (void)format;
    if (!is_packed && (copied.n != hexa->n || memcmp(copied.p, hexa->bytes, hexa->n) != 0))
        fail_msg("%s: %zu bytes became %zu", path, hexa->n, copied.n);
    free(copied.p);
}

static void vector_copy_is_byte_identical(void **state)
{
    (void)state;
    vectors_each("src/formats/perf/vectors", "perf", expect_copied);
}

/* The recorder was killed: the copy has also the records after the end by the header, and a table
 * of features after them. So has a copy of a part. */
static void copy_of_killed_recording_is_closed(void **state)
{
    struct hexa hexa;
    (void)state;
    vectors_load(&hexa, "src/formats/perf/vectors-whole/killed-live.hexa");
    const struct bytes original = {hexa.bytes, hexa.n, 0};
    struct bytes copied = copy_trace(&original, INT64_MIN), part = copy_trace(&original, 101);
    assert_int_equal(copied.n, hexa.n + 2 * PERF_SECTION_BYTES);
    expect_bytes(copied.p, copied.n,
                 "sample time=100 name=my-clock thread=5/5 {period=1000u}\nsample time=101 "
                 "name=my-clock thread=5/5 {period=1000u}\n");
    expect_bytes(part.p, part.n, "sample time=101 name=my-clock thread=5/5 {period=1000u}\n");
    free(copied.p);
    free(part.p);
    hexa_free(&hexa);
}

static void writer_failure_is_returned_without_leak(void **state)
{
    (void)state;
    writing_fails_cleanly("perf");
}

/* If records are read as stored, the earliest one may follow others; records without a time get the
 * time of the earliest. */
static void record_without_time_gets_earliest_time(void **state)
{
    struct hexa hexa;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_DEFINITIONS};
    (void)state;
    vectors_load(&hexa, "src/formats/perf/vectors-whole/no-time.hexa");
    ttr_reader *in = ttr_open_memory(t, hexa.bytes, hexa.n, "trace", &options, NULL);
    assert_non_null(in);
    uint32_t i = 0;
    do {
        assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
        for (i = 0; i < batch.n && ttr_batch_at(&batch, i)->kind != TTR_KIND_OBJECT;)
            i++;
    } while (i == batch.n);
    assert_int_equal(ttr_batch_at(&batch, i)->time, 100);
    ttr_close(in);
    ttr_free(t);
    hexa_free(&hexa);
}

static void random_events_are_written_completely(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct writing w;
        ttr_batch batch;
        uint64_t events = 0, gaps = 0;
        writing_open(&w, "perf", 0, NULL);
        unsigned written_gaps = writing_random(&w, seed, 200);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        ttr *t = ttr_new(NULL);
        const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
        ttr_reader *in = ttr_open_memory(t, w.text, w.n, "written", &options, NULL);
        ttr_status status;
        while ((status = ttr_read(in, &batch, &w.error)) == TTR_OK)
            for (uint32_t i = 0; i < batch.n; i++) {
                events += ttr_batch_at(&batch, i)->kind == TTR_KIND_INSTANT;
                gaps += ttr_batch_at(&batch, i)->kind == TTR_KIND_GAP;
            }
        assert_int_equal(status, TTR_END);
        assert_int_equal(gaps, written_gaps);
        assert_true(events <= 200 - gaps && events + gaps >= 180);
        ttr_close(in);
        ttr_free(t);
        writing_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_becomes_sample_of_provider_tracepoint),
        cmocka_unit_test(other_kinds_store_their_kind_as_field),
        cmocka_unit_test(empty_trace_is_valid_file),
        cmocka_unit_test(gap_becomes_lost_record),
        cmocka_unit_test(thread_name_precedes_first_event),
        cmocka_unit_test(thread_name_becomes_comm_record),
        cmocka_unit_test(mapping_becomes_mmap2_record),
        cmocka_unit_test(unsupported_content_is_counted_as_loss),
        cmocka_unit_test(invalid_option_is_refused),
        cmocka_unit_test(written_file_has_final_header),
        cmocka_unit_test(copy_of_file_is_byte_identical),
        cmocka_unit_test(copy_of_time_range_is_valid_file),
        cmocka_unit_test(copy_of_compressed_file_has_all_events),
        cmocka_unit_test(damaged_part_is_dropped_from_copy),
        cmocka_unit_test(removed_byte_of_records_keeps_features),
        cmocka_unit_test(vector_copy_is_byte_identical),
        cmocka_unit_test(copy_of_killed_recording_is_closed),
        cmocka_unit_test(record_without_time_gets_earliest_time),
        cmocka_unit_test(random_events_are_written_completely),
        cmocka_unit_test(writer_failure_is_returned_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
