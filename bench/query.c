/* Measures SQL against reading: the CPU time of stores and of statements over them, as a ratio to a
 * loop of ttr_read that touches the time and the name of each event.
 *
 *   usage: bench_query TRACE [ROUNDS]
 *
 * Prints a row per measurement: name, ms, ratio; each is the least of ROUNDS (default 5), which
 * alternate. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tracetta/advanced.h>
#include <tracetta/query.h>

static const struct {
    const char *name, *sql;
} statements[] = {
    {"group by name", "SELECT name, count(*), sum(dur), avg(dur), max(dur) FROM slice GROUP BY 1"},
    {"top 10", "SELECT name, dur FROM slice ORDER BY dur DESC LIMIT 10"},
    {"lag per track", "SELECT sum(g) FROM (SELECT ts - lag(ts) OVER (PARTITION BY track_id ORDER "
                      "BY ts) AS g FROM slice)"},
    {"p99", "SELECT percentile(dur, 99) FROM slice"},
    {"p50, p99 per name", "SELECT name, percentile(dur, 50), percentile(dur, 99) FROM slice GROUP "
                          "BY 1"},
    {"GLOB", "SELECT count(*) FROM slice WHERE name GLOB '*1*'"},
    {"total per thread", "SELECT thread_name, process_name, tid, sum(dur) FROM slice GROUP BY 1, "
                         "2, 3 ORDER BY 4 DESC LIMIT 10"},
};
#define STATEMENTS (sizeof statements / sizeof *statements)

enum measurement {
    SCAN,
    SLICES,
    EVENTS,
    BOTH,
    FIRST_STATEMENT,
    MEASUREMENTS = FIRST_STATEMENT + STATEMENTS
};

static double now_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void stop(const ttr_error *error)
{
    (void)fprintf(stderr, "bench_query: %s\n", error->text);
    exit(1);
}

static uint64_t scan(const char *path)
{
    ttr_error error = {0};
    ttr_batch batch;
    uint64_t sum = 0;
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, NULL, &error);
    while (in && ttr_read(in, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            sum += (uint64_t)ttr_batch_at(&batch, i)->time ^ ttr_batch_at(&batch, i)->name;
    if (!in)
        stop(&error);
    ttr_close(in);
    ttr_free(t);
    return sum;
}

/* Reads tables into a store of a new context, with all columns, or those that most statements
 * use. */
static ttr_store *read_store(ttr **t, const char *path, const char *const *tables, bool has_all)
{
    static const char *const columns[] = {"id",       "ts",   "dur",   "track_id",  "category",
                                          "name",     "kind", "depth", "parent_id", "utid",
                                          "provider", "cpu",  NULL};
    const ttr_store_options options = {
        .size = sizeof options, .names = tables, .columns = has_all ? NULL : columns};
    ttr_error error = {0};
    *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(*t, path, NULL, &error);
    ttr_store *store = in ? ttr_store_new(*t, &options, &error) : NULL;
    if (!store || ttr_store_read(store, in, NULL, NULL, &error) != TTR_OK)
        stop(&error);
    ttr_close(in);
    return store;
}

static void measure(double *best, double from)
{
    const double ms = now_ms() - from;
    if (*best <= 0 || ms < *best)
        *best = ms;
}

static const char *const slices[] = {"slice", NULL}, *const events[] = {"event", NULL},
                         *const both[] = {"slice", "event", NULL};

/* Measures a store of tables. */
static void measure_store(double *best, const char *path, const char *const *tables)
{
    ttr *t;
    const double from = now_ms();
    ttr_store_free(read_store(&t, path, tables, false));
    ttr_free(t);
    measure(best, from);
}

static void answer(ttr_query *query, const char *sql)
{
    ttr_error error = {0};
    ttr_result *result = ttr_query_prepare(query, sql, NULL, &error);
    while (result && ttr_result_step(result, &error) == TTR_OK)
        ;
    if (!result)
        stop(&error);
    ttr_result_free(result);
}

int main(int argc, char **argv)
{
    double best[MEASUREMENTS] = {0};
    ttr_error error = {0};
    ttr *t;
    uint64_t sum = 0;
    const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    if (argc < 2)
        return 2;
    ttr_store *store = read_store(&t, argv[1], slices, true);
    ttr_query *query = ttr_query_new(t, store, &error);
    if (!query)
        stop(&error);
    for (long round = 0; round < rounds; round++) {
        double from = now_ms();
        sum += scan(argv[1]);
        measure(&best[SCAN], from);
        measure_store(&best[SLICES], argv[1], slices);
        measure_store(&best[EVENTS], argv[1], events);
        measure_store(&best[BOTH], argv[1], both);
        for (size_t i = 0; i < STATEMENTS; i++) {
            from = now_ms();
            answer(query, statements[i].sql);
            measure(&best[FIRST_STATEMENT + i], from);
        }
    }
    static const char *const names[] = {"scan", "store of slices", "store of events",
                                        "store of both"};
    (void)printf("| what | ms | x scan |\n|---|---:|---:|\n");
    for (size_t i = 0; i < MEASUREMENTS; i++)
        (void)printf("| %s | %.2f | %.3f |\n",
                     i < FIRST_STATEMENT ? names[i] : statements[i - FIRST_STATEMENT].name, best[i],
                     best[i] / best[SCAN]);
    ttr_query_free(query);
    ttr_store_free(store);
    ttr_free(t);
    return sum == 1; /* so that the loop is not removed */
}
