/* The store: tables of small traces that are built by hand. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/advanced.h>

#include "store/store.h"
#include "support/memory_reader.h"
#include "support/support.h"

/* --- Tables --- */

static ttr *t;
#define EVENTS_MAX 5000u
static ttr_event events[EVENTS_MAX];
static size_t events_n;

static int set_up(void **state)
{
    (void)state;
    t = ttr_new(NULL);
    events_n = 0;
    return t == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    ttr_free(t);
    return 0;
}

static ttr_event *add(ttr_kind kind, const char *name, int64_t time)
{
    ttr_event *event = &events[events_n++];
    *event = (ttr_event){.kind = (uint8_t)kind,
                         .time = time,
                         .name = ttr_text_add(t, name, strlen(name)),
                         .thread = 1};
    return event;
}

static ttr_store *build(void)
{
    ttr_error error;
    const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, NULL, &error);
    assert_non_null(store);
    assert_int_equal(ttr_store_read(store, reader, NULL, NULL, &error), TTR_OK);
    ttr_close(reader);
    return store;
}

/* Returns a value of a table by the names of table and column. */
static int64_t cell(const ttr_store *store, const char *table_name, const char *column_name,
                    uint64_t row)
{
    ttr_store_table table;
    ttr_store_column column;
    int64_t value = 0;
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        for (size_t k = 0;
             strcmp(table.name, table_name) == 0 && ttr_store_column_at(store, i, k, &column); k++)
            if (strcmp(column.name, column_name) == 0) {
                ttr_store_values(store, i, k, row, 1, &value);
                return value;
            }
    fail_msg("no column %s.%s", table_name, column_name);
    return value;
}

static const char *text_cell(const ttr_store *store, const char *table, const char *column,
                             uint64_t row)
{
    const int64_t id = cell(store, table, column, row);
    return id == TTR_STORE_NULL ? "" : ttr_text_get(t, (ttr_id)id).p;
}

/* Compares all values of two stores. */
static void check_same(const ttr_store *store, const ttr_store *expected)
{
    ttr_store_table table, other;
    ttr_store_column column;
    int64_t values[64], wanted[64];
    for (size_t i = 0; ttr_store_table_at(expected, i, &table); i++) {
        assert_true(ttr_store_table_at(store, i, &other));
        if (strcmp(table.name, "stats") == 0) /* counts of the reader */
            continue;
        assert_int_equal(other.rows, table.rows);
        for (size_t k = 0; ttr_store_column_at(expected, i, k, &column); k++)
            for (uint64_t row = 0; row < table.rows; row += 64) {
                ttr_store_values(store, i, k, row, 64, values);
                ttr_store_values(expected, i, k, row, 64, wanted);
                assert_memory_equal(values, wanted, sizeof values);
            }
    }
}

static void nan_is_null(void **state)
{
    (void)state;
    double value = 1.5;
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    assert_int_equal(store_convert_real(1.5), bits);
    assert_int_equal(store_convert_real(-0.0), 0);
    assert_int_equal(store_convert_real(NAN), TTR_STORE_NULL);
}

static void begins_and_ends_become_nested_slices(void **state)
{
    (void)state;
    add(TTR_KIND_BEGIN, "outer", 10);
    add(TTR_KIND_BEGIN, "inner", 20);
    add(TTR_KIND_END, "inner", 30);
    add(TTR_KIND_INSTANT, "moment", 35);
    add(TTR_KIND_END, "outer", 50);
    add(TTR_KIND_BEGIN, "open", 60);
    ttr_store *store = build();
    const int64_t dur[] = {40, 10, 0, -1}, depth[] = {0, 1, 1, 0},
                  parent[] = {TTR_STORE_NULL, 0, 0, TTR_STORE_NULL},
                  self[] = {30, 10, 0, TTR_STORE_NULL}, event[] = {0, 1, 3, 5};
    static const char *const names[] = {"outer", "inner", "moment", "open"};
    for (uint64_t i = 0; i < 4; i++) {
        assert_string_equal(text_cell(store, "slice", "name", i), names[i]);
        assert_int_equal(cell(store, "slice", "dur", i), dur[i]);
        assert_int_equal(cell(store, "slice", "depth", i), depth[i]);
        assert_int_equal(cell(store, "slice", "parent_id", i), parent[i]);
        assert_int_equal(cell(store, "slice", "self_dur", i), self[i]);
        assert_int_equal(cell(store, "slice", "arg_set_id", i), event[i]);
    }
    assert_int_equal(cell(store, "event", "id", 5), 5);
    assert_int_equal(cell(store, "trace_bounds", "start_ts", 0), 10);
    assert_int_equal(cell(store, "trace_bounds", "end_ts", 0), 60);
    ttr_store_free(store);
}

