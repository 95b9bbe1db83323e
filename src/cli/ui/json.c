/* Writes JSON (RFC 8259).  Bytes that are not UTF-8 become U+FFFD. */
#include "cli/ui/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/term.h"
#include "cli/ui/units.h"

static void write_separator(struct json *json, const char *key)
{
    uint32_t bit = UINT32_C(1) << (json->depth & 31);
    if (json->depth > 0) {
        if (json->has_members & bit)
            (void)fputc(',', json->to);
        if (!json->is_flat)
            (void)fprintf(json->to, "\n%*s", (int)(2 * json->depth), "");
        else if (json->has_members & bit)
            (void)fputc(' ', json->to);
        json->has_members |= bit;
    }
    if (key)
        (void)fprintf(json->to, "\"%s\": ", key);
}

/* Unicode 15, table 3-7. */
size_t json_character_length(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length = p[0] < 0x80   ? 1
                    : p[0] < 0xc2 ? 0
                    : p[0] < 0xe0 ? 2
                    : p[0] < 0xf0 ? 3
                    : p[0] < 0xf5 ? 4
                                  : 0;
    if (length < 2 || n < length)
        return length <= n ? length : 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

static void write_character(FILE *to, const unsigned char *p, size_t length)
{
    const size_t control = length ? term_control(p, length) : 0;
    if (length == 0)
        (void)fputs("\xef\xbf\xbd", to);
    else if (*p == '"' || *p == '\\')
        (void)fprintf(to, "\\%c", *p);
    else if (control)
        (void)fprintf(to, "\\u%04x", p[control - 1]);
    else
        (void)fwrite(p, 1, length, to);
}

void json_open(struct json *json, const char *key, char bracket)
{
    write_separator(json, key);
    (void)fputc(bracket, json->to);
    json->depth++;
    json->has_members &= ~(UINT32_C(1) << (json->depth & 31));
}

void json_close(struct json *json, char bracket)
{
    bool had_members = json->has_members & UINT32_C(1) << (json->depth & 31);
    json->depth--;
    if (had_members && !json->is_flat)
        (void)fprintf(json->to, "\n%*s", (int)(2 * json->depth), "");
    (void)fputc(bracket, json->to);
    if (json->depth == 0)
        (void)fputc('\n', json->to);
}

static void write_quoted(struct json *json, ttr_text value)
{
    (void)fputc('"', json->to);
    const unsigned char *p = (const unsigned char *)value.p;
    for (size_t i = 0; i < value.n;) {
        size_t length = json_character_length(p + i, value.n - i);
        write_character(json->to, p + i, length);
        i += length ? length : 1;
    }
    (void)fputc('"', json->to);
}

void json_write_text(struct json *json, const char *key, ttr_text value)
{
    write_separator(json, key);
    write_quoted(json, value);
}

void json_write_string(struct json *json, const char *key, const char *value)
{
    json_write_text(json, key, (ttr_text){value, strlen(value)});
}

void json_write_uint(struct json *json, const char *key, uint64_t value)
{
    write_separator(json, key);
    (void)fprintf(json->to, "%" PRIu64, value);
}

void json_write_int(struct json *json, const char *key, int64_t value)
{
    write_separator(json, key);
    (void)fprintf(json->to, "%" PRId64, value);
}

void json_write_time(struct json *json, const char *key, int64_t ns)
{
    char text[64];
    const size_t n = strlen(key) - strlen("_ns");
    if (!json->has_text_times) {
        json_write_int(json, key, ns);
    } else {
        (void)snprintf(text, sizeof text, "%" PRId64, ns);
        json_write_string(json, key, text);
    }
    if (!json->is_unix)
        return;
    (void)snprintf(text, sizeof text, "%.*s_time", (int)n, key);
    json_write_string(json, text, units_time(ns, true).s);
}

void json_write_bool(struct json *json, const char *key, bool value)
{
    write_separator(json, key);
    (void)fputs(value ? "true" : "false", json->to);
}

void json_write_float(struct json *json, const char *key, double value)
{
    write_separator(json, key);
    (void)fprintf(json->to, value - value == 0 ? "%.6g" : "null", value);
}

/* Writes a number with the fewest digits that parse to it; JSON has no infinity and no NaN. */
static void write_number(struct json *json, double value)
{
    char text[40];
    if (!(value - value == 0)) {
        (void)fputs("null", json->to);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)fputs(text, json->to);
    if (!strpbrk(text, ".e"))
        (void)fputs(".0", json->to); /* still a number with a fraction for readers with types */
}

void json_write_member(struct json *json, ttr_text key, const ttr_value *value)
{
    write_separator(json, NULL);
    write_quoted(json, key);
    (void)fputs(": ", json->to);
    switch (value->type) {
    case TTR_TYPE_BOOL:
        (void)fputs(value->v.u ? "true" : "false", json->to);
        return;
    case TTR_TYPE_UINT:
        (void)fprintf(json->to, "%" PRIu64, value->v.u);
        return;
    case TTR_TYPE_INT:
        (void)fprintf(json->to, "%" PRId64, value->v.s);
        return;
    case TTR_TYPE_FLOAT:
        write_number(json, value->v.f);
        return;
    case TTR_TYPE_TEXT:
        write_quoted(json, value->text);
        return;
    default:
        (void)fputs("null", json->to);
    }
}
