/* Durations and times in comparisons with integer columns: dur > '5ms' is dur > 5000000, and
 * ts > '+2s' is two seconds after the first event of the trace.
 *
 * A literal is a sign, a decimal number and a unit: ns, us, ms, s, m, h.  It has this meaning only
 * beside a column of integers, as in "ts >= '+1s'", "'1ms' < dur", "ts BETWEEN '+1s' AND '+2s'";
 * texts elsewhere stay texts. */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "query/query_edits.h"
#include "query/sql.h"

/* Returns the nanoseconds of a unit of n bytes; 0 if it is not a unit. */
static double get_unit(const char *text, size_t n)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, text, n) == 0)
            return units[i].ns;
    return 0;
}

/* Returns the time of the first event, or 0 if the store has none. */
static int64_t find_trace_start(const ttr_store *store)
{
    ttr_store_table table;
    int64_t start = 0;
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        if (strcmp(table.name, "trace_bounds") == 0 && table.rows > 0)
            ttr_store_values(store, i, 0, 0, 1, &start);
    return start;
}

/* Parses a literal. Returns false if it is another text. */
static bool parse_literal(const ttr_query *query, const char *text, size_t n, int64_t *value)
{
    char number[32];
    const bool is_signed = n > 0 && (*text == '+' || *text == '-');
    const size_t digits = n > is_signed ? strspn(text + is_signed, "0123456789.") : 0;
    if (digits == 0 || digits >= sizeof number || is_signed + digits >= n)
        return false;
    const double unit = get_unit(text + is_signed + digits, n - is_signed - digits);
    memcpy(number, text + is_signed, digits);
    number[digits] = '\0';
    char *end;
    const double ns = strtod(number, &end) * unit;
    if (unit < 1 || *end || ns >= 9e18)
        return false;
    const int64_t start = *text == '+' ? find_trace_start(query->store) : 0;
    return !__builtin_add_overflow(*text == '-' ? -(int64_t)ns : (int64_t)ns, start, value);
}

/* Returns true if a token is the name of a column of integers. */
static bool is_integer_column(const ttr_query *query, const struct sql *sql, uint32_t token)
{
    ttr_store_table table;
    ttr_store_column column;
    if (sql->tokens[token].kind != SQL_WORD && sql->tokens[token].kind != SQL_QUOTED)
        return false;
    for (size_t i = 0; ttr_store_table_at(query->store, i, &table); i++)
        for (size_t k = 0; ttr_store_column_at(query->store, i, k, &column); k++)
            if (column.type == TTR_STORE_INT && sql_name_equals(sql, token, column.name))
                return true;
    return false;
}

static bool is_comparison(const struct sql *sql, uint32_t token)
{
    static const char *const symbols[] = {"<", "<=", ">", ">=", "=", "==", "<>", "!="};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (sql_is_symbol(sql, token, symbols[i]))
            return true;
    return false;
}

/* Returns true if the text at a token is compared with a column of integers. */
static bool is_beside_column(const ttr_query *query, const struct sql *sql, uint32_t token)
{
    if (token >= 2 && (is_comparison(sql, token - 1) || sql_is_word(sql, token - 1, "BETWEEN")) &&
        is_integer_column(query, sql, token - 2))
        return true;
    /* x BETWEEN low AND token */
    if (token >= 4 && sql_is_word(sql, token - 1, "AND") &&
        sql_is_word(sql, token - 3, "BETWEEN") && is_integer_column(query, sql, token - 4))
        return true;
    if (!is_comparison(sql, token + 1))
        return false;
    /* token < x, or token < table.x */
    const bool is_qualified =
        sql->tokens[token + 2].kind != SQL_END && sql_is_symbol(sql, token + 3, ".");
    return sql->tokens[token + 2].kind != SQL_END &&
           is_integer_column(query, sql, token + (is_qualified ? 4 : 2));
}

char *query_expand_literals(const ttr_query *query, const char *text)
{
    struct sql sql;
    struct query_edits edits = {.n = 0};
    char *expanded = NULL;
    if (sql_init(&sql, text)) {
        for (uint32_t i = 0; sql.tokens[i].kind != SQL_END; i++) {
            const struct sql_token *token = &sql.tokens[i];
            int64_t value;
            if (token->kind == SQL_STRING &&
                parse_literal(query, text + token->at + 1, token->n - 2, &value) &&
                is_beside_column(query, &sql, i))
                query_edits_add(&edits, token->at, token->n,
                                sqlite3_mprintf("%lld", (long long)value));
        }
        expanded = query_edits_apply(&edits, &sql, sql.tokens[sql.tokens_n - 1].at);
    }
    query_edits_free(&edits);
    sql_free(&sql);
    return expanded;
}
