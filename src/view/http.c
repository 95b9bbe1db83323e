/* The part of HTTP/1.1 that the page needs: requests without a body.
 *
 * A request is refused unless all of these hold:
 *   - the method is GET, and the request has no body                            (405, 400)
 *   - the host is a name of the loopback interface, so that no other name that
 *     resolves to 127.0.0.1 reaches the trace (DNS rebinding)                    (421)
 *   - the browser does not report another site as its origin                     (403)
 *   - the cookie has the secret; the address in the terminal has it once, and the
 *     answer to that sets the cookie                                             (403, 303)
 * The port of the host is not compared: with `ssh -L` it is another one. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "view/view.h"

/* Copies a value without the spaces around it. Returns false if it does not fit. */
static bool copy_value(const char *from, const char *end, char *to, size_t size)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const size_t n = (size_t)(end - from);
    if (n >= size || memchr(from, '\0', n))
        return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* Returns the value of a header line with a name, or NULL. */
static const char *get_header_value(const char *line, const char *end, const char *name)
{
    const size_t n = strlen(name);
    return (size_t)(end - line) > n && strncasecmp(line, name, n) == 0 && line[n] == ':'
               ? line + n + 1
               : NULL;
}

static bool parse_header_line(const char *line, const char *end, struct http_head *head)
{
    const char *value;
    char text[64];
    if ((value = get_header_value(line, end, "Host")))
        return !head->host[0] && copy_value(value, end, head->host, sizeof head->host);
    if ((value = get_header_value(line, end, "Cookie"))) {
        /* Cookies of other servers on this host may make the line too long: then ignore it. */
        if (!copy_value(value, end, head->cookie, sizeof head->cookie))
            head->cookie[0] = '\0';
        return true;
    }
    if ((value = get_header_value(line, end, "Sec-Fetch-Site")))
        return copy_value(value, end, head->site, sizeof head->site);
    if ((value = get_header_value(line, end, "Connection"))) {
        if (copy_value(value, end, text, sizeof text) && strcasecmp(text, "close") == 0)
            head->is_kept = false;
        return true;
    }
    if ((value = get_header_value(line, end, "Content-Length")))
        return copy_value(value, end, text, sizeof text) && strcmp(text, "0") == 0;
    return !get_header_value(line, end, "Transfer-Encoding");
}

/* Parses "GET /path?query HTTP/1.1". */
static bool parse_request_line(const char *line, const char *end, struct http_head *head)
{
    const char *space = memchr(line, ' ', (size_t)(end - line));
    const char *second = space ? memchr(space + 1, ' ', (size_t)(end - space - 1)) : NULL;
    if (!second || (size_t)(end - second) != 9 || memcmp(second + 1, "HTTP/1.", 7) != 0 ||
        (end[-1] != '0' && end[-1] != '1'))
        return false;
    head->is_kept = end[-1] == '1';
    return copy_value(line, space, head->method, sizeof head->method) && space[1] == '/' &&
           copy_value(space + 1, second, head->target, sizeof head->target);
}

bool http_parse_head(const char *bytes, size_t n, struct http_head *head)
{
    const char *line = bytes, *end_of_head = bytes + n;
    *head = (struct http_head){0};
    for (bool is_first = true; line < end_of_head; is_first = false) {
        const char *feed = memchr(line, '\n', (size_t)(end_of_head - line));
        if (!feed)
            return false;
        const char *end = feed > line && feed[-1] == '\r' ? feed - 1 : feed;
        if (end == line)
            return !is_first;
        if (is_first ? !parse_request_line(line, end, head) : !parse_header_line(line, end, head))
            return false;
        line = feed + 1;
    }
    return false;
}

static bool is_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0 &&
            (host[n] == '\0' ||
             (host[n] == ':' && strspn(host + n + 1, "0123456789") == strlen(host + n + 1))))
            return true;
    }
    return false;
}

/* Compares in a time that does not depend on the bytes. */
static bool is_secret(const ttr_view *view, const char *text, size_t n)
{
    const size_t length = sizeof view->secret - 1;
    unsigned different = n != length;
    for (size_t i = 0; i < length; i++)
        different |= (unsigned)(i < n ? text[i] : 0) ^ (unsigned)view->secret[i];
    return different == 0;
}

static bool has_cookie(const ttr_view *view, const char *cookie)
{
    char name[32];
    const int n = snprintf(name, sizeof name, "tracetta_%u=", view->port);
    while (*cookie) {
        cookie += strspn(cookie, " ;");
        const size_t length = strcspn(cookie, ";");
        if (length >= (size_t)n && memcmp(cookie, name, (size_t)n) == 0 &&
            is_secret(view, cookie + n, length - (size_t)n))
            return true;
        cookie += length;
    }
    return false;
}

int http_check(const ttr_view *view, const struct http_head *head)
{
    if (strcmp(head->method, "GET") != 0)
        return 405;
    if (!is_loopback(head->host))
        return 421;
    if (head->site[0] && strcmp(head->site, "none") != 0 && strcmp(head->site, "same-origin") != 0)
        return 403;
    if (strncmp(head->target, "/?k=", 4) == 0)
        return is_secret(view, head->target + 4, strlen(head->target + 4)) ? 303 : 403;
    return has_cookie(view, head->cookie) ? 200 : 403;
}
