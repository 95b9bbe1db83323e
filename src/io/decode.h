/* A byte stream that is read ahead by a thread of its own. */
#ifndef TRACETTA_IO_DECODE_H
#define TRACETTA_IO_DECODE_H

#include "io/feed.h"

/* Starts a thread that reads `*feed` ahead into a ring of 1 MiB, and replaces `*feed` by a stream
 * that reads from the ring. `disk` is the raw stream at the bottom, whose waiting must be cancelled
 * on close. If the system refuses a thread, `*feed` stays unchanged. Returns false if memory is
 * out; `*feed` is valid then too. */
TTR_MUST bool decode_ahead(const struct alloc *alloc, struct feed **feed, struct feed *disk);

#endif
