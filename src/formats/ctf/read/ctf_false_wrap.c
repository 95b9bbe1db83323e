/* Timestamps with one damaged bit.
 *
 * A compact timestamp has the low bits of the clock; a value below the previous one means that the
 * field wrapped. So one damaged bit makes a wrap that never happened, and all later events are late
 * by `step`, the range of the field:
 *
 * |  time      a . . x . . . . . . . . . y + step       x: bit 0 -> 1; y seems to be in the next
 * |            a . y                                    range, because its low bits are below those
 * |            `-+-'                                    of x
 * |             gap
 *
 * If a bit changes from 1 to 0, x itself seems to be in the next range. In both cases the sum of
 * the two intervals is step + gap, each is below step, and one bit of x leads to a time from a
 * to y. The end time of the packet proves nothing if the packet is longer than a step.
 *
 * An undamaged trace can have two such intervals by chance: for a gap of step/n and a field of 27
 * bits, with a probability of 27/n^2. Therefore the gap must be below step/16384, or below step/512
 * with near intervals below step/64: then two pauses of which the sum is a step interrupt a burst
 * of events.
 *
 * Cost: one subtraction per call of ctf_read_events; if the clock advances by a step, one per BLOCK
 * events, and a few per event of the blocks in which it does. */
#include "base/status.h"
#include "formats/ctf/read/ctf_salvage.h"

/* Conditions for a false wrap: the gap is below step >> SHORT_SHIFT; or it is below step >>
 * GAP_SHIFT, and the NEAR intervals before and after it are below step >> NEAR_SHIFT. */
enum { SHORT_SHIFT = 14, GAP_SHIFT = 9, NEAR_SHIFT = 6, NEAR = 3, BLOCK = 8 };

/* Three consecutive events, a, x and y; the timestamp of x is damaged. */
struct wrap {
    struct ctf_reader *reader;
    /* first: index of the packet's first event; i: index of the event after x */
    uint32_t first, i;
    uint64_t step, a, x, y;
};

/* Returns the clock at the event that is `back` events before event `i`; UINT64_MAX if it is not
 * known. */
static uint64_t get_earlier_clock(const struct wrap *wrap, uint32_t i, uint32_t back)
{
    const struct ctf_reader *reader = wrap->reader;
    if (i >= wrap->first + back)
        return reader->in->events[i - back].ticks;
    const uint32_t j = wrap->first + back - i - 1;
    return j < reader->clocks.n ? reader->clocks.ticks[j] : UINT64_MAX;
}

/* Inverts one bit of the time of x such that it is between a and y - step. Returns the result;
 * UINT64_MAX if no bit does this. */
static uint64_t correct_one_bit(const struct wrap *wrap)
{
    const uint64_t end = wrap->y - wrap->step;
    for (uint64_t bit = 1; bit < wrap->step; bit <<= 1) {
        uint64_t low = (wrap->x ^ bit) & (wrap->step - 1),
                 ticks = (wrap->a & ~(wrap->step - 1)) | low;
        ticks += ticks < wrap->a ? wrap->step : 0;
        if (ticks <= end)
            return ticks;
    }
    return UINT64_MAX;
}

static bool has_short_intervals_before(const struct wrap *wrap)
{
    uint64_t later = wrap->a;
    for (uint32_t k = 0; k < NEAR; k++) {
        const uint64_t earlier = get_earlier_clock(wrap, wrap->i, 3 + k);
        if (earlier == UINT64_MAX)
            return true;
        if (later >= earlier && later - earlier >= wrap->step) /* the burst begins here */
            return true;
        if (later < earlier || later - earlier > wrap->step >> NEAR_SHIFT)
            return false;
        later = earlier;
    }
    return true;
}

/* Returns true if the events from y on have short intervals. Decodes them with the clock before
 * x. */
