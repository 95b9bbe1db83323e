/* Programs that run already: how they are found and asked to connect (src/trace/trace_attach.c).
 *
 * The attach memory of a process (struct trace_attach_page and enable bytes) belongs to that
 * process, so each word in it is checked before use.  The memory is sealed: it has the checked size
 * and cannot shrink, so that access cannot fault. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/trace.h>

#include "base/status.h"
#include "base/utf.h"
#include "recorder/recorder.h"
#include "recorder/session_folder.h"

#define ATTACH_SIZE ((size_t)(TRACE_MODULES_MAX + 1) * TRACE_PAGE)
#define FLAGS_SIZE ((size_t)TRACE_MODULES_MAX * TRACE_PAGE)
#define LINK_MAX 64u

/* --- Finding --- */

/* Opens the memfd with that name of a process. Returns the descriptor, or -1 with errno; ENOENT =
 * the process has no such memfd. */
static int open_memory(uint64_t pid, const char *name)
{
    char folder[64], path[384], target[LINK_MAX], wanted[LINK_MAX];
    int fd = -1, reason = ENOENT;
    (void)snprintf(folder, sizeof folder, "/proc/%" PRIu64 "/fd", pid);
    const int wanted_n = snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", name);
    DIR *list = opendir(folder);
    const struct dirent *entry;
    if (!list)
        return -1;
    while (fd < 0 && (entry = readdir(list))) {
        (void)snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        const ssize_t n = readlink(path, target, sizeof target);
        if (n != wanted_n || memcmp(target, wanted, (size_t)n) != 0)
            continue;
        fd = open(path, O_RDWR | O_CLOEXEC);
        reason = fd < 0 ? errno : ENOENT;
    }
    (void)closedir(list);
    errno = reason;
    return fd;
}

/* Maps sealed memory of that size. Returns NULL if it is not sealed memory. */
static void *map_sealed(int fd, size_t size)
{
    struct stat about;
    const int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &about) != 0 || (uint64_t)about.st_size != size || seals < 0 ||
        !(seals & F_SEAL_SHRINK))
        return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    return memory;
}

/* Maps the attach memory of a process. Returns NULL if the descriptor refers to something else. */
static struct trace_attach_page *map_attach_memory(int fd)
{
    struct trace_attach_page *page = map_sealed(fd, ATTACH_SIZE);
    if (!page || __atomic_load_n(&page->magic, __ATOMIC_ACQUIRE) == TRACE_ATTACH_MAGIC)
        return page;
    (void)munmap(page, ATTACH_SIZE);
    return NULL;
}

static bool is_connected(const ttr_manager *manager, uint64_t pid)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        if (manager->programs[i].is_welcomed && manager->programs[i].pid == pid)
            return true;
    return false;
}

/* Returns true if the process is recorded: by itself, or by a manager that still listens.
 * page->is_recorded may be out of date: a process notices only at an event that its manager has
 * ended. */
static bool is_recorded(const struct trace_attach_page *page, const ttr_manager *manager,
                        uint64_t pid)
{
    char session[sizeof page->session];
    if (!__atomic_load_n(&page->is_recorded, __ATOMIC_ACQUIRE))
        return false;
    memcpy(session, page->session, sizeof session);
    session[sizeof session - 1] = '\0';
    /* An earlier manager may have had the same socket as this one. */
    if (manager && strcmp(session, manager->socket) == 0)
        return is_connected(manager, pid);
    const int fd = session[0] ? session_connect(session) : -1;
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0 || !session[0];
}

/* Returns true if this manager has asked the process to connect before. */
static bool was_requested(const ttr_manager *manager, uint64_t pid)
{
    for (size_t i = 0; i < manager->attach_requests_n; i++)
        if (manager->attach_requests[i].pid == pid)
            return true;
    return false;
}

static void read_name(uint64_t pid, char *name, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/comm", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, size - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    n = n > 0 ? n : 0;
    name[n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (!utf8_is_valid(name, strlen(name)))
        name[0] = '\0';
}

static bool describe_program(uint64_t pid, ttr_traceable *program)
{
    const int fd = open_memory(pid, TRACE_ATTACH_NAME);
    struct trace_attach_page *page = fd >= 0 ? map_attach_memory(fd) : NULL;
    if (fd >= 0)
        (void)close(fd);
    if (!page)
        return false;
    *program = (ttr_traceable){.pid = pid,
                               .is_recorded = is_recorded(page, NULL, pid),
                               .modules = __atomic_load_n(&page->modules, __ATOMIC_RELAXED)};
    if (program->modules > TRACE_MODULES_MAX)
        program->modules = TRACE_MODULES_MAX;
    (void)munmap(page, ATTACH_SIZE);
    read_name(pid, program->name, sizeof program->name);
    return true;
}

size_t ttr_traceable_find(ttr_traceable *programs, size_t n)
{
    DIR *list = opendir("/proc");
    const struct dirent *entry;
    size_t found = 0;
    while (list && (entry = readdir(list))) {
        ttr_traceable program;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !describe_program(strtoull(entry->d_name, NULL, 10), &program))
            continue;
        if (found < n)
            programs[found] = program;
        found++;
    }
    if (list)
        (void)closedir(list);
    return found;
}

