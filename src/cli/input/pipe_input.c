/* Reads pipes. A signal may be delivered to any thread and would not end a blocked read. Therefore
 * poll waits for both the pipe and the interrupt. */
#include "cli/input/pipe_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ui/interrupt.h"

bool stream_is_one(const char *path)
{
    struct stat about;
    int result = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(path, &about);
    return result == 0 &&
           (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISCHR(about.st_mode));
}

bool stream_open(struct stream *stream, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    stream->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return stream->fd >= 0;
}

int64_t stream_pull(void *ctx, void *to, size_t n)
{
    const struct stream *stream = ctx;
    struct pollfd waits[] = {{.fd = stream->fd, .events = POLLIN},
                             {.fd = interrupt_get_wake_fd(), .events = POLLIN}};
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
    return interrupt_was_received() || poll(waits, 2, (int)ms) != 0;
}

bool stream_is_idle(const struct stream *stream)
{
    struct pollfd wait = {.fd = stream->fd, .events = POLLIN};
    return stream->fd >= 0 && poll(&wait, 1, 0) == 0;
}

void stream_close(struct stream *stream)
{
    if (stream->fd >= 0)
        (void)close(stream->fd);
    stream->fd = -1;
}
