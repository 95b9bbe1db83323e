/* Slices: spans of threads and asynchronous spans, with depth, parent and self time.
 *
 * Begins and ends are matched while reading, by a stack per track. Complete spans may come at their
 * end. So the nesting is computed at the end of the trace: slices are sorted by start, longer ones
 * first, and a stack per track gives each one its parent. Cost: O(n log n); if the slices are in
 * order already, O(n).  The rows of the table are in order of time. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

#define OPEN INT64_MAX

/* Returns the number of a track, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_track(ttr_store *store, uint64_t a, uint64_t b, const struct raw_track *made)
{
    const uint32_t *known = pair_map_get(&store->track_ids, a, b);
    if (known)
        return *known;
    if (!alloc_reserve(store->alloc, (void **)&store->tracks, &store->tracks_capacity,
                       store->tracks_n + 1, sizeof *store->tracks) ||
        !pair_map_put(&store->track_ids, a, b, (uint32_t)store->tracks_n))
        return UINT32_MAX;
    store->tracks[store->tracks_n] = *made;
    return (uint32_t)store->tracks_n++;
}

static uint32_t find_thread_track(ttr_store *store, const ttr_event *event)
{
    ttr_track about = {0};
    if (!event->thread)
        (void)ttr_track_get(store->t, event->track, &about);
    const struct raw_track made = {.thread = event->thread, .name = about.name};
    const uint64_t key = event->thread ? event->thread : (uint64_t)event->track << 32;
    return find_track(store, key, 0, &made);
}

/* A track per provider and id: begin and end may have different names. */
static uint32_t find_async_track(ttr_store *store, const ttr_event *event)
{
    const struct raw_track made = {.thread = event->thread, .name = event->name, .is_async = 1};
    return find_track(store, event->link, (uint64_t)1 << 63 | event->provider, &made);
}

/* Adds a slice. Returns its number, or SIZE_MAX if memory is exhausted. */
static size_t add_slice(ttr_store *store, const ttr_event *event, uint32_t track, int64_t end)
{
    if (track == UINT32_MAX ||
        !alloc_reserve(store->alloc, (void **)&store->slices, &store->slices_capacity,
                       store->slices_n + 1, sizeof *store->slices) ||
        !alloc_reserve(store->alloc, (void **)&store->outer, &store->outer_capacity,
                       store->slices_n + 1, sizeof *store->outer))
        return SIZE_MAX;
    store->slices[store->slices_n] = (struct raw_slice){.ts = event->time,
                                                        .end = end,
                                                        .event = store->events,
                                                        .track = track,
                                                        .name = event->name,
                                                        .category = event->category,
                                                        .thread = event->thread};
    store->outer[store->slices_n] = 0;
    return store->slices_n++;
}

static bool begin_slice(ttr_store *store, const ttr_event *event, uint32_t track)
{
    const size_t i = add_slice(store, event, track, OPEN);
    if (i == SIZE_MAX)
        return false;
    store->outer[i] = store->tracks[track].open;
    store->tracks[track].open = (uint32_t)i + 1;
    return true;
}

static bool end_slice(ttr_store *store, const ttr_event *event, uint32_t track)
{
    if (track == UINT32_MAX)
        return false;
    struct raw_track *on = &store->tracks[track];
    if (on->open) {
        struct raw_slice *slice = &store->slices[on->open - 1];
        slice->end = event->time > slice->ts ? event->time : slice->ts;
        on->open = store->outer[on->open - 1];
    }
    return true;
}

