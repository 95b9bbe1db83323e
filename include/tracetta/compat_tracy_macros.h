/* The macros of compat_tracy.h, which includes this file: those of Tracy.hpp for C++, which C may
 * use too, and those of TracyC.h. */
#ifndef TRACETTA_COMPAT_TRACY_MACROS_H
#define TRACETTA_COMPAT_TRACY_MACROS_H

/* --- Zones that end with their block --- */

#define ZoneNamed(variable, active) TTR_TRACY_ZONE_(variable, __func__, active)
#define ZoneNamedN(variable, name, active) TTR_TRACY_ZONE_(variable, name, active)
#define ZoneNamedC(variable, color, active) ZoneNamed(variable, active)
#define ZoneNamedNC(variable, name, color, active) ZoneNamedN(variable, name, active)
#define ZoneNamedS(variable, depth, active) ZoneNamed(variable, active)
#define ZoneNamedNS(variable, name, depth, active) ZoneNamedN(variable, name, active)
#define ZoneNamedCS(variable, color, depth, active) ZoneNamed(variable, active)
#define ZoneNamedNCS(variable, name, color, depth, active) ZoneNamedN(variable, name, active)

/* Zones with names that are made at run time. */
#define ZoneTransient(variable, active) ZoneNamed(variable, active)
#define ZoneTransientN(variable, name, active) \
    ZoneNamed(variable, active);               \
    ttr_tracy_zone_name(&(variable), name, strlen(name))
#define ZoneTransientNC(variable, name, color, active) ZoneTransientN(variable, name, active)
#define ZoneTransientS(variable, depth, active) ZoneTransient(variable, active)
#define ZoneTransientNS(variable, name, depth, active) ZoneTransientN(variable, name, active)

#define ZoneScoped ZoneNamed(ttr_tracy_zone_here, true)
#define ZoneScopedN(name) ZoneNamedN(ttr_tracy_zone_here, name, true)
#define ZoneScopedC(color) ZoneScoped
#define ZoneScopedNC(name, color) ZoneScopedN(name)
#define ZoneScopedS(depth) ZoneScoped
#define ZoneScopedNS(name, depth) ZoneScopedN(name)
#define ZoneScopedCS(color, depth) ZoneScoped
#define ZoneScopedNCS(name, color, depth) ZoneScopedN(name)

#define ZoneTextV(variable, text, n) ttr_tracy_zone_text(&(variable), text, n)
#define ZoneTextVF(variable, ...) ttr_tracy_zone_print(&(variable), false, __VA_ARGS__)
#define ZoneNameV(variable, name, n) ttr_tracy_zone_name(&(variable), name, n)
#define ZoneNameVF(variable, ...) ttr_tracy_zone_print(&(variable), true, __VA_ARGS__)
#define ZoneValueV(variable, number) ttr_tracy_zone_value(&(variable), (uint64_t)(number))
#define ZoneColorV(variable, color) ((void)0)
#define ZoneIsActiveV(variable) ((variable).zone.site != NULL)
#define ZoneText(text, n) ZoneTextV(ttr_tracy_zone_here, text, n)
#define ZoneTextF(...) ZoneTextVF(ttr_tracy_zone_here, __VA_ARGS__)
#define ZoneName(name, n) ZoneNameV(ttr_tracy_zone_here, name, n)
#define ZoneNameF(...) ZoneNameVF(ttr_tracy_zone_here, __VA_ARGS__)
#define ZoneValue(number) ZoneValueV(ttr_tracy_zone_here, number)
#define ZoneColor(color) ((void)0)
#define ZoneIsActive ZoneIsActiveV(ttr_tracy_zone_here)

/* --- Zones of C, which end where the program says --- */

typedef struct ttr_tracy_zone TracyCZoneCtx;

#define TracyCZoneN(ctx, zone_name, active) \
    TracyCZoneCtx ctx;                      \
    TTR_TRACY_START_(ctx, zone_name, active)
