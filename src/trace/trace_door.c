/* The door of a process: memory by which a manager asks a running process to connect.
 *
 * Purpose: "record --attach PID" without a thread, a signal or ptrace.
 *
 *   page 0    struct trace_door: magic, process, path of the manager's socket
 *   page 1..  enable bytes, one page per module
 *
 * The memory is a memfd of the process, and the enable bytes of each module are mapped to its pages
 * while no manager is connected.  A manager finds the memfd in /proc/PID/fd, which the kernel
 * permits to the same user and root alone, writes the path of its socket, and sets all enable bytes
 * to TTR_TRACE_KNOCK.  The next trace point of the process therefore calls ttr_trace_attach.  After
 * a session that ended, the enable bytes are still in memory of its manager.  The process keeps
 * that memfd open too, so that they can be set there.  A disabled trace point costs as much as
 * before.
 *
 * A child of a fork makes a door of its own.  If the memfd cannot be made, or the program closed
 * it, the process can only be recorded from its start. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_internal.h"
#include "trace/trace_protocol.h"

#define DOOR_SIZE ((size_t)(TRACE_MODULES_MAX + 1) * TTR_TRACE_PAGE)

static int door_fd = -1;
static struct stat door_status;
static struct trace_door *door; /* NULL = none */

/* Returns true if the descriptor still refers to the door. */
static bool is_door_open(void)
{
    struct stat now;
    return door && fstat(door_fd, &now) == 0 && now.st_dev == door_status.st_dev &&
           now.st_ino == door_status.st_ino;
}

static void open_door(void)
{
    const int fd = memfd_create(TRACE_DOOR_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (fd < 0)
        return;
    if (ftruncate(fd, DOOR_SIZE) == 0 && fstat(fd, &door_status) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return;
    }
    door_fd = fd;
    door = memory;
    door->version = TRACE_VERSION;
    door->pid = (uint32_t)getpid();
    __atomic_store_n(&door->magic, TRACE_DOOR_MAGIC, __ATOMIC_RELEASE);
}

void trace_door_map(struct ttr_trace_module *module, uint32_t page)
{
    void *enabled = (void *)(uintptr_t)module->enabled;
    if (!door)
        open_door();
    /* Zeros of the process itself, without a door. */
    if (!is_door_open() ||
        mmap(enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, door_fd,
             (off_t)(page + 1) * TTR_TRACE_PAGE) == MAP_FAILED) {
        (void)mmap(enabled, TTR_TRACE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        return;
    }
    memset(enabled, 0, TTR_TRACE_PAGE);
    if (page >= door->modules)
        __atomic_store_n(&door->modules, page + 1, __ATOMIC_RELEASE);
    /* A manager that knocked before may have set the bytes too early, or not this page. It stores
     * is_knocked and then reads `modules`, so that one of the two sees the other. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&door->is_knocked, __ATOMIC_RELAXED))
        memset(enabled, TTR_TRACE_KNOCK, TTR_TRACE_PAGE);
}

void trace_door_set_recorded(bool is_recorded, const char *socket)
{
    if (!door)
        return;
    const size_t n = strnlen(socket, sizeof door->session - 1);
    memset(door->session, 0, sizeof door->session);
    memcpy(door->session, socket, n);
    __atomic_store_n(&door->is_recorded, is_recorded, __ATOMIC_RELEASE);
}

/* The pages of the parent stay mapped until trace_door_map replaces them. */
void trace_door_forget_after_fork(void)
{
    if (!door)
        return;
    if (is_door_open())
        close(door_fd);
    (void)munmap(door, TTR_TRACE_PAGE);
    door = NULL;
    door_fd = -1;
}

bool trace_door_answer(char socket[TRACE_MESSAGE_TEXT])
{
    if (!door || !__atomic_exchange_n(&door->is_knocked, 0, __ATOMIC_SEQ_CST))
        return false;
    memcpy(socket, door->socket, TRACE_MESSAGE_TEXT);
    socket[TRACE_MESSAGE_TEXT - 1] = '\0';
    return true;
}
