/* Slices: spans of threads and asynchronous spans, with depth, parent and self time.
 *
 * Begins and ends are matched while reading, by a stack per track; on tracks that turn out not to
 * be in order of time, again at the end (store_pairing.c). Complete spans may come at their end. So
 * the nesting is computed at the end of the trace: slices are sorted by start, longer ones first,
 * and a stack per track gives each one its parent. Cost: O(n log n); if the slices are in order
 * already, O(n).  The rows of the table are in order of time. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "base/saturate.h"
#include "model/activity.h"
#include "store/store.h"

#define OPEN INT64_MAX
#define SLICES_PER_PART ((size_t)1 << 15)

/* Doubles the room for slices, in huge pages if it is large. */
static bool grow_slices(ttr_store *store)
{
    const size_t n = store->slices_capacity ? 2 * store->slices_capacity : 1024;
    const bool has_limit = store->memory.limit > 0;
    struct raw_slice *grown = NULL;
    if (n <= UINT32_MAX)
        grown = has_limit ? alloc_resize(store->alloc, store->slices, store->slices_capacity, n,
                                         sizeof *grown)
                          : alloc_large(store->alloc, n, sizeof *grown);
    if (!grown)
        return false;
    if (store->slices_n && !has_limit)
        memcpy(grown, store->slices, store->slices_n * sizeof *grown);
    if (!has_limit)
        alloc_free(store->alloc, store->slices, store->slices_capacity, sizeof *grown);
    store->slices = grown;
    store->slices_capacity = n;
    return true;
}

/* Adds a slice. Returns its number, or SIZE_MAX if memory is exhausted. */
static size_t add_slice(ttr_store *store, const ttr_event *event, uint32_t track, int64_t end)
{
    if (track == UINT32_MAX || (store->slices_n == store->slices_capacity && !grow_slices(store)))
        return SIZE_MAX;
    store->slices[store->slices_n] = (struct raw_slice){.ts = event->time,
                                                        .end = end,
                                                        .event = store->events,
                                                        .track = track,
                                                        .name = activity_span_name(store->t, event),
                                                        .category = event->category,
                                                        .thread = event->thread};
    return store->slices_n++;
}

static void note_time(struct raw_track *track, int64_t time)
{
    track->is_disordered |= time < track->latest;
    track->latest = time;
}

static bool begin_slice(ttr_store *store, const ttr_event *event, uint32_t track)
{
    const size_t i = add_slice(store, event, track, OPEN);
    if (i == SIZE_MAX)
        return false;
    store->slices[i].outer = store->tracks[track].open;
    store->slices[i].length = 1;
    store->tracks[track].open = (uint32_t)i + 1;
    note_time(&store->tracks[track], event->time);
    return true;
}

/* Keeps an end that has no begin. Returns false if memory is exhausted. */
static bool keep_end(ttr_store *store, const ttr_event *event, uint32_t track)
{
    if (!alloc_reserve(store->alloc, (void **)&store->ends, &store->ends_capacity,
                       store->ends_n + 1, sizeof *store->ends))
        return false;
    store->ends[store->ends_n++] = (struct raw_end){event->time, store->events, track};
    return true;
}

static bool end_slice(ttr_store *store, const ttr_event *event, uint32_t track)
{
    if (track == UINT32_MAX)
        return false;
    struct raw_track *on = &store->tracks[track];
    note_time(on, event->time);
    if (!on->open || store->slices[on->open - 1].ts > event->time)
        return keep_end(store, event, track);
    struct raw_slice *slice = &store->slices[on->open - 1];
    store_memory_step_far(&store->memory, store->slices_n - on->open);
    store_close_slice(slice, event->time, store->events);
    on->open = slice->outer;
    return true;
}

