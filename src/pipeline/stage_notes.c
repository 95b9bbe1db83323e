/* Diagnostics of a stage.  There are few codes, so each report rebuilds the joined array. */
#include "pipeline/stage_notes.h"

#include <string.h>

void remarks_init(struct remarks *remarks, const struct alloc *alloc)
{
    *remarks = (struct remarks){.both = NULL};
    notes_init(&remarks->notes, alloc);
}

void remarks_free(struct remarks *remarks)
{
    alloc_free(remarks->notes.alloc, remarks->both, remarks->capacity, sizeof *remarks->both);
    notes_free(&remarks->notes);
}

void remarks_add(struct remarks *remarks, ttr_severity severity, uint64_t offset, const char *code,
                 const char *format, ...)
{
    va_list values;
    va_start(values, format);
    notes_add(&remarks->notes, severity, &(ttr_region){.offset = offset, .code = code}, format,
              values);
    va_end(values);
}

void remarks_report(struct remarks *remarks, ttr_report *report)
{
    const struct notes *own = &remarks->notes;
    size_t n = report->notes_n + own->n;
    if (own->n == 0 || !alloc_reserve(own->alloc, (void **)&remarks->both, &remarks->capacity, n,
                                      sizeof *remarks->both))
        return;
    if (report->notes_n)
        memcpy(remarks->both, report->notes, report->notes_n * sizeof *remarks->both);
    memcpy(remarks->both + report->notes_n, own->note, own->n * sizeof *remarks->both);
    report->notes = remarks->both;
    report->notes_n = n;
}
