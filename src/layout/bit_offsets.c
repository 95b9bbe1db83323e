/* Recursive descent over the types of a record. Each number read is remembered under the hash of
 * its path of member names. All elements of an array share a path, so a reference yields the number
 * that was read last. */
#include "layout/bit_offsets.h"

#include <string.h>

#include "base/hash.h"

#define SPINS_MAX 65536u

void bit_offsets_init(struct bit_offsets *offsets, const struct alloc *alloc)
{
    *offsets = (struct bit_offsets){.alloc = alloc};
    key_map_init(&offsets->by_path, alloc);
}

void bit_offsets_free(struct bit_offsets *offsets)
{
    if (!offsets->alloc)
        return;
    key_map_free(&offsets->by_path);
    alloc_free(offsets->alloc, offsets->number, offsets->capacity, sizeof *offsets->number);
}

void bit_offsets_reset(struct bit_offsets *offsets)
{
    key_map_free(&offsets->by_path);
    key_map_init(&offsets->by_path, offsets->alloc);
    offsets->n = 0;
    offsets->spins = 0;
    offsets->failed = false;
}

static uint64_t hash_root(enum type_root root)
{
    return hash_pair(0x706c61636573, (uint64_t)root + 1);
}

static uint64_t hash_path(uint64_t path, ttr_text name)
{
    return hash_pair(path, hash_bytes(name.p, name.n));
}

static bool remember_number(struct bit_offsets *offsets, uint64_t path, uint64_t value)
{
    const uint32_t *index = key_map_get(&offsets->by_path, path);
    if (index) {
        offsets->number[*index] = value;
        return true;
    }
    if (offsets->n >= UINT32_MAX ||
        !alloc_reserve(offsets->alloc, (void **)&offsets->number, &offsets->capacity,
                       offsets->n + 1, sizeof *offsets->number) ||
        !key_map_put(&offsets->by_path, path, (uint32_t)offsets->n)) {
        offsets->failed = true;
        return false;
    }
    offsets->number[offsets->n++] = value;
    return true;
}

/* Returns the value of the number that a reference names. Returns false if the record had no such
 * number so far. */
static bool find_reference_value(const struct bit_offsets *offsets,
                                 const struct type_reference *reference, uint64_t *value)
{
    uint64_t path = hash_root(reference->root);
    for (uint32_t i = 0; i < reference->names_n; i++)
        path = hash_path(path, reference->names[i]);
    const uint32_t *index = key_map_get(&offsets->by_path, path);
    if (index)
        *value = offsets->number[*index];
    return index != NULL;
}

static void skip_padding(struct bit_offsets *offsets, unsigned log2)
{
    bits_align(&offsets->bits, log2);
    if (offsets->align)
        offsets->align(offsets->ctx, log2);
}

/* Moves bits.at past a value of n bits and calls the `value` callback for it. */
static bool report_value(struct bit_offsets *offsets, const struct type *type, uint64_t n)
{
    uint64_t at = offsets->bits.at;
    bits_skip(&offsets->bits, n);
    if (!offsets->bits.failed && offsets->value)
        offsets->value(offsets->ctx, type, at, n);
    return !offsets->bits.failed;
}

uint64_t bit_offsets_align_number(const struct type *type, uint64_t at)
{
    uint64_t mask = (UINT64_C(1) << type->align) - 1;
    at = (at + mask) & ~mask;
    if (type->unit && at % type->unit + type->bits > type->unit)
        at += type->unit - at % type->unit;
    return at;
}

static uint64_t read_number(const struct bit_offsets *offsets, const struct type *type)
{
    struct bits bits = offsets->bits;
    uint64_t x =
        type->is_big_endian ? bits_read_be(&bits, type->bits) : bits_read_le(&bits, type->bits);
    if (type->is_reversed)
        x = bits_reverse(x, type->bits);
    if (type->kind == TYPE_BOOL)
        return x != 0;
    return type->kind == TYPE_INT ? (uint64_t)bits_sign_extend(x, type->bits) : x;
}

static bool visit_number(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    uint64_t begin = bit_offsets_align_number(type, offsets->bits.at);
    if (begin > offsets->bits.end || type->bits == 0 || type->bits > offsets->bits.end - begin)
        return false;
    offsets->bits.at = begin;
    bool is_target = type->bits <= 64 && type->kind != TYPE_FLOAT && type->kind != TYPE_NULL;
    return (!is_target || remember_number(offsets, path, read_number(offsets, type))) &&
           report_value(offsets, type, type->bits);
}

static bool visit_variable(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    uint64_t value = 0;
    unsigned n = 0, shift = 0;
    bits_align(&offsets->bits, 3);
    struct bits bits = offsets->bits;
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
    return remember_number(offsets, path, value) && report_value(offsets, type, (uint64_t)n * 8);
}

