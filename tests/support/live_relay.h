/* A relay daemon for tests. It serves a prepared session with the LTTng live protocol, on the
 * loopback, in its own thread, and can imitate the faults of a network or a daemon.
 *
 * It shares no code with the client: answers are encoded here by hand. A stream is a list of steps;
 * each request for its next index consumes one. Streams and metadata can appear later: when the
 * steps served on the connection reach `served`, or when the test lowers `held_back`. */
#ifndef TRACETTA_TESTS_SUPPORT_LIVE_RELAY_H
#define TRACETTA_TESTS_SUPPORT_LIVE_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum relay_step_kind {
    RELAY_PACKET,
    RELAY_BEACON, /* without events up to `end` */
    RELAY_RETRY,
    RELAY_ERROR /* the daemon answers with an error */
};

struct relay_step {
    enum relay_step_kind kind;
    const void *bytes; /* the bytes of the packet */
    size_t n;
    uint64_t begin, end;
    uint64_t claims; /* packet size according to the index, in bits; 0 = the correct size */
};

struct relay_stream {
    uint64_t id, trace, class_id;
    const char *channel;
    const struct relay_step *steps;
    size_t steps_n;
    unsigned served; /* number of steps served when the stream appears */
    bool stays;      /* after the last step: true = answers RETRY, false = HUP */
};

/* A piece of metadata, sent in one answer. */
struct relay_metadata {
    uint64_t trace, stream;
    const void *bytes;
    size_t n;
    unsigned served;
};

/* The faults of one connection. */
struct relay_fault {
    uint64_t cut_at;     /* closes the connection after that many bytes; 0 = never */
    uint64_t stall_at;   /* stops sending after that many bytes; 0 = never */
    const void *instead; /* bytes that replace the first answer */
    size_t instead_n;
    unsigned attach_status; /* status of the answer to ATTACH; 0 = the correct one */
    bool hides_session;     /* the list of sessions is empty */
    size_t piece;           /* packet bytes per answer at most; 0 = no limit */
    int pause_ms;           /* answers only after no request came for this time, in ms */
    size_t drip;            /* bytes per write; 0 = no limit */
    unsigned packet_status; /* status of the first answer to PACKET; 0 = the correct one */
    unsigned packet_flags;
    /* bytes that the first answer to PACKET declares; 0 = the correct number */
    uint32_t packet_count;
    uint64_t metadata_count; /* the same for METADATA */
    bool changes_metadata;   /* the last byte of each piece is changed */
    uint32_t streams_count;  /* the same for ATTACH, in streams */
    /* handles one request per receive: loses requests that arrive together with another one */
    bool loses_requests;
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
    bool has_twin; /* lists a second session of the same name, without streams */
    /* reports the metadata of a trace as closed when its streams have ended */
    bool closes_traces;
    bool is_never_closed; /* answers "no new streams" instead of HUP when all streams have ended */
    /* faults of the 1st, 2nd, ... connection; the last one also applies to later connections */
    struct relay_fault fault[RELAY_CONNECTIONS];
    /* Private members. */
    uint16_t port;
    int listener;
    pthread_t thread;
    _Atomic unsigned
        /* this many of the last streams have not appeared; may change while the daemon runs */
        held_back;
    _Atomic unsigned connections, detached,
        begins; /* begins: number of ATTACH requests that start at the oldest packet */
    _Atomic bool is_stopping;
};

/* Starts the daemon; the caller keeps the relay and all it refers to until relay_stop. Writes
 * "net://127.0.0.1:PORT/host/HOST/SESSION" to `url`. */
void relay_start(struct relay *relay, char *url, size_t size);

/* Ends the thread. Clients must have closed their connections. */
void relay_stop(struct relay *relay);

#endif
