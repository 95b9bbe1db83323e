/* Field iterator: decodes the fields of a record one by one.
 *
 * Order of calls: layout_fields_begin stores only where the event's record is; the first
 * layout_fields_next starts the iteration (`unbegun`). If the caller asks for all fields at once,
 * layout_fields_decode_cached (layout_decode_fast.c) decodes them without this file; it continues
 * here at a step that the fast path does not support. Packet headers and contexts use
 * layout_iter_begin and layout_iter_next.
 *
 *   ops:   [0] no-op | FIELD_NUMBER | STEP_ALIGN STEP_SAVE | FIELD_STRING8 | END
 *   calls:             next -> 1     next -> (silent steps) -> 2     next -> false
 *
 * Algorithm: an interpreter with one switch per field. A field is prepared in its step, so
 * returning it is a 64-byte copy and the store of the value. Between two fields, silent steps run
 * by layout_run_silent_step, the same that layout_find_record_end uses. An array of plain numbers
 * needs no loop steps: two steps return its elements, and their count is on the loop stack. The
 * second of them repeats (`jump` 1) until no element is left.
 *
 * Invariants: `iter->op` is the step that returned the last field. `run.bits.at` is the end of the
 * last moving step. Every value is checked against run.bits.end before it is read; elements of an
 * array are checked once, when the array is returned. After the end or a failure `iter->op` is
 * layout_iter_over, so further calls return false.
 *
 * Cost: O(1) per field, except for texts; loops over elements without bits are limited by
 * LAYOUT_EMPTY_ELEMENTS_MAX.
 *
 * Left out: repositioning; an iteration only moves forward. */
#include "layout/layout_program.h"

_Static_assert(sizeof(struct layout_iter) <= sizeof(((ttr_fields *)0)->state),
               "iterator state fits");

static OUT_OF_LINE bool stop_iteration(struct layout_iter *iter, const struct op *op,
                                       enum layout_status why)
{
    iter->run.member = op->step.member;
    iter->end = why;
    iter->op = layout_iter_over;
    return false;
}

static inline uint64_t count_bits_left(const struct layout_iter *iter)
{
    return iter->run.bits.end - iter->run.bits.at;
}

/* Sets the field to its template and the number that was loaded. */
static inline bool return_number(struct layout_iter *iter, const struct op *op, ttr_field *field,
                                 uint64_t number)
{
    step_copy_field(field, &op->field);
    field->value.v.u = number;
    iter->op = op;
    return true;
}

static inline bool return_float32(struct layout_iter *iter, const struct op *op, ttr_field *field,
                                  uint32_t bits)
{
    return return_number(iter, op, field, bits_of_double(load_float32(bits)));
}

static struct value_source make_value_source(const struct layout_iter *iter, const struct op *op,
                                             uint64_t advance)
{
    return (struct value_source){.step = &op->step,
                                 .base = iter->run.bits.base,
                                 .at = iter->run.bits.at + advance,
                                 .end = iter->run.bits.end,
                                 .scratch = iter->scratch};
}

static OUT_OF_LINE bool return_text(struct layout_iter *iter, const struct op *op, ttr_field *field)
{
    step_copy_field(field, &op->field);
    const uint8_t *p = iter->run.bits.base + ((iter->run.bits.at + op->step.advance) >> 3);
    step_set_text(&field->value, iter->run.bits.base, p, (size_t)op->step.count);
    iter->op = op;
    return true;
}

/* Returns a fixed-size field that needs more work than a load. The caller has checked that its bits
 * exist. */
static OUT_OF_LINE bool return_fixed(struct layout_iter *iter, const struct op *op,
                                     ttr_field *field)
{
    struct value_source place = make_value_source(iter, op, op->step.advance);
    step_copy_field(field, &op->field);
    iter->op = op;
    layout_get_fixed_value(&place, &field->value);
    return true;
}

static OUT_OF_LINE bool return_leb128(struct layout_iter *iter, const struct op *op,
                                      ttr_field *field)
{
    struct value_source place = make_value_source(iter, op, op->step.advance);
    const uint8_t *end = place.base + (place.end >> 3), *p = place.base + (place.at >> 3);
    size_t n = p < end ? layout_count_leb_bytes(p, end) : 0;
    if (n == 0)
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    step_copy_field(field, &op->field);
    layout_get_leb_value(&place, n, &field->value);
    iter->op = op;
    return true;
}

