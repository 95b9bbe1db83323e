/* The table tracetta_intervals(keys, 'SELECT id, ts, dur, ... FROM a', ...): times at which a row
 * of each of two to five tables is present, with equal keys (query_macros.c has the syntax).
 *
 * Rows are read once and sorted by keys and time.  Two lists are joined by a sweep: an interval
 * that starts meets the intervals of the other list that have not ended.  Further tables are joined
 * with the result.  Rows of one table may overlap.
 * Cost: O(n log n) and the number of results.  Memory: 64 bytes per row and result. */
#include "query/query_intervals.h"

#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 5
#define KEYS_MAX 4
#define RESULTS_MAX ((size_t)1 << 25)
#define NO_GROUP UINT32_MAX

/* The interval of one row, or of a result: then it has one row per joined table. */
struct piece {
    struct interval in;
    int64_t ids[TABLES_MAX];
    uint32_t group;
};

struct pieces {
    struct piece *list;
    size_t n, capacity;
};

/* Rows with equal keys. */
struct group {
    sqlite3_value *keys[KEYS_MAX];
};

struct intersection {
    ttr_query *query;
    int64_t trace_end;
    int keys_n;
    struct group *groups;
    size_t groups_n, groups_capacity;
    uint32_t *slots; /* hash table: group + 1; 0 = free */
    size_t slots_n;
    struct pieces found;
};

enum column {
    COLUMN_TS,
    COLUMN_DUR,
    COLUMN_IDS,
    COLUMN_KEYS = COLUMN_IDS + TABLES_MAX,
    COLUMN_ARGUMENTS = COLUMN_KEYS + KEYS_MAX /* hidden columns with the arguments: number of keys,
                                                 then the statements of the tables */
};

struct intervals_table {
    sqlite3_vtab base;
    ttr_query *query;
};

struct intervals_cursor {
    sqlite3_vtab_cursor base;
    struct intersection work;
    size_t row;
};

/* --- Intervals --- */

bool interval_read(sqlite3_stmt *row, int ts, int dur, int64_t trace_end, struct interval *interval)
{
    if (sqlite3_column_type(row, ts) == SQLITE_NULL || sqlite3_column_type(row, dur) == SQLITE_NULL)
        return false;
    const int64_t length = sqlite3_column_int64(row, dur);
    interval->ts = sqlite3_column_int64(row, ts);
    if (length < 0)
        interval->end = trace_end > interval->ts ? trace_end : interval->ts;
    else if (__builtin_add_overflow(interval->ts, length, &interval->end))
        interval->end = INT64_MAX;
    return true;
}

int64_t interval_trace_end(const ttr_query *query)
{
    ttr_store_table table;
    int64_t end = INT64_MAX;
    for (size_t i = 0; query->store && ttr_store_table_at(query->store, i, &table); i++)
        if (strcmp(table.name, "trace_bounds") == 0 && table.rows > 0)
            ttr_store_values(query->store, i, 1, 0, 1, &end);
    return end;
}

int interval_prepare(ttr_query *query, const char *sql, sqlite3_stmt **statement, char **message)
{
    *statement = NULL;
    const int status = sqlite3_prepare_v2(query->db, sql, -1, statement, NULL);
    if (status != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(query->db));
        return status;
    }
    if (*statement && sqlite3_stmt_readonly(*statement) && sqlite3_column_count(*statement) > 0)
        return SQLITE_OK;
    (void)sqlite3_finalize(*statement);
    *statement = NULL;
    *message = sqlite3_mprintf("intervals come from a SELECT");
    return SQLITE_ERROR;
}

/* --- Groups --- */

