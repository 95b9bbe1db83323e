/* Connections of programs: their memory, messages and categories.
 *
 * A connection is a program that sends TRACE_HELLO, or a controller (session.c) that sends
 * TRACE_CONTROL.  The kernel reports process and user of the peer. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/utf.h"
#include "recorder/recorder.h"
#include "trace/trace_filter.h"

#define MEMORY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FLAGS_SIZE ((size_t)TRACE_MODULES_MAX * TRACE_PAGE)

/* Makes sealed memory and maps it. Returns the descriptor, or -1. */
static int create_shared_memory(const char *name, uint64_t size, uint8_t **memory)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    *memory = NULL;
    if (ftruncate(fd, (off_t)size) == 0 && fcntl(fd, F_ADD_SEALS, MEMORY_SEALS) == 0) {
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED) {
            *memory = mapped;
            return fd;
        }
    }
    (void)close(fd);
    return -1;
}

void program_free(const ttr_manager *manager, struct program *program)
{
    if (program->socket_fd >= 0)
        (void)close(program->socket_fd);
    if (program->wake_fd >= 0)
        (void)close(program->wake_fd);
    if (program->memory)
        (void)munmap(program->memory, trace_memory_size(manager->rings, manager->chunks));
    if (program->flags)
        (void)munmap(program->flags, FLAGS_SIZE);
    alloc_free(manager->alloc, program->rings, manager->rings, sizeof *program->rings);
    alloc_free(manager->alloc, program->categories, program->categories_capacity,
               sizeof *program->categories);
    *program = (struct program){.socket_fd = -1, .wake_fd = -1};
}

static bool is_allowed_peer(int fd, uint64_t *pid, uint64_t *uid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *pid = (uint64_t)peer.pid;
    *uid = peer.uid;
    return peer.uid == geteuid() || geteuid() == 0;
}

