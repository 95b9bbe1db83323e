/* Tests for the perf.data backend: files are read back with the perf.data reader, also after a
 * kill, a full disk and a fork. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/provider.h>
#include <tracetta/read.h>

#include "support/support.h"

TTR_PROVIDER_DEFINE_GROUP(kiosk, "Test_File", "g1");

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/perf_file_test.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/a.data", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_event_pairs(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(TTR_WRITE(kiosk, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U64("n", i)),
                         TTR_OK);
        assert_int_equal(TTR_WRITE(kiosk, "Detail", TTR_KEYWORD(0x10), TTR_TEXT("text", "abc")),
                         TTR_OK);
    }
}

static ttr_backend *open_perf_file(const ttr_perf_file_options *options)
{
    ttr_error error;
    ttr_backend *backend = ttr_backend_perf_file(path, options, &error);
    if (!backend || ttr_provider_open(&kiosk, backend, &error) != TTR_OK)
        fail_msg("%s", error.text);
    return backend;
}

static void close_perf_file(ttr_backend *backend, ttr_status expected)
{
    ttr_error error;
    ttr_provider_close(&kiosk);
    assert_int_equal(ttr_backend_finish(backend, &error), expected);
    assert_int_equal(ttr_backend_finish(backend, NULL), expected);
    ttr_backend_free(backend);
}

/* Counts the events of the file, without metadata objects, and checks that times ascend. */
static size_t count_events(uint64_t *damage)
{
    size_t n = 0;
    ttr_error error;
    ttr_batch batch;
    ttr_status status = TTR_OK;
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, NULL, &error);
    if (!in)
        fail_msg("%s", error.text);
    int64_t last = INT64_MIN;
    while ((status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            assert_true(event->time >= last);
            last = event->time;
            n += event->kind != TTR_KIND_OBJECT;
        }
    assert_int_equal(status, TTR_END);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(in, 0, &report));
    *damage = report.damage_regions;
    ttr_close(in);
    ttr_free(t);
    return n;
}

static void written_file_is_readable(void **state)
{
    (void)state;
    uint64_t damage;
    static const size_t sizes[] = {0, 1, 5000};
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    for (int i = 0; i < 3; i++) {
        ttr_backend *backend = open_perf_file(&options);
        write_event_pairs(sizes[i]);
        close_perf_file(backend, TTR_OK);
        assert_int_equal(count_events(&damage), 2 * sizes[i]);
        assert_int_equal(damage, 0);
    }
    ttr_error error;
    assert_null(ttr_backend_perf_file(path, NULL, &error));
    assert_int_equal(error.sys, EEXIST);
}

/* A killed program leaves names, formats and all events but those of the last 100 ms. */
static void file_of_killed_program_is_readable(void **state)
{
    (void)state;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    const struct timespec moment = {.tv_nsec = 120000000};
    int status;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)open_perf_file(&options);
        write_event_pairs(10);
        (void)nanosleep(&moment, NULL);
        write_event_pairs(1);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    size_t sold = 0, details = 0, others = 0;
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_text name = ttr_text_get(t, event->name),
                     provider = ttr_text_get(t, event->provider);
            bool is_ours = strcmp(provider.p, "Test_File") == 0;
            sold += is_ours && strcmp(name.p, "Sold") == 0;
            details += is_ours && strcmp(name.p, "Detail") == 0;
            others += !is_ours && event->kind != TTR_KIND_OBJECT;
        }
    assert_int_equal(sold, 11);
    assert_in_range(details, 10, 11);
    assert_int_equal(others, 0);
    ttr_close(in);
    ttr_free(t);
}

