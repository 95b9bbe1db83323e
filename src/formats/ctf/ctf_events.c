/* The loop over the events of a packet, as far as the window holds them: header, class, end of the body, view.
 *
 * Nothing here moves the window or decides about damage: the loop stops and says why (enum ctf_stop), ctf_read.c goes on from there.
 * The context is touched only where a class or a thread is met for the first time. */
#include "base/status.h"
#include "formats/ctf/ctf_reader.h"

#define ZEROS_ENOUGH 4096u /* bytes */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* What the loop keeps at hand. */
struct loop {
    struct ctf_reader *reader;
    const struct ctf_plan *plan;
    const struct ctf_timeline *timeline;
    const struct ctf_packet *packet;
    const uint8_t *base;
    uint64_t at, end;        /* bits from base */
    uint64_t header_at, body_at;
    struct ctf_header header;
    struct ctf_class *class;
};

/* Copies by whole vectors, see input_clear_event. */
static inline void copy_event(ttr_event *to, const ttr_event *from)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    lanes *part = (lanes *)to;
    const lanes *of = (const lanes *)from;
    part[0] = of[0], part[1] = of[1], part[2] = of[2], part[3] = of[3];
    part[4] = of[4], part[5] = of[5], part[6] = of[6], part[7] = of[7];
}

/* A header that two loads do not read. */
static enum ctf_stop read_header_slowly(struct loop *loop)
{
    struct bits bits = bits_over(loop->base, loop->at, loop->end);
    struct ctf_reader *reader = loop->reader;
    if (loop->plan->kind == CTF_PLAN_LAYOUT) {
        struct bits from = bits_over(loop->base, loop->header_at, loop->end);
        ctf_import(reader, loop->plan->layout, &from, &reader->run);
    }
    ctf_read_header(loop->plan, &bits, reader->run.slots, &loop->header);
    if (loop->header.end == LAYOUT_SHORT)
        return CTF_STOP_EDGE;
    reader->run.member = NULL;
    if (loop->header.end != LAYOUT_FINE)
        return CTF_STOP_BAD;
    loop->body_at = bits.at;
    return CTF_STOP_FULL;
}

/* Reads the header at loop->at; CTF_STOP_FULL where it is read. */
static inline enum ctf_stop read_header(struct loop *loop)
{
    const struct ctf_plan *plan = loop->plan;
    const struct ctf_loads *loads = &plan->loads;
    uint64_t mask = (UINT64_C(1) << plan->align) - 1;
    loop->header_at = (loop->at + mask) & ~mask;
    if (UNLIKELY(loop->header_at >= loop->end))
        return CTF_STOP_EDGE;
    if (UNLIKELY(plan->kind != CTF_PLAN_LOADS || (loop->end - loop->header_at) >> 3 < loads->room))
        return read_header_slowly(loop);
    if (UNLIKELY(!ctf_load_header(plan, loop->base + (loop->header_at >> 3), &loop->header)))
        return read_header_slowly(loop);
    loop->body_at = loop->header_at + loads->bits;
    return CTF_STOP_FULL;
}

/* Finds the end of a body of variable size. */
static enum ctf_stop measure(struct loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    struct layout_run *run = &reader->run;
    run->bits = bits_over(loop->base, loop->body_at, loop->end);
    if (loop->class->has_imports) {
        struct bits header = bits_over(loop->base, loop->header_at, loop->end);
        ctf_import(reader, loop->class->layout, &header, run);
    }
    enum layout_end end = layout_measure(loop->class->layout, run);
    if (end == LAYOUT_FINE) {
        loop->at = run->bits.at;
        return CTF_STOP_FULL;
    }
    return end == LAYOUT_SHORT ? CTF_STOP_EDGE : CTF_STOP_BAD;
}

