/* Operators of expressions, by recursive descent with the precedence of SQLite:
 *
 *     OR   AND   NOT   = == <> != IS IN LIKE GLOB BETWEEN ISNULL   < <= > >=   & | << >>   + -
 *     * / %   ||   ~ + - before an operand
 */
#include "expression/parse.h"

#define CHILDREN_MAX 1000u

/* --- Nodes --- */

static struct node *make_node(struct parser *parser, enum node_kind kind, const char *at,
                              struct node *left, struct node *right)
{
    struct node *children[] = {left, right};
    if (!left)
        return NULL;
    return parser_node(
        parser, (struct node){.kind = (uint8_t)kind, .offset = (uint32_t)(at - parser->text)},
        children, right ? 2 : 1);
}

/* --- Levels with binary operators only --- */

struct operator
{
    const char *text;
    uint8_t level, kind;
};
#define LEVELS 5u /* from < to || */
static const struct operator operators[] = {
    {"<", 0, NODE_LT},          {"<=", 0, NODE_LE},          {">", 0, NODE_GT},
    {">=", 0, NODE_GE},         {"&", 1, NODE_BIT_AND},      {"|", 1, NODE_BIT_OR},
    {"<<", 1, NODE_SHIFT_LEFT}, {">>", 1, NODE_SHIFT_RIGHT}, {"+", 2, NODE_ADD},
    {"-", 2, NODE_SUBTRACT},    {"*", 3, NODE_MULTIPLY},     {"/", 3, NODE_DIVIDE},
    {"%", 3, NODE_REMAINDER},   {"||", 4, NODE_CONCAT}};

static struct node *parse_not(struct parser *parser);

/* Parses operators before an operand. NOT is possible here too: "1 = NOT 0". */
static struct node *parse_unary(struct parser *parser)
{
    const struct token token = parser->token;
    struct node *node;
    if (++parser->nesting > EXPRESSION_NESTING_MAX)
        return parser_fail(parser, token.begin, "more than %u levels are nested",
                           EXPRESSION_NESTING_MAX);
    if (token_is(&token, "NOT"))
        node = parse_not(parser);
    else if (parser_accept(parser, "-"))
        node = make_node(parser, NODE_NEGATE, token.begin, parse_unary(parser), NULL);
    else if (parser_accept(parser, "+"))
        node = make_node(parser, NODE_PLUS, token.begin, parse_unary(parser), NULL);
    else if (parser_accept(parser, "~"))
        node = make_node(parser, NODE_BIT_NOT, token.begin, parse_unary(parser), NULL);
    else
        node = parse_operand(parser);
    parser->nesting--;
    if (token_is(&parser->token, "COLLATE"))
        return parser_refuse(parser, &parser->token);
    return node;
}

static const struct operator* find_operator(const struct token *token, unsigned level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].level == level && token_is(token, operators[i].text))
            return &operators[i];
    return NULL;
}

static struct node *parse_level(struct parser *parser, unsigned level)
{
    struct node *left = level < LEVELS ? parse_level(parser, level + 1) : parse_unary(parser);
    const struct operator* found;
    while (left && level < LEVELS && (found = find_operator(&parser->token, level))) {
        const char *at = parser->token.begin;
        parser_advance(parser);
        if (found->kind == NODE_SUBTRACT && token_is(&parser->token, ">"))
            return parser_refuse(parser, &parser->token); /* the operator -> of JSON is not known */
        struct node *right = parse_level(parser, level + 1);
        left = right ? make_node(parser, (enum node_kind)found->kind, at, left, right) : NULL;
    }
    return left;
}

/* --- Equality and its relatives --- */

static struct node *parse_equality(struct parser *parser);
static struct node *parse_expression(struct parser *parser);

static struct node *parse_between(struct parser *parser, const char *at, struct node *left,
                                  bool is_negated)
{
    struct node *children[3] = {left, parse_equality(parser), NULL};
    if (!children[1] || !parser_expect(parser, "AND") || !(children[2] = parse_level(parser, 0)))
        return NULL;
    return parser_node(parser,
                       (struct node){.kind = NODE_BETWEEN,
                                     .is_negated = is_negated,
                                     .offset = (uint32_t)(at - parser->text)},
                       children, 3);
}

