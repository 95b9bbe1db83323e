/* Compiles SQL expressions into the vector programs of leaf_vector.h. */
#include <string.h>

#include "query/leaf_vector.h"

#define INT TTR_STORE_INT
#define REAL TTR_STORE_REAL
#define TEXT TTR_STORE_TEXT
#define OPERANDS_MAX 64u

struct compiler {
    struct vector_program *program;
    const struct vector_scope *scope;
    unsigned depth;
    bool is_result; /* true while a result column of a derived table is compiled: it may have window
                       functions */
};

static uint32_t compile(struct compiler *compiler, uint32_t expression);

static const struct sql_expression *expression_at(const struct compiler *compiler, uint32_t i)
{
    return &compiler->program->sql->expressions[i];
}

static uint8_t type_of(const struct compiler *compiler, uint32_t op)
{
    return compiler->program->ops[op].type;
}

static bool is_null(const struct compiler *compiler, uint32_t op)
{
    const struct vector_op *is = &compiler->program->ops[op];
    return is->kind == VECTOR_CONSTANT && is->constant == TTR_STORE_NULL;
}

/* Returns the operation of a constant NULL of a type. */
static uint32_t add_null_constant(struct compiler *compiler, uint8_t type)
{
    const struct vector_op op = {.kind = VECTOR_CONSTANT, .type = type, .constant = TTR_STORE_NULL};
    return vector_add(compiler->program, &op, NULL, 0);
}

/* --- Names --- */

/* Returns true if a column's table is that of a scope. */
static bool is_column_of_scope(const struct sql *sql, const struct vector_scope *scope,
                               uint32_t table)
{
    const struct sql_select *select = scope->select;
    if (table == SQL_NONE)
        return true;
    const uint32_t name = select->table_alias != SQL_NONE ? select->table_alias : select->table;
    return name != SQL_NONE && sql_same_name(sql, table, name);
}

/* Finds a column by name in a scope.  The result is the operation of the column. */
static uint32_t resolve_column(struct compiler *compiler, const struct vector_scope *scope,
                               uint32_t name)
{
    const struct sql *sql = compiler->program->sql;
    if (!scope->inner) {
        const uint32_t column = vector_find_column(compiler->program, name);
        ttr_store_column about;
        if (column == SQL_NONE || !ttr_store_column_at(compiler->program->query->store,
                                                       compiler->program->table, column, &about))
            return SQL_NONE;
        const struct vector_op op = {
            .kind = VECTOR_COLUMN, .type = (uint8_t)about.type, .column = column};
        return vector_add(compiler->program, &op, NULL, 0);
    }
    const struct sql_select *select = scope->inner->select;
    for (uint32_t i = 0; i < select->results_n; i++) {
        const struct sql_result *result = &select->results[i];
        if (result->expression == SQL_NONE) {
            const uint32_t op = resolve_column(compiler, scope->inner, name);
            if (op != SQL_NONE)
                return op;
            continue;
        }
        const struct sql_expression *is = expression_at(compiler, result->expression);
        const bool is_it = result->alias != SQL_NONE
                               ? sql_same_name(sql, result->alias, name)
                               : is->kind == SQL_COLUMN && sql_same_name(sql, is->name, name);
        if (!is_it)
            continue;
        struct compiler inner = {compiler->program, scope->inner, compiler->depth, true};
        return compile(&inner, result->expression);
    }
    return SQL_NONE;
}

static uint32_t compile_column(struct compiler *compiler, const struct sql_expression *is)
{
    return is_column_of_scope(compiler->program->sql, compiler->scope, is->table)
               ? resolve_column(compiler, compiler->scope, is->name)
               : SQL_NONE;
}

/* --- Functions of one text --- */

struct survey {
    /* operation of the only column of the expression; SQL_NONE = no column so far */
    uint32_t operand;
    bool is_simple; /* the expression has at most one column, and neither window nor aggregate
                       functions */
};