static uint64_t hash_value(uint64_t hash, sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    uint64_t number = (uint64_t)sqlite3_value_int64(value);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        const unsigned char *bytes = sqlite3_value_blob(value);
        number = 1469598103934665603u;
        for (int i = 0; i < sqlite3_value_bytes(value); i++)
            number = (number ^ bytes[i]) * 1099511628211u;
    }
    hash = (hash ^ number ^ (uint64_t)type << 56) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static bool is_same_value(sqlite3_value *a, sqlite3_value *b)
{
    const int type = sqlite3_value_type(a);
    if (type != sqlite3_value_type(b))
        return false;
    if (type == SQLITE_INTEGER)
        return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    if (type == SQLITE_FLOAT)
        return !(sqlite3_value_double(a) < sqlite3_value_double(b)) &&
               !(sqlite3_value_double(a) > sqlite3_value_double(b));
    const void *x = sqlite3_value_blob(a), *y = sqlite3_value_blob(b);
    const int n = sqlite3_value_bytes(a);
    return type != SQLITE_NULL && n == sqlite3_value_bytes(b) &&
           (n == 0 || memcmp(x, y, (size_t)n) == 0);
}

/* Returns the slot of the group with the keys of a row: one that is free if there is none. */
static uint32_t *find_slot(const struct intersection *work, sqlite3_value *const *keys)
{
    uint64_t hash = 0;
    for (int i = 0; i < work->keys_n; i++)
        hash = hash_value(hash, keys[i]);
    for (size_t at = (size_t)hash & (work->slots_n - 1);; at = (at + 1) & (work->slots_n - 1)) {
        uint32_t *slot = &work->slots[at];
        bool is_found = true;
        for (int i = 0; *slot && is_found && i < work->keys_n; i++)
            is_found = is_same_value(work->groups[*slot - 1].keys[i], keys[i]);
        if (!*slot || is_found)
            return slot;
    }
}

/* Doubles the hash table and the list of groups. */
static bool grow_groups(struct intersection *work)
{
    const size_t n = work->groups_capacity ? 2 * work->groups_capacity : 64;
    struct group *grown = realloc(work->groups, n * sizeof *grown);
    if (!grown)
        return false;
    work->groups = grown;
    uint32_t *slots = calloc(2 * n, sizeof *slots);
    if (!slots)
        return false;
    free(work->slots);
    work->slots = slots;
    work->slots_n = 2 * n;
    work->groups_capacity = n;
    for (size_t i = 0; i < work->groups_n; i++)
        *find_slot(work, work->groups[i].keys) = (uint32_t)i + 1;
    return true;
}

/* Returns the group of a row, added if it is new. Returns NO_GROUP if memory is exhausted, or, with
 * `is_first` false, if no row of the first table has its keys. */
static uint32_t find_group(struct intersection *work, sqlite3_stmt *row, bool is_first,
                           bool *is_full)
{
    sqlite3_value *keys[KEYS_MAX];
    if (work->groups_n == work->groups_capacity && !grow_groups(work)) {
        *is_full = true;
        return NO_GROUP;
    }
    for (int i = 0; i < work->keys_n; i++)
        keys[i] = sqlite3_column_value(row, 3 + i);
    uint32_t *slot = find_slot(work, keys);
    if (*slot || !is_first)
        return *slot - 1;
    struct group *group = &work->groups[work->groups_n++];
    *group = (struct group){{NULL}};
    *slot = (uint32_t)work->groups_n;
    for (int i = 0; i < work->keys_n; i++) {
        group->keys[i] = sqlite3_value_dup(keys[i]);
        *is_full |= !group->keys[i];
    }
    return *slot - 1;
}

/* --- Reading --- */

