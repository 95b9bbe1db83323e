/* ttr_recover, as a program calls it: on complete, damaged and hopeless files, and on directories.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/recover.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#define EVENTS 200u

static char work[] = "/tmp/recover_test.XXXXXX";

/* What the callbacks saw. */
struct seen {
    unsigned stages; /* bits */
    ttr_recover_failure failure;
    unsigned traces;
    unsigned refuse_at; /* the number of the trace that is left out; 0 = none */
    uint64_t found_events;
    unsigned steps; /* progress: calls left; 0 = no limit */
};

static const char *path_of(const char *name)
{
    static char path[64][600];
    static unsigned next;
    char *to = path[next++ % 64];
    (void)snprintf(to, sizeof path[0], "%s/%s", work, name);
    return to;
}

/* Writes an FXT file of EVENTS events, and damages `damage` bytes in its middle. */
static void make_trace(const char *path, size_t damage)
{
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    const ttr_write_options options = {.size = sizeof options, .flags = TTR_WRITE_OVERWRITE};
    ttr_writer *writer = ttr_create(t, path, "fxt", &options, &error);
    ttr_builder *builder = ttr_builder_new(t);
    assert_non_null(writer);
    assert_non_null(builder);
    for (unsigned i = 0; i < EVENTS; i++) {
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1000 + i, "category", "name");
        ttr_add_uint(builder, "number", i);
        assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    }
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    ttr_builder_free(builder);
    ttr_free(t);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    (void)fseek(file, 0, SEEK_END);
    (void)fseek(file, ftell(file) / 2 / 8 * 8, SEEK_SET);
    for (size_t i = 0; i < damage; i++)
        (void)fputc(0xff, file);
    assert_int_equal(fclose(file), 0);
}

/* Reads a file to its end; its events and damaged regions. */
static uint64_t read_trace(const char *path, uint64_t *damage)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_report report = {.size = sizeof report};
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK) {
    }
    assert_true(ttr_reader_report(reader, 0, &report));
    const uint64_t events = report.events;
    *damage = report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
    return events;
}

static bool note_step(void *user_data, const ttr_recover_step *step)
{
    struct seen *seen = user_data;
    seen->stages |= 1u << step->stage;
    seen->traces += step->stage == TTR_RECOVER_TRACE;
    if (step->stage == TTR_RECOVER_FAILED) {
        assert_non_null(step->error);
        seen->failure = step->failure;
    }
    if (step->stage == TTR_RECOVER_COPYING)
        assert_true(step->reader && step->writer && step->t);
    if (step->stage == TTR_RECOVER_CHECKED)
        seen->found_events = step->found_events;
    return step->stage != TTR_RECOVER_TRACE || seen->traces != seen->refuse_at;
}

static bool go_on(void *user_data)
{
    struct seen *seen = user_data;
    return seen->steps == 0 || --seen->steps > 0;
}

static ttr_status recover(const char *input, const char *output, uint32_t flags, struct seen *seen,
                          ttr_recover_result *result, ttr_error *error)
{
    const ttr_write_options writing = {.size = sizeof writing, .flags = flags};
    const ttr_recover_options options = {.size = sizeof options,
                                         .writing = &writing,
                                         .progress = go_on,
                                         .step = note_step,
                                         .user_data = seen};
    *result = (ttr_recover_result){.size = sizeof *result};
    return ttr_recover(input, output, &options, result, error);
}

static void damaged_file_becomes_a_clean_copy(void **state)
{
    struct seen seen = {0};
    ttr_recover_result result;
    ttr_error error = {0};
    uint64_t damage;
    const char *input = path_of("damaged.fxt"), *output = path_of("clean.fxt");
    (void)state;
    make_trace(input, 40);
    const uint64_t readable = read_trace(input, &damage);
    assert_true(damage > 0 && readable < EVENTS);
    assert_int_equal(recover(input, output, 0, &seen, &result, &error), TTR_OK);
    assert_int_equal(result.traces, 1);
    assert_int_equal(result.begun, 1);
    assert_int_equal(result.failed, 0);
    assert_false(result.is_directory);
    assert_int_equal(result.events, readable);
    assert_int_equal(result.damage_regions, damage);
    assert_true(result.damage_bytes > 0);
    assert_int_equal(seen.found_events, readable);
    assert_int_equal(read_trace(output, &damage), readable);
    assert_int_equal(damage, 0);
    assert_int_equal(seen.stages & (1u << TTR_RECOVER_VERIFIED), 1u << TTR_RECOVER_VERIFIED);
}

