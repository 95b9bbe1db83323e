/* "key=value" options of formats. "FORMAT.key=value" applies to that format only, so one list can
 * have options for inputs of several formats. */
#include "model/options.h"

#include <string.h>

#include "base/status.h"

/* Returns the start of the key in an option text. Returns NULL if the option names another
 * format. */
static const char *find_option_key(const struct format *format, const char *option)
{
    const char *dot = strchr(option, '.');
    const char *equals = strchr(option, '=');
    if (!dot || (equals && dot > equals))
        return option;
    size_t n = (size_t)(dot - option);
    return strlen(format->name) == n && memcmp(format->name, option, n) == 0 ? dot + 1 : NULL;
}

static bool is_known_key(const struct options_list *list, const char *option, size_t key_n)
{
    for (size_t i = 0; i < list->format->options_n; i++) {
        const ttr_option_info *info = &list->format->options[i];
        if (info->for_writing == list->for_writing && strlen(info->key) == key_n &&
            memcmp(info->key, option, key_n) == 0)
            return true;
    }
    return false;
}

static ttr_status copy_option(const struct options_list *list, const char *option, char **copy,
                              ttr_error *error)
{
    const char *equals = strchr(option, '=');
    if (!equals)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "option \"%s\" has no value: write KEY=VALUE",
                    option);
    if (!is_known_key(list, option, (size_t)(equals - option)))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "format %s has no option \"%s\" for %s: see tracetta formats",
                    list->format->name, option, list->for_writing ? "writing" : "reading");
    size_t n = strlen(option) + 1;
    *copy = alloc_zero(list->alloc, n, 1);
    if (!*copy)
        return fail_memory(error);
    memcpy(*copy, option, n);
    return TTR_OK;
}

ttr_status options_copy(const struct options_list *list, char ***copies, size_t *n,
                        ttr_error *error)
{
    size_t given_n = 0;
    while (list->given && list->given[given_n])
        given_n++;
    *n = 0;
    if (given_n == 0)
        return TTR_OK;
    *copies = alloc_zero(list->alloc, given_n + 1, sizeof **copies);
    if (!*copies)
        return fail_memory(error);
    *n = given_n + 1;
    size_t used = 0;
    for (size_t i = 0; i < given_n; i++) {
        const char *ctx = find_option_key(list->format, list->given[i]);
        ttr_status status = ctx ? copy_option(list, ctx, &(*copies)[used++], error) : TTR_OK;
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

void options_free(const struct alloc *alloc, char **copies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (copies[i])
            alloc_free(alloc, copies[i], strlen(copies[i]) + 1, 1);
    alloc_free(alloc, copies, n, sizeof *copies);
}

const char *options_get(char *const *copies, size_t n, const char *key)
{
    size_t key_n = strlen(key);
    const char *value = NULL;
    for (size_t i = 0; i < n; i++)
        if (copies[i] && strncmp(copies[i], key, key_n) == 0 && copies[i][key_n] == '=')
            value = copies[i] + key_n + 1;
    return value;
}
