/* The span forest: against recorded calls, against trying all pairs, and on real traces. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/analyse.h>

#include "support/corpus.h"
#include "support/memory_reader.h"
#include "model/activity.h"
#include "model/context.h"

#define N 2000

static ttr_event events[2 * N];
static size_t true_parent[2 * N]; /* by offset; SIZE_MAX: a root */

static ttr_tree *tree_of(ttr *t, size_t n)
{
    ttr_error error = {0};
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = events, .n = n, .batch_max = 100});
    ttr_tree *tree = ttr_tree_new(t, reader, NULL, NULL, &error);
    if (!tree)
        fail_msg("%s", error.text);
    ttr_close(reader);
    return tree;
}

/* What holds in every forest: links, depths, order of siblings, containment, self time. */
static void check_forest(const ttr_tree *tree)
{
    const ttr_tree_span *span;
    const uint32_t *root;
    uint32_t n = ttr_tree_spans(tree, &span), roots = ttr_tree_roots(tree, &root), reached = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t children = 0;
        for (uint32_t child = span[i].first_child; child != TTR_TREE_NONE;
             child = span[child].next) {
            const ttr_tree_span *ctx = &span[child];
            assert_int_equal(ctx->parent, i);
            assert_int_equal(ctx->depth, span[i].depth + 1);
            assert_int_equal(ctx->thread, span[i].thread);
            assert_true(ctx->begin_ns >= span[i].begin_ns);
            assert_true(ctx->begin_ns + (int64_t)ctx->duration <=
                        span[i].begin_ns + (int64_t)span[i].duration);
            assert_true(ctx->next == TTR_TREE_NONE || span[ctx->next].begin_ns >= ctx->begin_ns);
            children += ctx->duration;
            reached++;
        }
        assert_true(span[i].self <= span[i].duration &&
                    span[i].self + children >= span[i].duration);
    }
    for (uint32_t i = 0; i < roots; i++)
        for (uint32_t at = root[i]; at != TTR_TREE_NONE; at = span[at].next, reached++) {
            assert_int_equal(span[at].parent, TTR_TREE_NONE);
            assert_int_equal(span[at].depth, 0);
        }
    assert_int_equal(reached, n);
}

/* Calls as a program makes them, on three threads, many in one and the same ns. */
static size_t record_calls(ttr *t, uint64_t seed)
{
    size_t stack[3][64], depth[3] = {0}, n = 0;
    int64_t time = 0;
    while (n < N || depth[0] + depth[1] + depth[2] > 0) {
        size_t thread = support_random(&seed) % 3;
        bool calls = n < N && depth[thread] < 64 && support_random(&seed) % 2;
        time += (int64_t)(support_random(&seed) % 3 == 0);
        if (!calls && depth[thread] == 0)
            continue;
        events[n] = (ttr_event){.kind = calls ? TTR_KIND_BEGIN : TTR_KIND_END,
                                .time = time,
                                .offset = n,
                                .thread = context_thread(t, 0, 1, thread)};
        if (calls) {
            true_parent[n] = depth[thread] ? stack[thread][depth[thread] - 1] : SIZE_MAX;
            stack[thread][depth[thread]++] = n;
        } else {
            depth[thread]--;
        }
        n++;
    }
    return n;
}

static void calls_in_one_nanosecond_have_their_true_parents(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        ttr *t = ttr_new(NULL);
        const ttr_tree_span *span;
        size_t n = record_calls(t, seed);
        ttr_tree *tree = tree_of(t, n);
        check_forest(tree);
        uint32_t spans = ttr_tree_spans(tree, &span);
        assert_int_equal(spans, n / 2);
        for (uint32_t i = 0; i < spans; i++) {
            size_t parent =
                span[i].parent == TTR_TREE_NONE ? SIZE_MAX : (size_t)span[span[i].parent].offset;
            assert_int_equal(parent, true_parent[span[i].offset]);
        }
        assert_int_equal(ttr_tree_overlaps(tree), 0);
        ttr_tree_free(tree);
        ttr_free(t);
    }
}

static void make_records(ttr *t, uint64_t seed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = (int64_t)(support_random(&seed) % 3000),
                                .duration = support_random(&seed) % (i % 10 ? 40 : 900),
                                .offset = i,
                                .thread = context_thread(t, 0, 1, support_random(&seed) % 3)};
}

