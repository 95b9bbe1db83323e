/* Packets of a feed in place of those of a relay daemon: the client has the same traces and
 * streams, but no connection. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/live/ctf_live.h"

#define FEED_STREAMS_MAX 4096u /* streams, and traces, of a feed; packets of others are dropped */

/* Returns the stream of a file; adds it if it is new. Returns NULL if memory runs out. */
static struct live_stream *find_stream(struct live_client *client, struct live_trace *trace,
                                       const struct fed_packet *packet)
{
    for (size_t i = 0; i < client->streams_n; i++) {
        struct live_stream *stream = client->streams[i];
        if (stream->trace == trace && strlen(stream->name) == packet->file_n &&
            memcmp(stream->name, packet->file, packet->file_n) == 0)
            return stream;
    }
    const struct live_stream_head head = {.id = client->streams_n,
                                          .trace = trace->id,
                                          .path = {"", 0},
                                          .channel = {packet->file, packet->file_n}};
    return live_add_stream(client, &head, trace);
}

/* Adds a main file, or the rest of one that has grown. */
static void add_metadata(struct live_trace *trace, const struct fed_packet *packet)
{
    const size_t known = trace->metadata.n;
    trace->wants_metadata = false;
    if (known <= packet->n &&
        (known == 0 || memcmp(trace->metadata.bytes, packet->bytes, known) == 0))
        buffer_add(&trace->metadata, packet->bytes + known, packet->n - known);
    else
        trace->has_changed = true;
}

ttr_status live_step_feed(struct live_reader *live, unsigned limit_ms, ttr_error *error)
{
    struct fed_packet packet;
    struct live_client *client = &live->client;
    ttr_status status = live->feed.peek(live->feed.ctx, limit_ms, &packet, error);
    client->now = socket_now_ms();
    if (status != TTR_OK)
        return status;
    if (client->traces_n >= FEED_STREAMS_MAX || client->streams_n >= FEED_STREAMS_MAX) {
        live_add_diagnostic(live, TTR_SEVERITY_DAMAGE, "live.bad-packet",
                            "there were more streams than can be distinguished");
        live->feed.consume(live->feed.ctx);
        return TTR_OK;
    }
    struct live_trace *trace = live_add_trace(client, packet.trace);
    if (!trace)
        return fail_memory(error);
    if (!packet.file) {
        add_metadata(trace, &packet);
        live->feed.consume(live->feed.ctx);
        return trace->metadata.failed ? fail_memory(error) : TTR_OK;
    }
    struct live_stream *stream = find_stream(client, trace, &packet);
    if (!stream)
        return fail_memory(error);
    if (stream->is_whole)
        return TTR_AGAIN; /* the last packet of the stream has not been read yet */
    buffer_add(&stream->packet, packet.bytes, packet.n);
    if (stream->packet.failed)
        return fail_memory(error);
    stream->index = (struct live_index){0};
    stream->has_index = stream->is_whole = true;
    live->feed.consume(live->feed.ctx);
    return TTR_OK;
}
