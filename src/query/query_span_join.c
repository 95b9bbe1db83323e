/* Tables of overlapping times, with the syntax of Perfetto:
 *
 *     CREATE VIRTUAL TABLE x USING span_join(a PARTITIONED utid, b PARTITIONED utid)
 *
 * x has a row for each time at which a row of `a` and one of `b` with the same utid are present:
 * ts, dur, utid and the other columns of both.  span_left_join also has the times of `a` without
 * `b`, span_outer_join those of either.  A table without PARTITIONED is joined with each partition
 * of the other.
 *
 * Both tables are read as one sequence of segments per partition: a row, or the gap between two
 * rows.  A merge of the two sequences yields the rows.  Rows of one partition must not overlap.
 * Cost: a sort of both tables by partition and time.  Memory: one row of each, and the sort's. */
#include "query/query_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "query/sql.h"

#define COLUMNS_MAX 256

enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_OUTER };

/* One of the two tables that a span_join joins. */
struct join_table {
    char *name;      /* name as written in the statement, with its schema */
    char *partition; /* name of the PARTITIONED column; NULL = not partitioned */
    char **columns;
    int columns_n;
    int ts, dur, key; /* indexes of the columns ts, dur and the partition */
};

struct span_join {
    sqlite3_vtab base;
    ttr_query *query;
    enum join_kind kind;
    struct join_table tables[2];
    struct {
        uint8_t table;
        int column;
    } outputs[COLUMNS_MAX]; /* columns after ts, dur and the partition */
    int outputs_n;
    bool has_key; /* the third column is the partition */
};

/* An interval of a partition: a row, or the gap between two rows. */
struct segment {
    struct interval in;
    bool is_row;
};

/* A table that is being read. */
struct join_scan {
    sqlite3_stmt *statement;
    bool has_row;        /* true if `row` is valid */
    struct interval row; /* interval of the current row of the statement */
    int64_t key;
    struct segment now;
};

struct join_cursor {
    sqlite3_vtab_cursor base;
    struct join_scan scans[2];
    int64_t trace_end;
    int64_t key; /* value of the current partition */
    bool is_in_partition, is_at_end;
    bool is_pending; /* the cursor must still move past the segments of the last result */
    struct interval common;
};

static struct span_join *get_join(const struct join_cursor *cursor)
{
    return (struct span_join *)cursor->base.pVtab;
}

/* --- Declaration --- */

static void free_join(struct span_join *join)
{
    for (int i = 0; i < 2; i++) {
        struct join_table *table = &join->tables[i];
        for (int k = 0; k < table->columns_n; k++)
            sqlite3_free(table->columns[k]);
        free(table->columns);
        sqlite3_free(table->name);
        sqlite3_free(table->partition);
    }
    free(join);
}

/* Parses "schema.table PARTITIONED column". Returns false if it is not that. */
static bool parse_table(struct join_table *table, const char *text)
{
    struct sql sql;
    uint32_t at = 0;
    bool is_fine = sql_init(&sql, text) && sql_is_name(&sql, 0);
    if (is_fine && sql_is_symbol(&sql, 1, "."))
        at = 2;
    is_fine = is_fine && sql_is_name(&sql, at);
    if (is_fine) {
        const struct sql_token *last = &sql.tokens[at];
        table->name = sqlite3_mprintf("%.*s", (int)(last->at + last->n - sql.tokens[0].at),
                                      text + sql.tokens[0].at);
        at++;
    }
    if (is_fine && sql_is_word(&sql, at, "PARTITIONED")) {
        is_fine = sql_is_name(&sql, at + 1);
        const struct sql_token *name = &sql.tokens[at + 1];
        const int quote = name->kind == SQL_QUOTED;
        if (is_fine)
            table->partition =
                sqlite3_mprintf("%.*s", (int)name->n - 2 * quote, text + name->at + quote);
        at += 2;
    }
    is_fine = is_fine && sql.tokens[at].kind == SQL_END;
    sql_free(&sql);
    return is_fine;
}

