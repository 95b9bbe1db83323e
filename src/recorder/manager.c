/* The manager: socket, loop, statistics (tracetta/record.h). */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "recorder/recorder.h"
#include "trace/trace_clock.h"
#include "trace/trace_filter.h"

#define PROGRAMS_DEFAULT 256u
#define GREETING_MS 5000u
#define TICK_MS 100u /* time after which records of chunks that are not full are read */
#define BUFFER_MAX ((size_t)TRACE_CHUNKS_MAX * TRACE_CHUNK)

/* --- Opening --- */

static ttr_status check_options(const ttr_manager_options *options, ttr_error *error)
{
    if (!options || options->size != sizeof *options || !options->socket || options->fd < 0 ||
        options->mode > TTR_MANAGER_ONESHOT)
        return fail(error, TTR_E_MISUSE, 0, "options of the manager are invalid");
    if (strlen(options->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return fail(error, TTR_E_MISUSE, 0, "socket path is longer than 107 bytes: %s",
                    options->socket);
    if (options->buffer_bytes > BUFFER_MAX)
        return fail(error, TTR_E_MISUSE, 0, "buffer is larger than 256 MiB");
    if (!trace_filter_is_valid(options->categories))
        return fail(error, TTR_E_MISUSE, 0,
                    "categories cannot be \"%s\": expected globs with levels 1 to 5, like "
                    "\"net.*,-net.debug,disk:5\"",
                    options->categories);
    return TTR_OK;
}

/* Creates the socket with access for this user alone. */
static ttr_status create_socket(ttr_manager *manager, const char *path, ttr_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    manager->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t mask = umask(0177);
    const bool is_bound =
        manager->listen_fd >= 0 &&
        bind(manager->listen_fd, (struct sockaddr *)&address, sizeof address) == 0;
    const int reason = errno;
    (void)umask(mask);
    if (is_bound)
        memcpy(manager->socket, path, strlen(path) + 1);
    if (is_bound && listen(manager->listen_fd, 128) == 0)
        return TTR_OK;
    return fail(error, TTR_E_IO, 0, "%s: cannot create the socket: %s", path, strerror(reason));
}

static ttr_status start_manager(ttr_manager *manager, const ttr_manager_options *options,
                                ttr_error *error)
{
    struct stat about;
    const uint64_t magic = TRACE_FXT_MAGIC;
    const struct archive_part head = {&magic, sizeof magic};
    manager->copy = alloc_zero(manager->alloc, 1, TRACE_CHUNK);
    manager->strings = alloc_zero(manager->alloc, 1, TRACE_STRINGS_SIZE);
    manager->categories_n = options->categories ? strlen(options->categories) + 1 : 0;
    manager->categories =
        options->categories ? alloc_zero(manager->alloc, manager->categories_n, 1) : NULL;
    if (!manager->copy || !manager->strings || (options->categories && !manager->categories))
        return fail(error, TTR_E_NOMEM, 0, "out of memory");
    if (options->categories)
        memcpy(manager->categories, options->categories, manager->categories_n);
    const off_t at = lseek(options->fd, 0, SEEK_CUR);
    manager->archive.is_regular =
        fstat(options->fd, &about) == 0 && S_ISREG(about.st_mode) && at >= 0;
    manager->archive.start = at > 0 ? (uint64_t)at : 0;
    trace_clock_choose(&manager->clock);
    manager->ticks_per_second = trace_clock_frequency(&manager->clock);
    manager->zone_min_ticks = (uint64_t)((long double)options->zone_min_ns *
                                         (long double)manager->ticks_per_second / 1e9L);
    const ttr_status status = create_socket(manager, options->socket, error);
    if (status == TTR_OK && !archive_write(&manager->archive, &head, 1))
        return fail(error, TTR_E_IO, 0, "cannot write: %s", strerror(manager->archive.reason));
    return status;
}

static void free_manager(ttr_manager *manager)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        program_end(manager, &manager->programs[i]);
    if (manager->listen_fd >= 0)
        (void)close(manager->listen_fd);
    if (manager->socket[0])
        (void)unlink(manager->socket);
    const struct alloc *alloc = manager->alloc;
    alloc_free(alloc, manager->programs, manager->programs_capacity, sizeof *manager->programs);
    alloc_free(alloc, manager->frequencies, manager->frequencies_capacity,
               sizeof *manager->frequencies);
    alloc_free(alloc, manager->copy, 1, TRACE_CHUNK);
    alloc_free(alloc, manager->strings, 1, TRACE_STRINGS_SIZE);
    alloc_free(alloc, manager->categories, manager->categories_n, 1);
    alloc_free(alloc, manager, 1, sizeof *manager);
}

ttr_manager *ttr_manager_open(const ttr_manager_options *options, ttr_error *error)
{
    if (check_options(options, error) != TTR_OK)
        return NULL;
    ttr_manager *manager = alloc_zero(alloc_default(), 1, sizeof *manager);
    if (!manager) {
        (void)fail(error, TTR_E_NOMEM, 0, "out of memory");
        return NULL;
    }
    const size_t chunks = (options->buffer_bytes + TRACE_CHUNK - 1) / TRACE_CHUNK;
    manager->alloc = alloc_default();
    manager->listen_fd = -1;
    manager->archive.fd = options->fd;
    manager->mode = options->mode;
    manager->chunks = chunks == 0                 ? TRACE_CHUNKS_DEFAULT
                      : chunks < TRACE_CHUNKS_MIN ? TRACE_CHUNKS_MIN
                                                  : (uint32_t)chunks;
    manager->programs_max = options->max_programs ? options->max_programs : PROGRAMS_DEFAULT;
    if (start_manager(manager, options, error) == TTR_OK)
        return manager;
    free_manager(manager);
    return NULL;
}

/* --- The loop --- */

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Refuses connections that send no greeting in time. Counts programs that are disconnected because
 * of what they wrote to their memory. */
static void check_program_state(ttr_manager *manager, struct program *program)
{
    if (program->is_welcomed || program->socket_fd < 0) {
        manager->stats.expelled += program->violations >= RECORDER_VIOLATIONS_MAX;
        return;
    }
    if (program->accepted_ms == 0)
        program->accepted_ms = now_ms();
    if (now_ms() - program->accepted_ms <= GREETING_MS)
        return;
    (void)close(program->socket_fd);
    program->socket_fd = -1;
    manager->stats.refused++;
}

/* Ends the programs that have no connection any more, and closes the gaps in the list. */
static void remove_ended_programs(ttr_manager *manager)
{
    size_t kept = 0;
    for (size_t i = 0; i < manager->programs_n; i++)
        check_program_state(manager, &manager->programs[i]);
    for (size_t i = 0; i < manager->programs_n; i++) {
        struct program *program = &manager->programs[i];
        if (program->socket_fd >= 0 && program->violations < RECORDER_VIOLATIONS_MAX)
            manager->programs[kept++] = *program;
        else
            program_end(manager, program);
    }
    manager->programs_n = kept;
}

/* Waits for descriptors: the caller's, the listening one, and two per program. Returns false if
 * memory is exhausted; then nothing was waited for. */
static bool wait_for_work(ttr_manager *manager, unsigned limit_ms, int wake_fd, bool *is_woken)
{
    const size_t n = 2 + 2 * manager->programs_n;
    struct pollfd *list = alloc_zero(manager->alloc, n, sizeof *list);
    if (!list)
        return false;
    list[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    list[1] = (struct pollfd){.fd = manager->listen_fd, .events = POLLIN};
    for (size_t i = 0; i < manager->programs_n; i++) {
        list[2 + 2 * i] = (struct pollfd){.fd = manager->programs[i].socket_fd, .events = POLLIN};
        list[3 + 2 * i] = (struct pollfd){.fd = manager->programs[i].wake_fd, .events = POLLIN};
    }
    const size_t programs = manager->programs_n;
    if (poll(list, n, (int)limit_ms) > 0) {
        *is_woken = list[0].revents != 0;
        for (size_t i = 0; i < programs; i++) {
            struct program *program = &manager->programs[i];
            uint64_t count;
            if (list[3 + 2 * i].revents)
                (void)!read(program->wake_fd, &count, sizeof count);
            if (list[2 + 2 * i].revents && !program_receive(manager, program)) {
                (void)close(program->socket_fd);
                program->socket_fd = -1;
            }
        }
        if (list[1].revents)
            program_accept(manager);
    }
    alloc_free(manager->alloc, list, n, sizeof *list);
    return true;
}

/* Reports the first failed write, once. */
static ttr_status check_output(ttr_manager *manager, ttr_error *error)
{
    if (manager->archive.reason == 0 || manager->archive.is_reported)
        return TTR_OK;
    manager->archive.is_reported = true;
    return fail(error, TTR_E_IO, 0, "cannot write: %s", strerror(manager->archive.reason));
}

ttr_status ttr_manager_run(ttr_manager *manager, unsigned limit_ms, int wake_fd, ttr_error *error)
{
    const uint64_t end = now_ms() + limit_ms;
    bool is_woken = false, is_busy = false;
    do {
        const uint64_t now = now_ms(), left = end > now ? end - now : 0;
        const unsigned wait = is_busy ? 0 : (unsigned)(left < TICK_MS ? left : TICK_MS);
        if (!wait_for_work(manager, wait, wake_fd, &is_woken))
            return fail(error, TTR_E_NOMEM, 0, "out of memory");
        is_busy = false;
        for (size_t i = 0; i < manager->programs_n; i++)
            is_busy |= program_drain(manager, &manager->programs[i], false);
        remove_ended_programs(manager);
    } while (!is_woken && now_ms() < end);
    return check_output(manager, error);
}

ttr_status ttr_manager_snapshot(ttr_manager *manager, ttr_error *error)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        (void)program_drain(manager, &manager->programs[i], true);
    return check_output(manager, error);
}

bool ttr_manager_triggered(ttr_manager *manager, char name[108])
{
    const bool is_triggered = manager->is_triggered;
    manager->is_triggered = false;
    memcpy(name, manager->trigger, sizeof manager->trigger);
    return is_triggered;
}

void ttr_manager_get_stats(const ttr_manager *manager, ttr_manager_stats *stats)
{
    *stats = manager->stats;
    stats->size = sizeof *stats;
    stats->connected = (uint32_t)manager->programs_n;
    stats->bytes = manager->archive.whole;
    stats->unwritten = manager->archive.unwritten;
}

bool ttr_manager_program_at(const ttr_manager *manager, size_t i, ttr_manager_program *program)
{
    if (i >= manager->programs_n)
        return false;
    const struct program *found = &manager->programs[i];
    *program = (ttr_manager_program){.pid = found->pid, .name = found->name};
    for (uint32_t k = 0; found->rings && k < TRACE_RINGS_MAX; k++) {
        program->threads += found->rings[k].done != 0;
        program->dropped += found->rings[k].dropped;
    }
    return true;
}

ttr_status ttr_manager_close(ttr_manager *manager, ttr_error *error)
{
    if (!manager)
        return TTR_OK;
    const uint64_t frequency = trace_clock_frequency(&manager->clock);
    for (size_t i = 0; i < manager->programs_n; i++) {
        struct program *program = &manager->programs[i];
        if (program->is_welcomed)
            memset(program->flags, 0, (size_t)TRACE_MODULES_MAX * TRACE_PAGE);
        program_end(manager, program);
    }
    manager->programs_n = 0;
    for (size_t i = 0; i < manager->frequencies_n; i++)
        archive_rewrite(&manager->archive, manager->frequencies[i], frequency);
    const ttr_status status = check_output(manager, error);
    free_manager(manager);
    return status;
}
