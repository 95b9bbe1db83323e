/* Databases and results (tracetta/query.h).
 *
 * A leaf is a part of a statement that the column scan runs instead of SQLite (leaf.h). */
#include "query/leaf.h"
#include "query/query_edits.h"
#include "query/query_intervals.h"
#include "query/sql.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* number of SQLite instructions between two calls of the progress function */
#define PROGRESS_STEPS 10000
#define NAME_MAX_BYTES 256u
#define LENGTH_MAX (64 << 20) /* bytes of a text or a row */
/* Bytes that SQLite may use, in all databases of the process together.  SQLite merges derived
 * tables into the statement around them, which can grow exponentially, before any progress is
 * reported. */
#define SQLITE_MEMORY_MAX ((sqlite3_int64)2 << 30)
/* The least that SQLite needs for its own tables. */
#define SQLITE_MEMORY_MIN ((sqlite3_int64)1 << 20)
#define SCHEMAS_MAX 10 /* maximum number of databases that SQLite can attach */

/* --- Errors --- */

static void set_error(ttr_error *error, ttr_status status, uint64_t offset, const char *text)
{
    if (!error)
        return;
    *error = (ttr_error){.status = status, .offset = offset};
    (void)snprintf(error->text, sizeof error->text, "%s", text);
}

static ttr_status convert_sqlite_status(int result)
{
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        return TTR_E_NOMEM;
    case SQLITE_INTERRUPT:
        return TTR_AGAIN;
    case SQLITE_TOOBIG:
    case SQLITE_FULL:
        return TTR_E_LIMIT;
    default:
        return TTR_E_MISUSE;
    }
}

/* --- Names --- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

/* Returns the end of a quoted text or a comment that starts at p, or p. */
static const char *skip_quoted(const char *p)
{
    if (*p == '\'') {
        for (p++; *p && *p != '\''; p++)
            ;
        return *p ? p + 1 : p;
    }
    if (p[0] == '-' && p[1] == '-')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    return p;
}

/* Copies the identifier at *p, quoted or not. Returns false if there is none. */
static bool copy_name(const char **p, char name[NAME_MAX_BYTES])
{
    const char *at = *p;
    const char end = *at == '"' ? '"' : *at == '`' ? '`' : *at == '[' ? ']' : 0;
    size_t n;
    if (end) {
        at++;
        n = strcspn(at, (char[]){end, 0});
        *p = at + n + (at[n] != 0);
    } else {
        if (!is_name_byte(*at) || isdigit((unsigned char)*at))
            return false;
        for (n = 0; is_name_byte(at[n]); n++)
            ;
        *p = at + n;
        /* These keywords are also column names of the store. */
        if (sqlite3_keyword_check(at, (int)n) &&
            sqlite3_strnicmp(at, "key", (int)n < 3 ? 3 : (int)n) &&
            sqlite3_strnicmp(at, "offset", (int)n < 6 ? 6 : (int)n))
            return false;
    }
    if (n == 0 || n >= NAME_MAX_BYTES)
        return false;
    memcpy(name, at, n);
    name[n] = '\0';
    return true;
}

/* Returns true if a "*" is all columns: not count(*) and not a product.  `before` is the text
 * before it. */
static bool is_star(const char *sql, const char *before)
{
    static const char *const words[] = {"select", "distinct", "all"};
    while (before > sql && isspace((unsigned char)before[-1]))
        before--;
    if (before > sql && (before[-1] == ',' || before[-1] == '.' || before[-1] == '/'))
        return true; /* "*" is all columns after "," and "table.", and after a comment */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(before - sql) >= n && sqlite3_strnicmp(before - n, words[i], (int)n) == 0)
            return true;
    }
    return false;
}

/* Calls `see` with the tables and columns that a function or module reads although the statement
 * does not name them. */
