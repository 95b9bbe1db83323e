/* A byte stream of decompressed bytes over a byte stream of compressed ones. */
#ifndef TRACETTA_IO_STREAM_ZIP_H
#define TRACETTA_IO_STREAM_ZIP_H

#include "io/byte_stream.h"

/* Replaces `*stream` by a stream of its decompressed bytes, for each level of compression found in
 * the first bytes, at most 4. The new stream owns the streams below. Sets `*name` to the outermost
 * compression, or "". Returns false if memory runs out; `*stream` is then valid, too. */
TTR_MUST bool stream_zip_open(const struct alloc *alloc, struct byte_stream **stream,
                              const char **name);

#endif
