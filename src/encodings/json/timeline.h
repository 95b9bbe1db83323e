/* Formatting of times in text outputs. The emit functions write at most NUMBER_MAX bytes, and
 * return the end of the text, like those of emit.h. */
#ifndef TRACETTA_ENCODINGS_JSON_TIMELINE_H
#define TRACETTA_ENCODINGS_JSON_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"

/* Returns |a - b|; the difference may exceed the range of int64_t. */
static inline uint64_t time_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Formats nanoseconds as seconds with nine decimals: "12.000000345". */
static inline char *emit_seconds(char *at, uint64_t ns)
{
    at += number_format_u64(at, ns / 1000000000);
    *at = '.';
    number_format_9_digits(at + 1, (uint32_t)(ns % 1000000000));
    return at + 10;
}

/* Formats nanoseconds as microseconds with three decimals, without rounding: "12.345". */
static inline char *emit_microseconds(char *at, uint64_t ns)
{
    at += number_format_u64(at, ns / 1000);
    *at = '.';
    number_format_digits(at + 1, ns % 1000, 3);
    return at + 4;
}

#endif
