/* Parser of a relay daemon's answers, which arrive in the order of the requests. Long answers are
 * parsed entry by entry, so that a complete list is never in memory. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/live/live_client.h"

#define POLL_LEAST_MS 10u
/* ms between requests for new streams while none is known; short, because the streams of a short
 * program soon end */
#define STREAMS_MS 20u
#define IDLE_MS 1000u /* ms between checks whether a trace without streams is closed */

/* Fails with TTR_E_MALFORMED: the answer violates the protocol in the way that `what` describes. */
static ttr_status fail_bad_answer(const struct live_client *client,
                                  const struct live_request *request, const char *what,
                                  ttr_error *error)
{
    struct cursor at = live_link_received(&client->link);
    return fail(error, TTR_E_MALFORMED, at.offset,
                "the answer to %s at byte %llu of the connection: %s: is %s a relay daemon?",
                live_command_text(request->command), (unsigned long long)at.offset, what,
                client->url.daemon);
}

/* Consumes the received bytes between two states of a cursor. */
static void consume_answer_bytes(struct live_client *client, const struct cursor *before,
                                 const struct cursor *after)
{
    live_link_consume(&client->link, cursor_left(before) - cursor_left(after));
}

/* --- Answers before the session is attached --- */

static ttr_status parse_connect_answer(struct live_client *client, struct live_request *request,
                                       ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    if (!live_read_connect(&at, &client->version))
        return TTR_AGAIN;
    if (client->version.major != LIVE_MAJOR || client->version.minor < 4)
        return fail(error, TTR_E_UNSUPPORTED, 0,
                    "%s speaks version %u.%u of the protocol of LTTng live, expected 2.4 or later "
                    "(is it a relay daemon?)",
                    client->url.daemon, client->version.major, client->version.minor);
    (void)request;
    consume_answer_bytes(client, &before, &at);
    client->minor = client->version.minor < LIVE_MINOR ? client->version.minor : LIVE_MINOR;
    client->sessions_n = 0;
    client->phase = LIVE_LISTING;
    (void)live_queue_request(client, LIVE_LIST, 0);
    return TTR_OK;
}

static bool text_equals(ttr_text text, const char *other)
{
    return text.n == strlen(other) && memcmp(text.p, other, text.n) == 0;
}

/* Processes one session of the list: passes it to the callback in list mode, or stores its id if
 * it is the wanted session. */
static ttr_status report_or_select_session(struct live_client *client,
                                           const struct live_session *session, ttr_error *error)
{
    if (client->options.list)
        return client->options.list(client->options.list_ctx, session) ? TTR_OK
                                                                       : fail_memory(error);
    if (!text_equals(session->host, client->url.host) ||
        !text_equals(session->name, client->url.session))
        return TTR_OK;
    if (!alloc_reserve(client->alloc, (void **)&client->sessions, &client->sessions_capacity,
                       client->sessions_n + 1, sizeof *client->sessions))
        return fail_memory(error);
    client->sessions[client->sessions_n++] = (struct live_attached){.id = session->id};
    client->session = *session;
    client->session.host = client->session.name = (ttr_text){"", 0};
    unsigned half =
        session->timer_us / 2000 > POLL_LEAST_MS ? session->timer_us / 2000 : POLL_LEAST_MS;
    client->poll_ms = half < client->poll_ms ? half : client->poll_ms;
    return TTR_OK;
}

/* Processes the end of the list of sessions. If the wanted session is not in the list, it has
 * ended if it was attached before; otherwise this is an error. */
static ttr_status finish_session_list(struct live_client *client, ttr_error *error)
{
    char url[LIVE_URL_PART + 32];
    if (client->options.list || (client->sessions_n == 0 && client->is_attached)) {
        client->is_session_gone = client->is_attached;
        return TTR_END;
    }
    if (client->sessions_n == 0) {
        live_format_daemon_url(&client->url, url, sizeof url);
        return fail(
            error, TTR_E_IO, NO_OFFSET,
            "the relay daemon at %s has no session \"%s\" of host \"%s\": %s lists those it has",
            client->url.daemon, client->url.session, client->url.host, url);
    }
    (void)live_queue_request(client, LIVE_CREATE, 0);
    return TTR_OK;
}

