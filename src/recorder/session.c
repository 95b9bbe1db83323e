/* Control of sessions from outside (tracetta/session.h). */
#include <tracetta/session.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "recorder/session_folder.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

#define PATIENCE_MS 5000

struct ttr_session {
    int fd;
    uint64_t pid;
    uint32_t requests;          /* number of the last request */
    struct trace_answer answer; /* last answer; texts of results point into it */
};

/* --- Finding --- */

struct found {
    uint64_t *pids;
    size_t room, n;
};

static bool add_session(void *ctx, uint64_t pid, const char *socket)
{
    struct found *found = ctx;
    const int fd = session_connect(socket);
    if (fd < 0) {
        session_folder_remove_dead(socket);
        return true;
    }
    (void)close(fd);
    size_t at = found->n < found->room ? found->n : found->room;
    for (; at > 0 && found->pids[at - 1] > pid; at--)
        if (at < found->room)
            found->pids[at] = found->pids[at - 1];
    if (at < found->room)
        found->pids[at] = pid;
    found->n++;
    return true;
}

size_t ttr_session_find(uint64_t *pids, size_t n)
{
    struct found found = {.pids = pids, .room = n};
    session_folders_visit(add_session, &found);
    return found.n;
}

struct wanted {
    uint64_t pid;
    int fd;
};

static bool open_wanted(void *ctx, uint64_t pid, const char *socket)
{
    struct wanted *wanted = ctx;
    if (pid == wanted->pid)
        wanted->fd = session_connect(socket);
    return wanted->fd < 0;
}

/* Sets *pid to the process of the only session. Fails if there is none or more than one. */
static ttr_status choose_session(uint64_t *pid, ttr_error *error)
{
    uint64_t found[2];
    const size_t n = ttr_session_find(found, 2);
    if (n == 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "no session: no \"tracetta record\" of this user is running");
    if (n > 1)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "%zu sessions exist, of the processes %" PRIu64 ", %" PRIu64 "%s: choose one",
                    n, found[0], found[1], n > 2 ? ", ..." : "");
    *pid = found[0];
    return TTR_OK;
}

ttr_session *ttr_session_open(uint64_t pid, ttr_error *error)
{
    struct wanted wanted = {.pid = pid, .fd = -1};
    if (pid == 0 && choose_session(&wanted.pid, error) != TTR_OK)
        return NULL;
    session_folders_visit(open_wanted, &wanted);
    if (wanted.fd < 0) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "process %" PRIu64 " has no session of this user", wanted.pid);
        return NULL;
    }
    ttr_session *session = alloc_zero(alloc_default(), 1, sizeof *session);
    if (!session) {
        (void)close(wanted.fd);
        (void)fail_memory(error);
        return NULL;
    }
    session->fd = wanted.fd;
    session->pid = wanted.pid;
    return session;
}

void ttr_session_close(ttr_session *session)
{
    if (!session)
        return;
    (void)close(session->fd);
    alloc_free(alloc_default(), session, 1, sizeof *session);
}

/* --- Requests --- */

