/* Directories of traces, with unreadable and unrelated files among them; and directories without a
 * trace. */
#include "support/failing_readdir.h"
#include "support/files.h"
#include "support/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

static char folder[] = "/tmp/tracetta-directory-XXXXXX";

static void path_of(char *path, size_t size, const char *name)
{
    (void)snprintf(path, size, "%s/%s", folder, name);
}

/* Removes files that would change the counts of other tests. */
static void remove_all(const char *const *names, size_t n)
{
    char path[256];
    for (size_t i = 0; i < n; i++) {
        path_of(path, sizeof path, names[i]);
        assert_int_equal(remove(path), 0);
    }
}

/* Writes a trace of three spans. */
static void write_trace(const char *name, const char *format, int64_t first, int64_t step)
{
    char path[256];
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    path_of(path, sizeof path, name);
    ttr_writer *writer = ttr_create(t, path, format, NULL, &error);
    ttr_builder *builder = ttr_builder_new(t);
    if (!writer)
        fail_msg("%s", error.text);
    for (int64_t i = 0; i < 3; i++) {
        ttr_event_begin(builder, TTR_KIND_SPAN, first + step * i, "", name);
        ttr_event_set_thread(builder, 1, 1);
        assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    }
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void write_text(const char *name, const char *text)
{
    char path[256];
    path_of(path, sizeof path, name);
    files_write(path, text);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"b.fxt",
                                        "a.heph",
                                        "notes.txt",
                                        "zebra",
                                        ".hidden",
                                        "empty/file",
                                        "empty/late.fxt",
                                        "empty",
                                        "killed/one/metadata",
                                        "killed/one/stream_0",
                                        "killed/one",
                                        "killed/two/metadata",
                                        "killed/two",
                                        "killed/three/metadata",
                                        "killed/three",
                                        "killed",
                                        "beside/metadata",
                                        "beside/readme",
                                        "beside/a.fxt",
                                        "beside"};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(path, sizeof path, names[i]);
        (void)remove(path);
    }
    return rmdir(folder);
}

static const ttr_diagnostic *find_note(const ttr_report *report, const char *code)
{
    for (size_t i = 0; i < report->notes_n; i++)
        if (strcmp(report->notes[i].code, code) == 0)
            return &report->notes[i];
    return NULL;
}

static void traces_of_directory_merge_by_time(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    char path[256], names[64] = "";
    (void)state;
    write_trace("b.fxt", "fxt", 5, 10);
    write_trace("a.heph", "heph", 10, 10);
    write_text("notes.txt", "no trace at all\n");
    write_text("zebra", "");
    write_text(".hidden", "nor this\n");
    path_of(path, sizeof path, "empty");
    assert_int_equal(mkdir(path, 0700), 0);
    ttr_reader *reader = ttr_open(t, folder, NULL, &error);
    if (!reader)
        fail_msg("%s", error.text);
    int64_t last = INT64_MIN;
    size_t at = 0;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            assert_true(event->time >= last);
            last = event->time;
            if (event->kind == TTR_KIND_SPAN)
                names[at++] = ttr_text_get(t, event->name).p[0];
        }
    assert_string_equal(names, "bababa");
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 1, &report));
    assert_string_equal(report.format, "fxt");
    assert_false(ttr_reader_report(reader, 2, &report));
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_string_equal(report.format, "heph");
    const ttr_diagnostic *note = find_note(&report, "directory.passed-over");
    assert_non_null(note);
    assert_int_equal(note->count, 2);
    assert_int_equal(note->severity, TTR_SEVERITY_REMARK);
    assert_non_null(strstr(note->text, "notes.txt"));
    ttr_close(reader);
    ttr_free(t);
}

static void directory_without_trace_is_unsupported(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    char path[256];
    (void)state;
    path_of(path, sizeof path, "empty");
    assert_null(ttr_open(t, path, NULL, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "(0 files"));
    write_text("empty/file", "x");
    assert_null(ttr_open(t, path, NULL, &error));
    assert_non_null(strstr(error.text, "(1 file looked"));
    ttr_free(t);
}

static void directory_with_failing_readdir_is_io_error(void **state)
{
    (void)state;
    char path[4096];
    ttr_error error;
    ttr *t = ttr_new(NULL);
    path_of(path, sizeof path, "half");
    assert_int_equal(mkdir(path, 0700), 0);
    write_trace("half/a.fxt", "fxt", 10, 1);
    write_trace("half/b.fxt", "fxt", 10, 1);
    for (readdir_fails_at = 1; readdir_fails_at <= 5; readdir_fails_at++) {
        readdir_calls = 0;
        assert_null(ttr_open(t, path, NULL, &error));
        assert_int_equal(error.status, TTR_E_IO);
        assert_int_equal(error.sys, EIO);
    }
    readdir_fails_at = 0;
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    assert_non_null(reader);
    ttr_close(reader);
    ttr_free(t);
    remove_all((const char *const[]){"half/a.fxt", "half/b.fxt", "half"}, 3);
}