static void spans_that_come_at_their_end_are_nested(void **state)
{
    (void)state;
    add(TTR_KIND_SPAN, "inner", 20)->duration = 5;
    add(TTR_KIND_SPAN, "outer", 10)->duration = 30;
    ttr_store *store = build();
    assert_string_equal(text_cell(store, "slice", "name", 0), "outer");
    assert_int_equal(cell(store, "slice", "self_dur", 0), 25);
    assert_int_equal(cell(store, "slice", "parent_id", 1), 0);
    ttr_store_free(store);
}

static void begins_at_the_end_of_the_file_belong_to_earlier_ends(void **state)
{
    (void)state;
    add(TTR_KIND_END, "inner", 20);
    add(TTR_KIND_BEGIN, "next", 30);
    add(TTR_KIND_END, "next", 40);
    add(TTR_KIND_END, "outer", 50);
    add(TTR_KIND_BEGIN, "last", 60);
    add(TTR_KIND_BEGIN, "outer", 10);
    add(TTR_KIND_BEGIN, "inner", 10);
    ttr_store *store = build();
    static const char *const names[] = {"outer", "inner", "next", "last"};
    const int64_t dur[] = {40, 10, 10, -1}, depth[] = {0, 1, 1, 0};
    for (uint64_t i = 0; i < 4; i++) {
        assert_string_equal(text_cell(store, "slice", "name", i), names[i]);
        assert_int_equal(cell(store, "slice", "dur", i), dur[i]);
        assert_int_equal(cell(store, "slice", "depth", i), depth[i]);
    }
    ttr_store_free(store);
}

static void slices_at_equal_times_nest_as_they_were_written(void **state)
{
    (void)state;
    add(TTR_KIND_BEGIN, "before", 10);
    add(TTR_KIND_END, "before", 10);
    add(TTR_KIND_BEGIN, "outer", 10);
    add(TTR_KIND_BEGIN, "inner", 20);
    add(TTR_KIND_END, "inner", 20);
    add(TTR_KIND_END, "outer", 20);
    add(TTR_KIND_INSTANT, "after", 20);
    ttr_store *store = build();
    static const char *const names[] = {"before", "outer", "inner", "after"};
    const int64_t depth[] = {0, 0, 1, 0};
    for (uint64_t i = 0; i < 4; i++) {
        assert_string_equal(text_cell(store, "slice", "name", i), names[i]);
        assert_int_equal(cell(store, "slice", "depth", i), depth[i]);
    }
    ttr_store_free(store);
}

/* Adds begins, ends and spans with many equal times. */
static void add_random_slices(bool is_ordered)
{
    uint64_t seed = 5;
    int64_t time = 1000;
    for (size_t i = 0; i < EVENTS_MAX; i++) {
        const uint64_t random = support_random(&seed);
        static const ttr_kind kinds[] = {TTR_KIND_BEGIN, TTR_KIND_BEGIN, TTR_KIND_END, TTR_KIND_END,
                                         TTR_KIND_SPAN};
        time += random % 3 ? 0 : 1;
        ttr_event *event = add(kinds[random % 5], random % 2 ? "a" : "b",
                               is_ordered || random % 20 ? time : time - (int64_t)(random % 300));
        event->thread = 1 + (uint32_t)(random >> 8) % 7;
        event->duration = event->kind == TTR_KIND_SPAN ? (random >> 12) % 6 : 0;
    }
}

