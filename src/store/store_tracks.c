/* Tracks: lanes of slices and series of counters, and the tables of their kinds.
 *
 * Table track has all of them: those of slices, then those of counters, each in the order in which
 * they occur. So their numbers do not depend on the tables that the store has.  Each kind has a
 * table of its own, with Perfetto's name, and the number of its thread, process or CPU. */
#include <stdio.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "model/activity.h"
#include "store/store.h"

/* --- Finding --- */

static uint32_t add_track(ttr_store *store, const struct raw_track *made)
{
    if (store->tracks_n >= TRACKS_MAX ||
        !alloc_reserve(store->alloc, (void **)&store->tracks, &store->tracks_capacity,
                       store->tracks_n + 1, sizeof *store->tracks))
        return UINT32_MAX;
    store->tracks[store->tracks_n] = *made;
    store->tracks[store->tracks_n].latest = INT64_MIN;
    store->tracks[store->tracks_n].latest_start = INT64_MIN;
    return (uint32_t)store->tracks_n++;
}

/* Returns the number of a track, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_track(ttr_store *store, uint64_t a, uint64_t b, const struct raw_track *made)
{
    const uint32_t *known = pair_map_get(&store->track_ids, a, b);
    if (known)
        return *known;
    const uint32_t track = add_track(store, made);
    return track != UINT32_MAX && pair_map_put(&store->track_ids, a, b, track) ? track : UINT32_MAX;
}

/* Makes room in the list of tracks by thread. */
static bool reserve_thread(ttr_store *store, ttr_id thread)
{
    if (thread < store->thread_tracks_n)
        return true;
    const size_t n = 2 * (size_t)thread + 64;
    uint32_t *grown =
        alloc_resize(store->alloc, store->thread_tracks, store->thread_tracks_n, n, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + store->thread_tracks_n, 0, (n - store->thread_tracks_n) * sizeof *grown);
    store->thread_tracks = grown;
    store->thread_tracks_n = n;
    return true;
}

/* Finds the track of an event without a thread.  The interpretation has a track "CPU n" for the
 * interrupts of each CPU. */
static uint32_t find_named_track(ttr_store *store, const ttr_event *event)
{
    char cpu[32];
    ttr_track about = {0};
    (void)ttr_track_get(store->t, event->track, &about);
    struct raw_track made = {.kind = TRACK_OTHER, .name = about.name};
    (void)snprintf(cpu, sizeof cpu, "CPU %u", event->cpu);
    if ((event->flags & TTR_EVENT_HAS_CPU) && about.number == event->cpu &&
        strcmp(ttr_text_get(store->t, about.name).p, cpu) == 0) {
        made.kind = TRACK_CPU;
        made.cpu = event->cpu;
    }
    return find_track(store, (uint64_t)event->track << 32, 0, &made);
}

uint32_t store_add_thread_track(ttr_store *store, const ttr_event *event)
{
    const struct raw_track made = {.kind = TRACK_THREAD, .thread = event->thread};
    if (!event->thread)
        return find_named_track(store, event);
    if (!reserve_thread(store, event->thread))
        return UINT32_MAX;
    uint32_t *known = &store->thread_tracks[event->thread];
    if (!*known)
        *known = find_track(store, event->thread, 0, &made) + 1;
    return *known - 1;
}

uint32_t store_find_async_track(ttr_store *store, const ttr_event *event)
{
    const struct raw_track made = {
        .kind = TRACK_ASYNC, .thread = event->thread, .name = activity_span_name(store->t, event)};
    return find_track(store, event->link, (uint64_t)1 << 63 | event->provider, &made);
}

/* --- Tables --- */

/* Values that the tables of tracks have. */
struct track_cells {
    int64_t id, name, type, utid, upid, cpu, series, counter_id;
};

static struct track_cells get_track_cells(const ttr_store *store, const struct raw_track *track,
                                          size_t i)
{
    static const char *const types[] = {
        [TRACK_THREAD] = "thread_track",   [TRACK_ASYNC] = "async_track",
        [TRACK_CPU] = "cpu_track",         [TRACK_OTHER] = "track",
        [TRACK_COUNTER] = "counter_track", [TRACK_CPU_COUNTER] = "cpu_counter_track"};
    const bool is_counter = track->kind >= TRACK_COUNTER,
               is_of_cpu = track->kind == TRACK_CPU || track->kind == TRACK_CPU_COUNTER;
    const char *type = types[track->kind];
    return (struct track_cells){
        .id = (int64_t)i,
        .name = store_text_or_null(track->name),
        .type = (int64_t)ttr_text_add(store->t, type, strlen(type)),
        .utid = store_text_or_null(track->thread),
        .upid = store_find_process(store, track->thread),
        .cpu = is_of_cpu ? (int64_t)track->cpu : TTR_STORE_NULL,
        .series = is_counter ? store_text_or_null(track->series) : TTR_STORE_NULL,
        .counter_id = is_counter ? store_clamp(track->counter_id) : TTR_STORE_NULL,
    };
}

/* Appends a row of id, name, type and one more column. */
static bool append_kind(ttr_store *store, enum store_table table, const struct track_cells *cells,
                        int64_t value)
{
    const int64_t row[] = {cells->id, cells->name, cells->type, value};
    return store_append(store, table, row);
}

/* Appends a track to the tables of its kind. */
static bool append_kinds(ttr_store *store, const struct track_cells *cells, uint8_t kind)
{
    ttr_thread thread = {0};
    const int64_t counter[] = {cells->id,         cells->name, cells->type, cells->series,
                               cells->counter_id, cells->utid, cells->upid};
    switch (kind) {
    case TRACK_THREAD:
        return append_kind(store, STORE_THREAD_TRACK, cells, cells->utid);
    case TRACK_ASYNC:
        return cells->upid == TTR_STORE_NULL ||
               append_kind(store, STORE_PROCESS_TRACK, cells, cells->upid);
    case TRACK_CPU:
        return append_kind(store, STORE_CPU_TRACK, cells, cells->cpu);
    case TRACK_CPU_COUNTER:
        return store_append(store, STORE_COUNTER_TRACK, counter) &&
               append_kind(store, STORE_CPU_COUNTER_TRACK, cells, cells->cpu);
    case TRACK_COUNTER:
        if (cells->utid != TTR_STORE_NULL)
            (void)ttr_thread_get(store->t, (ttr_id)cells->utid, &thread);
        return store_append(store, STORE_COUNTER_TRACK, counter) &&
               (cells->upid == TTR_STORE_NULL ||
                append_kind(store, STORE_PROCESS_COUNTER_TRACK, cells, cells->upid)) &&
               (!thread.tid_known ||
                append_kind(store, STORE_THREAD_COUNTER_TRACK, cells, cells->utid));
    default:
        return true;
    }
}

bool store_end_tracks(ttr_store *store)
{
    const size_t slices_n = store->tracks_n;
    for (size_t i = 0; i < slices_n + store->counter_tracks_n; i++) {
        const struct raw_track *track =
            i < slices_n ? &store->tracks[i] : &store->counter_tracks[i - slices_n];
        const struct track_cells cells = get_track_cells(store, track, i);
        const int64_t row[] = {cells.id, cells.name, cells.type, cells.utid, cells.upid, cells.cpu};
        if (!store_append(store, STORE_TRACK, row) || !append_kinds(store, &cells, track->kind))
            return false;
    }
    return true;
}
