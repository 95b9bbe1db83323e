/* The fast path for fields: decodes a whole record into fields that stay in memory from one event
 * of a class to the next, so that only values are written.
 *
 * Order of calls: straight_of compiles, beside each step of a walk, a step of the fast path.  For
 * each event layout_fields_hold (or layout_decode_complete) copies the prepared fields if they are
 * not in memory yet, and calls the first step.  Each step writes a value and calls the next one.
 *
 *     walk:   GIVE_NUMBER   GIVE_STRING8   GIVE_NUMBER   STEP_END
 *     fast:   hold_u32le -> hold_string -> hold_u16le -> hold_end
 *     bytes:  |<-- reach -->|  text..0     |<- reach -->|
 *
 * Algorithm: threaded code.  Steps are functions that call their successor in tail position, so all
 * state is in registers.  If events of many classes come in random order, a processor does not
 * predict one shared jump from step to step, but it does predict many separate ones.  If a compiler
 * does not turn these calls into jumps, their depth is the number of fields, which is limited.
 *
 * Invariants: `p` is the byte at which the last step of variable size ended.  After each such step
 * one check covers all bytes up to the next one (`reach`), so fixed fields need no check.  All
 * fields up to the next array are prepared; an array whose number of elements differs from the
 * event before prepares its elements and the fields after them.
 *
 * Left out: bit fields, LEB128 numbers, loops and choices.  At such a step, at the end of a cut
 * record, or if an array does not fit, the walk continues one field at a time
 * (layout_field_iter.c). */
#include "layout/layout_program.h"

_Static_assert(STRAIGHT_F32BE - STRAIGHT_NUMBER == GIVE_F32BE - GIVE_NUMBER,
               "numbers in the order of their steps");

/* --- Elements of arrays --- */

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
        uint64_t number = load_whole_number(filling.load, p);
        if (!filling.is_prepared)
            step_copy_field(&field[i], &model);
        field[i].value.v.u =
            filling.is_single ? bits_of_double(load_float32((uint32_t)number)) : number;
    }
}

/* long: one case per load */
static inline __attribute__((always_inline)) void write_elements(const struct op *op,
                                                                 const uint8_t *p, ttr_field *field,
                                                                 uint32_t n, bool is_prepared)
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

/* Writes elements of an array whose bits are known to be there; `op` is the first of its two steps.
 */
static APART void give_elements(const struct op *op, const uint8_t *p, ttr_field *field, uint32_t n)
{
    write_elements(op, p, field, n, false);
}

/* The same into fields that are elements of this array already. */
static APART void set_elements(const struct op *op, const uint8_t *p, ttr_field *field, uint32_t n)
{
    write_elements(op, p, field, n, true);
}

/* The event that is decoded. */
struct holding {
    ttr_fields *fields;
    struct field_cache *held;
    const uint8_t *base, *end; /* its payload */
    struct arena *scratch;
    bool is_whole; /* the record must end at `end`; otherwise nothing is returned */
};

#define NEXT(step, p, to) ((step) + 1)->hold((step) + 1, p, to, holding)

/* Copies the fields of steps, from one on, up to the next array, whose elements are prepared when
 * their number is known. */
static APART void prepare(const struct straight_step *step, ttr_field *to)
{
    for (; step->code != STRAIGHT_END && step->code != STRAIGHT_OTHER; step++, to++) {
        step_copy_field(to, &step->op->field);
        if (step->code != STRAIGHT_ELEMENTS)
            continue;
        to->value.count = UINT32_MAX; /* no array of this many elements fits */
        return;
    }
}

/* Ends the fast path before `op`.  The walk continues there, and returns the other fields. */
static APART uint32_t stop(const struct op *op, const uint8_t *p, const ttr_field *to,
                           const struct holding *holding)
{
    ttr_fields *fields = holding->fields;
    struct layout_iter *walk = (struct layout_iter *)fields->state;
    const struct layout_schema *schema = fields->ctx;
    if (holding->is_whole)
        return 0;
    const struct bits bits = bits_init(holding->base, (uint64_t)(p - holding->base) << 3,
                                       (uint64_t)(holding->end - holding->base) << 3);
    layout_iter_begin(walk, schema->layout, &bits, schema->scratch);
    walk->run.bits.at = bits.at;
    walk->op = op - 1;
    return (uint32_t)(to - holding->held->field);
}

/* After a step of variable size. */
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
HOLD_NUMBER(f32le, bits_of_double(load_float32(load_u32le(at))))
HOLD_NUMBER(f32be, bits_of_double(load_float32(load_u32be(at))))

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
        (ttr_text){(const char *)at, (size_t)__builtin_ctz(zero_mask_16(at) | 1u << 16)};
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
    to->value.text = (ttr_text){(const char *)p + step->at, (size_t)step->op->step.count};
    return NEXT(step, p, to + 1);
}