/* An update copies slices, and the end moves those of ordered events: the tables are equal. */
static void slices_are_equal_if_they_are_copied_or_moved(void **state)
{
    (void)state;
    ttr_error error;
    ttr_batch batch;
    for (unsigned is_ordered = 0; is_ordered < 2; is_ordered++) {
        events_n = 0;
        add_random_slices(is_ordered);
        const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
        ttr_reader *reader = memory_reader(t, &list);
        ttr_store *store = ttr_store_new(t, NULL, &error);
        while (ttr_read(reader, &batch, &error) == TTR_OK) {
            assert_int_equal(ttr_store_add(store, &batch, &error), TTR_OK);
            assert_int_equal(ttr_store_update(store, reader, false, &error), TTR_OK);
        }
        ttr_store *moved = build();
        check_same(store, moved);
        ttr_store_free(moved);
        ttr_store_free(store);
        ttr_close(reader);
    }
}

static void async_spans_end_by_their_id(void **state)
{
    (void)state;
    add(TTR_KIND_ASYNC_BEGIN, "start", 10)->link = 7;
    add(TTR_KIND_ASYNC_BEGIN, "start", 12)->link = 8;
    ttr_event *end = add(TTR_KIND_ASYNC_END, "stop", 30);
    end->link = 7;
    end->thread = 2;
    ttr_store *store = build();
    assert_int_equal(cell(store, "slice", "dur", 0), 20);
    assert_int_equal(cell(store, "slice", "dur", 1), -1);
    assert_string_equal(text_cell(store, "track", "type", 0), "async_track");
    ttr_store_free(store);
}

static void switches_become_times_on_processors(void **state)
{
    (void)state;
    ttr_event *first = add(TTR_KIND_SWITCH, "switch", 100);
    first->thread = 1;
    first->cpu = 3;
    first->flags = TTR_EVENT_HAS_CPU;
    ttr_event *second = add(TTR_KIND_SWITCH, "switch", 140);
    second->thread = 2;
    second->link = 1;
    second->tag = TTR_THREAD_BLOCKED;
    second->cpu = 3;
    second->flags = TTR_EVENT_HAS_CPU;
    ttr_store *store = build();
    assert_int_equal(cell(store, "sched", "dur", 0), 40);
    assert_int_equal(cell(store, "sched", "cpu", 0), 3);
    assert_string_equal(text_cell(store, "sched", "end_state", 0), "S");
    assert_int_equal(cell(store, "sched", "dur", 1), -1);
    ttr_store_free(store);
}

static ttr_event *add_switch(int64_t time, ttr_id from, ttr_thread_state state, ttr_id to)
{
    ttr_event *event = add(TTR_KIND_SWITCH, "switch", time);
    event->thread = to;
    event->link = from;
    event->tag = (uint16_t)state;
    event->cpu = 1;
    event->flags = TTR_EVENT_HAS_CPU;
    return event;
}

static void flow(ttr_kind kind, int64_t time, ttr_id thread, uint64_t link)
{
    ttr_event *event = add(kind, "flow", time);
    event->thread = thread;
    event->link = link;
}

