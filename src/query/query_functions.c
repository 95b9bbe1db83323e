/* Aggregate functions: percentile(x, p) and median(x), exact, interpolating between neighbours. */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

struct values {
    double *list;
    size_t n, capacity;
    double percent;
    bool is_full;
};

static void add_percentile_value(sqlite3_context *context, double percent, sqlite3_value *value)
{
    struct values *values = sqlite3_aggregate_context(context, sizeof *values);
    if (!values || sqlite3_value_type(value) == SQLITE_NULL)
        return;
    values->percent = percent;
    if (values->n == values->capacity) {
        const size_t capacity = values->capacity ? 2 * values->capacity : 64;
        double *grown = realloc(values->list, capacity * sizeof *grown);
        values->is_full = !grown;
        if (!grown)
            return;
        values->list = grown;
        values->capacity = capacity;
    }
    values->list[values->n++] = sqlite3_value_double(value);
}

static void step_percentile(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void)n;
    const double percent = sqlite3_value_double(value[1]);
    if (percent < 0 || percent > 100)
        sqlite3_result_error(context, "percentile expects a number from 0 to 100", -1);
    else
        add_percentile_value(context, percent, value[0]);
}

static void step_median(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void)n;
    add_percentile_value(context, 50, value[0]);
}

static int compare_numbers(const void *left, const void *right)
{
    double a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

static void end_percentile(sqlite3_context *context)
{
    struct values *values = sqlite3_aggregate_context(context, 0);
    if (!values || values->n == 0) {
        if (values)
            free(values->list);
        sqlite3_result_null(context);
        return;
    }
    qsort(values->list, values->n, sizeof *values->list, compare_numbers);
    const double at = values->percent / 100 * (double)(values->n - 1);
    const size_t low = (size_t)at, high = low + 1 < values->n ? low + 1 : low;
    const double part = at - (double)low;
    if (values->is_full)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_double(context,
                              values->list[low] + part * (values->list[high] - values->list[low]));
    free(values->list);
}

int query_add_functions(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    const int status = sqlite3_create_function(db, "percentile", 2, flags, NULL, NULL,
                                               step_percentile, end_percentile);
    return status == SQLITE_OK ? sqlite3_create_function(db, "median", 1, flags, NULL, NULL,
                                                         step_median, end_percentile)
                               : status;
}
