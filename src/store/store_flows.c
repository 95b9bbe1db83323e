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
#include "store/store.h"

/* Returns true for an event of a flow that ttr_interpret found. */
static bool is_interpreted(const ttr_store *store, const ttr_event *event)
{
    ttr_event original;
    return event->flags & TTR_EVENT_ADDED || ttr_event_original(store->t, event, &original);
}

bool store_add_flow(ttr_store *store, const ttr_event *event)
{
    const uint32_t track = store_find_thread_track(store, event);
    const bool is_found = is_interpreted(store, event);
    if (track == UINT32_MAX ||
        !alloc_reserve(store->alloc, (void **)&store->flows, &store->flows_capacity,
                       store->flows_n + 1, sizeof *store->flows))
        return false;
    store->flows[store->flows_n++] =
        (struct raw_flow){.ts = event->time,
                          .event = store->events,
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

/* Returns the innermost slice + 1 at a time, from one that started last on its track; 0 = none.
 * Instants do not count. */
static uint32_t find_enclosing_slice(const ttr_store *store, const uint32_t *parent, uint32_t slice,
                                     int64_t ts)
{
    while (slice && (store->slices[slice - 1].end < ts ||
                     store->slices[slice - 1].end == store->slices[slice - 1].ts))
        slice = parent[slice - 1];
    return slice;
}

/* Finds the slice of each flow event, in one pass over sorted slices.  `parent` has the parent + 1
 * of each slice. */
static void find_slices(ttr_store *store, const uint32_t *parent)
{
    size_t next = 0;
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = 0;
    for (size_t i = 0; i < store->flows_n; i++) {
        struct raw_flow *flow = &store->flows[i];
        for (; next < store->slices_n; next++) {
            const struct raw_slice *slice = &store->slices[next];
            if (slice->ts > flow->ts || (slice->ts == flow->ts && slice->event > flow->event))
                break;
            store->tracks[slice->track].open = (uint32_t)next + 1;
        }
        flow->slice =
            find_enclosing_slice(store, parent, store->tracks[flow->track].open, flow->ts);
    }
}

/* Finds the next slice of its thread for each end that precedes its slice, in one pass backwards.
 */
static void find_next_slices(ttr_store *store)
{
    size_t next = store->slices_n;
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = 0;
    for (size_t i = store->flows_n; i-- > 0;) {
        struct raw_flow *flow = &store->flows[i];
        for (; next > 0; next--) {
            const struct raw_slice *slice = &store->slices[next - 1];
            if (slice->ts < flow->ts || (slice->ts == flow->ts && slice->event < flow->event))
                break;
            if (slice->end != slice->ts)
                store->tracks[slice->track].open = (uint32_t)next;
        }
        if (flow->binds_to_next && store->tracks[flow->track].open)
            flow->slice = store->tracks[flow->track].open;
    }
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

bool store_end_flows(ttr_store *store, const uint32_t *parent)
{
    struct pair_map latest; /* slice + 1 of the latest event of each flow */
    bool is_fine = true;
    if (store->flows_n == 0)
        return true;
    qsort(store->flows, store->flows_n, sizeof *store->flows, compare_times);
    find_slices(store, parent);
    find_next_slices(store);
    qsort(store->flows, store->flows_n, sizeof *store->flows, compare_events);
    pair_map_init(&latest, store->alloc);
    for (size_t i = 0; i < store->flows_n && is_fine; i++)
        is_fine = write_flow(store, &latest, &store->flows[i]);
    pair_map_free(&latest);
    return is_fine;
}
