/* The attach memory of a process, by which a manager asks a running process to connect.
 *
 * Purpose: "record --attach PID" without a thread, a signal or ptrace.
 *
 *   page 0    struct trace_attach_page: magic, process, path of the manager's socket
 *   page 1..  enable bytes, one page per module
 *
 * The memory is a memfd of the process, and the enable bytes of each module are mapped to its pages
 * while no manager is connected.  A manager finds the memfd in /proc/PID/fd, which the kernel
 * permits to the same user and root alone, writes the path of its socket, and sets all enable bytes
 * to TTR_TRACE_CONNECT_REQUEST.  The next trace point of the process therefore calls
 * ttr_trace_attach.  After a session that ended, the enable bytes are still in memory of its
 * manager.  The process keeps that memfd open too, so that they can be set there.  A disabled trace
 * point costs as much as before.
 *
 * A child of a fork makes attach memory of its own.  If the memfd cannot be made, or the program
 * closed it, the process can only be recorded from its start. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_internal.h"
#include "trace/trace_protocol.h"

#define ATTACH_SIZE ((size_t)(TRACE_MODULES_MAX + 1) * TTR_TRACE_PAGE)

static int attach_fd = -1;
static struct stat attach_status;
static struct trace_attach_page *attach_page; /* NULL = none */
/* The session of the process, which may start before there is attach memory. */
static bool has_session;
static char session_socket[sizeof attach_page->session];

/* Returns true if the descriptor still refers to the attach memory. */
static bool is_attach_memory_open(void)
{
    struct stat now;
    return attach_page && fstat(attach_fd, &now) == 0 && now.st_dev == attach_status.st_dev &&
           now.st_ino == attach_status.st_ino;
}

static void create_attach_memory(void)
{
    const int fd = memfd_create(TRACE_ATTACH_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (fd < 0)
        return;
    if (ftruncate(fd, ATTACH_SIZE) == 0 && fstat(fd, &attach_status) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return;
    }
    attach_fd = fd;
    attach_page = memory;
    attach_page->version = TRACE_VERSION;
    attach_page->pid = (uint32_t)getpid();
    memcpy(attach_page->session, session_socket, sizeof session_socket);
    attach_page->is_recorded = has_session;
    __atomic_store_n(&attach_page->magic, TRACE_ATTACH_MAGIC, __ATOMIC_RELEASE);
}

void trace_attach_map_module(struct ttr_trace_module *module, uint32_t page)
{
    void *enabled = (void *)(uintptr_t)module->enabled;
    if (!attach_page)
        create_attach_memory();
    /* Without attach memory, map private zeros. */
    if (!is_attach_memory_open() ||
        mmap(enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, attach_fd,
             (off_t)(page + 1) * TTR_TRACE_PAGE) == MAP_FAILED) {
        (void)mmap(enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        return;
    }
    memset(enabled, 0, TTR_TRACE_PAGE);
    if (page >= attach_page->modules)
        __atomic_store_n(&attach_page->modules, page + 1, __ATOMIC_RELEASE);
    /* A manager with an earlier request may have set the bytes too early, or not this page. It
     * stores is_requested and then reads `modules`, so that one of the two sees the other. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&attach_page->is_requested, __ATOMIC_RELAXED))
        memset(enabled, TTR_TRACE_CONNECT_REQUEST, TTR_TRACE_PAGE);
}

void trace_attach_set_recorded(bool is_recorded, const char *socket)
{
    const size_t n = strnlen(socket, sizeof session_socket - 1);
    memset(session_socket, 0, sizeof session_socket);
    memcpy(session_socket, socket, n);
    has_session = is_recorded;
    if (!attach_page)
        return;
    memcpy(attach_page->session, session_socket, sizeof session_socket);
    __atomic_store_n(&attach_page->is_recorded, is_recorded, __ATOMIC_RELEASE);
}

/* The pages of the parent stay mapped until trace_attach_map_module replaces them. */
void trace_attach_forget_after_fork(void)
{
    has_session = false;
    memset(session_socket, 0, sizeof session_socket);
    if (!attach_page)
        return;
    if (is_attach_memory_open())
        close(attach_fd);
    (void)munmap(attach_page, TTR_TRACE_PAGE);
    attach_page = NULL;
    attach_fd = -1;
}

bool trace_attach_accept_request(char socket[TRACE_MESSAGE_TEXT])
{
    if (!attach_page || !__atomic_exchange_n(&attach_page->is_requested, 0, __ATOMIC_SEQ_CST))
        return false;
    memcpy(socket, attach_page->socket, TRACE_MESSAGE_TEXT);
    socket[TRACE_MESSAGE_TEXT - 1] = '\0';
    return true;
}
