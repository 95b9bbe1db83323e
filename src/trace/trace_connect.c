/* The connection of a recorded process to its manager (trace_protocol.h).
 *
 * A process connects when the library is loaded and in the child of a fork, if the environment
 * names the manager's socket.  It then maps two pieces of memory that the manager made: the rings,
 * and for each module a page of enable bytes, which is mapped over the module's own page, so that
 * the manager enables and disables categories without help of the process.  When the connection
 * ends, zeroed pages replace the pages of enable bytes.
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

/* --- Messages --- */

static void send_message(uint16_t kind, uint32_t a, uint32_t b, const char *text)
{
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC,
                                    .version = TRACE_VERSION,
                                    .kind = kind,
                                    .a = a,
                                    .b = b,
                                    .pid = (uint32_t)getpid()};
    const size_t n = strnlen(text, TRACE_MESSAGE_TEXT - 1);
    memcpy(message.text, text, n);
    /* A failure shows as the end of the connection. */
    (void)send(trace_session.socket_fd, &message, sizeof message, MSG_NOSIGNAL);
}

/* Waits until the manager has handled all messages, so that no event is missed. */
static void wait_for_sync(void)
{
    struct trace_message message;
    struct pollfd wait = {.fd = trace_session.socket_fd, .events = POLLIN};
    send_message(TRACE_SYNC, 0, 0, "");
    if (poll(&wait, 1, PATIENCE_MS) == 1)
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

static bool is_sealed(int fd, uint64_t size)
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
    void *memory = is_sealed(fd, size) ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                                       : MAP_FAILED;
    if (memory == MAP_FAILED)
        return false;
    (void)madvise(memory, size, MADV_DONTFORK);
    trace_session.memory = memory;
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

static void map_module(struct ttr_trace_module *module)
{
    static uint32_t next_page;
    if (module->state == 0 && next_page == TRACE_MODULES_MAX)
        return;
    if (module->state == 0)
        module->state = ++next_page;
    if (mmap((void *)(uintptr_t)module->enabled, TTR_TRACE_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED,
             flags_fd, (off_t)((module->state - 1) * TTR_TRACE_PAGE)) == MAP_FAILED)
        return;
    for (size_t i = 0; module->categories[i].name && i < TTR_TRACE_PAGE; i++)
        send_category(module, i);
}

void trace_connect_module(struct ttr_trace_module *module)
{
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
    const struct timeval limit = {PATIENCE_MS / 1000, PATIENCE_MS % 1000 * 1000};
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

static void close_all(const int fds[TRACE_WELCOME_FDS])
{
    for (unsigned i = 0; i < TRACE_WELCOME_FDS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static bool begin_session(const struct trace_message *welcome, const int fds[TRACE_WELCOME_FDS])
{
    if (!is_sealed(fds[1], (uint64_t)TRACE_MODULES_MAX * TTR_TRACE_PAGE) ||
        !map_rings(welcome, fds[0]))
        return false;
    close(fds[0]);
    flags_fd = fds[1];
    trace_session.wake_fd = fds[2];
    trace_clock_choose(&trace_session.clock);
    ttr_trace_uses_tsc = trace_session.clock.is_tsc;
    ttr_trace_zone_min_ticks = trace_header()->zone_min_ticks;
    trace_session_begin();
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        map_module(module);
    wait_for_sync();
    return true;
}

void trace_connect(void)
{
    const char *path = getenv(TRACE_SOCKET_VARIABLE);
    struct trace_message welcome;
    int fds[TRACE_WELCOME_FDS] = {-1, -1, -1};
    if (!path || !path[0] || trace_session.memory)
        return;
    trace_session.socket_fd = open_socket(path);
    if (trace_session.socket_fd < 0)
        return;
    send_message(TRACE_HELLO, 0, 0, program_invocation_short_name);
    if (receive_welcome(&welcome, fds) && begin_session(&welcome, fds))
        return;
    close_all(fds);
    close(trace_session.socket_fd);
    trace_session.socket_fd = -1;
}

/* Replaces the enable bytes of all modules by zeros of the process itself. */
static void disable_modules(void)
{
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        (void)mmap((void *)(uintptr_t)module->enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void trace_disconnect(void)
{
    if (trace_session.socket_fd < 0)
        return;
    disable_modules();
    close(trace_session.socket_fd);
    close(trace_session.wake_fd);
    close(flags_fd);
    trace_session.socket_fd = trace_session.wake_fd = flags_fd = -1;
    trace_session.memory = NULL;
    __atomic_fetch_add(&trace_session.generation, 1, __ATOMIC_SEQ_CST);
}

void trace_check_connection(void)
{
    char byte;
    if (!trace_lock())
        return;
    if (trace_session.socket_fd >= 0 &&
        recv(trace_session.socket_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        trace_disconnect();
    trace_unlock();
}

void trace_send_trigger(const char *name)
{
    if (trace_session.socket_fd >= 0)
        send_message(TRACE_TRIGGER, 0, 0, name);
}
