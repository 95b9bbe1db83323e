/* Database files of SQLite. */
#ifndef TRACETTA_TABLE_FILES_SQLITE_FILE_H
#define TRACETTA_TABLE_FILES_SQLITE_FILE_H

#include <sqlite3.h>

#include <tracetta/query.h>

/* Writes the rows of n statements as tables of a database file. */
TTR_MUST ttr_status sqlite_file_write(ttr_query *query, const ttr_query_table *tables, size_t n,
                                      const char *path, ttr_error *error);

#endif
