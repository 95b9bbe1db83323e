/* Buffers and time limit of a connection to a relay daemon. */
#include "formats/ctf/live/live_link.h"

#include <string.h>

#include "base/status.h"

/* ms; a longer pause between two calls extends the deadline by the pause: the caller was
 * suspended, not the daemon slow */
#define ABSENCE_MS 250u

void live_link_init(struct live_link *link, const struct alloc *alloc, unsigned limit_ms)
{
    *link = (struct live_link){.limit_ms = limit_ms};
    buffer_init(&link->out, alloc);
    buffer_init(&link->in, alloc);
}

void live_link_start(struct live_link *link, struct socket *socket)
{
    live_link_close(link);
    link->socket = socket;
    link->received = 0;
    link->deadline = 0;
}

void live_link_close(struct live_link *link)
{
    socket_close(link->socket);
    link->socket = NULL;
    link->out.n = link->sent = 0;
    link->in.n = link->used = 0;
    link->out.failed = false;
}

void live_link_free(struct live_link *link)
{
    live_link_close(link);
    buffer_free(&link->out);
    buffer_free(&link->in);
}

static ttr_status send_available_bytes(struct live_link *link, bool *has_moved, ttr_error *error)
{
    if (link->out.failed)
        return fail_memory(error);
    while (link->sent < link->out.n) {
        int64_t sent = socket_send(link->socket, link->out.bytes + link->sent,
                                   link->out.n - link->sent, error);
        if (sent < 0)
            return TTR_E_IO;
        if (sent == 0)
            return TTR_OK;
        link->sent += (size_t)sent;
        *has_moved = true;
    }
    link->out.n = link->sent = 0;
    return TTR_OK;
}

static ttr_status receive_available_bytes(struct live_link *link, bool *has_moved, ttr_error *error)
{
    size_t left = link->in.n - link->used;
    if (link->used && left)
        memmove(link->in.bytes, link->in.bytes + link->used, left);
    link->in.n = left;
    link->used = 0;
    uint8_t *room = buffer_room(&link->in, LIVE_IN_BYTES - left);
    if (!room)
        return fail_memory(error);
    if (left == LIVE_IN_BYTES)
        return TTR_OK;
    int64_t got = socket_receive(link->socket, room, LIVE_IN_BYTES - left, error);
    if (got < 0)
        return TTR_E_IO;
    buffer_commit(&link->in, (size_t)got);
    link->received += (uint64_t)got;
    *has_moved |= got > 0;
    return TTR_OK;
}

ttr_status live_link_exchange(struct live_link *link, bool is_waiting, ttr_error *error)
{
    bool has_moved = false;
    uint64_t now = socket_now_ms();
    if (!is_waiting) {
        link->deadline = 0;
    } else if (link->deadline == 0 || link->received - link->paced >= LIVE_PACE) {
        link->deadline = now + link->limit_ms;
        link->paced = link->received;
    } else if (now - link->looked > ABSENCE_MS) {
        link->deadline += now - link->looked;
    }
    link->looked = now;
    ttr_status status = send_available_bytes(link, &has_moved, error);
    if (status == TTR_OK)
        status = receive_available_bytes(link, &has_moved, error);
    if (status != TTR_OK)
        return status;
    if (link->deadline && now > link->deadline)
        return fail(error, TTR_E_IO, NO_OFFSET, "the relay daemon sent less than %u bytes in %u ms",
                    LIVE_PACE, link->limit_ms);
    return has_moved ? TTR_OK : TTR_AGAIN;
}

struct cursor live_link_received(const struct live_link *link)
{
    size_t n = link->in.n - link->used;
    return cursor_init(n ? link->in.bytes + link->used : (const uint8_t *)"", n,
                       link->received - n);
}

void live_link_consume(struct live_link *link, size_t n)
{
    link->used += n;
}
