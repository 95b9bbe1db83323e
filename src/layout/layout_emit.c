/* Steps of structure: roots, members, arrays, optionals, variants.
 *
 *   array      [ARRAY field] LOOP(exit) element... AGAIN(element)            or, of fixed size,
 * TAKE; of plain numbers, ELEMENTS optional   IF(else) value... [JUMP(end)] else: [null field] end:
 *   variant    CHOOSE -> option... JUMP(end) option... JUMP(end) ... end: */
#include "layout/layout_emit.h"

static bool emit(struct compiler *c, const struct type *type);

/* --- What is hidden --- */

static bool is_hidden(struct compiler *c, const struct type *type)
{
    const struct layout_spec *spec = c->spec;
    if (c->program != PROGRAM_WALK || spec->shows_hidden || !compiler_visit(c, type))
        return false;
    if (type->role)
        return type->role >= 64 || !(spec->shown_roles >> type->role & 1);
    if (type->element)
        return is_hidden(c, type->element);
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!is_hidden(c, type->members[i].type))
            return false;
    return type->members_n > 0;
}

/* --- Structures --- */

static bool emit_member(struct compiler *c, const struct type_member *member)
{
    ttr_text shown = member->shown.p ? member->shown : member->name;
    bool hides = is_hidden(c, member->type);
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
    if (!emit(c, member->type))
        return false;
    c->hidden -= hides;
    c->member = outer;
    compiler_leave(c);
    return true;
}

/* Members [from, to) of a struct. */
static bool emit_some(struct compiler *c, const struct type *type, uint32_t from, uint32_t to)
{
    ttr_field field = c->field;
    for (uint32_t i = from; i < to; i++)
        if (!emit_member(c, &type->members[i]))
            return false;
    c->field = field;
    return true;
}

static bool emit_members(struct compiler *c, const struct type *type)
{
    return emit_some(c, type, 0, type->members_n);
}

static bool emit_struct(struct compiler *c, const struct type *type)
{
    if (!emit_align(c, type->align))
        return false;
    if (!emit_gives(c))
        return emit_members(c, type);
    struct step *step = emit_still(c, GIVE_AS_IT_IS, 0);
    if (!step)
        return false;
    step->type = type;
    ttr_value *value = &c->ops[c->ops_n - 1].field.value;
    value->type = TTR_TYPE_STRUCT;
    for (uint32_t i = 0; i < type->members_n; i++)
        value->count += !is_hidden(c, type->members[i].type);
    c->field.depth++;
    bool is_good = emit_members(c, type);
    c->field.depth--;
    return is_good;
}

/* --- Arrays --- */

static bool give_array(struct compiler *c, const struct type *type, const struct emit_count *count)
{
    struct step *step = emit_still(c, GIVE_ARRAY, 0);
    if (!step)
        return false;
    step->type = type;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    c->ops[c->ops_n - 1].field.value.type = TTR_TYPE_ARRAY;
    return true;
}

static bool emit_body(struct compiler *c, const struct type *element)
{
    ttr_field field = c->field;
    c->field.name = (ttr_text){"", 0};
    c->field.name_id = 0;
    c->field.choices = 0;
    c->field.depth++;
    size_t body = c->ops_n;
    emit_label(c);
    if (!emit(c, element) || !emit_mixed(c))
        return false;
    struct step *step = emit_moving(c, STEP_AGAIN);
    if (!step)
        return false;
    step->jump = (uint32_t)body;
    c->field = field;
    return true;
}

static bool emit_loop(struct compiler *c, const struct type *type, const struct emit_count *count)
{
    if (!emit_mixed(c) || (emit_gives(c) && !give_array(c, type, count)))
        return false;
    size_t loop = c->ops_n;
    struct step *step = emit_moving(c, STEP_LOOP);
    if (!step)
        return false;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    struct place before = c->place;
    c->place = (struct place){0}; /* the end of an element is anywhere */
    if (!emit_body(c, type->element))
        return false;
    c->ops[loop].step.jump = (uint32_t)c->ops_n;
    emit_label(c);
    if (!count->is_fixed || count->count == 0)
        c->place = place_join(before, c->place);
    return true;
}

/* Which steps an array takes, `align` being what the first element must be aligned to where there
 * is one. */
static bool emit_elements_of(struct compiler *c, const struct type *type,
                             const struct emit_count *count, unsigned align)
{
    struct fold_element each;
    struct place first =
        align ? (struct place){.known = (uint8_t)align, .order = c->place.order} : c->place;
    bool is_fixed = !compiler_leads_inside(c) &&
                    compile_fold_element(c, type->element, &first, &each) &&
                    each.stride < UINT64_C(1) << 31;
    /* Where the elements may be none, the byte order of the bits before may live on. */
    bool is_one_order = place_is_at_byte(&c->place) || c->place.order == first.order;
    if (!is_fixed || !is_one_order)
        return emit_loop(c, type, count);
    if (!emit_gives(c)) {
        bool is_good = emit_take(c, &each, count, align);
        c->place.order = first.order;
        return is_good;
    }
    struct place begin = c->place;
    if (align)
        begin = (struct place){.known = (uint8_t)align};
    return emit_is_plain(type->element, &begin, &each) ? emit_elements(c, type, &each, count, align)
                                                       : emit_loop(c, type, count);
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
    /* Only elements that are there are aligned. */
    if (count.is_fixed && count.count > 0 && !emit_align(c, align))
        return false;
    bool is_aligned =
        c->place.known >= align && (c->place.residue & ((UINT32_C(1) << align) - 1)) == 0;
    c->inside++;
    bool is_good = emit_elements_of(c, type, &count, is_aligned ? 0 : align);
    c->inside--;
    return is_good;
}

