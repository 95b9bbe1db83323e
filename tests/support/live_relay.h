/* A relay daemon for tests: serves a session that is written down beforehand over the protocol of
 * LTTng live, on the loopback, from a thread of its own; and does what a bad network or a bad
 * daemon would, when told to.
 *
 * It shares no code with the client: bytes are put together here by hand.  What a stream has is a
 * list of steps; each question for its next index takes one.  Things that appear later do so when
 * `served` steps of all streams together were taken in the connection, or when the test says so
 * (`held_back`). */
#ifndef TRACETTA_TESTS_SUPPORT_LIVE_RELAY_H
#define TRACETTA_TESTS_SUPPORT_LIVE_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum relay_step_kind {
    RELAY_PACKET,
    RELAY_BEACON, /* nothing up to `end` */
    RELAY_RETRY,
    RELAY_ERROR /* the stream is refused */
};

struct relay_step {
    enum relay_step_kind kind;
    const void *bytes; /* of a packet */
    size_t n;
    uint64_t begin, end;
    uint64_t claims; /* not 0: what the index says the packet has, in bits */
};

struct relay_stream {
    uint64_t id, trace, class_id;
    const char *channel;
    const struct relay_step *steps;
    size_t steps_n;
    unsigned served; /* appears then */
    bool stays;      /* answers RETRY behind its last step, else HUP */
};

/* A piece of metadata, as it is sent at once. */
struct relay_metadata {
    uint64_t trace, stream;
    const void *bytes;
    size_t n;
    unsigned served;
};

/* What goes wrong in one connection. */
struct relay_fault {
    uint64_t cut_at;     /* closes after that many bytes sent; 0 = never */
    uint64_t stall_at;   /* sends nothing more after that many */
    const void *instead; /* sent in place of the first answer */
    size_t instead_n;
    unsigned attach_status; /* not 0: answer to ATTACH */
    bool hides_session;     /* lists none */
    size_t piece;           /* at most so many bytes of a packet in an answer; 0 = any */
    int pause_ms;           /* answers when no question has come for so long */
    size_t drip;            /* sends in writes of so many bytes; 0 = any */
    unsigned packet_status; /* not 0: answer to the first PACKET */
    unsigned packet_flags;
    uint32_t packet_count;   /* not 0: what the first answer to PACKET says it has */
    uint64_t metadata_count; /* not 0: likewise METADATA */
    bool changes_metadata;   /* another byte ends each piece */
    uint32_t streams_count;  /* not 0: likewise ATTACH */
};

#define RELAY_CONNECTIONS 8

struct relay {
    uint32_t minor;
    const char *host, *session;
    uint32_t timer_us;
    const struct relay_stream *streams;
    size_t streams_n;
    const struct relay_metadata *metadata;
    size_t metadata_n;
    bool has_twin;        /* a second session of the same name, without streams */
    bool closes_traces;   /* says so of the metadata of one whose streams are all over */
    bool is_never_closed; /* says that there are no new streams, not HUP, when all are over */
    struct relay_fault fault[RELAY_CONNECTIONS]; /* of the 1st, 2nd, ... connection; the last one is
                                                    for all behind it too */
    /* Its own. */
    uint16_t port;
    int listener;
    pthread_t thread;
    _Atomic unsigned
        held_back; /* the last so many streams are not there yet; may be changed while it serves */
    _Atomic unsigned connections, detached,
        begins; /* begins: attachments that asked for the begin */
    _Atomic bool is_stopping;
};

/* Begins to serve; the relay and what it points to must stay.  Writes
 * "net://127.0.0.1:PORT/host/HOST/SESSION". */
void relay_start(struct relay *relay, char *url, size_t size);

/* Ends the thread; clients have closed their connections before. */
void relay_stop(struct relay *relay);

#endif
