/* See stage_notes.h.  Codes are few, so the joined list is made anew for each report. */
#include "pipeline/stage_notes.h"

#include <string.h>

void remarks_init(struct remarks *remarks, const struct alloc *alloc)
{
    *remarks = (struct remarks){.both = NULL};
    diagnostics_init(&remarks->notes, alloc);
}

void remarks_free(struct remarks *remarks)
{
    alloc_free(remarks->notes.alloc, remarks->both, remarks->capacity, sizeof *remarks->both);
    diagnostics_free(&remarks->notes);
}

void remarks_add(struct remarks *remarks, ttr_severity severity, uint64_t offset, const char *code,
                 const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(&remarks->notes, severity, &(ttr_region){.offset = offset, .code = code},
                    format, values);
    va_end(values);
}

void remarks_report(struct remarks *remarks, ttr_report *report)
{
    const struct diagnostics *ctx = &remarks->notes;
    size_t n = report->notes_n + ctx->n;
    if (ctx->n == 0 || !alloc_reserve(ctx->alloc, (void **)&remarks->both, &remarks->capacity, n,
                                      sizeof *remarks->both))
        return;
    if (report->notes_n)
        memcpy(remarks->both, report->notes, report->notes_n * sizeof *remarks->both);
    memcpy(remarks->both + report->notes_n, ctx->note, ctx->n * sizeof *remarks->both);
    report->notes = remarks->both;
    report->notes_n = n;
}
