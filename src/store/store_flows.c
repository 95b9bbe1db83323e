/* Table flow: arrows between slices.
 *
 * A flow has a begin, steps and an end.  Each of these events is in a slice: the innermost one on
 * its thread that contains its time.  The end of a flow that ttr_interpret found precedes its
 * slice: it is in the next one of its thread.  A row connects the slices of two consecutive events.
 * As in the formats, an id is unique within an input, a category and a name. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/meaning.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "store/store.h"

/* Returns true for an event of a flow that ttr_interpret found. */
static bool is_interpreted(const ttr_store *store, const ttr_event *event)
{
    ttr_event original;
    return event->flags & TTR_EVENT_ADDED || ttr_event_original(store->t, event, &original);
}

bool store_add_flow(ttr_store *store, const ttr_event *event, uint64_t row)
{
    const uint32_t track = store_find_thread_track(store, event);
    const bool is_found = is_interpreted(store, event);
    if (track == UINT32_MAX ||
        !alloc_reserve(store->alloc, (void **)&store->flows, &store->flows_capacity,
                       store->flows_n + 1, sizeof *store->flows))
        return false;
    store->flows[store->flows_n++] =
        (struct raw_flow){.ts = event->time,
                          .event = row,
                          .scope = hash_pair((uint64_t)event->category << 32 | event->name,
                                             is_found ? 0 : event->source),
                          .link = event->link,
                          .track = track,
                          .kind = event->kind,
                          .binds_to_next = is_found && event->kind == TTR_KIND_FLOW_END};
    return true;
}

