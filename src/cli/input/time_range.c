/* Parses times as babeltrace2 does: "YYYY-MM-DD[ HH:MM[:SS[.N]]]", "HH:MM[:SS[.N]]" and
 * "[-]SECONDS[.N]". Both ends of a range are included. Other times ("+2s", nanoseconds, ISO 8601)
 * have the same meaning as in other styles. */
#include "cli/input/time_range.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/input/input_list.h"
#include "cli/input/pipe_input.h"
#include "cli/ui/messages.h"

#define NS_PER_S INT64_C(1000000000)

struct bound {
    bool has_calendar, has_date; /* a date or time of day was given, else seconds */
    struct tm parts;
    int64_t seconds;
    int64_t ns; /* fraction of the second */
};

/* --- Parsing --- */

static bool match_digits(const char **at, const char *end, unsigned least, unsigned most,
                         int64_t *value)
{
    unsigned n = 0;
    for (*value = 0; *at < end && n < most && **at >= '0' && **at <= '9'; n++, ++*at)
        *value = *value * 10 + (**at - '0');
    return n >= least;
}

static bool match_byte(const char **at, const char *end, char byte)
{
    bool is_it = *at < end && **at == byte;
    *at += is_it;
    return is_it;
}

/* Parses two digits with a value up to `limit`. */
static bool match_two_digits(const char **at, const char *end, int limit, int *to)
{
    int64_t value;
    bool is_fine = match_digits(at, end, 2, 2, &value) && value <= limit;
    *to = (int)value;
    return is_fine;
}

/* Parses an optional fraction of a second such as ".5". */
static bool match_fraction(const char **at, const char *end, int64_t *ns)
{
    *ns = 0;
    if (!match_byte(at, end, '.'))
        return true;
    const char *begin = *at;
    if (!match_digits(at, end, 1, 9, ns))
        return false;
    for (size_t n = (size_t)(*at - begin); n < 9; n++)
        *ns *= 10;
    return true;
}

static bool match_time(const char *at, const char *end, struct bound *bound)
{
    struct tm *parts = &bound->parts;
    if (!match_two_digits(&at, end, 23, &parts->tm_hour) || !match_byte(&at, end, ':') ||
        !match_two_digits(&at, end, 59, &parts->tm_min))
        return false;
    if (at < end && !(match_byte(&at, end, ':') && match_two_digits(&at, end, 60, &parts->tm_sec) &&
                      match_fraction(&at, end, &bound->ns)))
        return false;
    return at == end;
}

static bool match_calendar(const char *at, const char *end, struct bound *bound)
{
    const char *begin = at;
    int64_t year;
    bound->has_calendar = true;
    bound->has_date = match_digits(&at, end, 4, 4, &year) && match_byte(&at, end, '-') &&
                      match_two_digits(&at, end, 12, &bound->parts.tm_mon) &&
                      match_byte(&at, end, '-') &&
                      match_two_digits(&at, end, 31, &bound->parts.tm_mday);
    if (!bound->has_date)
        return match_time(begin, end, bound);
    bound->parts.tm_year = (int)year - 1900;
    bound->parts.tm_mon--;
    return at == end || (match_byte(&at, end, ' ') && match_time(at, end, bound));
}

static bool match_seconds(const char *at, const char *end, struct bound *bound)
{
    bool is_negative = match_byte(&at, end, '-');
    bound->has_calendar = bound->has_date = false;
    if (!match_digits(&at, end, 1, 10, &bound->seconds) || bound->seconds >= INT64_MAX / NS_PER_S ||
        !match_fraction(&at, end, &bound->ns))
        return false;
    bound->seconds = is_negative ? -bound->seconds : bound->seconds;
    bound->ns = is_negative ? -bound->ns : bound->ns;
    return at == end;
}

static bool parse_bound(const char *text, size_t n, struct bound *bound)
{
    *bound = (struct bound){.has_calendar = false};
    if (match_calendar(text, text + n, bound))
        return true;
    *bound = (struct bound){.has_calendar = false};
    return match_seconds(text, text + n, bound);
}

/* --- Resolving --- */

