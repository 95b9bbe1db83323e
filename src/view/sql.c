/* SQL of the page: every table that it shows is a statement sent here.
 *
 * One statement runs at a time.  It ends after 10 seconds, after its limit of rows or bytes, or
 * when the page closes the connection. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/view.h"

#define SQL_MAX 16384u
#define SECONDS_MAX 10
#define ROWS_DEFAULT 1000
#define ROWS_MAX 100000
#define BYTES_MAX (16u << 20)

struct deadline {
    ttr_view *view;
    const struct request *request;
    time_t end; /* CLOCK_MONOTONIC */
};

static time_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static bool is_before_deadline(void *user_data)
{
    const struct deadline *deadline = user_data;
    const struct request *request = deadline->request;
    return !atomic_load(&deadline->view->is_stopping) && now() < deadline->end &&
           !(request && request->is_cancelled && request->is_cancelled(request->ctx));
}

static void append_cell(struct reply *out, ttr_result *result, size_t column, size_t text_max)
{
    switch (ttr_result_type(result, column)) {
    case TTR_TYPE_INT:
        reply_json_int(out, ttr_result_int(result, column));
        break;
    case TTR_TYPE_FLOAT: {
        const double value = ttr_result_real(result, column);
        if (value - value == 0)
            reply_print(out, "%.17g", value);
        else
            reply_append(out, "null", 4);
        break;
    }
    case TTR_TYPE_NULL:
        reply_append(out, "null", 4);
        break;
    default: {
        const ttr_text text = ttr_result_text(result, column);
        reply_json_text(out, text.p, text.n < text_max ? text.n : text_max);
    }
    }
}

static ttr_status append_rows(struct reply *out, ttr_result *result, int64_t limit, size_t text_max,
                              ttr_error *error)
{
    const size_t columns = ttr_result_columns(result), begin = out->n;
    ttr_status status = TTR_END;
    reply_append(out, "{\"columns\":[", 12);
    for (size_t i = 0; i < columns; i++) {
        const char *name = ttr_result_name(result, i);
        reply_print(out, i ? "," : "");
        reply_json_text(out, name, strlen(name));
    }
    reply_append(out, "],\"rows\":[", 10);
    for (int64_t n = 0; (status = ttr_result_step(result, error)) == TTR_OK; n++) {
        if (n >= limit || out->n - begin > BYTES_MAX)
            break;
        reply_print(out, n ? ",[" : "[");
        for (size_t i = 0; i < columns; i++) {
            reply_print(out, i ? "," : "");
            append_cell(out, result, i, text_max);
        }
        reply_append(out, "]", 1);
    }
    reply_print(out, "],\"cut\":%s", status == TTR_OK ? "true" : "false");
    return status == TTR_OK ? TTR_END : status;
}

static void append_error(struct reply *out, const char *text, uint64_t offset)
{
    reply_append(out, "\"error\":", 8);
    reply_json_text(out, text, strlen(text));
    reply_print(out, ",\"offset\":%u}", (unsigned)offset);
}

/* Loads the tables of saved rows for the first statement. The caller holds the lock. */
static void load_tables(ttr_view *view)
{
    ttr *t = NULL;
    const ttr_view_load_tables load = view->load_tables;
    if (view->query || !load)
        return;
    view->load_tables = NULL;
    ttr_store *store = load(view->load_user_data, &t);
    view->query = store ? ttr_query_new(t, store, NULL) : NULL;
    if (!view->query) {
        ttr_store_free(store);
        return;
    }
    ttr_query_set_read_only(view->query, true);
    view->store = store;
}

void view_append_query(ttr_view *view, const char *sql, int64_t limit,
                       const struct request *request, struct reply *out)
{
    struct deadline deadline = {view, request, now() + SECONDS_MAX};
    ttr_error error = {0};
    (void)atomic_fetch_add(&view->query_waiting, 1);
    (void)pthread_mutex_lock(&view->query_lock);
    (void)atomic_fetch_sub(&view->query_waiting, 1);
    load_tables(view);
    if (!view->query) {
        reply_append(out, "{", 1);
        append_error(out, "no table yet: the trace is being read", 0);
        (void)pthread_mutex_unlock(&view->query_lock);
        return;
    }
    ttr_query_set_progress(view->query, is_before_deadline, &deadline);
    const char *rest;
    ttr_result *result =
        is_before_deadline(&deadline) ? ttr_query_prepare(view->query, sql, &rest, &error) : NULL;
    if (!result && !is_before_deadline(&deadline)) { /* it has waited for the lock */
        reply_append(out, "{", 1);
        append_error(out, "stopped: another statement was running", 0);
    } else if (!result) {
        reply_append(out, "{", 1);
        append_error(out, error.text, error.offset);
    } else {
        const ttr_status status = append_rows(out, result, limit, request ? 4096 : 300, &error);
        if (status == TTR_END) {
            reply_append(out, "}", 1);
        } else {
            reply_append(out, ",", 1);
            append_error(out, status == TTR_AGAIN ? "stopped after 10 seconds" : error.text, 0);
        }
        ttr_result_free(result);
    }
    ttr_query_set_progress(view->query, NULL, NULL); /* `deadline` is a variable of this function */
    (void)pthread_mutex_unlock(&view->query_lock);
}

void view_answer_query(ttr_view *view, const struct request *request, struct answer *answer)
{
    char *sql = malloc(SQL_MAX);
    int64_t limit = ROWS_DEFAULT;
    (void)request_int(request, "limit", &limit);
    limit = limit < 0 ? 0 : limit > ROWS_MAX ? ROWS_MAX : limit;
    if (sql && request_text(request, "sql", sql, SQL_MAX)) {
        view_append_query(view, sql, limit, request, &answer->body);
    } else {
        answer->status = 400;
        reply_append(&answer->body, "{\"error\":\"expected sql=, at most 16 KB\",\"offset\":0}",
                     51);
    }
    free(sql);
}
