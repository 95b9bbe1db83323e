/* Parts of records, told from the straight way through them. */
#include "layout/layout_record_parts.h"
#include "layout/layout_program.h"

static void set_number(struct layout_part *part, uint8_t code)
{
    part->kind = code >= STRAIGHT_F32LE ? LAYOUT_PART_SINGLE : LAYOUT_PART_NUMBER;
    part->load = code == STRAIGHT_F32LE   ? LOAD_U32LE
                 : code == STRAIGHT_F32BE ? LOAD_U32BE
                                          : (uint8_t)(code - STRAIGHT_NUMBER);
}

static void set_counted(struct layout_part *part, const struct straight_step *step,
                        enum layout_part_kind kind)
{
    const bool is_fixed = part->op->step.flags & STEP_FIXED;
    part->kind = (uint8_t)kind;
    part->load = is_fixed ? LOAD_COUNT : step->load;
    part->back = step->back;
}

static void set_elements(struct layout_part *part)
{
    const struct op *element = part->op + 1;
    const uint8_t code = element->step.code;
    part->element = &element->field;
    part->has_single_elements = code == GIVE_ELEMENT_F32LE || code == GIVE_ELEMENT_F32BE;
    part->element_load = code == GIVE_ELEMENT_F32LE   ? LOAD_U32LE
                         : code == GIVE_ELEMENT_F32BE ? LOAD_U32BE
                                                      : (uint8_t)(code - GIVE_ELEMENT);
    part->stride = (uint32_t)(part->op->step.amount >> 3);
    part->gap = part->op->step.width >> 3;
}

/* False where the walk must take it. */
static bool set_part(struct layout_part *part, const struct straight_step *step)
{
    if (step->code >= STRAIGHT_NUMBER && step->code <= STRAIGHT_F32BE) {
        set_number(part, step->code);
        return true;
    }
    switch (step->code) {
    case STRAIGHT_END:
        part->kind = LAYOUT_PART_END;
        return true;
    case STRAIGHT_AS_IT_IS:
        part->kind = LAYOUT_PART_READY;
        return true;
    case STRAIGHT_TEXT:
    case STRAIGHT_TEXT16:
        part->kind = LAYOUT_PART_TEXT;
        return true;
    case STRAIGHT_ENUM:
        part->kind = LAYOUT_PART_ENUM;
        part->load = part->op->step.load;
        return true;
    case STRAIGHT_BLOB:
    case STRAIGHT_STILL:
        part->kind = LAYOUT_PART_STILL;
        return true;
    case STRAIGHT_STRING:
        part->kind = LAYOUT_PART_STRING;
        return true;
    case STRAIGHT_LAST_STRING:
        part->kind = LAYOUT_PART_LAST_STRING;
        return true;
    case STRAIGHT_TEXT_TAKEN:
        set_counted(part, step, LAYOUT_PART_COUNTED_TEXT);
        return true;
    case STRAIGHT_ELEMENTS:
        set_counted(part, step, LAYOUT_PART_ELEMENTS);
        set_elements(part);
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
        !(schema->start_with & LAYOUT_IN_PAYLOAD) || !ctx->layout->straight)
        return 0;
    const struct straight *straight = ctx->layout->straight;
    const struct straight_step *step = straight->step + 1;
    const struct op *op = straight->ops + 1;
    *reach = straight->reach;
    for (uint32_t n = 0; n < room; n++, step++, op++) {
        part[n] = (struct layout_part){.at = step->at,
                                       .reach = step->reach,
                                       .count = op->step.count,
                                       .field = &op->field,
                                       .op = op};
        if (!set_part(&part[n], step))
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
    const struct value_place place = {.step = &part->op->step,
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
            value_enum(&place, value);
    } else if (part->kind == LAYOUT_PART_STILL) {
        value_still(&place, value);
    }
}
