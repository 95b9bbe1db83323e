/* Giving many fields at once.
 *
 * What records are mostly made of stays in one loop: plain numbers, texts, names of numbers, arrays
 * of numbers, the end.  Everything else is given as one by one (layout_field_iter.c).  Most records
 * that lie in their event's payload are over before: layout_decode_fast.c. */
#include "layout/layout_program.h"

/* Where a walk is, in registers. */
struct taking {
    struct layout_walk *walk;
    const uint8_t *base;
    uint64_t end;
};

/* How elements are loaded, and whether their fields are elements of this array already. */
struct filling {
    enum load load;
    bool is_single, is_prepared;
};

/* Fills `n` fields with the numbers that lie every amount of bits of the step from p on. */
static inline __attribute__((always_inline)) void fill_elements(ttr_field *field,
                                                                const struct op *op,
                                                                const uint8_t *p, uint32_t n,
                                                                struct filling filling)
{
    const uint64_t stride = op->step.amount >> 3;
    const ttr_field model = op->field;
    for (uint32_t i = 0; i < n; i++, p += stride) {
        uint64_t number = load_plain(filling.load, p);
        if (!filling.is_prepared)
            step_copy_field(&field[i], &model);
        field[i].value.v.u =
            filling.is_single ? bits_of_double(load_single((uint32_t)number)) : number;
    }
}

