/* State machine of the client: connects, chooses the next requests, and recovers from a lost
 * connection. */
#include "formats/ctf/live/live_client.h"

#include <poll.h>
#include <string.h>

#include "base/status.h"

#define DIAL_AFTER_MOST 2000u
#define GOODBYE_MS 100u
/* bytes; packets are downloaded in parts of at most this size, one per request */
#define PIECE_BYTES 262144u

enum { KNOWN_STREAM = 0, KNOWN_TRACE = 1 };

void live_client_init(struct live_client *client, const struct alloc *alloc,
                      const struct live_url *url, const struct live_options *options)
{
    *client = (struct live_client){.alloc = alloc,
                                   .url = *url,
                                   .options = *options,
                                   .poll_ms = options->poll_ms,
                                   .dial_after_ms = options->poll_ms};
    live_link_init(&client->link, alloc, options->limit_ms);
    pair_map_init(&client->known, alloc);
}

/* --- Streams and traces --- */

static void free_stream(struct live_client *client, struct live_stream *stream)
{
    buffer_free(&stream->packet);
    alloc_free(client->alloc, stream->name, stream->name_size, 1);
    alloc_free(client->alloc, stream, 1, sizeof *stream);
}

static void free_trace(struct live_client *client, struct live_trace *trace)
{
    buffer_free(&trace->metadata);
    alloc_free(client->alloc, trace, 1, sizeof *trace);
}

/* Sets the stream's name to "path/channel", or "channel" without a path. Returns false if memory is
 * out. */
static bool set_stream_name(struct live_client *client, struct live_stream *stream,
                            const struct live_stream_head *head)
{
    size_t n = head->path.n;
    stream->name_size = n + 1 + head->channel.n + 1;
    stream->name = alloc_zero(client->alloc, stream->name_size, 1);
    if (!stream->name)
        return false;
    if (n) {
        memcpy(stream->name, head->path.p, n);
        stream->name[n++] = '/';
    }
    if (head->channel.n)
        memcpy(stream->name + n, head->channel.p, head->channel.n);
    return true;
}

struct live_trace *live_add_trace(struct live_client *client, uint64_t id)
{
    const uint32_t *place = pair_map_get(&client->known, id, KNOWN_TRACE);
    if (place)
        return client->traces[*place];
    if (!alloc_reserve(client->alloc, (void **)&client->traces, &client->traces_capacity,
                       client->traces_n + 1, sizeof *client->traces) ||
        !pair_map_put(&client->known, id, KNOWN_TRACE, (uint32_t)client->traces_n))
        return NULL;
    struct live_trace *trace = alloc_zero(client->alloc, 1, sizeof *trace);
    if (!trace) {
        (void)pair_map_remove(&client->known, id, KNOWN_TRACE);
        return NULL;
    }
    *trace = (struct live_trace){.id = id};
    buffer_init(&trace->metadata, client->alloc);
    return client->traces[client->traces_n++] = trace;
}

/* Returns the stream of an id; adds it if it is new. A stream that was read to its end has been
 * freed. If the daemon reports it again, the new object is marked is_over and is_done. */
struct live_stream *live_add_stream(struct live_client *client, const struct live_stream_head *head,
                                    struct live_trace *trace)
{
    const uint32_t *place = pair_map_get(&client->known, head->id, KNOWN_STREAM);
    bool was_there = place != NULL;
    if (place && *place != UINT32_MAX)
        return client->streams[*place];
    if (!alloc_reserve(client->alloc, (void **)&client->streams, &client->streams_capacity,
                       client->streams_n + 1, sizeof *client->streams))
        return NULL;
    struct live_stream *stream = alloc_zero(client->alloc, 1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct live_stream){
        .id = head->id, .trace = trace, .is_over = was_there, .is_done = was_there};
    buffer_init(&stream->packet, client->alloc);
    if (!set_stream_name(client, stream, head) ||
        !pair_map_put(&client->known, head->id, KNOWN_STREAM, (uint32_t)client->streams_n)) {
        free_stream(client, stream);
        return NULL;
    }
    trace->streams++;
    return client->streams[client->streams_n++] = stream;
}

/* Frees streams and traces that the user marked is_done, but remembers the ids of streams. The last
 * element of the array moves to each free position. */