/* Returns the number of elements or bytes of a step. First loads the length, if the step does that
 * too. */
static inline uint64_t load_count(struct layout_iter *iter, const struct step *step)
{
    if (step->flags & STEP_LOADS) {
        const uint8_t *p = iter->run.bits.base + ((iter->run.bits.at - step->jump) >> 3);
        iter->run.slots[step->slot] = load_whole_number((enum load)step->load, p);
    }
    return step_count(step, &iter->run);
}

static OUT_OF_LINE bool return_array(struct layout_iter *iter, const struct op *op,
                                     ttr_field *field)
{
    uint64_t count = step_count(&op->step, &iter->run);
    if (count > UINT32_MAX) {
        iter->run.value = count;
        return stop_iteration(iter, op, LAYOUT_OUT_OF_RANGE);
    }
    step_copy_field(field, &op->field);
    field->value.count = (uint32_t)count;
    iter->op = op;
    return true;
}

/* Moves the read position by the step's `advance`. Returns false and ends the iteration if the
 * record is shorter. */
static inline bool advance_position(struct layout_iter *iter, const struct op *op)
{
    if (UNLIKELY(op->step.advance > count_bits_left(iter)))
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    iter->run.bits.at += op->step.advance;
    return true;
}

static OUT_OF_LINE bool return_string8(struct layout_iter *iter, const struct op *op,
                                       ttr_field *field)
{
    if (!advance_position(iter, op))
        return false;
    const uint8_t *base = iter->run.bits.base, *p = base + (iter->run.bits.at >> 3);
    const uint8_t *zero = find_zero(base, p, base + (iter->run.bits.end >> 3));
    if (UNLIKELY(!zero))
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    iter->run.bits.at = ((uint64_t)(zero - base) + 1) << 3;
    step_copy_field(field, &op->field);
    field->value.text = (ttr_text){(const char *)p, (size_t)(zero - p)};
    iter->op = op;
    return true;
}

static OUT_OF_LINE bool return_wide_string(struct layout_iter *iter, const struct op *op,
                                           ttr_field *field)
{
    if (!advance_position(iter, op))
        return false;
    struct value_source place = make_value_source(iter, op, 0);
    step_copy_field(field, &op->field);
    size_t n = layout_get_wide_string(&place, &field->value);
    if (UNLIKELY(n == SIZE_MAX))
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    iter->run.bits.at += ((uint64_t)n + op->step.width) << 3;
    iter->op = op;
    return true;
}

static OUT_OF_LINE bool return_counted(struct layout_iter *iter, const struct op *op,
                                       ttr_field *field)
{
    if (!advance_position(iter, op))
        return false;
    uint64_t count = load_count(iter, &op->step);
    if (UNLIKELY(count > count_bits_left(iter) >> 3)) {
        iter->run.value = count;
        return stop_iteration(iter, op,
                              count > UINT32_MAX ? LAYOUT_OUT_OF_RANGE : LAYOUT_TRUNCATED);
    }
    struct value_source place = make_value_source(iter, op, 0);
    const uint8_t *p = place.base + (place.at >> 3);
    step_copy_field(field, &op->field);
    if (op->step.code == FIELD_TEXT_COUNTED)
        step_set_text(&field->value, place.base, p, (size_t)count);
    else if (op->step.code == FIELD_TEXT_WIDE_COUNTED)
        layout_get_wide_text(&place, (size_t)count, &field->value);
    else
        field->value.text = (ttr_text){(const char *)p, (size_t)count};
    iter->run.bits.at += count << 3;
    iter->op = op;
    return true;
}

/* Returns the array field after checking that all elements are in the record. */
static OUT_OF_LINE bool return_elements(struct layout_iter *iter, const struct op *op,
                                        ttr_field *field)
{
    const struct step *step = &op->step;
    if (!advance_position(iter, op))
        return false;
    (void)load_count(iter, step);
    if (!return_array(iter, op, field))
        return false;
    uint64_t count = field->value.count, mask = (UINT64_C(1) << step->align) - 1;
    iter->loops.left[iter->loops.depth++] = count;
    if (count == 0)
        return true;
    uint64_t at = (iter->run.bits.at + mask) & ~mask;
    if (at > iter->run.bits.end || count * step->amount - step->width > iter->run.bits.end - at)
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    iter->run.bits.at = at;
    return true;
}

