/* Pairs begins and ends again on tracks that were not in order of time, as in files that have
 * the begins of functions that were running at the start as their last records (magic-trace).
 *
 * While reading, an end belongs to the innermost begin before it in the file.  If a begin or end is
 * earlier than the one before it on the track, all begins and ends of the track are sorted by time,
 * equal ones by their rows, and paired by a stack.
 * Memory: 32 bytes per begin or end of such tracks.  Cost: O(n log n). */
#include <stdlib.h>

#include "store/store.h"

#define OPEN INT64_MAX

/* A begin or an end. */
struct mark {
    int64_t ts;
    uint64_t event; /* row of the event */
    uint32_t track;
    uint32_t slice; /* index + 1 of the slice that begins; 0 = an end */
};

void store_close_slice(struct raw_slice *slice, int64_t ts, uint64_t event)
{
    const int64_t length = (int64_t)(event - slice->event);
    slice->end = ts;
    slice->length = length > INT32_MAX   ? INT32_MAX
                    : length < INT32_MIN ? INT32_MIN
                                         : (int32_t)length;
}

static bool has_disordered_tracks(const ttr_store *store)
{
    for (size_t i = 0; i < store->tracks_n; i++)
        if (store->tracks[i].is_disordered)
            return true;
    return false;
}

/* Collects the begins and ends of disordered tracks, or counts them if `marks` is NULL. */
static size_t collect_marks(const ttr_store *store, struct mark *marks)
{
    size_t n = 0;
    for (size_t i = 0; i < store->slices_n; i++) {
        const struct raw_slice *slice = &store->slices[i];
        if (slice->length == 0 || !store->tracks[slice->track].is_disordered)
            continue;
        if (marks)
            marks[n] = (struct mark){slice->ts, slice->event, slice->track, (uint32_t)i + 1};
        n++;
        if (slice->end == OPEN)
            continue;
        if (marks)
            marks[n] =
                (struct mark){slice->end, slice->event + (uint64_t)slice->length, slice->track, 0};
        n++;
    }
    for (size_t i = 0; i < store->ends_n; i++) {
        const struct raw_end *end = &store->ends[i];
        if (!store->tracks[end->track].is_disordered)
            continue;
        if (marks)
            marks[n] = (struct mark){end->ts, end->event, end->track, 0};
        n++;
    }
    return n;
}

static int compare_marks(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static void pair_marks(ttr_store *store, const struct mark *marks, size_t n)
{
    for (size_t i = 0; i < store->tracks_n; i++)
        if (store->tracks[i].is_disordered)
            store->tracks[i].open = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t *open = &store->tracks[marks[i].track].open;
        if (marks[i].slice) {
            struct raw_slice *begun = &store->slices[marks[i].slice - 1];
            begun->end = OPEN;
            begun->length = 1;
            begun->outer = *open;
            *open = marks[i].slice;
        } else if (*open) {
            struct raw_slice *ended = &store->slices[*open - 1];
            store_close_slice(ended, marks[i].ts, marks[i].event);
            *open = ended->outer;
        }
    }
}

bool store_pair_again(ttr_store *store)
{
    if (!has_disordered_tracks(store))
        return true;
    const size_t n = collect_marks(store, NULL);
    struct mark *marks = alloc_zero(store->alloc, n, sizeof *marks);
    if (n > 0 && !marks)
        return false;
    (void)collect_marks(store, marks);
    qsort(marks, n, sizeof *marks, compare_marks);
    pair_marks(store, marks, n);
    alloc_free(store->alloc, marks, n, sizeof *marks);
    return true;
}
