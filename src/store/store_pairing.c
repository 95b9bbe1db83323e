/* Pairs begins and ends again on tracks that were not in order of time, as in files that have
 * the begins of functions that were running at the start as their last records (magic-trace).
 *
 * While reading, an end belongs to the innermost begin before it in the file.  If a begin or end is
 * earlier than the one before it on the track, all begins and ends of the track are sorted by time,
 * equal ones by the order of reading, and paired by a stack.
 * Memory: 32 bytes per begin or end of such tracks.  Cost: O(n log n). */
#include <stdlib.h>

#include "base/saturate.h"
#include "store/store.h"

/* A begin or an end. */
struct mark {
    int64_t ts;
    /* order of reading: of a begin 2 * row + 1, of an end 2 * number of slices that were read
     * before it */
    uint64_t order;
    uint32_t track;
    uint32_t slice; /* row + 1 of the slice that begins; 0 = an end */
    uint32_t outer; /* a begin: index + 1 of the mark around it; 0 = none */
};

struct marks {
    struct mark *items;
    size_t n;
};

bool store_has_disordered_tracks(const ttr_store *store)
{
    for (size_t i = 0; i < store->tracks_n; i++)
        if (store->tracks[i].is_disordered)
            return true;
    return false;
}

static bool is_on_disordered_track(const ttr_store *store, size_t row)
{
    return store->tracks[column_get(&store->slices.columns[SLICE_TRACK], row)].is_disordered;
}

/* Adds a mark, or only counts it. */
static void add_mark(struct marks *marks, const struct mark *mark)
{
    if (marks->items)
        marks->items[marks->n] = *mark;
    marks->n++;
}

/* Adds the marks of a slice.  An end that was not kept is later than all starts of the track that
 * were read before it: the order after its begin then has the same effect. */
static void add_marks_of_slice(const ttr_store *store, size_t row, const struct slice_end *end,
                               struct marks *marks)
{
    const struct column *columns = store->slices.columns;
    const int64_t ts = column_get(&columns[SLICE_TS], row),
                  dur = column_get(&columns[SLICE_DUR], row);
    const uint32_t track = (uint32_t)column_get(&columns[SLICE_TRACK], row);
    add_mark(marks, &(struct mark){ts, 2 * (uint64_t)row + 1, track, (uint32_t)row + 1, 0});
    if (dur != SLICE_OPEN)
        add_mark(marks,
                 &(struct mark){saturate_end_ns(ts, (uint64_t)dur),
                                2 * (end ? end->read_before : (uint64_t)row + 1), track, 0, 0});
}

/* Collects the begins and ends of disordered tracks; only counts them if `items` is NULL. `ends`
 * are sorted by row. */
static void collect_marks(const ttr_store *store, const struct slice_ends *ends,
                          struct marks *marks)
{
    const struct store_slices *slices = &store->slices;
    size_t next = 0;
    marks->n = 0;
    for (size_t i = 0; i < slices->n; i++) {
        while (next < ends->n && ends->items[next].row < i)
            next++;
        if (store_is_begun(slices, i) && is_on_disordered_track(store, i))
            add_marks_of_slice(
                store, i, next < ends->n && ends->items[next].row == i ? &ends->items[next] : NULL,
                marks);
    }
    for (size_t i = 0; i < slices->lone_ends_n; i++) {
        const struct lone_end *end = &slices->lone_ends[i];
        if (store->tracks[end->track].is_disordered)
            add_mark(marks,
                     &(struct mark){end->ts, 2 * (uint64_t)end->read_before, end->track, 0, 0});
    }
}

static int compare_marks(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Removes the ends of slices of disordered tracks. */
static void remove_ends(const ttr_store *store, struct slice_ends *ends)
{
    size_t kept = 0;
    for (size_t i = 0; i < ends->n; i++)
        if (!is_on_disordered_track(store, ends->items[i].row))
            ends->items[kept++] = ends->items[i];
    ends->n = kept;
}

/* Pairs sorted marks. `tops` has the innermost begin of each track. */
static bool pair_marks(const ttr_store *store, const struct marks *marks, uint32_t *tops,
                       struct column *dur, struct slice_ends *ends)
{
    for (size_t i = 0; i < marks->n; i++) {
        struct mark *mark = &marks->items[i];
        uint32_t *top = &tops[mark->track];
        if (mark->slice) {
            mark->outer = *top;
            *top = (uint32_t)i + 1;
            if (!column_set(dur, mark->slice - 1, SLICE_OPEN))
                return false;
        } else if (*top) {
            const struct mark *begin = &marks->items[*top - 1];
            const struct slice_end end = {begin->slice - 1, (uint32_t)(mark->order / 2)};
            *top = begin->outer;
            if (!column_set(dur, end.row, store_get_duration(begin->ts, mark->ts)) ||
                !store_keep_end(store, ends, end))
                return false;
        }
    }
    return true;
}

bool store_pair_again(ttr_store *store, struct column *dur, struct slice_ends *ends)
{
    struct marks marks = {0};
    collect_marks(store, ends, &marks);
    const size_t n = marks.n;
    uint32_t *tops = alloc_zero(store->alloc, store->tracks_n, sizeof *tops);
    marks.items = alloc_zero(store->alloc, n, sizeof *marks.items);
    bool is_fine = tops && marks.items && n <= UINT32_MAX;
    if (is_fine) {
        collect_marks(store, ends, &marks);
        qsort(marks.items, n, sizeof *marks.items, compare_marks);
        remove_ends(store, ends);
        is_fine = pair_marks(store, &marks, tops, dur, ends);
    }
    alloc_free(store->alloc, marks.items, n, sizeof *marks.items);
    alloc_free(store->alloc, tops, store->tracks_n, sizeof *tops);
    return is_fine;
}
