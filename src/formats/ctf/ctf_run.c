/* See the header.  All that the loop needs is copied first: what is stored through pointers could be anything. */
#include <stddef.h>
#include <string.h>

#include "formats/ctf/ctf_run.h"

#define PLAIN_BYTES ((uint64_t)1 << 30) /* looked at in one go: fewer than LAYOUT_BYTES_NONE */
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

typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));

/* What the run adds to the last sixteen bytes of each view. */
static inline lanes lanes_of_run(const struct ctf_run *run)
{
    const size_t from = 7 * sizeof(lanes);
    _Static_assert(offsetof(ttr_event, cpu) == 112 && offsetof(ttr_event, flags) == 123 && offsetof(ttr_event, part) == 124, "places");
    uint8_t bytes[sizeof(lanes)] = {0};
    lanes last;
    memcpy(bytes + (offsetof(ttr_event, cpu) - from), &run->cpu, sizeof run->cpu);
    memcpy(bytes + (offsetof(ttr_event, part) - from), &run->part, sizeof run->part);
    bytes[offsetof(ttr_event, flags) - from] = run->cpu_flag;
    memcpy(&last, bytes, sizeof last);
    return last;
}

/* Fills the view of an event whose header is at p, but for its times; whole vectors (see input_clear_event) where nothing else is stored. */
static inline void fill_view(ttr_event *event, struct ctf_class *class, const uint8_t *p, uint64_t bytes, lanes last)
{
    lanes *part = (lanes *)event;
    const lanes *of = (const lanes *)&class->model;
    _Static_assert(offsetof(ttr_event, duration) == 16 && offsetof(ttr_event, payload) == 32 && offsetof(ttr_event, schema) == 48, "places");
    part[1] = of[1], part[3] = of[3], part[4] = of[4], part[5] = of[5], part[6] = of[6], part[7] = of[7] | last;
    event->payload = p;
    event->payload_size = (uint32_t)bytes;
    class->given++;
}

/* The end of a body with a text that is longer than most; `first` is where that begins. */
static __attribute__((noinline)) uint64_t pass_long_text(const struct layout_bytes *bytes, const uint8_t *base, uint64_t first, uint64_t end)
{
    const uint8_t *zero = find_zero(base, base + first, base + end);
    return zero ? (uint64_t)(zero - base) + bytes->rest : UINT64_MAX;
}

/* The end of a body, in bytes from `base`; behind `end` where it is not found so easily. */
static inline uint64_t pass_body(const struct layout_bytes *bytes, const uint8_t *base, uint64_t body, uint64_t end)
{
    const uint64_t first = body + bytes->first;
    if (UNLIKELY(first > end - LAYOUT_BYTES_AHEAD))
        return UINT64_MAX;
    uint64_t next = layout_bytes_pass(bytes, base, first);
    return UNLIKELY(next == UINT64_MAX) ? pass_long_text(bytes, base, first, end) : next;
}

/* `is_simple`: headers begin at any byte, with the id.  Where one event ends is what finding the next waits for, so all that is computed in
 * between counts. */
static inline __attribute__((always_inline)) void run_plain(struct ctf_run *state, struct reader_some *some, bool is_simple)
{
    const struct ctf_run run = *state;
    const struct ctf_loads loads = run.plan->loads;
    const uint64_t ids = run.ids < run.plan->escape ? run.ids : run.plan->escape, header = loads.bits >> 3;
    const uint64_t only_id = is_simple ? 0 : run.plan->only_id, mask = is_simple ? 0 : ((UINT64_C(1) << run.plan->align) - 1) >> 3;
    const unsigned id_at = is_simple ? 0 : loads.id_at, id_shift = is_simple ? 0 : loads.id_shift;
    ttr_event *event = some->events + some->n, *const stop = some->events + some->room;
    const int64_t until = some->until;
    const lanes last = lanes_of_run(&run);
    uint64_t at = (run.at + 7) >> 3, ticks = run.ticks;
    const uint64_t whole = run.end >> 3, end = at < whole && whole - at > PLAIN_BYTES ? at + PLAIN_BYTES : whole;
    const uint64_t last_header = end - loads.room;
    int64_t time = run.time;
    if (at >= end || end < loads.room || end < LAYOUT_BYTES_AHEAD)
        return;
    for (; event < stop; event++) {
        const uint64_t header_at = (at + mask) & ~mask;
        const uint8_t *p = run.bytes + header_at;
        if (header_at > last_header)
            break;
        const uint64_t id = ((load_u64le(p + id_at) >> id_shift) & loads.id_mask) | only_id;
        const uint64_t low = (load_u64le(p + loads.time_at) >> loads.time_shift) & loads.time_mask;
        const uint64_t same = (ticks & ~loads.time_mask) | low, now = same < ticks ? same + loads.time_step : same;
        const uint64_t next = UNLIKELY(id >= ids) ? UINT64_MAX : pass_body(&run.by_id[id].bytes, run.bytes, header_at + header, end);
        const int64_t here = (int64_t)(now + run.plain_shift);
        if (UNLIKELY(next > end || now >= run.plain_ticks || here < time))
            break;
        if (UNLIKELY(here >= until)) {
            some->is_stopped = true;
            some->next = here;
            break;
        }
        fill_view(event, run.by_id[id].class, p, next - header_at, last);
        event->body = loads.bits;
        event->offset = run.offset + header_at;
        event->ticks = ticks = now;
        event->time = time = here;
        at = next;
    }
    some->n = (uint32_t)(event - some->events);
    state->at = at << 3;
    state->ticks = ticks;
    state->time = time;
}

static __attribute__((noinline)) void run_simple(struct ctf_run *run, struct reader_some *some)
{
    run_plain(run, some, true);
}

static __attribute__((noinline)) void run_other(struct ctf_run *run, struct reader_some *some)
{
    run_plain(run, some, false);
}

void ctf_run_plain(struct ctf_run *run, struct reader_some *some)
{
    const struct ctf_plan *plan = run->plan;
    if (plan->align == 3 && !plan->only_id && !plan->loads.id_at && !plan->loads.id_shift)
        run_simple(run, some);
    else
        run_other(run, some);
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
