/* Tracks of counters.
 *
 * A counter track of the store is a name, a series, a thread and an id.  Some programs count each
 * object or request under an id of its own: if there are many counters, the ids of one name,
 * series and process share a row. */
#include "view/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of counters with a row each; if there are more, several ids share a row */
#define COUNTERS_MAX 1024u

struct counter {
    uint32_t id, name, series, group;
    int64_t utid;
};

static int compare_uint(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* Orders counters by process, name and series, then by id. */
static int compare_counters(const void *left, const void *right)
{
    const struct counter *a = left, *b = right;
    const int keys[] = {compare_uint(a->group, b->group), compare_uint(a->name, b->name),
                        compare_uint(a->series, b->series), compare_uint(a->id, b->id)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i])
            return keys[i];
    return 0;
}

static bool is_same_counter(const struct counter *a, const struct counter *b)
{
    return a->group == b->group && a->name == b->name && a->series == b->series;
}

/* Returns the name id of "name series" and, if they share a row, the number of ids. */
static uint32_t add_label(struct plan *plan, const struct counter *counter, size_t shared)
{
    char text[2 * VIEW_NAME_MAX], ids[32] = "";
    const ttr_text name = ttr_text_get(plan->view->t, counter->name);
    const ttr_text series = ttr_text_get(plan->view->t, counter->series);
    const bool is_same = series.n == name.n && memcmp(series.p, name.p, name.n) == 0;
    if (shared)
        (void)snprintf(ids, sizeof ids, " (%zu ids)", shared);
    (void)snprintf(text, sizeof text, "%.*s%s%.*s%s", (int)(name.n < 200 ? name.n : 200), name.p,
                   is_same ? "" : " ", is_same ? 0 : (int)(series.n < 128 ? series.n : 128),
                   series.p, ids);
    return plan_add_text(plan->view, text);
}

/* Adds the tracks of n counters of one name, series and process. */
static bool add_counters(struct plan *plan, const struct counter *counters, size_t n)
{
    const bool is_shared = n > 1 && plan->counters_n > COUNTERS_MAX;
    uint32_t label = 0, track = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            label = add_label(plan, &counters[0], is_shared ? n : 0);
        if (i == 0 || !is_shared) {
            struct view_track about = plan_describe_thread(plan, counters[i].utid);
            about.kind = VIEW_COUNTER;
            about.id = is_shared ? VIEW_NO_ID : counters[i].id;
            about.group = counters[i].group;
            about.label = label;
            track = plan_add_track(plan, &about);
        }
        if (label == UINT32_MAX || !track || counters[i].id >= plan->counters)
            return false;
        plan->track_of_counter[counters[i].id] = track;
    }
    return true;
}

/* Reads the counters of the store. Returns false if memory is exhausted. */
static bool read_counters(struct plan *plan, struct counter *counters)
{
    struct cells *cells = &plan->cells;
    const uint32_t group = plan_add_text(plan->view, "Counters");
    size_t have;
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            const int64_t name = cells->values[1][i], series = cells->values[2][i];
            const struct view_track thread = plan_describe_thread(plan, cells->values[3][i]);
            counters[row + i] = (struct counter){.id = (uint32_t)cells->values[0][i],
                                                 .name = name > 0 ? (uint32_t)name : 0,
                                                 .series = series > 0 ? (uint32_t)series : 0,
                                                 .group = thread.group ? thread.group : group,
                                                 .utid = cells->values[3][i]};
        }
    return group != UINT32_MAX;
}

bool plan_read_counter_tracks(struct plan *plan)
{
    static const char *const columns[] = {"id", "name", "series", "utid", NULL};
    cells_open(&plan->cells, plan->view->store, "counter_track", columns);
    const size_t n = (size_t)plan->cells.rows;
    struct counter *counters = calloc(n + 1, sizeof *counters);
    plan->counters_n = n;
    plan->counters = plan->slice_tracks; /* both have numbers of table track */
    plan->track_of_counter = calloc(plan->counters + 1, sizeof *plan->track_of_counter);
    bool is_fine = counters && plan->track_of_counter && read_counters(plan, counters);
    if (is_fine)
        qsort(counters, n, sizeof *counters, compare_counters);
    for (size_t i = 0, end; is_fine && i < n; i = end) {
        for (end = i + 1; end < n && is_same_counter(&counters[i], &counters[end]); end++)
            ;
        is_fine = add_counters(plan, counters + i, end - i);
    }
    free(counters);
    return is_fine;
}