static void flows_connect_the_innermost_slices(void **state)
{
    (void)state;
    add(TTR_KIND_BEGIN, "outer", 10);
    add(TTR_KIND_SPAN, "inner", 20)->duration = 10;
    flow(TTR_KIND_FLOW_BEGIN, 25, 1, 7);
    add(TTR_KIND_INSTANT, "moment", 26);
    flow(TTR_KIND_FLOW_STEP, 31, 1, 7);
    flow(TTR_KIND_FLOW_END, 33, 2, 8); /* has no begin */
    add(TTR_KIND_END, "outer", 40);
    add(TTR_KIND_SPAN, "other", 45)->thread = 2;
    events[events_n - 1].duration = 5;
    flow(TTR_KIND_FLOW_END, 50, 2, 7);
    flow(TTR_KIND_FLOW_STEP, 50, 2, 7); /* after its end */
    ttr_store *store = build();
    ttr_store_table table;
    const int64_t out[] = {1, 0}, in[] = {0, 3}, event[] = {4, 8};
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(cell(store, "flow", "slice_out", i), out[i]);
        assert_int_equal(cell(store, "flow", "slice_in", i), in[i]);
        assert_int_equal(cell(store, "flow", "arg_set_id", i), event[i]);
        assert_int_equal(cell(store, "flow", "trace_id", i), 7);
    }
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        if (strcmp(table.name, "flow") == 0)
            assert_int_equal(table.rows, 2);
    ttr_store_free(store);
}

static void interpreted_flows_lead_to_the_next_slice_in_any_input(void **state)
{
    (void)state;
    add(TTR_KIND_SPAN, "callback", 10)->duration = 10;
    flow(TTR_KIND_FLOW_BEGIN, 15, 1, 7);
    events[events_n - 1].flags |= TTR_EVENT_ADDED;
    add(TTR_KIND_SPAN, "before", 20)->thread = 2;
    events[events_n - 1].duration = 5;
    flow(TTR_KIND_FLOW_END, 30, 2, 7);
    events[events_n - 1].flags |= TTR_EVENT_ADDED;
    events[events_n - 1].source = 1;
    add(TTR_KIND_INSTANT, "moment", 31)->thread = 2;
    add(TTR_KIND_SPAN, "received", 32)->thread = 2;
    events[events_n - 1].duration = 5;
    ttr_store *store = build();
    assert_int_equal(cell(store, "flow", "slice_out", 0), 0);
    assert_int_equal(cell(store, "flow", "slice_in", 0), 3);
    ttr_store_free(store);
}

static void classes_have_their_events(void **state)
{
    (void)state;
    add(TTR_KIND_INSTANT, "a", 10)->provider = ttr_text_add(t, "p", 1);
    add(TTR_KIND_INSTANT, "b", 11);
    add(TTR_KIND_INSTANT, "a", 12)->provider = ttr_text_add(t, "p", 1);
    ttr_store *store = build();
    assert_string_equal(text_cell(store, "class", "name", 0), "a");
    assert_string_equal(text_cell(store, "class", "provider", 0), "p");
    assert_int_equal(cell(store, "class", "events", 0), 2);
    assert_string_equal(text_cell(store, "class", "name", 1), "b");
    ttr_store_free(store);
}

static void wakes_end_sleeping_states(void **state)
{
    (void)state;
    add_switch(100, 0, TTR_THREAD_NEW, 1);
    add_switch(140, 1, TTR_THREAD_BLOCKED, 2);
    ttr_event *wake = add(TTR_KIND_WAKE, "wake", 150);
    wake->thread = 1;
    wake->link = 2;
    add_switch(170, 2, TTR_THREAD_PREEMPTED, 1);
    ttr_store *store = build();
    static const char *const states[] = {"Running", "S", "Running", "R", "R+", "Running"};
    const int64_t ts[] = {100, 140, 140, 150, 170, 170}, dur[] = {40, 10, 30, 20, -1, -1},
                  utid[] = {1, 1, 2, 1, 2, 1};
    for (uint64_t i = 0; i < 6; i++) {
        assert_string_equal(text_cell(store, "thread_state", "state", i), states[i]);
        assert_int_equal(cell(store, "thread_state", "ts", i), ts[i]);
        assert_int_equal(cell(store, "thread_state", "dur", i), dur[i]);
        assert_int_equal(cell(store, "thread_state", "utid", i), utid[i]);
    }
    assert_int_equal(cell(store, "thread_state", "waker_utid", 3), 2);
    assert_int_equal(cell(store, "thread_state", "waker_id", 3), 2);
    assert_int_equal(cell(store, "thread_state", "waker_id", 1), TTR_STORE_NULL);
    ttr_store_free(store);
}

