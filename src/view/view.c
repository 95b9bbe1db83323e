/* Views (tracetta/view.h): building, and the server's loop. */
#include "view/view.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLOT_STEP_MS 5
#define SLOT_STEPS 40 /* steps until a connection that was ended has freed its slot */
#define STOP_MS 3000
#define STEP_MS 100
/* number of steps without an open page after which `once` ends the server; a reload needs fewer */
#define CLOSED_STEPS 30

void view_error(ttr_error *error, ttr_status status, const char *format, ...)
{
    va_list arguments;
    if (!error)
        return;
    *error = (ttr_error){.status = status};
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

const char *const *ttr_view_tables(void)
{
    static const char *const tables[] = {"slice",
                                         "track",
                                         "counter",
                                         "counter_track",
                                         "sched",
                                         "thread_state",
                                         "thread",
                                         "process",
                                         "args",
                                         "flow",
                                         "perf_sample",
                                         "stack_profile_callsite",
                                         "stack_profile_frame",
                                         "stack_profile_mapping",
                                         "log",
                                         "loss",
                                         "source",
                                         NULL};
    return tables;
}

static size_t count_connections(ttr_view *view)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&view->slots_lock);
    for (size_t i = 0; i < VIEW_CONNECTIONS; i++)
        n += view->slots[i].is_used;
    (void)pthread_mutex_unlock(&view->slots_lock);
    return n;
}

/* Ends all connections. Returns false if one is still computing after some seconds. */
static bool stop_connections(ttr_view *view)
{
    const int64_t deadline = http_now_ms() + STOP_MS;
    atomic_store(&view->is_stopping, true);
    while (count_connections(view) > 0 && http_now_ms() < deadline)
        (void)poll(NULL, 0, SLOT_STEP_MS);
    if (count_connections(view) > 0)
        return false;
    atomic_store(&view->is_stopping, false);
    return true;
}

ttr_view *ttr_view_new(ttr *t, const ttr_store *store, ttr_error *error)
{
    ttr_view *view = !t == !store ? calloc(1, sizeof *view) : NULL;
    if (!view) {
        view_error(error, !t == !store ? TTR_E_NOMEM : TTR_E_MISUSE, "%s",
                   !t == !store ? "memory is exhausted" : "a store needs its context");
        return NULL;
    }
    view->listener = -1;
    (void)pthread_rwlock_init(&view->data_lock, NULL);
    (void)pthread_mutex_init(&view->query_lock, NULL);
    (void)pthread_mutex_init(&view->slots_lock, NULL);
    view->data = store ? view_make_data(t, store, NULL) : calloc(1, sizeof *view->data);
    if (view->data && !store) {
        view->data->is_partial = true;
        return view;
    }
    if (view->data && (view->query = ttr_query_new(t, store, error))) {
        ttr_query_set_read_only(view->query, true);
        return view;
    }
    if (!view->data)
        view_error(error, TTR_E_NOMEM, "memory is exhausted");
    ttr_view_free(view);
    return NULL;
}

void ttr_view_free(ttr_view *view)
{
    if (!view)
        return;
    if (view->listener >= 0)
        (void)close(view->listener);
    if (!stop_connections(view)) /* a statement still uses it */
        return;
    ttr_query_free(view->query);
    ttr_store_free(view->store);
    view_free_data(view->data);
    (void)pthread_mutex_destroy(&view->slots_lock);
    (void)pthread_mutex_destroy(&view->query_lock);
    (void)pthread_rwlock_destroy(&view->data_lock);
    free(view);
}

void ttr_view_compare(ttr_view *view, ttr_view *second)
{
    if (!view || !second)
        return;
    view->second = second;
    second->first = view;
}

/* --- Listening --- */

static bool make_secret(ttr_view *view)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        view->secret[2 * i] = digits[bytes[i] >> 4];
        view->secret[2 * i + 1] = digits[bytes[i] & 15];
    }
    return true;
}

