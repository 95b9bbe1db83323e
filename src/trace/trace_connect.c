/* The connection of a recorded process to its manager (trace_protocol.h).
 *
 * A process connects when the library is loaded and in the child of a fork, if the environment
 * names the manager's socket.  It then maps two pieces of memory that the manager made: the rings,
 * and for each module a page of enable bytes, which is mapped over the module's own page, so that
 * the manager enables and disables categories without help of the process.  When the connection
 * ends, pages of the attach memory (trace_attach.c) replace the pages of enable bytes.
 *
 * The process checks that the socket belongs to its own user or root, and that the memory has the
 * announced size and cannot shrink. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "trace/trace_internal.h"
#include "trace/trace_protocol.h"

#define PATIENCE_MS 1000

static int flags_fd = -1;
static struct stat wake_status, socket_status, flags_status; /* when they were received */

/* Returns true if a descriptor is still ours. A program that closes all descriptors, as daemons do,
 * may have opened another file by the same number. */
static bool is_still_open(int fd, const struct stat *status)
{
    struct stat now;
    return fd >= 0 && fstat(fd, &now) == 0 && now.st_dev == status->st_dev &&
           now.st_ino == status->st_ino;
}

/* --- Messages --- */

static void send_message(uint16_t kind, uint32_t a, uint32_t b, const char *text)
{
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC,
                                    .version = TRACE_VERSION,
                                    .kind = kind,
                                    .a = a,
                                    .b = b,
                                    .number = (uint32_t)getpid()};
    const size_t n = strnlen(text, TRACE_MESSAGE_TEXT - 1);
    memcpy(message.text, text, n);
    /* A failure shows as the end of the connection. */
    if (is_still_open(trace_session.socket_fd, &socket_status))
        (void)send(trace_session.socket_fd, &message, sizeof message, MSG_NOSIGNAL);
}

/* Waits until the manager has handled all messages, so that no event is missed. */
static void wait_for_sync(void)
{
    struct trace_message message;
    struct pollfd wait = {.fd = trace_session.socket_fd, .events = POLLIN};
    send_message(TRACE_SYNC, 0, 0, "");
    if (is_still_open(trace_session.socket_fd, &socket_status) && poll(&wait, 1, PATIENCE_MS) == 1)
        (void)recv(trace_session.socket_fd, &message, sizeof message, MSG_DONTWAIT);
}

