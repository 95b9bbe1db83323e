/* Bytes out: regular files appear whole or not at all, everything else is written as it comes.
 *
 * A regular file is written to a temporary name beside its target and renamed by sink_finish;
 * sink_abandon removes it.  "-" is standard output.  Devices, FIFOs and sockets that exist are
 * opened and written directly.  Errors stick: the first failed write is repeated by every later
 * call.  Writes are buffered (256 KiB, but for pieces of 8 KiB and more, which go out at once) and
 * survive EINTR and short counts. An existing file that is overwritten keeps its mode, and a link
 * to it stays a link.  SIGPIPE is the program's: where it is ignored, a closed pipe is TTR_E_IO
 * with EPIPE. Thread rule: one thread at a time. */
#ifndef TRACETTA_IO_SINK_H
#define TRACETTA_IO_SINK_H

#include <stdbool.h>

#include "base/alloc.h"

struct sink;

/* What may help where the system gives that reason for not writing, to stand behind the path: "
 * (free some space ...)"; "" where nobody knows. */
const char *sink_hint(int reason);

/* Takes n bytes: returns how many were taken (> 0), or -1 with errno set. */
typedef int64_t (*sink_push)(void *own, const void *bytes, size_t n);

/* Opens a path for writing; "-" and "/dev/stdout" are standard output.  An existing regular file is
 * refused (TTR_E_IO, EEXIST) unless `overwrite`; a directory always. */
struct sink *sink_open(const struct alloc *alloc, const char *path, bool overwrite,
                       ttr_error *error);
struct sink *sink_open_push(const struct alloc *alloc, sink_push push, void *own, ttr_error *error);

/* One of many files that are kept elsewhere (io/folder_sink.c). */
struct sink_part {
    sink_push push;
    int (*rewrite)(void *own, uint64_t at, const void *bytes,
                   size_t n); /* 0 or the errno; NULL = it cannot */
    int (*end)(void *own,
               bool is_whole); /* called once, at the end: 0 or the errno of what failed only now */
    void *own;
    size_t buffer_size;
};

struct sink *sink_open_part(const struct alloc *alloc, const char *name,
                            const struct sink_part *part, ttr_error *error);

TTR_MUST ttr_status sink_write(struct sink *sink, const void *bytes, size_t n, ttr_error *error);

/* The same without a buffer, behind what waits in it: for who writes so many files that even small
 * buffers are a lot. */
TTR_MUST ttr_status sink_write_now(struct sink *sink, const void *bytes, size_t n,
                                   ttr_error *error);

/* Hands buffered bytes to the system now: for live output. */
TTR_MUST ttr_status sink_flush(struct sink *sink, ttr_error *error);

/* Makes what is written wait in a file that nobody sees, until sink_finish: then all of it can be
 * rewritten, wherever it goes.  Before the first write; nothing to do where it can be rewritten
 * anyway. */
TTR_MUST ttr_status sink_hold(struct sink *sink, ttr_error *error);

/* True where bytes written before can be rewritten: in a regular file that is not in place yet, a
 * part that can, or held. */
bool sink_can_rewrite(const struct sink *sink);

/* Writes n bytes anew that were accepted before, from place `at` on. */
TTR_MUST ttr_status sink_rewrite(struct sink *sink, uint64_t at, const void *bytes, size_t n,
                                 ttr_error *error);

/* Puts bytes before all that is held; once. */
TTR_MUST ttr_status sink_prefix(struct sink *sink, const void *bytes, size_t n, ttr_error *error);

/* Bytes accepted so far. */
uint64_t sink_offset(const struct sink *sink);

/* The path of the temporary file, or NULL where there is none: for a signal handler that must
 * remove it. Lives as long as the sink. */
const char *sink_temporary(const struct sink *sink);

/* Flushes, renames into place, and frees, also when it fails (the temporary file is then removed).
 */
TTR_MUST ttr_status sink_finish(struct sink *sink, ttr_error *error);

/* Frees and leaves nothing behind (what went to a pipe is gone). NULL is fine. */
void sink_abandon(struct sink *sink);

#endif
