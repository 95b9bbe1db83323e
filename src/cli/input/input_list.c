/* Inputs: opening, offsets, filters. */
#include "cli/input/input_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input/debug_info.h"
#include "cli/input/file_stamp.h"
#include "cli/input/format_query.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/input/pipe_input.h"
#include "cli/ui/messages.h"
#include "cli/input/trace_iter.h"

#define JOBS_MOST 65u
#define MAX_RECORD_MIN 65536u

const char *inputs_name(const struct call *call)
{
    return call->paths_n == 1 ? call->path[0] : "the inputs";
}

bool inputs_are_live(const struct call *call)
{
    for (size_t i = 0; i < call->paths_n; i++)
        if (strstr(call->path[i], "://"))
            return true;
    return false;
}

/* check lists all damage, also when it judges strictly. */
static bool reads_strictly(const struct call *call)
{
    return call->set.strict && call->command->verb != VERB_CHECK;
}

int inputs_failed(const struct call *call, const char *path, const ttr_error *error)
{
    bool is_damage = error->status == TTR_E_MALFORMED || error->status == TTR_E_TRUNCATED;
    if (error->status == TTR_AGAIN) /* called off by the user, who knows */
        return OUTCOME_NO;
    talk_error(call, path, error);
    if (is_damage && reads_strictly(call))
        return OUTCOME_NO;
    if (strcmp(error->format, "temporary") == 0) /* what was read found no room */
        return OUTCOME_OUTPUT;
    return error->status == TTR_E_MISUSE ? OUTCOME_MISUSE : OUTCOME_INPUT;
}

/* --- Opening --- */

/* A pipe is read by ourselves, so that Ctrl-C ends it. */
static ttr_reader *open_stream(struct inputs *inputs, const char *path,
                               const ttr_read_options *options, ttr_error *error)
{
    struct stream *stream = &inputs->stream[inputs->streams_n];
    if (!stream_open(stream, path)) {
        error->status = TTR_E_IO;
        error->sys = errno;
        (void)snprintf(error->text, sizeof error->text, "cannot open %s: %s", path,
                       strerror(errno));
        return NULL;
    }
    inputs->streams_n++;
    return ttr_open_pull(inputs->t, stream_pull, stream,
                         strcmp(path, "-") == 0 ? "standard input" : path, options, error);
}

static bool is_wanted(void *own)
{
    (void)own;
    return !interrupt_came();
}

/* The library would take less for this. */
static bool is_good_limit(const struct call *call)
{
    uint64_t bytes = call->set.max_record;
    if (bytes == 0 || bytes >= MAX_RECORD_MIN)
        return true;
    (void)talk_misuse(call->command->name,
                      "--max-record cannot be less than 64KiB: usual records have as many bytes");
    return false;
}

/* Warns of an option that no format of the input has; `role` is what the option stands for. */
static void warn_of_others(const struct call *call, const char *path, ttr_reader *reader,
                           ttr_option_role role)
{
    const bool is_metadata = role == TTR_OPTION_METADATA;
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (!report.format || ttr_format_option_for(report.format, role))
            return;
    talk_note(call, "%s: warning: --%s is for %s: %s", path,
              is_metadata ? "metadata" : "stream-intersection", format_query_owner(role),
              is_metadata ? "this trace is read as it is" : "all of this trace is read");
}

static void fill_options(ttr_read_options *options, const struct call *call,
                         const char *const *format_options)
{
    options->size = sizeof *options;
    options->from = call->set.from;
    options->flags |=
        (reads_strictly(call) ? TTR_READ_STRICT : 0) | (call->set.no_mmap ? TTR_READ_NO_MMAP : 0);
    options->max_record = call->set.max_record;
    options->format_options = format_options;
    options->readers = call->set.jobs < JOBS_MOST ? (uint32_t)call->set.jobs : JOBS_MOST;
}

/* Whether metadata are to be read that are not the trace's own, by either option. */
static bool has_metadata(const struct call *call)
{
    const struct words *given = &call->set.format_options;
    bool is_given = call->set.metadata_file != NULL;
    for (size_t i = 0; i < given->n && !is_given; i++)
        is_given = format_query_is_option(given->list[i], TTR_OPTION_METADATA);
    return is_given;
}

/* A path up to its last slash. */
static ttr_text folder_of(ttr_text path)
{
    while (path.n > 0 && path.p[path.n - 1] != '/')
        path.n--;
    return path;
}

