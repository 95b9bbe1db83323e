/* Sums spans by path. Visits spans from the roots down, finds the path of each in a hash table by
 * (parent path, name), and sorts each list of siblings. */
#include "cli/commands/span_paths.h"

#include <stdlib.h>

static uint64_t hash_path(uint32_t parent, ttr_id thread, ttr_id name)
{
    uint64_t hash = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= (uint64_t)thread * UINT64_C(0xc2b2ae3d27d4eb4f);
    return hash ^ hash >> 29;
}

static bool grow_slots(struct paths *paths)
{
    uint32_t slots_n = paths->slots_n ? paths->slots_n * 2 : 256;
    uint32_t *slot = calloc(slots_n, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < paths->n; i++) {
        const struct path *path = &paths->path[i];
        uint64_t at = hash_path(path->parent, path->thread, path->name);
        while (slot[at & (slots_n - 1)])
            at++;
        slot[at & (slots_n - 1)] = i + 1;
    }
    free(paths->slot);
    paths->slot = slot;
    paths->slots_n = slots_n;
    return true;
}

static bool reserve_paths(struct paths *paths)
{
    if (paths->n == paths->capacity) {
        uint32_t capacity = paths->capacity ? paths->capacity * 2 : 64;
        struct path *grown = realloc(paths->path, capacity * sizeof *grown);
        if (!grown)
            return false;
        paths->path = grown;
        paths->capacity = capacity;
    }
    return paths->n < paths->slots_n / 2 || grow_slots(paths);
}

/* Returns the index of the path (parent, name), added if it is new. Returns PATHS_NONE if memory
 * runs out. */
static uint32_t find_or_add_path(struct paths *paths, uint32_t parent, ttr_id thread, ttr_id name)
{
    if (!reserve_paths(paths))
        return PATHS_NONE;
    uint64_t at = hash_path(parent, thread, name);
    for (;; at++) {
        uint32_t *slot = &paths->slot[at & (paths->slots_n - 1)];
        if (*slot == 0) {
            uint32_t depth = parent == PATHS_NONE ? 0 : paths->path[parent].depth + 1;
            paths->path[paths->n] = (struct path){.name = name,
                                                  .thread = thread,
                                                  .parent = parent,
                                                  .first_child = PATHS_NONE,
                                                  .next = PATHS_NONE,
                                                  .depth = depth};
            *slot = ++paths->n;
            return paths->n - 1;
        }
        const struct path *path = &paths->path[*slot - 1];
        if (path->parent == parent && path->thread == thread && path->name == name)
            return *slot - 1;
    }
}

static int compare_totals(const void *left, const void *right, void *ctx)
{
    const struct paths *paths = ctx;
    const uint32_t *first = left, *second = right;
    const struct path *a = &paths->path[*first], *b = &paths->path[*second];
    bool same_list = a->parent == b->parent && (a->parent != PATHS_NONE || a->thread == b->thread);
    if (!same_list && a->parent == b->parent)
        return a->thread < b->thread ? -1 : 1;
    if (!same_list)
        return a->parent < b->parent ? -1 : 1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Links siblings. After sorting by (parent, thread, total), the siblings of a list are adjacent. */
static bool link_path_siblings(struct paths *paths)
{
    uint32_t *order = calloc((size_t)paths->n + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < paths->n; i++)
        order[i] = i;
    qsort_r(order, paths->n, sizeof *order, compare_totals, paths);
    for (uint32_t k = paths->n; k > 0; k--) {
        struct path *path = &paths->path[order[k - 1]];
        const struct path *after = k < paths->n ? &paths->path[order[k]] : NULL;
        if (after && after->parent == path->parent && after->thread == path->thread)
            path->next = order[k];
        if (path->parent != PATHS_NONE)
            paths->path[path->parent].first_child = order[k - 1];
    }
    free(order);
    return true;
}

/* Returns the span after span i in depth-first order; TTR_TREE_NONE after the last. */
static uint32_t find_next_span_depth_first(const ttr_tree_span *spans, uint32_t i)
{
    if (spans[i].first_child != TTR_TREE_NONE)
        return spans[i].first_child;
    while (i != TTR_TREE_NONE && spans[i].next == TTR_TREE_NONE)
        i = spans[i].parent;
    return i == TTR_TREE_NONE ? i : spans[i].next;
}

/* Adds a span to the sums of its path. Stores the index of the path in path_of[i]. Returns false if
 * memory is exhausted. */
static bool add_span(struct paths *paths, const ttr_tree_span *spans, uint32_t i, uint32_t *path_of)
{
    const ttr_tree_span *span = &spans[i];
    uint32_t parent = span->parent == TTR_TREE_NONE ? PATHS_NONE : path_of[span->parent];
    path_of[i] =
        find_or_add_path(paths, parent, span->activity ? PATHS_ACTIVITY : span->thread, span->name);
    if (path_of[i] == PATHS_NONE)
        return false;
    struct path *path = &paths->path[path_of[i]];
    path->count++;
    /* the sums stop at the largest value */
    path->total +=
        span->duration < UINT64_MAX - path->total ? span->duration : UINT64_MAX - path->total;
    path->self += span->self < UINT64_MAX - path->self ? span->self : UINT64_MAX - path->self;
    return true;
}

bool span_paths_build(struct paths *paths, const ttr_tree *tree)
{
    const ttr_tree_span *spans;
    const uint32_t *roots;
    uint32_t n = ttr_tree_spans(tree, &spans), roots_n = ttr_tree_roots(tree, &roots);
    *paths = (struct paths){0};
    uint32_t *path_of = calloc((size_t)n + 1, sizeof *path_of);
    bool is_fine = path_of != NULL;
    for (uint32_t k = 0; is_fine && k < roots_n; k++)
        for (uint32_t i = roots[k]; is_fine && i != TTR_TREE_NONE;
             i = find_next_span_depth_first(spans, i))
            is_fine = add_span(paths, spans, i, path_of);
    free(path_of);
    return is_fine && link_path_siblings(paths);
}

void span_paths_free(struct paths *paths)
{
    free(paths->path);
    free(paths->slot);
    *paths = (struct paths){0};
}