/* Counts the FINISHED_ROUND records in the file; each written piece has one. */
static size_t count_rounds(void)
{
    enum { DATA_AT = 40, FINISHED_ROUND = 68, FILE_SIZE_MAX = 1 << 24 };
    size_t n = 0;
    uint64_t data[2] = {0, 0};
    uint8_t *bytes = malloc(FILE_SIZE_MAX);
    FILE *file = fopen(path, "rb");
    assert_true(bytes && file);
    const size_t got = fread(bytes, 1, FILE_SIZE_MAX, file);
    assert_int_equal(fclose(file), 0);
    assert_true(got > DATA_AT + sizeof data && got < FILE_SIZE_MAX);
    memcpy(data, bytes + DATA_AT, sizeof data);
    assert_true(data[0] <= got && data[1] <= got - data[0]);
    for (size_t at = data[0], size = 0; at + 8 <= data[0] + data[1]; at += size) {
        const struct {
            uint32_t type;
            uint16_t misc, size;
        } *head = (const void *)(bytes + at);
        size = head->size;
        assert_true(size >= 8);
        n += head->type == FINISHED_ROUND;
    }
    free(bytes);
    return n;
}

/* Writing all formats again for each new tracepoint would cost quadratic time and space. */
static void formats_above_record_size_are_written_at_end(void **state)
{
    (void)state;
    enum { POINTS = 600 };
    uint64_t damage;
    ttr_error error;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    ttr_backend *backend = ttr_backend_perf_file(path, &options, &error);
    ttr_provider *provider = ttr_provider_new("Many", NULL, &error);
    ttr_composer *composer = ttr_composer_new();
    assert_true(backend && provider && composer);
    /* the second round finds the tracepoints by name */
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(ttr_provider_open(provider, backend, &error), TTR_OK);
        for (uint64_t i = 1; i <= POINTS; i++) {
            ttr_tracepoint *point = ttr_provider_point(provider, 4, i, &error);
            assert_non_null(point);
            ttr_compose_begin(composer, "met");
            assert_int_equal(ttr_compose_write(composer, point), TTR_OK);
        }
        ttr_provider_close(provider);
    }
    assert_int_equal(ttr_backend_finish(backend, &error), TTR_OK);
    assert_in_range(count_rounds(), 1, POINTS / 2);
    assert_int_equal(count_events(&damage), 2 * POINTS);
    assert_int_equal(damage, 0);
    ttr_composer_free(composer);
    ttr_provider_free(provider);
    ttr_backend_free(backend);
}

static void level_and_keyword_options_filter_tracepoints(void **state)
{
    (void)state;
    uint64_t damage;
    ttr_perf_file_options options = {.size = sizeof options, .max_level = 4, .overwrite = true};
    ttr_backend *backend = open_perf_file(&options);
    write_event_pairs(3);
    close_perf_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 3);
    options.max_level = 0;
    options.keywords = 0x8;
    backend = open_perf_file(&options);
    write_event_pairs(3);
    close_perf_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 0);
}

static void full_disk_fails_write_and_finish(void **state)
{
    (void)state;
    ttr_error error;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    ttr_backend *backend = ttr_backend_perf_file("/dev/full", &options, &error);
    assert_non_null(backend);
    assert_int_equal(ttr_provider_open(&kiosk, backend, &error), TTR_OK);
    ttr_status status = TTR_OK;
    for (int i = 0; i < 20000 && status == TTR_OK; i++)
        status = TTR_WRITE(kiosk, "Sold", TTR_U32("n", 1));
    assert_int_equal(status, TTR_E_IO);
    close_perf_file(backend, TTR_E_IO);
}

static void forked_child_does_not_write_the_file(void **state)
{
    (void)state;
    int status;
    uint64_t damage;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    ttr_backend *backend = open_perf_file(&options);
    write_event_pairs(10);
    pid_t child = fork();
    if (child == 0) {
        bool is_refused = TTR_WRITE(kiosk, "lost", TTR_U32("n", 1)) == TTR_E_IO;
        ttr_provider_close(&kiosk);
        ttr_status finished = ttr_backend_finish(backend, NULL);
        _exit(is_refused && finished == TTR_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    write_event_pairs(10);
    close_perf_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 40);
    assert_int_equal(damage, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_file_is_readable),
        cmocka_unit_test(file_of_killed_program_is_readable),
        cmocka_unit_test(formats_above_record_size_are_written_at_end),
        cmocka_unit_test(level_and_keyword_options_filter_tracepoints),
        cmocka_unit_test(full_disk_fails_write_and_finish),
        cmocka_unit_test(forked_child_does_not_write_the_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