static struct node *parse_in(struct parser *parser, const char *at, struct node *left,
                             bool is_negated)
{
    struct node *children[CHILDREN_MAX] = {left};
    uint32_t n = 1;
    if (parser->token.kind == TOKEN_WORD)
        return parser_refuse(parser, &parser->token); /* IN accepts lists only, no tables */
    if (!parser_expect(parser, "("))
        return NULL;
    if (token_is(&parser->token, "SELECT") || token_is(&parser->token, "VALUES") ||
        token_is(&parser->token, "WITH"))
        return parser_refuse(parser, &parser->token);
    while (!token_is(&parser->token, ")")) {
        if (n == CHILDREN_MAX)
            return parser_fail(parser, parser->token.begin, "a list has at most %u values",
                               CHILDREN_MAX - 1);
        if (!(children[n++] = parse_expression(parser)))
            return NULL;
        if (!parser_accept(parser, ","))
            break;
    }
    if (!parser_expect(parser, ")"))
        return NULL;
    if (n == 1) /* the list is empty: `x IN ()` is false for every x */
        return parser_literal(parser, at, value_int(is_negated), LITERAL_TRUTH);
    return parser_node(parser,
                       (struct node){.kind = NODE_IN,
                                     .is_negated = is_negated,
                                     .offset = (uint32_t)(at - parser->text)},
                       children, n);
}

static struct node *parse_like(struct parser *parser, enum node_kind kind, const char *at,
                               struct node *left, bool is_negated)
{
    struct node *children[3] = {left, parse_level(parser, 0), NULL};
    uint32_t n = 2;
    if (!children[1])
        return NULL;
    if (kind == NODE_LIKE && parser_accept(parser, "ESCAPE")) {
        const struct token token = parser->token;
        children[n++] = parse_level(parser, 0);
        if (!children[2])
            return NULL;
        const struct value *escape = &children[2]->literal;
        const char *p = escape->v.text.p;
        if (children[2]->kind != NODE_LITERAL || escape->type != VALUE_TEXT ||
            escape->v.text.n == 0 ||
            (value_next_character(&p, p + escape->v.text.n),
             p != escape->v.text.p + escape->v.text.n))
            return parser_fail(parser, token.begin, "ESCAPE needs a text of one character");
    }
    return parser_node(parser,
                       (struct node){.kind = (uint8_t)kind,
                                     .is_negated = is_negated,
                                     .offset = (uint32_t)(at - parser->text)},
                       children, n);
}

/* Parses what follows IS. */
static struct node *parse_is(struct parser *parser, const char *at, struct node *left)
{
    const bool is_not = parser_accept(parser, "NOT");
    const struct token token = parser->token;
    if (token_is(&token, "DISTINCT"))
        return parser_refuse(parser, &token);
    struct node *right = parse_level(parser, 0);
    if (!right)
        return NULL;
    /* "x IS TRUE" tests the truth of x; "x IS 1" compares. */
    const enum node_kind kind = right->kind == NODE_LITERAL && right->detail == LITERAL_TRUTH
                                    ? (is_not ? NODE_IS_NOT_TRUE : NODE_IS_TRUE)
                                    : (is_not ? NODE_IS_NOT : NODE_IS);
    return make_node(parser, kind, at, left, right);
}

static struct node *make_null_test(struct parser *parser, enum node_kind kind, const char *at,
                                   struct node *left)
{
    struct node *null = parser_literal(parser, at, value_null(), 0);
    return null ? make_node(parser, kind, at, left, null) : NULL;
}