static int64_t end_of(size_t i)
{
    return events[i].time + (int64_t)events[i].duration;
}

static bool ends_before(size_t a, size_t b)
{
    if (end_of(a) != end_of(b))
        return end_of(a) < end_of(b);
    return events[a].time != events[b].time ? events[a].time > events[b].time : a < b;
}

/* The parent is the first to end of those that contain the span and end after it. */
static size_t brute_parent(size_t child, size_t n)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (events[i].thread == events[child].thread && events[i].time <= events[child].time &&
            ends_before(child, i) && (best == SIZE_MAX || ends_before(i, best)))
            best = i;
    return best;
}

static void records_in_any_order_have_the_parents_of_trying_all_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 10; seed++) {
        ttr *t = ttr_new(NULL);
        const ttr_tree_span *span;
        make_records(t, seed, 700);
        ttr_tree *tree = tree_of(t, 700);
        check_forest(tree);
        for (uint32_t i = ttr_tree_spans(tree, &span); i-- > 0;) {
            size_t parent =
                span[i].parent == TTR_TREE_NONE ? SIZE_MAX : (size_t)span[span[i].parent].offset;
            assert_int_equal(parent, brute_parent((size_t)span[i].offset, 700));
        }
        ttr_tree_free(tree);
        ttr_free(t);
    }
}

/* 100 spans before the time of 100,000 others come last of all: far beyond the window. */
static void spans_later_than_the_window_find_their_place_too(void **state)
{
    enum { MANY = 100000, LATE = 100 };
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    ttr_event *many = alloc_zero(alloc_default(), MANY + LATE, sizeof *many);
    (void)state;
    assert_non_null(many);
    for (size_t i = 0; i < MANY + LATE; i++)
        many[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                              .time = (int64_t)i * 10,
                              .duration = 5,
                              .offset = i,
                              .thread = context_thread(t, 0, 1, 1)};
    for (size_t i = 0; i < LATE; i++) {
        many[MANY + i].time = (int64_t)i * 100;
        many[MANY + i].duration = 95;
    }
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = many, .n = MANY + LATE});
    ttr_tree *tree = ttr_tree_new(t, reader, NULL, NULL, NULL);
    check_forest(tree);
    uint32_t n = ttr_tree_spans(tree, &span), inner = 0;
    for (uint32_t i = 0; i < n; i++) {
        inner += span[i].depth == 1;
        assert_int_equal(span[i].depth == 1, span[i].offset < LATE * 10);
        assert_int_equal(span[i].self, span[i].offset >= MANY ? 45 : 5);
    }
    assert_int_equal(inner, LATE * 10);
    ttr_tree_free(tree);
    ttr_close(reader);
    ttr_free(t);
    alloc_free(alloc_default(), many, MANY + LATE, sizeof *many);
}

static void equal_intervals_and_partial_overlaps(void **state)
{
    static const int64_t intervals[][2] = {{5, 9}, {5, 9}, {2, 9}, {6, 12}, {0, 20}};
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    (void)state;
    for (size_t i = 0; i < 5; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = intervals[i][0],
                                .offset = i,
                                .duration = (uint64_t)(intervals[i][1] - intervals[i][0])};
    ttr_tree *tree = tree_of(t, 5);
    check_forest(tree);
    assert_int_equal(ttr_tree_spans(tree, &span), 5);
    assert_int_equal(span[0].parent, 1);
    assert_int_equal(span[1].parent, 2);
    assert_int_equal(span[2].parent, 4);
    assert_int_equal(span[3].parent, 4);
    assert_int_equal(span[4].self, 10);
    assert_int_equal(ttr_tree_overlaps(tree), 1);
    ttr_tree_free(tree);
    ttr_free(t);
}

