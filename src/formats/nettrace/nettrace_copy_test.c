/* Copies of nettrace to nettrace: every byte where nothing is left out, exactly the other events
 * where something is. */
#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>

#include "support/corpus.h"
#include "support/dump.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"
#include "support/writing.h"

/* Which events a copy takes: all where `each` is 0, else the first of each `each`; and none behind
 * the first `limit`. */
struct taking {
    unsigned each;
    uint64_t limit;
};

static bool takes(const struct taking *taking, uint64_t i)
{
    return i < taking->limit && (taking->each == 0 || i % taking->each == 0);
}

static ttr_reader *open_bytes(ttr *t, const void *bytes, size_t n, uint32_t flags)
{
    ttr_read_options options = {.size = sizeof options, .flags = flags, .from = "nettrace"};
    ttr_error error = {0};
    ttr_reader *reader = ttr_open_memory(t, bytes, n, "trace", &options, &error);
    if (!reader)
        fail_msg("%s", error.text);
    return reader;
}

/* The events of a batch that are taken, in `pick`. */
static void choose(ttr_batch *batch, const struct taking *taking, uint64_t *seen, uint32_t *pick)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = &batch->event[i];
        bool is_event = event->kind != TTR_KIND_DEFINITION && event->kind != TTR_KIND_GAP;
        if (!is_event || takes(taking, (*seen)++))
            pick[n++] = i;
    }
    batch->pick = pick;
    batch->n = n;
}

/* Copies what is taken; where there is a limit, reading stops as soon as it is reached. */
static void copy(const void *bytes, size_t n, const struct taking *taking, struct buffer *to)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    uint32_t pick[1024];
    uint64_t seen = 0;
    buffer_init(to, alloc_default());
    ttr_reader *reader = open_bytes(t, bytes, n, TTR_READ_DEFINITIONS);
    ttr_writer *writer = ttr_create_push(t, writing_to_buffer, to, "nettrace", NULL, &error);
    assert_non_null(writer);
    while (seen < taking->limit && ttr_read(reader, &batch, &error) == TTR_OK) {
        choose(&batch, taking, &seen, pick);
        assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
    }
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    ttr_close(reader);
    ttr_free(t);
}

/* A line, up to `next`, without the event's number in sequence; gaps are no events. */
static void add_line(struct buffer *to, const char *line, const char *next,
                     const struct taking *taking, uint64_t *i)
{
    const char *fields = memchr(line, '{', (size_t)(next - line)), *cut = line;
    if (memcmp(line, "gap ", 4) == 0 || !fields || !takes(taking, (*i)++))
        return;
    while (cut < fields && memcmp(cut, " seq=", 5) != 0)
        cut++;
    const char *behind = cut < fields ? memchr(cut + 1, ' ', (size_t)(next - cut - 1)) : fields;
    buffer_add(to, line, (size_t)(cut - line));
    buffer_add(to, behind, (size_t)(next - behind));
}

/* The lines of events but gaps, without their numbers in sequence; of those that are taken. */
static void lines_of(const void *bytes, size_t n, const struct taking *taking, struct buffer *to,
                     uint64_t *damage)
{
    ttr *t = ttr_new(NULL);
    struct dump dump;
    ttr_report report = {.size = sizeof report};
    uint64_t i = 0;
    dump_init(&dump);
    ttr_reader *reader = open_bytes(t, bytes, n, 0);
    dump_events(&dump, t, reader);
    dump_names(&dump, t);
    assert_true(ttr_reader_report(reader, 0, &report));
    *damage = report.damage_regions;
    buffer_init(to, alloc_default());
    const char *line = (const char *)dump.text.bytes, *end = line ? line + dump.text.n : line;
    for (const char *next; line < end; line = next) {
        next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        add_line(to, line, next, taking, &i);
    }
    buffer_add_byte(to, 0);
    dump_free(&dump);
    ttr_close(reader);
    ttr_free(t);
}

static const struct taking all = {.each = 0, .limit = UINT64_MAX};

