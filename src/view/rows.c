/* Rows ordered by time, and their index.
 *
 * Order of calls: plan_make() finds the row of each item; order_rows() sorts tracks for the page
 * and gives each row its part of the arrays; copy_item() copies the items in a second pass;
 * summarise() fills the nodes.
 *
 * Layout: 32 items are a block, 32 blocks are a node.
 *
 *     row      | block 0 | block 1 | ... | last block | end of the row
 *     starts   x[0]      x[1]            x[b-1]       x[b]            64 bits each
 *     items    32 x {start - x[block], length, name}                  32 bits each
 *     node     longest length of 32 blocks, and its name
 *
 * A block of more than 4 s has exact times in `wides`.
 *
 * Invariant: items of a row are ordered and do not overlap; a start before the end of the previous
 * item is moved to that end.  So a block that starts less than a pixel before the next block has no
 * item longer than a pixel.  Cost: 12 bytes per item, and 0.65 bytes for the index. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "view/plan.h"

struct build {
    struct plan plan;    /* must be first: copy_item converts a pointer to it */
    uint32_t *final_row; /* row in the view, indexed by row of the plan */
    uint64_t *filled;    /* items so far, by final row */
    int64_t *ends;       /* end of the last item, by final row */
};

/* --- Order of tracks and rows --- */

struct track_order {
    const struct plan_track *track;
    uint32_t index;
    /* number of items in all tracks of the group: busy processes come first */
    uint64_t group_items;
};

static int kind_order(uint8_t kind)
{
    static const int order[] = {
        [VIEW_CPU] = 0, [VIEW_STATE] = 1, [VIEW_THREAD] = 1, [VIEW_ASYNC] = 2, [VIEW_COUNTER] = 3};
    return order[kind];
}

