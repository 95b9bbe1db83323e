/* Counters: a track per series, and a row per value.
 *
 * The tracks of counters are numbered after those of slices, which are all known at the end of the
 * trace only.  Until then table counter has numbers from `counter_tracks_from` on. */
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

#define COUNTER_TRACK 2u /* column of table counter */

/* Returns true if the link of a counter event is a CPU number. Such counters have the category
 * "power" (interpretation, src/meaning). */
static bool is_of_cpu(const ttr_store *store, const ttr_event *event)
{
    return (event->flags & TTR_EVENT_HAS_CPU) && event->link <= UINT32_MAX &&
           strcmp(ttr_text_get(store->t, event->category).p, "power") == 0;
}

/* Returns the index of the track of a counter's series, added if it is new; UINT32_MAX if memory is
 * exhausted. */
static uint32_t find_or_add_counter_track(ttr_store *store, const ttr_event *event, ttr_id series)
{
    const bool has_cpu = is_of_cpu(store, event);
    const uint32_t thread = has_cpu ? 0 : event->thread;
    const uint64_t key = (uint64_t)event->name << 32 | series;
    const uint64_t id = event->link ^ (uint64_t)thread << 32;
    const uint32_t *known = pair_map_get(&store->counter_ids, key, id);
    if (known)
        return *known;
    const size_t n = store->counter_tracks_n;
    if (n >= TRACKS_MAX ||
        !alloc_reserve(store->alloc, (void **)&store->counter_tracks,
                       &store->counter_tracks_capacity, n + 1, sizeof *store->counter_tracks) ||
        !pair_map_put(&store->counter_ids, key, id, (uint32_t)n))
        return UINT32_MAX;
    store->counter_tracks[store->counter_tracks_n++] =
        (struct raw_track){.kind = has_cpu ? TRACK_CPU_COUNTER : TRACK_COUNTER,
                           .thread = thread,
                           .name = event->name,
                           .series = series,
                           .cpu = has_cpu ? (uint32_t)event->link : 0,
                           .counter_id = event->link};
    return (uint32_t)n;
}

static bool add_counter_value(ttr_store *store, const ttr_event *event, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    const double number = value->type == TTR_TYPE_FLOAT ? value->v.f
                          : value->type == TTR_TYPE_INT ? (double)value->v.s
                                                        : (double)value->v.u;
    if (field->depth > 0 || value->type < TTR_TYPE_BOOL || value->type > TTR_TYPE_FLOAT)
        return true;
    const uint32_t track = find_or_add_counter_track(
        store, event, ttr_text_add(store->t, field->name.p, field->name.n));
    const int64_t row[] = {(int64_t)store->tables[STORE_COUNTER].rows, event->time,
                           (int64_t)store->counter_tracks_from + track, store_convert_real(number)};
    return track != UINT32_MAX && store_append(store, STORE_COUNTER, row);
}

bool store_add_counter(ttr_store *store, const ttr_event *event)
{
    const ttr_field *field;
    for (uint32_t n = ttr_event_fields(store->fields, event, &field); n > 0;
         n = ttr_event_fields_next(store->fields, &field))
        for (uint32_t i = 0; i < n; i++)
            if (!add_counter_value(store, event, &field[i]))
                return false;
    return true;
}

/* Makes the numbers of tracks in table counter follow the tracks of slices. */
void store_end_counters(ttr_store *store)
{
    struct column *track = &store->tables[STORE_COUNTER].columns[COUNTER_TRACK];
    column_add(track, (int64_t)store->tracks_n - store->counter_tracks_from);
    store->counter_tracks_from = (uint32_t)store->tracks_n;
}
