/* Parts of a statement that are not SQL, replaced before SQLite sees it:
 *
 *     arg('key')                           extract_arg(arg_set_id, 'key')
 *     interval_intersect!((a, b), (utid))  a table: query_intervals.c
 *
 * Tables of interval_intersect are names or parenthesised SELECTs.  They run as statements of their
 * own, which get the common table expressions before them. */
#include <stdio.h>
#include <string.h>

#include "query/query.h"
#include "query/query_edits.h"
#include "query/sql.h"

#define TABLES_MAX 5u
#define KEYS_MAX 4u

/* Tokens [from, to) of an element of a list. */
struct part {
    uint32_t from, to;
};

struct macro {
    struct part tables[TABLES_MAX], keys[KEYS_MAX];
    uint32_t tables_n, keys_n;
    uint32_t end; /* token after the macro */
};

/* Returns the token after the closing parenthesis of the one at `token`; SQL_NONE if there is none.
 */
static uint32_t skip_parentheses(const struct sql *sql, uint32_t token)
{
    uint32_t depth = 0;
    for (; sql->tokens[token].kind != SQL_END; token++) {
        depth += sql_is_symbol(sql, token, "(");
        if (sql_is_symbol(sql, token, ")") && --depth == 0)
            return token + 1;
    }
    return SQL_NONE;
}

/* Parses "(a, b, ...)" at *token, with at most `max` elements. Returns false if it is not that. */
static bool parse_list(const struct sql *sql, uint32_t *token, struct part *parts, uint32_t max,
                       uint32_t *n)
{
    uint32_t at = *token + 1;
    if (!sql_is_symbol(sql, *token, "("))
        return false;
    for (*n = 0; !sql_is_symbol(sql, at, ")");) {
        if (*n == max)
            return false;
        parts[*n].from = at;
        while (!sql_is_symbol(sql, at, ",") && !sql_is_symbol(sql, at, ")")) {
            if (sql->tokens[at].kind == SQL_END)
                return false;
            at = sql_is_symbol(sql, at, "(") ? skip_parentheses(sql, at) : at + 1;
            if (at == SQL_NONE)
                return false;
        }
        parts[*n].to = at;
        if (parts[*n].from == at)
            return false;
        ++*n;
        at += sql_is_symbol(sql, at, ",");
    }
    *token = at + 1;
    return true;
}

/* Parses "interval_intersect!((tables), (keys))", with or without "_" before it. */
static bool parse_intersection(const struct sql *sql, uint32_t token, struct macro *macro)
{
    uint32_t at = token + 3;
    if ((!sql_is_word(sql, token, "interval_intersect") &&
         !sql_is_word(sql, token, "_interval_intersect")) ||
        !sql_is_symbol(sql, token + 1, "!") || !sql_is_symbol(sql, token + 2, "(") ||
        !parse_list(sql, &at, macro->tables, TABLES_MAX, &macro->tables_n) ||
        !sql_is_symbol(sql, at, ","))
        return false;
    at++;
    if (!parse_list(sql, &at, macro->keys, KEYS_MAX, &macro->keys_n) ||
        !sql_is_symbol(sql, at, ")") || macro->tables_n == 0)
        return false;
    for (uint32_t i = 0; i < macro->keys_n; i++)
        if (macro->keys[i].to != macro->keys[i].from + 1 || !sql_is_name(sql, macro->keys[i].from))
            return false;
    macro->end = at + 1;
    return true;
}

/* Appends the text of tokens, without the comments around it. */
static void append_tokens(sqlite3_str *out, const struct sql *sql, struct part part)
{
    const struct sql_token *last = &sql->tokens[part.to - 1];
    const uint32_t from = sql->tokens[part.from].at;
    sqlite3_str_append(out, sql->text + from, (int)(last->at + last->n - from));
}

/* Finds the common table expressions that are complete before a token: "WITH a AS (...), b AS
 * (...)". Returns false if it finds nothing. */
static bool find_common_tables(const struct sql *sql, uint32_t before, struct part *part)
{
    if (!sql_is_word(sql, 0, "WITH"))
        return false;
    uint32_t at = 1 + sql_is_word(sql, 1, "RECURSIVE");
    *part = (struct part){0, 0};
    while (at < before && sql_is_name(sql, at)) {
        at++;
        if (sql_is_symbol(sql, at, "("))
            at = skip_parentheses(sql, at);
        if (at == SQL_NONE || !sql_is_word(sql, at, "AS"))
            break;
        at++;
        at += sql_is_word(sql, at, "NOT");
        at += sql_is_word(sql, at, "MATERIALIZED");
        at = sql_is_symbol(sql, at, "(") ? skip_parentheses(sql, at) : SQL_NONE;
        if (at == SQL_NONE || at > before)
            break;
        part->to = at;
        at += sql_is_symbol(sql, at, ",");
    }
    return part->to > 0;
}

/* Returns a SELECT of id, ts, dur and the keys of one table that interval_intersect! names. NULL if
 * memory is exhausted. */
static char *make_table_statement(const ttr_query *query, const struct sql *sql,
                                  const struct macro *macro, uint32_t table, uint32_t token)
{
    struct part common;
    sqlite3_str *out = sqlite3_str_new(query->db);
    if (find_common_tables(sql, token, &common)) {
        append_tokens(out, sql, common);
        sqlite3_str_appendall(out, " ");
    }
    sqlite3_str_appendall(out, "SELECT id, ts, dur");
    for (uint32_t i = 0; i < macro->keys_n; i++) {
        sqlite3_str_appendall(out, ", ");
        append_tokens(out, sql, macro->keys[i]);
    }
    sqlite3_str_appendall(out, " FROM ");
    append_tokens(out, sql, macro->tables[table]);
    return sqlite3_str_finish(out);
}