static ttr_status parse_list_answer(struct live_client *client, struct live_request *request,
                                    ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    if (!request->is_head_parsed) {
        request->left = cursor_u32be(&at);
        if (at.failed)
            return TTR_AGAIN;
        if (request->left > LIVE_SESSIONS_MAX)
            return fail_bad_answer(client, request, "more sessions than there can be", error);
        request->is_head_parsed = true;
        consume_answer_bytes(client, &before, &at);
        before = at;
    }
    for (; request->left; request->left--) {
        struct live_session session;
        bool is_bad;
        if (!live_read_session(&at, client->minor, &session, &is_bad))
            return is_bad ? fail_bad_answer(client, request,
                                            "a name of a session that is longer than a name can be",
                                            error)
                          : TTR_AGAIN;
        ttr_status status = report_or_select_session(client, &session, error);
        if (status != TTR_OK)
            return status;
        consume_answer_bytes(client, &before, &at);
        before = at;
    }
    return finish_session_list(client, error);
}

static ttr_status parse_create_answer(struct live_client *client, struct live_request *request,
                                      ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    uint32_t status = cursor_u32be(&at);
    if (at.failed)
        return TTR_AGAIN;
    if (status != LIVE_OK)
        return fail_bad_answer(client, request, "it makes no session for viewers", error);
    consume_answer_bytes(client, &before, &at);
    client->phase = LIVE_ATTACHING;
    (void)live_attach_next_session(client);
    return TTR_OK;
}

/* --- Answers about streams --- */

static ttr_status add_metadata_stream(struct live_trace *trace, const struct live_stream_head *head)
{
    trace->metadata_stream = head->id;
    trace->has_metadata_stream = true;
    trace->wants_metadata = true;
    return TTR_OK;
}

static ttr_status add_listed_stream(struct live_client *client, const struct live_request *request,
                                    const struct live_stream_head *head, ttr_error *error)
{
    struct live_trace *trace = live_add_trace(client, head->trace);
    if (!trace)
        return fail_memory(error);
    if (head->is_metadata)
        return add_metadata_stream(trace, head);
    if (client->streams_n >= LIVE_STREAMS_MAX)
        return fail_bad_answer(client, request, "more streams than anybody could read", error);
    struct live_stream *stream = live_add_stream(client, head, trace);
    if (!stream)
        return fail_memory(error);
    if (stream->trace != trace)
        return fail_bad_answer(client, request, "a stream went over to another trace", error);
    stream->is_listed = true;
    return TTR_OK;
}

static ttr_status parse_stream_list(struct live_client *client, struct live_request *request,
                                    ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    for (; request->left; request->left--) {
        struct live_stream_head head;
        if (!live_read_stream(&at, &head))
            return TTR_AGAIN;
        ttr_status status = add_listed_stream(client, request, &head, error);
        if (status != TTR_OK)
            return status;
        consume_answer_bytes(client, &before, &at);
        before = at;
    }
    return TTR_OK;
}

static struct live_attached *find_session_by_id(struct live_client *client, uint64_t id)
{
    for (size_t i = 0; i < client->sessions_n; i++)
        if (client->sessions[i].id == id)
            return &client->sessions[i];
    return NULL;
}

/* Converts the status of a failed ATTACH request to an error. Returns TTR_OK if the session has
 * ended since the last connection. */
static ttr_status fail_attachment(struct live_client *client, const struct live_request *request,
                                  uint32_t status, ttr_error *error)
{
    const char *name = client->url.session;
    switch (status) {
    case LIVE_ATTACH_ALREADY:
        /* TTR_E_IO makes the client try again: after a reconnection, the daemon may not have
         * noticed yet that the previous connection is closed */
        return fail(error, client->is_attached ? TTR_E_IO : TTR_E_UNSUPPORTED, NO_OFFSET,
                    "the session \"%s\" has another viewer already, and there can be one only",
                    name);
    case LIVE_ATTACH_UNKNOWN:
        if (!client->is_attached)
            return fail(error, TTR_E_IO, NO_OFFSET, "the session \"%s\" has just ended", name);
        find_session_by_id(client, request->id)->is_closed = true;
        return TTR_OK;
    case LIVE_ATTACH_NOT_LIVE:
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "the session \"%s\" is not live: \"lttng create --live\" makes one that is",
                    name);
    default:
        return fail_bad_answer(client, request, "it refused to attach a viewer", error);
    }
}

/* Once no request for streams is pending, ends the streams of the previous connection that the
 * daemon did not list again. */
