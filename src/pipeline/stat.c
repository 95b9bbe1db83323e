/* Statistics per (provider, name, kind). Events are counted on arrival, except those that form
 * spans: a span is counted when it is complete (span_stream.h).
 *
 * Self time is computed by nesting (nesting.h), quantiles from a histogram per row. Memory grows
 * with the number of rows, not of events. */
#include <string.h>

#include <tracetta/analyse.h>
#include <tracetta/tracetta.h>

#include "base/histogram.h"
#include "base/saturate.h"
#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/spans/nesting.h"
#include "pipeline/spans/span_stream.h"
#include "pipeline/read_loop.h"

/* maximum number of unclaimed spans of all lanes together: 4 MiB */
#define NEST_ITEMS_MAX ((size_t)128 * 1024)

/* A duration that waits to be added to a histogram. Histograms are large and accessed at random, so
 * they are prefetched meanwhile; otherwise cache misses would be most of the cost per span. */
#define PENDING 32u

struct pending {
    struct histogram *histogram;
    uint64_t duration;
};

struct ttr_stat {
    ttr *t;
    const struct alloc *alloc;
    ttr_stat_row *row;
    /* by row: histogram of the durations; NULL if no spans were counted */
    struct histogram **durations;
    size_t rows_n, row_room, durations_room;
    struct pending pending[PENDING];
    unsigned pending_n;
    struct pair_map by_key; /* key: (provider and name, kind); value: row */
    uint32_t *latest;       /* by name: index of the row found last for this name, plus 1 */
    size_t latest_n;
    struct span_stream spans;
    struct nest nest;
    int64_t begin_ns, end_ns; /* time range of the trace in ns */
};

static bool grow_name_table(struct ttr_stat *stat, ttr_id name)
{
    size_t before = stat->latest_n;
    if (name < before)
        return true;
    if (!alloc_reserve(stat->alloc, (void **)&stat->latest, &stat->latest_n, (size_t)name + 1,
                       sizeof *stat->latest))
        return false;
    memset(stat->latest + before, 0, (stat->latest_n - before) * sizeof *stat->latest);
    return true;
}

static bool row_has_key(const ttr_stat_row *row, const ttr_stat_row *key)
{
    return row->provider == key->provider && row->name == key->name && row->kind == key->kind;
}

static bool add_row(struct ttr_stat *stat, const ttr_stat_row *key, uint32_t *at)
{
    size_t need = stat->rows_n + 1;
    if (need > UINT32_MAX - 1 ||
        !alloc_reserve(stat->alloc, (void **)&stat->row, &stat->row_room, need,
                       sizeof *stat->row) ||
        !alloc_reserve(stat->alloc, (void **)&stat->durations, &stat->durations_room, need,
                       sizeof(struct histogram *)) ||
        !pair_map_put(&stat->by_key, (uint64_t)key->provider << 32 | key->name, key->kind,
                      (uint32_t)stat->rows_n))
        return false;
    *at = (uint32_t)stat->rows_n++;
    stat->row[*at] = *key;
    stat->row[*at].first_ns = INT64_MAX;
    stat->row[*at].last_ns = INT64_MIN;
    stat->durations[*at] = NULL;
    return true;
}

/* Finds the row of a key, added if it is new. First compares with the row found last for the same
 * name, usually the right one. */
static bool find_row(struct ttr_stat *stat, const ttr_stat_row *key, uint32_t *at)
{
    if (!grow_name_table(stat, key->name))
        return false;
    uint32_t *latest = &stat->latest[key->name];
    if (*latest && row_has_key(&stat->row[*latest - 1], key)) {
        *at = *latest - 1;
        return true;
    }
    const uint32_t *known =
        pair_map_get(&stat->by_key, (uint64_t)key->provider << 32 | key->name, key->kind);
    if (known)
        *at = *known;
    else if (!add_row(stat, key, at))
        return false;
    *latest = *at + 1;
    return true;
}

static void extend_row_times(struct ttr_stat *stat, ttr_stat_row *row, int64_t begin, int64_t end)
{
    row->first_ns = begin < row->first_ns ? begin : row->first_ns;
    row->last_ns = end > row->last_ns ? end : row->last_ns;
    stat->begin_ns = begin < stat->begin_ns ? begin : stat->begin_ns;
    stat->end_ns = end > stat->end_ns ? end : stat->end_ns;
}