void program_accept(ttr_manager *manager)
{
    uint64_t pid, uid;
    const int fd = accept4(manager->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (!is_allowed_peer(fd, &pid, &uid) || manager->programs_n >= manager->programs_max ||
        !alloc_reserve(manager->alloc, (void **)&manager->programs, &manager->programs_capacity,
                       manager->programs_n + 1, sizeof *manager->programs)) {
        manager->stats.refused++;
        (void)close(fd);
        return;
    }
    manager->programs[manager->programs_n++] =
        (struct program){.socket_fd = fd, .wake_fd = -1, .pid = pid, .uid = uid, .next_string = 1};
}

static bool send_welcome(const ttr_manager *manager, const struct program *program,
                         const int fds[TRACE_WELCOME_FDS])
{
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC,
                                    .version = TRACE_VERSION,
                                    .kind = TRACE_WELCOME,
                                    .a = manager->rings,
                                    .b = manager->chunks};
    union {
        char bytes[CMSG_SPACE(TRACE_WELCOME_FDS * sizeof(int))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec part = {&message, sizeof message};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(TRACE_WELCOME_FDS * sizeof(int));
    memcpy(CMSG_DATA(rights), fds, TRACE_WELCOME_FDS * sizeof(int));
    return sendmsg(program->socket_fd, &header, MSG_NOSIGNAL) == sizeof message;
}

static void fill_header(const ttr_manager *manager, const struct program *program)
{
    *get_shared_header(program) = (struct trace_header){
        .magic = TRACE_MAGIC,
        .version = TRACE_VERSION,
        .mode = manager->mode,
        .rings = manager->rings,
        .chunks = manager->chunks,
        .strings_offset = TRACE_PAGE,
        .rings_offset = TRACE_PAGE + TRACE_STRINGS_SIZE,
        .ring_stride = trace_ring_stride(manager->chunks),
        .zone_min_ticks = manager->zone_min_ticks,
        .ticks_per_second = manager->ticks_per_second,
        .sleeping = 1,
        .uses_tsc = manager->clock.is_tsc,
    };
}

/* Creates the shared memory of a program and sends its descriptors. Returns false on failure. */
static bool welcome_program(ttr_manager *manager, struct program *program)
{
    int fds[TRACE_WELCOME_FDS] = {-1, -1, -1};
    program->rings = alloc_zero(manager->alloc, manager->rings, sizeof *program->rings);
    fds[0] = create_shared_memory(
        "tracetta-rings", trace_memory_size(manager->rings, manager->chunks), &program->memory);
    fds[1] = create_shared_memory(TRACE_FLAGS_NAME, FLAGS_SIZE, &program->flags);
    fds[2] = program->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool is_ready = program->rings && program->memory && program->flags && program->wake_fd >= 0;
    if (is_ready) {
        fill_header(manager, program);
        is_ready = send_welcome(manager, program, fds);
    }
    if (fds[0] >= 0)
        (void)close(fds[0]);
    if (fds[1] >= 0)
        (void)close(fds[1]);
    if (!is_ready)
        return false;
    program->is_welcomed = true;
    program->provider = ++manager->next_provider;
    manager->stats.programs++;
    return true;
}

/* --- Messages --- */

static struct program_category *find_category(const struct program *program, uint32_t page,
                                              uint32_t index)
{
    for (size_t i = 0; i < program->categories_n; i++)
        if (program->categories[i].page == page && program->categories[i].index == index)
            return &program->categories[i];
    return NULL;
}

static void enable_category(const ttr_manager *manager, const struct program *program,
                            const struct program_category *category)
{
    __atomic_store_n(&program->flags[category->page * TRACE_PAGE + category->index],
                     trace_filter_level(manager->categories, category->name), __ATOMIC_RELEASE);
}

void programs_enable(ttr_manager *manager)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        for (size_t k = 0; k < manager->programs[i].categories_n; k++)
            enable_category(manager, &manager->programs[i], &manager->programs[i].categories[k]);
}

/* Adds a category of a program, or renames it: a module that was loaded again may have others.
 * Returns false if the program breaks a rule. */
static bool add_category(ttr_manager *manager, struct program *program,
                         const struct trace_message *message)
{
    if (message->a >= TRACE_MODULES_MAX || message->b >= TRACE_PAGE)
        return false;
    struct program_category *category = find_category(program, message->a, message->b);
    if (!category && (program->categories_n == PROGRAM_CATEGORIES_MAX ||
                      !alloc_reserve(manager->alloc, (void **)&program->categories,
                                     &program->categories_capacity, program->categories_n + 1,
                                     sizeof *program->categories)))
        return false;
    if (!category)
        category = &program->categories[program->categories_n++];
    category->page = message->a;
    category->index = message->b;
    memcpy(category->name, message->text, sizeof category->name);
    enable_category(manager, program, category);
    return true;
}

static void send_sync(const struct program *program)
{
    const struct trace_message answer = {
        .magic = TRACE_MESSAGE_MAGIC, .version = TRACE_VERSION, .kind = TRACE_SYNC};
    (void)send(program->socket_fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Handles a message of a program. Returns false if it breaks a rule. */
static bool handle_message(ttr_manager *manager, struct program *program,
                           struct trace_message *message)
{
    message->text[TRACE_MESSAGE_TEXT - 1] = '\0';
    if (!utf8_is_valid(message->text, strlen(message->text)))
        message->text[0] = '\0';
    if (message->kind == TRACE_CONTROL && !program->is_welcomed) {
        program->is_controller = true;
        program->request = *message;
        return true;
    }
    if (program->is_controller || (message->kind == TRACE_HELLO) == program->is_welcomed)
        return false;
    switch (message->kind) {
    case TRACE_HELLO:
        memcpy(program->name, message->text, sizeof program->name);
        program->is_refused = !welcome_program(manager, program);
        return true;
    case TRACE_CATEGORY:
        return add_category(manager, program, message);
    case TRACE_SYNC:
        send_sync(program);
        return true;
    case TRACE_TRIGGER:
        manager->is_triggered = true;
        memcpy(manager->trigger, message->text, sizeof manager->trigger);
        return true;
    default:
        return false;
    }
}

bool program_receive(ttr_manager *manager, struct program *program)
{
    struct trace_message message;
    const ssize_t n = recv(program->socket_fd, &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    if (n != sizeof message || message.magic != TRACE_MESSAGE_MAGIC ||
        message.version != TRACE_VERSION) {
        manager->stats.refused += !program->is_welcomed;
        return false;
    }
    if (!handle_message(manager, program, &message))
        program_count_violation(program);
    manager->stats.refused += program->is_refused;
    return !program->is_refused && program->violations < RECORDER_VIOLATIONS_MAX;
}