static void end_lost_streams(struct live_client *client)
{
    for (size_t i = 0; i < client->sessions_n; i++)
        if (client->sessions[i].is_asked)
            return;
    client->wants_streams = false;
    client->ask_streams_at =
        client->now + (client->poll_ms < STREAMS_MS ? client->poll_ms : STREAMS_MS);
    for (size_t i = 0; i < client->streams_n; i++) {
        struct live_stream *stream = client->streams[i];
        stream->is_gone |= !stream->is_listed && !stream->is_over;
        stream->is_over |= stream->is_gone;
    }
}

/* Starts reading the attached sessions. After a reconnection some streams may not be listed yet (a
 * rotation hides them), so new streams are requested. */
static void start_following_session(struct live_client *client)
{
    bool is_open = false;
    for (size_t i = 0; i < client->sessions_n; i++)
        is_open |= !client->sessions[i].is_closed;
    client->phase = LIVE_RUNNING;
    client->wants_streams = client->is_attached;
    client->is_attached = true;
    client->ask_streams_at = 0;
    if (!is_open)
        end_lost_streams(client);
}

static ttr_status parse_attach_answer(struct live_client *client, struct live_request *request,
                                      ttr_error *error)
{
    if (!request->is_head_parsed) {
        struct cursor before = live_link_received(&client->link), at = before;
        struct live_answer_head head;
        if (!live_read_streams(&at, &head))
            return TTR_AGAIN;
        if (head.status != LIVE_OK) {
            ttr_status status = fail_attachment(client, request, head.status, error);
            if (status != TTR_OK)
                return status;
            head.count = 0;
        }
        consume_answer_bytes(client, &before, &at);
        request->is_head_parsed = true;
        request->left = head.count;
    }
    ttr_status status = parse_stream_list(client, request, error);
    if (status == TTR_OK && !live_attach_next_session(client))
        start_following_session(client);
    return status;
}

static ttr_status parse_new_streams_answer(struct live_client *client, struct live_request *request,
                                           ttr_error *error)
{
    struct live_attached *session = find_session_by_id(client, request->id);
    if (!request->is_head_parsed) {
        struct cursor before = live_link_received(&client->link), at = before;
        struct live_answer_head head;
        if (!live_read_streams(&at, &head))
            return TTR_AGAIN;
        if (head.status < LIVE_OK || head.status > LIVE_STREAMS_HUP)
            return fail_bad_answer(client, request, "an unknown status", error);
        consume_answer_bytes(client, &before, &at);
        request->is_head_parsed = true;
        request->left = head.status == LIVE_OK ? head.count : 0;
        session->is_closed = head.status == LIVE_STREAMS_HUP || head.status == LIVE_STREAMS_ERROR;
    }
    ttr_status status = parse_stream_list(client, request, error);
    if (status != TTR_OK)
        return status;
    session->is_asked = false;
    end_lost_streams(client);
    return TTR_OK;
}

/* --- Answers with packets --- */

static void remember_requests_from_answer_flags(struct live_client *client,
                                                const struct live_stream *stream, uint32_t flags)
{
    if (flags & LIVE_NEW_METADATA)
        stream->trace->wants_metadata = true;
    if (flags & LIVE_NEW_STREAM && !client->wants_streams) {
        client->wants_streams = true;
        client->ask_streams_at = 0;
    }
}

/* Returns false if the packet of an index must not be requested: an earlier connection received it,
 * or its size is invalid. */
static bool is_index_usable(struct live_client *client, struct live_stream *stream,
                            const struct live_index *index)
{
    bool is_older = index->end < stream->last_end ||
                    (index->end == stream->last_end && index->begin <= stream->last_begin);
    if (stream->is_over || (stream->skips && is_older))
        return false;
    stream->skips = false;
    if (index->packet_bits == 0 || index->packet_bits % 8 ||
        index->packet_bits / 8 > LIVE_PACKET_MAX) {
        client->packets_refused++;
        return false;
    }
    return true;
}

