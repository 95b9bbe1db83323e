/* Tables about the trace as a whole, from the reports of the reader: its time, its attributes, what
 * was counted, and what could not be read. */
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>

#include "store/store.h"

static int64_t add_text(ttr_store *store, const char *text)
{
    return (int64_t)ttr_text_add(store->t, text, strlen(text));
}

static bool add_count(ttr_store *store, const ttr_report *report, const char *name, uint64_t value)
{
    const int64_t row[] = {add_text(store, name), report->source, store_clamp(value)};
    return table_append(&store->tables[STORE_STATS], row);
}

static bool add_counts(ttr_store *store, const ttr_report *report)
{
    return add_count(store, report, "events", report->events) &&
           add_count(store, report, "bytes", report->bytes) &&
           add_count(store, report, "packets", report->packets) &&
           add_count(store, report, "lost_events", report->lost) &&
           add_count(store, report, "lost_packets", report->lost_packets) &&
           add_count(store, report, "gaps", report->gaps) &&
           add_count(store, report, "damage_regions", report->damage_regions) &&
           add_count(store, report, "damage_bytes", report->damage_bytes);
}

static bool add_damage(ttr_store *store, const ttr_report *report)
{
    static const char *const severities[] = {"remark", "odd", "damage"};
    for (size_t i = 0; i < report->notes_n; i++) {
        const ttr_diagnostic *note = &report->notes[i];
        const int64_t row[] = {
            report->source,
            add_text(store, note->code),
            add_text(store, severities[note->severity <= TTR_SEVERITY_DAMAGE ? note->severity : 0]),
            store_clamp(note->count),
            store_clamp(note->bytes),
            note->first_offset == UINT64_MAX ? TTR_STORE_NULL : store_clamp(note->first_offset),
            add_text(store, note->text)};
        if (!table_append(&store->tables[STORE_DAMAGE], row))
            return false;
    }
    return true;
}

static int64_t int_of_real(double real)
{
    const double end = 9223372036854775808.0; /* 2^63 */
    return real >= -end && real < end ? (int64_t)real : TTR_STORE_NULL;
}

static bool add_attributes(ttr_store *store, uint16_t source)
{
    ttr_attribute attribute;
    for (size_t i = 0; ttr_source_attribute(store->t, source, i, &attribute); i++) {
        const ttr_value *value = &attribute.value;
        const bool is_text = value->type == TTR_TYPE_TEXT;
        const int64_t number = value->type == TTR_TYPE_INT     ? value->v.s
                               : value->type == TTR_TYPE_FLOAT ? int_of_real(value->v.f)
                                                               : store_clamp(value->v.u);
        const int64_t row[] = {
            source, (int64_t)ttr_text_add(store->t, attribute.name.p, attribute.name.n),
            is_text ? (int64_t)ttr_text_add(store->t, value->text.p, value->text.n)
                    : TTR_STORE_NULL,
            is_text ? TTR_STORE_NULL : number};
        if (!table_append(&store->tables[STORE_METADATA], row))
            return false;
    }
    return true;
}

static bool add_bounds(ttr_store *store)
{
    const int64_t row[] = {store->first, store->last};
    /* The range is empty if no event has a time. */
    return store->first > store->last || table_append(&store->tables[STORE_BOUNDS], row);
}

bool store_end_reports(ttr_store *store, ttr_reader *in)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
        if (!add_counts(store, &report) || !add_damage(store, &report) ||
            !add_attributes(store, report.source))
            return false;
    return add_bounds(store);
}
