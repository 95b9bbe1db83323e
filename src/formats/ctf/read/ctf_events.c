/* Loops over the events of a packet: decode the header, find the class, compute the end of the
 * body, fill a ttr_event.
 *
 * Three loops, from fast to general; each stops at the start of an event that it cannot decode:
 *
 * |  ctf_fast_loop_read (ctf_fast_loop.c)  plain events: fixed headers, ticks are ns, no threads
 * |  read_usual_events                     any fixed header and clock, threads
 * |  read_one_event                        any event, one per call
 *
 * This file neither moves the window nor handles damage: the loops return a reason (enum
 * ctf_stop_reason) and ctf_read.c continues. */
#include <stdio.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_fast_loop.h"

/* at least this many zero bytes at the position of an event mean that the rest of the packet was
 * not written */
#define ZERO_BYTES_MIN 4u
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* State of the loops over events. Short-lived, so that the compiler may keep it in registers. */
struct event_loop {
    struct ctf_reader *reader;
    ttr_event *events; /* output array of `room` elements, of which n are filled */
    uint32_t n, room;
    const struct ctf_header_plan *plan;
    const uint8_t *base;
    /* at: position of the loop; end: end of the content or window; in bits from `base` */
    uint64_t at, end;
    uint64_t header_at, body_at;
    struct ctf_event_header header;
    struct ctf_event_decoder *class;
};

/* Decodes an event header field by field, which is slower than two loads. */
static enum ctf_stop_reason read_event_header_by_layout(struct event_loop *loop)
{
    struct bits bits = bits_init(loop->base, loop->at, loop->end);
    struct ctf_reader *reader = loop->reader;
    if (loop->plan->kind == CTF_PLAN_LAYOUT) {
        struct bits from = bits_init(loop->base, loop->header_at, loop->end);
        ctf_load_values_before_body(reader, loop->plan->layout, &from, &reader->run);
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

/* Decodes the event header at loop->at. Returns CTF_STOP_FULL on success, else the reason to
 * stop. */
static enum ctf_stop_reason read_event_header(struct event_loop *loop)
{
    const struct ctf_header_plan *plan = loop->plan;
    uint64_t mask = (UINT64_C(1) << plan->align) - 1;
    loop->header_at = (loop->at + mask) & ~mask;
    if (loop->header_at >= loop->end)
        return CTF_STOP_EDGE;
    if (plan->kind != CTF_PLAN_LOADS || (loop->end - loop->header_at) >> 3 < plan->loads.room ||
        !ctf_load_event_header(plan, loop->base + (loop->header_at >> 3), &loop->header))
        return read_event_header_by_layout(loop);
    loop->body_at = loop->header_at + loop->header.bits;
    return CTF_STOP_FULL;
}

static void report_cut_text(const struct event_loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, reader->offset + (loop->header_at >> 3), "ctf.odd-length",
        "a text of wide characters in an event of %s ends inside one: its length should be "
        "a multiple of theirs",
        reader->file);
}

/* Computes the end of an event body of variable size. Returns CTF_STOP_FULL on success, else the
 * reason to stop. */
static enum ctf_stop_reason find_event_body_end(struct event_loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    struct layout_cursor *run = &reader->run;
    run->bits = bits_init(loop->base, loop->body_at, loop->end);
    if (loop->class->has_imports) {
        struct bits header = bits_init(loop->base, loop->header_at, loop->end);
        ctf_load_values_before_body(reader, loop->class->layout, &header, run);
    }
    run->has_cut_text = false;
    enum layout_status end = layout_find_record_end(loop->class->layout, run);
    if (end == LAYOUT_OK) {
        loop->at = run->bits.at;
        return CTF_STOP_FULL;
    }
    return end == LAYOUT_TRUNCATED ? CTF_STOP_EDGE : CTF_STOP_BAD;
}

/* Sets loop->class by the event id, and loop->at to the end of the body. Returns CTF_STOP_FULL if
 * the body is complete, otherwise the reason to stop. */
static enum ctf_stop_reason find_class_and_body_end(struct event_loop *loop)
{
    struct ctf_stream *stream = loop->reader->stream;
    struct ctf_event_decoder *class =
        loop->header.id < stream->by_id_n ? stream->by_id[loop->header.id].class : NULL;
    if (UNLIKELY(!class)) {
        ttr_error ctx = {.status = TTR_OK};
        class = ctf_get_event_decoder(loop->reader, loop->header.id, &ctx);
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
        return find_event_body_end(loop);
    if (UNLIKELY(loop->body_at > loop->end))
        return CTF_STOP_EDGE;
    loop->at = loop->body_at;
    return CTF_STOP_FULL;
}

/* Detects the unwritten end of a packet that the tracer did not finish. Returns CTF_STOP_ZERO if
 * the next event header is all zero, CTF_STOP_EDGE if the window ends inside it, else
 * CTF_STOP_FULL. */
static enum ctf_stop_reason check_zero_header(const struct event_loop *loop)
{
    const struct ctf_reader *reader = loop->reader;
    uint64_t first = (loop->at + 7) >> 3, left = loop->end >> 3,
             n = loop->plan->kind == CTF_PLAN_LOADS ? loop->plan->loads.bits >> 3 : 0;
    n = n < ZERO_BYTES_MIN ? ZERO_BYTES_MIN : n;
    for (uint64_t i = 0; i < n && first + i < left; i++)
        if (loop->base[first + i])
            return CTF_STOP_FULL;
    return first + n <= left || loop->end == reader->content_end || reader->in->window.at_end
               ? CTF_STOP_ZERO
               : CTF_STOP_EDGE;
}

static void report_backward_time(struct ctf_reader *reader, const ttr_event *event)
{
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, event->offset, "ctf.backward",
                         "an event of %s is %llu ns before the one that it follows in its stream",
                         reader->file,
                         (unsigned long long)reader->time - (unsigned long long)event->time);
}

static __attribute__((noinline)) void report_clamped_time(struct ctf_reader *reader,
                                                          ttr_event *event)
{
    event->flags |= TTR_EVENT_CLAMPED;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, event->offset, "ctf.far-time",
        "the time of an event of %s (%llu ticks) does not fit in 64 bits of nanoseconds: "
        "the nearest time is used",
        reader->file, (unsigned long long)event->ticks);
}

