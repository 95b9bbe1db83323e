/* Output of tables as Parquet, Arrow or SQLite, for convert and query. */
#ifndef TRACETTA_CLI_COMMANDS_TABLE_OUTPUT_H
#define TRACETTA_CLI_COMMANDS_TABLE_OUTPUT_H

#include "cli/commands/query_session.h"

/* Returns the format of tables that --to or --format names, or else the suffix of the output:
 * "trace .parquet", ".arrow", ".sqlite". Returns NULL if neither does. Both may be NULL. */
const char *find_table_format(const char *format, const char *output);

/* Writes all tables of the inputs: a folder, or one file as SQLite. Returns the outcome. */
int convert_to_tables(struct call *call, const char *format);

/* Writes the rows of a statement to --output, or to standard output. Returns the outcome. */
int write_query_result(const struct call *call, const struct query_library *library,
                       ttr_query *query, const char *sql, const char *format);

#endif