/* A copy of what is taken holds that, and no damage. */
static void check_taking(const char *name, const struct hexa *trace, const struct taking *taking)
{
    struct buffer copied, expected, found;
    uint64_t damage;
    copy(trace->bytes, trace->n, taking, &copied);
    lines_of(trace->bytes, trace->n, taking, &expected, &damage);
    lines_of(copied.bytes, copied.n, &all, &found, &damage);
    if (damage)
        fail_msg("%s, one of %u: the copy is damaged", name, taking->each);
    if (strcmp((char *)expected.bytes, (char *)found.bytes) != 0)
        fail_msg("%s, one of %u:\n%.2000s--- became\n%.2000s", name, taking->each,
                 (char *)expected.bytes, (char *)found.bytes);
    buffer_free(&copied);
    buffer_free(&expected);
    buffer_free(&found);
}

static uint64_t damage_of(const struct hexa *trace)
{
    struct buffer lines;
    uint64_t damage;
    lines_of(trace->bytes, trace->n, &all, &lines, &damage);
    buffer_free(&lines);
    return damage;
}

/* A trace that has no end mark gets one. */
static void check_identical(const char *name, const struct hexa *trace)
{
    struct buffer copied;
    copy(trace->bytes, trace->n, &all, &copied);
    bool is_same = copied.n >= trace->n && copied.n <= trace->n + 4 &&
                   memcmp(copied.bytes, trace->bytes, trace->n) == 0;
    bool has_end = copied.n == trace->n;
    for (size_t i = trace->n; is_same && i < copied.n; i++)
        has_end = copied.bytes[i] <= 1;
    if (!is_same || !has_end)
        fail_msg("%s: %zu bytes became %zu", name, trace->n, copied.n);
    buffer_free(&copied);
}

static void check_whole(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    if (damage_of(trace) == 0)
        check_identical(name, trace);
}

static void check_parts(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    for (unsigned each = 2; each < 5; each++)
        check_taking(name, trace, &(struct taking){.each = each, .limit = UINT64_MAX});
    check_taking(name, trace, &(struct taking){.each = 1000, .limit = UINT64_MAX});
}

static void check_stops(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    for (uint64_t limit = 1; limit < 6; limit++)
        check_taking(name, trace, &(struct taking){.limit = limit});
}

static void check_recovers(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    check_taking(name, trace, &all);
}

static void a_copy_has_every_byte(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_whole);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_whole);
}

static void a_copy_of_some_events_has_exactly_these(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_parts);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_parts);
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_parts);
}

static void a_copy_that_ends_early_has_all_events_up_to_there(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_stops);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_stops);
}

static void a_copy_of_a_damaged_trace_has_its_whole_events_and_no_damage(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_recovers);
}

/* The events that are left out are not missing: a thread counts on where it was. */
static void what_is_left_out_is_no_loss(void **state)
{
    struct hexa hexa;
    struct buffer copied;
    (void)state;
    vectors_load(&hexa, "src/formats/nettrace/vectors/plain.hexa");
    copy(hexa.bytes, hexa.n, &(struct taking){.each = 2, .limit = UINT64_MAX}, &copied);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_bytes(t, copied.bytes, copied.n, TTR_READ_STRICT);
    ttr_report report = {.size = sizeof report};
    ttr_batch batch;
    ttr_error error;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        continue;
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(report.events, 1);
    assert_int_equal(report.lost, 0);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&copied);
    hexa_free(&hexa);
}

/* An event made by hand, put into a copy, has no place there, which is counted. */
static void guests_of_a_copy_are_counted(void **state)
{
    struct hexa hexa;
    struct buffer to;
    ttr_batch batch;
    ttr_error error = {0};
    const ttr_loss *losses;
    (void)state;
    vectors_load(&hexa, "src/formats/nettrace/vectors/plain.hexa");
    buffer_init(&to, alloc_default());
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_bytes(t, hexa.bytes, hexa.n, TTR_READ_DEFINITIONS);
    ttr_writer *writer = ttr_create_push(t, writing_to_buffer, &to, "nettrace", NULL, &error);
    ttr_builder *builder = ttr_builder_new(t);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 0, NULL, "guest");
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    assert_int_equal(ttr_losses(writer, &losses), 1);
    assert_string_equal(losses[0].code, "event.guest");
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    assert_int_equal(to.n, hexa.n);
    assert_memory_equal(to.bytes, hexa.bytes, hexa.n);
    ttr_builder_free(builder);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&to);
    hexa_free(&hexa);
}