/* Fills an event with the values that all events of its class have, and with its position in the
 * packet, in bits. */
static inline void fill_event(ttr_event *event, const struct ctf_packet_views *views,
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
    class->events_read++;
}

/* Sets the time of an event. Reports a time that goes back or exceeds 64 bits. */
static inline void set_event_time(struct ctf_reader *reader, ttr_event *event,
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
        report_clamped_time(reader, event);
    if (UNLIKELY(event->time < reader->time))
        report_backward_time(reader, event);
    reader->time = event->time;
}

/* Returns true, and stops the input, if `ticks` is at or after the time limit of this read
 * (in->until). */
static bool reaches_time_limit(struct ctf_reader *reader, const struct ctf_packet_views *views,
                               uint64_t ticks)
{
    struct input *in = reader->in;
    bool is_clamped = false;
    if (!views->has_time || in->until == INT64_MAX)
        return false;
    int64_t time = ctf_ticks_to_ns(views->timeline, ticks, &is_clamped);
    if (time >= in->until)
        ctf_report_next_event_time(in, time);
    return in->is_stopped;
}

/* Returns the thread of an event; 0 if it has no thread, or memory runs out. */
static ttr_id find_event_thread(struct ctf_reader *reader, const struct ctf_event_decoder *class,
                                const struct ctf_event_place *place)
{
    if (UNLIKELY(class->has_variable_number || (place->body_at & 7)))
        return ctf_find_thread_in_context(reader, class, place);
    ttr_id id = ctf_find_thread(reader, class, place->base + (place->body_at >> 3));
    if (UNLIKELY(class->has_variable_name) &&
        !ctf_name_thread_from_context(reader, class, place, id))
        return 0;
    return id;
}

/* Decodes consecutive events that have a header of two loads, a known class, and no fields that
 * depend on the packet. Stops before any other event and, if `has_plain`, before an event that the
 * fast loop can decode. Copies its state to locals, because the compiler must assume that writing
 * events changes other memory. */
static __attribute__((noinline)) void read_usual_events(struct event_loop *loop,
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
        if (UNLIKELY(has_until) && reaches_time_limit(reader, &views, header.ticks))
            break;
        fill_event(event, &views, class, header_at, body_at, next);
        event->ticks = header.ticks;
        const struct ctf_event_place place = {views.base, header_at, body_at, next};
        event->thread = class->has_thread ? find_event_thread(reader, class, &place) : 0;
        set_event_time(reader, event, &views);
        ticks = header.ticks;
        at = next;
    }
    loop->n = (uint32_t)(event - loop->events);
    loop->at = at;
    loop->header.ticks = ticks;
}

/* In traces that follow the CTF conventions, sets the attributes that the event itself records. A
 * record that only names a thread is not returned as an event; it ends the batch, so that the
 * events before it keep the old name. */
