/* Sums and prints findings: losses, damage, notes. */
#include "cli/commands/report.h"

#include <inttypes.h>
#include <string.h>

#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/input/input_list.h"
#include "cli/input/selection.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/input/trace_iter.h"

struct findings sum_findings(ttr_reader *reader)
{
    struct findings sum;
    ttr_report report = {.size = sizeof report};
    findings_begin(&sum);
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        findings_add(&sum, &report);
    return sum;
}

const char *format_lost_counts(uint64_t events, uint64_t packets, char text[LOST_TEXT])
{
    int n = 0;
    text[0] = '\0';
    if (!events && !packets)
        (void)snprintf(text, LOST_TEXT, "an unknown number of events");
    if (events)
        n = snprintf(text, LOST_TEXT, "%s event%s%s", units_count(events).s, events == 1 ? "" : "s",
                     packets ? " and " : "");
    if (packets)
        (void)snprintf(text + n, LOST_TEXT - (size_t)n, "%s packet%s", units_count(packets).s,
                       packets == 1 ? "" : "s");
    return text;
}

/* Warns of a trace that cannot be read, and why. Returns false if the trace can be read. */
static bool warn_about_unreadable_file(const struct call *call, const struct trace *trace)
{
    const ttr_report *report = &trace->report;
    for (size_t i = 0; i < report->notes_n; i++)
        if (strcmp(report->notes[i].code, "trace.unreadable") == 0) {
            bool is_named = strstr(report->notes[i].text, report->trace_path.p);
            char ctx[MESSAGE_TEXT_MAX];
            print_note(call, "%s%swarning: this trace cannot be read: %s",
                       is_named ? "" : report->trace_path.p, is_named ? "" : ": ",
                       message_note_text(&report->notes[i], ctx));
            return true;
        }
    return false;
}

static void warn_about_files(const struct call *call, ttr_reader *reader, const struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++) {
            const ttr_text path = trace->report.trace_path;
            char ctx[MESSAGE_TEXT_MAX];
            if (!ttr_note_is_warning(&report.notes[k]))
                continue;
            const bool is_named = strncmp(report.notes[k].text, path.p, path.n) == 0;
            print_note(call, "%.*s%swarning: %s", is_named ? 0 : (int)path.n, path.p,
                       is_named ? "" : ": ", message_note_text(&report.notes[k], ctx));
        }
}

/* Warns of folders without metadata, which cannot be read. Returns their number. */
static uint64_t warn_about_folders(const struct call *call, const ttr_report *report)
{
    for (size_t i = 0; i < report->notes_n; i++)
        if (strcmp(report->notes[i].code, "directory.bad-main-file") == 0) {
            char ctx[MESSAGE_TEXT_MAX];
            print_note(call, "warning: %s", message_note_text(&report->notes[i], ctx));
            return report->notes[i].count;
        }
    return 0;
}

bool can_recover_trace(const char *format)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (format && strcmp(info.name, format) == 0)
            return info.abilities & TTR_FORMAT_WRITES;
    return false;
}

/* Warns of damage, and if `of_losses` of lost events, in one trace. Returns true if the trace is
 * damaged. */
static bool warn_about_trace(const struct call *call, const struct trace *trace, bool of_losses)
{
    const struct findings *sum = &trace->sum;
    char text[240] = "", where[40] = " by its own account", lost[LOST_TEXT];
    int n = 0;
    if (warn_about_unreadable_file(call, trace))
        return true;
    uint64_t folders = warn_about_folders(call, &trace->report);
    uint64_t places = sum->damage_regions > folders ? sum->damage_regions - folders : 0;
    if (sum->inputs > 1)
        (void)snprintf(where, sizeof where, " in %zu stream%s", trace->lossy,
                       trace->lossy == 1 ? "" : "s");
    if (places)
        n = snprintf(text, sizeof text, "%s damaged place%s (%s)", units_count(places).s,
                     places == 1 ? "" : "s", units_size(sum->damage_bytes).s);
    if (of_losses && (sum->lost || sum->lost_packets))
        (void)snprintf(text + n, sizeof text - (size_t)n, "%s%s missing%s", n ? ", " : "",
                       format_lost_counts(sum->lost, sum->lost_packets, lost), where);
    else if (of_losses && sum->gaps)
        (void)snprintf(text + n, sizeof text - (size_t)n, "%sevents missing%s", n ? ", " : "",
                       where);
    if (text[0])
        print_note(call, "%.*s: warning: %s%s", (int)trace->report.trace_path.n,
                   trace->report.trace_path.p, text,
                   !places ? ""
                   : can_recover_trace(trace->report.format)
                       ? "; \"tracetta check\" lists, \"tracetta recover\" repairs"
                       : "; \"tracetta check\" lists");
    return sum->damage_regions > 0;
}