static struct piece *add_piece(struct pieces *pieces)
{
    if (pieces->n == pieces->capacity) {
        const size_t capacity = pieces->capacity ? 2 * pieces->capacity : 256;
        struct piece *grown = sqlite3_realloc64(pieces->list, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        pieces->list = grown;
        pieces->capacity = capacity;
    }
    return &pieces->list[pieces->n++];
}

static bool has_null_key(const struct intersection *work, sqlite3_stmt *row)
{
    for (int i = 0; i < work->keys_n; i++)
        if (sqlite3_column_type(row, 3 + i) == SQLITE_NULL)
            return true;
    return false;
}

/* Adds the rows of a table's statement. Returns a status of SQLite. */
static int read_rows(struct intersection *work, sqlite3_stmt *row, size_t table,
                     struct pieces *pieces)
{
    int status;
    bool is_full = false;
    while ((status = sqlite3_step(row)) == SQLITE_ROW && !is_full) {
        struct interval interval;
        if (!interval_read(row, 1, 2, work->trace_end, &interval) || has_null_key(work, row))
            continue;
        const uint32_t group = find_group(work, row, table == 0, &is_full);
        if (group == NO_GROUP)
            continue;
        struct piece *piece = pieces->n < RESULTS_MAX ? add_piece(pieces) : NULL;
        is_full |= !piece;
        if (piece) {
            *piece = (struct piece){.in = interval, .group = group};
            piece->ids[table] = sqlite3_column_int64(row, 0);
        }
    }
    return is_full ? SQLITE_NOMEM : status == SQLITE_DONE ? SQLITE_OK : status;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->in.ts != b->in.ts)
        return a->in.ts < b->in.ts ? -1 : 1;
    return memcmp(a->ids, b->ids, sizeof a->ids);
}

/* --- Sweep --- */

/* Intervals of one list that have started and may not have ended. */
struct active {
    size_t *list; /* indexes of the active intervals */
    size_t n;
};

struct sweep {
    struct intersection *work;
    struct pieces a, b, found;
    struct active in_a, in_b;
    size_t table; /* number of the table that has the rows in `b` */
};

/* Adds the results of an interval that starts with the active ones of the other list, and removes
 * those that have ended. Returns a status of SQLite. */
static int join_with_active(struct sweep *sweep, const struct piece *starts,
                            const struct pieces *others, struct active *active, bool is_from_a)
{
    size_t kept = 0;
    const ttr_query *query = sweep->work->query;
    for (size_t i = 0; i < active->n; i++) {
        const struct piece *other = &others->list[active->list[i]];
        struct interval common;
        if (other->in.end > starts->in.ts || other->in.ts == starts->in.ts)
            active->list[kept++] = active->list[i];
        if (!interval_intersects(starts->in, other->in, &common))
            continue;
        if (sweep->found.n >= RESULTS_MAX)
            return SQLITE_TOOBIG;
        if (sweep->found.n % 4096 == 0 && query->progress && !query->progress(query->user_data))
            return SQLITE_INTERRUPT;
        struct piece *piece = add_piece(&sweep->found);
        if (!piece)
            return SQLITE_NOMEM;
        *piece = is_from_a ? *starts : *other;
        piece->in = common;
        piece->ids[sweep->table] = (is_from_a ? other : starts)->ids[sweep->table];
    }
    active->n = kept;
    return SQLITE_OK;
}

/* Joins the sorted lists a and b into `found`. Returns a status of SQLite. */
static int sweep_lists(struct sweep *sweep)
{
    size_t a = 0, b = 0;
    uint32_t group = NO_GROUP;
    int status = SQLITE_OK;
    while (status == SQLITE_OK && (a < sweep->a.n || b < sweep->b.n)) {
        const struct piece *x = a < sweep->a.n ? &sweep->a.list[a] : NULL,
                           *y = b < sweep->b.n ? &sweep->b.list[b] : NULL;
        const bool is_a =
            x && (!y || x->group < y->group || (x->group == y->group && x->in.ts <= y->in.ts));
        const struct piece *starts = is_a ? x : y;
        if (starts->group != group) {
            sweep->in_a.n = sweep->in_b.n = 0;
            group = starts->group;
        }
        status = is_a ? join_with_active(sweep, starts, &sweep->b, &sweep->in_b, true)
                      : join_with_active(sweep, starts, &sweep->a, &sweep->in_a, false);
        if (is_a)
            sweep->in_a.list[sweep->in_a.n++] = a++;
        else
            sweep->in_b.list[sweep->in_b.n++] = b++;
    }
    return status;
}