/* Finds the columns of an expression. */
static void find_columns_of_expression(struct compiler *compiler, uint32_t expression,
                                       struct survey *found)
{
    const struct sql_expression is = *expression_at(compiler, expression);
    if (++compiler->depth > SQL_DEPTH_MAX || ++compiler->program->steps > VECTOR_STEPS_MAX ||
        is.is_window || is.filter != SQL_NONE)
        found->is_simple = false;
    if (found->is_simple && is.kind == SQL_COLUMN) {
        const uint32_t op = compile_column(compiler, &is);
        if (op == SQL_NONE || type_of(compiler, op) != TEXT ||
            (found->operand != SQL_NONE && found->operand != op))
            found->is_simple = false;
        found->operand = op;
    }
    for (uint32_t i = is.operand; i != SQL_NONE && found->is_simple;
         i = expression_at(compiler, i)->next)
        find_columns_of_expression(compiler, i, found);
    compiler->depth--;
}

/* Returns true if two expressions have the same tokens. */
static bool is_same_text(const struct sql *sql, const struct sql_expression *a,
                         const struct sql_expression *b)
{
    if (a->to - a->from != b->to - b->from)
        return false;
    for (uint32_t i = 0; i < a->to - a->from; i++) {
        const struct sql_token *x = &sql->tokens[a->from + i], *y = &sql->tokens[b->from + i];
        if (x->n != y->n || memcmp(sql->text + x->at, sql->text + y->at, x->n) != 0)
            return false;
    }
    return true;
}

/* Compiles an expression that depends on one text column, or on no column. */
static uint32_t compile_dictionary(struct compiler *compiler, uint32_t expression)
{
    struct vector_program *program = compiler->program;
    struct survey found = {.operand = SQL_NONE, .is_simple = true};
    struct vector_op op = {.expression = expression};
    find_columns_of_expression(compiler, expression, &found);
    if (!found.is_simple)
        return SQL_NONE;
    if (found.operand == SQL_NONE) {
        op.kind = VECTOR_CONSTANT;
        if (!dictionary_constant(program, expression, &op.type, &op.constant))
            return SQL_NONE;
        return vector_add(program, &op, NULL, 0);
    }
    for (uint32_t i = 0; i < program->ops_n; i++)
        if (program->ops[i].words && program->operands[program->ops[i].operands] == found.operand &&
            is_same_text(program->sql, expression_at(compiler, program->ops[i].expression),
                         expression_at(compiler, expression)))
            return i;
    op.kind = VECTOR_DICTIONARY;
    op.words = dictionary_new(program, expression, found.operand, &op.type);
    if (!op.words)
        return SQL_NONE;
    const uint32_t added = vector_add(program, &op, &found.operand, 1);
    if (added == SQL_NONE)
        dictionary_free(op.words);
    return added;
}

/* --- Operators --- */

/* Compiles the operands of an expression.  Returns their number, or 0 if one is not known. */
static uint32_t compile_operands(struct compiler *compiler, const struct sql_expression *is,
                                 uint32_t operands[OPERANDS_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = is->operand; i != SQL_NONE; i = expression_at(compiler, i)->next) {
        if (n == OPERANDS_MAX || (operands[n] = compile(compiler, i)) == SQL_NONE)
            return 0;
        n++;
    }
    return n;
}

/* Converts NULL operands among [first, n) to the type of the other operands. Returns false if those
 * have different types. */
static bool unify_operand_types(struct compiler *compiler, uint32_t *operands, uint32_t first,
                                uint32_t step, uint32_t n)
{
    uint8_t type = INT;
    bool is_known = false;
    for (uint32_t i = first; i < n; i += step)
        if (!is_null(compiler, operands[i])) {
            if (is_known && type_of(compiler, operands[i]) != type)
                return false;
            type = type_of(compiler, operands[i]);
            is_known = true;
        }
    for (uint32_t i = first; i < n; i += step)
        if (is_null(compiler, operands[i]) &&
            (operands[i] = add_null_constant(compiler, type)) == SQL_NONE)
            return false;
    return true;
}

static uint32_t compare(struct compiler *compiler, uint8_t op, uint32_t a, uint32_t b)
{
    uint32_t operands[] = {a, b};
    const bool is_equality =
        op == SQL_OP_EQ || op == SQL_OP_NE || op == SQL_OP_IS || op == SQL_OP_IS_NOT;
    if (is_null(compiler, a) || is_null(compiler, b))
        if (!unify_operand_types(compiler, operands, 0, 1, 2))
            return SQL_NONE;
    const bool has_text =
        type_of(compiler, operands[0]) == TEXT || type_of(compiler, operands[1]) == TEXT;
    if (has_text &&
        (type_of(compiler, operands[0]) != type_of(compiler, operands[1]) ||
         (!is_equality && !is_null(compiler, operands[0]) && !is_null(compiler, operands[1]))))
        return SQL_NONE;
    const struct vector_op made = {.kind = VECTOR_COMPARE, .type = INT, .op = op};
    return vector_add(compiler->program, &made, operands, 2);
}