bool store_add_slice(ttr_store *store, const ttr_event *event)
{
    switch (event->kind) {
    case TTR_KIND_BEGIN:
        return begin_slice(store, event, store_find_thread_track(store, event));
    case TTR_KIND_END:
        return end_slice(store, event, store_find_thread_track(store, event));
    case TTR_KIND_ASYNC_BEGIN:
        return begin_slice(store, event, store_find_async_track(store, event));
    case TTR_KIND_ASYNC_END:
        return end_slice(store, event, store_find_async_track(store, event));
    case TTR_KIND_SPAN:
        store->has_spans |= event->duration > 0;
        return add_slice(store, event, store_find_thread_track(store, event),
                         saturate_end_ns(event->time, event->duration)) != SIZE_MAX;
    case TTR_KIND_INSTANT:
        return (event->flags & TTR_EVENT_NO_TIME) ||
               add_slice(store, event, store_find_thread_track(store, event), event->time) !=
                   SIZE_MAX;
    default:
        return true;
    }
}

bool store_number_slice_track(ttr_store *store, const ttr_event *event)
{
    switch (event->kind) {
    case TTR_KIND_ASYNC_BEGIN:
    case TTR_KIND_ASYNC_END:
        return store_find_async_track(store, event) != UINT32_MAX;
    case TTR_KIND_INSTANT:
        if (event->flags & TTR_EVENT_NO_TIME)
            return true;
        return store_find_thread_track(store, event) != UINT32_MAX;
    case TTR_KIND_BEGIN:
    case TTR_KIND_END:
    case TTR_KIND_SPAN:
    case TTR_KIND_FLOW_BEGIN:
    case TTR_KIND_FLOW_STEP:
    case TTR_KIND_FLOW_END:
        return store_find_thread_track(store, event) != UINT32_MAX;
    default:
        return true;
    }
}

