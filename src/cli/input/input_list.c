/* Opens the inputs, maps their times to one time line, merges, sorts and filters them. */
#include "cli/input/input_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input/debug_info.h"
#include "cli/input/file_stamp.h"
#include "cli/input/format_query.h"
#include "cli/input/interpretation.h"
#include "cli/input/network_input.h"
#include "cli/input/selection.h"
#include "cli/input/symbolizer.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/input/pipe_input.h"
#include "cli/ui/messages.h"
#include "cli/input/trace_iter.h"

#define JOBS_MOST 65u
#define MAX_RECORD_MIN 65536u

const char *inputs_get_name(const struct call *call)
{
    return call->paths_n == 1 ? call->path[0] : "the inputs";
}

bool inputs_are_live(const struct call *call)
{
    for (size_t i = 0; i < call->paths_n; i++)
        if (strstr(call->path[i], "://") || network_is_address(call->path[i]))
            return true;
    return false;
}

/* Returns true if reading stops at damage. check always lists all damage. */
static bool has_strict_option(const struct call *call)
{
    return call->set.strict && call->command->verb != VERB_CHECK;
}

/* Reports an error of the library. For a folder without a trace, names the folder before the file
 * that most resembles a trace. */
static void report_open_error(const struct call *call, const char *path, const ttr_error *error)
{
    struct stat about;
    char ctx[MESSAGE_TEXT_MAX];
    const size_t n = strlen(path);
    const bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    const char *inner = strncmp(error->text, path, n) == 0 ? error->text + n : NULL;
    if (error->status == TTR_E_UNSUPPORTED && is_folder && inner && *inner == '/')
        report_failure_text(path, "no trace can be read in this folder; the file most like one: %s",
                            message_error_text(error, ctx));
    else
        report_error(call, path, error);
}

int inputs_report_failure(const struct call *call, const char *path, const ttr_error *error)
{
    bool is_damage = error->status == TTR_E_MALFORMED || error->status == TTR_E_TRUNCATED;
    if (error->status == TTR_AGAIN) /* the user interrupted it */
        return OUTCOME_NO;
    report_open_error(call, path, error);
    if (is_damage && has_strict_option(call))
        return OUTCOME_NO;
    if (strcmp(error->format, "temporary") == 0) /* writing a temporary file failed */
        return OUTCOME_OUTPUT;
    return error->status == TTR_E_MISUSE ? OUTCOME_MISUSE : OUTCOME_INPUT;
}

/* --- Opening --- */

/* Opens a pipe with the command's read function, so that Ctrl-C ends the input. */
static ttr_reader *open_stream(struct inputs *inputs, const char *path,
                               const ttr_read_options *options, ttr_error *error)
{
    struct stream *stream = &inputs->stream[inputs->streams_n];
    if (!stream_open(stream, path, error))
        return NULL;
    inputs->streams_n++;
    if (stream->network && network_await_packets(stream->network, error))
        return network_read(stream->network, inputs->t, options, error);
    return ttr_open_pull(inputs->t, stream_pull, stream,
                         strcmp(path, "-") == 0 ? "standard input" : path, options, error);
}

void inputs_note_waits(struct inputs *inputs, void (*note_wait)(void *ctx, bool is_waiting),
                       void *ctx)
{
    for (size_t i = 0; i < inputs->streams_n; i++) {
        inputs->stream[i].note_wait = note_wait;
        inputs->stream[i].note_ctx = ctx;
    }
}

static bool is_interrupted(void *ctx)
{
    (void)ctx;
    return !interrupt_was_received();
}

/* Reports an error if --max-record is below the size of ordinary records. */
static bool check_record_limit(const struct call *call)
{
    uint64_t bytes = call->set.max_record;
    if (bytes == 0 || bytes >= MAX_RECORD_MIN)
        return true;
    (void)report_misuse(call->command->name,
                        "--max-record cannot be less than 64KiB: usual records have as many bytes");
    return false;
}

/* Warns if an option applies to none of the formats of the input. `role` is the role of the
 * option. */
static void warn_about_other_formats(const struct call *call, const char *path, ttr_reader *reader,
                                     ttr_option_role role)
{
    const bool is_metadata = role == TTR_OPTION_METADATA;
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (!report.format || ttr_format_option_for(report.format, role))
            return;
    print_note(call, "%s: warning: --%s is for %s: %s", path,
               is_metadata ? "metadata" : "stream-intersection",
               format_query_find_format_of_role(role),
               is_metadata ? "this trace is read as it is" : "all of this trace is read");
}

