/* Operands of expressions: literals, columns, fields, functions, CASE, CAST. */
#include <string.h>
#include <strings.h>

#include "expression/parse.h"

#define ARGUMENTS_MAX 100u
#define NAME_MAX_BYTES 256u

static const struct {
    const char *name;
    uint8_t function, least, most;
} functions[] = {{"coalesce", FUNCTION_COALESCE, 2, ARGUMENTS_MAX},
                 {"ifnull", FUNCTION_COALESCE, 2, 2},
                 {"nullif", FUNCTION_NULLIF, 2, 2},
                 {"iif", FUNCTION_IIF, 3, 3},
                 {"length", FUNCTION_LENGTH, 1, 1},
                 {"lower", FUNCTION_LOWER, 1, 1},
                 {"upper", FUNCTION_UPPER, 1, 1},
                 {"instr", FUNCTION_INSTR, 2, 2},
                 {"substr", FUNCTION_SUBSTR, 2, 3},
                 {"substring", FUNCTION_SUBSTR, 2, 3},
                 {"typeof", FUNCTION_TYPEOF, 1, 1}};

/* Words that are not names. */
static const char *const reserved[] = {
    "SELECT", "EXISTS", "RAISE",  "FROM",    "WHERE", "GROUP", "ORDER",   "HAVING",  "LIMIT",
    "WHEN",   "THEN",   "ELSE",   "END",     "AND",   "OR",    "BETWEEN", "IN",      "LIKE",
    "GLOB",   "IS",     "ISNULL", "NOTNULL", "AS",    "UNION", "VALUES",  "DISTINCT"};

/* --- Numbers --- */

/* Multiplies a number by the unit that follows it: durations are in ns. */
static bool apply_unit(struct value *value, const char *unit, size_t n)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},         {"us", 1000},         {"ms", 1000000},
                 {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != n || memcmp(units[i].name, unit, n) != 0)
            continue;
        int64_t product;
        if (value->type == VALUE_INT &&
            !__builtin_mul_overflow(value->v.i, units[i].ns, &product)) {
            *value = value_int(product);
            return true;
        }
        const double ns = value_to_real(value) * (double)units[i].ns + 0.5; /* rounds */
        *value = ns < 9e18 ? value_int((int64_t)ns) : value_real(ns);
        return true;
    }
    return false;
}

static bool parse_hex(const struct token *token, int64_t *number)
{
    uint64_t sum = 0;
    size_t digits = 0;
    for (size_t i = 2; i < token->n; i++) {
        const char c = token->begin[i];
        const char *all = "0123456789abcdefABCDEF", *at = strchr(all, c);
        if (!at)
            return false;
        const uint64_t digit = (uint64_t)(at - all);
        digits += digits > 0 || c != '0';
        sum = sum << 4 | (digit < 16 ? digit : digit - 6);
    }
    *number = (int64_t)sum;
    return token->n > 2 && digits <= 16;
}

static struct node *parse_number(struct parser *parser)
{
    const struct token token = parser->token;
    struct value value;
    parser_advance(parser);
    if (token.n > 1 && (token.begin[1] == 'x' || token.begin[1] == 'X')) {
        int64_t number;
        if (!parse_hex(&token, &number))
            return parser_fail(parser, token.begin, "not a hexadecimal number of 64 bits");
        return parser_literal(parser, token.begin, value_int(number), 0);
    }
    size_t n = strspn(token.begin, "0123456789.");
    if (n < token.n && (token.begin[n] == 'e' || token.begin[n] == 'E')) {
        n += 1u + (size_t)(token.begin[n + 1] == '+' || token.begin[n + 1] == '-');
        n += strspn(token.begin + n, "0123456789");
    }
    n = n < token.n ? n : token.n;
    const struct value text = value_text((ttr_text){token.begin, n});
    value = value_to_number(&text);
    if (n < token.n && !apply_unit(&value, token.begin + n, token.n - n))
        return parser_fail(parser, token.begin + n,
                           "\"%.*s\" is not a unit: there are ns, us, ms, s, min, h",
                           (int)(token.n - n < 40 ? token.n - n : 40), token.begin + n);
    return parser_literal(parser, token.begin, value, 0);
}

/* --- Texts and names --- */

