/* Pipes, FIFOs, terminals and network addresses as inputs. Ctrl-C ends such an input.
 *
 * Ownership: the caller closes the stream after the reader that reads from it. */
#ifndef TRACETTA_CLI_INPUT_PIPE_INPUT_H
#define TRACETTA_CLI_INPUT_PIPE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tracetta/error.h>

struct network_input;

struct stream {
    int fd;                        /* -1 = not open */
    struct network_input *network; /* NULL = `fd` is the input */
    /* called before and after a wait for bytes; NULL = never */
    void (*note_wait)(void *ctx, bool is_waiting);
    void *note_ctx;
};

/* Returns true if a path must be read as a stream: FIFO, socket, terminal, address, or "-"
 * unless it is a file. */
bool stream_is_one(const char *path);

/* Opens a path. Returns false with `error`. */
bool stream_open(struct stream *stream, const char *path, ttr_error *error);

/* Implements ttr_pull; ctx is the struct stream. Waits for bytes, or for Ctrl-C, which ends the
 * input. */
int64_t stream_pull(void *ctx, void *to, size_t n);

/* Implements ttr_read_options.can_pull. */
bool stream_can_pull(void *ctx, unsigned ms);

/* Whether reading would wait for bytes now. False for a stream that is not open. */
bool stream_is_idle(const struct stream *stream);

void stream_close(struct stream *stream);

#endif
