/* A viewer of a tracing session: what it asks a relay daemon for, and what it has got so far.
 *
 * The client keeps up to LIVE_CALLS questions under way and never waits: live_client_step moves
 * what can be moved.  Its user takes the metadata of traces and the packets of streams as they
 * become whole, in any order, and decides when they count.
 *
 *   a stream is asked for its next index; an index that is there is followed by its packet, in
 * pieces; then the packet waits for its taker and the next index is asked for only when it was
 * taken.  A stream that has nothing is asked again after `poll_ms`.
 *
 * A connection that is lost is made again (at most `reconnect_ms` are spent on that without an
 * answer): the client attaches at the begin of what the daemon still has and passes over the
 * packets it had before, by their times, so that nothing is lost that is still there and nothing
 * comes twice.  What is not there any more the numbers of packets tell; a stream that is gone is
 * marked so. Streams that were over before are asked to their end again, since the daemon closes a
 * session only when all were. Ownership: sessions, traces and streams are the client's; those
 * marked as done by the user go at the next step. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_CLIENT_H

#include "base/pairmap.h"
#include "formats/ctf/live/live_link.h"
#include "formats/ctf/live/live_protocol.h"
#include "formats/ctf/live/live_url.h"

#define LIVE_CALLS 32u
#define LIVE_STREAMS_MAX 60000u /* at once */
#define LIVE_SESSIONS_MAX 10000u
#define LIVE_PACKET_MAX (UINT64_C(256) << 20) /* bytes */
#define LIVE_METADATA_MAX (UINT64_C(256) << 20)

struct live_trace {
    uint64_t id;
    uint64_t metadata_stream;
    bool has_metadata_stream;
    bool wants_metadata; /* there is some that was not asked for, or not all of it has come */
    bool is_closed;      /* the daemon has no more, and never will */
    bool is_asked;
    uint64_t ask_at;
    struct buffer metadata; /* as it came, all of it */
    uint64_t received;      /* bytes of it in this connection: the first ones are known */
    uint32_t streams;       /* known now */
    bool has_changed;       /* the daemon sent other bytes than before */
    bool is_done;           /* said by the user */
    void *own;              /* the user's */
};

struct live_stream {
    uint64_t id;
    struct live_trace *trace;
    char *name; /* of the channel, zero-terminated */
    size_t name_size;
    bool is_asked, has_index, is_whole;
    uint64_t ask_at;
    struct live_index index;   /* of the packet on its way or whole */
    struct buffer packet;      /* what has come of it */
    bool is_over;              /* there will be no more behind the packet that is whole */
    bool is_closed;            /* the daemon has said so in this connection */
    bool is_gone;              /* over without having said so: something may be missing */
    bool has_beacon;           /* up to that tick nothing will come any more */
    uint64_t beacon, class_id; /* class_id: of the stream class, with index or beacon */
    bool is_listed;            /* in this connection */
    bool skips;                /* until a packet newer than the last one */
    bool has_last;
    uint64_t last_begin, last_end;
    bool is_done; /* said by the user */
    void *own;    /* the user's */
};

struct live_call {
    uint8_t command; /* enum live_command */
    bool is_headed;  /* the first part of the answer was taken */
    uint64_t left;   /* entries or bytes still to come */
    uint64_t id;     /* of the session */
    struct live_trace *trace;
    struct live_stream *stream;
};

struct live_attached {
    uint64_t id;
    bool is_closed, is_asked;
};

enum live_phase {
    LIVE_AWAY = 0, /* between connections */
    LIVE_GREETING,
    LIVE_LISTING,
    LIVE_ATTACHING,
    LIVE_RUNNING,
    LIVE_OVER,  /* the session has ended, or all is listed */
    LIVE_FAILED /* `error` tells */
};

/* Makes connections; NULL with `error`. */
typedef struct socket *(*live_dial)(void *own, ttr_error *error);

/* Told of each session in lists_only mode; false when memory is out. */
typedef bool (*live_list)(void *own, const struct live_session *session);

struct live_options {
    live_dial dial;
    void *dial_own;
    live_list list; /* not NULL: only list sessions */
    void *list_own;
    enum live_seek seek;
    unsigned reconnect_ms; /* 0 = never connect again */
    unsigned limit_ms;     /* for answers, see live_link.h */
    unsigned poll_ms;      /* at most; shorter where the session's live timer is */
};

struct live_client {
    const struct alloc *alloc;
    struct live_url url;
    struct live_options options;
    enum live_phase phase;
    ttr_error error;
    struct live_link link;
    struct live_version version; /* the daemon's */
    uint32_t minor;              /* agreed on */
    struct live_call calls[LIVE_CALLS];
    unsigned calls_first, calls_n;
    struct live_attached *sessions;
    size_t sessions_n, sessions_capacity;
    struct live_trace **traces;
    size_t traces_n, traces_capacity;
    struct live_stream **streams;
    size_t streams_n, streams_capacity;
    struct pairmap known; /* (stream, 0): every stream ever listed, UINT32_MAX = freed since;
                             (trace, 1): those there are */
    size_t turn;          /* whose turn it is to be asked */
    unsigned poll_ms;
    bool wants_streams;   /* the daemon has new ones */
    bool is_attached;     /* was, once */
    bool is_session_gone; /* it was no longer there after a reconnection */
    uint64_t ask_streams_at;
    uint64_t away_since, dial_at;
    unsigned dial_after_ms;      /* at first poll_ms; it doubles */
    struct live_session session; /* the one attached to, without its names */
    uint64_t now;                /* of this step, ms */
    uint64_t bytes;              /* received over all connections */
    uint64_t reconnections, packets_refused;
};

/* Makes a client that connects at its first step. */
void live_client_init(struct live_client *client, const struct alloc *alloc,
                      const struct live_url *url, const struct live_options *options);

/* Moves on without waiting for answers (making a connection waits as long as its dialler does).
 * TTR_OK: something has changed; TTR_AGAIN: nothing did; TTR_END: LIVE_OVER; else the failure,
 * which sticks. */
TTR_MUST ttr_status live_client_step(struct live_client *client, ttr_error *error);

/* Waits until there may be something to do, at most `limit_ms`; ended early by signals. */
void live_client_wait(const struct live_client *client, unsigned limit_ms);

/* The packet of a stream was taken: the next one may come. */
void live_client_took(struct live_stream *stream);

/* True while streams may be on their way that the client does not know of yet. */
static inline bool live_client_expects_streams(const struct live_client *client)
{
    return client->wants_streams || client->phase < LIVE_RUNNING;
}

/* Says goodbye where there is a connection, and frees everything. */
void live_client_free(struct live_client *client);

/* --- Between live_client.c and live_answers.c --- */

/* Takes the answers at hand: TTR_AGAIN where the rest of one is still to come. */
ttr_status live_take_answers(struct live_client *client, ttr_error *error);

/* Puts a question; its answer is expected behind those before it. */
struct live_call *live_ask(struct live_client *client, enum live_command command, uint64_t id);

/* The stream or trace of that id, added when there is none; NULL when memory is out. */
struct live_stream *live_add_stream(struct live_client *client, const struct live_stream_head *head,
                                    struct live_trace *trace);
struct live_trace *live_add_trace(struct live_client *client, uint64_t id);

#endif
