/* Tracks and rows out of the tables of the store.
 *
 * A thread has a track with a row per depth. Asynchronous slices of one name and process share a
 * track: each slice is placed in the first lane that is free, so that slices of a row never
 * overlap.  A CPU has a row of the threads that ran on it, a thread a row of its states, and a
 * counter a row of values. */
#include "view/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 65536u

struct async_track {
    uint32_t id, name, group;
};

static int compare_async(const void *left, const void *right)
{
    const struct async_track *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Gives asynchronous tracks of one name and process the same track of the plan. */
static bool join_async(struct plan *plan, struct async_track *tracks, size_t n)
{
    qsort(tracks, n, sizeof *tracks, compare_async);
    for (size_t i = 0; i < n; i++) {
        const bool is_same =
            i > 0 && tracks[i].group == tracks[i - 1].group && tracks[i].name == tracks[i - 1].name;
        const struct view_track about = {.label = tracks[i].name,
                                         .group = tracks[i].group,
                                         .kind = VIEW_ASYNC,
                                         .id = tracks[i].id,
                                         .pid = -1,
                                         .tid = -1};
        plan->track_of_slice[tracks[i].id] =
            is_same ? plan->track_of_slice[tracks[i - 1].id] : plan_add_track(plan, &about);
        if (!plan->track_of_slice[tracks[i].id])
            return false;
    }
    return true;
}

static bool read_slice_tracks(struct plan *plan)
{
    static const char *const columns[] = {"id", "name", "type", "utid", NULL};
    struct cells *cells = &plan->cells;
    cells_open(cells, plan->view->store, "track", columns);
    const size_t n = (size_t)cells->rows;
    size_t async_n = 0, have;
    struct async_track *async = calloc(n + 1, sizeof *async);
    plan->slice_tracks = n;
    plan->track_of_slice = calloc(n + 1, sizeof *plan->track_of_slice);
    bool is_fine = async && plan->track_of_slice;
    for (uint64_t row = 0; is_fine && (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; is_fine && i < have; i++) {
            struct view_track about = plan_describe_thread(plan, cells->values[3][i]);
            const ttr_text type = ttr_text_get(plan->view->t, (ttr_id)cells->values[2][i]);
            const size_t id = (size_t)(row + i);
            about.kind = VIEW_THREAD;
            about.id = id;
            if (type.n >= 13 && memcmp(type.p + type.n - 13, "counter_track", 13) == 0)
                continue;
            if (type.n == 11 && memcmp(type.p, "async_track", 11) == 0) {
                const uint32_t name = view_name_of(plan->view, cells->values[1][i]);
                async[async_n++] = (struct async_track){(uint32_t)id, name, about.group};
                is_fine = name != UINT32_MAX;
            } else {
                if (!about.label)
                    about.label = view_name_of(plan->view, cells->values[1][i]);
                is_fine = about.label != UINT32_MAX &&
                          (plan->track_of_slice[id] = plan_add_track(plan, &about)) != 0;
            }
        }
    is_fine = is_fine && join_async(plan, async, async_n);
    free(async);
    return is_fine;
}

/* Returns the track of a CPU, which is added if it is new; 0 if memory is exhausted. */
static uint32_t find_or_add_cpu_track(struct plan *plan, int64_t cpu)
{
    char text[32];
    if (!plan->track_of_cpu[cpu]) {
        (void)snprintf(text, sizeof text, "CPU %" PRId64, cpu);
        struct view_track about = {.kind = VIEW_CPU, .id = (uint64_t)cpu, .pid = -1, .tid = -1};
        about.label = plan_add_text(plan->view, text);
        about.group = plan->cpus ? plan->tracks[plan->cpus - 1].about.group
                                 : plan_add_text(plan->view, "CPUs");
        if (about.label == UINT32_MAX || about.group == UINT32_MAX)
            return 0;
        plan->track_of_cpu[cpu] = plan_add_track(plan, &about);
        plan->cpus = plan->track_of_cpu[cpu];
    }
    return plan->track_of_cpu[cpu];
}

static uint32_t find_or_add_state_track(struct plan *plan, int64_t utid)
{
    if (!plan->track_of_state[utid]) {
        struct view_track about = plan_describe_thread(plan, utid);
        about.kind = VIEW_STATE;
        about.id = (uint64_t)utid;
        plan->track_of_state[utid] = plan_add_track(plan, &about);
    }
    return plan->track_of_state[utid];
}

/* --- Items --- */

/* Receives item `i` of the plan. Returns false to stop. */
typedef bool (*item_visitor)(struct plan *plan, uint64_t i, const struct plan_item *item);

static bool visit_slices(struct plan *plan, item_visitor see, uint64_t *number)
{
    static const char *const columns[] = {"ts", "dur", "track_id", "depth", "name", NULL};
    struct cells *cells = &plan->cells;
    size_t have;
    cells_open(cells, plan->view->store, "slice", columns);
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            const int64_t track = cells->values[2][i];
            const struct plan_item item = {.start = cells->values[0][i],
                                           .length = cells->values[1][i],
                                           .name = view_name_of(plan->view, cells->values[4][i]),
                                           .track =
                                               track >= 0 && (uint64_t)track < plan->slice_tracks
                                                   ? plan->track_of_slice[track]
                                                   : 0,
                                           .depth = (uint32_t)cells->values[3][i]};
            if (item.name == UINT32_MAX || !see(plan, (*number)++, &item))
                return false;
        }
    return true;
}

/* Returns a duration for which the view draws an item; 0 if its end was lost. */
static int64_t get_drawn_duration(int64_t dur)
{
    return dur == TTR_STORE_NULL ? 0 : dur;
}

/* Calls `see` with the runs of threads on CPUs. The idle thread (tid 0) is left out. */
static bool visit_sched_rows(struct plan *plan, item_visitor see, uint64_t *number)
{
    static const char *const columns[] = {"ts", "dur", "cpu", "utid", NULL};
    struct cells *cells = &plan->cells;
    size_t have;
    cells_open(cells, plan->view->store, "sched", columns);
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            const int64_t cpu = cells->values[2][i], utid = cells->values[3][i];
            struct plan_item item = {.start = cells->values[0][i],
                                     .length = get_drawn_duration(cells->values[1][i])};
            if (cpu >= 0 && cpu < CPUS_MAX && utid > 0 && (uint64_t)utid < plan->threads_n &&
                plan->threads[utid].tid != 0) {
                item.name = plan->threads[utid].cpu_name;
                item.track = find_or_add_cpu_track(plan, cpu);
                if (!item.track)
                    return false;
            }
            if (!see(plan, (*number)++, &item))
                return false;
        }
    return true;
}

