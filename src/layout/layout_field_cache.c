/* Fields that are held from one event of a class to the next: what each step prepared stands there
 * still, only values are written.
 *
 * Steps follow one another by calls in tail position, with nothing between them and all they need
 * in registers: of events of many classes in random order no processor guesses a common jump from
 * step to step, but many of these.  Where a compiler makes no jumps of such calls, they are as deep
 * as an event has fields, of which only so many are held.  Whatever is not as the steps need it is
 * left to layout_decode_fast.c. */
#include "layout/layout_program.h"

/* An event whose fields are being held. */
struct holding {
    ttr_fields *fields;
    struct held_fields *held;
    const uint8_t *base, *end;
};

#define NEXT(step, p, to) ((step) + 1)->hold((step) + 1, p, to, holding)

static inline struct straight_way way_of(const struct op *op, const uint8_t *p, ttr_field *to,
                                         const struct holding *holding)
{
    return (struct straight_way){.op = op,
                                 .p = p,
                                 .first = holding->held->field,
                                 .to = to,
                                 .stop = holding->held->field + holding->held->n};
}

static APART uint32_t stop(const struct op *op, const uint8_t *p, ttr_field *to,
                           const struct holding *holding)
{
    const struct straight_way way = way_of(op, p, to, holding);
    return layout_hold_stop(holding->fields, holding->held, &way, false);
}

static APART uint32_t hold_on(const struct op *op, const uint8_t *p, ttr_field *to,
                              const struct holding *holding)
{
    const struct straight_way way = way_of(op, p, to, holding);
    return layout_hold_on(holding->fields, holding->held, &way);
}

/* Behind a step that moves. */
static inline __attribute__((always_inline)) uint32_t moved(const struct straight_step *step,
                                                            const uint8_t *p, ttr_field *to,
                                                            struct holding *holding)
{
    if (UNLIKELY((uint64_t)(holding->end - p) < step->reach))
        return stop(step->op + 1, p, to, holding);
    return NEXT(step, p, to);
}

/* --- Steps that stand still --- */

#define HOLD_NUMBER(name, load)                                                                    \
    static uint32_t hold_##name(const struct straight_step *step, const uint8_t *p, ttr_field *to, \
                                struct holding *holding)                                           \
    {                                                                                              \
        const uint8_t *at = p + step->at;                                                          \
        to->value.v.u = (load);                                                                    \
        return NEXT(step, p, to + 1);                                                              \
    }

HOLD_NUMBER(u8, *at)
HOLD_NUMBER(u16le, load_u16le(at))
HOLD_NUMBER(u32le, load_u32le(at))
HOLD_NUMBER(u64le, load_u64le(at))
HOLD_NUMBER(u16be, load_u16be(at))
HOLD_NUMBER(u32be, load_u32be(at))
HOLD_NUMBER(u64be, load_u64be(at))
HOLD_NUMBER(s8, (uint64_t)(int8_t)*at)
HOLD_NUMBER(s16le, (uint64_t)(int16_t)load_u16le(at))
HOLD_NUMBER(s32le, (uint64_t)(int32_t)load_u32le(at))
HOLD_NUMBER(s16be, (uint64_t)(int16_t)load_u16be(at))
HOLD_NUMBER(s32be, (uint64_t)(int32_t)load_u32be(at))
HOLD_NUMBER(f32le, bits_of_double(load_single(load_u32le(at))))
HOLD_NUMBER(f32be, bits_of_double(load_single(load_u32be(at))))

static uint32_t hold_as_it_is(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                              struct holding *holding)
{
    return NEXT(step, p, to + 1);
}

static uint32_t hold_text16(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                            struct holding *holding)
{
    const uint8_t *at = p + step->at;
    to->value.text =
        (ttr_text){(const char *)at, (size_t)__builtin_ctz(zeros_of_16(at) | 1u << 16)};
    return NEXT(step, p, to + 1);
}

static uint32_t hold_text(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                          struct holding *holding)
{
    step_set_text(&to->value, holding->base, p + step->at, (size_t)step->op->step.count);
    return NEXT(step, p, to + 1);
}

static uint32_t hold_blob(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                          struct holding *holding)
{
    to->value.text.p = (const char *)p + step->at;
    return NEXT(step, p, to + 1);
}

/* What may change more than its value is prepared each time. */
static uint32_t hold_still(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                           struct holding *holding)
{
    const struct op *op = step->op;
    const struct layout_schema *schema = holding->fields->own;
    const struct value_place place = {.step = &op->step,
                                      .base = holding->base,
                                      .at = (uint64_t)(p + step->at - holding->base) << 3,
                                      .end = (uint64_t)(holding->end - holding->base) << 3,
                                      .scratch = schema->scratch};
    step_copy_field(to, &op->field);
    value_still(&place, &to->value);
    return NEXT(step, p, to + 1);
}

/* One with several names is the last of its call. */
static uint32_t hold_enum(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                          struct holding *holding)
{
    const struct op *op = step->op;
    to->value = op->field.value;
    to->value.v.u = load_plain((enum load)op->step.load, p + step->at);
    value_enum(&(struct value_place){.step = &op->step}, &to->value);
    return UNLIKELY(to->value.count > 1) ? hold_on(op, p, to, holding) : NEXT(step, p, to + 1);
}

