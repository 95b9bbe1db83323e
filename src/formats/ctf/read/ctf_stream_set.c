/* Order and kinship of inputs.
 *
 * Events of equal time come as babeltrace2 gives them: by the uuid of the trace, stream class,
 * number of the data stream; files of one stream by their begin.  Traces without a uuid come
 * behind, in the order of their names, which are host and place.  Files of v1.1, which no other
 * program reads and where nothing else tells streams apart, come in the order of their names,
 * numbers in these being numbers. */
#include "formats/ctf/read/ctf_stream_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock_math.h"
#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/read/ctf_intersect.h"
#include "formats/ctf/read/ctf_name_order.h"

ttr_status ctf_stream_set_add(struct ctf_stream_set *set, const struct ctf_opened_queue *opened,
                              ttr_error *error)
{
    if (alloc_reserve(&set->t->counted, (void **)&set->opened, &set->capacity, set->n + 1,
                      sizeof *set->opened)) {
        set->opened[set->n] = *opened;
        set->opened[set->n++].trace = ((const struct ctf_reader *)opened->in->ctx)->trace;
        return TTR_OK;
    }
    if (!opened->is_shared)
        ttr_close(&opened->in->base);
    return fail_memory(error);
}

void ctf_stream_set_free(struct ctf_stream_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->opened[i].in && !set->opened[i].is_shared)
            ttr_close(&set->opened[i].in->base);
    alloc_free(&set->t->counted, set->opened, set->capacity, sizeof *set->opened);
    set->n = 0;
}

static const struct ctf_description *description_of(const struct ctf_opened_queue *opened)
{
    return &opened->trace->class->description;
}

/* "" also of traces that are not of one folder. */
static const char *place_of(const struct ctf_opened_queue *opened)
{
    const struct folder *folder = opened->trace->folder;
    return folder ? folder_relative_path(folder) : "";
}