/* Reads the names of the columns. Returns a status of SQLite. */
static int read_columns(struct span_join *join, struct join_table *table, char **message)
{
    sqlite3_stmt *statement;
    char *sql = sqlite3_mprintf("SELECT * FROM %s", table->name);
    int status = sql ? interval_prepare(join->query, sql, &statement, message) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (status != SQLITE_OK)
        return status;
    const int n = sqlite3_column_count(statement);
    table->ts = table->dur = table->key = -1;
    table->columns = calloc((size_t)n, sizeof *table->columns);
    if (!table->columns)
        status = SQLITE_NOMEM;
    for (int i = 0; status == SQLITE_OK && i < n; i++) {
        const char *name = sqlite3_column_name(statement, i);
        table->columns[i] = sqlite3_mprintf("%s", name);
        table->columns_n++;
        if (!table->columns[i])
            status = SQLITE_NOMEM;
        else if (sqlite3_stricmp(name, "ts") == 0)
            table->ts = i;
        else if (sqlite3_stricmp(name, "dur") == 0)
            table->dur = i;
        else if (table->partition && sqlite3_stricmp(name, table->partition) == 0)
            table->key = i;
    }
    (void)sqlite3_finalize(statement);
    if (status == SQLITE_OK &&
        (table->ts < 0 || table->dur < 0 || (table->partition && table->key < 0))) {
        *message = sqlite3_mprintf("%s has no column %s", table->name,
                                   table->ts < 0    ? "ts"
                                   : table->dur < 0 ? "dur"
                                                    : table->partition);
        status = SQLITE_ERROR;
    }
    return status;
}

/* Returns true if the other table has a column of this name too. */
static bool is_column_of(const struct join_table *table, const char *name)
{
    for (int i = 0; i < table->columns_n; i++)
        if (i != table->ts && i != table->dur && i != table->key &&
            sqlite3_stricmp(table->columns[i], name) == 0)
            return true;
    return false;
}

