/* Client of a relay daemon: sends requests for one session and collects metadata and packets.
 *
 * |  user                         live_client                      relay daemon
 * |  live_client_step ----------> up to LIVE_REQUESTS_MAX requests --->
 * |                               answers, in order                <---
 * |  reads trace->metadata, stream->packet
 * |  live_client_release_packet -> requests the next index
 *
 * The client is a non-blocking state machine: live_client_step sends and receives without waiting,
 * live_client_wait sleeps until more may be possible. Metadata and packets become available in any
 * order; the user decides when they are used.
 *
 * Per stream: request an index; if one is returned, request its packet in blocks of PIECE_BYTES;
 * the complete packet is kept until live_client_release_packet, then the next index is requested. A
 * stream without data is requested again after `poll_ms`.
 *
 * Reconnection: after a lost connection the client connects again, for at most `reconnect_ms`
 * without an answer. It attaches at the start of the data that the daemon still has, and skips
 * packets it already received, by their times. So no data that the daemon still has are lost or
 * returned twice. Other losses show in the packets' sequence numbers; a stream that is no longer
 * listed is marked is_gone. Streams that had already ended are read to their end again, because the
 * daemon closes a session only then.
 *
 * Ownership: the client owns sessions, traces and streams; it frees those that the user marked
 * is_done at the next step. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H

#include "base/pair_map.h"
#include "formats/ctf/live/live_link.h"
#include "formats/ctf/live/live_protocol.h"
#include "formats/ctf/live/live_url.h"

#define LIVE_REQUESTS_MAX 32u
/* ms; a daemon that answers this fast gets one request at a time, since some daemons require
 * that */
#define LIVE_NEAR_MS 5u
#define LIVE_STREAMS_MAX 60000u /* streams that may be open at one time */
#define LIVE_SESSIONS_MAX 10000u
#define LIVE_PACKET_MAX (UINT64_C(256) << 20) /* bytes; larger packets are refused */
#define LIVE_METADATA_MAX (UINT64_C(256) << 20)

struct live_trace {
    uint64_t id;
    uint64_t metadata_stream;
    bool has_metadata_stream;
    /* true if the daemon has metadata that the client has not received yet */
    bool wants_metadata;
    bool is_closed; /* true if the daemon reported that no more metadata follow */
    bool is_asked;
    uint64_t ask_at;
    struct buffer metadata; /* all bytes of metadata received, as sent */
    /* bytes of metadata received in this connection; each connection receives them from the start
     */
    uint64_t received;
    uint32_t streams; /* number of streams of this trace */
    /* true if the metadata after a reconnection differ from those before it */
    bool has_changed;
    bool is_done; /* set by the caller: the client may free the trace */
    void *ctx;    /* data of the caller */
};

struct live_stream {
    uint64_t id;
    struct live_trace *trace;
    char *name; /* "path/channel", zero-terminated */
    size_t name_size;
    bool is_asked, has_index, is_whole;
    uint64_t ask_at;
    struct live_index index; /* index of the packet in `packet`; valid if has_index */
    struct buffer packet;    /* bytes of the packet received so far; complete if is_whole */
    bool is_over;            /* true if no further packets follow */
    /* true if the daemon reported the end of the stream in this connection */
    bool is_closed;
    /* true if the stream ended, but the daemon did not report its end; packets may be missing */
    bool is_gone;
    /* true if an inactivity beacon arrived: all further events are at or after tick `beacon` */
    bool has_beacon;
    uint64_t beacon, class_id; /* class_id: id of the stream class, from the last index or beacon */
    bool is_listed;            /* true if the daemon listed the stream in this connection */
    /* true if the connection is new: skip packets that are not newer than the last one of the
     * previous connection */
    bool skips;
    bool has_last;
    uint64_t last_begin, last_end;
    bool is_done; /* set by the caller: the client may free the stream */
    void *ctx;    /* data of the caller */
};

struct live_request {
    uint8_t command;     /* the request (enum live_command) */
    bool is_head_parsed; /* true if the fixed-size start of the answer was parsed */
    uint64_t left;       /* number of entries or bytes of the answer that were not received yet */
    uint64_t id;         /* id of the session, trace or stream */
    /* time in ms when the request was sent; 0 if other requests were pending, too */
    uint64_t sent_ms;
    struct live_trace *trace;
    struct live_stream *stream;
};

struct live_attached {
    uint64_t id;
    bool is_closed, is_asked, was_attached; /* was_attached: ATTACH was sent */
};

