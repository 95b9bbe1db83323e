/* Questions about types that every language and both programs of a layout ask: ranges, labels,
 * members. */
#include "model/type.h"

#include <string.h>

#include "base/hash.h"

bool type_ranges_contain(const struct type_range *ranges, uint32_t n, bool is_signed,
                         uint64_t value)
{
    /* Two's complement orders like unsigned numbers once the sign bit is turned. */
    uint64_t turn = is_signed ? UINT64_C(1) << 63 : 0;
    for (uint32_t i = 0; i < n; i++)
        if ((value ^ turn) >= (ranges[i].low ^ turn) && (value ^ turn) <= (ranges[i].high ^ turn))
            return true;
    return false;
}

uint64_t type_labels_hash(const struct type_labels *labels)
{
    if (labels->key)
        return labels->key;
    uint64_t key = hash_pair(labels->n, labels->is_signed);
    for (uint32_t i = 0; i < labels->n; i++) {
        const struct type_label *label = &labels->label[i];
        key = hash_pair(hash_pair(key, hash_bytes(label->name.p, label->name.n)), label->ranges_n);
        for (uint32_t k = 0; k < label->ranges_n; k++)
            key = hash_pair(hash_pair(key, label->ranges[k].low), label->ranges[k].high);
    }
    return key ? key : 1;
}

uint64_t type_labels_value_count(const struct type_labels *labels)
{
    if (labels->key)
        return labels->values;
    uint64_t values = 0;
    for (uint32_t i = 0; i < labels->n; i++)
        for (uint32_t k = 0; k < labels->label[i].ranges_n; k++) {
            const struct type_range *range = &labels->label[i].ranges[k];
            const uint64_t more = range->high - range->low, room = UINT64_MAX - values;
            values = more < room ? values + more + 1 : UINT64_MAX;
        }
    return values;
}

void type_labels_cache_counts(struct type_labels *labels)
{
    labels->values = type_labels_value_count(labels);
    labels->key = type_labels_hash(labels);
    if (labels->entries)
        return;
    for (uint32_t i = 0; i < labels->n; i++)
        labels->entries += labels->label[i].ranges_n;
}

const struct type_label *type_find_label(const struct type_labels *labels, uint64_t value,
                                         uint32_t i)
{
    for (uint32_t k = 0; k < labels->n; k++) {
        const struct type_label *label = &labels->label[k];
        if (type_ranges_contain(label->ranges, label->ranges_n, labels->is_signed, value) &&
            i-- == 0)
            return label;
    }
    return NULL;
}

uint64_t type_flag_mask(const struct type_label *label)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < label->ranges_n; i++) {
        const struct type_range *range = &label->ranges[i];
        uint64_t high = range->high < 63 ? range->high : 63;
        if (range->low <= high)
            bits |= (UINT64_MAX >> (63 - high)) & (UINT64_MAX << range->low);
    }
    return bits;
}

const struct type_label *type_find_flag(const struct type_labels *labels, uint64_t value,
                                        uint32_t i)
{
    for (uint32_t k = 0; k < labels->n; k++)
        if ((type_flag_mask(&labels->label[k]) & value) && i-- == 0)
            return &labels->label[k];
    return NULL;
}

const struct type_member *type_find_member(const struct type *type, ttr_text name)
{
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        if (member->name.n == name.n &&
            (name.n == 0 || memcmp(member->name.p, name.p, name.n) == 0))
            return member;
    }
    return NULL;
}

bool type_has_user_value(const struct type *type)
{
    if (!type || type->role)
        return false;
    if (type->kind == TYPE_OPTIONAL)
        return type_has_user_value(type->element);
    bool is_one = type->kind != TYPE_STRUCT && type->kind != TYPE_VARIANT;
    for (uint32_t i = 0; !is_one && i < type->members_n; i++)
        is_one = type_has_user_value(type->members[i].type);
    return is_one;
}

uint8_t type_largest_align(const struct type *type)
{
    uint8_t most = type ? type->align : 0;
    const struct type *const inside[] = {type ? type->element : NULL,
                                         type ? type->length_type : NULL};
    for (size_t i = 0; i < 2; i++) {
        const uint8_t align = inside[i] ? type_largest_align(inside[i]) : 0;
        most = align > most ? align : most;
    }
    for (uint32_t i = 0; type && i < type->members_n; i++) {
        const uint8_t align = type_largest_align(type->members[i].type);
        most = align > most ? align : most;
    }
    return most;
}
