/* Merge order of inputs, and continuation of streams across files; see ctf_stream_set.h.
 *
 * Events of equal time are emitted in the order of babeltrace2: by trace UUID, stream class, stream
 * number, then begin time of the file. Traces without a UUID are next, ordered by the identity of
 * CTF 2: namespace, name and uid. Traces with neither are last, ordered by host and folder.
 * v1.1 files are ordered by name, with numbers in names compared by value, because nothing but the
 * name identifies their streams. */
#include "formats/ctf/read/ctf_stream_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock_math.h"
#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/read/ctf_intersect.h"
#include "formats/ctf/read/ctf_name_order.h"
#include "formats/ctf/read/ctf_shared_clock.h"

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

static const struct ctf_description *get_queue_description(const struct ctf_opened_queue *opened)
{
    return &opened->trace->class->description;
}

/* Returns the path of the trace folder, relative to the opened folder; "" for traces without a
 * folder. */
static const char *get_queue_folder(const struct ctf_opened_queue *opened)
{
    const struct folder *folder = opened->trace->folder;
    return folder ? folder_relative_path(folder) : "";
}

static uint64_t get_queue_stream_class_id(const struct ctf_opened_queue *opened)
{
    return opened->queue.kind ? opened->queue.kind->class->id : UINT64_MAX;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Returns byte i of the text "HOST/FOLDER", which is not stored; 0 after its end. */
static unsigned char get_trace_name_byte(ttr_text host, const char *place, size_t i)
{
    if (i < host.n)
        return (unsigned char)host.p[i];
    if (i == host.n && host.n && place[0])
        return '/';
    return (unsigned char)place[i - host.n - (host.n && place[0])];
}

static int compare_trace_names(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    ttr_text x = ctf_trace_host(get_queue_description(a)),
             y = ctf_trace_host(get_queue_description(b));
    const char *x_place = get_queue_folder(a), *y_place = get_queue_folder(b);
    size_t i = 0;
    while (get_trace_name_byte(x, x_place, i) &&
           get_trace_name_byte(x, x_place, i) == get_trace_name_byte(y, y_place, i))
        i++;
    return get_trace_name_byte(x, x_place, i) - get_trace_name_byte(y, y_place, i);
}

static int compare_texts(ttr_text a, ttr_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : compare_u64(a.n, b.n);
}

/* Compares traces without UUIDs by namespace, name and uid (CTF 2). Traces without a uid are last
 * and equal to each other. */
static int compare_identities(const struct ctf_description *x, const struct ctf_description *y)
{
    if (!x->uid.n || !y->uid.n)
        return (x->uid.n == 0) - (y->uid.n == 0);
    int order = compare_texts(x->ns, y->ns);
    order = order ? order : compare_texts(x->name, y->name);
    return order ? order : compare_texts(x->uid, y->uid);
}

static int compare_traces(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    const struct ctf_description *x = get_queue_description(a), *y = get_queue_description(b);
    if (a->trace == b->trace)
        return 0;
    if (x->has_uuid != y->has_uuid)
        return x->has_uuid ? -1 : 1;
    if (x->has_uuid)
        return memcmp(x->uuid, y->uuid, 16);
    int order = compare_identities(x, y);
    if (order || x->uid.n)
        return order;
    order = a->folder == b->folder ? 0 : compare_trace_names(a, b);
    return order ? order : compare_u64(a->folder, b->folder);
}

static int compare_streams(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    const struct ctf_reader *x = a->in->ctx, *y = b->in->ctx;
    const bool has_names = x->file && y->file && get_queue_description(a)->version == CTF_RFC_1_1 &&
                           get_queue_description(b)->version == CTF_RFC_1_1;
    return has_names ? ctf_compare_names(x->file, y->file) : compare_u64(a->number, b->number);
}

static int compare_opened_queues(const void *a, const void *b)
{
    const struct ctf_opened_queue *x = a, *y = b;
    int order = compare_traces(x, y);
    if (order == 0)
        order = compare_u64(get_queue_stream_class_id(x), get_queue_stream_class_id(y));
    if (order == 0)
        order = compare_streams(x, y);
    if (order == 0)
        order = x->queue.begin < y->queue.begin ? -1 : x->queue.begin > y->queue.begin;
    if (order == 0)
        order = compare_u64(x->folder, y->folder);
    return order ? order : compare_u64(x->file, y->file);
}

/* Returns true if two inputs read the same data stream from different files. */
static bool is_stream_in_two_files(const struct ctf_opened_queue *a,
                                   const struct ctf_opened_queue *b)
{
    return a->queue.kind && b->queue.kind && a->queue.has_number && b->queue.has_number &&
           a->queue.number == b->queue.number &&
           get_queue_stream_class_id(a) == get_queue_stream_class_id(b) &&
           (a->folder != b->folder || a->file != b->file) && compare_traces(a, b) == 0;
}

/* Returns true if the file of `before` contains the first packet of `here`, as overlapping
 * snapshots do. */
static bool contains_first_packet_of(const struct ctf_opened_queue *here,
                                     const struct ctf_opened_queue *before)
{
    return (here->folder != before->folder || here->file != before->file) &&
           ctf_queue_contains_first_packet(before->in->ctx, before->queue_i, &here->queue);
}

/* Returns true if `queue` continues the stream of earlier files: it begins at or after their end,
 * or its first sequence number is above their last one. */
static bool queue_continues_after(const struct ctf_packet_queue *queue,
                                  const struct ctf_counters *last, int64_t end)
{
    return queue->begin >= end || (last->has_sequence && queue->last.has_sequence &&
                                   queue->first.sequence > last->sequence);
}

/* If element i + 1 is another file of the same stream, completes the end and the counters of
 * element i by the packets after a packet without a size. Returns false if memory runs out. */
static bool complete_continued_queue(struct ctf_stream_set *set, size_t i)
{
    struct ctf_opened_queue *here = &set->opened[i];
    struct ctf_reader *reader = here->in->ctx;
    if (i + 1 == set->n || here->queue_i != 0 || !reader->file_index ||
        !is_stream_in_two_files(here, &set->opened[i + 1]))
        return true;
    const bool is_fine = ctf_index_after_unsized_packet(reader);
    here->queue.end = reader->file_index->queue[0].end;
    here->queue.last = reader->file_index->queue[0].last;
    return is_fine;
}

/* Returns true if element i must be compared with the earlier element k of its stream. Usually,
 * two earlier elements contain all packets that i has in common with any: `latest`, which ends
 * last, and i - 1. All must be compared if a packet is damaged in two files, because any file may
 * have a valid copy of it. */
static bool must_compare_files(const struct ctf_stream_set *set, size_t k, size_t i, size_t latest)
{
    const struct ctf_reader *reader = set->opened[k].in->ctx;
    return k == latest || k == i - 1 || reader->trace->has_damaged_duplicates;
}

/* Compares each file with the earlier files of its stream: marks duplicate packets, and sets the
 * initial counters of a file that continues others. Files that overlap but have no common packet
 * are not the same stream: their tracer uses one number for all streams. Returns false if memory
 * is out. */
static bool link_files_of_streams(struct ctf_stream_set *set)
{
    struct ctf_counters last = {.is_there = false};
    int64_t end = 0;
    size_t latest = 0, first = 0;
    bool is_fine = true;
    for (size_t i = 0; i < set->n && is_fine; i++) {
        const struct ctf_opened_queue *here = &set->opened[i];
        is_fine = complete_continued_queue(set, i);
        struct ctf_file_index *file_index = ((struct ctf_reader *)here->in->ctx)->file_index;
        bool goes_on = i > 0 && here->queue.has_begin && set->opened[i - 1].queue.has_begin &&
                       is_stream_in_two_files(&set->opened[i - 1], here);
        bool has_same = false;
        first = goes_on ? first : i;
        for (size_t k = first; k < i && here->queue.begin <= end && is_fine; k++) {
            const struct ctf_opened_queue *before = &set->opened[k];
            if (must_compare_files(set, k, i, latest) && contains_first_packet_of(here, before)) {
                has_same = true;
                is_fine =
                    ctf_mark_duplicates(&(struct ctf_queue_ref){before->in->ctx, before->queue_i},
                                        &(struct ctf_queue_ref){here->in->ctx, here->queue_i});
            }
        }
        if (has_same || (goes_on && queue_continues_after(&here->queue, &last, end)))
            file_index->queue[here->queue_i].initial = last;
        if (!goes_on || here->queue.end > end) {
            last = here->queue.last;
            end = here->queue.end;
            latest = i;
        }
    }
    return is_fine;
}

/* Returns the index after the last input that belongs to the trace of input i. */
static size_t find_end_of_trace(const struct ctf_stream_set *set, size_t i)
{
    size_t end = i;
    while (end < set->n && compare_traces(&set->opened[i], &set->opened[end]) == 0)
        end++;
    return end;
}

/* Makes all folders of each trace use the same clock offsets, and sorts again if times changed. */
static void share_clock_offsets(struct ctf_stream_set *set)
{
    bool is_changed = false;
    for (size_t i = 0, end; i < set->n; i = end) {
        end = find_end_of_trace(set, i);
        is_changed = ctf_share_clock_offsets(set, i, end) || is_changed;
    }
    if (is_changed)
        qsort(set->opened, set->n, sizeof *set->opened, compare_opened_queues);
}

/* Sets the attribute with the folder name for each trace that consists of only one folder. Returns
 * false if memory runs out. */
static bool set_folder_attributes(struct ctf_stream_set *set)
{
    bool is_fine = true;
    for (size_t i = 0, end; i < set->n; i = end) {
        bool is_of_one = true;
        end = find_end_of_trace(set, i);
        for (size_t k = i; k < end; k++)
            is_of_one = is_of_one && set->opened[k].folder == set->opened[i].folder;
        for (size_t k = i; k < end && is_of_one; k++)
            is_fine = is_fine && (set->opened[k].is_shared ||
                                  ctf_add_location_attribute(set->opened[k].in,
                                                             get_queue_folder(&set->opened[k])));
    }
    return is_fine;
}

/* --- Merge of the inputs --- */

/* Merges n readers into one, which owns them. Returns NULL with `error` on failure. */
static ttr_reader *merge_readers(ttr *t, ttr_reader **list, size_t n, ttr_error *error)
{
    return n == 1 && list[0]->order == TTR_ORDER_TIME ? list[0] : ttr_merge(t, list, n, error);
}

/* Returns a reader of those events of `in` that are inside the intersection. Adds the option
 * time-offset to the bounds, because event times include it. Consumes `in`. */
static ttr_reader *limit_reader_to_intersection(const struct ctf_stream_set *set,
                                                const struct ctf_intersection *at, ttr_reader *in,
                                                ttr_error *error)
{
    int64_t offset = set->options ? set->options->time_offset : 0;
    bool is_clamped = false;
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = add_saturated(at->from, offset, &is_clamped);
    filter.to_ns = add_saturated(add_saturated(at->to, offset, &is_clamped), 1, &is_clamped);
    return ttr_filter_new(in, &filter, error);
}

/* Returns true if both inputs belong to the same data stream. */
static bool is_same_data_stream(const struct ctf_opened_queue *a, const struct ctf_opened_queue *b)
{
    bool is_of_file = a->folder == b->folder && a->file == b->file &&
                      get_queue_stream_class_id(a) == get_queue_stream_class_id(b) &&
                      a->number == b->number;
    return is_of_file || is_stream_in_two_files(a, b);
}

/* Moves the readers of the elements [i, end) to `list`. Returns their number. */
static size_t move_readers(struct ctf_stream_set *set, size_t i, size_t end, ttr_reader **list)
{
    size_t n = 0;
    for (; i < end; i++) {
        if (!set->opened[i].is_shared)
            list[n++] = &set->opened[i].in->base;
        set->opened[i].in = NULL;
    }
    return n;
}

/* Merges the elements [i, end), which are one trace, into a reader that is limited to the
 * intersection of their streams. Stores the reader in list[i]. */
static ttr_status intersect_trace(struct ctf_stream_set *set, size_t i, size_t end,
                                  ttr_reader **list, ttr_error *error)
{
    struct ctf_intersection at = {.streams = 0};
    const struct ctf_reader *first = set->opened[i].in->ctx;
    const char *path = first->trace->folder ? folder_path(first->trace->folder) : "";
    for (size_t k = i; k < end; k++) {
        const struct ctf_reader *reader = set->opened[k].in->ctx;
        if (!reader->is_eventless)
            ctf_intersection_add_queue(
                &at, &set->opened[k].queue,
                k > i && is_same_data_stream(&set->opened[k - 1], &set->opened[k]), reader->file);
    }
    /* without a folder, the input replaces an unreadable trace */
    if (!first->trace->folder) {
        list[i] = &set->opened[i].in->base;
        set->opened[i].in = NULL;
        return TTR_OK;
    }
    ttr_status status = ctf_intersection_compute(&at, path, error);
    if (status != TTR_OK)
        return status;
    for (size_t k = i; k < end; k++)
        if (!set->opened[k].is_shared &&
            !ctf_add_range_attributes(set->opened[k].in, at.from, at.to))
            return fail_memory(error);
    size_t n = move_readers(set, i, end, list + i);
    ttr_reader *merged = merge_readers(set->t, list + i, n, error);
    list[i] = merged ? limit_reader_to_intersection(set, &at, merged, error) : NULL;
    return list[i] ? TTR_OK : error->status;
}

/* Makes one reader per trace, limited to the intersection of its streams. Returns the number of
 * readers, or 0 with `error`. */
static size_t intersect_traces(struct ctf_stream_set *set, ttr_reader **list, ttr_error *error)
{
    size_t n = 0;
    ttr_status status = TTR_OK;
    for (size_t i = 0, end; i < set->n && status == TTR_OK; i = end) {
        end = find_end_of_trace(set, i);
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
        qsort(set->opened, room, sizeof *set->opened, compare_opened_queues);
    share_clock_offsets(set);
    if (!link_files_of_streams(set) || !set_folder_attributes(set))
        (void)fail_memory(error);
    else
        n = set->intersects ? intersect_traces(set, list, error)
                            : move_readers(set, 0, set->n, list);
    if (n)
        reader = merge_readers(set->t, list, n, error);
    alloc_free(alloc, list, room, sizeof(ttr_reader *));
    return reader;
}
