/* Parsers of tracepoint names, and of the attributes in names of events and fields. */
#include <string.h>

#include "encodings/event_header/event_header_parts.h"

static int hex_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a hexadecimal number at `*at`, and sets `*at` to its end. Returns false if it has no
 * digits, or more than `digits` after leading zeros. */
static bool parse_hex(ttr_text text, size_t *at, unsigned digits, uint64_t *number)
{
    size_t begin = *at;
    unsigned used = 0;
    *number = 0;
    for (int digit; *at < text.n && (digit = hex_digit_value(text.p[*at])) >= 0; ++*at) {
        used += *number != 0 || digit != 0;
        *number = *number << 4 | (unsigned)digit;
    }
    return *at > begin && used <= digits;
}

/* Returns the name without the suffix that the kernel appends ('.' and hexadecimal digits). Stores
 * the digits in `shape`. */
static ttr_text split_kernel_suffix(ttr_text text, ttr_text *shape)
{
    size_t dot = text.n, at;
    uint64_t number;
    while (dot > 0 && text.p[dot - 1] != '.' && text.p[dot - 1] != '_')
        dot--;
    if (dot == 0 || text.p[dot - 1] != '.')
        return text;
    at = dot;
    if (!parse_hex(text, &at, 16, &number) || at != text.n)
        return text;
    *shape = (ttr_text){text.p + dot, text.n - dot};
    return (ttr_text){text.p, dot - 1};
}

static bool is_option_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* Checks the options from `at` on, and stores the provider group (option G). Returns false if an
 * option is invalid. */
static bool parse_options(ttr_text text, size_t at, struct event_header_name *name)
{
    name->options = (ttr_text){text.p + at, text.n - at};
    while (at < text.n) {
        char letter = text.p[at++];
        size_t begin = at;
        if (letter < 'A' || letter > 'Z')
            return false;
        while (at < text.n && is_option_character(text.p[at]))
            at++;
        if (letter == 'G')
            name->group = (ttr_text){text.p + begin, at - begin};
    }
    return true;
}

bool event_header_parse_name(ttr_text text, struct event_header_name *name)
{
    uint64_t level;
    *name = (struct event_header_name){
        .provider = {"", 0}, .options = {"", 0}, .group = {"", 0}, .shape = {"", 0}};
    if (text.n >= EVENT_HEADER_NAME_MAX || memchr(text.p, 0, text.n))
        return false;
    text = split_kernel_suffix(text, &name->shape);
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] != '_')
        at--;
    if (at == 0 || at == text.n || text.p[at] != 'L')
        return false;
    name->provider = (ttr_text){text.p, at - 1};
    at++;
    if (!parse_hex(text, &at, 2, &level) || at == text.n || text.p[at] != 'K')
        return false;
    name->level = (uint8_t)level;
    at++;
    return parse_hex(text, &at, 16, &name->keyword) && parse_options(text, at, name);
}

ttr_text event_header_strip_attributes(ttr_text name)
{
    const char *end = memchr(name.p, ';', name.n);
    return end ? (ttr_text){name.p, (size_t)(end - name.p)} : name;
}

bool event_header_next_attribute(ttr_text name, size_t *at, ttr_text *key, ttr_text *value)
{
    if (*at >= name.n)
        return false;
    size_t begin = *at, end = begin;
    while (end < name.n && (name.p[end] != ';' || (end + 1 < name.n && name.p[end + 1] == ';')))
        end += name.p[end] == ';' ? 2 : 1;
    const char *equals = memchr(name.p + begin, '=', end - begin);
    size_t key_n = equals ? (size_t)(equals - name.p) - begin : end - begin;
    *key = (ttr_text){name.p + begin, key_n};
    *value = equals ? (ttr_text){equals + 1, end - begin - key_n - 1} : (ttr_text){"", 0};
    *at = end + 1;
    return true;
}

ttr_text event_header_unescape_value(ttr_text value, struct arena *scratch)
{
    if (!value.n || !memchr(value.p, ';', value.n))
        return value;
    char *to = arena_alloc(scratch, value.n);
    size_t n = 0;
    for (size_t i = 0; to && i < value.n; i++) {
        to[n++] = value.p[i];
        i += value.p[i] == ';';
    }
    return to ? (ttr_text){to, n} : value;
}
