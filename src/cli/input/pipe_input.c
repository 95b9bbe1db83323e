/* Reads pipes. A signal may be delivered to any thread and would not end a blocked read. Therefore
 * poll waits for both the pipe and the interrupt. */
#include "cli/input/pipe_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/input/network_input.h"
#include "cli/ui/interrupt.h"

#define WAIT_MS 100

bool stream_is_one(const char *path)
{
    struct stat about;
    int result = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(path, &about);
    if (network_is_address(path))
        return true;
    return result == 0 &&
           (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISCHR(about.st_mode));
}

bool stream_open(struct stream *stream, const char *path, ttr_error *error)
{
    *stream = (struct stream){.fd = -1};
    if (network_is_address(path)) {
        stream->network = network_open(path, error);
        return stream->network != NULL;
    }
    bool is_stdin = strcmp(path, "-") == 0;
    stream->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (stream->fd >= 0)
        return true;
    error->status = TTR_E_IO;
    error->sys = errno;
    (void)snprintf(error->text, sizeof error->text, "cannot open %s: %s", path, strerror(errno));
    return false;
}

/* Waits for bytes in short steps, and lets others work meanwhile. */
static void wait_for_bytes(struct stream *stream)
{
    bool is_ready = !stream->note_wait || stream_can_pull(stream, 0);
    while (!is_ready) {
        stream->note_wait(stream->note_ctx, true);
        is_ready = stream_can_pull(stream, WAIT_MS);
        stream->note_wait(stream->note_ctx, false);
    }
}

int64_t stream_pull(void *ctx, void *to, size_t n)
{
    struct stream *stream = ctx;
    wait_for_bytes(stream);
    struct pollfd waits[] = {{.fd = stream->fd, .events = POLLIN},
                             {.fd = interrupt_get_wake_fd(), .events = POLLIN}};
    if (stream->network)
        return network_pull(stream->network, to, n);
    for (;;) {
        if (interrupt_was_received())
            return 0;
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            return -1;
        if (interrupt_was_received() || !waits[0].revents)
            continue;
        ssize_t got = read(stream->fd, to, n);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
    }
}

bool stream_can_pull(void *ctx, unsigned ms)
{
    const struct stream *stream = ctx;
    struct pollfd waits[] = {{.fd = stream->fd, .events = POLLIN},
                             {.fd = interrupt_get_wake_fd(), .events = POLLIN}};
    if (stream->network)
        return network_can_pull(stream->network, ms);
    return interrupt_was_received() || poll(waits, 2, (int)ms) != 0;
}

bool stream_is_idle(const struct stream *stream)
{
    struct pollfd wait = {.fd = stream->fd, .events = POLLIN};
    if (stream->network)
        return !network_can_pull(stream->network, 0);
    return stream->fd >= 0 && poll(&wait, 1, 0) == 0;
}

void stream_close(struct stream *stream)
{
    if (stream->fd >= 0)
        (void)close(stream->fd);
    network_close(stream->network);
    *stream = (struct stream){.fd = -1};
}
