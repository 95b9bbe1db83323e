/* Constant folding: positions and sizes that are the same in every record.
 *
 * A position is known as a residue modulo a power of two (struct position). Fields of fixed size
 * move it exactly; after a field of variable size, only the low bits that its size granularity
 * guarantees are known. A type folds if its size does not depend on the record, given the position
 * at which it starts. An array of such a type is skipped by one multiplication. */
#include "layout/layout_compile.h"

static uint32_t make_low_mask(unsigned known)
{
    return (UINT32_C(1) << known) - 1;
}

void position_advance(struct position *position, uint64_t bits)
{
    position->residue = (uint32_t)(position->residue + bits) & make_low_mask(position->known);
}

struct position position_join(struct position a, struct position b)
{
    uint8_t known = a.known < b.known ? a.known : b.known;
    uint32_t difference = (a.residue ^ b.residue) & make_low_mask(known);
    if (difference && (unsigned)__builtin_ctz(difference) < known)
        known = (uint8_t)__builtin_ctz(difference);
    return (struct position){.residue = a.residue & make_low_mask(known),
                             .known = known,
                             .order = a.order == b.order ? a.order : (uint8_t)ORDER_ANY};
}

static bool fold_add_bits(struct folded_size *folded_size, struct position *position, uint64_t bits)
{
    if (bits > COMPILE_BITS - folded_size->bits)
        return false;
    folded_size->bits += bits;
    position_advance(position, bits);
    return true;
}

static bool fold_alignment(struct folded_size *folded_size, struct position *position,
                           unsigned log2)
{
    return position->known >= log2 &&
           fold_add_bits(folded_size, position,
                         (0 - (uint64_t)position->residue) & make_low_mask(log2));
}

static bool fold_number(const struct type *type, struct position *position,
                        struct folded_size *folded_size)
{
    enum order order = type_get_byte_order(type);
    if (!fold_alignment(folded_size, position, type->align))
        return false;
    if (type->unit) {
        bool is_power = (type->unit & (type->unit - 1)) == 0;
        if (!is_power || position->known < (unsigned)__builtin_ctz(type->unit))
            return false;
        uint32_t used = position->residue % type->unit;
        if (used && type->bits > type->unit - used &&
            !fold_add_bits(folded_size, position, type->unit - used))
            return false;
    }
    if (!position_is_byte_aligned(position) && position->order != order &&
        position->order != ORDER_START)
        return false;
    position->order = (uint8_t)order;
    return fold_add_bits(folded_size, position, type->bits);
}

static bool fold_bytes(const struct type *type, struct position *position,
                       struct folded_size *folded_size)
{
    if (type->reference.names_n || type->has_inline_length ||
        !fold_alignment(folded_size, position, type->align) || !position_is_byte_aligned(position))
        return false;
    return type->count <= COMPILE_BITS / 8 && fold_add_bits(folded_size, position, type->count * 8);
}

/* Returns what is known about the positions of all elements after the first. `after` is the
 * position after the first element. */
static struct position get_next_element_position(struct position first,
                                                 const struct position *after, uint64_t stride)
{
    unsigned known = stride ? (unsigned)__builtin_ctzll(stride) : first.known;
    first.known = known < first.known ? (uint8_t)known : first.known;
    first.residue &= make_low_mask(first.known);
    first.order = after->order;
    return first;
}

bool fold_element_size(struct compiler *c, const struct type *element, struct position *position,
                       struct folded_element *folded_size)
{
    struct folded_size one = {0}, two = {0};
    struct position after = *position;
    if (position->known < element->align || !fold_type_size(c, element, &after, &one))
        return false;
    uint64_t mask = make_low_mask(element->align);
    *folded_size = (struct folded_element){.bits = one.bits,
                                           .stride = (one.bits + mask) & ~mask,
                                           .spins = one.spins + (one.bits == 0)};
    /* Positions of later elements are known less exactly than that of the first. The array folds
     * only if an element has the same size at both. */
    struct position next = get_next_element_position(*position, &after, folded_size->stride);
    position->order = after.order;
    return fold_type_size(c, element, &next, &two) && two.bits == one.bits;
}

static bool fold_array(struct compiler *c, const struct type *type, struct position *position,
                       struct folded_size *folded_size)
{
    struct folded_element each;
    if (!fold_alignment(folded_size, position, type->align))
        return false;
    if (type->count == 0)
        return true;
    if (!fold_alignment(folded_size, position, type->element->align))
        return false;
    struct position first = *position;
    if (!fold_element_size(c, type->element, &first, &each))
        return false;
    if (each.stride && type->count > COMPILE_BITS / each.stride)
        return false;
    folded_size->spins += each.spins && type->count > LAYOUT_EMPTY_ELEMENTS_MAX / each.spins
                              ? LAYOUT_EMPTY_ELEMENTS_MAX + 1
                              : type->count * each.spins;
    if (folded_size->spins > LAYOUT_EMPTY_ELEMENTS_MAX)
        folded_size->spins = LAYOUT_EMPTY_ELEMENTS_MAX + 1;
    position->order = first.order;
    return fold_add_bits(folded_size, position, (type->count - 1) * each.stride + each.bits);
}

static bool fold_struct(struct compiler *c, const struct type *type, struct position *position,
                        struct folded_size *folded_size)
{
    if (!fold_alignment(folded_size, position, type->align))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!fold_type_size(c, type->members[i].type, position, folded_size))
            return false;
    return true;
}

bool fold_type_size(struct compiler *c, const struct type *type, struct position *position,
                    struct folded_size *folded_size)
{
    if (!compiler_visit(c, type))
        return false;
    bool is_fixed = false;
    c->nesting++;
    if (type_is_number(type))
        is_fixed = fold_number(type, position, folded_size);
    else if (type->kind == TYPE_TEXT || type->kind == TYPE_BLOB)
        is_fixed = fold_bytes(type, position, folded_size);
    else if (type->kind == TYPE_ARRAY)
        is_fixed = fold_array(c, type, position, folded_size);
    else if (type->kind == TYPE_STRUCT)
        is_fixed = fold_struct(c, type, position, folded_size);
    c->nesting--;
    return is_fixed;
}