static int compare_int(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_uint(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Order: CPUs, counters without a thread, then processes by descending number of items. In a
 * process: threads by id, states above slices, then counters. */
static int compare_tracks(const void *left, const void *right)
{
    const struct track_order *l = left, *r = right;
    const struct view_track *a = &l->track->about, *b = &r->track->about;
    const int group_a = a->kind == VIEW_CPU ? 0 : a->tid < 0 && a->kind == VIEW_COUNTER ? 1 : 2;
    const int group_b = b->kind == VIEW_CPU ? 0 : b->tid < 0 && b->kind == VIEW_COUNTER ? 1 : 2;
    const int keys[] = {
        compare_int(group_a, group_b),
        group_a == 2 ? compare_uint(r->group_items, l->group_items) : 0,
        compare_int(a->group, b->group),
        compare_int(kind_order(a->kind), kind_order(b->kind)),
        compare_int(a->tid, b->tid),
        compare_int(b->kind == VIEW_STATE, a->kind == VIEW_STATE),
        a->kind == VIEW_CPU ? compare_int((int64_t)a->id, (int64_t)b->id) : 0,
        compare_int(l->index, r->index),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i])
            return keys[i];
    return 0;
}

void view_place_row(struct view_data *view, struct view_row *row, uint64_t n, uint32_t track,
                    uint32_t depth)
{
    *row = (struct view_row){.first = view->items_n,
                             .n = n,
                             .first_block = view->blocks_n,
                             .blocks = (n + VIEW_BLOCK - 1) / VIEW_BLOCK,
                             .first_node = view->nodes_n,
                             .track = track,
                             .depth = depth};
    row->nodes = (row->blocks + VIEW_BLOCK - 1) / VIEW_BLOCK;
    view->items_n += row->blocks * VIEW_BLOCK;
    view->blocks_n += row->blocks + 1;
    view->nodes_n += row->nodes;
}

static void add_row(struct view_data *view, struct build *build, uint32_t plan_row)
{
    const struct plan_row *row = &build->plan.rows[plan_row];
    view_place_row(view, &view->rows[view->rows_n], row->n, (uint32_t)view->tracks_n, row->depth);
    build->final_row[plan_row] = (uint32_t)view->rows_n++;
}

static bool order_rows(struct view_data *view, struct build *build)
{
    const struct plan *plan = &build->plan;
    struct track_order *order = calloc(plan->tracks_n + 1, sizeof *order);
    /* number of items of each group, indexed by name id */
    uint64_t *items = calloc(view->texts_n + 1, sizeof *items);
    view->tracks = calloc(plan->tracks_n + 1, sizeof *view->tracks);
    view->rows = calloc(plan->rows_n + 1, sizeof *view->rows);
    build->final_row = calloc(plan->rows_n + 1, sizeof *build->final_row);
    if (!order || !items || !view->tracks || !view->rows || !build->final_row) {
        free(order);
        free(items);
        return false;
    }
    for (size_t i = 0; i < plan->tracks_n; i++)
        items[plan->tracks[i].about.group] += plan->tracks[i].about.items;
    for (size_t i = 0; i < plan->tracks_n; i++)
        order[i] =
            (struct track_order){&plan->tracks[i], (uint32_t)i, items[plan->tracks[i].about.group]};
    qsort(order, plan->tracks_n, sizeof *order, compare_tracks);
    for (size_t i = 0; i < plan->tracks_n; i++) {
        const struct plan_track *track = order[i].track;
        if (track->rows_n == 0)
            continue;
        view->tracks[view->tracks_n] = track->about;
        view->tracks[view->tracks_n].first_row = (uint32_t)view->rows_n;
        view->tracks[view->tracks_n].rows = (uint32_t)track->rows_n;
        for (size_t k = 0; k < track->rows_n; k++)
            add_row(view, build, track->rows[k]);
        view->tracks_n++;
    }
    free(order);
    free(items);
    return true;
}

/* --- Copying --- */

static bool make_arrays(struct view_data *view, struct build *build)
{
    const size_t items = (size_t)view->items_n + 1, blocks = (size_t)view->blocks_n + 1;
    view->offsets = calloc(items, sizeof *view->offsets);
    view->lengths = calloc(items, sizeof *view->lengths);
    view->names = calloc(items, sizeof *view->names);
    view->block_starts = calloc(blocks, sizeof *view->block_starts);
    view->block_summaries = calloc(blocks, sizeof *view->block_summaries);
    view->block_wides = calloc(blocks, sizeof *view->block_wides);
    view->nodes = calloc((size_t)view->nodes_n + 1, sizeof *view->nodes);
    build->filled = calloc(view->rows_n + 1, sizeof *build->filled);
    build->ends = calloc(view->rows_n + 1, sizeof *build->ends);
    return view->offsets && view->lengths && view->names && view->block_starts &&
           view->block_summaries && view->block_wides && view->nodes && build->filled &&
           build->ends;
}

/* Returns the exact times of a block; the first call computes them from the items. Returns NULL if
 * memory is exhausted. */
static struct view_wide *get_exact_block_times(struct view_data *view, uint64_t block,
                                               uint64_t first, size_t n)
{
    if (!view->block_wides[block]) {
        if (view->wides_n == view->wides_capacity) {
            const size_t larger = view->wides_n + view->wides_n / 2 + 8;
            struct view_wide *grown = realloc(view->wides, larger * sizeof *grown);
            if (!grown)
                return NULL;
            view->wides = grown;
            view->wides_capacity = larger;
        }
        struct view_wide *wide = &view->wides[view->wides_n++];
        for (size_t i = 0; i < n; i++) {
            wide->starts[i] = view->block_starts[block] + view->offsets[first + i];
            wide->lengths[i] = view->lengths[first + i];
        }
        view->block_wides[block] = (uint32_t)view->wides_n;
    }
    return &view->wides[view->block_wides[block] - 1];
}

static bool is_counter(const struct view_data *view, const struct view_row *row)
{
    return view->tracks[row->track].kind == VIEW_COUNTER;
}

static void summarise_block(union view_summary *summary, bool counter, bool is_first,
                            int64_t length, uint32_t name)
{
    if (counter) {
        float value;
        memcpy(&value, &name, sizeof value);
        if (is_first || value < summary->low)
            summary->low = value;
        if (is_first || value > summary->high)
            summary->high = value;
    } else if (is_first || (float)length > summary->length) {
        summary->length = (float)length;
        summary->name = name;
    }
}

static bool copy_item(struct plan *plan, uint64_t i, const struct plan_item *item)
{
    struct build *build = (struct build *)plan;
    struct view_data *view = plan->view;
    if (plan->row_of[i] == PLAN_NO_ROW)
        return true;
    const uint32_t to = build->final_row[plan->row_of[i]];
    const struct view_row *row = &view->rows[to];
    const uint64_t n = build->filled[to]++, at = row->first + n;
    const uint64_t block = row->first_block + n / VIEW_BLOCK;
    /* Times outside of the range, which is cut at 2^62 ns, are moved to its ends. */
    const uint64_t since = (uint64_t)item->start - (uint64_t)view->start;
    int64_t start = item->start < view->start     ? 0
                    : since > (uint64_t)view->end ? view->end
                                                  : (int64_t)since;
    int64_t length =
        item->length < 0 || item->length > view->end - start ? view->end - start : item->length;
    if (start < build->ends[to]) {
        length -= build->ends[to] - start;
        start = build->ends[to];
    }
    length = length < 0 ? 0 : length;
    build->ends[to] = start + length;
    if (n % VIEW_BLOCK == 0)
        view->block_starts[block] = start;
    const uint64_t offset = (uint64_t)(start - view->block_starts[block]);
    if (view->block_wides[block] || offset > UINT32_MAX || length > UINT32_MAX) {
        struct view_wide *wide =
            get_exact_block_times(view, block, at - n % VIEW_BLOCK, n % VIEW_BLOCK);
        if (!wide)
            return false;
        wide->starts[n % VIEW_BLOCK] = start;
        wide->lengths[n % VIEW_BLOCK] = length;
    }
    view->offsets[at] = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
    view->lengths[at] = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
    view->names[at] = item->name;
    view->block_starts[row->first_block + n / VIEW_BLOCK + 1] = build->ends[to];
    summarise_block(&view->block_summaries[block], is_counter(view, row), n % VIEW_BLOCK == 0,
                    length, item->name);
    const size_t column = (size_t)((double)start / ((double)view->end + 1) * VIEW_OVERVIEW);
    view->overview[column < VIEW_OVERVIEW ? column : VIEW_OVERVIEW - 1]++;
    return true;
}

static void summarise_nodes(struct view_data *view)
{
    for (size_t r = 0; r < view->rows_n; r++) {
        const struct view_row *row = &view->rows[r];
        const bool counter = is_counter(view, row);
        if (counter) /* the last value holds to the end */
            view->block_starts[row->first_block + row->blocks] = view->end;
        for (uint64_t b = 0; b < row->blocks; b++) {
            const union view_summary *from = &view->block_summaries[row->first_block + b];
            union view_summary *to = &view->nodes[row->first_node + b / VIEW_BLOCK];
            if (b % VIEW_BLOCK == 0)
                *to = *from;
            else if (counter) {
                to->low = from->low < to->low ? from->low : to->low;
                to->high = from->high > to->high ? from->high : to->high;
            } else if (from->length > to->length)
                *to = *from;
        }
    }
}

/* --- Range of times --- */

static bool widen_range(struct plan *plan, uint64_t i, const struct plan_item *item)
{
    struct view_data *view = plan->view;
    if (!item->track)
        return true;
    const int64_t end = item->length > 0 && item->start <= INT64_MAX - item->length
                            ? item->start + item->length
                            : item->start;
    if (plan->row_of[plan->items] == 0 || item->start < view->start)
        view->start = item->start;
    if (plan->row_of[plan->items] == 0 || end > view->end)
        view->end = end;
    plan->row_of[plan->items] = 1; /* the range has been set */
    (void)i;
    return true;
}

/* Times become relative to the first one.  A range of more than 2^62 ns is cut at its end. */
static bool find_range(struct plan *plan)
{
    struct view_data *view = plan->view;
    if (!plan_each(plan, widen_range))
        return false;
    const uint64_t range = (uint64_t)view->end - (uint64_t)view->start;
    view->end = range > (uint64_t)1 << 62 ? (int64_t)1 << 62 : (int64_t)range;
    return true;
}

/* Fills the rows from the store. Returns false if memory is exhausted. */
static bool fill_data(struct view_data *data)
{
    struct build *build = calloc(1, sizeof *build);
    if (!build)
        return false;
    build->plan.view = data;
    const bool is_fine = plan_make(&build->plan) && find_range(&build->plan) &&
                         order_rows(data, build) && make_arrays(data, build) &&
                         plan_each(&build->plan, copy_item);
    if (is_fine)
        summarise_nodes(data);
    plan_free(&build->plan);
    free(build->final_row);
    free(build->filled);
    free(build->ends);
    free(build);
    return is_fine;
}

struct view_data *view_make_data(ttr *t, const ttr_store *store, const struct view_data *names)
{
    struct view_data *data = calloc(1, sizeof *data);
    if (!data)
        return NULL;
    data->t = t;
    data->store = store;
    if ((!names || view_copy_names(data, names)) && fill_data(data))
        return data;
    view_free_data(data);
    return NULL;
}

void view_free_data(struct view_data *data)
{
    if (!data)
        return;
    void *const blocks[] = {data->offsets,      data->lengths,         data->names,
                            data->block_starts, data->block_summaries, data->block_wides,
                            data->nodes,        data->wides,           data->rows,
                            data->tracks,       data->texts,           data->name_of_text};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    reply_free(&data->text_bytes);
    reply_free(&data->saved_head);
    free(data);
}

/* --- Reading --- */

void view_item(const struct view_data *view, const struct view_row *row, uint64_t i, int64_t *start,
               int64_t *length)
{
    const uint64_t block = row->first_block + i / VIEW_BLOCK;
    if (view->block_wides[block]) {
        const struct view_wide *wide = &view->wides[view->block_wides[block] - 1];
        *start = wide->starts[i % VIEW_BLOCK];
        *length = wide->lengths[i % VIEW_BLOCK];
        return;
    }
    *start = view->block_starts[block] + view->offsets[row->first + i];
    *length = view->lengths[row->first + i];
}

uint64_t view_find_block(const struct view_data *view, const struct view_row *row, int64_t time)
{
    const int64_t *starts = view->block_starts + row->first_block;
    uint64_t low = 0, high = row->blocks;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (starts[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}
