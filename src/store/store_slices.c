/* Reading slices: spans of threads, asynchronous spans and instants.
 *
 * Begins and ends are matched by a stack per track.  A row is appended at the begin of a slice; its
 * end sets the duration. */
#include "store/store_slices.h"

#include <string.h>

#include <tracetta/advanced.h>

#include "base/saturate.h"
#include "model/activity.h"
#include "store/store.h"

/* Returns true if reading must collect the values of a column. */
static bool is_collected(const ttr_store *store, size_t column)
{
    const struct table *table = &store->tables[STORE_SLICE];
    switch (column) {
    case SLICE_TS:
    case SLICE_DUR:
    case SLICE_TRACK:
        return true;
    case SLICE_CATEGORY:
    case SLICE_NAME:
        return table_wants(table, column);
    case SLICE_EVENT:
        return table_wants(table, column) || store->has_flows;
    case SLICE_THREAD:
        return table_wants(table, column) || table_wants(table, SLICE_TID) ||
               table_wants(table, SLICE_PID) || table_wants(table, SLICE_THREAD_NAME) ||
               table_wants(table, SLICE_PROCESS_NAME);
    default:
        return false;
    }
}

static bool init_columns(ttr_store *store)
{
    struct store_slices *slices = &store->slices;
    for (size_t i = 0; i < SLICE_COLUMNS; i++) {
        if (i == SLICE_DUR)
            column_init_changing(&slices->columns[i], &slices->pool);
        else
            column_init(&slices->columns[i], &slices->pool);
        slices->columns[i].is_unwanted = !is_collected(store, i);
    }
    slices->unused = alloc_zero(store->alloc, STORE_BLOCK, sizeof *slices->unused);
    return slices->unused != NULL;
}

bool store_slices_init(ttr_store *store)
{
    block_pool_init(&store->slices.pool, store->alloc);
    return init_columns(store);
}

/* Frees all but the pool: its blocks may belong to the table. */
static void free_columns(ttr_store *store)
{
    struct store_slices *slices = &store->slices;
    const struct block_pool pool = slices->pool;
    for (size_t i = 0; i < SLICE_COLUMNS; i++)
        column_free(&slices->columns[i]);
    alloc_free(store->alloc, slices->unused, STORE_BLOCK, sizeof *slices->unused);
    alloc_free(store->alloc, slices->open, slices->open_capacity, sizeof *slices->open);
    alloc_free(store->alloc, slices->ties, slices->ties_capacity, sizeof *slices->ties);
    alloc_free(store->alloc, slices->read_rows, slices->read_rows_capacity,
               sizeof *slices->read_rows);
    alloc_free(store->alloc, slices->ends.items, slices->ends.capacity, sizeof *slices->ends.items);
    alloc_free(store->alloc, slices->lone_ends, slices->lone_ends_capacity,
               sizeof *slices->lone_ends);
    alloc_free(store->alloc, slices->begins, slices->begins_capacity, sizeof *slices->begins);
    *slices = (struct store_slices){.pool = pool};
}

void store_slices_free(ttr_store *store)
{
    free_columns(store);
    block_pool_free(&store->slices.pool);
}

bool store_slices_finish(ttr_store *store)
{
    const bool is_disordered = store->slices.is_disordered;
    free_columns(store);
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = 0;
    if (is_disordered)
        block_pool_free(&store->slices.pool);
    return init_columns(store);
}

/* --- Rows --- */

void store_slices_count_rows(struct store_slices *slices)
{
    for (size_t i = 0; i < SLICE_COLUMNS; i++) {
        struct column *column = &slices->columns[i];
        column->rows = column->is_unwanted ? 0 : slices->n;
        column->tail_n = (uint32_t)(column->rows - column->blocks_n * STORE_BLOCK);
    }
}

/* Makes room for 1,024 rows. Returns false if memory is exhausted. */
static bool make_room(struct store_slices *slices)
{
    const size_t words = slices->n / 64;
    if (slices->n > UINT32_MAX - STORE_BLOCK ||
        !alloc_reserve(slices->pool.alloc, (void **)&slices->begins, &slices->begins_capacity,
                       words + STORE_BLOCK / 64, sizeof *slices->begins))
        return false;
    memset(slices->begins + words, 0, STORE_BLOCK / 64 * sizeof *slices->begins);
    store_slices_count_rows(slices);
    for (size_t i = 0; i < SLICE_COLUMNS; i++) {
        struct column *column = &slices->columns[i];
        if (!column->is_unwanted && (column->tail_n == column->tail_rows || !column->tail) &&
            !column_make_room(column))
            return false;
        slices->tails[i] = column->is_unwanted ? slices->unused : column->tail;
    }
    return true;
}

