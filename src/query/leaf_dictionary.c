/* Functions of one text in a leaf, a part of a statement that the column scan runs instead of
 * SQLite. SQLite computes the function once per string; results are cached by the string's id. Text
 * has therefore exactly SQLite's meaning: LIKE, GLOB, collations, conversions.
 */
#include <stdlib.h>
#include <string.h>

#include "query/leaf_vector.h"

/* Knowledge about the result for a string.  TRUTH_IS_TRUE is the only one with its bit. */
#define TRUTH_UNKNOWN 0u
#define TRUTH_IS_OTHER 1u /* false, NULL, or a text */
#define TRUTH_IS_TRUE 2u

struct vector_dictionary {
    sqlite3_stmt *statement; /* SELECT of the function; its argument is the parameter ?1 */
    uint8_t type;            /* ttr_store_type of the results */
    int64_t *values;         /* results of the function, indexed by id of a string */
    uint8_t *truth;          /* TRUTH_UNKNOWN until values[id] has been computed */
    size_t n;
};

/* Deterministic functions and the types of their results. */
static const struct {
    const char *name;
    uint8_t type;
} functions[] = {
    {"length", TTR_STORE_INT},   {"instr", TTR_STORE_INT},   {"unicode", TTR_STORE_INT},
    {"like", TTR_STORE_INT},     {"glob", TTR_STORE_INT},    {"lower", TTR_STORE_TEXT},
    {"upper", TTR_STORE_TEXT},   {"substr", TTR_STORE_TEXT}, {"substring", TTR_STORE_TEXT},
    {"replace", TTR_STORE_TEXT}, {"trim", TTR_STORE_TEXT},   {"ltrim", TTR_STORE_TEXT},
    {"rtrim", TTR_STORE_TEXT},   {"printf", TTR_STORE_TEXT}, {"format", TTR_STORE_TEXT},
    {"hex", TTR_STORE_TEXT},     {"typeof", TTR_STORE_TEXT}, {"quote", TTR_STORE_TEXT},
    {"ifnull", TTR_STORE_TEXT},  {"nullif", TTR_STORE_TEXT}, {"coalesce", TTR_STORE_TEXT},
    {"round", TTR_STORE_REAL},   {"abs", TTR_STORE_INT},     {"iif", TTR_STORE_TEXT},
};

/* Returns the index of a function, or SIZE_MAX if it is not known. */
static size_t find_function(const struct sql *sql, uint32_t name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (sql_name_equals(sql, name, functions[i].name))
            return i;
    return SIZE_MAX;
}

/* Returns true if all functions of an expression are known. */
static bool is_known(const struct sql *sql, uint32_t expression, unsigned depth)
{
    const struct sql_expression *is = &sql->expressions[expression];
    if (depth > SQL_DEPTH_MAX ||
        (is->kind == SQL_CALL &&
         (is->is_star || is->is_distinct || is->is_window || is->filter != SQL_NONE ||
          find_function(sql, is->name) == SIZE_MAX)))
        return false;
    for (uint32_t i = is->operand; i != SQL_NONE; i = sql->expressions[i].next)
        if (!is_known(sql, i, depth + 1))
            return false;
    return true;
}

bool expression_has_only_scalar_functions(const struct sql *sql, uint32_t expression)
{
    return is_known(sql, expression, 0);
}

/* Returns true if an expression contains COLLATE, which would change comparisons around it. */
static bool has_collation(const struct sql *sql, uint32_t expression)
{
    const struct sql_expression *is = &sql->expressions[expression];
    bool has = is->kind == SQL_COLLATE;
    for (uint32_t i = is->operand; i != SQL_NONE && !has; i = sql->expressions[i].next)
        has = has_collation(sql, i);
    return has;
}

/* Guesses the type of the results from the expression.  If a result has another type, the leaf is
 * abandoned, and SQLite runs the statement. */
static uint8_t guess_type(const struct sql *sql, uint32_t expression)
{
    const struct sql_expression *is = &sql->expressions[expression];
    uint32_t last = is->operand;
    switch (is->kind) {
    case SQL_CALL:
        return functions[find_function(sql, is->name)].type;
    case SQL_BINARY:
        return is->op == SQL_OP_CONCAT ? TTR_STORE_TEXT : TTR_STORE_INT;
    case SQL_CAST:
        return sql_is_word(sql, is->name, "TEXT")   ? TTR_STORE_TEXT
               : sql_is_word(sql, is->name, "REAL") ? TTR_STORE_REAL
                                                    : TTR_STORE_INT;
    case SQL_CASE: /* the type of a CASE is that of its last value */
        while (sql->expressions[last].next != SQL_NONE)
            last = sql->expressions[last].next;
        return guess_type(sql, last);
    case SQL_COLLATE:
        return guess_type(sql, last);
    case SQL_COLUMN:
        return TTR_STORE_TEXT;
    case SQL_LITERAL:
        return sql->tokens[is->from].kind == SQL_STRING ? TTR_STORE_TEXT : TTR_STORE_INT;
    default:
        return TTR_STORE_INT;
    }
}