/* Copies a quoted token without its quotes. Returns NULL if memory is exhausted. */
static char *copy_unquoted(struct parser *parser, const struct token *token, size_t *n)
{
    const char quote = token->begin[token->n - 1];
    char *to = arena_alloc(&parser->expression->arena, token->n);
    *n = 0;
    for (size_t i = 1; to && i + 1 < token->n; i++) {
        to[(*n)++] = token->begin[i];
        i += token->begin[i] == quote;
    }
    if (to)
        to[*n] = '\0';
    else
        (void)parser_fail_nomem(parser);
    return to;
}

static struct node *parse_text(struct parser *parser)
{
    const struct token token = parser->token;
    size_t n;
    const char *text = copy_unquoted(parser, &token, &n);
    parser_advance(parser);
    return text ? parser_literal(parser, token.begin, value_text((ttr_text){text, n}), 0) : NULL;
}

/* Returns the field of a name, which is added if it is new. */
static struct field_column *find_field(struct parser *parser, const char *name)
{
    struct expression *expression = parser->expression;
    for (size_t i = 0; i < expression->fields_n; i++)
        if (strcmp(expression->fields[i]->name, name) == 0)
            return expression->fields[i];
    struct field_column *field = arena_alloc(&expression->arena, sizeof *field);
    if (!field || !alloc_reserve(&expression->t->counted, (void **)&expression->fields,
                                 &expression->fields_capacity, expression->fields_n + 1,
                                 sizeof(struct field_column *)))
        return NULL;
    *field = (struct field_column){.name = arena_copy(&expression->arena, name, strlen(name))};
    if (!field->name)
        return NULL;
    expression->fields[expression->fields_n++] = field;
    return field;
}

static struct node *make_name(struct parser *parser, const char *at, const char *name)
{
    const enum column column = column_find(name);
    struct node about = {.kind = NODE_COLUMN, .offset = (uint32_t)(at - parser->text)};
    if (column < COLUMN_COUNT) {
        about.detail = (uint8_t)column;
        about.affinity = (uint8_t)column_affinity(column);
        about.depends = 1u << column;
        return parser_node(parser, about, NULL, 0);
    }
    if (strncmp(name, "field_", 6) == 0 && column_find(name + 6) < COLUMN_COUNT)
        name += 6; /* "field_NAME" is the field NAME, which the column NAME hides */
    about.kind = NODE_FIELD;
    about.depends = DEPENDS_ON_FIELDS;
    about.field = find_field(parser, name);
    return about.field ? parser_node(parser, about, NULL, 0) : parser_fail_nomem(parser);
}

/* --- CASE, CAST, functions --- */

/* Parses CASE [operand] WHEN a THEN b ... [ELSE c] END, after CASE. */
static struct node *parse_case(struct parser *parser, const char *at)
{
    struct node *children[2 * ARGUMENTS_MAX + 2];
    struct node about = {.kind = NODE_CASE, .offset = (uint32_t)(at - parser->text)};
    uint32_t n = 0;
    about.has_operand = !token_is(&parser->token, "WHEN");
    if (about.has_operand && !(children[n++] = parser->parse_expression(parser)))
        return NULL;
    do {
        if (n + 3 > sizeof children / sizeof *children)
            return parser_fail(parser, parser->token.begin, "CASE has at most %u cases",
                               ARGUMENTS_MAX);
        if (!parser_expect(parser, "WHEN") || !(children[n++] = parser->parse_expression(parser)) ||
            !parser_expect(parser, "THEN") || !(children[n++] = parser->parse_expression(parser)))
            return NULL;
    } while (token_is(&parser->token, "WHEN"));
    about.has_else = parser_accept(parser, "ELSE");
    if (about.has_else && !(children[n++] = parser->parse_expression(parser)))
        return NULL;
    return parser_expect(parser, "END") ? parser_node(parser, about, children, n) : NULL;
}

/* Parses CAST(x AS type), after CAST. */
static struct node *parse_cast(struct parser *parser, const char *at)
{
    static const struct {
        const char *name;
        uint8_t affinity;
    } types[] = {{"INTEGER", AFFINITY_INTEGER}, {"INT", AFFINITY_INTEGER}, {"REAL", AFFINITY_REAL},
                 {"DOUBLE", AFFINITY_REAL},     {"FLOAT", AFFINITY_REAL},  {"TEXT", AFFINITY_TEXT}};
    struct node about = {.kind = NODE_CAST, .offset = (uint32_t)(at - parser->text)};
    struct node *child;
    if (!parser_expect(parser, "(") || !(child = parser->parse_expression(parser)) ||
        !parser_expect(parser, "AS"))
        return NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (token_is(&parser->token, types[i].name))
            about.affinity = types[i].affinity;
    if (about.affinity == AFFINITY_NONE)
        return parser_refuse(parser, &parser->token);
    parser_advance(parser);
    return parser_expect(parser, ")") ? parser_node(parser, about, &child, 1) : NULL;
}

