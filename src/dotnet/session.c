/* EventPipe sessions: one connection carries the event stream, a second one the request to stop.
 *
 * The runtime sends all buffered events and the rundown before it answers StopTracing. Waiting for
 * that answer without reading the stream would deadlock, so each read polls both connections. Order
 * of calls: start, read until the stream ends or the caller stops the session, read to the end,
 * close. A session that is closed without a stop ends as well: the runtime notices the closed
 * connection. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status.h"
#include "dotnet/call.h"
#include "dotnet/framing.h"
#include "io/socket.h"

/* ms; time limit of stopping, an hour: the runtime sends the rundown only as fast as the caller
 * reads it */
#define STOP_MS 3600000u

struct ttr_dotnet_session {
    ttr_dotnet *target;
    int fd;
    uint64_t id;
    enum ipc_command command;
    uint32_t ignored;
    uint64_t rundown;
    struct framing framing;
    struct call stop;
    bool is_stopping; /* StopTracing was sent; its answer is not complete */
    bool is_stop_confirmed, has_ended;
};

/* Records which requested options the used version of the command cannot express, and which rundown
 * results. */
static void record_ignored_options(struct ttr_dotnet_session *session,
                                   const ttr_dotnet_config *wish)
{
    session->rundown = wish->rundown;
    if (session->command < IPC_COLLECT_KEYWORD && wish->rundown)
        session->rundown = TTR_DOTNET_RUNDOWN;
    if (session->command < IPC_COLLECT_RUNDOWN)
        session->rundown = TTR_DOTNET_RUNDOWN;
    if (session->command < IPC_COLLECT_STACKS)
        session->ignored |= wish->flags & TTR_DOTNET_NO_STACKS;
    if (session->command < IPC_COLLECT_BLOCK)
        session->ignored |= wish->flags & TTR_DOTNET_BLOCK;
}

static ttr_status try_collect_version(struct ttr_dotnet_session *session,
                                      const ttr_dotnet_config *wish, ttr_error *error)
{
    struct call call;
    call_init(&call, session->target, "CollectTracing");
    ttr_status status = ipc_write_collect(&call.out, session->command, wish, error);
    if (status == TTR_OK)
        status = call_run_blocking(&call, error);
    if (status == TTR_OK) {
        struct cursor from = call_payload(&call);
        session->id = cursor_u64le(&from);
        if (from.failed)
            status = fail(error, TTR_E_MALFORMED, NO_OFFSET,
                          "the runtime started a session without returning its id");
    }
    if (status == TTR_OK)
        session->fd = call_take_fd(&call);
    call_free(&call);
    return status;
}

ttr_dotnet_session *ttr_dotnet_session_start(ttr_dotnet *target, const ttr_dotnet_config *wish,
                                             ttr_error *error)
{
    ttr_dotnet_provider provider;
    if (wish->size != sizeof *wish || !ttr_dotnet_providers_at(wish->providers, 0, &provider)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "size must be sizeof(ttr_dotnet_config), and at least one provider is required");
        return NULL;
    }
    struct ttr_dotnet_session *session = alloc_zero(target->alloc, 1, sizeof *session);
    if (!session) {
        (void)fail_memory(error);
        return NULL;
    }
    session->target = target;
    session->fd = -1;
    framing_init(&session->framing);
    ttr_status status = TTR_E_UNSUPPORTED;
    enum ipc_command command =
        wish->flags & TTR_DOTNET_BLOCK ? IPC_COLLECT_BLOCK : IPC_COLLECT_FILTER;
    for (; command >= IPC_COLLECT && status == TTR_E_UNSUPPORTED; command--) {
        session->command = command;
        status = try_collect_version(session, wish, error);
    }
    if (status != TTR_OK) {
        ttr_dotnet_close(session);
        return NULL;
    }
    record_ignored_options(session, wish);
    return session;
}

void ttr_dotnet_close(ttr_dotnet_session *session)
{
    if (!session)
        return;
    if (session->is_stopping)
        call_free(&session->stop);
    if (session->fd >= 0)
        (void)close(session->fd);
    alloc_free(session->target->alloc, session, 1, sizeof *session);
}

