/* Diagnostics of a reader, counted by code. A hostile file can cause millions of them. A text is
 * therefore formatted only for the first one of a code and when its severity rises, and the number
 * of stored byte ranges is limited. Counts are always exact. */
#include "model/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

void diagnostics_init(struct diagnostics *notes, const struct alloc *alloc)
{
    *notes = (struct diagnostics){.alloc = alloc};
}

void diagnostics_free(struct diagnostics *notes)
{
    alloc_free(notes->alloc, notes->note, notes->capacity, sizeof *notes->note);
    alloc_free(notes->alloc, notes->text, notes->text ? DIAGNOSTICS_CODES_MAX : 0,
               sizeof *notes->text);
    alloc_free(notes->alloc, notes->region, notes->regions_capacity, sizeof *notes->region);
}

static ttr_diagnostic *find_diagnostic_code(struct diagnostics *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++)
        if (notes->note[i].code == code || strcmp(notes->note[i].code, code) == 0)
            return &notes->note[i];
    return NULL;
}

/* Adds an entry for a new code. Allocates all its texts at once, so that pointers to them stay
 * valid. */
static ttr_diagnostic *add_diagnostic_code(struct diagnostics *notes, const char *code,
                                           const char *format, va_list values)
{
    if (!notes->text)
        notes->text = alloc_zero(notes->alloc, DIAGNOSTICS_CODES_MAX, sizeof *notes->text);
    if (!notes->text || notes->n >= DIAGNOSTICS_CODES_MAX ||
        !alloc_reserve(notes->alloc, (void **)&notes->note, &notes->capacity, notes->n + 1,
                       sizeof *notes->note))
        return NULL;
    char *text = notes->text[notes->n];
    (void)vsnprintf(text, DIAGNOSTICS_TEXT_MAX, format, values);
    ttr_diagnostic *note = &notes->note[notes->n++];
    *note = (ttr_diagnostic){.code = code, .text = text};
    return note;
}

/* Raises the severity of a code and replaces its text. */
static void raise_severity(struct diagnostics *notes, ttr_diagnostic *note, ttr_severity severity,
                           const char *format, va_list values)
{
    note->severity = severity;
    (void)vsnprintf(notes->text[note - notes->note], DIAGNOSTICS_TEXT_MAX, format, values);
}

/* Adds a damaged byte range, merged with the previous range if they touch. A range without an
 * offset is never merged. */
static void add_damage_region(struct diagnostics *notes, const ttr_region *where)
{
    ttr_region *last = notes->regions_n ? &notes->region[notes->regions_n - 1] : NULL;
    const bool has_place = where->offset != NO_OFFSET;
    bool adjacent = has_place && notes->damage_regions > 0 && where->offset == notes->damage_end;
    notes->damage_bytes += where->bytes;
    notes->damage_end = has_place ? where->offset + where->bytes : NO_OFFSET;
    if (adjacent) {
        if (last && last->offset + last->bytes == where->offset)
            last->bytes += where->bytes;
        return;
    }
    notes->damage_regions++;
    if (notes->regions_n < DIAGNOSTICS_REGIONS_MAX &&
        alloc_reserve(notes->alloc, (void **)&notes->region, &notes->regions_capacity,
                      notes->regions_n + 1, sizeof *notes->region))
        notes->region[notes->regions_n++] = *where;
}

void diagnostics_add(struct diagnostics *notes, ttr_severity severity, const ttr_region *where,
                     const char *format, va_list values)
{
    ttr_diagnostic *note = find_diagnostic_code(notes, where->code);
    if (!note) {
        note = add_diagnostic_code(notes, where->code, format, values);
        if (note) {
            note->severity = severity;
            note->first_offset = where->offset;
        }
    } else if (severity > note->severity) {
        raise_severity(notes, note, severity, format, values);
        note->first_offset = where->offset;
    }
    if (note) {
        note->count++;
        note->bytes += where->bytes;
    }
    if (severity == TTR_SEVERITY_DAMAGE)
        add_damage_region(notes, where);
}

/* Returns the entry of a code, added if it is new, and raises its severity to that of `other`.
 * Returns NULL without room. */
static ttr_diagnostic *find_or_add(struct diagnostics *notes, const ttr_diagnostic *other,
                                   const char *format, ...) TTR_PRINTF(3, 4);

static ttr_diagnostic *find_or_add(struct diagnostics *notes, const ttr_diagnostic *other,
                                   const char *format, ...)
{
    ttr_diagnostic *note = find_diagnostic_code(notes, other->code);
    va_list values;
    if (note && other->severity <= note->severity)
        return note;
    va_start(values, format);
    if (note)
        raise_severity(notes, note, other->severity, format, values);
    else
        note = add_diagnostic_code(notes, other->code, format, values);
    va_end(values);
    if (note) {
        note->severity = other->severity;
        note->first_offset = other->first_offset;
    }
    return note;
}

void diagnostics_merge(struct diagnostics *notes, const struct diagnostics *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const ttr_diagnostic *other = &from->note[i];
        ttr_diagnostic *note = find_or_add(notes, other, "%s", other->text);
        if (!note)
            continue;
        note->count += other->count;
        note->bytes += other->bytes;
    }
    for (size_t i = 0; i < from->regions_n && notes->regions_n < DIAGNOSTICS_REGIONS_MAX; i++)
        if (alloc_reserve(notes->alloc, (void **)&notes->region, &notes->regions_capacity,
                          notes->regions_n + 1, sizeof *notes->region))
            notes->region[notes->regions_n++] = from->region[i];
    notes->damage_regions += from->damage_regions;
    notes->damage_bytes += from->damage_bytes;
    notes->damage_end = UINT64_MAX;
}
