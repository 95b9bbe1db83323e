/* The loop over the events of a packet, as far as the window holds them: header, class, end of the
 * body, view.
 *
 * Nothing here moves the window or decides about damage: the loop stops and says why (enum
 * ctf_stop_reason), ctf_read.c goes on from there. */
#include <stdio.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_fast_loop.h"

#define ZEROS_LEAST 4u /* bytes */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* What the loop keeps at hand. */
struct loop {
    struct ctf_reader *reader;
    ttr_event *events; /* to fill: n so far, room for more */
    uint32_t n, room;
    const struct ctf_header_plan *plan;
    const uint8_t *base;
    uint64_t at, end; /* bits from base */
    uint64_t header_at, body_at;
    struct ctf_event_header header;
    struct ctf_event_decoder *class;
};

/* A header that two loads do not read. */
static enum ctf_stop_reason read_header_slowly(struct loop *loop)
{
    struct bits bits = bits_init(loop->base, loop->at, loop->end);
    struct ctf_reader *reader = loop->reader;
    if (loop->plan->kind == CTF_PLAN_LAYOUT) {
        struct bits from = bits_init(loop->base, loop->header_at, loop->end);
        ctf_fill_imports(reader, loop->plan->layout, &from, &reader->run);
    }
    ctf_read_event_header(loop->plan, &bits, reader->run.slots, &loop->header);
    if (loop->header.end == LAYOUT_TRUNCATED)
        return CTF_STOP_EDGE;
    reader->run.member = NULL;
    if (loop->header.end != LAYOUT_OK)
        return CTF_STOP_BAD;
    loop->body_at = bits.at;
    return CTF_STOP_FULL;
}

/* Reads the header at loop->at; CTF_STOP_FULL where it is read. */
static enum ctf_stop_reason read_header(struct loop *loop)
{
    const struct ctf_header_plan *plan = loop->plan;
    uint64_t mask = (UINT64_C(1) << plan->align) - 1;
    loop->header_at = (loop->at + mask) & ~mask;
    if (loop->header_at >= loop->end)
        return CTF_STOP_EDGE;
    if (plan->kind != CTF_PLAN_LOADS || (loop->end - loop->header_at) >> 3 < plan->loads.room ||
        !ctf_load_event_header(plan, loop->base + (loop->header_at >> 3), &loop->header))
        return read_header_slowly(loop);
    loop->body_at = loop->header_at + loop->header.bits;
    return CTF_STOP_FULL;
}

static void note_cut_text(const struct loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, reader->offset + (loop->header_at >> 3), "ctf.odd-length",
        "a text of wide characters in an event of %s ends inside one: its length should be "
        "a multiple of theirs",
        reader->file);
}

/* Finds the end of a body of variable size. */
static enum ctf_stop_reason measure(struct loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    struct layout_cursor *run = &reader->run;
    run->bits = bits_init(loop->base, loop->body_at, loop->end);
    if (loop->class->has_imports) {
        struct bits header = bits_init(loop->base, loop->header_at, loop->end);
        ctf_fill_imports(reader, loop->class->layout, &header, run);
    }
    run->has_cut_text = false;
    enum layout_status end = layout_find_record_end(loop->class->layout, run);
    if (end == LAYOUT_OK) {
        loop->at = run->bits.at;
        return CTF_STOP_FULL;
    }
    return end == LAYOUT_TRUNCATED ? CTF_STOP_EDGE : CTF_STOP_BAD;
}