/* Finds the time of the first event by opening the inputs and reading up to it. */
static int find_first_time(const struct call *call, int64_t *time)
{
    struct inputs inputs;
    struct call other = *call;
    ttr_batch batch;
    ttr_error error = {0};
    bool is_found = false;
    for (size_t i = 0; i < call->paths_n; i++)
        if (stream_is_one(call->path[i]) || inputs_are_live(call))
            return report_misuse(
                "cat",
                "a time without a date needs the date of the first event, but \"%s\" "
                "cannot be read twice: use a time with a date",
                call->path[i]);
    other.set.start.kind = other.set.end.kind = MOMENT_NONE;
    int outcome = inputs_open(&inputs, &other, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    *time = 0;
    while (!is_found && ttr_read(inputs.reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n && !is_found; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            is_found = !(event->flags & TTR_EVENT_NO_TIME);
            *time = event->time;
        }
    inputs_close(&inputs);
    return OUTCOME_FINE;
}

static void set_date(const struct call *call, int64_t time, struct tm *parts)
{
    struct tm day = {0};
    time_t second =
        (time_t)(time / NS_PER_S - (time % NS_PER_S < 0)); /* rounded down, also before 1970 */
    if (call->set.clock_gmt ? gmtime_r(&second, &day) : localtime_r(&second, &day)) {
        parts->tm_year = day.tm_year;
        parts->tm_mon = day.tm_mon;
        parts->tm_mday = day.tm_mday;
    }
}

static int resolve_bound(const struct call *call, struct bound *bound, struct moment *moment)
{
    int64_t seconds = bound->seconds, first = 0;
    if (bound->has_calendar && !bound->has_date) {
        int outcome = find_first_time(call, &first);
        if (outcome != OUTCOME_FINE)
            return outcome;
        set_date(call, first, &bound->parts);
    }
    if (bound->has_calendar) {
        bound->parts.tm_isdst = -1;
        seconds = call->set.clock_gmt ? timegm(&bound->parts) : mktime(&bound->parts);
    }
    *moment = (struct moment){.kind = MOMENT_ABSOLUTE};
    if (__builtin_mul_overflow(seconds, NS_PER_S, &moment->ns) ||
        __builtin_add_overflow(moment->ns, bound->ns, &moment->ns))
        moment->ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    return OUTCOME_FINE;
}

/* Parses one bound of the range. */
static int parse_bound_option(const struct call *call, const char *option, const char *text,
                              size_t n, struct moment *moment)
{
    struct bound bound;
    char ctx[64];
    bool is_bound = parse_bound(text, n, &bound);
    int outcome = is_bound ? resolve_bound(call, &bound, moment) : OUTCOME_FINE;
    (void)snprintf(ctx, sizeof ctx, "%.*s", (int)n, text);
    const bool is_read = is_bound || (n < sizeof ctx && units_parse_moment(ctx, moment));
    moment->option = option;
    if (is_read)
        return outcome;
    return report_misuse("cat",
                         "--%s cannot be \"%.*s\": expected a time like 13:09:35.5, \"2026-11-21 "
                         "13:09:35\" or seconds since the epoch",
                         option, (int)n, text);
}

/* Parses "BEGIN,END" or "[BEGIN,END]". */
static int parse_timerange(struct call *call)
{
    const char *text = call->set.timerange + (call->set.timerange[0] == '[');
    size_t first = strcspn(text, ","), all = strlen(text);
    all -= all > 0 && text[all - 1] == ']';
    if (first == 0 || first + 1 >= all)
        return report_misuse("cat", "--timerange cannot be \"%s\": expected BEGIN,END",
                             call->set.timerange);
    int outcome = parse_bound_option(call, "timerange", text, first, &call->set.start);
    return outcome == OUTCOME_FINE ? parse_bound_option(call, "timerange", text + first + 1,
                                                        all - first - 1, &call->set.end)
                                   : outcome;
}

int time_range_parse(struct call *call)
{
    struct settings *set = &call->set;
    const char *end = set->end.text;
    int outcome = OUTCOME_FINE;
    if (set->timerange && (set->begin || end))
        return report_misuse("cat", "--timerange is both --begin and --%s: leave these out",
                             end ? set->end.option : "end");
    if (set->start.kind != MOMENT_NONE && (set->begin || set->timerange))
        return report_misuse("cat", "--%s and --%s are the same: leave one out", set->start.option,
                             set->begin ? "begin" : "timerange");
    if (set->timerange)
        outcome = parse_timerange(call);
    if (outcome == OUTCOME_FINE && set->begin)
        outcome = parse_bound_option(call, "begin", set->begin, strlen(set->begin), &set->start);
    if (outcome == OUTCOME_FINE && end)
        outcome = parse_bound_option(call, set->end.option, end, strlen(end), &set->end);
    bool is_absolute = set->start.kind == MOMENT_ABSOLUTE && set->end.kind == MOMENT_ABSOLUTE;
    if (outcome == OUTCOME_FINE && is_absolute && set->end.ns < set->start.ns)
        return report_misuse("cat", "the range of time ends before it begins");
    /* babeltrace2 includes the end */
    set->end.ns += set->end.kind == MOMENT_ABSOLUTE && set->end.ns < INT64_MAX;
    return outcome;
}