static bool return_after_silent_steps(struct layout_iter *iter, const struct op *op,
                                      ttr_field *field);

/* Returns the next array element, or the field after the array if no element is left. The element's
 * bits exist: return_elements has checked the complete array. */
static inline bool return_element(struct layout_iter *iter, const struct op *op, ttr_field *field,
                                  enum load load, bool is_single)
{
    const struct step *step = &op->step;
    uint64_t *elements_left = &iter->loops.left[iter->loops.depth - 1], at = iter->run.bits.at;
    if (UNLIKELY(*elements_left == 0)) {
        iter->loops.depth--;
        iter->run.bits.at -= step->jump ? step->width : 0;
        return return_after_silent_steps(iter, op + 2 - step->jump, field);
    }
    --*elements_left;
    iter->run.bits.at = at + step->amount;
    uint64_t number = load_whole_number(load, iter->run.bits.base + (at >> 3));
    return return_number(iter, op - step->jump, field,
                         is_single ? bits_of_double(load_float32((uint32_t)number)) : number);
}

static OUT_OF_LINE bool return_enum(struct layout_iter *iter, const struct op *op, ttr_field *field)
{
    struct value_source place = make_value_source(iter, op, op->step.advance);
    step_copy_field(field, &op->field);
    field->value.v.u = step_load(&op->step, place.base, place.at, place.end);
    layout_get_enum_value(&place, &field->value);
    iter->op = op;
    return true;
}

/* Ends the iteration after the last field of a valid record. */
static OUT_OF_LINE bool finish_iteration(struct layout_iter *iter, const struct op *op)
{
    if (!advance_position(iter, op))
        return false;
    iter->end = LAYOUT_OK;
    iter->op = layout_iter_over;
    return false;
}

/* Runs the steps that return no field, from `op` on. Returns the first step that returns a field,
 * or NULL at the end of the iteration. */
static inline const struct op *run_silent_steps(struct layout_iter *iter, const struct op *op)
{
    while (op->step.code < FIELD_NUMBER) {
        enum layout_status why;
        if (op->step.code == STEP_END ? !finish_iteration(iter, op) : !advance_position(iter, op))
            return NULL;
        uint32_t next_visible_field =
            layout_run_silent_step(&op->step, &iter->run, &iter->loops, &why);
        if (next_visible_field == STEP_STOPS) {
            iter->end = why;
            iter->op = layout_iter_over;
            return NULL;
        }
        op = next_visible_field ? iter->program + next_visible_field : op + 1;
    }
    return op;
}

static bool return_value_of_other_step(struct layout_iter *iter, const struct op *op,
                                       ttr_field *field);

#define LOAD_AT(load) return_number(iter, op, field, load(base + ((at + op->step.advance) >> 3)))
#define LOAD_SIGNED_AT(type, load) \
    return_number(iter, op, field, (uint64_t)(type)load(base + ((at + op->step.advance) >> 3)))

static inline uint8_t load_u8(const uint8_t *p)
{
    return *p;
}

