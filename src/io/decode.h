/* A feed read ahead by a thread of its own. */
#ifndef TRACETTA_IO_DECODE_H
#define TRACETTA_IO_DECODE_H

#include "io/feed.h"

/* Starts a thread that reads *feed ahead into a ring of 1 MiB and puts a feed over it that hands
 * that out; `disk` is the raw feed at the bottom, whose waiting must be called off on close.  Where
 * the system gives no thread, *feed stays as it is. False when memory is out; *feed is valid all
 * the same. */
TTR_MUST bool decode_ahead(const struct alloc *alloc, struct feed **feed, struct feed *disk);

#endif
