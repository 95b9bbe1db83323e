/* Traces that are folders, from opening to writing, with a minimal format (little.h). */
#include "support/little.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/files.h"
#include "support/support.h"

static char place[32];

static const char *in_place(const char *name)
{
    static char path[4][256];
    static unsigned at;
    at = (at + 1) % 4;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", place, name);
    return path[at];
}

static int make_place(void **state)
{
    (void)state;
    (void)snprintf(place, sizeof place, "/tmp/ttr-little-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int drop_place(void **state)
{
    (void)state;
    return files_remove(place);
}

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(in_place(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(in_place(name), 0700), 0);
}

/* Writes the bytes of a file of n records at first, first + step, ...; their values are their
 * times. */
static size_t make_stream(uint8_t *bytes, uint64_t first, uint64_t step, size_t n)
{
    uint8_t *at = bytes + LITTLE_HEAD;
    memcpy(bytes, LITTLE_MAGIC, LITTLE_HEAD);
    for (size_t i = 0; i < n; i++)
        at = little_record(at, first + step * i, i % 3 == 2 ? 1 : 0, first + step * i);
    return (size_t)(at - bytes);
}

static void write_stream(const char *name, uint64_t first, uint64_t step, size_t n)
{
    static uint8_t bytes[LITTLE_HEAD + 100000 * LITTLE_RECORD];
    assert_true(n <= 100000);
    write_bytes(name, bytes, make_stream(bytes, first, step, n));
}

/* Writes a trace with files a.bin at 0, 20, ... and b.bin at 10, 30, ..., and files that must be
 * ignored. */
static void write_trace(const char *folder, size_t n)
{
    char name[128];
    make_folder(folder);
    (void)snprintf(name, sizeof name, "%s/little.txt", folder);
    write_bytes(name, LITTLE_MAIN_FILE, sizeof LITTLE_MAIN_FILE - 1);
    (void)snprintf(name, sizeof name, "%s/a.bin", folder);
    write_stream(name, 0, 20, n);
    (void)snprintf(name, sizeof name, "%s/b.bin", folder);
    write_stream(name, 10, 20, n);
    (void)snprintf(name, sizeof name, "%s/index", folder);
    make_folder(name);
    (void)snprintf(name, sizeof name, "%s/index/a.bin.idx", folder);
    write_bytes(name, "junk", 4);
}

/* The result of reading a trace. */
struct seen {
    size_t events, definitions, raw;
    int64_t first, last;
    bool is_ordered;
    ttr_status ending;
    ttr_error error;
};

static struct seen read_all(ttr *t, ttr_reader *reader)
{
    struct seen seen = {.is_ordered = true, .first = INT64_MAX, .last = INT64_MIN};
    ttr_batch batch;
    ttr_field field;
    while ((seen.ending = ttr_read(reader, &batch, &seen.error)) == TTR_OK) {
        assert_true(batch.n > 0);
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            seen.raw += (event->flags & TTR_EVENT_RAW) != 0;
            seen.definitions += event->kind == TTR_KIND_DEFINITION;
            if (event->kind == TTR_KIND_DEFINITION)
                continue;
            assert_true(ttr_field_find(t, event, "value", &field));
            assert_int_equal(field.value.v.u, event->time);
            seen.is_ordered = seen.is_ordered && event->time >= seen.last;
            seen.first = event->time < seen.first ? event->time : seen.first;
            seen.last = event->time;
            seen.events++;
        }
    }
    return seen;
}

/* Opens, reads and closes a trace. Fails the test if it cannot be opened. */
static struct seen read_path(const char *path, const ttr_read_options *options)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_reader *reader = ttr_open(t, path, options, &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    struct seen seen = read_all(t, reader);
    ttr_close(reader);
    ttr_free(t);
    return seen;
}

static void assert_refused(const char *path, ttr_status status, const char *text)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    assert_null(ttr_open(t, path, NULL, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.text, text))
        fail_msg("%s", error.text);
    ttr_free(t);
}

/* --- Opening --- */

