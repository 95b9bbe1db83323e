/* Styles of printed lines. With --style=babeltrace2, gaps are reported on stderr as babeltrace2
 * does, so stdout has only events. */
#include "cli/ui/style.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/ui/messages.h"
#include "cli/input/format_query.h"
#include "cli/input/trace_iter.h"
#include "cli/input/time_range.h"

#define NS_PER_S INT64_C(1000000000)

/* Adds a format option "FORMAT.KEY=VALUE" to those of the call. Returns false if memory runs out.
 */
static bool add_text(struct style *style, const char *format, const char *key, const char *value)
{
    char *text = NULL;
    if (style->texts_n == STYLE_TEXTS || asprintf(&text, "%s.%s=%s", format, key, value) < 0)
        return false;
    style->text[style->texts_n++] = text;
    return words_add(&style->call->set.format_options, text);
}

/* Adds a format option "FORMAT.KEY" with a value, or with value NULL a complete "FORMAT.KEY=VALUE".
 * Returns false if memory runs out. */
static bool add_option(struct style *style, const char *option, const char *value)
{
    char *text = NULL;
    if (style->texts_n == STYLE_TEXTS ||
        asprintf(&text, "%s%s%s", option, value ? "=" : "", value ? value : "") < 0)
        return false;
    style->text[style->texts_n++] = text;
    return words_add(&style->call->set.format_options, text);
}

/* Adds the lists of a repeated option as one list with commas, as babeltrace2 accepts it. */
static bool add_lists(struct style *style, const char *key, const struct words *lists)
{
    size_t size = 1;
    for (size_t i = 0; i < lists->n; i++)
        size += strlen(lists->list[i]) + 1;
    char *joined = lists->n ? calloc(size, 1) : NULL;
    if (!joined)
        return lists->n == 0;
    for (size_t i = 0, n = 0; i < lists->n; i++)
        n += (size_t)snprintf(joined + n, size - n, "%s%s", i ? "," : "", lists->list[i]);
    bool is_fine = add_text(style, style->format, key, joined);
    free(joined);
    return is_fine;
}

