/* Rows of a view in a saved store: they answer as the view does, and damaged ones are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tracetta/advanced.h>

#include "base/endian.h"
#include "support/memory_reader.h"
#include "support/support.h"
#include "view/view.h"

#define SPANS 3000u
#define SECOND 1000000000

/* A view of a trace, its saved store, and what a later process has of it. */
struct world {
    ttr *t, *later;
    ttr_store *store, *saved;
    ttr_view *view, *shown;
    int file;
    unsigned loads; /* calls of load_tables */
    ttr *tables;    /* context of the loaded tables */
};

static struct world world;
static const ttr_text key = {"key", 3};

/* Spans in two depths on two threads, with a gap of some seconds in a block. */
static void make_view(void)
{
    static ttr_event events[2 * SPANS];
    static const char *const names[] = {"read", "write", "parse", "draw"};
    ttr *t = world.t;
    ttr_error error;
    for (uint32_t i = 0; i < SPANS; i++) {
        const int64_t time = (int64_t)i * 700 + (i > 1000 ? 5 * (int64_t)SECOND : 0);
        const char *name = names[i % 4];
        events[2 * i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                    .time = time,
                                    .duration = 300 + i % 5 * 20,
                                    .name = ttr_text_add(t, name, strlen(name)),
                                    .thread = 1 + i / 16 % 2};
        events[2 * i + 1] = events[2 * i];
        events[2 * i + 1].time += 10;
        events[2 * i + 1].duration /= 2;
    }
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    const struct memory_events list = {.event = events, .n = 2 * SPANS, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    world.store = ttr_store_new(t, &options, &error);
    assert_non_null(world.store);
    assert_int_equal(ttr_store_read(world.store, in, NULL, NULL, &error), TTR_OK);
    ttr_close(in);
    world.view = ttr_view_new(t, world.store, &error);
    assert_non_null(world.view);
    assert_true(world.view->data->wides_n > 0);
}

static int set_up(void **state)
{
    (void)state;
    ttr_error error;
    world = (struct world){.t = ttr_new(NULL), .later = ttr_new(NULL)};
    world.file = memfd_create("store", MFD_CLOEXEC);
    world.shown = ttr_view_new(NULL, NULL, &error);
    return !world.t || !world.later || !world.shown || world.file < 0 ||
           !ttr_thread_name(world.t, 10, 11, "app", "main") ||
           !ttr_thread_name(world.t, 10, 12, "app", "worker");
}

static int tear_down(void **state)
{
    (void)state;
    ttr_view_free(world.view);
    ttr_view_free(world.shown);
    ttr_store_free(world.store);
    ttr_store_free(world.saved);
    ttr_free(world.t);
    ttr_free(world.later);
    ttr_free(world.tables);
    (void)close(world.file);
    return 0;
}

/* Saves the store with n of the parts of the view, the first of which is cut at its end, and loads
 * it without tables. */
static void save_cut_parts(size_t n, size_t cut)
{
    static const char *const none[] = {NULL};
    ttr_store_part parts[TTR_VIEW_PARTS];
    assert_int_equal(ttr_view_parts(world.view, parts), TTR_VIEW_PARTS);
    parts[0].n -= cut;
    const ttr_store_save_options options = {
        .size = sizeof options, .key = key, .parts = parts, .parts_n = n};
    const ttr_store_options wanted = {.size = sizeof wanted, .names = none};
    assert_int_equal(ftruncate(world.file, 0), 0);
    assert_int_equal(ttr_store_save(world.store, world.file, &options, NULL), TTR_OK);
    ttr_store_free(world.saved);
    ttr_free(world.later);
    world.later = ttr_new(NULL);
    world.saved = ttr_store_load(world.later, world.file, key, &wanted, NULL);
    assert_non_null(world.saved);
}

static void save_parts(size_t n)
{
    save_cut_parts(n, 0);
}

static ttr_store *load_tables(void *user_data, ttr **t)
{
    struct world *of = user_data;
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    of->loads++;
    of->tables = *t = ttr_new(NULL);
    return ttr_store_load(*t, of->file, key, &options, NULL);
}

static struct answer ask(ttr_view *view, const char *path, const char *query)
{
    struct answer answer;
    const struct request request = {.path = path, .query = query};
    view_answer(view, &request, &answer);
    reply_append(&answer.body, "", 1);
    return answer;
}

/* Both views give the same answer, but for `skipped` bytes from an offset. */
static void check_equal(const char *path, const char *query, size_t offset, size_t skipped)
{
    struct answer a = ask(world.view, path, query), b = ask(world.shown, path, query);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body.n, b.body.n);
    for (size_t i = 0; i < skipped; i++)
        a.body.p[offset + i] = b.body.p[offset + i];
    assert_memory_equal(a.body.p, b.body.p, a.body.n);
    reply_free(&a.body);
    reply_free(&b.body);
}

