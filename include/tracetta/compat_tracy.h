/* Macros of Tracy as trace points: include this header instead of Tracy's <tracy/Tracy.hpp> or
 * <tracy/TracyC.h>, and link with libtracetta-trace.  The category is "compat".
 *
 * Zones without a name are named by their function.  ZoneText and ZoneValue become arguments of the
 * zone; frames are instants; plots are counters; allocations are instants.  Colours, call stacks,
 * lockable classes and GPU zones are left out: their macros are not defined.  Zones of C
 * (TracyCZone) become a begin and an end. */
#ifndef TRACETTA_COMPAT_TRACY_H
#define TRACETTA_COMPAT_TRACY_H

#include "compat_module.h"

/* --- Zones of C++ and C blocks --- */

#define ZoneScoped TTR_ZONE(compat, __func__)
#define ZoneScopedN(name) TTR_ZONE(compat, name)
#define ZoneScopedC(color) TTR_ZONE(compat, __func__)
#define ZoneScopedNC(name, color) TTR_ZONE(compat, name)
#define ZoneText(text, n) TTR_ZONE_ARG_TEXT("text", text, n)
#define ZoneValue(value) TTR_ZONE_ARG("value", value)

/* --- Zones of C, which end where the program says --- */

typedef struct TracyCZoneCtx {
    const char *name; /* NULL = the zone is not active */
} TracyCZoneCtx;

#define TracyCZoneN(ctx, zone_name, is_active)                    \
    const TracyCZoneCtx ctx = {(is_active) ? (zone_name) : NULL}; \
    if (ctx.name)                                                 \
    TTR_BEGIN(compat, zone_name)
#define TracyCZone(ctx, is_active)                                           \
    const TracyCZoneCtx ctx = {(is_active) ? (const char *)__func__ : NULL}; \
    if (ctx.name)                                                            \
    TTR_BEGIN(compat, __func__)
/* The end of a zone has no name; it ends the innermost one of the thread. */
#define TracyCZoneEnd(ctx)       \
    do {                         \
        if ((ctx).name)          \
            TTR_END(compat, ""); \
    } while (0)

/* --- Frames, plots, messages, memory --- */

#define FrameMark TTR_INSTANT(compat, "frame")
#define FrameMarkNamed(name) TTR_INSTANT(compat, name)
#define TracyCFrameMark TTR_INSTANT(compat, "frame")
#define TracyPlot(name, value) TTR_COUNTER(compat, name, 0, TTR_ARG("value", value))
#define TracyCPlot(name, value) TTR_COUNTER(compat, name, 0, TTR_ARG("value", value))
#define TracyMessage(text, n) TTR_LOG(compat, "%.*s", (int)(n), text)
#define TracyMessageL(text) TTR_LOG(compat, "%s", text)
#define TracyAlloc(block, n) \
    TTR_INSTANT(compat, "alloc", TTR_ARG("block", (const void *)(block)), TTR_ARG("bytes", n))
#define TracyFree(block) TTR_INSTANT(compat, "free", TTR_ARG("block", (const void *)(block)))
#define TracySetThreadName(name) ttr_trace_thread_name(name)

#endif