/* Notes that the next slice does not start after the last one. Returns false if memory is
 * exhausted. */
static bool note_order(ttr_store *store, int64_t ts)
{
    struct store_slices *slices = &store->slices;
    struct slice_tie *last = slices->ties_n ? &slices->ties[slices->ties_n - 1] : NULL;
    slices->is_disordered |= ts < slices->latest;
    if (slices->is_disordered)
        return true;
    if (last && last->row + last->n == slices->n) {
        last->n++;
        return true;
    }
    if (!alloc_reserve(store->alloc, (void **)&slices->ties, &slices->ties_capacity,
                       slices->ties_n + 1, sizeof *slices->ties))
        return false;
    slices->ties[slices->ties_n++] = (struct slice_tie){(uint32_t)slices->n - 1, 2, 0};
    return true;
}

/* A slice that is added. */
struct new_slice {
    uint64_t event; /* row of the event */
    int64_t dur;
    uint32_t track, name;
};

static inline bool add_slice(ttr_store *store, const ttr_event *event,
                             const struct new_slice *slice)
{
    struct store_slices *slices = &store->slices;
    const size_t at = slices->n % STORE_BLOCK;
    if (slice->track == UINT32_MAX || (at == 0 && !make_room(slices)) ||
        (slices->n > 0 && event->time <= slices->latest && !note_order(store, event->time)))
        return false;
    slices->latest = event->time;
    slices->tails[SLICE_TS][at] = event->time;
    slices->tails[SLICE_TRACK][at] = slice->track;
    slices->tails[SLICE_CATEGORY][at] = store_text_or_null(event->category);
    slices->tails[SLICE_NAME][at] = store_text_or_null(slice->name);
    slices->tails[SLICE_EVENT][at] = (int64_t)slice->event;
    slices->tails[SLICE_THREAD][at] = store_text_or_null(event->thread);
    slices->tails[SLICE_DUR][slices->n++ % COLUMN_CHANGING_TAIL] = slice->dur;
    return true;
}

/* --- Begins and ends --- */

/* Pushes the last slice to the stack of its track. */
static bool push_open_slice(ttr_store *store, uint32_t track)
{
    struct store_slices *slices = &store->slices;
    uint32_t number = slices->open_free;
    if (number) {
        slices->open_free = slices->open[number - 1].outer;
    } else {
        if (!alloc_reserve(store->alloc, (void **)&slices->open, &slices->open_capacity,
                           slices->open_n + 1, sizeof *slices->open))
            return false;
        number = (uint32_t)++slices->open_n;
    }
    slices->open[number - 1] = (struct open_slice){
        .ts = slices->latest, .row = (uint32_t)slices->n - 1, .outer = store->tracks[track].open};
    store->tracks[track].open = number;
    return true;
}

static void note_start(struct raw_track *track, int64_t time)
{
    if (time > track->latest_start)
        track->latest_start = time;
}

/* Notes the time of a begin or an end. */
static void note_time(struct raw_track *track, int64_t time)
{
    track->is_disordered |= time < track->latest;
    track->latest = time;
}

static inline bool begin_slice(ttr_store *store, const ttr_event *event,
                               const struct new_slice *slice)
{
    struct store_slices *slices = &store->slices;
    const size_t row = slices->n;
    if (!add_slice(store, event, slice) || !push_open_slice(store, slice->track))
        return false;
    slices->begins[row / 64] |= (uint64_t)1 << (row % 64);
    note_start(&store->tracks[slice->track], event->time);
    note_time(&store->tracks[slice->track], event->time);
    return true;
}

/* Keeps an end that has no begin. Returns false if memory is exhausted. */
static bool keep_lone_end(ttr_store *store, const ttr_event *event, uint32_t track)
{
    struct store_slices *slices = &store->slices;
    if (!alloc_reserve(store->alloc, (void **)&slices->lone_ends, &slices->lone_ends_capacity,
                       slices->lone_ends_n + 1, sizeof *slices->lone_ends))
        return false;
    slices->lone_ends[slices->lone_ends_n++] =
        (struct lone_end){event->time, track, (uint32_t)slices->n};
    return true;
}