static bool visit_string(struct bit_offsets *offsets, const struct type *type)
{
    static const uint8_t zeros[4] = {0};
    uint64_t unit = type->bits / 8, n = 0;
    bits_align(&offsets->bits, type->align > 3 ? type->align : 3);
    struct bits bits = offsets->bits;
    const uint8_t *at;
    if (offsets->bits.failed || unit == 0 || unit > sizeof zeros)
        return false;
    do {
        at = bits_read_bytes(&bits, unit);
        n += unit;
    } while (at && memcmp(at, zeros, (size_t)unit) != 0);
    return at && report_value(offsets, type, n * 8);
}

/* Reads the number of elements or bytes of a type: stored directly before the data, in the number
 * that `reference` names, or fixed. */
static bool read_count(struct bit_offsets *offsets, const struct type *type, uint64_t *count)
{
    *count = type->count;
    if (type->has_inline_length) {
        skip_padding(offsets, type->minimum_align);
        uint64_t begin = bit_offsets_align_number(type->length_type, offsets->bits.at);
        if (begin > offsets->bits.end || type->length_type->bits == 0 ||
            type->length_type->bits > 64 || type->length_type->bits > offsets->bits.end - begin)
            return false;
        offsets->bits.at = begin;
        *count = read_number(offsets, type->length_type);
        return report_value(offsets, type->length_type, type->length_type->bits);
    }
    return type->reference.names_n == 0 || find_reference_value(offsets, &type->reference, count);
}

static bool visit_bytes(struct bit_offsets *offsets, const struct type *type)
{
    uint64_t count;
    if (!read_count(offsets, type, &count))
        return false;
    bits_align(&offsets->bits, type->has_inline_length || type->align < 3 ? 3 : type->align);
    return !offsets->bits.failed && count <= bits_left(&offsets->bits) / 8 &&
           report_value(offsets, type, count * 8);
}

static bool visit_type(struct bit_offsets *offsets, const struct type *type, uint64_t path);

static bool visit_array(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    uint64_t count;
    if (!type->has_inline_length)
        skip_padding(offsets, type->align);
    if (!read_count(offsets, type, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t before = offsets->bits.at;
        if (!visit_type(offsets, type->element, path))
            return false;
        if (offsets->bits.at == before && ++offsets->spins > SPINS_MAX)
            return false;
    }
    return true;
}

static bool visit_optional(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    uint64_t selector;
    if (!find_reference_value(offsets, &type->reference, &selector))
        return false;
    bool is_there = type->ranges_n ? type_ranges_contain(type->ranges, type->ranges_n,
                                                         type->is_selector_signed, selector)
                                   : selector != 0;
    return !is_there || visit_type(offsets, type->element, path);
}

static bool visit_variant(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    uint64_t selector;
    if (!find_reference_value(offsets, &type->reference, &selector))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (type_ranges_contain(type->members[i].ranges, type->members[i].ranges_n,
                                type->is_selector_signed, selector))
            return visit_type(offsets, type->members[i].type, path);
    return false;
}

static bool visit_members(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    skip_padding(offsets, type->align);
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!visit_type(offsets, type->members[i].type, hash_path(path, type->members[i].name)))
            return false;
    return !offsets->bits.failed;
}

static bool visit_kind(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    switch (type->kind) {
    case TYPE_VAR_UINT:
    case TYPE_VAR_INT:
        return visit_variable(offsets, type, path);
    case TYPE_STRING:
        return visit_string(offsets, type);
    case TYPE_TEXT:
    case TYPE_BLOB:
        return visit_bytes(offsets, type);
    case TYPE_STRUCT:
        return visit_members(offsets, type, path);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return visit_array(offsets, type, path);
    case TYPE_OPTIONAL:
        return visit_optional(offsets, type, path);
    case TYPE_VARIANT:
        return visit_variant(offsets, type, path);
    case TYPE_NONE:
        return false;
    default:
        return visit_number(offsets, type, path);
    }
}

static bool visit_type(struct bit_offsets *offsets, const struct type *type, uint64_t path)
{
    if (offsets->depth > TYPE_DEPTH_MAX || offsets->bits.failed)
        return false;
    offsets->depth++;
    bool is_fine = visit_kind(offsets, type, path);
    offsets->depth--;
    return is_fine && !offsets->bits.failed && !offsets->failed;
}

bool bit_offsets_visit_root(struct bit_offsets *offsets, enum type_root root,
                            const struct type *type)
{
    offsets->depth = 0;
    return visit_type(offsets, type, hash_root(root));
}
