/* Bytes of an answer, and JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "view/view.h"

/* JavaScript represents all integers up to this one exactly */
#define EXACT_MAX ((int64_t)1 << 53)
#define REPLACEMENT "\xef\xbf\xbd"

void reply_append(struct reply *reply, const void *bytes, size_t n)
{
    if (reply->failed || n == 0)
        return;
    if (reply->capacity - reply->n < n) {
        const size_t larger = (reply->n + n) + (reply->n + n) / 2 + 256;
        char *grown = realloc(reply->p, larger);
        if (!grown) {
            reply->failed = true;
            return;
        }
        reply->p = grown;
        reply->capacity = larger;
    }
    memcpy(reply->p + reply->n, bytes, n);
    reply->n += n;
}

void reply_print(struct reply *reply, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0)
        reply_append(reply, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* Returns true for characters that a page must not show as they are: control and bidirectional
 * ones. */
static bool is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xfeff;
}

void reply_json_text(struct reply *reply, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    reply_append(reply, "\"", 1);
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        const size_t length = utf8_decode(p + i, n - i, &code);
        if (length == 0 || is_hidden(code))
            reply_append(reply, REPLACEMENT, 3);
        else if (code == '"' || code == '\\')
            reply_append(reply, code == '"' ? "\\\"" : "\\\\", 2);
        else if (code == '<') /* a report has JSON inside of HTML */
            reply_append(reply, "\\u003c", 6);
        else
            reply_append(reply, p + i, length);
        i += length ? length : 1;
    }
    reply_append(reply, "\"", 1);
}

void reply_json_int(struct reply *reply, int64_t value)
{
    const bool is_exact = value <= EXACT_MAX && value >= -EXACT_MAX;
    reply_print(reply, is_exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

void reply_free(struct reply *reply)
{
    free(reply->p);
    *reply = (struct reply){0};
}