static void complete_file_is_copied_byte_for_byte_without_callbacks(void **state)
{
    char command[1400];
    uint64_t damage;
    const char *input = path_of("complete.fxt"), *output = path_of("same.fxt");
    (void)state;
    make_trace(input, 0);
    assert_int_equal(ttr_recover(input, output, NULL, NULL, NULL), TTR_OK);
    assert_int_equal(read_trace(output, &damage), EVENTS);
    (void)snprintf(command, sizeof command, "cmp -s %s %s", input, output);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

static void unused_end_is_cut(void **state)
{
    static const char zeros[5003];
    char command[1400];
    uint64_t damage;
    const char *input = path_of("tail.fxt"), *output = path_of("cut.fxt");
    (void)state;
    make_trace(path_of("plain.fxt"), 0);
    make_trace(input, 0);
    FILE *file = fopen(input, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(ttr_recover(input, output, NULL, NULL, NULL), TTR_OK);
    assert_int_equal(read_trace(output, &damage), EVENTS);
    (void)snprintf(command, sizeof command, "cmp -s %s %s", path_of("plain.fxt"), output);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

static void output_is_only_replaced_with_overwrite(void **state)
{
    struct seen seen = {0};
    ttr_recover_result result;
    ttr_error error = {0};
    const char *input = path_of("once.fxt"), *output = path_of("twice.fxt");
    (void)state;
    make_trace(input, 0);
    make_trace(output, 0);
    assert_int_equal(recover(input, output, 0, &seen, &result, &error), TTR_E_IO);
    assert_int_equal(seen.failure, TTR_RECOVER_OUTPUT);
    assert_int_equal(result.failed, 1);
    seen = (struct seen){0};
    assert_int_equal(recover(input, output, TTR_WRITE_OVERWRITE, &seen, &result, &error), TTR_OK);
    assert_int_equal(seen.failure, TTR_RECOVER_NO_FAILURE);
}

static void what_cannot_be_recovered_is_reported_with_its_reason(void **state)
{
    struct seen seen = {0};
    ttr_recover_result result;
    ttr_error error = {0};
    const char *text = path_of("text.txt");
    (void)state;
    FILE *file = fopen(text, "w");
    assert_non_null(file);
    (void)fputs("this is not a trace\n", file);
    (void)fclose(file);
    assert_int_equal(recover(text, path_of("never"), 0, &seen, &result, &error), TTR_E_UNSUPPORTED);
    assert_int_equal(seen.failure, TTR_RECOVER_OPENING);
    assert_true(error.text[0] != '\0');
    assert_int_not_equal(access(path_of("never"), F_OK), 0);
    assert_int_equal(recover(path_of("no such file"), path_of("never"), 0, &seen, &result, &error),
                     TTR_E_IO);
    assert_int_equal(ttr_recover(NULL, "x", NULL, NULL, &error), TTR_E_MISUSE);
    result.size = 1;
    assert_int_equal(ttr_recover("x", "y", NULL, &result, &error), TTR_E_MISUSE);
}

/* Makes a directory of two traces and a trace in a folder below. */
static const char *make_directory(const char *name)
{
    char path[700], below[720];
    (void)snprintf(path, sizeof path, "%s", path_of(name));
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(below, sizeof below, "%s/a.fxt", path);
    make_trace(below, 0);
    (void)snprintf(below, sizeof below, "%s/b.fxt", path);
    make_trace(below, 40);
    (void)snprintf(below, sizeof below, "%s/below", path);
    assert_int_equal(mkdir(below, 0777), 0);
    (void)snprintf(below, sizeof below, "%s/below/c.fxt", path);
    make_trace(below, 0);
    return path_of(name);
}

static void each_trace_of_a_directory_goes_to_the_same_path_below_the_output(void **state)
{
    struct seen seen = {0};
    ttr_recover_result result;
    ttr_error error = {0};
    uint64_t damage;
    const char *input = make_directory("traces");
    (void)state;
    assert_int_equal(recover(input, path_of("recovered"), 0, &seen, &result, &error), TTR_OK);
    assert_true(result.is_directory);
    assert_int_equal(result.traces, 3);
    assert_int_equal(result.begun, 3);
    assert_int_equal(result.failed, 0);
    assert_int_equal(read_trace(path_of("recovered/a.fxt"), &damage), EVENTS);
    assert_true(read_trace(path_of("recovered/b.fxt"), &damage) < EVENTS);
    assert_int_equal(damage, 0);
    assert_int_equal(read_trace(path_of("recovered/below/c.fxt"), &damage), EVENTS);
    /* The folder exists now: all of it would be replaced, but only if that is wanted. */
    assert_int_equal(recover(input, path_of("recovered"), 0, &seen, &result, &error), TTR_E_IO);
    assert_int_equal(seen.failure, TTR_RECOVER_FOLDER);
    assert_string_equal(error.option, "TTR_WRITE_OVERWRITE");
    assert_int_equal(
        recover(input, path_of("recovered"), TTR_WRITE_OVERWRITE, &seen, &result, &error), TTR_OK);
    /* A file that no copy replaces would be read as one of them. */
    make_trace(path_of("recovered/other.fxt"), 0);
    assert_int_equal(
        recover(input, path_of("recovered"), TTR_WRITE_OVERWRITE, &seen, &result, &error),
        TTR_E_IO);
    assert_non_null(strstr(error.text, "other.fxt"));
    assert_int_equal(recover(input, "-", 0, &seen, &result, &error), TTR_E_MISUSE);
}

static void trace_that_the_caller_leaves_out_counts_as_failed(void **state)
{
    struct seen seen = {.refuse_at = 2};
    ttr_recover_result result;
    ttr_error error = {0};
    const char *input = make_directory("three");
    (void)state;
    assert_int_equal(recover(input, path_of("two"), 0, &seen, &result, &error), TTR_OK);
    assert_int_equal(result.begun, 3);
    assert_int_equal(result.failed, 1);
    assert_int_equal(access(path_of("two/a.fxt"), F_OK), 0);
    assert_int_not_equal(access(path_of("two/b.fxt"), F_OK), 0);
    assert_int_equal(access(path_of("two/below/c.fxt"), F_OK), 0);
}

static void progress_can_end_it_before_the_next_trace(void **state)
{
    struct seen seen = {.steps = 1};
    ttr_recover_result result;
    ttr_error error = {0};
    const char *input = make_directory("ended");
    (void)state;
    assert_int_equal(recover(input, path_of("none"), 0, &seen, &result, &error), TTR_AGAIN);
    assert_int_equal(result.traces, 3);
    assert_int_equal(result.begun, 0);
}

/* Each allocation of a context fails in turn; nothing leaks, and no output is half-written. */
static void failing_memory_is_reported_and_nothing_leaks(void **state)
{
    const char *input = path_of("memory.fxt"), *output = path_of("memory-copy.fxt");
    ttr_status status = TTR_E_NOMEM;
    (void)state;
    make_trace(input, 40);
    for (uint64_t fail_at = 1; status != TTR_OK && fail_at < 4000; fail_at++) {
        struct support_heap heap;
        support_heap_init(&heap, fail_at);
        const ttr_options context = {
            .size = sizeof context, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
        const ttr_write_options writing = {.size = sizeof writing, .flags = TTR_WRITE_OVERWRITE};
        const ttr_recover_options options = {
            .size = sizeof options, .context = &context, .writing = &writing};
        status = ttr_recover(input, output, &options, NULL, NULL);
        assert_int_equal(heap.blocks, 0);
    }
    assert_int_equal(status, TTR_OK);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(work) ? 0 : 1;
}

static int tear_down(void **state)
{
    char command[100];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", work);
    return system(command); /* NOLINT(cert-env33-c) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_file_becomes_a_clean_copy),
        cmocka_unit_test(complete_file_is_copied_byte_for_byte_without_callbacks),
        cmocka_unit_test(unused_end_is_cut),
        cmocka_unit_test(output_is_only_replaced_with_overwrite),
        cmocka_unit_test(what_cannot_be_recovered_is_reported_with_its_reason),
        cmocka_unit_test(each_trace_of_a_directory_goes_to_the_same_path_below_the_output),
        cmocka_unit_test(trace_that_the_caller_leaves_out_counts_as_failed),
        cmocka_unit_test(progress_can_end_it_before_the_next_trace),
        cmocka_unit_test(failing_memory_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