static int compare_times(const void *left, const void *right)
{
    const struct raw_flow *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static int compare_events(const void *left, const void *right)
{
    const struct raw_flow *a = left, *b = right;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Columns of sorted slices, with the values of one block. */
struct slice_rows {
    const struct column *columns;
    uint64_t block; /* UINT64_MAX = none */
    int64_t ts[STORE_BLOCK], dur[STORE_BLOCK], event[STORE_BLOCK], track[STORE_BLOCK];
    uint32_t *latest; /* slice + 1 of each track that was visited last; 0 = none */
};

/* Returns the index of a slice in its block, which is read if needed. */
static size_t find_in_block(struct slice_rows *rows, uint64_t slice)
{
    const uint64_t block = slice / STORE_BLOCK, first = block * STORE_BLOCK;
    if (block != rows->block) {
        column_read(&rows->columns[SLICE_TS], first, STORE_BLOCK, rows->ts);
        column_read(&rows->columns[SLICE_DUR], first, STORE_BLOCK, rows->dur);
        column_read(&rows->columns[SLICE_EVENT], first, STORE_BLOCK, rows->event);
        column_read(&rows->columns[SLICE_TRACK], first, STORE_BLOCK, rows->track);
        rows->block = block;
    }
    return (size_t)(slice - first);
}

/* Returns true if a slice does not end before a time, and is not an instant. */
static bool is_enclosing(const struct column *slices, uint32_t slice, int64_t ts)
{
    const int64_t dur = column_get(&slices[SLICE_DUR], slice);
    return dur < 0 ||
           (dur > 0 && saturate_end_ns(column_get(&slices[SLICE_TS], slice), (uint64_t)dur) >= ts);
}

/* Returns the innermost slice + 1 at a time, from one that started last on its track; 0 = none.
 * Instants do not count. */
static uint32_t find_enclosing_slice(const struct column *slices, uint32_t slice, int64_t ts)
{
    while (slice && !is_enclosing(slices, slice - 1, ts)) {
        const int64_t parent = column_get(&slices[SLICE_PARENT], slice - 1);
        slice = parent == TTR_STORE_NULL ? 0 : (uint32_t)parent + 1;
    }
    return slice;
}

/* Finds the slice of each flow event, in one pass over sorted slices. */
static void find_slices(ttr_store *store, struct slice_rows *rows)
{
    uint64_t next = 0;
    memset(rows->latest, 0, store->tracks_n * sizeof *rows->latest);
    for (size_t i = 0; i < store->flows_n; i++) {
        struct raw_flow *flow = &store->flows[i];
        for (; next < store->slices.n; next++) {
            const size_t at = find_in_block(rows, next);
            if (rows->ts[at] > flow->ts ||
                (rows->ts[at] == flow->ts && (uint64_t)rows->event[at] > flow->event))
                break;
            rows->latest[rows->track[at]] = (uint32_t)next + 1;
        }
        flow->slice = find_enclosing_slice(rows->columns, rows->latest[flow->track], flow->ts);
    }
}

/* Finds the next slice of its thread for each end that precedes its slice, in one pass backwards.
 */
static void find_next_slices(ttr_store *store, struct slice_rows *rows)
{
    uint64_t next = store->slices.n;
    memset(rows->latest, 0, store->tracks_n * sizeof *rows->latest);
    for (size_t i = store->flows_n; i-- > 0;) {
        struct raw_flow *flow = &store->flows[i];
        for (; next > 0; next--) {
            const size_t at = find_in_block(rows, next - 1);
            if (rows->ts[at] < flow->ts ||
                (rows->ts[at] == flow->ts && (uint64_t)rows->event[at] < flow->event))
                break;
            if (rows->dur[at] != 0)
                rows->latest[rows->track[at]] = (uint32_t)next;
        }
        if (flow->binds_to_next && rows->latest[flow->track])
            flow->slice = rows->latest[flow->track];
    }
}

/* Finds the slices of all flow events. Returns false if memory is exhausted. */
static bool find_all_slices(ttr_store *store, const struct column *slices)
{
    struct slice_rows *rows = alloc_zero(store->alloc, 1, sizeof *rows);
    uint32_t *latest = alloc_zero(store->alloc, store->tracks_n, sizeof *latest);
    const bool is_fine = rows && latest;
    if (is_fine) {
        rows->columns = slices;
        rows->block = UINT64_MAX;
        rows->latest = latest;
        find_slices(store, rows);
        find_next_slices(store, rows);
    }
    alloc_free(store->alloc, latest, store->tracks_n, sizeof *latest);
    alloc_free(store->alloc, rows, 1, sizeof *rows);
    return is_fine;
}

/* Writes a row if the flow event continues a known flow. */
static bool write_flow(ttr_store *store, struct pair_map *latest, const struct raw_flow *flow)
{
    const uint32_t *known = pair_map_get(latest, flow->scope, flow->link);
    const uint32_t out = known && flow->kind != TTR_KIND_FLOW_BEGIN ? *known : 0;
    const int64_t row[] = {(int64_t)store->tables[STORE_FLOW].rows, (int64_t)out - 1,
                           (int64_t)flow->slice - 1, store_clamp(flow->link), (int64_t)flow->event};
    if (out && flow->slice && !store_append(store, STORE_FLOW, row))
        return false;
    if (flow->kind != TTR_KIND_FLOW_END)
        return pair_map_put(latest, flow->scope, flow->link, flow->slice);
    (void)pair_map_remove(latest, flow->scope, flow->link);
    return true;
}

bool store_end_flows(ttr_store *store, const struct column *slices)
{
    struct pair_map latest; /* slice + 1 of the latest event of each flow */
    if (store->flows_n == 0)
        return true;
    qsort(store->flows, store->flows_n, sizeof *store->flows, compare_times);
    bool is_fine = find_all_slices(store, slices);
    qsort(store->flows, store->flows_n, sizeof *store->flows, compare_events);
    pair_map_init(&latest, store->alloc);
    for (size_t i = 0; i < store->flows_n && is_fine; i++)
        is_fine = write_flow(store, &latest, &store->flows[i]);
    pair_map_free(&latest);
    return is_fine;
}