static void fill_options(ttr_read_options *options, const struct call *call,
                         const char *const *format_options)
{
    options->size = sizeof *options;
    options->from = call->set.from;
    options->flags |= (has_strict_option(call) ? TTR_READ_STRICT : 0) |
                      (call->set.no_mmap ? TTR_READ_NO_MMAP : 0) |
                      (call->set.follow_links ? TTR_READ_FOLLOW_LINKS : 0);
    options->max_record = call->set.max_record;
    options->format_options = format_options;
    options->readers = call->set.jobs < JOBS_MOST ? (uint32_t)call->set.jobs : JOBS_MOST;
    /* Only cat and live tables prefer early events to exactly sorted ones. */
    options->can_pull = call->command->verb == VERB_CAT || call->set.live ? stream_can_pull : NULL;
}

/* Returns true if an option replaces the metadata of the trace by another file. */
static bool has_metadata_option(const struct call *call)
{
    const struct words *given = &call->set.format_options;
    bool is_given = call->set.metadata_file != NULL;
    for (size_t i = 0; i < given->n && !is_given; i++)
        is_given = format_query_is_option(given->list[i], TTR_OPTION_METADATA);
    return is_given;
}

/* Returns a path up to its last slash. */
static ttr_text get_folder_part(ttr_text path)
{
    while (path.n > 0 && path.p[path.n - 1] != '/')
        path.n--;
    return path;
}

/* Warns if one metadata file replaces that of several traces. Traces are distinguished by folder,
 * since their UUIDs may be equal. */
static void warn_about_shared_metadata(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    ttr_text first = {NULL, 0};
    bool has_many = false;
    for (size_t i = 0;
         has_metadata_option(call) && ttr_reader_report(reader, i, &report) && !has_many; i++) {
        const ttr_text folder = get_folder_part(report.path);
        if (!ttr_format_option_for(report.format, TTR_OPTION_METADATA))
            continue;
        has_many = first.p && (folder.n != first.n || memcmp(folder.p, first.p, first.n) != 0);
        first = first.p ? first : folder;
    }
    if (has_many)
        print_note(call,
                   "%s: warning: these metadata are read in place of those of each of several "
                   "traces: name one trace to have them for it alone",
                   inputs_get_name(call));
}

ttr_reader *inputs_open_path(struct inputs *inputs, const char *path,
                             const ttr_read_options *options, ttr_error *error)
{
    /* opening a remote source may take long */
    ttr_progress_set(inputs->t, is_interrupted, NULL);
    ttr_reader *reader = stream_is_one(path) ? open_stream(inputs, path, options, error)
                                             : ttr_open(inputs->t, path, options, error);
    ttr_progress_set(inputs->t, NULL, NULL);
    return reader;
}

int inputs_fill_read_options(const struct call *call, ttr_read_options *options)
{
    bool is_fine;
    const char **format_options = inputs_format_options(call, false, &is_fine);
    fill_options(options, call, format_options);
    return is_fine && check_record_limit(call) ? OUTCOME_FINE : OUTCOME_MISUSE;
}

static void warn_about_metadata(const struct call *call, const char *path, ttr_reader *reader)
{
    if (call->set.metadata_file)
        warn_about_other_formats(call, path, reader, TTR_OPTION_METADATA);
}

void inputs_warn_about_opened(const struct call *call, const char *path, ttr_reader *reader)
{
    warn_about_metadata(call, path, reader);
    warn_about_shared_metadata(call, reader);
}

static ttr_reader *open_path(struct inputs *inputs, const struct call *call, const char *path,
                             ttr_read_options *options, int *outcome)
{
    ttr_error error = {0};
    ttr_reader *reader = NULL;
    *outcome = inputs_fill_read_options(call, options);
    if (*outcome == OUTCOME_FINE && !(reader = inputs_open_path(inputs, path, options, &error)))
        *outcome = inputs_report_failure(call, path, &error);
    if (reader)
        warn_about_metadata(call, path, reader);
    free((void *)(uintptr_t)options->format_options);
    options->format_options = NULL;
    return reader;
}