/* Returns true if a token is part of a column's name in an expression. */
static const struct sql_expression *find_column_at_token(const struct sql *sql, uint32_t expression,
                                                         uint32_t token)
{
    const struct sql_expression *is = &sql->expressions[expression];
    if (is->kind == SQL_COLUMN)
        return is->from <= token && token < is->to ? is : NULL;
    for (uint32_t i = is->operand; i != SQL_NONE; i = sql->expressions[i].next) {
        const struct sql_expression *operand = &sql->expressions[i];
        if (operand->from <= token && token < operand->to)
            return find_column_at_token(sql, i, token);
    }
    return NULL;
}

/* Prepares the expression as a statement in which columns are the parameter. */
static sqlite3_stmt *prepare_function(struct vector_program *program, uint32_t expression,
                                      bool is_column)
{
    const struct sql *sql = program->sql;
    const struct sql_expression *is = &sql->expressions[expression];
    sqlite3_str *text = sqlite3_str_new(program->query->db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendall(text, "SELECT ");
    for (uint32_t i = is->from; i < is->to; i++) {
        const struct sql_expression *column = find_column_at_token(sql, expression, i);
        if (!column)
            sqlite3_str_appendf(text, "%.*s ", (int)sql->tokens[i].n,
                                sql->text + sql->tokens[i].at);
        else if (i == column->name)
            sqlite3_str_appendall(text, "\"the text\" ");
    }
    /* A cast has the affinity of a column of texts. */
    sqlite3_str_appendall(text, is_column ? "FROM (SELECT CAST(?1 AS TEXT) AS \"the text\")"
                                          : "FROM (SELECT ?1 AS \"the text\")");
    char *query = sqlite3_str_finish(text);
    if (query)
        (void)sqlite3_prepare_v2(program->query->db, query, -1, &statement, NULL);
    sqlite3_free(query);
    return statement;
}

struct vector_dictionary *dictionary_new(struct vector_program *program, uint32_t expression,
                                         uint32_t operand, uint8_t *type)
{
    if (!is_known(program->sql, expression, 0) ||
        (guess_type(program->sql, expression) == TTR_STORE_TEXT &&
         has_collation(program->sql, expression)))
        return NULL;
    struct vector_dictionary *words = calloc(1, sizeof *words);
    if (!words)
        return NULL;
    words->statement =
        prepare_function(program, expression, program->ops[operand].kind == VECTOR_COLUMN);
    words->type = guess_type(program->sql, expression);
    *type = words->type;
    if (words->statement)
        return words;
    free(words);
    return NULL;
}

void dictionary_free(struct vector_dictionary *words)
{
    if (!words)
        return;
    (void)sqlite3_finalize(words->statement);
    free(words->values);
    free(words->truth);
    free(words);
}

/* Returns the result of a statement's row as a value of a type.  Sets is_inexact if it is not of
 * that type. */
static int64_t result_value(struct vector_program *program, sqlite3_stmt *statement, uint8_t type)
{
    const int is = sqlite3_column_type(statement, 0);
    int64_t value = TTR_STORE_NULL;
    if (is == SQLITE_NULL)
        return value;
    if (is == SQLITE_INTEGER && type == TTR_STORE_INT) {
        value = sqlite3_column_int64(statement, 0);
    } else if (is == SQLITE_FLOAT && type == TTR_STORE_REAL) {
        value = vector_real_to_bits(sqlite3_column_double(statement, 0));
    } else if (is == SQLITE_TEXT && type == TTR_STORE_TEXT) {
        const void *text = sqlite3_column_text(statement, 0);
        const int n = sqlite3_column_bytes(statement, 0);
        value = (int64_t)ttr_text_add(program->query->t, text, (size_t)n);
        program->is_full |= n > 0 && value == 0;
    }
    program->is_inexact |= value == TTR_STORE_NULL;
    return value;
}

/* Computes the result for one text. */
static int64_t compute_result(struct vector_program *program, struct vector_dictionary *words,
                              int64_t id)
{
    sqlite3_stmt *statement = words->statement;
    int64_t value = TTR_STORE_NULL;
    if (id == TTR_STORE_NULL) {
        (void)sqlite3_bind_null(statement, 1);
    } else {
        const ttr_text text = ttr_text_get(program->query->t, (ttr_id)id);
        (void)sqlite3_bind_text64(statement, 1, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
    }
    if (sqlite3_step(statement) == SQLITE_ROW)
        value = result_value(program, statement, words->type);
    else
        program->is_inexact = true; /* SQLite reports the error */
    (void)sqlite3_reset(statement);
    return value;
}

/* Grows the results to include a string id. Returns false if memory is exhausted. */
static bool grow_results(struct vector_dictionary *words, size_t id)
{
    const size_t n = 2 * id + 256;
    int64_t *values = realloc(words->values, n * sizeof *values);
    if (!values)
        return false;
    words->values = values;
    uint8_t *truth = realloc(words->truth, n);
    if (!truth)
        return false;
    memset(truth + words->n, TRUTH_UNKNOWN, n - words->n);
    words->truth = truth;
    words->n = n;
    return true;
}

/* Returns the index of a text's result; 0 is that of NULL. */
static size_t get_index(int64_t id)
{
    return id == TTR_STORE_NULL ? 0 : (size_t)id + 1;
}

/* Computes the result of a text if it is not known. Returns false if memory is exhausted. */
static bool add_result(struct vector_program *program, struct vector_dictionary *words, int64_t id)
{
    const size_t at = get_index(id);
    if (at >= words->n && !grow_results(words, at)) {
        program->is_full = true;
        return false;
    }
    if (words->truth[at] == TRUTH_UNKNOWN) {
        const int64_t value = compute_result(program, words, id);
        const bool is_true = words->type != TTR_STORE_TEXT && vector_truth(words->type, value) == 1;
        words->values[at] = value;
        words->truth[at] = is_true ? TRUTH_IS_TRUE : TRUTH_IS_OTHER;
    }
    return true;
}

void dictionary_evaluate(struct vector_program *program, struct vector_dictionary *words,
                         const int64_t *ids, uint32_t n, int64_t *values)
{
    for (uint32_t i = 0; i < n;) {
        /* Use the cached results until a text has none. */
        const size_t known_n = words->n;
        const uint8_t *const truth = words->truth;
        const int64_t *const results = words->values;
        for (size_t at; i < n && (at = get_index(ids[i])) < known_n && truth[at]; i++)
            values[i] = results[at];
        if (i < n && !add_result(program, words, ids[i]))
            return;
    }
}

/* Copies the results for n texts, all of which have an index in range.  Returns true if none is
 * TRUTH_UNKNOWN. */
static bool read_truth(const struct vector_dictionary *words, const int64_t *ids, uint32_t n,
                       uint8_t *truth)
{
    uint32_t unknown_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        truth[i] = words->truth[get_index(ids[i])];
        unknown_n += truth[i] == TRUTH_UNKNOWN;
    }
    return unknown_n == 0;
}

void dictionary_apply(struct vector_program *program, struct vector_dictionary *words,
                      const int64_t *ids, uint32_t n, uint8_t *mask)
{
    uint8_t truth[VECTOR_ROWS];
    /* No id is larger than this index. */
    const size_t last = ttr_text_count(program->query->t);
    if (last >= words->n && !grow_results(words, last)) {
        program->is_full = true;
        return;
    }
    if (!read_truth(words, ids, n, truth)) {
        for (uint32_t i = 0; i < n; i++)
            if (truth[i] == TRUTH_UNKNOWN && !add_result(program, words, ids[i]))
                return;
        (void)read_truth(words, ids, n, truth);
    }
    for (uint32_t i = 0; i < n; i++)
        mask[i] &= truth[i] / TRUTH_IS_TRUE;
}

bool dictionary_constant(struct vector_program *program, uint32_t expression, uint8_t *type,
                         int64_t *value)
{
    const struct sql_expression *is = &program->sql->expressions[expression];
    if (is->is_star && is->kind == SQL_LITERAL) {
        *type = TTR_STORE_INT;
        *value = TTR_STORE_NULL;
        return true;
    }
    const struct sql_token *token = &program->sql->tokens[is->from];
    if (is->kind == SQL_LITERAL && token->kind == SQL_NUMBER && token->n < 18 &&
        strspn(program->sql->text + token->at, "0123456789") >= token->n) {
        *type = TTR_STORE_INT;
        *value = strtoll(program->sql->text + token->at, NULL, 10);
        return true;
    }
    if (!is_known(program->sql, expression, 0) || has_collation(program->sql, expression))
        return false;
    sqlite3_stmt *statement = prepare_function(program, expression, false);
    bool is_fine = statement && sqlite3_step(statement) == SQLITE_ROW;
    if (is_fine) {
        const int is_type = sqlite3_column_type(statement, 0);
        *type = is_type == SQLITE_TEXT    ? TTR_STORE_TEXT
                : is_type == SQLITE_FLOAT ? TTR_STORE_REAL
                                          : TTR_STORE_INT;
        is_fine = is_type != SQLITE_BLOB;
        *value = result_value(program, statement, *type);
        /* The smallest integer and -0.0 have the bits of NULL. */
        is_fine &= !program->is_inexact;
        program->is_inexact = false;
    }
    (void)sqlite3_finalize(statement);
    return is_fine;
}
