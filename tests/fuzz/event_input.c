/* See event_input.h. */
#include "fuzz/event_input.h"

#include <stdlib.h>

#include <tracetta/build.h>

static void add_frames(ttr_builder *builder, struct fuzz_bytes *from)
{
    const uint32_t n = fuzz_u8(from) & 31;
    ttr_add_field(builder, &(ttr_field){.name = {"frames", 6},
                                        .value = {.type = TTR_TYPE_ARRAY, .count = n}});
    for (uint32_t i = 0; i < n; i++)
        ttr_add_field(builder,
                      &(ttr_field){.depth = 1,
                                   .name = {"", 0},
                                   .value = {.type = TTR_TYPE_UINT, .v.u = fuzz_u64(from)}});
}

/* Adds fields that profiles and statistics evaluate. */
static void add_fields(ttr_builder *builder, struct fuzz_bytes *from, unsigned which)
{
    static const char *const names[] = {"period", "start", "size",  "address_in_module",
                                        "Type",   "Value", "count", "Name"};
    if (which & 1)
        add_frames(builder, from);
    for (unsigned i = 0; i < 8; i++)
        if (which >> 1 & 1u << i)
            ttr_add_uint(builder, names[i], fuzz_u64(from));
}

static void set_attributes(ttr_builder *builder, struct fuzz_bytes *from)
{
    static const char *const providers[] = {NULL, "Microsoft-DotNETCore-SampleProfiler",
                                            "Microsoft-Windows-DotNETRuntime", "Universal.Events",
                                            "provider"};
    ttr_event *event = ttr_event_attributes(builder);
    const uint8_t thread = fuzz_u8(from), flags = fuzz_u8(from);
    if (providers[thread / 8 % 5])
        ttr_event_set_provider(builder, providers[thread / 8 % 5]);
    if (thread & 7)
        ttr_event_set_thread(builder, thread & 1, thread & 7);
    event->duration = fuzz_u64(from);
    event->link = fuzz_u64(from);
    event->tag = flags & 7;
    event->level = flags >> 3 & 7;
    event->cpu = flags;
    event->flags |= flags & 64 ? TTR_EVENT_HAS_CPU : 0;
    event->flags |= flags & 128 ? TTR_EVENT_PARTIAL : 0;
}

void fuzz_events_make(struct fuzz_events *events, ttr *t, struct fuzz_bytes *from)
{
    static const char *const names[] = {"a",     "b",  "GCAllocationTick", "GC/Start", "GC/Stop",
                                        "a;b\n", "=1", "\x1b[2J"};
    ttr_builder *builder = ttr_builder_new(t);
    if (!builder)
        fuzz_stop("memory runs out");
    events->n = 0;
    while (from->p < from->end && events->n < EVENTS_MAX) {
        ttr_batch batch;
        const ttr_kind kind = (ttr_kind)(fuzz_u8(from) % TTR_KIND_COUNT);
        const uint8_t what = fuzz_u8(from);
        ttr_event_begin(builder, kind, (int64_t)fuzz_u64(from), what & 8 ? "cat,dog" : NULL,
                        names[what & 7]);
        set_attributes(builder, from);
        add_fields(builder, from, fuzz_u8(from) | (what & 16u) << 4);
        if (ttr_event_build(builder, &batch, NULL) != TTR_OK)
            fuzz_stop("an event cannot be built");
        ttr_event *event = &events->event[events->n++];
        *event = *ttr_batch_at(&batch, 0);
        uint8_t *payload = malloc(event->payload_size + 1u);
        if (!payload)
            fuzz_stop("memory runs out");
        if (event->payload_size)
            memcpy(payload, event->payload, event->payload_size);
        event->payload = payload;
    }
    ttr_builder_free(builder);
}

void fuzz_events_free(struct fuzz_events *events)
{
    for (size_t i = 0; i < events->n; i++)
        free((void *)(uintptr_t)events->event[i].payload);
}
