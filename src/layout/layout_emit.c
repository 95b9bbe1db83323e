/* Step generation for structure: roots, members, arrays, optionals, variants.
 *
 *   array      [ARRAY field] LOOP(exit) element... LOOP_NEXT(element) exit:
 *              fixed-size elements that are skipped:  SKIP_ELEMENTS
 *              plain numbers:                         ELEMENTS ELEMENT ELEMENT
 *   optional   IF(else) value... [JUMP(end)] else: [null field] end:
 *   variant    CHOOSE -> option... JUMP(end) option... JUMP(end) ... end: */
#include "layout/layout_emit.h"

static bool emit_type_steps(struct compiler *c, const struct type *type);

/* --- Hidden members --- */

static bool is_hidden_type(struct compiler *c, const struct type *type)
{
    const struct layout_spec *spec = c->spec;
    if (c->program != PROGRAM_VISIBLE_FIELDS || spec->shows_hidden || !compiler_visit(c, type))
        return false;
    if (type->role)
        return type->role >= 64 || !(spec->shown_roles >> type->role & 1);
    if (type->element)
        return is_hidden_type(c, type->element);
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!is_hidden_type(c, type->members[i].type))
            return false;
    return type->members_n > 0;
}

/* --- Structures --- */

static bool emit_member_steps(struct compiler *c, const struct type_member *member)
{
    ttr_text shown = member->shown.p ? member->shown : member->name;
    bool hides = is_hidden_type(c, member->type);
    const struct type_member *outer = c->member;
    if (!compiler_enter(c, member))
        return false;
    c->hidden += hides;
    c->has_hidden |= hides;
    c->member = member;
    c->field.choices = 0;
    c->field.name_id = ttr_text_add(c->spec->t, shown.p, shown.n);
    c->field.name = ttr_text_get(c->spec->t, c->field.name_id);
    if (c->field.name.n != shown.n) {
        (void)fail_memory(c->error);
        return false;
    }
    if (!emit_type_steps(c, member->type))
        return false;
    c->hidden -= hides;
    c->member = outer;
    compiler_leave(c);
    return true;
}

/* Emits the steps of members `from` to `to` - 1 of a struct. */
static bool emit_member_range(struct compiler *c, const struct type *type, uint32_t from,
                              uint32_t to)
{
    ttr_field field = c->field;
    for (uint32_t i = from; i < to; i++)
        if (!emit_member_steps(c, &type->members[i]))
            return false;
    c->field = field;
    return true;
}

static bool emit_members(struct compiler *c, const struct type *type)
{
    return emit_member_range(c, type, 0, type->members_n);
}

static bool emit_struct(struct compiler *c, const struct type *type)
{
    if (!emit_align(c, type->align))
        return false;
    if (!emit_returns_fields(c))
        return emit_members(c, type);
    struct step *step = emit_still(c, FIELD_READY, 0);
    if (!step)
        return false;
    step->type = type;
    ttr_value *value = &c->ops[c->ops_n - 1].field.value;
    value->type = TTR_TYPE_STRUCT;
    for (uint32_t i = 0; i < type->members_n; i++)
        value->count += !is_hidden_type(c, type->members[i].type);
    c->field.depth++;
    bool is_good = emit_members(c, type);
    c->field.depth--;
    return is_good;
}

/* --- Arrays --- */

static bool emit_array_field(struct compiler *c, const struct type *type,
                             const struct emit_count *count)
{
    struct step *step = emit_still(c, FIELD_ARRAY, 0);
    if (!step)
        return false;
    step->type = type;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    c->ops[c->ops_n - 1].field.value.type = TTR_TYPE_ARRAY;
    return true;
}

static bool emit_loop_body(struct compiler *c, const struct type *element)
{
    ttr_field field = c->field;
    c->field.name = (ttr_text){"", 0};
    c->field.name_id = 0;
    c->field.choices = 0;
    c->field.depth++;
    size_t body = c->ops_n;
    emit_label(c);
    if (!emit_type_steps(c, element) || !emit_byte_order(c))
        return false;
    struct step *step = emit_moving(c, STEP_LOOP_NEXT);
    if (!step)
        return false;
    step->jump = (uint32_t)body;
    c->field = field;
    return true;
}

static bool emit_element_loop(struct compiler *c, const struct type *type,
                              const struct emit_count *count)
{
    if (!emit_byte_order(c) || (emit_returns_fields(c) && !emit_array_field(c, type, count)))
        return false;
    size_t loop = c->ops_n;
    struct step *step = emit_moving(c, STEP_LOOP);
    if (!step)
        return false;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    struct position before = c->position;
    /* The position of an element is unknown if the one before it varies in size. */
    c->position = (struct position){0};
    if (!emit_loop_body(c, type->element))
        return false;
    c->ops[loop].step.jump = (uint32_t)c->ops_n;
    emit_label(c);
    if (!count->is_fixed || count->count == 0)
        c->position = position_join(before, c->position);
    return true;
}

