/* Backend for Linux user_events (6.4 and later).
 *
 * Registration: each tracepoint is registered once per provider with the address of its `enabled`
 * word and a bit number. The kernel sets and clears the bit in our memory while a consumer records,
 * so the fast path is a load and a branch. The kernel returns a write index.
 *
 * |  write(): [0..3] write index | event
 *
 * Registrations of the same name share the kernel's event, also between processes. Registration
 * fails with EADDRINUSE if the name exists with other fields. Registrations and the descriptor
 * survive fork and end at exec or exit. The event itself is deleted with its last user, unless it
 * is persistent. write() may run in a signal handler. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "provider/state.h"
#include "provider/tracefs.h"

struct user_events {
    int fd;
    unsigned flags;
};

static int user_events_register(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct user_events *kernel = ctx;
    char command[PROVIDER_NAME_MAX + sizeof TRACEFS_EVENT_HEADER];
    (void)snprintf(command, sizeof command, "%s%s", wish->name, TRACEFS_EVENT_HEADER);
    struct tracefs_registration registration = {command, wish->enabled, wish->bit, kernel->flags};
    return tracefs_register(kernel->fd, &registration, index);
}

/* Errors are ignored: unregistering fails after exec, or in a process without the address, but that
 * has ended the registration, too. */
static void user_events_unregister(void *ctx, const ttr_tracepoint_request *wish, uint32_t index)
{
    struct user_events *kernel = ctx;
    (void)index;
    (void)tracefs_unregister(kernel->fd, wish->enabled, wish->bit);
}

static int user_events_write(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct user_events *kernel = ctx;
    uint8_t *block = event - BLOCK_FRONT;
    memcpy(block, &index, sizeof index);
    if (write(kernel->fd, block, n + BLOCK_FRONT) >= 0 ||
        errno == EBADF) /* EBADF: the last consumer has detached since `enabled` was checked */
        return 0;
    return errno;
}

static void user_events_free(void *ctx)
{
    struct user_events *kernel = ctx;
    (void)close(kernel->fd);
    alloc_free(alloc_default(), kernel, 1, sizeof *kernel);
}

ttr_backend *ttr_backend_user_events(const ttr_user_events_options *options, ttr_error *error)
{
    static const ttr_backend_functions functions = {sizeof functions, user_events_register,
                                                    user_events_unregister, user_events_write};
    char path[TRACEFS_PATH_MAX];
    if (tracefs_find(options ? options->tracefs : NULL, path, error) != TTR_OK)
        return NULL;
    struct user_events *kernel = alloc_zero(alloc_default(), 1, sizeof *kernel);
    if (!kernel) {
        (void)fail_memory(error);
        return NULL;
    }
    int fd = tracefs_open(path, "user_events_data", error);
    if (fd < 0) {
        alloc_free(alloc_default(), kernel, 1, sizeof *kernel);
        return NULL;
    }
    kernel->fd = fd;
    kernel->flags = options ? (options->persist ? TRACEFS_REG_PERSIST : 0) |
                                  (options->multi_format ? TRACEFS_REG_MULTI_FORMAT : 0)
                            : 0;
    ttr_backend *backend = backend_new(&functions, kernel, user_events_free, error);
    if (!backend)
        user_events_free(kernel);
    return backend;
}
