/* The page as one HTML file: its style, its scripts, and the data of the report (report_data.c)
 * instead of a server.
 *
 * Scripts become one module: lines of import and the word export are left out, which is possible
 * since the names of the page's modules differ. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "view/view.h"

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
static const char *const modules[] = {"/state.js",   "/pair.js",   "/wire.js",   "/colour.js",
                                      "/painter.js", "/tracks.js", "/flame.js",  "/canvas.js",
                                      "/panel.js",   "/input.js",  "/reload.js", "/main.js"};

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
    if (!view_append_report(view, out))
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
