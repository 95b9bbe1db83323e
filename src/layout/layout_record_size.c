/* Record size: finds the end of a record, and runs the silent steps for both programs.
 *
 * Order of calls: layout_find_record_end handles fixed-size records itself and calls
 * `run_size_program` for all others. `run_size_program` interprets the measuring program; frequent
 * steps are in its loop, the others in layout_run_silent_step, which the field iterator calls too.
 *
 *   record:  |<- advance ->|text..0|<- advance ->|count|element|element|<- advance ->|
 *   steps:   STRING8----------------|COUNTED--------------------------- |END----------
 *
 * Algorithm: an interpreter of a program in which all fixed-size fields are folded into the
 * `advance` of the next step. A record of fixed size is one END step.
 *
 * Invariants: `at` <= `end`; every step checks its size by subtraction (`size > end - at`), so sums
 * cannot overflow. Bits are read only after that check. A slot is written before it is read, or its
 * `absent` bit is set.
 *
 * Cost: one step per variable-size field, one pass per element of variable size. Every loop
 * iteration either moves or counts against LAYOUT_EMPTY_ELEMENTS_MAX, so the time is linear in the
 * record's bits.
 *
 * Left out: values; only lengths and selectors are read. */
#include "layout/layout_program.h"

/* Ends decoding with failure `why`. Sets run->member to the member that the step decodes. */
static uint32_t stop_with_status(const struct step *step, struct layout_cursor *run,
                                 enum layout_status *end, enum layout_status why)
{
    run->member = step->member;
    *end = why;
    return STEP_STOPS;
}