static void a_folder_is_opened_by_its_path_by_its_main_file_and_by_where_one_stands(void **state)
{
    (void)state;
    write_trace("trace", 1000);
    const char *const paths[] = {in_place("trace"), in_place("trace/"),
                                 in_place("trace/little.txt")};
    for (size_t i = 0; i < 3; i++) {
        struct seen seen = read_path(paths[i], NULL);
        assert_int_equal(seen.ending, TTR_END);
        assert_int_equal(seen.events, 2000);
        assert_true(seen.is_ordered);
    }
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in_place("trace")), 0);
    assert_int_equal(read_path(".", NULL).events, 2000);
    assert_int_equal(read_path("little.txt", NULL).events, 2000);
    assert_int_equal(read_path("b.bin", NULL).events, 1000);
    assert_int_equal(chdir(before), 0);
}

static void one_file_beside_an_main_file_is_read_alone(void **state)
{
    (void)state;
    write_trace("trace", 1000);
    struct seen seen = read_path(in_place("trace/b.bin"), NULL);
    assert_int_equal(seen.events, 1000);
    assert_int_equal(seen.first, 10);
    seen = read_path(in_place("trace/b.bin"),
                     &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "little"});
    assert_int_equal(seen.events, 1000);
}

static void another_format_beside_an_main_file_is_opened_as_what_it_is(void **state)
{
    (void)state;
    write_trace("trace", 10);
    write_bytes("trace/x.fxt", "\x10\x00\x04\x46\x78\x54\x16\x00", 8);
    struct seen seen = read_path(in_place("trace/x.fxt"), NULL);
    assert_int_equal(seen.events, 0);
    assert_int_equal(seen.ending, TTR_END);
    write_bytes("trace/notes", "no trace", 8);
    assert_refused(in_place("trace/notes"), TTR_E_UNSUPPORTED, "looks like text");
}

static void one_file_without_its_main_file_is_refused_and_told_what_is_missing(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    uint8_t bytes[LITTLE_HEAD + 3 * LITTLE_RECORD];
    size_t n = make_stream(bytes, 0, 1, 3);
    write_bytes("alone.bin", bytes, n);
    assert_refused(in_place("alone.bin"), TTR_E_UNSUPPORTED, "little.txt");
    assert_null(ttr_open_memory(t, bytes, n, "standard input", NULL, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "standard input alone is no little trace"));
    assert_null(ttr_open_memory(
        t, bytes, n, "x", &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "little"},
        &error));
    ttr_free(t);
}

static void an_main_file_that_bids_for_nothing_makes_no_trace_but_with_from(void **state)
{
    (void)state;
    ttr_read_options options = {.size = sizeof options, .from = "little"};
    write_trace("trace", 10);
    write_bytes("trace/little.txt", "something else", 14);
    assert_refused(in_place("trace/little.txt"), TTR_E_UNSUPPORTED, "not a trace");
    assert_int_equal(read_path(in_place("trace"), &options).events, 20);
    assert_int_equal(read_path(in_place("trace/little.txt"), &options).events, 20);
}

