/* Diagnostics of a stage. They are few, so each report builds the combined array again. */
#include "pipeline/stage_notes.h"

#include <string.h>

void stage_notes_init(struct stage_notes *stage_notes, const struct alloc *alloc)
{
    *stage_notes = (struct stage_notes){.both = NULL};
    diagnostics_init(&stage_notes->notes, alloc);
}

void stage_notes_free(struct stage_notes *stage_notes)
{
    alloc_free(stage_notes->notes.alloc, stage_notes->both, stage_notes->capacity,
               sizeof *stage_notes->both);
    diagnostics_free(&stage_notes->notes);
}

void stage_notes_add(struct stage_notes *stage_notes, ttr_severity severity, uint64_t offset,
                     const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(&stage_notes->notes, severity, &(ttr_region){.offset = offset, .code = code},
                    format, values);
    va_end(values);
}

void stage_notes_report(struct stage_notes *stage_notes, ttr_report *report)
{
    const struct diagnostics *ctx = &stage_notes->notes;
    size_t n = report->notes_n + ctx->n;
    if (ctx->n == 0 || !alloc_reserve(ctx->alloc, (void **)&stage_notes->both,
                                      &stage_notes->capacity, n, sizeof *stage_notes->both))
        return;
    if (report->notes_n)
        memcpy(stage_notes->both, report->notes, report->notes_n * sizeof *stage_notes->both);
    memcpy(stage_notes->both + report->notes_n, ctx->note, ctx->n * sizeof *stage_notes->both);
    report->notes = stage_notes->both;
    report->notes_n = n;
}