ttr_status ttr_dotnet_stop(ttr_dotnet_session *session, ttr_error *error)
{
    if (session->is_stopping || session->is_stop_confirmed || session->has_ended)
        return TTR_OK;
    call_init(&session->stop, session->target, "StopTracing");
    session->stop.deadline = socket_now_ms() + STOP_MS;
    ipc_write_stop(&session->stop.out, session->id);
    session->is_stopping = true;
    return session->stop.out.failed ? fail_memory(error) : TTR_OK;
}

/* Continues the call of StopTracing without blocking. Its errors are ignored if the stream has
 * ended. */
static ttr_status advance_stop(struct ttr_dotnet_session *session, ttr_error *error)
{
    if (!session->is_stopping)
        return TTR_OK;
    ttr_status status = call_continue(&session->stop, error);
    if (status == TTR_AGAIN)
        return TTR_OK;
    call_free(&session->stop);
    session->is_stopping = false;
    session->is_stop_confirmed = status == TTR_OK;
    return status;
}

/* Receives available stream bytes. Returns TTR_OK, TTR_AGAIN if nothing is available, or TTR_END if
 * the connection is closed or broken. */
static ttr_status receive_stream(struct ttr_dotnet_session *session, void *to, size_t n,
                                 size_t *got_bytes)
{
    ssize_t received;
    do
        received = recv(session->fd, to, n, 0);
    while (received < 0 && errno == EINTR);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return TTR_AGAIN;
    if (received <= 0) {
        session->has_ended = true;
        return TTR_END;
    }
    framing_scan(&session->framing, to, (size_t)received);
    *got_bytes = (size_t)received;
    return TTR_OK;
}

static void poll_stream_and_stop(const struct ttr_dotnet_session *session, uint64_t left)
{
    struct pollfd waits[TARGET_WAITS + 2];
    size_t n = target_poll_entries(session->target, waits);
    waits[n++] = (struct pollfd){.fd = session->fd, .events = POLLIN};
    if (session->is_stopping)
        waits[n++] = call_fill_poll_entry(&session->stop);
    (void)poll(waits, (nfds_t)n, (int)(left < INT32_MAX ? left : INT32_MAX));
}

ttr_status ttr_dotnet_read(ttr_dotnet_session *session, void *to, size_t n, unsigned limit_ms,
                           size_t *got_bytes, ttr_error *error)
{
    uint64_t deadline = socket_now_ms() + limit_ms;
    *got_bytes = 0;
    if (session->has_ended)
        return TTR_END;
    for (;;) {
        target_accept_connections(session->target);
        ttr_error stopping;
        ttr_status stopped = advance_stop(session, &stopping);
        ttr_status status = receive_stream(session, to, n, got_bytes);
        if (status == TTR_OK && session->framing.is_foreign) {
            session->has_ended = true;
            *got_bytes = 0;
            return fail(error, TTR_E_MALFORMED, 0,
                        "it sends no nettrace: expected a stream that begins with \"Nettrace\"; is "
                        "this the socket of another program?");
        }
        if (status == TTR_OK || status == TTR_END)
            return status;
        if (stopped != TTR_OK) {
            if (error)
                *error = stopping;
            return stopped;
        }
        uint64_t now = socket_now_ms();
        if (now >= deadline || target_is_woken(session->target))
            return TTR_AGAIN;
        poll_stream_and_stop(session, deadline - now);
    }
}

void ttr_dotnet_session_report(const ttr_dotnet_session *session, ttr_dotnet_report *report)
{
    const struct framing *framing = &session->framing;
    *report = (ttr_dotnet_report){
        .size = report->size,
        .bytes = framing->at,
        .complete_bytes = framing->complete_end,
        .closing = {framing->state == FRAMING_BLOCK ? 0 : 1},
        .closing_n = framing->state == FRAMING_BLOCK ? 4 : 1,
        .has_end = framing->state == FRAMING_OVER,
        .is_known = framing->state != FRAMING_UNKNOWN && framing->state != FRAMING_MAGIC &&
                    framing->state != FRAMING_HEAD,
        .is_stop_confirmed = session->is_stop_confirmed,
        .command = (uint32_t)session->command,
        .ignored = session->ignored,
        .rundown = session->rundown,
    };
}
