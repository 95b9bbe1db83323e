/* An address as input: a receiver, and its merged trace, which the command reads while it arrives.
 *
 * The receiver writes to a pipe of this process. Each read that finds the pipe empty lets the
 * receiver work. Packets of all senders are merged; of a format without packets only the first
 * sender is read, and the input ends with it. */
#ifndef TRACETTA_CLI_INPUT_NETWORK_INPUT_H
#define TRACETTA_CLI_INPUT_NETWORK_INPUT_H

#include <tracetta/network.h>

struct network_input;

/* Returns true if a path is an address: "udp:...", "tcp:..." or "unix:...", and not a file. */
bool network_is_address(const char *path);

/* Listens on an address, and prints the address. Returns NULL with `error`. */
struct network_input *network_open(const char *address, ttr_error *error);

/* Reads up to n bytes of the trace. Waits for bytes; Ctrl-C ends the input. Returns -1 with errno
 * after a failure. */
int64_t network_pull(struct network_input *input, void *to, size_t n);

/* Returns true if network_pull would not wait, after waiting for up to `ms` milliseconds. */
bool network_can_pull(struct network_input *input, unsigned ms);

/* Closes the sockets and prints what was lost. NULL is allowed. */
void network_close(struct network_input *input);

#endif