static void runs_that_lose_their_end_have_no_duration(void **state)
{
    (void)state;
    add_switch(100, 0, TTR_THREAD_NEW, 1);
    add(TTR_KIND_GAP, "", 120);
    add_switch(140, 0, TTR_THREAD_NEW, 2);
    add_switch(160, 3, TTR_THREAD_BLOCKED, 0);
    add_switch(190, 0, TTR_THREAD_NEW, 1);
    ttr_store *store = build();
    assert_int_equal(cell(store, "sched", "dur", 0), TTR_STORE_NULL);
    assert_int_equal(cell(store, "sched", "dur", 1), TTR_STORE_NULL);
    assert_int_equal(cell(store, "sched", "utid", 2), TTR_STORE_NULL);
    assert_int_equal(cell(store, "sched", "dur", 2), 30);
    assert_int_equal(cell(store, "sched", "dur", 3), -1);
    assert_int_equal(cell(store, "thread_state", "dur", 1), TTR_STORE_NULL);
    assert_string_equal(text_cell(store, "thread_state", "state", 2), "S");
    assert_int_equal(cell(store, "thread_state", "utid", 2), 3);
    ttr_store_free(store);
}

static void only_named_tables_are_filled(void **state)
{
    (void)state;
    static const char *const names[] = {"slice", "my_event", NULL};
    const ttr_store_options options = {.size = sizeof options, .names = names};
    ttr_store_table table;
    ttr_error error;
    add(TTR_KIND_INSTANT, "My:Event", 1);
    add(TTR_KIND_INSTANT, "other", 2);
    const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, &options, &error);
    assert_int_equal(ttr_store_read(store, reader, NULL, NULL, &error), TTR_OK);
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++) {
        if (strcmp(table.name, "event") == 0)
            assert_int_equal(table.rows, 0);
        if (strcmp(table.name, "slice") == 0)
            assert_int_equal(table.rows, 2);
        if (strcmp(table.name, "my_event") == 0)
            assert_int_equal(table.rows, 1);
    }
    ttr_close(reader);
    ttr_store_free(store);
}

static void unnamed_columns_have_no_values(void **state)
{
    (void)state;
    static const char *const names[] = {"SLICE", NULL}, *const columns[] = {"Dur", NULL};
    const ttr_store_options options = {.size = sizeof options, .names = names, .columns = columns};
    ttr_store_column about;
    ttr_error error;
    add(TTR_KIND_SPAN, "span", 1)->duration = 7;
    const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, &options, &error);
    assert_int_equal(ttr_store_read(store, reader, NULL, NULL, &error), TTR_OK);
    assert_int_equal(cell(store, "slice", "dur", 0), 7);
    assert_int_equal(cell(store, "slice", "name", 0), TTR_STORE_NULL);
    for (size_t i = 0; ttr_store_column_at(store, 2, i, &about); i++)
        assert_int_equal(about.is_filled, strcmp(about.name, "dur") == 0);
    ttr_close(reader);
    ttr_store_free(store);
}

/* --- Updates --- */