ttr_status ttr_view_listen(ttr_view *view, const ttr_view_options *options, ttr_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int one = 1;
    if (!view || view->listener >= 0 || (options && options->size == 0)) {
        view_error(error, TTR_E_MISUSE, "expected a view that does not listen yet");
        return TTR_E_MISUSE;
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(options ? options->port : 0);
    view->is_once = options && options->once;
    view->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (view->listener >= 0)
        (void)setsockopt(view->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (view->listener < 0 ||
        bind(view->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(view->listener, (int)VIEW_CONNECTIONS) != 0 ||
        getsockname(view->listener, (struct sockaddr *)&address, &size) != 0 ||
        !make_secret(view)) {
        view_error(error, TTR_E_IO, "127.0.0.1:%u: cannot listen: %s; choose another port",
                   options ? options->port : 0u, strerror(errno));
        if (view->listener >= 0)
            (void)close(view->listener);
        view->listener = -1;
        return TTR_E_IO;
    }
    view->port = ntohs(address.sin_port);
    (void)snprintf(view->url, sizeof view->url, "http://127.0.0.1:%u/?k=%s", view->port,
                   view->secret);
    return TTR_OK;
}

const char *ttr_view_url(const ttr_view *view)
{
    return view ? view->url : "";
}

/* --- Serving --- */

struct accepted {
    ttr_view *view;
    struct view_slot *slot;
};

static void *run_connection(void *ctx)
{
    const struct accepted accepted = *(struct accepted *)ctx;
    free(ctx);
    http_serve_connection(accepted.view, accepted.slot);
    return NULL;
}

/* Returns a free slot for a connection, or NULL.  If all are used, ends the connection that has
 * waited the longest for a request: clients that say nothing do not keep others out. */
static struct view_slot *reserve_slot(ttr_view *view, int fd)
{
    struct view_slot *found = NULL, *oldest = NULL;
    (void)pthread_mutex_lock(&view->slots_lock);
    for (size_t i = 0; i < VIEW_CONNECTIONS && !found; i++) {
        struct view_slot *slot = &view->slots[i];
        if (!slot->is_used)
            found = slot;
        else if (slot->idle_since && (!oldest || slot->idle_since < oldest->idle_since))
            oldest = slot;
    }
    if (found)
        *found = (struct view_slot){.is_used = true, .fd = fd, .idle_since = http_now_ms()};
    else if (oldest)
        (void)shutdown(oldest->fd, SHUT_RDWR);
    (void)pthread_mutex_unlock(&view->slots_lock);
    return found;
}

static void free_slot(ttr_view *view, struct view_slot *slot)
{
    (void)pthread_mutex_lock(&view->slots_lock);
    slot->is_used = false;
    (void)pthread_mutex_unlock(&view->slots_lock);
}

/* Starts the thread of a connection. If all others are busy, it is closed. */
static void start_connection(ttr_view *view, int fd)
{
    pthread_t thread;
    struct view_slot *slot = NULL;
    for (int i = 0; i < SLOT_STEPS && !(slot = reserve_slot(view, fd)); i++)
        (void)poll(NULL, 0, SLOT_STEP_MS);
    struct accepted *accepted = slot ? malloc(sizeof *accepted) : NULL;
    const int one = 1; /* the head and the body of an answer are sent apart */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (accepted) {
        *accepted = (struct accepted){view, slot};
        if (pthread_create(&thread, NULL, run_connection, accepted) == 0) {
            (void)pthread_detach(thread);
            return;
        }
    }
    free(accepted);
    if (slot)
        free_slot(view, slot);
    (void)close(fd);
}

ttr_status view_accept_connections(ttr_view *view, ttr_progress progress, void *user_data,
                                   ttr_error *error)
{
    int closed = 0;
    while ((!progress || progress(user_data)) && closed < CLOSED_STEPS) {
        struct pollfd ready = {.fd = view->listener, .events = POLLIN};
        const int n = poll(&ready, 1, STEP_MS);
        if (n < 0 && errno != EINTR) {
            view_error(error, TTR_E_IO, "127.0.0.1:%u: %s", view->port, strerror(errno));
            return TTR_E_IO;
        }
        const int fd = n > 0 ? accept4(view->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            start_connection(view, fd);
        else if (n > 0 && (errno == EMFILE || errno == ENFILE))
            (void)poll(NULL, 0, STEP_MS); /* wait: all descriptors are in use */
        const bool is_closed =
            view->is_once && atomic_load(&view->had_page) && atomic_load(&view->pages) == 0;
        closed = is_closed ? closed + (n == 0) : 0;
    }
    return TTR_OK;
}

ttr_status ttr_view_serve(ttr_view *view, ttr_progress progress, void *user_data, ttr_error *error)
{
    if (!view || view->listener < 0) {
        view_error(error, TTR_E_MISUSE, "call ttr_view_listen first");
        return TTR_E_MISUSE;
    }
    const ttr_status status = view_accept_connections(view, progress, user_data, error);
    return stop_connections(view) ? status : TTR_AGAIN;
}
