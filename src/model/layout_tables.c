/* Tables that steps use: values to labels, to options, to true or false; bits of flags.  One for each set of labels in a layout, however
 * many fields have it. */
#include <stdlib.h>

#include "model/layout_emit.h"

static int compare_entries(const void *a, const void *b)
{
    uint64_t x = ((const struct lookup_entry *)a)->low, y = ((const struct lookup_entry *)b)->low;
    return x < y ? -1 : x > y;
}

static void add_entries(struct lookup *lookup, const struct type_range *ranges, uint32_t n, uint32_t index)
{
    for (uint32_t i = 0; i < n; i++) {
        struct lookup_entry entry = {ranges[i].low ^ lookup->turn, ranges[i].high ^ lookup->turn, index};
        if (entry.low <= entry.high)
            lookup->entry[lookup->n++] = entry;
    }
}

static struct lookup *new_lookup(struct compiler *c, uint64_t entries, bool is_signed)
{
    struct lookup *lookup = entries > COMPILE_VISITS ? NULL : arena_take(c->spec->arena, sizeof *lookup + (size_t)entries * sizeof lookup->entry[0]);
    if (!lookup) {
        (void)fail_memory(c->error);
        return NULL;
    }
    lookup->turn = is_signed ? UINT64_C(1) << 63 : 0;
    lookup->n = 0;
    lookup->is_sorted = false;
    return lookup;
}

/* True where no two entries, now sorted, hold the same value. */
static bool sort(struct lookup *lookup)
{
    qsort(lookup->entry, lookup->n, sizeof lookup->entry[0], compare_entries);
    lookup->is_sorted = true;
    for (uint32_t i = 1; i < lookup->n; i++)
        lookup->is_sorted &= lookup->entry[i].low > lookup->entry[i - 1].high;
    return lookup->is_sorted;
}

static void add_labels(struct lookup *lookup, const struct type_labels *labels)
{
    lookup->n = 0;
    for (uint32_t i = 0; i < labels->n; i++)
        add_entries(lookup, labels->label[i].ranges, labels->label[i].ranges_n, i);
}

static const void *new_label_table(struct compiler *c, const struct type_labels *labels)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < labels->n; i++)
        entries += labels->label[i].ranges_n;
    struct lookup *lookup = new_lookup(c, entries, labels->is_signed);
    if (!lookup)
        return NULL;
    add_labels(lookup, labels);
    if (!sort(lookup))
        add_labels(lookup, labels);
    return lookup;
}

static const void *new_flag_table(struct compiler *c, const struct type_labels *labels)
{
    uint64_t *masks = arena_take(c->spec->arena, (labels->n + UINT64_C(1)) * sizeof *masks);
    if (!masks)
        (void)fail_memory(c->error);
    for (uint32_t i = 0; masks && i < labels->n; i++)
        masks[i] = type_flag_bits(&labels->label[i]);
    return masks;
}

const void *compile_labels(struct compiler *c, const struct type *type)
{
    bool is_flags = type->kind == TYPE_FLAGS;
    for (size_t i = 0; i < c->tables_n; i++)
        if (c->tables[i].labels == type->labels && c->tables[i].is_flags == is_flags)
            return c->tables[i].table;
    if (!alloc_reserve(&c->spec->t->counted, (void **)&c->tables, &c->tables_capacity, c->tables_n + 1, sizeof *c->tables)) {
        (void)fail_memory(c->error);
        return NULL;
    }
    const void *table = is_flags ? new_flag_table(c, type->labels) : new_label_table(c, type->labels);
    if (table)
        c->tables[c->tables_n++] = (struct label_table){type->labels, table, is_flags};
    return table;
}

const void *compile_values(struct compiler *c, const struct type *type)
{
    struct lookup *lookup = new_lookup(c, type->ranges_n, type->is_selector_signed);
    if (!lookup)
        return NULL;
    add_entries(lookup, type->ranges, type->ranges_n, 0);
    (void)sort(lookup);
    return lookup;
}

const void *compile_options(struct compiler *c, const struct type *type, const uint32_t *steps)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < type->members_n; i++)
        entries += type->members[i].ranges_n;
    struct lookup *lookup = new_lookup(c, entries, type->is_selector_signed);
    for (int round = 0; lookup && round < 2 && !lookup->is_sorted; round++) {
        lookup->n = 0;
        for (uint32_t i = 0; i < type->members_n; i++)
            add_entries(lookup, type->members[i].ranges, type->members[i].ranges_n, steps[i]);
        if (round == 0)
            (void)sort(lookup);
    }
    return lookup;
}
