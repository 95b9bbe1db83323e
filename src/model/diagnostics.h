/* Diagnostics of a reader: one entry per code with an exact count, and the first byte ranges of
 * damage. */
#ifndef TRACETTA_MODEL_DIAGNOSTICS_H
#define TRACETTA_MODEL_DIAGNOSTICS_H

#include <stdarg.h>

#include <tracetta/report.h>

#include "base/alloc.h"

#define DIAGNOSTICS_CODES_MAX 64u
#define DIAGNOSTICS_REGIONS_MAX 1000u
#define DIAGNOSTICS_TEXT_MAX 240u

struct diagnostics {
    const struct alloc *alloc;
    ttr_diagnostic *note;
    char (*text)[DIAGNOSTICS_TEXT_MAX];
    size_t n, capacity;
    ttr_region *region;
    size_t regions_n, regions_capacity;
    uint64_t damage_regions, damage_bytes, damage_end; /* end offset of the last range */
};

void diagnostics_init(struct diagnostics *notes, const struct alloc *alloc);
void diagnostics_free(struct diagnostics *notes);

/* Counts a diagnostic. Formats the text only for the first one of a code and for the first of a
 * higher severity; a code has the highest severity reported. Counts are exact even if memory runs
 * out. */
void diagnostics_add(struct diagnostics *notes, ttr_severity severity, const ttr_region *where,
                     const char *format, va_list values);

/* Adds the diagnostics of another reader before that is closed: copies texts, borrows codes. */
void diagnostics_merge(struct diagnostics *notes, const struct diagnostics *from);

#endif
