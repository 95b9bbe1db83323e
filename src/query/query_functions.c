/* Aggregate functions: percentile(x, p) and median(x), exact, interpolating between neighbours, and
 * histogram(x), counts between powers of two. */
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
    if (!values || values->is_full || sqlite3_value_type(value) == SQLITE_NULL)
        return;
    values->percent = percent;
    if (values->n == values->capacity) {
        const size_t capacity = values->capacity ? 2 * values->capacity : 64;
        double *grown = sqlite3_realloc64(values->list, capacity * sizeof *grown);
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
    if (values && values->is_full) {
        sqlite3_free(values->list);
        sqlite3_result_error_nomem(context);
        return;
    }
    if (!values || values->n == 0) {
        if (values)
            sqlite3_free(values->list);
        sqlite3_result_null(context);
        return;
    }
    qsort(values->list, values->n, sizeof *values->list, compare_numbers);
    const double at = values->percent / 100 * (double)(values->n - 1);
    const size_t low = (size_t)at, high = low + 1 < values->n ? low + 1 : low;
    const double part = at - (double)low;
    sqlite3_result_double(context,
                          values->list[low] + part * (values->list[high] - values->list[low]));
    sqlite3_free(values->list);
}

/* --- Histogram --- */

#define BINS_MAX 64u

struct histogram {
    int64_t below;          /* number of negative values */
    int64_t bins[BINS_MAX]; /* bin 0: values below 1; bin i: values below 2^i */
};

static void step_histogram(sqlite3_context *context, int n, sqlite3_value **value)
{
    struct histogram *histogram = sqlite3_aggregate_context(context, sizeof *histogram);
    (void)n;
    if (!histogram || sqlite3_value_type(value[0]) == SQLITE_NULL)
        return;
    const double number = sqlite3_value_double(value[0]);
    unsigned bin = 0;
    double end = 1;
    while (bin < BINS_MAX - 1 && number >= end) {
        bin++;
        end *= 2;
    }
    if (number < 0)
        histogram->below++;
    else
        histogram->bins[bin]++;
}

/* Returns a JSON array of [from, to, count], from the first bin with values to the last. */
static void end_histogram(sqlite3_context *context)
{
    const struct histogram *histogram = sqlite3_aggregate_context(context, 0);
    unsigned first = 0, last = BINS_MAX;
    while (histogram && first < BINS_MAX && histogram->bins[first] == 0)
        first++;
    while (histogram && last > 0 && histogram->bins[last - 1] == 0)
        last--;
    if (!histogram || (first >= last && histogram->below == 0)) {
        sqlite3_result_null(context);
        return;
    }
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendchar(text, 1, '[');
    if (histogram->below)
        sqlite3_str_appendf(text, "[null,0,%lld]", (long long)histogram->below);
    for (unsigned i = first; i < last; i++)
        sqlite3_str_appendf(text, "%s[%llu,%llu,%lld]", sqlite3_str_length(text) > 1 ? "," : "",
                            i ? 1ull << (i - 1) : 0ull, 1ull << i, (long long)histogram->bins[i]);
    sqlite3_str_appendchar(text, 1, ']');
    sqlite3_result_text(context, sqlite3_str_finish(text), -1, sqlite3_free);
}

int query_add_functions(sqlite3 *db)
{
    static const struct {
        const char *name;
        int arguments;
        void (*step)(sqlite3_context *context, int n, sqlite3_value **value);
        void (*end)(sqlite3_context *context);
    } functions[] = {{"percentile", 2, step_percentile, end_percentile},
                     {"median", 1, step_median, end_percentile},
                     {"histogram", 1, step_histogram, end_histogram}};
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && status == SQLITE_OK; i++)
        status = sqlite3_create_function(db, functions[i].name, functions[i].arguments,
                                         SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                                         functions[i].step, functions[i].end);
    return status;
}
