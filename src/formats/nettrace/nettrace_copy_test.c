/* Copies of nettrace to nettrace: identical bytes if no event is left out, else exactly the
 * selected events. */
#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/corpus.h"
#include "support/dump.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"
#include "support/writing.h"

/* Selection of events: all if `each` is 0, else the first of each `each`; none after the first
 * `limit`. */
struct selection {
    unsigned each;
    uint64_t limit;
};

static bool is_selected(const struct selection *selection, uint64_t i)
{
    return i < selection->limit && (selection->each == 0 || i % selection->each == 0);
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

/* Stores the indices of the selected events of a batch in `pick`. */
static void select_events(ttr_batch *batch, const struct selection *selection, uint64_t *seen,
                          uint32_t *pick)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = &batch->event[i];
        bool is_event = event->kind != TTR_KIND_DEFINITION && event->kind != TTR_KIND_GAP;
        if (!is_event || is_selected(selection, (*seen)++))
            pick[n++] = i;
    }
    batch->pick = pick;
    batch->n = n;
}

/* Copies the selected events. Reading stops as soon as the limit is reached. */
static void copy_selected(const void *bytes, size_t n, const struct selection *selection,
                          struct buffer *to)
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
    while (seen < selection->limit && ttr_read(reader, &batch, &error) == TTR_OK) {
        select_events(&batch, selection, &seen, pick);
        assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
    }
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    ttr_close(reader);
    ttr_free(t);
}

/* Appends a dump line, up to `next`, without the sequence number; skips gaps. */
static void add_line(struct buffer *to, const char *line, const char *next,
                     const struct selection *selection, uint64_t *i)
{
    const char *fields = memchr(line, '{', (size_t)(next - line)), *cut = line;
    if (memcmp(line, "gap ", 4) == 0 || !fields || !is_selected(selection, (*i)++))
        return;
    while (cut < fields && memcmp(cut, " seq=", 5) != 0)
        cut++;
    const char *following = cut < fields ? memchr(cut + 1, ' ', (size_t)(next - cut - 1)) : fields;
    buffer_add(to, line, (size_t)(cut - line));
    buffer_add(to, following, (size_t)(next - following));
}

/* Returns the dump lines of the selected events, without gaps and sequence numbers. */
static void dump_selected(const void *bytes, size_t n, const struct selection *selection,
                          struct buffer *to, uint64_t *damage)
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
        add_line(to, line, next, selection, &i);
    }
    buffer_add_byte(to, 0);
    dump_free(&dump);
    ttr_close(reader);
    ttr_free(t);
}

static const struct selection all = {.each = 0, .limit = UINT64_MAX};

/* Checks that a copy has the selected events and no damage. */
static void check_selected_copy(const char *name, const struct hexa *trace,
                                const struct selection *selection)
{
    struct buffer copied, expected, found;
    uint64_t damage;
    copy_selected(trace->bytes, trace->n, selection, &copied);
    dump_selected(trace->bytes, trace->n, selection, &expected, &damage);
    dump_selected(copied.bytes, copied.n, &all, &found, &damage);
    if (damage)
        fail_msg("%s, one of %u: the copy is damaged", name, selection->each);
    if (strcmp((char *)expected.bytes, (char *)found.bytes) != 0)
        fail_msg("%s, one of %u:\n%.2000s--- became\n%.2000s", name, selection->each,
                 (char *)expected.bytes, (char *)found.bytes);
    buffer_free(&copied);
    buffer_free(&expected);
    buffer_free(&found);
}

static uint64_t damage_of(const struct hexa *trace)
{
    struct buffer lines;
    uint64_t damage;
    dump_selected(trace->bytes, trace->n, &all, &lines, &damage);
    buffer_free(&lines);
    return damage;
}

/* A trace without an end mark gets one, so its copy may be longer. */
static void check_identical(const char *name, const struct hexa *trace)
{
    struct buffer copied;
    copy_selected(trace->bytes, trace->n, &all, &copied);
    bool is_same = copied.n >= trace->n && copied.n <= trace->n + 4 &&
                   memcmp(copied.bytes, trace->bytes, trace->n) == 0;
    bool has_end = copied.n == trace->n;
    for (size_t i = trace->n; is_same && i < copied.n; i++)
        has_end = copied.bytes[i] <= 1;
    if (!is_same || !has_end)
        fail_msg("%s: %zu bytes became %zu", name, trace->n, copied.n);
    buffer_free(&copied);
}