bool store_keep_end(const ttr_store *store, struct slice_ends *ends, struct slice_end end)
{
    if (!alloc_reserve(store->alloc, (void **)&ends->items, &ends->capacity, ends->n + 1,
                       sizeof *ends->items))
        return false;
    ends->items[ends->n++] = end;
    return true;
}

/* Ends the innermost open slice of a track, if there is one that started before. */
static bool end_slice(ttr_store *store, const ttr_event *event, uint32_t track)
{
    struct store_slices *slices = &store->slices;
    if (track == UINT32_MAX)
        return false;
    struct raw_track *on = &store->tracks[track];
    const uint32_t number = on->open;
    note_time(on, event->time);
    if (!number || slices->open[number - 1].ts > event->time)
        return keep_lone_end(store, event, track);
    struct open_slice *slice = &slices->open[number - 1];
    on->open = slice->outer;
    slice->outer = slices->open_free;
    slices->open_free = number;
    if (event->time <= on->latest_start &&
        !store_keep_end(store, &slices->ends, (struct slice_end){slice->row, (uint32_t)slices->n}))
        return false;
    return column_set(&slices->columns[SLICE_DUR], slice->row,
                      store_get_duration(slice->ts, event->time));
}

static bool add_flow(ttr_store *store, const ttr_event *event, uint64_t row)
{
    if (store->has_flows)
        return store_add_flow(store, event, row);
    return !store->has_track_numbers || store_find_thread_track(store, event) != UINT32_MAX;
}

static bool add_instant(ttr_store *store, const ttr_event *event, struct new_slice *slice)
{
    if (event->flags & TTR_EVENT_NO_TIME)
        return true;
    slice->track = store_find_thread_track(store, event);
    if (!add_slice(store, event, slice))
        return false;
    note_start(&store->tracks[slice->track], event->time);
    return true;
}

static bool add_span(ttr_store *store, const ttr_event *event, struct new_slice *slice)
{
    slice->track = store_find_thread_track(store, event);
    if (!add_slice(store, event, slice))
        return false;
    if (event->duration == 0)
        note_start(&store->tracks[slice->track], event->time);
    store->slices.has_spans |= event->duration > 0;
    return true;
}

static bool add_async_begin(ttr_store *store, const ttr_event *event, struct new_slice *slice)
{
    slice->track = store_find_async_track(store, event);
    slice->name = activity_span_name(store->t, event);
    return begin_slice(store, event, slice);
}

static inline bool add_event(ttr_store *store, const ttr_event *event, uint64_t row)
{
    struct new_slice slice = {.event = row, .dur = SLICE_OPEN, .name = event->name};
    switch (event->kind) {
    case TTR_KIND_BEGIN:
        slice.track = store_find_thread_track(store, event);
        return begin_slice(store, event, &slice);
    case TTR_KIND_END:
        return end_slice(store, event, store_find_thread_track(store, event));
    case TTR_KIND_SPAN:
        slice.dur = store_get_duration(event->time, saturate_end_ns(event->time, event->duration));
        return add_span(store, event, &slice);
    case TTR_KIND_INSTANT:
        slice.dur = store_get_duration(event->time, event->time);
        return add_instant(store, event, &slice);
    case TTR_KIND_ASYNC_BEGIN:
        return add_async_begin(store, event, &slice);
    case TTR_KIND_ASYNC_END:
        return end_slice(store, event, store_find_async_track(store, event));
    case TTR_KIND_FLOW_BEGIN:
    case TTR_KIND_FLOW_STEP:
    case TTR_KIND_FLOW_END:
        return add_flow(store, event, row);
    default:
        return true;
    }
}

bool store_add_slices(ttr_store *store, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++)
        if (!add_event(store, ttr_batch_at(batch, i), store->events + i))
            return false;
    return true;
}

/* --- Only tracks --- */

static bool number_track(ttr_store *store, const ttr_event *event)
{
    switch (event->kind) {
    case TTR_KIND_ASYNC_BEGIN:
    case TTR_KIND_ASYNC_END:
        return store_find_async_track(store, event) != UINT32_MAX;
    case TTR_KIND_INSTANT:
        return (event->flags & TTR_EVENT_NO_TIME) ||
               store_find_thread_track(store, event) != UINT32_MAX;
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

bool store_number_slice_tracks(ttr_store *store, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++)
        if (!number_track(store, ttr_batch_at(batch, i)))
            return false;
    return true;
}