static void files_in_memory_are_a_trace_too(void **state)
{
    (void)state;
    uint8_t bytes[LITTLE_HEAD + 3 * LITTLE_RECORD];
    size_t n = make_stream(bytes, 5, 1, 3);
    const ttr_file files[] = {{"x.bin", bytes, n},
                              {"little.txt", LITTLE_MAIN_FILE, sizeof LITTLE_MAIN_FILE - 1},
                              {"index/x.bin", "junk", 4}};
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_reader *reader = ttr_open_files(t, "bytes", files, 3, NULL, &error);
    assert_non_null(reader);
    struct seen seen = read_all(t, reader);
    assert_int_equal(seen.events, 3);
    assert_int_equal(seen.first, 5);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_string_equal(report.path.p, "bytes/x.bin");
    ttr_close(reader);
    assert_null(ttr_open_files(t, "bytes", files, 1, NULL, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_null(ttr_open_files(t, "bytes", NULL, 0, NULL, &error));
    assert_null(
        ttr_open_files(t, "bytes", files, 3, &(ttr_read_options){.from = "little"}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_open_files(t, "bytes", files, 3,
                               &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "x"},
                               &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

/* --- Directories --- */

static void all_traces_below_a_directory_are_one_time_line(void **state)
{
    (void)state;
    make_folder("session");
    make_folder("session/ust");
    make_folder("session/ust/uid");
    make_folder("session/.hidden");
    make_folder("session/index");
    write_trace("session/kernel", 100);
    write_trace("session/ust/uid/64-bit", 50);
    write_trace("session/.hidden/trace", 7);
    write_bytes("session/index/a.bin.idx", "junk", 4);
    write_trace("session/kernel/inner", 7); /* inside a trace, no other trace is searched for */
    write_bytes("session/notes", "no trace", 8);
    write_bytes("session/ust/x.fxt", "\x10\x00\x04\x46\x78\x54\x16\x00", 8);
    assert_int_equal(
        symlink("..", in_place("session/loop")) | symlink("kernel", in_place("session/again")), 0);
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_reader *reader = ttr_open(t, in_place("session"), NULL, &error);
    if (!reader)
        fail_msg("%s", error.text);
    struct seen seen = read_all(t, reader);
    assert_int_equal(seen.events, 300);
    assert_true(seen.is_ordered);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 4, &report));
    assert_false(ttr_reader_report(reader, 5, &report));
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(report.notes_n, 2);
    assert_string_equal(report.notes[0].code, "directory.passed-over");
    assert_non_null(strstr(report.notes[0].text, "session/notes is not a trace"));
    assert_string_equal(report.notes[1].code, "directory.link"); /* "loop" leaves the directory */
    ttr_close(reader);
    ttr_free(t);
}

static void folders_deeper_than_eight_levels_are_told_not_read(void **state)
{
    (void)state;
    char path[64] = "d";
    make_folder("d");
    write_trace("d/trace", 1);
    for (int i = 0; i < 8; i++) {
        (void)strncat(path, "/d", 3);
        make_folder(path);
    }
    (void)strncat(path, "/t", 3);
    write_trace(path, 1);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(t, in_place("d"), NULL, NULL);
    assert_non_null(reader);
    assert_int_equal(read_all(t, reader).events, 2);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(report.notes_n, 1);
    assert_string_equal(report.notes[0].code, "directory.too-deep");
    assert_int_equal(report.notes[0].severity, TTR_SEVERITY_ODD);
    assert_non_null(strstr(report.notes[0].text, "/t is deeper than 8 levels"));
    ttr_close(reader);
    assert_int_equal(read_path(in_place("d/d"), NULL).events, 2);
    ttr_free(t);
}

static void a_trace_of_a_directory_that_cannot_be_read_is_an_error_that_names_it(void **state)
{
    (void)state;
    make_folder("session");
    write_trace("session/good", 10);
    write_trace("session/bad", 10);
    write_bytes("session/bad/a.bin", "not little", 10);
    struct seen seen = read_path(
        /* the error is found while reading: the other traces are read to their ends */
        in_place("session"), NULL);
    assert_int_equal(seen.ending, TTR_E_MALFORMED);
    assert_int_equal(seen.events, 30);
}

/* --- Reading --- */

static void files_of_one_trace_keep_their_definitions_and_raw_records(void **state)
{
    (void)state;
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_DEFINITIONS};
    write_trace("trace", 100);
    struct seen seen = read_path(in_place("trace"), &options);
    assert_int_equal(seen.definitions, 2);
    assert_int_equal(seen.raw, 202);
    make_folder("two");
    write_trace("two/b", 100);
    write_bytes("two/x.fxt", "\x10\x00\x04\x46\x78\x54\x16\x00", 8);
    seen = read_path(in_place("two"), &options);
    assert_int_equal(seen.events, 200);
    assert_int_equal(seen.definitions, 0);
    assert_int_equal(seen.raw, 0);
}

static uint64_t looked_at(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    uint64_t events = 0;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        events += report.events;
    return events;
}

static void a_range_reaches_the_format_through_merge_filter_and_sort(void **state)
{
    (void)state;
    write_trace("trace", 50000); /* times 0 to 1,000,000 */
    for (int64_t offset = 0; offset <= 5000000; offset += 5000000) {
        ttr *t = ttr_new(NULL);
        ttr_filter filter;
        ttr_read_options options = {.size = sizeof options, .time_offset = offset};
        ttr_filter_init(&filter);
        filter.from_ns = offset + 900000;
        filter.to_ns = offset + 900101;
        ttr_reader *in[] = {ttr_open(t, in_place("trace"), &options, NULL),
                            ttr_open(t, in_place("trace/a.bin"), &options, NULL)};
        ttr_reader *reader =
            ttr_filter_new(ttr_sort(ttr_merge(t, in, 2, NULL), NULL), &filter, NULL);
        ttr_batch batch;
        size_t events = 0;
        while (ttr_read(reader, &batch, NULL) == TTR_OK)
            events += batch.n;
        assert_int_equal(events, 11 + 6);
        assert_in_range(looked_at(reader), 17, 400);
        ttr_close(reader);
        filter.invert = true;
        reader =
            ttr_filter_new(ttr_open(t, in_place("trace/a.bin"), &options, NULL), &filter, NULL);
        for (events = 0; ttr_read(reader, &batch, NULL) == TTR_OK;)
            events += batch.n;
        assert_int_equal(events, 50000 - 6);
        ttr_close(reader);
        ttr_free(t);
    }
}

static void a_range_after_the_first_read_is_without_effect_on_the_format(void **state)
{
    (void)state;
    write_trace("trace", 10000);
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_batch batch;
    ttr_filter_init(&filter);
    filter.from_ns = 100000;
    ttr_reader *in = ttr_open(t, in_place("trace"), NULL, NULL);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    ttr_reader *reader = ttr_filter_new(in, &filter, NULL);
    size_t events = 0;
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        events += batch.n;
    assert_int_equal(events, 10000);
    assert_int_equal(looked_at(reader), 20000);
    ttr_close(reader);
    ttr_free(t);
}

static void hundreds_of_files_take_bounded_memory_and_come_in_order(void **state)
{
    (void)state;
    enum { FILES = 512 };
    char name[64];
    struct support_heap heap;
    make_folder("trace");
    write_bytes("trace/little.txt", LITTLE_MAIN_FILE, sizeof LITTLE_MAIN_FILE - 1);
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "trace/%u.bin", i);
        write_stream(name, i * 7, FILES * 7, 200);
    }
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .user_data = heap.alloc.ctx});
    ttr_reader *reader = ttr_open(t, in_place("trace"), NULL, NULL);
    struct seen seen = read_all(t, reader);
    assert_int_equal(seen.events, FILES * 200);
    assert_true(seen.is_ordered);
    ttr_close(reader);
    ttr_free(t);
    support_heap_check(&heap);
    /* A window of 4.8 KiB, a batch of 8 KiB and small objects for each file. */
    if (heap.peak > (10 << 20))
        fail_msg("%zu bytes", heap.peak);
}