static bool count_event(struct ttr_stat *stat, const ttr_event *event)
{
    ttr_stat_row key = {.provider = event->provider,
                        .category = event->category,
                        .name = event->name,
                        .kind = event->kind};
    uint32_t at;
    if (!find_row(stat, &key, &at))
        return false;
    ttr_stat_row *row = &stat->row[at];
    row->count++;
    row->bytes += event->payload_size;
    if (!(event->flags & TTR_EVENT_NO_TIME))
        extend_row_times(stat, row, event->time, event->time);
    return true;
}

static bool add_pending_span(struct ttr_stat *stat)
{
    bool is_added = true;
    for (unsigned i = 0; i < stat->pending_n && is_added; i++)
        is_added = histogram_add(stat->pending[i].histogram, stat->pending[i].duration);
    stat->pending_n = 0;
    return is_added;
}

static bool add_duration(struct ttr_stat *stat, uint32_t at, uint64_t duration)
{
    if (!stat->durations[at]) {
        stat->durations[at] = alloc_zero(stat->alloc, 1, sizeof(struct histogram));
        if (!stat->durations[at])
            return false;
        histogram_init(stat->durations[at], stat->alloc);
    }
    if (stat->pending_n == PENDING && !add_pending_span(stat))
        return false;
    struct histogram *histogram = stat->durations[at];
    __builtin_prefetch(&histogram->count);
    __builtin_prefetch(&histogram->octave[HISTOGRAM_OCTAVES / 4]);
    stat->pending[stat->pending_n++] = (struct pending){histogram, duration};
    stat->row[at].total = saturate_add_u64(stat->row[at].total, duration);
    return true;
}

static bool count_span(void *ctx, const struct complete_span *span)
{
    struct ttr_stat *stat = ctx;
    const struct event_ref *event = span->event;
    ttr_stat_row key = {.provider = event->provider,
                        .category = event->category,
                        .name = event->name,
                        .kind = TTR_KIND_SPAN};
    uint64_t duration = (uint64_t)span->end - (uint64_t)event->time, covered = 0;
    struct nest_span interval = {
        .begin = event->time, .end = span->end, .from = span->from, .at = span->at};
    uint32_t at;
    if (!find_row(stat, &key, &at))
        return false;
    stat->row[at].count++;
    stat->row[at].bytes += span->bytes;
    extend_row_times(stat, &stat->row[at], event->time,
                     span->is_unfinished ? event->time : span->end);
    if (span->is_unfinished) {
        stat->row[at].unfinished++;
        return true;
    }
    if (!span->is_async && !nesting_add(&stat->nest, span->lane, &interval, &covered))
        return false;
    stat->row[at].self = saturate_add_u64(stat->row[at].self, duration - covered);
    return add_duration(stat, at, duration);
}

static ttr_status count_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    struct ttr_stat *stat = ctx;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP)
            continue;
        bool is_counted = span_stream_wants(event->kind)
                              ? span_stream_add(&stat->spans, event, SPAN_ACTIVITY)
                              : count_event(stat, event);
        if (!is_counted)
            return fail_memory(error);
    }
    return TTR_OK;
}

static void free_durations(struct ttr_stat *stat)
{
    for (size_t i = 0; i < stat->rows_n && stat->durations; i++) {
        if (stat->durations[i])
            histogram_free(stat->durations[i]);
        alloc_free(stat->alloc, stat->durations[i], 1, sizeof(struct histogram));
    }
    alloc_free(stat->alloc, stat->durations, stat->durations_room, sizeof(struct histogram *));
    stat->durations = NULL;
    stat->durations_room = 0;
}

static void finish_rows(struct ttr_stat *stat)
{
    double seconds = stat->end_ns > stat->begin_ns
                         ? (double)((uint64_t)stat->end_ns - (uint64_t)stat->begin_ns) / 1e9
                         : 0;
    for (size_t i = 0; i < stat->rows_n; i++) {
        ttr_stat_row *row = &stat->row[i];
        const struct histogram *durations = stat->durations[i];
        row->rate = seconds > 0 ? (double)row->count / seconds : 0;
        if (row->first_ns > row->last_ns)
            row->first_ns = row->last_ns = 0;
        if (!durations)
            continue;
        row->min = durations->min;
        row->max = durations->max;
        row->p50 = histogram_quantile(durations, 0.5);
        row->p90 = histogram_quantile(durations, 0.9);
        row->p99 = histogram_quantile(durations, 0.99);
    }
    free_durations(stat);
}

