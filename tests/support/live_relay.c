/* See live_relay.h. */
#include "support/live_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STREAMS_MAX = 64, TRACES_MAX = 16, SESSION = 7 };

/* The state of one connection. */
struct talk {
    struct relay *relay;
    const struct relay_fault *fault;
    int fd;
    uint64_t sent;
    bool is_over, was_packet_wrong;
    unsigned served;
    size_t at[STREAMS_MAX]; /* index of the next step, per stream */
    bool is_announced[STREAMS_MAX];
    bool is_hung_up[STREAMS_MAX];
    uint64_t trace[TRACES_MAX]; /* ids of the announced traces */
    size_t traces_n;
    size_t metadata_at; /* pieces sent, over all traces, which are in order */
    bool is_metadata_sent[STREAMS_MAX];
    uint8_t out[1 << 20];
    size_t out_n;
};

static void add(struct talk *talk, const void *bytes, size_t n)
{
    if (n <= sizeof talk->out - talk->out_n) {
        memcpy(talk->out + talk->out_n, bytes, n);
        talk->out_n += n;
    }
}

static void add_number(struct talk *talk, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        add(talk, (uint8_t[]){(uint8_t)(value >> (8 * i))}, 1);
}

static void add_padded(struct talk *talk, const char *text, size_t size)
{
    static const char zeros[4096];
    size_t n = strlen(text);
    add(talk, text, n);
    add(talk, zeros, size - n);
}