static int out_of_memory(const struct call *call)
{
    report_failure_text(inputs_get_name(call), "out of memory");
    return OUTCOME_INPUT;
}

static ttr *new_context(const struct call *call)
{
    return ttr_new(
        &(ttr_options){.size = sizeof(ttr_options), .max_temporary = call->set.max_temporary});
}

int inputs_open_single(struct inputs *inputs, const struct call *call, const char *path,
                       uint32_t flags)
{
    int outcome = OUTCOME_FINE;
    flags |= call->set.sort ? TTR_READ_UNORDERED : 0;
    *inputs = (struct inputs){
        .t = new_context(call), .flags = flags, .stream = calloc(1, sizeof *inputs->stream)};
    if (!inputs->t || !inputs->stream) {
        inputs_close(inputs);
        return out_of_memory(call);
    }
    inputs->reader = open_path(inputs, call, path, &(ttr_read_options){.flags = flags}, &outcome);
    if (inputs->reader)
        warn_about_shared_metadata(call, inputs->reader);
    else
        inputs_close(inputs);
    return outcome;
}

bool inputs_are_idle(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->streams_n; i++)
        if (stream_is_idle(&inputs->stream[i]))
            return true;
    return false;
}

bool inputs_wait(const struct inputs *inputs, unsigned ms)
{
    return inputs->streams_n != 1 || stream_can_pull(&inputs->stream[0], ms);
}

void inputs_close(struct inputs *inputs)
{
    ttr_close(inputs->reader);
    ttr_order_index_free(inputs->disorder);
    file_stamp_free(inputs->seen);
    debug_info_end(inputs);
    symbolizer_free(inputs->names);
    ttr_free(inputs->t);
    while (inputs->streams_n > 0)
        stream_close(&inputs->stream[--inputs->streams_n]);
    free(inputs->stream);
    free(inputs->offset);
    *inputs = (struct inputs){0};
}

/* --- Offsets --- */

/* Parses the options "--offset FILE=DURATION". A path may contain "=", so the last one
 * separates. */
static bool parse_time_offsets(struct inputs *inputs, const struct call *call)
{
    const struct words *given = &call->set.offsets;
    int64_t ctx = selection_add_times(call->set.clock_offset, call->set.clock_offset_ns);
    for (size_t k = 0; k < call->paths_n; k++)
        inputs->offset[k] = ctx;
    for (size_t i = 0; i < given->n; i++) {
        const char *equals = strrchr(given->list[i], '=');
        int64_t ns = 0;
        size_t found = 0;
        if (!equals || !units_parse_duration(equals + 1, &ns)) {
            (void)report_misuse(
                call->command->name,
                equals && errno == ERANGE
                    ? "--offset=%s is too large: at most 292 years"
                    : "--offset cannot be \"%s\": expected FILE=DURATION, like a.fxt=-3ms",
                given->list[i]);
            return false;
        }
        size_t n = (size_t)(equals - given->list[i]);
        for (size_t k = 0; k < call->paths_n; k++) {
            if (strlen(call->path[k]) != n || memcmp(call->path[k], given->list[i], n) != 0)
                continue;
            inputs->offset[k] = selection_add_times(ctx, ns);
            found++;
        }
        if (!found) {
            (void)report_misuse(call->command->name,
                                "--offset names \"%.*s\", which is not an input", (int)n,
                                given->list[i]);
            return false;
        }
    }
    return true;
}

/* --- All together --- */

/* Opens all paths and merges their readers. */
static int open_all_inputs(struct inputs *inputs, const struct call *call)
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
            warn_about_other_formats(call, call->path[n], readers[n], TTR_OPTION_INTERSECTION);
    }
    if (outcome == OUTCOME_FINE && call->set.style && strcmp(call->set.style, "babeltrace2") == 0)
        traces_sort(inputs->t, readers, n);
    if (outcome != OUTCOME_FINE) {
        while (n > 0)
            ttr_close(readers[--n]);
    } else if (n == 1) {
        inputs->reader = readers[0];
    } else {
        inputs->reader = ttr_merge(inputs->t, readers, n, &error);
        if (!inputs->reader)
            outcome = inputs_report_failure(call, inputs_get_name(call), &error);
    }
    if (inputs->reader)
        warn_about_shared_metadata(call, inputs->reader);
    free(readers);
    return outcome;
}