static void see_implied_names(const char *name, void (*see)(void *user_data, const char *name),
                              void *user_data)
{
    static const struct {
        const char *name, *implied[7];
    } all[] = {
        {"arg",
         {"args", "arg_set_id", "key", "int_value", "string_value", "real_value", "value_type"}},
        {"extract_arg", {"args", "arg_set_id", "key", "int_value", "string_value", "real_value"}},
        {"span_join", {"ts", "dur"}},
        {"span_left_join", {"ts", "dur"}},
        {"span_outer_join", {"ts", "dur"}},
        {"interval_intersect", {"id", "ts", "dur"}},
        {"_interval_intersect", {"id", "ts", "dur"}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; sqlite3_stricmp(name, all[i].name) == 0 && k < 7 && all[i].implied[k];
             k++)
            see(user_data, all[i].implied[k]);
}

void ttr_query_names(const char *sql, void (*see)(void *user_data, const char *name),
                     void *user_data)
{
    const char *const start = sql;
    char name[NAME_MAX_BYTES];
    while (*sql) {
        const char *next = skip_quoted(sql), *begin = sql;
        if (next != sql) {
            sql = next;
            continue;
        }
        if ((*sql == '*' && is_star(start, sql)) || sqlite3_strnicmp(sql, "natural", 7) == 0)
            see(user_data, "*");
        if (copy_name(&sql, name)) {
            see(user_data, name);
            see_implied_names(name, see, user_data);
        }
        if (sql == begin)
            sql++;
        /* Words and the rest of a number, as in "1e5", are not names. */
        if (is_name_byte(*begin))
            while (is_name_byte(*sql))
                sql++;
    }
}

/* --- Database --- */

/* Allows reading, and temporary views. */
static int authorize_statement(void *context, int action, const char *a, const char *b,
                               const char *c, const char *d)
{
    (void)context;
    (void)b;
    (void)d;
    switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_PRAGMA:
        return SQLITE_DENY;
    case SQLITE_FUNCTION:
        return b && (strcmp(b, "load_extension") == 0 || strcmp(b, "writefile") == 0 ||
                     strcmp(b, "readfile") == 0)
                   ? SQLITE_DENY
                   : SQLITE_OK;
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_VIEW:
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return c && strcmp(c, "temp") != 0 && a && strncmp(a, "sqlite_", 7) != 0 ? SQLITE_DENY
                                                                                 : SQLITE_OK;
    default:
        return SQLITE_OK;
    }
}

static int report_progress(void *context)
{
    const ttr_query *query = context;
    return query->progress && !query->progress(query->user_data);
}

void ttr_query_set_progress(ttr_query *query, ttr_progress progress, void *user_data)
{
    query->progress = progress;
    query->user_data = user_data;
}

void ttr_query_set_memory(ttr_query *query, uint64_t bytes)
{
    const sqlite3_int64 half = bytes / 2 > INT64_MAX ? INT64_MAX : (sqlite3_int64)(bytes / 2);
    const sqlite3_int64 hard = !bytes || half > SQLITE_MEMORY_MAX ? SQLITE_MEMORY_MAX
                               : half < SQLITE_MEMORY_MIN         ? SQLITE_MEMORY_MIN
                                                                  : half;
    query->memory_max = bytes / 2;
    (void)sqlite3_hard_heap_limit64(hard);
    /* Sorting and temporary tables use a file from half of that on. */
    (void)sqlite3_soft_heap_limit64(bytes ? hard / 2 : 0);
}

void ttr_query_set_read_only(ttr_query *query, bool is_read_only)
{
    query->is_read_only = is_read_only;
}