/* long: one case per load */
static inline __attribute__((always_inline)) void elements(const struct op *op, const uint8_t *p,
                                                           ttr_field *field, uint32_t n,
                                                           bool is_prepared)
{
    switch (op->step.code) {
    case GIVE_ELEMENT + LOAD_U8:
        fill_elements(field, op, p, n, (struct filling){LOAD_U8, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U16LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U16LE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U32LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U32LE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U64LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U64LE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U16BE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U16BE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U32BE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U32BE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_U64BE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U64BE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_S8:
        fill_elements(field, op, p, n, (struct filling){LOAD_S8, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_S16LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_S16LE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_S32LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_S32LE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_S16BE:
        fill_elements(field, op, p, n, (struct filling){LOAD_S16BE, false, is_prepared});
        break;
    case GIVE_ELEMENT + LOAD_S32BE:
        fill_elements(field, op, p, n, (struct filling){LOAD_S32BE, false, is_prepared});
        break;
    case GIVE_ELEMENT_F32LE:
        fill_elements(field, op, p, n, (struct filling){LOAD_U32LE, true, is_prepared});
        break;
    default:
        fill_elements(field, op, p, n, (struct filling){LOAD_U32BE, true, is_prepared});
        break;
    }
}

void layout_give_elements(const struct op *op, const uint8_t *p, ttr_field *field, uint32_t n)
{
    elements(op, p, field, n, false);
}

void layout_set_elements(const struct op *op, const uint8_t *p, ttr_field *field, uint32_t n)
{
    elements(op, p, field, n, true);
}

/* Goes on with the elements of an array that there was no room for. */
static APART uint32_t take_elements(struct layout_walk *walk, const struct op *op, ttr_field *field,
                                    uint32_t room)
{
    uint64_t *elements_left = &walk->loops.left[walk->loops.depth - 1], at = walk->run.bits.at;
    uint32_t n = *elements_left < room ? (uint32_t)*elements_left : room;
    *elements_left -= n;
    walk->run.bits.at = at + n * op->step.amount;
    layout_give_elements(op, walk->run.bits.base + (at >> 3), field, n);
    return n;
}

/* An array and all its elements, where there is room for them and they are there: how many fields,
 * 0 = look at it slowly.  The walk goes on behind the array's three steps. */
static inline uint32_t take_array(const struct taking *taking, const struct op *op, uint64_t *place,
                                  ttr_field *field, uint32_t room)
{
    const struct step *step = &op->step;
    const uint64_t mask = (UINT64_C(1) << step->align) - 1;
    uint64_t at = *place;
    if (UNLIKELY(step->advance > taking->end - at))
        return 0;
    at += step->advance;
    if (step->flags & STEP_LOADS)
        taking->walk->run.slots[step->slot] =
            load_plain((enum load)step->load, taking->base + ((at - step->jump) >> 3));
    const uint64_t count = step_count(step, &taking->walk->run);
    if (UNLIKELY(count >= room))
        return 0;
    if (count) {
        at = (at + mask) & ~mask;
        if (UNLIKELY(at > taking->end || count * step->amount - step->width > taking->end - at))
            return 0;
        layout_give_elements(op + 1, taking->base + (at >> 3), field + 1, (uint32_t)count);
        at += count * step->amount - step->width;
    }
    step_copy_field(field, &op->field);
    field->value.count = (uint32_t)count;
    *place = at;
    return (uint32_t)count + 1;
}

/* Loads the number of a step that stands still; false where it gives something else. */
/* long: one case per load */
static inline bool load_still(const struct op *op, const uint8_t *base, uint64_t at,
                              uint64_t *number)
{
    const uint64_t place = (at + op->step.advance) >> 3;
    switch (op->step.code) {
    case GIVE_NUMBER + LOAD_U8:
        *number = base[place];
        return true;
    case GIVE_NUMBER + LOAD_U16LE:
        *number = load_u16le(base + place);
        return true;
    case GIVE_NUMBER + LOAD_U32LE:
        *number = load_u32le(base + place);
        return true;
    case GIVE_NUMBER + LOAD_U64LE:
        *number = load_u64le(base + place);
        return true;
    case GIVE_NUMBER + LOAD_U16BE:
        *number = load_u16be(base + place);
        return true;
    case GIVE_NUMBER + LOAD_U32BE:
        *number = load_u32be(base + place);
        return true;
    case GIVE_NUMBER + LOAD_U64BE:
        *number = load_u64be(base + place);
        return true;
    case GIVE_NUMBER + LOAD_S8:
        *number = (uint64_t)(int8_t)base[place];
        return true;
    case GIVE_NUMBER + LOAD_S16LE:
        *number = (uint64_t)(int16_t)load_u16le(base + place);
        return true;
    case GIVE_NUMBER + LOAD_S32LE:
        *number = (uint64_t)(int32_t)load_u32le(base + place);
        return true;
    case GIVE_NUMBER + LOAD_S16BE:
        *number = (uint64_t)(int16_t)load_u16be(base + place);
        return true;
    case GIVE_NUMBER + LOAD_S32BE:
        *number = (uint64_t)(int32_t)load_u32be(base + place);
        return true;
    case GIVE_F32LE:
        *number = bits_of_double(load_single(load_u32le(base + place)));
        return true;
    case GIVE_F32BE:
        *number = bits_of_double(load_single(load_u32be(base + place)));
        return true;
    case GIVE_AS_IT_IS:
        *number = 0;
        return true;
    default:
        return false;
    }
}

static inline bool is_last_of_call(const ttr_value *value)
{
    return UNLIKELY(value->count > 1) &&
           (value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS);
}

/* A zero-terminated text at a byte; gives where the walk goes on, 0 where it has no end. */
static inline uint64_t take_string8(const struct taking *taking, const struct op *op,
                                    ttr_field *field, uint64_t at)
{
    const uint8_t *base = taking->base, *p = base + (at >> 3),
                  *zero = find_zero(base, p, base + (taking->end >> 3));
    step_copy_field(field, &op->field);
    if (UNLIKELY(!zero))
        return 0;
    field->value.text.p = (const char *)p;
    field->value.text.n = (size_t)(zero - p);
    return ((uint64_t)(zero - base) + 1) << 3;
}

/* A text of fixed size, which stands still. */
static inline uint64_t take_text(const struct taking *taking, const struct op *op, ttr_field *field,
                                 uint64_t at)
{
    step_copy_field(field, &op->field);
    step_set_text(&field->value, taking->base, taking->base + ((at + op->step.advance) >> 3),
                  (size_t)op->step.count);
    return at;
}

/* A text as long as a number says; gives where the walk goes on, 0 = look at it slowly. */
static inline uint64_t take_text_taken(const struct taking *taking, const struct op *op,
                                       ttr_field *field, uint64_t at)
{
    const struct step *step = &op->step;
    if (step->flags & STEP_LOADS)
        taking->walk->run.slots[step->slot] =
            load_plain((enum load)step->load, taking->base + ((at - step->jump) >> 3));
    const uint64_t count = step_count(step, &taking->walk->run);
    if (UNLIKELY(count > (taking->end - at) >> 3))
        return 0;
    step_copy_field(field, &op->field);
    step_set_text(&field->value, taking->base, taking->base + (at >> 3), (size_t)count);
    return at + (count << 3);
}

/* A number with names, which stands still. */
static inline uint64_t take_enum(const struct taking *taking, const struct op *op, ttr_field *field,
                                 uint64_t at)
{
    const struct value_place place = {
        .step = &op->step, .base = taking->base, .at = at + op->step.advance, .end = taking->end};
    step_copy_field(field, &op->field);
    field->value.v.u = step_load(&op->step, place.base, place.at, place.end);
    value_enum(&place, &field->value);
    return at;
}

/* Text and the like; gives where the walk goes on, 0 where it is something else. */
static inline uint64_t take_text_or_name(const struct taking *taking, const struct op *op,
                                         ttr_field *field, uint64_t at)
{
    const struct step *step = &op->step;
    const uint64_t left = taking->end - at;
    switch (step->code) {
    case GIVE_STRING8:
        return step->advance <= left ? take_string8(taking, op, field, at + step->advance) : 0;
    case GIVE_TEXT:
        return step->amount <= left ? take_text(taking, op, field, at) : 0;
    case GIVE_TEXT_TAKEN:
        return step->advance <= left ? take_text_taken(taking, op, field, at + step->advance) : 0;
    case GIVE_ENUM:
        return step->amount <= left ? take_enum(taking, op, field, at) : 0;
    default:
        return 0;
    }
}

/* Makes a walk that stands before `op` what layout_walk_next goes on with. */
static inline void settle(const struct taking *taking, const struct op *op, uint64_t at)
{
    struct layout_walk *walk = taking->walk;
    walk->run.bits.at = at;
    walk->op = op - 1;
}

/* Behind the last step: ends the walk well where what is passed over is there. */
static inline bool is_end(const struct taking *taking, const struct op *op, uint64_t at)
{
    if (op->step.code != STEP_END || op->step.advance > taking->end - at)
        return false;
    taking->walk->run.bits.at = at + op->step.advance;
    taking->walk->end = LAYOUT_FINE;
    taking->walk->op = layout_walk_over;
    return true;
}

/* Whether an array's elements are under way, at its second or third step. */
static inline bool is_among_elements(const struct taking *taking, const struct op *op)
{
    const struct layout_walk *walk = taking->walk;
    return op->step.code >= GIVE_ELEMENT && op->step.code < GIVE_NOTHING &&
           walk->loops.left[walk->loops.depth - 1];
}

uint32_t layout_walk_take(struct layout_walk *walk, ttr_field *field, uint32_t room)
{
    const struct taking taking = {
        .walk = walk, .base = walk->run.bits.base, .end = walk->run.bits.end};
    const struct op *op = walk->op + 1;
    uint64_t at = walk->run.bits.at;
    ttr_field *to = field, *const stop = field + room;
    uint64_t number;
    while (to < stop) {
        if (LIKELY(op->step.amount <= taking.end - at) &&
            load_still(op, taking.base, at, &number)) {
            step_copy_field(to, &op->field);
            to++->value.v.u = number;
            op++;
            continue;
        }
        uint64_t behind = take_text_or_name(&taking, op, to, at);
        if (behind) {
            at = behind;
            op++;
            if (is_last_of_call(&to++->value))
                break;
            continue;
        }
        if (is_end(&taking, op, at))
            return (uint32_t)(to - field);
        uint32_t n = op->step.code == GIVE_ELEMENTS
                         ? take_array(&taking, op, &at, to, (uint32_t)(stop - to))
                         : 0;
        if (n) {
            to += n;
            op += 3;
            continue;
        }
        settle(&taking, op, at);
        if (is_among_elements(&taking, op)) {
            op -= op->step.jump;
            to += take_elements(walk, op++, to, (uint32_t)(stop - to));
        } else if (layout_walk_go(walk, to)) {
            op = walk->op + 1;
            if (is_last_of_call(&to++->value))
                return (uint32_t)(to - field);
        } else {
            return (uint32_t)(to - field);
        }
        at = walk->run.bits.at;
    }
    settle(&taking, op, at);
    return (uint32_t)(to - field);
}

uint32_t layout_fields_take_on(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    struct layout_walk *walk = (struct layout_walk *)fields->state;
    if (walk->unbegun)
        layout_begin_event(fields, walk);
    uint32_t n = layout_walk_take(walk, field, room);
    if (walk->op == layout_walk_over)
        fields->ops = NULL;
    return n;
}