static void free_done_objects(struct live_client *client)
{
    for (size_t i = client->streams_n; i-- > 0;) {
        struct live_stream *stream = client->streams[i];
        if (!stream->is_done || stream->is_asked || (stream->is_listed && !stream->is_closed))
            continue;
        *pair_map_get(&client->known, stream->id, KNOWN_STREAM) = UINT32_MAX;
        client->streams[i] = client->streams[--client->streams_n];
        if (i < client->streams_n)
            *pair_map_get(&client->known, client->streams[i]->id, KNOWN_STREAM) = (uint32_t)i;
        stream->trace->streams--;
        free_stream(client, stream);
    }
    for (size_t i = client->traces_n; i-- > 0;) {
        struct live_trace *trace = client->traces[i];
        if (!trace->is_done || trace->is_asked || trace->streams)
            continue;
        (void)pair_map_remove(&client->known, trace->id, KNOWN_TRACE);
        client->traces[i] = client->traces[--client->traces_n];
        if (i < client->traces_n)
            *pair_map_get(&client->known, client->traces[i]->id, KNOWN_TRACE) = (uint32_t)i;
        free_trace(client, trace);
    }
}

void live_client_release_packet(struct live_stream *stream)
{
    stream->is_whole = stream->has_index = false;
    stream->packet.n = 0;
}

/* --- Requests --- */

/* Adds a request to the list of pending requests. */
static struct live_request *add_request(struct live_client *client, enum live_command command,
                                        uint64_t id)
{
    struct live_request *request =
        &client->requests[(client->requests_first + client->requests_n++) % LIVE_REQUESTS_MAX];
    /* until the session is attached and its streams are known, requests are sent one at a time */
    const bool is_alone = client->requests_n == 1 || client->phase != LIVE_RUNNING;
    *request = (struct live_request){
        .command = (uint8_t)command, .id = id, .sent_ms = is_alone ? client->now : 0};
    return request;
}

struct live_request *live_queue_request(struct live_client *client, enum live_command command,
                                        uint64_t id)
{
    struct buffer *out = &client->link.out;
    struct live_request *request = add_request(client, command, id);
    switch (command) {
    case LIVE_CONNECT:
        live_append_connect(out);
        break;
    case LIVE_LIST:
        live_append_list(out);
        break;
    case LIVE_CREATE:
        live_append_create(out);
        break;
    case LIVE_ATTACH:
        live_append_attach(out, id, client->is_attached ? LIVE_SEEK_BEGIN : client->options.seek);
        break;
    default:
        live_append_command_with_id(out, command, id);
        break;
    }
    return request;
}

static void request_packet_bytes(struct live_client *client, struct live_stream *stream)
{
    uint64_t left = stream->index.packet_bits / 8 - stream->packet.n;
    add_request(client, LIVE_PACKET, stream->id)->stream = stream;
    live_append_packet_request(&client->link.out, stream->id,
                               stream->index.offset + stream->packet.n,
                               left < PIECE_BYTES ? (uint32_t)left : PIECE_BYTES);
}

bool live_attach_next_session(struct live_client *client)
{
    for (size_t i = 0; i < client->sessions_n; i++)
        if (!client->sessions[i].was_attached) {
            client->sessions[i].was_attached = true;
            (void)live_queue_request(client, LIVE_ATTACH, client->sessions[i].id);
            return true;
        }
    return false;
}

/* Allows several pending requests only if the daemon is far away. A daemon nearby answers one
 * request at a time just as fast, and simple daemons lose a request that arrives together with
 * another. */
static bool can_queue_request(const struct live_client *client)
{
    const bool is_far = client->has_round_trip && client->round_trip_ms > LIVE_NEAR_MS;
    return client->requests_n < (is_far ? LIVE_REQUESTS_MAX : 1);
}

static void request_new_streams(struct live_client *client)
{
    size_t alive = 0;
    for (size_t i = 0; i < client->streams_n; i++)
        alive += client->streams[i]->is_listed && !client->streams[i]->is_closed;
    if (!(client->wants_streams || alive == 0) || client->now < client->ask_streams_at)
        return;
    for (size_t i = 0; i < client->sessions_n && can_queue_request(client); i++) {
        struct live_attached *session = &client->sessions[i];
        if (session->is_closed || session->is_asked)
            continue;
        session->is_asked = true;
        (void)live_queue_request(client, LIVE_NEW_STREAMS, session->id);
    }
}

