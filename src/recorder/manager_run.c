/* The loop of a manager: waits for programs and controllers, and serves them in turn. */
#include <poll.h>
#include <unistd.h>

#include "base/status.h"
#include "recorder/recorder.h"

#define GREETING_MS 5000u
#define TICK_MS 100u /* time after which records of chunks that are not full are read */

/* Refuses connections that send no greeting in time. Counts programs that are disconnected because
 * of what they wrote to their memory. */
static void check_program_state(ttr_manager *manager, struct program *program)
{
    if (program->is_welcomed || program->is_controller || program->socket_fd < 0) {
        manager->stats.expelled +=
            program->is_welcomed && program->violations >= RECORDER_VIOLATIONS_MAX;
        return;
    }
    if (program->accepted_ms == 0)
        program->accepted_ms = recorder_now_ms();
    if (recorder_now_ms() - program->accepted_ms <= GREETING_MS)
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

/* Handles a message, or the end of a connection. */
static void serve_connection(ttr_manager *manager, struct program *program)
{
    bool goes_on = program_receive(manager, program);
    if (goes_on && program->request.kind == TRACE_CONTROL) {
        goes_on = control_answer(manager, program, &program->request);
        program->request.kind = 0;
    }
    if (goes_on)
        return;
    (void)close(program->socket_fd);
    program->socket_fd = -1;
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
            if (list[2 + 2 * i].revents)
                serve_connection(manager, program);
        }
        if (list[1].revents)
            program_accept(manager);
    }
    alloc_free(manager->alloc, list, n, sizeof *list);
    return true;
}

static void check_output_name(ttr_manager *manager)
{
    const uint64_t now = recorder_now_ms();
    if (now - manager->output_checked_ms < OUTPUT_CHECK_MS)
        return;
    manager->output_checked_ms = now;
    archive_check_name(&manager->archive);
}

ttr_status ttr_manager_run(ttr_manager *manager, unsigned limit_ms, int wake_fd, ttr_error *error)
{
    const uint64_t end = recorder_now_ms() + limit_ms;
    bool is_woken = false, is_busy = false;
    do {
        const uint64_t now = recorder_now_ms(), left = end > now ? end - now : 0;
        const unsigned wait = is_busy ? 0 : (unsigned)(left < TICK_MS ? left : TICK_MS);
        if (!wait_for_work(manager, wait, wake_fd, &is_woken))
            return fail(error, TTR_E_NOMEM, 0, "out of memory");
        is_busy = false;
        for (size_t i = 0; i < manager->programs_n; i++)
            is_busy |= program_drain(manager, &manager->programs[i], false);
        remove_ended_programs(manager);
        check_output_name(manager);
    } while (!is_woken && !manager->is_stop_requested && recorder_now_ms() < end);
    return manager_check_output(manager, error);
}
