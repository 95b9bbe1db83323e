/* A feed of decompressed bytes over a feed of compressed ones. */
#ifndef TRACETTA_IO_INFLATE_H
#define TRACETTA_IO_INFLATE_H

#include "io/feed.h"

/* Looks at the first bytes of *feed and, as long as they are compressed (at most 4 levels), puts a
 * decoder over it: *feed is then the uppermost, which owns those below.  `*name` is the outermost
 * compression, or "".  False when memory is out; *feed is valid all the same. */
TTR_MUST bool inflate_over(const struct alloc *alloc, struct feed **feed, const char **name);

#endif
