/* An address as input: a receiver, and its merged trace, which the command reads while it arrives.
 *
 * The receiver writes to a pipe of this process. Each read that finds the pipe empty lets the
 * receiver work. Packets of all senders are merged; of a format without packets only the first
 * sender is read, and the input ends with it. Packets of CTF do not pass the pipe: a reader of the
 * receiver returns their events. */
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

/* Waits for the first sender. Returns true if it sends packets for network_read, false if it sends
 * bytes for network_pull, or at Ctrl-C. */
bool network_await_packets(struct network_input *input, ttr_error *error);

/* Opens a reader of the packets of all senders. The input must stay open until it is closed. */
ttr_reader *network_read(struct network_input *input, ttr *t, const ttr_read_options *options,
                         ttr_error *error);

#endif
