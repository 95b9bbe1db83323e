/* Database files of SQLite: a table per statement. */
#include "table_files/sqlite_file.h"

#include <stdio.h>

#include "query/query.h"
#include "table_files/batch.h"

static ttr_status fail_sqlite(sqlite3 *db, ttr_error *error)
{
    return table_files_fail(error, sqlite3_errcode(db) == SQLITE_NOMEM ? TTR_E_NOMEM : TTR_E_IO,
                            "cannot be written: %s", sqlite3_errmsg(db));
}

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Creates the table, with the declared types of the columns. Returns the INSERT, or NULL. */
static sqlite3_stmt *create_table(sqlite3 *db, const char *name, const ttr_result *result)
{
    static const char *const types[] = {
        [TTR_TYPE_INT] = " INTEGER", [TTR_TYPE_FLOAT] = " REAL", [TTR_TYPE_TEXT] = " TEXT"};
    sqlite3_str *create = sqlite3_str_new(db), *insert = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(create, "CREATE TABLE \"%w\"(", name);
    sqlite3_str_appendf(insert, "INSERT INTO \"%w\" VALUES (", name);
    for (size_t i = 0; i < ttr_result_columns(result); i++) {
        const char *type = types[query_declared_type(result, i)];
        sqlite3_str_appendf(create, "%s\"%w\"%s", i ? ", " : "", ttr_result_name(result, i),
                            type ? type : "");
        sqlite3_str_appendall(insert, i ? ", ?" : "?");
    }
    sqlite3_str_appendall(create, ")");
    sqlite3_str_appendall(insert, ")");
    char *create_sql = sqlite3_str_finish(create), *insert_sql = sqlite3_str_finish(insert);
    if (create_sql && insert_sql && run(db, create_sql))
        (void)sqlite3_prepare_v2(db, insert_sql, -1, &statement, NULL);
    sqlite3_free(create_sql);
    sqlite3_free(insert_sql);
    return statement;
}

/* Binds a cell; `valid` is a buffer for its text. */
static int bind_cell(sqlite3_stmt *insert, int column, ttr_result *result, struct bytes *valid)
{
    const size_t i = (size_t)column;
    ttr_text text;
    switch (ttr_result_type(result, i)) {
    case TTR_TYPE_NULL:
        return sqlite3_bind_null(insert, column + 1);
    case TTR_TYPE_INT:
        return sqlite3_bind_int64(insert, column + 1, ttr_result_int(result, i));
    case TTR_TYPE_FLOAT:
        return sqlite3_bind_double(insert, column + 1, ttr_result_real(result, i));
    case TTR_TYPE_BYTES:
        text = ttr_result_text(result, i);
        return sqlite3_bind_blob64(insert, column + 1, text.p, text.n, SQLITE_STATIC);
    default:
        valid->n = 0;
        batch_add_text(valid, ttr_result_text(result, i));
        bytes_add_u8(valid, 0);
        return valid->is_failed ? SQLITE_NOMEM
                                : sqlite3_bind_text64(insert, column + 1, (const char *)valid->p,
                                                      valid->n - 1, SQLITE_TRANSIENT, SQLITE_UTF8);
    }
}

static ttr_status copy_rows(sqlite3 *db, sqlite3_stmt *insert, ttr_result *result, ttr_error *error)
{
    ttr_status status;
    struct bytes valid = {.p = NULL};
    const int n = (int)ttr_result_columns(result);
    while ((status = ttr_result_step(result, error)) == TTR_OK) {
        int code = SQLITE_OK;
        for (int i = 0; i < n && code == SQLITE_OK; i++)
            code = bind_cell(insert, i, result, &valid);
        if (code != SQLITE_OK || sqlite3_step(insert) != SQLITE_DONE) {
            status = fail_sqlite(db, error);
            break;
        }
        (void)sqlite3_reset(insert);
    }
    bytes_free(&valid);
    return status;
}

static ttr_status write_table(sqlite3 *db, ttr_query *query, const ttr_query_table *table,
                              ttr_error *error)
{
    ttr_result *result = ttr_query_prepare(query, table->sql, NULL, error);
    if (!result)
        return error->status;
    sqlite3_stmt *insert = create_table(db, table->name, result);
    const ttr_status status =
        insert ? copy_rows(db, insert, result, error) : fail_sqlite(db, error);
    (void)sqlite3_finalize(insert);
    ttr_result_free(result);
    return status == TTR_END ? TTR_OK : status;
}

ttr_status sqlite_file_write(ttr_query *query, const ttr_query_table *tables, size_t n,
                             const char *path, ttr_error *error)
{
    sqlite3 *db = NULL;
    ttr_status status = TTR_OK;
    /* The file has a temporary name until it is complete, so that it needs no journal. */
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK ||
        !run(db, "PRAGMA journal_mode=OFF") || !run(db, "PRAGMA synchronous=OFF") ||
        !run(db, "BEGIN"))
        status = fail_sqlite(db, error);
    for (size_t i = 0; status == TTR_OK && i < n; i++)
        status = write_table(db, query, &tables[i], error);
    if (status == TTR_OK && !run(db, "COMMIT"))
        status = fail_sqlite(db, error);
    (void)sqlite3_close(db);
    return status;
}
