/* A glob matcher for names in traces, which may contain any byte.  fnmatch depends on the locale
 * and stops at a zero byte. */
#include "pipeline/glob.h"

#include <stddef.h>
#include <string.h>

/* Returns the length of a set "[...]" with its brackets; 0 if it is not closed.  A leading "]" is a
 * member. */
static size_t measure_set(const char *p)
{
    const char *at = p + 1;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    const char *end = strchr(at, ']');
    return end ? (size_t)(end - p) + 1 : 0;
}

static bool set_contains(const char *set, size_t length, char c)
{
    const char *at = set + 1, *end = set + length - 1;
    bool is_negated = *at == '!' || *at == '^', holds = false;
    unsigned char byte = (unsigned char)c;
    for (at += is_negated; at < end; at++) {
        unsigned char low = (unsigned char)*at, high = low;
        if (at + 2 < end && at[1] == '-') {
            high = (unsigned char)at[2];
            at += 2;
        }
        holds |= low <= byte && byte <= high;
    }
    return holds != is_negated;
}

/* Returns the number of bytes of the UTF-8 character at the start of the text. */
static size_t measure_character(const char *p, size_t n)
{
    size_t length = 1;
    if ((unsigned char)p[0] >= 0xc0)
        while (length < n && length < 4 && ((unsigned char)p[length] & 0xc0) == 0x80)
            length++;
    return length;
}

/* Matches one pattern element other than `*`. Returns the number of bytes of text that it matches
 * (0 = no match), and sets *element to the element's length in the pattern. */
static size_t match_element(const char *pattern, const char *text, size_t n, size_t *element)
{
    *element = 1;
    if (*pattern == '?')
        return measure_character(text, n);
    if (*pattern == '[' && measure_set(pattern)) {
        *element = measure_set(pattern);
        return set_contains(pattern, *element, *text);
    }
    if (*pattern == '\\' && pattern[1]) {
        *element = 2;
        return pattern[1] == *text;
    }
    return *pattern && *pattern == *text;
}

bool glob_matches(const char *pattern, ttr_text text)
{
    const char *star =
        NULL; /* pattern after the last star, and end of the text that this star has matched so far
               * */
    size_t at = 0, star_at = 0;
    while (at < text.n || *pattern == '*') {
        if (*pattern == '*') {
            star = ++pattern;
            star_at = at;
            continue;
        }
        size_t element, taken = match_element(pattern, text.p + at, text.n - at, &element);
        if (taken) {
            pattern += element;
            at += taken;
        } else if (star) {
            pattern = star;
            at = ++star_at;
        } else {
            return false;
        }
    }
    return *pattern == '\0';
}