/* Finds the class and moves behind the body; CTF_STOP_FULL where it is whole. */
static enum ctf_stop_reason pass_body(struct loop *loop)
{
    struct ctf_stream *stream = loop->reader->stream;
    struct ctf_event_decoder *class =
        loop->header.id < stream->by_id_n ? stream->by_id[loop->header.id].class : NULL;
    if (UNLIKELY(!class)) {
        ttr_error ctx = {.status = TTR_OK};
        class = ctf_event_decoder_of(loop->reader, loop->header.id, &ctx);
        if (!class && ctx.status != TTR_OK && ctx.status != TTR_E_NOMEM) {
            (void)snprintf(loop->reader->why, sizeof loop->reader->why, "%.119s", ctx.text);
            return CTF_STOP_CLASS;
        }
        if (!class && ctx.status != TTR_OK) {
            *loop->reader->error = ctx;
            loop->reader->status = ctx.status;
            return CTF_STOP_FAILED;
        }
        if (!class)
            return CTF_STOP_UNKNOWN;
    }
    loop->class = class;
    if (class->fixed && !(loop->body_at & 7)) {
        if (UNLIKELY(loop->body_at > loop->end || class->fixed > loop->end - loop->body_at))
            return CTF_STOP_EDGE;
        loop->at = loop->body_at + class->fixed;
        return CTF_STOP_FULL;
    }
    if (class->layout)
        return measure(loop);
    if (UNLIKELY(loop->body_at > loop->end))
        return CTF_STOP_EDGE;
    loop->at = loop->body_at;
    return CTF_STOP_FULL;
}

/* Whether the header to come is all zeros, and so is what a tracer did not come to fill:
 * CTF_STOP_ZERO, else CTF_STOP_FULL; CTF_STOP_EDGE where the window must show more of it first. */
static enum ctf_stop_reason look_for_zeros(const struct loop *loop)
{
    const struct ctf_reader *reader = loop->reader;
    uint64_t first = (loop->at + 7) >> 3, left = loop->end >> 3,
             n = loop->plan->kind == CTF_PLAN_LOADS ? loop->plan->loads.bits >> 3 : 0;
    n = n < ZEROS_LEAST ? ZEROS_LEAST : n;
    for (uint64_t i = 0; i < n && first + i < left; i++)
        if (loop->base[first + i])
            return CTF_STOP_FULL;
    return first + n <= left || loop->end == reader->content_end || reader->in->window.at_end
               ? CTF_STOP_ZERO
               : CTF_STOP_EDGE;
}

static void note_backward(struct ctf_reader *reader, const ttr_event *event)
{
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, event->offset, "ctf.backward",
                         "an event of %s is %llu ns before the one that it follows in its stream",
                         reader->file,
                         (unsigned long long)reader->time - (unsigned long long)event->time);
}

static __attribute__((noinline)) void clamp(struct ctf_reader *reader, ttr_event *event)
{
    event->flags |= TTR_EVENT_CLAMPED;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, event->offset, "ctf.far-time",
        "the time of an event of %s (%llu ticks) is none that 64 bits of nanoseconds hold: "
        "the nearest one stands for it",
        reader->file, (unsigned long long)event->ticks);
}

/* Fills the view of an event whose header begins at bit `header_at`, its body at `body_at`, and
 * that ends at `end`. */
static inline void fill_view(ttr_event *event, const struct ctf_packet_views *views,
                             struct ctf_event_decoder *class, uint64_t header_at, uint64_t body_at,
                             uint64_t end)
{
    uint64_t first = header_at >> 3;
    ctf_copy_event(event, &class->model);
    event->payload = views->base + first;
    event->payload_size = (uint32_t)(((end + 7) >> 3) - first);
    event->body = (uint32_t)((header_at & 7) << 29 | ((body_at - (first << 3)) & CTF_BODY_MASK));
    event->offset = views->offset + first;
    event->part = views->part;
    event->cpu = views->cpu;
    event->flags = class->model.flags | views->cpu_flag;
    class->given++;
}

/* The view's time; what is odd about it is told. */
static inline void set_time(struct ctf_reader *reader, ttr_event *event,
                            const struct ctf_packet_views *views)
{
    bool is_clamped = false;
    if (UNLIKELY(!views->has_time)) {
        event->time = reader->time == INT64_MIN ? 0 : reader->time;
        event->flags |= TTR_EVENT_NO_TIME;
        return;
    }
    if (event->ticks < views->plain_ticks)
        event->time = (int64_t)(event->ticks + views->plain_shift);
    else
        event->time = ctf_ticks_to_ns(views->timeline, event->ticks, &is_clamped);
    if (UNLIKELY(is_clamped))
        clamp(reader, event);
    if (UNLIKELY(event->time < reader->time))
        note_backward(reader, event);
    reader->time = event->time;
}