static int compare_times(const void *left, const void *right)
{
    const ttr_event *a = left, *b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* After each batch, an updated store has the tables of a store that reads the events so far. */
static void updated_store_has_the_tables_so_far(void **state)
{
    (void)state;
    ttr_error error;
    ttr_batch batch;
    ttr_event all[64];
    events_n = 64;
    memory_random_events(t, events, events_n, 3, 500);
    for (size_t i = 0; i < events_n; i += 3) {
        events[i].kind = (uint8_t)(i % 2 ? TTR_KIND_SWITCH : TTR_KIND_BEGIN);
        events[i].flags = TTR_EVENT_HAS_CPU;
        events[i].cpu = i % 4;
        events[i].link = 1 + i % 3;
    }
    qsort(events, events_n, sizeof *events, compare_times);
    memcpy(all, events, sizeof all);
    const struct memory_events list = {
        .event = all, .n = events_n, .order = TTR_ORDER_TIME, .batch_max = 5};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, NULL, &error);
    events_n = 0;
    while (ttr_read(reader, &batch, &error) == TTR_OK) {
        assert_int_equal(ttr_store_add(store, &batch, &error), TTR_OK);
        assert_int_equal(ttr_store_update(store, reader, events_n == 60, &error), TTR_OK);
        events_n += batch.n;
        ttr_store *expected = build();
        check_same(store, expected);
        ttr_store_free(expected);
    }
    assert_int_equal(events_n, 64);
    ttr_close(reader);
    ttr_store_free(store);
    memory_events_free(all, sizeof all / sizeof *all);
}

/* Also if a track of slices occurs after an update that has numbered the tracks of counters. */
static void tracks_of_counters_are_numbered_after_those_of_slices(void **state)
{
    (void)state;
    ttr_error error;
    ttr_batch batch;
    for (unsigned i = 0; i < 3; i++) {
        memory_event_fields(t, add(TTR_KIND_COUNTER, "counter", 10 + 2 * i), 2);
        add(TTR_KIND_INSTANT, "moment", 11 + 2 * i)->thread = i + 1;
    }
    const struct memory_events list = {
        .event = events, .n = events_n, .order = TTR_ORDER_TIME, .batch_max = 2};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, NULL, &error);
    for (int64_t threads = 1; ttr_read(reader, &batch, &error) == TTR_OK; threads++) {
        assert_int_equal(ttr_store_add(store, &batch, &error), TTR_OK);
        assert_int_equal(ttr_store_update(store, reader, false, &error), TTR_OK);
        for (int64_t row = 0; row < 2 * threads; row++) {
            assert_int_equal(cell(store, "counter", "track_id", (uint64_t)row), threads + row % 2);
            assert_string_equal(text_cell(store, "track", "type", (uint64_t)(threads + row % 2)),
                                "counter_track");
        }
    }
    ttr_close(reader);
    ttr_store_free(store);
    memory_events_free(events, events_n);
}

/* --- Saved stores --- */

static const ttr_text key = {"trace.fxt 1", 11};

/* Adds events so that columns have blocks and a tail; returns their store. */
static ttr_store *build_large_store(void)
{
    for (size_t i = 0; i < EVENTS_MAX; i++)
        add(i % 3 ? TTR_KIND_SPAN : TTR_KIND_INSTANT, i % 7 ? "often" : "my:seldom",
            (int64_t)i * 1000)
            ->duration = i % 11;
    return build();
}

/* Saves a store with a part to an unlinked file; returns its descriptor. */
static int save(const ttr_store *store)
{
    char path[] = "/tmp/ttr-store-XXXXXX";
    const ttr_store_part parts[] = {{"index", "some bytes", 10}, {"empty", NULL, 0}};
    const ttr_store_save_options options = {
        .size = sizeof options, .key = key, .parts = parts, .parts_n = 2};
    ttr_error error;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ttr_store_save(store, fd, &options, &error), TTR_OK);
    return fd;
}

/* Loads a store into a new context. Returns TTR_OK after comparing it with the one that was saved,
 * if there is one. */
