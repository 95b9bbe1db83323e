/* Invariants of Perfetto traces that an independent decoder checks
 * (tests/support/perfetto_facts.h): ends match begins, tracks and interned entries are known at
 * their first use, frames have names, mappings have paths, and no thread runs twice. Inputs are
 * random events, random schedules with losses, and recorded traces of several formats. */
#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/meaning.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/corpus.h"
#include "support/perfetto_facts.h"
#include "support/support.h"
#include "support/writing.h"

#ifdef __SANITIZE_ADDRESS__
enum { IS_ADDRESS_SANITIZED = 1 };
#else
enum { IS_ADDRESS_SANITIZED = 0 };
#endif

enum { SEEDS = 60, SCHEDULES = 300, CPUS = 4, THREADS = 9 };

static void expect_invariants(const struct perfetto_facts *facts)
{
    assert_int_equal(facts->unmatched_ends, 0);
    assert_int_equal(facts->unknown_tracks, 0);
    assert_int_equal(facts->unknown_ids, 0);
    assert_int_equal(facts->nameless_frames, 0);
    assert_int_equal(facts->pathless_mappings, 0);
    assert_int_equal(facts->repeated_runs, 0);
    assert_int_equal(facts->occupied_cpus, 0);
    assert_int_equal(facts->begins, facts->ends + facts->open);
}

static void random_events_keep_invariants(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct writing w;
        struct perfetto_facts facts;
        writing_open(&w, "perfetto", 0, NULL);
        (void)writing_random(&w, seed, 200);
        writing_finish(&w);
        perfetto_facts_read(w.text, w.n, &facts);
        /* Random times are not in order, so only what the file order determines is checked. */
        assert_int_equal(facts.unknown_tracks, 0);
        assert_int_equal(facts.unknown_ids, 0);
        assert_int_equal(facts.nameless_frames, 0);
        assert_int_equal(facts.pathless_mappings, 0);
        writing_close(&w);
    }
}

/* Writes one switch of a random schedule in which some switches are missing. Any thread may come
 * in, also one that runs elsewhere; the outgoing one is usually that which came in last. */
static void write_random_switch(struct writing *w, uint64_t *seed, int64_t time,
                                uint64_t running[CPUS])
{
    const unsigned cpu = (unsigned)(support_random(seed) % CPUS);
    const uint64_t in = support_random(seed) % THREADS,
                   out = support_random(seed) % 8 ? running[cpu] : support_random(seed) % THREADS;
    running[cpu] = in;
    if (support_random(seed) % 10 == 0)
        return; /* lost */
    ttr_event_begin(w->builder, TTR_KIND_SWITCH, time, NULL, NULL);
    ttr_event_set_thread(w->builder, out ? 7 : 0, out);
    ttr_event *event = ttr_event_attributes(w->builder);
    event->link = event->thread;
    event->tag = (uint16_t)(support_random(seed) % 9);
    event->cpu = cpu;
    event->flags = TTR_EVENT_HAS_CPU;
    ttr_event_set_thread(w->builder, in ? 7 : 0, in);
    writing_end(w);
}

static void write_random_wake(struct writing *w, uint64_t *seed, int64_t time)
{
    ttr_event_begin(w->builder, TTR_KIND_WAKE, time, NULL, NULL);
    ttr_event_set_thread(w->builder, 7, 1 + support_random(seed) % (THREADS - 1));
    ttr_event_attributes(w->builder)->flags = TTR_EVENT_HAS_CPU;
    writing_end(w);
}

static void random_schedules_never_run_a_thread_twice(void **state)
{
    (void)state;
    uint64_t runs = 0;
    for (uint64_t round = 1; round <= SCHEDULES; round++) {
        struct writing w;
        struct perfetto_facts facts;
        uint64_t seed = round, running[CPUS] = {0};
        writing_open(&w, "perfetto", 0, NULL);
        for (int64_t time = 1; time <= 100; time++)
            if (support_random(&seed) % 4)
                write_random_switch(&w, &seed, time / 2, running);
            else
                write_random_wake(&w, &seed, time / 2);
        writing_finish(&w);
        perfetto_facts_read(w.text, w.n, &facts);
        expect_invariants(&facts);
        runs += facts.runs;
        writing_close(&w);
    }
    assert_true(runs > (uint64_t)SCHEDULES * 50);
}

/* Reads a trace to its end in a context of its own, for symbols that are recorded last. */
static void copy_late_symbols(ttr *to, const char *path)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(
        t, path, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = TTR_READ_SYMBOLS},
        &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        ;
    assert_int_equal(ttr_copy_symbols(to, t, &error), TTR_OK);
    ttr_close(reader);
    ttr_free(t);
}

/* Converts a recorded trace as the command does. */
static void convert(const char *path, struct perfetto_facts *facts)
{
    struct buffer to;
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    buffer_init(&to, alloc_default());
    ttr_reader *reader = ttr_open(
        t, path, &(ttr_read_options){.size = sizeof(ttr_read_options), .flags = TTR_READ_SYMBOLS},
        &error);
    if (!reader)
        fail_msg("%s", error.text);
    if (strstr(path, ".nettrace"))
        copy_late_symbols(t, path);
    reader = ttr_interpret(ttr_sort(reader, &error), NULL, &error);
    assert_non_null(reader);
    ttr_writer *writer = ttr_create_push(t, writing_to_buffer, &to, "perfetto", NULL, &error);
    assert_non_null(writer);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        assert_int_equal(ttr_write(writer, &batch, &error), TTR_OK);
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    perfetto_facts_read(to.bytes, to.n, facts);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&to);
}

static void recorded_traces_keep_invariants(void **state)
{
    /* Numbers of stacks as perf script and TraceEvent print them, and of context switches. */
    static const struct {
        const char *folder, *name;
        uint64_t samples, runs;
    } rows[] = {{"eventheader/made-here", "zstd-sched-callchain.data", 676, 577},
                {"eventheader/made-here", "cpuclock-callchain.data", 1796, 0},
                {"eventheader/made-here", "tp-syscalls-sched.data", 0, 185},
                {"eventheader/tracecmd-vm", "vm-v7-zstd.dat", 0, 124},
                {"eventheader/tracecmd-vm", "vm-v7-date.dat", 0, 81},
                {"ctf/tracecompass", "many-threads", 0, 28325},
                {"ctf/tracecompass", "perf-taskset2", 0, 562},
                {"fxt", "magic-trace-2022.fxt", 0, 0},
                {"heph", "heph-0.4.0-example8.trace", 0, 0},
                {"nettrace/recorded", "mix_default.nettrace.xz", 1925, 0},
                {"nettrace/recorded", "load100.nettrace.xz", 24854, 0}};
    char path[1000];
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct perfetto_facts facts;
        /* a sanitizer needs half a minute for 95 MiB, and smaller traces show it the same code */
        if (IS_ADDRESS_SANITIZED && strncmp(rows[i].name, "load", 4) == 0)
            continue;
        if (!corpus_has(rows[i].folder, rows[i].name, path, sizeof path))
            continue;
        found++;
        convert(path, &facts);
        expect_invariants(&facts);
        if (facts.samples != rows[i].samples || facts.runs != rows[i].runs)
            fail_msg("%s: %llu samples, %llu runs", rows[i].name, (unsigned long long)facts.samples,
                     (unsigned long long)facts.runs);
    }
    if (!found) {
        print_message("# SKIP %s: TTR_CORPUS names the folder of recorded traces\n",
                      corpus_folder());
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_events_keep_invariants),
        cmocka_unit_test(random_schedules_never_run_a_thread_twice),
        cmocka_unit_test(recorded_traces_keep_invariants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
