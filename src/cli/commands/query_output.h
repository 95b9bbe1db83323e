/* Prints results of queries as tables, CSV, JSON and the like. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_OUTPUT_H
#define TRACETTA_CLI_COMMANDS_QUERY_OUTPUT_H

#include <tracetta/query.h>

struct call;

struct query_library;

/* Prints all rows of a result in the format of the call. `has_head` is false if rows as CSV and TSV
 * continue those of an earlier result. Returns TTR_END, or why it stopped. */
ttr_status print_query_result(const struct call *call, const struct query_library *library,
                              ttr_result *result, bool has_head, ttr_error *error);

#endif