static bool add_retry(struct style *style)
{
    uint64_t us = style->call->set.retry_us;
    char seconds[40];
    if (us == 0)
        return true;
    (void)snprintf(seconds, sizeof seconds, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
    return add_option(style, format_query_find_option_of_role(TTR_OPTION_POLL_SECONDS), seconds);
}

static bool add_options(struct style *style)
{
    const struct settings *set = &style->call->set;
    bool is_fine = add_retry(style);
    is_fine = is_fine && add_lists(style, "names", &set->shown_names) &&
              add_lists(style, "fields", &set->shown_fields);
    if (set->clock_seconds || set->clock_cycles)
        is_fine = is_fine &&
                  add_text(style, style->format, "time", set->clock_cycles ? "cycles" : "seconds");
    if (set->clock_date)
        is_fine = is_fine && add_text(style, style->format, "date", "yes");
    if (set->clock_gmt)
        is_fine = is_fine && add_text(style, style->format, "gmt", "yes");
    if (set->no_delta)
        is_fine = is_fine && add_text(style, style->format, "delta", "no");
    return is_fine;
}

/* Adds the options that a style declares for its writer. */
static bool add_declared(struct style *style, const ttr_style_info *info)
{
    const bool is_shown = style->call->term.out_is_tty &&
                          (!style->call->set.output || strcmp(style->call->set.output, "-") == 0);
    bool is_fine = true;
    for (size_t i = 0; is_fine && info->writing_options[i]; i++)
        is_fine = add_option(style, info->writing_options[i], NULL);
    return is_fine &&
           (!is_shown || !info->shown_option || add_option(style, info->shown_option, NULL));
}

/* Returns the name of the first given option that requires --style=babeltrace2, or NULL. */
static const char *find_companion(const struct settings *set)
{
    const struct {
        bool is_given;
        const char *name;
    } options[] = {{set->shown_names.n > 0, "names"},
                   {set->shown_fields.n > 0, "fields"},
                   {set->clock_seconds, "clock-seconds"},
                   {set->clock_cycles, "clock-cycles"},
                   {set->clock_date, "clock-date"},
                   {set->clock_gmt, "clock-gmt"},
                   {set->clock_correlate, "clock-force-correlate"},
                   {set->no_delta, "no-delta"},
                   {set->retry_us > 0, "retry-duration"},
                   {set->begin != NULL, "begin"},
                   {set->timerange != NULL, "timerange"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].is_given)
            return options[i].name;
    return NULL;
}

int style_begin(struct style *style, struct call *call)
{
    const struct settings *set = &call->set;
    *style = (struct style){.call = call, .format = set->format ? set->format : "text"};
    ttr_style_info info;
    const bool has_style = format_query_style(set->style, &info);
    bool is_asked = has_style && strcmp(set->style, "babeltrace2") == 0;
    const char *given = find_companion(set);
    if (has_style && set->format && strcmp(set->format, "text") != 0)
        return report_misuse("cat", "--style is for text: leave out --format=%s", set->format);
    if (given && !is_asked)
        return report_misuse("cat", "--%s needs --style=babeltrace2", given);
    if (!is_asked && set->end.kind == MOMENT_UNREAD)
        return report_misuse(
            "cat",
            "--%s cannot be \"%s\": expected a time like +2s, -1s, 12:30, 12.5s or "
            "2026-11-21T01:32:51",
            set->end.option, set->end.text);
    if (set->json_times && strcmp(style->format, "jsonl") != 0)
        return report_misuse("cat", "--json-times needs --format=jsonl");
    if (set->json_times && !add_text(style, "jsonl", "times", set->json_times))
        return report_misuse("cat", "out of memory");
    if (!has_style)
        return OUTCOME_FINE;
    int outcome = is_asked ? time_range_parse(call) : OUTCOME_FINE;
    if (outcome != OUTCOME_FINE)
        return outcome;
    style->format = info.format;
    style->read_flags = info.read_flags;
    if (add_declared(style, &info) && (!is_asked || add_options(style)))
        return OUTCOME_FINE;
    style_end(style);
    return report_misuse("cat", "out of memory");
}

void style_end(struct style *style)
{
    while (style->texts_n > 0)
        free(style->text[--style->texts_n]);
}

/* --- Gaps --- */

static const char *gap_ink(const struct style *style, const char *code)
{
    return style->has_color ? code : "";
}

static void print_time(const struct style *style, int64_t time)
{
    const struct settings *set = &style->call->set;
    struct tm parts = {0};
    time_t second = (time_t)(time / NS_PER_S);
    char text[64] = "";
    if (time < 0 || set->clock_seconds) {
        (void)fprintf(stderr, "%s%" PRIu64 ".%09" PRIu64, time < 0 ? "-" : "",
                      time < 0 ? (uint64_t)-second : (uint64_t)second,
                      (uint64_t)llabs(time % NS_PER_S));
        return;
    }
    if (set->clock_gmt ? gmtime_r(&second, &parts) : localtime_r(&second, &parts))
        (void)strftime(text, sizeof text, set->clock_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S",
                       &parts);
    (void)fprintf(stderr, "%s.%09" PRId64, text, time % NS_PER_S);
}

/* Returns true if a path is a URL of a live trace. */
static bool is_url(ttr_text path)
{
    static const char *const schemes[] = {"net://", "net4://", "net6://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (path.n >= n && memcmp(path.p, schemes[i], n) == 0)
            return true;
    }
    return false;
}

/* Prints a path as babeltrace2 does: absolute, without "." and "..", links not resolved. */
static void print_path(ttr_text path)
{
    char text[2 * PATH_MAX] = "";
    if (is_url(path)) {
        (void)fprintf(stderr, "%.*s", (int)path.n, path.p);
        return;
    }
    size_t n = 0;
    if (path.n && path.p[0] != '/' && getcwd(text, PATH_MAX))
        n = strcmp(text, "/") == 0 ? 0 : strlen(text);
    for (size_t i = 0, length; i < path.n; i += length + 1) {
        const char *part = path.p + i;
        const char *slash = memchr(part, '/', path.n - i);
        length = slash ? (size_t)(slash - part) : path.n - i;
        if (length == 0 || (length == 1 && part[0] == '.'))
            continue;
        if (length == 2 && memcmp(part, "..", 2) == 0) {
            while (n > 0 && text[--n] != '/')
                continue;
        } else if (length + 1 < sizeof text - n) {
            text[n++] = '/';
            memcpy(text + n, part, length);
            n += length;
        }
    }
    (void)fprintf(stderr, "%.*s", n ? (int)n : 1, n ? text : "/");
}

static void print_place(const struct style *style, uint16_t source)
{
    ttr_value value = {.text = {"", 0}}, place = {.text = {"", 0}};
    /* babeltrace2 ignores the name of a CTF 2 trace */
    if (!traces_get_attribute(style->t, source, "hostname", &value) || value.type != TTR_TYPE_TEXT)
        value.text = (ttr_text){"", 0};
    (void)traces_get_attribute(style->t, source, "trace.place", &place);
    (void)fprintf(stderr, " in trace \"%.*s%s%.*s\" ", (int)value.text.n, value.text.p,
                  value.text.n && place.text.n ? "/" : "", (int)place.text.n, place.text.p);
    bool has_uid = traces_get_attribute(style->t, source, "trace.uid",
                                        &value); /* CTF 2, which only later versions
                                                  * of babeltrace2 read */
    if (has_uid && value.text.n)
        (void)fprintf(stderr, "(UID: %.*s)", (int)value.text.n, value.text.p);
    else if (has_uid)
        (void)fputs("(no UID)", stderr);
    else if (traces_get_attribute(style->t, source, "trace.uuid", &value))
        (void)fprintf(stderr, "(UUID: %.*s)", (int)value.text.n, value.text.p);
    else
        (void)fputs("(no UUID)", stderr);
    (void)fputs(" within stream \"", stderr);
    if (traces_get_attribute(style->t, source, "stream.name", &value))
        print_path(value.text);
    else
        (void)fputs("(unknown)", stderr);
    (void)fputs("\" (stream class ID: ", stderr);
    (void)fprintf(stderr, "%" PRIu64,
                  traces_get_attribute(style->t, source, "stream.class", &value) ? value.v.u : 0);
    if (traces_get_attribute(style->t, source, "stream.id", &value))
        (void)fprintf(stderr, ", stream ID: %" PRIu64 ").", value.v.u);
    else
        (void)fputs(", no stream ID).", stderr);
    (void)fprintf(stderr, "%s\n", gap_ink(style, "\033[0m"));
}

/* A gap, clipped to the selected range of times. */
struct gap {
    int64_t begin, end;
    uint64_t count; /* number of missing events or packets; 0 = unknown */
};

/* Clips a gap to a range of times. Returns false if nothing is left. */
static bool clip_gap(struct gap *gap, int64_t from, int64_t to)
{
    if (gap->end < from || gap->begin > to)
        return false;
    if (gap->begin < from || gap->end > to)
        gap->count = 0;
    gap->begin = gap->begin < from ? from : gap->begin;
    gap->end = gap->end > to ? to : gap->end;
    return true;
}

/* Clips a gap to the selected range, and to the range for which the trace is read. Returns false if
 * nothing is left. */
static bool clip_to_selection(const struct style *style, uint16_t source, struct gap *gap)
{
    ttr_value from, to;
    if (!clip_gap(gap, style->from_ns, style->to_ns == INT64_MAX ? INT64_MAX : style->to_ns - 1))
        return false;
    bool is_part = traces_get_attribute(style->t, source, "trace.from", &from) &&
                   traces_get_attribute(style->t, source, "trace.to", &to);
    return !is_part || clip_gap(gap, from.v.s, to.v.s);
}

/* Reports a gap on stderr. The number of missing events (tag 0) is in event->link, that of missing
 * packets (tag 1) in event->sequence; 0 = unknown. */
static void report_gap(const struct style *style, const ttr_event *event)
{
    bool is_packets = event->tag == 1;
    const bool is_too_long = event->duration > (uint64_t)INT64_MAX - (uint64_t)event->time;
    struct gap gap = {event->time,
                      is_too_long ? INT64_MAX : (int64_t)((uint64_t)event->time + event->duration),
                      is_packets ? event->sequence : event->link};
    ttr_value frequency; /* only streams with a clock have it */
    const char *what = is_packets ? "packet" : "event";
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME) &&
                    traces_get_attribute(style->t, event->source, "clock.frequency", &frequency);
    if (has_time && !clip_to_selection(style, event->source, &gap))
        return;
    (void)fprintf(stderr, "%sWARNING%s: Tracer ", gap_ink(style, "\033[33m\033[1m"),
                  gap_ink(style, "\033[0m\033[33m"));
    if (gap.count)
        (void)fprintf(stderr, "discarded %" PRIu64 " %s%s ", gap.count, what,
                      gap.count == 1 ? "" : "s");
    else
        (void)fprintf(stderr, "may have discarded %ss ", what);
    if (!has_time) {
        (void)fputs("(unknown time range)", stderr);
    } else {
        (void)fputs("between [", stderr);
        print_time(style, gap.begin);
        (void)fputs("] and [", stderr);
        print_time(style, gap.end);
        (void)fputs("]", stderr);
    }
    print_place(style, event->source);
}

void style_report_gaps(void *ctx, const ttr_batch *batch)
{
    const struct style *style = ctx;
    for (uint32_t i = 0; i < batch->n; i++)
        if (ttr_batch_at(batch, i)->kind == TTR_KIND_GAP)
            report_gap(style, ttr_batch_at(batch, i));
}