/* Emits the steps for the elements of an array, selected by element size. `align` is log2 of the
 * alignment that the first element needs at run time; 0 if the position is already aligned. */
static bool emit_array_elements(struct compiler *c, const struct type *type,
                                const struct emit_count *count, unsigned align)
{
    struct folded_element each;
    struct position first =
        align ? (struct position){.known = (uint8_t)align, .order = c->position.order}
              : c->position;
    bool is_fixed = !compiler_has_target_inside(c) &&
                    fold_element_size(c, type->element, &first, &each) &&
                    each.stride < UINT64_C(1) << 31;
    /* The byte order before an array remains in effect if the array is empty. One skipping step is
     * therefore correct only if elements leave the byte order unchanged. */
    bool is_one_order = position_is_byte_aligned(&c->position) || c->position.order == first.order;
    if (!is_fixed || !is_one_order)
        return emit_element_loop(c, type, count);
    if (!emit_returns_fields(c)) {
        bool is_good = emit_skip_elements(c, &each, count, align);
        c->position.order = first.order;
        return is_good;
    }
    struct position begin = c->position;
    if (align)
        begin = (struct position){.known = (uint8_t)align};
    return emit_has_plain_elements(type->element, &begin, &each)
               ? emit_elements(c, type, &each, count, align)
               : emit_element_loop(c, type, count);
}

static bool emit_array(struct compiler *c, const struct type *type)
{
    struct emit_count count = {.count = type->count, .is_fixed = type->kind == TYPE_ARRAY};
    bool is_inline = !count.is_fixed && type->has_inline_length;
    unsigned align = type->element->align;
    if (c->inside == LAYOUT_DEPTH_MAX)
        return compiler_refuse(c, "arrays nest deeper than %u levels", LAYOUT_DEPTH_MAX);
    if (!is_inline && !emit_align(c, type->align))
        return false;
    if (is_inline) {
        count.slot = STEP_INLINE_SLOT;
        if (!emit_inline_length(c, type))
            return false;
    } else if (!count.is_fixed && !emit_slot(c, type, &count.slot)) {
        return false;
    }
    /* An empty array is not aligned, although its elements are. The count of a sequence is known at
     * run time only, so its alignment is left to the element steps. */
    if (count.is_fixed && count.count > 0 && !emit_align(c, align))
        return false;
    bool is_aligned =
        c->position.known >= align && (c->position.residue & ((UINT32_C(1) << align) - 1)) == 0;
    c->inside++;
    bool is_good = emit_array_elements(c, type, &count, is_aligned ? 0 : align);
    c->inside--;
    return is_good;
}

/* --- Optionals and variants --- */

static bool emit_absent_field(struct compiler *c, const struct type *type)
{
    struct step *step = emit_still(c, FIELD_READY, 0);
    if (!step)
        return false;
    step->type = type;
    c->ops[c->ops_n - 1].field.value.hint = TTR_DISPLAY_ABSENT;
    return true;
}

static bool emit_optional(struct compiler *c, const struct type *type)
{
    uint8_t slot = 0;
    if (!emit_slot(c, type, &slot) || !emit_byte_order(c))
        return false;
    const void *table = type->ranges_n ? compile_selector_ranges(c, type) : NULL;
    size_t fork = c->ops_n;
    struct step *step = type->ranges_n && !table ? NULL : emit_moving(c, STEP_IF);
    if (!step)
        return false;
    step->slot = slot;
    step->table = table;
    struct position without = c->position;
    c->field.choices++;
    if (!emit_type_steps(c, type->element) || !emit_byte_order(c))
        return false;
    size_t skip = c->ops_n;
    if ((emit_returns_fields(c) || c->pending) &&
        !emit_moving(c, emit_returns_fields(c) ? STEP_JUMP : STEP_SKIP))
        return false;
    c->ops[fork].step.jump = (uint32_t)c->ops_n;
    emit_label(c);
    if (emit_returns_fields(c)) {
        if (!emit_absent_field(c, type))
            return false;
        c->ops[skip].step.jump = (uint32_t)c->ops_n;
        emit_label(c);
    }
    c->field.choices--;
    c->position = position_join(without, c->position);
    return true;
}

/* Emits the options of a variant, each followed by a jump to the variant's end. Sets `steps[i]` to
 * the index of the first step of option i. */
