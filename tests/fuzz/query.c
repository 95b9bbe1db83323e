/* Fuzzes SQL over a store. The input is a statement. With column scans and without it is refused
 * alike, or returns equal rows, to the bit and in order: the rewriter never changes the meaning of
 * a statement. Errors are at a byte of the text. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/query.h>

#include "fuzz/fuzz.h"
#include "support/memory_reader.h"

#define EVENTS 300u
#define SQL_MAX 2048u
#define ROWS_MAX 1000u
#define STEPS_MAX 30u /* calls of progress, one per 10,000 instructions of SQLite */

static ttr *t;

/* Makes the store of a small trace once. */
static ttr_store *make_store(void)
{
    static ttr_event events[EVENTS];
    static ttr_store *store;
    ttr_error error;
    if (store)
        return store;
    t = ttr_new(NULL);
    static const uint8_t kinds[] = {TTR_KIND_SPAN, TTR_KIND_BEGIN, TTR_KIND_SWITCH,
                                    TTR_KIND_END,  TTR_KIND_WAKE,  TTR_KIND_INSTANT};
    for (uint32_t i = 0; t && i < EVENTS; i++) {
        const char *name = i % 3 ? "read" : "write";
        events[i] = (ttr_event){.kind = kinds[i % sizeof kinds],
                                .time = 1000 + i * 50,
                                .duration = i % 7 * 20,
                                .name = ttr_text_add(t, name, strlen(name)),
                                .flags = TTR_EVENT_HAS_CPU,
                                .cpu = i % 4,
                                .link = 1 + (i + 1) % 2,
                                .thread = 1 + i % 2};
    }
    if (!t || !ttr_thread_name(t, 10, 11, "app", "main") ||
        !ttr_thread_name(t, 10, 12, "app", "worker"))
        fuzz_stop("no context");
    const struct memory_events list = {.event = events, .n = EVENTS, .order = TTR_ORDER_TIME};
    ttr_reader *in = memory_reader(t, &list);
    store = ttr_store_new(t, NULL, &error);
    if (!store || ttr_store_read(store, in, NULL, NULL, &error) != TTR_OK)
        fuzz_stop("no store");
    ttr_close(in);
    return store;
}

static bool should_continue(void *user_data)
{
    unsigned *left = user_data;
    return *left > 0 && --*left > 0;
}

/* Returns true if a statement may return other rows the second time, or the plan of a leaf. */
static bool is_unsteady(const char *sql)
{
    static const char *const words[] = {"random", "now",      "current_", "explain",
                                        "change", "tracetta", "leaf",     "sqlite"};
    char lower[SQL_MAX + 1];
    for (size_t i = 0; i <= strlen(sql); i++)
        lower[i] = sql[i] >= 'A' && sql[i] <= 'Z' ? (char)(sql[i] + 32) : sql[i];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(lower, words[i]))
            return true;
    return false;
}

static void check_cell(ttr_result *a, ttr_result *b, size_t i)
{
    const ttr_type type = ttr_result_type(a, i);
    const double x = ttr_result_real(a, i), y = ttr_result_real(b, i);
    if (type != ttr_result_type(b, i))
        fuzz_stop("a value has another type with column scans");
    if ((type == TTR_TYPE_INT && ttr_result_int(a, i) != ttr_result_int(b, i)) ||
        (type == TTR_TYPE_FLOAT && memcmp(&x, &y, sizeof x) != 0))
        fuzz_stop("a number differs with column scans");
    if (type != TTR_TYPE_TEXT && type != TTR_TYPE_BYTES)
        return;
    const ttr_text p = ttr_result_text(a, i), q = ttr_result_text(b, i);
    if (p.n != q.n || memcmp(p.p, q.p, p.n) != 0)
        fuzz_stop("a text differs with column scans");
}

/* Compares the rows of two results until one of them is stopped. */
static void check_rows(ttr_result *a, ttr_result *b)
{
    ttr_error error;
    if (ttr_result_columns(a) != ttr_result_columns(b))
        fuzz_stop("another number of columns with column scans");
    for (unsigned row = 0; row < ROWS_MAX; row++) {
        const ttr_status first = ttr_result_step(a, &error), second = ttr_result_step(b, &error);
        const bool is_bounded = first == TTR_AGAIN || second == TTR_AGAIN || first == TTR_E_NOMEM ||
                                second == TTR_E_NOMEM;
        if (is_bounded)
            return;
        if (first != second)
            fuzz_stop("another number of rows with column scans");
        if (first != TTR_OK)
            return;
        for (size_t i = 0; i < ttr_result_columns(a); i++)
            check_cell(a, b, i);
    }
}

static void see_name(void *user_data, const char *name)
{
    size_t *n = user_data;
    *n += strlen(name) > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char sql[SQL_MAX + 1];
    ttr_error error = {0}, other = {0};
    unsigned left = STEPS_MAX;
    size_t names = 0;
    const size_t size = n < SQL_MAX ? n : SQL_MAX;
    if (size)
        memcpy(sql, bytes, size);
    sql[size] = '\0';
    ttr_query *query = ttr_query_new(NULL, NULL, &error);
    ttr_query_free(query);
    ttr_store *store = make_store();
    query = ttr_query_new(t, store, &error);
    if (!query)
        fuzz_stop("no query");
    ttr_query_set_progress(query, should_continue, &left);
    ttr_query_set_read_only(query, true);
    ttr_query_names(sql, see_name, &names);
    ttr_result *with = ttr_query_prepare(query, sql, NULL, &error);
    ttr_query_enable_column_scans(query, false);
    ttr_result *without = ttr_query_prepare(query, sql, NULL, &other);
    if (!with != !without)
        fuzz_stop("a statement is refused only with column scans, or only without");
    if (!with && (error.status == TTR_OK || error.offset > strlen(sql)))
        fuzz_stop("a refused statement has no error at a byte");
    if (with && !is_unsteady(sql))
        check_rows(with, without);
    ttr_result_free(with);
    ttr_result_free(without);
    ttr_query_free(query);
    return 0;
}
