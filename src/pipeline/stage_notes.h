/* Notes of a wrapping reader, put beside those of what it wraps when a report is asked for. */
#ifndef TRACETTA_PIPELINE_STAGE_NOTES_H
#define TRACETTA_PIPELINE_STAGE_NOTES_H

#include <stdbool.h>

#include "model/diagnostics.h"

struct remarks {
    struct diagnostics notes;
    ttr_diagnostic *both; /* of the report given last */
    size_t capacity;
};

void remarks_init(struct remarks *remarks, const struct alloc *alloc);
void remarks_free(struct remarks *remarks);

/* Counts a finding at an offset of the input; the text is that of the first of its code. */
void remarks_add(struct remarks *remarks, ttr_severity severity, uint64_t offset, const char *code,
                 const char *format, ...) TTR_PRINTF(5, 6);

/* Adds the notes to a report; without memory it stays as it is. */
void remarks_report(struct remarks *remarks, ttr_report *report);

#endif
