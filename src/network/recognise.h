/* Recognises the format of a byte stream by its first bytes. */
#ifndef TRACETTA_NETWORK_RECOGNISE_H
#define TRACETTA_NETWORK_RECOGNISE_H

#include "network/packet_framer.h"

/* Number of bytes from which a format must be recognised. */
#define RECOGNISE_MAX 65536u

/* Returns the format with the highest bid for the bytes of a framer; NULL if it is unknown or more
 * bytes are needed. `name` is the name of the stream. */
const struct format *recognise_format(struct packet_framer *framer, const char *name);

#endif
