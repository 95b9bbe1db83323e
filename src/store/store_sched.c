/* Counters, scheduling, threads and processes. */
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

/* --- Counters --- */

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

/* --- Scheduling --- */

/* Ends the slice of the thread that ran on a CPU. */
static void end_running_slice(ttr_store *store, struct running *cpu, const ttr_event *event)
{
    struct raw_sched *row = cpu->row == UINT64_MAX ? NULL : &store->sched[cpu->row];
    if (!row)
        return;
    row->dur = event->time > row->ts ? store_clamp((uint64_t)event->time - (uint64_t)row->ts) : 0;
    const char *state = ttr_thread_state_text(event->tag);
    if (row->thread == event->link && state)
        row->state = ttr_text_add(store->t, state, strlen(state));
}

/* Makes room for the state of a CPU. Returns false if memory is exhausted. */
static bool reserve_cpu(ttr_store *store, uint32_t cpu)
{
    const size_t need = (size_t)cpu + 1;
    if (need > 65536 || !alloc_reserve(store->alloc, (void **)&store->cpus, &store->cpus_capacity,
                                       need, sizeof *store->cpus))
        return false;
    for (; store->cpus_n < need; store->cpus_n++)
        store->cpus[store->cpus_n] = (struct running){.row = UINT64_MAX};
    return true;
}

bool store_add_switch(ttr_store *store, const ttr_event *event)
{
    if (!(event->flags & TTR_EVENT_HAS_CPU) || event->cpu >= 65536)
        return true;
    if (!reserve_cpu(store, event->cpu) ||
        !alloc_reserve(store->alloc, (void **)&store->sched, &store->sched_capacity,
                       store->sched_n + 1, sizeof *store->sched))
        return false;
    struct running *cpu = &store->cpus[event->cpu];
    end_running_slice(store, cpu, event);
    store->sched[store->sched_n] = (struct raw_sched){
        .ts = event->time, .dur = -1, .cpu = event->cpu, .thread = event->thread};
    cpu->row = store->sched_n++;
    return true;
}

bool store_end_sched(ttr_store *store)
{
    bool is_fine = true;
    for (size_t i = 0; i < store->sched_n && is_fine; i++) {
        const struct raw_sched *sched = &store->sched[i];
        const int64_t row[] = {(int64_t)i,
                               sched->ts,
                               sched->dur,
                               sched->cpu,
                               store_text_or_null(sched->thread),
                               store_text_or_null(sched->state)};
        is_fine = table_append(&store->tables[STORE_SCHED], row);
    }
    alloc_free(store->alloc, store->sched, store->sched_capacity, sizeof *store->sched);
    store->sched = NULL;
    store->sched_n = store->sched_capacity = 0;
    return is_fine;
}

/* --- Threads and processes --- */

/* Returns the row of a process, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_process(ttr_store *store, struct pair_map *known, const ttr_thread *thread)
{
    const uint32_t *found = pair_map_get(known, thread->pid, thread->process_name);
    if (found)
        return *found;
    const uint32_t upid = (uint32_t)store->tables[STORE_PROCESS].rows;
    const int64_t row[] = {upid, store_clamp(thread->pid),
                           store_text_or_null(thread->process_name)};
    return pair_map_put(known, thread->pid, thread->process_name, upid) &&
                   table_append(&store->tables[STORE_PROCESS], row)
               ? upid
               : UINT32_MAX;
}

bool store_end_threads(ttr_store *store)
{
    struct pair_map known;
    bool is_fine = true;
    pair_map_init(&known, store->alloc);
    const uint32_t n = ttr_thread_count(store->t);
    for (uint32_t i = 1; i <= n && is_fine; i++) {
        ttr_thread thread;
        uint32_t upid = 0;
        if (!ttr_thread_get(store->t, i, &thread))
            continue;
        if (thread.pid_known)
            upid = find_process(store, &known, &thread);
        is_fine = upid != UINT32_MAX;
        const int64_t row[] = {i, thread.tid_known ? store_clamp(thread.tid) : TTR_STORE_NULL,
                               store_text_or_null(thread.thread_name),
                               thread.pid_known ? (int64_t)upid : TTR_STORE_NULL};
        is_fine = is_fine && table_append(&store->tables[STORE_THREAD], row);
    }
    for (uint16_t i = 0; is_fine; i++) {
        ttr_source source;
        if (!ttr_source_get(store->t, i, &source))
            break;
        const char *format = source.format ? source.format : "";
        const int64_t row[] = {i, store_text_or_null(source.path),
                               store_text_or_null(ttr_text_add(store->t, format, strlen(format)))};
        is_fine = table_append(&store->tables[STORE_SOURCE], row);
    }
    pair_map_free(&known);
    return is_fine;
}
