/* A pull parser for JSON (RFC 8259) over text in memory: json_reader_next returns one token after
 * the other. Strict: no comments, exactly one value. A trailing comma before ] or } is an error,
 * unless the caller allows it; it is counted then. Integers are exact over the ranges of int64 and
 * uint64. Each token carries its byte range, each error the offset of the first wrong byte.
 * Strings: a pair of surrogate escapes is one character. A lone surrogate, and each byte that
 * starts no well-formed UTF-8 character, becomes U+FFFD and is counted. Duplicate keys are returned
 * as they occur. Ownership: the text is borrowed; strings of tokens are in the caller's arena, and
 * nothing else is allocated. Threads: one thread at a time per reader. */
#ifndef TRACETTA_BASE_JSON_READER_H
#define TRACETTA_BASE_JSON_READER_H

#include "base/arena.h"
#include "base/cursor.h"

#define JSON_DEPTH_MAX 512u

enum json_kind {
    JSON_END, /* end of the value; nothing follows it */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER, /* without fraction and exponent: `size`, `is_negative`, `overflows` */
    JSON_REAL,    /* any other number: `real` */
    JSON_TEXT,    /* a string: `text`, `n` */
    JSON_KEY,     /* `text`, `n`; the next token starts its value */
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_OBJECT,
    JSON_OBJECT_END,
};

struct json_token {
    uint8_t kind;     /* enum json_kind */
    bool is_negative; /* the integer has a minus sign; also true for -0 */
    /* the integer exceeds 64 bits (`size` is UINT64_MAX), or the real is infinite */
    bool overflows;
    uint64_t offset, end; /* byte offsets of its start and end */
    uint64_t size;        /* absolute value of an integer */
    double real;          /* value of any number, rounded to a double */
    const char *text;     /* UTF-8, zero-terminated; may contain zeros (\u0000) */
    size_t n;
};

struct json_reader {
    struct cursor c;
    struct arena *arena;
    unsigned depth, depth_max;
    /* enum expects in json_reader.c: which tokens are allowed next */
    uint8_t expects;
    uint64_t is_object[JSON_DEPTH_MAX / 64]; /* bit per open level: 1 = object, 0 = array */
    /* the caller may set it after json_reader_init: a trailing comma before ] or } is then counted,
     * not an error */
    bool allows_trailing_commas;
    uint64_t commas, commas_offset; /* number of trailing commas, offset of the first */
    uint64_t replaced,
        replaced_offset; /* number of U+FFFD inserted for invalid characters, offset of the first */
};

/* Starts reading `text`; its `offset` is the base of all token and error offsets. Text nested
 * deeper than `depth_max` (at most JSON_DEPTH_MAX) fails with TTR_E_LIMIT. */
void json_reader_init(struct json_reader *reader, struct arena *arena, struct cursor text,
                      unsigned depth_max);

/* Reads the next token, finally JSON_END. Fails with TTR_E_MALFORMED, TTR_E_TRUNCATED (the text
 * ends within its value), TTR_E_LIMIT or TTR_E_NOMEM; the reader must not be used after that. */
TTR_MUST ttr_status json_reader_next(struct json_reader *reader, struct json_token *token,
                                     ttr_error *error);

/* Store the token's value as a 64-bit integer. Return false if it is not an integer or out of
 * range. */
bool json_token_u64(const struct json_token *token, uint64_t *x);
bool json_token_i64(const struct json_token *token, int64_t *x);

/* Returns the name of a kind for messages: "an object", "a string". */
const char *json_kind_text(unsigned kind);

#endif
