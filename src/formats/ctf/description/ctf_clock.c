/* Conversion of clock ticks to nanoseconds: exact floor for any frequency and offset, saturated at
 * the limits of 64 bits. */
#include "formats/ctf/description/ctf_clock.h"

#include <string.h>

#include "base/wide.h"

#define NS_PER_SECOND INT64_C(1000000000)

/* A clock that starts at least this many seconds after 1970 (at 2000-01-01) is considered Unix
 * time, since no machine has been up for so long. */
#define UNIX_PLAUSIBLE INT64_C(946684800)

static bool is_unix_clock(const struct ctf_clock *clock, int64_t seconds)
{
    if (clock->is_unix || clock->is_absolute)
        return true;
    return !clock->origin_name.n && !clock->origin_uid.n && seconds >= UNIX_PLAUSIBLE;
}

void ctf_timeline_init(struct ctf_timeline *line, const struct ctf_clock *clock)
{
    *line = (struct ctf_timeline){.has_base = true};
    clock_math_init(&line->math, clock ? clock->frequency : 0);
    if (!clock)
        return;
    /* the clock's offset in cycles may be negative, or longer than one second */
    const int64_t frequency =
        line->math.frequency > INT64_MAX ? INT64_MAX : (int64_t)line->math.frequency;
    int64_t whole = clock->offset_cycles / frequency, rest = clock->offset_cycles % frequency;
    if (rest < 0) {
        rest += frequency;
        whole--;
    }
    line->cycles = (uint64_t)rest;
    bool is_clamped = false;
    line->seconds = add_saturated(clock->offset_s, whole, &is_clamped);
    line->shift = line->math.rest ? line->cycles : 0;
    int128 base = (int128)line->seconds * NS_PER_SECOND;
    if (!line->math.rest)
        base += (int128)line->cycles * line->math.whole;
    line->has_base = base >= INT64_MIN && base <= INT64_MAX;
    line->base = line->has_base ? (int64_t)base : 0;
    line->is_anchored = is_unix_clock(clock, line->seconds);
}

static uint64_t ticks_to_rounded_ns(uint64_t frequency, uint64_t ticks)
{
    double ns = 1e9 * (double)ticks / (double)frequency;
    return ns >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

void ctf_timeline_use_rounding(struct ctf_timeline *line, const struct ctf_clock *clock)
{
    if (!clock || line->math.frequency == (uint64_t)NS_PER_SECOND)
        return;
    line->is_rounded = true;
    line->has_base = false;
}

/* Converts offset and ticks to nanoseconds separately, both as doubles, as babeltrace2 does. The
 * result has its rounding errors. */
static int128 ticks_to_rounded_time(const struct ctf_timeline *line, uint64_t ticks)
{
    uint64_t frequency = line->math.frequency;
    return (int128)line->seconds * NS_PER_SECOND +
           (int128)ticks_to_rounded_ns(frequency, line->cycles) +
           (int128)ticks_to_rounded_ns(frequency, ticks);
}

int64_t ctf_ticks_to_ns_exact(const struct ctf_timeline *line, uint64_t ticks, bool *clamped)
{
    uint128 ns = ((uint128)ticks + line->cycles) * (uint128)NS_PER_SECOND / line->math.frequency;
    int128 time = line->is_rounded ? ticks_to_rounded_time(line, ticks)
                                   : (int128)line->seconds * NS_PER_SECOND + (int128)ns;
    if (time >= INT64_MIN && time <= INT64_MAX)
        return (int64_t)time;
    *clamped = true;
    return time < 0 ? INT64_MIN : INT64_MAX;
}

uint64_t ctf_ns_to_ticks(const struct ctf_timeline *line, int64_t time)
{
    int128 ns = (int128)time - (int128)line->seconds * NS_PER_SECOND;
    if (ns <= 0)
        return 0;
    /* time in ns of the largest 64-bit tick; later times have no tick */
    uint128 most = (uint128)UINT64_MAX * (uint128)NS_PER_SECOND;
    if ((uint128)ns > most)
        return UINT64_MAX;
    /* two steps, because ns * frequency may need more than 128 bits */
    uint128 whole = (uint128)ns / (uint128)NS_PER_SECOND,
            rest = (uint128)ns % (uint128)NS_PER_SECOND;
    uint128 ticks =
        whole * line->math.frequency +
        (rest * line->math.frequency + (uint128)(NS_PER_SECOND - 1)) / (uint128)NS_PER_SECOND;
    if (ticks <= line->cycles)
        return 0;
    ticks -= line->cycles;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static ttr_text text_or_empty(ttr_text text)
{
    return text.p ? text : (ttr_text){"", 0};
}

ttr_clock ctf_get_public_clock(const struct ctf_timeline *line, const struct ctf_clock *clock,
                               const char *name)
{
    bool is_clamped = false;
    ttr_clock report = {
        .name = name,
        .provider = {"", 0},
        .frequency = line->math.frequency,
        .is_anchored = line->is_anchored,
        .anchor_ticks = 0,
        .anchor_ns = ctf_ticks_to_ns(line, 0, &is_clamped),
        .is_described = true,
        .has_uuid = clock->has_uuid,
        .has_precision = clock->has_precision,
        .precision = clock->precision,
        .offset_s = clock->offset_s,
        .offset_ticks = clock->offset_cycles,
        .description = text_or_empty(clock->description),
        .has_accuracy = clock->has_accuracy,
        .accuracy = clock->accuracy,
        .ns = text_or_empty(clock->ns),
        .uid = text_or_empty(clock->uid),
        .origin = text_or_empty(clock->origin_name),
        .origin_ns = text_or_empty(clock->origin_ns),
        .origin_uid = text_or_empty(clock->origin_uid),
    };
    memcpy(report.uuid, clock->uuid, sizeof report.uuid);
    return report;
}
