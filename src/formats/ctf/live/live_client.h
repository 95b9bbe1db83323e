/* Client of a relay daemon: sends requests for one session and collects metadata and packets.
 *
 *   user                         live_client                      relay daemon
 *   live_client_step ----------> up to LIVE_CALLS requests  --->
 *                                answers, in order          <---
 *   reads trace->metadata, stream->packet
 *   live_client_release_packet ----------> requests the next index
 *
 * The client is a non-blocking state machine: live_client_step does what is possible without
 * waiting, live_client_wait sleeps until more may be possible. Metadata and packets become
 * available in any order; the user decides when they are used.
 *
 * Per stream: request an index; if one is returned, request its packet in pieces of PIECE_BYTES;
 * the complete packet waits until live_client_release_packet, then the next index is requested. A
 * stream without data is asked again after `poll_ms`.
 *
 * Reconnection: after a lost connection the client connects again, for at most `reconnect_ms`
 * without an answer. It attaches at the start of what the daemon still has, and skips packets it
 * already received, by their times. So nothing is lost that the daemon still has, and nothing is
 * returned twice. Losses beyond that show in the packets' sequence numbers; a stream that is no
 * longer listed is marked is_gone. Streams that had already ended are read to their end again,
 * since the daemon closes a session only then.
 *
 * Ownership: the client owns sessions, traces and streams; it frees those that the user marked
 * is_done at the next step. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H

#include "base/pair_map.h"
#include "formats/ctf/live/live_link.h"
#include "formats/ctf/live/live_protocol.h"
#include "formats/ctf/live/live_url.h"

#define LIVE_CALLS 32u
#define LIVE_STREAMS_MAX 60000u /* limit of streams at one time */
#define LIVE_SESSIONS_MAX 10000u
#define LIVE_PACKET_MAX (UINT64_C(256) << 20) /* limit of one packet, in bytes */
#define LIVE_METADATA_MAX (UINT64_C(256) << 20)

struct live_trace {
    uint64_t id;
    uint64_t metadata_stream;
    bool has_metadata_stream;
    bool wants_metadata; /* the daemon has metadata that was not requested or is not complete */
    bool is_closed;      /* the daemon reported that no more metadata follows */
    bool is_asked;
    uint64_t ask_at;
    struct buffer metadata; /* all metadata received, unparsed */
    /* bytes received in this connection; after a reconnection the first ones are repeated */
    uint64_t received;
    uint32_t streams; /* number of known streams */
    bool has_changed; /* after a reconnection the daemon sent different metadata */
    bool is_done;     /* set by the user: may be freed */
    void *ctx;        /* user's data */
};

struct live_stream {
    uint64_t id;
    struct live_trace *trace;
    char *name; /* channel name, zero-terminated */
    size_t name_size;
    bool is_asked, has_index, is_whole;
    uint64_t ask_at;
    struct live_index index;   /* index of the packet being received, or complete */
    struct buffer packet;      /* bytes of the packet received so far */
    bool is_over;              /* no packet follows the complete one */
    bool is_closed;            /* the daemon reported the end in this connection */
    bool is_gone;              /* ended without a report of the daemon: packets may be missing */
    bool has_beacon;           /* no event before tick `beacon` follows */
    uint64_t beacon, class_id; /* class_id: id of the stream class, from an index or a beacon */
    bool is_listed;            /* listed by the daemon in this connection */
    bool skips;                /* skips packets until one is newer than the last one received */
    bool has_last;
    uint64_t last_begin, last_end;
    bool is_done; /* set by the user: may be freed */
    void *ctx;    /* user's data */
};

struct live_call {
    uint8_t command; /* enum live_command */
    bool is_headed;  /* the fixed part of the answer was parsed */
    uint64_t left;   /* entries or bytes of the answer still expected */
    uint64_t id;     /* of the session, trace or stream */
    struct live_trace *trace;
    struct live_stream *stream;
};

struct live_attached {
    uint64_t id;
    bool is_closed, is_asked;
};