static bool read_all(struct talk *talk, uint8_t *to, size_t n)
{
    while (n > 0) {
        ssize_t got = read(talk->fd, to, n);
        if (got <= 0)
            return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static uint64_t number(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

/* Sends the answer, with the fault of this connection. */
static void flush(struct talk *talk)
{
    const struct relay_fault *fault = talk->fault;
    size_t at = 0;
    while (at < talk->out_n && !talk->is_over) {
        size_t n = talk->out_n - at;
        if (fault->drip && n > fault->drip)
            n = fault->drip;
        if (fault->cut_at && fault->cut_at - talk->sent < n)
            n = (size_t)(fault->cut_at - talk->sent);
        if (fault->stall_at && talk->sent + n > fault->stall_at) {
            while (!talk->relay->is_stopping && read(talk->fd, talk->out, sizeof talk->out) > 0)
                continue;
            talk->is_over = true;
            return;
        }
        ssize_t put = n ? send(talk->fd, talk->out + at, n, MSG_NOSIGNAL) : 0;
        if (put < 0)
            talk->is_over = true;
        at += put > 0 ? (size_t)put : 0;
        talk->sent += put > 0 ? (uint64_t)put : 0;
        if (fault->cut_at && talk->sent >= fault->cut_at)
            talk->is_over = true;
    }
    talk->out_n = 0;
}

/* --- Streams --- */

static bool is_news(const struct talk *talk, size_t i)
{
    const struct relay *relay = talk->relay;
    return !talk->is_announced[i] && relay->streams[i].served <= talk->served &&
           i + relay->held_back < relay->streams_n;
}

static bool has_news(const struct talk *talk)
{
    for (size_t i = 0; i < talk->relay->streams_n; i++)
        if (is_news(talk, i))
            return true;
    return false;
}

static uint64_t metadata_stream_of(const struct talk *talk, uint64_t trace)
{
    for (size_t i = 0; i < talk->relay->metadata_n; i++)
        if (talk->relay->metadata[i].trace == trace)
            return talk->relay->metadata[i].stream;
    return 0;
}

static void add_stream(struct talk *talk, uint64_t id, uint64_t trace, bool is_metadata,
                       const char *channel)
{
    add_number(talk, id, 8);
    add_number(talk, trace, 8);
    add_number(talk, is_metadata, 4);
    add_padded(talk, "ust/uid/0/64-bit", 4096);
    add_padded(talk, channel, 255);
}

static bool is_trace_announced(const struct talk *talk, uint64_t trace)
{
    for (size_t i = 0; i < talk->traces_n; i++)
        if (talk->trace[i] == trace)
            return true;
    return false;
}

/* Appends the streams that appeared, and the metadata stream of each new trace. Returns their
 * number. */
static uint32_t announce(struct talk *talk)
{
    const struct relay *relay = talk->relay;
    uint32_t n = 0;
    for (size_t i = 0; i < relay->streams_n; i++) {
        const struct relay_stream *stream = &relay->streams[i];
        if (!is_news(talk, i))
            continue;
        talk->is_announced[i] = true;
        uint64_t metadata = metadata_stream_of(talk, stream->trace);
        if (metadata && !is_trace_announced(talk, stream->trace)) {
            talk->trace[talk->traces_n++] = stream->trace;
            add_stream(talk, metadata, stream->trace, true, "metadata");
            n++;
        }
        add_stream(talk, stream->id, stream->trace, false, stream->channel);
        n++;
    }
    return n;
}

static void put_count(struct talk *talk, size_t place, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        talk->out[place + i] = (uint8_t)(value >> (24 - 8 * i));
}

static void answer_attach(struct talk *talk, const uint8_t *request)
{
    unsigned status = talk->fault->attach_status ? talk->fault->attach_status : 1;
    talk->relay->begins += number(request + 16, 4) == 1;
    add_number(talk, status, 4);
    size_t place = talk->out_n;
    add_number(talk, 0, 4);
    uint32_t n = status == 1 && number(request, 8) == SESSION ? announce(talk) : 0;
    put_count(talk, place, talk->fault->streams_count ? talk->fault->streams_count : n);
}

static bool is_all_over(const struct talk *talk)
{
    for (size_t i = 0; i < talk->relay->streams_n; i++)
        if (!talk->is_hung_up[i])
            return false;
    return true;
}

static void answer_new_streams(struct talk *talk, uint64_t session)
{
    if (!has_news(talk) && is_all_over(talk)) {
        add_number(talk, talk->relay->is_never_closed ? 2 : 4, 4);
        add_number(talk, 0, 4);
        return;
    }
    add_number(talk, 1, 4);
    size_t place = talk->out_n;
    add_number(talk, 0, 4);
    put_count(talk, place, session == SESSION ? announce(talk) : 0);
}

/* --- Metadata --- */

/* Returns the index of the first available and unsent piece of a trace, or `relay->metadata_n`. */
static size_t next_metadata(const struct talk *talk, uint64_t trace)
{
    const struct relay *relay = talk->relay;
    for (size_t i = 0; i < relay->metadata_n; i++)
        if (relay->metadata[i].trace == trace && !talk->is_metadata_sent[i])
            return relay->metadata[i].served <= talk->served ? i : relay->metadata_n;
    return relay->metadata_n;
}

static bool is_trace_over(const struct talk *talk, uint64_t trace)
{
    for (size_t i = 0; i < talk->relay->streams_n; i++)
        if (talk->relay->streams[i].trace == trace && !talk->is_hung_up[i])
            return false;
    return true;
}

static void answer_metadata(struct talk *talk, uint64_t id)
{
    const struct relay *relay = talk->relay;
    uint64_t trace = 0;
    for (size_t i = 0; i < relay->metadata_n; i++)
        if (relay->metadata[i].stream == id)
            trace = relay->metadata[i].trace;
    size_t i = next_metadata(talk, trace);
    if (i == relay->metadata_n) {
        add_number(talk, 0, 8);
        add_number(talk, relay->closes_traces && is_trace_over(talk, trace) ? 3 : 2, 4);
        return;
    }
    talk->is_metadata_sent[i] = true;
    add_number(talk,
               talk->fault->metadata_count ? talk->fault->metadata_count : relay->metadata[i].n, 8);
    add_number(talk, 1, 4);
    const size_t n = relay->metadata[i].n, same = n - (n && talk->fault->changes_metadata);
    if (same)
        add(talk, relay->metadata[i].bytes, same);
    if (same < n)
        add(talk, " ", 1);
}

/* --- Packets --- */

static const struct relay_stream *stream_of(const struct talk *talk, uint64_t id, size_t *place)
{
    for (*place = 0; *place < talk->relay->streams_n; ++*place)
        if (talk->relay->streams[*place].id == id && talk->is_announced[*place])
            return &talk->relay->streams[*place];
    return NULL;
}

static void add_index(struct talk *talk, const struct relay_stream *stream,
                      const struct relay_step *step, uint64_t offset, unsigned status)
{
    uint64_t bits = step && step->kind == RELAY_PACKET ? (uint64_t)step->n * 8 : 0;
    add_number(talk, offset, 8);
    add_number(talk, step && step->claims ? step->claims : bits, 8);
    add_number(talk, bits, 8);
    add_number(talk, step ? step->begin : 0, 8);
    add_number(talk, step ? step->end : 0, 8);
    add_number(talk, 0, 8);
    add_number(talk, stream ? stream->class_id : 0, 8);
    add_number(talk, status, 4);
    bool has_metadata = stream && next_metadata(talk, stream->trace) < talk->relay->metadata_n;
    add_number(talk, (has_metadata ? 1u : 0u) | (has_news(talk) ? 2u : 0u), 4);
}

/* Returns the offset of a packet, as if all packets of the stream were in one file. */
static uint64_t offset_of(const struct relay_stream *stream, size_t step)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < step; i++)
        offset += stream->steps[i].kind == RELAY_PACKET ? stream->steps[i].n : 0;
    return offset;
}

static void answer_index(struct talk *talk, uint64_t id)
{
    static const unsigned statuses[] = {
        [RELAY_PACKET] = 1, [RELAY_BEACON] = 5, [RELAY_RETRY] = 2, [RELAY_ERROR] = 4};
    size_t i;
    const struct relay_stream *stream = stream_of(talk, id, &i);
    if (!stream) {
        add_index(talk, NULL, NULL, 0, 4);
        return;
    }
    if (talk->at[i] == stream->steps_n) {
        talk->is_hung_up[i] |= !stream->stays;
        add_index(talk, stream, NULL, 0, stream->stays ? 2 : 3);
        return;
    }
    const struct relay_step *step = &stream->steps[talk->at[i]++];
    talk->served++;
    talk->is_hung_up[i] |= step->kind == RELAY_ERROR;
    add_index(talk, stream, step, offset_of(stream, talk->at[i] - 1), statuses[step->kind]);
}

static void answer_packet(struct talk *talk, const uint8_t *request)
{
    const struct relay_fault *fault = talk->fault;
    size_t place, n = (size_t)number(request + 16, 4);
    const struct relay_stream *stream = stream_of(talk, number(request, 8), &place);
    uint64_t offset = number(request + 8, 8);
    if ((fault->packet_status || fault->packet_count) && !talk->was_packet_wrong) {
        talk->was_packet_wrong = true;
        add_number(talk, fault->packet_status ? fault->packet_status : 1, 4);
        add_number(talk, fault->packet_count, 4);
        add_number(talk, fault->packet_flags, 4);
        return;
    }
    n = fault->piece && fault->piece < n ? fault->piece : n;
    uint64_t at = 0, next = 0;
    for (size_t i = 0; stream && i < stream->steps_n; i++) {
        const struct relay_step *step = &stream->steps[i];
        at = next;
        next += step->kind == RELAY_PACKET ? step->n : 0;
        if (step->kind != RELAY_PACKET || offset < at || offset - at >= step->n)
            continue;
        size_t left = step->n - (size_t)(offset - at);
        n = n < left ? n : left;
        add_number(talk, 1, 4);
        add_number(talk, n, 4);
        add_number(talk, 0, 4);
        add(talk, (const uint8_t *)step->bytes + (offset - at), n);
        return;
    }
    add_number(talk, 3, 4);
    add_number(talk, 0, 8);
}

/* --- Conversations --- */

static void answer_list(struct talk *talk)
{
    const struct relay *relay = talk->relay;
    bool has_lengths = relay->minor >= 15;
    add_number(talk, talk->fault->hides_session ? 1 : 2, 4);
    for (unsigned i = talk->fault->hides_session ? 1 : 0; i < 2; i++) {
        bool is_other = i && !relay->has_twin;
        const char *host = is_other ? "elsewhere" : relay->host,
                   *session = is_other ? "other" : relay->session;
        add_number(talk, SESSION + i, 8);
        add_number(talk, relay->timer_us, 4);
        add_number(talk, i, 4);
        add_number(talk, relay->streams_n, 4);
        if (has_lengths) {
            add_number(talk, strlen(host), 4);
            add_number(talk, strlen(session), 4);
            add_number(talk, 0, 4);
        }
        add_padded(talk, host, has_lengths ? strlen(host) : 64);
        add_padded(talk, session, has_lengths ? strlen(session) : 255);
    }
}

static void answer(struct talk *talk, unsigned command, const uint8_t *request)
{
    switch (command) {
    case 1:
        add_number(talk, 99, 8);
        add_number(talk, 2, 4);
        add_number(talk, talk->relay->minor, 4);
        add_number(talk, 1, 4);
        break;
    case 2:
        answer_list(talk);
        break;
    case 3:
        answer_attach(talk, request);
        break;
    case 4:
        answer_index(talk, number(request, 8));
        break;
    case 5:
        answer_packet(talk, request);
        break;
    case 6:
        answer_metadata(talk, number(request, 8));
        break;
    case 7:
        answer_new_streams(talk, number(request, 8));
        break;
    case 9:
        talk->relay->detached++;
        add_number(talk, 1, 4);
        break;
    default:
        add_number(talk, 1, 4);
        break;
    }
}

static void serve(struct talk *talk)
{
    uint8_t head[16], request[64], lost[4096];
    while (!talk->is_over && read_all(talk, head, sizeof head)) {
        uint64_t n = number(head, 8);
        if (n > sizeof request || !read_all(talk, request, (size_t)n))
            return;
        if (talk->fault->loses_requests)
            (void)recv(talk->fd, lost, sizeof lost, MSG_DONTWAIT);
        if (talk->fault->instead) {
            add(talk, talk->fault->instead, talk->fault->instead_n);
            flush(talk);
            talk->is_over = true;
        }
        answer(talk, (unsigned)number(head + 8, 4), request);
        struct pollfd more = {.fd = talk->fd, .events = POLLIN};
        if (!talk->fault->pause_ms || poll(&more, 1, talk->fault->pause_ms) <= 0)
            flush(talk);
    }
}

static void *run(void *ctx)
{
    struct relay *relay = ctx;
    struct talk *talk = calloc(1, sizeof *talk);
    for (int fd; talk && (fd = accept(relay->listener, NULL, NULL)) >= 0 && !relay->is_stopping;
         (void)close(fd)) {
        unsigned i = relay->connections++;
        memset(talk, 0, offsetof(struct talk, out));
        talk->out_n = 0;
        talk->relay = relay;
        talk->fault = &relay->fault[i < RELAY_CONNECTIONS ? i : RELAY_CONNECTIONS - 1];
        talk->fd = fd;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        serve(talk);
    }
    free(talk);
    return NULL;
}

static void need(bool is_fine, const char *what)
{
    if (is_fine)
        return;
    perror(what);
    abort();
}

void relay_start(struct relay *relay, char *url, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t address_size = sizeof address;
    relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(relay->listener >= 0 &&
             bind(relay->listener, (struct sockaddr *)&address, sizeof address) == 0,
         "bind");
    need(getsockname(relay->listener, (struct sockaddr *)&address, &address_size) == 0,
         "getsockname");
    need(listen(relay->listener, 16) == 0, "listen");
    relay->port = ntohs(address.sin_port);
    (void)snprintf(url, size, "net://127.0.0.1:%u/host/%s/%s", relay->port, relay->host,
                   relay->session);
    need(pthread_create(&relay->thread, NULL, run, relay) == 0, "pthread_create");
}

void relay_stop(struct relay *relay)
{
    relay->is_stopping = true;
    (void)shutdown(relay->listener, SHUT_RDWR);
    (void)pthread_join(relay->thread, NULL);
    (void)close(relay->listener);
}
