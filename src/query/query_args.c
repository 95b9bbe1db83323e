/* extract_arg(arg_set_id, 'key'): an argument of an event, from table args.
 *
 * The first call with a key scans the table once and keeps the rows of the key, ordered by
 * arg_set_id; each call is a search among them, which starts at the row that was found last.
 * Memory: 24 bytes per row of the key.  As in Perfetto, a prefix "args." or "debug." of a key that
 * the trace does not have is left out. */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

#define BLOCK 1024u

struct arg_row {
    int64_t set, value;
    uint8_t type; /* ttr_store_type */
};

/* The rows of one key. */
struct query_arg {
    ttr_id key;
    struct arg_row *rows;
    size_t n, capacity;
    size_t latest; /* index of the row that was found last */
    struct query_arg *next;
};

enum column { ARG_SET, ARG_KEY, ARG_INT, ARG_STRING, ARG_REAL, ARG_COLUMNS };

/* Finds table args and its columns.  Returns false if it was not read from the trace. */
static bool find_columns(const ttr_store *store, size_t *table, size_t columns[ARG_COLUMNS])
{
    static const char *const names[ARG_COLUMNS] = {[ARG_SET] = "arg_set_id",
                                                   [ARG_KEY] = "key",
                                                   [ARG_INT] = "int_value",
                                                   [ARG_STRING] = "string_value",
                                                   [ARG_REAL] = "real_value"};
    ttr_store_table about;
    ttr_store_column column;
    unsigned found = 0;
    for (*table = 0; ttr_store_table_at(store, *table, &about); ++*table)
        if (strcmp(about.name, "args") == 0 && !about.is_class)
            break;
    for (size_t i = 0; ttr_store_column_at(store, *table, i, &column); i++)
        for (size_t k = 0; k < ARG_COLUMNS; k++)
            if (column.is_filled && strcmp(column.name, names[k]) == 0) {
                columns[k] = i;
                found |= 1u << k;
            }
    return found == (1u << ARG_COLUMNS) - 1;
}

static bool add_row(struct query_arg *arg, const struct arg_row *row)
{
    if (arg->n == arg->capacity) {
        const size_t capacity = arg->capacity ? 2 * arg->capacity : 256;
        struct arg_row *grown = sqlite3_realloc64(arg->rows, capacity * sizeof *grown);
        if (!grown)
            return false;
        arg->rows = grown;
        arg->capacity = capacity;
    }
    arg->rows[arg->n++] = *row;
    return true;
}

/* Reads all rows of the key. Returns a status of SQLite. */
static int read_rows(const ttr_store *store, struct query_arg *arg)
{
    int64_t values[ARG_COLUMNS][BLOCK];
    size_t table, columns[ARG_COLUMNS];
    ttr_store_table about;
    if (!find_columns(store, &table, columns))
        return SQLITE_ERROR;
    (void)ttr_store_table_at(store, table, &about);
    for (uint64_t row = 0; row < about.rows; row += BLOCK) {
        const size_t n = about.rows - row < BLOCK ? (size_t)(about.rows - row) : BLOCK;
        bool has_key = false;
        ttr_store_values(store, table, columns[ARG_KEY], row, n, values[ARG_KEY]);
        for (size_t i = 0; i < n && !has_key; i++)
            has_key = values[ARG_KEY][i] == (int64_t)arg->key;
        for (size_t k = 0; k < ARG_COLUMNS && has_key; k++)
            if (k != ARG_KEY)
                ttr_store_values(store, table, columns[k], row, n, values[k]);
        for (size_t i = 0; i < n && has_key; i++) {
            if (values[ARG_KEY][i] != (int64_t)arg->key)
                continue;
            struct arg_row found = {
                .set = values[ARG_SET][i], .value = values[ARG_INT][i], .type = TTR_STORE_INT};
            if (values[ARG_STRING][i] != TTR_STORE_NULL)
                found = (struct arg_row){found.set, values[ARG_STRING][i], TTR_STORE_TEXT};
            else if (values[ARG_REAL][i] != TTR_STORE_NULL)
                found = (struct arg_row){found.set, values[ARG_REAL][i], TTR_STORE_REAL};
            if (!add_row(arg, &found))
                return SQLITE_NOMEM;
        }
    }
    return SQLITE_OK;
}

