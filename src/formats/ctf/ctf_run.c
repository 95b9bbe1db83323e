/* See the header.  All that the loop needs is copied first: what is stored through pointers could be anything. */
#include "formats/ctf/ctf_run.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

bool ctf_run_can(const struct ctf_plan *plan, const struct ctf_views *views)
{
    return plan->align >= 3 && plan->loads.bits % 8 == 0 && !plan->is_big_endian && views->has_time && views->plain_ticks > 0;
}

void ctf_run_init(struct ctf_run *run, const struct ctf_reader *reader, const struct ctf_views *views)
{
    const struct ctf_stream *stream = reader->stream;
    *run = (struct ctf_run){.bytes = views->base, .at = reader->bits.at, .end = reader->bits.end, .ticks = reader->ticks, .time = reader->time,
                            .offset = views->offset, .plan = &stream->kind->plan, .by_id = stream->by_id,
                            .ids = (uint32_t)stream->by_id_n, .plain_ticks = views->plain_ticks, .plain_shift = views->plain_shift,
                            .part = views->part, .cpu = views->cpu, .cpu_flag = views->cpu_flag};
}

/* The view of an event whose header begins at a byte. */
static inline void fill_view(ttr_event *event, const struct ctf_run *run, struct ctf_class *class, uint64_t first, uint64_t behind)
{
    ctf_copy_event(event, &class->model);
    event->payload = run->bytes + first;
    event->payload_size = (uint32_t)(behind - first);
    event->offset = run->offset + first;
    event->part = run->part;
    event->cpu = run->cpu;
    event->flags = class->model.flags | run->cpu_flag;
    class->given++;
}

void ctf_run_plain(struct ctf_run *state, struct reader_some *some)
{
    const struct ctf_run run = *state;
    const struct ctf_loads loads = run.plan->loads;
    const uint64_t ids = run.ids < run.plan->escape ? run.ids : run.plan->escape;
    const uint64_t only_id = run.plan->only_id, mask = (UINT64_C(1) << run.plan->align) - 1, room = (uint64_t)loads.room * 8;
    ttr_event *event = some->events + some->n, *const stop = some->events + some->room;
    const struct bits bits = bits_over(run.bytes, 0, run.end);
    const uint64_t last = bits.end < room ? 0 : bits.end - room;
    const int64_t until = some->until;
    uint64_t at = run.at, ticks = run.ticks, next;
    int64_t time = run.time;
    if (bits.end < room)
        return;
    for (; event < stop; event++) {
        const uint64_t header_at = (at + mask) & ~mask;
        const uint8_t *p = run.bytes + (header_at >> 3);
        if (header_at > last)
            break;
        const uint64_t id = ((load_u64le(p + loads.id_at) >> loads.id_shift) & loads.id_mask) | only_id;
        const uint64_t low = (load_u64le(p + loads.time_at) >> loads.time_shift) & loads.time_mask;
        const uint64_t same = (ticks & ~loads.time_mask) | low, now = same < ticks ? same + loads.time_step : same;
        struct ctf_class *class = id < ids ? run.by_id[id] : NULL;
        if (UNLIKELY(!class || !class->is_plain) || !layout_shape_pass(&class->shape, &bits, header_at + loads.bits, &next))
            break;
        const int64_t here = (int64_t)(now + run.plain_shift);
        if (UNLIKELY(now >= run.plain_ticks || here < time || next < header_at))
            break;
        if (UNLIKELY(here >= until)) {
            some->is_stopped = true;
            some->next = here;
            break;
        }
        fill_view(event, &run, class, header_at >> 3, (next + 7) >> 3);
        event->body = loads.bits;
        event->ticks = ticks = now;
        event->time = time = here;
        at = next;
    }
    some->n = (uint32_t)(event - some->events);
    state->at = at;
    state->ticks = ticks;
    state->time = time;
}

/* --- Runs that go on --- */

/* Whether what is at hand holds, as far as one can tell from the last times, all events up to the next one. */
static bool sees_enough(const struct ctf_run *run)
{
    return run->at < run->end && (run->end - run->at) >> 3 >= run->stride;
}

static bool go(struct reader_run *base, struct reader_some *some)
{
    struct ctf_run *run = (struct ctf_run *)base;
    const uint64_t from = run->at;
    const uint32_t before = some->n;
    if (!sees_enough(run))
        return false;
    arena_reset(&run->reader->scratch);
    ctf_run_plain(run, some);
    const uint64_t twice = (run->at - from) >> 2;
    uint32_t stride = twice > run->stride ? (uint32_t)(twice < UINT32_MAX ? twice : UINT32_MAX) : run->stride - run->stride / 16;
    run->stride = stride < run->stride_most ? stride : run->stride_most;
    run->given += some->n - before;
    return some->is_stopped || some->n == some->room;
}

void ctf_run_begin(struct ctf_run *run, struct ctf_reader *reader, const struct ctf_views *views)
{
    const struct input *in = reader->in;
    const uint64_t most = in->window.n / 4 < in->max_record ? in->window.n / 4 : 0;
    ctf_run_init(run, reader, views);
    run->base.go = go;
    run->reader = reader;
    run->stride = (uint32_t)(reader->stride < UINT32_MAX ? reader->stride : UINT32_MAX);
    run->stride_most = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
}

void ctf_settle(struct input *in)
{
    struct ctf_reader *reader = in->own;
    struct ctf_run *run = (struct ctf_run *)in->run;
    if (!run || !run->base.go || run->given == 0)
        return;
    in->events_total += run->given;
    in->last = run->time;
    in->position = run->offset + (run->at >> 3);
    reader->given += run->given;
    run->given = 0;
}

void ctf_run_settle(struct ctf_reader *reader)
{
    struct ctf_run *run = (struct ctf_run *)reader->in->run;
    if (!run || !run->base.go)
        return;
    ctf_settle(reader->in);
    reader->bits.at = run->at;
    reader->ticks = run->ticks;
    reader->time = run->time;
    reader->stride = run->stride;
    reader->looked_from = run->offset + (run->at >> 3);
    run->base.go = NULL;
}
