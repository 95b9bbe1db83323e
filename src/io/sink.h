/* Output: regular files appear completely or not at all, anything else is written directly.
 *
 * A regular file is written under a temporary name next to its target, and renamed by sink_finish;
 * sink_abandon removes it. "-" is standard output. Existing devices, FIFOs and sockets are opened
 * and written directly. After a failed write all later calls fail with the same error. Writes are
 * buffered (256 KiB); those of 8 KiB and more bypass the buffer. Interrupted and short writes are
 * continued. A replaced file keeps its mode, and a link to it stays a link. If the program ignores
 * SIGPIPE, a closed pipe is TTR_E_IO with EPIPE. Threads: one thread at a time. */
#ifndef TRACETTA_IO_SINK_H
#define TRACETTA_IO_SINK_H

#include <stdbool.h>

#include "base/alloc.h"

struct sink;

/* Returns advice for an errno of a failed write, to be printed after the path: " (free some space
 * ...)". Returns "" if there is none. */
const char *sink_error_advice(int reason);

/* Writes up to n bytes. Returns the count (> 0), or -1 with errno set. */
typedef int64_t (*sink_write_fn)(void *ctx, const void *bytes, size_t n);

/* Opens a path for writing; "-" and "/dev/stdout" are standard output. An existing regular file is
 * refused (TTR_E_IO with EEXIST) unless `overwrite`, a directory always. Returns NULL with `error`
 * on failure. */
struct sink *sink_open(const struct alloc *alloc, const char *path, bool overwrite,
                       ttr_error *error);
struct sink *sink_open_callback(const struct alloc *alloc, sink_write_fn push, void *ctx,
                                ttr_error *error);

/* Callbacks of a sink that writes one file of an output folder (io/folder_sink.c). */
struct sink_part {
    sink_write_fn push;
    int (*rewrite)(void *ctx, uint64_t at, const void *bytes,
                   size_t n); /* overwrites bytes; returns 0 or an errno; NULL = not supported */
    int (*end)(void *ctx,
               /* called once at the end; `is_whole` is false if the output is abandoned; returns 0
                * or the errno of a late failure */
               bool is_whole);
    void *ctx;
    size_t buffer_size;
};

struct sink *sink_open_part(const struct alloc *alloc, const char *name,
                            const struct sink_part *part, ttr_error *error);

TTR_MUST ttr_status sink_write(struct sink *sink, const void *bytes, size_t n, ttr_error *error);

/* Writes the buffered bytes, then these bytes, without copying them to the buffer. For callers with
 * so many files that buffers would need much memory. */
TTR_MUST ttr_status sink_write_unbuffered(struct sink *sink, const void *bytes, size_t n,
                                          ttr_error *error);

/* Writes the buffered bytes to the file now, for live output. */
TTR_MUST ttr_status sink_flush(struct sink *sink, ttr_error *error);

/* Delays all output in an unnamed temporary file until sink_finish, so that any byte of it can be
 * overwritten. Must precede the first write. Does nothing if the sink can be overwritten anyway. */
TTR_MUST ttr_status sink_delay_output(struct sink *sink, ttr_error *error);

/* Returns true if sink_overwrite works: the sink is a regular file that is not renamed yet, its
 * callbacks support it, or sink_delay_output was called. */
bool sink_can_overwrite(const struct sink *sink);

/* Overwrites n bytes that were written before, from offset `at` on. */
TTR_MUST ttr_status sink_overwrite(struct sink *sink, uint64_t at, const void *bytes, size_t n,
                                   ttr_error *error);

/* Inserts bytes before all output delayed by sink_delay_output; at most once. */
TTR_MUST ttr_status sink_insert_prefix(struct sink *sink, const void *bytes, size_t n,
                                       ttr_error *error);

/* Returns the number of bytes written to the sink, including those still in the buffer. */
uint64_t sink_offset(const struct sink *sink);

/* Returns the path of the temporary file, for a signal handler that removes it, or NULL. Valid as
 * long as the sink. */
const char *sink_temporary_path(const struct sink *sink);

/* Flushes, renames the temporary file to the target, and frees the sink. On failure also frees the
 * sink, and removes the temporary file. */
TTR_MUST ttr_status sink_finish(struct sink *sink, ttr_error *error);

/* Frees the sink and removes its temporary file. Bytes written to a pipe cannot be revoked. NULL is
 * allowed. */
void sink_abandon(struct sink *sink);

#endif
