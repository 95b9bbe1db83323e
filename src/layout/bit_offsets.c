/* Recursive descent over the types of a record. Each number read is remembered under the hash of
 * its path of member names. All elements of an array share a path, so a reference yields the number
 * that was read last. */
#include "layout/bit_offsets.h"

#include <string.h>

#include "base/hash.h"

#define SPINS_MAX 65536u

void bit_offsets_init(struct bit_offsets *places, const struct alloc *alloc)
{
    *places = (struct bit_offsets){.alloc = alloc};
    key_map_init(&places->by_path, alloc);
}

void bit_offsets_free(struct bit_offsets *places)
{
    if (!places->alloc)
        return;
    key_map_free(&places->by_path);
    alloc_free(places->alloc, places->number, places->capacity, sizeof *places->number);
}

void bit_offsets_reset(struct bit_offsets *places)
{
    key_map_free(&places->by_path);
    key_map_init(&places->by_path, places->alloc);
    places->n = 0;
    places->spins = 0;
    places->failed = false;
}

static uint64_t hash_root(enum type_root root)
{
    return hash_pair(0x706c61636573, (uint64_t)root + 1);
}

static uint64_t hash_path(uint64_t path, ttr_text name)
{
    return hash_pair(path, hash_bytes(name.p, name.n));
}

static bool remember_number(struct bit_offsets *places, uint64_t path, uint64_t value)
{
    const uint32_t *index = key_map_get(&places->by_path, path);
    if (index) {
        places->number[*index] = value;
        return true;
    }
    if (places->n >= UINT32_MAX ||
        !alloc_reserve(places->alloc, (void **)&places->number, &places->capacity, places->n + 1,
                       sizeof *places->number) ||
        !key_map_put(&places->by_path, path, (uint32_t)places->n)) {
        places->failed = true;
        return false;
    }
    places->number[places->n++] = value;
    return true;
}

/* Returns the value of the number that a reference names. Returns false if the record had no such
 * number so far. */
static bool look_up_reference(const struct bit_offsets *places,
                              const struct type_reference *reference, uint64_t *value)
{
    uint64_t path = hash_root(reference->root);
    for (uint32_t i = 0; i < reference->names_n; i++)
        path = hash_path(path, reference->names[i]);
    const uint32_t *index = key_map_get(&places->by_path, path);
    if (index)
        *value = places->number[*index];
    return index != NULL;
}

static void align(struct bit_offsets *places, unsigned log2)
{
    bits_align(&places->bits, log2);
    if (places->align)
        places->align(places->ctx, log2);
}

/* Moves bits.at past a value of n bits and calls the `value` callback for it. */
static bool report_value(struct bit_offsets *places, const struct type *type, uint64_t n)
{
    uint64_t at = places->bits.at;
    bits_skip(&places->bits, n);
    if (!places->bits.failed && places->value)
        places->value(places->ctx, type, at, n);
    return !places->bits.failed;
}

uint64_t bit_offsets_number_start(const struct type *type, uint64_t at)
{
    uint64_t mask = (UINT64_C(1) << type->align) - 1;
    at = (at + mask) & ~mask;
    if (type->unit && at % type->unit + type->bits > type->unit)
        at += type->unit - at % type->unit;
    return at;
}

static uint64_t read_number(const struct bit_offsets *places, const struct type *type)
{
    struct bits bits = places->bits;
    uint64_t x =
        type->is_big_endian ? bits_read_be(&bits, type->bits) : bits_read_le(&bits, type->bits);
    if (type->is_reversed)
        x = bits_reverse(x, type->bits);
    if (type->kind == TYPE_BOOL)
        return x != 0;
    return type->kind == TYPE_INT ? (uint64_t)bits_sign_extend(x, type->bits) : x;
}

static bool walk_number(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    uint64_t begin = bit_offsets_number_start(type, places->bits.at);
    if (begin > places->bits.end || type->bits == 0 || type->bits > places->bits.end - begin)
        return false;
    places->bits.at = begin;
    bool is_target = type->bits <= 64 && type->kind != TYPE_FLOAT && type->kind != TYPE_NULL;
    return (!is_target || remember_number(places, path, read_number(places, type))) &&
           report_value(places, type, type->bits);
}

static bool walk_variable(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    uint64_t value = 0;
    unsigned n = 0, shift = 0;
    bits_align(&places->bits, 3);
    struct bits bits = places->bits;
    const uint8_t *byte;
    do {
        byte = bits_read_bytes(&bits, 1);
        if (!byte)
            return false;
        value |= shift < 64 ? (uint64_t)(*byte & 0x7f) << shift : 0;
        shift += 7;
        n++;
    } while (*byte & 0x80);
    if (type->kind == TYPE_VAR_INT && shift < 64)
        value = (uint64_t)bits_sign_extend(value, shift);
    return remember_number(places, path, value) && report_value(places, type, (uint64_t)n * 8);
}