static int check_stdin_once(const struct call *call)
{
    size_t times = 0;
    for (size_t i = 0; i < call->paths_n; i++)
        times += strcmp(call->path[i], "-") == 0;
    return times > 1 ? report_misuse(call->command->name, "standard input can be one input only")
                     : OUTCOME_FINE;
}

/* --- Order --- */

bool inputs_can_read_twice(const struct call *call)
{
    struct stat about;
    bool can = !inputs_are_live(call);
    for (size_t i = 0; i < call->paths_n && can; i++)
        can = strcmp(call->path[i], "-") != 0 && stat(call->path[i], &about) == 0 &&
              (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    return can;
}

/* Returns true if the inputs are read without sorting. Otherwise --sort would sort them twice. */
static bool can_merge_in_order(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    return !ttr_reader_report(reader, 1, &report) || selection_is_ordered(reader);
}

/* Finds out where the inputs are out of order, by reading them once. */
static int find_disorder(struct inputs *inputs, const struct call *call)
{
    struct call plain = *call;
    struct progress progress;
    struct inputs first = {.t = new_context(call),
                           .offset = inputs->offset,
                           .from_ns = inputs->from_ns,
                           .to_ns = inputs->to_ns,
                           .stream = calloc(call->paths_n + 1, sizeof *first.stream)};
    plain.set.sort = false;
    plain.set.quiet = true; /* the second reading prints the warnings */
    int outcome = first.t && first.stream ? open_all_inputs(&first, &plain) : out_of_memory(call);
    const bool is_worth_it = outcome == OUTCOME_FINE && can_merge_in_order(first.reader);
    /* events are filtered after their interpretation, which needs them sorted */
    if (is_worth_it && selection_is_given(call) && !interpretation_is_enabled(call, first.reader))
        outcome = selection_add_filter(&first, &plain);
    if (is_worth_it && outcome == OUTCOME_FINE) {
        progress_begin(&progress, call, first.t, first.reader, "looking at the order");
        inputs->disorder =
            ttr_order_index_find(inputs->t, first.reader, progress_step, &progress, NULL);
        progress_end(&progress);
    }
    first.offset = NULL;
    inputs_close(&first);
    return outcome;
}

/* --- Symbols at the end --- */

static bool has_late_symbols(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (report.format && format_query_has(report.format, TTR_FORMAT_LATE_SYMBOLS))
            return true;
    return false;
}

/* Reads everything for its symbols. Stops early, without an error, if reading fails: the second
 * reading reports that. */
static void read_for_symbols(const struct inputs *first, const struct call *call)
{
    struct progress progress;
    ttr_batch batch;
    progress_begin(&progress, call, first->t, first->reader, "looking for names");
    while (ttr_read(first->reader, &batch, NULL) == TTR_OK && progress_step(&progress))
        ;
    progress_end(&progress);
}

/* Reads the inputs once for symbols at their end, if they may have some and can be read twice. */
static int load_late_symbols(struct inputs *inputs, const struct call *call)
{
    struct call plain = *call;
    ttr_error error = {0};
    if (!inputs_can_read_twice(call) || !has_late_symbols(inputs->reader))
        return OUTCOME_FINE;
    struct inputs first = {.t = ttr_new(NULL),
                           .offset = inputs->offset,
                           .flags = TTR_READ_SYMBOLS,
                           .from_ns = INT64_MIN,
                           .to_ns = INT64_MAX,
                           .stream = calloc(call->paths_n + 1, sizeof *first.stream)};
    plain.set.quiet = true; /* warnings are printed by the second reading */
    int outcome = first.t && first.stream ? open_all_inputs(&first, &plain) : out_of_memory(call);
    if (outcome == OUTCOME_FINE) {
        read_for_symbols(&first, call);
        if (ttr_copy_symbols(inputs->t, first.t, &error) != TTR_OK)
            outcome = out_of_memory(call);
    }
    first.offset = NULL;
    inputs_close(&first);
    return outcome;
}

int inputs_set_symbolizer(struct inputs *inputs, const struct call *call, uint32_t flags)
{
    const ttr_symbols_options options = {.flags = flags | TTR_SYMBOLS_LISTS |
                                                  (call->set.no_mmap ? TTR_SYMBOLS_NO_MMAP : 0)};
    inputs->names = symbolizer_new_lazy(call, &options);
    if (!inputs->names)
        return out_of_memory(call);
    ttr_set_symbolizer(inputs->t, symbolizer_locate, inputs->names);
    return OUTCOME_FINE;
}

/* Prepares names of functions: sets a symbolizer, and reads inputs that may have symbols at their
 * end once before, if that is possible. */
static int load_symbols(struct inputs *inputs, const struct call *call)
{
    const int outcome = inputs_set_symbolizer(inputs, call, 0);
    return outcome == OUTCOME_FINE ? load_late_symbols(inputs, call) : outcome;
}

uint32_t inputs_get_symbol_flags(const char *format)
{
    return format_query_has(format, TTR_FORMAT_SYMBOLS) ||
                   format_query_has(format, TTR_FORMAT_STACK_FIELDS)
               ? TTR_READ_SYMBOLS
               : 0;
}

/* Returns true if an input may have stacks that a format stores only as fields. */
static bool needs_stack_fields(ttr_reader *reader, const char *format)
{
    ttr_report report = {.size = sizeof report};
    if (!format_query_has(format, TTR_FORMAT_STACK_FIELDS))
        return false;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (report.format && format_query_has(report.format, TTR_FORMAT_STACKS))
            return true;
    return false;
}

int inputs_prepare_stacks(struct inputs *inputs, const struct call *call, const char *format)
{
    ttr_error error = {0};
    const bool needs_fields = needs_stack_fields(inputs->reader, format);
    if (!needs_fields && !format_query_has(format, TTR_FORMAT_SYMBOLS))
        return OUTCOME_FINE;
    const int outcome = load_symbols(inputs, call);
    if (outcome != OUTCOME_FINE || !needs_fields)
        return outcome;
    inputs->reader = ttr_stack_fields(inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE : out_of_memory(call);
}

/* Decides how --sort is implemented. Ordered inputs are read without sorting. If an order index
 * exists, only events that must wait are kept in memory. Otherwise all events are sorted, also if a
 * file is still being written. */
static int choose_sorting(struct inputs *inputs, const struct call *call)
{
    inputs->seen =
        inputs_can_read_twice(call) ? file_stamp_record(call->path, call->paths_n) : NULL;
    int outcome = inputs->seen ? find_disorder(inputs, call) : OUTCOME_FINE;
    if (inputs->disorder && !file_stamp_equals(inputs->seen, true)) {
        ttr_order_index_free(inputs->disorder);
        inputs->disorder = NULL;
    }
    inputs->is_in_order = inputs->disorder && !ttr_order_index_has_disorder(inputs->disorder);
    if (inputs->is_in_order)
        return outcome;
    inputs->flags &= ~(TTR_READ_DEFINITIONS | TTR_READ_ENCRYPTED);
    /* debug information is only correct for events in order */
    if (inputs->disorder && !debug_info_is_requested(&call->set))
        return outcome;
    ttr_order_index_free(inputs->disorder);
    inputs->disorder = NULL;
    inputs->flags |= TTR_READ_UNORDERED;
    return outcome;
}

static int add_sorting_stage(struct inputs *inputs, const struct call *call)
{
    ttr_error error = {0};
    if (inputs->is_in_order)
        return OUTCOME_FINE;
    inputs->reader = inputs->disorder ? ttr_sort_indexed(inputs->reader, inputs->disorder, &error)
                                      : ttr_sort(inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE
                          : inputs_report_failure(call, inputs_get_name(call), &error);
}

/* Adds the stages that the options select: interpreted events are sorted before, filtered after. */
static int add_stages(struct inputs *inputs, const struct call *call)
{
    int outcome = OUTCOME_FINE;
    const bool is_interpreted = interpretation_is_enabled(call, inputs->reader);
    if (is_interpreted && call->set.sort)
        outcome = add_sorting_stage(inputs, call);
    if (is_interpreted && outcome == OUTCOME_FINE)
        outcome = interpretation_begin(inputs, call);
    if (outcome == OUTCOME_FINE && selection_is_given(call))
        outcome = selection_add_filter(inputs, call);
    if (outcome == OUTCOME_FINE && call->set.sort && !is_interpreted)
        outcome = add_sorting_stage(inputs, call);
    return outcome;
}

int inputs_warn_if_changed(const struct inputs *inputs, const struct call *call, int outcome)
{
    if (outcome != OUTCOME_FINE && outcome != OUTCOME_NO)
        return outcome;
    if (!inputs->is_in_order || file_stamp_equals(inputs->seen, false))
        return outcome;
    print_note(call,
               "%s: warning: written to while it was read: events that came may be out of order; "
               "--sort again when it is complete",
               inputs_get_name(call));
    return OUTCOME_NO;
}

/* Determines the time offset of each input and the range of times to read. */
static int align_input_times(struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    int outcome = parse_time_offsets(inputs, call) ? OUTCOME_FINE : OUTCOME_MISUSE;
    if (outcome == OUTCOME_FINE && set->align && strcmp(set->align, "begin") == 0)
        outcome = selection_align_begins(inputs, call);
    return outcome == OUTCOME_FINE ? selection_resolve_times(inputs, call) : outcome;
}

int inputs_open(struct inputs *inputs, const struct call *call, uint32_t flags)
{
    const struct settings *set = &call->set;
    *inputs = (struct inputs){.flags = flags,
                              .t = new_context(call),
                              .offset = calloc(call->paths_n + 1, sizeof *inputs->offset),
                              .stream = calloc(call->paths_n + 1, sizeof *inputs->stream),
                              .from_ns = INT64_MIN,
                              .to_ns = INT64_MAX};
    int outcome = inputs->t && inputs->offset && inputs->stream ? check_stdin_once(call)
                                                                : out_of_memory(call);
    if (outcome == OUTCOME_FINE)
        outcome = align_input_times(inputs, call);
    if (outcome == OUTCOME_FINE && set->invert && !selection_is_given(call))
        outcome = report_misuse(call->command->name,
                                "--invert needs a filter: add an option such as --name=GLOB");
    if (outcome == OUTCOME_FINE && set->sort)
        outcome = choose_sorting(inputs, call);
    if (outcome == OUTCOME_FINE)
        outcome = open_all_inputs(inputs, call);
    if (outcome == OUTCOME_FINE)
        outcome = debug_info_begin(inputs, call);
    if (outcome == OUTCOME_FINE)
        outcome = add_stages(inputs, call);
    if (outcome != OUTCOME_FINE)
        inputs_close(inputs);
    return outcome;
}

/* --- Once more, for other threads --- */

/* Returns true if opening the path again yields the same events: one trace in files, without
 * filters. */
static bool can_read_again(const struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    ttr_report report = {.size = sizeof report};
    if (call->paths_n != 1 || inputs->symbolizer || selection_is_given(call) ||
        (set->sort && !inputs->is_in_order) || set->align || inputs_are_live(call) ||
        stream_is_one(call->path[0]))
        return false;
    return ttr_reader_report(inputs->reader, 0, &report) && report.format &&
           format_query_has(report.format, TTR_FORMAT_FOLDER);
}

/* Opens the input again for another thread, without repeating messages. */
static ttr_reader *reopen_inputs(void *ctx, ttr *t)
{
    const struct inputs *inputs = ctx;
    const struct call *call = inputs->call;
    bool is_fine;
    ttr_error error = {0};
    ttr_read_options options = {
        .flags = inputs->flags, .time_offset = inputs->offset[0], .copied_to = call->set.to};
    const char **format_options = inputs_format_options(call, false, &is_fine);
    fill_options(&options, call, format_options);
    ttr_progress_set(t, is_interrupted, NULL);
    ttr_reader *reader = is_fine ? ttr_open(t, call->path[0], &options, &error) : NULL;
    if (reader && interpretation_is_enabled(call, reader))
        reader = interpretation_wrap_reader(call, reader, &error);
    ttr_progress_set(t, NULL, NULL);
    free(format_options);
    return reader;
}

void inputs_enable_parallel_writing(struct inputs *inputs, const struct call *call, ttr_writer *out)
{
    inputs->call = call;
    if (call->set.jobs > 1 && call->set.limit == 0 && can_read_again(inputs, call))
        (void)ttr_writer_parallel(
            out, call->set.jobs < JOBS_MOST ? (unsigned)call->set.jobs - 1 : JOBS_MOST - 1,
            reopen_inputs, inputs);
}