static ttr_status parse_index_answer(struct live_client *client, struct live_request *request,
                                     ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    struct live_stream *stream = request->stream;
    struct live_index index;
    if (!live_read_index(&at, &index))
        return TTR_AGAIN;
    if (index.status < LIVE_OK || index.status > LIVE_INDEX_EOF)
        return fail_bad_answer(client, request, "an unknown status", error);
    consume_answer_bytes(client, &before, &at);
    stream->is_asked = false;
    remember_requests_from_answer_flags(client, stream, index.flags);
    switch (index.status) {
    case LIVE_OK:
        stream->has_index = is_index_usable(client, stream, &index);
        stream->index = index;
        break;
    case LIVE_INDEX_INACTIVE:
        stream->class_id = index.class_id;
        stream->beacon =
            stream->has_beacon && stream->beacon > index.end ? stream->beacon : index.end;
        stream->has_beacon = true;
        stream->ask_at = client->now + client->poll_ms;
        break;
    case LIVE_INDEX_RETRY:
        stream->ask_at = client->now + client->poll_ms;
        break;
    default:
        stream->is_gone |= !stream->is_over && index.status == LIVE_INDEX_ERROR;
        stream->is_over = stream->is_closed = true;
        break;
    }
    return TTR_OK;
}

/* Parses the fixed part of an answer to the request PACKET, and completes the request if the
 * answer contains no packet. */
static ttr_status parse_packet_head(struct live_client *client, struct live_request *request,
                                    ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    struct live_stream *stream = request->stream;
    struct live_answer_head head;
    if (!live_read_packet_head(&at, &head))
        return TTR_AGAIN;
    if (head.status < LIVE_OK || head.status > LIVE_PACKET_EOF)
        return fail_bad_answer(client, request, "an unknown status", error);
    if (head.status == LIVE_OK &&
        (head.count == 0 || head.count > stream->index.packet_bits / 8 - stream->packet.n))
        return fail_bad_answer(client, request, "a packet of another size than was asked for",
                               error);
    consume_answer_bytes(client, &before, &at);
    remember_requests_from_answer_flags(client, stream, head.flags);
    request->is_head_parsed = true;
    request->left = head.status == LIVE_OK ? head.count : 0;
    if (head.status == LIVE_PACKET_RETRY || (head.status == LIVE_PACKET_ERROR && head.flags)) {
        stream->ask_at = client->now + (head.flags ? 0 : client->poll_ms);
    } else if (head.status != LIVE_OK) {
        client->packets_refused++;
        live_client_release_packet(stream);
    }
    return TTR_OK;
}

/* Appends the bytes of the answer that have been received to `to`; only consumes them if `to` is
 * NULL. Returns TTR_AGAIN until all have arrived. */
static ttr_status append_answer_bytes(struct live_client *client, struct live_request *request,
                                      struct buffer *to, ttr_error *error)
{
    struct cursor at = live_link_received(&client->link);
    size_t n = cursor_left(&at) < request->left ? cursor_left(&at) : (size_t)request->left;
    const uint8_t *bytes = cursor_read_bytes(&at, n);
    if (to && n)
        buffer_add(to, bytes, n);
    if (to && to->failed)
        return fail_memory(error);
    live_link_consume(&client->link, n);
    request->left -= n;
    return request->left ? TTR_AGAIN : TTR_OK;
}

static ttr_status parse_packet_bytes(struct live_client *client, struct live_request *request,
                                     ttr_error *error)
{
    struct live_stream *stream = request->stream;
    ttr_status status =
        request->is_head_parsed ? TTR_OK : parse_packet_head(client, request, error);
    if (status == TTR_OK && request->left)
        status = append_answer_bytes(client, request, &stream->packet, error);
    if (status != TTR_OK)
        return status;
    stream->is_asked = false;
    if (stream->has_index && stream->packet.n == stream->index.packet_bits / 8) {
        stream->is_whole = true;
        stream->has_last = true;
        stream->last_begin = stream->index.begin;
        stream->last_end = stream->index.end;
        stream->class_id = stream->index.class_id;
    }
    return TTR_OK;
}

/* --- Answers with metadata --- */

/* After a reconnection: compares and consumes the metadata that an earlier connection received
 * already. Sets has_changed if they differ. */
static void compare_repeated_metadata(struct live_client *client, struct live_request *request)
{
    struct live_trace *trace = request->trace;
    struct cursor at = live_link_received(&client->link);
    uint64_t known = trace->received < trace->metadata.n ? trace->metadata.n - trace->received : 0;
    uint64_t n = cursor_left(&at) < request->left ? cursor_left(&at) : request->left;
    n = n < known ? n : known;
    const uint8_t *bytes = cursor_read_bytes(&at, n);
    if (n == 0)
        return;
    trace->has_changed |= memcmp(bytes, trace->metadata.bytes + trace->received, (size_t)n) != 0;
    trace->received += n;
    request->left -= n;
    live_link_consume(&client->link, (size_t)n);
}

