/* Attributes of sources that info prints in a special form: sessions of live sources, and
 * attributes that the reader adds. */
#include <string.h>

#include "cli/commands/info.h"

bool read_next_session(const struct subject *subject, uint16_t *source, size_t *i,
                       ttr_text *session)
{
    static const char name[] = "live.session";
    ttr_source about;
    ttr_attribute attribute;
    for (; ttr_source_get(subject->inputs.t, *source, &about); ++*source, *i = 0)
        while (ttr_source_attribute(subject->inputs.t, *source, (*i)++, &attribute))
            if (attribute.name.n == sizeof name - 1 &&
                memcmp(attribute.name.p, name, sizeof name - 1) == 0) {
                *session = attribute.value.text;
                return true;
            }
    return false;
}

bool is_written_by_tracetta(ttr_text name)
{
    static const char *const ctx[] = {"trace.", "stream.", "clock.", "live."};
    for (size_t i = 0; i < sizeof ctx / sizeof *ctx; i++)
        if (name.n > strlen(ctx[i]) && memcmp(name.p, ctx[i], strlen(ctx[i])) == 0)
            return true;
    return false;
}
