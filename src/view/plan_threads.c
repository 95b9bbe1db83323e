/* Threads and processes of a plan, and the list of its tracks. */
#include <tracetta/advanced.h>

#include "view/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plan_reserve(void **items, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    const size_t larger = need + need / 2 + 8;
    void *grown = realloc(*items, larger * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = larger;
    return true;
}

uint32_t plan_add_text(struct view_data *view, const char *text)
{
    return view_name_of(view, (int64_t)ttr_text_add(view->t, text, strlen(text)));
}

/* --- Threads --- */

struct process {
    int64_t pid;
    uint32_t label;
};

static bool name_thread(struct plan *plan, const struct process *processes, size_t processes_n,
                        size_t i)
{
    char text[VIEW_NAME_MAX + 64];
    struct view_data *view = plan->view;
    const int64_t utid = plan->cells.values[0][i], tid = plan->cells.values[1][i];
    const int64_t text_id = plan->cells.values[2][i], upid = plan->cells.values[3][i];
    if (utid < 0 || (uint64_t)utid >= plan->threads_n)
        return true;
    struct plan_thread *thread = &plan->threads[utid];
    const ttr_text name = text_id > 0 ? ttr_text_get(view->t, (ttr_id)text_id) : (ttr_text){"", 0};
    const int length = (int)(name.n < VIEW_NAME_MAX ? name.n : VIEW_NAME_MAX);
    const bool has_process = upid >= 0 && (uint64_t)upid < processes_n;
    thread->tid = tid == TTR_STORE_NULL ? -1 : tid;
    thread->pid = has_process ? processes[upid].pid : -1;
    if (thread->tid >= 0)
        (void)snprintf(text, sizeof text, "%.*s%s%" PRId64, length, name.p,
                       length ? " " : "thread ", tid);
    else
        (void)snprintf(text, sizeof text, "%.*s", length ? length : 6, length ? name.p : "thread");
    thread->label = plan_add_text(view, text);
    thread->cpu_name = thread->label;
    thread->group = has_process ? processes[upid].label : thread->label;
    return thread->label != UINT32_MAX && thread->group != UINT32_MAX;
}

/* Reads the labels of processes. Returns false if memory is exhausted. */
static bool read_processes(struct plan *plan, struct process **processes, size_t *n)
{
    static const char *const columns[] = {"upid", "pid", "name", NULL};
    char text[VIEW_NAME_MAX + 64];
    struct cells *cells = &plan->cells;
    cells_open(cells, plan->view->store, "process", columns);
    *n = (size_t)cells->rows;
    if (*n && !(*processes = calloc(*n, sizeof **processes)))
        return false;
    size_t have;
    for (uint64_t row = 0; (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; i < have; i++) {
            struct process *process = &(*processes)[row + i];
            const int64_t id = cells->values[2][i];
            const ttr_text name =
                id > 0 ? ttr_text_get(plan->view->t, (ttr_id)id) : (ttr_text){"process", 7};
            process->pid = cells->values[1][i];
            (void)snprintf(text, sizeof text, "%.*s %" PRId64,
                           (int)(name.n < VIEW_NAME_MAX ? name.n : VIEW_NAME_MAX), name.p,
                           process->pid);
            process->label = plan_add_text(plan->view, text);
            if (process->label == UINT32_MAX)
                return false;
        }
    return true;
}

bool plan_read_threads(struct plan *plan)
{
    static const char *const columns[] = {"utid", "tid", "name", "upid", NULL};
    struct process *processes = NULL;
    size_t processes_n = 0, have;
    bool is_fine = read_processes(plan, &processes, &processes_n);
    struct cells *cells = &plan->cells;
    cells_open(cells, plan->view->store, "thread", columns);
    plan->threads_n = (size_t)cells->rows + 1; /* ids start with 1 */
    plan->threads = calloc(plan->threads_n, sizeof *plan->threads);
    is_fine = is_fine && plan->threads;
    for (uint64_t row = 0; is_fine && (have = cells_read(cells, row)) > 0; row += have)
        for (size_t i = 0; is_fine && i < have; i++)
            is_fine = name_thread(plan, processes, processes_n, i);
    free(processes);
    return is_fine;
}

/* --- Tracks --- */

uint32_t plan_add_track(struct plan *plan, const struct view_track *about)
{
    if (!plan_reserve((void **)&plan->tracks, &plan->tracks_capacity, plan->tracks_n + 1,
                      sizeof *plan->tracks))
        return 0;
    plan->tracks[plan->tracks_n] = (struct plan_track){.about = *about};
    return (uint32_t)++plan->tracks_n;
}

struct view_track plan_describe_thread(const struct plan *plan, int64_t utid)
{
    struct view_track about = {.pid = -1, .tid = -1, .label = 0, .group = 0};
    if (utid > 0 && (uint64_t)utid < plan->threads_n) {
        const struct plan_thread *thread = &plan->threads[utid];
        about.utid = (uint32_t)utid;
        about.pid = thread->pid;
        about.tid = thread->tid;
        about.label = thread->label;
        about.group = thread->group;
    }
    return about;
}
