/* The page as one HTML file: its style, its scripts, and reduced data instead of a server.
 *
 * All rows are painted once, over the whole trace, as wide as 4 MB allow: the width is halved until
 * the compressed boxes fit, then counters are left out, then the last rows. Tables are results of
 * SQL. Scripts become one module: lines of import and the word export are left out, which is
 * possible since the names of the page's modules differ. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "view/view.h"

#define WINDOW_BYTES (3u << 20) /* compressed boxes; base64 makes them a third larger */
#define NAME_BYTES (512u << 10)
#define WIDTH_FIRST 8192u
#define WIDTH_LAST 512u

static const struct {
    const char *title, *sql;
} tables[] = {
    {"Slices", "SELECT name, count(*) AS count, sum(max(dur, 0)) AS total, sum(self_dur) AS self, "
               "avg(dur) AS average, percentile(dur, 99) AS p99, max(dur) AS max "
               "FROM slice GROUP BY name ORDER BY total DESC LIMIT 300"},
    {"Longest", "SELECT ts, name, dur, thread_name AS thread FROM slice "
                "ORDER BY slice.dur DESC LIMIT 100"},
    {"Scheduling",
     "SELECT thread.name AS thread, tid, count(*) AS count, sum(max(dur, 0)) AS running, "
     "max(dur) AS longest FROM sched JOIN thread USING (utid) WHERE tid <> 0 "
     "GROUP BY utid ORDER BY running DESC LIMIT 300"},
    {"Threads", "SELECT thread.name AS thread, tid, process.name AS process, pid "
                "FROM thread LEFT JOIN process USING (upid) ORDER BY pid, tid LIMIT 500"},
    {"Losses", "SELECT ts, dur, count, unit FROM loss ORDER BY ts LIMIT 300"},
    {"Inputs", "SELECT path, format FROM source"},
};

/* --- Data --- */

static void append_base64(struct reply *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < n ? bytes[i + 2] : 0);
        char text[4];
        for (size_t k = 0; k < 4; k++)
            text[k] = k <= n - i ? digits[three >> (18 - 6 * k) & 63] : '=';
        reply_append(out, text, 4);
    }
}

/* Paints and compresses rows. Returns false if memory is exhausted. */
static bool pack_rows(const struct view_data *view, const uint32_t *rows, size_t n, uint32_t width,
                      struct reply *packed)
{
    struct reply boxes = {0};
    struct view_window window = {.from = 0, .to = view->end > 0 ? view->end : 1, .width = width};
    view_append_window(view, rows, n, &window, &boxes);
    uLongf size = compressBound((uLong)boxes.n);
    packed->n = 0;
    if (packed->capacity < size) {
        reply_free(packed);
        packed->p = malloc(size);
        packed->capacity = packed->p ? size : 0;
    }
    const bool is_fine =
        packed->p && !boxes.failed &&
        compress2((Bytef *)packed->p, &size, (const Bytef *)boxes.p, (uLong)boxes.n, 9) == Z_OK;
    packed->n = is_fine ? (size_t)size : 0;
    reply_free(&boxes);
    return is_fine;
}

struct reduction {
    uint32_t *rows;
    size_t rows_n;
    uint32_t width;
    bool has_counters;
};

static size_t list_rows(const struct view_data *view, uint32_t *rows, bool has_counters)
{
    size_t n = 0;
    for (size_t i = 0; i < view->rows_n; i++)
        if (has_counters || view->tracks[view->rows[i].track].kind != VIEW_COUNTER)
            rows[n++] = (uint32_t)i;
    return n;
}

/* Finds the widest picture that fits. */
static bool reduce(const struct view_data *view, struct reduction *reduction, struct reply *packed)
{
    reduction->has_counters = true;
    reduction->width = WIDTH_FIRST;
    reduction->rows_n = list_rows(view, reduction->rows, true);
    for (;;) {
        if (!pack_rows(view, reduction->rows, reduction->rows_n, reduction->width, packed))
            return false;
        if (packed->n <= WINDOW_BYTES || reduction->rows_n <= 1)
            return true;
        if (reduction->width > WIDTH_LAST) {
            reduction->width /= 2;
        } else if (reduction->has_counters) {
            reduction->has_counters = false;
            reduction->rows_n = list_rows(view, reduction->rows, false);
        } else {
            reduction->rows_n -= reduction->rows_n / 4 + 1;
        }
    }
}

static void append_tables(ttr_view *view, struct reply *out)
{
    reply_append(out, ",\"tables\":[", 11);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        reply_print(out, i ? ",[" : "[");
        reply_json_text(out, tables[i].title, strlen(tables[i].title));
        reply_append(out, ",", 1);
        reply_json_text(out, tables[i].sql, strlen(tables[i].sql));
        reply_append(out, "]", 1);
    }
    reply_append(out, "],\"results\":{", 13);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        reply_print(out, i ? "," : "");
        reply_json_text(out, tables[i].sql, strlen(tables[i].sql));
        reply_append(out, ":", 1);
        view_append_query(view, tables[i].sql, 500, NULL, out);
    }
    reply_append(out, "}", 1);
}

