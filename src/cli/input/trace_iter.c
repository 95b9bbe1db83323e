/* Groups the reports of streams by trace. */
#include "cli/input/trace_iter.h"

#include <stdlib.h>
#include <string.h>

static void extend_trace_times(struct trace *trace, const ttr_report *report)
{
    if (!report->has_times)
        return;
    trace->begin_ns = !trace->has_times || report->first_ns < trace->begin_ns ? report->first_ns
                                                                              : trace->begin_ns;
    trace->end_ns =
        !trace->has_times || report->last_ns > trace->end_ns ? report->last_ns : trace->end_ns;
    trace->has_times = true;
}

bool traces_read_next(ttr_reader *reader, struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    size_t first = trace->first + trace->n;
    *trace = (struct trace){.first = first, .report.size = sizeof report};
    if (!ttr_reader_report(reader, first, &report))
        return false;
    trace->report = report;
    trace->source = report.trace;
    findings_begin(&trace->sum);
    do {
        trace->n++;
        trace->packets += report.packets;
        trace->lossy += report.lost || report.gaps;
        findings_add(&trace->sum, &report);
        extend_trace_times(trace, &report);
    } while (ttr_reader_report(reader, first + trace->n, &report) && report.trace == trace->source);
    return true;
}

size_t traces_count(ttr_reader *reader)
{
    struct trace trace = {0};
    size_t n = 0;
    while (traces_read_next(reader, &trace))
        n++;
    return n;
}

bool traces_get_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value)
{
    ttr_attribute attribute;
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        if (strlen(name) == attribute.name.n &&
            memcmp(attribute.name.p, name, attribute.name.n) == 0) {
            *value = attribute.value;
            return true;
        }
    return false;
}

/* --- Order --- */

struct placed {
    ttr_reader *reader;
    ttr_text uuid, name;
    size_t place;
};

static int compare_texts(ttr_text a, ttr_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order || a.n == b.n ? order : a.n < b.n ? -1 : 1;
}

static int compare_paths(const void *a, const void *b)
{
    const struct trace *x = a, *y = b;
    int order = compare_texts(x->report.trace_path, y->report.trace_path);
    return order ? order : x->first < y->first ? -1 : x->first > y->first;
}

void traces_walk_begin(struct traces_walk *walk, ttr_reader *reader)
{
    struct trace trace = {0};
    size_t n = traces_count(reader);
    *walk = (struct traces_walk){.reader = reader,
                                 .sorted = n > 1 ? calloc(n, sizeof *walk->sorted) : NULL};
    while (walk->sorted && walk->n < n && traces_read_next(reader, &trace))
        walk->sorted[walk->n++] = trace;
    if (walk->sorted)
        qsort(walk->sorted, walk->n, sizeof *walk->sorted, compare_paths);
}

bool traces_walk_step(struct traces_walk *walk, struct trace *trace)
{
    if (!walk->sorted) {
        bool is_there = traces_read_next(walk->reader, &walk->at);
        *trace = walk->at;
        return is_there;
    }
    if (walk->i == walk->n)
        return false;
    *trace = walk->sorted[walk->i++];
    return true;
}

void traces_walk_end(struct traces_walk *walk)
{
    free(walk->sorted);
    walk->sorted = NULL;
}

static int compare_positions(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = (x->uuid.n == 0) - (y->uuid.n == 0);
    if (order == 0)
        order = x->uuid.n ? compare_texts(x->uuid, y->uuid) : compare_texts(x->name, y->name);
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

void traces_sort(const ttr *t, ttr_reader **readers, size_t n)
{
    struct placed *placed = calloc(n, sizeof *placed);
    for (size_t i = 0; placed && i < n; i++) {
        struct trace trace = {0};
        ttr_value uuid = {.text = {"", 0}}, name = {.text = {"", 0}};
        if (traces_read_next(readers[i], &trace)) {
            (void)traces_get_attribute(t, trace.source, "trace.uuid", &uuid);
            (void)traces_get_attribute(t, trace.source, "trace.name", &name);
        }
        placed[i] = (struct placed){readers[i], uuid.text, name.text, i};
    }
    if (placed && n)
        qsort(placed, n, sizeof *placed, compare_positions);
    for (size_t i = 0; placed && i < n; i++)
        readers[i] = placed[i].reader;
    free(placed);
}

/* Adds a finding of another stream to the sum. The stream with the worst severity determines text
 * and path. */
static void add_note(struct trace_note *sum, const ttr_diagnostic *note, ttr_text path)
{
    const uint64_t count = sum->note.count + note->count, bytes = sum->note.bytes + note->bytes;
    if (note->severity > sum->note.severity) {
        sum->note = *note;
        sum->path = path;
    }
    sum->note.count = count;
    sum->note.bytes = bytes;
}

bool traces_is_stream(const ttr *t, const ttr_report *report)
{
    ttr_value value;
    return !traces_get_attribute(t, report->source, "trace.metadata", &value);
}

size_t traces_collect_notes(const ttr *t, ttr_reader *reader, const struct trace *trace,
                            struct trace_note note[TRACE_NOTES])
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++) {
        const bool is_stream = traces_is_stream(t, &report);
        for (size_t k = 0; k < report.notes_n; k++) {
            const ttr_diagnostic *found = &report.notes[k];
            size_t at = 0;
            while (at < n && strcmp(note[at].note.code, found->code) != 0)
                at++;
            if (at == TRACE_NOTES)
                continue;
            if (at == n)
                note[n++] = (struct trace_note){.note = *found, .path = report.path};
            else
                add_note(&note[at], found, report.path);
            note[at].inputs++;
            note[at].streams += is_stream;
        }
    }
    return n;
}

bool traces_have_notes(ttr_reader *reader, const struct trace *trace, ttr_severity from)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            if (report.notes[k].severity >= from)
                return true;
    return false;
}

static bool is_same_clock(const ttr_clock *a, const ttr_clock *b)
{
    return strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0 &&
           a->frequency == b->frequency && a->is_anchored == b->is_anchored &&
           a->anchor_ticks == b->anchor_ticks && a->anchor_ns == b->anchor_ns &&
           a->offset_ns == b->offset_ns && a->provider.n == b->provider.n &&
           (a->provider.n == 0 || memcmp(a->provider.p, b->provider.p, a->provider.n) == 0);
}

size_t traces_clocks(ttr_reader *reader, const struct trace *trace, ttr_clock clock[TRACE_CLOCKS])
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++)
        for (size_t k = 0; k < report.clocks_n; k++) {
            size_t at = 0;
            while (at < n && !is_same_clock(&clock[at], &report.clocks[k]))
                at++;
            if (at == n && n < TRACE_CLOCKS)
                clock[n++] = report.clocks[k];
        }
    return n;
}
