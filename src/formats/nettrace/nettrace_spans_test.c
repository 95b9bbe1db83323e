/* Spans of the runtime in recorded traces: count and sum of durations equal those computed here
 * from begin and end events by their key field. TTR_CORPUS is the folder of recorded traces; if it
 * is not set the test passes with a line that reports that. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/read.h>

#include "support/corpus.h"

enum { OPEN_MAX = 4096 };

enum what { GC, JIT, QUEUE, WHATS };

struct sums {
    uint64_t n[WHATS], ns[WHATS];
};

/* Begin event, end event, and the field that pairs them. */
static const struct {
    const char *begin, *end, *field, *task;
    bool is_by_thread;
} told[WHATS] = {{"GCStart", "GCEnd", "Count", "GC", false},
                 {"MethodJittingStarted", "MethodLoadVerbose", "MethodID", "MethodJit", true},
                 {"ThreadPoolEnqueue", "ThreadPoolDequeue", "WorkID", "ThreadPoolQueue", false}};

struct open {
    enum what what;
    uint64_t key, thread;
    int64_t since;
};

static bool is_named(const ttr *t, ttr_id name, const char *text)
{
    ttr_text found = ttr_text_get(t, name);
    return found.n == strlen(text) && memcmp(found.p, text, found.n) == 0;
}

static bool is_of_runtime(const ttr *t, const ttr_event *event)
{
    return is_named(t, event->provider, "Microsoft-Windows-DotNETRuntime");
}

static ttr_reader *open_trace(ttr *t, const char *name)
{
    char path[600];
    ttr_error error = {0};
    (void)corpus_has("nettrace", name, path, sizeof path);
    ttr_reader *reader = ttr_open(t, path, NULL, &error);
    if (!reader)
        fail_msg("%s", error.text);
    return reader;
}

/* Ends the open span with a key and adds its duration. */
static void close_span(struct open *open, size_t *n, const struct open *key, struct sums *sums)
{
    for (size_t i = *n; i-- > 0;)
        if (open[i].what == key->what && open[i].key == key->key && open[i].thread == key->thread) {
            sums->ns[key->what] += (uint64_t)(key->since - open[i].since);
            sums->n[key->what]++;
            open[i] = open[--*n];
            return;
        }
}

static struct sums sum_from_events(const char *name)
{
    static struct open open[OPEN_MAX];
    struct sums sums = {0};
    size_t n = 0;
    ttr_batch batch;
    ttr_field field;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_trace(t, name);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n * WHATS; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i / WHATS);
            const enum what what = (enum what)(i % WHATS);
            const bool is_end = is_named(t, event->name, told[what].end);
            if (!is_of_runtime(t, event) ||
                (!is_end && !is_named(t, event->name, told[what].begin)) ||
                !ttr_field_find(t, event, told[what].field, &field))
                continue;
            struct open key = {.what = what,
                               .key = field.value.v.u,
                               .thread = told[what].is_by_thread ? event->thread : 0,
                               .since = event->time};
            if (is_end)
                close_span(open, &n, &key, &sums);
            else if (n < OPEN_MAX)
                open[n++] = key;
        }
    ttr_close(reader);
    ttr_free(t);
    return sums;
}

static struct sums sum_from_spans(const char *name)
{
    struct sums sums = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_pair_spans(open_trace(t, name), NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind != TTR_KIND_SPAN || event->flags & TTR_EVENT_PARTIAL ||
                !is_of_runtime(t, event))
                continue;
            for (int what = GC; what < WHATS; what++) {
                bool is_it = is_named(t, event->name, told[what].task);
                sums.n[what] += is_it;
                sums.ns[what] += is_it ? event->duration : 0;
            }
        }
    ttr_close(reader);
    ttr_free(t);
    return sums;
}

static void runtime_spans_match_sums_by_key(void **state)
{
    static const struct {
        const char *name;
        uint64_t n[WHATS];
    } traces[] = {{"recorded/mix_default.nettrace.xz", {22, 250, 26}},
                  {"recorded/csc_default.nettrace.xz", {0, 5147, 0}},
                  {"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz", {478, 53, 5}}};
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char path[600];
        if (!corpus_find("nettrace", traces[i].name, path, sizeof path))
            continue;
        struct sums expected = sum_from_events(traces[i].name),
                    found = sum_from_spans(traces[i].name);
        for (int what = GC; what < WHATS; what++) {
            assert_int_equal(expected.n[what], traces[i].n[what]);
            assert_int_equal(found.n[what], expected.n[what]);
            assert_int_equal(found.ns[what], expected.ns[what]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runtime_spans_match_sums_by_key)};
    return cmocka_run_group_tests_name("nettrace_spans", tests, NULL, NULL);
}