static void request_metadata(struct live_client *client)
{
    for (size_t i = 0; i < client->traces_n && can_queue_request(client); i++) {
        struct live_trace *trace = client->traces[i];
        /* if a trace has no streams, its metadata are requested from time to time, to detect when
         * it is closed */
        bool is_wanted = trace->has_metadata_stream && !trace->is_closed &&
                         (trace->wants_metadata || trace->streams == 0);
        if (!is_wanted || trace->is_asked || client->now < trace->ask_at)
            continue;
        trace->is_asked = true;
        live_queue_request(client, LIVE_METADATA, trace->metadata_stream)->trace = trace;
    }
}

static void request_packets(struct live_client *client)
{
    for (size_t i = 0; i < client->streams_n && can_queue_request(client); i++) {
        struct live_stream *stream = client->streams[client->turn++ % client->streams_n];
        if (stream->is_asked || stream->is_closed || stream->is_whole || !stream->is_listed ||
            client->now < stream->ask_at)
            continue;
        stream->is_asked = true;
        if (stream->has_index)
            request_packet_bytes(client, stream);
        else
            live_queue_request(client, LIVE_NEXT_INDEX, stream->id)->stream = stream;
    }
}

/* --- Connections --- */

/* Ends all streams and the client, because the session has ended. */
static void end_session_streams(struct live_client *client)
{
    for (size_t i = 0; i < client->streams_n; i++) {
        struct live_stream *stream = client->streams[i];
        stream->is_gone |= !stream->is_over;
        stream->is_over = true;
    }
    client->phase = LIVE_OVER;
    live_link_close(&client->link);
}

static ttr_status fail_client(struct live_client *client, const ttr_error *reason, ttr_error *error)
{
    client->phase = LIVE_FAILED;
    client->error = *reason;
    live_link_close(&client->link);
    *error = client->error;
    return reason->status;
}

/* Drops pending requests; the next connection sends them again. */
static void drop_pending_requests(struct live_client *client)
{
    client->requests_n = 0;
    client->sessions_n = 0;
    for (size_t i = 0; i < client->traces_n; i++) {
        struct live_trace *trace = client->traces[i];
        trace->is_asked = false;
        trace->wants_metadata = !trace->is_closed;
        trace->received = 0;
        trace->ask_at = 0;
    }
    for (size_t i = 0; i < client->streams_n; i++) {
        struct live_stream *stream = client->streams[i];
        stream->is_asked = stream->is_listed = stream->is_closed = false;
        stream->ask_at = 0;
        if (!stream->is_whole)
            live_client_release_packet(stream);
        if (!stream->has_last && stream->has_beacon) {
            stream->has_last = true;
            stream->last_begin = UINT64_MAX;
            stream->last_end = stream->beacon;
        }
        stream->skips = stream->has_last;
    }
}

/* Closes a lost connection and schedules the next attempt. Fails if the reconnection time limit is
 * over or the session was never attached. */
static ttr_status schedule_reconnection(struct live_client *client, const ttr_error *reason,
                                        ttr_error *error)
{
    bool may_try = client->is_attached && client->options.reconnect_ms > 0;
    if (client->away_since == 0)
        client->away_since = client->now;
    client->bytes += client->link.received;
    client->link.received = 0;
    live_link_close(&client->link);
    drop_pending_requests(client);
    if (!may_try || client->now - client->away_since >= client->options.reconnect_ms)
        return fail_client(client, reason, error);
    client->phase = LIVE_AWAY;
    client->dial_at = client->now + client->dial_after_ms;
    client->dial_after_ms =
        client->dial_after_ms * 2 < DIAL_AFTER_MOST ? client->dial_after_ms * 2 : DIAL_AFTER_MOST;
    return TTR_OK;
}

static ttr_status dial_daemon(struct live_client *client, ttr_error *error)
{
    ttr_error ctx = {0};
    if (client->now < client->dial_at)
        return TTR_AGAIN;
    struct socket *socket = client->options.dial(client->options.dial_ctx, &ctx);
    client->now = socket_now_ms();
    if (!socket && ctx.status == TTR_AGAIN)
        return TTR_AGAIN;
    if (!socket)
        return ctx.status == TTR_E_IO ? schedule_reconnection(client, &ctx, error)
                                      : fail_client(client, &ctx, error);
    live_link_start(&client->link, socket);
    client->reconnections += client->is_attached;
    client->phase = LIVE_GREETING;
    (void)live_queue_request(client, LIVE_CONNECT, 0);
    return TTR_OK;
}