enum live_phase {
    LIVE_AWAY = 0, /* no connection; the next step opens one */
    LIVE_GREETING,
    LIVE_LISTING,
    LIVE_ATTACHING,
    LIVE_RUNNING,
    LIVE_OVER,  /* the session has ended, or all sessions were listed */
    LIVE_FAILED /* permanent failure; `error` has the reason */
};

/* Opens a connection to the daemon. Returns NULL and sets `error` on failure. */
typedef struct socket *(*live_dial)(void *ctx, ttr_error *error);

/* Called for each session in list mode. Returns false if memory runs out. */
typedef bool (*live_list)(void *ctx, const struct live_session *session);

struct live_options {
    live_dial dial;
    void *dial_ctx;
    live_list list; /* if not NULL, the client lists the sessions and does not attach */
    void *list_ctx;
    enum live_seek seek;
    /* ms in which a lost connection may be restored; 0 = never reconnect */
    unsigned reconnect_ms;
    unsigned limit_ms; /* ms to wait for an answer (live_link.h) */
    /* pause between requests; half of the session's live timer period is used if that is shorter */
    unsigned poll_ms;
};

struct live_client {
    const struct alloc *alloc;
    struct live_url url;
    struct live_options options;
    enum live_phase phase;
    ttr_error error;
    struct live_link link;
    struct live_version version; /* protocol version that the daemon announced */
    /* minor protocol version in use: the lower one of daemon and client */
    uint32_t minor;
    struct live_request requests[LIVE_REQUESTS_MAX];
    unsigned requests_first, requests_n;
    /* ms; shortest time from a request to its answer so far; 0 = unknown or less than 1 ms */
    uint64_t round_trip_ms;
    bool has_round_trip;
    struct live_attached *sessions;
    size_t sessions_n, sessions_capacity;
    struct live_trace **traces;
    size_t traces_n, traces_capacity;
    struct live_stream **streams;
    size_t streams_n, streams_capacity;
    /* maps (stream id, 0) to the index in `streams` of every stream ever listed, UINT32_MAX if
     * freed; and (trace id, 1) to the index in `traces` */
    struct pair_map known;
    size_t turn; /* index of the next stream to request data of (round robin) */
    unsigned poll_ms;
    bool wants_streams;   /* true if the daemon announced new streams */
    bool is_attached;     /* true if the session was attached at least once */
    bool is_session_gone; /* after a reconnection, the daemon did not have the session any more */
    uint64_t ask_streams_at;
    uint64_t away_since, dial_at;
    /* ms before the next connection attempt; starts at poll_ms and doubles */
    unsigned dial_after_ms;
    struct live_session session; /* the attached session; its names are not kept */
    uint64_t now;                /* time in ms at the start of this step */
    uint64_t bytes;              /* bytes received in earlier connections */
    uint64_t reconnections, packets_refused;
};

/* Initializes a client. The first live_client_step connects it. */
void live_client_init(struct live_client *client, const struct alloc *alloc,
                      const struct live_url *url, const struct live_options *options);

/* Sends requests and parses answers without waiting; only live_dial may block. Returns TTR_OK
 * after progress, TTR_AGAIN if there was none, TTR_END if the session has ended. Any other status
 * is a permanent failure. */
TTR_MUST ttr_status live_client_step(struct live_client *client, ttr_error *error);

/* Sleeps until data may have arrived, at most `limit_ms`; a signal ends the sleep. */
void live_client_wait(const struct live_client *client, unsigned limit_ms);

/* Releases the packet of a stream, so that the next one is requested. */
void live_client_release_packet(struct live_stream *stream);

/* Returns true if the daemon may have streams that the client does not know yet. */
static inline bool live_client_may_get_streams(const struct live_client *client)
{
    return client->wants_streams || client->phase < LIVE_RUNNING;
}

/* Detaches if there is a connection, and frees everything. */
void live_client_free(struct live_client *client);

/* --- Shared by live_client.c and live_answers.c --- */

/* Parses all complete answers received. Returns TTR_AGAIN if there is none. */
ttr_status live_parse_answers(struct live_client *client, ttr_error *error);

/* Appends a request to the output buffer and to the list of pending requests. The caller has
 * checked that the list has space. Answers arrive in the order of requests. */
struct live_request *live_queue_request(struct live_client *client, enum live_command command,
                                        uint64_t id);

/* Sends the request ATTACH for the next session. Returns false if it was sent for all sessions. */
bool live_attach_next_session(struct live_client *client);

/* Return the stream or trace with that id; add it if it is new. Return NULL if memory runs out. */
struct live_stream *live_add_stream(struct live_client *client, const struct live_stream_head *head,
                                    struct live_trace *trace);
struct live_trace *live_add_trace(struct live_client *client, uint64_t id);

#endif