static bool emit_options(struct compiler *c, const struct type *type, uint32_t *steps)
{
    struct position before = c->position, after = before;
    ttr_field field = c->field, outer = field;
    field.choices++;
    /* Index of the last jump to the variant's end. The target is not known yet, so each jump holds
     * the index of the jump before it, as a linked list. */
    size_t jumps = 0;
    for (uint32_t i = 0; i < type->members_n; i++) {
        steps[i] = (uint32_t)c->ops_n;
        emit_label(c);
        c->position = before;
        c->field = field;
        if (!emit_type_steps(c, type->members[i].type) || !emit_byte_order(c))
            return false;
        struct step *step = emit_moving(c, STEP_JUMP);
        if (!step)
            return false;
        step->jump = (uint32_t)jumps;
        jumps = c->ops_n - 1;
        after = i ? position_join(after, c->position) : c->position;
    }
    while (jumps) {
        struct step *step = &c->ops[jumps].step;
        jumps = step->jump;
        step->jump = (uint32_t)c->ops_n;
    }
    emit_label(c);
    c->position = after;
    c->field = outer;
    return true;
}

static bool emit_variant(struct compiler *c, const struct type *type)
{
    uint8_t slot = 0;
    if (!emit_slot(c, type, &slot) || !emit_byte_order(c))
        return false;
    size_t fork = c->ops_n;
    struct step *step = emit_moving(c, STEP_CHOOSE);
    if (!step)
        return false;
    step->slot = slot;
    step->type = type;
    const struct alloc *alloc = &c->spec->t->counted;
    uint32_t *steps = alloc_zero(alloc, type->members_n + 1u, sizeof *steps);
    if (!steps) {
        (void)fail_memory(c->error);
        return false;
    }
    bool is_good = emit_options(c, type, steps);
    if (is_good)
        c->ops[fork].step.table = compile_option_table(c, type, steps);
    is_good = is_good && c->ops[fork].step.table;
    alloc_free(alloc, steps, type->members_n + 1u, sizeof *steps);
    return is_good;
}

/* --- All kinds --- */

static bool emit_kind_steps(struct compiler *c, const struct type *type)
{
    switch (type->kind) {
    case TYPE_BITS:
    case TYPE_BOOL:
    case TYPE_UINT:
    case TYPE_INT:
    case TYPE_FLAGS:
    case TYPE_NULL:
    case TYPE_FLOAT:
        return emit_number(c, type);
    case TYPE_VAR_UINT:
    case TYPE_VAR_INT:
        return emit_leb(c, type);
    case TYPE_STRING:
        return emit_string(c, type);
    case TYPE_TEXT:
    case TYPE_BLOB:
        return emit_bytes(c, type);
    case TYPE_STRUCT:
        return emit_struct(c, type);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return emit_array(c, type);
    case TYPE_OPTIONAL:
        return emit_optional(c, type);
    case TYPE_VARIANT:
        return emit_variant(c, type);
    default:
        return compiler_refuse(c, "a type without a kind");
    }
}

static bool emit_type_steps(struct compiler *c, const struct type *type)
{
    if (!compiler_visit(c, type))
        return false;
    c->nesting++;
    bool is_good = emit_kind_steps(c, type);
    c->nesting--;
    return is_good;
}

static bool emit_root(struct compiler *c, enum type_root root)
{
    static const uint8_t groups[ROOT_COUNT] = {
        [ROOT_PACKET_HEADER] = TTR_GROUP_PACKET,     [ROOT_PACKET_CONTEXT] = TTR_GROUP_PACKET,
        [ROOT_EVENT_HEADER] = TTR_GROUP_HEADER,      [ROOT_COMMON_CONTEXT] = TTR_GROUP_COMMON,
        [ROOT_SPECIFIC_CONTEXT] = TTR_GROUP_CONTEXT, [ROOT_PAYLOAD] = TTR_GROUP_PAYLOAD,
    };
    const struct type *type = c->spec->root[root];
    compiler_enter_root(c, root);
    if (!compiler_visit(c, type))
        return false;
    if (type->kind != TYPE_STRUCT)
        return compiler_refuse(c, "expected a structure");
    c->member = NULL;
    c->field = (ttr_field){.name = {"", 0}};
    c->field.value.text = (ttr_text){"", 0};
    uint32_t said = root == ROOT_PAYLOAD ? type->context_n : 0,
             context_n = said < type->members_n ? said : type->members_n;
    c->field.group = context_n ? TTR_GROUP_CONTEXT : groups[root];
    if (!emit_align(c, type->align) || !emit_member_range(c, type, 0, context_n))
        return false;
    c->field.group = groups[root];
    return emit_member_range(c, type, context_n, type->members_n);
}

bool compile_program(struct compiler *c, enum program program)
{
    c->program = program;
    c->ops_n = c->label = 0;
    c->pending = c->hidden = c->inside = 0;
    c->position = (struct position){.known = (uint8_t)__builtin_popcountll(c->layout->start_mask),
                                    .order = ORDER_START};
    /* An iterator's program starts with a no-op, so that ops[0] is a valid predecessor of the first
     * field's step. */
    if (program != PROGRAM_RECORD_SIZE && !emit_moving(c, STEP_SKIP))
        return false;
    for (int root = 0; root < ROOT_COUNT; root++)
        if (c->spec->root[root] && !emit_root(c, (enum type_root)root))
            return false;
    return emit_moving(c, STEP_END) != NULL;
}
