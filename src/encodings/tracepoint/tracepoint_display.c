/* Display hints of fields, derived from the print format: names of values, if __print_symbolic or
 * __print_flags prints the field without operators, and hexadecimal or octal base (%x, %o). If a
 * field is printed several times, its first hint is used. */
#include "encodings/tracepoint/tracepoint_print.h"

/* Returns the field that an expression denotes, ignoring casts and, if may_be_masked, a constant
 * bit mask. Returns NULL for any other expression. */
static const struct tracepoint_field *get_node_field(const struct tracepoint_program *program,
                                                     uint32_t index, bool may_be_masked)
{
    const struct tracepoint_node *node = &program->node[index];
    while (node->op == OP_CAST)
        node = &program->node[node->a];
    if (may_be_masked && node->op == OP_AND && program->node[node->b].op == OP_NUMBER)
        node = &program->node[node->a];
    while (node->op == OP_CAST)
        node = &program->node[node->a];
    return node->op == OP_LOAD ? node->field : NULL;
}

static void set_value_names_hint(const struct tracepoint *tp,
                                 const struct tracepoint_program *program,
                                 const struct tracepoint_node *node,
                                 struct tracepoint_display *display)
{
    const struct tracepoint_field *field = get_node_field(program, node->a, node->op == OP_FLAGS);
    if (!field || field < tp->field + tp->common_n || field->shape > TRACEPOINT_INT)
        return;
    struct tracepoint_display *of = &display[field - tp->field];
    if (of->table)
        return;
    of->table = node->table;
    of->is_flags = node->op == OP_FLAGS;
}

static void set_base_hint(const struct tracepoint *tp, const struct tracepoint_program *program,
                          const struct tracepoint_item *item, struct tracepoint_display *display)
{
    const struct tracepoint_field *field =
        item->kind == ITEM_NUMBER ? get_node_field(program, item->node, false) : NULL;
    if (!field || field->shape > TRACEPOINT_INT || display[field - tp->field].base)
        return;
    char c = item->conversion;
    display[field - tp->field].base = c == 'x' || c == 'X' ? 16 : c == 'o' ? 8 : 10;
}

const struct tracepoint_display *tracepoint_derive_displays(
    const struct tracepoint *tp, const struct tracepoint_program *program, struct arena *arena)
{
    struct tracepoint_display *display =
        arena_alloc(arena, (tp->fields_n + (size_t)1) * sizeof *display);
    if (!display)
        return NULL;
    memset(display, 0, (tp->fields_n + (size_t)1) * sizeof *display);
    for (uint32_t i = 0; i < program->nodes_n && !program->why; i++)
        if (program->node[i].op == OP_FLAGS || program->node[i].op == OP_SYMBOL)
            set_value_names_hint(tp, program, &program->node[i], display);
    for (uint32_t i = 0; i < program->items_n; i++)
        set_base_hint(tp, program, &program->item[i], display);
    return display;
}

/* Returns a bit mask with the width of a field, by which values are compared: the kernel's tables
 * may contain them sign-extended to more bits. */
static uint64_t get_field_width_mask(const ttr_value *value)
{
    return value->bits ? (UINT64_C(1) << value->bits) - 1 : UINT64_MAX;
}

static bool matches_label(const struct tracepoint_display *display,
                          const struct tracepoint_label *label, uint64_t x, uint64_t bits)
{
    uint64_t real = label->real & bits;
    return display->is_flags ? real != 0 && (x & real) == real : real == x;
}

bool tracepoint_get_label(const struct tracepoint_display *display, const ttr_value *value,
                          uint32_t i, ttr_text *label)
{
    uint64_t bits = get_field_width_mask(value), x = value->v.u & bits;
    for (uint32_t k = 0; k < display->table->n; k++) {
        if (!matches_label(display, &display->table->label[k], x, bits))
            continue;
        *label = display->table->label[k].text;
        if (i-- == 0)
            return true;
    }
    return false;
}

void tracepoint_set_base_and_labels(const struct tracepoint_display *display, ttr_value *value)
{
    value->base = display->base == 10 ? 0 : display->base;
    if (!display->table)
        return;
    uint64_t bits = get_field_width_mask(value), x = value->v.u & bits;
    value->hint = display->is_flags ? TTR_DISPLAY_FLAGS : TTR_DISPLAY_ENUM;
    for (uint32_t k = 0; k < display->table->n; k++)
        if (matches_label(display, &display->table->label[k], x, bits) && value->count++ == 0)
            value->text = display->table->label[k].text;
}