/* What may change more than its value is prepared each time. */
static uint32_t hold_still(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                           struct holding *holding)
{
    const struct op *op = step->op;
    const struct value_place place = {.step = &op->step,
                                      .base = holding->base,
                                      .at = (uint64_t)(p + step->at - holding->base) << 3,
                                      .end = (uint64_t)(holding->end - holding->base) << 3,
                                      .scratch = holding->scratch};
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
    to->value.v.u = load_whole_number((enum load)op->step.load, p + step->at);
    value_enum(&(struct value_place){.step = &op->step}, &to->value);
    return UNLIKELY(to->value.count > 1) ? stop(op + 1, p, to + 1, holding) : NEXT(step, p, to + 1);
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

/* A text with only fixed fields after it: its zero is known from the end of a record that is
 * complete. */
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
    const uint64_t n = straight_count(op, step, at, (struct layout_iter *)holding->fields->state);
    if (UNLIKELY(n > (uint64_t)(holding->end - at)))
        return stop(op, p, to, holding);
    step_set_text(&to->value, holding->base, at, (size_t)n);
    return moved(step, at + n, to + 1, holding);
}

static uint32_t hold_string_wide(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                                 struct holding *holding)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const struct value_place place = {.step = &op->step,
                                      .base = holding->base,
                                      .at = (uint64_t)(at - holding->base) << 3,
                                      .end = (uint64_t)(holding->end - holding->base) << 3,
                                      .scratch = holding->scratch};
    step_copy_field(to, &op->field);
    const size_t n = value_wide_string(&place, &to->value);
    if (UNLIKELY(n == SIZE_MAX))
        return stop(op, p, to, holding);
    return moved(step, at + n + op->step.width, to + 1, holding);
}

/* If the number of elements changed, all fields from the first element on move. */
static uint32_t hold_elements(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                              struct holding *holding)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const uint64_t n = straight_count(op, step, at, (struct layout_iter *)holding->fields->state);
    const uint64_t room = (uint64_t)(holding->held->field + holding->held->n - to) - step->fields;
    const uint64_t bytes = n ? (n * op->step.amount - op->step.width) >> 3 : 0;
    holding->held->is_full |= n >= room;
    if (UNLIKELY(n >= room || bytes > (uint64_t)(holding->end - at)))
        return stop(op, p, to, holding);
    if (LIKELY(n == to->value.count)) {
        set_elements(op + 1, at, to + 1, (uint32_t)n);
    } else {
        to->value.count = (uint32_t)n;
        give_elements(op + 1, at, to + 1, (uint32_t)n);
        prepare(step + 3, to + 1 + n);
    }
    return moved(step + 2, at + bytes, to + 1 + n, holding);
}

/* --- Others --- */

static uint32_t hold_end(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                         struct holding *holding)
{
    if (holding->is_whole && UNLIKELY(p + step->at != holding->end))
        return 0;
    holding->fields->ops = NULL;
    return (uint32_t)(to - holding->held->field);
}

static uint32_t hold_other(const struct straight_step *step, const uint8_t *p, ttr_field *to,
                           struct holding *holding)
{
    return stop(step->op, p, to, holding);
}

/* Returns the function for steps of this code. */
static hold_step *hold_step_of(enum straight_code code)
{
    static hold_step *const steps[] = {
        [STRAIGHT_END] = hold_end,
        [STRAIGHT_OTHER] = hold_other,
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
        [STRAIGHT_STRING_WIDE] = hold_string_wide,
        [STRAIGHT_TEXT_TAKEN] = hold_text_taken,
        [STRAIGHT_ELEMENTS] = hold_elements,
    };
    return steps[code];
}

/* --- Compiling --- */

/* The code of a step that stands still; STRAIGHT_OTHER where it cannot be taken. */
static enum straight_code still_code(const struct step *step)
{
    if (step->code >= GIVE_NUMBER && step->code <= GIVE_F32BE &&
        step->code != GIVE_NUMBER + LOAD_BITS)
        return (enum straight_code)(STRAIGHT_NUMBER + (step->code - GIVE_NUMBER));
    switch (step->code) {
    case GIVE_AS_IT_IS:
        return STRAIGHT_AS_IT_IS;
    case GIVE_ENUM:
        return step->load == LOAD_BITS ? STRAIGHT_OTHER : STRAIGHT_ENUM;
    case GIVE_BLOB:
        return STRAIGHT_BLOB;
    case GIVE_BOOL:
    case GIVE_TEXT_WIDE:
        return STRAIGHT_STILL;
    case GIVE_TEXT:
        return step->count == 16 ? STRAIGHT_TEXT16 : STRAIGHT_TEXT;
    default:
        return STRAIGHT_OTHER;
    }
}