static void unfinished_spans_last_until_the_end_and_async_ones_are_left_out(void **state)
{
    static const uint8_t kinds[] = {TTR_KIND_BEGIN, TTR_KIND_ASYNC_BEGIN, TTR_KIND_BEGIN,
                                    TTR_KIND_ASYNC_END, TTR_KIND_SPAN};
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    const uint32_t *root;
    (void)state;
    for (size_t i = 0; i < 5; i++)
        events[i] = (ttr_event){
            .kind = kinds[i], .time = (int64_t)i * 10, .offset = i, .duration = i == 4 ? 5 : 0};
    ttr_tree *tree = tree_of(t, 5);
    check_forest(tree);
    assert_int_equal(ttr_tree_spans(tree, &span), 3);
    assert_int_equal(ttr_tree_roots(tree, &root), 1);
    assert_int_equal(span[root[0]].duration, 45);
    assert_int_equal(span[root[0]].flags, TTR_EVENT_PARTIAL);
    assert_int_equal(span[span[root[0]].first_child].duration, 25);
    assert_int_equal(span[0].depth, 2);
    ttr_tree_free(tree);
    ttr_free(t);
}

static void empty_trace_has_an_empty_forest(void **state)
{
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    const uint32_t *root;
    (void)state;
    ttr_tree *tree = tree_of(t, 0);
    assert_int_equal(ttr_tree_spans(tree, &span) + ttr_tree_roots(tree, &root), 0);
    ttr_tree_free(tree);
    ttr_tree_free(NULL);
    ttr_free(t);
}

static bool grows_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_tree *tree = ttr_tree_new(t, reader, NULL, NULL, &error);
    bool is_through = tree != NULL;
    assert_true(is_through || error.status == TTR_E_NOMEM);
    if (tree)
        check_forest(tree);
    ttr_tree_free(tree);
    ttr_close(reader);
    return is_through;
}

/* A begin or end of an activity "Work". */
static ttr_event activity_event(ttr *t, uint8_t kind, int64_t time, const uint8_t *id,
                                const uint8_t *related)
{
    bool begins = kind == TTR_KIND_ASYNC_BEGIN;
    ttr_event event = {.kind = TTR_KIND_INSTANT,
                       .opcode = begins ? 1 : 2,
                       .time = time,
                       .activity = id,
                       .related = related,
                       .name = begins ? ttr_text_add(t, "WorkStart", 9)
                                      : ttr_text_add(t, "WorkStop", 8),
                       .thread = context_thread(t, 0, 9, (uint64_t)time)};
    activity_make_span(t, &event, activity_task_of_name(t, event.name));
    assert_int_equal(event.kind, kind);
    return event;
}

static void activities_nest_by_their_ids_on_any_thread(void **state)
{
    (void)state;
    /* Paths //1/, //1/2/ and //1/2/3/, which says what it is related to; the last is no path. */
    static const uint8_t one[16] = {0x10, [12] = 0xBD, 0x99, 0x9D, 0x59},
                         two[16] = {0x12, [12] = 0xBF, 0x99, 0x9D, 0x59};
    static const uint8_t three[16] = {0x12, 0x30, [12] = 0xBF, 0xC9, 0x9D, 0x59},
                         other[16] = {7, [15] = 7};
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    const uint32_t *root;
    size_t n = 0;
    (void)ttr_text_add(t, "Work", 4);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 10, one, NULL);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 20, three,
                                 one); /* the id counts for more than the path */
    events[n++] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 30, two, NULL);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 35, other, two);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_END, 40, three, NULL);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_END, 60, one, NULL);
    events[n++] = activity_event(t, TTR_KIND_ASYNC_END, 80, two, NULL); /* outlives its parent */
    events[n++] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 90, other, other);
    for (size_t i = 0; i < n; i++)
        events[i].offset = i;
    ttr_tree *tree = tree_of(t, n);
    assert_int_equal(ttr_tree_spans(tree, &span), 5);
    assert_int_equal(ttr_tree_roots(tree, &root), 1);
    uint32_t first = root[0], child = span[first].first_child, second = span[child].next;
    assert_string_equal(ttr_text_get(t, span[first].name).p, "Work");
    assert_string_equal(ttr_text_get(t, span[first].activity).p, "//1/");
    assert_int_equal(span[first].duration, 50);
    assert_int_equal(span[first].self, 10); /* 20 to 40 and 30 to 60 are covered */
    assert_string_equal(ttr_text_get(t, span[child].activity).p, "//1/2/3/");
    assert_string_equal(ttr_text_get(t, span[second].activity).p, "//1/2/");
    assert_int_equal(span[second].next, TTR_TREE_NONE);
    assert_int_equal(span[second].depth, 1);
    uint32_t inner = span[second].first_child;
    assert_string_equal(ttr_text_get(t, span[inner].activity).p,
                        "07000000000000000000000000000007");
    assert_int_equal(span[inner].depth, 2);
    assert_true(span[inner].flags & TTR_EVENT_PARTIAL);
    assert_int_equal(span[span[inner].first_child].begin_ns,
                     90); /* the same id is open: inside of it */
    ttr_tree_free(tree);
    ttr_free(t);
}

