/* The view: boxes of random windows against every slice, requests, and answers. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>

#include "support/memory_reader.h"
#include "support/support.h"
#include "view/view.h"

#define SLICES 6000u

static ttr *t;
static ttr_store *store;
static ttr_view *view;
static ttr_event *events;
static size_t events_n;
static uint64_t seed;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 17;
}

static ttr_event *add_event(ttr_kind kind, const char *name, int64_t time)
{
    ttr_event *event = &events[events_n++];
    *event = (ttr_event){.kind = (uint8_t)kind,
                         .time = time,
                         .name = ttr_text_add(t, name, strlen(name)),
                         .thread = 1};
    return event;
}

static int set_up(void **state)
{
    (void)state;
    t = ttr_new(NULL);
    events = calloc(4 * SLICES, sizeof *events);
    events_n = 0;
    seed = 42;
    store = NULL;
    view = NULL;
    return !t || !events || !ttr_thread_name(t, 10, 11, "app", "main");
}

static int tear_down(void **state)
{
    (void)state;
    ttr_view_free(view);
    ttr_store_free(store);
    ttr_free(t);
    free(events);
    return 0;
}

static void make_view(void)
{
    ttr_error error;
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    const struct memory_events list = {.event = events, .n = events_n, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    store = ttr_store_new(t, &options, &error);
    assert_non_null(store);
    assert_int_equal(ttr_store_read(store, in, NULL, NULL, &error), TTR_OK);
    ttr_close(in);
    view = ttr_view_new(t, store, &error);
    assert_non_null(view);
}

/* Adds complete spans of one thread in three depths, with bursts, pauses and a few of 20 s. */
static void add_spans(void)
{
    static const char *const names[] = {"read", "write", "parse", "wait", "draw"};
    int64_t now = 1000000000;
    for (size_t i = 0; i < SLICES; i++) {
        const int64_t length = (int64_t)(1 + next_random() % (i % 900 == 0 ? 20000000000u : 3000u));
        add_event(TTR_KIND_SPAN, names[next_random() % 5], now)->duration = (uint64_t)length;
        if (length > 40) {
            add_event(TTR_KIND_SPAN, names[next_random() % 5], now + 5)->duration =
                (uint64_t)length / 3;
            add_event(TTR_KIND_SPAN, names[next_random() % 5], now + 5 + length / 2)->duration =
                (uint64_t)length / 4;
        }
        now += length + (int64_t)(next_random() % 7 == 0 ? next_random() % 100000 : 0);
    }
}

/* --- Times --- */

/* A span at the end of a trace of 2^61 ns is in the last column of the overview. */
static void overview_of_a_long_trace_has_its_last_span(void **state)
{
    (void)state;
    uint64_t counted = 0;
    add_event(TTR_KIND_SPAN, "first", 0)->duration = 10;
    add_event(TTR_KIND_SPAN, "last", (int64_t)1 << 61)->duration = 0;
    make_view();
    assert_int_equal(view->data->end, (int64_t)1 << 61);
    for (size_t i = 0; i < VIEW_OVERVIEW; i++)
        counted += view->data->overview[i];
    assert_int_equal(counted, 2);
    assert_int_equal(view->data->overview[VIEW_OVERVIEW - 1], 1);
}

/* --- Boxes --- */

struct shown {
    double from, to;
    uint32_t name, folded;
};

static size_t read_boxes(const struct reply *out, const struct view_window *window,
                         struct shown *shown, size_t max)
{
    const size_t n = out->n / sizeof(struct view_box);
    assert_true(n <= max);
    for (size_t i = 0; i < n; i++) {
        struct view_box box;
        memcpy(&box, out->p + i * sizeof box, sizeof box);
        const double unit = (double)(window->to - window->from) / 65535;
        shown[i] = (struct shown){(double)window->from + box.x * unit,
                                  (double)window->from + (box.x + box.width) * unit,
                                  box.name_and_folded & VIEW_NAMES_MAX, box.name_and_folded >> 24};
        assert_true(i == 0 || shown[i].from >= shown[i - 1].from);
    }
    return n;
}

/* Checks each slice of a row: a wide one has a box of its own with its name, a narrow one is inside
 * of some box, up to the width of a pixel. */