/* Warns of events that a filter left out because it could not decide, and of names of --pair that
 * no event has. */
static void warn_about_unknown_files(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    if ((!selection_is_given(call) && !call->set.pairs.n) || !ttr_reader_report(reader, 0, &report))
        return;
    for (size_t i = 0; i < report.notes_n; i++)
        if (strcmp(report.notes[i].code, "meaning.no-event") == 0)
            print_note(call, "warning: --pair: %s", report.notes[i].text);
    for (size_t i = 0; i < report.notes_n; i++)
        if (strcmp(report.notes[i].code, "filter.unknown") == 0)
            print_note(call,
                       "warning: %s without the process, thread or CPU that a filter asks for: "
                       "left out",
                       units_events(report.notes[i].count).s);
}

static int warn_about_each_trace(const struct call *call, ttr_reader *reader, bool of_losses,
                                 int outcome)
{
    struct trace trace;
    struct traces_walk walk;
    bool is_damaged = false;
    traces_walk_begin(&walk, reader);
    while (traces_walk_step(&walk, &trace)) {
        warn_about_files(call, reader, &trace);
        is_damaged = warn_about_trace(call, &trace, of_losses) || is_damaged;
    }
    traces_walk_end(&walk);
    warn_about_unknown_files(call, reader);
    return outcome == OUTCOME_FINE && is_damaged ? OUTCOME_NO : outcome;
}

int warn_about_findings(const struct call *call, ttr_reader *reader, int outcome)
{
    return warn_about_each_trace(call, reader, true, outcome);
}

int warn_about_damage(const struct call *call, ttr_reader *reader, int outcome)
{
    return warn_about_each_trace(call, reader, false, outcome);
}

/* Number of streams that were read completely, in part, and not at all. */
struct extent {
    size_t whole, part, none;
    ttr_text path; /* path of the last stream that was read in part */
    uint64_t used, size;
};

static struct extent find_extent(ttr_reader *reader)
{
    struct extent extent = {0};
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        if (report.shares_file ||
            (report.disk_size == 0 &&
             report.bytes == 0)) /* an empty file, or a stream of a file that was counted already */
            continue;
        const bool is_whole = report.disk_size && report.disk_used >= report.disk_size;
        extent.whole += is_whole;
        extent.none += report.disk_used == 0 && report.events == 0;
        if (is_whole || (report.disk_used == 0 && report.events == 0))
            continue;
        extent.part++;
        extent.path = report.path;
        extent.used = report.disk_used;
        extent.size = report.disk_size;
    }
    return extent;
}

bool is_report_of_part(ttr_reader *reader)
{
    const struct extent extent = find_extent(reader);
    return extent.part + extent.none > 0;
}

void report_interruption(const struct call *call, ttr_reader *reader)
{
    const struct extent extent =
        interrupt_was_received() ? find_extent(reader) : (struct extent){0};
    char partly[600] = "";
    if (extent.part == 1 && extent.size)
        (void)snprintf(partly, sizeof partly, " (%.*s, %.0f %% of it)",
                       (int)(extent.path.n < 500 ? extent.path.n : 500), extent.path.p,
                       100 * (double)extent.used / (double)extent.size);
    if (extent.part + extent.none)
        print_note(
            call,
            "warning: this is not of all: %zu stream%s read whole, %zu in part%s, %zu not at all",
            extent.whole, extent.whole == 1 ? " was" : "s were", extent.part, partly, extent.none);
}

bool is_cut_at_end(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.regions_n; k++) {
            const ttr_region *region = &report.regions[k];
            if (region->offset != UINT64_MAX && report.bytes > 0 &&
                region->offset + region->bytes >= report.bytes)
                return true;
        }
    return false;
}

void write_streams_read_json(struct json *json, ttr_reader *reader)
{
    const struct extent extent = find_extent(reader);
    json_write_bool(json, "interrupted", interrupt_was_received() != 0);
    json_open(json, "streams_read", '{');
    json_write_uint(json, "whole", extent.whole);
    json_write_uint(json, "part", extent.part);
    json_write_uint(json, "none", extent.none);
    json_close(json, '}');
}

void write_damage_json(struct json *json, const struct findings *findings)
{
    json_write_uint(json, "lost", findings->lost);
    json_write_uint(json, "lost_packets", findings->lost_packets);
    json_write_uint(json, "gaps", findings->gaps);
    json_open(json, "damage", '{');
    json_write_uint(json, "regions", findings->damage_regions);
    json_write_uint(json, "bytes", findings->damage_bytes);
    json_close(json, '}');
}

