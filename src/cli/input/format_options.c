/* Options of formats: those that the user gave, and those implied by other options of the command.
 * The functions are declared in input_list.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/format_query.h"
#include "cli/input/input_list.h"
#include "cli/ui/messages.h"

/* Returns 1 if a format has the option for reading, plus 2 if a format has it for writing.
 * Considers all formats, or the one named before a dot. */
static unsigned find_uses(const char *option)
{
    unsigned uses = 0;
    ttr_format_info format;
    ttr_option_info info;
    const char *key = option;
    size_t key_n = strcspn(option, "="), dot = strcspn(option, ".");
    if (dot < key_n) {
        key += dot + 1;
        key_n -= dot + 1;
    }
    for (size_t i = 0; ttr_format_get(i, &format); i++) {
        if (key != option && (strlen(format.name) != dot || memcmp(format.name, option, dot) != 0))
            continue;
        for (size_t j = 0; ttr_format_option(i, j, &info); j++)
            if (strlen(info.key) == key_n && memcmp(info.key, key, key_n) == 0)
                uses |= info.for_writing ? 2u : 1u;
    }
    return uses;
}

/* A reader option that another option of the command implies. */
struct implied {
    ttr_option_role role;
    const char *value; /* NULL = not implied */
};

#define IMPLIED_N 2u

/* Fills in the reader options that the call implies. Returns the size in bytes of all texts
 * "FORMAT.KEY=VALUE". */
static size_t list_implied(const struct call *call, struct implied implied[IMPLIED_N])
{
    size_t size = 0;
    implied[0] =
        (struct implied){TTR_OPTION_INTERSECTION, call->set.stream_intersection ? "yes" : NULL};
    implied[1] = (struct implied){TTR_OPTION_METADATA, call->set.metadata_file};
    for (size_t i = 0; i < IMPLIED_N; i++)
        if (implied[i].value)
            size += strlen(format_query_find_option_of_role(implied[i].role)) +
                    strlen(implied[i].value) + 2;
    return size;
}

const char **inputs_format_options(const struct call *call, bool for_writing, bool *is_fine)
{
    const struct words *given = &call->set.format_options;
    ttr_style_info style;
    struct implied implied[IMPLIED_N] = {{0}};
    const bool has_style = !for_writing && format_query_style(call->set.style, &style);
    const size_t texts = for_writing ? 0 : list_implied(call, implied);
    size_t room = given->n + IMPLIED_N + 1, n = 0;
    for (size_t i = 0; has_style && style.reading_options[i]; i++)
        room++;
    const char **list = calloc(1, room * sizeof *list + texts);
    char *text = (char *)(list + room); /* texts follow the list in one allocation, so that one
                                         * free suffices */
    *is_fine = list != NULL;
    for (size_t i = 0; list && has_style && style.reading_options[i]; i++)
        list[n++] = style.reading_options[i]; /* first in the list: an option that the user gives
                                               * comes later and overrides it */
    for (size_t i = 0; list && i < given->n; i++) {
        unsigned uses = find_uses(given->list[i]);
        if (uses == 0 || !strchr(given->list[i], '=')) {
            (void)report_misuse(
                call->command->name,
                "no format has an option \"%s\": \"tracetta formats\" lists them as KEY=VALUE",
                given->list[i]);
            *is_fine = false;
        }
        if (uses & (for_writing ? 2u : 1u))
            list[n++] = given->list[i];
    }
    for (size_t i = 0; list && i < IMPLIED_N; i++) {
        if (!implied[i].value)
            continue;
        const char *option = format_query_find_option_of_role(implied[i].role);
        const size_t size = strlen(option) + strlen(implied[i].value) + 2;
        (void)snprintf(text, size, "%s=%s", option, implied[i].value);
        list[n++] = text;
        text += size;
    }
    return list;
}

static bool reads_format(ttr_reader *in, const char *name, size_t n)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
        if (report.format && strlen(report.format) == n && memcmp(report.format, name, n) == 0)
            return true;
    return false;
}

void inputs_warn_about_idle(const struct call *call, ttr_reader *in, const char *target, size_t ctx)
{
    const struct words *given = &call->set.format_options;
    for (size_t i = 0; i + ctx < given->n; i++) {
        const char *option = given->list[i];
        const size_t n = strcspn(option, ".=");
        const unsigned uses = find_uses(option);
        if (option[n] != '.')
            continue; /* an option without a format name, which the library checks */
        const bool is_written = strlen(target) == n && memcmp(target, option, n) == 0;
        if (!(uses & 2u && is_written) && !(uses & 1u && reads_format(in, option, n)))
            print_note(call, "warning: --option=%s does nothing here: %.*s is not %s", option,
                       (int)n, option,
                       uses == 3u   ? "read or written"
                       : uses == 1u ? "read"
                                    : "written");
    }
}
