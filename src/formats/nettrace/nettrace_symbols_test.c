/* Symbols of recorded traces: times per function equal the report of dotnet-trace, and stacks equal
 * those of another implementation. TTR_CORPUS is the folder of recorded traces; if it is not set
 * the tests pass with a line that reports that. */
#include "support/support.h"
#include "support/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <tracetta/advanced.h>
#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "support/corpus.h"
#include "formats/nettrace/nettrace.h"
#include "support/hexa.h"

#define LINE 4096

static FILE *open_corpus(const char *name, char *path, size_t size)
{
    return corpus_find("nettrace", name, path, size) ? fopen(path, "rb") : NULL;
}

static ttr_profile *profile_of(ttr *t, const char *path)
{
    ttr_error error = {0};
    ttr_reader *reader = ttr_open(
        t, path, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = TTR_READ_SYMBOLS},
        &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    const ttr_profile_options options = {.size = sizeof options, .flags = TTR_PROFILE_MERGED};
    ttr_profile *profile = ttr_profile_new(t, reader, &options, &error);
    if (!profile || error.status != TTR_OK)
        fail_msg("%s: %s", path, error.text);
    ttr_close(reader);
    return profile;
}

/* Returns the frame with a name, ignoring case, since dotnet-trace lowers some module names. Fails
 * the test if there is none. */
static const ttr_profile_frame *find_frame(const ttr *t, const ttr_profile *profile,
                                           const char *name)
{
    const ttr_profile_frame *frame;
    uint32_t n = ttr_profile_frames(profile, &frame);
    for (uint32_t i = 0; i < n; i++)
        if (strcasecmp(ttr_text_get(t, frame[i].name).p, name) == 0)
            return &frame[i];
    fail_msg("no frame is called %s", name);
    return NULL;
}

static void assert_percent(double percent, double wanted, double off, const char *name)
{
    if (percent - wanted > off || wanted - percent > off)
        fail_msg("%s has %.3f %%, not %.2f %%", name, percent, wanted);
}

/* Compares with a report of lines "67.68% 33.93% module!function" (inclusive and exclusive); an
 * earlier line has "total metric" and the sum in ms. `has_tasks`: the other program attributes
 * tasks to the code that started them, so its inclusive times are higher. */
static void check_report(const char *trace, const char *truth, bool has_tasks)
{
    char path[600], line[LINE];
    FILE *file = open_corpus(truth, path, sizeof path);
    FILE *recorded = file ? open_corpus(trace, path, sizeof path) : NULL;
    if (!recorded) {
        if (file)
            (void)fclose(file);
        return;
    }
    (void)fclose(recorded);
    ttr *t = ttr_new(NULL);
    ttr_profile *profile = profile_of(t, path);
    double all = (double)ttr_profile_weight(profile);
    unsigned functions = 0;
    while (fgets(line, sizeof line, file)) {
        char *end;
        if (strncmp(line, "total metric ", 13) == 0) {
            double said = strtod(line + 13, NULL) * 1e6;
            assert_true(said - all < (has_tasks ? 3e6 : 2e4) && all - said < 2e4);
            all = said;
        }
        double inclusive = strtod(line, &end), exclusive = *end == '%' ? strtod(end + 1, &end) : -1;
        line[strcspn(line, "\n")] = '\0';
        /* rows without a function: total, process, threads */
        if (exclusive < 0 || !strchr(end, '!'))
            continue;
        const ttr_profile_frame *frame = find_frame(t, profile, end + 2);
        if (!has_tasks)
            assert_percent(100 * (double)frame->total / all, inclusive, 0.0051, end + 2);
        assert_percent(100 * (double)frame->self / all, exclusive, has_tasks ? 0.01 : 0.0051,
                       end + 2);
        functions++;
    }
    assert_true(functions >= 4);
    (void)fclose(file);
    ttr_profile_free(profile);
    ttr_free(t);
}

