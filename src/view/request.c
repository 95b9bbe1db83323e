/* Parameters of a request's URL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes "%41" and "+" up to "&". Returns false if it does not fit, or contains a zero byte. */
static bool decode_url_value(const char *from, char *text, size_t size)
{
    size_t n = 0;
    for (; *from && *from != '&'; from++) {
        char c = *from == '+' ? ' ' : *from;
        if (c == '%') {
            const int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high << 4 | low);
            from += 2;
        }
        if (n + 1 >= size)
            return false;
        text[n++] = c;
    }
    text[n] = '\0';
    return true;
}

bool request_text(const struct request *request, const char *key, char *text, size_t size)
{
    const size_t n = strlen(key);
    const char *p = request->query;
    while (p && *p) {
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            return decode_url_value(p + n + 1, text, size);
        p = strchr(p, '&');
        p = p ? p + 1 : NULL;
    }
    return false;
}

bool request_int(const struct request *request, const char *key, int64_t *value)
{
    char text[32], *end;
    if (!request_text(request, key, text, sizeof text) || !text[0])
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0';
}