static uint32_t count_empty_elements(const struct step *step, struct layout_cursor *run, uint64_t n,
                                     enum layout_status *end)
{
    if (n > LAYOUT_EMPTY_ELEMENTS_MAX - run->spins) {
        run->value = n;
        return stop_with_status(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    run->spins += (uint32_t)n;
    return 0;
}

static uint64_t align_up(uint64_t at, uint64_t mask)
{
    return (at + mask) & ~mask;
}

/* Moves the read position to bit offset `to`. Fails if the record ends before it. */
static uint32_t move_position(const struct step *step, struct layout_cursor *run, uint64_t to,
                              enum layout_status *end)
{
    if (to < run->bits.at || to > run->bits.end)
        return stop_with_status(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at = to;
    return 0;
}

/* Skips an array of `count` elements of fixed size. */
static uint32_t skip_elements(const struct step *step, struct layout_cursor *run, uint64_t count,
                              enum layout_status *end)
{
    uint64_t at = run->bits.at;
    if (UNLIKELY(count > UINT32_MAX)) {
        run->value = count;
        return stop_with_status(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    if (count == 0)
        return 0;
    /* The product cannot overflow: count is below 2^32, amount below 2^31. */
    at = align_up(at, (UINT64_C(1) << step->align) - 1);
    if (at > run->bits.end || count * step->amount - step->width > run->bits.end - at)
        return stop_with_status(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at = at + (count * step->amount - step->width);
    return 0;
}

static uint32_t check_byte_order(const struct step *step, struct layout_cursor *run,
                                 enum layout_status *end)
{
    bool is_inside = run->bits.at & 7;
    if (is_inside &&
        (step->order == ORDER_BYTES || (run->order != ORDER_ANY && run->order != step->order)))
        return stop_with_status(step, run, end, LAYOUT_MISALIGNED);
    run->order = step->order;
    return 0;
}

static uint32_t skip_text(const struct step *step, struct layout_cursor *run, unsigned unit,
                          enum layout_status *end)
{
    const uint8_t *p = run->bits.base + (run->bits.at >> 3),
                  *limit = run->bits.base + (run->bits.end >> 3);
    size_t n = p <= limit ? layout_count_wide_bytes(p, limit, unit) : SIZE_MAX;
    if (n == SIZE_MAX)
        return stop_with_status(step, run, end, LAYOUT_TRUNCATED);
    run->bits.at += ((uint64_t)n + unit) * 8;
    return 0;
}

static uint32_t skip_leb128(const struct step *step, struct layout_cursor *run,
                            enum layout_status *end)
{
    const uint8_t *p = run->bits.base + (run->bits.at >> 3),
                  *limit = run->bits.base + (run->bits.end >> 3);
    size_t n = p < limit ? layout_count_leb_bytes(p, limit) : 0;
    if (n == 0)
        return stop_with_status(step, run, end, LAYOUT_TRUNCATED);
    if (step->code == STEP_LEB_SAVE) {
        if (!layout_decode_leb(p, n, step->type->kind == TYPE_VAR_INT, &run->slots[step->slot]))
            return stop_with_status(step, run, end, LAYOUT_OUT_OF_RANGE);
        if (step->flags & STEP_MAY_BE_ABSENT)
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
        return stop_with_status(step, run, end, LAYOUT_OUT_OF_RANGE);
    }
    if (count == 0)
        return step->jump;
    loops->left[loops->depth] = count;
    loops->began[loops->depth++] = run->bits.at;
    return 0;
}

static uint32_t next_loop_element(const struct step *step, struct layout_cursor *run,
                                  struct layout_loops *loops, enum layout_status *end)
{
    uint32_t top = loops->depth - 1;
    if (run->bits.at == loops->began[top] && count_empty_elements(step, run, 1, end) == STEP_STOPS)
        return STEP_STOPS;
    loops->began[top] = run->bits.at;
    if (--loops->left[top] > 0)
        return step->jump;
    loops->depth = top;
    return 0;
}

static uint32_t skip_to_unit(const struct step *step, struct layout_cursor *run,
                             enum layout_status *end)
{
    uint64_t used = run->bits.at % step->amount;
    bool crosses = used != 0 && step->width > step->amount - used;
    return crosses ? move_position(step, run, run->bits.at + (step->amount - used), end) : 0;
}

static uint32_t choose_option(const struct step *step, struct layout_cursor *run,
                              enum layout_status *end)
{
    uint64_t selector = run->slots[step->slot];
    if (!step->table) /* without ranges the selector of an optional is a boolean */
        return selector ? 0 : step->jump;
    uint32_t index = lookup_find(step->table, selector);
    if (step->code == STEP_IF)
        return index == LOOKUP_NONE ? step->jump : 0;
    if (index == LOOKUP_NONE) {
        run->value = selector;
        return stop_with_status(step, run, end, LAYOUT_NO_OPTION);
    }
    return index;
}

static void save_number(const struct step *step, struct layout_cursor *run)
{
    run->slots[step->slot] =
        step_load(step, run->bits.base, run->bits.at - step->width, run->bits.end);
    if (step->flags & STEP_MAY_BE_ABSENT)
        run->absent &= ~(UINT32_C(1) << step->slot);
}

uint32_t layout_run_silent_step(const struct step *step, struct layout_cursor *run,
                                struct layout_loops *loops, enum layout_status *end)
{
    switch (step->code) {
    case STEP_ALIGN:
        return move_position(step, run, align_up(run->bits.at, step->amount), end);
    case STEP_UNIT:
        return skip_to_unit(step, run, end);
    case STEP_CHECK_ORDER:
        return check_byte_order(step, run, end);
    case STEP_SET_ORDER:
        run->order = step->order;
        return 0;
    case STEP_SAVE:
        save_number(step, run);
        return 0;
    case STEP_STRING8:
        return skip_text(step, run, 1, end);
    case STEP_STRING16:
        return skip_text(step, run, 2, end);
    case STEP_STRING32:
        return skip_text(step, run, 4, end);
    case STEP_SKIP_ELEMENTS:
        return skip_elements(step, run, step_count(step, run), end);
    case STEP_LEB:
    case STEP_LEB_SAVE:
        return skip_leb128(step, run, end);
    case STEP_REQUIRE_NUMBER:
        return run->absent >> step->slot & 1
                   ? stop_with_status(step, run, end, LAYOUT_NUMBER_ABSENT)
                   : 0;
    case STEP_CHECK_UNITS:
        run->has_cut_text |= run->slots[step->slot] % step->amount != 0;
        return 0;
    case STEP_COUNT_EMPTY: {
        uint64_t count = step_count(step, run), each = step->amount;
        return count_empty_elements(step, run,
                                    count > LAYOUT_EMPTY_ELEMENTS_MAX ? count : count * each, end);
    }
    case STEP_LOOP:
        return begin_loop(step, run, loops, end);
    case STEP_LOOP_NEXT:
        return next_loop_element(step, run, loops, end);
    case STEP_IF:
    case STEP_CHOOSE:
        return choose_option(step, run, end);
    case STEP_JUMP:
        return step->jump;
    default:
        return 0;
    }
}

static enum layout_status end_with_truncation(struct layout_cursor *run, const struct step *step,
                                              uint64_t at)
{
    run->bits.at = at;
    run->member = step->member;
    return LAYOUT_TRUNCATED;
}

static __attribute__((noinline)) enum layout_status run_size_program(const struct layout *layout,
                                                                     struct layout_cursor *run)
{
    const struct step *step = layout->size_program;
    const uint8_t *base = run->bits.base;
    uint64_t at = align_up(run->bits.at, layout->start_mask), end = run->bits.end;
    struct layout_loops loops;
    enum layout_status why;
    loops.depth = 0;
    run->absent = layout->absent;
    run->spins = 0;
    run->order = ORDER_ANY;
    if (UNLIKELY(at > end))
        return end_with_truncation(run, step, run->bits.at);
    for (;; step++) {
        if (UNLIKELY(step->advance > end - at))
            return end_with_truncation(run, step, at);
        at += step->advance;
        if (LIKELY(step->code == STEP_END)) {
            run->bits.at = at;
            return LAYOUT_OK;
        }
        if (step->code == STEP_STRING8) {
            const uint8_t *zero = find_zero(base, base + (at >> 3), base + (end >> 3));
            if (UNLIKELY(!zero))
                return end_with_truncation(run, step, at);
            at = ((uint64_t)(zero - base) + 1) << 3;
        } else if (step->code == STEP_COUNTED) {
            uint64_t count =
                load_whole_number((enum load)step->load, base + ((at - step->jump) >> 3));
            run->slots[step->slot] = count;
            run->bits.at = at;
            if (UNLIKELY(skip_elements(step, run, count, &why) == STEP_STOPS))
                return why;
            at = run->bits.at;
        } else {
            run->bits.at = at;
            uint32_t next = layout_run_silent_step(step, run, &loops, &why);
            if (UNLIKELY(next == STEP_STOPS))
                return why;
            step = next ? layout->size_program + next - 1 : step;
            at = run->bits.at;
        }
    }
}

enum layout_status layout_find_record_end(const struct layout *layout, struct layout_cursor *run)
{
    uint64_t at = align_up(run->bits.at, layout->start_mask), end = run->bits.end,
             bits = layout->size_program->advance;
    if (layout->size_program->code != STEP_END || at > end || bits > end - at)
        return run_size_program(layout, run);
    run->bits.at = at + bits;
    return LAYOUT_OK;
}
