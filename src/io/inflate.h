/* A byte stream of decompressed bytes over a byte stream of compressed ones. */
#ifndef TRACETTA_IO_INFLATE_H
#define TRACETTA_IO_INFLATE_H

#include "io/feed.h"

/* Puts a decompression stream over `*feed` for each level of compression found in its first bytes,
 * at most 4. `*feed` becomes the topmost stream, which owns those below. `*name` is the outermost
 * compression, or "". Returns false if memory is out; `*feed` is valid then too. */
TTR_MUST bool inflate_over(const struct alloc *alloc, struct feed **feed, const char **name);

#endif