/* Receives the welcome with its descriptors. Returns false if it does not come. */
static bool receive_welcome(struct trace_message *message, int fds[TRACE_WELCOME_FDS])
{
    union {
        char bytes[CMSG_SPACE(TRACE_WELCOME_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {message, sizeof *message};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    struct pollfd wait = {.fd = trace_session.socket_fd, .events = POLLIN};
    if (poll(&wait, 1, PATIENCE_MS) != 1 ||
        recvmsg(trace_session.socket_fd, &header, MSG_CMSG_CLOEXEC) != sizeof *message)
        return false;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    if (!rights || rights->cmsg_type != SCM_RIGHTS ||
        rights->cmsg_len != CMSG_LEN(TRACE_WELCOME_FDS * sizeof(int)))
        return false;
    memcpy(fds, CMSG_DATA(rights), TRACE_WELCOME_FDS * sizeof(int));
    return message->magic == TRACE_MESSAGE_MAGIC && message->version == TRACE_VERSION &&
           message->kind == TRACE_WELCOME;
}

/* --- Memory --- */

static bool is_sealed_memory(int fd, uint64_t size)
{
    struct stat about;
    const int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &about) == 0 &&
           (uint64_t)about.st_size == size;
}

/* Maps the rings. Returns false if they are not as announced. */
static bool map_rings(const struct trace_message *welcome, int fd)
{
    if (welcome->a == 0 || welcome->a > TRACE_RINGS_MAX || welcome->b < TRACE_CHUNKS_MIN ||
        welcome->b > TRACE_CHUNKS_MAX)
        return false;
    const uint64_t size = trace_memory_size(welcome->a, welcome->b);
    void *memory = is_sealed_memory(fd, size)
                       ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (memory == MAP_FAILED)
        return false;
    (void)madvise(memory, size, MADV_DONTFORK);
    __atomic_store_n(&trace_session.memory, memory, __ATOMIC_RELEASE);
    trace_session.memory_size = size;
    trace_session.rings = welcome->a;
    trace_session.chunks = welcome->b;
    return true;
}

static void send_category(const struct ttr_trace_module *module, size_t i)
{
    send_message(TRACE_CATEGORY, (uint32_t)module->state - 1, (uint32_t)i,
                 module->categories[i].name);
}

void trace_send_category(const struct ttr_trace_module *module, size_t i)
{
    send_category(module, i);
    wait_for_sync();
}

static bool has_page[TRACE_MODULES_MAX]; /* pages of enable bytes that modules use */

/* Assigns a page of enable bytes to a module. Returns false if all are in use. */
static bool assign_page(struct ttr_trace_module *module)
{
    uint32_t page = 0;
    while (module->state == 0 && page < TRACE_MODULES_MAX && has_page[page])
        page++;
    if (page == TRACE_MODULES_MAX)
        return false;
    if (module->state == 0)
        module->state = page + 1;
    has_page[module->state - 1] = true;
    return true;
}

/* Maps the manager's enable bytes over those of a module, and sends its categories. */
static void map_module(struct ttr_trace_module *module)
{
    if (module->state == 0 || !is_still_open(flags_fd, &flags_status) ||
        mmap((void *)(uintptr_t)module->enabled, TTR_TRACE_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED,
             flags_fd, (off_t)((module->state - 1) * TTR_TRACE_PAGE)) == MAP_FAILED)
        return;
    for (size_t i = 0; module->categories[i].name && i < TTR_TRACE_PAGE; i++)
        send_category(module, i);
}

/* Disables the categories of a module. */
static void disable_module(struct ttr_trace_module *module)
{
    if (module->state)
        trace_attach_map_module(module, (uint32_t)module->state - 1);
}

void trace_modules_disable(void)
{
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        disable_module(module);
}

void trace_disconnect_module(struct ttr_trace_module *module)
{
    if (module->state == 0)
        return;
    /* Map private zeros: another module may use this page of the attach memory. */
    (void)mmap((void *)(uintptr_t)module->enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    has_page[module->state - 1] = false;
    module->state = 0;
}

void trace_connect_module(struct ttr_trace_module *module)
{
    if (!assign_page(module))
        return;
    disable_module(module);
    if (trace_session.socket_fd < 0)
        return;
    map_module(module);
    wait_for_sync();
}

/* --- Connection --- */

static int open_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path));
    const struct timeval limit = {PATIENCE_MS / 1000, PATIENCE_MS % 1000 * 1000L};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == geteuid() || peer.uid == 0))
        return fd;
    close(fd);
    return -1;
}