ttr_query *ttr_query_new(ttr *t, const ttr_store *store, ttr_error *error)
{
    ttr_query *query = calloc(1, sizeof *query);
    if (!query) {
        set_error(error, TTR_E_NOMEM, 0, "out of memory");
        return NULL;
    }
    query->t = t;
    query->store = store;
    int result =
        sqlite3_open_v2(":memory:", &query->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, NULL);
    if (result == SQLITE_OK)
        result = query_add_tables(query, "main", NULL);
    if (result == SQLITE_OK)
        result = leaf_add_table(query);
    if (result == SQLITE_OK)
        result = query_add_functions(query->db);
    if (result == SQLITE_OK)
        result = query_add_arg_function(query);
    if (result == SQLITE_OK)
        result = query_add_span_join(query);
    if (result == SQLITE_OK)
        result = query_add_intervals(query);
    if (result != SQLITE_OK) {
        set_error(error, convert_sqlite_status(result), 0, sqlite3_errmsg(query->db));
        ttr_query_free(query);
        return NULL;
    }
    if (sqlite3_hard_heap_limit64(-1) == 0)
        (void)sqlite3_hard_heap_limit64(SQLITE_MEMORY_MAX);
    (void)sqlite3_limit(query->db, SQLITE_LIMIT_EXPR_DEPTH, 500);
    (void)sqlite3_limit(query->db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(query->db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    (void)sqlite3_set_authorizer(query->db, authorize_statement, query);
    sqlite3_progress_handler(query->db, PROGRESS_STEPS, report_progress, query);
    return query;
}

/* Returns true for a name of letters, digits and "_" that SQLite does not use. */
static bool is_schema_name(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_')
        n++;
    return n > 0 && n < sizeof((ttr_query *)0)->schema && !name[n] &&
           !isdigit((unsigned char)name[0]) && sqlite3_stricmp(name, "main") != 0 &&
           sqlite3_stricmp(name, "temp") != 0;
}

ttr_status ttr_query_attach(ttr_query *query, const char *schema, ttr *t, const ttr_store *store,
                            ttr_error *error)
{
    if (!is_schema_name(schema)) {
        set_error(error, TTR_E_MISUSE, 0, "a schema has a name of letters, digits and \"_\"");
        return TTR_E_MISUSE;
    }
    ttr_query *tables = calloc(1, sizeof *tables);
    char *sql = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", schema);
    int result = tables && sql ? SQLITE_OK : SQLITE_NOMEM;
    if (result == SQLITE_OK) {
        *tables = (ttr_query){.t = t, .store = store, .db = query->db, .owner = query};
        (void)sqlite3_limit(query->db, SQLITE_LIMIT_ATTACHED, SCHEMAS_MAX);
        (void)sqlite3_set_authorizer(query->db, NULL, NULL);
        result = sqlite3_exec(query->db, sql, NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        ttr_query *const added = tables;
        (void)snprintf(added->schema, sizeof added->schema, "%s", schema);
        result = query_add_tables(added, schema, free);
        tables = NULL; /* the database owns `tables` now, even after an error */
        if (result == SQLITE_OK) {
            added->next = query->schemas;
            query->schemas = added;
        }
    }
    if (result != SQLITE_OK)
        set_error(error, convert_sqlite_status(result), 0, sqlite3_errmsg(query->db));
    (void)sqlite3_limit(query->db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(query->db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    (void)sqlite3_set_authorizer(query->db, authorize_statement, query);
    sqlite3_free(sql);
    free(tables);
    return result == SQLITE_OK ? TTR_OK : convert_sqlite_status(result);
}

void ttr_query_free(ttr_query *query)
{
    if (!query)
        return;
    (void)sqlite3_close_v2(query->db);
    query_free_args(query);
    free(query);
}

/* --- Results --- */

void ttr_query_enable_column_scans(ttr_query *query, bool is_enabled)
{
    query->has_no_leaves = !is_enabled;
}

static void unlink_result(ttr_result *result)
{
    ttr_result **link = &result->query->results;
    while (*link && *link != result)
        link = &(*link)->next;
    if (*link)
        *link = result->next;
}

/* Compiles the statement with its leaves, if it has any. */
static void prepare_leaves(ttr_result *result, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    char *text = leaf_plan(result->query, sql, &result->leaves);
    if (text && sqlite3_prepare_v2(result->query->db, text, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_column_count(statement) == sqlite3_column_count(result->plain)) {
        result->statement = statement;
    } else {
        (void)sqlite3_finalize(statement);
        leaf_free_all(result->leaves);
        result->leaves = NULL;
    }
    sqlite3_free(text);
}

/* Returns true if a statement returns rows and changes nothing. */
static bool is_select(sqlite3_stmt *statement)
{
    return sqlite3_stmt_readonly(statement) && sqlite3_column_count(statement) > 0;
}

/* Compiles a statement again with its literals and leaves. Returns false with `error`. */
static bool prepare_expanded(ttr_result *result, const char *sql, ttr_error *error)
{
    ttr_query *query = result->query;
    char *expanded = query_expand_literals(query, sql);
    int status = SQLITE_OK;
    if (expanded) {
        (void)sqlite3_finalize(result->plain);
        result->plain = NULL;
        status = sqlite3_prepare_v2(query->db, expanded, -1, &result->plain, NULL);
        if (status != SQLITE_OK)
            set_error(error, convert_sqlite_status(status), 0, sqlite3_errmsg(query->db));
    }
    result->statement = result->plain;
    if (status == SQLITE_OK && !query->has_no_leaves)
        prepare_leaves(result, expanded ? expanded : sql);
    sqlite3_free(expanded);
    return status == SQLITE_OK;
}

/* Returns the offset of the unknown table that `message` names, since SQLite reports no offset for
 * it; 0 if the message is another one. */
static uint64_t find_missing_table(const char *text, const char *message)
{
    static const char start[] = "no such table: ";
    struct sql sql;
    uint64_t offset = 0;
    if (strncmp(message, start, sizeof start - 1) != 0)
        return 0;
    const char *schema_end = strchr(message + sizeof start - 1, '.');
    const char *name = schema_end ? schema_end + 1 : message + sizeof start - 1;
    if (sql_init(&sql, text)) {
        for (uint32_t i = 0; i < sql.tokens_n && offset == 0; i++) {
            if (sql_is_name(&sql, i) && sql_name_equals(&sql, i, name))
                offset = sql.tokens[i].at;
        }
    }
    sql_free(&sql);
    return offset;
}

/* Sets the error of a statement that SQLite could not compile, or that is empty.  `edits` are
 * the replacements in `sql` before it was compiled. */
static void set_compile_error(const ttr_query *query, int status, const char *sql,
                              const struct query_edits *edits, ttr_error *error)
{
    char text[sizeof error->text];
    uint64_t offset;
    const char *message = status == SQLITE_OK ? "there is no statement" : sqlite3_errmsg(query->db);
    const int at = status == SQLITE_OK ? -1 : sqlite3_error_offset(query->db);
    if (status == SQLITE_ERROR && query_explain_macro(sql, text, sizeof text, &offset)) {
        set_error(error, TTR_E_MISUSE, offset, text);
        return;
    }
    set_error(error, convert_sqlite_status(status),
              at < 0 ? find_missing_table(sql, message)
                     : query_edits_find_offset(edits, (size_t)at),
              message);
}

ttr_result *ttr_query_prepare(ttr_query *query, const char *sql, const char **rest,
                              ttr_error *error)
{
    const char *after = sql;
    struct query_edits edits = {.n = 0};
    ttr_result *result = calloc(1, sizeof *result);
    if (!result) {
        set_error(error, TTR_E_NOMEM, 0, "out of memory");
        return NULL;
    }
    result->query = query;
    result->next = query->results;
    query->results = result;
    /* The statement without leaves supplies the column names, and runs if a leaf cannot be
     * computed. */
    char *replaced = query_expand_macros(query, sql, &edits, &after);
    const int status = sqlite3_prepare_v2(query->db, replaced ? replaced : sql, -1, &result->plain,
                                          replaced ? NULL : &after);
    if (rest)
        *rest = after;
    bool is_ready = status == SQLITE_OK && result->plain;
    if (!is_ready) {
        set_compile_error(query, status, sql, &edits, error);
    } else if (query->is_read_only && !is_select(result->plain)) {
        set_error(error, TTR_E_MISUSE, 0, "not authorized: only statements that return rows");
        is_ready = false;
    } else {
        is_ready = prepare_expanded(result, replaced ? replaced : sql, error);
    }
    sqlite3_free(replaced);
    query_edits_free(&edits);
    if (is_ready)
        return result;
    ttr_result_free(result);
    return NULL;
}

/* Computes the leaves of a statement before its first row. */
static ttr_status run_leaves(ttr_result *result, ttr_error *error)
{
    enum leaf_result status = LEAF_DONE;
    result->is_started = true;
    if (sqlite3_stmt_isexplain(result->statement))
        return TTR_OK;
    for (struct leaf *leaf = result->leaves; leaf && status == LEAF_DONE; leaf = leaf->next)
        status = leaf_run(leaf);
    if (status == LEAF_STOPPED) {
        set_error(error, TTR_AGAIN, 0, "interrupted");
        return TTR_AGAIN;
    }
    if (status == LEAF_DONE)
        return TTR_OK;
    /* A leaf could not represent a value: run the statement without leaves. */
    (void)sqlite3_finalize(result->statement);
    result->statement = result->plain;
    leaf_free_all(result->leaves);
    result->leaves = NULL;
    return TTR_OK;
}

ttr_status ttr_result_step(ttr_result *result, ttr_error *error)
{
    if (!result->is_started) {
        const ttr_status ready = run_leaves(result, error);
        if (ready != TTR_OK)
            return ready;
    }
    const int status = sqlite3_step(result->statement);
    if (status == SQLITE_ROW)
        return TTR_OK;
    if (status == SQLITE_DONE)
        return TTR_END;
    set_error(error, convert_sqlite_status(status), 0, sqlite3_errmsg(result->query->db));
    return convert_sqlite_status(status);
}

const char *ttr_result_leaf(const ttr_result *result, size_t i)
{
    const struct leaf *leaf = result->leaves;
    while (leaf && i-- > 0)
        leaf = leaf->next;
    return leaf ? leaf->description : NULL;
}

size_t ttr_result_columns(const ttr_result *result)
{
    return (size_t)sqlite3_column_count(result->statement);
}

const char *ttr_result_name(const ttr_result *result, size_t column)
{
    return sqlite3_column_name(result->plain, (int)column);
}

ttr_type ttr_result_type(const ttr_result *result, size_t column)
{
    switch (sqlite3_column_type(result->statement, (int)column)) {
    case SQLITE_INTEGER:
        return TTR_TYPE_INT;
    case SQLITE_FLOAT:
        return TTR_TYPE_FLOAT;
    case SQLITE_TEXT:
        return TTR_TYPE_TEXT;
    case SQLITE_BLOB:
        return TTR_TYPE_BYTES;
    default:
        return TTR_TYPE_NULL;
    }
}

ttr_type query_declared_type(const ttr_result *result, size_t column)
{
    const char *type = sqlite3_column_decltype(result->plain, (int)column);
    return !type                          ? TTR_TYPE_NULL
           : strcmp(type, "INTEGER") == 0 ? TTR_TYPE_INT
           : strcmp(type, "REAL") == 0    ? TTR_TYPE_FLOAT
           : strcmp(type, "TEXT") == 0    ? TTR_TYPE_TEXT
                                          : TTR_TYPE_NULL;
}

int64_t ttr_result_int(const ttr_result *result, size_t column)
{
    return sqlite3_column_int64(result->statement, (int)column);
}

double ttr_result_real(const ttr_result *result, size_t column)
{
    return sqlite3_column_double(result->statement, (int)column);
}

ttr_text ttr_result_text(ttr_result *result, size_t column)
{
    const char *text = (const char *)sqlite3_column_text(result->statement, (int)column);
    const int n = sqlite3_column_bytes(result->statement, (int)column);
    return (ttr_text){text ? text : "", text ? (size_t)n : 0};
}

void ttr_result_free(ttr_result *result)
{
    if (!result)
        return;
    if (result->statement != result->plain)
        (void)sqlite3_finalize(result->statement);
    (void)sqlite3_finalize(result->plain);
    unlink_result(result);
    leaf_free_all(result->leaves);
    free(result);
}
