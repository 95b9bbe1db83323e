/* Filters of categories; see the header. */
#include "trace/trace_filter.h"

#include <fnmatch.h>
#include <string.h>

#define LEVEL_MAX 5u
#define FILTER_WORD_MAX 256u

/* Parses the next word of a filter: "-GLOB", "GLOB" or "GLOB:LEVEL". Returns the text after it, or
 * NULL if the word is malformed. */
static const char *parse_word(const char *filter, char glob[FILTER_WORD_MAX], uint8_t *level)
{
    const bool excludes = *filter == '-';
    if (excludes || *filter == '+')
        filter++;
    const size_t n = strcspn(filter, ",");
    if (n == 0 || n >= FILTER_WORD_MAX)
        return NULL;
    memcpy(glob, filter, n);
    glob[n] = '\0';
    *level = excludes ? 0 : LEVEL_MAX;
    char *colon = strrchr(glob, ':');
    if (colon) {
        if (excludes || colon[1] < '1' || colon[1] > '5' || colon[2])
            return NULL;
        *level = (uint8_t)(colon[1] - '0');
        *colon = '\0';
    }
    return filter + n + (filter[n] == ',');
}

bool trace_filter_is_valid(const char *filter)
{
    char glob[FILTER_WORD_MAX];
    uint8_t level;
    if (!filter)
        return true;
    while (filter && *filter)
        filter = parse_word(filter, glob, &level);
    return filter != NULL;
}

uint8_t trace_filter_level(const char *filter, const char *category)
{
    char glob[FILTER_WORD_MAX];
    uint8_t level;
    if (!filter || !*filter)
        return LEVEL_MAX;
    /* A list that begins with an exclusion starts from all categories. */
    uint8_t result = *filter == '-' ? LEVEL_MAX : 0;
    while (filter && *filter) {
        filter = parse_word(filter, glob, &level);
        if (filter && fnmatch(glob, category, 0) == 0)
            result = level;
    }
    return result;
}
