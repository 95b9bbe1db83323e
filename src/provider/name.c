/* Names of tracepoints: Provider_L4K1fGgroup, the level and the keyword in lower-case hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "provider/state.h"

bool name_of_point(char name[PROVIDER_NAME_MAX], const ttr_provider *provider, unsigned level,
                   uint64_t keyword)
{
    int n = snprintf(name, PROVIDER_NAME_MAX, "%s_L%xK%" PRIx64 "%s%s", provider->name, level,
                     keyword, provider->group[0] ? "G" : "", provider->group);
    return n > 0 && (size_t)n < PROVIDER_NAME_MAX;
}

static bool is_group(const char *group)
{
    return !group[strspn(group, "abcdefghijklmnopqrstuvwxyz0123456789")];
}

/* What tracefs, the commands of user_events, or readers of the name would take for something else.
 */
static bool is_provider(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++)
        if ((unsigned char)name[n] <= ' ' || strchr(":;/*?\"'\\\x7f", name[n]))
            return false;
    return n > 0 && name[0] != '.';
}

ttr_status name_check(const char *name, const char *group, ttr_error *error)
{
    if (!is_provider(name))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" cannot be the name of a provider: letters, digits and _ can", name);
    if (!is_group(group))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" cannot be the name of a group of providers: lower-case letters and "
                    "digits can",
                    group);
    if (strlen(name) + strlen(group) + (group[0] != '\0') + sizeof "_L1K0" > PROVIDER_NAME_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the provider's name is too long: a tracepoint's has at most %u bytes with "
                    "level, keyword and group",
                    PROVIDER_NAME_MAX - 1);
    return TTR_OK;
}