static bool has_short_intervals_after(const struct wrap *wrap)
{
    struct ctf_reader *reader = wrap->reader;
    uint64_t at = ctf_bit_of_event(reader, wrap->i), ticks = wrap->a;
    for (uint32_t k = 0; k < NEAR && at < reader->bits.end; k++) {
        const uint64_t before = ticks;
        at = ctf_decode_event_without_emitting(reader, at, &ticks);
        if (at == UINT64_MAX)
            return k > 0;
        if (k > 0 && ticks >= before && ticks - before >= wrap->step) /* the burst ends */
            return true;
        if (ticks < before || ticks - before > wrap->step >> NEAR_SHIFT)
            return false;
    }
    return true;
}

static bool is_false_wrap(const struct wrap *wrap)
{
    const uint64_t a = wrap->a, x = wrap->x, y = wrap->y, step = wrap->step;
    if (a > x || x > y || x - a >= step || y - x >= step || y - a < step ||
        y - a - step > step >> GAP_SHIFT || correct_one_bit(wrap) == UINT64_MAX)
        return false;
    return y - a - step <= step >> SHORT_SHIFT ||
           (has_short_intervals_before(wrap) && has_short_intervals_after(wrap));
}

/* Searches for y among the events with the indexes from `i` to `end`. If it is found, sets all
 * members of `wrap` and returns true. */
static bool find_wrap_in_block(struct wrap *wrap, uint32_t i, uint32_t end)
{
    for (; i < end; i++) {
        wrap->i = i;
        wrap->a = get_earlier_clock(wrap, i, 2);
        wrap->x = get_earlier_clock(wrap, i, 1);
        wrap->y = wrap->reader->in->events[i].ticks;
        if (is_false_wrap(wrap))
            return true;
    }
    return false;
}

/* Searches for a false wrap in the events from index `before` on. Only blocks that are at least as
 * long as a step can contain one. */
static bool find_false_wrap(struct wrap *wrap, uint32_t before)
{
    const struct input *in = wrap->reader->in;
    for (uint32_t i = before, end; i < in->n; i = end) {
        end = in->n - i < BLOCK ? in->n : i + BLOCK;
        const uint64_t begin = get_earlier_clock(wrap, i, 2);
        const bool is_long = begin == UINT64_MAX || in->events[end - 1].ticks - begin >= wrap->step;
        if (is_long && find_wrap_in_block(wrap, i, end))
            return true;
    }
    return false;
}

static ttr_status correct_wrap(const struct wrap *wrap)
{
    struct ctf_reader *reader = wrap->reader;
    const uint32_t i = wrap->i;
    const bool is_in_batch = i > wrap->first;
    ttr_event *event = &reader->in->events[is_in_batch ? i - 1 : i];
    const uint64_t offset = event->offset, ticks = correct_one_bit(wrap);
    bool is_clamped = false;
    if (is_in_batch) {
        event->ticks = ticks;
        event->time = ctf_ticks_to_ns(&reader->stream->kind->timeline, ticks, &is_clamped);
    }
    ctf_restart_reading_at(reader, &(struct ctf_restart){i, ctf_bit_of_event(reader, i), ticks});
    return input_add_damage(reader->in, offset, 0, "ctf.bad-time", reader->error,
                            "%s: a timestamp differs in one bit from the times around it: it and "
                            "the times of the later events are corrected",
                            reader->file);
}

ttr_status ctf_undo_false_wrap(struct ctf_reader *reader, uint32_t before,
                               enum ctf_stop_reason *stop)
{
    const struct ctf_header_plan *plan = &reader->stream->kind->plan;
    const struct input *in = reader->in;
    struct wrap wrap = {.reader = reader,
                        .first = ctf_first_event_of_packet(reader),
                        .step = plan->kind == CTF_PLAN_LOADS ? plan->loads.time_step : 0};
    if (before >= in->n || wrap.step == 0)
        return TTR_OK;
    uint64_t earliest = get_earlier_clock(&wrap, before, 2);
    earliest = earliest == UINT64_MAX ? get_earlier_clock(&wrap, before, 1) : earliest;
    /* the clock at the end differs if a field of the last event set it */
    if (reader->ticks != in->events[in->n - 1].ticks || reader->ticks - earliest < wrap.step)
        return TTR_OK;
    if (!find_false_wrap(&wrap, before))
        return TTR_OK;
    *stop = CTF_STOP_FULL;
    reader->is_damaged = true;
    return correct_wrap(&wrap);
}