static uint32_t logic(struct compiler *compiler, uint8_t kind, const uint32_t *operands, uint32_t n)
{
    const struct vector_op made = {.kind = kind, .type = INT};
    for (uint32_t i = 0; i < n; i++)
        if (operands[i] == SQL_NONE || type_of(compiler, operands[i]) == TEXT)
            return SQL_NONE;
    return vector_add(compiler->program, &made, operands, n);
}

static uint32_t compile_arithmetic(struct compiler *compiler, uint8_t op, uint32_t *operands)
{
    const uint8_t a = type_of(compiler, operands[0]), b = type_of(compiler, operands[1]);
    const bool is_real = a == REAL || b == REAL;
    const bool needs_integers = op == SQL_OP_MODULO || op == SQL_OP_BIT_AND || op == SQL_OP_BIT_OR;
    if (a == TEXT || b == TEXT || (is_real && needs_integers))
        return SQL_NONE;
    const struct vector_op made = {
        .kind = VECTOR_ARITHMETIC, .type = is_real ? REAL : INT, .op = op};
    return vector_add(compiler->program, &made, operands, 2);
}

static uint32_t compile_binary(struct compiler *compiler, const struct sql_expression *is)
{
    uint32_t operands[OPERANDS_MAX];
    if (compile_operands(compiler, is, operands) != 2)
        return SQL_NONE;
    switch (is->op) {
    case SQL_OP_AND:
        return logic(compiler, VECTOR_AND, operands, 2);
    case SQL_OP_OR:
        return logic(compiler, VECTOR_OR, operands, 2);
    case SQL_OP_EQ:
    case SQL_OP_NE:
    case SQL_OP_LT:
    case SQL_OP_LE:
    case SQL_OP_GT:
    case SQL_OP_GE:
    case SQL_OP_IS:
    case SQL_OP_IS_NOT:
        return compare(compiler, is->op, operands[0], operands[1]);
    case SQL_OP_ADD:
    case SQL_OP_SUBTRACT:
    case SQL_OP_MULTIPLY:
    case SQL_OP_DIVIDE:
    case SQL_OP_MODULO:
    case SQL_OP_BIT_AND:
    case SQL_OP_BIT_OR:
        return compile_arithmetic(compiler, is->op, operands);
    default:
        return SQL_NONE; /* LIKE, GLOB, || of several columns */
    }
}

static uint32_t compile_unary(struct compiler *compiler, const struct sql_expression *is)
{
    const uint32_t operand = compile(compiler, is->operand);
    if (operand == SQL_NONE)
        return SQL_NONE;
    if (is->op == SQL_OP_NOT)
        return logic(compiler, VECTOR_NOT, &operand, 1);
    if (type_of(compiler, operand) == TEXT || is->op != SQL_OP_MINUS)
        return SQL_NONE;
    const struct vector_op made = {.kind = VECTOR_NEGATE, .type = type_of(compiler, operand)};
    return vector_add(compiler->program, &made, &operand, 1);
}

static uint32_t compile_between(struct compiler *compiler, const struct sql_expression *is)
{
    uint32_t operands[OPERANDS_MAX], sides[2];
    if (compile_operands(compiler, is, operands) != 3)
        return SQL_NONE;
    sides[0] = compare(compiler, SQL_OP_GE, operands[0], operands[1]);
    sides[1] = compare(compiler, SQL_OP_LE, operands[0], operands[2]);
    const uint32_t both = logic(compiler, VECTOR_AND, sides, 2);
    return both == SQL_NONE || !is->is_negated ? both : logic(compiler, VECTOR_NOT, &both, 1);
}

