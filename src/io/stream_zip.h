/* A byte stream of decompressed bytes over a byte stream of compressed ones. */
#ifndef TRACETTA_IO_STREAM_ZIP_H
#define TRACETTA_IO_STREAM_ZIP_H

#include "io/byte_stream.h"

/* Puts a decompression stream over `*stream` for each level of compression found in its first
 * bytes, at most 4. `*stream` becomes the topmost stream, which owns those below. `*name` is the
 * outermost compression, or "". Returns false if memory is out; `*stream` is valid then too. */
TTR_MUST bool stream_zip_open(const struct alloc *alloc, struct byte_stream **stream,
                              const char **name);

#endif
