/* The slowest single spans of a trace, for "tree --slowest". */
#ifndef TRACETTA_CLI_COMMANDS_TREE_SLOWEST_H
#define TRACETTA_CLI_COMMANDS_TREE_SLOWEST_H

#include <tracetta/analyse.h>

#include "cli/commands/command.h"

/* Prints the `call->set.slowest` longest spans of a tree, longest first, with the spans around
 * them. Returns OUTCOME_FINE, or the outcome after reporting that memory is exhausted. */
int print_slowest_spans(const struct call *call, const ttr *t, const ttr_tree *tree, bool is_unix);

#endif