/* The same of any step. */
static enum straight_code code_of(const struct op *op)
{
    const struct step *step = &op->step;
    const bool is_counted = (step->flags & (STEP_FIXED | STEP_LOADS)) != 0;
    if (step->advance % 8)
        return STRAIGHT_OTHER;
    switch (step->code) {
    case STEP_END:
        return STRAIGHT_END;
    case GIVE_STRING8:
        return STRAIGHT_STRING;
    case GIVE_STRING_WIDE:
        return STRAIGHT_STRING_WIDE;
    case GIVE_TEXT_TAKEN:
        return is_counted ? STRAIGHT_TEXT_TAKEN : STRAIGHT_OTHER;
    case GIVE_ELEMENTS:
        return is_counted && step->align <= 3 ? STRAIGHT_ELEMENTS : STRAIGHT_OTHER;
    default:
        return still_code(step);
    }
}

/* What stands behind a step while they are gone through from the last one on. */
struct behind {
    uint64_t reach;  /* bytes that must be there from the last moving step before it on */
    uint32_t fields; /* up to the end of the straight part, elements not counted */
    bool is_still;   /* nothing moves any more before the record ends */
};

static void look_at(const struct op *op, struct straight_step *to, struct behind *behind)
{
    const struct step *step = &op->step;
    const uint64_t advance = step->advance >> 3;
    const enum straight_code code = code_of(op);
    *to = (struct straight_step){.hold = hold_step_of(code),
                                 .op = op,
                                 .code = (uint8_t)code,
                                 .load = step->load,
                                 .back = (uint8_t)(step->jump >> 3),
                                 .slot = step->slot,
                                 .at = (uint32_t)advance,
                                 .reach = (uint32_t)behind->reach,
                                 .fields = (uint16_t)behind->fields};
    if (advance > STRAIGHT_BYTES || behind->reach > STRAIGHT_BYTES ||
        behind->fields > STRAIGHT_FIELDS || code == STRAIGHT_OTHER) {
        to->code = STRAIGHT_OTHER, to->hold = hold_step_of(STRAIGHT_OTHER);
        *behind = (struct behind){.reach = 0};
    } else if (code == STRAIGHT_END) {
        *behind = (struct behind){.reach = advance, .is_still = true};
    } else if (code < STRAIGHT_STRING) {
        const uint64_t amount = step->amount >> 3;
        behind->reach = amount > behind->reach ? amount : behind->reach;
        behind->fields++;
    } else {
        if (code == STRAIGHT_STRING && behind->is_still)
            to->code = STRAIGHT_LAST_STRING, to->hold = hold_step_of(STRAIGHT_LAST_STRING);
        *behind = (struct behind){.reach = advance, .fields = behind->fields + 1};
    }
}

struct straight *straight_of(struct arena *arena, const struct op *ops, size_t n)
{
    struct straight *straight = arena_alloc(arena, sizeof *straight + n * sizeof *straight->step);
    struct behind behind = {.reach = 0};
    if (!straight)
        return NULL;
    for (size_t i = n; i-- > 1;) {
        const bool is_element = ops[i].step.code >= GIVE_ELEMENT && ops[i].step.code < GIVE_NOTHING;
        straight->step[i] = (struct straight_step){.op = &ops[i], .reach = (uint32_t)behind.reach};
        if (!is_element)
            look_at(&ops[i], &straight->step[i], &behind);
    }
    straight->ops = ops;
    straight->reach = (uint32_t)behind.reach;
    straight->fields = behind.fields;
    return straight;
}

/* --- Decoding --- */

/* Decodes the record that begins at `begin`. */
static inline uint32_t hold_record(const struct straight *straight, const uint8_t *begin,
                                   struct holding *holding)
{
    struct field_cache *held = holding->held;
    if (UNLIKELY((uint64_t)(holding->end - begin) < straight->reach))
        return 0;
    if (UNLIKELY(!held->is_prepared)) {
        held->is_full |= held->n < straight->fields;
        if (held->n < straight->fields)
            return 0;
        prepare(&straight->step[1], held->field);
        held->is_prepared = true;
    }
    return straight->step[1].hold(&straight->step[1], begin, held->field, holding);
}

uint32_t layout_fields_hold(ttr_fields *fields, struct field_cache *held)
{
    const struct straight *straight = ((const struct layout_iter *)fields->state)->straight;
    const struct layout_schema *schema = fields->ctx;
    const ttr_event *event = fields->event;
    const uint8_t *begin = straight_begin(fields);
    struct holding holding = {.fields = fields,
                              .held = held,
                              .base = event->payload,
                              .end = event->payload + event->payload_size,
                              .scratch = schema->scratch};
    if (UNLIKELY(!begin || event->flags & TTR_EVENT_PARTIAL))
        return 0;
    return hold_record(straight, begin, &holding);
}

uint32_t layout_decode_complete(const struct layout *layout, struct arena *scratch,
                                ttr_fields *fields, struct field_cache *held)
{
    const ttr_event *event = fields->event;
    struct holding holding = {.fields = fields,
                              .held = held,
                              .base = event->payload,
                              .end = event->payload + event->payload_size,
                              .scratch = scratch,
                              .is_whole = true};
    return layout->straight ? hold_record(layout->straight, event->payload, &holding) : 0;
}
