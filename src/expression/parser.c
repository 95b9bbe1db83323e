/* Functions that both parts of the parser call: errors, the next token, nodes. */
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"
#include "expression/parse.h"

/* --- Errors and tokens --- */

struct node *parser_fail(struct parser *parser, const char *at, const char *format, ...)
{
    char text[256];
    va_list list;
    if (parser->is_failed)
        return NULL;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    parser->is_failed = true;
    (void)error_set_option(
        parser->error, fail(parser->error, TTR_E_MISUSE, (uint64_t)(at - parser->text), "%s", text),
        "where");
    return NULL;
}

struct node *parser_refuse(struct parser *parser, const struct token *token)
{
    return parser_fail(parser, token->begin,
                       "\"%.*s\" is not possible in a condition on events: use SQL, as in "
                       "\"tracetta query\"",
                       (int)(token->n < 40 ? token->n : 40), token->begin);
}

struct node *parser_fail_nomem(struct parser *parser)
{
    if (!parser->is_failed)
        (void)fail_memory(parser->error);
    parser->is_failed = true;
    return NULL;
}

void parser_advance(struct parser *parser)
{
    parser->token = token_read(parser->token.begin + parser->token.n);
}

bool parser_accept(struct parser *parser, const char *text)
{
    const bool is_next = token_is(&parser->token, text);
    if (is_next)
        parser_advance(parser);
    return is_next;
}

bool parser_expect(struct parser *parser, const char *text)
{
    const struct token token = parser->token;
    if (parser_accept(parser, text))
        return true;
    if (token.kind == TOKEN_END)
        (void)parser_fail(parser, token.begin, "the expression ends where \"%s\" is expected",
                          text);
    else if (token_is(&token, "SELECT"))
        (void)parser_refuse(parser, &token);
    else
        (void)parser_fail(parser, token.begin, "\"%s\" is expected before \"%.*s\"", text,
                          (int)(token.n < 40 ? token.n : 40), token.begin);
    return false;
}

/* --- Nodes --- */

/* Replaces a node by its value if its children are literals. */
static struct node *fold(struct parser *parser, struct node *node)
{
    struct expression *expression = parser->expression;
    for (uint32_t i = 0; i < node->children_n; i++)
        if (node->children[i]->kind != NODE_LITERAL)
            return node;
    if (node->children_n == 0)
        return node;
    struct value value = node_evaluate(expression, node, NULL);
    if (expression->failure != TTR_OK)
        return expression->failure == TTR_E_NOMEM
                   ? parser_fail_nomem(parser)
                   : parser_fail(parser, parser->text + node->offset, "a text exceeds 1 MiB");
    if (value.type == VALUE_TEXT) {
        value.v.text.p = arena_copy(&expression->arena, value.v.text.p, value.v.text.n);
        if (!value.v.text.p)
            return parser_fail_nomem(parser);
    }
    arena_reset(&expression->scratch);
    value.affinity = node->affinity;
    node->kind = NODE_LITERAL;
    node->detail = 0;
    node->literal = value;
    node->children_n = 0;
    node->depth = 1;
    return node;
}

struct node *parser_node(struct parser *parser, struct node about, struct node *const *children,
                         uint32_t n)
{
    struct arena *arena = &parser->expression->arena;
    if (parser->is_failed)
        return NULL;
    if (++parser->nodes > EXPRESSION_NODES_MAX)
        return parser_fail(parser, parser->text + about.offset,
                           "the expression has more than %u operations", EXPRESSION_NODES_MAX);
    struct node *node = arena_alloc(arena, sizeof *node);
    struct node **copy = n ? arena_alloc(arena, n * sizeof *copy) : NULL;
    if (!node || (n && !copy))
        return parser_fail_nomem(parser);
    *node = about;
    node->children = copy;
    node->children_n = n;
    node->depth = 1;
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = children[i];
        node->depends |= children[i]->depends;
        node->depth = children[i]->depth >= node->depth ? children[i]->depth + 1 : node->depth;
    }
    if (node->depth > EXPRESSION_DEPTH_MAX)
        return parser_fail(parser, parser->text + about.offset,
                           "the expression is nested more than %u levels deep",
                           EXPRESSION_DEPTH_MAX);
    return fold(parser, node);
}

struct node *parser_literal(struct parser *parser, const char *at, struct value value,
                            uint8_t detail)
{
    return parser_node(parser,
                       (struct node){.kind = NODE_LITERAL,
                                     .literal = value,
                                     .detail = detail,
                                     .offset = (uint32_t)(at - parser->text)},
                       NULL, 0);
}