/* Returns the name of a state that the page shows; 0 for a dead thread, which has no item. */
static uint32_t get_state_name(struct plan *plan, int64_t text)
{
    static const struct {
        const char *state, *name;
    } names[] = {{"Running", "Running"},         {"R", "Runnable"},
                 {"R+", "Runnable (Preempted)"}, {"S", "Sleeping"},
                 {"D", "Uninterruptible Sleep"}, {"T", "Stopped"}};
    const char *state = text > 0 ? ttr_text_get(plan->view->t, (ttr_id)text).p : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t *known = &plan->state_names[i];
        if (strcmp(names[i].state, state) != 0)
            continue;
        if (!*known)
            *known = plan_add_text(plan->view, names[i].name);
        return *known;
    }
    return 0;
}

static bool visit_thread_states(struct plan *plan, item_visitor see, uint64_t *number)
{
    static const char *const columns[] = {"ts", "dur", "utid", "state", NULL};
    struct cells *cells = &plan->cells;
    size_t have;
    cells_open(cells, plan->view->store, "thread_state", columns);
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            const int64_t utid = cells->values[2][i];
            struct plan_item item = {.start = cells->values[0][i],
                                     .length = get_drawn_duration(cells->values[1][i]),
                                     .name = get_state_name(plan, cells->values[3][i])};
            if (item.name && utid > 0 && (uint64_t)utid < plan->threads_n &&
                plan->threads[utid].tid != 0) {
                item.track = find_or_add_state_track(plan, utid);
                if (!item.track)
                    return false;
            }
            if (item.name == UINT32_MAX || !see(plan, (*number)++, &item))
                return false;
        }
    return true;
}

static uint32_t float_bits(int64_t real)
{
    double value;
    uint32_t bits;
    memcpy(&value, &real, sizeof value);
    const float narrow = real == TTR_STORE_NULL ? 0 : (float)value;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static bool visit_counters(struct plan *plan, item_visitor see, uint64_t *number)
{
    static const char *const columns[] = {"ts", "track_id", "value", NULL};
    struct cells *cells = &plan->cells;
    size_t have;
    cells_open(cells, plan->view->store, "counter", columns);
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            const int64_t track = cells->values[1][i];
            const struct plan_item item = {.start = cells->values[0][i],
                                           .name = float_bits(cells->values[2][i]),
                                           .track = track >= 0 && (uint64_t)track < plan->counters
                                                        ? plan->track_of_counter[track]
                                                        : 0};
            if (!see(plan, (*number)++, &item))
                return false;
        }
    return true;
}

