/* Receiving and sending traces over a network.
 *
 * A receiver listens on UDP, TCP and Unix sockets and stores the packets of every sender as they
 * came.  Order of calls: ttr_receiver_open, ttr_receiver_step until the caller wants to stop,
 * ttr_receiver_close.
 *
 * Addresses: "udp:HOST:PORT", "tcp:HOST:PORT", "unix:PATH".  HOST may be empty: the loopback
 * interface.  IPv6 addresses are in brackets.  Port 0 selects a free port.  Nothing is encrypted
 * and any peer may connect: use an address that only trusted peers reach, or a tunnel.
 *
 * A source is one sender: a peer address and the epoch of its trace.  A sender that restarts is a
 * new source.  A sender that reconnects from the same host with the same epoch stays one source.
 *
 * By UDP, packets of CTF 1.8 and 2 may also come bare, as any tracer makes them: they start with
 * the magic number and declare their size. Their metadata come as datagrams, before or between the
 * packets, or are known before. Numbers of packets (packet_seq_num) show losses: `lost_packets`.
 *
 * Losses are three numbers of different causes.  `lost`: numbers that are missing among the event
 * counters of a stream.  `kernel_drops`: datagrams that the kernel dropped because the receiver was
 * too slow.  `dropped`: packets that a full queue dropped.  The last two also make counters of
 * the stored trace incomplete, so that its reader emits gap events.
 *
 * Ownership: the caller frees a receiver by ttr_receiver_close; texts are borrowed until the next
 * call.  Threads: one thread at a time uses a receiver. */
#ifndef TRACETTA_NETWORK_H
#define TRACETTA_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "advanced.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_receiver ttr_receiver;

/* The action if the packets of a source arrive faster than they can be written. */
typedef enum ttr_queue_policy {
    TTR_QUEUE_AUTO = 0, /* connections wait, datagrams are dropped */
    TTR_QUEUE_DROP = 1, /* the oldest packets are dropped and counted */
    TTR_QUEUE_WAIT = 2  /* reading stops until the queue has room */
} ttr_queue_policy;

/* One sender, for the callback of ttr_receiver_options. */
typedef struct ttr_received {
    size_t size;
    const char *peer;   /* "udp:127.0.0.1:40000" */
    const char *format; /* "heph" */
    const char *path;   /* last file; "" = none */
    bool is_packets;    /* the format has packets: the counts of packets and events are valid */
    bool has_epoch;
    /* no counter of a stream restarted, all streams were tracked, and CTF has its metadata */
    bool is_complete;
    uint64_t epoch_ns; /* Unix time of the trace's time 0, in ns, if has_epoch */
    uint64_t bytes, packets, events;
    uint64_t lost;         /* events missing between the first and the last of a stream */
    uint64_t lost_packets; /* packets with these events; 0 if each packet is one event */
    uint64_t before_first; /* counters before the first: lost, or sent before listening began */
    uint64_t late;         /* packets that arrived after later packets of their stream */
    uint64_t duplicates;   /* packets with a counter that has already arrived */
    uint64_t dropped, dropped_events; /* packets and events that the full queue dropped */
    uint64_t garbage;                 /* bytes that are no packet */
    uint64_t files;                   /* number of files written */
    uint64_t resumed;                 /* number of reconnections */
    const char *reason;               /* why the source was refused (TTR_SOURCE_REFUSED), else "" */
    /* packets without a number of events, which `events` lacks: CTF of other senders */
    uint64_t uncounted_packets;
} ttr_received;

/* Sums over all sources, and counts that belong to no source. */
typedef struct ttr_receiver_totals {
    size_t size;
    uint64_t sources, bytes, packets, events;
    uint64_t lost, lost_packets, before_first, late, duplicates;
    uint64_t kernel_drops; /* datagrams that the kernel dropped */
    uint64_t dropped, dropped_events;
    uint64_t garbage;           /* bytes that are no packet, of all sources */
    uint64_t garbage_datagrams; /* datagrams that do not start with a packet */
    uint64_t refused;           /* senders refused by a limit, and connections without a trace */
    uint64_t refused_packets;   /* packets of senders that exceeded sessions_max or begun_max */
    uint64_t cut_off;           /* connections closed because they were silent or hostile */
    uint64_t uncounted_packets; /* packets without a number of events, which `events` lacks */
} ttr_receiver_totals;

typedef enum ttr_source_stage {
    TTR_SOURCE_BEGUN = 0,  /* the first packet arrived, and the file exists */
    TTR_SOURCE_ENDED = 1,  /* the file is complete */
    TTR_SOURCE_REFUSED = 2 /* `received` has only the peer and the reason */
} ttr_source_stage;

typedef struct ttr_receiver_options {
    size_t size;
    const char *const *addresses; /* at least one */
    size_t addresses_n;
    /* folder with one file per source; created if it is missing.  NULL = use `output`. */
    const char *folder;
    /* descriptor for one merged trace of all sources, times relative to 1970; borrowed.  Formats
     * without packets are refused, unless allows_stream is set.  A closed pipe raises SIGPIPE
     * unless the program ignores it. */
    int output;
    uint64_t rotate_bytes;   /* size at which another file starts; 0 = never */
    uint64_t rotate_ms;      /* age at which another file starts; 0 = never */
    uint64_t queue_bytes;    /* per source; 0 = 4 MiB */
    ttr_queue_policy policy; /* applies if the queue of a source is full */
    uint64_t packet_max;     /* bytes of a packet; 0 = 4 MiB */
    uint32_t sources_max;    /* sources at the same time; 0 = 64 */
    uint32_t sessions_max;   /* restarts of one peer per minute; 0 = 64 */
    uint32_t begun_max; /* sources that begin per minute, of all peers; 0 = 16 * sessions_max */
    /* with `output`: the first source may be of a format without packets; its bytes are the output,
     * and all other sources are refused */
    bool allows_stream;
    /* with `output`: the first source may send CTF packets, which only ttr_receiver_read returns */
    bool allows_reader;
    uint64_t idle_ms; /* silence after which a source ends; 0 = one minute */
    /* file with the metadata of CTF packets that come without them, one or more per datagram; NULL
     * = they arrive as datagrams, too */
    const char *metadata;
    int wake_fd; /* a descriptor that ends a step when it is readable; -1 = none */
    void (*source)(void *user_data, ttr_source_stage stage, const ttr_received *received);
    void *user_data;
} ttr_receiver_options;