#define TracyCZone(ctx, active) TracyCZoneN(ctx, __func__, active)
#define TracyCZoneC(ctx, color, active) TracyCZone(ctx, active)
#define TracyCZoneNC(ctx, name, color, active) TracyCZoneN(ctx, name, active)
#define TracyCZoneS(ctx, depth, active) TracyCZone(ctx, active)
#define TracyCZoneNS(ctx, name, depth, active) TracyCZoneN(ctx, name, active)
#define TracyCZoneCS(ctx, color, depth, active) TracyCZone(ctx, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) TracyCZoneN(ctx, name, active)
#define TracyCZoneEnd(ctx) ttr_tracy_zone_end(&(ctx))
#define TracyCZoneText(ctx, text, n) ZoneTextV(ctx, text, n)
#define TracyCZoneTextF(ctx, ...) ZoneTextVF(ctx, __VA_ARGS__)
#define TracyCZoneName(ctx, name, n) ZoneNameV(ctx, name, n)
#define TracyCZoneNameF(ctx, ...) ZoneNameVF(ctx, __VA_ARGS__)
#define TracyCZoneValue(ctx, number) ZoneValueV(ctx, number)
#define TracyCZoneColor(ctx, color) ((void)0)

/* --- Frames and plots --- */

#define FrameMark TTR_INSTANT(compat, "frame")
#define FrameMarkNamed(name) TTR_INSTANT(compat, name)
#define FrameMarkStart(name) TTR_ASYNC_BEGIN(TTR_TRACY_ID_(name), compat, name)
#define FrameMarkEnd(name) TTR_ASYNC_END(TTR_TRACY_ID_(name), compat, name)
#define FrameImage(image, width, height, offset, flip) ((void)0)
#define TracyPlot(name, number) TTR_COUNTER(compat, name, 0, TTR_ARG("value", number))
#define TracyPlotConfig(name, type, step, fill, color) ((void)0)
#define TracyCFrameMark FrameMark
#define TracyCFrameMarkNamed(name) FrameMarkNamed(name)
#define TracyCFrameMarkStart(name) FrameMarkStart(name)
#define TracyCFrameMarkEnd(name) FrameMarkEnd(name)
#define TracyCFrameImage(image, width, height, offset, flip) ((void)0)
#define TracyCPlot(name, number) TracyPlot(name, (double)(number))
#define TracyCPlotF(name, number) TracyPlot(name, (float)(number))
#define TracyCPlotI(name, number) TracyPlot(name, (int64_t)(number))
#define TracyCPlotConfig(name, type, step, fill, color) ((void)0)

/* --- Messages --- */

#define TracyMessage(text, n) TTR_LOG(compat, "%.*s", (int)(n), text)
#define TracyMessageL(text) TTR_LOG(compat, "%s", text)
#define TracyMessageC(text, n, color) TracyMessage(text, n)
#define TracyMessageLC(text, color) TracyMessageL(text)
#define TracyMessageS(text, n, depth) TracyMessage(text, n)
#define TracyMessageLS(text, depth) TracyMessageL(text)
#define TracyMessageCS(text, n, color, depth) TracyMessage(text, n)
#define TracyMessageLCS(text, color, depth) TracyMessageL(text)
#define TracyAppInfo(text, n) TracyMessage(text, n)
#define TracyCMessage(text, n) TracyMessage(text, n)
#define TracyCMessageL(text) TracyMessageL(text)
#define TracyCMessageC(text, n, color) TracyMessage(text, n)
#define TracyCMessageLC(text, color) TracyMessageL(text)
#define TracyCMessageS(text, n, depth) TracyMessage(text, n)
#define TracyCMessageLS(text, depth) TracyMessageL(text)
#define TracyCMessageCS(text, n, color, depth) TracyMessage(text, n)
#define TracyCMessageLCS(text, color, depth) TracyMessageL(text)
#define TracyCAppInfo(text, n) TracyMessage(text, n)

/* --- Memory --- */

#define TracyAlloc(block, n)                                              \
    TTR_INSTANT(compat, "alloc", TTR_ARG("block", (const void *)(block)), \
                TTR_ARG("bytes", (uint64_t)(n)))
#define TracyFree(block) TTR_INSTANT(compat, "free", TTR_ARG("block", (const void *)(block)))
#define TracyAllocN(block, n, pool)                                       \
    TTR_INSTANT(compat, "alloc", TTR_ARG("block", (const void *)(block)), \
                TTR_ARG("bytes", (uint64_t)(n)), TTR_ARG("pool", (const char *)(pool)))
#define TracyFreeN(block, pool)                                          \
    TTR_INSTANT(compat, "free", TTR_ARG("block", (const void *)(block)), \
                TTR_ARG("pool", (const char *)(pool)))
#define TracyMemoryDiscard(pool) \
    TTR_INSTANT(compat, "memory discard", TTR_ARG("pool", (const char *)(pool)))
