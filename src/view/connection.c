/* One connection: requests are read and answered in turn by its thread.
 *
 * Limits: 16 KB for the head of a request, 30 s for a request to arrive and for an answer to leave.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "view/view.h"

#define HEAD_MAX 16384u
#define TIMEOUT_MS 30000
#define STEP_MS 250 /* ms between two checks of is_stopping */
#define EVENT_MS 50 /* ms between two checks of view->version */

struct connection {
    ttr_view *view;
    struct view_slot *slot;
    int fd;
    char bytes[HEAD_MAX];
    size_t n;
};

int64_t http_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready. Returns false at the deadline, or if the server stops. */
static bool wait_ready(const struct connection *connection, short events, int64_t deadline)
{
    while (!atomic_load(&connection->view->is_stopping) && http_now_ms() < deadline) {
        struct pollfd ready = {.fd = connection->fd, .events = events};
        const int n = poll(&ready, 1, STEP_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
    return false;
}

static bool send_all(const struct connection *connection, const char *bytes, size_t n)
{
    const int64_t deadline = http_now_ms() + TIMEOUT_MS;
    while (n > 0) {
        const ssize_t sent = send(connection->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
        } else if ((errno != EAGAIN && errno != EINTR) ||
                   !wait_ready(connection, POLLOUT, deadline)) {
            return false;
        }
    }
    return true;
}

static bool is_cancelled(void *ctx)
{
    const struct connection *connection = ctx;
    char byte;
    if (atomic_load(&connection->view->is_stopping))
        return true;
    const ssize_t n = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 303:
        return "See Other";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 421:
        return "Misdirected Request";
    default:
        return "Service Unavailable";
    }
}

static const char security_lines[] =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; frame-src 'self'; frame-ancestors 'self'; base-uri "
    "'none'; "
    "form-action 'none'; require-trusted-types-for 'script'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

static bool send_answer(const struct connection *connection, const struct answer *answer,
                        const char *lines, bool is_kept)
{
    char head[2048];
    const int n =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %d %s\r\n%s%sContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
                 answer->status, reason_of(answer->status), security_lines, lines, answer->type,
                 answer->body.n, is_kept ? "" : "Connection: close\r\n");
    return n > 0 && (size_t)n < sizeof head && send_all(connection, head, (size_t)n) &&
           send_all(connection, answer->body.p, answer->body.n);
}

static bool send_refusal(const struct connection *connection, int status)
{
    struct answer answer = {.status = status, .type = "text/plain; charset=utf-8"};
    const char *text =
        status == 403 ? "forbidden: open the address that the terminal shows\n" : reason_of(status);
    reply_append(&answer.body, text, strlen(text));
    (void)send_answer(connection, &answer, "", false);
    reply_free(&answer.body);
    return false;
}

/* Sends a redirect that sets the cookie and removes the secret from the address. */
static bool send_cookie(const struct connection *connection)
{
    char lines[256];
    const struct answer answer = {.status = 303, .type = "text/plain; charset=utf-8"};
    (void)snprintf(
        lines, sizeof lines,
        "Location: /\r\nSet-Cookie: tracetta_%u=%s; Path=/; HttpOnly; SameSite=Strict\r\n",
        connection->view->port, connection->view->secret);
    return send_answer(connection, &answer, lines, true);
}

/* Sends server-sent events until the page closes the connection. Open streams are counted in
 * view->pages. */
