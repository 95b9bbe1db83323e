/* Finding the end of a record, and the silent steps that measuring and walking share.
 *
 * The loop below has the steps that nearly all records are made of; the others are in
 * layout_silent.  Every step that moves checks against the end by subtraction; every loop either
 * moves or counts against LAYOUT_EMPTY_ELEMENTS_MAX, so no record takes longer than its bits allow.
 */
#include "layout/layout_program.h"

/* Ends a run badly. */
static uint32_t stop(const struct step *step, struct layout_cursor *run, enum layout_status *end,
                     enum layout_status why)
{
    run->member = step->member;
    *end = why;
    return STEP_STOPS;
}

static uint32_t spin(const struct step *step, struct layout_cursor *run, uint64_t n,
                     enum layout_status *end)
{
    if (n > LAYOUT_EMPTY_ELEMENTS_MAX - run->spins) {
        run->value = n;
        return stop(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    run->spins += (uint32_t)n;
    return 0;
}

static uint64_t aligned(uint64_t at, uint64_t mask)
{
    return (at + mask) & ~mask;
}

/* Moves to a place ahead. */
static uint32_t move_to(const struct step *step, struct layout_cursor *run, uint64_t to,
                        enum layout_status *end)
{
    if (to < run->bits.at || to > run->bits.end)
        return stop(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at = to;
    return 0;
}

/* Passes over `count` elements of fixed size. */
static uint32_t take(const struct step *step, struct layout_cursor *run, uint64_t count,
                     enum layout_status *end)
{
    uint64_t at = run->bits.at;
    if (UNLIKELY(count > UINT32_MAX)) {
        run->value = count;
        return stop(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    if (count == 0)
        return 0;
    /* amount is below 2^31 here. */
    at = aligned(at, (UINT64_C(1) << step->align) - 1);
    if (at > run->bits.end || count * step->amount - step->width > run->bits.end - at)
        return stop(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at = at + (count * step->amount - step->width);
    return 0;
}

static uint32_t check_order(const struct step *step, struct layout_cursor *run,
                            enum layout_status *end)
{
    bool is_inside = run->bits.at & 7;
    if (is_inside &&
        (step->order == ORDER_BYTES || (run->order != ORDER_ANY && run->order != step->order)))
        return stop(step, run, end, LAYOUT_MISALIGNED);
    run->order = step->order;
    return 0;
}

static uint32_t pass_text(const struct step *step, struct layout_cursor *run, unsigned unit,
                          enum layout_status *end)
{
    const uint8_t *p = run->bits.base + (run->bits.at >> 3),
                  *limit = run->bits.base + (run->bits.end >> 3);
    size_t n = p <= limit ? wide_length(p, limit, unit) : SIZE_MAX;
    if (n == SIZE_MAX)
        return stop(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at += ((uint64_t)n + unit) * 8;
    return 0;
}

static uint32_t pass_leb(const struct step *step, struct layout_cursor *run,
                         enum layout_status *end)
{
    const uint8_t *p = run->bits.base + (run->bits.at >> 3),
                  *limit = run->bits.base + (run->bits.end >> 3);
    size_t n = p < limit ? leb_length(p, limit) : 0;
    if (n == 0)
        return stop(step, run, end, LAYOUT_TRUNCATED);
    if (step->code == STEP_LEB_SAVE) {
        if (!leb_value(p, n, step->type->kind == TYPE_VAR_INT, &run->slots[step->slot]))
            return stop(step, run, end, LAYOUT_OUT_OF_RANGE);
        if (step->flags & STEP_MAY_LACK)
            run->absent &= ~(UINT32_C(1) << step->slot);
    }
    run->bits.at += (uint64_t)n * 8;
    return 0;
}

static uint32_t begin_loop(const struct step *step, struct layout_cursor *run,
                           struct layout_loops *loops, enum layout_status *end)
{
    uint64_t count = step_count(step, run);
    if (count > UINT32_MAX) {
        run->value = count;
        return stop(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    if (count == 0)
        return step->jump;
    loops->left[loops->depth] = count;
    loops->began[loops->depth++] = run->bits.at;
    return 0;
}

static uint32_t again(const struct step *step, struct layout_cursor *run,
                      struct layout_loops *loops, enum layout_status *end)
{
    uint32_t top = loops->depth - 1;
    if (run->bits.at == loops->began[top] && spin(step, run, 1, end) == STEP_STOPS)
        return STEP_STOPS;
    loops->began[top] = run->bits.at;
    if (--loops->left[top] > 0)
        return step->jump;
    loops->depth = top;
    return 0;
}

static uint32_t pass_unit(const struct step *step, struct layout_cursor *run,
                          enum layout_status *end)
{
    uint64_t used = run->bits.at % step->amount;
    bool crosses = used != 0 && step->width > step->amount - used;
    return crosses ? move_to(step, run, run->bits.at + (step->amount - used), end) : 0;
}

static uint32_t choose(const struct step *step, struct layout_cursor *run, enum layout_status *end)
{
    uint64_t selector = run->slots[step->slot];
    if (!step->table) /* an optional without ranges */
        return selector ? 0 : step->jump;
    uint32_t index = lookup_find(step->table, selector);
    if (step->code == STEP_IF)
        return index == LOOKUP_NONE ? step->jump : 0;
    if (index == LOOKUP_NONE) {
        run->value = selector;
        return stop(step, run, end, LAYOUT_NO_OPTION);
    }
    return index;
}

static void save(const struct step *step, struct layout_cursor *run)
{
    run->slots[step->slot] =
        step_load(step, run->bits.base, run->bits.at - step->width, run->bits.end);
    if (step->flags & STEP_MAY_LACK)
        run->absent &= ~(UINT32_C(1) << step->slot);
}

uint32_t layout_silent(const struct step *step, struct layout_cursor *run,
                       struct layout_loops *loops, enum layout_status *end)
{
    switch (step->code) {
    case STEP_ALIGN:
        return move_to(step, run, aligned(run->bits.at, step->amount), end);
    case STEP_UNIT:
        return pass_unit(step, run, end);
    case STEP_ORDER:
        return check_order(step, run, end);
    case STEP_MIXED:
        run->order = step->order;
        return 0;
    case STEP_SAVE:
        save(step, run);
        return 0;
    case STEP_STRING8:
        return pass_text(step, run, 1, end);
    case STEP_STRING16:
        return pass_text(step, run, 2, end);
    case STEP_STRING32:
        return pass_text(step, run, 4, end);
    case STEP_TAKE:
        return take(step, run, step_count(step, run), end);
    case STEP_LEB:
    case STEP_LEB_SAVE:
        return pass_leb(step, run, end);
    case STEP_REQUIRE:
        return run->absent >> step->slot & 1 ? stop(step, run, end, LAYOUT_NUMBER_ABSENT) : 0;
    case STEP_WHOLE:
        run->has_cut_text |= run->slots[step->slot] % step->amount != 0;
        return 0;
    case STEP_SPINS: {
        uint64_t count = step_count(step, run), each = step->amount;
        return spin(step, run, count > LAYOUT_EMPTY_ELEMENTS_MAX ? count : count * each, end);
    }
    case STEP_LOOP:
        return begin_loop(step, run, loops, end);
    case STEP_AGAIN:
        return again(step, run, loops, end);
    case STEP_IF:
    case STEP_CHOOSE:
        return choose(step, run, end);
    case STEP_JUMP:
        return step->jump;
    default:
        return 0;
    }
}

static enum layout_status short_of(struct layout_cursor *run, const struct step *step, uint64_t at)
{
    run->bits.at = at;
    run->member = step->member;
    return LAYOUT_TRUNCATED;
}

static __attribute__((noinline)) enum layout_status measure(const struct layout *layout,
                                                            struct layout_cursor *run)
{
    const struct step *step = layout->measure;
    const uint8_t *base = run->bits.base;
    uint64_t at = aligned(run->bits.at, layout->start_mask), end = run->bits.end;
    struct layout_loops loops;
    enum layout_status why;
    loops.depth = 0;
    run->absent = layout->absent;
    run->spins = 0;
    run->order = ORDER_ANY;
    if (UNLIKELY(at > end))
        return short_of(run, step, run->bits.at);
    for (;; step++) {
        if (UNLIKELY(step->advance > end - at))
            return short_of(run, step, at);
        at += step->advance;
        if (LIKELY(step->code == STEP_END)) {
            run->bits.at = at;
            return LAYOUT_OK;
        }
        if (step->code == STEP_STRING8) {
            const uint8_t *zero = find_zero(base, base + (at >> 3), base + (end >> 3));
            if (UNLIKELY(!zero))
                return short_of(run, step, at);
            at = ((uint64_t)(zero - base) + 1) << 3;
        } else if (step->code == STEP_COUNTED) {
            uint64_t count =
                load_whole_number((enum load)step->load, base + ((at - step->jump) >> 3));
            run->slots[step->slot] = count;
            run->bits.at = at;
            if (UNLIKELY(take(step, run, count, &why) == STEP_STOPS))
                return why;
            at = run->bits.at;
        } else {
            run->bits.at = at;
            uint32_t next = layout_silent(step, run, &loops, &why);
            if (UNLIKELY(next == STEP_STOPS))
                return why;
            step = next ? layout->measure + next - 1 : step;
            at = run->bits.at;
        }
    }
}

enum layout_status layout_find_record_end(const struct layout *layout, struct layout_cursor *run)
{
    uint64_t at = aligned(run->bits.at, layout->start_mask), end = run->bits.end,
             bits = layout->measure->advance;
    if (layout->measure->code != STEP_END || at > end || bits > end - at)
        return measure(layout, run);
    run->bits.at = at + bits;
    return LAYOUT_OK;
}
