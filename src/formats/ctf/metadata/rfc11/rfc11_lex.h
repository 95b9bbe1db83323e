/* Tokens of RFC v1.1 metadata: words, numbers, strings and marks.
 *
 * The RFC shows its language by example only, in the manner of C: comments of both kinds, decimal,
 * octal and hexadecimal numbers, strings in quotes with C's escapes.  Zero bytes count as blanks.
 * Ownership: words point into the text, strings into the arena.  The first refusal sticks in
 * `status`. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_LEX_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_LEX_H

#include "formats/ctf/description/ctf_description.h"

enum rfc11_token_kind {
    RFC11_END = 0, /* of the text */
    RFC11_WORD,
    RFC11_NUMBER,
    RFC11_STRING,
    RFC11_MARK /* one of { } [ ] ; , = . */
};

struct rfc11_token {
    enum rfc11_token_kind kind;
    char mark;
    bool is_negative;
    size_t at;      /* its first byte in the text */
    ttr_text text;  /* of a word or string (without quotes) */
    uint64_t value; /* of a number: its magnitude */
};

struct rfc11_lexer {
    const struct ctf_text *text;
    struct arena *arena;
    ttr_error *error;
    ttr_status status;
    size_t at;
    struct rfc11_token token; /* the one to be looked at */
};

/* Takes the next token; false when there is none that the language has (not at the end). */
bool rfc11_next(struct rfc11_lexer *lexer);

/* Refuses the text at a place; always false. */
bool rfc11_refuse(struct rfc11_lexer *lexer, size_t at, const char *format, ...) TTR_PRINTF(3, 4);

/* Refuses because memory is out; always false. */
bool rfc11_refuse_memory(struct rfc11_lexer *lexer);

/* Refuses the current token: "expected ..., found ...". */
bool rfc11_expected(struct rfc11_lexer *lexer, const char *what);

/* True where the current token is this mark or word. */
bool rfc11_is_mark(const struct rfc11_lexer *lexer, char mark);
bool rfc11_is_word(const struct rfc11_lexer *lexer, const char *word);

/* Passes over a mark that must stand here. */
bool rfc11_take_mark(struct rfc11_lexer *lexer, char mark);

/* Takes a name: a word or a string; its bytes lie in the arena. */
bool rfc11_take_name(struct rfc11_lexer *lexer, ttr_text *name, const char *what);

/* Takes a number, signed as stored; `token` is its token for messages. */
bool rfc11_take_number(struct rfc11_lexer *lexer, struct rfc11_token *token, const char *what);

#endif
