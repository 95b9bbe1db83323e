/* Findings of a reader: one entry a code, counted exactly; byte ranges of damage, the first ones
 * kept. */
#ifndef TRACETTA_MODEL_NOTES_H
#define TRACETTA_MODEL_NOTES_H

#include <stdarg.h>

#include <tracetta/report.h>

#include "base/alloc.h"

#define NOTES_CODES_MAX 64u
#define NOTES_REGIONS_MAX 1000u
#define NOTES_TEXT_MAX 240u

struct notes {
    const struct alloc *alloc;
    ttr_note *note;
    char (*text)[NOTES_TEXT_MAX];
    size_t n, capacity;
    ttr_region *region;
    size_t regions_n, regions_capacity;
    uint64_t damage_regions, damage_bytes, damage_end; /* end offset of the last range */
};

void notes_init(struct notes *notes, const struct alloc *alloc);
void notes_free(struct notes *notes);

/* Counts a finding; the text is formatted for the first of its code only, and anew where one is
 * worse than those before it: the severity of a code is the worst.  Without memory the counts still
 * hold. */
void notes_add(struct notes *notes, ttr_severity severity, const ttr_region *where,
               const char *format, va_list values);

/* Adds all that another reader found, which is about to go: texts are copied, codes stay as they
 * are. */
void notes_join(struct notes *notes, const struct notes *from);

#endif
