/* Warnings about a trace as a text; see the header. */
#include "cli/commands/saved_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

#define PART_MAX ((int64_t)1 << 20)

bool saved_findings_collect(const struct call *call, ttr_reader *reader, char **text, size_t *n)
{
    struct call quiet = *call;
    FILE *to = open_memstream(text, n);
    if (!to)
        return false;
    (void)fputc('0', to);
    quiet.set.quiet = true;
    quiet.notes = to;
    const int outcome = warn_about_findings(&quiet, reader, OUTCOME_FINE);
    if (fclose(to) != 0)
        return false;
    (*text)[0] = outcome == OUTCOME_FINE ? '0' : '1';
    return (int64_t)*n <= PART_MAX;
}

int saved_findings_print(const struct call *call, const char *text, int outcome)
{
    const char *line = text + 1, *end;
    for (; (end = strchr(line, '\n')); line = end + 1)
        print_note(call, "%.*s", (int)(end - line), line);
    return outcome == OUTCOME_FINE && text[0] == '1' ? OUTCOME_NO : outcome;
}

char *saved_findings_read_part(const ttr_store *store, const char *name)
{
    const int64_t n = ttr_store_part_size(store, name);
    char *text = n >= 1 && n <= PART_MAX ? malloc((size_t)n + 1) : NULL;
    if (text && ttr_store_part_read(store, name, text, (size_t)n, NULL) == TTR_OK) {
        text[n] = '\0';
        return text;
    }
    free(text);
    return NULL;
}