/* Whether an event is not before the time up to which they are wanted; then the input has stopped.
 */
static bool is_too_late(struct ctf_reader *reader, const struct ctf_packet_views *views,
                        uint64_t ticks)
{
    struct input *in = reader->in;
    bool is_clamped = false;
    if (!views->has_time || in->until == INT64_MAX)
        return false;
    int64_t time = ctf_ticks_to_ns(views->timeline, ticks, &is_clamped);
    if (time >= in->until)
        ctf_stop_before(in, time);
    return in->is_stopped;
}

/* The usual events, as many as come in a row: two loads for the header, a class met before, a body
 * that needs nothing from outside.  Stops at whatever is not so, at its begin, and behind the first
 * before plain ones.  All that the loop needs is copied first: what is stored through pointers
 * could be anything. */
static __attribute__((noinline)) void run_usual(struct loop *loop,
                                                const struct ctf_packet_views *shared,
                                                bool has_plain)
{
    struct ctf_reader *reader = loop->reader;
    struct layout_cursor *run = &reader->run;
    const struct ctf_packet_views views = *shared;
    const struct ctf_header_plan plan = {.is_big_endian = loop->plan->is_big_endian,
                                         .only_id = loop->plan->only_id,
                                         .escape = loop->plan->escape,
                                         .loads = loop->plan->loads,
                                         .wide = loop->plan->wide,
                                         .has_wide = loop->plan->has_wide};
    const struct ctf_class_entry *const by_id = reader->stream->by_id;
    const uint64_t ids = reader->stream->by_id_n, mask = (UINT64_C(1) << loop->plan->align) - 1,
                   end = loop->end;
    const uint64_t room = (uint64_t)plan.loads.room * 8, last = end < room ? 0 : end - room;
    struct ctf_event_header header = {.ticks = loop->header.ticks};
    ttr_event *event = loop->events + loop->n, *const first = event,
              *const stop = loop->events + loop->room;
    const bool has_until = reader->in->until != INT64_MAX;
    uint64_t at = loop->at, ticks = header.ticks;
    const struct bits bits = bits_init(views.base, 0, end);
    run->bits = bits;
    run->has_cut_text = false;
    if (end < room)
        return;
    for (; event < stop; event++) {
        uint64_t header_at = (at + mask) & ~mask, next;
        if (header_at > last ||
            !ctf_load_event_header(&plan, views.base + (header_at >> 3), &header))
            break;
        const uint64_t body_at = header_at + header.bits;
        struct ctf_event_decoder *class = header.id < ids ? by_id[header.id].class : NULL;
        if (UNLIKELY(!class || !class->is_usual) ||
            (has_plain && event > first && by_id[header.id].bytes.rest != LAYOUT_BYTE_SHAPE_NONE))
            break;
        if ((body_at & 7) || !layout_shape_find_end(&class->shape, &bits, body_at, &next)) {
            run->bits.at = body_at;
            if (class->layout &&
                (layout_find_record_end(class->layout, run) != LAYOUT_OK || run->has_cut_text))
                break;
            next = class->layout ? run->bits.at : body_at;
        }
        if (next > end || next < body_at)
            break;
        if (UNLIKELY(has_until) && is_too_late(reader, &views, header.ticks))
            break;
        fill_view(event, &views, class, header_at, body_at, next);
        event->ticks = header.ticks;
        if (class->has_thread && !(body_at & 7))
            event->thread = ctf_find_thread(reader, class, views.base + (body_at >> 3));
        set_time(reader, event, &views);
        ticks = header.ticks;
        at = next;
    }
    loop->n = (uint32_t)(event - loop->events);
    loop->at = at;
    loop->header.ticks = ticks;
}

