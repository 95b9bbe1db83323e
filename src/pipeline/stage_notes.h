/* Diagnostics of a stage, appended to those of the reader that it wraps. */
#ifndef TRACETTA_PIPELINE_STAGE_NOTES_H
#define TRACETTA_PIPELINE_STAGE_NOTES_H

#include <stdbool.h>

#include "model/diagnostics.h"

struct stage_notes {
    struct diagnostics notes;
    /* array of the last report: diagnostics of the wrapped reader, then those of the stage */
    ttr_diagnostic *both;
    size_t capacity;
};

void stage_notes_init(struct stage_notes *stage_notes, const struct alloc *alloc);
void stage_notes_free(struct stage_notes *stage_notes);

/* Counts a problem at a byte offset of the input. The text of the first problem with this code is
 * kept. */
void stage_notes_add(struct stage_notes *stage_notes, ttr_severity severity, uint64_t offset,
                     const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Appends the diagnostics of the stage to a report. If memory is exhausted, the report stays
 * unchanged. */
void stage_notes_report(struct stage_notes *stage_notes, ttr_report *report);

#endif
