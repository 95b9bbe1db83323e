/* Tables sched and thread_state, from switches, wakes and gaps.
 *
 * The states are those of model/schedule.h.  A change of state ends the open row of its thread and
 * starts the next one:
 *
 *   switch from A (it waits) to B:  A: Running ends, S starts;  B: R ends, Running starts
 *   wake of A:                      A: S ends, R starts, with the waker
 *   gap, or a switch from a thread that did not run: the running row ends with an unknown duration,
 *                                   and no row starts
 *
 * Rows are in the order of the events.  Memory: 40 bytes per row until the end of the trace. */
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

/* CPUs of all machines of a store are counted together, as in columns `cpu`. */
#define MACHINE 0

/* Returns a state as Perfetto names it: the letters of the Linux kernel. */
static const char *get_state_text(unsigned state)
{
    static const char *const texts[] = {
        [SCHEDULE_RUNNABLE] = "R", [SCHEDULE_PREEMPTED] = "R+",      [SCHEDULE_RUNNING] = "Running",
        [SCHEDULE_SLEEPING] = "S", [SCHEDULE_UNINTERRUPTIBLE] = "D", [SCHEDULE_STOPPED] = "T",
        [SCHEDULE_DEAD] = "X"};
    return state < sizeof texts / sizeof *texts ? texts[state] : NULL;
}

static int64_t add_state_text(ttr_store *store, unsigned state)
{
    const char *text = get_state_text(state);
    return text ? (int64_t)ttr_text_add(store->t, text, strlen(text)) : TTR_STORE_NULL;
}

void store_states_init(ttr_store *store)
{
    schedule_init(&store->states.schedule, store->alloc);
    pair_map_init(&store->states.unnamed, store->alloc);
}

void store_states_free(ttr_store *store)
{
    struct store_states *states = &store->states;
    if (!states->schedule.alloc)
        return;
    alloc_free(store->alloc, states->rows, states->rows_capacity, sizeof *states->rows);
    alloc_free(store->alloc, states->open, states->open_n, sizeof *states->open);
    pair_map_free(&states->unnamed);
    schedule_free(&states->schedule);
    *states = (struct store_states){0};
}

/* Makes room for a row, and for the open row of a thread. Returns false if memory is exhausted. */
static bool reserve_row(ttr_store *store, ttr_id thread)
{
    struct store_states *states = &store->states;
    const size_t before = states->open_n;
    if (states->rows_n >= UINT32_MAX - 1 ||
        !alloc_reserve(store->alloc, (void **)&states->rows, &states->rows_capacity,
                       states->rows_n + 1, sizeof *states->rows) ||
        !alloc_reserve(store->alloc, (void **)&states->open, &states->open_n, (size_t)thread + 1,
                       sizeof *states->open))
        return false;
    if (states->open_n > before)
        memset(states->open + before, 0, (states->open_n - before) * sizeof *states->open);
    return true;
}

static void end_row(struct raw_state *row, int64_t time)
{
    row->dur = time > row->ts ? store_clamp((uint64_t)time - (uint64_t)row->ts) : 0;
}

/* Returns the running row of a thread + 1; 0 if it does not run. */
static uint32_t find_running_row(const struct store_states *states, uint64_t thread)
{
    const uint32_t row = thread && thread < states->open_n ? states->open[thread] : 0;
    return row && states->rows[row - 1].state == SCHEDULE_RUNNING ? row : 0;
}

/* Ends the open row of the thread of a change. */
static void end_open_row(struct store_states *states, const struct schedule_change *change,
                         int64_t time)
{
    struct raw_state *row = &states->rows[states->open[change->thread] - 1];
    const bool is_known = row->state != SCHEDULE_RUNNING || change->has_run;
    end_row(row, time);
    if (!is_known)
        row->dur = TTR_STORE_NULL;
    row->end_state = is_known ? change->state : SCHEDULE_UNKNOWN;
    states->open[change->thread] = 0;
}

