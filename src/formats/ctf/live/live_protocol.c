/* Encoder of requests and decoder of answers; live_protocol.h shows their bytes. */
#include "formats/ctf/live/live_protocol.h"

#include <string.h>

static void append_u32be(struct buffer *to, uint32_t value)
{
    uint8_t bytes[4];
    store_u32be(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static void append_u64be(struct buffer *to, uint64_t value)
{
    uint8_t bytes[8];
    store_u64be(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static void append_request_head(struct buffer *to, enum live_command command, uint64_t bytes)
{
    append_u64be(to, bytes);
    append_u32be(to, (uint32_t)command);
    append_u32be(to, 0);
}

void live_append_connect(struct buffer *to)
{
    append_request_head(to, LIVE_CONNECT, LIVE_CONNECT_BYTES);
    append_u64be(to, UINT64_MAX);
    append_u32be(to, LIVE_MAJOR);
    append_u32be(to, LIVE_MINOR);
    append_u32be(to, 1);
}

void live_append_list(struct buffer *to)
{
    append_request_head(to, LIVE_LIST, 0);
}

void live_append_create(struct buffer *to)
{
    append_request_head(to, LIVE_CREATE, 0);
}

void live_append_attach(struct buffer *to, uint64_t session, enum live_seek seek)
{
    append_request_head(to, LIVE_ATTACH, 20);
    append_u64be(to, session);
    append_u64be(to, 0);
    append_u32be(to, (uint32_t)seek);
}

void live_append_command_with_id(struct buffer *to, enum live_command command, uint64_t id)
{
    append_request_head(to, command, 8);
    append_u64be(to, id);
}

void live_append_packet_request(struct buffer *to, uint64_t stream, uint64_t offset, uint32_t bytes)
{
    append_request_head(to, LIVE_PACKET, 20);
    append_u64be(to, stream);
    append_u64be(to, offset);
    append_u32be(to, bytes);
}

/* Reads a text that is stored in a fixed number of bytes and ends at the first zero byte. */
static ttr_text read_fixed_text(struct cursor *from, size_t size)
{
    const uint8_t *at = cursor_read_bytes(from, size);
    const uint8_t *zero = at ? memchr(at, 0, size) : NULL;
    if (!at)
        return (ttr_text){"", 0};
    return (ttr_text){(const char *)at, zero ? (size_t)(zero - at) : size};
}

bool live_read_connect(struct cursor *from, struct live_version *version)
{
    (void)cursor_skip(from, 8);
    version->major = cursor_u32be(from);
    version->minor = cursor_u32be(from);
    (void)cursor_skip(from, 4);
    return !from->failed;
}

bool live_read_session(struct cursor *from, uint32_t minor, struct live_session *session,
                       bool *is_bad)
{
    *is_bad = false;
    *session = (struct live_session){.id = cursor_u64be(from)};
    session->timer_us = cursor_u32be(from);
    session->viewers = cursor_u32be(from);
    session->streams = cursor_u32be(from);
    if (minor < LIVE_MINOR_LENGTHS) {
        session->host = read_fixed_text(from, 64);
        session->name = read_fixed_text(from, 255);
        return !from->failed;
    }
    uint32_t host = cursor_u32be(from), name = cursor_u32be(from);
    session->is_ctf2 = cursor_u32be(from) == 1;
    *is_bad = host > LIVE_NAME_MAX || name > LIVE_NAME_MAX;
    if (*is_bad)
        return false;
    session->host = read_fixed_text(from, host);
    session->name = read_fixed_text(from, name);
    return !from->failed;
}

bool live_read_streams(struct cursor *from, struct live_answer_head *head)
{
    *head = (struct live_answer_head){.status = cursor_u32be(from)};
    head->count = cursor_u32be(from);
    return !from->failed;
}

bool live_read_stream(struct cursor *from, struct live_stream_head *stream)
{
    *stream = (struct live_stream_head){.id = cursor_u64be(from)};
    stream->trace = cursor_u64be(from);
    stream->is_metadata = cursor_u32be(from) != 0;
    stream->path = read_fixed_text(from, 4096);
    stream->channel = read_fixed_text(from, 255);
    return !from->failed;
}

bool live_read_index(struct cursor *from, struct live_index *index)
{
    *index = (struct live_index){.offset = cursor_u64be(from)};
    index->packet_bits = cursor_u64be(from);
    index->content_bits = cursor_u64be(from);
    index->begin = cursor_u64be(from);
    index->end = cursor_u64be(from);
    index->discarded = cursor_u64be(from);
    index->class_id = cursor_u64be(from);
    index->status = cursor_u32be(from);
    index->flags = cursor_u32be(from);
    return !from->failed;
}

bool live_read_packet_head(struct cursor *from, struct live_answer_head *head)
{
    *head = (struct live_answer_head){.status = cursor_u32be(from)};
    head->count = cursor_u32be(from);
    head->flags = cursor_u32be(from);
    return !from->failed;
}

bool live_read_metadata_head(struct cursor *from, uint32_t *status, uint64_t *bytes)
{
    *bytes = cursor_u64be(from);
    *status = cursor_u32be(from);
    return !from->failed;
}

const char *live_command_text(enum live_command command)
{
    static const char *const texts[LIVE_COMMAND_COUNT] = {
        [LIVE_CONNECT] = "CONNECT",         [LIVE_LIST] = "LIST",     [LIVE_ATTACH] = "ATTACH",
        [LIVE_NEXT_INDEX] = "NEXT_INDEX",   [LIVE_PACKET] = "PACKET", [LIVE_METADATA] = "METADATA",
        [LIVE_NEW_STREAMS] = "NEW_STREAMS", [LIVE_CREATE] = "CREATE", [LIVE_DETACH] = "DETACH",
    };
    return (unsigned)command < LIVE_COMMAND_COUNT && texts[command] ? texts[command] : "unknown";
}
