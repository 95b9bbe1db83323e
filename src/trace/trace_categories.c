/* Categories of programs and libraries: registration, filters, enable bytes. */
#include <fnmatch.h>

#include "trace/trace_internal.h"

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
    *level = excludes ? 0 : TTR_TRACE_VERBOSE;
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

/* Returns the highest level of a category that a filter records, 0 = none. The last glob that
 * matches decides. NULL records all. */
static uint8_t filter_level(const char *filter, const char *category)
{
    char glob[FILTER_WORD_MAX];
    uint8_t level;
    if (!filter || !*filter)
        return TTR_TRACE_VERBOSE;
    /* A list that begins with an exclusion starts from all categories. */
    uint8_t result = *filter == '-' ? TTR_TRACE_VERBOSE : 0;
    while (filter && *filter) {
        filter = parse_word(filter, glob, &level);
        if (filter && fnmatch(glob, category, 0) == 0)
            result = level;
    }
    return result;
}

static void enable_module(struct ttr_trace_module *module, bool is_enabled)
{
    const struct ttr_trace_category *category = module->categories;
    for (size_t i = 0; category[i].name && i < TTR_TRACE_PAGE; i++)
        module->enabled[i] = is_enabled ? filter_level(trace_session.filter, category[i].name) : 0;
}

void trace_categories_enable(bool is_enabled)
{
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        enable_module(module, is_enabled);
}

void ttr_trace_module_add(struct ttr_trace_module *module)
{
    pthread_mutex_lock(&trace_session.lock);
    module->next = trace_session.modules;
    trace_session.modules = module;
    if (trace_session.memory)
        enable_module(module, true);
    pthread_mutex_unlock(&trace_session.lock);
}

void ttr_trace_module_remove(struct ttr_trace_module *module)
{
    pthread_mutex_lock(&trace_session.lock);
    struct ttr_trace_module **link = &trace_session.modules;
    while (*link && *link != module)
        link = &(*link)->next;
    if (*link)
        *link = module->next;
    enable_module(module, false);
    pthread_mutex_unlock(&trace_session.lock);
}
