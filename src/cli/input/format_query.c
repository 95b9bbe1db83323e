/* Questions to the library about formats, options and styles. */
#include "cli/input/format_query.h"

#include <string.h>

const char *format_query_find_format_of_role(ttr_option_role role)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (ttr_format_option_for(info.name, role))
            return info.name;
    return "";
}

const char *format_query_find_option_of_role(ttr_option_role role)
{
    return ttr_format_option_for(format_query_find_format_of_role(role), role);
}

bool format_query_is_option(const char *given, ttr_option_role role)
{
    ttr_format_info info;
    const size_t n = strcspn(given, "=");
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        const char *option = ttr_format_option_for(info.name, role);
        const char *key = option ? strchr(option, '.') + 1 : "";
        if (option && ((strlen(option) == n && memcmp(option, given, n) == 0) ||
                       (strlen(key) == n && memcmp(key, given, n) == 0)))
            return true;
    }
    return false;
}

bool format_query_style(const char *name, ttr_style_info *style)
{
    for (size_t i = 0; name && ttr_style_get(i, style); i++)
        if (strcmp(style->name, name) == 0)
            return true;
    return false;
}

const char *format_query_able(uint32_t abilities)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if ((info.abilities & abilities) == abilities)
            return info.name;
    return "";
}

bool format_query_find(const char *name, ttr_format_info *info)
{
    for (size_t i = 0; ttr_format_get(i, info); i++)
        if (strcmp(info->name, name) == 0)
            return true;
    return false;
}

bool format_query_has(const char *format, uint32_t abilities)
{
    ttr_format_info info;
    return format_query_find(format, &info) && (info.abilities & abilities) == abilities;
}
