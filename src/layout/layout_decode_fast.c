/* Records taken straight through: whole bytes, no choices, and no loops but arrays of plain
 * numbers.
 *
 * Most records are such as a whole, many others up to some field.  Beside each step of the walk
 * stands what little of it is needed here: where a value lies, in bytes from where the last moving
 * step stopped, and behind each moving step how much must be there for all that comes up to the
 * next one, so that fields need no check of their own.  Where something is not as the straight way
 * needs it (the record is cut, there is no room, the next step is of another kind), the walk is
 * handed over as it stands, with what was given so far. */
#include "layout/layout_program.h"

_Static_assert(STRAIGHT_F32BE - STRAIGHT_NUMBER == GIVE_F32BE - GIVE_NUMBER,
               "numbers in the order of their steps");

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
    *to = (struct straight_step){.hold = layout_hold_step(code),
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
        to->code = STRAIGHT_OTHER, to->hold = layout_hold_step(STRAIGHT_OTHER);
        *behind = (struct behind){.reach = 0};
    } else if (code == STRAIGHT_END) {
        *behind = (struct behind){.reach = advance, .is_still = true};
    } else if (code < STRAIGHT_STRING) {
        const uint64_t amount = step->amount >> 3;
        behind->reach = amount > behind->reach ? amount : behind->reach;
        behind->fields++;
    } else {
        if (code == STRAIGHT_STRING && behind->is_still)
            to->code = STRAIGHT_LAST_STRING, to->hold = layout_hold_step(STRAIGHT_LAST_STRING);
        *behind = (struct behind){.reach = advance, .fields = behind->fields + 1};
    }
}

