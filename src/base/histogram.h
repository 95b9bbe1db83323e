/* A log-linear histogram of 64-bit values: quantiles with a relative error below 1 %.
 * Memory is allocated for those powers of two only that contain values. */
#ifndef TRACETTA_BASE_HISTOGRAM_H
#define TRACETTA_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* Buckets of equal width per power of two. The middle of a bucket differs from each value in it by
 * at most 1/128 of the value. */
#define HISTOGRAM_STEPS 64
#define HISTOGRAM_OCTAVES                                                \
    58 /* number of powers of two from 64 on; octave 0 counts the values \
        * below 64 exactly */

struct histogram {
    const struct alloc *alloc;
    uint64_t *octave[HISTOGRAM_OCTAVES + 1]; /* counts of each octave, HISTOGRAM_STEPS of them;
                                              * NULL while it has no value */
    uint64_t count, min, max;
};

void histogram_init(struct histogram *histogram, const struct alloc *alloc);
void histogram_free(struct histogram *histogram);

/* Adds a value. Returns false, with nothing changed, if memory runs out. */
TTR_MUST bool histogram_add(struct histogram *histogram, uint64_t value);

/* Returns the value at quantile q (0 to 1), between min and max; 0 if the histogram is empty. */
uint64_t histogram_quantile(const struct histogram *histogram, double q);

#endif