/* Fills in what an event says of itself in our dialect; one that only names a thread is no event.
 * The events before that are given first: whoever has them asks for the name that is known now. */
static enum ctf_stop_reason take_said(struct loop *loop, ttr_event *event)
{
    struct ctf_reader *reader = loop->reader;
    const struct ctf_trace *trace = reader->trace;
    const struct ctf_dialect_attributes *said = loop->class->said;
    struct bits bits = bits_init(loop->base, loop->body_at, loop->at);
    bool is_fine = ctf_dialect_set_attributes(said, trace->t, trace->thread_source, &bits, event);
    if (is_fine && said->is_listed)
        is_fine = ctf_listed_set_attributes(trace->t, trace->thread_source, event);
    if (is_fine && said->is_names && loop->n > 1)
        return CTF_STOP_NAMES;
    if (is_fine && said->is_names) {
        is_fine = ctf_dialect_apply_names(reader->in, event);
        event->kind = TTR_KIND_DEFINITION;
        event->tag = CTF_DEFINITION_EVENT;
        loop->n -= !(reader->in->flags & TTR_READ_DEFINITIONS);
    }
    if (is_fine)
        return CTF_STOP_FULL;
    reader->status = fail_memory(reader->error);
    return CTF_STOP_FAILED;
}

/* Numbers in the event's contexts and payload that are mapped to the clock move it, for the events
 * behind (CTF 1.8.3, 8). */
static void move_clock(struct loop *loop)
{
    struct layout_cursor *run = &loop->reader->run;
    struct bits body = bits_init(loop->base, loop->body_at, loop->at),
                header = bits_init(loop->base, loop->header_at, loop->end);
    ctf_fill_imports(loop->reader, loop->class->times, &header, run);
    ctf_apply_mapped_times(loop->class->times, &body, run->slots, &loop->header);
}

/* One event of any kind. */
static __attribute__((noinline)) enum ctf_stop_reason run_one(struct loop *loop,
                                                              const struct ctf_packet_views *views)
{
    struct ctf_reader *reader = loop->reader;
    uint64_t ticks = loop->header.ticks, at = loop->at;
    enum ctf_stop_reason stop =
        ctf_ends_with_zeros(&reader->frame) ? look_for_zeros(loop) : CTF_STOP_FULL;
    if (stop == CTF_STOP_FULL)
        stop = read_header(loop);
    reader->run.has_cut_text = false;
    if (stop == CTF_STOP_FULL)
        stop = pass_body(loop);
    if (stop == CTF_STOP_FULL && loop->at == at)
        stop = CTF_STOP_ZERO;
    /* What is no event says nothing of when the next one is. */
    if (stop != CTF_STOP_FULL || is_too_late(reader, views, loop->header.ticks)) {
        loop->header.ticks = ticks;
        loop->at = at;
        return stop;
    }
    if (UNLIKELY(reader->run.has_cut_text))
        note_cut_text(loop);
    ttr_event *event = &loop->events[loop->n++];
    fill_view(event, views, loop->class, loop->header_at, loop->body_at, loop->at);
    event->ticks = loop->header.ticks;
    if (loop->class->has_thread && !(loop->body_at & 7))
        event->thread = ctf_find_thread(reader, loop->class, loop->base + (loop->body_at >> 3));
    set_time(reader, event, views);
    if (loop->class->times)
        move_clock(loop);
    stop = loop->class->said ? take_said(loop, event) : CTF_STOP_FULL;
    if (stop == CTF_STOP_NAMES) {
        loop->header.ticks = ticks;
        loop->at = at;
        loop->n--;
    }
    return stop;
}

