/* Pairing against a plain list of what is open, and each rule by itself. */
#include "support/support.h"

#include "support/memory_reader.h"
#include "model/activity.h"
#include "model/context.h"
#include "pipeline/spans/pair.h"

#define N 3000

static ttr_event events[N + 1], paired[N + 1], expected[N + 1];

static bool is_async(const ttr_event *event)
{
    return event->kind == TTR_KIND_ASYNC_BEGIN || event->kind == TTR_KIND_ASYNC_END;
}

static uint64_t process_of(ttr *t, const ttr_event *event)
{
    ttr_thread thread;
    return ttr_thread_get(t, event->thread, &thread) ? thread.pid + 1 : 0;
}

/* Whether the begin may be that of the end; with `far`, of another process. */
static bool belongs(ttr *t, const ttr_event *begin, const ttr_event *end, bool far)
{
    if (is_async(end))
        return begin->kind == TTR_KIND_ASYNC_BEGIN && begin->category == end->category &&
               begin->link == end->link && (far || process_of(t, begin) == process_of(t, end));
    return begin->kind == TTR_KIND_BEGIN && begin->thread == end->thread &&
           begin->track == end->track;
}

static size_t find_open(ttr *t, const size_t *open, size_t open_n, const ttr_event *end)
{
    for (int far = 0; far < 2; far++)
        for (size_t i = open_n; i-- > 0;)
            if (belongs(t, &events[open[i]], end, far))
                return i;
    return SIZE_MAX;
}

static ttr_event span_of(const ttr_event *begin, int64_t end)
{
    ttr_event span = *begin;
    span.kind = TTR_KIND_SPAN;
    span.duration = end > begin->time ? (uint64_t)(end - begin->time) : 0;
    return span;
}

/* What pairing should give, by a walk over all open begins for each end. */
static size_t pair_plainly(ttr *t, size_t n)
{
    static size_t open[N];
    size_t open_n = 0, given = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        const ttr_event *event = &events[i];
        last = event->time > last ? event->time : last;
        if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_ASYNC_BEGIN) {
            open[open_n++] = i;
            continue;
        }
        bool is_end = event->kind == TTR_KIND_END || event->kind == TTR_KIND_ASYNC_END;
        size_t at = is_end ? find_open(t, open, open_n, event) : SIZE_MAX;
        expected[given++] = at == SIZE_MAX ? *event : span_of(&events[open[at]], event->time);
        for (; at != SIZE_MAX && at + 1 < open_n; at++)
            open[at] = open[at + 1];
        open_n -= at != SIZE_MAX;
    }
    while (open_n > 0)
        expected[given++] = span_of(&events[open[--open_n]], last);
    return given;
}

static void spans_are_those_of_a_plain_search(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 12; seed++) {
        ttr *t = ttr_new(NULL);
        memory_random_events(t, events, N, seed, 1000);
        struct memory_events given = {.event = events, .n = N, .seed = seed};
        ttr_reader *reader = ttr_pair_spans(memory_reader(t, &given), NULL);
        size_t n = memory_read_all(reader, paired, N + 1);
        assert_int_equal(n, pair_plainly(t, N));
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(paired[i].offset, expected[i].offset);
            assert_int_equal(paired[i].kind, expected[i].kind);
            assert_int_equal(paired[i].time, expected[i].time);
            assert_int_equal(paired[i].duration, expected[i].duration);
        }
        ttr_close(reader);
        memory_events_free(events, N);
        ttr_free(t);
    }
    assert_int_equal(memory_readers_open(), 0);
}

/* An event of a kind, numbered by its place. */
static ttr_event *put(size_t at, ttr_kind kind, int64_t time)
{
    events[at] = (ttr_event){.kind = (uint8_t)kind, .time = time, .offset = 10 * at};
    return &events[at];
}

static ttr_reader *pair_events(ttr *t, size_t n)
{
    return ttr_pair_spans(memory_reader(t, &(struct memory_events){.event = events, .n = n}), NULL);
}

