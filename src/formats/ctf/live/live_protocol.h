/* LTTng's live protocol, version 2.4 and later: how a viewer reads a session from a relay daemon
 * while it is recorded. This file encodes requests and decodes answers.
 *
 * All numbers are big-endian and packed. The daemon answers in the order of the requests.
 *
 * |  request     [0..7] number of bytes after these 16 | [8..11] command | [12..15] version, 0
 * |
 * |  CONNECT     request  viewer session u64 (all ones), major u32, minor u32, type u32 (1)
 * |              answer   the same, 20 bytes
 * |  LIST        request  empty
 * |              answer   count u32, then the sessions
 * |              session  id u64, live timer u32 (microseconds), viewers u32, streams u32,
 * |                       host name 64 bytes, session name 255 bytes
 * |              from minor 15: ..., length of host name u32, of session name u32,
 * |                       trace format u32, names
 * |  CREATE      request  empty
 * |              answer   status u32
 * |  ATTACH      request  session u64, offset u64 (0), seek u32
 * |              answer   status u32, count u32, streams
 * |              stream   id u64, trace u64, is metadata u32, path 4096 bytes,
 * |                       channel 255 bytes (texts end at the first zero byte)
 * |  NEXT_INDEX  request  stream u64
 * |              answer   offset, packet size, content size (bits), begin, end (ticks), discarded,
 * |                       stream class, all u64; status u32, flags u32
 * |  PACKET      request  stream u64, offset u64, bytes u32
 * |              answer   status u32, bytes u32, flags u32, bytes
 * |  METADATA    request  stream u64
 * |              answer   bytes u64, status u32, bytes
 * |  NEW_STREAMS request  session u64
 * |              answer   status u32, count u32, streams
 * |  DETACH      request  session u64
 * |              answer   status u32
 *
 * An answer to PACKET may be shorter than requested. live_client.h describes the use of the
 * commands. Pure functions; texts in results point into the bytes of the cursor. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_PROTOCOL_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_PROTOCOL_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/cursor.h"

#define LIVE_PORT 5344u
#define LIVE_MAJOR 2u
/* newest minor version of the protocol that the client supports; the lower one of client and
 * daemon is used */
#define LIVE_MINOR 15u
/* first minor version in which names in a session list have lengths */
#define LIVE_MINOR_LENGTHS 15u
#define LIVE_NAME_MAX 4096u /* bytes; maximum length of a name; a longer one is an error */

enum live_command {
    LIVE_CONNECT = 1,
    LIVE_LIST = 2,
    LIVE_ATTACH = 3,
    LIVE_NEXT_INDEX = 4,
    LIVE_PACKET = 5,
    LIVE_METADATA = 6,
    LIVE_NEW_STREAMS = 7,
    LIVE_CREATE = 8,
    LIVE_DETACH = 9,
    LIVE_COMMAND_COUNT = 10
};

enum live_seek { LIVE_SEEK_BEGIN = 1, LIVE_SEEK_NOW = 2 };

/* Status codes in answers. 1 is success for all requests. */
enum { LIVE_OK = 1 };
enum live_attach_status {
    LIVE_ATTACH_ALREADY = 2,
    LIVE_ATTACH_UNKNOWN = 3,
    LIVE_ATTACH_NOT_LIVE = 4,
    LIVE_ATTACH_SEEK = 5,
    LIVE_ATTACH_NOT_CREATED = 6
};
enum live_index_status {
    LIVE_INDEX_RETRY = 2,
    LIVE_INDEX_HUP = 3,
    LIVE_INDEX_ERROR = 4,
    LIVE_INDEX_INACTIVE = 5,
    LIVE_INDEX_EOF = 6
};
enum live_packet_status { LIVE_PACKET_RETRY = 2, LIVE_PACKET_ERROR = 3, LIVE_PACKET_EOF = 4 };
enum live_metadata_status { LIVE_METADATA_NONE = 2, LIVE_METADATA_ERROR = 3 };
enum live_streams_status { LIVE_STREAMS_NONE = 2, LIVE_STREAMS_ERROR = 3, LIVE_STREAMS_HUP = 4 };

/* Flags in answers to NEXT_INDEX and PACKET. */
#define LIVE_NEW_METADATA 1u
#define LIVE_NEW_STREAM 2u

/* bytes; size of each answer, or of its part of fixed size */
enum live_size {
    LIVE_CONNECT_BYTES = 20,
    LIVE_LIST_BYTES = 4,
    LIVE_SESSION_BYTES = 339,
    /* fixed part of a list entry in protocol 2.15 and later */
    LIVE_SESSION_HEAD_BYTES = 32,
    LIVE_STREAMS_BYTES = 8, /* answers to ATTACH and NEW_STREAMS */
    LIVE_STREAM_BYTES = 4371,
    LIVE_INDEX_BYTES = 64,
    LIVE_PACKET_BYTES = 12,
    LIVE_METADATA_BYTES = 12,
    LIVE_STATUS_BYTES = 4 /* answers to CREATE and DETACH */
};

/* --- Encoding of requests: each function appends one to a buffer. If memory runs out, the buffer
 * is marked as failed --- */

void live_append_connect(struct buffer *to);
void live_append_list(struct buffer *to);
void live_append_create(struct buffer *to);
void live_append_attach(struct buffer *to, uint64_t session, enum live_seek seek);

/* Appends a command with one id: of a stream (NEXT_INDEX, METADATA) or a session (NEW_STREAMS,
 * DETACH). */
void live_append_command_with_id(struct buffer *to, enum live_command command, uint64_t id);
void live_append_packet_request(struct buffer *to, uint64_t stream, uint64_t offset,
                                uint32_t bytes);

/* --- Decoding of answers. Functions return false if the cursor ends inside the answer; it may
 * then have moved --- */

struct live_version {
    uint32_t major, minor;
};

struct live_session {
    uint64_t id;
    uint32_t timer_us, viewers, streams;
    bool is_ctf2;
    ttr_text host, name;
};

struct live_stream_head {
    uint64_t id, trace;
    bool is_metadata;
    ttr_text path, channel;
};

struct live_index {
    uint64_t offset, packet_bits, content_bits, begin, end, discarded, class_id;
    uint32_t status, flags;
};

struct live_answer_head {
    uint32_t status, count; /* count: number of streams or bytes that follow */
    uint32_t flags;         /* LIVE_NEW_METADATA, LIVE_NEW_STREAM; only in answers to PACKET */
};

bool live_read_connect(struct cursor *from, struct live_version *version);

/* Decodes one session of a list. Sets *is_bad if the length of a name is invalid. */
bool live_read_session(struct cursor *from, uint32_t minor, struct live_session *session,
                       bool *is_bad);
bool live_read_streams(struct cursor *from, struct live_answer_head *head);
bool live_read_stream(struct cursor *from, struct live_stream_head *stream);
bool live_read_index(struct cursor *from, struct live_index *index);
bool live_read_packet_head(struct cursor *from, struct live_answer_head *head);

/* Decodes the fixed part of an answer to METADATA. *bytes: size of the metadata that follow. */
bool live_read_metadata_head(struct cursor *from, uint32_t *status, uint64_t *bytes);

/* Returns the name of a command for messages, such as "ATTACH". */
const char *live_command_text(enum live_command command);

#endif
