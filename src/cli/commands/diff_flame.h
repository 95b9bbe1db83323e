/* Difference flame graph: the spans of two traces by the path of their names, as SVG. */
#ifndef TRACETTA_CLI_COMMANDS_DIFF_FLAME_H
#define TRACETTA_CLI_COMMANDS_DIFF_FLAME_H

#include "cli/commands/query_session.h"

/* The graph is made of the rows of this statement: id, parent, name, own time. */
#define DIFF_FLAME_SQL "SELECT id, parent_id, ifnull(name, '-'), ifnull(self_dur, 0) FROM slice"

/* Writes the graph of two sessions (before, after) to --output of the call, or to stdout. Returns
 * the outcome. */
int write_diff_flame(const struct call *call, const struct query_library *library,
                     struct query_session sessions[2]);

#endif
