/* The manager: socket, statistics, end (tracetta/record.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status.h"
#include "recorder/recorder.h"
#include "recorder/session_folder.h"
#include "trace/trace_clock.h"
#include "trace/trace_filter.h"

#define PROGRAMS_DEFAULT 256u
#define BUFFER_MAX ((size_t)TRACE_CHUNKS_MAX * TRACE_CHUNK)

/* --- Opening --- */

ttr_status manager_check_filter(const char *filter, ttr_error *error)
{
    if (filter && strlen(filter) >= MANAGER_FILTER_MAX)
        return fail(error, TTR_E_MISUSE, 0, "categories are longer than %u bytes",
                    MANAGER_FILTER_MAX - 1);
    if (!trace_filter_is_valid(filter))
        return fail(error, TTR_E_MISUSE, 0,
                    "categories cannot be \"%s\": expected globs with levels 1 to 5, like "
                    "\"net.*,-net.debug,disk:5\"",
                    filter);
    return TTR_OK;
}

static ttr_status check_options(const ttr_manager_options *options, ttr_error *error)
{
    if (!options || options->size != sizeof *options || options->fd < 0 ||
        options->mode > TTR_MANAGER_ONESHOT)
        return fail(error, TTR_E_MISUSE, 0, "options of the manager are invalid");
    if (options->socket && strlen(options->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return fail(error, TTR_E_MISUSE, 0, "socket path is longer than 107 bytes: %s",
                    options->socket);
    if ((options->rotate_bytes || options->rotate_ms) && !options->next_output)
        return fail(error, TTR_E_MISUSE, 0, "a rotation needs next_output");
    if (options->buffer_bytes > BUFFER_MAX)
        return fail(error, TTR_E_MISUSE, 0, "buffer is larger than 256 MiB");
    return manager_check_filter(options->categories, error);
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
    manager->copy = alloc_zero(manager->alloc, 1, TRACE_CHUNK);
    manager->strings = alloc_zero(manager->alloc, 1, TRACE_STRINGS_SIZE);
    if (!manager->copy || !manager->strings ||
        (options->is_compressed && !archive_compress(&manager->archive)))
        return fail(error, TTR_E_NOMEM, 0, "out of memory");
    (void)snprintf(manager->categories, sizeof manager->categories, "%s",
                   options->categories ? options->categories : "");
    (void)snprintf(manager->output_name, sizeof manager->output_name, "%s",
                   options->output_name ? options->output_name : "");
    trace_clock_choose(&manager->clock);
    manager->ticks_per_second = trace_clock_frequency(&manager->clock);
    manager->zone_min_ticks = (uint64_t)((long double)options->zone_min_ns *
                                         (long double)manager->ticks_per_second / 1e9L);
    char socket[sizeof manager->socket];
    ttr_status status = TTR_OK;
    if (!options->socket) {
        session_folders_clean();
        status = session_folder_make(socket, &manager->folder_fd, error);
    }
    if (status == TTR_OK)
        status = create_socket(manager, options->socket ? options->socket : socket, error);
    if (status != TTR_OK && manager->folder_fd >= 0)
        session_folder_remove(socket);
    if (status == TTR_OK && !archive_start(&manager->archive, options->fd))
        return fail(error, TTR_E_IO, 0, "cannot write: %s",
                    archive_explain_reason(manager->archive.reason));
    return status;
}

static void free_manager(ttr_manager *manager)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        program_end(manager, &manager->programs[i]);
    attach_requests_cancel(manager);
    if (manager->listen_fd >= 0)
        (void)close(manager->listen_fd);
    if (manager->socket[0])
        (void)unlink(manager->socket);
    if (manager->folder_fd >= 0) {
        if (manager->socket[0])
            session_folder_remove(manager->socket);
        (void)close(manager->folder_fd);
    }
    const struct alloc *alloc = manager->alloc;
    alloc_free(alloc, manager->programs, manager->programs_capacity, sizeof *manager->programs);
    alloc_free(alloc, manager->frequencies, manager->frequencies_capacity,
               sizeof *manager->frequencies);
    archive_free(&manager->archive);
    alloc_free(alloc, manager->copy, 1, TRACE_CHUNK);
    alloc_free(alloc, manager->strings, 1, TRACE_STRINGS_SIZE);
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
    manager->listen_fd = manager->folder_fd = -1;
    manager->archive.live_fd = options->live_fd;
    manager->archive.started_ms = recorder_now_ms();
    manager->archive.max_bytes = options->max_bytes;
    manager->rotate_bytes = options->rotate_bytes;
    manager->rotate_ms = options->rotate_ms;
    manager->next_output = options->next_output;
    manager->user_data = options->user_data;
    manager->mode = options->mode;
    manager->may_overwrite = options->mode == TTR_MANAGER_CIRCULAR;
    manager->chunks = chunks == 0                 ? TRACE_CHUNKS_DEFAULT
                      : chunks < TRACE_CHUNKS_MIN ? TRACE_CHUNKS_MIN
                                                  : (uint32_t)chunks;
    const uint64_t rings = PROGRAM_MEMORY_MAX / trace_ring_stride(manager->chunks);
    manager->rings = rings < PROGRAM_RINGS_MIN ? PROGRAM_RINGS_MIN
                     : rings > TRACE_RINGS_MAX ? TRACE_RINGS_MAX
                                               : (uint32_t)rings;
    manager->programs_max = options->max_programs ? options->max_programs : PROGRAMS_DEFAULT;
    if (start_manager(manager, options, error) == TTR_OK)
        return manager;
    free_manager(manager);
    return NULL;
}

ttr_status manager_check_output(ttr_manager *manager, ttr_error *error)
{
    const int reason = manager->archive.reason;
    if (reason == 0 || manager->archive.is_reported)
        return TTR_OK;
    manager->archive.is_reported = true;
    manager->is_stop_requested |= reason == ARCHIVE_LIMIT;
    if (reason == ARCHIVE_LIMIT) /* the caller set this limit, so reaching it is not an error */
        return TTR_OK;
    return fail(error, TTR_E_IO, 0, "cannot write: %s", archive_explain_reason(reason));
}

ttr_status ttr_manager_snapshot(ttr_manager *manager, ttr_error *error)
{
    for (size_t i = 0; i < manager->programs_n; i++)
        (void)program_drain(manager, &manager->programs[i], true);
    return manager_check_output(manager, error);
}

ttr_status ttr_manager_set_mode(ttr_manager *manager, enum ttr_manager_mode mode, ttr_error *error)
{
    if (mode > TTR_MANAGER_ONESHOT)
        return fail(error, TTR_E_MISUSE, 0, "mode %u does not exist", (unsigned)mode);
    const ttr_status status = ttr_manager_snapshot(manager, error);
    manager->mode = mode;
    manager->may_overwrite |= mode == TTR_MANAGER_CIRCULAR;
    for (size_t i = 0; i < manager->programs_n; i++)
        if (manager->programs[i].is_welcomed)
            __atomic_store_n(&get_shared_header(&manager->programs[i])->mode, mode,
                             __ATOMIC_RELEASE);
    return status;
}

bool ttr_manager_triggered(ttr_manager *manager, char name[108])
{
    const bool is_triggered = manager->is_triggered;
    manager->is_triggered = false;
    memcpy(name, manager->trigger, sizeof manager->trigger);
    return is_triggered;
}

bool ttr_manager_stop_requested(const ttr_manager *manager)
{
    return manager->is_stop_requested;
}

const char *ttr_manager_socket(const ttr_manager *manager)
{
    return manager->socket;
}

void ttr_manager_get_stats(const ttr_manager *manager, ttr_manager_stats *stats)
{
    *stats = manager->stats;
    stats->size = sizeof *stats;
    stats->connected = 0;
    for (size_t i = 0; i < manager->programs_n; i++)
        stats->connected += manager->programs[i].is_welcomed;
    stats->bytes = manager->archive.before + manager->archive.whole;
    stats->unwritten = manager->archive.unwritten;
    stats->is_limited = manager->archive.reason == ARCHIVE_LIMIT;
}

bool ttr_manager_program_at(const ttr_manager *manager, size_t i, ttr_manager_program *program)
{
    size_t at = 0;
    for (; at < manager->programs_n; at++)
        if (manager->programs[at].is_welcomed && i-- == 0)
            break;
    if (at >= manager->programs_n)
        return false;
    const struct program *found = &manager->programs[at];
    *program = (ttr_manager_program){.pid = found->pid, .name = found->name};
    for (uint32_t k = 0; k < manager->rings; k++) {
        program->threads += found->rings[k].done != 0;
        program->dropped += found->rings[k].dropped;
    }
    return true;
}

ttr_status ttr_manager_close(ttr_manager *manager, ttr_error *error)
{
    if (!manager)
        return TTR_OK;
    for (size_t i = 0; i < manager->programs_n; i++) {
        struct program *program = &manager->programs[i];
        if (program->is_welcomed)
            memset(program->flags, 0, (size_t)TRACE_MODULES_MAX * TRACE_PAGE);
        program_end(manager, program);
    }
    manager->programs_n = 0;
    rotation_complete_file(manager);
    const ttr_status status = manager_check_output(manager, error);
    free_manager(manager);
    return status;
}