/* Appends "var tracettaReport = {...}". */
static bool append_data(ttr_view *view, struct reply *out)
{
    const struct view_data *data = view->data;
    struct reply packed = {0};
    struct answer flame = {0};
    char range[64];
    struct reduction reduction = {.rows = calloc(data->rows_n + 1, sizeof *reduction.rows)};
    bool is_fine = reduction.rows && reduce(data, &reduction, &packed);
    (void)snprintf(range, sizeof range, "a=0&z=%" PRId64, data->end + 1);
    const struct request all = {.path = "/flame", .query = range};
    if (is_fine) {
        reply_print(out, "globalThis.tracettaReport = {\"info\":");
        view_append_info(data, out);
        reply_print(out, ",\"tracks\":");
        view_append_tracks(data, 0, data->tracks_n, out);
        reply_print(out, ",\"names\":");
        view_append_names(data, 0, NAME_BYTES, out);
        view_answer_flame(data, &all, &flame);
        reply_print(out, ",\"flame\":");
        reply_append(out, flame.body.p, flame.body.n);
        append_tables(view, out);
        reply_print(out,
                    ",\"note\":\"reduced: %" PRIu32 " columns%s, %zu of %zu rows\",\"window\":\"",
                    reduction.width, reduction.has_counters ? "" : " without counters",
                    reduction.rows_n, data->rows_n);
        append_base64(out, (const unsigned char *)packed.p, packed.n);
        reply_print(out, "\"};\n");
        is_fine = !flame.body.failed;
    }
    reply_free(&flame.body);
    reply_free(&packed);
    free(reduction.rows);
    return is_fine && !out->failed;
}

/* --- The file --- */

static const struct page_file *find_file(const char *path)
{
    for (size_t i = 0; i < page_files_n; i++)
        if (strcmp(page_files[i].path, path) == 0)
            return &page_files[i];
    return NULL;
}

/* Appends a module without its lines of import and its words export. */
static void append_module(struct reply *out, const struct page_file *file)
{
    const char *p = (const char *)file->bytes, *end = p + file->n;
    while (p < end) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        const size_t n = (size_t)((feed ? feed + 1 : end) - p);
        const size_t skipped = n > 7 && memcmp(p, "export ", 7) == 0 ? 7 : 0;
        if (n < 7 || memcmp(p, "import ", 7) != 0)
            reply_append(out, p + skipped, n - skipped);
        p += n;
    }
}

/* Modules in the order of their use: each follows those that it imports. */
static const char *const modules[] = {"/state.js",  "/wire.js",   "/colour.js", "/painter.js",
                                      "/tracks.js", "/flame.js",  "/canvas.js", "/panel.js",
                                      "/input.js",  "/reload.js", "/main.js"};

/* Appends the part of the page from one text to another. */
static void append_part(struct reply *out, const char *page, size_t n, const char *from,
                        const char *to)
{
    const char *begin = memmem(page, n, from, strlen(from));
    const char *end = begin ? memmem(begin, n - (size_t)(begin - page), to, strlen(to)) : NULL;
    if (end)
        reply_append(out, begin, (size_t)(end - begin) + strlen(to));
}

static bool write_page(ttr_view *view, struct reply *out)
{
    const struct page_file *page = find_file("/index.html"), *style = find_file("/style.css");
    if (!page || !style)
        return false;
    reply_print(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta "
                     "charset=\"utf-8\">\n<title>tracetta</title>\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; "
                     "form-action 'none'\">\n"
                     "<style>\n");
    reply_append(out, style->bytes, style->n);
    reply_print(out, "</style>\n</head>\n");
    append_part(out, (const char *)page->bytes, page->n, "<body>", "</dialog>");
    reply_print(out, "\n<script type=\"module\">\n");
    if (!append_data(view, out))
        return false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const struct page_file *file = find_file(modules[i]);
        if (file)
            append_module(out, file);
    }
    reply_print(out, "</script>\n</body>\n</html>\n");
    return !out->failed;
}

ttr_status ttr_view_report(ttr_view *view, int fd, ttr_error *error)
{
    struct reply out = {0};
    ttr_status status = TTR_OK;
    if (!view || fd < 0) {
        view_error(error, TTR_E_MISUSE, "expected a view and an open file");
        return TTR_E_MISUSE;
    }
    if (!write_page(view, &out))
        status = TTR_E_NOMEM;
    for (size_t done = 0; status == TTR_OK && done < out.n;) {
        const ssize_t n = write(fd, out.p + done, out.n - done);
        if (n < 0 && errno != EINTR)
            status = TTR_E_IO;
        done += n > 0 ? (size_t)n : 0;
    }
    if (status != TTR_OK)
        view_error(error, status, "%s",
                   status == TTR_E_IO ? strerror(errno) : "memory is exhausted");
    reply_free(&out);
    return status;
}