/* Decodes the field of one step into `field`. */
/* long function: one case per kind of load */
static inline bool return_step(struct layout_iter *iter, const struct op *op, ttr_field *field)
{
    const uint8_t *base = iter->run.bits.base;
    uint64_t at = iter->run.bits.at;
    if (UNLIKELY(op->step.amount > iter->run.bits.end - at) && op->step.code < FIELD_STRING8)
        return stop_iteration(iter, op, LAYOUT_TRUNCATED);
    switch (op->step.code) {
    case FIELD_NUMBER + LOAD_U8:
        return LOAD_AT(load_u8);
    case FIELD_NUMBER + LOAD_U16LE:
        return LOAD_AT(load_u16le);
    case FIELD_NUMBER + LOAD_U32LE:
        return LOAD_AT(load_u32le);
    case FIELD_NUMBER + LOAD_U64LE:
        return LOAD_AT(load_u64le);
    case FIELD_NUMBER + LOAD_U16BE:
        return LOAD_AT(load_u16be);
    case FIELD_NUMBER + LOAD_U32BE:
        return LOAD_AT(load_u32be);
    case FIELD_NUMBER + LOAD_U64BE:
        return LOAD_AT(load_u64be);
    case FIELD_NUMBER + LOAD_S8:
        return LOAD_SIGNED_AT(int8_t, load_u8);
    case FIELD_NUMBER + LOAD_S16LE:
        return LOAD_SIGNED_AT(int16_t, load_u16le);
    case FIELD_NUMBER + LOAD_S32LE:
        return LOAD_SIGNED_AT(int32_t, load_u32le);
    case FIELD_NUMBER + LOAD_S16BE:
        return LOAD_SIGNED_AT(int16_t, load_u16be);
    case FIELD_NUMBER + LOAD_S32BE:
        return LOAD_SIGNED_AT(int32_t, load_u32be);
    case FIELD_F32LE:
        return return_float32(iter, op, field, load_u32le(base + ((at + op->step.advance) >> 3)));
    case FIELD_F32BE:
        return return_float32(iter, op, field, load_u32be(base + ((at + op->step.advance) >> 3)));
    case FIELD_READY:
        return return_number(iter, op, field, 0);
    case FIELD_TEXT:
        return return_text(iter, op, field);
    case FIELD_STRING8:
        return return_string8(iter, op, field);
    case FIELD_ENUM:
        return return_enum(iter, op, field);
    case FIELD_ELEMENT + LOAD_U8:
        return return_element(iter, op, field, LOAD_U8, false);
    case FIELD_ELEMENT + LOAD_U16LE:
        return return_element(iter, op, field, LOAD_U16LE, false);
    case FIELD_ELEMENT + LOAD_U32LE:
        return return_element(iter, op, field, LOAD_U32LE, false);
    case FIELD_ELEMENT + LOAD_U64LE:
        return return_element(iter, op, field, LOAD_U64LE, false);
    case FIELD_ELEMENT + LOAD_U16BE:
        return return_element(iter, op, field, LOAD_U16BE, false);
    case FIELD_ELEMENT + LOAD_U32BE:
        return return_element(iter, op, field, LOAD_U32BE, false);
    case FIELD_ELEMENT + LOAD_U64BE:
        return return_element(iter, op, field, LOAD_U64BE, false);
    case FIELD_ELEMENT + LOAD_S8:
        return return_element(iter, op, field, LOAD_S8, false);
    case FIELD_ELEMENT + LOAD_S16LE:
        return return_element(iter, op, field, LOAD_S16LE, false);
    case FIELD_ELEMENT + LOAD_S32LE:
        return return_element(iter, op, field, LOAD_S32LE, false);
    case FIELD_ELEMENT + LOAD_S16BE:
        return return_element(iter, op, field, LOAD_S16BE, false);
    case FIELD_ELEMENT + LOAD_S32BE:
        return return_element(iter, op, field, LOAD_S32BE, false);
    case FIELD_ELEMENT_F32LE:
        return return_element(iter, op, field, LOAD_U32LE, true);
    case FIELD_ELEMENT_F32BE:
        return return_element(iter, op, field, LOAD_U32BE, true);
    default:
        return return_value_of_other_step(iter, op, field);
    }
}

/* Handles the less frequent step codes out of line, to keep return_step small. */
static OUT_OF_LINE bool return_value_of_other_step(struct layout_iter *iter, const struct op *op,
                                                   ttr_field *field)
{
    switch (op->step.code) {
    case FIELD_NUMBER + LOAD_BITS: {
        const struct bits *bits = &iter->run.bits;
        return return_number(
            iter, op, field,
            step_load(&op->step, bits->base, bits->at + op->step.advance, bits->end));
    }
    case FIELD_ARRAY:
        return return_array(iter, op, field);
    case FIELD_LEB:
        return return_leb128(iter, op, field);
    case FIELD_STRING_WIDE:
        return return_wide_string(iter, op, field);
    case FIELD_TEXT_COUNTED:
    case FIELD_TEXT_WIDE_COUNTED:
    case FIELD_BLOB_COUNTED:
        return return_counted(iter, op, field);
    case FIELD_ELEMENTS:
        return return_elements(iter, op, field);
    case FIELD_END:
        return false;
    default:
        return return_fixed(iter, op, field);
    }
}