static struct node *parse_function(struct parser *parser, const struct token *name)
{
    struct node *children[ARGUMENTS_MAX];
    struct node about = {.kind = NODE_FUNCTION, .offset = (uint32_t)(name->begin - parser->text)};
    uint32_t n = 0;
    size_t i = 0;
    while (i < sizeof functions / sizeof *functions && !token_is(name, functions[i].name))
        i++;
    if (i == sizeof functions / sizeof *functions)
        return parser_refuse(parser, name);
    about.detail = functions[i].function;
    parser_advance(parser);
    while (!token_is(&parser->token, ")")) {
        if (n == ARGUMENTS_MAX)
            return parser_fail(parser, parser->token.begin, "a function has at most %u arguments",
                               ARGUMENTS_MAX);
        if (!(children[n++] = parser->parse_expression(parser)))
            return NULL;
        if (!parser_accept(parser, ","))
            break;
    }
    if (!parser_expect(parser, ")"))
        return NULL;
    if (n < functions[i].least || n > functions[i].most)
        return parser_fail(parser, name->begin, "wrong number of arguments of %s()",
                           functions[i].name);
    if (token_is(&parser->token, "OVER") || token_is(&parser->token, "FILTER"))
        return parser_refuse(parser, &parser->token);
    return parser_node(parser, about, children, n);
}

/* --- Operands --- */

static struct node *parse_word(struct parser *parser)
{
    const struct token token = parser->token;
    char name[NAME_MAX_BYTES];
    parser_advance(parser);
    if (token_is(&token, "NULL"))
        return parser_literal(parser, token.begin, value_null(), 0);
    if (token_is(&token, "TRUE") || token_is(&token, "FALSE"))
        return parser_literal(parser, token.begin, value_int(token_is(&token, "TRUE")),
                              LITERAL_TRUTH);
    if (token_is(&token, "CASE"))
        return parse_case(parser, token.begin);
    if (token_is(&token, "CAST"))
        return parse_cast(parser, token.begin);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (token_is(&token, reserved[i]))
            return token_is(&token, "SELECT") || token_is(&token, "EXISTS")
                       ? parser_refuse(parser, &token)
                       : parser_fail(parser, token.begin, "a value is expected before \"%.*s\"",
                                     (int)token.n, token.begin);
    if (token_is(&parser->token, "("))
        return parse_function(parser, &token);
    if (parser->token.kind == TOKEN_TEXT && token.n == 1)
        return parser_refuse(parser, &token); /* x'00' */
    if (token.n >= sizeof name)
        return parser_fail(parser, token.begin, "a name has at most %u bytes", NAME_MAX_BYTES - 1);
    memcpy(name, token.begin, token.n);
    name[token.n] = '\0';
    return make_name(parser, token.begin, name);
}

/* Parses an expression in parentheses, after "(". */
static struct node *parse_parentheses(struct parser *parser)
{
    if (token_is(&parser->token, "SELECT") || token_is(&parser->token, "WITH") ||
        token_is(&parser->token, "VALUES"))
        return parser_refuse(parser, &parser->token);
    struct node *node = parser->parse_expression(parser);
    if (node && token_is(&parser->token, ","))
        return parser_refuse(parser, &parser->token); /* a row of values */
    return node && parser_expect(parser, ")") ? node : NULL;
}

struct node *parse_operand(struct parser *parser)
{
    const struct token token = parser->token;
    size_t n;
    const char *name;
    switch (token.kind) {
    case TOKEN_WORD:
        return parse_word(parser);
    case TOKEN_TEXT:
        return parse_text(parser);
    case TOKEN_NUMBER:
        return parse_number(parser);
    case TOKEN_QUOTED:
        name = copy_unquoted(parser, &token, &n);
        parser_advance(parser);
        return name ? make_name(parser, token.begin, name) : NULL;
    case TOKEN_OPEN_TEXT:
        return parser_fail(parser, token.begin, "the quote has no end");
    case TOKEN_END:
        return parser_fail(parser, token.begin, "the expression ends where a value is expected");
    default:
        break;
    }
    if (parser_accept(parser, "("))
        return parse_parentheses(parser);
    if (token.kind == TOKEN_OTHER)
        return parser_refuse(parser, &token);
    return parser_fail(parser, token.begin, "a value is expected before \"%.*s\"", (int)token.n,
                       token.begin);
}
