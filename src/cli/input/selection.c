/* Selects events by the options of the call: resolves times against the trace, and creates the
 * filter.
 *
 * Times relative to the first or last event, and times of day, need times of the trace before it is
 * read. For them, the inputs are opened one by one and read as far as needed. */
#include "cli/input/selection.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/report.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

/* --- Times --- */

int64_t selection_add_times(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

bool selection_is_ordered(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (report.order != TTR_ORDER_TIME)
            return false;
    return true;
}

/* Reports an error if an option needs the inputs to be read twice and this input is a pipe or live.
 * `why` explains the option. */
static bool is_readable_twice(const struct call *call, const char *path, const char *why)
{
    struct stat about;
    if (strcmp(path, "-") != 0 && !strstr(path, "://") &&
        (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return true;
    (void)report_misuse(call->command->name, "%s: use a file instead of \"%s\"", why, path);
    return false;
}

/* Returns true if the event's time counts for begin and end of the trace, as in ttr_summarize. */
static bool event_has_time(const ttr_event *event)
{
    return event->kind != TTR_KIND_DEFINITION && event->kind != TTR_KIND_GAP &&
           !(event->flags & TTR_EVENT_NO_TIME);
}

/* Reads the first event of a reader in time order, which is the earliest. */
static ttr_status read_first_event(ttr_reader *reader, ttr_summary *summary, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (event_has_time(ttr_batch_at(&batch, i))) {
                *summary = (ttr_summary){.events = 1, .begin_ns = ttr_batch_at(&batch, i)->time};
                return TTR_OK;
            }
    return status;
}

/* Begin and end of one input, or of all inputs on the common time line. */
struct extent {
    int64_t begin_ns, end_ns; /* end_ns: valid only if it was requested */
    bool has_events;
    bool is_anchored; /* the clock has a known date */
};

/* Limits an input to the events before `time`. */
static ttr_status limit_reader(struct inputs *one, int64_t time, ttr_error *error)
{
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.to_ns = time;
    ttr_reader *limited = ttr_filter_new(one->reader, &filter, error);
    if (!limited)
        return error->status;
    one->reader = limited;
    return TTR_OK;
}

/* Determines the begin of an input with unordered events from those before `first`, the time of one
 * of them. An input with an index skips nearly everything. Returns false after reporting an error.
 */
static bool find_begin_before(struct call *call, const char *path, int64_t first,
                              struct extent *extent)
{
    struct inputs one;
    struct progress progress;
    ttr_summary summary = {0};
    ttr_error error = {0};
    if (inputs_open_single(&one, call, path, 0) != OUTCOME_FINE)
        return false;
    ttr_status status = limit_reader(&one, first, &error);
    if (status == TTR_OK) {
        progress_begin(&progress, call, one.t, one.reader, "looking for the begin");
        status = ttr_summarize(one.t, one.reader, &summary, progress_step, &progress, &error);
        progress_end(&progress);
    }
    const bool has_earlier = summary.events > 0 && summary.begin_ns < first;
    *extent = (struct extent){.begin_ns = has_earlier ? summary.begin_ns : first,
                              .has_events = true,
                              .is_anchored = sum_findings(one.reader).is_anchored};
    inputs_close(&one);
    return true;
}

/* Determines begin and end of an input by reading it: only the first event if the events are
 * ordered and the end is not needed. Returns false after reporting an error. */
static bool find_time_extent(const struct call *given, size_t index, bool needs_end,
                             struct extent *extent)
{
    struct call unsorted = *given, *call = &unsorted;
    struct inputs one;
    struct progress progress;
    ttr_summary summary = {0};
    ttr_status status;
    ttr_error error = {0};
    unsorted.set.sort = false;
    if (inputs_open_single(&one, call, call->path[index], 0) != OUTCOME_FINE)
        return false;
    progress_begin(&progress, call, one.t, one.reader,
                   needs_end ? "looking for the end" : "looking for the begin");
    const bool is_ordered = !given->set.sort && selection_is_ordered(one.reader);
    if (!needs_end)
        status = read_first_event(one.reader, &summary, &error);
    else
        status = ttr_summarize(one.t, one.reader, &summary, progress_step, &progress, &error);
    progress_end(&progress);
    if (!needs_end && !is_ordered && status == TTR_OK) {
        inputs_close(&one);
        return find_begin_before(call, call->path[index], summary.begin_ns, extent);
    }
    if (status != TTR_OK && status != TTR_END && status != TTR_AGAIN && summary.events == 0)
        (void)inputs_report_failure(call, call->path[index], &error);
    *extent = (struct extent){.begin_ns = summary.begin_ns,
                              .end_ns = summary.end_ns,
                              .has_events = summary.events > 0,
                              .is_anchored = sum_findings(one.reader).is_anchored};
    inputs_close(&one);
    return summary.events > 0 || status == TTR_OK || status == TTR_END || status == TTR_AGAIN;
}

/* Determines begin and end of all inputs on the common time line. `why` explains the option if an
 * input is a pipe. */
static int find_time_extents(const struct inputs *inputs, const struct call *call, const char *why,
                             bool needs_end, struct extent *all)
{
    *all = (struct extent){.is_anchored = true};
    for (size_t i = 0; i < call->paths_n; i++) {
        struct extent one;
        if (!is_readable_twice(call, call->path[i], why))
            return OUTCOME_MISUSE;
        if (!find_time_extent(call, i, needs_end, &one))
            return OUTCOME_INPUT;
        const int64_t begin = selection_add_times(one.begin_ns, inputs->offset[i]),
                      end = selection_add_times(one.end_ns, inputs->offset[i]);
        all->is_anchored = all->is_anchored && one.is_anchored;
        if (!one.has_events)
            continue;
        all->begin_ns = !all->has_events || begin < all->begin_ns ? begin : all->begin_ns;
        all->end_ns = !all->has_events || end > all->end_ns ? end : all->end_ns;
        all->has_events = true;
    }
    return OUTCOME_FINE;
}

/* Implements --align=begin: moves each input to the begin of the first input that has events. */
int selection_align_begins(const struct inputs *inputs, const struct call *call)
{
    int64_t target = 0;
    bool has_target = false;
    for (size_t i = 0; i < call->paths_n; i++) {
        struct extent one;
        if (!is_readable_twice(call, call->path[i],
                               "--align=begin reads the first event before all others"))
            return OUTCOME_MISUSE;
        if (!find_time_extent(call, i, false, &one))
            return OUTCOME_INPUT;
        const int64_t begin = one.begin_ns;
        if (one.has_events && !has_target)
            target = begin;
        has_target = has_target || one.has_events;
        if (one.has_events)
            inputs->offset[i] = selection_add_times(
                inputs->offset[i],
                selection_add_times(target, begin == INT64_MIN ? INT64_MAX : -begin));
    }
    return OUTCOME_FINE;
}

/* Converts a time of day to a time of the trace: on the day of the first event, or on the next day
 * if that time precedes the first event. */
static int64_t resolve_time_of_day(const struct moment *moment, const struct extent *extent,
                                   bool is_end)
{
    const int64_t day = INT64_C(86400000000000);
    int64_t midnight = extent->begin_ns - extent->begin_ns % day;
    midnight -= extent->begin_ns < midnight ? day : 0;
    const int64_t time = selection_add_times(midnight, moment->ns),
                  next = selection_add_times(time, day);
    return time < extent->begin_ns && (is_end || next <= extent->end_ns) ? next : time;
}

static int64_t resolve_moment(const struct moment *moment, const struct extent *extent, bool is_end)
{
    switch (moment->kind) {
    case MOMENT_NONE:
        return is_end ? INT64_MAX : INT64_MIN;
    case MOMENT_RELATIVE:
        /* In a trace with decreasing times, "+0s" includes events before the first one. */
        return !is_end && moment->ns == 0 ? INT64_MIN
                                          : selection_add_times(extent->begin_ns, moment->ns);
    case MOMENT_FROM_END:
        return selection_add_times(extent->end_ns, -moment->ns);
    case MOMENT_TIME_OF_DAY:
        return resolve_time_of_day(moment, extent, is_end);
    default:
        return moment->ns;
    }
}

/* Returns why a time of --start or --end requires reading the trace first, for the error about a
 * pipe. Returns NULL if it does not. */
static const char *find_option_that_needs_extent(const struct moment *moment, bool is_end)
{
    switch (moment->kind) {
    case MOMENT_RELATIVE:
        return !is_end && moment->ns == 0
                   ? NULL
                   : "a time with + counts from the first event, which is read before all others";
    case MOMENT_FROM_END:
        return "a time with - counts from the last event, and a pipe has no known end";
    case MOMENT_TIME_OF_DAY:
        return "a time of day needs the date of the first event, which is read before all others";
    default:
        return NULL;
    }
}

/* Determines the range of times that --start and --end select. */
int selection_resolve_times(struct inputs *inputs, const struct call *call)
{
    const struct moment *start = &call->set.start, *end = &call->set.end;
    const char *of_start = find_option_that_needs_extent(start, false),
               *of_end = find_option_that_needs_extent(end, true);
    const bool is_from_end = start->kind == MOMENT_FROM_END || end->kind == MOMENT_FROM_END;
    const bool has_hours = start->kind == MOMENT_TIME_OF_DAY || end->kind == MOMENT_TIME_OF_DAY;
    struct extent extent = {0};
    int outcome = OUTCOME_FINE;
    if (of_start || of_end)
        outcome = find_time_extents(inputs, call,
                                    is_from_end && end->kind == MOMENT_FROM_END ? of_end
                                    : of_start                                  ? of_start
                                                                                : of_end,
                                    is_from_end || has_hours, &extent);
    if (outcome == OUTCOME_FINE && has_hours && extent.has_events && !extent.is_anchored)
        return report_misuse(call->command->name,
                             "--%s is a time of day, but the clock of the trace has no date: use a "
                             "time after the first event, like +2s",
                             start->kind == MOMENT_TIME_OF_DAY ? start->option : end->option);
    inputs->from_ns = resolve_moment(start, &extent, false);
    inputs->to_ns = resolve_moment(end, &extent, true);
    return outcome;
}

/* --- Filters --- */

/* Adds the event kinds that a word of --kind names: one kind, or all that begin with the word
 * ("async"). Returns false if there is none. */
static bool add_kind_word(const char *word, size_t n, uint32_t *kinds)
{
    uint32_t found = 0;
    for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++) {
        const char *name = ttr_kind_text(kind);
        if (strncmp(name, word, n) == 0 && (name[n] == '\0' || name[n] == '_'))
            found |= UINT32_C(1) << kind;
    }
    *kinds |= found;
    return n > 0 && found != 0;
}

static bool parse_kind_list(const struct call *call, uint32_t *kinds)
{
    const struct words *given = &call->set.kinds;
    for (size_t i = 0; i < given->n; i++) {
        const char *at = given->list[i];
        do {
            size_t n = strcspn(at, ",");
            if (!add_kind_word(at, n, kinds)) {
                (void)report_misuse(
                    call->command->name,
                    "no kind \"%.*s\": there are instant, begin, end, span, counter, "
                    "async, flow, switch, "
                    "wake, sample, log, blob, object, gap",
                    (int)n, at);
                return false;
            }
            at += n;
        } while (*at++ == ',');
    }
    return true;
}

static uint8_t parse_level_name(const char *name)
{
    static const char *const names[] = {"trace", "debug", "info", "warning", "error", "fatal"};
    for (uint8_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return (uint8_t)(TTR_LEVEL_TRACE + i);
    return TTR_LEVEL_NONE;
}

bool selection_is_given(const struct call *call)
{
    const struct settings *set = &call->set;
    return set->names.n || set->not_names.n || set->categories.n || set->providers.n ||
           set->threads.n || set->processes.n || set->cpus.n || set->kinds.n || set->level ||
           set->where || set->start.kind != MOMENT_NONE || set->end.kind != MOMENT_NONE;
}

/* Reports an error in --where, with a caret below the byte. */
static int report_where(const struct call *call, const ttr_error *error)
{
    const char *where = call->set.where;
    const size_t n = strlen(where), at = error->offset < n ? (size_t)error->offset : n;
    report_failure_text("--where", "%s", error->text);
    term_excerpt(&call->term, where, at);
    return OUTCOME_MISUSE;
}

int selection_add_filter(struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    ttr_filter filter;
    ttr_error error = {0};
    ttr_filter_init(&filter);
    filter.names = set->names.list;
    filter.not_names = set->not_names.list;
    filter.categories = set->categories.list;
    filter.providers = set->providers.list;
    filter.threads = set->threads.list;
    filter.processes = set->processes.list;
    filter.cpus = set->cpus.list;
    filter.min_level = parse_level_name(set->level);
    filter.from_ns = inputs->from_ns;
    filter.to_ns = inputs->to_ns;
    filter.invert = set->invert;
    filter.where = set->where;
    if (filter.to_ns < filter.from_ns)
        return report_misuse(call->command->name, "--%s is before --%s: no time is between them",
                             set->end.option, set->start.option);
    if (!parse_kind_list(call, &filter.kinds))
        return OUTCOME_MISUSE;
    /* "dur" and the fields of a begin are those of the complete span. */
    if (set->where && call->command->verb & (VERB_STAT | VERB_TREE | VERB_FLAME))
        inputs->reader = ttr_pair_spans(inputs->reader, &error);
    inputs->reader = ttr_filter_new(inputs->reader, &filter, &error);
    if (!inputs->reader && error.status == TTR_E_MISUSE && strcmp(error.option, "where") == 0)
        return report_where(call, &error);
    /* --cpu is the only filter option that is not checked earlier */
    if (!inputs->reader && error.status == TTR_E_MISUSE)
        return report_misuse(call->command->name, "--cpu: %s", error.text);
    return inputs->reader ? OUTCOME_FINE
                          : inputs_report_failure(call, inputs_get_name(call), &error);
}

/* --- Matches --- */

/* Objects and gaps pass all filters except --kind, so they count only with --kind. */
bool selection_has_match(const struct call *call, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_kind kind = (ttr_kind)ttr_batch_at(batch, i)->kind;
        const bool passes_always = kind == TTR_KIND_OBJECT || kind == TTR_KIND_GAP;
        if (kind != TTR_KIND_DEFINITION && (!passes_always || call->set.kinds.n > 0))
            return true;
    }
    return false;
}

int selection_check_matches(const struct call *call, bool has_matches, int outcome)
{
    if (outcome != OUTCOME_FINE || has_matches || !selection_is_given(call) ||
        interrupt_was_received())
        return outcome;
    print_note(call, "%s: no event matches the filter", inputs_get_name(call));
    return OUTCOME_NO;
}
