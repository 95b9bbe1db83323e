/* Record parts: converts the steps of a layout's fast program into the list that layout_list_parts
 * returns. */
#include "layout/layout_record_parts.h"
#include "layout/layout_program.h"

static void set_number_part(struct layout_part *part, uint8_t code)
{
    part->kind = code >= FAST_F32LE ? LAYOUT_PART_SINGLE : LAYOUT_PART_NUMBER;
    part->load = code == FAST_F32LE   ? LOAD_U32LE
                 : code == FAST_F32BE ? LOAD_U32BE
                                      : (uint8_t)(code - FAST_NUMBER);
}

static void set_counted_part(struct layout_part *part, const struct fast_step *step,
                             enum layout_part_kind kind)
{
    const bool is_fixed = part->op->step.flags & STEP_FIXED;
    part->kind = (uint8_t)kind;
    part->load = is_fixed ? LOAD_COUNT : step->load;
    part->back = step->back;
}

static void set_elements_part(struct layout_part *part)
{
    const struct op *element = part->op + 1;
    const uint8_t code = element->step.code;
    part->element = &element->field;
    part->has_single_elements = code == FIELD_ELEMENT_F32LE || code == FIELD_ELEMENT_F32BE;
    part->element_load = code == FIELD_ELEMENT_F32LE   ? LOAD_U32LE
                         : code == FIELD_ELEMENT_F32BE ? LOAD_U32BE
                                                       : (uint8_t)(code - FIELD_ELEMENT);
    part->stride = (uint32_t)(part->op->step.amount >> 3);
    part->gap = part->op->step.width >> 3;
}

/* Converts a fast step to a record part. Returns false if only the field iterator can decode the
 * step. */
static bool convert_step_to_part(struct layout_part *part, const struct fast_step *step)
{
    if (step->code >= FAST_NUMBER && step->code <= FAST_F32BE) {
        set_number_part(part, step->code);
        return true;
    }
    switch (step->code) {
    case FAST_END:
        part->kind = LAYOUT_PART_END;
        return true;
    case FAST_READY:
        part->kind = LAYOUT_PART_READY;
        return true;
    case FAST_TEXT:
    case FAST_TEXT16:
        part->kind = LAYOUT_PART_TEXT;
        return true;
    case FAST_ENUM:
        part->kind = LAYOUT_PART_ENUM;
        part->load = part->op->step.load;
        return true;
    case FAST_BLOB:
    case FAST_FIXED:
        part->kind = LAYOUT_PART_STILL;
        return true;
    case FAST_STRING:
        part->kind = LAYOUT_PART_STRING;
        return true;
    case FAST_LAST_STRING:
        part->kind = LAYOUT_PART_LAST_STRING;
        return true;
    case FAST_TEXT_COUNTED:
        set_counted_part(part, step, LAYOUT_PART_COUNTED_TEXT);
        return true;
    case FAST_ELEMENTS:
        set_counted_part(part, step, LAYOUT_PART_ELEMENTS);
        set_elements_part(part);
        return true;
    default:
        return false;
    }
}

uint32_t layout_list_parts(const struct schema *schema, struct layout_part *part, uint32_t room,
                           uint32_t *reach)
{
    const struct layout_schema *ctx = schema->ctx;
    if (schema->ops != &layout_field_ops || !schema->start ||
        !(schema->start_with & LAYOUT_IN_PAYLOAD) || !ctx->layout->fast_program)
        return 0;
    const struct fast_program *fast_program = ctx->layout->fast_program;
    const struct fast_step *step = fast_program->step + 1;
    const struct op *op = fast_program->ops + 1;
    *reach = fast_program->reach;
    for (uint32_t n = 0; n < room; n++, step++, op++) {
        part[n] = (struct layout_part){.at = step->at,
                                       .reach = step->reach,
                                       .count = op->step.count,
                                       .field = &op->field,
                                       .op = op};
        if (!convert_step_to_part(&part[n], step))
            return 0;
        if (part[n].kind == LAYOUT_PART_END)
            return n + 1;
        const uint32_t more = part[n].kind == LAYOUT_PART_ELEMENTS ? 2 : 0;
        step += more, op += more;
    }
    return 0;
}

void layout_decode_part(const struct layout_part *part, const struct layout_record *record,
                        const uint8_t *at, ttr_value *value)
{
    const struct value_source source = {.step = &part->op->step,
                                        .base = record->base,
                                        .at = (uint64_t)(at - record->base) << 3,
                                        .end = (uint64_t)(record->end - record->base) << 3,
                                        .scratch = record->scratch};
    *value = part->field->value;
    if (part->kind == LAYOUT_PART_SINGLE) {
        value->v.f = load_float32((uint32_t)load_whole_number((enum load)part->load, at));
    } else if (part->kind == LAYOUT_PART_NUMBER || part->kind == LAYOUT_PART_ENUM) {
        value->v.u = load_whole_number((enum load)part->load, at);
        if (part->kind == LAYOUT_PART_ENUM)
            layout_get_enum_value(&source, value);
    } else if (part->kind == LAYOUT_PART_STILL) {
        layout_get_fixed_value(&source, value);
    }
}