static bool stream_events(const struct connection *connection, ttr_view *view)
{
    char head[2048];
    unsigned version = atomic_load(&view->version); /* the page may have older rows */
    const int n =
        snprintf(head, sizeof head,
                 "HTTP/1.1 200 OK\r\n%sContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                 "data: %u\n\n",
                 security_lines, version);
    (void)atomic_fetch_add(&view->pages, 1);
    if (view->first)
        (void)atomic_fetch_add(&view->first->pages, 1);
    atomic_store(&connection->view->had_page, true);
    bool is_open = n > 0 && send_all(connection, head, (size_t)n);
    while (is_open && !atomic_load(&connection->view->is_stopping)) {
        struct pollfd ready = {.fd = connection->fd, .events = POLLIN};
        const int came = poll(&ready, 1, EVENT_MS);
        if (version != atomic_load(&view->version)) {
            version = atomic_load(&view->version);
            is_open = send_all(connection, "event: grown\ndata: grown\n\n", 26);
        }
        is_open = is_open && (came <= 0 || !is_cancelled((void *)(uintptr_t)connection));
        if (came > 0 && is_open) /* the client must not send more */
            break;
    }
    if (is_open)
        (void)send_all(connection, "event: end\ndata: end\n\n", 22);
    (void)atomic_fetch_sub(&view->pages, 1);
    if (view->first)
        (void)atomic_fetch_sub(&view->first->pages, 1);
    return false;
}

/* Finds the view of a request by the folder in its path: of two views, the first is "/a/", the
 * second
 * "/b/", and "/" is the page that shows both. */
static ttr_view *find_view(ttr_view *view, struct request *request)
{
    if (!view->second)
        return view;
    const bool is_first = strncmp(request->path, "/a/", 3) == 0;
    if (is_first || strncmp(request->path, "/b/", 3) == 0) {
        request->path += 2;
        return is_first ? view : view->second;
    }
    if (strcmp(request->path, "/") == 0)
        request->path = "/compare.html";
    return view;
}

static bool answer_request(struct connection *connection, struct http_head *head)
{
    const int status = http_check(connection->view, head);
    if (status == 303)
        return send_cookie(connection);
    if (status != 200)
        return send_refusal(connection, status);
    char *mark = strchr(head->target, '?');
    if (mark)
        *mark = '\0';
    struct request request = {.path = head->target,
                              .query = mark ? mark + 1 : "",
                              .is_cancelled = is_cancelled,
                              .ctx = connection};
    ttr_view *view = find_view(connection->view, &request);
    if (strcmp(request.path, "/events") == 0)
        return stream_events(connection, view);
    struct answer answer;
    view_answer(view, &request, &answer);
    const bool is_sent = send_answer(connection, &answer, "", head->is_kept);
    reply_free(&answer.body);
    return is_sent && head->is_kept;
}

/* Notes in the slot whether the connection waits for a request. */
static void mark_idle(const struct connection *connection, bool is_idle)
{
    (void)pthread_mutex_lock(&connection->view->slots_lock);
    connection->slot->idle_since = is_idle ? http_now_ms() : 0;
    (void)pthread_mutex_unlock(&connection->view->slots_lock);
}

/* Reads until a complete head is in the buffer. Returns its length, 0 at the end or on failure. */
static size_t read_head(struct connection *connection)
{
    const int64_t deadline = http_now_ms() + TIMEOUT_MS;
    mark_idle(connection, true);
    for (;;) {
        const char *end = memmem(connection->bytes, connection->n, "\r\n\r\n", 4);
        if (end) {
            mark_idle(connection, false);
            return (size_t)(end - connection->bytes) + 4;
        }
        if (connection->n == HEAD_MAX || !wait_ready(connection, POLLIN, deadline))
            return 0;
        const ssize_t got = recv(connection->fd, connection->bytes + connection->n,
                                 HEAD_MAX - connection->n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
        connection->n += got > 0 ? (size_t)got : 0;
    }
}

void http_serve_connection(ttr_view *view, struct view_slot *slot)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct http_head *head = calloc(1, sizeof *head);
    size_t n;
    if (connection && head) {
        connection->view = view;
        connection->slot = slot;
        connection->fd = slot->fd;
        while ((n = read_head(connection)) > 0) {
            const bool is_kept = http_parse_head(connection->bytes, n, head)
                                     ? answer_request(connection, head)
                                     : send_refusal(connection, 400);
            if (!is_kept)
                break;
            memmove(connection->bytes, connection->bytes + n, connection->n - n);
            connection->n -= n;
        }
    }
    free(head);
    free(connection);
    (void)pthread_mutex_lock(&view->slots_lock);
    (void)close(slot->fd);
    slot->is_used = false;
    (void)pthread_mutex_unlock(&view->slots_lock);
}