/* One file of metadata stands for those of all traces, which may be what nobody meant.  With one
 * uuid for all of them only their folders tell them apart. */
static void warn_of_many(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    ttr_text first = {NULL, 0};
    bool has_many = false;
    for (size_t i = 0; has_metadata(call) && ttr_reader_report(reader, i, &report) && !has_many;
         i++) {
        const ttr_text folder = folder_of(report.path);
        if (!ttr_format_option_for(report.format, TTR_OPTION_METADATA))
            continue;
        has_many = first.p && (folder.n != first.n || memcmp(folder.p, first.p, first.n) != 0);
        first = first.p ? first : folder;
    }
    if (has_many)
        talk_note(call,
                  "%s: warning: these metadata are read in place of those of each of several "
                  "traces: name one trace to have them for it alone",
                  inputs_name(call));
}

ttr_reader *inputs_open_path(struct inputs *inputs, const char *path,
                             const ttr_read_options *options, ttr_error *error)
{
    /* Opening what is far away may take long. */
    ttr_watch(inputs->t, is_wanted, NULL);
    ttr_reader *reader = stream_is_one(path) ? open_stream(inputs, path, options, error)
                                             : ttr_open(inputs->t, path, options, error);
    ttr_watch(inputs->t, NULL, NULL);
    return reader;
}

int inputs_read_options(const struct call *call, ttr_read_options *options)
{
    bool is_fine;
    const char **format_options = inputs_format_options(call, false, &is_fine);
    fill_options(options, call, format_options);
    return is_fine && is_good_limit(call) ? OUTCOME_FINE : OUTCOME_MISUSE;
}

static void warn_of_metadata(const struct call *call, const char *path, ttr_reader *reader)
{
    if (call->set.metadata_file)
        warn_of_others(call, path, reader, TTR_OPTION_METADATA);
}

void inputs_warn_opened(const struct call *call, const char *path, ttr_reader *reader)
{
    warn_of_metadata(call, path, reader);
    warn_of_many(call, reader);
}

static ttr_reader *open_path(struct inputs *inputs, const struct call *call, const char *path,
                             ttr_read_options *options, int *outcome)
{
    ttr_error error = {0};
    ttr_reader *reader = NULL;
    *outcome = inputs_read_options(call, options);
    if (*outcome == OUTCOME_FINE && !(reader = inputs_open_path(inputs, path, options, &error)))
        *outcome = inputs_failed(call, path, &error);
    if (reader)
        warn_of_metadata(call, path, reader);
    free((void *)options->format_options);
    options->format_options = NULL;
    return reader;
}

static int out_of_memory(const struct call *call)
{
    talk_failure(inputs_name(call), "out of memory");
    return OUTCOME_INPUT;
}

int inputs_open_one(struct inputs *inputs, const struct call *call, const char *path,
                    uint32_t flags)
{
    int outcome = OUTCOME_FINE;
    flags |= call->set.sort ? TTR_READ_UNORDERED : 0;
    *inputs = (struct inputs){
        .t = ttr_new(NULL), .flags = flags, .stream = calloc(1, sizeof *inputs->stream)};
    if (!inputs->t || !inputs->stream) {
        inputs_close(inputs);
        return out_of_memory(call);
    }
    inputs->reader = open_path(inputs, call, path, &(ttr_read_options){.flags = flags}, &outcome);
    if (inputs->reader)
        warn_of_many(call, inputs->reader);
    else
        inputs_close(inputs);
    return outcome;
}

void inputs_close(struct inputs *inputs)
{
    ttr_close(inputs->reader);
    ttr_disorder_free(inputs->disorder);
    footprint_free(inputs->seen);
    debug_info_end(inputs);
    ttr_free(inputs->t);
    while (inputs->streams_n > 0)
        stream_close(&inputs->stream[--inputs->streams_n]);
    free(inputs->stream);
    free(inputs->offset);
    *inputs = (struct inputs){0};
}