static uint32_t compile_in(struct compiler *compiler, const struct sql_expression *is)
{
    uint32_t operands[OPERANDS_MAX];
    const uint32_t n = compile_operands(compiler, is, operands);
    for (uint32_t i = 0; i < n; i++)
        if (type_of(compiler, operands[i]) == TEXT ||
            (i > 0 && compiler->program->ops[operands[i]].kind != VECTOR_CONSTANT))
            return SQL_NONE;
    const struct vector_op made = {.kind = VECTOR_IN, .type = INT, .is_negated = is->is_negated};
    return n < 2 ? SQL_NONE : vector_add(compiler->program, &made, operands, n);
}

/* Adds a CASE of conditions and values; NULL is its value if no condition holds. */
static uint32_t add_case(struct compiler *compiler, uint32_t *operands, uint32_t n)
{
    if (n % 2 == 0)
        operands[n++] = add_null_constant(compiler, INT);
    /* Operands 1, 3, ... and the last are values, the others conditions. */
    const uint32_t last = operands[n - 1];
    uint32_t values[OPERANDS_MAX + 1], values_n = 0;
    for (uint32_t i = 1; i < n - 1; i += 2)
        values[values_n++] = operands[i];
    values[values_n++] = last;
    if (last == SQL_NONE || !unify_operand_types(compiler, values, 0, 1, values_n))
        return SQL_NONE;
    for (uint32_t i = 0; i + 1 < values_n; i++)
        operands[2 * i + 1] = values[i];
    operands[n - 1] = values[values_n - 1];
    for (uint32_t i = 0; i < n - 1; i += 2)
        if (type_of(compiler, operands[i]) == TEXT)
            return SQL_NONE;
    const struct vector_op made = {.kind = VECTOR_CASE, .type = type_of(compiler, values[0])};
    return vector_add(compiler->program, &made, operands, n);
}

static uint32_t compile_case(struct compiler *compiler, const struct sql_expression *is)
{
    uint32_t operands[OPERANDS_MAX], cases[OPERANDS_MAX + 1], n;
    n = compile_operands(compiler, is, operands);
    if (n == 0 || n == OPERANDS_MAX)
        return SQL_NONE;
    const uint32_t base = is->has_base;
    for (uint32_t i = base; i < n; i++) {
        const bool is_condition = (i - base) % 2 == 0 && i + is->has_else < n;
        cases[i - base] = base && is_condition
                              ? compare(compiler, SQL_OP_EQ, operands[0], operands[i])
                              : operands[i];
        if (cases[i - base] == SQL_NONE)
            return SQL_NONE;
    }
    return add_case(compiler, cases, n - base);
}

/* --- Functions --- */

static bool is_function(const struct compiler *compiler, const struct sql_expression *is,
                        const char *name)
{
    return sql_name_equals(compiler->program->sql, is->name, name);
}

/* Returns true if an operation is a column by which the rows of the table are sorted. */
static bool is_sort_column(struct compiler *compiler, uint32_t op)
{
    ttr_store_column column;
    const struct vector_program *program = compiler->program;
    return program->ops[op].kind == VECTOR_COLUMN &&
           ttr_store_column_at(program->query->store, program->table, program->ops[op].column,
                               &column) &&
           column.is_ordered;
}

static uint32_t compile_window(struct compiler *compiler, const struct sql_expression *is)
{
    const bool is_lead = is_function(compiler, is, "lead");
    struct compiler plain = {compiler->program, compiler->scope, compiler->depth, false};
    if (!compiler->is_result || (!is_lead && !is_function(compiler, is, "lag")) ||
        is->operand == SQL_NONE || expression_at(compiler, is->operand)->next != SQL_NONE ||
        is->filter != SQL_NONE || is->is_distinct)
        return SQL_NONE;
    const uint32_t order = compile(&plain, is->order);
    if (order == SQL_NONE || !is_sort_column(compiler, order))
        return SQL_NONE;
    uint32_t operands[2] = {compile(&plain, is->operand), SQL_NONE};
    const bool is_partitioned = is->partition != SQL_NONE;
    if (is_partitioned)
        operands[1] = compile(&plain, is->partition);
    if (operands[0] == SQL_NONE || (is_partitioned && operands[1] == SQL_NONE))
        return SQL_NONE;
    const struct vector_op made = {
        .kind = VECTOR_LAG, .type = type_of(compiler, operands[0]), .is_lead = is_lead};
    return vector_add(compiler->program, &made, operands, 1 + is_partitioned);
}