#define TracyAllocS(block, n, depth) TracyAlloc(block, n)
#define TracyFreeS(block, depth) TracyFree(block)
#define TracyAllocNS(block, n, depth, pool) TracyAllocN(block, n, pool)
#define TracyFreeNS(block, depth, pool) TracyFreeN(block, pool)
#define TracyMemoryDiscardS(pool, depth) TracyMemoryDiscard(pool)
#define TracySecureAlloc(block, n) TracyAlloc(block, n)
#define TracySecureFree(block) TracyFree(block)
#define TracySecureAllocN(block, n, pool) TracyAllocN(block, n, pool)
#define TracySecureFreeN(block, pool) TracyFreeN(block, pool)
#define TracyCAlloc(block, n) TracyAlloc(block, n)
#define TracyCFree(block) TracyFree(block)
#define TracyCAllocN(block, n, pool) TracyAllocN(block, n, pool)
#define TracyCFreeN(block, pool) TracyFreeN(block, pool)
#define TracyCMemoryDiscard(pool) TracyMemoryDiscard(pool)
#define TracyCAllocS(block, n, depth) TracyAlloc(block, n)
#define TracyCFreeS(block, depth) TracyFree(block)
#define TracyCAllocNS(block, n, depth, pool) TracyAllocN(block, n, pool)
#define TracyCFreeNS(block, depth, pool) TracyFreeN(block, pool)
#define TracyCMemoryDiscardS(pool, depth) TracyMemoryDiscard(pool)
#define TracyCSecureAlloc(block, n) TracyAlloc(block, n)
#define TracyCSecureFree(block) TracyFree(block)

/* --- Locks: the types themselves --- */

#define TracyLockable(type, variable) type variable
#define TracyLockableN(type, variable, description) type variable
#define TracySharedLockable(type, variable) type variable
#define TracySharedLockableN(type, variable, description) type variable
#define LockableBase(type) type
#define SharedLockableBase(type) type
#define LockMark(variable) ((void)(variable))
#define LockableName(variable, name, n) ((void)(variable))
#define TracyCLockCtx(lock)
#define TracyCLockAnnounce(lock)
#define TracyCLockTerminate(lock)
#define TracyCLockBeforeLock(lock)
#define TracyCLockAfterLock(lock)
#define TracyCLockAfterUnlock(lock)
#define TracyCLockAfterTryLock(lock, acquired)
#define TracyCLockMark(lock)
#define TracyCLockCustomName(lock, name, n)
#define TracyCSharedLockCtx(lock)
#define TracyCSharedLockAnnonce(lock) /* as Tracy spells it */
#define TracyCSharedLockAnnounce(lock)
#define TracyCSharedLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock)
#define TracyCSharedLockAfterSharedLock(lock)
#define TracyCSharedLockAfterSharedUnlock(lock)
#define TracyCSharedLockAfterTrySharedLock(lock, acquired)
#define TracyCSharedLockMark(lock)
#define TracyCSharedLockCustomName(lock, name, n)

/* --- Threads, fibers and the profiler --- */

#define TracySetThreadName(name) ttr_trace_thread_name(name)
#define TracyCSetThreadName(name) ttr_trace_thread_name(name)
#define TracyFiberEnter(fiber) ttr_tracy_fiber_enter(fiber)
#define TracyFiberEnterHint(fiber, hint) ttr_tracy_fiber_enter(fiber)
#define TracyFiberLeave ttr_trace_virtual_thread_leave()
#define TracyCFiberEnter(fiber) ttr_tracy_fiber_enter(fiber)
#define TracyCFiberLeave ttr_trace_virtual_thread_leave()
#define TracyIsConnected TTR_TRACE_ENABLED(compat)
#define TracyIsStarted true
#define TracyCIsConnected TTR_TRACE_ENABLED(compat)
#define TracyCIsStarted 1
#define TracyNoop ((void)0)
#define TracySetProgramName(name) ((void)0)
#define TracySourceCallbackRegister(callback, data) ((void)0)
#define TracyParamTypeInt 0
#define TracyParamTypeBool 1
#define TracyParamTypeTrigger 2
#define TracyParameterRegister(callback, data) ((void)0)
#define TracyParameterSetup(index, name, is_boolean, value) ((void)0)
#define TracySectionEnter(...) 0
#define TracySectionEnterCategory(...) 0
#define TracySectionLeave(section) ((void)0)
#define TracySectionSetup(...) ((void)0)
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling() ((void)0)

#endif
