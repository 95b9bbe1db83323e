/* Time in CTF: extends clock fields of a few bits to 64-bit ticks, and converts ticks to
 * nanoseconds of the time line that all streams share. Plain data, filled once per stream class.
 * Thread rule: read-only afterwards. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_CLOCK_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_CLOCK_H

#include "base/clock_math.h"
#include "formats/ctf/description/ctf_description.h"

/* Precomputed conversion of a clock class: ns = floor((ticks + cycles) * 10^9 / frequency) +
 * seconds * 10^9, with 0 <= cycles < frequency. */
struct ctf_timeline {
    struct clock_math math;
    int64_t seconds;
    uint64_t cycles;
    /* ns to add to the result of the conversion of (ticks + shift); valid if has_base */
    int64_t base;
    uint64_t shift; /* cycles to add to each tick before conversion; 0 if `base` includes them */
    bool has_base;
    bool is_anchored; /* time 0 is the Unix epoch, so times are absolute */
    /* true if ticks are converted with the rounding errors of babeltrace2
     * (ctf_timeline_use_rounding) */
    bool is_rounded;
};

/* Prepares the conversion for a clock. If `clock` is NULL, ticks are nanoseconds since an unknown
 * origin. */
void ctf_timeline_init(struct ctf_timeline *line, const struct ctf_clock *clock);

/* Converts all further ticks by floating point, as babeltrace2 does, so that the output is
 * byte-identical to babeltrace2. If the frequency is not 10^9, some times are off by one nanosecond
 * or more. */
void ctf_timeline_use_rounding(struct ctf_timeline *line, const struct ctf_clock *clock);

/* Converts ticks to nanoseconds by the exact formula, or like babeltrace2 if is_rounded. If the
 * result exceeds 64 bits, returns the nearest limit and sets *clamped; never clears *clamped. */
int64_t ctf_ticks_to_ns_exact(const struct ctf_timeline *line, uint64_t ticks, bool *clamped);

/* Converts ticks to nanoseconds. Same result as ctf_ticks_to_ns_exact, but faster for usual values.
 */
static inline int64_t ctf_ticks_to_ns(const struct ctf_timeline *line, uint64_t ticks,
                                      bool *clamped)
{
    bool is_large = false;
    uint64_t shifted;
    int64_t time;
    if (__builtin_add_overflow(ticks, line->shift, &shifted) || !line->has_base)
        return ctf_ticks_to_ns_exact(line, ticks, clamped);
    int64_t ns = ticks_to_ns(&line->math, shifted, &is_large);
    if (__builtin_expect(is_large || __builtin_add_overflow(ns, line->base, &time), 0))
        return ctf_ticks_to_ns_exact(line, ticks, clamped);
    return time;
}

/* Returns the smallest tick with a time that is not before `time` (ns). Returns 0 or UINT64_MAX if
 * `time` is out of range. */
uint64_t ctf_ns_to_ticks(const struct ctf_timeline *line, int64_t time);

/* Returns the clock after reading a field of `width` bits (1 to 64) with the value `low` (CTF 2,
 * "update the default clock"). The upper bits are kept; a lower value than before means that the
 * field wrapped once. */
static inline uint64_t ctf_clock_extend(uint64_t ticks, uint64_t low, unsigned width)
{
    uint64_t mask = UINT64_MAX >> (64 - width);
    uint64_t next = (ticks & ~mask) | (low & mask);
    return next < ticks && width < 64 ? next + mask + 1 : next;
}

/* Returns the clock in the form that reports have. All members are borrowed from the arguments. */
ttr_clock ctf_get_public_clock(const struct ctf_timeline *line, const struct ctf_clock *clock,
                               const char *name);

#endif
