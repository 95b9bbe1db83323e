/* Appends to text without checking for space: writers reserve the space of a complete event by one
 * buffer_room call. Each function writes at `at` and returns the end of what it wrote. A number
 * needs at most NUMBER_MAX bytes. */
#ifndef TRACETTA_ENCODINGS_JSON_EMIT_H
#define TRACETTA_ENCODINGS_JSON_EMIT_H

#include <string.h>

#include "base/number.h"
#include "encodings/json/text_cache.h"

/* Appends a constant text. Inlining lets the compiler compute its length. */
static inline char *emit_constant(char *at, const char *text)
{
    size_t n = strlen(text);
    memcpy(at, text, n);
    return at + n;
}

static inline char *emit_piece(char *at, ttr_text piece)
{
    memcpy(at, piece.p, piece.n);
    return at + piece.n;
}

/* Appends a text from the text cache in blocks of 16 bytes, each by one vector move. May overwrite
 * up to TEXT_CACHE_PADDING bytes after the text. */
static inline char *emit_cached_piece(char *at, ttr_text piece)
{
    for (size_t i = 0; i < piece.n; i += TEXT_CACHE_PADDING)
        memcpy(at + i, piece.p + i, TEXT_CACHE_PADDING);
    return at + piece.n;
}

static inline char *emit_u64(char *at, uint64_t x)
{
    return at + number_format_u64(at, x);
}

static inline char *emit_i64(char *at, int64_t x)
{
    return at + number_format_i64(at, x);
}

static inline char *emit_hex(char *at, uint64_t x)
{
    return at + number_format_hex(at, x);
}

#endif