static void function_times_match_dotnet_trace(void **state)
{
    (void)state;
    check_report("VoiceMemo.23092.nettrace.xz", "truth/VoiceMemo.23092.nettrace.top15.txt", false);
    check_report("only_managed_samples.nettrace.xz",
                 "truth/only_managed_samples.nettrace.top15.txt", false);
    check_report("dotnetdiag-single-thread.nettrace.xz",
                 "truth/dotnetdiag-single-thread.nettrace.top15.txt", false);
    check_report("recorded/csc_default.nettrace.xz", "truth/csc_default.nettrace.top15.txt", true);
    check_report("recorded/mix_default.nettrace.xz", "truth/mix_default.nettrace.top15.txt", true);
    check_report("eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz",
                 "truth/eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.top15.txt", true);
}

/* Formats the stack of a node in the folded format. */
static size_t format_folded_stack(const ttr *t, const ttr_profile *profile, uint32_t at, char *to)
{
    const ttr_profile_node *node;
    const ttr_profile_frame *frame;
    (void)ttr_profile_nodes(profile, &node);
    (void)ttr_profile_frames(profile, &frame);
    size_t n = node[at].parent == TTR_PROFILE_NONE
                   ? 0
                   : format_folded_stack(t, profile, node[at].parent, to);
    return n + (size_t)snprintf(to + n, LINE - n, "%s%s", n ? ";" : "",
                                ttr_text_get(t, frame[node[at].frame].name).p);
}

/* The other implementation weights a sample by the time since the one before, so weights are
 * shifted by one sample; stacks and the sum are equal. */
static void stacks_match_other_implementation(void **state)
{
    (void)state;
    char path[600], line[LINE], stack[LINE];
    uint64_t sum = 0;
    const ttr_profile_node *node;
    FILE *file =
        open_corpus("truth/dotnet-5.0-SampleProfiler-single-thread.txt", path, sizeof path);
    if (!file)
        return;
    FILE *recorded = open_corpus("dotnetdiag-single-thread.nettrace.xz", path, sizeof path);
    assert_non_null(recorded);
    (void)fclose(recorded);
    ttr *t = ttr_new(NULL);
    ttr_profile *profile = profile_of(t, path);
    uint32_t n = ttr_profile_nodes(profile, &node);
    while (fgets(line, sizeof line, file)) {
        char *weight = strrchr(line, ' ');
        bool is_there = false;
        assert_non_null(weight);
        sum += strtoull(weight, NULL, 10);
        *weight = '\0';
        for (uint32_t i = 0; i < n && !is_there; i++) {
            (void)format_folded_stack(t, profile, i, stack);
            is_there = node[i].self && strcmp(stack, line) == 0;
        }
        if (!is_there)
            fail_msg("no sample has the stack %s", line);
    }
    assert_int_equal(ttr_profile_weight(profile), sum);
    (void)fclose(file);
    ttr_profile_free(profile);
    ttr_free(t);
}

static const char *name_at(ttr *t, ttr_id thread, uint64_t address, int64_t time,
                           ttr_symbol *symbol)
{
    return ttr_symbol_get(t, thread, address, time, symbol) ? ttr_text_get(t, symbol->name).p : "";
}

/* Reads a vector to its end; returns the thread of its last event. */
static ttr_id read_vector(ttr *t, const struct hexa *hexa, uint32_t flags)
{
    ttr_batch batch;
    ttr_id thread = 0;
    ttr_error error = {0};
    ttr_reader *reader = ttr_open_memory(
        t, hexa->bytes, hexa->n, "vector",
        &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = flags}, &error);
    if (!reader)
        fail_msg("%s", error.text);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        thread = ttr_batch_at(&batch, batch.n - 1)->thread;
    ttr_close(reader);
    return thread;
}

