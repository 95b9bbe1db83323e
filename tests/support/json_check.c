/* Checks JSON by recursive descent, written from the grammar of RFC 8259 and from nothing else of
 * this project. */
#include "support/json_check.h"

#include <string.h>

#include "support/support.h"

struct check {
    const unsigned char *p, *end;
    unsigned depth;
};

static bool check_value(struct check *c);

static int peek(const struct check *c)
{
    return c->p < c->end ? *c->p : -1;
}

static bool take(struct check *c, int byte)
{
    if (peek(c) != byte)
        return false;
    c->p++;
    return true;
}

static void blanks(struct check *c)
{
    while (c->p < c->end && memchr(" \t\n\r", *c->p, 4))
        c->p++;
}

static bool word(struct check *c, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
        return false;
    c->p += n;
    return true;
}

static bool digits(struct check *c)
{
    const unsigned char *from = c->p;
    while (peek(c) >= '0' && peek(c) <= '9')
        c->p++;
    return c->p > from;
}

static bool number(struct check *c)
{
    (void)take(c, '-');
    if (!take(c, '0') && !digits(c))
        return false;
    if (take(c, '.') && !digits(c))
        return false;
    if (!take(c, 'e') && !take(c, 'E'))
        return true;
    if (!take(c, '-'))
        (void)take(c, '+');
    return digits(c);
}

static bool escape(struct check *c)
{
    int kind = peek(c);
    if (kind < 0 || !strchr("\"\\/bfnrtu", kind))
        return false;
    c->p++;
    for (int i = 0; kind == 'u' && i < 4; i++, c->p++)
        if (peek(c) <= 0 || !strchr("0123456789abcdefABCDEF", peek(c)))
            return false;
    return true;
}

/* Parses a UTF-8 character of several bytes and checks its code point. */
static bool wide(struct check *c)
{
    unsigned lead = *c->p++, more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc0 || lead > 0xf7)
        return false;
    unsigned long point = lead & (0x3fu >> more);
    for (unsigned i = 0; i < more; i++, c->p++) {
        if ((peek(c) & 0xc0) != 0x80 || peek(c) < 0)
            return false;
        point = point << 6 | (*c->p & 0x3f);
    }
    unsigned long lowest = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    return point >= lowest && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

static bool string(struct check *c)
{
    if (!take(c, '"'))
        return false;
    while (peek(c) >= 0x20 && peek(c) != '"')
        if (peek(c) >= 0x80 ? !wide(c) : *c->p++ == '\\' && !escape(c))
            return false;
    return take(c, '"');
}

static bool items(struct check *c)
{
    blanks(c);
    if (take(c, ']'))
        return true;
    do
        if (!check_value(c))
            return false;
    while (take(c, ','));
    return take(c, ']');
}

/* Returns true if the name at [p, p+n) is not in the list. */
static bool is_new(const struct check *names, size_t names_n, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < names_n; i++)
        if ((size_t)(names[i].end - names[i].p) == n && memcmp(names[i].p, p, n) == 0)
            return false;
    return true;
}

static bool members(struct check *c)
{
    struct check names[256];
    size_t names_n = 0;
    blanks(c);
    if (take(c, '}'))
        return true;
    do {
        blanks(c);
        const unsigned char *p = c->p;
        if (!string(c) || !is_new(names, names_n, p, (size_t)(c->p - p)))
            return false;
        if (names_n < sizeof names / sizeof *names)
            names[names_n++] = (struct check){.p = p, .end = c->p};
        blanks(c);
        if (!take(c, ':') || !check_value(c))
            return false;
    } while (take(c, ','));
    return take(c, '}');
}

static bool check_value(struct check *c)
{
    bool good;
    blanks(c);
    if (++c->depth > 300)
        return false;
    if (take(c, '{'))
        good = members(c);
    else if (take(c, '['))
        good = items(c);
    else
        good = peek(c) == '"' ? string(c)
                              : word(c, "true") || word(c, "false") || word(c, "null") || number(c);
    blanks(c);
    c->depth--;
    return good;
}

bool json_check(const char *p, size_t n)
{
    struct check c = {.p = (const unsigned char *)p, .end = (const unsigned char *)p + n};
    return check_value(&c) && c.p == c.end;
}

void json_check_lines(const char *p, size_t n)
{
    const char *end = p + n;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        assert_non_null(stop);
        if (*p != '{' || !json_check(p, (size_t)(stop - p)))
            fail_msg("not one JSON object: \"%.*s\"", (int)(stop - p), p);
        p = stop + 1;
    }
}