/* The plainest events, as many as come in a row. */
static void run_plain(struct loop *loop, const struct ctf_packet_views *views)
{
    struct ctf_reader *reader = loop->reader;
    struct ctf_fast_loop run;
    struct reader_partial_read some = {
        .until = reader->in->until, .events = loop->events, .room = loop->room, .n = loop->n};
    ctf_fast_loop_init(&run, reader, views);
    run.next = run.bytes + ((loop->at + 7) >> 3);
    run.end = loop->end >> 3;
    run.ticks = loop->header.ticks;
    ctf_fast_loop_read(&run, views->there, &some);
    if (some.is_stopped)
        ctf_stop_before(reader->in, some.next);
    loop->n = some.n;
    loop->at = ctf_fast_loop_bit(&run, loop->at);
    loop->header.ticks = run.ticks;
    reader->time = run.time;
}

static struct loop loop_of(struct ctf_reader *reader, ttr_event *events, uint32_t n, uint32_t room)
{
    return (struct loop){.reader = reader,
                         .events = events,
                         .n = n,
                         .room = room,
                         .plan = &reader->stream->kind->plan,
                         .base = reader->bits.base,
                         .at = reader->bits.at,
                         .end = reader->bits.end,
                         .header.ticks = reader->ticks};
}

/* Ticks that are nanoseconds of their own clock only have to be moved, as long as that stays within
 * 64 bits. */
static void find_plain_ticks(struct ctf_packet_views *views)
{
    const struct ctf_timeline *line = views->timeline;
    if (!line->has_base || line->shift || line->math.rest || line->math.whole != 1)
        return;
    views->plain_shift = (uint64_t)line->base;
    views->plain_ticks = (uint64_t)INT64_MAX - (line->base > 0 ? (uint64_t)line->base : 0);
}

/* Bytes behind the reader's base that are at hand. */
static uint64_t bytes_there(const struct ctf_reader *reader)
{
    const uint64_t end = reader->bits.end >> 3,
                   n = reader->is_unpacked ? 0 : ctf_bytes_from(reader, reader->offset);
    return n > end ? n : end;
}

static struct ctf_packet_views views_of(const struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_stream_decoder *kind = reader->stream->kind;
    struct ctf_packet_views views = {.timeline = &kind->timeline,
                                     .base = reader->bits.base,
                                     .offset = reader->offset,
                                     .there = bytes_there(reader),
                                     .part = reader->slot,
                                     .cpu = packet->has_cpu ? packet->cpu : 0,
                                     .cpu_flag = packet->has_cpu ? TTR_EVENT_HAS_CPU : 0,
                                     .has_time = kind->plan.has_time};
    find_plain_ticks(&views);
    return views;
}

static bool has_usual_events(const struct ctf_reader *reader)
{
    const struct ctf_header_plan *plan = &reader->stream->kind->plan;
    return plan->kind == CTF_PLAN_LOADS && plan->loads.bits > 0 &&
           !ctf_ends_with_zeros(&reader->frame);
}

/* Leaves the reader where the loop stopped. */
static void leave(struct ctf_reader *reader, const struct loop *loop, uint32_t before)
{
    reader->bits.at = loop->at;
    reader->ticks = loop->header.ticks;
    reader->bad_id = loop->header.id;
    reader->given += loop->n - before;
}

enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    struct loop loop = loop_of(reader, in->events, in->n, in->batch);
    const struct ctf_packet_views views = views_of(reader);
    bool has_usual = has_usual_events(reader),
         has_plain = has_usual && ctf_fast_loop_is_possible(loop.plan, &views);
    enum ctf_stop_reason stop = CTF_STOP_FULL;
    while (loop.n < loop.room && stop == CTF_STOP_FULL && !in->is_stopped) {
        const uint32_t before = loop.n;
        if (has_plain)
            run_plain(&loop, &views);
        if (has_usual && loop.at >= loop.end) { /* as far as others would come */
            stop = loop.n < loop.room && !in->is_stopped ? CTF_STOP_EDGE : CTF_STOP_FULL;
            continue;
        }
        if (has_usual && !in->is_stopped)
            run_usual(&loop, &views, has_plain);
        if (loop.n == before && !in->is_stopped)
            stop = run_one(&loop, &views);
    }
    leave(reader, &loop, in->n);
    in->n = loop.n;
    return stop;
}