static void check_unfiltered_copy(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    if (damage_of(trace) == 0)
        check_identical(name, trace);
}

static void check_filtered_copies(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    for (unsigned each = 2; each < 5; each++)
        check_selected_copy(name, trace, &(struct selection){.each = each, .limit = UINT64_MAX});
    check_selected_copy(name, trace, &(struct selection){.each = 1000, .limit = UINT64_MAX});
}

static void check_limited_copies(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    for (uint64_t limit = 1; limit < 6; limit++)
        check_selected_copy(name, trace, &(struct selection){.limit = limit});
}

static void check_damaged_copy(const char *name, const struct hexa *trace, const char *format)
{
    (void)format;
    check_selected_copy(name, trace, &all);
}

static void unfiltered_copy_is_identical(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_unfiltered_copy);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_unfiltered_copy);
}

static void filtered_copy_has_selected_events(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_filtered_copies);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_filtered_copies);
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_filtered_copies);
}

static void copy_with_limit_has_first_events(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_limited_copies);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_limited_copies);
}

static void copy_of_damaged_trace_has_no_damage(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_damaged_copy);
}

/* Filtered events must not be reported as lost: sequence numbers of later events are reduced. */
static void filtered_copy_reports_no_loss(void **state)
{
    struct hexa hexa;
    struct buffer copied;
    (void)state;
    vectors_load(&hexa, "src/formats/nettrace/vectors/plain.hexa");
    copy_selected(hexa.bytes, hexa.n, &(struct selection){.each = 2, .limit = UINT64_MAX}, &copied);
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

/* A builder event written into a copy is counted as a loss. */
static void event_of_other_source_in_copy_is_counted(void **state)
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

/* Returns whether a copy of some events succeeds while allocation `fail_at` fails. Any other error
 * than TTR_E_NOMEM fails the test. */
static bool copy_with_failing_allocation(const struct hexa *hexa, size_t fail_at)
{
    struct support_heap heap;
    struct buffer to;
    ttr_batch batch;
    ttr_error error = {0};
    uint32_t pick[1024];
    uint64_t seen = 0;
    const struct selection half = {.each = 2, .limit = UINT64_MAX};
    support_heap_init(&heap, fail_at);
    buffer_init(&to, alloc_default());
    ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
    ttr_read_options reading = {
        .size = sizeof reading, .flags = TTR_READ_DEFINITIONS, .from = "nettrace"};
    ttr *t = ttr_new(&options);
    ttr_reader *reader =
        t ? ttr_open_memory(t, hexa->bytes, hexa->n, "trace", &reading, &error) : NULL;
    ttr_writer *writer =
        reader ? ttr_create_push(t, writing_to_buffer, &to, "nettrace", NULL, &error) : NULL;
    ttr_status status = writer ? TTR_OK : TTR_E_NOMEM;
    while (status == TTR_OK && (status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        select_events(&batch, &half, &seen, pick);
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

static void check_failing_allocations(const char *name, const struct hexa *trace,
                                      const char *format)
{
    (void)name, (void)format;
    for (size_t at = 1; copy_with_failing_allocation(trace, at); at++)
        continue;
}

static void copy_without_memory_fails_without_leak(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_failing_allocations);
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_failing_allocations);
}

/* --- Recorded traces --- */

static void check_recorded_copy(const char *name, const char *path)
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
    copy_selected(bytes.bytes, bytes.n, &all, &copied);
    if (copied.n != bytes.n || memcmp(copied.bytes, bytes.bytes, bytes.n) != 0)
        fail_msg("%s: the copy is another", name);
    buffer_free(&copied);
    check_selected_copy(name, &(struct hexa){.bytes = bytes.bytes, .n = bytes.n},
                        &(struct selection){.each = 3, .limit = UINT64_MAX});
    buffer_free(&bytes);
}

static void copy_of_recorded_trace_is_identical(void **state)
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
            check_recorded_copy(names[i], path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unfiltered_copy_is_identical),
        cmocka_unit_test(filtered_copy_has_selected_events),
        cmocka_unit_test(copy_with_limit_has_first_events),
        cmocka_unit_test(copy_of_damaged_trace_has_no_damage),
        cmocka_unit_test(filtered_copy_reports_no_loss),
        cmocka_unit_test(event_of_other_source_in_copy_is_counted),
        cmocka_unit_test(copy_without_memory_fails_without_leak),
        cmocka_unit_test(copy_of_recorded_trace_is_identical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
