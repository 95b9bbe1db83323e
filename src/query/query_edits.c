/* Replacements in the text of a statement; see the header. */
#include "query/query_edits.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "query/sql.h"

void query_edits_add(struct query_edits *edits, uint32_t at, uint32_t n, char *text)
{
    if (text && edits->n == edits->capacity) {
        const size_t capacity = edits->capacity ? 2 * edits->capacity : 16;
        struct query_edit *grown = realloc(edits->list, capacity * sizeof *grown);
        if (grown) {
            edits->list = grown;
            edits->capacity = capacity;
        }
    }
    if (!text || edits->n == edits->capacity) {
        edits->is_failed = true;
        sqlite3_free(text);
        return;
    }
    edits->list[edits->n++] = (struct query_edit){.at = at, .n = n, .text = text};
}

void query_edits_free(struct query_edits *edits)
{
    for (size_t i = 0; i < edits->n; i++)
        sqlite3_free(edits->list[i].text);
    free(edits->list);
    *edits = (struct query_edits){.n = 0};
}

/* --- Names of columns --- */

static uint32_t find_end_byte(const struct sql *sql, uint32_t token)
{
    return sql->tokens[token].at + sql->tokens[token].n;
}

/* Returns true if a token ends the result columns of a SELECT. */
static bool ends_results(const struct sql *sql, uint32_t token)
{
    static const char *const words[] = {"WHERE", "GROUP", "HAVING", "WINDOW",   "ORDER",
                                        "LIMIT", "UNION", "EXCEPT", "INTERSECT"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sql_is_word(sql, token, words[i]))
            return true;
    return sql->tokens[token].kind == SQL_END || sql_is_symbol(sql, token, ")") ||
           (sql_is_word(sql, token, "FROM") && !sql_is_word(sql, token - 1, "DISTINCT"));
}

/* Returns the token after a result column that starts at `token`. */
static uint32_t skip_result(const struct sql *sql, uint32_t token)
{
    uint32_t depth = 0;
    for (; sql->tokens[token].kind != SQL_END; token++) {
        if (depth == 0 && (sql_is_symbol(sql, token, ",") || ends_results(sql, token)))
            break;
        depth += sql_is_symbol(sql, token, "(");
        depth -= sql_is_symbol(sql, token, ")");
    }
    return token;
}

/* Returns true if the result column of tokens [from, to) has a name, with or without AS. */
static bool has_alias(const struct sql *sql, uint32_t from, uint32_t to)
{
    if (to - from < 2)
        return false;
    const uint32_t before = to - 2, kind = sql->tokens[before].kind;
    if (sql_is_word(sql, before, "AS"))
        return true;
    if (!sql_is_name(sql, to - 1) && sql->tokens[to - 1].kind != SQL_STRING)
        return false;
    return kind == SQL_STRING || kind == SQL_NUMBER || sql_is_name(sql, before) ||
           sql_is_symbol(sql, before, ")") || sql_is_word(sql, before, "END") ||
           sql_is_word(sql, before, "NULL");
}

/* Returns true if one of the first `n` replacements is between two bytes. */
static bool has_edit(const struct query_edits *edits, size_t n, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < n; i++)
        if (edits->list[i].at >= from && edits->list[i].at < to)
            return true;
    return false;
}

/* Adds AS with the old text to each result column of a SELECT that changes and has no name. */
static void name_results(struct query_edits *edits, size_t n, const struct sql *sql,
                         uint32_t select)
{
    uint32_t from = select + 1;
    from += sql_is_word(sql, from, "DISTINCT") || sql_is_word(sql, from, "ALL");
    for (;; from++) {
        const uint32_t to = skip_result(sql, from);
        if (to == from)
            return;
        const uint32_t at = sql->tokens[from].at, end = find_end_byte(sql, to - 1);
        if (has_edit(edits, n, at, end) && !has_alias(sql, from, to))
            query_edits_add(edits, end, 0,
                            sqlite3_mprintf(" AS \"%.*w\"", (int)(end - at), sql->text + at));
        if (!sql_is_symbol(sql, to, ","))
            return;
        from = to;
    }
}

/* --- The new text --- */

static int compare_edits(const void *a, const void *b)
{
    const struct query_edit *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

char *query_edits_apply(struct query_edits *edits, const struct sql *sql, size_t end)
{
    const size_t replaced_n = edits->n;
    size_t copied = 0;
    if (replaced_n == 0)
        return NULL;
    for (uint32_t i = 0; sql->tokens[i].kind != SQL_END; i++)
        if (sql_is_word(sql, i, "SELECT"))
            name_results(edits, replaced_n, sql, i);
    if (edits->is_failed)
        return NULL;
    qsort(edits->list, edits->n, sizeof *edits->list, compare_edits);
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < edits->n; i++) {
        struct query_edit *edit = &edits->list[i];
        sqlite3_str_append(out, sql->text + copied, (int)(edit->at - copied));
        edit->new_at = (size_t)sqlite3_str_length(out);
        edit->new_n = strlen(edit->text);
        sqlite3_str_append(out, edit->text, (int)edit->new_n);
        copied = edit->at + edit->n;
    }
    sqlite3_str_append(out, sql->text + copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

size_t query_edits_find_offset(const struct query_edits *edits, size_t offset)
{
    size_t old = offset;
    for (size_t i = 0; i < edits->n && edits->list[i].new_at <= offset; i++) {
        const struct query_edit *edit = &edits->list[i];
        old = offset < edit->new_at + edit->new_n
                  ? edit->at
                  : edit->at + edit->n + (offset - edit->new_at - edit->new_n);
    }
    return old;
}
