/* Styles of lines.  That program tells of losses on standard error, so that its lines hold events only; so does its style here. */
#include "style.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "talk.h"
#include "traces.h"

#define NS_PER_S INT64_C(1000000000)

static bool add_text(struct style *style, const char *format, const char *key, const char *value)
{
    size_t size = strlen(format) + strlen(key) + strlen(value) + 3;
    char *text = malloc(size);
    if (!text || style->texts_n == STYLE_TEXTS) {
        free(text);
        return false;
    }
    (void)snprintf(text, size, "%s.%s=%s", format, key, value);
    style->text[style->texts_n++] = text;
    return words_add(&style->call->set.format_options, text);
}

static bool add_options(struct style *style)
{
    const struct settings *set = &style->call->set;
    bool is_fine = add_text(style, "ctf", "time", "double");
    if (set->shown_names)
        is_fine = is_fine && add_text(style, "babeltrace2", "names", set->shown_names);
    if (set->shown_fields)
        is_fine = is_fine && add_text(style, "babeltrace2", "fields", set->shown_fields);
    if (set->clock_seconds || set->clock_cycles)
        is_fine = is_fine && add_text(style, "babeltrace2", "time", set->clock_cycles ? "cycles" : "seconds");
    if (set->clock_date)
        is_fine = is_fine && add_text(style, "babeltrace2", "date", "yes");
    if (set->clock_gmt)
        is_fine = is_fine && add_text(style, "babeltrace2", "gmt", "yes");
    if (set->no_delta)
        is_fine = is_fine && add_text(style, "babeltrace2", "delta", "no");
    return is_fine;
}

int style_begin(struct style *style, struct call *call)
{
    const struct settings *set = &call->set;
    *style = (struct style){.call = call, .format = set->format ? set->format : "text"};
    bool is_asked = set->style && strcmp(set->style, "babeltrace2") == 0;
    bool has_companion = set->shown_names || set->shown_fields || set->clock_seconds || set->clock_cycles || set->clock_date ||
                         set->clock_gmt || set->no_delta;
    if (is_asked && set->format && strcmp(set->format, "text") != 0)
        return talk_misuse("cat", "--style is for text: leave out --format=%s", set->format);
    if (has_companion && !is_asked)
        return talk_misuse("cat", "--names, --fields, --clock-seconds, --clock-cycles, --clock-date, --clock-gmt and --no-delta want "
                                  "--style=babeltrace2");
    if (!is_asked)
        return OUTCOME_FINE;
    style->format = "babeltrace2";
    if (add_options(style))
        return OUTCOME_FINE;
    style_end(style);
    return talk_misuse("cat", "out of memory");
}

void style_end(struct style *style)
{
    while (style->texts_n > 0)
        free(style->text[--style->texts_n]);
}

/* --- Gaps --- */

static void print_time(const struct style *style, int64_t time)
{
    const struct settings *set = &style->call->set;
    struct tm parts = {0};
    time_t second = (time_t)(time / NS_PER_S);
    char text[64] = "";
    if (time < 0 || set->clock_seconds) {
        (void)fprintf(stderr, "%s%" PRIu64 ".%09" PRIu64, time < 0 ? "-" : "", time < 0 ? (uint64_t)-second : (uint64_t)second,
                      (uint64_t)llabs(time % NS_PER_S));
        return;
    }
    if (set->clock_gmt ? gmtime_r(&second, &parts) : localtime_r(&second, &parts))
        (void)strftime(text, sizeof text, set->clock_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &parts);
    (void)fprintf(stderr, "%s.%09" PRId64, text, time % NS_PER_S);
}

static void print_text(const struct style *style, uint16_t source, const char *name, const char *otherwise)
{
    ttr_value value = {.text = {otherwise, strlen(otherwise)}};
    (void)traces_attribute(style->t, source, name, &value);
    (void)fprintf(stderr, "%.*s", (int)value.text.n, value.text.p);
}

static void print_place(const struct style *style, uint16_t source)
{
    ttr_value value;
    (void)fputs(" in trace \"", stderr);
    print_text(style, source, "trace.name", "(unknown)");
    (void)fputs("\" ", stderr);
    if (traces_attribute(style->t, source, "trace.uuid", &value))
        (void)fprintf(stderr, "(UUID: %.*s)", (int)value.text.n, value.text.p);
    else
        (void)fputs("(no UUID)", stderr);
    (void)fputs(" within stream \"", stderr);
    print_text(style, source, "stream.name", "(unknown)");
    (void)fputs("\" (stream class ID: ", stderr);
    (void)fprintf(stderr, "%" PRIu64, traces_attribute(style->t, source, "stream.class", &value) ? value.v.u : 0);
    if (traces_attribute(style->t, source, "stream.id", &value))
        (void)fprintf(stderr, ", stream ID: %" PRIu64 ").\n", value.v.u);
    else
        (void)fputs(", no stream ID).\n", stderr);
}

/* How many events (tag 0) or packets (tag 1) are missing is in `link` and `sequence`; 0 = unknown. */
static void tell_gap(const struct style *style, const ttr_event *event)
{
    bool is_packets = event->tag == 1;
    uint64_t count = is_packets ? event->sequence : event->link;
    const char *what = is_packets ? "packet" : "event";
    if (count)
        (void)fprintf(stderr, "WARNING: Tracer discarded %" PRIu64 " %s%s ", count, what, count == 1 ? "" : "s");
    else
        (void)fprintf(stderr, "WARNING: Tracer may have discarded %ss ", what);
    if (event->flags & TTR_EVENT_NO_TIME) {
        (void)fputs("(unknown time range)", stderr);
    } else {
        (void)fputs("between [", stderr);
        print_time(style, event->time);
        (void)fputs("] and [", stderr);
        print_time(style, event->time + (int64_t)event->duration);
        (void)fputs("]", stderr);
    }
    print_place(style, event->source);
}

void style_tell_gaps(void *own, const ttr_batch *batch)
{
    const struct style *style = own;
    for (uint32_t i = 0; i < batch->n; i++)
        if (ttr_batch_at(batch, i)->kind == TTR_KIND_GAP)
            tell_gap(style, ttr_batch_at(batch, i));
}
