/* The parser of expressions, in three files: parse.c has operators, parse_operand.c operands, and
 * parser.c what they share. */
#ifndef TRACETTA_EXPRESSION_PARSE_H
#define TRACETTA_EXPRESSION_PARSE_H

#include "expression/token.h"
#include "expression/tree.h"

struct parser {
    struct expression *expression;
    /* parses a complete expression; set by parse.c for parse_operand.c */
    struct node *(*parse_expression)(struct parser *parser);
    const char *text;
    struct token token; /* next token of the text */
    unsigned nesting;
    unsigned nodes;
    ttr_error *error;
    bool is_failed;
};

void parser_advance(struct parser *parser);

/* Advances over a word or an operator if it is next. */
bool parser_accept(struct parser *parser, const char *text);

/* Fails unless a word or an operator is next, and advances over it. */
bool parser_expect(struct parser *parser, const char *text);

/* Reports the first error, at a byte of the text. Returns NULL. */
struct node *parser_fail(struct parser *parser, const char *at, const char *format, ...)
    TTR_PRINTF(3, 4);

/* Reports that memory is exhausted. Returns NULL. */
struct node *parser_fail_nomem(struct parser *parser);

/* Reports something that SQL has and expressions have not. Returns NULL. */
struct node *parser_refuse(struct parser *parser, const struct token *token);

/* Makes a node of children that are not NULL; a constant node becomes its value. Returns NULL after
 * an error. */
struct node *parser_node(struct parser *parser, struct node about, struct node *const *children,
                         uint32_t n);

/* Makes a literal; `detail` is LITERAL_TRUTH or 0. */
struct node *parser_literal(struct parser *parser, const char *at, struct value value,
                            uint8_t detail);

/* Parses an operand: a literal, column, function or expression in parentheses. Returns NULL after
 * an error. */
struct node *parse_operand(struct parser *parser);

#endif
