/* Counters: a track per series, and a row per value. */
#include <tracetta/advanced.h>

#include "store/store.h"

/* Returns the track of a counter's series, added if it is new; UINT32_MAX if memory is exhausted.
 */
static uint32_t find_or_add_counter_track(ttr_store *store, const ttr_event *event, ttr_id series)
{
    const uint64_t key = (uint64_t)event->name << 32 | series;
    const uint64_t id = event->link ^ (uint64_t)event->thread << 32;
    const uint32_t *known = pair_map_get(&store->counter_ids, key, id);
    if (known)
        return *known;
    const uint32_t track = (uint32_t)store->tables[STORE_COUNTER_TRACK].rows;
    const int64_t row[] = {track, store_text_or_null(event->name), store_text_or_null(series),
                           store_clamp(event->link), store_text_or_null(event->thread)};
    if (!pair_map_put(&store->counter_ids, key, id, track) ||
        !table_append(&store->tables[STORE_COUNTER_TRACK], row))
        return UINT32_MAX;
    return track;
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
    return track != UINT32_MAX && table_append(&store->tables[STORE_COUNTER], row);
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