/* --- Optionals and variants --- */

static bool emit_absent(struct compiler *c, const struct type *type)
{
    struct step *step = emit_still(c, GIVE_AS_IT_IS, 0);
    if (!step)
        return false;
    step->type = type;
    c->ops[c->ops_n - 1].field.value.hint = TTR_DISPLAY_ABSENT;
    return true;
}

static bool emit_optional(struct compiler *c, const struct type *type)
{
    uint8_t slot = 0;
    if (!emit_slot(c, type, &slot) || !emit_mixed(c))
        return false;
    const void *table = type->ranges_n ? compile_values(c, type) : NULL;
    size_t fork = c->ops_n;
    struct step *step = type->ranges_n && !table ? NULL : emit_moving(c, STEP_IF);
    if (!step)
        return false;
    step->slot = slot;
    step->table = table;
    struct place without = c->place;
    c->field.choices++;
    if (!emit(c, type->element) || !emit_mixed(c))
        return false;
    size_t skip = c->ops_n;
    if ((emit_gives(c) || c->pending) && !emit_moving(c, emit_gives(c) ? STEP_JUMP : STEP_SKIP))
        return false;
    c->ops[fork].step.jump = (uint32_t)c->ops_n;
    emit_label(c);
    if (emit_gives(c)) {
        if (!emit_absent(c, type))
            return false;
        c->ops[skip].step.jump = (uint32_t)c->ops_n;
        emit_label(c);
    }
    c->field.choices--;
    c->place = place_join(without, c->place);
    return true;
}

/* The options one behind another, each with a jump to the end; `steps` becomes where they begin. */
static bool emit_options(struct compiler *c, const struct type *type, uint32_t *steps)
{
    struct place before = c->place, after = before;
    ttr_field field = c->field, outer = field;
    field.choices++;
    size_t jumps = 0; /* the last jump; each holds the one before until all are known */
    for (uint32_t i = 0; i < type->members_n; i++) {
        steps[i] = (uint32_t)c->ops_n;
        emit_label(c);
        c->place = before;
        c->field = field;
        if (!emit(c, type->members[i].type) || !emit_mixed(c))
            return false;
        struct step *step = emit_moving(c, STEP_JUMP);
        if (!step)
            return false;
        step->jump = (uint32_t)jumps;
        jumps = c->ops_n - 1;
        after = i ? place_join(after, c->place) : c->place;
    }
    while (jumps) {
        struct step *step = &c->ops[jumps].step;
        jumps = step->jump;
        step->jump = (uint32_t)c->ops_n;
    }
    emit_label(c);
    c->place = after;
    c->field = outer;
    return true;
}

static bool emit_variant(struct compiler *c, const struct type *type)
{
    uint8_t slot = 0;
    if (!emit_slot(c, type, &slot) || !emit_mixed(c))
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
        c->ops[fork].step.table = compile_options(c, type, steps);
    is_good = is_good && c->ops[fork].step.table;
    alloc_free(alloc, steps, type->members_n + 1u, sizeof *steps);
    return is_good;
}

/* --- All types --- */

static bool emit_kind(struct compiler *c, const struct type *type)
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
        return compiler_refuse(c, "a type of no kind");
    }
}

static bool emit(struct compiler *c, const struct type *type)
{
    if (!compiler_visit(c, type))
        return false;
    c->nesting++;
    bool is_good = emit_kind(c, type);
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
    compiler_begin(c, root);
    if (!compiler_visit(c, type))
        return false;
    if (type->kind != TYPE_STRUCT)
        return compiler_refuse(c, "it is no structure");
    c->member = NULL;
    c->field = (ttr_field){.name = {"", 0}};
    c->field.value.text = (ttr_text){"", 0};
    uint32_t said = root == ROOT_PAYLOAD ? type->context_n : 0,
             context_n = said < type->members_n ? said : type->members_n;
    c->field.group = context_n ? TTR_GROUP_CONTEXT : groups[root];
    if (!emit_align(c, type->align) || !emit_some(c, type, 0, context_n))
        return false;
    c->field.group = groups[root];
    return emit_some(c, type, context_n, type->members_n);
}

bool compile_program(struct compiler *c, enum program program)
{
    c->program = program;
    c->ops_n = c->label = 0;
    c->pending = c->hidden = c->inside = 0;
    c->place = (struct place){.known = (uint8_t)__builtin_popcountll(c->layout->start_mask),
                              .order = ORDER_START};
    /* In walks the first step is one behind none. */
    if (program != PROGRAM_MEASURE && !emit_moving(c, STEP_SKIP))
        return false;
    for (int root = 0; root < ROOT_COUNT; root++)
        if (c->spec->root[root] && !emit_root(c, (enum type_root)root))
            return false;
    return emit_moving(c, STEP_END) != NULL;
}
