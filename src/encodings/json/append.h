/* Unchecked appends, for writers that ask buffer_room once an event for all they are going to
 * write: each call copies to `at` and gives the place after it.  Numbers take at most NUMBER_MAX
 * bytes. */
#ifndef TRACETTA_ENCODINGS_JSON_APPEND_H
#define TRACETTA_ENCODINGS_JSON_APPEND_H

#include <string.h>

#include "base/number.h"
#include "encodings/json/text_cache.h"

/* For constant texts: the length is then known to the compiler. */
static inline char *put_text(char *at, const char *text)
{
    size_t n = strlen(text);
    memcpy(at, text, n);
    return at + n;
}

static inline char *put_piece(char *at, ttr_text piece)
{
    memcpy(at, piece.p, piece.n);
    return at + piece.n;
}

/* A piece of a text cache, by whole vectors: needs room for TEXT_CACHE_PADDING bytes more. */
static inline char *put_cached(char *at, ttr_text piece)
{
    for (size_t i = 0; i < piece.n; i += TEXT_CACHE_PADDING)
        memcpy(at + i, piece.p + i, TEXT_CACHE_PADDING);
    return at + piece.n;
}

static inline char *put_u64(char *at, uint64_t x)
{
    return at + number_put_u64(at, x);
}

static inline char *put_i64(char *at, int64_t x)
{
    return at + number_put_i64(at, x);
}

static inline char *put_hex(char *at, uint64_t x)
{
    return at + number_put_hex(at, x);
}

#endif