/* --- Writing --- */

/* Converts a trace. Returns the status of the first call that failed. */
static ttr_status convert(const char *from, const char *to, uint32_t read_flags,
                          const ttr_write_options *how, ttr_error *error)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(
        t, from, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = read_flags}, error);
    assert_non_null(reader);
    ttr_writer *writer = ttr_create(t, to, "little", how, error);
    ttr_status status = writer ? ttr_copy(reader, writer, NULL, NULL, error) : error->status;
    if (writer && status == TTR_OK)
        status = ttr_finish(writer, error);
    else
        ttr_writer_abort(writer);
    ttr_close(reader);
    ttr_free(t);
    return status;
}

static bool is_same_file(const char *a, const char *b)
{
    char left[70000], right[70000];
    FILE *one = fopen(a, "r"), *two = fopen(b, "r");
    assert_true(one && two);
    size_t n = fread(left, 1, sizeof left, one), m = fread(right, 1, sizeof right, two);
    (void)fclose(one);
    (void)fclose(two);
    return n == m && memcmp(left, right, n) == 0;
}

static void a_copy_of_a_trace_is_the_same_file_by_file(void **state)
{
    (void)state;
    ttr_error error = {0};
    write_trace("trace", 1000);
    assert_int_equal(
        convert(in_place("trace"), in_place("copy"), TTR_READ_DEFINITIONS, NULL, &error), TTR_OK);
    assert_true(is_same_file(in_place("trace/a.bin"), in_place("copy/a.bin")));
    assert_true(is_same_file(in_place("trace/b.bin"), in_place("copy/b.bin")));
    assert_true(is_same_file(in_place("trace/little.txt"), in_place("copy/little.txt")));
}

