/* Macros of Tracy as trace points: include this header instead of Tracy's <tracy/Tracy.hpp> or
 * <tracy/TracyC.h>, and link with libtracetta-trace.  The category is "compat".  TRACY_ENABLE is
 * not needed.
 *
 * Zones without a name are named by their function.  Texts, values and names added later become
 * arguments of the zone, cut at 190 and 60 bytes.  Frames are instants, or asynchronous operations
 * if they have a start and an end; plots are counters; messages are logs; allocations are instants;
 * fibers are virtual threads.  Names of zones, frames and plots must be the same at each call of a
 * macro.  Lockable types are the types that they wrap, without events.  Colours, call stacks,
 * images, sections, parameters and configurations are ignored.  TracyLogString and the headers for
 * GPUs are not replaced. */
#ifndef TRACETTA_COMPAT_TRACY_H
#define TRACETTA_COMPAT_TRACY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compat_module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_TRACY_FN_ static inline __attribute__((unused))

/* A zone and its added name, text and value. It may be copied, so it has no pointers into itself.
 */
struct ttr_tracy_zone {
    struct ttr_trace_zone zone;
    uint64_t value;
    bool has_value;
    uint8_t text_n, name_n;
    char text[190], name[60];
};

TTR_TRACY_FN_ void ttr_tracy_zone_start(struct ttr_tracy_zone *zone, ttr_trace_site *site,
                                        bool is_active)
{
    zone->zone.site = NULL;
    zone->zone.args = NULL;
    zone->zone.n = 0;
    zone->has_value = false;
    zone->text_n = zone->name_n = 0;
    if (!is_active || !TTR_TRACE_ENABLED(compat))
        return;
    zone->zone.site = site;
    zone->zone.start = ttr_trace_now();
    ttr_trace_zone_open(&zone->zone);
}

TTR_TRACY_FN_ void ttr_tracy_zone_end(struct ttr_tracy_zone *zone)
{
    struct ttr_trace_zone_args args;
    if (!zone->zone.site)
        return;
    args.n = args.added = 0;
    if (zone->name_n)
        ttr_trace_zone_add(&args, "name", ttr_trace_value_of_bytes(zone->name, zone->name_n));
    if (zone->text_n)
        ttr_trace_zone_add(&args, "text", ttr_trace_value_of_bytes(zone->text, zone->text_n));
    if (zone->has_value)
        ttr_trace_zone_add(&args, "value", ttr_trace_value_of_u64(zone->value));
    zone->zone.args = args.added ? &args : NULL;
    ttr_trace_zone_end(&zone->zone);
}

/* Adds a line to the text of a zone. */
TTR_TRACY_FN_ void ttr_tracy_zone_text(struct ttr_tracy_zone *zone, const char *text, size_t n)
{
    if (!zone->zone.site)
        return;
    if (zone->text_n && zone->text_n < sizeof zone->text)
        zone->text[zone->text_n++] = '\n';
    const size_t room = sizeof zone->text - zone->text_n, used = n < room ? n : room;
    memcpy(zone->text + zone->text_n, text, used);
    zone->text_n = (uint8_t)(zone->text_n + used);
}

TTR_TRACY_FN_ void ttr_tracy_zone_name(struct ttr_tracy_zone *zone, const char *name, size_t n)
{
    zone->name_n = (uint8_t)(n < sizeof zone->name ? n : sizeof zone->name);
    memcpy(zone->name, name, zone->name_n);
}

TTR_TRACY_FN_ void ttr_tracy_zone_value(struct ttr_tracy_zone *zone, uint64_t value)
{
    zone->value = value;
    zone->has_value = true;
}

__attribute__((format(printf, 3, 4), unused)) static void ttr_tracy_zone_print(
    struct ttr_tracy_zone *zone, bool is_name, const char *format, ...)
{
    char text[sizeof zone->text];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (is_name)
        ttr_tracy_zone_name(zone, text, length);
    else
        ttr_tracy_zone_text(zone, text, length);
}

/* Enters the virtual thread of a fiber, which is identified by the address of its name. */
TTR_TRACY_FN_ void ttr_tracy_fiber_enter(const char *name)
{
    ttr_trace_virtual_thread_leave();
    (void)ttr_trace_virtual_thread_enter((uint64_t)(uintptr_t)name, name);
}

#ifdef __cplusplus
}
#endif

#define TTR_TRACY_START_(variable, zone_name, is_active)                                 \
    TTR_TRACE_POINT_(variable##_site, TTR_TRACE_COMPLETE, TTR_TRACE_INFORMATION, compat, \
                     zone_name);                                                         \
    ttr_tracy_zone_start(&(variable), &variable##_site, is_active)
#define TTR_TRACY_ZONE_(variable, zone_name, is_active)                                  \
    __attribute__((cleanup(ttr_tracy_zone_end), unused)) struct ttr_tracy_zone variable; \
    TTR_TRACY_START_(variable, zone_name, is_active)
#define TTR_TRACY_ID_(pointer) ((uint64_t)(uintptr_t)(const void *)(pointer))

#include "compat_tracy_macros.h"

#ifdef __cplusplus
namespace tracy
{
inline void SetThreadName(const char *name)
{
    ttr_trace_thread_name(name);
}
inline void SetThreadNameWithHint(const char *name, int32_t)
{
    ttr_trace_thread_name(name);
}
inline bool ProfilerAvailable()
{
    return true;
}
inline bool IsProfilerStarted()
{
    return true;
}
inline void StartupProfiler()
{
}
inline void ShutdownProfiler()
{
}
} // namespace tracy
#endif

#endif