static void methods_and_modules_are_added_on_request(void **state)
{
    (void)state;
    static const int64_t time = 1709251198999001000; /* time of the first method */
    struct hexa hexa;
    ttr_symbol symbol;
    vectors_load(&hexa, "src/formats/nettrace/vectors/symbols.hexa");
    ttr *t = ttr_new(NULL);
    ttr_id thread = read_vector(t, &hexa, TTR_READ_SYMBOLS);
    assert_string_equal(name_at(t, thread, 0x1010, time, &symbol), "N.C.f(string)");
    assert_string_equal(ttr_text_get(t, symbol.module).p, "App");
    assert_int_equal(symbol.start, 0x1000);
    assert_int_equal(symbol.size_bytes, 0x20);
    assert_string_equal(name_at(t, thread, 0x200f, time - 1000, &symbol), "N.C.g(string)");
    assert_string_equal(name_at(t, thread, 0x2010, time, &symbol), "");
    ttr_free(t);
    t = ttr_new(NULL);
    thread = read_vector(t, &hexa, 0);
    assert_string_equal(name_at(t, thread, 0x1010, time, &symbol), "");
    ttr_free(t);
    hexa_free(&hexa);
}

static void universal_processes_and_symbols_are_added(void **state)
{
    (void)state;
    struct hexa hexa;
    ttr_symbol symbol;
    ttr_thread known;
    vectors_load(&hexa, "src/formats/nettrace/vectors/v6-universal.hexa");
    ttr *t = ttr_new(NULL);
    ttr_id thread = read_vector(t, &hexa, TTR_READ_SYMBOLS), other = context_thread(t, 1, 11, 12);
    assert_true(ttr_thread_get(t, thread, &known));
    assert_string_equal(ttr_text_get(t, known.process_name).p, "shop");
    assert_string_equal(name_at(t, thread, 0x400180, 0, &symbol), "main");
    assert_string_equal(ttr_text_get(t, symbol.module).p, "shop");
    assert_int_equal(symbol.offset, 0x1180);
    assert_string_equal(name_at(t, other, 0x4001ff, 0, &symbol),
                        /* last byte of the symbol, in the other process with this mapping */
                        "main");
    assert_string_equal(name_at(t, thread, 0x700010, INT64_MAX, &symbol), "Shop.Cart::Add(int32)");
    assert_string_equal(ttr_text_get(t, symbol.module).p, "Shop");
    assert_string_equal(name_at(t, other, 0x700010, INT64_MAX, &symbol), "");
    assert_string_equal(name_at(t, thread, 0x800000, 0, &symbol), "alone");
    /* not "kernel", which is valid in every process */
    assert_false(ttr_symbol_get(t, thread, 0x10, 0, &symbol));
    ttr_free(t);
    t = ttr_new(NULL);
    thread = read_vector(t, &hexa, 0);
    assert_true(ttr_thread_get(t, thread, &known));
    assert_string_equal(ttr_text_get(t, known.process_name).p, "shop");
    assert_string_equal(name_at(t, thread, 0x400180, 0, &symbol), "");
    ttr_free(t);
    hexa_free(&hexa);
}

static void only_code_events_have_symbol_kind(void **state)
{
    (void)state;
    ttr_text runtime = {"Microsoft-Windows-DotNETRuntime", 31},
             rundown = {"Microsoft-Windows-DotNETRuntimeRundown", 38};
    assert_int_not_equal(nettrace_get_symbol_kind(runtime, 143), 0);
    assert_int_equal(nettrace_get_symbol_kind(runtime, 144), 0); /* MethodUnloadVerbose */
    assert_int_not_equal(nettrace_get_symbol_kind(rundown, 144), 0);
    assert_int_not_equal(nettrace_get_symbol_kind(runtime, 152),
                         nettrace_get_symbol_kind(rundown, 152));
    assert_int_equal(nettrace_get_symbol_kind(rundown, 152),
                     nettrace_get_symbol_kind(runtime, 151));
    assert_int_equal(nettrace_get_symbol_kind((ttr_text){"Other", 5}, 143), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(function_times_match_dotnet_trace),
        cmocka_unit_test(stacks_match_other_implementation),
        cmocka_unit_test(methods_and_modules_are_added_on_request),
        cmocka_unit_test(universal_processes_and_symbols_are_added),
        cmocka_unit_test(only_code_events_have_symbol_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