static uint64_t class_of(const struct ctf_opened_queue *opened)
{
    return opened->queue.kind ? opened->queue.kind->class->id : UINT64_MAX;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* A byte of "HOST/PLACE"; 0 behind the end. */
static unsigned char name_at(ttr_text host, const char *place, size_t i)
{
    if (i < host.n)
        return (unsigned char)host.p[i];
    if (i == host.n && host.n && place[0])
        return '/';
    return (unsigned char)place[i - host.n - (host.n && place[0])];
}

static int compare_names(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    ttr_text x = ctf_trace_host(description_of(a)), y = ctf_trace_host(description_of(b));
    const char *x_place = place_of(a), *y_place = place_of(b);
    size_t i = 0;
    while (name_at(x, x_place, i) && name_at(x, x_place, i) == name_at(y, y_place, i))
        i++;
    return name_at(x, x_place, i) - name_at(y, y_place, i);
}

static int compare_traces(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    const struct ctf_description *x = description_of(a), *y = description_of(b);
    if (a->trace == b->trace)
        return 0;
    if (x->has_uuid != y->has_uuid)
        return x->has_uuid ? -1 : 1;
    if (x->has_uuid)
        return memcmp(x->uuid, y->uuid, 16);
    int order = a->folder == b->folder ? 0 : compare_names(a, b);
    return order ? order : compare_numbers(a->folder, b->folder);
}

static int compare_streams(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    const struct ctf_reader *x = a->in->ctx, *y = b->in->ctx;
    const bool has_names = x->file && y->file && description_of(a)->version == CTF_RFC_1_1 &&
                           description_of(b)->version == CTF_RFC_1_1;
    return has_names ? ctf_compare_names(x->file, y->file) : compare_numbers(a->number, b->number);
}

static int compare(const void *a, const void *b)
{
    const struct ctf_opened_queue *x = a, *y = b;
    int order = compare_traces(x, y);
    if (order == 0)
        order = compare_numbers(class_of(x), class_of(y));
    if (order == 0)
        order = compare_streams(x, y);
    if (order == 0)
        order = x->queue.begin < y->queue.begin ? -1 : x->queue.begin > y->queue.begin;
    if (order == 0)
        order = compare_numbers(x->folder, y->folder);
    return order ? order : compare_numbers(x->file, y->file);
}

/* Whether two are parts of one data stream in different files. */
static bool is_one_stream(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    return a->queue.kind && b->queue.kind && a->queue.has_number && b->queue.has_number &&
           a->queue.number == b->queue.number && class_of(a) == class_of(b) &&
           (a->folder != b->folder || a->file != b->file) && compare_traces(a, b) == 0;
}

/* Whether a file begins with a packet that one before it has, as overlapping snapshots do. */
static bool is_copy(const struct ctf_opened_queue *here, const struct ctf_opened_queue *before)
{
    return (here->folder != before->folder || here->file != before->file) &&
           ctf_queue_contains(before->in->ctx, before->lane_i, &here->queue);
}

/* Whether a file goes on where the ones before it end. */
static bool is_behind(const struct ctf_packet_queue *queue, const struct ctf_counters *last,
                      int64_t end)
{
    return queue->begin >= end || (last->has_sequence && queue->last.has_sequence &&
                                   queue->first.sequence > last->sequence);
}

/* Where another file goes on with the stream, all packets of this one count, also those that are
 * behind one without a size.  False when memory is out. */
static bool complete_lane(struct ctf_stream_set *set, size_t i)
{
    struct ctf_opened_queue *here = &set->opened[i];
    struct ctf_reader *reader = here->in->ctx;
    if (i + 1 == set->n || here->lane_i != 0 || !reader->file_index ||
        !is_one_stream(here, &set->opened[i + 1]))
        return true;
    const bool is_fine = ctf_index_unsized_rest(reader);
    here->queue.end = reader->file_index->queue[0].end;
    here->queue.last = reader->file_index->queue[0].last;
    return is_fine;
}

/* Whether one of the files before the i-th is asked for packets of that: the one that ends last and
 * the one right before it have what others have.  Where two have a packet that is damaged in both
 * all are asked: the one that gives it may be any. */
static bool is_asked(const struct ctf_stream_set *set, size_t k, size_t i, size_t latest)
{
    const struct ctf_reader *reader = set->opened[k].in->ctx;
    return k == latest || k == i - 1 || reader->trace->has_damaged_twins;
}

/* What the files of a stream that begin earlier have.  Files that overlap without having the same
 * packets only claim to be of one stream, as those of tracers that give all one number: each keeps
 * its packets and its counters.  False when memory is out. */
static bool link_stream(struct ctf_stream_set *set)
{
    struct ctf_counters last = {.is_there = false};
    int64_t end = 0;
    size_t latest = 0, first = 0;
    bool is_fine = true;
    for (size_t i = 0; i < set->n && is_fine; i++) {
        const struct ctf_opened_queue *here = &set->opened[i];
        is_fine = complete_lane(set, i);
        struct ctf_file_index *file_index = ((struct ctf_reader *)here->in->ctx)->file_index;
        bool goes_on = i > 0 && here->queue.has_begin && set->opened[i - 1].queue.has_begin &&
                       is_one_stream(&set->opened[i - 1], here);
        bool has_same = false;
        first = goes_on ? first : i;
        for (size_t k = first; k < i && here->queue.begin <= end && is_fine; k++) {
            const struct ctf_opened_queue *before = &set->opened[k];
            if (is_asked(set, k, i, latest) && is_copy(here, before)) {
                has_same = true;
                is_fine =
                    ctf_mark_duplicates(&(struct ctf_queue_ref){before->in->ctx, before->lane_i},
                                        &(struct ctf_queue_ref){here->in->ctx, here->lane_i});
            }
        }
        if (has_same || (goes_on && is_behind(&here->queue, &last, end)))
            file_index->queue[here->lane_i].initial = last;
        if (!goes_on || here->queue.end > end) {
            last = here->queue.last;
            end = here->queue.end;
            latest = i;
        }
    }
    return is_fine;
}

/* Behind the last input of the trace whose first is the i-th. */
static size_t end_of_trace(const struct ctf_stream_set *set, size_t i)
{
    size_t end = i;
    while (end < set->n && compare_traces(&set->opened[i], &set->opened[end]) == 0)
        end++;
    return end;
}

/* Tells of each trace that is of one folder where it lies; those of several have no place.  False
 * when memory is out. */
static bool tell_places(struct ctf_stream_set *set)
{
    bool is_fine = true;
    for (size_t i = 0, end; i < set->n; i = end) {
        bool is_of_one = true;
        end = end_of_trace(set, i);
        for (size_t k = i; k < end; k++)
            is_of_one = is_of_one && set->opened[k].folder == set->opened[i].folder;
        for (size_t k = i; k < end && is_of_one; k++)
            is_fine = is_fine &&
                      (set->opened[k].is_shared ||
                       ctf_add_location_attribute(set->opened[k].in, place_of(&set->opened[k])));
    }
    return is_fine;
}

/* --- Merging --- */

/* Takes the inputs over. */
static ttr_reader *merge_some(ttr *t, ttr_reader **list, size_t n, ttr_error *error)
{
    return n == 1 && list[0]->order == TTR_ORDER_TIME ? list[0] : ttr_merge(t, list, n, error);
}

/* Lets through what is in the time in which all streams are active, which offsets shift as they do
 * events. */
static ttr_reader *keep_between(const struct ctf_stream_set *set, const struct ctf_intersection *at,
                                ttr_reader *in, ttr_error *error)
{
    int64_t offset = set->options ? set->options->time_offset : 0;
    bool is_clamped = false;
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = add_saturated(at->from, offset, &is_clamped);
    filter.to_ns = add_saturated(add_saturated(at->to, offset, &is_clamped), 1, &is_clamped);
    return ttr_filter_new(in, &filter, error);
}

/* Whether a lane is of the same data stream as the one before it. */
static bool is_of_stream(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    bool is_of_file = a->folder == b->folder && a->file == b->file && class_of(a) == class_of(b) &&
                      a->number == b->number;
    return is_of_file || is_one_stream(a, b);
}

/* Puts the readers of the i-th lane up to `end` into a list, which has them then; their number. */
static size_t take_readers(struct ctf_stream_set *set, size_t i, size_t end, ttr_reader **list)
{
    size_t n = 0;
    for (; i < end; i++) {
        if (!set->opened[i].is_shared)
            list[n++] = &set->opened[i].in->base;
        set->opened[i].in = NULL;
    }
    return n;
}

/* Puts one reader of the trace of the i-th input up to `end` into list[i]. */
static ttr_status intersect_trace(struct ctf_stream_set *set, size_t i, size_t end,
                                  ttr_reader **list, ttr_error *error)
{
    struct ctf_intersection at = {.streams = 0};
    const struct ctf_reader *first = set->opened[i].in->ctx;
    const char *path = first->trace->folder ? folder_path(first->trace->folder) : "";
    for (size_t k = i; k < end; k++) {
        const struct ctf_reader *reader = set->opened[k].in->ctx;
        if (!reader->is_nothing)
            ctf_intersection_add(&at, &set->opened[k].queue,
                                 k > i && is_of_stream(&set->opened[k - 1], &set->opened[k]),
                                 reader->file);
    }
    if (!first->trace->folder) { /* stands for a trace that cannot be read */
        list[i] = &set->opened[i].in->base;
        set->opened[i].in = NULL;
        return TTR_OK;
    }
    ttr_status status = ctf_intersection_end(&at, path, error);
    if (status != TTR_OK)
        return status;
    for (size_t k = i; k < end; k++)
        if (!set->opened[k].is_shared &&
            !ctf_add_range_attributes(set->opened[k].in, at.from, at.to))
            return fail_memory(error);
    size_t n = take_readers(set, i, end, list + i);
    ttr_reader *merged = merge_some(set->t, list + i, n, error);
    list[i] = merged ? keep_between(set, &at, merged, error) : NULL;
    return list[i] ? TTR_OK : error->status;
}

/* Makes one reader of each trace; their number, or 0 with an error. */
static size_t intersect(struct ctf_stream_set *set, ttr_reader **list, ttr_error *error)
{
    size_t n = 0;
    ttr_status status = TTR_OK;
    for (size_t i = 0, end; i < set->n && status == TTR_OK; i = end) {
        end = end_of_trace(set, i);
        status = intersect_trace(set, i, end, list, error);
        list[n] = list[i];
        n += status == TTR_OK;
    }
    while (status != TTR_OK && n > 0)
        ttr_close(list[--n]);
    return n;
}

ttr_reader *ctf_stream_set_merge(struct ctf_stream_set *set, ttr_error *error)
{
    const struct alloc *alloc = &set->t->counted;
    size_t room = set->n, n = 0;
    ttr_reader **list = alloc_zero(alloc, room, sizeof(ttr_reader *)), *reader = NULL;
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    if (room)
        qsort(set->opened, room, sizeof *set->opened, compare);
    if (!link_stream(set) || !tell_places(set))
        (void)fail_memory(error);
    else
        n = set->intersects ? intersect(set, list, error) : take_readers(set, 0, set->n, list);
    if (n)
        reader = merge_some(set->t, list, n, error);
    alloc_free(alloc, list, room, sizeof(ttr_reader *));
    return reader;
}