static ttr_status load(int fd, ttr_text with_key, const ttr_store_options *options,
                       const ttr_store *saved)
{
    ttr_error error = {0};
    ttr *other = ttr_new(NULL);
    ttr_store *store = ttr_store_load(other, fd, with_key, options, &error);
    static int64_t a[EVENTS_MAX + 1], b[EVENTS_MAX + 1];
    for (size_t i = 0; store && saved && i < STORE_TABLES; i++) {
        ttr_store_table about, expected;
        ttr_store_column column;
        assert_true(ttr_store_table_at(store, i, &about));
        assert_true(ttr_store_table_at(saved, i, &expected));
        if (about.is_filled)
            assert_int_equal(about.rows, expected.rows);
        for (size_t k = 0; ttr_store_column_at(store, i, k, &column); k++) {
            if (!column.is_filled)
                continue;
            ttr_store_values(store, i, k, 0, EVENTS_MAX + 1, a);
            ttr_store_values(saved, i, k, 0, EVENTS_MAX + 1, b);
            assert_memory_equal(a, b, sizeof a);
        }
    }
    ttr_store_free(store);
    ttr_free(other);
    return store ? TTR_OK : error.status;
}

static void saved_store_is_loaded_with_equal_values(void **state)
{
    (void)state;
    ttr_store *store = build_large_store();
    const int fd = save(store);
    assert_int_equal(load(fd, key, NULL, store), TTR_OK);
    static const char *const names[] = {"slice", "dur", "name", "my", NULL}, *const none[] = {NULL};
    const ttr_store_options few = {.size = sizeof few, .names = names, .columns = names};
    const ttr_store_options only_parts = {.size = sizeof few, .names = none, .columns = none};
    assert_int_equal(load(fd, key, &few, store), TTR_OK);
    assert_int_equal(load(fd, key, &only_parts, store), TTR_OK);
    assert_int_equal(load(fd, (ttr_text){"other", 5}, NULL, store), TTR_E_MALFORMED);
    /* an event has this name, and the file has no table of it */
    static const char *const class[] = {"my_seldom", NULL};
    const ttr_store_options of_class = {.size = sizeof few, .names = class, .columns = class};
    assert_int_equal(load(fd, key, &of_class, store), TTR_E_UNSUPPORTED);
    (void)close(fd);
    ttr_store_free(store);
}

static void columns_of_complete_blocks_are_saved(void **state)
{
    (void)state;
    for (size_t i = 0; i < (size_t)2 * STORE_BLOCK; i++)
        add(TTR_KIND_SPAN, "x", (int64_t)i);
    ttr_store *store = build();
    const int fd = save(store);
    assert_int_equal(load(fd, key, NULL, store), TTR_OK);
    (void)close(fd);
    ttr_store_free(store);
}

static void columns_that_were_not_saved_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"slice", "dur", "my_seldom", NULL},
                             *const more[] = {"slice", "dur", "name", NULL},
                             *const other[] = {"event", NULL};
    const ttr_store_options options = {.size = sizeof options, .names = names, .columns = names};
    const ttr_store_options asks_more = {.size = sizeof options, .names = more, .columns = more};
    const ttr_store_options asks_other = {.size = sizeof options, .names = other, .columns = other};
    const ttr_store_options asks_all = {.size = sizeof options, .names = names};
    ttr_store *store = NULL;
    ttr_error error;
    for (size_t i = 0; i < 2000; i++)
        add(TTR_KIND_SPAN, i % 2 ? "my:seldom" : "x", (int64_t)i)->duration = 5;
    const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
    ttr_reader *reader = memory_reader(t, &list);
    store = ttr_store_new(t, &options, &error);
    assert_int_equal(ttr_store_read(store, reader, NULL, NULL, &error), TTR_OK);
    ttr_close(reader);
    const int fd = save(store);
    assert_int_equal(load(fd, key, &options, store), TTR_OK);
    assert_int_equal(load(fd, key, &asks_more, store), TTR_E_UNSUPPORTED);
    assert_int_equal(load(fd, key, &asks_other, store), TTR_E_UNSUPPORTED);
    assert_int_equal(load(fd, key, &asks_all, store), TTR_E_UNSUPPORTED);
    (void)close(fd);
    ttr_store_free(store);
}