static void empty_metadata_next_to_streams_is_damage(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    char path[256];
    (void)state;
    const char *const below[] = {"killed", "killed/one", "killed/two", "killed/three"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        path_of(path, sizeof path, below[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_text("killed/one/metadata", "");
    write_text("killed/one/stream_0", "events");
    write_text("killed/two/metadata", ""); /* it has no other files, so nothing is lost */
    path_of(path, sizeof path, "killed");
    assert_null(ttr_open(t, path, NULL, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text,
                           "killed/one/metadata is empty (a tracer that still records may not have "
                           "written it yet), so that the files beside it cannot be read"));
    write_text("killed/three/metadata",
               "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };");
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    assert_non_null(reader);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_END);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    const ttr_diagnostic *note = find_note(&report, "directory.bad-main-file");
    assert_non_null(note);
    assert_int_equal(note->count, 1);
    assert_int_equal(note->severity, TTR_SEVERITY_DAMAGE);
    /* path of the folder with files that cannot be read */
    assert_non_null(strstr(report.trace_path.p, "killed/one"));
    assert_true(ttr_reader_report(reader, 1, &report));
    assert_non_null(strstr(report.trace_path.p, "killed/three"));
    assert_null(find_note(&report, "directory.bad-main-file"));
    ttr_close(reader);
    assert_null(ttr_open(
        t, path, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = TTR_READ_STRICT},
        &error));
    assert_int_equal(error.status, TTR_E_MALFORMED);
    assert_non_null(strstr(error.text, "killed/one/metadata is empty"));
    ttr_free(t);
    path_of(path, sizeof path, "killed/three/metadata");
    assert_int_equal(remove(path), 0);
}

static void empty_metadata_next_to_traces_is_ignored(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    char path[256];
    static const char *const files[] = {"beside/metadata", "beside/readme", "beside/a.fxt",
                                        "beside"};
    (void)state;
    path_of(path, sizeof path, "beside");
    assert_int_equal(mkdir(path, 0700), 0);
    write_text("beside/metadata", "");
    write_text("beside/readme", "what is here");
    write_trace("beside/a.fxt", "fxt", 50, 0);
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    assert_non_null(reader);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_null(find_note(&report, "directory.bad-main-file"));
    assert_int_equal(report.damage_regions, 0);
    ttr_close(reader);
    ttr_free(t);
    remove_all(files, sizeof files / sizeof *files);
}

static void single_trace_is_sorted_by_time(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    char path[256];
    int64_t last = INT64_MIN;
    uint32_t spans = 0;
    (void)state;
    write_trace("empty/late.fxt", "fxt", 50, -20);
    path_of(path, sizeof path, "empty");
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            assert_true(ttr_batch_at(&batch, i)->time >= last);
            last = ttr_batch_at(&batch, i)->time;
            spans += ttr_batch_at(&batch, i)->kind == TTR_KIND_SPAN;
        }
    assert_int_equal(spans, 3);
    ttr_close(reader);
    ttr_free(t);
}

/* Counts the events of a trace with useless metadata, replaced by the option ctf.metadata, in a
 * folder on disk or in memory. Returns UINT64_MAX if it cannot be opened as one trace without
 * damage. */
static uint64_t count_events_with_replaced_metadata(const struct alloc *alloc, bool is_in_memory)
{
    static const ttr_file files[] = {{"metadata", "garbage", 7},
                                     {"s", "\xc1\x1f\xfc\xc1\x01\x02", 6},
                                     {"t", "\xc1\x1f\xfc\xc1\x03", 5}};
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = alloc->resize, .user_data = alloc->ctx});
    ttr_batch batch;
    char path[256], option[300];
    uint64_t events = 0;
    path_of(path, sizeof path, "other");
    (void)snprintf(option, sizeof option, "ctf.metadata=%s", path);
    const char *const options[] = {option, NULL};
    const ttr_read_options how = {.size = sizeof how, .format_options = options};
    path_of(path, sizeof path, "killed");
    ttr_reader *reader = NULL;
    if (t)
        reader = is_in_memory ? ttr_open_files(t, "made", files, 3, &how, NULL)
                              : ttr_open(t, path, &how, NULL);
    ttr_report one = {.size = sizeof one}, two = {.size = sizeof two};
    const bool is_there =
        reader && ttr_reader_report(reader, 0, &one) && ttr_reader_report(reader, 1, &two);
    while (is_there && ttr_read(reader, &batch, NULL) == TTR_OK)
        events += batch.n;
    const bool is_one =
        is_there && one.trace == two.trace && one.damage_regions == 0 && two.damage_regions == 0;
    ttr_close(reader);
    ttr_free(t);
    return is_one ? events : UINT64_MAX;
}

