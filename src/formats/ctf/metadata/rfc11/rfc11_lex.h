/* Lexer of RFC v1.1 metadata: words, numbers, strings and marks.
 *
 * The RFC defines its language by examples only, in the style of C: comments of both kinds,
 * decimal, octal and hexadecimal numbers, strings in quotes with the escapes of C. Zero bytes count
 * as blanks. Ownership: words point into the text, strings into the arena. The first error is
 * stored in lexer.status. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_LEX_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_LEX_H

#include "formats/ctf/description/ctf_description.h"

enum rfc11_token_kind {
    RFC11_END = 0, /* end of the text */
    RFC11_WORD,
    RFC11_NUMBER,
    RFC11_STRING,
    RFC11_MARK /* one of the characters { } [ ] ; , = . */
};

struct rfc11_token {
    enum rfc11_token_kind kind;
    char mark;
    bool is_negative;
    size_t at; /* offset of the token's first byte in the metadata text */
    /* the word; or the content of the string, with its escapes decoded */
    ttr_text text;
    uint64_t value; /* absolute value of a number */
};

struct rfc11_lexer {
    const struct ctf_text *text;
    struct arena *arena;
    ttr_error *error;
    ttr_status status;
    size_t at;
    struct rfc11_token token; /* current token */
};

/* Reads the next token. Returns false if it is invalid; the end of the text is a valid token. */
bool rfc11_next_token(struct rfc11_lexer *lexer);

/* Sets an error at an offset in the text. Always returns false. */
bool rfc11_fail_at(struct rfc11_lexer *lexer, size_t at, const char *format, ...) TTR_PRINTF(3, 4);

/* Sets the error that memory runs out. Always returns false. */
bool rfc11_fail_memory(struct rfc11_lexer *lexer);

/* Sets the error "expected ..., found ..." at the current token. Always returns false. */
bool rfc11_fail_expected(struct rfc11_lexer *lexer, const char *what);

/* Return true if the current token is this mark or word. */
bool rfc11_is_mark(const struct rfc11_lexer *lexer, char mark);
bool rfc11_is_word(const struct rfc11_lexer *lexer, const char *word);

/* Consumes a mark such as ';'. Fails if the current token is not this mark. */
bool rfc11_expect_mark(struct rfc11_lexer *lexer, char mark);

/* Consumes a name, which may be a word or a string. Copies it to the arena. */
bool rfc11_parse_name(struct rfc11_lexer *lexer, ttr_text *name, const char *what);

/* Consumes a number and returns it in *token. Negative numbers are two's complement. */
bool rfc11_parse_number(struct rfc11_lexer *lexer, struct rfc11_token *token, const char *what);

#endif
