/* Splits a byte stream into packets of one format. Bytes that are no packet are skipped up to the
 * next valid packet. Memory is limited to the maximum packet and one piece. */
#ifndef TRACETTA_NETWORK_PACKET_FRAMER_H
#define TRACETTA_NETWORK_PACKET_FRAMER_H

#include "base/buffer.h"
#include "model/format.h"

enum framer_result {
    FRAMER_PACKET,     /* *packet is the next packet */
    FRAMER_NEEDS_MORE, /* no packet is complete */
    FRAMER_HOSTILE /* the search for a packet exceeds its limit, as in input made to slow a receiver
                      down */
};

struct framed_packet {
    const uint8_t *bytes; /* valid until the next call */
    size_t n;
    struct packet_facts facts;
};

struct packet_framer {
    const struct format_transfer *format;
    uint64_t packet_max;
    struct buffer buffer;
    size_t at;      /* index in the buffer of the first byte that was not consumed */
    size_t checked; /* while is_lost: number of bytes from `at` on at which no packet starts */
    bool is_lost;   /* bytes were skipped, and no packet has been found yet */
    bool is_ended;  /* no more bytes follow */
    uint64_t received, work; /* bytes received, and bytes examined while lost */
    uint64_t garbage;        /* number of bytes skipped */
};

void packet_framer_init(struct packet_framer *framer, const struct alloc *alloc,
                        const struct format_transfer *format, uint64_t packet_max);
void packet_framer_free(struct packet_framer *framer);

/* Returns an address with room for `n` more bytes; NULL if memory runs out. */
uint8_t *packet_framer_room(struct packet_framer *framer, size_t n);

/* Adds bytes that were stored at packet_framer_room. */
void packet_framer_commit(struct packet_framer *framer, size_t n);

/* Returns the next packet. Call it until it returns another result. */
enum framer_result packet_framer_next(struct packet_framer *framer, struct framed_packet *packet);

#endif