static void activities_without_ids_nest_on_their_threads(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    const ttr_tree_span *span;
    (void)ttr_text_add(t, "Work", 4);
    events[0] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 10, NULL, NULL);
    events[1] = activity_event(t, TTR_KIND_ASYNC_BEGIN, 10, NULL, NULL);
    events[2] = activity_event(t, TTR_KIND_ASYNC_END, 11, NULL, NULL); /* of another thread */
    events[3] = activity_event(t, TTR_KIND_ASYNC_END, 10, NULL, NULL);
    events[3].time = 12;
    ttr_tree *tree = tree_of(t, 4);
    assert_int_equal(ttr_tree_spans(tree, &span), 2);
    assert_int_equal(span[0].parent, 1);
    assert_int_equal(span[0].duration, 2);
    assert_int_equal(span[0].activity, 0);
    assert_true(span[1].flags & TTR_EVENT_PARTIAL);
    ttr_tree_free(tree);
    ttr_free(t);
}

static bool nests_activities(ttr *t, const ttr_event *some, size_t n)
{
    static const uint8_t ids[2][16] = {{1}, {2}};
    (void)some;
    ttr_event ctx[20];
    for (size_t i = 0; i < 20; i++)
        ctx[i] = (ttr_event){.kind = TTR_KIND_ASYNC_BEGIN,
                             .opcode = 1,
                             .time = (int64_t)i,
                             .activity = ids[i % 2],
                             .related = ids[1],
                             .link = i};
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = ctx, .n = n < 20 ? n : 20});
    ttr_tree *tree = ttr_tree_new(t, reader, NULL, NULL, NULL);
    bool is_fine = tree != NULL;
    ttr_tree_free(tree);
    ttr_close(reader);
    return is_fine;
}

static void each_allocation_for_activities_may_fail(void **state)
{
    (void)state;
    memory_fail_each(nests_activities, 20);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    memory_fail_each(grows_through, 400);
}

/* Figures of an independent reading of the files, by a stack over spans sorted by begin. */
static void real_traces_overlap_as_counted_elsewhere(void **state)
{
    static const struct {
        const char *file;
        uint32_t spans;
        uint64_t overlaps;
    } files[] = {{"heph-head-example7.trace", 97, 9},
                 {"heph-head-alltypes.trace", 2085, 160},
                 {"heph-head-redis-app.trace", 727, 0},
                 {"heph-0.4.0-example8.trace", 106, 0},
                 {"heph-0.4.0-alltypes-pids.trace", 7620, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024];
        const ttr_tree_span *span;
        if (!corpus_find("heph", files[i].file, path, sizeof path))
            continue;
        ttr *t = ttr_new(NULL);
        ttr_reader *reader = ttr_open(t, path, NULL, NULL);
        assert_non_null(reader);
        ttr_tree *tree = ttr_tree_new(t, reader, NULL, NULL, NULL);
        assert_non_null(tree);
        check_forest(tree);
        assert_int_equal(ttr_tree_spans(tree, &span), files[i].spans);
        assert_int_equal(ttr_tree_overlaps(tree), files[i].overlaps);
        ttr_tree_free(tree);
        ttr_close(reader);
        ttr_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_one_nanosecond_have_their_true_parents),
        cmocka_unit_test(records_in_any_order_have_the_parents_of_trying_all_pairs),
        cmocka_unit_test(spans_later_than_the_window_find_their_place_too),
        cmocka_unit_test(equal_intervals_and_partial_overlaps),
        cmocka_unit_test(unfinished_spans_last_until_the_end_and_async_ones_are_left_out),
        cmocka_unit_test(empty_trace_has_an_empty_forest),
        cmocka_unit_test(activities_nest_by_their_ids_on_any_thread),
        cmocka_unit_test(activities_without_ids_nest_on_their_threads),
        cmocka_unit_test(each_allocation_for_activities_may_fail),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(real_traces_overlap_as_counted_elsewhere),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