bool plan_each(struct plan *plan, item_visitor see)
{
    uint64_t number = 0;
    return visit_slices(plan, see, &number) && visit_sched_rows(plan, see, &number) &&
           visit_thread_states(plan, see, &number) && visit_counters(plan, see, &number);
}

/* --- Rows --- */

/* Returns the row of a depth, adding all rows up to it; PLAN_NO_ROW if memory is exhausted. */
static uint32_t find_or_add_row(struct plan *plan, uint32_t track, uint32_t depth)
{
    struct plan_track *on = &plan->tracks[track];
    while (on->rows_n <= depth) {
        size_t capacity = on->capacity;
        if (!plan_reserve((void **)&on->rows, &capacity, on->rows_n + 1, sizeof *on->rows) ||
            !plan_reserve((void **)&on->ends, &on->capacity, on->rows_n + 1, sizeof *on->ends) ||
            !plan_reserve((void **)&plan->rows, &plan->rows_capacity, plan->rows_n + 1,
                          sizeof *plan->rows))
            return PLAN_NO_ROW;
        plan->rows[plan->rows_n] = (struct plan_row){.track = track, .depth = (uint32_t)on->rows_n};
        on->ends[on->rows_n] = INT64_MIN;
        on->rows[on->rows_n++] = (uint32_t)plan->rows_n++;
    }
    return on->rows[depth];
}

/* Finds the first lane that is free at the start of a slice. */
static uint32_t find_lane(struct plan *plan, uint32_t track, const struct plan_item *item)
{
    const struct plan_track *on = &plan->tracks[track];
    uint32_t lane = 0;
    while (lane < on->rows_n && on->ends[lane] > item->start)
        lane++;
    return lane;
}

static bool place_item(struct plan *plan, uint64_t i, const struct plan_item *item)
{
    plan->row_of[i] = PLAN_NO_ROW;
    if (!item->track)
        return true;
    const uint32_t track = item->track - 1;
    const bool is_async = plan->tracks[track].about.kind == VIEW_ASYNC;
    const uint32_t depth = is_async ? find_lane(plan, track, item) : item->depth;
    plan->tracks[track].about.items++;
    if (depth >= VIEW_DEPTH_MAX) {
        plan->tracks[track].about.deeper++;
        return true;
    }
    const uint32_t row = find_or_add_row(plan, track, depth);
    if (row == PLAN_NO_ROW)
        return false;
    plan->tracks[track].ends[depth] = item->length < 0 || item->start > INT64_MAX - item->length
                                          ? INT64_MAX
                                          : item->start + item->length;
    plan->rows[row].n++;
    plan->row_of[i] = row;
    return true;
}

static uint64_t count_items(struct plan *plan)
{
    static const char *const none[] = {NULL};
    static const char *const tables[] = {"slice", "sched", "thread_state", "counter"};
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        cells_open(&plan->cells, plan->view->store, tables[i], none);
        n += plan->cells.rows;
    }
    return n;
}

bool plan_make(struct plan *plan)
{
    plan->items = count_items(plan);
    plan->row_of = calloc((size_t)plan->items + 1, sizeof *plan->row_of);
    if (!plan->row_of || view_add_name(plan->view, "", 0) == UINT32_MAX || !plan_read_threads(plan))
        return false;
    plan->track_of_cpu = calloc(CPUS_MAX, sizeof *plan->track_of_cpu);
    plan->track_of_state = calloc(plan->threads_n, sizeof *plan->track_of_state);
    return plan->track_of_cpu && plan->track_of_state && read_slice_tracks(plan) &&
           plan_read_counter_tracks(plan) && plan_each(plan, place_item);
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->tracks_n; i++) {
        free(plan->tracks[i].rows);
        free(plan->tracks[i].ends);
    }
    free(plan->tracks);
    free(plan->rows);
    free(plan->threads);
    free(plan->row_of);
    free(plan->track_of_slice);
    free(plan->track_of_cpu);
    free(plan->track_of_state);
    free(plan->track_of_counter);
}