/* Declares the columns. Returns a status of SQLite. */
static int declare_join(sqlite3 *db, struct span_join *join, char **message)
{
    const struct join_table *a = &join->tables[0], *b = &join->tables[1];
    sqlite3_str *text = sqlite3_str_new(db);
    const char *key = a->partition ? a->partition : b->partition;
    sqlite3_str_appendall(text, "CREATE TABLE x(ts INTEGER, dur INTEGER");
    join->has_key = key != NULL;
    if (key)
        sqlite3_str_appendf(text, ", \"%w\" INTEGER", key);
    int status = SQLITE_OK;
    for (int t = 0; t < 2 && status == SQLITE_OK; t++)
        for (int i = 0; i < join->tables[t].columns_n && status == SQLITE_OK; i++) {
            const struct join_table *table = &join->tables[t];
            const char *name = table->columns[i];
            if (i == table->ts || i == table->dur || i == table->key)
                continue;
            if ((t == 0 && is_column_of(b, name)) || (key && sqlite3_stricmp(name, key) == 0) ||
                join->outputs_n == COLUMNS_MAX) {
                *message = sqlite3_mprintf("column %s is in both tables: rename one by a view "
                                           "(CREATE TEMP VIEW ... AS SELECT ... AS ...)",
                                           name);
                status = SQLITE_ERROR;
                break;
            }
            sqlite3_str_appendf(text, ", \"%w\"", name);
            join->outputs[join->outputs_n].table = (uint8_t)t;
            join->outputs[join->outputs_n++].column = i;
        }
    sqlite3_str_appendall(text, ")");
    char *sql = sqlite3_str_finish(text);
    if (status == SQLITE_OK)
        status = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

static enum join_kind get_kind(const char *module)
{
    return sqlite3_stricmp(module, "span_left_join") == 0    ? JOIN_LEFT
           : sqlite3_stricmp(module, "span_outer_join") == 0 ? JOIN_OUTER
                                                             : JOIN_INNER;
}

static int connect_join(sqlite3 *db, void *context, int n, const char *const *words,
                        sqlite3_vtab **made, char **message)
{
    struct span_join *join = calloc(1, sizeof *join);
    if (!join)
        return SQLITE_NOMEM;
    join->query = context;
    join->kind = get_kind(words[0]);
    int status = SQLITE_OK;
    if (n != 5 || !parse_table(&join->tables[0], words[3]) ||
        !parse_table(&join->tables[1], words[4])) {
        *message =
            sqlite3_mprintf("expected %s(a PARTITIONED column, b PARTITIONED column)", words[0]);
        status = SQLITE_ERROR;
    }
    const char *a = join->tables[0].partition, *b = join->tables[1].partition;
    if (status == SQLITE_OK && a && b && sqlite3_stricmp(a, b) != 0) {
        *message = sqlite3_mprintf("both tables need the same partition, not %s and %s", a, b);
        status = SQLITE_ERROR;
    }
    for (int i = 0; i < 2 && status == SQLITE_OK; i++)
        status = read_columns(join, &join->tables[i], message);
    if (status == SQLITE_OK)
        status = declare_join(db, join, message);
    if (status == SQLITE_OK)
        *made = &join->base;
    else
        free_join(join);
    return status;
}

static int disconnect_join(sqlite3_vtab *base)
{
    free_join((struct span_join *)base);
    return SQLITE_OK;
}

/* --- Planning --- */

/* The plan: idxNum is 1 if the partition is given; the text has the used columns. */
static int plan_join(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct span_join *join = (const struct span_join *)base;
    info->idxNum = 0;
    for (int i = 0; i < info->nConstraint && join->has_key; i++)
        if (info->aConstraint[i].usable && info->aConstraint[i].iColumn == 2 &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ && info->idxNum == 0) {
            info->aConstraintUsage[i].argvIndex = 1;
            info->idxNum = 1;
        }
    info->idxStr = sqlite3_mprintf("%llx", (unsigned long long)info->colUsed);
    info->needToFreeIdxStr = 1;
    info->estimatedCost = info->idxNum ? 1e5 : 1e7;
    info->estimatedRows = info->idxNum ? 10000 : 1000000;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- Reading the tables --- */

/* Returns the statement of a table, with NULL for columns that are not used. */
static char *make_statement(const struct span_join *join, int t, uint64_t used, bool has_value)
{
    const struct join_table *table = &join->tables[t];
    sqlite3_str *text = sqlite3_str_new(join->query->db);
    const int first = 2 + join->has_key;
    for (int i = 0; i < table->columns_n; i++) {
        bool is_used = i == table->ts || i == table->dur || i == table->key;
        for (int k = 0; k < join->outputs_n && !is_used; k++)
            is_used = join->outputs[k].table == t && join->outputs[k].column == i &&
                      (used >> (first + k < 63 ? first + k : 63) & 1);
        if (is_used)
            sqlite3_str_appendf(text, "%s\"%w\"", i ? ", " : "SELECT ", table->columns[i]);
        else
            sqlite3_str_appendall(text, i ? ", NULL" : "SELECT NULL");
    }
    sqlite3_str_appendf(text, " FROM %s", table->name);
    if (table->partition && has_value)
        sqlite3_str_appendf(text, " WHERE \"%w\" = ?1", table->partition);
    else if (table->partition)
        sqlite3_str_appendf(text, " WHERE \"%w\" IS NOT NULL", table->partition);
    sqlite3_str_appendall(text, " ORDER BY ");
    if (table->partition)
        sqlite3_str_appendf(text, "\"%w\", ", table->partition);
    sqlite3_str_appendf(text, "\"%w\"", table->columns[table->ts]);
    return sqlite3_str_finish(text);
}

/* Reads the next row that has a time. Returns a status of SQLite. */
static int step_scan(struct join_cursor *cursor, int t)
{
    struct join_scan *scan = &cursor->scans[t];
    const struct join_table *table = &get_join(cursor)->tables[t];
    int status;
    do
        status = sqlite3_step(scan->statement);
    while (status == SQLITE_ROW &&
           !interval_read(scan->statement, table->ts, table->dur, cursor->trace_end, &scan->row));
    scan->has_row = status == SQLITE_ROW;
    scan->key = 0;
    if (!scan->has_row && status != SQLITE_DONE)
        cursor->base.pVtab->zErrMsg =
            sqlite3_mprintf("%s", sqlite3_errmsg(get_join(cursor)->query->db));
    if (!scan->has_row)
        return status == SQLITE_DONE ? SQLITE_OK : status;
    if (!table->partition)
        return SQLITE_OK;
    scan->key = sqlite3_column_int64(scan->statement, table->key);
    if (sqlite3_column_type(scan->statement, table->key) == SQLITE_INTEGER)
        return SQLITE_OK;
    cursor->base.pVtab->zErrMsg =
        sqlite3_mprintf("column %s of %s is not an integer", table->partition, table->name);
    return SQLITE_ERROR;
}

static bool has_row_of_partition(const struct join_cursor *cursor, int t)
{
    const struct join_scan *scan = &cursor->scans[t];
    return scan->has_row && (!get_join(cursor)->tables[t].partition || scan->key == cursor->key);
}

/* Sets the segment that starts at `from`: a gap, or the row if it starts there. */
static void set_segment(struct join_cursor *cursor, int t, int64_t from)
{
    struct join_scan *scan = &cursor->scans[t];
    if (!has_row_of_partition(cursor, t))
        scan->now = (struct segment){.in = {from, INT64_MAX}};
    else if (scan->row.ts > from)
        scan->now = (struct segment){.in = {from, scan->row.ts}};
    else
        scan->now = (struct segment){.in = scan->row, .is_row = true};
}

/* Moves to the next segment of the partition. Returns a status of SQLite. */
static int leave_segment(struct join_cursor *cursor, int t)
{
    struct join_scan *scan = &cursor->scans[t];
    const struct segment left = scan->now;
    if (left.is_row) {
        const int status = step_scan(cursor, t);
        if (status != SQLITE_OK)
            return status;
        if (has_row_of_partition(cursor, t) && scan->row.ts < left.in.end) {
            cursor->base.pVtab->zErrMsg = sqlite3_mprintf(
                "rows of %s overlap at ts %lld: span_join needs rows that do not, such as slices "
                "of one depth; interval_intersect! allows them",
                get_join(cursor)->tables[t].name, (long long)scan->row.ts);
            return SQLITE_ERROR;
        }
    }
    set_segment(cursor, t, left.in.end);
    return SQLITE_OK;
}

/* --- Partitions --- */

/* Skips rows of partitions before a key. */
static int skip_before(struct join_cursor *cursor, int t, int64_t key)
{
    int status = SQLITE_OK;
    while (status == SQLITE_OK && cursor->scans[t].has_row && cursor->scans[t].key < key)
        status = step_scan(cursor, t);
    return status;
}

/* Skips the rows that are left of the partition. */
static int end_partition(struct join_cursor *cursor)
{
    int status = SQLITE_OK;
    for (int t = 0; t < 2; t++)
        while (status == SQLITE_OK && get_join(cursor)->tables[t].partition &&
               has_row_of_partition(cursor, t))
            status = step_scan(cursor, t);
    cursor->is_in_partition = false;
    return status;
}

/* Chooses the next partition of two partitioned tables. Sets is_at_end after the last. */
static int choose_key(struct join_cursor *cursor)
{
    struct join_scan *a = &cursor->scans[0], *b = &cursor->scans[1];
    const enum join_kind kind = get_join(cursor)->kind;
    int status = SQLITE_OK;
    while (status == SQLITE_OK && kind == JOIN_INNER && a->has_row && b->has_row &&
           a->key != b->key)
        status = skip_before(cursor, a->key > b->key, a->key > b->key ? a->key : b->key);
    cursor->is_at_end = kind == JOIN_INNER  ? !a->has_row || !b->has_row
                        : kind == JOIN_LEFT ? !a->has_row
                                            : !a->has_row && !b->has_row;
    cursor->key = !a->has_row                                           ? b->key
                  : kind == JOIN_OUTER && b->has_row && b->key < a->key ? b->key
                                                                        : a->key;
    if (status == SQLITE_OK && kind == JOIN_LEFT && a->has_row)
        status = skip_before(cursor, 1, cursor->key);
    return status;
}

/* Starts the next partition. Sets is_at_end after the last. Returns a status of SQLite. */
static int start_partition(struct join_cursor *cursor)
{
    const struct span_join *join = get_join(cursor);
    const bool has_a = join->tables[0].partition, has_b = join->tables[1].partition;
    int status = SQLITE_OK;
    if (has_a && has_b) {
        status = choose_key(cursor);
    } else if (!join->has_key) {
        cursor->is_at_end = cursor->key != 0; /* without PARTITIONED there is only partition 0 */
    } else {
        const int t = has_b, other = !has_b;
        cursor->is_at_end = !cursor->scans[t].has_row;
        cursor->key = cursor->scans[t].key;
        if (!cursor->is_at_end) {
            (void)sqlite3_reset(cursor->scans[other].statement);
            status = step_scan(cursor, other);
        }
    }
    if (cursor->is_at_end || status != SQLITE_OK)
        return status;
    for (int t = 0; t < 2; t++)
        set_segment(cursor, t, INT64_MIN);
    cursor->is_in_partition = true;
    return SQLITE_OK;
}

/* Leaves the segment that ends first; a segment does not end before an instant at its end. */
static int leave_first_segment(struct join_cursor *cursor)
{
    const struct interval a = cursor->scans[0].now.in, b = cursor->scans[1].now.in;
    const bool is_both = a.end == b.end && a.ts == a.end && b.ts == b.end;
    if (a.end == INT64_MAX && b.end == INT64_MAX) {
        const int status = end_partition(cursor);
        if (!get_join(cursor)->has_key)
            cursor->key = 1;
        return status;
    }
    const bool is_a = a.end != b.end ? a.end < b.end : a.ts != a.end;
    int status = is_a || is_both ? leave_segment(cursor, 0) : SQLITE_OK;
    if (status == SQLITE_OK && (!is_a || is_both))
        status = leave_segment(cursor, 1);
    return status;
}

/* Moves to the next result. Returns a status of SQLite. */
static int find_next_result(struct join_cursor *cursor)
{
    const enum join_kind kind = get_join(cursor)->kind;
    int status = SQLITE_OK;
    while (status == SQLITE_OK && !cursor->is_at_end) {
        if (!cursor->is_in_partition) {
            status = start_partition(cursor);
            continue;
        }
        if (cursor->is_pending) {
            cursor->is_pending = false;
            status = leave_first_segment(cursor);
            continue;
        }
        cursor->is_pending = true;
        const struct segment *a = &cursor->scans[0].now, *b = &cursor->scans[1].now;
        const bool is_result = kind == JOIN_INNER  ? a->is_row && b->is_row
                               : kind == JOIN_LEFT ? a->is_row
                                                   : a->is_row || b->is_row;
        if (is_result && interval_intersects(a->in, b->in, &cursor->common))
            return SQLITE_OK;
    }
    return status;
}

/* --- The table --- */

static int open_join(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    (void)base;
    struct join_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
}

static void finalize_scans(struct join_cursor *cursor)
{
    for (int t = 0; t < 2; t++) {
        (void)sqlite3_finalize(cursor->scans[t].statement);
        cursor->scans[t] = (struct join_scan){0};
    }
}

static int close_join(sqlite3_vtab_cursor *base)
{
    struct join_cursor *cursor = (struct join_cursor *)base;
    finalize_scans(cursor);
    free(cursor);
    return SQLITE_OK;
}

/* Starts reading a table. Returns a status of SQLite. */
static int start_scan(struct join_cursor *cursor, int t, uint64_t used, sqlite3_value *key)
{
    const struct span_join *join = get_join(cursor);
    struct join_scan *scan = &cursor->scans[t];
    char *message = NULL, *sql = make_statement(join, t, used, key != NULL);
    int status =
        sql ? interval_prepare(join->query, sql, &scan->statement, &message) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (message)
        cursor->base.pVtab->zErrMsg = message;
    if (status == SQLITE_OK && key && join->tables[t].partition)
        status = sqlite3_bind_value(scan->statement, 1, key);
    return status == SQLITE_OK ? step_scan(cursor, t) : status;
}

static int start_join(sqlite3_vtab_cursor *base, int number, const char *plan, int n,
                      sqlite3_value **values)
{
    struct join_cursor *cursor = (struct join_cursor *)base;
    struct span_join *join = get_join(cursor);
    const uint64_t used = plan ? strtoull(plan, NULL, 16) : UINT64_MAX;
    int status = SQLITE_OK;
    finalize_scans(cursor);
    cursor->trace_end = interval_trace_end(join->query);
    cursor->key = 0;
    cursor->is_in_partition = cursor->is_at_end = cursor->is_pending = false;
    if (join->query->nested == INTERVALS_DEPTH_MAX) {
        base->pVtab->zErrMsg = sqlite3_mprintf("tables of intervals are nested too deeply");
        return SQLITE_ERROR;
    }
    join->query->nested++;
    for (int t = 0; t < 2 && status == SQLITE_OK; t++)
        status = start_scan(cursor, t, used, number && n > 0 ? values[0] : NULL);
    if (status == SQLITE_OK)
        status = find_next_result(cursor);
    join->query->nested--;
    return status;
}

static int next_join(sqlite3_vtab_cursor *base)
{
    return find_next_result((struct join_cursor *)base);
}

static int is_after_join(sqlite3_vtab_cursor *base)
{
    return ((struct join_cursor *)base)->is_at_end;
}

static int return_join_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct join_cursor *cursor = (const struct join_cursor *)base;
    const struct span_join *join = get_join(cursor);
    const int output = column - 2 - join->has_key;
    if (column == 0) {
        sqlite3_result_int64(context, cursor->common.ts);
    } else if (column == 1) {
        sqlite3_result_int64(context,
                             (int64_t)((uint64_t)cursor->common.end - (uint64_t)cursor->common.ts));
    } else if (output < 0) {
        sqlite3_result_int64(context, cursor->key);
    } else if (output < join->outputs_n) {
        const struct join_scan *scan = &cursor->scans[join->outputs[output].table];
        if (scan->now.is_row)
            sqlite3_result_value(
                context, sqlite3_column_value(scan->statement, join->outputs[output].column));
    }
    return SQLITE_OK;
}

static int return_join_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = ((struct join_cursor *)base)->common.ts;
    return SQLITE_OK;
}

static const sqlite3_module join_module = {
    .xCreate = connect_join,
    .xConnect = connect_join,
    .xBestIndex = plan_join,
    .xDisconnect = disconnect_join,
    .xDestroy = disconnect_join,
    .xOpen = open_join,
    .xClose = close_join,
    .xFilter = start_join,
    .xNext = next_join,
    .xEof = is_after_join,
    .xColumn = return_join_column,
    .xRowid = return_join_rowid,
};

int query_add_span_join(ttr_query *query)
{
    static const char *const names[] = {"span_join", "span_left_join", "span_outer_join"};
    int status = SQLITE_OK;
    for (size_t i = 0; i < 3 && status == SQLITE_OK; i++)
        status = sqlite3_create_module(query->db, names[i], &join_module, query);
    return status;
}
