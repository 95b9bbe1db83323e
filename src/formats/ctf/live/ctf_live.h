/* Reader of a live session: reads the traces of a relay daemon's session while they are recorded,
 * and merges their events by time.
 *
 * |  relay daemon -> live_client        metadata and packets, in any order
 * |               -> ctf_live_inputs.c  descriptions, one input per stream, batches of events
 * |               -> ctf_live.c         k-way merge of the inputs by a binary heap
 *
 * Each live stream has an input (ctf_read.c) over the packets received so far, which are appended
 * one at a time. An event may be returned only if no other stream can still deliver an earlier one.
 * Therefore each stream has a horizon: no event before that time will arrive. It is the end of the
 * stream's last packet or the tick of its last inactivity beacon. Events up to the smallest horizon
 * of all inputs without decoded events may be returned.
 *
 * A stream that delivers neither events nor beacons within the patience limit is silent (its tracer
 * has stopped). It no longer delays the others; events that it delivers later are returned, and
 * those that are late are counted.
 *
 * Packets are downloaded as soon as the daemon has them, because it may discard those of closed
 * streams. They wait in the queue of the stream, up to LIVE_AHEAD_BYTES in all streams.
 *
 * Cost: O(log inputs) per event. A call without events returns TTR_AGAIN after about LIVE_SLICE_MS.
 * Only a reconnection to a daemon that does not respond may block longer; the context's progress
 * callback is called meanwhile. Left out: seeking and copying packets.
 *
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H
#define TRACETTA_FORMATS_CTF_LIVE_CTF_LIVE_H

#include <limits.h>

#include "formats/ctf/live/live_client.h"
#include "formats/ctf/live/live_metadata.h"

#define LIVE_SLICE_MS 100u
#define LIVE_BATCH 256u
/* bytes of downloaded packets that may wait to be decoded, in all streams; one packet per stream
 * is always allowed */
#define LIVE_AHEAD_BYTES (UINT64_C(16) << 20)
#define LIVE_RECONNECT_MS 30000u
#define LIVE_NO_POLL UINT_MAX /* poll_ms: send the next request without a pause */

/* A trace of the session with its parsed metadata. */
struct live_source {
    struct live_trace *trace;
    struct ctf_trace *ctf;
    struct live_metadata metadata;
    /* true if the metadata are complete and compiled, so packets of the trace can be decoded */
    bool is_ready;
    /* true if the metadata are invalid or missing, so packets cannot be decoded */
    bool is_lost;
};

/* A received packet that waits until its input has decoded the previous ones. */
struct live_queued_packet {
    struct buffer bytes;
    struct live_index index;
};

/* A stream of the session as an input of the merge. */
struct live_input {
    struct live_stream *stream;
    struct live_source *source;
    /* decoder of the stream's packets; NULL before the first packet */
    struct input *in;
    /* total size in bytes of the packets that were appended to `in` */
    uint64_t fed;
    /* ring buffer of received packets; the first one has the index queued_first */
    struct live_queued_packet *queued;
    size_t queued_first, queued_n, queued_capacity;
    ttr_batch batch;
    uint32_t at; /* index in `batch` of the next event to return */
    bool has_horizon;
    int64_t horizon;
    bool is_ending; /* true if the stream has ended, and `batch` is the last one */
    /* event that reports missing data if the stream ended without notice (is_gone) */
    ttr_event gap;
    /* ms; seen_ms: time of the last check of the stream; quiet_ms: duration without new data up to
     * that check */
    uint64_t seen_ms, quiet_ms;
    /* at the last check, the stream had no data, and no request for its data was pending */
    bool was_idle;
    /* clock tick of the last beacon that proved that no earlier event follows */
    uint64_t beacon;
    /* id and number of the stream, by which live->inputs is sorted */
    uint64_t class_id, number;
    /* position of the input in live->inputs during the merge; orders events of equal time */
    size_t heap;
};

/* Connection and timeouts of a live reader. 0 or NULL selects the default, unless noted. */
struct live_config {
    live_dial dial; /* opens a connection; NULL = TCP to the address in the URL */
    void *dial_ctx;
    enum live_seek seek;
    /* ms in which a lost connection may be restored; 0 = never reconnect */
    unsigned reconnect_ms;
    unsigned limit_ms, poll_ms, patience_ms;
};

/* Argument of the function that opens TCP connections: the address, and the library context with
 * the progress callback. */
struct live_tcp {
    ttr *t;
    struct live_url url;
};