static void check_row(const struct view_row *row, const struct view_window *window,
                      const struct shown *shown, size_t n)
{
    const double pixel = (double)(window->to - window->from) / window->width * 2;
    const double unit = (double)(window->to - window->from) / 65535;
    size_t at = 0;
    for (uint64_t i = 0; i < row->n; i++) {
        int64_t start, length;
        view_item(view->data, row, i, &start, &length);
        if (start >= window->to || start + length <= window->from)
            continue;
        const double from = (double)(start > window->from ? start : window->from);
        const double to = (double)(start + length < window->to ? start + length : window->to);
        while (at < n && shown[at].to + pixel + unit < from)
            at++;
        bool is_shown = false;
        for (size_t k = at; k < n && shown[k].from <= from + pixel + unit && !is_shown; k++)
            is_shown = (double)length >= pixel + 1
                           ? shown[k].folded == 0 &&
                                 shown[k].name == view->data->names[row->first + i] &&
                                 shown[k].from <= from + unit && shown[k].from >= from - unit &&
                                 shown[k].to >= to - unit && shown[k].to <= to + unit
                           : shown[k].from <= from + unit && shown[k].to >= to - pixel - unit;
        assert_true(is_shown);
    }
}

static void boxes_of_random_windows_show_every_slice(void **state)
{
    (void)state;
    static struct shown shown[20000];
    add_spans();
    make_view();
    assert_true(view->data->rows_n >= 2);
    for (unsigned i = 0; i < 20000; i++) {
        const struct view_row *row = &view->data->rows[next_random() % view->data->rows_n];
        const int64_t length = (int64_t)((uint64_t)1000 << next_random() % 26);
        const int64_t from = (int64_t)(next_random() % (uint64_t)view->data->end);
        struct reply out = {0};
        struct view_window window = {
            .from = from, .to = from + length, .width = (uint32_t)(200 + next_random() % 1800)};
        const uint32_t made = view_window_slices(view->data, row, &window, &out);
        const size_t n = read_boxes(&out, &window, shown, 20000);
        assert_int_equal(made, n);
        assert_true(n <= window.width + 2);
        check_row(row, &window, shown, n);
        reply_free(&out);
    }
}

static void window_of_everything_reads_few_blocks(void **state)
{
    (void)state;
    int64_t now = 0;
    for (size_t i = 0; i < 3 * SLICES; i++, now += 100)
        add_event(TTR_KIND_SPAN, "tick", now)->duration = 50;
    make_view();
    struct reply out = {0};
    struct view_window window = {.from = 0, .to = view->data->end, .width = 100};
    assert_int_equal(view_window_slices(view->data, &view->data->rows[0], &window, &out), 50);
    assert_true(window.opened <= 1);
    reply_free(&out);
}

static void values_of_a_counter_hold_until_the_next(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 100; i++)
        add_event(TTR_KIND_SPAN, "work", i * 1000)->duration = 10;
    make_view();
    /* Rows of counters are made from the arrays alone: take the first row as one. */
    view->data->tracks[view->data->rows[0].track].kind = VIEW_COUNTER;
    for (uint64_t i = 0; i < view->data->rows[0].n; i++) {
        const float value = (float)i;
        memcpy(&view->data->names[view->data->rows[0].first + i], &value, sizeof value);
    }
    struct reply out = {0};
    struct view_window window = {.from = 10500, .to = 12500, .width = 200};
    struct view_counter_box box;
    assert_int_equal(view_window_counter(view->data, &view->data->rows[0], &window, &out), 3);
    memcpy(&box, out.p, sizeof box);
    assert_int_equal(box.x, 0);
    assert_true(box.low == 10 && box.high == 10);
    reply_free(&out);
}

/* --- Answers --- */

static void ask(const char *path, const char *query, struct answer *answer)
{
    const struct request request = {.path = path, .query = query};
    view_answer(view, &request, answer);
    reply_append(&answer->body, "", 1);
}

static void check_answer(const char *path, const char *query, int status, const char *part)
{
    struct answer answer;
    ask(path, query, &answer);
    assert_int_equal(answer.status, status);
    if (part && !strstr(answer.body.p, part))
        fail_msg("%s?%s: %s", path, query, answer.body.p);
    reply_free(&answer.body);
}