static void span_has_the_fields_of_its_begin_then_of_its_end(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_fields fields;
    ttr_field field;
    (void)state;
    memory_event_fields(t, put(0, TTR_KIND_BEGIN, 5), 2);
    put(1, TTR_KIND_INSTANT, 6);
    memory_event_fields(t, put(2, TTR_KIND_END, 9), 1);
    events[0].flags = TTR_EVENT_RAW;
    events[0].activity = events[0].payload;
    ttr_reader *reader = pair_events(t, 3);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 2);
    const ttr_event *span = ttr_batch_at(&batch, 1);
    assert_int_equal(span->kind, TTR_KIND_SPAN);
    assert_int_equal(span->duration, 4);
    assert_int_equal(span->flags, 0);
    assert_memory_equal(span->activity, events[0].payload, 16);
    ttr_fields_begin(t, span, &fields);
    static const uint64_t values[] = {0, 1, 20};
    for (size_t i = 0; i < 3; i++) {
        assert_true(ttr_fields_next(&fields, &field));
        assert_int_equal(field.value.v.u, values[i]);
    }
    assert_false(ttr_fields_next(&fields, &field));
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_END);
    ttr_close(reader);
    memory_events_free(events, 3);
    ttr_free(t);
}

static uint64_t note_count(ttr_reader *reader, const char *code)
{
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    for (size_t i = 0; i < report.notes_n; i++)
        if (strcmp(report.notes[i].code, code) == 0)
            return report.notes[i].count;
    return 0;
}

static void end_without_begin_passes_and_is_noted(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put(0, TTR_KIND_END, 1);
    put(1, TTR_KIND_ASYNC_END, 2);
    put(2, TTR_KIND_END, 3);
    ttr_reader *reader = pair_events(t, 3);
    assert_int_equal(memory_read_all(reader, paired, N), 3);
    assert_int_equal(paired[1].kind, TTR_KIND_ASYNC_END);
    assert_int_equal(note_count(reader, "pair.unmatched-end"), 3);
    ttr_close(reader);
    ttr_free(t);
}

static void begin_without_end_lasts_until_the_end(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put(0, TTR_KIND_BEGIN, 1);
    put(1, TTR_KIND_BEGIN, 4);
    put(2, TTR_KIND_INSTANT, 9);
    ttr_reader *reader = pair_events(t, 3);
    assert_int_equal(memory_read_all(reader, paired, N), 3);
    assert_int_equal(paired[1].offset, 10);
    assert_int_equal(paired[1].duration, 5);
    assert_int_equal(paired[2].duration, 8);
    assert_int_equal(paired[1].flags & paired[2].flags, TTR_EVENT_PARTIAL);
    ttr_close(reader);
    ttr_free(t);
}

static void failing_input_gives_what_is_open_before_the_failure(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    (void)state;
    put(0, TTR_KIND_BEGIN, 1);
    put(1, TTR_KIND_INSTANT, 9);
    ttr_reader *in =
        memory_reader(t, &(struct memory_events){.event = events, .n = 2, .ending = TTR_E_IO});
    ttr_reader *reader = ttr_pair_spans(in, &error);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(ttr_batch_at(&batch, 0)->kind, TTR_KIND_INSTANT);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(ttr_batch_at(&batch, 0)->duration, 8);
    assert_int_equal(ttr_batch_at(&batch, 0)->flags & TTR_EVENT_PARTIAL, TTR_EVENT_PARTIAL);
    for (int i = 0; i < 2; i++) {
        error = (ttr_error){0};
        assert_int_equal(ttr_read(reader, &batch, &error), TTR_E_IO);
        assert_int_equal(error.status, TTR_E_IO);
    }
    ttr_close(reader);
    ttr_free(t);
}

static void end_of_another_name_closes_the_innermost_and_is_noted(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put(0, TTR_KIND_BEGIN, 1)->name = ttr_text_add(t, "a", 1);
    put(1, TTR_KIND_END, 2)->name = ttr_text_add(t, "b", 1);
    put(2, TTR_KIND_BEGIN, 3);
    put(3, TTR_KIND_END, 4)->name = ttr_text_add(t, "late", 4);
    ttr_reader *reader = pair_events(t, 4);
    assert_int_equal(memory_read_all(reader, paired, N), 2);
    assert_int_equal(paired[0].name, ttr_text_find(t, "a", 1));
    assert_int_equal(paired[1].name, ttr_text_find(t, "late", 4));
    assert_int_equal(note_count(reader, "pair.other-name"), 1);
    ttr_close(reader);
    ttr_free(t);
}