bool store_add_slice(ttr_store *store, const ttr_event *event)
{
    switch (event->kind) {
    case TTR_KIND_BEGIN:
        return begin_slice(store, event, find_thread_track(store, event));
    case TTR_KIND_END:
        return end_slice(store, event, find_thread_track(store, event));
    case TTR_KIND_ASYNC_BEGIN:
        return begin_slice(store, event, find_async_track(store, event));
    case TTR_KIND_ASYNC_END:
        return end_slice(store, event, find_async_track(store, event));
    case TTR_KIND_SPAN:
        return add_slice(store, event, find_thread_track(store, event),
                         event->time + store_clamp(event->duration)) != SIZE_MAX;
    case TTR_KIND_INSTANT:
        return (event->flags & TTR_EVENT_NO_TIME) ||
               add_slice(store, event, find_thread_track(store, event), event->time) != SIZE_MAX;
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

static void sort_slices(ttr_store *store)
{
    for (size_t i = 1; i < store->slices_n; i++)
        if (compare_slices(&store->slices[i - 1], &store->slices[i]) > 0) {
            qsort(store->slices, store->slices_n, sizeof *store->slices, compare_slices);
            return;
        }
}

struct nesting {
    uint32_t *parent; /* + 1; 0 = none */
    uint32_t *depth;
    uint64_t *nested; /* time of direct children */
};

/* Computes parents and depths of sorted slices. */
static void compute_nesting(ttr_store *store, struct nesting *nesting)
{
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = 0;
    for (size_t i = 0; i < store->slices_n; i++) {
        const struct raw_slice *slice = &store->slices[i];
        struct raw_track *track = &store->tracks[slice->track];
        while (track->open && store->slices[track->open - 1].end <= slice->ts)
            track->open = nesting->parent[track->open - 1];
        nesting->parent[i] = track->open;
        if (track->open) {
            nesting->depth[i] = nesting->depth[track->open - 1] + 1;
            if (slice->end != OPEN)
                nesting->nested[track->open - 1] += (uint64_t)(slice->end - slice->ts);
        }
        track->open = (uint32_t)i + 1;
    }
}

static bool write_slices(ttr_store *store, const struct nesting *nesting)
{
    for (size_t i = 0; i < store->slices_n; i++) {
        const struct raw_slice *slice = &store->slices[i];
        const bool is_open = slice->end == OPEN;
        const int64_t dur = is_open ? -1 : slice->end - slice->ts;
        const int64_t self = is_open ? TTR_STORE_NULL
                             : nesting->nested[i] > (uint64_t)dur
                                 ? 0
                                 : dur - (int64_t)nesting->nested[i];
        ttr_thread thread = {0};
        (void)ttr_thread_get(store->t, slice->thread, &thread);
        const int64_t row[] = {
            (int64_t)i,
            slice->ts,
            dur,
            slice->track,
            store_text_or_null(slice->category),
            store_text_or_null(slice->name),
            nesting->depth[i],
            nesting->parent[i] ? (int64_t)nesting->parent[i] - 1 : TTR_STORE_NULL,
            (int64_t)slice->event,
            self,
            store_text_or_null(slice->thread),
            thread.tid_known ? store_clamp(thread.tid) : TTR_STORE_NULL,
            thread.pid_known ? store_clamp(thread.pid) : TTR_STORE_NULL,
            store_text_or_null(thread.thread_name),
            store_text_or_null(thread.process_name),
        };
        if (!table_append(&store->tables[STORE_SLICE], row))
            return false;
    }
    return true;
}

static bool write_tracks(ttr_store *store)
{
    for (size_t i = 0; i < store->tracks_n; i++) {
        const struct raw_track *track = &store->tracks[i];
        const char *type = track->is_async ? "async_track" : "thread_track";
        const int64_t row[] = {(int64_t)i, store_text_or_null(track->name),
                               (int64_t)ttr_text_add(store->t, type, strlen(type)),
                               store_text_or_null(track->thread)};
        if (!table_append(&store->tables[STORE_TRACK], row))
            return false;
    }
    return true;
}

bool store_end_slices(ttr_store *store)
{
    const size_t n = store->slices_n;
    struct nesting nesting = {
        .parent = alloc_zero(store->alloc, n, sizeof *nesting.parent),
        .depth = alloc_zero(store->alloc, n, sizeof *nesting.depth),
        .nested = alloc_zero(store->alloc, n, sizeof *nesting.nested),
    };
    bool is_fine = nesting.parent && nesting.depth && nesting.nested;
    if (is_fine) {
        sort_slices(store);
        compute_nesting(store, &nesting);
        is_fine = write_slices(store, &nesting) && write_tracks(store);
    }
    alloc_free(store->alloc, nesting.parent, n, sizeof *nesting.parent);
    alloc_free(store->alloc, nesting.depth, n, sizeof *nesting.depth);
    alloc_free(store->alloc, nesting.nested, n, sizeof *nesting.nested);
    alloc_free(store->alloc, store->slices, store->slices_capacity, sizeof *store->slices);
    alloc_free(store->alloc, store->outer, store->outer_capacity, sizeof *store->outer);
    store->slices = NULL;
    store->outer = NULL;
    store->slices_n = store->slices_capacity = store->outer_capacity = 0;
    return is_fine;
}
