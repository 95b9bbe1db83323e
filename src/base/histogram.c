/* A log-linear histogram, as HdrHistogram. Each value below 64 has a bucket of its own in octave 0.
 * Octave k >= 1 covers [2^(k+5), 2^(k+6)) with 64 buckets of width 2^(k-1). A quantile is the
 * middle of its bucket, so its relative error is at most 1/128. Left out: removal of values; sums
 * and means, which callers keep exactly. */
#include "base/histogram.h"

#define STEP_BITS 6
_Static_assert(HISTOGRAM_STEPS == 1 << STEP_BITS, "steps are a power of two");
_Static_assert(HISTOGRAM_OCTAVES + STEP_BITS == 64, "the last octave ends at 2^64");

static unsigned octave_for_value(uint64_t value)
{
    return value < HISTOGRAM_STEPS ? 0 : 64 - STEP_BITS - (unsigned)__builtin_clzll(value);
}

static unsigned step_of_value(uint64_t value, unsigned octave)
{
    return (unsigned)(octave ? value >> (octave - 1) : value) & (HISTOGRAM_STEPS - 1);
}

static uint64_t middle_of_step(unsigned octave, unsigned step)
{
    if (octave == 0)
        return step;
    uint64_t width = (uint64_t)1 << (octave - 1);
    return (HISTOGRAM_STEPS + step) * width + width / 2;
}

static bool reserve_octave(struct histogram *histogram, unsigned octave)
{
    if (!histogram->octave[octave])
        histogram->octave[octave] = alloc_zero(histogram->alloc, HISTOGRAM_STEPS, sizeof(uint64_t));
    return histogram->octave[octave] != NULL;
}

static void extend_range(struct histogram *histogram, uint64_t min, uint64_t max)
{
    if (histogram->count == 0 || min < histogram->min)
        histogram->min = min;
    if (histogram->count == 0 || max > histogram->max)
        histogram->max = max;
}

/* Returns the middle of the bucket that contains the value of the given rank, counted from 1. */
static uint64_t value_at_rank(const struct histogram *histogram, uint64_t rank)
{
    uint64_t seen = 0;
    for (unsigned octave = 0; octave <= HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *counts = histogram->octave[octave];
        for (unsigned step = 0; counts && step < HISTOGRAM_STEPS; step++) {
            seen += counts[step];
            if (seen >= rank)
                return middle_of_step(octave, step);
        }
    }
    return histogram->max;
}

void histogram_init(struct histogram *histogram, const struct alloc *alloc)
{
    *histogram = (struct histogram){.alloc = alloc};
}

void histogram_free(struct histogram *histogram)
{
    for (unsigned octave = 0; octave <= HISTOGRAM_OCTAVES; octave++)
        alloc_free(histogram->alloc, histogram->octave[octave], HISTOGRAM_STEPS, sizeof(uint64_t));
    histogram_init(histogram, histogram->alloc);
}

bool histogram_add(struct histogram *histogram, uint64_t value)
{
    unsigned octave = octave_for_value(value);
    if (!reserve_octave(histogram, octave))
        return false;
    histogram->octave[octave][step_of_value(value, octave)]++;
    extend_range(histogram, value, value);
    histogram->count++;
    return true;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
    double place = q * (double)histogram->count;
    /* Returns the exact minimum or maximum at the ends. The condition is negated, so that a NaN
     * returns the minimum. */
    if (histogram->count == 0 || !(place > 1))
        return histogram->min;
    if (place > (double)(histogram->count - 1))
        return histogram->max;
    uint64_t rank = (uint64_t)place;
    rank += (double)rank < place;
    uint64_t value = value_at_rank(histogram, rank);
    value = value < histogram->min ? histogram->min : value;
    return value > histogram->max ? histogram->max : value;
}