static enum ctf_stop_reason set_event_attributes(struct event_loop *loop, ttr_event *event)
{
    struct ctf_reader *reader = loop->reader;
    const struct ctf_trace *trace = reader->trace;
    const struct ctf_conventions_attributes *convention_attributes =
        loop->class->convention_attributes;
    struct bits bits = bits_init(loop->base, loop->body_at, loop->at);
    bool is_fine = ctf_conventions_set_attributes(convention_attributes, trace->t,
                                                  trace->thread_source, &bits, event);
    if (is_fine && convention_attributes->is_listed)
        is_fine = ctf_listed_set_attributes(trace->t, trace->thread_source, event);
    if (is_fine && convention_attributes->is_names && loop->n > 1)
        return CTF_STOP_NAMES;
    if (is_fine && convention_attributes->is_names) {
        is_fine = ctf_conventions_set_thread_names(reader->in, event);
        event->kind = TTR_KIND_DEFINITION;
        event->tag = CTF_DEFINITION_EVENT;
        loop->n -= !(reader->in->flags & TTR_READ_DEFINITIONS);
    }
    if (is_fine)
        return CTF_STOP_FULL;
    reader->status = fail_memory(reader->error);
    return CTF_STOP_FAILED;
}

/* Updates the clock by fields in the event's body that are mapped to it. This affects the times of
 * later events (CTF 1.8.3, section 8). */
static void advance_clock_by_fields(struct event_loop *loop)
{
    struct layout_cursor *run = &loop->reader->run;
    struct bits body = bits_init(loop->base, loop->body_at, loop->at),
                header = bits_init(loop->base, loop->header_at, loop->end);
    ctf_load_values_before_body(loop->reader, loop->class->times, &header, run);
    ctf_update_clock_from_fields(loop->class->times, &body, run->slots, &loop->header);
}

/* Decodes one event of any header form and class. Returns CTF_STOP_FULL on success, else the
 * reason to stop. */
static __attribute__((noinline)) enum ctf_stop_reason read_one_event(
    struct event_loop *loop, const struct ctf_packet_views *views)
{
    struct ctf_reader *reader = loop->reader;
    uint64_t ticks = loop->header.ticks, at = loop->at;
    enum ctf_stop_reason stop =
        ctf_ends_with_zeros(&reader->frame) ? check_zero_header(loop) : CTF_STOP_FULL;
    if (stop == CTF_STOP_FULL)
        stop = read_event_header(loop);
    reader->run.has_cut_text = false;
    if (stop == CTF_STOP_FULL)
        stop = find_class_and_body_end(loop);
    if (stop == CTF_STOP_FULL && loop->at == at)
        stop = CTF_STOP_ZERO;
    /* the event is not returned by this call, so restore clock and position */
    if (stop != CTF_STOP_FULL || reaches_time_limit(reader, views, loop->header.ticks)) {
        loop->header.ticks = ticks;
        loop->at = at;
        return stop;
    }
    if (UNLIKELY(reader->run.has_cut_text))
        report_cut_text(loop);
    ttr_event *event = &loop->events[loop->n++];
    fill_event(event, views, loop->class, loop->header_at, loop->body_at, loop->at);
    event->ticks = loop->header.ticks;
    if (loop->class->has_thread)
        event->thread = find_event_thread(
            reader, loop->class,
            &(struct ctf_event_place){loop->base, loop->header_at, loop->body_at, loop->at});
    set_event_time(reader, event, views);
    if (loop->class->times)
        advance_clock_by_fields(loop);
    stop = loop->class->convention_attributes ? set_event_attributes(loop, event) : CTF_STOP_FULL;
    if (stop == CTF_STOP_NAMES) {
        loop->header.ticks = ticks;
        loop->at = at;
        loop->n--;
    }
    return stop;
}

/* Decodes events by the fast loop, up to the first one that it cannot decode. */
static void read_fast_events(struct event_loop *loop, const struct ctf_packet_views *views)
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
        ctf_report_next_event_time(reader->in, some.next);
    loop->n = some.n;
    loop->at = ctf_fast_loop_get_bit(&run, loop->at);
    loop->header.ticks = run.ticks;
    reader->time = run.time;
}

static struct event_loop make_event_loop(struct ctf_reader *reader, ttr_event *events, uint32_t n,
                                         uint32_t room)
{
    return (struct event_loop){.reader = reader,
                               .events = events,
                               .n = n,
                               .room = room,
                               .plan = &reader->stream->kind->plan,
                               .base = reader->bits.base,
                               .at = reader->bits.at,
                               .end = reader->bits.end,
                               .header.ticks = reader->ticks};
}

/* If ticks are nanoseconds, sets plain_ticks and plain_shift, so that a time is computed by one
 * addition. Larger ticks, for which it would overflow, are excluded. */
static void set_plain_ticks(struct ctf_packet_views *views)
{
    const struct ctf_timeline *line = views->timeline;
    if (!line->has_base || line->shift || line->math.rest || line->math.whole != 1)
        return;
    views->plain_shift = (uint64_t)line->base;
    views->plain_ticks = (uint64_t)INT64_MAX - (line->base > 0 ? (uint64_t)line->base : 0);
}