static int compare_names(const ttr *t, ttr_id a, ttr_id b)
{
    ttr_text x = ttr_text_get(t, a), y = ttr_text_get(t, b);
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : (x.n > y.n) - (x.n < y.n);
}

static bool row_precedes(const ttr *t, const ttr_stat_row *a, const ttr_stat_row *b)
{
    if (a->total != b->total)
        return a->total > b->total;
    if (a->count != b->count)
        return a->count > b->count;
    int order = compare_names(t, a->name, b->name);
    if (order == 0)
        order = compare_names(t, a->provider, b->provider);
    return order ? order < 0 : a->kind < b->kind;
}

static void sift_down(const struct ttr_stat *stat, size_t at, size_t n)
{
    ttr_stat_row *heap = stat->row, row = heap[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && row_precedes(stat->t, &heap[child], &heap[child + 1]);
        if (!row_precedes(stat->t, &row, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = row;
}

/* Sorts the rows by heapsort, which needs no memory and is never quadratic. */
static void sort_rows(struct ttr_stat *stat)
{
    for (size_t i = stat->rows_n / 2; i-- > 0;)
        sift_down(stat, i, stat->rows_n);
    for (size_t n = stat->rows_n; n > 1; n--) {
        ttr_stat_row last = stat->row[n - 1];
        stat->row[n - 1] = stat->row[0];
        stat->row[0] = last;
        sift_down(stat, 0, n - 1);
    }
}

ttr_stat *ttr_stat_new(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx, ttr_error *error)
{
    struct ttr_stat *stat = alloc_zero(&t->counted, 1, sizeof *stat);
    const struct read_loop read_loop = {
        .on_batch = count_batch, .ctx = stat, .progress = progress, .progress_ctx = ctx};
    if (!stat) {
        (void)fail_memory(error);
        return NULL;
    }
    stat->t = t;
    stat->alloc = &t->counted;
    stat->begin_ns = INT64_MAX;
    stat->end_ns = INT64_MIN;
    pair_map_init(&stat->by_key, stat->alloc);
    nesting_init(&stat->nest, stat->alloc, NEST_ITEMS_MAX);
    span_stream_init(&stat->spans, t, count_span, stat);
    /* Without spans the order of events does not matter, and merging hundreds of inputs would be
     * half of the cost. */
    if (!(reader_get_kinds(in) & SPAN_KINDS))
        (void)reader_allow_stream_order(in);
    ttr_status status = read_all_batches(in, &read_loop, error);
    /* The rows before a failure are useful. If memory ran out, the statistics cannot be
     * completed. */
    if (status != TTR_E_NOMEM && !(span_stream_end(&stat->spans) && add_pending_span(stat)))
        status = fail_memory(error);
    if (status == TTR_E_NOMEM) {
        ttr_stat_free(stat);
        return NULL;
    }
    finish_rows(stat);
    sort_rows(stat);
    return stat;
}

size_t ttr_stat_rows(const ttr_stat *stat, const ttr_stat_row **rows)
{
    *rows = stat->row;
    return stat->rows_n;
}

uint64_t ttr_stat_unmatched(const ttr_stat *stat)
{
    return stat->spans.unmatched;
}

uint64_t ttr_stat_disordered(const ttr_stat *stat)
{
    return stat->nest.late;
}

void ttr_stat_free(ttr_stat *stat)
{
    if (!stat)
        return;
    const struct alloc *alloc = stat->alloc;
    free_durations(stat);
    span_stream_free(&stat->spans);
    nesting_free(&stat->nest);
    pair_map_free(&stat->by_key);
    alloc_free(alloc, stat->latest, stat->latest_n, sizeof *stat->latest);
    alloc_free(alloc, stat->row, stat->row_room, sizeof *stat->row);
    alloc_free(alloc, stat, 1, sizeof *stat);
}
