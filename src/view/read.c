/* Reading a trace into a view while pages are served.
 *
 * This thread adds batches to a store.  From time to time, if a page is open, it makes the tables
 * and rows of the events so far and replaces those of the view; another thread accepts connections.
 * The lock of SQL is held while reading, because readers and statements share the context; it is
 * released between batches for threads that wait for it.
 *
 * With a limit of events, a second store gets the events after half of the limit.  When the first
 * is full, the second replaces it: the view has at least the last half of the limit. */
#include <poll.h>
#include <stdlib.h>

#include "view/view.h"

#define FIRST_UPDATE_MS 200
#define UPDATE_MS 1000
#define LIVE_UPDATE_MS 250
#define COST_FACTOR 8 /* an update that takes 1 s is followed by 8 s of reading */

struct reading {
    ttr_view *view;
    ttr *t;
    ttr_reader *in;
    ttr_view_reading options;
    ttr_store *store, *second;
    uint64_t events, second_events;
    int64_t update_at; /* time of the next update, in ms */
    bool is_changed;   /* events were added after the last update */
};

static ttr_store *new_store(const struct reading *reading, ttr_error *error)
{
    const ttr_store_options options = {.size = sizeof options, .names = ttr_view_tables()};
    return ttr_store_new(reading->t, &options, error);
}

/* Frees a store, unless the view shows it. */
static void free_store(const struct reading *reading, ttr_store *store)
{
    if (store != reading->view->store)
        ttr_store_free(store);
}

/* --- Publishing --- */

/* Replaces the rows, the store and the database of the view. */
static void replace_data(struct reading *reading, struct view_data *data, ttr_query *query)
{
    ttr_view *view = reading->view;
    ttr_store *const old_store = view->store == reading->store ? NULL : view->store;
    data->serial = (uint32_t)atomic_load(&view->version) + 1;
    (void)pthread_rwlock_wrlock(&view->data_lock);
    struct view_data *const old = view->data;
    view->data = data;
    (void)pthread_rwlock_unlock(&view->data_lock);
    ttr_query_free(view->query);
    view->query = query;
    view->load_tables = NULL;
    view->store = reading->store;
    view_free_data(old);
    ttr_store_free(old_store);
    (void)atomic_fetch_add(&view->version, 1);
}

/* Shows the events so far. Returns TTR_OK or an error. */
static ttr_status publish(struct reading *reading, bool is_last, ttr_error *error)
{
    ttr_view *view = reading->view;
    const bool is_same = view->store == reading->store;
    const ttr_status status = ttr_store_update(reading->store, reading->in, is_last, error);
    if (status != TTR_OK)
        return status;
    struct view_data *data =
        view_make_data(reading->t, reading->store, is_same ? view->data : NULL);
    ttr_query *query = data ? ttr_query_new(reading->t, reading->store, error) : NULL;
    if (!query) {
        view_free_data(data);
        view_error(error, TTR_E_NOMEM, "memory is exhausted");
        return TTR_E_NOMEM;
    }
    ttr_query_set_read_only(query, true);
    data->epoch = view->data->epoch + !is_same;
    data->is_partial = !is_last;
    data->is_live = reading->options.is_live;
    replace_data(reading, data, query);
    return TTR_OK;
}

ttr_status ttr_view_show_saved(ttr_view *view, const ttr_store *saved, ttr_view_load_tables load,
                               void *user_data, ttr_error *error)
{
    struct reading reading = {.view = view};
    struct view_data *data = view_load_data(saved, error);
    if (!data)
        return error ? error->status : TTR_E_MALFORMED;
    data->epoch = view->data->epoch + 1;
    (void)pthread_mutex_lock(&view->query_lock);
    replace_data(&reading, data, NULL);
    view->load_tables = load;
    view->load_user_data = user_data;
    (void)pthread_mutex_unlock(&view->query_lock);
    return TTR_OK;
}

size_t ttr_view_parts(const ttr_view *view, ttr_store_part *parts)
{
    return view && !view->data->is_partial ? view_list_parts(view->data, parts) : 0;
}

const ttr_store *ttr_view_store(const ttr_view *view)
{
    return view->store;
}

/* Shows the events so far if it is time to and a page is open. */
static ttr_status publish_if_due(struct reading *reading, ttr_error *error)
{
    const int64_t begin = http_now_ms();
    const bool is_shown = reading->options.is_live || reading->view->data->is_partial;
    if (!reading->is_changed || !is_shown || begin < reading->update_at ||
        atomic_load(&reading->view->pages) == 0)
        return TTR_OK;
    reading->is_changed = false;
    const ttr_status status = publish(reading, false, error);
    const int64_t end = http_now_ms(), cost = COST_FACTOR * (end - begin);
    const int64_t least = reading->options.is_live ? LIVE_UPDATE_MS : UPDATE_MS;
    reading->update_at = end + (cost > least ? cost : least);
    return status;
}