/* Returns the number of bytes after reader->bits.base that may be loaded. */
static uint64_t count_loadable_bytes(const struct ctf_reader *reader)
{
    const uint64_t end = reader->bits.end >> 3,
                   n = reader->is_unpacked ? 0 : ctf_window_bytes_from(reader, reader->offset);
    return n > end ? n : end;
}

static struct ctf_packet_views make_packet_views(const struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_stream_decoder *kind = reader->stream->kind;
    struct ctf_packet_views views = {.timeline = &kind->timeline,
                                     .base = reader->bits.base,
                                     .offset = reader->offset,
                                     .there = count_loadable_bytes(reader),
                                     .part = reader->slot,
                                     .cpu = packet->has_cpu ? packet->cpu : 0,
                                     .cpu_flag = packet->has_cpu ? TTR_EVENT_HAS_CPU : 0,
                                     .has_time = kind->plan.has_time};
    set_plain_ticks(&views);
    return views;
}

static bool has_usual_events(const struct ctf_reader *reader)
{
    const struct ctf_header_plan *plan = &reader->stream->kind->plan;
    return plan->kind == CTF_PLAN_LOADS && plan->loads.bits > 0 &&
           !ctf_ends_with_zeros(&reader->frame);
}

/* Copies the loop's position and clock to the reader. `before`: number of events in the batch
 * before the loop. */
static void store_loop_state(struct ctf_reader *reader, const struct event_loop *loop,
                             uint32_t before)
{
    reader->bits.at = loop->at;
    reader->ticks = loop->header.ticks;
    reader->bad_id = loop->header.id;
    reader->events_read += loop->n - before;
}

enum ctf_stop_reason ctf_read_events(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    struct event_loop loop = make_event_loop(reader, in->events, in->n, in->batch);
    const struct ctf_packet_views views = make_packet_views(reader);
    bool has_usual = has_usual_events(reader),
         has_plain = has_usual && ctf_fast_loop_is_possible(loop.plan, &views);
    enum ctf_stop_reason stop = CTF_STOP_FULL;
    while (loop.n < loop.room && stop == CTF_STOP_FULL && !in->is_stopped) {
        const uint32_t before = loop.n;
        if (has_plain)
            read_fast_events(&loop, &views);
        /* no loop can decode more events from the window */
        if (has_usual && loop.at >= loop.end) {
            stop = loop.n < loop.room && !in->is_stopped ? CTF_STOP_EDGE : CTF_STOP_FULL;
            continue;
        }
        if (has_usual && !in->is_stopped)
            read_usual_events(&loop, &views, has_plain);
        if (loop.n == before && !in->is_stopped)
            stop = read_one_event(&loop, &views);
    }
    store_loop_state(reader, &loop, in->n);
    in->n = loop.n;
    return stop;
}

uint64_t ctf_decode_event_without_emitting(struct ctf_reader *reader, uint64_t at, uint64_t *ticks)
{
    struct event_loop loop = make_event_loop(reader, NULL, 0, 0);
    loop.at = at;
    loop.header.ticks = *ticks;
    reader->run.has_cut_text = false;
    if (read_event_header(&loop) != CTF_STOP_FULL ||
        find_class_and_body_end(&loop) != CTF_STOP_FULL || loop.at <= at)
        return UINT64_MAX;
    *ticks = loop.header.ticks;
    return loop.at;
}

/* Decrements the event count of the class of the event at bit `at`. */
static void decrement_event_count(struct ctf_reader *reader, uint64_t at)
{
    struct event_loop loop = make_event_loop(reader, NULL, 0, 0);
    const struct ctf_stream *stream = reader->stream;
    loop.at = at;
    if (read_event_header(&loop) == CTF_STOP_FULL && loop.header.id < stream->by_id_n &&
        stream->by_id[loop.header.id].class)
        stream->by_id[loop.header.id].class->events_read--;
}

void ctf_restart_reading_at(struct ctf_reader *reader, const struct ctf_restart *at)
{
    struct input *in = reader->in;
    const uint32_t first = ctf_first_event_of_packet(reader);
    bool is_clamped = false;
    for (uint32_t i = at->kept; i < in->n; i++)
        decrement_event_count(reader, ctf_bit_of_event(reader, i));
    reader->events_read -= in->n - at->kept;
    in->n = at->kept;
    in->is_stopped = false;
    reader->bits.at = at->bit;
    reader->ticks = at->ticks;
    if (reader->stream->kind->plan.has_time)
        reader->time = ctf_ticks_to_ns(&reader->stream->kind->timeline, at->ticks, &is_clamped);
    /* keep one clock, so that a restart at the same event cannot happen again */
    if (at->kept == first)
        reader->clocks = (struct ctf_clock_history){{at->ticks}, 1, 0};
    reader->clocks.kept = at->kept;
}
