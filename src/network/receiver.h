/* State of a receiver, and the functions that its files share.
 *
 *   receiver_sockets.c  sockets: listen, accept, datagrams, bytes of connections
 *        | datagram or bytes of a stream, with the peer
 *   remote.c            one sender: packets, losses, queue
 *        | queue of complete packets
 *   remote_counts.c     counts of the source
 *   remote_losses.c     losses of the receiver itself
 *   remote_output.c     files of the source, or the merged trace
 *   remote_frames.c     files of a source that sends frames
 *
 * receiver.c has the public functions and the loop. One thread uses all of it. */
#ifndef TRACETTA_NETWORK_RECEIVER_H
#define TRACETTA_NETWORK_RECEIVER_H

#include <tracetta/network.h>

#include "base/pair_map.h"
#include "network/address.h"
#include "network/bare_packets.h"
#include "network/capture.h"
#include "network/counter_window.h"
#include "network/folder_capture.h"
#include "network/packet_framer.h"

#define RECEIVER_PIECE 65536u        /* bytes read from a connection at a time */
#define RECEIVER_SOURCE_STREAMS 256u /* streams per source of which losses are counted */
#define RECEIVER_HEAD_MAX 65536u     /* bytes of head packets per source */

#define RECEIVER_PORTS_MAX 16u /* ports of earlier connections per source */

/* A socket that receives datagrams or connections. */
struct listener {
    int fd;
    struct address address;
    char text[ADDRESS_TEXT_MAX];
    uint32_t overflow; /* kernel's count of dropped datagrams */
};

struct remote_stream {
    uint32_t id;
    uint32_t merged_id; /* stream in the merged trace */
    struct counter_window window;
    /* counts of events, if has_events: before the first packet, up to the end of the last packet,
     * and in all received packets */
    bool has_first; /* `first_counter` and `first_hash` are those of its first packet */
    uint32_t first_counter, first_hash;
    bool has_events;
    uint64_t events_first, events_end, events_seen;
    bool is_written; /* `written` is valid: the counter of the last event that was written */
    uint32_t written;
};

/* A source: one sender with one epoch of its trace. It is listed in the receiver from its first
 * byte to its end. */
struct remote {
    struct ttr_receiver *receiver;
    const struct format *format; /* NULL until the first bytes of a connection are recognised */
    /* functions for packets of the format; NULL = bytes are stored as they come */
    const struct format_transfer *transfer;
    struct address address;
    uint64_t id; /* unique number of the source in the receiver */
    char peer[ADDRESS_TEXT_MAX];
    int fd;          /* connection; -1 = datagrams, or the connection has ended */
    bool is_stream;  /* the source sends over a connection, not by datagrams */
    bool has_begun;  /* the file exists, or the source is part of the merged trace */
    bool is_blocked; /* a limit was exceeded; the packets of the peer are dropped */
    /* socket_now_ms at which the block ends; 0 = when the peer is silent */
    uint64_t blocked_until_ms;
    unsigned sessions;      /* restarts of the peer since sessions_ms */
    uint64_t sessions_ms;   /* socket_now_ms of the start of the count */
    bool is_ended;          /* remove the source after its queue is written */
    bool is_counted;        /* no stream exceeded RECEIVER_SOURCE_STREAMS: losses of all streams are
                               counted */
    bool is_discarding;     /* after a reconnection: discard events that have arrived */
    uint64_t discard_until; /* value of received.bytes at which discarding ends */
    /* local ports of earlier connections, as the sender reported them */
    uint16_t ports[RECEIVER_PORTS_MAX];
    size_t ports_n;
    uint64_t heard_bytes;        /* framer.received at heard_ms */
    uint64_t begun_ms, heard_ms; /* socket_now_ms of the first and the last bytes */
    struct packet_framer framer; /* splits the bytes of a connection into packets */
    struct buffer queue;         /* complete packets to write */
    size_t queue_at;             /* bytes of the queue that were written */
    uint64_t held_ms;   /* socket_now_ms since when frames wait for earlier ones; 0 = none */
    struct buffer head; /* packets that are repeated at the head of each file */
    struct remote_stream *streams;
    size_t streams_n, streams_capacity;
    struct pair_map stream_index; /* maps (stream id, 0) to an index in `streams` */
    struct capture capture;
    struct packet_losses noted;  /* losses before the current file */
    struct packet_losses stored; /* losses in the losses file of the current folder */
    uint64_t stored_ms;          /* socket_now_ms when that file was written */
    struct bare_packets *bare;   /* state of a sender without frames; NULL = other packets */
    struct folder_capture parts; /* files of a source that sends frames */
    char extension[16];          /* extension of its files, without the dot */
    ttr_received received;
};

struct ttr_receiver {
    struct alloc alloc;
    ttr_receiver_options options;
    char *folder; /* copy of options.folder */
    struct listener *listeners;
    size_t listeners_n;
    struct remote **sources;
    size_t sources_n, sources_capacity;
    unsigned next_number;    /* number in the name of the next source's file */
    uint32_t merged_streams; /* streams of the merged trace */
    bool is_merged_begun;
    uint32_t begun;              /* sources that began since begun_ms */
    uint64_t begun_ms;           /* socket_now_ms of the start of the count */
    uint64_t next_id;            /* id of the next source */
    bool is_feed;                /* packets of frames wait for ttr_receiver_read */
    struct remote *fed;          /* source of the packet that the reader peeked; NULL = none */
    struct part_file *fed_file;  /* main file that the reader peeked; NULL = a packet */
    size_t fed_n;                /* size of the peeked packet in the queue */
    struct buffer fed_bytes;     /* content of the peeked main file */
    bool has_stream_output;      /* the output is the bytes of one source without packets */
    struct address last_refused; /* peer of the last refused datagram, which is reported once */
    /* bytes of the merged trace that its output has not accepted; complete packets but the first */
    struct buffer partial;
    /* sums over the ended sources, and counts that belong to no source */
    ttr_receiver_totals ended;
    ttr_status status; /* status of the first failure */
    ttr_error error;
    uint8_t *datagram;
    /* metadata of packets that come without them, and their format; NULL = none were given */
    struct buffer metadata;
    const struct format *metadata_format;
};