/* --- Offsets and begins --- */

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* "--offset FILE=DURATION": the path may contain "=" itself, the last one counts. */
static bool take_offsets(struct inputs *inputs, const struct call *call)
{
    const struct words *given = &call->set.offsets;
    int64_t own = add_clamped(call->set.clock_offset, call->set.clock_offset_ns);
    for (size_t k = 0; k < call->paths_n; k++)
        inputs->offset[k] = own;
    for (size_t i = 0; i < given->n; i++) {
        const char *equals = strrchr(given->list[i], '=');
        int64_t ns = 0;
        size_t found = 0;
        if (!equals || !units_parse_duration(equals + 1, &ns)) {
            (void)talk_misuse(call->command->name,
                              "--offset cannot be \"%s\": it wants FILE=DURATION, like a.fxt=-3ms",
                              given->list[i]);
            return false;
        }
        size_t n = (size_t)(equals - given->list[i]);
        for (size_t k = 0; k < call->paths_n; k++) {
            if (strlen(call->path[k]) != n || memcmp(call->path[k], given->list[i], n) != 0)
                continue;
            inputs->offset[k] = add_clamped(own, ns);
            found++;
        }
        if (!found) {
            (void)talk_misuse(call->command->name, "--offset names \"%.*s\", which is no input",
                              (int)n, given->list[i]);
            return false;
        }
    }
    return true;
}

