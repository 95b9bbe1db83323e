/* Answers of a manager to controllers (tracetta/session.h).
 *
 * Each request has one answer, so that a controller that does not read cannot fill the memory of
 * the manager.  Lists are asked row by row. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "recorder/recorder.h"

/* Copies a text into an answer; a longer one is cut. */
static void append_answer_text(struct trace_answer *answer, const char *text)
{
    const size_t n = strnlen(text, sizeof answer->text - 1);
    memcpy(answer->text, text, n);
    answer->text[n] = '\0';
}

/* Fills the numbers in the order in which session.c reads them, then the name of the output and the
 * filter, each with a terminating zero. */
static void answer_info(const ttr_manager *manager, struct trace_answer *answer)
{
    ttr_manager_stats stats;
    ttr_manager_get_stats(manager, &stats);
    const uint64_t numbers[] = {manager->mode,     (uint64_t)manager->chunks * TRACE_CHUNK,
                                stats.events,      stats.dropped,
                                stats.overwritten, stats.unwritten,
                                stats.invalid,     stats.bytes,
                                stats.programs,    stats.connected,
                                stats.refused,     stats.expelled,
                                stats.open_zones};
    memcpy(answer->number, numbers, sizeof numbers);
    const size_t n = strlen(manager->output_name) + 1;
    memcpy(answer->text, manager->output_name, n);
    (void)snprintf(answer->text + n, sizeof answer->text - n, "%s", manager->categories);
}

static void answer_program(const ttr_manager *manager, size_t i, struct trace_answer *answer)
{
    ttr_manager_program program;
    if (!ttr_manager_program_at(manager, i, &program)) {
        answer->status = TRACE_ANSWER_END;
        return;
    }
    answer->number[0] = program.pid;
    answer->number[1] = program.threads;
    answer->number[2] = program.dropped;
    append_answer_text(answer, program.name);
}

static void answer_category(const ttr_manager *manager, size_t i, struct trace_answer *answer)
{
    size_t at = 0;
    while (at < manager->programs_n && i >= manager->programs[at].categories_n)
        i -= manager->programs[at++].categories_n;
    if (at == manager->programs_n) {
        answer->status = TRACE_ANSWER_END;
        return;
    }
    const struct program *program = &manager->programs[at];
    const struct program_category *category = &program->categories[i];
    answer->number[0] = program->pid;
    /* The program only reads its enable bytes, so it cannot have changed this value. */
    answer->number[1] = program->flags[category->page * TRACE_PAGE + category->index];
    append_answer_text(answer, category->name);
}

static void set_failed(struct trace_answer *answer, const char *reason)
{
    answer->status = TRACE_ANSWER_FAILED;
    append_answer_text(answer, reason);
}

static void set_filter(ttr_manager *manager, const char *filter, struct trace_answer *answer)
{
    ttr_error error;
    if (manager_check_filter(filter, &error) != TTR_OK) {
        set_failed(answer, error.text);
        return;
    }
    (void)snprintf(manager->categories, sizeof manager->categories, "%s", filter);
    programs_enable(manager);
}

static void write_snapshot(ttr_manager *manager, struct trace_answer *answer)
{
    ttr_error error;
    if (ttr_manager_snapshot(manager, &error) != TTR_OK)
        set_failed(answer, error.text);
}

static void set_mode(ttr_manager *manager, uint32_t mode, struct trace_answer *answer)
{
    ttr_error error;
    if (ttr_manager_set_mode(manager, (enum ttr_manager_mode)mode, &error) != TTR_OK)
        set_failed(answer, error.text);
}

bool control_answer(ttr_manager *manager, const struct program *controller,
                    const struct trace_message *request)
{
    struct trace_answer answer = {
        .magic = TRACE_MESSAGE_MAGIC, .status = TRACE_ANSWER_DONE, .request = request->number};
    const bool is_allowed = controller->uid == geteuid() || controller->uid == 0;
    if (!is_allowed)
        answer.status = TRACE_ANSWER_DENIED;
    else if (request->a == TRACE_REQUEST_INFO)
        answer_info(manager, &answer);
    else if (request->a == TRACE_REQUEST_PROGRAM)
        answer_program(manager, request->b, &answer);
    else if (request->a == TRACE_REQUEST_CATEGORY)
        answer_category(manager, request->b, &answer);
    else if (request->a == TRACE_REQUEST_FILTER)
        set_filter(manager, request->text, &answer);
    else if (request->a == TRACE_REQUEST_SNAPSHOT)
        write_snapshot(manager, &answer);
    else if (request->a == TRACE_REQUEST_STOP)
        manager->is_stop_requested = true;
    else if (request->a == TRACE_REQUEST_MODE)
        set_mode(manager, request->b, &answer);
    else
        set_failed(&answer, "the manager does not know this request: it is of another version");
    (void)send(controller->socket_fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
    return is_allowed;
}
