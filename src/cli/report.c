/* What was found while reading. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "talk.h"

static bool has_anchor(const ttr_report *report)
{
    for (size_t i = 0; i < report->clocks_n; i++)
        if (report->clocks[i].is_anchored)
            return true;
    return false;
}

struct findings report_sum(ttr_reader *reader)
{
    struct findings sum = {.is_anchored = true};
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        sum.inputs++;
        sum.bytes += report.bytes;
        sum.disk_size += report.disk_size;
        sum.events += report.events;
        sum.lost += report.lost;
        sum.gaps += report.gaps;
        sum.damage_regions += report.damage_regions;
        sum.damage_bytes += report.damage_bytes;
        sum.is_anchored = sum.is_anchored && has_anchor(&report);
        for (size_t k = 0; k < report.notes_n; k++)
            sum.odd += report.notes[k].severity == TTR_NOTE_ODD ? report.notes[k].count : 0;
    }
    return sum;
}

static void warn_one(const struct call *call, const ttr_report *report)
{
    char text[160] = "";
    int n = 0;
    if (report->damage_regions)
        n = snprintf(text, sizeof text, "%s damaged place%s skipped (%s)", units_count(report->damage_regions).s,
                     report->damage_regions == 1 ? "" : "s", units_size(report->damage_bytes).s);
    if (report->lost)
        (void)snprintf(text + n, sizeof text - (size_t)n, "%s%s events missing by its own account", n ? ", " : "",
                       units_count(report->lost).s);
    else if (report->gaps)
        (void)snprintf(text + n, sizeof text - (size_t)n, "%sevents missing by its own account", n ? ", " : "");
    if (text[0])
        talk_note(call, "%.*s: warning: %s%s", (int)report->path.n, report->path.p, text,
                  report->damage_regions ? "; \"tracetta check\" lists, \"tracetta recover\" repairs" : "");
}

void report_warn(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        warn_one(call, &report);
}

void report_json_damage(struct json *json, const struct findings *findings)
{
    json_uint(json, "lost", findings->lost);
    json_uint(json, "gaps", findings->gaps);
    json_open(json, "damage", '{');
    json_uint(json, "regions", findings->damage_regions);
    json_uint(json, "bytes", findings->damage_bytes);
    json_close(json, '}');
}

static void put_clock(struct json *json, const ttr_clock *clock)
{
    json_open(json, NULL, '{');
    json_string(json, "name", clock->name ? clock->name : "");
    json_text(json, "provider", clock->provider);
    json_uint(json, "frequency", clock->frequency);
    json_bool(json, "anchored", clock->is_anchored);
    if (clock->is_anchored) {
        json_uint(json, "anchor_ticks", clock->anchor_ticks);
        json_int(json, "anchor_ns", clock->anchor_ns);
    }
    json_int(json, "offset_ns", clock->offset_ns);
    json_close(json, '}');
}

void report_json_clocks(struct json *json, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    json_open(json, "clocks", '[');
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.clocks_n; k++)
            put_clock(json, &report.clocks[k]);
    json_close(json, ']');
}

static const char *severity_name(ttr_severity severity)
{
    return severity == TTR_NOTE_DAMAGE ? "damage" : severity == TTR_NOTE_ODD ? "odd" : "remark";
}

static void put_note(struct json *json, const ttr_note *note)
{
    json_open(json, NULL, '{');
    json_string(json, "code", note->code);
    json_string(json, "severity", severity_name(note->severity));
    json_string(json, "text", note->text);
    json_uint(json, "count", note->count);
    json_uint(json, "bytes", note->bytes);
    json_uint(json, "first_offset", note->first_offset);
    json_close(json, '}');
}

void report_json_notes(struct json *json, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    json_open(json, "notes", '[');
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            put_note(json, &report.notes[k]);
    json_close(json, ']');
}

static void put_regions(struct json *json, const ttr_report *report, bool has_path)
{
    for (size_t i = 0; i < report->regions_n; i++) {
        json_open(json, NULL, '{');
        if (has_path)
            json_text(json, "path", report->path);
        json_uint(json, "offset", report->regions[i].offset);
        json_uint(json, "bytes", report->regions[i].bytes);
        json_string(json, "code", report->regions[i].code);
        json_close(json, '}');
    }
}

void report_json_regions(struct json *json, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    bool has_many = ttr_reader_report(reader, 1, &report);
    json_open(json, "regions", '[');
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        put_regions(json, &report, has_many);
    json_close(json, ']');
}

void report_print_notes(const struct call *call, const ttr_report *report, ttr_severity from)
{
    static const enum ink inks[] = {INK_DIM, INK_YELLOW, INK_RED};
    for (size_t i = 0; i < report->notes_n; i++) {
        const ttr_note *note = &report->notes[i];
        if (note->severity < from)
            continue;
        (void)printf("  %s%s%s %s x%s, first at byte %" PRIu64 ": %s\n", term_ink(&call->term, inks[note->severity]),
                     severity_name(note->severity), term_ink(&call->term, INK_PLAIN), note->code,
                     units_count(note->count).s, note->first_offset, note->text);
    }
}
