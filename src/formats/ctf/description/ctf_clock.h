/* Time in CTF: fields of a few bits become whole ticks, ticks become nanoseconds of the common time
 * line. Plain data, filled once per stream class; thread rule: read-only then. */
#ifndef TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_CLOCK_H
#define TRACETTA_FORMATS_CTF_DESCRIPTION_CTF_CLOCK_H

#include "base/clockmath.h"
#include "formats/ctf/description/ctf_description.h"

/* A clock class made ready.  ns = floor((ticks + cycles) * 10^9 / frequency) + seconds * 10^9,
 * where 0 <= cycles < frequency. */
struct ctf_timeline {
    struct clockmath math;
    int64_t seconds;
    uint64_t cycles;
    int64_t base;   /* what is added to the ns of ticks + shift, where that fits */
    uint64_t shift; /* cycles, or 0 where base has them in it */
    bool has_base;
    bool is_anchored; /* nanoseconds are those of Unix time */
    bool is_rounded;  /* as babeltrace2 computes: see ctf_timeline_round */
};

/* NULL: no clock, ticks are nanoseconds since an origin of the trace's own. */
void ctf_timeline_init(struct ctf_timeline *line, const struct ctf_clock *clock);

/* From now on ticks become nanoseconds through doubles, as in babeltrace2: where the frequency is
 * no 10^9, some are off by one or more. For who wants the same numbers. */
void ctf_timeline_round(struct ctf_timeline *line, const struct ctf_clock *clock);

/* The exact way (or the rounded one), whatever the numbers; saturated, `*clamped` is set (never
 * cleared) then. */
int64_t ctf_time_exact(const struct ctf_timeline *line, uint64_t ticks, bool *clamped);

/* Nanoseconds of a tick. */
static inline int64_t ctf_time(const struct ctf_timeline *line, uint64_t ticks, bool *clamped)
{
    bool is_large = false;
    uint64_t shifted;
    int64_t time;
    if (__builtin_add_overflow(ticks, line->shift, &shifted) || !line->has_base)
        return ctf_time_exact(line, ticks, clamped);
    int64_t ns = clockmath_ns(&line->math, shifted, &is_large);
    if (__builtin_expect(is_large || __builtin_add_overflow(ns, line->base, &time), 0))
        return ctf_time_exact(line, ticks, clamped);
    return time;
}

/* The least tick that is not before a time, for searching; 0 and UINT64_MAX beyond the ends. */
uint64_t ctf_ticks_at(const struct ctf_timeline *line, int64_t time);

/* The clock after a field of `width` bits (1 to 64) with value `low` was read (CTF 2, "update the
 * default clock"): the bits above are kept, a lower value than before means that it wrapped once.
 */
static inline uint64_t ctf_clock_update(uint64_t ticks, uint64_t low, unsigned width)
{
    uint64_t mask = UINT64_MAX >> (64 - width);
    uint64_t next = (ticks & ~mask) | (low & mask);
    return next < ticks && width < 64 ? next + mask + 1 : next;
}

/* As the report shows a clock; all is borrowed. */
ttr_clock ctf_clock_report(const struct ctf_timeline *line, const struct ctf_clock *clock,
                           const char *name);

#endif