/* --- Attaching --- */

/* Sets the enable bytes of a process that are still mapped to the memory of an ended session. */
static void set_enable_bytes_of_ended_session(uint64_t pid, int value)
{
    const int fd = open_memory(pid, TRACE_FLAGS_NAME);
    uint8_t *flags = fd >= 0 ? map_sealed(fd, FLAGS_SIZE) : NULL;
    if (fd >= 0)
        (void)close(fd);
    if (!flags)
        return;
    memset(flags, value, FLAGS_SIZE);
    (void)munmap(flags, FLAGS_SIZE);
}

/* Writes the path of the socket and sets all enable bytes, so that the next event connects. */
static void request_connection(const ttr_manager *manager, struct trace_attach_page *page,
                               uint64_t pid)
{
    memcpy(page->socket, manager->socket, sizeof page->socket);
    __atomic_store_n(&page->is_requested, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint32_t modules = __atomic_load_n(&page->modules, __ATOMIC_ACQUIRE);
    modules = modules < TRACE_MODULES_MAX ? modules : TRACE_MODULES_MAX;
    memset((uint8_t *)page + TRACE_PAGE, TTR_TRACE_CONNECT_REQUEST, (size_t)modules * TRACE_PAGE);
    if (__atomic_load_n(&page->is_recorded, __ATOMIC_ACQUIRE))
        set_enable_bytes_of_ended_session(pid, TTR_TRACE_CONNECT_REQUEST);
}

static ttr_status refuse_process(uint64_t pid, int reason, ttr_error *error)
{
    if (reason == ENOENT)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "process %" PRIu64 " does not exist or cannot be recorded: expected a program "
                    "with libtracetta-trace and categories; \"tracetta ps\" lists them",
                    pid);
    return fail_sys(error, reason, NO_OFFSET, "process %" PRIu64 " cannot be recorded", pid);
}

ttr_status ttr_manager_attach(ttr_manager *manager, uint64_t pid, ttr_error *error)
{
    const int fd = open_memory(pid, TRACE_ATTACH_NAME);
    if (fd < 0)
        return refuse_process(pid, errno, error);
    struct trace_attach_page *page = map_attach_memory(fd);
    (void)close(fd);
    if (!page)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "process %" PRIu64 " has another version of libtracetta-trace", pid);
    ttr_status status = TTR_OK;
    if (is_recorded(page, manager, pid) || was_requested(manager, pid))
        status =
            fail(error, TTR_E_MISUSE, NO_OFFSET, "process %" PRIu64 " is recorded already", pid);
    else if (!alloc_reserve(manager->alloc, (void **)&manager->attach_requests,
                            &manager->attach_requests_capacity, manager->attach_requests_n + 1,
                            sizeof *manager->attach_requests))
        status = fail_memory(error);
    if (status != TTR_OK) {
        (void)munmap(page, ATTACH_SIZE);
        return status;
    }
    manager->attach_requests[manager->attach_requests_n++] = (struct attach_request){pid, page};
    request_connection(manager, page, pid);
    return TTR_OK;
}

/* Disables the categories of programs that have not connected yet. */
void attach_requests_cancel(ttr_manager *manager)
{
    for (size_t i = 0; i < manager->attach_requests_n; i++) {
        struct trace_attach_page *page = manager->attach_requests[i].page;
        if (__atomic_exchange_n(&page->is_requested, 0, __ATOMIC_SEQ_CST)) {
            memset((uint8_t *)page + TRACE_PAGE, 0, (size_t)TRACE_MODULES_MAX * TRACE_PAGE);
            if (__atomic_load_n(&page->is_recorded, __ATOMIC_ACQUIRE))
                set_enable_bytes_of_ended_session(manager->attach_requests[i].pid, 0);
        }
        (void)munmap(page, ATTACH_SIZE);
    }
    alloc_free(manager->alloc, manager->attach_requests, manager->attach_requests_capacity,
               sizeof *manager->attach_requests);
    manager->attach_requests_n = 0;
}