/* Finds the class and moves behind the body; CTF_STOP_FULL where it is whole. */
static inline enum ctf_stop pass_body(struct loop *loop)
{
    struct ctf_stream *stream = loop->reader->stream;
    struct ctf_class *class = loop->header.id < stream->by_id_n ? stream->by_id[loop->header.id] : NULL;
    if (UNLIKELY(!class)) {
        ttr_error own = {.status = TTR_OK};
        class = ctf_class_of(loop->reader, loop->header.id, &own);
        if (!class && own.status != TTR_OK) {
            *loop->reader->error = own;
            loop->reader->status = own.status;
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

/* Whether nothing but zeros follows, as far as can be seen: what a tracer did not come to fill. */
static bool is_in_zeros(const struct loop *loop)
{
    uint64_t first = loop->at >> 3, n = (loop->end >> 3) - first;
    n = n < ZEROS_ENOUGH ? n : ZEROS_ENOUGH;
    for (uint64_t i = 0; i < n; i++)
        if (loop->base[first + i])
            return false;
    return true;
}

static void note_backward(struct ctf_reader *reader, const ttr_event *event)
{
    input_note(reader->in, TTR_NOTE_ODD, event->offset, "ctf.backward",
               "an event of %s is %llu ns before the one that it follows in its stream", reader->file,
               (unsigned long long)reader->time - (unsigned long long)event->time);
}

/* Adds the view of the event between loop->header_at and loop->at. */
static inline void give(struct loop *loop)
{
    struct ctf_reader *reader = loop->reader;
    struct input *in = reader->in;
    ttr_event *event = &in->events[in->n++];
    const struct ctf_packet *packet = loop->packet;
    const struct ctf_class *class = loop->class;
    uint64_t first = loop->header_at >> 3, from = loop->header_at & 7;
    bool is_clamped = false;
    copy_event(event, &class->model);
    event->ticks = loop->header.ticks;
    event->payload = loop->base + first;
    event->payload_size = (uint32_t)(((loop->at + 7) >> 3) - first);
    event->body = (uint32_t)(from << 29 | ((loop->body_at - (first << 3)) & 0x1fffffffu));
    event->offset = reader->offset + first;
    event->part = reader->slot;
    if (packet->has_cpu) {
        event->cpu = packet->cpu;
        event->flags |= TTR_EVENT_HAS_CPU;
    }
    if (class->has_thread && !(loop->body_at & 7))
        event->thread = ctf_find_thread(reader, class, loop->base + (loop->body_at >> 3));
    if (UNLIKELY(!loop->plan->has_time)) {
        event->time = reader->time == INT64_MIN ? 0 : reader->time;
        event->flags |= TTR_EVENT_NO_TIME;
        return;
    }
    event->time = ctf_time(loop->timeline, loop->header.ticks, &is_clamped);
    if (UNLIKELY(is_clamped))
        event->flags |= TTR_EVENT_CLAMPED;
    if (UNLIKELY(event->time < reader->time))
        note_backward(reader, event);
    reader->time = event->time;
}

enum ctf_stop ctf_run_events(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    const struct ctf_kind *kind = reader->stream->kind;
    struct loop loop = {.reader = reader, .plan = &kind->plan, .timeline = &kind->timeline, .packet = &reader->packets[reader->slot],
                        .base = reader->bits.base, .at = reader->bits.at, .end = reader->bits.end, .header.ticks = reader->ticks};
    enum ctf_stop stop = CTF_STOP_FULL;
    uint32_t before = in->n;
    while (in->n < in->batch) {
        uint64_t ticks = loop.header.ticks, at = loop.at;
        if (UNLIKELY(reader->frame.is_unfinished) && is_in_zeros(&loop)) {
            stop = CTF_STOP_ZERO;
            break;
        }
        stop = read_header(&loop);
        if (stop == CTF_STOP_FULL)
            stop = pass_body(&loop);
        if (stop == CTF_STOP_FULL && UNLIKELY(loop.at == at))
            stop = CTF_STOP_ZERO;
        if (UNLIKELY(stop != CTF_STOP_FULL)) {
            loop.header.ticks = ticks;
            loop.at = at;
            break;
        }
        give(&loop);
    }
    reader->bits.at = loop.at;
    reader->ticks = loop.header.ticks;
    reader->bad_id = loop.header.id;
    reader->given += in->n - before;
    return stop;
}
