/* Sums of spans by the path of their names, for "tree --aggregate".
 *
 * Ownership: span_paths_free frees everything; names are ids of the context of the trace. */
#ifndef TRACETTA_CLI_COMMANDS_SPAN_PATHS_H
#define TRACETTA_CLI_COMMANDS_SPAN_PATHS_H

#include <tracetta/analyse.h>

#define PATHS_NONE UINT32_MAX
/* value of path.thread for activities, which are not bound to a thread */
#define PATHS_ACTIVITY UINT32_MAX

/* The spans of one thread that have the same names from the root on. */
struct path {
    uint64_t count, total, self; /* ns */
    ttr_id name, thread;
    uint32_t parent, first_child, next;
    uint32_t depth;
};

struct paths {
    struct path *path;
    uint32_t n, capacity;
    uint32_t *slot; /* hash table by (parent or thread, name): index of a path, plus 1 */
    uint32_t slots_n;
};

/* Sums the spans of a forest by path. Siblings are in descending order of total time. Returns false
 * if memory is exhausted. */
bool span_paths_build(struct paths *paths, const ttr_tree *tree);

void span_paths_free(struct paths *paths);

#endif
