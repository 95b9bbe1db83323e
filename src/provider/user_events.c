/* The backend of the kernel's user_events: each tracepoint is registered with the address of its
 * word, in which the kernel sets and clears the bit; an event is one write of its number and its
 * bytes.
 *
 * Registrations and the descriptor live on in a child of fork, and end with exec. */
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

static int add(void *own, const ttr_wish *wish, uint32_t *index)
{
    struct user_events *kernel = own;
    char command[PROVIDER_NAME_MAX + sizeof TRACEFS_EVENT_HEADER];
    (void)snprintf(command, sizeof command, "%s%s", wish->name, TRACEFS_EVENT_HEADER);
    struct tracefs_registration registration = {command, wish->enabled, wish->bit, kernel->flags};
    return tracefs_register(kernel->fd, &registration, index);
}

/* Fails where the address space in which it was registered is gone, which is what is wanted. */
static void remove_wish(void *own, const ttr_wish *wish, uint32_t index)
{
    struct user_events *kernel = own;
    (void)index;
    (void)tracefs_unregister(kernel->fd, wish->enabled, wish->bit);
}

static int write_event(void *own, uint32_t index, uint8_t *event, size_t n)
{
    struct user_events *kernel = own;
    uint8_t *block = event - BLOCK_FRONT;
    memcpy(block, &index, sizeof index);
    if (write(kernel->fd, block, n + BLOCK_FRONT) >= 0 ||
        errno == EBADF) /* EBADF: nobody listens any more */
        return 0;
    return errno;
}

static void free_own(void *own)
{
    struct user_events *kernel = own;
    (void)close(kernel->fd);
    alloc_free(alloc_default(), kernel, 1, sizeof *kernel);
}

ttr_backend *ttr_backend_user_events(const ttr_user_events_options *options, ttr_error *error)
{
    static const ttr_backend_functions functions = {sizeof functions, add, remove_wish,
                                                    write_event};
    char path[TRACEFS_PATH];
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
    ttr_backend *backend = backend_new(&functions, kernel, free_own, error);
    if (!backend)
        free_own(kernel);
    return backend;
}
