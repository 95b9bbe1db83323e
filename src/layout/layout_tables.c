/* Lookup tables of steps, built from ranges of values: labels of enumerations, options of variants,
 * selectors of optionals, masks of flags. Fields with the same set of labels share a table.
 * Overlapping ranges are split at compile time, so every lookup is a binary search, even for a
 * description that is made to be slow. */
#include <stdlib.h>

#include "layout/layout_emit.h"

static int compare_entries(const void *a, const void *b)
{
    uint64_t x = ((const struct lookup_entry *)a)->low, y = ((const struct lookup_entry *)b)->low;
    return x < y ? -1 : x > y;
}

/* The ranges of a table while it is built: `n` entries, not sorted yet. */
struct gathered {
    struct lookup_entry *entry;
    size_t n, room;
    uint64_t turn;
};

static bool begin_gathering(struct compiler *c, struct gathered *all, uint64_t room, bool is_signed)
{
    *all = (struct gathered){.turn = is_signed ? UINT64_C(1) << 63 : 0, .room = (size_t)room + 1};
    if (room > COMPILE_VISITS)
        return compiler_refuse(c, "more than %u ranges of values", COMPILE_VISITS);
    all->entry = alloc_zero(&c->spec->t->counted, all->room, sizeof *all->entry);
    if (!all->entry)
        (void)fail_memory(c->error);
    return all->entry != NULL;
}

static void add_entries(struct gathered *all, const struct type_range *ranges, uint32_t n,
                        uint32_t index)
{
    for (uint32_t i = 0; i < n; i++) {
        struct lookup_entry entry = {ranges[i].low ^ all->turn, ranges[i].high ^ all->turn, index};
        if (entry.low <= entry.high)
            all->entry[all->n++] = entry;
    }
}

/* Binary min-heap, ordered by index, of the entries that contain the current value of the sweep. */
struct heap {
    struct lookup_entry *entry;
    size_t n;
};

static void heap_push(struct heap *heap, struct lookup_entry entry)
{
    size_t at = heap->n++;
    for (; at > 0 && heap->entry[(at - 1) / 2].index > entry.index; at = (at - 1) / 2)
        heap->entry[at] = heap->entry[(at - 1) / 2];
    heap->entry[at] = entry;
}

static void heap_pop(struct heap *heap)
{
    struct lookup_entry last = heap->entry[--heap->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        child += child + 1 < heap->n && heap->entry[child + 1].index < heap->entry[child].index;
        if (last.index <= heap->entry[child].index)
            break;
        heap->entry[at] = heap->entry[child];
    }
    heap->entry[at] = last;
}

/* Plane sweep over sorted, overlapping entries: where several entries contain a value, the one with
 * the lowest index is kept. `to` has room for twice as many entries. Returns the number of entries
 * written. Cost: O(n log n). */
static size_t merge_sorted_ranges(const struct gathered *all, struct heap *heap,
                                  struct lookup_entry *to)
{
    size_t i = 0, n = 0;
    for (uint64_t x = 0; heap->n > 0 || i < all->n;) {
        x = heap->n == 0 ? all->entry[i].low : x;
        while (i < all->n && all->entry[i].low == x)
            heap_push(heap, all->entry[i++]);
        while (heap->n > 0 && heap->entry[0].high < x)
            heap_pop(heap);
        if (heap->n == 0)
            continue;
        struct lookup_entry part = {x, heap->entry[0].high, heap->entry[0].index};
        if (i < all->n && all->entry[i].low <= part.high)
            part.high = all->entry[i].low - 1;
        to[n++] = part;
        if (part.high == UINT64_MAX)
            break;
        x = part.high + 1;
    }
    return n;
}

/* Copies sorted entries into a lookup in the arena. Returns NULL if memory runs out. */
static struct lookup *copy_lookup(struct compiler *c, const struct gathered *all,
                                  const struct lookup_entry *entry, size_t n)
{
    struct lookup *lookup = arena_alloc(c->spec->arena, sizeof *lookup + n * sizeof *entry);
    if (!lookup) {
        (void)fail_memory(c->error);
        return NULL;
    }
    *lookup =
        (struct lookup){.turn = all->turn, .n = (uint32_t)n, .has_overlaps = entry != all->entry};
    if (n)
        memcpy(lookup->entry, entry, n * sizeof *entry);
    return lookup;
}

