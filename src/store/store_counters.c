/* Counters: a track per series, and a row per value. */
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

/* Returns true if the link of a counter event is a CPU number. Such counters have the category
 * "power" (interpretation, src/meaning). */
static bool is_of_cpu(const ttr_store *store, const ttr_event *event)
{
    return (event->flags & TTR_EVENT_HAS_CPU) && event->link <= UINT32_MAX &&
           strcmp(ttr_text_get(store->t, event->category).p, "power") == 0;
}

/* Returns the track of a counter's series, added if it is new; UINT32_MAX if memory is exhausted.
 */
static uint32_t find_or_add_counter_track(ttr_store *store, const ttr_event *event, ttr_id series)
{
    const bool has_cpu = is_of_cpu(store, event);
    const uint32_t thread = has_cpu ? 0 : event->thread;
    const uint64_t key = (uint64_t)event->name << 32 | series;
    const uint64_t id = event->link ^ (uint64_t)thread << 32;
    const uint32_t *known = pair_map_get(&store->counter_ids, key, id);
    if (known)
        return *known;
    const uint32_t track = store_add_track(
        store, &(struct raw_track){.kind = has_cpu ? TRACK_CPU_COUNTER : TRACK_COUNTER,
                                   .thread = thread,
                                   .name = event->name,
                                   .series = series,
                                   .cpu = has_cpu ? (uint32_t)event->link : 0,
                                   .counter_id = event->link});
    return track != UINT32_MAX && pair_map_put(&store->counter_ids, key, id, track) ? track
                                                                                    : UINT32_MAX;
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
    const int64_t row[] = {(int64_t)store->tables[STORE_COUNTER].rows, event->time, track,
                           store_convert_real(number)};
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
