/* State machine of a command: connect, send, receive the header, receive the payload. */
#include "dotnet/call.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

/* ms between two attempts to connect to a socket with a full backlog */
#define RETRY_MS 10u
/* bytes received at a time, so that a false size costs no memory */
#define RECEIVE_PART_MAX 65536u

void call_init(struct call *call, ttr_dotnet *target, const char *what)
{
    *call = (struct call){
        .target = target, .what = what, .fd = -1, .deadline = socket_now_ms() + target->limit_ms};
    buffer_init(&call->out, target->alloc);
    buffer_init(&call->in, target->alloc);
}

void call_free(struct call *call)
{
    if (call->fd >= 0)
        (void)close(call->fd);
    call->fd = -1;
    buffer_free(&call->out);
    buffer_free(&call->in);
}

int call_take_fd(struct call *call)
{
    int fd = call->fd;
    call->fd = -1;
    return fd;
}

struct cursor call_payload(const struct call *call)
{
    return cursor_init(call->in.n ? call->in.bytes : (const uint8_t *)"", call->in.n, 0);
}

struct pollfd call_fill_poll_entry(const struct call *call)
{
    return (struct pollfd){.fd = call->fd, .events = call->sent < call->out.n ? POLLOUT : POLLIN};
}

static ttr_status call_send(struct call *call, ttr_error *error)
{
    while (call->sent < call->out.n) {
        ssize_t n =
            send(call->fd, call->out.bytes + call->sent, call->out.n - call->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return TTR_AGAIN;
        if (n < 0)
            return fail_sys(error, errno, NO_OFFSET, "cannot send %s to the runtime", call->what);
        call->sent += (size_t)n;
    }
    return TTR_OK;
}

/* Receives until call->in has n bytes, and no more: bytes after the answer belong to the event
 * stream. */
static ttr_status call_receive(struct call *call, size_t n, ttr_error *error)
{
    while (call->in.n < n) {
        size_t part_n = n - call->in.n < RECEIVE_PART_MAX ? n - call->in.n : RECEIVE_PART_MAX;
        uint8_t *room = buffer_room(&call->in, part_n);
        if (!room)
            return fail_memory(error);
        ssize_t got_bytes = recv(call->fd, room, part_n, 0);
        if (got_bytes < 0 && errno == EINTR)
            continue;
        if (got_bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return TTR_AGAIN;
        if (got_bytes < 0)
            return fail_sys(error, errno, NO_OFFSET, "the runtime did not answer %s", call->what);
        if (got_bytes == 0)
            return fail(
                error, TTR_E_IO, NO_OFFSET,
                "the runtime closed the connection %s its answer to %s (did the process end?)",
                call->in.n ? "within" : "before", call->what);
        buffer_commit(&call->in, (size_t)got_bytes);
    }
    return TTR_OK;
}

static ttr_status call_parse_result(const struct call *call, ttr_error *error)
{
    struct cursor from = call_payload(call);
    uint32_t result = cursor_u32le(&from);
    if (!call->answer.is_error)
        return TTR_OK;
    if (from.failed)
        return fail(error, TTR_E_MALFORMED, NO_OFFSET, "the runtime refused %s without a reason",
                    call->what);
    ttr_status status =
        result == IPC_UNKNOWN_COMMAND || result == IPC_NOT_SUPPORTED ? TTR_E_UNSUPPORTED : TTR_E_IO;
    return fail(error, status, NO_OFFSET, "the runtime refused %s: %s (0x%08X)", call->what,
                ipc_result_text(result), result);
}

static ttr_status advance_states(struct call *call, ttr_error *error)
{
    ttr_status status = TTR_OK;
    if (call->out.failed)
        return fail_memory(error);
    if (call->fd < 0)
        status = target_connect(call->target, &call->fd, error);
    if (status == TTR_OK)
        status = call_send(call, error);
    if (status == TTR_OK && !call->has_answer) {
        status = call_receive(call, IPC_HEADER_SIZE, error);
        if (status == TTR_OK && !ipc_parse_answer(call->in.bytes, &call->answer))
            return fail(error, TTR_E_MALFORMED, NO_OFFSET,
                        "the answer to %s is not from a .NET runtime; check the path of the socket",
                        call->what);
        call->has_answer = status == TTR_OK;
        if (call->has_answer)
            buffer_clear(&call->in);
    }
    if (status == TTR_OK)
        status = call_receive(call, call->answer.payload, error);
    return status == TTR_OK ? call_parse_result(call, error) : status;
}

ttr_status call_continue(struct call *call, ttr_error *error)
{
    ttr_status status = advance_states(call, error);
    if (status == TTR_AGAIN && socket_now_ms() >= call->deadline)
        return fail(error, TTR_E_IO, NO_OFFSET,
                    "the runtime did not answer %s within %u ms (is the process stopped, or are "
                    "all its threads busy?)",
                    call->what, call->target->limit_ms);
    return status;
}

/* Polls the connection of the call and the listening socket, at most until the deadline. Other
 * runtimes that connect are served here, because a pending connection would end each later poll()
 * at once. */
static void call_poll(const struct call *call)
{
    struct pollfd waits[TARGET_WAITS + 1];
    size_t n = target_poll_entries(call->target, waits);
    uint64_t now = socket_now_ms(), left = now < call->deadline ? call->deadline - now : 0;
    waits[n] = call_fill_poll_entry(call);
    if (waits[n].fd < 0 && call->target->listener < 0 && left > RETRY_MS)
        left = RETRY_MS;
    (void)poll(waits, (nfds_t)(n + 1), (int)(left < INT32_MAX ? left : INT32_MAX));
    target_accept_connections(call->target);
}

ttr_status call_run_blocking(struct call *call, ttr_error *error)
{
    for (;;) {
        ttr_status status = call_continue(call, error);
        if (status != TTR_AGAIN)
            return status;
        if (target_is_woken(call->target))
            return fail(error, TTR_AGAIN, NO_OFFSET, "%s was cancelled", call->what);
        call_poll(call);
    }
}

ttr_status call_receive_extra(struct call *call, size_t n, ttr_error *error)
{
    buffer_clear(&call->in);
    call->deadline = socket_now_ms() + call->target->limit_ms;
    for (;;) {
        ttr_status status = call_receive(call, n, error);
        if (status != TTR_AGAIN)
            return status;
        if (target_is_woken(call->target))
            return fail(error, TTR_AGAIN, NO_OFFSET, "%s was cancelled", call->what);
        if (socket_now_ms() >= call->deadline)
            return fail(error, TTR_E_IO, NO_OFFSET,
                        "the runtime's answer to %s stopped after %zu of %zu bytes", call->what,
                        call->in.n, n);
        call_poll(call);
    }
}