/* Parses one operator of this level. Sets *is_found to false if there is none. */
static struct node *parse_equality_operator(struct parser *parser, struct node *left,
                                            bool *is_found)
{
    const struct token token = parser->token;
    const char *at = token.begin;
    if (parser_accept(parser, "=") || parser_accept(parser, "==")) {
        struct node *right = parse_level(parser, 0);
        return right ? make_node(parser, NODE_EQ, at, left, right) : NULL;
    }
    if (parser_accept(parser, "<>") || parser_accept(parser, "!=")) {
        struct node *right = parse_level(parser, 0);
        return right ? make_node(parser, NODE_NE, at, left, right) : NULL;
    }
    if (parser_accept(parser, "IS"))
        return parse_is(parser, at, left);
    if (parser_accept(parser, "ISNULL"))
        return make_null_test(parser, NODE_IS, at, left);
    if (parser_accept(parser, "NOTNULL"))
        return make_null_test(parser, NODE_IS_NOT, at, left);
    const bool is_negated = parser_accept(parser, "NOT");
    if (is_negated && parser_accept(parser, "NULL"))
        return make_null_test(parser, NODE_IS_NOT, at, left);
    if (parser_accept(parser, "BETWEEN"))
        return parse_between(parser, at, left, is_negated);
    if (parser_accept(parser, "IN"))
        return parse_in(parser, at, left, is_negated);
    if (parser_accept(parser, "LIKE"))
        return parse_like(parser, NODE_LIKE, at, left, is_negated);
    if (parser_accept(parser, "GLOB"))
        return parse_like(parser, NODE_GLOB, at, left, is_negated);
    if (token_is(&parser->token, "REGEXP") || token_is(&parser->token, "MATCH"))
        return parser_refuse(parser, &parser->token);
    if (is_negated)
        return parser_fail(parser, parser->token.begin,
                           "BETWEEN, IN, LIKE, GLOB or NULL is expected after NOT");
    *is_found = false;
    return left;
}

static struct node *parse_equality(struct parser *parser)
{
    struct node *left = parse_level(parser, 0);
    bool is_found = true;
    while (left && is_found)
        left = parse_equality_operator(parser, left, &is_found);
    return left;
}

/* --- NOT, AND, OR --- */

static struct node *parse_not(struct parser *parser)
{
    const char *at = parser->token.begin;
    struct node *node;
    if (!parser_accept(parser, "NOT"))
        return parse_equality(parser);
    if (token_is(&parser->token, "EXISTS"))
        return parser_refuse(parser, &parser->token);
    if (++parser->nesting > EXPRESSION_NESTING_MAX)
        return parser_fail(parser, at, "more than %u levels are nested", EXPRESSION_NESTING_MAX);
    node = make_node(parser, NODE_NOT, at, parse_not(parser), NULL);
    parser->nesting--;
    return node;
}

static struct node *parse_and(struct parser *parser)
{
    struct node *left = parse_not(parser);
    while (left && token_is(&parser->token, "AND")) {
        const char *at = parser->token.begin;
        parser_advance(parser);
        struct node *right = parse_not(parser);
        left = right ? make_node(parser, NODE_AND, at, left, right) : NULL;
    }
    return left;
}

static struct node *parse_expression(struct parser *parser)
{
    struct node *left = parse_and(parser);
    while (left && token_is(&parser->token, "OR")) {
        const char *at = parser->token.begin;
        parser_advance(parser);
        struct node *right = parse_and(parser);
        left = right ? make_node(parser, NODE_OR, at, left, right) : NULL;
    }
    return left;
}

ttr_status expression_parse(struct expression *expression, const char *text, ttr_error *error)
{
    ttr_error local = {0};
    struct parser parser = {.expression = expression,
                            .parse_expression = parse_expression,
                            .text = text,
                            .token = token_read(text),
                            .error = error ? error : &local};
    expression->root = parse_expression(&parser);
    if (expression->root && parser.token.kind != TOKEN_END) {
        if (parser.token.kind == TOKEN_OPEN_TEXT)
            (void)parser_fail(&parser, parser.token.begin, "the quote has no end");
        else if (parser.token.kind == TOKEN_OPERATOR && *parser.token.begin == '.')
            (void)parser_refuse(&parser, &parser.token);
        else
            (void)parser_fail(&parser, parser.token.begin,
                              "an operator is expected before \"%.*s\"",
                              (int)(parser.token.n < 40 ? parser.token.n : 40), parser.token.begin);
    }
    return parser.is_failed ? parser.error->status : TTR_OK;
}