/* Prints the members of a clock that the trace describes. */
static void write_clock_description_json(struct json *json, const ttr_clock *clock)
{
    json_write_int(json, "offset_s", clock->offset_s);
    json_write_int(json, "offset_ticks", clock->offset_ticks);
    if (clock->has_precision)
        json_write_uint(json, "precision", clock->precision);
    if (clock->has_uuid)
        json_write_string(json, "uuid", units_uuid(clock->uuid).s);
    if (clock->has_accuracy)
        json_write_uint(json, "accuracy", clock->accuracy);
    const struct {
        const char *name;
        ttr_text text;
    } texts[] = {{"description", clock->description},
                 {"namespace", clock->ns},
                 {"uid", clock->uid},
                 {"origin", clock->origin},
                 {"origin_namespace", clock->origin_ns},
                 {"origin_uid", clock->origin_uid}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text.n)
            json_write_text(json, texts[i].name, texts[i].text);
}

static void write_clock_json(struct json *json, const ttr_clock *clock)
{
    json_open(json, NULL, '{');
    json_write_string(json, "name", clock->name ? clock->name : "");
    json_write_text(json, "provider", clock->provider);
    json_write_uint(json, "frequency", clock->frequency);
    json_write_bool(json, "anchored", clock->is_anchored);
    if (clock->is_anchored) {
        json_write_uint(json, "anchor_ticks", clock->anchor_ticks);
        const bool is_unix = json->is_unix;
        json->is_unix = true;
        json_write_time(json, "anchor_ns", clock->anchor_ns);
        json->is_unix = is_unix;
    }
    json_write_int(json, "offset_ns", clock->offset_ns);
    if (clock->is_described)
        write_clock_description_json(json, clock);
    json_close(json, '}');
}

static void write_trace_clock_list(struct json *json, ttr_reader *reader, const struct trace *trace)
{
    ttr_clock clock[TRACE_CLOCKS];
    size_t n = traces_clocks(reader, trace, clock);
    for (size_t i = 0; i < n; i++)
        write_clock_json(json, &clock[i]);
}

void write_trace_clocks_json(struct json *json, ttr_reader *reader, const struct trace *trace)
{
    json_open(json, "clocks", '[');
    write_trace_clock_list(json, reader, trace);
    json_close(json, ']');
}

void write_clocks_json(struct json *json, ttr_reader *reader)
{
    struct trace trace = {0};
    json_open(json, "clocks", '[');
    while (traces_read_next(reader, &trace))
        write_trace_clock_list(json, reader, &trace);
    json_close(json, ']');
}

/* Returns the note with a code in the i-th report, or NULL. */
static const ttr_diagnostic *find_diagnostic(ttr_reader *reader, size_t i, const char *code,
                                             ttr_report *report)
{
    if (!ttr_reader_report(reader, i, report))
        return NULL;
    for (size_t k = 0; k < report->notes_n; k++)
        if (strcmp(report->notes[k].code, code) == 0)
            return &report->notes[k];
    return NULL;
}

static void write_note_text_json(struct json *json, const ttr_diagnostic *note)
{
    char ctx[MESSAGE_TEXT_MAX];
    json_write_string(json, "text", message_note_text(note, ctx));
}

static void write_note_offset_json(struct json *json, const ttr_diagnostic *note)
{
    if (note->first_offset != UINT64_MAX)
        json_write_uint(json, "first_offset", note->first_offset);
}

