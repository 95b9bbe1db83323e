/* Giving the fields of a record one by one.
 *
 * A field lies ready with the step that gives it; the walk copies it and puts the value in. Between
 * two fields silent steps move the walk on, the same that measuring runs.  Every value is checked
 * against the end of the record before it is touched. */
#include "layout/layout_program.h"

_Static_assert(sizeof(struct layout_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

const struct op layout_walk_over[2] = {{.step = {.code = GIVE_NOTHING}},
                                       {.step = {.code = GIVE_NOTHING}}};

static APART bool stop(struct layout_iter *walk, const struct op *op, enum layout_status why)
{
    walk->run.member = op->step.member;
    walk->end = why;
    walk->op = layout_walk_over;
    return false;
}

static inline uint64_t left(const struct layout_iter *walk)
{
    return walk->run.bits.end - walk->run.bits.at;
}

/* Gives a number that was loaded. */
static inline bool give(struct layout_iter *walk, const struct op *op, ttr_field *field,
                        uint64_t number)
{
    step_copy_field(field, &op->field);
    field->value.v.u = number;
    walk->op = op;
    return true;
}

static inline bool give_float(struct layout_iter *walk, const struct op *op, ttr_field *field,
                              uint32_t bits)
{
    return give(walk, op, field, bits_of_double(load_float32(bits)));
}

static struct value_place place_at(const struct layout_iter *walk, const struct op *op,
                                   uint64_t advance)
{
    return (struct value_place){.step = &op->step,
                                .base = walk->run.bits.base,
                                .at = walk->run.bits.at + advance,
                                .end = walk->run.bits.end,
                                .scratch = walk->scratch};
}

static APART bool give_text(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    step_copy_field(field, &op->field);
    const uint8_t *p = walk->run.bits.base + ((walk->run.bits.at + op->step.advance) >> 3);
    step_set_text(&field->value, walk->run.bits.base, p, (size_t)op->step.count);
    walk->op = op;
    return true;
}

/* Fields that stand still and take more than a load; their bits are there. */
static APART bool give_still(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    struct value_place place = place_at(walk, op, op->step.advance);
    step_copy_field(field, &op->field);
    walk->op = op;
    value_still(&place, &field->value);
    return true;
}

static APART bool give_leb(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    struct value_place place = place_at(walk, op, op->step.advance);
    const uint8_t *end = place.base + (place.end >> 3), *p = place.base + (place.at >> 3);
    size_t n = p < end ? leb_length(p, end) : 0;
    if (n == 0)
        return stop(walk, op, LAYOUT_TRUNCATED);
    step_copy_field(field, &op->field);
    value_leb(&place, n, &field->value);
    walk->op = op;
    return true;
}

/* How many elements or bytes a moving step gives. */
static inline uint64_t take_count(struct layout_iter *walk, const struct step *step)
{
    if (step->flags & STEP_LOADS) {
        const uint8_t *p = walk->run.bits.base + ((walk->run.bits.at - step->jump) >> 3);
        walk->run.slots[step->slot] = load_whole_number((enum load)step->load, p);
    }
    return step_count(step, &walk->run);
}

static APART bool give_array(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    uint64_t count = step_count(&op->step, &walk->run);
    if (count > UINT32_MAX) {
        walk->run.value = count;
        return stop(walk, op, LAYOUT_OUT_OF_RANGE);
    }
    step_copy_field(field, &op->field);
    field->value.count = (uint32_t)count;
    walk->op = op;
    return true;
}

/* Moves over what a step passes; false when it is not there. */
static inline bool advance(struct layout_iter *walk, const struct op *op)
{
    if (UNLIKELY(op->step.advance > left(walk)))
        return stop(walk, op, LAYOUT_TRUNCATED);
    walk->run.bits.at += op->step.advance;
    return true;
}

static APART bool give_string8(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    if (!advance(walk, op))
        return false;
    const uint8_t *base = walk->run.bits.base, *p = base + (walk->run.bits.at >> 3);
    const uint8_t *zero = find_zero(base, p, base + (walk->run.bits.end >> 3));
    if (UNLIKELY(!zero))
        return stop(walk, op, LAYOUT_TRUNCATED);
    walk->run.bits.at = ((uint64_t)(zero - base) + 1) << 3;
    step_copy_field(field, &op->field);
    field->value.text = (ttr_text){(const char *)p, (size_t)(zero - p)};
    walk->op = op;
    return true;
}

static APART bool give_string_wide(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    if (!advance(walk, op))
        return false;
    struct value_place place = place_at(walk, op, 0);
    step_copy_field(field, &op->field);
    size_t n = value_wide_string(&place, &field->value);
    if (UNLIKELY(n == SIZE_MAX))
        return stop(walk, op, LAYOUT_TRUNCATED);
    walk->run.bits.at += ((uint64_t)n + op->step.width) << 3;
    walk->op = op;
    return true;
}

static APART bool give_taken(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    if (!advance(walk, op))
        return false;
    uint64_t count = take_count(walk, &op->step);
    if (UNLIKELY(count > left(walk) >> 3)) {
        walk->run.value = count;
        return stop(walk, op, count > UINT32_MAX ? LAYOUT_OUT_OF_RANGE : LAYOUT_TRUNCATED);
    }
    struct value_place place = place_at(walk, op, 0);
    const uint8_t *p = place.base + (place.at >> 3);
    step_copy_field(field, &op->field);
    if (op->step.code == GIVE_TEXT_TAKEN)
        step_set_text(&field->value, place.base, p, (size_t)count);
    else if (op->step.code == GIVE_TEXT_WIDE_TAKEN)
        value_wide_text(&place, (size_t)count, &field->value);
    else
        field->value.text = (ttr_text){(const char *)p, (size_t)count};
    walk->run.bits.at += count << 3;
    walk->op = op;
    return true;
}

/* The array itself. */
static APART bool give_elements(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    const struct step *step = &op->step;
    if (!advance(walk, op))
        return false;
    (void)take_count(walk, step);
    if (!give_array(walk, op, field))
        return false;
    uint64_t count = field->value.count, mask = (UINT64_C(1) << step->align) - 1;
    walk->loops.left[walk->loops.depth++] = count;
    if (count == 0)
        return true;
    uint64_t at = (walk->run.bits.at + mask) & ~mask;
    if (at > walk->run.bits.end || count * step->amount - step->width > walk->run.bits.end - at)
        return stop(walk, op, LAYOUT_TRUNCATED);
    walk->run.bits.at = at;
    return true;
}

static bool give_behind(struct layout_iter *walk, const struct op *op, ttr_field *field);

/* An element, whose bits are known to be there, or what follows the last. */
static inline bool give_element(struct layout_iter *walk, const struct op *op, ttr_field *field,
                                enum load load, bool is_single)
{
    const struct step *step = &op->step;
    uint64_t *elements_left = &walk->loops.left[walk->loops.depth - 1], at = walk->run.bits.at;
    if (UNLIKELY(*elements_left == 0)) {
        walk->loops.depth--;
        walk->run.bits.at -= step->jump ? step->width : 0;
        return give_behind(walk, op + 2 - step->jump, field);
    }
    --*elements_left;
    walk->run.bits.at = at + step->amount;
    uint64_t number = load_whole_number(load, walk->run.bits.base + (at >> 3));
    return give(walk, op - step->jump, field,
                is_single ? bits_of_double(load_float32((uint32_t)number)) : number);
}

static APART bool give_enum(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    struct value_place place = place_at(walk, op, op->step.advance);
    step_copy_field(field, &op->field);
    field->value.v.u = step_load(&op->step, place.base, place.at, place.end);
    value_enum(&place, &field->value);
    walk->op = op;
    return true;
}

/* Ends the walk well. */
static APART bool finish(struct layout_iter *walk, const struct op *op)
{
    if (!advance(walk, op))
        return false;
    walk->end = LAYOUT_OK;
    walk->op = layout_walk_over;
    return false;
}

/* Runs silent steps from one on; gives the next that is none, NULL where the walk ends. */
static inline const struct op *skip_silent(struct layout_iter *walk, const struct op *op)
{
    while (op->step.code < GIVE_NUMBER) {
        enum layout_status why;
        if (op->step.code == STEP_END ? !finish(walk, op) : !advance(walk, op))
            return NULL;
        uint32_t next = layout_silent(&op->step, &walk->run, &walk->loops, &why);
        if (next == STEP_STOPS) {
            walk->end = why;
            walk->op = layout_walk_over;
            return NULL;
        }
        op = next ? walk->program + next : op + 1;
    }
    return op;
}

static bool give_other(struct layout_iter *walk, const struct op *op, ttr_field *field);

#define LOAD_AT(load) give(walk, op, field, load(base + ((at + op->step.advance) >> 3)))
#define LOAD_SIGNED_AT(type, load) \
    give(walk, op, field, (uint64_t)(type)load(base + ((at + op->step.advance) >> 3)))

static inline uint8_t load_u8(const uint8_t *p)
{
    return *p;
}

/* Gives the field of a step. */
/* long: one case per load */
static inline bool give_step(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    const uint8_t *base = walk->run.bits.base;
    uint64_t at = walk->run.bits.at;
    if (UNLIKELY(op->step.amount > walk->run.bits.end - at) && op->step.code < GIVE_STRING8)
        return stop(walk, op, LAYOUT_TRUNCATED);
    switch (op->step.code) {
    case GIVE_NUMBER + LOAD_U8:
        return LOAD_AT(load_u8);
    case GIVE_NUMBER + LOAD_U16LE:
        return LOAD_AT(load_u16le);
    case GIVE_NUMBER + LOAD_U32LE:
        return LOAD_AT(load_u32le);
    case GIVE_NUMBER + LOAD_U64LE:
        return LOAD_AT(load_u64le);
    case GIVE_NUMBER + LOAD_U16BE:
        return LOAD_AT(load_u16be);
    case GIVE_NUMBER + LOAD_U32BE:
        return LOAD_AT(load_u32be);
    case GIVE_NUMBER + LOAD_U64BE:
        return LOAD_AT(load_u64be);
    case GIVE_NUMBER + LOAD_S8:
        return LOAD_SIGNED_AT(int8_t, load_u8);
    case GIVE_NUMBER + LOAD_S16LE:
        return LOAD_SIGNED_AT(int16_t, load_u16le);
    case GIVE_NUMBER + LOAD_S32LE:
        return LOAD_SIGNED_AT(int32_t, load_u32le);
    case GIVE_NUMBER + LOAD_S16BE:
        return LOAD_SIGNED_AT(int16_t, load_u16be);
    case GIVE_NUMBER + LOAD_S32BE:
        return LOAD_SIGNED_AT(int32_t, load_u32be);
    case GIVE_F32LE:
        return give_float(walk, op, field, load_u32le(base + ((at + op->step.advance) >> 3)));
    case GIVE_F32BE:
        return give_float(walk, op, field, load_u32be(base + ((at + op->step.advance) >> 3)));
    case GIVE_AS_IT_IS:
        return give(walk, op, field, 0);
    case GIVE_TEXT:
        return give_text(walk, op, field);
    case GIVE_STRING8:
        return give_string8(walk, op, field);
    case GIVE_ENUM:
        return give_enum(walk, op, field);
    case GIVE_ELEMENT + LOAD_U8:
        return give_element(walk, op, field, LOAD_U8, false);
    case GIVE_ELEMENT + LOAD_U16LE:
        return give_element(walk, op, field, LOAD_U16LE, false);
    case GIVE_ELEMENT + LOAD_U32LE:
        return give_element(walk, op, field, LOAD_U32LE, false);
    case GIVE_ELEMENT + LOAD_U64LE:
        return give_element(walk, op, field, LOAD_U64LE, false);
    case GIVE_ELEMENT + LOAD_U16BE:
        return give_element(walk, op, field, LOAD_U16BE, false);
    case GIVE_ELEMENT + LOAD_U32BE:
        return give_element(walk, op, field, LOAD_U32BE, false);
    case GIVE_ELEMENT + LOAD_U64BE:
        return give_element(walk, op, field, LOAD_U64BE, false);
    case GIVE_ELEMENT + LOAD_S8:
        return give_element(walk, op, field, LOAD_S8, false);
    case GIVE_ELEMENT + LOAD_S16LE:
        return give_element(walk, op, field, LOAD_S16LE, false);
    case GIVE_ELEMENT + LOAD_S32LE:
        return give_element(walk, op, field, LOAD_S32LE, false);
    case GIVE_ELEMENT + LOAD_S16BE:
        return give_element(walk, op, field, LOAD_S16BE, false);
    case GIVE_ELEMENT + LOAD_S32BE:
        return give_element(walk, op, field, LOAD_S32BE, false);
    case GIVE_ELEMENT_F32LE:
        return give_element(walk, op, field, LOAD_U32LE, true);
    case GIVE_ELEMENT_F32BE:
        return give_element(walk, op, field, LOAD_U32BE, true);
    default:
        return give_other(walk, op, field);
    }
}

/* What is not so frequent. */
static APART bool give_other(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    switch (op->step.code) {
    case GIVE_NUMBER + LOAD_BITS: {
        const struct bits *bits = &walk->run.bits;
        return give(walk, op, field,
                    step_load(&op->step, bits->base, bits->at + op->step.advance, bits->end));
    }
    case GIVE_ARRAY:
        return give_array(walk, op, field);
    case GIVE_LEB:
        return give_leb(walk, op, field);
    case GIVE_STRING_WIDE:
        return give_string_wide(walk, op, field);
    case GIVE_TEXT_TAKEN:
    case GIVE_TEXT_WIDE_TAKEN:
    case GIVE_BLOB_TAKEN:
        return give_taken(walk, op, field);
    case GIVE_ELEMENTS:
        return give_elements(walk, op, field);
    case GIVE_NOTHING:
        return false;
    default:
        return give_still(walk, op, field);
    }
}

/* Gives the next field that comes behind silent steps. */
static APART bool give_behind(struct layout_iter *walk, const struct op *op, ttr_field *field)
{
    op = skip_silent(walk, op);
    return op && give_step(walk, op, field);
}

static inline bool next(struct layout_iter *walk, ttr_field *field)
{
    const struct op *op = walk->op + 1;
    if (op->step.code == STEP_END)
        return finish(walk, op);
    return op->step.code < GIVE_NUMBER ? give_behind(walk, op, field) : give_step(walk, op, field);
}

/* Makes a walk stand before the first step; run.bits and imports are there. */
static inline void begin(struct layout_iter *walk, const struct layout *layout,
                         const struct op *program)
{
    struct bits *bits = &walk->run.bits;
    uint64_t at = (bits->at + layout->start_mask) & ~layout->start_mask;
    walk->unbegun = 0;
    walk->program = program;
    walk->run.absent = layout->absent;
    walk->run.spins = 0;
    walk->run.order = ORDER_ANY;
    walk->loops.depth = 0;
    walk->end = LAYOUT_OK;
    walk->op = program;
    if (UNLIKELY(at > bits->end)) {
        walk->end = LAYOUT_TRUNCATED;
        walk->op = layout_walk_over;
        return;
    }
    bits->at = at;
}

void layout_iter_begin(struct layout_iter *walk, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch)
{
    walk->run.bits = *bits;
    walk->run.member = NULL;
    walk->run.value = 0;
    walk->scratch = scratch;
    begin(walk, layout, layout->walk);
}

bool layout_iter_next(struct layout_iter *walk, ttr_field *field, const struct type **type)
{
    if (!next(walk, field))
        return false;
    *type = walk->op->step.type;
    return true;
}

unsigned layout_iter_leb128_size(const struct layout_iter *walk)
{
    struct value_place place = place_at(walk, walk->op, walk->op->step.advance);
    return (unsigned)leb_length(place.base + (place.at >> 3), place.base + (place.end >> 3));
}

/* --- One value by its name --- */

static bool is_named(const struct type_member *member, ttr_text name)
{
    return member && member->name.n == name.n &&
           (name.n == 0 || memcmp(member->name.p, name.p, name.n) == 0);
}

bool layout_evaluate_reference(const struct layout *layout, const struct layout_cursor *run,
                               const struct type_reference *reference, uint64_t *value)
{
    struct layout_iter walk;
    uint64_t matched = 1; /* bit n: the first n names are those of the way here */
    bool is_found = false;
    ttr_field field;
    if (reference->names_n == 0 || reference->names_n > TYPE_DEPTH_MAX)
        return false;
    walk.run = *run;
    walk.scratch = NULL;
    begin(&walk, layout, layout->everything);
    while (next(&walk, &field)) {
        const struct step *step = &walk.op->step;
        uint32_t level = step->level;
        if (step->root != reference->root || level == 0 || level > reference->names_n)
            continue;
        bool is_on_way =
            matched >> (level - 1) & 1 && is_named(step->member, reference->names[level - 1]);
        matched = (matched & ((UINT64_C(1) << level) - 1)) | (uint64_t)is_on_way << level;
        bool is_number = field.value.type == TTR_TYPE_UINT || field.value.type == TTR_TYPE_INT ||
                         field.value.type == TTR_TYPE_BOOL;
        if (is_on_way && level == reference->names_n && is_number) {
            *value = field.value.v.u;
            is_found = true;
        }
    }
    return is_found;
}

/* --- Fields of events --- */

static void layout_begin_event(const ttr_fields *fields, struct layout_iter *walk)
{
    const struct layout_schema *schema = fields->ctx;
    if (schema->is_in_payload)
        walk->run.bits = bits_init(fields->event->payload, fields->event->body & schema->body_mask,
                                   (uint64_t)fields->event->payload_size * 8);
    else
        schema->place(schema, fields->event, &walk->run);
    walk->scratch = schema->scratch;
    begin(walk, schema->layout, schema->layout->walk);
}

/* A walk of nothing: over, with no bits that could be asked for. */
static void begin_nothing(struct layout_iter *walk)
{
    walk->run.bits = bits_init(NULL, 0, 0);
    walk->op = layout_walk_over;
}

/* Nothing is done before it is known how fields are wanted. */
static void layout_fields_begin(ttr_fields *fields)
{
    const struct layout_schema *schema = fields->ctx;
    struct layout_iter *walk = (struct layout_iter *)fields->state;
    walk->unbegun = schema->layout ? layout_iter_start_flags(schema) : 0;
    if (schema->layout)
        walk->straight = schema->layout->straight;
    else
        begin_nothing(walk);
}

const void *layout_iter_start(const struct layout *layout)
{
    return layout->straight ? (const void *)layout->straight : layout->walk;
}

uint64_t layout_iter_start_flags(const struct layout_schema *schema)
{
    return schema->is_in_payload
               ? (uint64_t)schema->body_mask << LAYOUT_MASK_SHIFT | LAYOUT_IN_PAYLOAD
               : LAYOUT_TO_LOCATE;
}

static void layout_fields_begin_group(ttr_fields *fields, ttr_group group)
{
    const struct layout_schema *schema = fields->ctx;
    struct layout_iter *walk = (struct layout_iter *)fields->state;
    walk->unbegun = 0;
    const struct layout *layout =
        schema->locate_group ? schema->locate_group(schema, fields->event, group, &walk->run)
                             : NULL;
    walk->scratch = schema->scratch;
    if (layout)
        begin(walk, layout, layout->walk);
    else
        begin_nothing(walk);
}

static bool layout_fields_next(ttr_fields *fields, ttr_field *field)
{
    struct layout_iter *walk = (struct layout_iter *)fields->state;
    if (UNLIKELY(walk->unbegun))
        layout_begin_event(fields, walk);
    return next(walk, field);
}

static const struct type *layout_fields_type(const ttr_fields *fields)
{
    const struct layout_iter *walk = (const struct layout_iter *)fields->state;
    return walk->op->step.type;
}

/* A text of given room is where the walk has just been. */
static bool layout_fields_goes_on(const ttr_fields *fields, const ttr_value *text)
{
    const struct layout_iter *walk = (const struct layout_iter *)fields->state;
    const struct step *step = &walk->op->step;
    if (step->code != GIVE_TEXT && step->code != GIVE_TEXT_TAKEN)
        return false;
    const uint8_t *p = (const uint8_t *)text->text.p + text->text.n;
    const uint8_t *behind = step->code == GIVE_TEXT
                                ? p - text->text.n + step->count
                                : walk->run.bits.base + (walk->run.bits.at >> 3);
    while (p < behind)
        if (*p++)
            return true;
    return false;
}

static bool layout_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                                ttr_text *label)
{
    const struct layout_iter *walk = (const struct layout_iter *)fields->state;
    const struct type *type = walk->op->step.type;
    if (i == 0) { /* the walk may have gone on since */
        *label = value->text;
        return true;
    }
    if (!type || !type->labels)
        return false;
    bool is_flags = type->kind == TYPE_FLAGS;
    const struct type_label *found = is_flags ? type_find_flag(type->labels, value->v.u, i)
                                              : type_find_label(type->labels, value->v.u, i);
    if (found)
        *label = found->name;
    return found != NULL;
}

static uint64_t layout_packet(const void *ctx, const ttr_event *event)
{
    const struct layout_schema *schema = ctx;
    return schema->packet ? schema->packet(schema, event) : 0;
}

const struct field_ops layout_field_ops = {.begin = layout_fields_begin,
                                           .next = layout_fields_next,
                                           .hold = layout_fields_hold,
                                           .begin_group = layout_fields_begin_group,
                                           .packet = layout_packet,
                                           .label = layout_fields_label,
                                           .type = layout_fields_type,
                                           .goes_on = layout_fields_goes_on};