static void an_existing_trace_is_replaced_only_when_asked_and_nothing_else_ever(void **state)
{
    (void)state;
    ttr_error error = {0};
    ttr_write_options over = {.size = sizeof over, .flags = TTR_WRITE_OVERWRITE};
    write_trace("trace", 10);
    write_trace("old", 20);
    make_folder("other");
    write_bytes("other/thesis", "years", 5);
    assert_int_equal(convert(in_place("trace"), in_place("old"), 0, NULL, &error), TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    assert_int_equal(convert(in_place("trace"), in_place("old"), 0, &over, &error), TTR_OK);
    assert_int_equal(read_path(in_place("old"), NULL).events, 20);
    assert_int_equal(convert(in_place("trace"), in_place("other"), 0, &over, &error), TTR_E_MISUSE);
    assert_int_equal(access(in_place("other/thesis"), F_OK), 0);
}

static void a_stream_of_bytes_is_no_target_for_a_folder(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    assert_null(ttr_create(t, "-", "little", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "a little trace is a folder"));
    error.status = TTR_OK;
    assert_null(ttr_create_push(t, NULL, NULL, "little", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

static void nowhere_takes_everything_and_counts_it(void **state)
{
    (void)state;
    static const char *const formats[] = {"little", "jsonl"};
    write_trace("trace", 100);
    for (int i = 0; i < 2; i++) {
        ttr *t = ttr_new(NULL);
        ttr_error error = {0};
        ttr_reader *reader = ttr_open(t, in_place("trace"), NULL, &error);
        ttr_writer *writer = ttr_create(t, NULL, formats[i], NULL, &error);
        assert_null(ttr_writer_temporary_path(writer));
        assert_int_equal(ttr_copy(reader, writer, NULL, NULL, &error), TTR_OK);
        assert_int_equal(ttr_writer_events(writer), 200);
        assert_true(ttr_writer_bytes(writer) >= 200 * LITTLE_RECORD);
        assert_int_equal(ttr_writer_end(writer, &error), TTR_OK);
        assert_int_equal(ttr_writer_events(writer), 200);
        assert_true(ttr_writer_bytes(writer) >= 200 * LITTLE_RECORD);
        assert_int_equal(ttr_finish(writer, &error), TTR_OK);
        ttr_close(reader);
        ttr_free(t);
    }
}

static void what_has_ended_is_in_place_and_still_tells_what_was_lost(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const ttr_loss *loss;
    ttr_writer *writer = ttr_create(t, in_place("out"), "little", NULL, &error);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "without a value");
    ttr_event_set_thread(builder, 1, 77);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    assert_int_equal(ttr_writer_end(writer, &error), TTR_OK);
    assert_int_equal(access(in_place("out"), F_OK), 0);
    assert_null(ttr_writer_temporary_path(writer));
    assert_int_equal(ttr_losses(writer, &loss), 1);
    assert_int_equal(loss->count, 1);
    assert_true(ttr_writer_bytes(writer) >= LITTLE_HEAD);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 2, NULL, "too late");
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_flush(writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_writer_end(writer, &error), TTR_OK);
    ttr_writer_abort(writer);
    assert_int_equal(access(in_place("out"), F_OK), 0);
    assert_int_equal(ttr_writer_end(NULL, &error), TTR_E_MISUSE);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void progress_flush_and_the_temporary_folder_are_told_while_writing(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    struct stat about;
    char path[128];
    ttr_writer *writer = ttr_create(t, in_place("out"), "little", NULL, &error);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
    ttr_event_set_thread(builder, 1, 77);
    ttr_add_uint(builder, "value", 1);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    assert_int_equal(ttr_writer_bytes(writer), LITTLE_HEAD + LITTLE_RECORD);
    (void)snprintf(path, sizeof path, "%s/77.bin", ttr_writer_temporary_path(writer));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(ttr_flush(writer, &error), TTR_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, LITTLE_HEAD + LITTLE_RECORD);
    ttr_writer_abort(writer);
    assert_int_equal(stat(path, &about), -1);
    assert_int_equal(rmdir(place), 0); /* the folder is empty again */
    assert_int_equal(mkdir(place, 0700), 0);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void strict_writing_leaves_no_folder_behind_when_something_is_lost(void **state)
{
    (void)state;
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_write_options strict = {.size = sizeof strict, .flags = TTR_WRITE_STRICT};
    ttr_writer *writer = ttr_create(t, in_place("out"), "little", &strict, &error);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "without a value");
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_LOSS);
    assert_int_equal(ttr_finish(writer, &error), TTR_E_LOSS);
    assert_int_equal(rmdir(place), 0);
    assert_int_equal(mkdir(place, 0700), 0);
    static const char *const options[] = {"wish=no", NULL};
    assert_null(ttr_create(
        t, in_place("out"), "little",
        &(ttr_write_options){.size = sizeof(ttr_write_options), .format_options = options},
        &error));
    assert_int_equal(rmdir(place), 0);
    assert_int_equal(mkdir(place, 0700), 0);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void the_list_of_formats_says_which_are_folders_and_want_order(void **state)
{
    (void)state;
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        bool is_little = strcmp(info.name, "little") == 0;
        if (is_little || strcmp(info.name, "fxt") == 0)
            assert_int_equal((info.abilities & TTR_FORMAT_FOLDER) &&
                                 (info.abilities & TTR_FORMAT_ORDERED),
                             is_little);
        if (is_little)
            assert_string_equal(info.main_file, "little.txt");
        else if (strcmp(info.name, "fxt") == 0 ||
                 strcmp(info.name, "perf") ==
                     0) /* a perf folder may have files that are not part of the trace */
            assert_null(info.main_file);
    }
}

static bool converts_through(const struct alloc *alloc)
{
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = alloc->resize, .user_data = alloc->ctx});
    ttr_error error = {0};
    if (!t)
        return false;
    ttr_reader *reader = ttr_open(t, in_place("trace"), NULL, &error);
    ttr_writer *writer = reader ? ttr_create(t, in_place("out"), "little", NULL, &error) : NULL;
    ttr_status status = writer ? ttr_copy(reader, writer, NULL, NULL, &error) : TTR_E_NOMEM;
    if (writer && status == TTR_OK)
        status = ttr_finish(writer, &error);
    else
        ttr_writer_abort(writer);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    ttr_close(reader);
    ttr_free(t);
    return status == TTR_OK;
}