/* Joins the results so far with the rows of a table. */
static int join_table(struct intersection *work, struct pieces *rows, size_t table)
{
    struct sweep sweep = {.work = work, .a = work->found, .b = *rows, .table = table};
    sweep.in_a.list = calloc(sweep.a.n + 1, sizeof *sweep.in_a.list);
    sweep.in_b.list = calloc(sweep.b.n + 1, sizeof *sweep.in_b.list);
    int status = sweep.in_a.list && sweep.in_b.list ? SQLITE_OK : SQLITE_NOMEM;
    if (status == SQLITE_OK)
        status = sweep_lists(&sweep);
    free(sweep.in_a.list);
    free(sweep.in_b.list);
    sqlite3_free(work->found.list);
    work->found = sweep.found;
    if (status == SQLITE_OK && work->found.n)
        qsort(work->found.list, work->found.n, sizeof *work->found.list, compare_pieces);
    return status;
}

/* Reads a table and joins it with the tables before. */
static int add_table(struct intersection *work, const char *sql, size_t table, char **message)
{
    sqlite3_stmt *row;
    struct pieces rows = {0};
    int status = interval_prepare(work->query, sql, &row, message);
    if (status == SQLITE_OK && sqlite3_column_count(row) != 3 + work->keys_n) {
        *message = sqlite3_mprintf("expected columns id, ts, dur and %d keys", work->keys_n);
        status = SQLITE_ERROR;
    }
    if (status == SQLITE_OK)
        status = read_rows(work, row, table, &rows);
    if (status != SQLITE_OK && status != SQLITE_NOMEM && !*message)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(work->query->db));
    (void)sqlite3_finalize(row);
    if (status == SQLITE_OK && rows.n)
        qsort(rows.list, rows.n, sizeof *rows.list, compare_pieces);
    if (status == SQLITE_OK && table > 0) {
        status = join_table(work, &rows, table);
        sqlite3_free(rows.list);
    } else if (table == 0) {
        work->found = rows;
    } else {
        sqlite3_free(rows.list);
    }
    return status;
}

static void free_work(struct intersection *work)
{
    for (size_t i = 0; i < work->groups_n; i++)
        for (int k = 0; k < work->keys_n; k++)
            sqlite3_value_free(work->groups[i].keys[k]);
    free(work->groups);
    free(work->slots);
    sqlite3_free(work->found.list);
    *work = (struct intersection){.query = work->query};
}

/* --- Table --- */

static int connect_intervals(sqlite3 *db, void *context, int n, const char *const *words,
                             sqlite3_vtab **made, char **message)
{
    (void)n;
    (void)words;
    (void)message;
    struct intervals_table *table = calloc(1, sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    table->query = context;
    const int status = sqlite3_declare_vtab(
        db, "CREATE TABLE x(ts INTEGER, dur INTEGER, id_0 INTEGER, id_1 INTEGER, id_2 INTEGER, "
            "id_3 INTEGER, id_4 INTEGER, key_0, key_1, key_2, key_3, keys HIDDEN, table_0 HIDDEN, "
            "table_1 HIDDEN, table_2 HIDDEN, table_3 HIDDEN, table_4 HIDDEN)");
    if (status == SQLITE_OK)
        *made = &table->base;
    else
        free(table);
    return status;
}

static int disconnect_intervals(sqlite3_vtab *table)
{
    free((struct intervals_table *)table);
    return SQLITE_OK;
}

/* Requires the arguments in order: the number of keys, then at least one table. */
static int plan_intervals(sqlite3_vtab *base, sqlite3_index_info *info)
{
    int at[1 + TABLES_MAX], n = 0;
    for (int k = 0; k < 1 + TABLES_MAX; k++)
        at[k] = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        const int argument = info->aConstraint[i].iColumn - COLUMN_ARGUMENTS;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        at[argument] = i;
    }
    while (n < 1 + TABLES_MAX && at[n] >= 0) {
        info->aConstraintUsage[at[n]].argvIndex = n + 1;
        info->aConstraintUsage[at[n]].omit = 1;
        n++;
    }
    if (n < 2) {
        base->zErrMsg = sqlite3_mprintf("write interval_intersect!((table, table), (key))");
        return SQLITE_ERROR;
    }
    info->estimatedCost = 1e6;
    info->estimatedRows = 100000;
    return SQLITE_OK;
}

