/* The plan of a view: which track and row each item of the store belongs to.
 *
 * Sources are read twice in the same order: first to find the row of each item, then to copy it. */
#ifndef TRACETTA_VIEW_PLAN_H
#define TRACETTA_VIEW_PLAN_H

#include "view/view.h"

#define PLAN_NO_ROW UINT32_MAX

/* A row of the view, while its items are counted. */
struct plan_row {
    uint32_t track; /* index of the track in the plan */
    uint32_t depth;
    uint64_t n;
};

/* The rows of a track by depth or lane, and the end of the last slice in each lane. */
struct plan_track {
    uint32_t *rows;
    /* asynchronous track: end time of the last slice per lane; NULL = rows are depths */
    int64_t *ends;
    size_t rows_n, capacity;
    struct view_track about;
};

struct plan_thread {
    uint32_t label, group; /* name ids */
    int64_t pid, tid;
    uint32_t cpu_name; /* name id of the thread on the tracks of CPUs */
};

struct plan {
    struct view_data *view;
    struct plan_track *tracks;
    size_t tracks_n, tracks_capacity;
    struct plan_row *rows;
    size_t rows_n, rows_capacity;
    struct plan_thread *threads; /* threads, indexed by utid */
    size_t threads_n;
    uint32_t *row_of; /* row of each item, in the order of plan_each */
    uint64_t items;
    /* track of the plan + 1, by track of the store, by CPU, by thread (states), by counter */
    uint32_t *track_of_slice, *track_of_cpu, *track_of_state, *track_of_counter;
    uint32_t state_names[6];             /* names of thread states; 0 = not added yet */
    size_t slice_tracks, cpus, counters; /* slice_tracks, counters: numbers of tracks */
    size_t counters_n;                   /* tracks of counters */
    struct cells cells;
};

/* A slice, thread state or counter value, as the tables of the store have it. */
struct plan_item {
    int64_t start, length; /* ns */
    uint32_t name;         /* name id; of a counter value, the bits of a float */
    uint32_t track;        /* index of the track in the plan + 1; 0 = not shown */
    uint32_t depth;        /* nesting depth of a slice */
};

/* Calls `see` with each item in the order of the sources. Returns false if `see` does. */
bool plan_each(struct plan *plan,
               bool (*see)(struct plan *plan, uint64_t i, const struct plan_item *item));

/* Grows an array to hold `need` items. Returns false if memory is exhausted. */
TTR_MUST bool plan_reserve(void **items, size_t *capacity, size_t need, size_t size);

/* Reads the names of threads (plan_threads.c). Returns false if memory is exhausted. */
TTR_MUST bool plan_read_threads(struct plan *plan);

/* Adds a zero-terminated name; as view_add_name. */
uint32_t plan_add_text(struct view_data *view, const char *text);

/* Adds a track. Returns its number + 1, or 0 if memory is exhausted. */
uint32_t plan_add_track(struct plan *plan, const struct view_track *about);

/* Returns a track with the label, process and ids of a thread. */
struct view_track plan_describe_thread(const struct plan *plan, int64_t utid);

/* Adds the tracks of counters (plan_counters.c). Returns false if memory is exhausted. */
TTR_MUST bool plan_read_counter_tracks(struct plan *plan);

/* Fills the plan. Returns false if memory is exhausted. */
TTR_MUST bool plan_make(struct plan *plan);
void plan_free(struct plan *plan);

#endif
