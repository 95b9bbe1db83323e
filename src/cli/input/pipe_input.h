/* Pipes, FIFOs and terminals as inputs. Ctrl-C ends the input instead of waiting for more.
 *
 * Ownership: the caller closes the stream after the reader that pulls from it. */
#ifndef TRACETTA_CLI_INPUT_PIPE_INPUT_H
#define TRACETTA_CLI_INPUT_PIPE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream {
    int fd; /* -1 = not open */
};

/* Whether a path must be read as a stream: "-" unless it is a file, FIFOs, sockets, terminals. */
bool stream_is_one(const char *path);

/* Opens a path. Returns false with errno set. */
bool stream_open(struct stream *stream, const char *path);

/* A ttr_pull (own = struct stream): waits for bytes, or for Ctrl-C, which ends the input. */
int64_t stream_pull(void *ctx, void *to, size_t n);

/* Whether reading would wait for bytes now. False for a stream that is not open. */
bool stream_is_idle(const struct stream *stream);

void stream_close(struct stream *stream);

#endif
