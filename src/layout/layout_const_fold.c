/* Places and sizes known before any record is seen.
 *
 * A place is what is known of a position: its residue modulo some power of two.  Fixed fields move
 * it exactly; what has a size of its own leaves it known only as far as that size is a multiple of
 * something.  A type folds when from a known place on its size is always the same: then arrays of
 * it are one multiplication. */
#include "layout/layout_compile.h"

static uint32_t low_mask(unsigned known)
{
    return (UINT32_C(1) << known) - 1;
}

void place_pass(struct place *place, uint64_t bits)
{
    place->residue = (uint32_t)(place->residue + bits) & low_mask(place->known);
}

struct place place_join(struct place a, struct place b)
{
    uint8_t known = a.known < b.known ? a.known : b.known;
    uint32_t difference = (a.residue ^ b.residue) & low_mask(known);
    if (difference && (unsigned)__builtin_ctz(difference) < known)
        known = (uint8_t)__builtin_ctz(difference);
    return (struct place){.residue = a.residue & low_mask(known),
                          .known = known,
                          .order = a.order == b.order ? a.order : (uint8_t)ORDER_ANY};
}

static bool add_bits(struct fold *fold, struct place *place, uint64_t bits)
{
    if (bits > COMPILE_BITS - fold->bits)
        return false;
    fold->bits += bits;
    place_pass(place, bits);
    return true;
}

static bool align(struct fold *fold, struct place *place, unsigned log2)
{
    return place->known >= log2 &&
           add_bits(fold, place, (0 - (uint64_t)place->residue) & low_mask(log2));
}

static bool fold_number(const struct type *type, struct place *place, struct fold *fold)
{
    enum order order = type_order(type);
    if (!align(fold, place, type->align))
        return false;
    if (type->unit) {
        bool is_power = (type->unit & (type->unit - 1)) == 0;
        if (!is_power || place->known < (unsigned)__builtin_ctz(type->unit))
            return false;
        uint32_t used = place->residue % type->unit;
        if (used && type->bits > type->unit - used && !add_bits(fold, place, type->unit - used))
            return false;
    }
    if (!place_is_at_byte(place) && place->order != order && place->order != ORDER_START)
        return false;
    place->order = (uint8_t)order;
    return add_bits(fold, place, type->bits);
}

static bool fold_bytes(const struct type *type, struct place *place, struct fold *fold)
{
    if (type->reference.names_n || type->has_inline_length || !align(fold, place, type->align) ||
        !place_is_at_byte(place))
        return false;
    return type->count <= COMPILE_BITS / 8 && add_bits(fold, place, type->count * 8);
}

/* Where elements behind the first begin, as far as it holds for all of them. */
static struct place place_of_next(struct place first, const struct place *after, uint64_t stride)
{
    unsigned known = stride ? (unsigned)__builtin_ctzll(stride) : first.known;
    first.known = known < first.known ? (uint8_t)known : first.known;
    first.residue &= low_mask(first.known);
    first.order = after->order;
    return first;
}

bool compile_fold_element(struct compiler *c, const struct type *element, struct place *place,
                          struct fold_element *fold)
{
    struct fold one = {0}, two = {0};
    struct place after = *place;
    if (place->known < element->align || !compile_fold(c, element, &after, &one))
        return false;
    uint64_t mask = low_mask(element->align);
    *fold = (struct fold_element){.bits = one.bits,
                                  .stride = (one.bits + mask) & ~mask,
                                  .spins = one.spins + (one.bits == 0)};
    /* The others must be like the first, from wherever it left off. */
    struct place next = place_of_next(*place, &after, fold->stride);
    place->order = after.order;
    return compile_fold(c, element, &next, &two) && two.bits == one.bits;
}

static bool fold_array(struct compiler *c, const struct type *type, struct place *place,
                       struct fold *fold)
{
    struct fold_element each;
    if (!align(fold, place, type->align))
        return false;
    if (type->count == 0)
        return true;
    if (!align(fold, place, type->element->align))
        return false;
    struct place first = *place;
    if (!compile_fold_element(c, type->element, &first, &each))
        return false;
    if (each.stride && type->count > COMPILE_BITS / each.stride)
        return false;
    fold->spins += each.spins && type->count > LAYOUT_EMPTY_ELEMENTS_MAX / each.spins
                       ? LAYOUT_EMPTY_ELEMENTS_MAX + 1
                       : type->count * each.spins;
    if (fold->spins > LAYOUT_EMPTY_ELEMENTS_MAX)
        fold->spins = LAYOUT_EMPTY_ELEMENTS_MAX + 1;
    place->order = first.order;
    return add_bits(fold, place, (type->count - 1) * each.stride + each.bits);
}

static bool fold_struct(struct compiler *c, const struct type *type, struct place *place,
                        struct fold *fold)
{
    if (!align(fold, place, type->align))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!compile_fold(c, type->members[i].type, place, fold))
            return false;
    return true;
}

bool compile_fold(struct compiler *c, const struct type *type, struct place *place,
                  struct fold *fold)
{
    if (!compiler_visit(c, type))
        return false;
    bool is_fixed = false;
    c->nesting++;
    if (type_is_number(type))
        is_fixed = fold_number(type, place, fold);
    else if (type->kind == TYPE_TEXT || type->kind == TYPE_BLOB)
        is_fixed = fold_bytes(type, place, fold);
    else if (type->kind == TYPE_ARRAY)
        is_fixed = fold_array(c, type, place, fold);
    else if (type->kind == TYPE_STRUCT)
        is_fixed = fold_struct(c, type, place, fold);
    c->nesting--;
    return is_fixed;
}