struct straight *straight_of(struct arena *arena, const struct op *ops, size_t n)
{
    struct straight *straight = arena_take(arena, sizeof *straight + n * sizeof *straight->step);
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

/* --- Taking --- */

/* A record that is taken straight through. */
struct record {
    const struct straight *straight;
    struct arena *scratch;
    const uint8_t *begin, *end;
    bool is_whole;            /* all or nothing, and it must end at `end` */
    struct held_fields *held; /* whose fields they are, or NULL */
};

/* Makes a walk of it that goes on where the straight way ends, and lets that fill the room that is
 * left. */
static APART uint32_t hand_over(ttr_fields *fields, const struct straight_way *way)
{
    struct layout_walk *walk = (struct layout_walk *)fields->state;
    const struct layout_schema *schema = fields->own;
    const ttr_event *event = fields->event;
    const struct bits bits = bits_over(event->payload, (uint64_t)(way->p - event->payload) << 3,
                                       (uint64_t)event->payload_size << 3);
    const uint32_t n = (uint32_t)(way->to - way->first), room = (uint32_t)(way->stop - way->to);
    layout_walk_begin(walk, schema->layout, &bits, schema->scratch);
    walk->run.bits.at = bits.at;
    walk->op = way->op - 1;
    return room ? n + layout_fields_take_on(fields, way->to, room) : n;
}

/* Steps that stand still; `p` is where the value lies. */

static inline void give_number(const struct op *op, uint64_t number, ttr_field *to)
{
    step_copy_field(to, &op->field);
    to->value.v.u = number;
}

/* A text of sixteen bytes, such as names of threads are. */
static inline void give_text16(const struct op *op, const uint8_t *p, ttr_field *to)
{
    step_copy_field(to, &op->field);
    to->value.text = (ttr_text){(const char *)p, (size_t)__builtin_ctz(zeros_of_16(p) | 1u << 16)};
}

/* A text of at most n bytes; gives what stands behind them. */
static inline const uint8_t *give_text(const struct op *op, const uint8_t *base, const uint8_t *p,
                                       uint64_t n, ttr_field *to)
{
    step_copy_field(to, &op->field);
    step_set_text(&to->value, base, p, (size_t)n);
    return p + n;
}

static inline void give_blob(const struct op *op, const uint8_t *p, ttr_field *to)
{
    step_copy_field(to, &op->field);
    to->value.text = (ttr_text){(const char *)p, (size_t)op->step.count};
}

static inline void give_still(const struct op *op, const struct value_place *place, ttr_field *to)
{
    step_copy_field(to, &op->field);
    value_still(place, &to->value);
}

static inline void give_enum(const struct op *op, const uint8_t *p, ttr_field *to)
{
    give_number(op, load_plain((enum load)op->step.load, p), to);
    value_enum(&(struct value_place){.step = &op->step}, &to->value);
}

/* Steps that move give where they stop, NULL where they are not taken here. */

static inline const uint8_t *give_string(const struct op *op, const uint8_t *base, const uint8_t *p,
                                         const uint8_t *end, ttr_field *to)
{
    const uint8_t *zero = find_zero(base, p, end);
    if (UNLIKELY(!zero))
        return NULL;
    step_copy_field(to, &op->field);
    to->value.text = (ttr_text){(const char *)p, (size_t)(zero - p)};
    return zero + 1;
}

/* One with nothing but what has a fixed size behind it: the record was found to end there by the
 * text's zero. */
static inline const uint8_t *give_last_string(const struct op *op, const uint8_t *p,
                                              const uint8_t *behind, ttr_field *to)
{
    if (UNLIKELY(behind <= p || behind[-1]))
        return NULL;
    step_copy_field(to, &op->field);
    to->value.text = (ttr_text){(const char *)p, (size_t)(behind - 1 - p)};
    return behind;
}

/* A text of wide characters that lies in `place`. */
static inline const uint8_t *give_string_wide(const struct op *op, const struct value_place *place,
                                              ttr_field *to)
{
    step_copy_field(to, &op->field);
    const size_t n = value_wide_string(place, &to->value);
    return n == SIZE_MAX ? NULL : place->base + (place->at >> 3) + n + op->step.width;
}

/* An array with its elements, for which there are `room` fields behind `to`. */
static inline const uint8_t *give_elements(const struct op *op, const uint8_t *p, uint64_t left,
                                           uint64_t n, ttr_field *to)
{
    const uint64_t bytes = n ? (n * op->step.amount - op->step.width) >> 3 : 0;
    if (UNLIKELY(bytes > left))
        return NULL;
    step_copy_field(to, &op->field);
    to->value.count = (uint32_t)n;
    layout_give_elements(op + 1, p, to + 1, (uint32_t)n);
    return p + bytes;
}

/* Where the straight way stops before the record's end; held fields are prepared up to there where
 * it always stops there. */
static APART uint32_t stop_at(ttr_fields *fields, const struct record *record,
                              const struct straight_way *way, bool always)
{
    if (record->is_whole)
        return LAYOUT_NOT_WHOLE;
    const uint32_t n = hand_over(fields, way);
    if (record->held) {
        held_prepared(record->held, always, (uint32_t)(way->to - way->first));
        record->held->is_full |= n == record->held->n;
    }
    return n;
}

/* Made only where they are needed: what has a place in memory stays in no register. */
#define STOP(next, always)                                                                        \
    stop_at(                                                                                      \
        fields, &(struct record){.is_whole = record.is_whole, .held = record.held},               \
        &(struct straight_way){.op = (next), .p = p, .first = way.first, .to = to, .stop = stop}, \
        always)

#define PLACE                                                 \
    ((struct value_place){.step = &op->step,                  \
                          .base = base,                       \
                          .at = (uint64_t)(at - base) << 3,   \
                          .end = (uint64_t)(end - base) << 3, \
                          .scratch = record.scratch})

/* Gives the fields of a record from where a way is. */
/* long: one case for each kind of step */
static inline __attribute__((always_inline)) uint32_t go(ttr_fields *fields,
                                                         const struct record record,
                                                         const struct straight_way way)
{
    struct layout_walk *const walk = (struct layout_walk *)fields->state;
    const struct op *op = way.op;
    const struct straight_step *step = record.straight->step + (op - record.straight->ops);
    const uint8_t *const base = fields->event->payload, *const end = record.end, *p = way.p,
                         *behind;
    ttr_field *to = way.to, *stop = way.stop;
    for (uint64_t n;; step++, op++) {
        const uint8_t *const at = p + step->at;
        switch (step->code) {
        case STRAIGHT_END:
            if (record.is_whole && UNLIKELY(at != end))
                return LAYOUT_NOT_WHOLE;
            fields->ops = NULL;
            if (record.held)
                held_prepared(record.held, true, (uint32_t)(to - way.first));
            return (uint32_t)(to - way.first);
        case STRAIGHT_NUMBER + LOAD_U8:
            give_number(op, *at, to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U16LE:
            give_number(op, load_u16le(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U32LE:
            give_number(op, load_u32le(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U64LE:
            give_number(op, load_u64le(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U16BE:
            give_number(op, load_u16be(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U32BE:
            give_number(op, load_u32be(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_U64BE:
            give_number(op, load_u64be(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_S8:
            give_number(op, (uint64_t)(int8_t)*at, to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_S16LE:
            give_number(op, (uint64_t)(int16_t)load_u16le(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_S32LE:
            give_number(op, (uint64_t)(int32_t)load_u32le(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_S16BE:
            give_number(op, (uint64_t)(int16_t)load_u16be(at), to++);
            continue;
        case STRAIGHT_NUMBER + LOAD_S32BE:
            give_number(op, (uint64_t)(int32_t)load_u32be(at), to++);
            continue;
        case STRAIGHT_F32LE:
            give_number(op, bits_of_double(load_single(load_u32le(at))), to++);
            continue;
        case STRAIGHT_F32BE:
            give_number(op, bits_of_double(load_single(load_u32be(at))), to++);
            continue;
        case STRAIGHT_AS_IT_IS:
            step_copy_field(to++, &op->field);
            continue;
        case STRAIGHT_TEXT16:
            give_text16(op, at, to++);
            continue;
        case STRAIGHT_TEXT:
            give_text(op, base, at, op->step.count, to++);
            continue;
        case STRAIGHT_BLOB:
            give_blob(op, at, to++);
            continue;
        case STRAIGHT_STILL:
            give_still(op, &PLACE, to++);
            continue;
        case STRAIGHT_ENUM:
            give_enum(op, at, to);
            stop = to->value.count > 1 ? to + 1 : stop;
            if (UNLIKELY(++to == stop))
                return STOP(op + 1, false);
            continue;
        case STRAIGHT_STRING:
            behind = give_string(op, base, at, end, to);
            break;
        case STRAIGHT_STRING_WIDE:
            behind = give_string_wide(op, &PLACE, to);
            break;
        case STRAIGHT_LAST_STRING:
            behind = give_last_string(op, at, end - step->reach, to);
            break;
        case STRAIGHT_TEXT_TAKEN:
            n = straight_count(op, step, at, walk);
            behind = n <= (uint64_t)(end - at) ? give_text(op, base, at, n, to) : NULL;
            break;
        case STRAIGHT_ELEMENTS:
            n = straight_count(op, step, at, walk);
            behind = n + step->fields < (uint64_t)(stop - to)
                         ? give_elements(op, at, (uint64_t)(end - at), n, to)
                         : NULL;
            if (LIKELY(behind))
                to += n, op += 2, step += 2;
            break;
        case STRAIGHT_OTHER:
            return STOP(op, true);
        default:
            __builtin_unreachable(); /* straight_of makes no others */
        }
        if (UNLIKELY(!behind))
            return STOP(op, false);
        to++;
        p = behind;
        if (UNLIKELY((uint64_t)(end - p) < step->reach))
            return STOP(op + 1, false);
    }
}

/* The same from the record's begin on. */
static inline __attribute__((always_inline)) uint32_t go_from_begin(ttr_fields *fields,
                                                                    const struct record record,
                                                                    ttr_field *field, uint32_t room)
{
    const struct straight_way way = {.op = record.straight->ops + 1,
                                     .p = record.begin,
                                     .first = field,
                                     .to = field,
                                     .stop = field + room};
    if (UNLIKELY((uint64_t)(record.end - record.begin) < record.straight->reach ||
                 room < record.straight->fields)) {
        const struct straight_way stopped = way;
        return stop_at(fields, &(struct record){.is_whole = record.is_whole, .held = record.held},
                       &stopped, false);
    }
    return go(fields, record, way);
}

uint32_t layout_fields_take(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    const struct layout_schema *schema = fields->own;
    const ttr_event *event = fields->event;
    const uint8_t *begin = straight_begin(fields);
    if (UNLIKELY(!begin))
        return layout_fields_take_on(fields, field, room);
    const struct record record = {.straight = ((const struct layout_walk *)fields->state)->straight,
                                  .scratch = schema->scratch,
                                  .begin = begin,
                                  .end = event->payload + event->payload_size};
    return go_from_begin(fields, record, field, room);
}

uint32_t layout_hold_anew(ttr_fields *fields, struct held_fields *held)
{
    const struct layout_schema *schema = fields->own;
    const ttr_event *event = fields->event;
    const uint8_t *begin = straight_begin(fields);
    held->is_prepared = false;
    if (!begin) {
        const uint32_t n = layout_fields_take_on(fields, held->field, held->n);
        held->is_full |= n == held->n;
        return n;
    }
    const struct record record = {.straight = ((const struct layout_walk *)fields->state)->straight,
                                  .scratch = schema->scratch,
                                  .begin = begin,
                                  .end = event->payload + event->payload_size,
                                  .held = held};
    return go_from_begin(fields, record, held->field, held->n);
}

uint32_t layout_hold_on(ttr_fields *fields, struct held_fields *held,
                        const struct straight_way *way)
{
    const struct layout_schema *schema = fields->own;
    const ttr_event *event = fields->event;
    const struct record record = {.straight = ((const struct layout_walk *)fields->state)->straight,
                                  .scratch = schema->scratch,
                                  .end = event->payload + event->payload_size,
                                  .held = held};
    return go(fields, record, *way);
}

uint32_t layout_hold_stop(ttr_fields *fields, struct held_fields *held,
                          const struct straight_way *way, bool always)
{
    return stop_at(fields, &(struct record){.held = held}, way, always);
}

uint32_t layout_take_whole(const struct layout *layout, struct arena *scratch, ttr_fields *fields,
                           ttr_field *field, uint32_t room)
{
    const uint8_t *payload = fields->event->payload;
    const struct record record = {.straight = layout->straight,
                                  .scratch = scratch,
                                  .begin = payload,
                                  .end = payload + fields->event->payload_size,
                                  .is_whole = true};
    return layout->straight ? go_from_begin(fields, record, field, room) : LAYOUT_NOT_WHOLE;
}