/* Runs silent steps, then returns the next field. */
static OUT_OF_LINE bool return_after_silent_steps(struct layout_iter *iter, const struct op *op,
                                                  ttr_field *field)
{
    op = run_silent_steps(iter, op);
    return op && return_step(iter, op, field);
}

static inline bool next_visible_field(struct layout_iter *iter, ttr_field *field)
{
    const struct op *op = iter->op + 1;
    if (op->step.code == STEP_END)
        return finish_iteration(iter, op);
    return op->step.code < FIELD_NUMBER ? return_after_silent_steps(iter, op, field)
                                        : return_step(iter, op, field);
}

bool layout_iter_next(struct layout_iter *iter, ttr_field *field, const struct type **type)
{
    if (!next_visible_field(iter, field))
        return false;
    *type = iter->op->step.type;
    return true;
}

/* Writes up to `room` elements of the array that the iteration is in, and returns their number.
 * Returns 0 after the last element, or if the elements' type has a role. */
static uint32_t read_elements(struct layout_iter *iter, ttr_field *field, uint32_t room)
{
    const struct op *op = iter->op + 1;
    const struct step *step = &op->step;
    if (step->code < FIELD_ELEMENT || step->code >= FIELD_END || (step->type && step->type->role))
        return 0;
    uint64_t *elements_left = &iter->loops.left[iter->loops.depth - 1];
    const uint32_t n = *elements_left < room ? (uint32_t)*elements_left : room;
    if (n == 0)
        return 0;
    layout_write_elements(op, iter->run.bits.base + (iter->run.bits.at >> 3), field, n);
    *elements_left -= n;
    iter->run.bits.at += n * step->amount;
    iter->op = op - step->jump;
    return n;
}

uint32_t layout_iter_read(struct layout_iter *iter, ttr_field *field, uint32_t room,
                          const struct type **type)
{
    uint32_t n = 0;
    *type = NULL;
    while (n < room && next_visible_field(iter, &field[n])) {
        *type = iter->op->step.type;
        if (field_has_labels(&field[n++].value) || (*type && (*type)->role))
            break;
        n += read_elements(iter, &field[n], room - n);
    }
    return n;
}

unsigned layout_iter_leb128_size(const struct layout_iter *iter)
{
    struct value_source place = make_value_source(iter, iter->op, iter->op->step.advance);
    return (unsigned)layout_count_leb_bytes(place.base + (place.at >> 3),
                                            place.base + (place.end >> 3));
}

/* --- One value by its name --- */

static bool has_member_name(const struct type_member *member, ttr_text name)
{
    return member && member->name.n == name.n &&
           (name.n == 0 || memcmp(member->name.p, name.p, name.n) == 0);
}