/* With each allocation failing, a copy of some events ends with TTR_E_NOMEM or goes well; nothing
 * leaks. */
static bool copy_with(const struct hexa *hexa, size_t fail_at)
{
    struct support_heap heap;
    struct buffer to;
    ttr_batch batch;
    ttr_error error = {0};
    uint32_t pick[1024];
    uint64_t seen = 0;
    const struct taking half = {.each = 2, .limit = UINT64_MAX};
    support_heap_init(&heap, fail_at);
    buffer_init(&to, alloc_default());
    ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.own};
    ttr_read_options reading = {
        .size = sizeof reading, .flags = TTR_READ_DEFINITIONS, .from = "nettrace"};
    ttr *t = ttr_new(&options);
    ttr_reader *reader =
        t ? ttr_open_memory(t, hexa->bytes, hexa->n, "trace", &reading, &error) : NULL;
    ttr_writer *writer =
        reader ? ttr_create_push(t, writing_to_buffer, &to, "nettrace", NULL, &error) : NULL;
    ttr_status status = writer ? TTR_OK : TTR_E_NOMEM;
    while (status == TTR_OK && (status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        choose(&batch, &half, &seen, pick);
        status = ttr_write(writer, &batch, &error);
    }
    ttr_status finished = writer ? ttr_finish(writer, &error) : status;
    assert_true(status == TTR_END || status == TTR_E_NOMEM);
    assert_true(finished == TTR_OK || finished == TTR_E_NOMEM);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&to);
    support_heap_check(&heap);
    return heap.requests >= fail_at;
}

static void check_memory(const char *name, const struct hexa *trace, const char *format)
{
    (void)name, (void)format;
    for (size_t at = 1; copy_with(trace, at); at++)
        continue;
}

static void a_copy_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_memory);
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_memory);
}

/* --- Recorded traces --- */

static void check_recorded(const char *name, const char *path)
{
    struct buffer copied, bytes;
    char command[800];
    uint8_t part[65536];
    buffer_init(&bytes, alloc_default());
    (void)snprintf(command, sizeof command, "xz -dcf '%s'", path);
    FILE *file = popen(command, "r"); /* NOLINT(bugprone-command-processor): a fixed list of names
                                         below a folder the tester named */
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        buffer_add(&bytes, part, n);
    if (!file || pclose(file) != 0 || bytes.n == 0) {
        buffer_free(&bytes);
        print_message("# skipped: %s cannot be unpacked\n", path);
        return;
    }
    copy(bytes.bytes, bytes.n, &all, &copied);
    if (copied.n != bytes.n || memcmp(copied.bytes, bytes.bytes, bytes.n) != 0)
        fail_msg("%s: the copy is another", name);
    buffer_free(&copied);
    check_taking(name, &(struct hexa){.bytes = bytes.bytes, .n = bytes.n},
                 &(struct taking){.each = 3, .limit = UINT64_MAX});
    buffer_free(&bytes);
}

static void recorded_traces_are_copied(void **state)
{
    static const char *const names[] = {
        "eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf.xz",
        "eventpipe-dotnetcore5.0-win-x64-arraytypes.nettrace.xz",
        "only_managed_samples.nettrace.xz",
        "erlendthune-RememberCalendar.nettrace.xz",
        "recorded/emit.nettrace.xz",
        "recorded/mix_v3.netperf.xz",
        "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz",
        "v6/v6_plain.nettrace",
        "v6/v6_ptr4.nettrace",
    };
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (corpus_find("nettrace", names[i], path, sizeof path))
            check_recorded(names[i], path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_has_every_byte),
        cmocka_unit_test(a_copy_of_some_events_has_exactly_these),
        cmocka_unit_test(a_copy_that_ends_early_has_all_events_up_to_there),
        cmocka_unit_test(a_copy_of_a_damaged_trace_has_its_whole_events_and_no_damage),
        cmocka_unit_test(what_is_left_out_is_no_loss),
        cmocka_unit_test(guests_of_a_copy_are_counted),
        cmocka_unit_test(a_copy_without_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(recorded_traces_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
