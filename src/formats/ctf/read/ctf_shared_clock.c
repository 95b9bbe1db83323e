/* Clocks of a trace that is stored in several folders.
 *
 * A tracer may sample the offset of its clock again for each chunk. The chunks then declare
 * different offsets, and the same ticks would have different times. babeltrace2 reads all folders
 * with the metadata that declare most stream classes, then most event classes. This file uses the
 * clock offsets of these metadata for all folders; each folder keeps its own classes.
 *
 * Offsets change before the first event is read. Times that were computed from packet headers move
 * by the difference of the offsets. Left out: clocks of different frequencies, which are different
 * clocks, and v1.1, of which each folder is a trace of its own. */
#include "formats/ctf/read/ctf_shared_clock.h"

#include <string.h>

#include "base/clock_math.h"

static bool is_more_complete_clock(const struct ctf_description *a, const struct ctf_description *b)
{
    return a->streams_n != b->streams_n ? a->streams_n > b->streams_n : a->events_n > b->events_n;
}

/* Returns the trace with the most complete metadata; the first if there are several. */
static const struct ctf_trace *find_most_complete_clock(const struct ctf_stream_set *set,
                                                        size_t first, size_t end)
{
    const struct ctf_trace *best = set->opened[first].trace;
    for (size_t i = first + 1; i < end; i++)
        if (is_more_complete_clock(&set->opened[i].trace->class->description,
                                   &best->class->description))
            best = set->opened[i].trace;
    return best;
}

static const struct ctf_clock *find_clock(const struct ctf_description *description,
                                          const struct ctf_clock *like)
{
    for (size_t i = 0; i < description->clocks_n; i++) {
        const struct ctf_clock *clock = description->clocks[i];
        if (clock->frequency == like->frequency && clock->id.n == like->id.n &&
            memcmp(clock->id.p, like->id.p, clock->id.n) == 0)
            return clock;
    }
    return NULL;
}

/* Copies the clock offsets of `from` to the class of a trace. Returns true if one was different.
 * Other traces can then no longer share the class, since it does not match its metadata. */
static bool copy_clock_offsets(const struct ctf_trace *trace, const struct ctf_description *from)
{
    struct ctf_trace_class *class = trace->class;
    bool is_changed = false;
    for (size_t i = 0; i < class->description.clocks_n; i++) {
        struct ctf_clock *clock = class->description.clocks[i];
        const struct ctf_clock *other = find_clock(from, clock);
        if (!other ||
            (other->offset_s == clock->offset_s && other->offset_cycles == clock->offset_cycles))
            continue;
        clock->offset_s = other->offset_s;
        clock->offset_cycles = other->offset_cycles;
        is_changed = true;
    }
    if (is_changed)
        ctf_trace_retract_class(trace);
    return is_changed;
}

static void shift_time(int64_t *time, int64_t shift)
{
    bool is_clamped = false;
    *time = add_saturated(*time, shift, &is_clamped);
}

static void shift_queue_times(struct ctf_packet_queue *queue, int64_t shift)
{
    shift_time(&queue->begin, shift);
    shift_time(&queue->end, shift);
    shift_time(&queue->last_begin, shift);
}

/* Adds `shift` ns to the times that a queue has from packet headers. */
static void shift_opened_queue_times(struct ctf_opened_queue *opened, int64_t shift)
{
    struct ctf_file_index *index = ((struct ctf_reader *)opened->in->ctx)->file_index;
    if (opened->queue.has_begin)
        shift_queue_times(&opened->queue, shift);
    if (!index)
        return;
    if (index->queue[opened->queue_i].has_begin)
        shift_queue_times(&index->queue[opened->queue_i], shift);
    if (opened->queue_i > 0) /* the entry points of the file move with its first queue */
        return;
    shift_time(&index->end, shift);
    for (size_t i = 0; i < index->entry_points_n; i++)
        shift_time(&index->entry_points[i].before, shift);
}

/* Updates the conversion of ticks to times. Returns by how many ns each time increases. */
static int64_t update_timeline(const struct ctf_trace *trace, struct ctf_stream_decoder *kind)
{
    bool is_clamped = false;
    int64_t before = ctf_ticks_to_ns(&kind->timeline, 0, &is_clamped);
    ctf_timeline_init(&kind->timeline, kind->class->clock);
    if (trace->class->rounds_times)
        ctf_timeline_use_rounding(&kind->timeline, kind->class->clock);
    int64_t after = ctf_ticks_to_ns(&kind->timeline, 0, &is_clamped);
    return before == INT64_MIN ? 0 : add_saturated(after, -before, &is_clamped);
}

/* Updates all stream classes of a trace class after its clocks changed. */
static void update_clocks_of_class(struct ctf_stream_set *set, size_t first, size_t end,
                                   const struct ctf_trace *trace)
{
    for (size_t k = 0; k < trace->class->kinds_capacity; k++) {
        struct ctf_stream_decoder *kind = trace->class->kinds[k];
        int64_t shift = kind ? update_timeline(trace, kind) : 0;
        for (size_t i = first; shift && i < end; i++)
            if (set->opened[i].queue.kind == kind)
                shift_opened_queue_times(&set->opened[i], shift);
    }
}

bool ctf_share_clock_offsets(struct ctf_stream_set *set, size_t first, size_t end)
{
    const struct ctf_trace *best = find_most_complete_clock(set, first, end);
    bool is_changed = false;
    for (size_t i = first; i < end; i++) {
        const struct ctf_trace *trace = set->opened[i].trace;
        if (trace->class != best->class && trace->class->description.version != CTF_RFC_1_1 &&
            copy_clock_offsets(trace, &best->class->description)) {
            update_clocks_of_class(set, first, end, trace);
            is_changed = true;
        }
    }
    return is_changed;
}
