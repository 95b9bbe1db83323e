/* Reading a session of a relay daemon while it is recorded: the traces of a live client, decoded
 * like files and merged by time.
 *
 * Each live stream is a lane: an input (ctf_read.c) over the packets that have come, given to it
 * one by one.  What may be told in order is known by horizons: a lane with events at hand has none,
 * a lane without any promises that nothing comes before its horizon, the end of its last packet or
 * the tick of its last beacon of inactivity.  Events up to the earliest horizon are given.  A lane
 * that brings neither events nor beacons for the patience set is silent (its tracer has stopped)
 * and holds nobody back any more; what it brings later is given all the same and counted as late
 * where it is.
 *
 * Packets are taken from the daemon as soon as it has them, which may forget those of streams that
 * are over: they wait here.
 *
 * A call never waits longer than about LIVE_SLICE_MS without an event: TTR_AGAIN then.  Only making
 * a lost connection again may take longer, where nobody answers; the context's watch is asked all
 * the while. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H
#define TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H

#include <limits.h>

#include "formats/ctf/live/live_client.h"
#include "formats/ctf/live/live_metadata.h"

#define LIVE_SLICE_MS 100u
#define LIVE_BATCH 256u
#define LIVE_AHEAD_BYTES \
    (UINT64_C(16)        \
     << 20) /* packets taken before their time has come; each lane may have one in any case */
#define LIVE_RECONNECT_MS 30000u
#define LIVE_NO_POLL UINT_MAX /* poll_ms: ask again at once */

/* A trace of the session. */
struct live_source {
    struct live_trace *trace;
    struct ctf_trace *ctf;
    struct live_metadata metadata;
    bool is_ready; /* its packets can be taken apart */
    bool is_lost;  /* they never can */
};

/* A packet that waits for its input to be through with those before it. */
struct live_waiting {
    struct buffer bytes;
    struct live_index index;
};

/* A stream of the session. */
struct live_lane {
    struct live_stream *stream;
    struct live_source *source;
    struct input *in;             /* NULL before its first packet */
    uint64_t fed;                 /* bytes given to it */
    struct live_waiting *waiting; /* a ring: the first one is at waiting_first */
    size_t waiting_first, waiting_n, waiting_capacity;
    ttr_batch batch;
    uint32_t at; /* next event of the batch */
    bool has_horizon;
    int64_t horizon;
    bool is_ending;             /* the batch is the last one */
    ttr_event gap;              /* what is lost at the end of a stream that is gone */
    uint64_t seen_ms, quiet_ms; /* when it was looked at, how long it has brought nothing since */
    bool was_idle;              /* when it was looked at: it had nothing, and was not being asked */
    uint64_t beacon;            /* the one that the horizon is of */
    uint64_t class_id, number;  /* for the order of lanes */
    size_t heap;                /* the reader's own: its place among lanes with events */
};

/* How to connect and how long to wait; what is 0 is as usual, where nothing else is said. */
struct live_how {
    live_dial dial; /* NULL = over TCP, to where the URL says */
    void *dial_own;
    enum live_seek seek;
    unsigned reconnect_ms; /* 0 = never */
    unsigned limit_ms, poll_ms, patience_ms;
};

/* Where dialling over TCP goes, and whose watch it asks. */
struct live_tcp {
    ttr *t;
    struct live_url url;
};

struct live_reader {
    struct ttr_reader base;
    struct live_client client;
    struct live_tcp tcp;
    char *path;               /* the URL as given */
    ttr_read_options options; /* for inputs to come: no pointers in it */
    struct notes notes;
    uint16_t id; /* as a source: of gaps that belong to no input */
    unsigned patience_ms;
    struct live_lane **lanes; /* in the order in which events of equal time are given */
    size_t lanes_n, lanes_capacity;
    struct live_lane **heap; /* those with events at hand, the earliest first */
    size_t heap_n, heap_capacity;
    ttr_event out[LIVE_BATCH];
    int64_t from, to; /* what is asked for */
    int64_t told;     /* time of the latest event given */
    bool has_failed;
    ttr_error failure;                                         /* told when all at hand is given */
    uint64_t events, lost, lost_packets, gaps, packets, bytes; /* of inputs that are gone */
    uint64_t waiting_bytes;                                    /* of packets, in all lanes */
    uint64_t reconnections_told, refused_told;
};

/* --- ctf_live.c --- */

/* Opens a session, or the list of a daemon's sessions. */
ttr_reader *ctf_open_live(ttr *t, const char *url, const ttr_read_options *options,
                          ttr_error *error);

/* Whether the values of options of live traces are such; those of other traces are asked too, lest
 * a slip goes unseen. */
TTR_MUST ttr_status ctf_check_live_options(char *const *copies, size_t n, ttr_error *error);

/* The same in a way of one's own, for tests. */
ttr_reader *ctf_open_live_with(ttr *t, const char *url, const struct live_how *how,
                               const ttr_read_options *options, ttr_error *error);

/* --- ctf_live_feed.c --- */

/* Takes what the client has got: metadata into descriptions, packets into inputs, events into
 * lanes; makes and ends lanes. */
TTR_MUST ttr_status live_feed(struct live_reader *live, ttr_error *error);

/* Frees a lane; its input's counts and notes become the reader's. */
void live_end_lane(struct live_reader *live, struct live_lane *lane);

/* Frees what was made of a trace. */
void live_drop_source(struct live_reader *live, struct live_trace *trace);

/* A remark of the reader itself. */
void live_note(struct live_reader *live, ttr_severity severity, const char *code,
               const char *format, ...) TTR_PRINTF(4, 5);

/* --- live_dial.c --- */

/* Fills what is 0 in `how` with the usual, and gives a client made so. */
void live_begin_client(struct live_client *client, struct live_tcp *tcp, const struct live_how *how,
                       live_list list, void *list_own);

/* Moves on until the session is attached or all sessions are listed. */
TTR_MUST ttr_status live_await_client(struct live_client *client, const ttr *t, ttr_error *error);

/* --- live_list.c --- */

/* Tells of a session as an attribute of a source: "live.session", in babeltrace2's words.  False
 * when memory is out. */
TTR_MUST bool live_add_session(ttr *t, uint16_t source, const char *url,
                               const struct live_session *session);

/* A reader whose events are the sessions of a daemon. */
ttr_reader *live_open_list(ttr *t, const char *path, const struct live_url *url,
                           const struct live_how *how, ttr_error *error);

#endif
