/* A perf.data file of events written by this program, read again by the reader of the format; and
 * what keeps it from being whole. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/provider.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

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

static void write_some(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(TTR_WRITE(kiosk, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U64("n", i)),
                         TTR_OK);
        assert_int_equal(TTR_WRITE(kiosk, "Detail", TTR_KEYWORD(0x10), TTR_TEXT("text", "abc")),
                         TTR_OK);
    }
}

static ttr_backend *open_file(const ttr_perf_file_options *options)
{
    ttr_error error;
    ttr_backend *backend = ttr_backend_perf_file(path, options, &error);
    if (!backend || ttr_provider_open(&kiosk, backend, &error) != TTR_OK)
        fail_msg("%s", error.text);
    return backend;
}

static void close_file(ttr_backend *backend, ttr_status expected)
{
    ttr_error error;
    ttr_provider_close(&kiosk);
    assert_int_equal(ttr_backend_finish(backend, &error), expected);
    assert_int_equal(ttr_backend_finish(backend, NULL), expected);
    ttr_backend_free(backend);
}

/* Events of the file of a tracepoint's: its name stands before that of the event where this is
 * decoded, or is it. */
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

static void what_is_written_can_be_read(void **state)
{
    (void)state;
    uint64_t damage;
    static const size_t sizes[] = {0, 1, 5000};
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    for (int i = 0; i < 3; i++) {
        ttr_backend *backend = open_file(&options);
        write_some(sizes[i]);
        close_file(backend, TTR_OK);
        assert_int_equal(count_events(&damage), 2 * sizes[i]);
        assert_int_equal(damage, 0);
    }
    ttr_error error;
    assert_null(ttr_backend_perf_file(path, NULL, &error));
    assert_int_equal(error.sys, EEXIST);
}

/* What is left was written by then: names, formats, and all but what came within a moment before
 * the end. */
static void what_a_killed_program_leaves_can_be_read(void **state)
{
    (void)state;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    const struct timespec moment = {.tv_nsec = 120000000};
    int status;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)open_file(&options);
        write_some(10);
        (void)nanosleep(&moment, NULL);
        write_some(1);
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

/* The ends of rounds in the file: one for each piece. */
static size_t count_rounds(void)
{
    enum { DATA_AT = 40, FINISHED_ROUND = 68, MOST = 1 << 24 };
    size_t n = 0;
    uint64_t data[2] = {0, 0};
    uint8_t *bytes = malloc(MOST);
    FILE *file = fopen(path, "rb");
    assert_true(bytes && file);
    const size_t got = fread(bytes, 1, MOST, file);
    assert_int_equal(fclose(file), 0);
    assert_true(got > DATA_AT + sizeof data && got < MOST);
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

/* A piece with the formats of all tracepoints for each new one would cost ever more. */
static void tracepoints_without_room_among_the_records_are_told_in_the_end(void **state)
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
    for (unsigned round = 0; round < 2; round++) { /* in the second they are known by their names */
        assert_int_equal(ttr_provider_open(provider, backend, &error), TTR_OK);
        for (uint64_t i = 1; i <= POINTS; i++) {
            ttr_tracepoint *point = ttr_provider_point(provider, 4, i, &error);
            assert_non_null(point);
            ttr_compose(composer, "met");
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

static void levels_and_keywords_choose(void **state)
{
    (void)state;
    uint64_t damage;
    ttr_perf_file_options options = {.size = sizeof options, .max_level = 4, .overwrite = true};
    ttr_backend *backend = open_file(&options);
    write_some(3);
    close_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 3);
    options.max_level = 0;
    options.keywords = 0x8;
    backend = open_file(&options);
    write_some(3);
    close_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 0);
}

static void a_full_disk_is_told(void **state)
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
    close_file(backend, TTR_E_IO);
}

static void a_child_leaves_the_file_to_its_parent(void **state)
{
    (void)state;
    int status;
    uint64_t damage;
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    ttr_backend *backend = open_file(&options);
    write_some(10);
    pid_t child = fork();
    if (child == 0) {
        bool is_refused = TTR_WRITE(kiosk, "lost", TTR_U32("n", 1)) == TTR_E_IO;
        ttr_provider_close(&kiosk);
        ttr_status finished = ttr_backend_finish(backend, NULL);
        _exit(is_refused && finished == TTR_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    write_some(10);
    close_file(backend, TTR_OK);
    assert_int_equal(count_events(&damage), 40);
    assert_int_equal(damage, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(what_a_killed_program_leaves_can_be_read),
        cmocka_unit_test(tracepoints_without_room_among_the_records_are_told_in_the_end),
        cmocka_unit_test(levels_and_keywords_choose),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_child_leaves_the_file_to_its_parent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
