/* Spans of the runtime that are paired by a value in their payload, not by thread and name:
 *
 *   GC      GCStart, GCEnd with the same number (field Count). Background collections move from
 *           thread to thread, and other collections run meanwhile.
 *   JIT     MethodJittingStarted, MethodLoadVerbose with the same method and thread. Precompiled
 *           methods are loaded too: a load ends a span only if the method's flags have "jitted",
 *           and if the trace has begin events, which are recorded at another level.
 *   queue   ThreadPoolEnqueue, ThreadPoolDequeue with the same work item: its waiting time. The
 *           same for ThreadPoolIO events.
 *
 * Lives and retirements of pool threads are paired by thread. ThreadPoolWorkerThreadWait stays an
 * instant: no event marks the end of the wait.
 *
 * The value is at the start of the payload: 4 bytes of a GC, 8 of a method, a pointer to a work
 * item. The kind of an event does not depend on other events, so it is the same in a filtered copy.
 * All other begin and end events are paired by model/activity.h. */
#include "formats/nettrace/nettrace.h"

#include <string.h>

#include "base/hash.h"
#include "model/activity.h"

/* byte offset of the flags in the payload of MethodLoadVerbose, after u64 method, module, address,
 * u32 size, token */
enum { METHOD_FLAGS_AT = 32, METHOD_IS_JITTED = 8 };

enum span_kind { SPAN_BY_THREAD, SPAN_GC, SPAN_JIT, SPAN_QUEUE, SPAN_IO_QUEUE };

void nettrace_choose_span_rule(struct nettrace_reader *reader, struct nettrace_type *type)
{
    static const struct {
        const char *name;
        uint8_t span, opcode;
    } spans[] = {
        {"GCStart", SPAN_GC, ACTIVITY_START},
        {"GCEnd", SPAN_GC, ACTIVITY_STOP},
        {"MethodJittingStarted", SPAN_JIT, ACTIVITY_START},
        {"MethodLoadVerbose", SPAN_JIT, ACTIVITY_STOP},
        {"ThreadPoolEnqueue", SPAN_QUEUE, ACTIVITY_START},
        {"ThreadPoolDequeue", SPAN_QUEUE, ACTIVITY_STOP},
        {"ThreadPoolIOEnqueue", SPAN_IO_QUEUE, ACTIVITY_START},
        {"ThreadPoolIODequeue", SPAN_IO_QUEUE, ACTIVITY_STOP},
        {"ThreadPoolWorkerThreadStart", SPAN_BY_THREAD, ACTIVITY_START},
        {"ThreadPoolWorkerThreadStop", SPAN_BY_THREAD, ACTIVITY_STOP},
        {"IOThreadCreate", SPAN_BY_THREAD, ACTIVITY_START},
        {"IOThreadTerminate", SPAN_BY_THREAD, ACTIVITY_STOP},
        {"IOThreadRetire", SPAN_BY_THREAD, ACTIVITY_START},
        {"IOThreadUnretire", SPAN_BY_THREAD, ACTIVITY_STOP},
        {"ExceptionThrown", SPAN_BY_THREAD, ACTIVITY_START},
        {"ExceptionThrownStop", SPAN_BY_THREAD, ACTIVITY_STOP},
    };
    static const char runtime[] = "Microsoft-Windows-DotNETRuntime";
    ttr_text provider = ttr_text_get(reader->t, type->provider),
             name = ttr_text_get(reader->t, type->name);
    if (provider.n != sizeof runtime - 1 || memcmp(provider.p, runtime, provider.n) != 0)
        return;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (strlen(spans[i].name) == name.n && memcmp(spans[i].name, name.p, name.n) == 0) {
            type->span = spans[i].span;
            type->opcode = spans[i].opcode;
            reader->has_jit |= type->span == SPAN_JIT && type->opcode == ACTIVITY_START;
        }
}

static uint64_t get_event_pid(const ttr *t, const ttr_event *event)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(t, event->thread, &thread);
    return thread.pid;
}

/* Returns true if an event is a begin or end, and its payload contains the value by which the span
 * rule pairs it. */
static bool has_span_key(const struct nettrace_reader *reader, const ttr_event *event, uint8_t span)
{
    if (span == SPAN_GC)
        return event->payload_size >= sizeof(uint32_t);
    if (span != SPAN_JIT)
        return event->payload_size >= reader->pointer_bytes;
    if (event->opcode == ACTIVITY_START)
        return event->payload_size >= sizeof(uint64_t);
    return reader->has_jit && event->payload_size >= METHOD_FLAGS_AT + sizeof(uint32_t) &&
           (load_u32le(event->payload + METHOD_FLAGS_AT) & METHOD_IS_JITTED) != 0;
}

void nettrace_mark_span(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type)
{
    activity_make_span(reader->t, event, type->task);
    if (type->span == SPAN_BY_THREAD || event->kind == TTR_KIND_INSTANT)
        return;
    if (!has_span_key(reader, event, type->span)) {
        event->kind = TTR_KIND_INSTANT;
        event->opcode = 0;
        event->link = 0;
        return;
    }
    bool is_jit = type->span == SPAN_JIT,
         is_short = !is_jit && (type->span == SPAN_GC || reader->pointer_bytes == 4);
    uint64_t number = is_short ? load_u32le(event->payload) : load_u64le(event->payload);
    uint64_t scope = is_jit ? event->link : get_event_pid(reader->t, event);
    event->link = hash_pair(type->span > SPAN_JIT ? hash_pair(scope, type->span) : scope, number);
}