static void answers_describe_the_trace(void **state)
{
    (void)state;
    add_event(TTR_KIND_SPAN, "outer", 1000)->duration = 100;
    add_event(TTR_KIND_SPAN, "inner", 1010)->duration = 50;
    add_event(TTR_KIND_SPAN, "outer", 2000)->duration = 7;
    make_view();
    check_answer("/info", "", 200, "\"start\":\"1000\",\"end\":1007");
    check_answer("/names", "from=0", 200, "\"inner\"");
    check_answer("/names", "from=99999", 200, "[]");
    check_answer("/at", "row=0&t=1003", 200, "\"start\":1000,\"length\":7");
    check_answer("/at", "row=0&t=500", 200, "null");
    check_answer("/at", "row=0&t=990&near=20", 200, "\"start\":1000");
    check_answer("/at", "row=99&t=1", 400, NULL);
    check_answer("/search", "q=OUT&t=0&dir=n", 200, "\"count\":2,\"row\":0");
    check_answer("/search", "q=OUT&t=0&row=0&item=0&dir=n", 200, "\"start\":1000,\"length\":7");
    check_answer("/search", "q=none", 200, "{\"count\":0,\"names\":[]}");
    check_answer("/flame", "a=0&z=2000", 200, ",107,2],");
    check_answer("/query", "sql=SELECT+count(*)+n+FROM+slice", 200,
                 "{\"columns\":[\"n\"],\"rows\":[[3]],\"cut\":false}");
    check_answer("/query", "sql=SELECT+9007199254740993", 200, "[\"9007199254740993\"]");
    check_answer("/query", "sql=SELEC", 200, "\"error\":");
    check_answer("/query", "sql=SELECT+1+UNION+SELECT+2&limit=1", 200, "\"cut\":true");
    check_answer("/query", "", 400, NULL);
    check_answer("/lod", "a=0&z=10&w=100&r=0-1", 200, NULL);
    check_answer("/lod", "a=10&z=10&w=100&r=0", 400, NULL);
    check_answer("/lod", "a=0&z=10&w=0&r=0", 400, NULL);
    check_answer("/lod", "a=0&z=99999999999999999999&w=1&r=0", 400, NULL);
    check_answer("/", "", 200, "<!doctype html>");
    check_answer("/nothing", "", 404, NULL);
}

static void hostile_names_are_cut_and_cleaned(void **state)
{
    (void)state;
    static char name[1 << 20];
    memset(name, 'x', sizeof name - 1);
    memcpy(name, "<img src=x onerror=alert(1)>\x1b[31m\xe2\x80\xae", 36);
    add_event(TTR_KIND_SPAN, name, 0)->duration = 5;
    make_view();
    struct answer answer;
    ask("/names", "", &answer);
    assert_true(answer.body.n < 600);
    assert_null(strstr(answer.body.p, "<img"));
    assert_null(strchr(answer.body.p, '\x1b'));
    assert_null(strstr(answer.body.p, "\xe2\x80\xae"));
    reply_free(&answer.body);
}

static void empty_trace_has_a_view(void **state)
{
    (void)state;
    make_view();
    check_answer("/info", "", 200, "\"items\":0");
    check_answer("/tracks", "", 200, "[]");
    check_answer("/flame", "a=0&z=5", 200, "\"nodes\":[]");
}

static void times_of_different_clocks_have_a_view(void **state)
{
    (void)state;
    static const int64_t times[] = {INT64_MIN / 2, 0, 1700000000000000000, INT64_MAX - 5};
    for (size_t i = 0; i < 4; i++)
        add_event(TTR_KIND_SPAN, "span", times[i])->duration = i % 2 ? UINT64_MAX : 7;
    make_view();
    uint64_t counted = 0;
    for (size_t i = 0; i < VIEW_OVERVIEW; i++)
        counted += view->data->overview[i];
    assert_int_equal(counted, 4);
    check_answer("/lod", "a=0&z=4611686018427387904&w=1900&r=0-3", 200, NULL);
    check_answer("/flame", "a=0&z=4611686018427387904", 200, "\"nodes\":[[");
}