static void saved_rows_answer_as_the_view_does(void **state)
{
    (void)state;
    char window[128];
    ttr_error error = {0};
    make_view();
    save_parts(TTR_VIEW_PARTS);
    assert_int_equal(ttr_view_show_saved(world.shown, world.saved, NULL, NULL, &error), TTR_OK);
    /* it needs neither the store nor its context */
    ttr_store_free(world.saved);
    world.saved = NULL;
    world.view->data->serial = world.shown->data->serial; /* versions of each view */
    world.view->data->epoch = world.shown->data->epoch;
    check_equal("/info", "", 0, 0);
    check_equal("/tracks", "", 0, 0);
    check_equal("/names", "", 0, 0);
    check_equal("/search", "q=rea&t=0&dir=n", 0, 0);
    check_equal("/search", "q=d&t=5000700000&dir=p", 0, 0);
    check_equal("/at", "row=1&t=7015", 0, 0);
    check_equal("/flame", "a=0&z=90000000000", 0, 0);
    for (unsigned long i = 0; i < 400; i++) {
        (void)snprintf(window, sizeof window, "a=%lu&z=%lu&w=%lu&r=0-9", i * 12345,
                       i * 12345 + (1000ul << i % 24), 200 + i);
        check_equal("/lod", window, 8, 4); /* the time that it took */
    }
}

static void tables_are_loaded_for_the_first_statement(void **state)
{
    (void)state;
    ttr_error error = {0};
    make_view();
    save_parts(TTR_VIEW_PARTS);
    assert_int_equal(ttr_view_show_saved(world.shown, world.saved, load_tables, &world, &error),
                     TTR_OK);
    check_equal("/lod", "a=0&z=9000000000&w=500&r=0-9", 8, 4);
    assert_int_equal(world.loads, 0);
    check_equal("/query", "sql=SELECT+name,count(*),sum(dur)+FROM+slice+GROUP+BY+1", 0, 0);
    check_equal("/query", "sql=SELECT+*+FROM+slice+LIMIT+50", 0, 0);
    assert_int_equal(world.loads, 1);
}

static void damaged_tables_are_loaded_once(void **state)
{
    (void)state;
    ttr_error error = {0};
    make_view();
    save_parts(TTR_VIEW_PARTS);
    assert_int_equal(ttr_view_show_saved(world.shown, world.saved, load_tables, &world, &error),
                     TTR_OK);
    assert_int_equal(pwrite(world.file, "damaged", 7, 3), 7);
    for (int i = 0; i < 2; i++) {
        struct answer answer = ask(world.shown, "/query", "sql=SELECT+1");
        assert_non_null(strstr(answer.body.p, "no table yet"));
        reply_free(&answer.body);
    }
    assert_int_equal(world.loads, 1);
    check_equal("/lod", "a=0&z=9000000000&w=500&r=0-9", 8, 4);
}

/* Any byte of a part that changes is noticed, and the view shows what it had. */
static void damaged_parts_are_refused(void **state)
{
    (void)state;
    make_view();
    save_parts(TTR_VIEW_PARTS);
    ttr_store_part parts[TTR_VIEW_PARTS];
    (void)ttr_view_parts(world.view, parts);
    const off_t size = lseek(world.file, 0, SEEK_END);
    uint8_t *file = malloc((size_t)size);
    assert_non_null(file);
    assert_int_equal(pread(world.file, file, (size_t)size, 0), size);
    for (size_t i = 0; i < TTR_VIEW_PARTS; i++) {
        ttr_error error = {0};
        const uint8_t *found = memmem(file, (size_t)size, parts[i].bytes, parts[i].n);
        assert_non_null(found);
        const off_t at = found - file + (off_t)(parts[i].n / 2);
        const uint8_t flipped = file[at] ^ 1;
        assert_int_equal(pwrite(world.file, &flipped, 1, at), 1);
        assert_int_equal(ttr_view_show_saved(world.shown, world.saved, NULL, NULL, &error),
                         TTR_E_MALFORMED);
        assert_string_equal(error.text, "the saved rows are missing or damaged");
        assert_true(world.shown->data->is_partial);
        assert_int_equal(pwrite(world.file, &file[at], 1, at), 1);
    }
    free(file);
    ttr_error error = {0};
    assert_int_equal(ttr_view_show_saved(world.shown, world.saved, NULL, NULL, &error), TTR_OK);
}

static void missing_parts_are_refused(void **state)
{
    (void)state;
    make_view();
    for (size_t n = 0; n < TTR_VIEW_PARTS; n++) {
        ttr_error error = {0};
        save_parts(n);
        assert_int_equal(ttr_view_show_saved(world.shown, world.saved, NULL, NULL, &error),
                         TTR_E_MALFORMED);
        assert_true(world.shown->data->is_partial);
    }
}

