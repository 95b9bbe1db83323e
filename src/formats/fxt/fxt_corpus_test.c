/* A file recorded by magic-trace in 2022, compared with the results of an independent reader
 * (magic-trace-2022.truth.txt); and a file of another format with the same suffix. TTR_CORPUS
 * names the folder of recorded files; the tests are skipped if it is unset. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#include "support/corpus.h"
#include "support/support.h"

#define EDGES_MAX 40000u

/* The start or end of a span. */
struct edge {
    int64_t time;
    uint32_t place;
    uint8_t kind;
};

struct facts {
    uint64_t records, definitions, arguments, steps_back;
    int64_t first, last, before;
    struct edge *edge; /* EDGES_MAX items */
    uint32_t edges_n;
};

static void count_event(struct facts *facts, ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    facts->records++;
    facts->definitions += event->kind == TTR_KIND_DEFINITION;
    if (event->kind != TTR_KIND_BEGIN && event->kind != TTR_KIND_END)
        return;
    assert_true(facts->edges_n < EDGES_MAX);
    facts->edge[facts->edges_n] = (struct edge){event->time, facts->edges_n, event->kind};
    facts->edges_n++;
    facts->steps_back += event->time < facts->before;
    facts->before = event->time;
    facts->first = event->time < facts->first ? event->time : facts->first;
    facts->last = event->time > facts->last ? event->time : facts->last;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        facts->arguments++;
}

static void read_facts(const char *path, struct facts *facts)
{
    ttr_read_options options = {.size = sizeof options,
                                .flags = TTR_READ_DEFINITIONS | TTR_READ_STRICT};
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(t, path, &options, &error);
    *facts = (struct facts){.first = INT64_MAX, .last = INT64_MIN, .before = INT64_MIN};
    facts->edge = test_calloc(EDGES_MAX, sizeof *facts->edge);
    assert_non_null(reader);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            count_event(facts, t, ttr_batch_at(&batch, i));
    assert_int_equal(status, TTR_END);
    ttr_close(reader);
    ttr_free(t);
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Sums durations like the independent reader: in order of time, an end closes the innermost open
 * span; a span that stays open counts as -1. */
static int64_t sum_spans(struct facts *facts)
{
    int64_t *open = test_calloc(EDGES_MAX, sizeof *open), sum = 0;
    size_t n = 0;
    qsort(facts->edge, facts->edges_n, sizeof *facts->edge, compare_edges);
    for (uint32_t i = 0; i < facts->edges_n; i++) {
        if (facts->edge[i].kind == TTR_KIND_BEGIN)
            open[n++] = facts->edge[i].time;
        else if (n)
            sum += facts->edge[i].time - open[--n];
    }
    test_free(open);
    return sum - (int64_t)n;
}

static void magic_trace_file_matches_independent_reader(void **state)
{
    (void)state;
    char path[600];
    struct facts facts;
    if (!corpus_find("fxt", "magic-trace-2022.fxt", path, sizeof path))
        return;
    read_facts(path, &facts);
    assert_int_equal(facts.records, 35463);
    assert_int_equal(facts.edges_n, 34592);
    assert_int_equal(facts.definitions, 869); /* including 864 strings */
    assert_int_equal(sum_spans(&facts), 4020886);
    assert_int_equal(facts.arguments, 34610);
    assert_int_equal(facts.last - facts.first, 329913);
    assert_int_equal(facts.steps_back, 1);
    test_free(facts.edge);
}

static void eztrace_file_is_refused_with_reason(void **state)
{
    (void)state;
    char path[600];
    ttr_error error = {0};
    if (!corpus_find("fxt", "eztrace-not-fuchsia.fxt", path, sizeof path))
        return;
    ttr *t = ttr_new(NULL);
    assert_null(ttr_open(t, path, NULL, &error));
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "EZTrace"));
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(magic_trace_file_matches_independent_reader),
        cmocka_unit_test(eztrace_file_is_refused_with_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