/* Hits that start at the same time are all visited, forward and backward. */
static void search_visits_hits_of_equal_start(void **state)
{
    (void)state;
    add_event(TTR_KIND_SPAN, "hit", 1000)->duration = 100;
    add_event(TTR_KIND_SPAN, "hit", 1000)->duration = 50;
    for (int i = 0; i < 40; i++) /* more than a block */
        add_event(TTR_KIND_INSTANT, "hit", 2000);
    make_view();
    check_answer("/search", "q=hit&t=0&dir=n", 200, "\"row\":0,\"name\":4,\"start\":0");
    check_answer("/search", "q=hit&t=0&row=0&item=0&dir=n", 200, "\"row\":1,");
    check_answer("/search", "q=hit&t=0&row=1&item=0&dir=n", 200, "\"start\":1000,");
    check_answer("/search", "q=hit&t=1000&row=0&item=30&dir=n", 200, "\"item\":31,");
    check_answer("/search", "q=hit&t=1000&row=0&item=32&dir=p", 200, "\"item\":31,");
    check_answer("/search", "q=hit&t=1000&row=0&item=1&dir=p", 200, "\"start\":0,\"length\":50");
    check_answer("/search", "q=hit&t=1000&row=0&item=40&dir=n", 200, "{\"count\":42,\"names\"");
}

/* Statements of a page cannot leave anything for later ones. */
static void page_cannot_define_views(void **state)
{
    (void)state;
    add_event(TTR_KIND_SPAN, "span", 1000)->duration = 100;
    make_view();
    static const char *const statements[] = {"CREATE+TEMP+VIEW+slice+AS+SELECT+1",
                                             "BEGIN",
                                             "ANALYZE",
                                             "SAVEPOINT+a",
                                             "REINDEX",
                                             "CREATE+TEMP+TABLE+a(b)",
                                             "DROP+TABLE+slice",
                                             "PRAGMA+cache_size=1"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char query[128];
        (void)snprintf(query, sizeof query, "sql=%s", statements[i]);
        check_answer("/query", query, 200, "not authorized");
    }
    check_answer("/query",
                 "sql=WITH+RECURSIVE+a(n)+AS+(SELECT+1+UNION+SELECT+n%2B1+FROM+a+WHERE+n<5)"
                 "+SELECT+max(n),median(n)+FROM+a,slice",
                 200, "[5,3");
}

/* A live trace keeps at least half of the limit, and nothing older than the limit. */
static void reading_with_a_limit_keeps_the_last_events(void **state)
{
    (void)state;
    ttr_error error;
    for (int64_t i = 0; i < 1000; i++)
        add_event(TTR_KIND_SPAN, i < 500 ? "old" : "new", i * 10)->duration = 5;
    const struct memory_events list = {
        .event = events, .n = events_n, .order = TTR_ORDER_TIME, .batch_max = 7};
    for (uint64_t limit = 0; limit <= 400; limit += 80) {
        ttr_reader *in = memory_reader(t, &list);
        const ttr_view_reading options = {.size = sizeof options, .events_max = limit};
        view = ttr_view_new(NULL, NULL, &error);
        assert_int_equal(ttr_view_read(view, t, in, &options, &error), TTR_OK);
        const uint64_t n = view->data->rows[0].n;
        assert_true(limit == 0 ? n == 1000 : n >= limit / 2 && n <= limit + 14);
        assert_int_equal(view->data->start + view->data->end, 9995);
        assert_false(view->data->is_partial);
        check_answer("/query", "sql=SELECT+max(ts)+FROM+slice", 200, "[[9990]]");
        check_answer("/search", "q=new&t=0&dir=n", 200, "\"row\":0,");
        ttr_close(in);
        ttr_view_free(view);
        view = NULL;
    }
}