struct live_reader {
    struct ttr_reader base;
    struct live_client client;
    struct live_tcp tcp;
    bool has_unflushed;      /* feed: events were returned since the last TTR_AGAIN */
    struct packet_feed feed; /* peek = NULL: packets come from the client */
    char *path;              /* the URL or address as the user wrote it */
    /* options for inputs that are opened later; pointers in it are NULL */
    ttr_read_options options;
    struct diagnostics notes;
    uint16_t id; /* source id of gap events if the stream never had an input */
    unsigned patience_ms;
    /* all inputs, in the order in which events of equal time are returned */
    struct live_input **inputs;
    size_t inputs_n, inputs_capacity;
    /* binary heap of the inputs that have decoded events, by the time of the next event */
    struct live_input **heap;
    size_t heap_n, heap_capacity;
    ttr_event out[LIVE_BATCH];
    int64_t from, to;       /* first and last time (ns) that the user selected */
    int64_t returned_until; /* time in ns of the latest event returned */
    bool has_failed;
    /* error of the client; returned after all received events */
    ttr_error failure;
    /* sums over the inputs that are closed */
    uint64_t events, lost, lost_packets, gaps, packets, bytes;
    /* size in bytes of all queued packets */
    uint64_t queued_bytes;
    uint64_t reconnections_noted, refused_noted;
};

/* --- Session (ctf_live.c) --- */

/* Opens a live session. If the URL names only a daemon, opens the list of its sessions. Returns
 * NULL with `error` on failure. */
ttr_reader *ctf_open_live(ttr *t, const char *url, const ttr_read_options *options,
                          ttr_error *error);

/* Checks the values of the options for live traces. Also called when a trace of files is opened,
 * so that invalid values are errors there, too. */
TTR_MUST ttr_status ctf_check_live_options(char *const *copies, size_t n, ttr_error *error);

/* Opens a session like ctf_open_live, but with the connection and timeouts in `how`; for tests. */
ttr_reader *ctf_open_live_with(ttr *t, const char *url, const struct live_config *how,
                               const ttr_read_options *options, ttr_error *error);

/* Opens a reader of the packets of a feed (struct format_folder). CTF 1.8 and CTF 2. */
ttr_reader *ctf_open_feed(ttr *t, const char *path, const struct packet_feed *feed,
                          const ttr_read_options *options, ttr_error *error);

/* --- Feed (ctf_live_feed.c) --- */

/* Moves the next packet of the feed to its stream in the client. Waits for one at most limit_ms.
 * Returns TTR_AGAIN without progress. */
TTR_MUST ttr_status live_step_feed(struct live_reader *live, unsigned limit_ms, ttr_error *error);

/* --- Inputs (ctf_live_inputs.c) --- */

/* Processes received data: parses metadata, appends packets to inputs, and decodes a batch for each
 * input without events. Adds inputs for new streams and closes those of ended ones. */
TTR_MUST ttr_status live_update_inputs(struct live_reader *live, ttr_error *error);

/* Closes and frees an input; adds its counts and diagnostics to those of the reader. */
void live_close_input(struct live_reader *live, struct live_input *input);

/* Frees the parsed metadata of a trace. */
void live_free_source(struct live_reader *live, struct live_trace *trace);

/* Adds a diagnostic that belongs to the session, not to one input. */
void live_add_diagnostic(struct live_reader *live, ttr_severity severity, const char *code,
                         const char *format, ...) TTR_PRINTF(4, 5);

/* --- Connection (live_connect.c) --- */

/* Initializes a client with the values of `how`, and with defaults for those that are not set. */
void live_init_client(struct live_client *client, struct live_tcp *tcp,
                      const struct live_config *how, live_list list, void *list_ctx);

/* Runs the client until the session is attached or all sessions are listed. Fails after a time
 * limit, or if the progress callback requests an end. */
TTR_MUST ttr_status live_run_until_attached(struct live_client *client, const ttr *t,
                                            ttr_error *error);

/* --- List of sessions (live_list.c) --- */

/* Adds the attribute "live.session" to a source: the session in babeltrace2's notation.
 * Returns false if memory runs out. */
TTR_MUST bool live_add_session(ttr *t, uint16_t source, const char *url,
                               const struct live_session *session);

/* Opens a reader that returns each session of a daemon as one event. */
ttr_reader *live_open_list(ttr *t, const char *path, const struct live_url *url,
                           const struct live_config *how, ttr_error *error);

#endif
