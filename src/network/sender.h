/* State of a sender, and the functions that its files share.
 *
 *   sender_folder.c      frames of a trace of several files
 *   sender.c             packets of a byte stream; pace, batches
 *   sender_connection.c  datagrams, and connections that are made again
 *
 * One thread uses all of it. */
#ifndef TRACETTA_NETWORK_SENDER_H
#define TRACETTA_NETWORK_SENDER_H

#include <tracetta/network.h>

#include "network/address.h"
#include "network/packet_framer.h"

#define SENDER_DATAGRAM_MAX 65507u /* limit of UDP over IPv4 */
#define SENDER_PACKET_MAX (UINT64_C(16) << 20)
#define SENDER_PORTS_MAX 8u
#define SENDER_SLICE_MS 100u /* longest wait without a call of options.goes_on */

struct ttr_sender {
    struct alloc alloc;
    ttr_sender_options options;
    struct address address;
    char text[ADDRESS_TEXT_MAX];
    int fd; /* -1 = not connected */
    const struct format *format;
    /* functions for packets of `format`; NULL = the trace is sent byte by byte */
    const struct format_transfer *transfer;
    struct packet_framer framer;
    struct buffer batch;  /* complete packets that are not sent yet */
    struct buffer head;   /* packets that are sent again at intervals, for new receivers */
    size_t head_max;      /* limit of `head` in bytes */
    struct buffer resend; /* last bytes sent over a connection */
    /* local ports of the last connections, so that the receiver finds the trace to continue */
    uint16_t ports[SENDER_PORTS_MAX];
    size_t ports_n;
    uint64_t head_ms;    /* time at which `head` was last sent */
    uint64_t checked_ms; /* time at which the peer was last checked */
    uint64_t epoch_ns;   /* epoch of the packets in `head` */
    uint64_t begin_ns, paced_events;
    uint64_t first_time_ns; /* time of the first event, if has_time */
    bool has_time;
    ttr_sent sent;
};

/* --- sender_connection.c --- */

/* Connects, again and again for options.reconnect_ms if the peer does not answer. */
TTR_MUST ttr_status sender_connect(struct ttr_sender *sender, ttr_error *error);

/* Send the batch. sender_send_stream makes a lost connection again. */
TTR_MUST ttr_status sender_send_stream(struct ttr_sender *sender, ttr_error *error);
TTR_MUST ttr_status sender_send_datagram(struct ttr_sender *sender, ttr_error *error);

/* Waits until a TCP peer has acknowledged all bytes. Makes a lost connection again. */
TTR_MUST ttr_status sender_await_arrival(struct ttr_sender *sender, ttr_error *error);

/* Returns false if options.goes_on requests to stop. */
bool sender_should_continue(const struct ttr_sender *sender);

/* Fails with TTR_AGAIN. */
TTR_MUST ttr_status sender_fail_cancelled(ttr_error *error);

/* --- sender.c --- */

/* Sends a packet when it is due: adds it to the batch, which is sent when it is full. */
TTR_MUST ttr_status sender_send_packet(struct ttr_sender *sender,
                                       const struct framed_packet *packet, ttr_error *error);

/* Sends the packets of the head again. */
TTR_MUST ttr_status sender_repeat_head(struct ttr_sender *sender, ttr_error *error);

#endif
