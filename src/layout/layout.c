/* Public functions of layouts: compilation, and queries that need no record. */
#include "layout/layout_compile.h"
#include "layout/layout_shape.h"

/* Returns the alignment of a record in bits, minus 1: that of the first root that has members. An
 * empty root before it counts too if its alignment is larger. */
static uint64_t get_start_mask(const struct layout_spec *spec)
{
    unsigned log2 = 0;
    for (int root = 0; root < ROOT_COUNT; root++) {
        const struct type *type = spec->root[root];
        if (!type)
            continue;
        log2 = type->align > log2 ? type->align : log2;
        if (type->members_n)
            break;
    }
    return (UINT64_C(1) << (log2 < TYPE_ALIGN_MAX ? log2 : TYPE_ALIGN_MAX)) - 1;
}

static const struct op *copy_iter_program(struct compiler *c)
{
    struct op *ops = arena_alloc(c->spec->arena, c->ops_n * sizeof *ops);
    if (ops)
        memcpy(ops, c->ops, c->ops_n * sizeof *ops);
    else
        (void)fail_memory(c->error);
    for (size_t i = 0; ops && i < c->ops_n; i++)
        ops[i].field.value.step = (uint32_t)i;
    return ops;
}

/* Returns true if no step aligns to more than 8 bits. Records may then start at any byte
 * address. */
static bool can_start_at_any_byte(const struct compiler *c)
{
    for (size_t i = 0; i < c->ops_n; i++) {
        const struct step *step = &c->ops[i].step;
        if (step->align > 3 || step->code == STEP_UNIT ||
            (step->code == STEP_ALIGN && step->amount > 7))
            return false;
    }
    return c->layout->start_mask <= 7;
}

static const struct step *copy_size_program(struct compiler *c)
{
    struct step *steps = arena_alloc(c->spec->arena, c->ops_n * sizeof *steps);
    if (!steps)
        (void)fail_memory(c->error);
    for (size_t i = 0; steps && i < c->ops_n; i++)
        steps[i] = c->ops[i].step;
    bool is_fixed = c->ops_n == 1 && c->layout->start_mask <= 7;
    c->layout->fixed_bits = is_fixed ? c->ops[0].step.advance : 0;
    return steps;
}

static bool compile_programs(struct compiler *c)
{
    struct layout *layout = c->layout;
    if (!compile_references(c))
        return false;
    if (!compile_program(c, PROGRAM_RECORD_SIZE) || !(layout->size_program = copy_size_program(c)))
        return false;
    if (!compile_program(c, PROGRAM_VISIBLE_FIELDS) || !(layout->iter = copy_iter_program(c)))
        return false;
    layout->is_at_any_byte = can_start_at_any_byte(c);
    if (layout->is_at_any_byte &&
        !(layout->fast_program = fast_program_compile(c->spec->arena, layout->iter, c->ops_n)))
        return fail_memory(c->error) == TTR_OK;
    layout->full_program = layout->iter;
    if (!c->has_hidden)
        return true;
    return compile_program(c, PROGRAM_ALL_FIELDS) && (layout->full_program = copy_iter_program(c));
}

struct layout *layout_compile(const struct layout_spec *spec, ttr_error *error)
{
    struct layout *layout = arena_alloc(spec->arena, sizeof *layout);
    if (!layout) {
        (void)fail_memory(error);
        return NULL;
    }
    *layout = (struct layout){.start_mask = get_start_mask(spec)};
    memcpy(layout->root, spec->root, sizeof layout->root);
    struct compiler c = {.spec = spec, .error = error, .layout = layout};
    bool is_good = compile_programs(&c);
    const struct alloc *alloc = &spec->t->counted;
    alloc_free(alloc, c.uses, c.uses_capacity, sizeof *c.uses);
    alloc_free(alloc, c.ops, c.ops_capacity, sizeof *c.ops);
    alloc_free(alloc, c.tables, c.tables_capacity, sizeof *c.tables);
    return is_good ? layout : NULL;
}

uint64_t layout_fixed_record_bits(const struct layout *layout)
{
    return layout->fixed_bits;
}

bool layout_is_byte_aligned(const struct layout *layout)
{
    return layout->is_at_any_byte;
}

/* Returns the right shift that isolates an element count. The shift applies to the eight
 * little-endian bytes that end with the count. Returns 0 if a shift cannot isolate it. */