static void close_descriptors(const int fds[TRACE_WELCOME_FDS])
{
    for (unsigned i = 0; i < TRACE_WELCOME_FDS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Keeps the descriptor that wakes the manager. Its number never changes and it is never closed,
 * because another thread may be about to write to it. */
static void keep_wake_fd(int fd)
{
    if (is_still_open(trace_session.wake_fd, &wake_status)) {
        (void)dup3(fd, trace_session.wake_fd, O_CLOEXEC);
        close(fd);
        return;
    }
    (void)fstat(fd, &wake_status);
    __atomic_store_n(&trace_session.wake_fd, fd, __ATOMIC_RELEASE);
}

static bool begin_session(const struct trace_message *welcome, const int fds[TRACE_WELCOME_FDS])
{
    if (!is_sealed_memory(fds[1], (uint64_t)TRACE_MODULES_MAX * TTR_TRACE_PAGE) ||
        !map_rings(welcome, fds[0]))
        return false;
    close(fds[0]);
    flags_fd = fds[1];
    (void)fstat(flags_fd, &flags_status);
    keep_wake_fd(fds[2]);
    ttr_trace_uses_tsc = trace_header()->uses_tsc;
    ttr_trace_zone_min_ticks = trace_header()->zone_min_ticks;
    trace_session_begin();
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        map_module(module);
    wait_for_sync();
    return true;
}

/* Connects to the manager at a socket. Returns false if that fails. */
static bool connect_to(const char *path)
{
    struct trace_message welcome = {0};
    int fds[TRACE_WELCOME_FDS] = {-1, -1, -1};
    trace_session.socket_fd = open_socket(path);
    if (trace_session.socket_fd < 0)
        return false;
    (void)fstat(trace_session.socket_fd, &socket_status);
    send_message(TRACE_HELLO, 0, 0, program_invocation_short_name);
    if (receive_welcome(&welcome, fds) && begin_session(&welcome, fds)) {
        trace_attach_set_recorded(true, path);
        return true;
    }
    close_descriptors(fds);
    close(trace_session.socket_fd);
    trace_session.socket_fd = -1;
    return false;
}

void trace_connect(void)
{
    const char *path = getenv(TRACE_SOCKET_VARIABLE);
    if (path && path[0] && !trace_session.memory)
        (void)connect_to(path);
}

void trace_disconnect(void)
{
    if (trace_session.socket_fd < 0)
        return;
    trace_modules_disable();
    if (is_still_open(trace_session.socket_fd, &socket_status))
        close(trace_session.socket_fd);
    if (is_still_open(flags_fd, &flags_status))
        close(flags_fd);
    trace_session.socket_fd = flags_fd = -1;
    __atomic_store_n(&trace_session.memory, NULL, __ATOMIC_RELEASE);
    trace_threads_reset();
    trace_attach_set_recorded(false, "");
}

/* Returns true if the manager closed the connection, or died. Reads and drops messages, such as
 * answers that came too late, because the end of the connection is after them. */
static bool is_connection_closed(int fd)
{
    struct trace_message message;
    ssize_t n;
    do
        n = recv(fd, &message, sizeof message, MSG_DONTWAIT);
    while (n > 0);
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* Disconnects if the manager closed the connection. Requires the lock. */
static void check_connection(void)
{
    const int reason = errno;
    if (trace_session.socket_fd >= 0 && (!is_still_open(trace_session.socket_fd, &socket_status) ||
                                         is_connection_closed(trace_session.socket_fd)))
        trace_disconnect();
    errno = reason;
}

/* Connects to a manager that requests it, unless the process has a session. Returns false without a
 * request, or if the manager cannot be reached. Requires the lock. */
static bool connect_if_requested(void)
{
    char path[TRACE_MESSAGE_TEXT];
    return trace_session.memory || (trace_attach_accept_request(path) && connect_to(path));
}

void trace_check_connection(void)
{
    if (!trace_lock_briefly())
        return;
    check_connection();
    trace_unlock();
}

/* The manager set all enable bytes. They are reset if it cannot be reached, or does not wait any
 * more. */
bool ttr_trace_attach(const volatile uint8_t *enabled, uint8_t level)
{
    if (!trace_lock_briefly())
        return false;
    check_connection();
    if (!connect_if_requested())
        trace_modules_disable();
    trace_unlock();
    return *enabled >= level && *enabled != TTR_TRACE_CONNECT_REQUEST;
}

void trace_wake_manager(const struct trace_header *header)
{
    const uint64_t one = 1;
    const int fd = __atomic_load_n(&trace_session.wake_fd, __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(&header->sleeping, __ATOMIC_ACQUIRE) || !is_still_open(fd, &wake_status))
        return;
    const int64_t n = write(fd, &one, sizeof one);
    (void)n; /* a full eventfd wakes the manager too */
}

void trace_send_trigger(const char *name)
{
    if (trace_session.socket_fd >= 0)
        send_message(TRACE_TRIGGER, 0, 0, name);
}
