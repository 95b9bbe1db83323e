/* JSON (RFC 8259), read piece by piece from memory: what lies between begin and end, the caller
 * gets as tokens.
 *
 * Strictly the grammar of the RFC: no comments, one value and nothing but blanks around it; no
 * comma before a closing bracket either, unless the caller takes such commas (they are counted
 * then).  Integers are exact over the whole range of 64 bits, signed and unsigned.  Every token
 * knows its bytes, every error its first wrong byte. Strings: an escape pair of surrogates is one
 * character; a lone surrogate, and each byte that begins no well-formed UTF-8 character, becomes
 * U+FFFD and is counted.  Keys that come twice are given twice. Ownership: the text is borrowed;
 * strings of tokens live in the caller's arena, and nothing else is allocated. Thread rule: a
 * reader belongs to one thread. */
#ifndef TRACETTA_BASE_JSONREAD_H
#define TRACETTA_BASE_JSONREAD_H

#include "base/arena.h"
#include "base/cursor.h"

#define JSON_READ_DEPTH_MAX 512u

enum json_kind {
    JSON_END, /* the value is over, and so is the text */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER, /* no fraction, no exponent: `size`, `is_negative`, `overflows` */
    JSON_REAL,    /* any other number: `real` */
    JSON_TEXT,    /* `text` */
    JSON_KEY,     /* `text`; a value follows */
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_OBJECT,
    JSON_OBJECT_END,
};

struct json_token {
    uint8_t kind;     /* enum json_kind */
    bool is_negative; /* of an integer; also of -0 */
    bool overflows; /* the integer is wider than 64 bits (`size` is then UINT64_MAX), or the real is
                       an infinity */
    uint64_t offset, end; /* of its first byte, and behind its last */
    uint64_t size;        /* integer without its sign */
    double real;          /* every number, rounded */
    const char *text;     /* UTF-8 and a zero that does not count; may hold zeros itself (\u0000) */
    size_t n;
};

struct json_reader {
    struct cursor c;
    struct arena *arena;
    unsigned depth, depth_max;
    uint8_t expects;                              /* private to jsonread.c */
    uint64_t is_object[JSON_READ_DEPTH_MAX / 64]; /* one bit a level */
    bool takes_commas; /* set behind json_read_begin: a comma before ] or } is no error */
    uint64_t commas, commas_offset; /* how many of these there were, and where the first was */
    uint64_t replaced,
        replaced_offset; /* how many U+FFFD were put in for what is no character, and where first */
};

/* Begins reading [text, text+n).  `offset` is that of its first byte, for tokens and errors; deeper
 * nesting than `depth_max` (cut to JSON_READ_DEPTH_MAX) is TTR_E_LIMIT. */
void json_read_begin(struct json_reader *reader, struct arena *arena, struct cursor text,
                     unsigned depth_max);

/* Gives the next token, at last JSON_END.  TTR_E_MALFORMED, TTR_E_TRUNCATED (the text ends within
 * its value), TTR_E_LIMIT or TTR_E_NOMEM otherwise; the reader is then of no more use. */
TTR_MUST ttr_status json_read_next(struct json_reader *reader, struct json_token *token,
                                   ttr_error *error);

/* The token as an integer of 64 bits; false when it is none or does not fit. */
bool json_token_u64(const struct json_token *token, uint64_t *x);
bool json_token_i64(const struct json_token *token, int64_t *x);

/* What a kind is called in messages: "an object", "a string". */
const char *json_kind_text(unsigned kind);

#endif