/* Opens all sockets.  Returns NULL with `error`: TTR_E_MISUSE for an address that cannot be parsed,
 * TTR_E_IO if a socket or the folder cannot be made, or the metadata cannot be read, else as
 * ttr_open if they are invalid. */
TTR_API ttr_receiver *ttr_receiver_open(const ttr_receiver_options *options, ttr_error *error);

/* Returns the i-th address with the port that is in use; NULL after the last. */
TTR_API const char *ttr_receiver_address(const ttr_receiver *receiver, size_t i);

/* Receives and stores for at most `limit_ms`; returns earlier after each group of packets.  Fails
 * with TTR_E_IO if a file cannot be written; its complete packets stay. */
TTR_MUST TTR_API ttr_status ttr_receiver_step(ttr_receiver *receiver, unsigned limit_ms,
                                              ttr_error *error);

/* Returns true once a source sends packets that ttr_receiver_read returns. */
TTR_API bool ttr_receiver_is_readable(const ttr_receiver *receiver);

/* Opens a reader of the events of all sources, as they arrive: ttr_read returns TTR_AGAIN if it
 * has none now. The receiver must stay open until the reader is closed. Returns NULL with `error`:
 * TTR_E_MISUSE if the receiver is not readable. */
TTR_API ttr_reader *ttr_receiver_read(ttr_receiver *receiver, ttr *t,
                                      const ttr_read_options *options, ttr_error *error);

/* Copies the sums so far. */
TTR_API void ttr_receiver_sum(const ttr_receiver *receiver, ttr_receiver_totals *totals);

/* Writes what is queued, ends all sources, closes the sockets and frees the receiver.  `totals` may
 * be NULL.  Frees the receiver even on failure.  NULL is allowed. */
TTR_API ttr_status ttr_receiver_close(ttr_receiver *receiver, ttr_receiver_totals *totals,
                                      ttr_error *error);

/* --- Sending --- */

/* Sends one trace: the bytes of its file, or a folder.  Heph packets and CTF packets go by UDP, TCP
 * and Unix sockets, other formats by TCP and Unix sockets. */
typedef struct ttr_sender ttr_sender;

typedef struct ttr_sender_options {
    size_t size;
    const char *address;
    uint32_t datagram_bytes;    /* bytes of packets per datagram; 0 = 1400 */
    uint64_t events_per_second; /* limit of the rate; 0 = none */
    bool is_realtime;           /* send each event at its distance from the first one */
    uint64_t reconnect_ms;      /* time for connecting, also again; 0 = 30 seconds */
    /* Called several times per second while the sender waits; returning false cancels.  May be
     * NULL. */
    bool (*goes_on)(void *user_data);
    void *user_data;
} ttr_sender_options;

typedef struct ttr_sent {
    size_t size;
    uint64_t bytes, packets, events, datagrams;
    uint64_t oversized; /* packets above a datagram's size, or 16 MiB by a connection: not sent */
    uint64_t skipped;   /* bytes that are no packet and were not sent */
    uint64_t refused;   /* datagrams that no process received, as far as reported */
    uint64_t reconnections; /* the connection was made again; the last 4 MiB were repeated */
} ttr_sent;

/* Returns NULL with `error`: TTR_E_MISUSE for a wrong address.  Connects with the first bytes. */
TTR_API ttr_sender *ttr_sender_open(const ttr_sender_options *options, ttr_error *error);

/* Sends the next bytes of the trace, in pieces of any size.  Fails with TTR_E_UNSUPPORTED if the
 * format is unknown or does not suit the transport, TTR_E_IO if the connection cannot be made
 * again, TTR_AGAIN if goes_on cancelled it. */
TTR_MUST TTR_API ttr_status ttr_sender_write(ttr_sender *sender, const void *bytes, size_t n,
                                             ttr_error *error);

/* Sends all files of a trace of several files (CTF) as frames, which docs/user/network.md
 * describes. By UDP the metadata are repeated every second, and larger packets than a datagram are
 * counted and not sent.  Call it once instead of ttr_sender_write.  Fails like ttr_open if the
 * trace cannot be read, TTR_E_UNSUPPORTED if it is of another format, else like ttr_sender_write.
 */
TTR_MUST TTR_API ttr_status ttr_sender_send_folder(ttr_sender *sender, const char *path,
                                                   ttr_error *error);

/* Sends packets that wait for others to share a datagram. */
TTR_MUST TTR_API ttr_status ttr_sender_flush(ttr_sender *sender, ttr_error *error);

/* Sends the rest if `is_complete`, and frees the sender, even on failure.  `sent` may be NULL.
 * A NULL sender is allowed. */
TTR_API ttr_status ttr_sender_close(ttr_sender *sender, bool is_complete, ttr_sent *sent,
                                    ttr_error *error);

#ifdef __cplusplus
}
#endif

#endif
