/* Reader of a live session: follows the traces of a relay daemon's session while they are recorded,
 * and merges their events by time.
 *
 *   relay daemon -> live_client     metadata and packets, in any order
 *                -> ctf_live_feed   descriptions, one input (lane) per stream, batches of events
 *                -> ctf_live        k-way merge by a heap of lanes
 *
 * Each live stream is a lane: a reader input (ctf_read.c) over the packets received so far, fed one
 * packet at a time. The merge is correct because of horizons. A lane without events at hand
 * guarantees that no event before its horizon follows; the horizon is the end of its last packet or
 * the tick of its last inactivity beacon. Events up to the least horizon of all empty lanes may be
 * returned.
 *
 * A lane that brings neither events nor beacons within the patience limit is silent (its tracer has
 * stopped). It no longer limits the others; events that it brings later are returned, and counted
 * as late if they are.
 *
 * Packets are downloaded as soon as the daemon has them, since it may discard those of closed
 * streams. They wait in the lane's queue, up to LIVE_AHEAD_BYTES in all lanes.
 *
 * Cost: O(log lanes) per run of events. A call without events returns TTR_AGAIN after about
 * LIVE_SLICE_MS. Only a reconnection to a daemon that does not respond may block longer; the
 * context's progress callback is called meanwhile. Left out: seeking and copying packets.
 *
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H
#define TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H

#include <limits.h>

#include "formats/ctf/live/live_client.h"
#include "formats/ctf/live/live_metadata.h"

#define LIVE_SLICE_MS 100u
#define LIVE_BATCH 256u
/* limit of packets that are downloaded before they are needed; each lane may have one in any case
 */
#define LIVE_AHEAD_BYTES (UINT64_C(16) << 20)
#define LIVE_RECONNECT_MS 30000u
#define LIVE_NO_POLL UINT_MAX /* poll_ms: ask again without a pause */

/* A trace of the session, and its parsed metadata. */
struct live_source {
    struct live_trace *trace;
    struct ctf_trace *ctf;
    struct live_metadata metadata;
    bool is_ready; /* packets can be decoded: the metadata is complete */
    bool is_lost;  /* the metadata is invalid; packets cannot be decoded */
};

/* A packet that waits until its input has finished the previous ones. */
struct live_waiting {
    struct buffer bytes;
    struct live_index index;
};

/* A stream of the session, as an input of the merge. */
struct live_lane {
    struct live_stream *stream;
    struct live_source *source;
    struct input *in;             /* NULL before the first packet */
    uint64_t fed;                 /* bytes of packets that `in` has received */
    struct live_waiting *waiting; /* ring buffer; the first packet is at waiting_first */
    size_t waiting_first, waiting_n, waiting_capacity;
    ttr_batch batch;
    uint32_t at; /* index of the next event of the batch */
    bool has_horizon;
    int64_t horizon;
    bool is_ending;             /* the batch is the last one */
    ttr_event gap;              /* gap event for the losses at the end of a stream that is gone */
    uint64_t seen_ms, quiet_ms; /* time of the last check; time without new data up to it */
    /* at the last check, it had no data, and no request was under way */
    bool was_idle;
    uint64_t beacon;           /* beacon that the horizon is derived from */
    uint64_t class_id, number; /* sort keys of live->lanes */
    size_t heap;               /* the merge's index of the lane in its heap */
};

/* Connection and timeouts of a live reader. A value of 0 selects the default, unless noted. */
struct live_config {
    live_dial dial; /* NULL: TCP to the address in the URL */
    void *dial_own;
    enum live_seek seek;
    unsigned reconnect_ms; /* 0 = never reconnect */
    unsigned limit_ms, poll_ms, patience_ms;
};

/* Address for connections over TCP, and the context with the progress callback for that time. */
struct live_tcp {
    ttr *t;
    struct live_url url;
};

struct live_reader {
    struct ttr_reader base;
    struct live_client client;
    struct live_tcp tcp;
    char *path;               /* the URL as the user wrote it */
    ttr_read_options options; /* options for inputs that are opened later; contains no pointers */
    struct diagnostics notes;
    uint16_t id; /* source id of gaps that belong to no input */
    unsigned patience_ms;
    struct live_lane **file_index; /* in the order of events with equal time */
    size_t lanes_n, lanes_capacity;
    struct live_lane **heap; /* binary heap of lanes that have events, by time of the next event */
    size_t heap_n, heap_capacity;
    ttr_event out[LIVE_BATCH];
    int64_t from, to;       /* time range of the options */
    int64_t returned_until; /* time of the latest event returned */
    bool has_failed;
    /* reported after all events at hand were returned */
    ttr_error failure;
    /* totals of inputs that are closed */
    uint64_t events, lost, lost_packets, gaps, packets, bytes;
    /* size of waiting packets in all lanes */
    uint64_t waiting_bytes;
    uint64_t reconnections_noted, refused_noted;
};

/* --- ctf_live.c --- */

/* Opens a live session, or the list of a daemon's sessions if the URL names none. */
ttr_reader *ctf_open_live(ttr *t, const char *url, const ttr_read_options *options,
                          ttr_error *error);

/* Checks the values of the options for live traces. Also called for other traces, so that
 * wrong values do not go unnoticed. */
TTR_MUST ttr_status ctf_check_live_options(char *const *copies, size_t n, ttr_error *error);

/* Opens a session with another connection and other timeouts, for tests. */
ttr_reader *ctf_open_live_with(ttr *t, const char *url, const struct live_config *how,
                               const ttr_read_options *options, ttr_error *error);

/* --- ctf_live_lanes.c --- */

/* Processes what the client has received: metadata into descriptions, packets into inputs,
 * events into lanes. Also opens and closes lanes. */
TTR_MUST ttr_status live_feed_lanes(struct live_reader *live, ttr_error *error);

/* Frees a lane; adds the counts and diagnostics of its input to those of the reader. */
void live_close_lane(struct live_reader *live, struct live_lane *queue);

/* Frees the parsed metadata of a trace. */
void live_free_source(struct live_reader *live, struct live_trace *trace);

/* Emits a diagnostic of the reader itself. */
void live_note(struct live_reader *live, ttr_severity severity, const char *code,
               const char *format, ...) TTR_PRINTF(4, 5);

/* --- live_connect.c --- */

/* Sets defaults in `how` and initialises a client with them. */
void live_init_client(struct live_client *client, struct live_tcp *tcp,
                      const struct live_config *how, live_list list, void *list_own);

/* Runs the client until the session is attached or all sessions are listed. */
TTR_MUST ttr_status live_run_until_attached(struct live_client *client, const ttr *t,
                                            ttr_error *error);

/* --- live_list.c --- */

/* Adds the attribute "live.session" to a source: the session in babeltrace2's notation.
 * Returns false if memory is out. */
TTR_MUST bool live_add_session(ttr *t, uint16_t source, const char *url,
                               const struct live_session *session);

/* Opens a reader that returns each session of a daemon as one event. */
ttr_reader *live_open_list(ttr *t, const char *path, const struct live_url *url,
                           const struct live_config *how, ttr_error *error);

#endif
