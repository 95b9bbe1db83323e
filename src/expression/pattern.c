/* LIKE and GLOB with the rules of SQLite, which differ from those of pipeline/glob.c: the unit is a
 * character of UTF-8, "^" negates a set, and "\" is an ordinary character.
 *
 * Algorithm: greedy matching that returns to the last "%" or "*" only, since a match with an
 * earlier one cannot succeed where the last one fails. */
#include "expression/value.h"

#include <stddef.h>

uint32_t value_next_character(const char **p, const char *end)
{
    const uint8_t first = (uint8_t) * (*p)++;
    uint32_t c = first;
    if (first < 0xc0)
        return c;
    c = first < 0xe0 ? first & 0x1fu : first < 0xf0 ? first & 0x0fu : first & 0x07u;
    while (*p < end && ((uint8_t) * *p & 0xc0) == 0x80)
        c = (c << 6) | ((uint8_t) * (*p)++ & 0x3fu);
    return c;
}

static uint32_t lower(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* One element of a pattern other than "%" and "*". */
struct element {
    enum { ELEMENT_CHARACTER, ELEMENT_ANY, ELEMENT_SET, ELEMENT_NEVER } kind;
    uint32_t c;
    const char *set, *set_end; /* between "[" and "]" */
};

/* How a pattern is read. */
struct language {
    uint32_t many, one; /* "%" and "_", or "*" and "?" */
    uint32_t escape;    /* 0 = none */
    bool has_sets, ignores_case;
};

/* Returns the end of a set that starts after "[": the address of its "]", or NULL. */
static const char *find_set_end(const char *p, const char *end)
{
    if (p < end && *p == '^')
        p++;
    if (p < end && *p == ']')
        p++;
    while (p < end && *p != ']')
        p++;
    return p < end ? p : NULL;
}

static struct element next_element(const struct language *language, const char **p, const char *end)
{
    struct element element = {.kind = ELEMENT_CHARACTER};
    element.c = value_next_character(p, end);
    if (language->escape && element.c == language->escape) {
        if (*p == end)
            element.kind = ELEMENT_NEVER;
        else
            element.c = value_next_character(p, end);
    } else if (element.c == language->one) {
        element.kind = ELEMENT_ANY;
    } else if (language->has_sets && element.c == '[') {
        const char *set_end = find_set_end(*p, end);
        element.kind = set_end ? ELEMENT_SET : ELEMENT_NEVER;
        element.set = *p;
        element.set_end = set_end;
        *p = set_end ? set_end + 1 : end;
    }
    return element;
}

static bool set_has(const struct element *element, uint32_t c)
{
    const char *p = element->set, *end = element->set_end;
    const bool is_negated = p < end && *p == '^';
    bool is_found = false;
    uint32_t before = 0;
    p += is_negated;
    for (bool is_first = true; p < end; is_first = false) {
        const uint32_t member = value_next_character(&p, end);
        if (member == '-' && !is_first && p < end && before > 0) {
            const uint32_t last = value_next_character(&p, end);
            is_found |= before <= c && c <= last;
            before = 0;
        } else {
            is_found |= member == c;
            before = member;
        }
    }
    return is_found != is_negated;
}

static bool element_matches(const struct language *language, const struct element *element,
                            uint32_t c)
{
    switch (element->kind) {
    case ELEMENT_ANY:
        return true;
    case ELEMENT_SET:
        return set_has(element, c);
    case ELEMENT_CHARACTER:
        return language->ignores_case ? lower(element->c) == lower(c) : element->c == c;
    default:
        return false;
    }
}

/* Returns true if the pattern at p begins with "%" or "*", not escaped. */
static bool is_at_many(const struct language *language, const char *p, const char *end)
{
    return p < end && (uint8_t)*p == language->many &&
           !(language->escape && (uint8_t)*p == language->escape);
}

static bool matches(const struct language *language, ttr_text pattern, ttr_text text)
{
    const char *p = pattern.p, *p_end = p + pattern.n, *s = text.p, *s_end = s + text.n;
    const char *retry_p = NULL, *retry_s = NULL;
    for (;;) {
        if (is_at_many(language, p, p_end)) {
            retry_p = ++p;
            retry_s = s;
            continue;
        }
        if (p == p_end && s == s_end)
            return true;
        if (p < p_end && s < s_end) {
            const struct element element = next_element(language, &p, p_end);
            if (element_matches(language, &element, value_next_character(&s, s_end)))
                continue;
        }
        if (!retry_p || retry_s == s_end)
            return false;
        (void)value_next_character(&retry_s, s_end);
        p = retry_p;
        s = retry_s;
    }
}

bool value_matches_like(ttr_text pattern, ttr_text text, uint32_t escape)
{
    const struct language like = {.many = '%', .one = '_', .escape = escape, .ignores_case = true};
    return matches(&like, pattern, text);
}

bool value_matches_glob(ttr_text pattern, ttr_text text)
{
    static const struct language glob = {.many = '*', .one = '?', .has_sets = true};
    return matches(&glob, pattern, text);
}