/* Returns true if all sessions, streams and traces have ended. */
static bool has_session_ended(const struct live_client *client)
{
    if (client->phase != LIVE_RUNNING || client->wants_streams)
        return false;
    for (size_t i = 0; i < client->sessions_n; i++)
        if (!client->sessions[i].is_closed)
            return false;
    for (size_t i = 0; i < client->streams_n; i++)
        if (!client->streams[i]->is_closed && client->streams[i]->is_listed)
            return false;
    for (size_t i = 0; i < client->traces_n; i++) {
        const struct live_trace *trace = client->traces[i];
        if (trace->is_asked || (trace->wants_metadata && !trace->is_closed && trace->streams))
            return false;
    }
    return true;
}

static ttr_status exchange_messages(struct live_client *client, ttr_error *error)
{
    if (client->phase == LIVE_RUNNING) {
        request_new_streams(client);
        request_metadata(client);
        request_packets(client);
    }
    ttr_error lost = {0};
    ttr_status moved = live_link_exchange(&client->link, client->requests_n > 0, &lost);
    ttr_status taken = live_parse_answers(client, error);
    if (taken != TTR_AGAIN || moved == TTR_OK || moved == TTR_AGAIN)
        return taken == TTR_AGAIN ? moved : taken;
    *error = lost; /* report the lost connection only after its last data were parsed */
    return moved;
}

ttr_status live_client_step(struct live_client *client, ttr_error *error)
{
    ttr_error ctx = {0};
    client->now = socket_now_ms();
    if (client->phase == LIVE_FAILED) {
        *error = client->error;
        return client->error.status;
    }
    free_done_objects(client);
    if (client->phase == LIVE_OVER)
        return TTR_END;
    if (client->phase == LIVE_AWAY)
        return dial_daemon(client, error);
    ttr_status status = exchange_messages(client, &ctx);
    if (status == TTR_E_IO)
        return schedule_reconnection(client, &ctx, error);
    if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END)
        return fail_client(client, &ctx, error);
    if (status == TTR_END || has_session_ended(client)) {
        end_session_streams(client);
        return TTR_OK;
    }
    return status;
}

void live_client_wait(const struct live_client *client, unsigned limit_ms)
{
    const struct live_link *link = &client->link;
    bool has_out = link->sent < link->out.n;
    if (link->socket)
        (void)socket_wait(link->socket, has_out && client->requests_n == 0, limit_ms);
    else
        (void)poll(NULL, 0, (int)limit_ms);
}

/* Sends DETACH and waits at most GOODBYE_MS for the answer, because answers to earlier requests may
 * arrive first. */
static void detach_from_daemon(struct live_client *client)
{
    ttr_error ignored;
    uint64_t deadline = socket_now_ms() + GOODBYE_MS;
    size_t next = 0;
    while ((next < client->sessions_n || client->requests_n) && socket_now_ms() < deadline) {
        for (; next < client->sessions_n && can_queue_request(client); next++)
            (void)live_queue_request(client, LIVE_DETACH, client->sessions[next].id);
        ttr_status moved = live_link_exchange(&client->link, false, &ignored);
        if (moved != TTR_OK && moved != TTR_AGAIN)
            return;
        ttr_status taken = live_parse_answers(client, &ignored);
        if (taken != TTR_OK && taken != TTR_AGAIN)
            return;
        if (moved == TTR_AGAIN)
            live_client_wait(client, GOODBYE_MS / 10);
    }
}

void live_client_free(struct live_client *client)
{
    if (client->phase == LIVE_RUNNING && client->link.socket)
        detach_from_daemon(client);
    live_link_free(&client->link);
    for (size_t i = 0; i < client->streams_n; i++)
        free_stream(client, client->streams[i]);
    for (size_t i = 0; i < client->traces_n; i++)
        free_trace(client, client->traces[i]);
    alloc_free(client->alloc, client->streams, client->streams_capacity, sizeof *client->streams);
    alloc_free(client->alloc, client->traces, client->traces_capacity, sizeof *client->traces);
    alloc_free(client->alloc, client->sessions, client->sessions_capacity,
               sizeof *client->sessions);
    pair_map_free(&client->known);
}