static void metadata_option_replaces_useless_metadata(void **state)
{
    char path[256];
    static const char *const names[] = {"killed/metadata", "killed/s", "killed/t", "killed",
                                        "other"};
    (void)state;
    path_of(path, sizeof path, "killed");
    (void)mkdir(path, 0700);
    write_text("other", "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8; typealias "
                        "integer { size = 32; align = 8; } := u32;"
                        "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { "
                        "u32 magic; }; }; event { name = e; fields := struct { u8 x; }; };");
    write_text("killed/metadata", "garbage");
    write_text("killed/s", "\xc1\x1f\xfc\xc1\x01\x02");
    write_text("killed/t", "\xc1\x1f\xfc\xc1\x03");
    for (int is_in_memory = 0; is_in_memory < 2; is_in_memory++) {
        size_t through = 0;
        for (size_t fail_at = 1; through < 20; fail_at++) {
            struct support_heap heap;
            support_heap_init(&heap, fail_at);
            through += count_events_with_replaced_metadata(&heap.alloc, is_in_memory) == 3;
            support_heap_check(&heap);
            assert_true(fail_at < 2000);
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* other tests count the files */
        path_of(path, sizeof path, names[i]);
        (void)remove(path);
    }
}

static bool opens_through(const struct alloc *alloc, const char *path)
{
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = alloc->resize, .user_data = alloc->ctx});
    ttr_error error = {0};
    ttr_batch batch;
    if (!t)
        return false;
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    ttr_status status = reader ? TTR_OK : error.status;
    while (status == TTR_OK)
        status = ttr_read(reader, &batch, &error);
    ttr_close(reader);
    ttr_free(t);
    return status == TTR_END;
}

/* Opens a directory with every allocation failing once. Notes without memory lose only their text,
 * so not every failure is visible; nothing may leak. */
static void assert_opens_in_any_memory(const char *path)
{
    size_t through = 0, failed = 0;
    for (size_t fail_at = 1; through < 20; fail_at++) {
        struct support_heap heap;
        support_heap_init(&heap, fail_at);
        bool is_through = opens_through(&heap.alloc, path);
        through += is_through;
        failed += !is_through;
        support_heap_check(&heap);
    }
    assert_true(failed > 20);
}

/* Asserts that the i-th report represents an unreadable trace with this reason. */
static void assert_unreadable(ttr_reader *reader, size_t i, const char *path, const char *reason)
{
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, i, &report));
    const ttr_diagnostic *note = find_note(&report, "trace.unreadable");
    assert_non_null(note);
    assert_int_equal(note->severity, TTR_SEVERITY_DAMAGE);
    assert_int_equal(report.damage_regions, 1);
    assert_non_null(strstr(report.trace_path.p, path));
    assert_non_null(strstr(note->text, reason));
}

static void unreadable_input_among_others_is_damage_in_its_place(void **state)
{
    static const char *const below[] = {"mixed", "mixed/bad"};
    static const char *const names[] = {"mixed/b.fxt", "mixed/bad/metadata", "mixed/bad",
                                        "mixed/c.gz",  "mixed/link",         "mixed"};
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        path_of(path, sizeof path, below[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_text("mixed/bad/metadata", "/* CTF 1.8 */ trace {");
    write_text("mixed/c.gz", "\x1f\x8b\x08");
    path_of(path, sizeof path, "mixed/link");
    assert_int_equal(symlink("nowhere", path), 0);
    path_of(path, sizeof path, "mixed");
    assert_null(ttr_open(t, path, NULL, &error)); /* nothing else can be read yet */
    assert_non_null(strstr(error.text, "mixed/bad/metadata:1:"));
    write_trace("mixed/b.fxt", "fxt", 5, 10);
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    if (!reader)
        fail_msg("%s", error.text);
    uint32_t events = 0;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        events += batch.n;
    assert_int_equal(events, 3);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_string_equal(report.format, "fxt");
    const ttr_diagnostic *note = find_note(&report, "directory.no-file");
    assert_non_null(note);
    assert_int_equal(note->severity, TTR_SEVERITY_ODD);
    assert_unreadable(reader, 1, "mixed/bad", "mixed/bad/metadata:1:");
    assert_unreadable(reader, 2, "mixed/c.gz", "gzip data ends too early");
    assert_false(ttr_reader_report(reader, 3, &report));
    ttr_close(reader);
    assert_null(ttr_open(
        t, path, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = TTR_READ_STRICT},
        &error));
    assert_opens_in_any_memory(path);
    ttr_free(t);
    remove_all(names, sizeof names / sizeof *names);
}

static void unknown_format_option_fails_directory(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_read_options options = {.size = sizeof options, .from = "nonsense"};
    (void)state;
    assert_null(ttr_open(t, folder, &options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

static void failed_allocation_leaks_nothing(void **state)
{
    (void)state;
    assert_opens_in_any_memory(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_of_directory_merge_by_time),
        cmocka_unit_test(directory_without_trace_is_unsupported),
        cmocka_unit_test(empty_metadata_next_to_streams_is_damage),
        cmocka_unit_test(empty_metadata_next_to_traces_is_ignored),
        cmocka_unit_test(metadata_option_replaces_useless_metadata),
        cmocka_unit_test(single_trace_is_sorted_by_time),
        cmocka_unit_test(unreadable_input_among_others_is_damage_in_its_place),
        cmocka_unit_test(directory_with_failing_readdir_is_io_error),
        cmocka_unit_test(unknown_format_option_fails_directory),
        cmocka_unit_test(failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests_name("open_directory", tests, make_folder, remove_folder);
}