static void parts_are_read_and_checked(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    const ttr_store_options options = {.size = sizeof options, .names = none, .columns = none};
    char bytes[10];
    ttr_error error;
    add(TTR_KIND_SPAN, "x", 1);
    ttr_store *store = build();
    const int fd = save(store);
    ttr_store_free(store);
    ttr *other = ttr_new(NULL);
    store = ttr_store_load(other, fd, key, &options, &error);
    assert_non_null(store);
    assert_int_equal(ttr_store_part_size(store, "index"), 10);
    assert_int_equal(ttr_store_part_size(store, "empty"), 0);
    assert_int_equal(ttr_store_part_size(store, "none"), -1);
    assert_int_equal(ttr_store_part_read(store, "index", bytes, 10, &error), TTR_OK);
    assert_memory_equal(bytes, "some bytes", 10);
    assert_int_equal(ttr_store_part_read(store, "index", bytes, 9, &error), TTR_E_MISUSE);
    ttr_store_free(store);
    ttr_free(other);
    (void)close(fd);
}

/* Every prefix, and every flipped byte that is used, must be refused. */
static void damaged_file_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 40; i++)
        add(TTR_KIND_SPAN, i % 2 ? "a" : "b", (int64_t)i)->duration = 5;
    ttr_store *store = build();
    const int fd = save(store);
    const off_t size = lseek(fd, 0, SEEK_END);
    assert_true(size > 500 && size < 1 << 20);
    size_t ignored = 0;
    for (off_t i = 0; i < size; i++) {
        uint8_t byte, flipped;
        assert_int_equal(pread(fd, &byte, 1, i), 1);
        flipped = byte ^ (uint8_t)(1u << (i % 8));
        assert_int_equal(pwrite(fd, &flipped, 1, i), 1);
        const ttr_status status = load(fd, key, NULL, NULL);
        ignored += status == TTR_OK;
        assert_true(status == TTR_OK || status == TTR_E_MALFORMED);
        assert_int_equal(pwrite(fd, &byte, 1, i), 1);
    }
    /* bytes between sections, and the two parts, which are checked when they are read */
    assert_true(ignored < 7 * 130 + 10);
    assert_int_equal(load(fd, key, NULL, store), TTR_OK);
    for (off_t i = size - 1; i >= 0; i -= 1 + i / 50) {
        assert_int_equal(ftruncate(fd, i), 0);
        assert_int_equal(load(fd, key, NULL, NULL), TTR_E_MALFORMED);
    }
    (void)close(fd);
    ttr_store_free(store);
}

static void file_over_the_limit_is_not_saved(void **state)
{
    (void)state;
    const ttr_store_save_options options = {.size = sizeof options, .key = key, .size_max = 100};
    ttr_error error;
    add(TTR_KIND_SPAN, "x", 1);
    ttr_store *store = build();
    char path[] = "/tmp/ttr-store-XXXXXX";
    const int fd = mkstemp(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ttr_store_save(store, fd, &options, &error), TTR_E_LIMIT);
    assert_int_equal(load(fd, key, NULL, NULL), TTR_E_MALFORMED);
    (void)close(fd);
    ttr_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_is_null),
        cmocka_unit_test_setup_teardown(begins_and_ends_become_nested_slices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_that_come_at_their_end_are_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slices_are_equal_if_they_are_copied_or_moved, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(async_spans_end_by_their_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(switches_become_times_on_processors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flows_connect_the_innermost_slices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interpreted_flows_lead_to_the_next_slice_in_any_input,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(begins_at_the_end_of_the_file_belong_to_earlier_ends,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(slices_at_equal_times_nest_as_they_were_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(classes_have_their_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wakes_end_sleeping_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_that_lose_their_end_have_no_duration, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(updated_store_has_the_tables_so_far, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tracks_of_counters_are_numbered_after_those_of_slices,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_named_tables_are_filled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unnamed_columns_have_no_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(saved_store_is_loaded_with_equal_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_of_complete_blocks_are_saved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_that_were_not_saved_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_are_read_and_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_file_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_over_the_limit_is_not_saved, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