/* A second trace replaces the first one when it has been read, and not before. */
static void failed_reading_keeps_the_rows(void **state)
{
    (void)state;
    ttr_error error;
    add_event(TTR_KIND_SPAN, "first", 0)->duration = 5;
    struct memory_events list = {.event = events, .n = 1, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    view = ttr_view_new(NULL, NULL, &error);
    check_answer("/info", "", 200, "\"items\":0,\"serial\":0,\"epoch\":0,\"partial\":true");
    check_answer("/query", "sql=SELECT+1", 200, "being read");
    assert_int_equal(ttr_view_read(view, t, in, NULL, &error), TTR_OK);
    ttr_close(in);
    add_event(TTR_KIND_SPAN, "second", 10)->duration = 5;
    list.n = 2;
    list.ending = TTR_E_MALFORMED;
    in = memory_reader(t, &list);
    assert_int_equal(ttr_view_read(view, t, in, NULL, &error), TTR_E_MALFORMED);
    ttr_close(in);
    check_answer("/info", "", 200, "\"items\":1,");
    list.ending = TTR_OK;
    in = memory_reader(t, &list);
    assert_int_equal(ttr_view_read(view, t, in, NULL, &error), TTR_OK);
    ttr_close(in);
    check_answer("/info", "", 200, "\"items\":2,");
}

/* --- Requests --- */

static int check_request(const char *text)
{
    static struct http_head head;
    if (!http_parse_head(text, strlen(text), &head))
        return 400;
    return http_check(view, &head);
}

static void requests_are_refused_without_secret_or_from_elsewhere(void **state)
{
    (void)state;
    make_view();
    view->port = 5000;
    memcpy(view->secret, "0123456789abcdef0123456789abcdef", 33);
#define COOKIE "Cookie: a=b; tracetta_5000=0123456789abcdef0123456789abcdef\r\n"
#define HOST "Host: 127.0.0.1:5000\r\n"
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST COOKIE "\r\n"), 200);
    assert_int_equal(check_request("GET / HTTP/1.1\r\nhost: LOCALHOST:77\r\n" COOKIE "\r\n"), 200);
    assert_int_equal(
        check_request("GET /?k=0123456789abcdef0123456789abcdef HTTP/1.1\r\n" HOST "\r\n"), 303);
    assert_int_equal(
        check_request("GET /?k=0123456789abcdef0123456789abcdee HTTP/1.1\r\n" HOST "\r\n"), 403);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST "\r\n"), 403);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST "Cookie: tracetta_5000=0123\r\n\r\n"),
                     403);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST "Cookie: tracetta_5000=\r\n\r\n"),
                     403);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" COOKIE "\r\n"), 421);
    assert_int_equal(check_request("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.org\r\n" COOKIE "\r\n"),
                     421);
    assert_int_equal(check_request("GET / HTTP/1.1\r\nHost: evil.org\r\n" COOKIE "\r\n"), 421);
    assert_int_equal(
        check_request("GET / HTTP/1.1\r\n" HOST COOKIE "Sec-Fetch-Site: cross-site\r\n\r\n"), 403);
    assert_int_equal(
        check_request("GET / HTTP/1.1\r\n" HOST COOKIE "Sec-Fetch-Site: same-site\r\n\r\n"), 403);
    assert_int_equal(
        check_request("GET / HTTP/1.1\r\n" HOST COOKIE "Sec-Fetch-Site: same-origin\r\n\r\n"), 200);
    assert_int_equal(check_request("POST / HTTP/1.1\r\n" HOST COOKIE "\r\n"), 405);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST HOST COOKIE "\r\n"), 400);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST COOKIE "Content-Length: 4\r\n\r\n"),
                     400);
    assert_int_equal(
        check_request("GET / HTTP/1.1\r\n" HOST COOKIE "Transfer-Encoding: chunked\r\n\r\n"), 400);
    assert_int_equal(check_request("GET http://evil.org/ HTTP/1.1\r\n" HOST COOKIE "\r\n"), 400);
    assert_int_equal(check_request("GET / HTTP/2\r\n" HOST "\r\n"), 400);
    assert_int_equal(check_request("\r\n\r\n"), 400);
    assert_int_equal(check_request("GET / HTTP/1.1\r\n" HOST), 400);
}

static void secret_is_new_for_each_view(void **state)
{
    (void)state;
    ttr_error error;
    char first[64];
    make_view();
    assert_string_equal(ttr_view_url(view), "");
    assert_int_equal(ttr_view_serve(view, NULL, NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_view_listen(view, NULL, &error), TTR_OK);
    (void)snprintf(first, sizeof first, "%s", view->secret);
    assert_int_equal(strlen(first), 32);
    ttr_view *other = ttr_view_new(t, store, &error);
    assert_int_equal(ttr_view_listen(other, NULL, &error), TTR_OK);
    assert_string_not_equal(first, other->secret);
    ttr_view_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(overview_of_a_long_trace_has_its_last_span, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(boxes_of_random_windows_show_every_slice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(window_of_everything_reads_few_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_of_a_counter_hold_until_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_describe_the_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(search_visits_hits_of_equal_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_with_a_limit_keeps_the_last_events, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failed_reading_keeps_the_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(page_cannot_define_views, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_names_are_cut_and_cleaned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_trace_has_a_view, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_of_different_clocks_have_a_view, set_up, tear_down),
        cmocka_unit_test_setup_teardown(requests_are_refused_without_secret_or_from_elsewhere,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(secret_is_new_for_each_view, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