/* Receives an answer of the manager. Returns false if none comes. */
static bool receive_next_answer(ttr_session *session)
{
    struct pollfd wait = {.fd = session->fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&wait, 1, PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    return ready == 1 && recv(session->fd, &session->answer, sizeof session->answer,
                              MSG_DONTWAIT) == sizeof session->answer;
}

/* Receives the answer to the last request. Skips answers to earlier requests, which came too late.
 * Returns false if none comes. */
static bool receive_answer(ttr_session *session)
{
    for (uint32_t i = 0; i <= session->requests; i++) {
        if (!receive_next_answer(session))
            return false;
        if (session->answer.request == session->requests)
            return true;
    }
    return false;
}

static ttr_status request(ttr_session *session, enum trace_request what, size_t index,
                          const char *text, ttr_error *error)
{
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC,
                                    .version = TRACE_VERSION,
                                    .kind = TRACE_CONTROL,
                                    .a = what,
                                    .b = index < UINT32_MAX ? (uint32_t)index : UINT32_MAX,
                                    .number = ++session->requests};
    struct trace_answer *answer = &session->answer;
    const size_t n = strlen(text);
    if (n >= sizeof message.text)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "categories are longer than %zu bytes",
                    sizeof message.text - 1);
    memcpy(message.text, text, n);
    if (send(session->fd, &message, sizeof message, MSG_NOSIGNAL) != sizeof message ||
        !receive_answer(session) || answer->magic != TRACE_MESSAGE_MAGIC)
        return fail(error, TTR_E_IO, NO_OFFSET,
                    "the session of process %" PRIu64 " does not answer: it may have ended",
                    session->pid);
    answer->text[sizeof answer->text - 1] = '\0';
    if (answer->status == TRACE_ANSWER_DONE)
        return TTR_OK;
    if (answer->status == TRACE_ANSWER_END)
        return TTR_END;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "%s",
                answer->status == TRACE_ANSWER_DENIED ? "the session belongs to another user"
                                                      : answer->text);
}

ttr_status ttr_session_get_info(ttr_session *session, ttr_session_info *info, ttr_error *error)
{
    const ttr_status status = request(session, TRACE_REQUEST_INFO, 0, "", error);
    const struct trace_answer *answer = &session->answer;
    const uint64_t *n = answer->number;
    if (status != TTR_OK)
        return status;
    const size_t output = strlen(answer->text);
    *info = (ttr_session_info){
        .size = sizeof *info,
        .pid = session->pid,
        .mode = n[0] <= TTR_MANAGER_ONESHOT ? (enum ttr_manager_mode)n[0] : TTR_MANAGER_STREAMING,
        .buffer_bytes = n[1],
        .output = answer->text,
        .categories = output + 1 < sizeof answer->text ? answer->text + output + 1 : "",
        .stats = {.size = sizeof info->stats,
                  .events = n[2],
                  .dropped = n[3],
                  .overwritten = n[4],
                  .unwritten = n[5],
                  .invalid = n[6],
                  .bytes = n[7],
                  .programs = (uint32_t)n[8],
                  .connected = (uint32_t)n[9],
                  .refused = (uint32_t)n[10],
                  .expelled = (uint32_t)n[11],
                  .open_zones = (uint32_t)n[12]},
    };
    return TTR_OK;
}

ttr_status ttr_session_program_at(ttr_session *session, size_t i, ttr_manager_program *program,
                                  ttr_error *error)
{
    const ttr_status status = request(session, TRACE_REQUEST_PROGRAM, i, "", error);
    const uint64_t *n = session->answer.number;
    if (status == TTR_OK)
        *program = (ttr_manager_program){
            .pid = n[0], .name = session->answer.text, .threads = (uint32_t)n[1], .dropped = n[2]};
    return status;
}

ttr_status ttr_session_category_at(ttr_session *session, size_t i, ttr_session_category *category,
                                   ttr_error *error)
{
    const ttr_status status = request(session, TRACE_REQUEST_CATEGORY, i, "", error);
    if (status == TTR_OK)
        *category = (ttr_session_category){.pid = session->answer.number[0],
                                           .name = session->answer.text,
                                           .level = (unsigned)session->answer.number[1]};
    return status;
}

ttr_status ttr_session_set_categories(ttr_session *session, const char *filter, ttr_error *error)
{
    return request(session, TRACE_REQUEST_FILTER, 0, filter, error);
}

ttr_status ttr_session_set_mode(ttr_session *session, enum ttr_manager_mode mode, ttr_error *error)
{
    return request(session, TRACE_REQUEST_MODE, mode, "", error);
}

ttr_status ttr_session_snapshot(ttr_session *session, ttr_error *error)
{
    return request(session, TRACE_REQUEST_SNAPSHOT, 0, "", error);
}

ttr_status ttr_session_stop(ttr_session *session, ttr_error *error)
{
    return request(session, TRACE_REQUEST_STOP, 0, "", error);
}
