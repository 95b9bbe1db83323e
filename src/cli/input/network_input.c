/* Reads the merged trace of a receiver through a pipe. One thread writes and reads the pipe: the
 * receiver writes only what the pipe accepts. */
#include "cli/input/network_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ui/interrupt.h"

#define STEP_MS 100u

struct network_input {
    ttr_receiver *receiver;
    int pipe[2];  /* read end, write end */
    bool is_over; /* the only sender has ended */
};

bool network_is_address(const char *path)
{
    static const char *const schemes[] = {"udp:", "tcp:", "unix:"};
    struct stat about;
    bool is_one = false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        is_one |= strncmp(path, schemes[i], strlen(schemes[i])) == 0;
    return is_one && stat(path, &about) != 0;
}

static void note_source(void *user_data, ttr_source_stage stage, const ttr_received *received)
{
    struct network_input *input = user_data;
    if (stage == TTR_SOURCE_ENDED && !received->is_packets)
        input->is_over = true;
    if (stage == TTR_SOURCE_REFUSED)
        (void)fprintf(stderr, "tracetta: %s: refused: %s; use \"tracetta listen\"\n",
                      received->peer, received->reason);
}

struct network_input *network_open(const char *address, ttr_error *error)
{
    struct network_input *input = calloc(1, sizeof *input);
    if (!input || pipe2(input->pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
        error->status = TTR_E_IO;
        (void)snprintf(error->text, sizeof error->text, "cannot listen on %s: %s", address,
                       strerror(errno));
        free(input);
        return NULL;
    }
    const char *const addresses[] = {address};
    const ttr_receiver_options options = {.size = sizeof options,
                                          .addresses = addresses,
                                          .addresses_n = 1,
                                          .output = input->pipe[1],
                                          .allows_stream = true,
                                          .allows_reader = true,
                                          .wake_fd = interrupt_get_wake_fd(),
                                          .source = note_source,
                                          .user_data = input};
    input->receiver = ttr_receiver_open(&options, error);
    if (input->receiver) {
        (void)fprintf(stderr, "tracetta: listening on %s\n",
                      ttr_receiver_address(input->receiver, 0));
        return input;
    }
    network_close(input);
    return NULL;
}

static bool has_bytes(const struct network_input *input)
{
    struct pollfd wait = {.fd = input->pipe[0], .events = POLLIN};
    return poll(&wait, 1, 0) > 0;
}

bool network_await_packets(struct network_input *input, ttr_error *error)
{
    while (!interrupt_was_received() && !input->is_over && !has_bytes(input) &&
           !ttr_receiver_is_readable(input->receiver))
        if (ttr_receiver_step(input->receiver, STEP_MS, error) != TTR_OK)
            return false;
    return ttr_receiver_is_readable(input->receiver);
}

ttr_reader *network_read(struct network_input *input, ttr *t, const ttr_read_options *options,
                         ttr_error *error)
{
    return ttr_receiver_read(input->receiver, t, options, error);
}

int64_t network_pull(struct network_input *input, void *to, size_t n)
{
    ttr_error error = {0};
    for (;;) {
        ssize_t got = read(input->pipe[0], to, n);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got;
        if (interrupt_was_received() || input->is_over)
            return 0;
        if (ttr_receiver_step(input->receiver, STEP_MS, &error) != TTR_OK) {
            errno = error.sys ? error.sys : EIO;
            return -1;
        }
    }
}

bool network_can_pull(struct network_input *input, unsigned ms)
{
    if (ttr_receiver_is_readable(input->receiver))
        return true; /* the reader of the packets waits itself */
    for (unsigned waited = 0; !has_bytes(input); waited++) {
        if (interrupt_was_received() || input->is_over)
            return true;
        if (waited > 0)
            return false;
        if (ttr_receiver_step(input->receiver, ms, NULL) != TTR_OK)
            return true;
    }
    return true;
}

void network_close(struct network_input *input)
{
    ttr_receiver_totals totals = {.size = sizeof totals};
    if (!input)
        return;
    (void)close(input->pipe[0]);
    ttr_receiver *receiver = input->receiver;
    if (receiver)
        ttr_receiver_sum(receiver, &totals);
    (void)ttr_receiver_close(receiver, NULL, NULL);
    (void)close(input->pipe[1]);
    if (totals.lost || totals.kernel_drops || totals.dropped_events)
        (void)fprintf(stderr,
                      "tracetta: lost: %" PRIu64 " events by their counters; %" PRIu64
                      " datagrams dropped by the kernel; %" PRIu64 " events by a full queue\n",
                      totals.lost, totals.kernel_drops, totals.dropped_events);
    free(input);
}