/* --- Reading --- */

/* Releases query_lock for a moment if statements of pages wait for it. */
static void yield_lock(ttr_view *view)
{
    if (atomic_load(&view->query_waiting) == 0)
        return;
    (void)pthread_mutex_unlock(&view->query_lock);
    while (atomic_load(&view->query_waiting) > 0)
        (void)poll(NULL, 0, 1);
    (void)pthread_mutex_lock(&view->query_lock);
}

/* Adds a batch; forgets old events beyond the limit. */
static ttr_status add_batch(struct reading *reading, const ttr_batch *batch, ttr_error *error)
{
    const uint64_t half = reading->options.events_max / 2;
    ttr_status status = ttr_store_add(reading->store, batch, error);
    reading->events += batch->n;
    reading->is_changed = true;
    if (status != TTR_OK || half == 0 || reading->events <= half)
        return status;
    if (!reading->second && !(reading->second = new_store(reading, error)))
        return TTR_E_NOMEM;
    status = ttr_store_add(reading->second, batch, error);
    reading->second_events += batch->n;
    if (status == TTR_OK && reading->second_events >= half) {
        free_store(reading, reading->store);
        reading->store = reading->second;
        reading->events = reading->second_events;
        reading->second = NULL;
        reading->second_events = 0;
    }
    return status;
}

static ttr_status read_all(struct reading *reading, ttr_progress progress, void *user_data,
                           ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    reading->update_at = http_now_ms() + FIRST_UPDATE_MS;
    while ((status = ttr_read(reading->in, &batch, error)) == TTR_OK || status == TTR_AGAIN) {
        if (status == TTR_OK && (status = add_batch(reading, &batch, error)) != TTR_OK)
            return status;
        yield_lock(reading->view);
        if (progress && !progress(user_data))
            return TTR_AGAIN;
        if ((status = publish_if_due(reading, error)) != TTR_OK)
            return status;
    }
    if (status != TTR_END)
        return status;
    reading->options.is_live = false;
    return publish(reading, true, error);
}

void ttr_view_note_wait(ttr_view *view, bool is_waiting)
{
    if (!view || !view->reading || !pthread_equal(pthread_self(), view->reader))
        return;
    if (is_waiting) {
        (void)publish_if_due(view->reading, NULL); /* reading fails soon if memory is exhausted */
        (void)pthread_mutex_unlock(&view->query_lock);
    } else {
        (void)pthread_mutex_lock(&view->query_lock);
    }
}

/* --- Connections meanwhile --- */

struct acceptor {
    ttr_view *view;
    pthread_t thread;
    atomic_bool is_stopping;
    bool is_started;
};

static bool goes_on(void *user_data)
{
    struct acceptor *acceptor = user_data;
    return !atomic_load(&acceptor->is_stopping);
}

static void *accept_connections(void *user_data)
{
    struct acceptor *acceptor = user_data;
    (void)view_accept_connections(acceptor->view, goes_on, acceptor, NULL);
    return NULL;
}

static void start_accepting(struct acceptor *acceptor)
{
    if (acceptor->view->listener >= 0)
        acceptor->is_started =
            pthread_create(&acceptor->thread, NULL, accept_connections, acceptor) == 0;
}

static void stop_accepting(struct acceptor *acceptor)
{
    atomic_store(&acceptor->is_stopping, true);
    if (acceptor->is_started)
        (void)pthread_join(acceptor->thread, NULL);
}

ttr_status ttr_view_read(ttr_view *view, ttr *t, ttr_reader *in, const ttr_view_reading *options,
                         ttr_error *error)
{
    struct acceptor acceptor = {.view = view && view->first ? view->first : view};
    struct reading reading = {.view = view, .t = t, .in = in};
    if (!view || !t || !in || (options && options->size != sizeof *options)) {
        view_error(error, TTR_E_MISUSE, "expected a view, a context and a reader");
        return TTR_E_MISUSE;
    }
    if (options)
        reading.options = *options;
    if (!(reading.store = new_store(&reading, error)))
        return TTR_E_NOMEM;
    start_accepting(&acceptor);
    (void)pthread_mutex_lock(&view->query_lock);
    view->reading = &reading;
    view->reader = pthread_self();
    const ttr_status status =
        read_all(&reading, reading.options.progress, reading.options.user_data, error);
    view->reading = NULL;
    (void)pthread_mutex_unlock(&view->query_lock);
    stop_accepting(&acceptor);
    free_store(&reading, reading.store);
    ttr_store_free(reading.second);
    return status;
}
