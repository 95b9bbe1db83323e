/* Answers to the page: files, the description of the trace, windows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/view.h"

#define ROWS_MAX 1024u  /* rows of one window */
#define WIDTH_MAX 16384 /* pixels of one window */
#define NAMES_BYTES 4000000u
#define TRACKS_STEP 50000u

/* --- Description --- */

void view_append_info(const struct view_data *view, struct reply *out)
{
    reply_print(out, "{\"version\":1,\"start\":\"%" PRId64 "\",\"end\":", view->start);
    reply_json_int(out, view->end);
    reply_print(out, ",\"names\":%zu,\"tracks\":%zu,\"rows\":%zu,\"items\":", view->texts_n,
                view->tracks_n, view->rows_n);
    uint64_t items = 0;
    for (size_t i = 0; i < view->rows_n; i++)
        items += view->rows[i].n;
    reply_json_int(out, (int64_t)items);
    reply_print(out, ",\"serial\":%" PRIu32 ",\"epoch\":%" PRIu32 ",\"partial\":%s,\"live\":%s",
                view->serial, view->epoch, view->is_partial ? "true" : "false",
                view->is_live ? "true" : "false");
    reply_append(out, ",\"overview\":[", 13);
    for (size_t i = 0; i < VIEW_OVERVIEW; i++)
        reply_print(out, "%s%" PRIu32, i ? "," : "", view->overview[i]);
    reply_append(out, "]}", 2);
}

/* A track is an array: kind, label, group, first row, rows, slices, deeper slices, id, pid, tid,
 * utid. */
void view_append_track(const struct view_track *track, struct reply *out)
{
    const int64_t numbers[] = {track->kind,
                               track->label,
                               track->group,
                               track->first_row,
                               track->rows,
                               (int64_t)track->items,
                               (int64_t)track->deeper,
                               (int64_t)track->id,
                               track->pid,
                               track->tid,
                               track->utid};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        reply_append(out, k ? "," : "[", 1);
        reply_json_int(out, numbers[k]);
    }
    reply_append(out, "]", 1);
}

static void append_tracks(const struct view_data *view, size_t from, size_t n, struct reply *out)
{
    reply_append(out, "[", 1);
    for (size_t i = from; i < view->tracks_n && i - from < n; i++) {
        if (i > from)
            reply_append(out, ",", 1);
        view_append_track(&view->tracks[i], out);
    }
    reply_append(out, "]", 1);
}

static void append_names(const struct view_data *view, size_t from, size_t bytes_max,
                         struct reply *out)
{
    const size_t begin = out->n;
    reply_append(out, "[", 1);
    for (size_t i = from; i < view->texts_n && out->n - begin < bytes_max && !out->failed; i++) {
        const ttr_text name = view_name(view, (uint32_t)i);
        reply_print(out, i > from ? "," : "");
        reply_json_text(out, name.p, name.n);
    }
    reply_append(out, "]", 1);
}

/* --- Windows --- */

static uint64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void store_u32(struct reply *out, size_t at, uint32_t value)
{
    if (!out->failed)
        memcpy(out->p + at, &value, sizeof value);
}

void view_append_window(const struct view_data *view, const uint32_t *rows, size_t n,
                        struct view_window *window, struct reply *out)
{
    const uint64_t begin = now_us();
    const size_t head = out->n;
    const uint32_t zero = 0;
    uint32_t boxes = 0;
    for (size_t i = 0; i < 4 + 2 * n; i++)
        reply_append(out, &zero, sizeof zero);
    for (size_t i = 0; i < n; i++) {
        const struct view_row *row = &view->rows[rows[i]];
        const bool is_counter = view->tracks[row->track].kind == VIEW_COUNTER;
        const uint32_t made = is_counter ? view_window_counter(view, row, window, out)
                                         : view_window_slices(view, row, window, out);
        store_u32(out, head + 16 + 4 * i, rows[i]);
        store_u32(out, head + 16 + 4 * (n + i), made);
        boxes += made;
    }
    store_u32(out, head, (uint32_t)n);
    store_u32(out, head + 4, boxes);
    store_u32(out, head + 8, (uint32_t)(now_us() - begin));
    store_u32(out, head + 12, (uint32_t)window->opened);
}

