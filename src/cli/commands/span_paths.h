/* Sums of spans by the path of their names, for "tree --aggregate".
 *
 * Ownership: paths_free frees everything; names are ids of the context of the trace. */
#ifndef TRACETTA_CLI_COMMANDS_SPAN_PATHS_H
#define TRACETTA_CLI_COMMANDS_SPAN_PATHS_H

#include <tracetta/analyse.h>

#define PATHS_NONE UINT32_MAX
/* value of `thread` for activities, which are not part of a thread */
#define PATHS_ACTIVITY UINT32_MAX

/* All spans of one thread with the same names from the root on. */
struct path {
    uint64_t count, total, self; /* ns */
    ttr_id name, thread;
    uint32_t parent, first_child, next;
    uint32_t depth;
};

struct paths {
    struct path *path;
    uint32_t n, capacity;
    uint32_t *slot; /* hash table of indices + 1 by (parent or thread, name) */
    uint32_t slots_n;
};

/* Sums the spans of a forest by path. Siblings are ordered by falling total. Returns false if
 * memory is exhausted. */
bool paths_make(struct paths *paths, const ttr_tree *tree);

void paths_free(struct paths *paths);

#endif