/* Returns "(SELECT ts, dur, id_0, id_1, key_0 AS utid FROM tracetta_intervals(1, '...', '...'))".
 */
static char *make_intersection(const ttr_query *query, const struct sql *sql,
                               const struct macro *macro, uint32_t token)
{
    sqlite3_str *out = sqlite3_str_new(query->db);
    sqlite3_str_appendall(out, "(SELECT ts, dur");
    for (uint32_t i = 0; i < macro->tables_n; i++)
        sqlite3_str_appendf(out, ", id_%u", i);
    for (uint32_t i = 0; i < macro->keys_n; i++) {
        sqlite3_str_appendf(out, ", key_%u AS ", i);
        append_tokens(out, sql, macro->keys[i]);
    }
    sqlite3_str_appendf(out, " FROM " INTERVALS_TABLE "(%u", macro->keys_n);
    for (uint32_t i = 0; i < macro->tables_n; i++) {
        char *statement = make_table_statement(query, sql, macro, i, token);
        sqlite3_str_appendf(out, ", %Q", statement);
        sqlite3_free(statement);
    }
    sqlite3_str_appendall(out, "))");
    return sqlite3_str_finish(out);
}

/* Returns true for "arg(" that is not part of a longer name, as in "x.arg(". */
static bool is_arg_call(const struct sql *sql, uint32_t token)
{
    return sql_is_word(sql, token, "arg") && sql_is_symbol(sql, token + 1, "(") &&
           (token == 0 || !sql_is_symbol(sql, token - 1, "."));
}

/* Returns true for "arg('key')". */
static bool is_arg(const struct sql *sql, uint32_t token)
{
    return is_arg_call(sql, token) && sql->tokens[token + 2].kind == SQL_STRING &&
           sql_is_symbol(sql, token + 3, ")");
}

char *query_expand_macros(const ttr_query *query, const char *text, struct query_edits *edits,
                          const char **rest)
{
    struct sql sql;
    struct macro macro;
    if (!sql_init(&sql, text)) {
        sql_free(&sql);
        return NULL;
    }
    for (uint32_t i = 0; sql.tokens[i].kind != SQL_END; i++) {
        const struct sql_token *first = &sql.tokens[i];
        char *replacement;
        if (is_arg(&sql, i)) {
            const struct sql_token *key = &sql.tokens[i + 2];
            replacement =
                sqlite3_mprintf("extract_arg(arg_set_id, %.*s)", (int)key->n, text + key->at);
            i += 3;
        } else if (parse_intersection(&sql, i, &macro)) {
            replacement = make_intersection(query, &sql, &macro, i);
            i = macro.end - 1;
        } else {
            continue;
        }
        query_edits_add(edits, first->at, sql.tokens[i].at + sql.tokens[i].n - first->at,
                        replacement);
    }
    const uint32_t end = sql.tokens[sql.tokens_n - 1].at;
    char *expanded = query_edits_apply(edits, &sql, end);
    *rest = text + end + (text[end] == ';');
    sql_free(&sql);
    return expanded;
}

/* Returns true for "interval_intersect!" with lists that cannot be parsed. */
static bool is_wrong_intersection(const struct sql *sql, uint32_t token)
{
    struct macro macro;
    return (sql_is_word(sql, token, "interval_intersect") ||
            sql_is_word(sql, token, "_interval_intersect")) &&
           sql_is_symbol(sql, token + 1, "!") && !parse_intersection(sql, token, &macro);
}

/* Describes "arg(" without a text in quotes. */
static void explain_arg(const struct sql *sql, uint32_t token, char *message, size_t message_n)
{
    const struct sql_token *key = &sql->tokens[token + 2];
    if (key->kind == SQL_WORD && sql_is_symbol(sql, token + 3, ")"))
        (void)snprintf(message, message_n,
                       "the name of an argument is a text in quotes: use arg('%.*s')", (int)key->n,
                       sql->text + key->at);
    else
        (void)snprintf(message, message_n,
                       "arg has one argument, a text in quotes: use arg('key')");
}

bool query_explain_macro(const char *text, char *message, size_t message_n, uint64_t *offset)
{
    struct sql sql;
    bool is_found = false;
    const bool is_read = sql_init(&sql, text);
    for (uint32_t i = 0; is_read && sql.tokens[i].kind != SQL_END && !is_found; i++) {
        const bool is_wrong_arg = is_arg_call(&sql, i) && !is_arg(&sql, i);
        is_found = is_wrong_arg || is_wrong_intersection(&sql, i);
        if (is_wrong_arg)
            explain_arg(&sql, i, message, message_n);
        else if (is_found)
            (void)snprintf(message, message_n,
                           "interval_intersect! has a list of one to %u tables and a list of up to "
                           "%u columns: use interval_intersect!((a, b), (utid))",
                           TABLES_MAX, KEYS_MAX);
        if (is_found)
            *offset = sql.tokens[is_wrong_arg ? i + 2 : i].at;
    }
    sql_free(&sql);
    return is_found;
}