static uint8_t count_shift_of_load(const struct step *step)
{
    switch (step->load) {
    case LOAD_U8:
        return step->jump == 8 ? 56 : 0;
    case LOAD_U16LE:
        return step->jump == 16 ? 48 : 0;
    case LOAD_U32LE:
        return step->jump == 32 ? 32 : 0;
    default:
        return 0;
    }
}

struct layout_shape layout_get_shape(const struct layout *layout)
{
    struct layout_shape none = {.kind = LAYOUT_SHAPE_NONE},
                        shape = {.kind = LAYOUT_SHAPE_ROW, .count_shift = 32};
    if (!layout)
        return shape;
    const struct step *step = layout->size_program;
    shape.first = step->advance;
    if (layout->start_mask > 7)
        return none;
    if (step->code == STEP_END)
        return shape;
    if (step[1].code != STEP_END || step->advance % 8)
        return none;
    shape.rest = step[1].advance;
    if (step->code == STEP_STRING8) {
        shape.kind = LAYOUT_SHAPE_TEXT;
        return shape;
    }
    shape.each = step->amount;
    shape.count_shift = count_shift_of_load(step);
    bool is_row =
        step->code == STEP_COUNTED && step->align <= 3 && step->width == 0 && step->amount % 8 == 0;
    return is_row && shape.count_shift ? shape : none;
}

struct layout_byte_shape layout_shape_to_bytes(const struct layout_shape *shape)
{
    const uint64_t most = (uint64_t)(LAYOUT_BYTE_SHAPE_NONE - 1) * 8;
    const bool is_text = shape->kind == LAYOUT_SHAPE_TEXT, has_row = shape->each > 0;
    if (shape->kind == LAYOUT_SHAPE_NONE || (shape->first | shape->rest | shape->each) % 8 ||
        shape->first >= most || shape->rest >= most)
        return (struct layout_byte_shape){.rest = LAYOUT_BYTE_SHAPE_NONE, .no_text = UINT32_MAX};
    return (struct layout_byte_shape){
        .first = (uint32_t)(shape->first / 8),
        .rest = (uint32_t)(shape->rest / 8) + is_text,
        .each = (uint32_t)(shape->each / 8),
        .count_bytes = has_row ? (64u - shape->count_shift) / 8 : 0,
        .count_mask = has_row ? (uint32_t)(UINT64_MAX >> shape->count_shift) : 0,
        .no_text = is_text ? 0 : UINT32_MAX};
}

const struct layout_import *layout_imports(const struct layout *layout, uint32_t *n)
{
    *n = layout->imports_n;
    return layout->imports;
}

static bool texts_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Searches the members of a root by name and adds the sizes of the members before the match to
 * `folded_size`. Returns false if the search ends here: the member was found, or a size before it
 * varies. */
static bool find_member_in_root(struct compiler *c, enum type_root root, ttr_text name,
                                struct position *position, struct folded_size *folded_size,
                                struct layout_member_position *spot)
{
    const struct type *type = c->layout->root[root];
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type *member = type->members[i].type;
        uint64_t pad = (0 - (uint64_t)position->residue) & ((UINT64_C(1) << member->align) - 1);
        if (name.p && texts_equal(type->members[i].name, name) &&
            member->align <= position->known && !member->unit) {
            *spot = (struct layout_member_position){.bit = folded_size->bits + pad, .type = member};
            return false;
        }
        if (!fold_type_size(c, member, position, folded_size))
            return false;
    }
    return true;
}

bool layout_locate_member(const struct layout *layout, enum type_root root, ttr_text name,
                          struct layout_member_position *spot)
{
    /* Only size computations use this compiler, so it needs no program. */
    struct layout copy = *layout;
    struct compiler c = {.layout = &copy};
    struct position position = {.known = 3, .order = ORDER_START};
    struct folded_size folded_size = {0};
    spot->type = NULL;
    for (int r = 0; r < ROOT_COUNT && layout->start_mask <= 7; r++) {
        const struct type *type = layout->root[r];
        ttr_text wanted = r == (int)root ? name : (ttr_text){NULL, 0};
        const struct type outside = {.kind = TYPE_STRUCT, .align = type ? type->align : 0};
        if (!type)
            continue;
        if (!fold_type_size(&c, &outside, &position, &folded_size) ||
            !find_member_in_root(&c, (enum type_root)r, wanted, &position, &folded_size, spot) ||
            r == (int)root)
            break;
    }
    return spot->type != NULL;
}
