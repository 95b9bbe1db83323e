/* Spans of the runtime in recorded traces: as many and as long as what begins and ends say, added up here by number and method.  TTR_CORPUS names the
 * folder of recorded traces; without it the test passes with a line that says so. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/tracetta.h>

#include "corpus.h"

enum { OPEN_MAX = 4096 };

struct open {
    uint64_t key, thread;
    int64_t since;
};

struct sums {
    uint64_t gcs, jits, gc_ns, jit_ns;
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

/* Ends what began with the key; how long it took is added. */
static void end_open(struct open *open, size_t *n, const struct open *key, int64_t time, uint64_t *count, uint64_t *ns)
{
    for (size_t i = *n; i-- > 0;)
        if (open[i].key == key->key && open[i].thread == key->thread) {
            *ns += (uint64_t)(time - open[i].since);
            ++*count;
            open[i] = open[--*n];
            return;
        }
}

static struct sums count_by_hand(const char *name)
{
    static struct open open[OPEN_MAX];
    struct sums sums = {0};
    size_t n = 0;
    ttr_batch batch;
    ttr_field field;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_trace(t, name);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            bool is_gc = is_named(t, event->name, "GCStart") || is_named(t, event->name, "GCEnd");
            bool is_end = is_named(t, event->name, "GCEnd") || is_named(t, event->name, "MethodLoadVerbose");
            if (!is_of_runtime(t, event) || !ttr_field_find(t, event, is_gc ? "Count" : "MethodID", &field) ||
                (!is_gc && !is_end && !is_named(t, event->name, "MethodJittingStarted")))
                continue;
            struct open key = {.key = field.value.v.u, .thread = is_gc ? 0 : event->thread, .since = event->time};
            if (is_end)
                end_open(open, &n, &key, event->time, is_gc ? &sums.gcs : &sums.jits, is_gc ? &sums.gc_ns : &sums.jit_ns);
            else if (n < OPEN_MAX)
                open[n++] = key;
        }
    ttr_close(reader);
    ttr_free(t);
    return sums;
}

static struct sums count_spans(const char *name)
{
    struct sums sums = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_pair(open_trace(t, name), NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind != TTR_KIND_SPAN || event->flags & TTR_EVENT_PARTIAL || !is_of_runtime(t, event))
                continue;
            bool is_gc = is_named(t, event->name, "GC"), is_jit = is_named(t, event->name, "MethodJit");
            sums.gcs += is_gc;
            sums.jits += is_jit;
            sums.gc_ns += is_gc ? event->duration : 0;
            sums.jit_ns += is_jit ? event->duration : 0;
        }
    ttr_close(reader);
    ttr_free(t);
    return sums;
}

static void collections_and_compilation_take_the_time_between_their_begin_and_end(void **state)
{
    static const struct {
        const char *name;
        uint64_t gcs, jits;
    } traces[] = {{"recorded/mix_default.nettrace.xz", 22, 250}, {"recorded/csc_default.nettrace.xz", 0, 5147},
                  {"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz", 478, 53}};
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char path[600];
        if (!corpus_find("nettrace", traces[i].name, path, sizeof path))
            continue;
        struct sums expected = count_by_hand(traces[i].name), found = count_spans(traces[i].name);
        assert_int_equal(expected.gcs, traces[i].gcs);
        assert_int_equal(expected.jits, traces[i].jits);
        assert_int_equal(found.gcs, expected.gcs);
        assert_int_equal(found.jits, expected.jits);
        assert_int_equal(found.gc_ns, expected.gc_ns);
        assert_int_equal(found.jit_ns, expected.jit_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collections_and_compilation_take_the_time_between_their_begin_and_end)};
    return cmocka_run_group_tests_name("nettrace_spans", tests, NULL, NULL);
}