/* Parses "0-44,60" into row numbers. Returns their number; unknown rows and all beyond ROWS_MAX are
 * left out. */
static size_t parse_rows(const struct view_data *view, const char *text, uint32_t *rows)
{
    size_t n = 0;
    while (*text) {
        char *end;
        unsigned long long first = strtoull(text, &end, 10), last = first;
        if (end == text)
            break;
        if (*end == '-')
            last = strtoull(end + 1, &end, 10);
        for (; first <= last && first < view->rows_n && n < ROWS_MAX; first++)
            rows[n++] = (uint32_t)first;
        text = end + (*end == ',');
    }
    return n;
}

static void fail(struct answer *answer, int status, const char *text)
{
    answer->status = status;
    answer->type = "text/plain; charset=utf-8";
    reply_append(&answer->body, text, strlen(text));
}

static void answer_window(const struct view_data *view, const struct request *request,
                          struct answer *answer)
{
    char text[8192];
    uint32_t rows[ROWS_MAX];
    int64_t from, to, width;
    if (!request_int(request, "a", &from) || !request_int(request, "z", &to) ||
        !request_int(request, "w", &width) || !request_text(request, "r", text, sizeof text) ||
        from >= to || from < -((int64_t)1 << 61) || to > (int64_t)1 << 62 || width < 1 ||
        width > WIDTH_MAX) {
        fail(answer, 400, "expected a=FROM&z=TO&w=PIXELS&r=ROWS\n");
        return;
    }
    struct view_window window = {.from = from, .to = to, .width = (uint32_t)width};
    answer->type = "application/octet-stream";
    view_append_window(view, rows, parse_rows(view, text, rows), &window, &answer->body);
}

/* --- Dispatch --- */

static bool answer_file(const struct request *request, struct answer *answer)
{
    const char *path = strcmp(request->path, "/") == 0 ? "/index.html" : request->path;
    for (size_t i = 0; i < page_files_n; i++)
        if (strcmp(page_files[i].path, path) == 0) {
            answer->type = page_files[i].type;
            reply_append(&answer->body, page_files[i].bytes, page_files[i].n);
            return true;
        }
    return false;
}

static void answer_list(const struct view_data *view, const struct request *request,
                        struct answer *answer)
{
    int64_t from = 0;
    (void)request_int(request, "from", &from);
    from = from < 0 ? 0 : from;
    if (strcmp(request->path, "/tracks") == 0)
        append_tracks(view, (size_t)from, TRACKS_STEP, &answer->body);
    else if (strcmp(request->path, "/names") == 0)
        append_names(view, (size_t)from, NAMES_BYTES, &answer->body);
    else
        view_append_info(view, &answer->body);
}

/* Answers from the rows; the caller holds their lock. Returns false for other paths. */
static bool answer_from_rows(const struct view_data *data, const struct request *request,
                             struct answer *answer)
{
    const char *path = request->path;
    if (strcmp(path, "/lod") == 0)
        answer_window(data, request, answer);
    else if (strcmp(path, "/search") == 0)
        view_answer_search(data, request, answer);
    else if (strcmp(path, "/at") == 0)
        view_answer_item(data, request, answer);
    else if (strcmp(path, "/flame") == 0)
        view_answer_flame(data, request, answer);
    else if (strcmp(path, "/info") == 0 || strcmp(path, "/tracks") == 0 ||
             strcmp(path, "/names") == 0)
        answer_list(data, request, answer);
    else
        return false;
    return true;
}

void view_answer(ttr_view *view, const struct request *request, struct answer *answer)
{
    *answer = (struct answer){.status = 200, .type = "application/json"};
    if (strcmp(request->path, "/query") == 0) {
        view_answer_query(view, request, answer);
    } else {
        (void)pthread_rwlock_rdlock(&view->data_lock);
        const bool is_found = answer_from_rows(view->data, request, answer);
        (void)pthread_rwlock_unlock(&view->data_lock);
        if (!is_found && !answer_file(request, answer))
            fail(answer, 404, "not found\n");
    }
    if (answer->body.failed) {
        reply_free(&answer->body);
        fail(answer, 503, "memory is exhausted\n");
    }
}