static void end_before_its_begin_is_a_backward_span_of_no_length(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put(0, TTR_KIND_BEGIN, 5);
    put(1, TTR_KIND_END, 3);
    ttr_reader *reader = pair_events(t, 2);
    assert_int_equal(memory_read_all(reader, paired, N), 1);
    assert_int_equal(paired[0].duration, 0);
    assert_int_equal(paired[0].flags, TTR_EVENT_BACKWARD);
    ttr_close(reader);
    ttr_free(t);
}

static void begins_past_the_limit_pass_with_their_ends(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        put(i, TTR_KIND_BEGIN, (int64_t)i);
        put(9 - i, TTR_KIND_END, 9 - (int64_t)i);
    }
    ttr_reader *reader =
        pair_reader(memory_reader(t, &(struct memory_events){.event = events, .n = 10}), 2, NULL);
    assert_int_equal(memory_read_all(reader, paired, N), 8);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(paired[i].kind, i < 3 ? TTR_KIND_BEGIN : TTR_KIND_END);
    assert_int_equal(paired[6].offset, 10);
    assert_int_equal(paired[6].duration, 7);
    assert_int_equal(paired[7].offset, 0);
    assert_int_equal(note_count(reader, "pair.too-many-open"), 3);
    assert_int_equal(note_count(reader, "pair.unmatched-end"), 0);
    ttr_close(reader);
    ttr_free(t);
}

static bool pairs_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_reader *reader = ttr_pair_spans(in, &error);
    return memory_reads_through(reader, &error);
}

/* Notes do without their texts when memory is out, so not every refused request shows; what counts
 * is that nothing leaks. */
static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t fail_at = 1; fail_at < 400; fail_at++) {
        struct support_heap heap;
        support_heap_init(&heap, 0);
        ttr *t = ttr_new(&(ttr_options){
            .size = sizeof(ttr_options), .resize = heap.alloc.resize, .ctx = heap.alloc.ctx});
        memory_random_events(t, events, 400, 7, 1000);
        heap.fail_at = heap.requests + fail_at;
        (void)pairs_through(t, events, 400);
        memory_events_free(events, 400);
        ttr_free(t);
        support_heap_check(&heap);
    }
    assert_int_equal(memory_readers_open(), 0);
}

static void activities_pair_by_task_then_by_id_and_are_called_by_the_task(void **state)
{
    (void)state;
    static const uint8_t id[16] = {1};
    static const char *const names[] = {"OuterStart", "InnerStart", "OuterStop", "Left"};
    ttr *t = ttr_new(NULL);
    ttr_event event[4], pairs[4];
    for (size_t i = 0; i < 4; i++) {
        event[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                               .opcode = i < 2 ? 1 : 2,
                               .time = (int64_t)i,
                               .activity = id,
                               .offset = i,
                               .name = ttr_text_add(t, names[i], strlen(names[i]))};
        activity_make_span(t, &event[i], activity_task_of_name(t, event[i].name));
    }
    ttr_reader *reader =
        ttr_pair_spans(memory_reader(t, &(struct memory_events){.event = event, .n = 4}), NULL);
    assert_int_equal(memory_read_all(reader, pairs, 4), 2);
    assert_string_equal(ttr_text_get(t, pairs[0].name).p, "Outer");
    assert_int_equal(pairs[0].duration, 2);
    assert_string_equal(ttr_text_get(t, pairs[1].name).p,
                        "Inner"); /* by an end of another name, but of its id */
    assert_int_equal(pairs[1].duration, 2);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(report.notes_n, 0);
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_those_of_a_plain_search),
        cmocka_unit_test(span_has_the_fields_of_its_begin_then_of_its_end),
        cmocka_unit_test(end_without_begin_passes_and_is_noted),
        cmocka_unit_test(begin_without_end_lasts_until_the_end),
        cmocka_unit_test(failing_input_gives_what_is_open_before_the_failure),
        cmocka_unit_test(end_of_another_name_closes_the_innermost_and_is_noted),
        cmocka_unit_test(end_before_its_begin_is_a_backward_span_of_no_length),
        cmocka_unit_test(begins_past_the_limit_pass_with_their_ends),
        cmocka_unit_test(activities_pair_by_task_then_by_id_and_are_called_by_the_task),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