/* The numbers of the head have 8 bytes each: a cut one has none that can be read. */
static void cut_head_is_refused(void **state)
{
    (void)state;
    make_view();
    for (size_t cut = 1; cut <= 8; cut++) {
        ttr_error error = {0};
        save_cut_parts(TTR_VIEW_PARTS, cut);
        assert_int_equal(ttr_view_show_saved(world.shown, world.saved, NULL, NULL, &error),
                         TTR_E_MALFORMED);
    }
}

/* --- Wrong numbers with a valid hash --- */

struct edit {
    const char *part;
    size_t offset, size;
    uint64_t value;
};

static bool is_refused(const struct edit *edit)
{
    static const char *const none[] = {NULL};
    ttr_error error = {0};
    ttr_store_part parts[TTR_VIEW_PARTS];
    (void)ttr_view_parts(world.view, parts);
    uint8_t *copy = NULL;
    for (size_t i = 0; i < TTR_VIEW_PARTS; i++) {
        if (strcmp(parts[i].name, edit->part) != 0)
            continue;
        uint8_t value[8];
        store_u64le(value, edit->value);
        copy = malloc(parts[i].n);
        assert_non_null(copy);
        memcpy(copy, parts[i].bytes, parts[i].n);
        memcpy(copy + edit->offset, value, edit->size);
        parts[i].bytes = copy;
    }
    assert_non_null(copy);
    const ttr_store_save_options options = {
        .size = sizeof options, .key = key, .parts = parts, .parts_n = TTR_VIEW_PARTS};
    const ttr_store_options wanted = {.size = sizeof wanted, .names = none};
    assert_int_equal(ftruncate(world.file, 0), 0);
    assert_int_equal(ttr_store_save(world.store, world.file, &options, NULL), TTR_OK);
    free(copy);
    ttr *t = ttr_new(NULL);
    ttr_store *saved = ttr_store_load(t, world.file, key, &wanted, NULL);
    assert_non_null(saved);
    const ttr_status status = ttr_view_show_saved(world.shown, saved, NULL, NULL, &error);
    ttr_store_free(saved);
    ttr_free(t);
    return status == TTR_E_MALFORMED;
}

static void numbers_out_of_bounds_are_refused(void **state)
{
    (void)state;
    make_view();
    const struct view_data *data = world.view->data;
    const size_t tracks = (6 + VIEW_OVERVIEW) * sizeof(int64_t), track = 10 * sizeof(int64_t);
    const uint64_t n = data->rows[0].n;
    size_t exact = 0; /* block with exact times */
    while (!data->block_wides[exact])
        exact++;
    const struct edit edits[] = {
        {"view", 0, 8, 2},                               /* layout */
        {"view", 16, 8, 5},                              /* end of the trace */
        {"view", 16, 8, UINT64_MAX},                     /* end of the trace */
        {"view", 24, 8, data->tracks_n + 1},             /* number of tracks */
        {"view", 32, 8, data->texts_n - 1},              /* number of names */
        {"view", 40, 8, data->wides_n - 1},              /* number of exact blocks */
        {"view", tracks, 8, 513},                        /* rows of a track */
        {"view", tracks, 8, 0},                          /* rows of a track */
        {"view", tracks + 8, 8, data->texts_n},          /* label */
        {"view", tracks + 72, 8, VIEW_COUNTER + 1},      /* kind */
        {"view", tracks + data->tracks_n * track, 8, 1}, /* items of a row */
        {"view", tracks + data->tracks_n * track, 8, n * 2},
        {"view", tracks + data->tracks_n * track, 8, UINT64_MAX},
        {"view.names", 0, 4, data->texts_n},                /* name of an item */
        {"view.summaries", 4, 4, data->texts_n},            /* name of a block */
        {"view.nodes", 4, 4, data->texts_n},                /* name of a node */
        {"view.offsets", 4, 4, UINT32_MAX},                 /* start of an item */
        {"view.lengths", 4, 4, UINT32_MAX},                 /* length of an item */
        {"view.starts", 0, 8, UINT64_MAX},                  /* start of a block */
        {"view.starts", 8, 8, INT64_MAX},                   /* start of a block */
        {"view.exact", 0, 4, data->wides_n + 1},            /* index of exact times */
        {"view.exact_times", 8, 8, INT64_MAX},              /* exact start */
        {"view.exact_times", 8 * VIEW_BLOCK, 8, INT64_MAX}, /* exact length */
        {"view.texts", 8, 4, UINT32_MAX},                   /* offset of a name */
        {"view.texts", 12, 4, VIEW_NAME_MAX + 1},           /* size of a name */
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (!is_refused(&edits[i]))
            fail_msg("%s: %llu at %zu", edits[i].part, (unsigned long long)edits[i].value,
                     edits[i].offset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(saved_rows_answer_as_the_view_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_are_loaded_for_the_first_statement, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(damaged_tables_are_loaded_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_parts_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_parts_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_head_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_out_of_bounds_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
