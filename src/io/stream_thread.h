/* A byte stream that a separate thread reads ahead. */
#ifndef TRACETTA_IO_STREAM_THREAD_H
#define TRACETTA_IO_STREAM_THREAD_H

#include "io/byte_stream.h"

/* Starts a thread that reads `*stream` ahead into a ring of 1 MiB, and replaces `*stream` by a
 * stream that reads from the ring. `disk` is the raw stream below; closing cancels its waiting
 * read. If the system refuses a thread, `*stream` stays unchanged. Returns false if memory runs
 * out;
 * `*stream` is then valid, too. */
TTR_MUST bool stream_thread_open(const struct alloc *alloc, struct byte_stream **stream,
                                 struct byte_stream *disk);

#endif