/* --- Steps that move --- */

static uint32_t hold_string(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                            struct holding *holding)
{
    const uint8_t *at = p + step->at, *zero = find_zero(holding->base, at, holding->end);
    if (UNLIKELY(!zero))
        return stop(step->op, p, to, holding);
    to->value.text = (ttr_text){(const char *)at, (size_t)(zero - at)};
    return moved(step, zero + 1, to + 1, holding);
}

static uint32_t hold_last_string(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                                 struct holding *holding)
{
    const uint8_t *at = p + step->at, *behind = holding->end - step->reach;
    if (UNLIKELY(behind <= at || behind[-1]))
        return stop(step->op, p, to, holding);
    to->value.text = (ttr_text){(const char *)at, (size_t)(behind - 1 - at)};
    return NEXT(step, behind, to + 1);
}

static uint32_t hold_text_taken(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                                struct holding *holding)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const uint64_t n = straight_count(op, step, at, (struct layout_walk *)holding->fields->state);
    if (UNLIKELY(n > (uint64_t)(holding->end - at)))
        return stop(op, p, to, holding);
    step_set_text(&to->value, holding->base, at, (size_t)n);
    return moved(step, at + n, to + 1, holding);
}

/* Elements that no field stands behind may be more or fewer than those before. */
static uint32_t hold_elements(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                              struct holding *holding)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const uint64_t n = straight_count(op, step, at, (struct layout_walk *)holding->fields->state);
    const uint64_t held = holding->held->prepared_n - (uint64_t)(to + 1 - holding->held->field);
    const uint64_t bytes = n ? (n * op->step.amount - op->step.width) >> 3 : 0;
    if (UNLIKELY(bytes > (uint64_t)(holding->end - at) || n > held ||
                 (n != to->value.count && step->fields)))
        return hold_on(op, p, to, holding);
    to->value.count = (uint32_t)n;
    layout_set_elements(op + 1, at, to + 1, (uint32_t)n);
    return moved(step + 2, at + bytes, to + 1 + n, holding);
}

/* --- Others --- */

static uint32_t hold_end(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                         struct holding *holding)
{
    (void)step, (void)p;
    holding->fields->ops = NULL;
    return (uint32_t)(to - holding->held->field);
}

/* Not that fast: as for an event without anything held. */
static uint32_t hold_slowly(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                            struct holding *holding)
{
    return hold_on(step->op, p, to, holding);
}

hold_step *layout_hold_step(enum straight_code code)
{
    static hold_step *const steps[] = {
        [STRAIGHT_END] = hold_end,
        [STRAIGHT_OTHER] = hold_slowly,
        [STRAIGHT_NUMBER + LOAD_U8] = hold_u8,
        [STRAIGHT_NUMBER + LOAD_U16LE] = hold_u16le,
        [STRAIGHT_NUMBER + LOAD_U32LE] = hold_u32le,
        [STRAIGHT_NUMBER + LOAD_U64LE] = hold_u64le,
        [STRAIGHT_NUMBER + LOAD_U16BE] = hold_u16be,
        [STRAIGHT_NUMBER + LOAD_U32BE] = hold_u32be,
        [STRAIGHT_NUMBER + LOAD_U64BE] = hold_u64be,
        [STRAIGHT_NUMBER + LOAD_S8] = hold_s8,
        [STRAIGHT_NUMBER + LOAD_S16LE] = hold_s16le,
        [STRAIGHT_NUMBER + LOAD_S32LE] = hold_s32le,
        [STRAIGHT_NUMBER + LOAD_S16BE] = hold_s16be,
        [STRAIGHT_NUMBER + LOAD_S32BE] = hold_s32be,
        [STRAIGHT_F32LE] = hold_f32le,
        [STRAIGHT_F32BE] = hold_f32be,
        [STRAIGHT_AS_IT_IS] = hold_as_it_is,
        [STRAIGHT_ENUM] = hold_enum,
        [STRAIGHT_TEXT] = hold_text,
        [STRAIGHT_TEXT16] = hold_text16,
        [STRAIGHT_BLOB] = hold_blob,
        [STRAIGHT_STILL] = hold_still,
        [STRAIGHT_STRING] = hold_string,
        [STRAIGHT_LAST_STRING] = hold_last_string,
        [STRAIGHT_STRING_WIDE] = hold_slowly,
        [STRAIGHT_TEXT_TAKEN] = hold_text_taken,
        [STRAIGHT_ELEMENTS] = hold_elements,
    };
    return steps[code];
}

uint32_t layout_fields_hold(ttr_fields *fields, struct held_fields *held)
{
    const struct straight *straight = ((const struct layout_walk *)fields->state)->straight;
    const ttr_event *event = fields->event;
    const uint8_t *begin = straight_begin(fields);
    struct holding holding = {.fields = fields,
                              .held = held,
                              .base = event->payload,
                              .end = event->payload + event->payload_size};
    if (UNLIKELY(!held->is_prepared || !begin || (uint64_t)(holding.end - begin) < straight->reach))
        return layout_hold_anew(fields, held);
    return straight->step[1].hold(&straight->step[1], begin, held->field, &holding);
}