/* Prints an oddity for each stream of a trace, since its text may differ between streams. */
static void write_inputs_of_note(struct json *json, ttr_reader *reader, const struct trace *trace,
                                 const struct trace_note *found)
{
    ttr_report report = {.size = sizeof report};
    if (found->note.severity != TTR_SEVERITY_ODD || found->inputs < 2)
        return;
    json_open(json, "each", '[');
    for (size_t i = 0; i < trace->n; i++) {
        const ttr_diagnostic *note =
            find_diagnostic(reader, trace->first + i, found->note.code, &report);
        if (!note)
            continue;
        json_open(json, NULL, '{');
        json_write_text(json, "path", report.path);
        write_note_text_json(json, note);
        json_write_uint(json, "count", note->count);
        write_note_offset_json(json, note);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_note_json(struct json *json, ttr_reader *reader, const struct trace *trace,
                            const struct trace_note *found, bool has_many)
{
    const ttr_diagnostic *note = &found->note;
    json_open(json, NULL, '{');
    json_write_string(json, "code", note->code);
    json_write_string(json, "severity", print_diagnostic_severity(note->severity));
    write_note_text_json(json, note);
    json_write_uint(json, "count", note->count);
    json_write_uint(json, "bytes", note->bytes);
    write_note_offset_json(json, note);
    if (has_many) {
        json_write_text(json, "path", found->path);
        json_write_uint(json, "streams", found->streams);
        write_inputs_of_note(json, reader, trace, found);
    }
    json_close(json, '}');
}

void write_notes_json(struct json *json, const struct inputs *inputs)
{
    ttr_reader *reader = inputs->reader;
    struct trace trace = {0};
    struct trace_note note[TRACE_NOTES];
    ttr_report report = {.size = sizeof report};
    bool has_many = ttr_reader_report(reader, 1, &report);
    json_open(json, "notes", '[');
    while (traces_read_next(reader, &trace)) {
        size_t n = traces_collect_notes(inputs->t, reader, &trace, note);
        for (size_t i = 0; i < n; i++)
            write_note_json(json, reader, &trace, &note[i], has_many);
    }
    json_close(json, ']');
}

static void write_region_list(struct json *json, const ttr_report *report, bool has_path)
{
    for (size_t i = 0; i < report->regions_n; i++) {
        json_open(json, NULL, '{');
        if (has_path)
            json_write_text(json, "path", report->path);
        if (report->regions[i].offset != UINT64_MAX)
            json_write_uint(json, "offset", report->regions[i].offset);
        json_write_uint(json, "bytes", report->regions[i].bytes);
        json_write_string(json, "code", report->regions[i].code);
        json_close(json, '}');
    }
}

void write_regions_json(struct json *json, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    bool has_many = ttr_reader_report(reader, 1, &report);
    json_open(json, "regions", '[');
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        write_region_list(json, &report, has_many);
    json_close(json, ']');
}

static void print_note_text(const ttr_diagnostic *note)
{
    char ctx[MESSAGE_TEXT_MAX];
    const char *text = message_note_text(note, ctx);
    term_text((ttr_text){text, strlen(text)});
}

/* Prints `words` and the file offset of a note. Prints no offset for a note about the complete
 * input. */
static void print_note_offset(const char *words, const ttr_diagnostic *note)
{
    if (note->first_offset != UINT64_MAX)
        (void)printf("%s %" PRIu64, words, note->first_offset);
    (void)fputs(": ", stdout);
}

/* Prints an oddity for the other streams of a trace that have it, at most `most` of them. */
static void print_other_inputs(ttr_reader *reader, const struct trace *trace,
                               const struct trace_note *found, size_t most)
{
    ttr_report report = {.size = sizeof report};
    size_t shown = 0;
    bool is_met = false; /* the stream of the note printed first was skipped */
    for (size_t i = 0; i < trace->n && shown < most; i++) {
        const ttr_diagnostic *note =
            find_diagnostic(reader, trace->first + i, found->note.code, &report);
        if (!note)
            continue;
        if (!is_met && note->severity == found->note.severity) {
            is_met = true;
            continue;
        }
        shown++;
        (void)printf("    x%s", units_count(note->count).s);
        print_note_offset(", at byte", note);
        print_note_text(note);
        (void)putchar('\n');
    }
    if (found->inputs - 1 > most)
        (void)printf("    and in %zu more (--verbose lists all)\n", found->inputs - 1 - most);
}

void print_trace_notes(const struct call *call, const struct inputs *inputs,
                       const struct trace *trace, ttr_severity from, size_t others)
{
    static const enum ink inks[] = {INK_DIM, INK_YELLOW, INK_RED};
    struct trace_note found[TRACE_NOTES];
    size_t n = traces_collect_notes(inputs->t, inputs->reader, trace, found);
    for (size_t i = 0; i < n; i++) {
        const ttr_diagnostic *note = &found[i].note;
        if (note->severity < from)
            continue;
        (void)printf("  %s%s%s %s x%s", term_ink(&call->term, inks[note->severity]),
                     print_diagnostic_severity(note->severity), term_ink(&call->term, INK_PLAIN),
                     note->code, units_count(note->count).s);
        if (trace->n > 1 && found[i].streams)
            (void)printf(" in %zu stream%s", found[i].streams, found[i].streams == 1 ? "" : "s");
        print_note_offset(", first at byte", note);
        print_note_text(note);
        (void)putchar('\n');
        if (others && note->severity == TTR_SEVERITY_ODD)
            print_other_inputs(inputs->reader, trace, &found[i], others);
    }
}
