/* Recognition of the format of a datagram or a byte stream by its first bytes. */
#ifndef TRACETTA_NETWORK_RECOGNISE_H
#define TRACETTA_NETWORK_RECOGNISE_H

#include "network/packet_framer.h"

#define RECOGNISE_MAX 65536u /* bytes after which an unknown format is given up */

/* Returns the format of the packets that `bytes` start with, and sets *transfer to the functions
 * for these packets. Returns NULL if no packet starts there that may be sent as a datagram. */
const struct format *recognise_packets(const uint8_t *bytes, size_t n, uint64_t packet_max,
                                       const struct format_transfer **transfer);

/* Returns the format of the bytes in a framer; NULL if it is unknown, or if more bytes are needed.
 * Sets *transfer as recognise_packets; NULL = the format has no packets. `name` is for bids. */
const struct format *recognise_format(struct packet_framer *framer, const char *name,
                                      const struct format_transfer **transfer);

#endif