/* If a batch buffer cannot be allocated, a smaller one is used, so not every refused request is a
 * failure. */
static void each_allocation_may_fail_from_folder_to_folder(void **state)
{
    (void)state;
    size_t failed = 0;
    bool is_through = false;
    write_trace("trace", 10);
    for (size_t fail_at = 1; !is_through; fail_at++) {
        struct support_heap heap;
        support_heap_init(&heap, fail_at);
        is_through = converts_through(&heap.alloc);
        failed += !is_through;
        support_heap_check(&heap);
    }
    assert_true(failed > 20);
    assert_int_equal(read_path(in_place("out"), NULL).events, 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_is_opened_by_its_path_by_its_main_file_and_by_where_one_stands),
        TEST(one_file_beside_an_main_file_is_read_alone),
        TEST(another_format_beside_an_main_file_is_opened_as_what_it_is),
        TEST(one_file_without_its_main_file_is_refused_and_told_what_is_missing),
        TEST(an_main_file_that_bids_for_nothing_makes_no_trace_but_with_from),
        TEST(files_in_memory_are_a_trace_too),
        TEST(all_traces_below_a_directory_are_one_time_line),
        TEST(folders_deeper_than_eight_levels_are_told_not_read),
        TEST(a_trace_of_a_directory_that_cannot_be_read_is_an_error_that_names_it),
        TEST(files_of_one_trace_keep_their_definitions_and_raw_records),
        TEST(a_range_reaches_the_format_through_merge_filter_and_sort),
        TEST(a_range_after_the_first_read_is_without_effect_on_the_format),
        TEST(hundreds_of_files_take_bounded_memory_and_come_in_order),
        TEST(a_copy_of_a_trace_is_the_same_file_by_file),
        TEST(an_existing_trace_is_replaced_only_when_asked_and_nothing_else_ever),
        TEST(a_stream_of_bytes_is_no_target_for_a_folder),
        TEST(nowhere_takes_everything_and_counts_it),
        TEST(what_has_ended_is_in_place_and_still_tells_what_was_lost),
        TEST(progress_flush_and_the_temporary_folder_are_told_while_writing),
        TEST(strict_writing_leaves_no_folder_behind_when_something_is_lost),
        TEST(the_list_of_formats_says_which_are_folders_and_want_order),
        TEST(each_allocation_may_fail_from_folder_to_folder),
    };
    return cmocka_run_group_tests_name("little", tests, NULL, NULL);
}