static ttr_status parse_metadata_head(struct live_client *client, struct live_request *request,
                                      ttr_error *error)
{
    struct cursor before = live_link_received(&client->link), at = before;
    struct live_trace *trace = request->trace;
    uint32_t status;
    uint64_t n;
    if (!live_read_metadata_head(&at, &status, &n))
        return TTR_AGAIN;
    if (status < LIVE_OK || status > LIVE_METADATA_ERROR)
        return fail_bad_answer(client, request, "an unknown status", error);
    if (status == LIVE_OK && n > LIVE_METADATA_MAX - trace->received)
        return fail(error, TTR_E_LIMIT, at.offset, "metadata of more than %llu MiB",
                    (unsigned long long)(LIVE_METADATA_MAX >> 20));
    consume_answer_bytes(client, &before, &at);
    request->is_head_parsed = true;
    request->left = status == LIVE_OK ? n : 0;
    trace->is_closed |= status == LIVE_METADATA_ERROR;
    /* a cleared session answers LIVE_OK with 0 bytes: it has no metadata now, but will have some
     * soon */
    trace->wants_metadata = status == LIVE_OK;
    trace->ask_at = client->now + (status == LIVE_OK ? (n ? 0 : client->poll_ms)
                                   : trace->streams  ? 0
                                                     : IDLE_MS);
    return TTR_OK;
}

static ttr_status parse_metadata_bytes(struct live_client *client, struct live_request *request,
                                       ttr_error *error)
{
    struct live_trace *trace = request->trace;
    ttr_status status =
        request->is_head_parsed ? TTR_OK : parse_metadata_head(client, request, error);
    if (status == TTR_OK)
        compare_repeated_metadata(client, request);
    size_t had = trace->metadata.n;
    if (status == TTR_OK && request->left)
        status = append_answer_bytes(client, request,
                                     trace->received < had ? NULL : &trace->metadata, error);
    trace->received += trace->metadata.n - had;
    if (status == TTR_OK)
        trace->is_asked = false;
    return status;
}

static ttr_status parse_detach_answer(struct live_client *client)
{
    struct cursor before = live_link_received(&client->link), at = before;
    (void)cursor_u32be(&at);
    if (at.failed)
        return TTR_AGAIN;
    consume_answer_bytes(client, &before, &at);
    return TTR_OK;
}

/* --- Dispatch of answers --- */

static ttr_status parse_one_answer(struct live_client *client, struct live_request *request,
                                   ttr_error *error)
{
    switch (request->command) {
    case LIVE_CONNECT:
        return parse_connect_answer(client, request, error);
    case LIVE_LIST:
        return parse_list_answer(client, request, error);
    case LIVE_CREATE:
        return parse_create_answer(client, request, error);
    case LIVE_ATTACH:
        return parse_attach_answer(client, request, error);
    case LIVE_NEW_STREAMS:
        return parse_new_streams_answer(client, request, error);
    case LIVE_NEXT_INDEX:
        return parse_index_answer(client, request, error);
    case LIVE_PACKET:
        return parse_packet_bytes(client, request, error);
    case LIVE_DETACH:
        return parse_detach_answer(client);
    default:
        return parse_metadata_bytes(client, request, error);
    }
}

static void update_round_trip_time(struct live_client *client, const struct live_request *request)
{
    const uint64_t took = client->now - request->sent_ms;
    if (request->sent_ms && (!client->has_round_trip || took < client->round_trip_ms))
        client->round_trip_ms = took;
    client->has_round_trip |= request->sent_ms != 0;
}

ttr_status live_parse_answers(struct live_client *client, ttr_error *error)
{
    ttr_status result = TTR_AGAIN;
    while (client->requests_n) {
        struct live_request *request = &client->requests[client->requests_first];
        bool is_running = client->phase == LIVE_RUNNING;
        ttr_status status = parse_one_answer(client, request, error);
        if (status != TTR_OK)
            return status == TTR_AGAIN ? result : status;
        result = TTR_OK;
        update_round_trip_time(client, request);
        client->requests_first = (client->requests_first + 1) % LIVE_REQUESTS_MAX;
        client->requests_n--;
        client->link.deadline = 0;
        if (is_running) {
            client->away_since = 0;
            client->dial_after_ms = client->options.poll_ms;
        }
    }
    return result;
}