static int open_intervals(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct intervals_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->work.query = ((struct intervals_table *)base)->query;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_intervals(sqlite3_vtab_cursor *base)
{
    struct intervals_cursor *cursor = (struct intervals_cursor *)base;
    free_work(&cursor->work);
    free(cursor);
    return SQLITE_OK;
}

static int start_intervals(sqlite3_vtab_cursor *base, int number, const char *plan, int n,
                           sqlite3_value **values)
{
    struct intervals_cursor *cursor = (struct intervals_cursor *)base;
    struct intersection *work = &cursor->work;
    char *message = NULL;
    int status = SQLITE_OK;
    (void)number;
    (void)plan;
    free_work(work);
    cursor->row = 0;
    work->trace_end = interval_trace_end(work->query);
    work->keys_n = sqlite3_value_int(values[0]);
    if (work->keys_n < 0 || work->keys_n > KEYS_MAX) {
        work->keys_n = 0;
        return SQLITE_ERROR;
    }
    if (work->query->nested == INTERVALS_DEPTH_MAX) {
        base->pVtab->zErrMsg = sqlite3_mprintf("tables of intervals are nested too deeply");
        return SQLITE_ERROR;
    }
    work->query->nested++;
    for (int i = 1; i < n && status == SQLITE_OK; i++) {
        const char *sql = (const char *)sqlite3_value_text(values[i]);
        status = sql ? add_table(work, sql, (size_t)i - 1, &message) : SQLITE_ERROR;
    }
    work->query->nested--;
    if (status == SQLITE_TOOBIG && !message)
        message = sqlite3_mprintf("more than %lld intersections", (long long)RESULTS_MAX);
    if (message)
        base->pVtab->zErrMsg = message;
    return status;
}

static int next_interval(sqlite3_vtab_cursor *base)
{
    ((struct intervals_cursor *)base)->row++;
    return SQLITE_OK;
}

static int is_after_intervals(sqlite3_vtab_cursor *base)
{
    const struct intervals_cursor *cursor = (const struct intervals_cursor *)base;
    return cursor->row >= cursor->work.found.n;
}

static int return_interval_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct intervals_cursor *cursor = (const struct intervals_cursor *)base;
    const struct piece *piece = &cursor->work.found.list[cursor->row];
    const int key = column - COLUMN_KEYS;
    if (column == COLUMN_TS)
        sqlite3_result_int64(context, piece->in.ts);
    else if (column == COLUMN_DUR)
        sqlite3_result_int64(context, (int64_t)((uint64_t)piece->in.end - (uint64_t)piece->in.ts));
    else if (column < COLUMN_KEYS)
        sqlite3_result_int64(context, piece->ids[column - COLUMN_IDS]);
    else if (key < cursor->work.keys_n)
        sqlite3_result_value(context, cursor->work.groups[piece->group].keys[key]);
    return SQLITE_OK;
}

static int return_interval_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((const struct intervals_cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module intervals_module = {
    .xConnect = connect_intervals,
    .xBestIndex = plan_intervals,
    .xDisconnect = disconnect_intervals,
    .xOpen = open_intervals,
    .xClose = close_intervals,
    .xFilter = start_intervals,
    .xNext = next_interval,
    .xEof = is_after_intervals,
    .xColumn = return_interval_column,
    .xRowid = return_interval_rowid,
};

int query_add_intervals(ttr_query *query)
{
    return sqlite3_create_module(query->db, INTERVALS_TABLE, &intervals_module, query);
}
