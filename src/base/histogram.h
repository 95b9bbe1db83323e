/* A log-linear histogram of 64-bit values: quantiles with at most 1 % relative error, mergeable,
 * memory only for the ranges that were hit. */
#ifndef TRACETTA_BASE_HISTOGRAM_H
#define TRACETTA_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* 64 linear steps in each power of two: the middle of a step is within 1/128 of every value in it.
 */
#define HISTOGRAM_STEPS 64
#define HISTOGRAM_OCTAVES 58 /* values below 64 are exact in octave 0 */

struct histogram {
    const struct alloc *alloc;
    uint64_t *octave[HISTOGRAM_OCTAVES + 1]; /* HISTOGRAM_STEPS counts each, NULL while never hit */
    uint64_t count, min, max;
};

void histogram_init(struct histogram *histogram, const struct alloc *alloc);
void histogram_free(struct histogram *histogram);

/* False when memory is out. */
TTR_MUST bool histogram_add(struct histogram *histogram, uint64_t value);
TTR_MUST bool histogram_merge(struct histogram *into, const struct histogram *from);

/* The value at quantile q (0..1), clamped to [min, max]; 0 when empty. */
uint64_t histogram_quantile(const struct histogram *histogram, double q);

#endif
