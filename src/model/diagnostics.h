/* Findings of a reader: one entry a code, counted exactly; byte ranges of damage, the first ones
 * kept. */
#ifndef TRACETTA_MODEL_DIAGNOSTICS_H
#define TRACETTA_MODEL_DIAGNOSTICS_H

#include <stdarg.h>

#include <tracetta/read.h>

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

/* Counts a finding; the text is formatted for the first of its code only, and anew where one is
 * worse than those before it: the severity of a code is the worst.  Without memory the counts still
 * hold. */
void diagnostics_add(struct diagnostics *notes, ttr_severity severity, const ttr_region *where,
                     const char *format, va_list values);

/* Adds all that another reader found, which is about to go: texts are copied, codes stay as they
 * are. */
void diagnostics_merge(struct diagnostics *notes, const struct diagnostics *from);

#endif