/* Returns the id of a key, without a prefix that only Perfetto has; 0 if no argument has it. */
static ttr_id find_key(const ttr_query *query, const char *key, size_t n)
{
    static const char *const prefixes[] = {"args.", "debug."};
    ttr_id id = ttr_text_find(query->t, key, n);
    for (size_t i = 0; i < 2 && !id; i++) {
        const size_t prefix = strlen(prefixes[i]);
        if (n > prefix && memcmp(key, prefixes[i], prefix) == 0)
            id = ttr_text_find(query->t, key + prefix, n - prefix);
    }
    return id;
}

/* Returns the rows of a key, which are read at the first call.  Returns NULL with *status. */
static struct query_arg *find_arg(ttr_query *query, ttr_id key, int *status)
{
    struct query_arg *arg = query->args;
    while (arg && arg->key != key)
        arg = arg->next;
    if (arg)
        return arg;
    arg = calloc(1, sizeof *arg);
    *status = SQLITE_NOMEM;
    if (!arg)
        return NULL;
    arg->key = key;
    *status = read_rows(query->store, arg);
    if (*status != SQLITE_OK) {
        sqlite3_free(arg->rows);
        free(arg);
        return NULL;
    }
    arg->next = query->args;
    query->args = arg;
    return arg;
}

/* Returns the first row of a set, or NULL. */
static const struct arg_row *find_row(struct query_arg *arg, int64_t set)
{
    size_t low = 0, high = arg->n;
    const size_t at = arg->latest;
    if (at < arg->n && arg->rows[at].set < set) {
        low = at + 1;
        if (low < arg->n && arg->rows[low].set >= set)
            high = low;
    } else if (at < arg->n) {
        high = at;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (arg->rows[middle].set < set)
            low = middle + 1;
        else
            high = middle;
    }
    arg->latest = low;
    return low < arg->n && arg->rows[low].set == set ? &arg->rows[low] : NULL;
}

static void extract_arg(sqlite3_context *context, int n, sqlite3_value **value)
{
    ttr_query *query = sqlite3_user_data(context);
    int status = SQLITE_OK;
    (void)n;
    if (!query->store) {
        sqlite3_result_error(
            context, "extract_arg needs one trace: with several, join their tables args", -1);
        return;
    }
    const char *text = (const char *)sqlite3_value_text(value[1]);
    const ttr_id key = text ? find_key(query, text, (size_t)sqlite3_value_bytes(value[1])) : 0;
    if (!key || sqlite3_value_type(value[0]) == SQLITE_NULL)
        return;
    struct query_arg *arg = find_arg(query, key, &status);
    if (!arg) {
        if (status == SQLITE_NOMEM)
            sqlite3_result_error_nomem(context);
        else
            sqlite3_result_error(
                context, "table args was not read from the trace: name it in the first statement",
                -1);
        return;
    }
    const struct arg_row *row = find_row(arg, sqlite3_value_int64(value[0]));
    double real;
    if (!row || row->value == TTR_STORE_NULL)
        return;
    if (row->type == TTR_STORE_TEXT) {
        const ttr_text found = ttr_text_get(query->t, (ttr_id)row->value);
        sqlite3_result_text64(context, found.p, found.n, SQLITE_STATIC, SQLITE_UTF8);
    } else if (row->type == TTR_STORE_REAL) {
        memcpy(&real, &row->value, sizeof real);
        sqlite3_result_double(context, real);
    } else {
        sqlite3_result_int64(context, row->value);
    }
}

int query_add_arg_function(ttr_query *query)
{
    return sqlite3_create_function(query->db, "extract_arg", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                   query, extract_arg, NULL, NULL);
}

void query_free_args(ttr_query *query)
{
    while (query->args) {
        struct query_arg *next = query->args->next;
        sqlite3_free(query->args->rows);
        free(query->args);
        query->args = next;
    }
}