static struct lookup *split_overlaps(struct compiler *c, const struct gathered *all)
{
    const struct alloc *alloc = &c->spec->t->counted;
    struct lookup *lookup = NULL;
    struct lookup_entry *apart = alloc_zero(alloc, 2 * all->n, sizeof *apart);
    struct heap heap = {.entry = alloc_zero(alloc, all->n, sizeof *heap.entry)};
    if (apart && heap.entry)
        lookup = copy_lookup(c, all, apart, merge_sorted_ranges(all, &heap, apart));
    else
        (void)fail_memory(c->error);
    alloc_free(alloc, apart, 2 * all->n, sizeof *apart);
    alloc_free(alloc, heap.entry, all->n, sizeof *heap.entry);
    return lookup;
}

/* Sorts the gathered entries, builds the lookup table from them, and frees them. */
static struct lookup *build_lookup(struct compiler *c, struct gathered *all)
{
    bool has_overlaps = false;
    qsort(all->entry, all->n, sizeof *all->entry, compare_entries);
    for (size_t i = 1; i < all->n; i++)
        has_overlaps |= all->entry[i].low <= all->entry[i - 1].high;
    struct lookup *lookup =
        has_overlaps ? split_overlaps(c, all) : copy_lookup(c, all, all->entry, all->n);
    alloc_free(&c->spec->t->counted, all->entry, all->room, sizeof *all->entry);
    return lookup;
}

static const void *new_label_table(struct compiler *c, const struct type_labels *labels)
{
    uint64_t entries = 0;
    struct gathered all;
    for (uint32_t i = 0; i < labels->n; i++)
        entries += labels->label[i].ranges_n;
    if (!begin_gathering(c, &all, entries, labels->is_signed))
        return NULL;
    for (uint32_t i = 0; i < labels->n; i++)
        add_entries(&all, labels->label[i].ranges, labels->label[i].ranges_n, i);
    return build_lookup(c, &all);
}

static const void *new_flag_table(struct compiler *c, const struct type_labels *labels)
{
    uint64_t *masks = arena_alloc(c->spec->arena, (labels->n + UINT64_C(1)) * sizeof *masks);
    if (!masks)
        (void)fail_memory(c->error);
    for (uint32_t i = 0; masks && i < labels->n; i++)
        masks[i] = type_flag_mask(&labels->label[i]);
    return masks;
}

const void *compile_label_table(struct compiler *c, const struct type *type)
{
    bool is_flags = type->kind == TYPE_FLAGS;
    for (size_t i = 0; i < c->tables_n; i++)
        if (c->tables[i].labels == type->labels && c->tables[i].is_flags == is_flags)
            return c->tables[i].table;
    if (!alloc_reserve(&c->spec->t->counted, (void **)&c->tables, &c->tables_capacity,
                       c->tables_n + 1, sizeof *c->tables)) {
        (void)fail_memory(c->error);
        return NULL;
    }
    const void *table =
        is_flags ? new_flag_table(c, type->labels) : new_label_table(c, type->labels);
    if (table)
        c->tables[c->tables_n++] = (struct label_table){type->labels, table, is_flags};
    return table;
}

const void *compile_selector_ranges(struct compiler *c, const struct type *type)
{
    struct gathered all;
    if (!begin_gathering(c, &all, type->ranges_n, type->is_selector_signed))
        return NULL;
    add_entries(&all, type->ranges, type->ranges_n, 0);
    return build_lookup(c, &all);
}

const void *compile_option_table(struct compiler *c, const struct type *type, const uint32_t *steps)
{
    uint64_t entries = 0;
    struct gathered all;
    for (uint32_t i = 0; i < type->members_n; i++)
        entries += type->members[i].ranges_n;
    if (!begin_gathering(c, &all, entries, type->is_selector_signed))
        return NULL;
    /* Step numbers ascend with the options, so the first of several matching options is
     * selected. */
    for (uint32_t i = 0; i < type->members_n; i++)
        add_entries(&all, type->members[i].ranges, type->members[i].ranges_n, steps[i]);
    return build_lookup(c, &all);
}