/* Orders slices by start; of equal starts the longer one is first, then the earlier event. */
static int compare_slices(const void *left, const void *right)
{
    const struct raw_slice *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Orders slices by start, then by event: the order in which slices of begins nest. */
static int compare_begins(const void *left, const void *right)
{
    const struct raw_slice *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Sorts slices.  Those of a trace in order of time are sorted but for equal starts: an insertion
 * sort moves few. Returns early to sort all if many must move. */
static void sort_slices(ttr_store *store)
{
    int (*const compare)(const void *left, const void *right) =
        store->has_spans ? compare_slices : compare_begins;
    struct raw_slice *slices = store->slices;
    size_t moves = 0;
    for (size_t i = 1; i < store->slices_n; i++) {
        store_memory_step(&store->memory, sizeof *slices);
        if (compare(&slices[i - 1], &slices[i]) <= 0)
            continue;
        const struct raw_slice moved = slices[i];
        size_t k = i;
        for (; k > 0 && compare(&slices[k - 1], &moved) > 0 && moves < store->slices_n; k--) {
            slices[k] = slices[k - 1];
            moves++;
        }
        slices[k] = moved;
        if (moves >= store->slices_n) {
            qsort(slices, store->slices_n, sizeof *slices, compare);
            return;
        }
    }
}

#define NESTING_BYTES 16u /* bytes of struct nesting per slice */

struct nesting {
    uint32_t *parent; /* index + 1 of the parent of each slice; 0 = none */
    uint32_t *depth;
    uint64_t *nested; /* total duration of the direct children of each slice, in ns */
};

/* Returns true if a slice ended before the next one started.  At equal times the rows of the end
 * and of the start decide, if both are known: a complete span may have been written at its end. */
static bool has_ended(const struct raw_slice *slice, const struct raw_slice *next)
{
    const bool is_by_rows = slice->length != 0 && (next->length != 0 || next->end == next->ts);
    if (slice->end != next->ts || !is_by_rows)
        return slice->end <= next->ts;
    return (int64_t)slice->event + slice->length < (int64_t)next->event;
}

/* Computes parents and depths of sorted slices. */
static void compute_nesting(ttr_store *store, struct nesting *nesting)
{
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = 0;
    for (size_t i = 0; i < store->slices_n; i++) {
        const struct raw_slice *slice = &store->slices[i];
        store_memory_step(&store->memory, sizeof *slice + NESTING_BYTES);
        struct raw_track *track = &store->tracks[slice->track];
        while (track->open && has_ended(&store->slices[track->open - 1], slice))
            track->open = nesting->parent[track->open - 1];
        nesting->parent[i] = track->open;
        if (track->open) {
            store_memory_step_far(&store->memory, i - track->open);
            nesting->depth[i] = nesting->depth[track->open - 1] + 1;
            if (slice->end != OPEN)
                nesting->nested[track->open - 1] += (uint64_t)slice->end - (uint64_t)slice->ts;
        }
        track->open = (uint32_t)i + 1;
    }
}

/* Columns of table slice, in order. */
enum slice_column {
    SLICE_ID,
    SLICE_TS,
    SLICE_DUR,
    SLICE_TRACK,
    SLICE_CATEGORY,
    SLICE_NAME,
    SLICE_DEPTH,
    SLICE_PARENT,
    SLICE_EVENT,
    SLICE_SELF,
    SLICE_THREAD,
    SLICE_TID,
    SLICE_PID,
    SLICE_THREAD_NAME,
    SLICE_PROCESS_NAME,
    SLICE_COLUMNS
};

/* Returns a value that depends on the thread. */
static int64_t get_thread_value(const ttr_store *store, ttr_id id, size_t column)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(store->t, id, &thread);
    switch (column) {
    case SLICE_TID:
        return thread.tid_known ? store_clamp(thread.tid) : TTR_STORE_NULL;
    case SLICE_PID:
        return thread.pid_known ? store_clamp(thread.pid) : TTR_STORE_NULL;
    case SLICE_THREAD_NAME:
        return store_text_or_null(thread.thread_name);
    default:
        return store_text_or_null(thread.process_name);
    }
}

/* A range of slices. */
struct slice_range {
    size_t from, to;
};

/* Writes a column of thread values. */
static bool write_thread_column(const ttr_store *store, struct slice_range range, struct column *to,
                                size_t column)
{
    ttr_id known = 0;
    int64_t value = TTR_STORE_NULL;
    for (size_t i = range.from; i < range.to; i++) {
        /* Slices of one thread often follow each other. */
        if (i == range.from || store->slices[i].thread != known)
            value = get_thread_value(store, store->slices[i].thread, column);
        known = store->slices[i].thread;
        if (!column_append(to, value))
            return false;
    }
    return true;
}

static int64_t get_self_time(const struct raw_slice *slice, uint64_t nested)
{
    const int64_t dur = store_clamp((uint64_t)slice->end - (uint64_t)slice->ts);
    if (slice->end == OPEN)
        return TTR_STORE_NULL;
    return nested > (uint64_t)dur ? 0 : dur - (int64_t)nested;
}

/* Writes a value for each slice, from `slice` and its index i. */
#define WRITE_EACH(value)                                  \
    for (size_t i = range.from; i < range.to; i++) {       \
        const struct raw_slice *slice = &store->slices[i]; \
        (void)slice;                                       \
        if (!column_append(to, value))                     \
            return false;                                  \
    }                                                      \
    return true

static bool write_column(const ttr_store *store, const struct nesting *nesting,
                         struct slice_range range, struct column *to, size_t column)
{
    switch (column) {
    case SLICE_ID:
        WRITE_EACH((int64_t)i);
    case SLICE_TS:
        WRITE_EACH(slice->ts);
    case SLICE_DUR:
        WRITE_EACH(slice->end == OPEN ? -1
                                      : store_clamp((uint64_t)slice->end - (uint64_t)slice->ts));
    case SLICE_TRACK:
        WRITE_EACH(slice->track);
    case SLICE_CATEGORY:
        WRITE_EACH(store_text_or_null(slice->category));
    case SLICE_NAME:
        WRITE_EACH(store_text_or_null(slice->name));
    case SLICE_DEPTH:
        WRITE_EACH(nesting->depth[i]);
    case SLICE_PARENT:
        WRITE_EACH(nesting->parent[i] ? (int64_t)nesting->parent[i] - 1 : TTR_STORE_NULL);
    case SLICE_EVENT:
        WRITE_EACH((int64_t)slice->event);
    case SLICE_SELF:
        WRITE_EACH(get_self_time(slice, nesting->nested[i]));
    case SLICE_THREAD:
        WRITE_EACH(store_text_or_null(slice->thread));
    default:
        return write_thread_column(store, range, to, column);
    }
}

/* Writes the wanted columns of some slices, one after the other. */
static bool write_range(ttr_store *store, const struct nesting *nesting, struct slice_range range)
{
    struct table *table = &store->tables[STORE_SLICE];
    for (size_t column = 0; column < SLICE_COLUMNS; column++)
        if (table_wants(table, column) &&
            !write_column(store, nesting, range, &table->columns[column], column))
            return false;
    return true;
}

/* Writes all slices, a part at a time, so that slices in a temporary file are read only once. */
static bool write_slices(ttr_store *store, const struct nesting *nesting)
{
    struct table *table = &store->tables[STORE_SLICE];
    table->rows = table->is_wanted ? store->slices_n : 0;
    for (size_t from = 0; from < store->slices_n; from += SLICES_PER_PART) {
        const size_t left = store->slices_n - from;
        const struct slice_range range = {from,
                                          from + (left < SLICES_PER_PART ? left : SLICES_PER_PART)};
        if (!write_range(store, nesting, range))
            return false;
        store_memory_step(&store->memory,
                          (range.to - range.from) * (sizeof *store->slices + NESTING_BYTES));
    }
    return true;
}

/* Allocates zeros; those of a temporary file are written part by part. */
static void *allocate_zeros(ttr_store *store, size_t n, size_t size)
{
    char *p = alloc_resize(store->alloc, NULL, 0, n, size);
    for (size_t at = 0; p && at < n * size; at += SLICES_PER_PART) {
        const size_t left = n * size - at;
        memset(p + at, 0, left < SLICES_PER_PART ? left : SLICES_PER_PART);
        store_memory_step(&store->memory, SLICES_PER_PART);
    }
    return p;
}

bool store_end_slices(ttr_store *store)
{
    const struct table *table = &store->tables[STORE_SLICE];
    const bool is_nested = table_wants(table, SLICE_DEPTH) || table_wants(table, SLICE_PARENT) ||
                           table_wants(table, SLICE_SELF) || store->has_flows;
    const size_t n = is_nested ? store->slices_n : 0;
    struct nesting nesting = {
        .parent = allocate_zeros(store, n, sizeof *nesting.parent),
        .depth = allocate_zeros(store, n, sizeof *nesting.depth),
        .nested = allocate_zeros(store, n, sizeof *nesting.nested),
    };
    bool is_fine = nesting.parent && nesting.depth && nesting.nested && store_pair_again(store);
    if (is_fine) {
        sort_slices(store);
        if (is_nested)
            compute_nesting(store, &nesting);
        is_fine = write_slices(store, &nesting) &&
                  (!store->has_flows || store_end_flows(store, nesting.parent));
    }
    alloc_free(store->alloc, nesting.parent, n, sizeof *nesting.parent);
    alloc_free(store->alloc, nesting.depth, n, sizeof *nesting.depth);
    alloc_free(store->alloc, nesting.nested, n, sizeof *nesting.nested);
    alloc_free(store->alloc, store->slices, store->slices_capacity, sizeof *store->slices);
    store->slices = NULL;
    store->slices_n = store->slices_capacity = 0;
    return is_fine;
}