static uint32_t compile_call(struct compiler *compiler, const struct sql_expression *is)
{
    static const struct {
        const char *name;
        uint8_t kind, least, most;
    } functions[] = {
        {"abs", VECTOR_ABS, 1, 1},
        {"ifnull", VECTOR_COALESCE, 2, 2},
        {"nullif", VECTOR_NULLIF, 2, 2},
        {"coalesce", VECTOR_COALESCE, 2, OPERANDS_MAX},
        {"min", VECTOR_LEAST, 2, OPERANDS_MAX},
        {"max", VECTOR_GREATEST, 2, OPERANDS_MAX},
        {"iif", VECTOR_CASE, 3, 3},
    };
    uint32_t operands[OPERANDS_MAX];
    if (is->is_window)
        return compile_window(compiler, is);
    if (is->is_star || is->is_distinct || is->filter != SQL_NONE)
        return SQL_NONE;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_function(compiler, is, functions[i].name))
            continue;
        const uint32_t n = compile_operands(compiler, is, operands);
        if (n < functions[i].least || n > functions[i].most)
            return SQL_NONE;
        if (functions[i].kind == VECTOR_CASE)
            return add_case(compiler, operands, n);
        if (!unify_operand_types(compiler, operands, 0, 1, n) ||
            (functions[i].kind != VECTOR_COALESCE && type_of(compiler, operands[0]) == TEXT))
            return SQL_NONE;
        const struct vector_op made = {.kind = functions[i].kind,
                                       .type = type_of(compiler, operands[0])};
        return vector_add(compiler->program, &made, operands, n);
    }
    return SQL_NONE;
}

static uint32_t compile_cast(struct compiler *compiler, const struct sql_expression *is)
{
    const struct sql *sql = compiler->program->sql;
    const uint32_t operand = compile(compiler, is->operand);
    if (operand == SQL_NONE)
        return SQL_NONE;
    const uint8_t type = type_of(compiler, operand);
    const bool to_integer =
        sql_is_word(sql, is->name, "INTEGER") || sql_is_word(sql, is->name, "INT");
    if (to_integer && type == INT)
        return operand;
    if (!sql_is_word(sql, is->name, "REAL") || type == TEXT)
        return SQL_NONE;
    const struct vector_op made = {.kind = VECTOR_TO_REAL, .type = REAL};
    return vector_add(compiler->program, &made, &operand, 1);
}

/* --- Expressions --- */

static uint32_t compile_kind(struct compiler *compiler, uint32_t expression)
{
    const struct sql_expression is = *expression_at(compiler, expression);
    if (is.kind == SQL_COLUMN)
        return compile_column(compiler, &is);
    const uint32_t words = compile_dictionary(compiler, expression);
    if (words != SQL_NONE)
        return words;
    switch (is.kind) {
    case SQL_UNARY:
        return compile_unary(compiler, &is);
    case SQL_BINARY:
        return compile_binary(compiler, &is);
    case SQL_CALL:
        return compile_call(compiler, &is);
    case SQL_CASE:
        return compile_case(compiler, &is);
    case SQL_IN:
        return compile_in(compiler, &is);
    case SQL_BETWEEN:
        return compile_between(compiler, &is);
    case SQL_CAST:
        return compile_cast(compiler, &is);
    default:
        return SQL_NONE;
    }
}

static uint32_t compile(struct compiler *compiler, uint32_t expression)
{
    /* Names of nested derived tables can multiply an expression. */
    if (compiler->depth >= SQL_DEPTH_MAX || ++compiler->program->steps > VECTOR_STEPS_MAX)
        return SQL_NONE;
    compiler->depth++;
    const uint32_t op = compile_kind(compiler, expression);
    compiler->depth--;
    return op;
}

uint32_t vector_compile(struct vector_program *program, const struct vector_scope *scope,
                        uint32_t expression)
{
    struct compiler compiler = {program, scope, 0, false};
    return compile(&compiler, expression);
}

uint32_t vector_compile_result(struct vector_program *program, const struct vector_scope *scope,
                               uint32_t expression)
{
    struct compiler compiler = {program, scope, 0, true};
    return compile(&compiler, expression);
}