enum live_phase {
    LIVE_AWAY = 0, /* not connected */
    LIVE_GREETING,
    LIVE_LISTING,
    LIVE_ATTACHING,
    LIVE_RUNNING,
    LIVE_OVER,  /* the session has ended, or all sessions were listed */
    LIVE_FAILED /* see `error` */
};

/* Opens a connection. Returns NULL and sets `error` on failure. */
typedef struct socket *(*live_dial)(void *ctx, ttr_error *error);

/* Called for each session in list mode. Returns false if memory is out. */
typedef bool (*live_list)(void *ctx, const struct live_session *session);

struct live_options {
    live_dial dial;
    void *dial_own;
    live_list list; /* not NULL: list the sessions and do not attach */
    void *list_own;
    enum live_seek seek;
    unsigned reconnect_ms; /* 0 = never reconnect */
    unsigned limit_ms;     /* limit for an answer, see live_link.h */
    unsigned poll_ms;      /* maximum; the period of the session's live timer is used if shorter */
};

struct live_client {
    const struct alloc *alloc;
    struct live_url url;
    struct live_options options;
    enum live_phase phase;
    ttr_error error;
    struct live_link link;
    struct live_version version; /* protocol version of the daemon */
    uint32_t minor;              /* minor version in use: the lower one of both sides */
    struct live_call calls[LIVE_CALLS];
    unsigned calls_first, calls_n;
    struct live_attached *sessions;
    size_t sessions_n, sessions_capacity;
    struct live_trace **traces;
    size_t traces_n, traces_capacity;
    struct live_stream **streams;
    size_t streams_n, streams_capacity;
    /* (stream, 0): index of every stream ever listed, UINT32_MAX if freed; (trace, 1): index of
     * existing traces */
    struct pair_map known;
    size_t turn; /* index of the next stream to ask (round robin) */
    unsigned poll_ms;
    bool wants_streams;   /* the daemon announced new streams */
    bool is_attached;     /* was attached at least once */
    bool is_session_gone; /* the session no longer existed after a reconnection */
    uint64_t ask_streams_at;
    uint64_t away_since, dial_at;
    unsigned dial_after_ms;      /* delay before the next attempt; starts at poll_ms and doubles */
    struct live_session session; /* the attached session, without its names */
    uint64_t now;                /* time of this step, ms */
    uint64_t bytes;              /* received in all connections */
    uint64_t reconnections, packets_refused;
};

/* Initialises a client. It connects at its first step. */
void live_client_init(struct live_client *client, const struct alloc *alloc,
                      const struct live_url *url, const struct live_options *options);

/* Sends requests and parses answers without waiting for them; only opening a connection may block
 * in its live_dial function. Returns TTR_OK after progress, TTR_AGAIN without, TTR_END in state
 * LIVE_OVER, else the failure, which is permanent. */
TTR_MUST ttr_status live_client_step(struct live_client *client, ttr_error *error);

/* Sleeps until there may be progress, at most `limit_ms`; signals end it early. */
void live_client_wait(const struct live_client *client, unsigned limit_ms);

/* Releases the packet of a stream, so that the next one is requested. */
void live_client_release_packet(struct live_stream *stream);

/* Reports whether the daemon may have streams that the client does not know yet. */
static inline bool live_client_may_get_streams(const struct live_client *client)
{
    return client->wants_streams || client->phase < LIVE_RUNNING;
}

/* Detaches if there is a connection, and frees everything. */
void live_client_free(struct live_client *client);

/* --- Between live_client.c and live_answers.c --- */

/* Parses the answers received. Returns TTR_AGAIN if the last one is incomplete. */
ttr_status live_parse_answers(struct live_client *client, ttr_error *error);

/* Queues a request. Answers arrive in the order of requests. */
struct live_call *live_queue_request(struct live_client *client, enum live_command command,
                                     uint64_t id);

/* Return the stream or trace with that id, adding it if it is new. Return NULL if memory is out. */
struct live_stream *live_add_stream(struct live_client *client, const struct live_stream_head *head,
                                    struct live_trace *trace);
struct live_trace *live_add_trace(struct live_client *client, uint64_t id);

#endif