static bool walk_string(struct bit_offsets *places, const struct type *type)
{
    static const uint8_t zeros[4] = {0};
    uint64_t unit = type->bits / 8, n = 0;
    bits_align(&places->bits, type->align > 3 ? type->align : 3);
    struct bits bits = places->bits;
    const uint8_t *at;
    if (places->bits.failed || unit == 0 || unit > sizeof zeros)
        return false;
    do {
        at = bits_read_bytes(&bits, unit);
        n += unit;
    } while (at && memcmp(at, zeros, (size_t)unit) != 0);
    return at && report_value(places, type, n * 8);
}

/* Reads the number of elements or bytes of a type: stored directly before the data, in the number
 * that `reference` names, or fixed. */
static bool read_count(struct bit_offsets *places, const struct type *type, uint64_t *count)
{
    *count = type->count;
    if (type->has_inline_length) {
        align(places, type->minimum_align);
        uint64_t begin = bit_offsets_number_start(type->length_type, places->bits.at);
        if (begin > places->bits.end || type->length_type->bits == 0 ||
            type->length_type->bits > 64 || type->length_type->bits > places->bits.end - begin)
            return false;
        places->bits.at = begin;
        *count = read_number(places, type->length_type);
        return report_value(places, type->length_type, type->length_type->bits);
    }
    return type->reference.names_n == 0 || look_up_reference(places, &type->reference, count);
}

static bool walk_bytes(struct bit_offsets *places, const struct type *type)
{
    uint64_t count;
    if (!read_count(places, type, &count))
        return false;
    bits_align(&places->bits, type->has_inline_length || type->align < 3 ? 3 : type->align);
    return !places->bits.failed && count <= bits_left(&places->bits) / 8 &&
           report_value(places, type, count * 8);
}

static bool walk_type(struct bit_offsets *places, const struct type *type, uint64_t path);

static bool walk_array(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    uint64_t count;
    if (!type->has_inline_length)
        align(places, type->align);
    if (!read_count(places, type, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t before = places->bits.at;
        if (!walk_type(places, type->element, path))
            return false;
        if (places->bits.at == before && ++places->spins > SPINS_MAX)
            return false;
    }
    return true;
}

static bool walk_optional(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    uint64_t selector;
    if (!look_up_reference(places, &type->reference, &selector))
        return false;
    bool is_there = type->ranges_n ? type_ranges_contain(type->ranges, type->ranges_n,
                                                         type->is_selector_signed, selector)
                                   : selector != 0;
    return !is_there || walk_type(places, type->element, path);
}

static bool walk_variant(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    uint64_t selector;
    if (!look_up_reference(places, &type->reference, &selector))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (type_ranges_contain(type->members[i].ranges, type->members[i].ranges_n,
                                type->is_selector_signed, selector))
            return walk_type(places, type->members[i].type, path);
    return false;
}

static bool walk_members(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    align(places, type->align);
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!walk_type(places, type->members[i].type, hash_path(path, type->members[i].name)))
            return false;
    return !places->bits.failed;
}

static bool walk_kind(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    switch (type->kind) {
    case TYPE_VAR_UINT:
    case TYPE_VAR_INT:
        return walk_variable(places, type, path);
    case TYPE_STRING:
        return walk_string(places, type);
    case TYPE_TEXT:
    case TYPE_BLOB:
        return walk_bytes(places, type);
    case TYPE_STRUCT:
        return walk_members(places, type, path);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return walk_array(places, type, path);
    case TYPE_OPTIONAL:
        return walk_optional(places, type, path);
    case TYPE_VARIANT:
        return walk_variant(places, type, path);
    case TYPE_NONE:
        return false;
    default:
        return walk_number(places, type, path);
    }
}

static bool walk_type(struct bit_offsets *places, const struct type *type, uint64_t path)
{
    if (places->depth > TYPE_DEPTH_MAX || places->bits.failed)
        return false;
    places->depth++;
    bool is_fine = walk_kind(places, type, path);
    places->depth--;
    return is_fine && !places->bits.failed && !places->failed;
}

bool bit_offsets_walk(struct bit_offsets *places, enum type_root root, const struct type *type)
{
    places->depth = 0;
    return walk_type(places, type, hash_root(root));
}