bool layout_evaluate_reference(const struct layout *layout, const struct layout_cursor *run,
                               const struct type_reference *reference, uint64_t *value)
{
    struct layout_iter iter;
    /* bit n is set: the path of the current field matches the first n names of the reference */
    uint64_t matched = 1;
    bool is_found = false;
    ttr_field field;
    if (reference->names_n == 0 || reference->names_n > TYPE_DEPTH_MAX)
        return false;
    iter.run = *run;
    iter.scratch = NULL;
    layout_iter_reset(&iter, layout, layout->full_program);
    while (next_visible_field(&iter, &field)) {
        const struct step *step = &iter.op->step;
        uint32_t level = step->level;
        if (step->root != reference->root || level == 0 || level > reference->names_n)
            continue;
        bool is_on_way = matched >> (level - 1) & 1 &&
                         has_member_name(step->member, reference->names[level - 1]);
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

static void layout_begin_event(const ttr_fields *fields, struct layout_iter *iter)
{
    const struct layout_schema *schema = fields->ctx;
    if (schema->is_in_payload)
        iter->run.bits = bits_init(fields->event->payload, fields->event->body & schema->body_mask,
                                   (uint64_t)fields->event->payload_size * 8);
    else
        schema->place(schema, fields->event, &iter->run);
    iter->scratch = schema->scratch;
    layout_iter_reset(iter, schema->layout, schema->layout->iter);
}

/* Starts an iteration that returns no fields and reads no bits. */
static void begin_empty_iteration(struct layout_iter *iter)
{
    iter->run.bits = bits_init(NULL, 0, 0);
    iter->op = layout_iter_over;
}

/* Implements field_ops.begin: only stores the location of the record. Decoding starts when the
 * caller asks for a field. */
static void layout_fields_begin(ttr_fields *fields)
{
    const struct layout_schema *schema = fields->ctx;
    struct layout_iter *iter = (struct layout_iter *)fields->state;
    iter->unbegun = schema->layout ? layout_get_iter_flags(schema) : 0;
    if (schema->layout)
        iter->fast_program = schema->layout->fast_program;
    else
        begin_empty_iteration(iter);
}

const void *layout_get_iter_program(const struct layout *layout)
{
    return layout->fast_program ? (const void *)layout->fast_program : layout->iter;
}

uint64_t layout_get_iter_flags(const struct layout_schema *schema)
{
    return schema->is_in_payload
               ? (uint64_t)schema->body_mask << LAYOUT_MASK_SHIFT | LAYOUT_IN_PAYLOAD
               : LAYOUT_TO_LOCATE;
}

static void layout_fields_begin_group(ttr_fields *fields, ttr_group group)
{
    const struct layout_schema *schema = fields->ctx;
    struct layout_iter *iter = (struct layout_iter *)fields->state;
    iter->unbegun = 0;
    const struct layout *layout =
        schema->locate_group ? schema->locate_group(schema, fields->event, group, &iter->run)
                             : NULL;
    iter->scratch = schema->scratch;
    if (layout)
        layout_iter_reset(iter, layout, layout->iter);
    else
        begin_empty_iteration(iter);
}

static bool layout_fields_next(ttr_fields *fields, ttr_field *field)
{
    struct layout_iter *iter = (struct layout_iter *)fields->state;
    if (UNLIKELY(iter->unbegun))
        layout_begin_event(fields, iter);
    return next_visible_field(iter, field);
}

static uint32_t layout_fields_read(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    struct layout_iter *iter = (struct layout_iter *)fields->state;
    const struct type *type;
    uint32_t n = 0, got = 1;
    if (UNLIKELY(iter->unbegun))
        layout_begin_event(fields, iter);
    while (n < room && got > 0 && !(n > 0 && field_has_labels(&field[n - 1].value))) {
        got = layout_iter_read(iter, &field[n], room - n, &type);
        n += got;
    }
    return n;
}

static const struct type *layout_fields_type(const ttr_fields *fields)
{
    const struct layout_iter *iter = (const struct layout_iter *)fields->state;
    return iter->op->step.type;
}

/* Returns true if the last text field, of fixed or counted size, has nonzero bytes after its
 * terminating zero. */
static bool layout_text_has_bytes_after_end(const ttr_fields *fields, const ttr_value *text)
{
    const struct layout_iter *iter = (const struct layout_iter *)fields->state;
    const struct step *step = &iter->op->step;
    if (step->code != FIELD_TEXT && step->code != FIELD_TEXT_COUNTED)
        return false;
    const uint8_t *p = (const uint8_t *)text->text.p + text->text.n;
    const uint8_t *following = step->code == FIELD_TEXT
                                   ? p - text->text.n + step->count
                                   : iter->run.bits.base + (iter->run.bits.at >> 3);
    while (p < following)
        if (*p++)
            return true;
    return false;
}

static bool layout_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                                ttr_text *label)
{
    const struct layout_iter *iter = (const struct layout_iter *)fields->state;
    const struct type *type = iter->op->step.type;
    /* The caller may still have the value, with its first label, after the iteration moved on. */
    if (i == 0) {
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
                                           .decode_batch = layout_fields_read,
                                           .decode_cached = layout_fields_decode_cached,
                                           .begin_group = layout_fields_begin_group,
                                           .packet = layout_packet,
                                           .label = layout_fields_label,
                                           .type = layout_fields_type,
                                           .has_bytes_after_end = layout_text_has_bytes_after_end,
                                           .locate = layout_find_position,
                                           .record = layout_record_bytes};
