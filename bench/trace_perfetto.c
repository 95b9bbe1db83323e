/* Perfetto in bench_trace: its C SDK, with a session in the same process. */
#include "trace_peer.h"

#include <perfetto_c.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PEER_CATEGORIES(C) C(peer_on, "peer.on", "recorded") C(peer_off, "peer.off", "not recorded")

PERFETTO_TE_CATEGORIES_DEFINE(PEER_CATEGORIES)

static struct PerfettoTracingSessionImpl *session;

static void append_data_source(struct perfetto_protos_TraceConfig *config)
{
    struct perfetto_protos_TraceConfig_DataSource source;
    struct perfetto_protos_DataSourceConfig source_config;
    struct perfetto_protos_TrackEventConfig events;
    perfetto_protos_TraceConfig_begin_data_sources(config, &source);
    perfetto_protos_TraceConfig_DataSource_begin_config(&source, &source_config);
    perfetto_protos_DataSourceConfig_set_cstr_name(&source_config, "track_event");
    perfetto_protos_DataSourceConfig_begin_track_event_config(&source_config, &events);
    perfetto_protos_TrackEventConfig_set_cstr_enabled_categories(&events, "peer.on");
    perfetto_protos_TrackEventConfig_set_cstr_disabled_categories(&events, "*");
    perfetto_protos_DataSourceConfig_end_track_event_config(&source_config, &events);
    perfetto_protos_TraceConfig_DataSource_end_config(&source, &source_config);
    perfetto_protos_TraceConfig_end_data_sources(config, &source);
}

static void append_buffer(struct perfetto_protos_TraceConfig *config)
{
    struct perfetto_protos_TraceConfig_BufferConfig buffer;
    perfetto_protos_TraceConfig_begin_buffers(config, &buffer);
    perfetto_protos_TraceConfig_BufferConfig_set_size_kb(&buffer, 64 << 10);
    perfetto_protos_TraceConfig_BufferConfig_set_fill_policy(
        &buffer, perfetto_protos_TraceConfig_BufferConfig_RING_BUFFER);
    perfetto_protos_TraceConfig_end_buffers(config, &buffer);
}

bool start_perfetto(void)
{
    struct PerfettoProducerInitArgs arguments = PERFETTO_PRODUCER_INIT_ARGS_INIT();
    arguments.backends = PERFETTO_BACKEND_IN_PROCESS;
    PerfettoProducerInit(arguments);
    PerfettoTeInit();
    PERFETTO_TE_REGISTER_CATEGORIES(PEER_CATEGORIES);

    struct PerfettoPbMsgWriter writer;
    struct PerfettoHeapBuffer *heap = PerfettoHeapBufferCreate(&writer);
    struct perfetto_protos_TraceConfig config;
    PerfettoPbMsgInit(&config.msg, &writer);
    append_buffer(&config);
    append_data_source(&config);
    const size_t size = PerfettoPbMsgWriterGetWrittenSize(&writer);
    uint8_t *bytes = malloc(size);
    if (bytes) {
        PerfettoHeapBufferCopyInto(heap, &writer, bytes, size);
        session = PerfettoTracingSessionCreate(PERFETTO_BACKEND_IN_PROCESS);
        PerfettoTracingSessionSetup(session, bytes, size);
        PerfettoTracingSessionStartBlocking(session);
    }
    free(bytes);
    PerfettoHeapBufferDestroy(heap, &writer);
    return session && atomic_load(peer_on.enabled) && !atomic_load(peer_off.enabled);
}

void run_perfetto_instant(int n)
{
    for (int i = 0; i < n; i++)
        PERFETTO_TE(peer_on, PERFETTO_TE_INSTANT("instant"), PERFETTO_TE_ARG_INT64("n", i));
}

void run_perfetto_zone(int n)
{
    for (int i = 0; i < n; i++) {
        PERFETTO_TE(peer_on, PERFETTO_TE_SLICE_BEGIN("zone"));
        PERFETTO_TE(peer_on, PERFETTO_TE_SLICE_END());
    }
}

void run_perfetto_disabled(int n)
{
    for (int i = 0; i < n; i++)
        PERFETTO_TE(peer_off, PERFETTO_TE_INSTANT("disabled"), PERFETTO_TE_ARG_INT64("n", i));
}

void stop_perfetto(void)
{
    PerfettoTracingSessionStopBlocking(session);
    PerfettoTracingSessionDestroy(session);
}