/* Applies a change of state. Returns false if memory is exhausted. */
static bool apply_change(ttr_store *store, const struct schedule_change *change,
                         const ttr_event *event)
{
    struct store_states *states = &store->states;
    const bool is_running = change->state == SCHEDULE_RUNNING;
    if (!reserve_row(store, change->thread))
        return false;
    if (states->open[change->thread])
        end_open_row(states, change, event->time);
    if (change->state == SCHEDULE_UNKNOWN ||
        (!is_running && !store->tables[STORE_THREAD_STATE].is_wanted))
        return true;
    struct raw_state *row = &states->rows[states->rows_n++];
    *row = (struct raw_state){
        .ts = event->time, .dur = -1, .thread = change->thread, .state = change->state};
    if (is_running)
        row->cpu = change->cpu;
    if (event->kind == TTR_KIND_WAKE && event->link <= UINT32_MAX) {
        row->waker = (uint32_t)event->link;
        row->waker_row = find_running_row(states, event->link);
    }
    states->open[change->thread] = (uint32_t)states->rows_n;
    return true;
}

/* Ends the run of an unknown thread on the CPU of a switch, if there is one. Starts another if the
 * incoming thread is unknown. */
static bool switch_unnamed_run(ttr_store *store, const ttr_event *event)
{
    struct store_states *states = &store->states;
    uint32_t *open = pair_map_get(&states->unnamed, event->cpu, 0);
    if (open && *open) {
        end_row(&states->rows[*open - 1], event->time);
        *open = 0;
    }
    if (event->thread)
        return true;
    if (!reserve_row(store, 0) ||
        !pair_map_put(&states->unnamed, event->cpu, 0, (uint32_t)states->rows_n + 1))
        return false;
    states->rows[states->rows_n++] = (struct raw_state){
        .ts = event->time, .dur = -1, .cpu = event->cpu, .state = SCHEDULE_RUNNING};
    return true;
}

bool store_add_state(ttr_store *store, const ttr_event *event)
{
    struct store_states *states = &store->states;
    if (!schedule_apply(&states->schedule, MACHINE, event))
        return false;
    for (size_t i = 0; i < states->schedule.changes_n; i++)
        if (!apply_change(store, &states->schedule.change[i], event))
            return false;
    return event->kind != TTR_KIND_SWITCH || !(event->flags & TTR_EVENT_HAS_CPU) ||
           switch_unnamed_run(store, event);
}

/* --- Tables --- */

static bool write_sched_row(ttr_store *store, const struct raw_state *state)
{
    struct table *table = &store->tables[STORE_SCHED];
    const int64_t row[] = {(int64_t)table->rows,
                           state->ts,
                           state->dur,
                           state->cpu,
                           store_text_or_null(state->thread),
                           add_state_text(store, state->end_state)};
    return table_append(table, row);
}

/* Writes a row of thread_state. `ids` has the id of each row so far. */
static bool write_state_row(ttr_store *store, const struct raw_state *state, uint32_t *ids)
{
    struct table *table = &store->tables[STORE_THREAD_STATE];
    ids[state - store->states.rows] = (uint32_t)table->rows;
    const int64_t row[] = {(int64_t)table->rows,
                           state->ts,
                           state->dur,
                           state->state == SCHEDULE_RUNNING ? (int64_t)state->cpu : TTR_STORE_NULL,
                           store_text_or_null(state->thread),
                           add_state_text(store, state->state),
                           store_text_or_null(state->waker),
                           state->waker_row ? (int64_t)ids[state->waker_row - 1] : TTR_STORE_NULL};
    return table_append(table, row);
}

bool store_end_states(ttr_store *store)
{
    const struct store_states *states = &store->states;
    const bool has_sched = store->tables[STORE_SCHED].is_wanted,
               has_states = store->tables[STORE_THREAD_STATE].is_wanted;
    uint32_t *ids = alloc_zero(store->alloc, states->rows_n, sizeof *ids);
    bool is_fine = ids != NULL;
    for (size_t i = 0; i < states->rows_n && is_fine; i++) {
        const struct raw_state *state = &states->rows[i];
        is_fine =
            (!has_sched || state->state != SCHEDULE_RUNNING || write_sched_row(store, state)) &&
            (!has_states || !state->thread || write_state_row(store, state, ids));
    }
    alloc_free(store->alloc, ids, states->rows_n, sizeof *ids);
    if (!store->is_updating)
        store_states_free(store);
    return is_fine;
}
