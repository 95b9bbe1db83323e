/* Spans put together by the path of their names: what "tree --aggregate" shows.
 *
 * Ownership: paths_free gives everything back; names are ids of the trace's context. */
#ifndef TRACETTA_CLI_COMMANDS_SPAN_PATHS_H
#define TRACETTA_CLI_COMMANDS_SPAN_PATHS_H

#include <tracetta/tracetta.h>

#define PATHS_NONE UINT32_MAX
#define PATHS_ACTIVITY UINT32_MAX /* in place of a thread: activities belong to none */

/* All spans of one thread with the same names from the root down. */
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

/* Puts the spans of a forest together; siblings end up by falling total. False when memory is out.
 */
bool paths_make(struct paths *paths, const ttr_tree *tree);

void paths_free(struct paths *paths);

#endif