/* --- receiver_sockets.c --- */

/* Opens the socket of an address. */
TTR_MUST ttr_status listener_open(struct listener *listener, const char *text, ttr_error *error);

/* Waits for bytes and passes them to the sources. */
void receiver_poll(struct ttr_receiver *receiver, unsigned limit_ms);

/* --- remote.c --- */

/* Adds a source. Returns NULL, and counts and reports it, if a limit refuses the peer. `fd` is the
 * connection, owned on success; -1 = datagrams. */
struct remote *remote_new(struct ttr_receiver *receiver, const struct address *address, int fd);

void remote_free(struct remote *remote);

/* Processes a datagram of a peer. */
void remote_accept_datagram(struct ttr_receiver *receiver, const struct address *address,
                            const uint8_t *bytes, size_t n);

/* Processes the bytes that a connection has received. Returns the source that has the connection
 * now: a new epoch starts another source, or resumes an earlier one. */
struct remote *remote_accept_bytes(struct remote *remote);

/* Processes the end of a connection. */
void remote_end_connection(struct remote *remote);

/* Ends sources that were silent for too long. */
void remote_check_idle(struct remote *remote, uint64_t now_ms);

/* Returns true if the source sends a trace of several files as frames (file_frame.h). */
static inline bool remote_sends_file_frames(const struct remote *remote)
{
    return remote->transfer == &file_frame_transfer;
}

/* Returns true if the source may receive: its queue has room, or its policy is to drop packets. */
bool remote_has_room(const struct remote *remote);

/* --- remote_counts.c --- */

/* Records the sequence number of a packet in the window of its stream. Returns COUNTER_NEW if the
 * stream is not tracked. */
enum counter_result remote_count_packet(struct remote *remote, const struct packet_facts *facts);

/* Removes a duplicate from the counts: the sender repeated it after a reconnection. */
void remote_uncount_duplicate(struct remote *remote, const struct packet_facts *facts);

/* Returns the index in remote->streams; UINT32_MAX if the stream is not tracked. */
uint32_t remote_find_stream(struct remote *remote, uint32_t id);

/* Sets the counts of losses in remote->received. */
void remote_update_counts(struct remote *remote);

/* Calls the caller's function with the current counts. */
void remote_report(struct remote *remote, ttr_source_stage stage);

/* Adds the counts of a source to the sums. */
void remote_add_to_totals(const struct remote *remote, ttr_receiver_totals *totals);

/* Records the first failure of a receiver. */
void receiver_fail(struct ttr_receiver *receiver, ttr_status status, const ttr_error *error);

/* Returns true if the receiver has, or may have, a reader for packets of frames. */
static inline bool receiver_can_feed(const struct ttr_receiver *receiver)
{
    return receiver->is_feed || (receiver->options.allows_reader && !receiver->is_merged_begun &&
                                 !receiver->has_stream_output && receiver->sources_n < 2);
}

/* --- remote_losses.c --- */

/* Returns the losses since the current file or folder was created. */
struct packet_losses remote_get_losses(const struct remote *remote);

/* Starts counting losses for another file. */
void remote_reset_losses(struct remote *remote);

/* Writes the losses of the current folder to its losses file if they have changed and the last
 * write is at least wait_ms ago. */
void remote_store_losses(struct remote *remote, uint64_t wait_ms);

/* --- remote_output.c --- */

/* time for a final write to an output that accepts nothing */
#define RECEIVER_OUTPUT_WAIT_MS 10000

/* Prepares the output of a source and reports its begin. Returns false after a failure. */
bool remote_open_output(struct remote *remote);

/* Appends to the file what the receiver lost while the file was written. */
void remote_write_losses(struct remote *remote);

/* Adds a complete packet or bytes of a stream to the queue. */
void remote_enqueue(struct remote *remote, const uint8_t *bytes, size_t n);

/* Writes what is queued, as far as the output accepts it; all of it if `is_final`. */
void remote_flush(struct remote *remote, bool is_final);

/* --- remote_frames.c --- */

/* Returns true if another file must start before n bytes are written. */
bool remote_must_rotate(const struct remote *remote, size_t n);

/* Writes the queued packets of frames to their files, in order; all of them if `is_final`. */
TTR_MUST ttr_status remote_flush_frames(struct remote *remote, bool is_final, ttr_error *error);

/* --- remote_output.c --- */

/* Writes the bytes of the merged trace that wait for the output. Returns false if it accepts no
 * more now, or failed. `wait_ms`: time that the output has to accept bytes. */
bool receiver_flush_output(struct ttr_receiver *receiver, int wait_ms);

/* Drops the oldest packets if the queue exceeds its limit. */
void remote_limit_queue(struct remote *remote);

#endif