static bool is_readable_twice(const struct call *call, const char *path, const char *why)
{
    struct stat about;
    if (strcmp(path, "-") != 0 &&
        (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return true;
    (void)talk_misuse(
        call->command->name,
        "%s wants the begin of the trace first, so \"%s\" would have to be read twice: use a file",
        why, path);
    return false;
}

static bool comes_in_order(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (report.order != TTR_ORDER_TIME)
            return false;
    return true;
}

/* What ttr_summarise counts from. */
static bool has_time(const ttr_event *event)
{
    return event->kind != TTR_KIND_DEFINITION && event->kind != TTR_KIND_GAP &&
           !(event->flags & TTR_EVENT_NO_TIME);
}

/* Events in order of time begin with the earliest, whatever their number. */
static ttr_status read_first(ttr_reader *reader, ttr_summary *summary, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (has_time(ttr_batch_at(&batch, i))) {
                *summary = (ttr_summary){.events = 1, .begin_ns = ttr_batch_at(&batch, i)->time};
                return TTR_OK;
            }
    return status;
}

/* First time of a file, by reading it, all of it where events are in no order or are not believed
 * to be (--sort).  The earliest of all is found without putting them in order.  False after telling
 * the user. */
static bool find_first(const struct call *given, size_t index, int64_t *begin_ns, bool *has_events)
{
    struct call unsorted = *given, *call = &unsorted;
    struct inputs one;
    struct progress progress;
    ttr_summary summary = {0};
    ttr_status status;
    ttr_error error = {0};
    unsorted.set.sort = false;
    if (inputs_open_one(&one, call, call->path[index], 0) != OUTCOME_FINE)
        return false;
    progress_begin(&progress, call, one.t, one.reader, "looking for the begin");
    if (!given->set.sort && comes_in_order(one.reader))
        status = read_first(one.reader, &summary, &error);
    else
        status = ttr_summarise(one.t, one.reader, &summary, progress_step, &progress, &error);
    progress_end(&progress);
    if (status != TTR_OK && status != TTR_END && status != TTR_AGAIN && summary.events == 0)
        (void)inputs_failed(call, call->path[index], &error);
    inputs_close(&one);
    *begin_ns = summary.begin_ns;
    *has_events = summary.events > 0;
    return summary.events > 0 || status == TTR_OK || status == TTR_END || status == TTR_AGAIN;
}

/* Begin of all inputs on their common line. */
static int find_begin(const struct inputs *inputs, const struct call *call, int64_t *begin_ns)
{
    bool is_first = true;
    *begin_ns = 0;
    for (size_t i = 0; i < call->paths_n; i++) {
        int64_t begin = 0;
        bool has_events = false;
        if (!is_readable_twice(call, call->path[i], "a time with +"))
            return OUTCOME_MISUSE;
        if (!find_first(call, i, &begin, &has_events))
            return OUTCOME_INPUT;
        begin = add_clamped(begin, inputs->offset[i]);
        if (has_events && (is_first || begin < *begin_ns))
            *begin_ns = begin;
        is_first = is_first && !has_events;
    }
    return OUTCOME_FINE;
}

/* --align=begin: all begins where the first input that has events has its own. */
static int align_begins(const struct inputs *inputs, const struct call *call)
{
    int64_t target = 0;
    bool has_target = false;
    for (size_t i = 0; i < call->paths_n; i++) {
        int64_t begin = 0;
        bool has_events = false;
        if (!is_readable_twice(call, call->path[i], "--align=begin"))
            return OUTCOME_MISUSE;
        if (!find_first(call, i, &begin, &has_events))
            return OUTCOME_INPUT;
        if (has_events && !has_target)
            target = begin;
        has_target = has_target || has_events;
        if (has_events)
            inputs->offset[i] = add_clamped(
                inputs->offset[i], add_clamped(target, begin == INT64_MIN ? INT64_MAX : -begin));
    }
    return OUTCOME_FINE;
}

/* --- Filters --- */

/* Adds the kinds that a word of --kind means: one by its name, or all that begin with it ("async").
 */
static bool add_kinds(const char *word, size_t n, uint32_t *kinds)
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

static bool take_kinds(const struct call *call, uint32_t *kinds)
{
    const struct words *given = &call->set.kinds;
    for (size_t i = 0; i < given->n; i++) {
        const char *at = given->list[i];
        do {
            size_t n = strcspn(at, ",");
            if (!add_kinds(at, n, kinds)) {
                (void)talk_misuse(call->command->name,
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

static uint8_t level_of(const char *name)
{
    static const char *const names[] = {"trace", "debug", "info", "warning", "error", "fatal"};
    for (uint8_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return (uint8_t)(TTR_LEVEL_TRACE + i);
    return TTR_LEVEL_NONE;
}

static int64_t absolute(const struct moment *moment, int64_t begin_ns, int64_t otherwise)
{
    if (moment->kind == MOMENT_NONE)
        return otherwise;
    return moment->kind == MOMENT_RELATIVE ? add_clamped(begin_ns, moment->ns) : moment->ns;
}

/* Whether nothing is too early: from the begin on is all there is, also what a trace that goes back
 * in time gives behind its first event. */
static bool starts_at_begin(const struct settings *set)
{
    return set->start.kind == MOMENT_RELATIVE && set->start.ns == 0;
}

bool inputs_are_filtered(const struct call *call)
{
    const struct settings *set = &call->set;
    return set->names.n || set->not_names.n || set->categories.n || set->providers.n ||
           set->threads.n || set->processes.n || set->cpus.n || set->kinds.n || set->level ||
           set->start.kind != MOMENT_NONE || set->end.kind != MOMENT_NONE;
}

static int add_filter(struct inputs *inputs, const struct call *call, int64_t begin_ns)
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
    filter.min_level = level_of(set->level);
    filter.from_ns = starts_at_begin(set) ? INT64_MIN : absolute(&set->start, begin_ns, INT64_MIN);
    filter.to_ns = absolute(&set->end, begin_ns, INT64_MAX);
    filter.invert = set->invert;
    inputs->from_ns = filter.from_ns;
    inputs->to_ns = filter.to_ns;
    if (filter.to_ns < filter.from_ns)
        return talk_misuse(call->command->name, "--%s is before --%s: nothing is between them",
                           set->end.option, set->start.option);
    if (!take_kinds(call, &filter.kinds))
        return OUTCOME_MISUSE;
    inputs->reader = ttr_filter_new(inputs->reader, &filter, &error);
    if (!inputs->reader &&
        error.status == TTR_E_MISUSE) /* the one condition that is not looked at before */
        return talk_misuse(call->command->name, "--cpu: %s", error.text);
    return inputs->reader ? OUTCOME_FINE : inputs_failed(call, inputs_name(call), &error);
}

/* --- All together --- */

/* Opens every path and merges them; a single one stays as it is. */
static int open_all(struct inputs *inputs, const struct call *call)
{
    int outcome = OUTCOME_FINE;
    ttr_error error = {0};
    ttr_reader **readers = calloc(call->paths_n, sizeof(ttr_reader *));
    size_t n = 0;
    if (!readers)
        return out_of_memory(call);
    for (; n < call->paths_n; n++) {
        ttr_read_options options = {
            .flags = inputs->flags, .time_offset = inputs->offset[n], .copied_to = call->set.to};
        readers[n] = open_path(inputs, call, call->path[n], &options, &outcome);
        if (!readers[n])
            break;
        if (call->set.stream_intersection)
            warn_of_others(call, call->path[n], readers[n], TTR_OPTION_INTERSECTION);
    }
    if (outcome == OUTCOME_FINE && call->set.style && strcmp(call->set.style, "babeltrace2") == 0)
        traces_order(inputs->t, readers, n);
    if (outcome != OUTCOME_FINE) {
        while (n > 0)
            ttr_close(readers[--n]);
    } else if (n == 1) {
        inputs->reader = readers[0];
    } else {
        inputs->reader = ttr_merge(inputs->t, readers, n, &error);
        if (!inputs->reader)
            outcome = inputs_failed(call, inputs_name(call), &error);
    }
    if (inputs->reader)
        warn_of_many(call, inputs->reader);
    free(readers);
    return outcome;
}

static int check_stdin_once(const struct call *call)
{
    size_t times = 0;
    for (size_t i = 0; i < call->paths_n; i++)
        times += strcmp(call->path[i], "-") == 0;
    return times > 1 ? talk_misuse(call->command->name, "standard input can be one input only")
                     : OUTCOME_FINE;
}

/* --- Order --- */

/* Whether opening all paths again gives the same. */
static bool can_look_first(const struct call *call)
{
    struct stat about;
    bool can = !inputs_are_live(call);
    for (size_t i = 0; i < call->paths_n && can; i++)
        can = strcmp(call->path[i], "-") != 0 && stat(call->path[i], &about) == 0 &&
              (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    return can;
}

/* Whether reading costs no sorting of what several inputs give, which would be done twice. */
static bool merges_in_order(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    return !ttr_reader_report(reader, 1, &report) || comes_in_order(reader);
}

/* Looks where the inputs are out of order, as they would be read without --sort. */
static int look_first(struct inputs *inputs, const struct call *call, int64_t begin_ns)
{
    struct call plain = *call;
    struct progress progress;
    struct inputs first = {.t = ttr_new(NULL),
                           .offset = inputs->offset,
                           .stream = calloc(call->paths_n + 1, sizeof *first.stream)};
    plain.set.sort = false;
    plain.set.quiet = true; /* what there is to be warned of is told when they are read */
    int outcome = first.t && first.stream ? open_all(&first, &plain) : out_of_memory(call);
    const bool is_worth_it = outcome == OUTCOME_FINE && merges_in_order(first.reader);
    if (is_worth_it && inputs_are_filtered(call))
        outcome = add_filter(&first, &plain, begin_ns);
    if (is_worth_it && outcome == OUTCOME_FINE) {
        progress_begin(&progress, call, first.t, first.reader, "looking at the order");
        inputs->disorder =
            ttr_disorder_find(inputs->t, first.reader, progress_step, &progress, NULL);
        progress_end(&progress);
    }
    first.offset = NULL;
    inputs_close(&first);
    return outcome;
}

/* Decides how --sort is done.  What is in order is read as without it; where the disorder is known
 * the rest passes through memory; else all is sorted, and no input is taken at its word.  Of files
 * that are still written to, what was seen says nothing. */
static int choose_sorting(struct inputs *inputs, const struct call *call, int64_t begin_ns)
{
    inputs->seen = can_look_first(call) ? footprint_take(call->path, call->paths_n) : NULL;
    int outcome = inputs->seen ? look_first(inputs, call, begin_ns) : OUTCOME_FINE;
    if (inputs->disorder && !footprint_is_same(inputs->seen, true)) {
        ttr_disorder_free(inputs->disorder);
        inputs->disorder = NULL;
    }
    inputs->is_in_order = inputs->disorder && !ttr_disorder_is_there(inputs->disorder);
    if (inputs->is_in_order)
        return outcome;
    inputs->flags &= ~(TTR_READ_DEFINITIONS | TTR_READ_SEALED);
    if (inputs->disorder && !debug_info_is_asked(&call->set)) /* which wants events in order */
        return outcome;
    ttr_disorder_free(inputs->disorder);
    inputs->disorder = NULL;
    inputs->flags |= TTR_READ_UNORDERED;
    return outcome;
}

static int sort(struct inputs *inputs, const struct call *call)
{
    ttr_error error = {0};
    if (inputs->is_in_order)
        return OUTCOME_FINE;
    inputs->reader = inputs->disorder ? ttr_sort_known(inputs->reader, inputs->disorder, &error)
                                      : ttr_sort(inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE : inputs_failed(call, inputs_name(call), &error);
}

int inputs_tell_changed(const struct inputs *inputs, const struct call *call, int outcome)
{
    if (outcome != OUTCOME_FINE && outcome != OUTCOME_NO)
        return outcome;
    if (!inputs->is_in_order || footprint_is_same(inputs->seen, false))
        return outcome;
    talk_note(call,
              "%s: warning: written to while it was read: events that came may be out of order; "
              "--sort again when it is complete",
              inputs_name(call));
    return OUTCOME_NO;
}

/* Finds where times are to begin: of each input, and those with a plus. */
static int place_begins(struct inputs *inputs, const struct call *call, int64_t *begin_ns)
{
    const struct settings *set = &call->set;
    int outcome = take_offsets(inputs, call) ? OUTCOME_FINE : OUTCOME_MISUSE;
    if (outcome == OUTCOME_FINE && set->align && strcmp(set->align, "begin") == 0)
        outcome = align_begins(inputs, call);
    const bool is_behind_begin = (set->start.kind == MOMENT_RELATIVE && !starts_at_begin(set)) ||
                                 set->end.kind == MOMENT_RELATIVE;
    if (outcome == OUTCOME_FINE && is_behind_begin)
        outcome = find_begin(inputs, call, begin_ns);
    return outcome;
}

int inputs_open(struct inputs *inputs, const struct call *call, uint32_t flags)
{
    const struct settings *set = &call->set;
    int64_t begin_ns = 0;
    *inputs = (struct inputs){.flags = flags,
                              .t = ttr_new(NULL),
                              .offset = calloc(call->paths_n + 1, sizeof *inputs->offset),
                              .stream = calloc(call->paths_n + 1, sizeof *inputs->stream),
                              .from_ns = INT64_MIN,
                              .to_ns = INT64_MAX};
    int outcome = inputs->t && inputs->offset && inputs->stream ? check_stdin_once(call)
                                                                : out_of_memory(call);
    if (outcome == OUTCOME_FINE)
        outcome = place_begins(inputs, call, &begin_ns);
    if (outcome == OUTCOME_FINE && set->invert && !inputs_are_filtered(call))
        outcome = talk_misuse(
            call->command->name,
            "--invert wants to know what to leave out: add an option such as --name=GLOB");
    if (outcome == OUTCOME_FINE && set->sort)
        outcome = choose_sorting(inputs, call, begin_ns);
    if (outcome == OUTCOME_FINE)
        outcome = open_all(inputs, call);
    if (outcome == OUTCOME_FINE)
        outcome = debug_info_begin(inputs, call);
    if (outcome == OUTCOME_FINE && inputs_are_filtered(call))
        outcome = add_filter(inputs, call, begin_ns);
    if (outcome == OUTCOME_FINE && set->sort)
        outcome = sort(inputs, call);
    if (outcome != OUTCOME_FINE)
        inputs_close(inputs);
    return outcome;
}

/* --- Once more, for other threads --- */

/* Whether opening the same path again gives the same events: one trace in files, read as it is. */
static bool can_read_again(const struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    ttr_report report = {.size = sizeof report};
    if (call->paths_n != 1 || inputs->symbolizer || inputs_are_filtered(call) ||
        (set->sort && !inputs->is_in_order) || set->align || inputs_are_live(call) ||
        stream_is_one(call->path[0]))
        return false;
    return ttr_reader_report(inputs->reader, 0, &report) && report.format &&
           format_query_has(report.format, TTR_FORMAT_FOLDER);
}

/* What the first opening had to say was said. */
static ttr_reader *open_again(void *own, ttr *t)
{
    const struct inputs *inputs = own;
    const struct call *call = inputs->call;
    bool is_fine;
    ttr_error error = {0};
    ttr_read_options options = {
        .flags = inputs->flags, .time_offset = inputs->offset[0], .copied_to = call->set.to};
    const char **format_options = inputs_format_options(call, false, &is_fine);
    fill_options(&options, call, format_options);
    ttr_watch(t, is_wanted, NULL);
    ttr_reader *reader = is_fine ? ttr_open(t, call->path[0], &options, &error) : NULL;
    ttr_watch(t, NULL, NULL);
    free(format_options);
    return reader;
}

void inputs_share(struct inputs *inputs, const struct call *call, ttr_writer *out)
{
    inputs->call = call;
    if (call->set.jobs > 1 && can_read_again(inputs, call))
        (void)ttr_write_shared(
            out, call->set.jobs < JOBS_MOST ? (unsigned)call->set.jobs - 1 : JOBS_MOST - 1,
            open_again, inputs);
}
