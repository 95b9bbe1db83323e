/* Diagnostics of a stage, appended to those of the reader that it wraps. */
#ifndef TRACETTA_PIPELINE_STAGE_NOTES_H
#define TRACETTA_PIPELINE_STAGE_NOTES_H

#include <stdbool.h>

#include "model/notes.h"

struct remarks {
    struct notes notes;
    ttr_note *both; /* joined array of the last report */
    size_t capacity;
};

void remarks_init(struct remarks *remarks, const struct alloc *alloc);
void remarks_free(struct remarks *remarks);

/* Counts a problem at a byte offset of the input.  The text is that of the first problem with this
 * code. */
void remarks_add(struct remarks *remarks, ttr_severity severity, uint64_t offset, const char *code,
                 const char *format, ...) TTR_PRINTF(5, 6);

/* Appends the diagnostics to a report.  Leaves it unchanged if memory is exhausted. */
void remarks_report(struct remarks *remarks, ttr_report *report);

#endif
