/* The clock of the trace: the processor's time stamp counter if it is invariant and the kernel uses
 * it, else CLOCK_MONOTONIC.
 *
 * The frequency of the counter is measured against CLOCK_MONOTONIC: both are read together, the
 * pair with the narrowest bracket of several tries counts.  The error is about 7 ppb after 5 ms,
 * and below 1 ppb after 2 s, so the frequency is measured again when a file is completed.  A pair
 * with CLOCK_REALTIME is written to the trace, so that it can be merged with traces of others. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/trace.h>

#include "trace/trace_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define SECOND INT64_C(1000000000)
#define FIRST_MEASURE_NS 5000000
#define TRIES 50

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static uint64_t read_ticks(const struct trace_clock *clock)
{
#if defined(__x86_64__)
    if (clock->is_tsc)
        return __rdtsc();
#endif
    (void)clock;
    return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

#if defined(__x86_64__)
static bool is_tsc_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}

static bool kernel_uses_tsc(void)
{
    char text[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n >= 3 && memcmp(text, "tsc", 3) == 0;
}
#endif

/* Reads ticks and a clock of the kernel at nearly the same moment. */
static void read_clock_pair(const struct trace_clock *clock, clockid_t kernel_clock,
                            uint64_t *ticks, int64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = read_ticks(clock);
        const int64_t now = read_clock(kernel_clock);
        const uint64_t after = read_ticks(clock);
        if (after - before >= best)
            continue;
        best = after - before;
        *ticks = before + best / 2;
        *ns = now;
    }
}

uint64_t trace_clock_frequency(const struct trace_clock *clock)
{
    uint64_t ticks = 0;
    int64_t ns = 0;
    if (!clock->is_tsc)
        return (uint64_t)SECOND;
    read_clock_pair(clock, CLOCK_MONOTONIC, &ticks, &ns);
    if (ns - clock->ns < FIRST_MEASURE_NS) {
        const struct timespec rest = {0, FIRST_MEASURE_NS - (ns - clock->ns)};
        nanosleep(&rest, NULL);
        read_clock_pair(clock, CLOCK_MONOTONIC, &ticks, &ns);
    }
    return (uint64_t)((long double)(ticks - clock->ticks) * SECOND / (long double)(ns - clock->ns) +
                      0.5L);
}

void trace_clock_choose(struct trace_clock *clock)
{
    if (clock->ns)
        return;
#if defined(__x86_64__)
    clock->is_tsc = is_tsc_invariant() && kernel_uses_tsc();
#endif
    read_clock_pair(clock, CLOCK_MONOTONIC, &clock->ticks, &clock->ns);
    read_clock_pair(clock, CLOCK_REALTIME, &clock->unix_ticks, &clock->unix_ns);
}

uint64_t ttr_trace_now_slow(void)
{
    return (uint64_t)read_clock(CLOCK_MONOTONIC);
}
