/* convert: writes a trace in another format, a part of it in the same format, or a profile. */
#include "cli/commands/convert.h"
#include "cli/input/selection.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/profile.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/input/debug_info.h"
#include "cli/input/format_query.h"
#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/commands/copy_report.h"
#include "cli/commands/profiles.h"
#include "cli/commands/table_output.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

#define LOSSES_MAX 64u

bool convert_can_write(const char *format)
{
    return format_query_has(format, TTR_FORMAT_WRITES);
}

bool convert_is_folder(const char *format)
{
    return format_query_has(format, TTR_FORMAT_FOLDER);
}

/* Returns true if a file name of n bytes has one of the suffixes in `words`, which are separated by
 * blanks. */
static bool ends_with_any(const char *name, size_t n, const char *words)
{
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t word_n = strcspn(at, " ");
        if (n > word_n + 1 && name[n - word_n - 1] == '.' &&
            strncasecmp(name + n - word_n, at, word_n) == 0)
            return true;
        at += word_n;
    }
    return false;
}

const char *guess_output_format(const char *path)
{
    ttr_format_info info;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') /* the path of a folder may end with a slash */
        n--;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.extensions && ends_with_any(path, n, info.extensions))
            return info.name;
    return NULL;
}

size_t get_stdout_batch_size(const char *path, size_t n)
{
    static const char *const suffixes[] = {".gz", ".zst", ".lz4", ".bz2", ".xz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t suffix_n = strlen(suffixes[i]);
        if (n > suffix_n && path[n - suffix_n - 1] != '/' &&
            strncasecmp(path + n - suffix_n, suffixes[i], suffix_n) == 0)
            return n - suffix_n;
    }
    return n;
}

int check_output_order(struct inputs *inputs, const struct call *call, const char *format)
{
    ttr_error error = {0};
    ttr_format_info info;
    if (inputs->is_in_order || !format_query_find(format, &info) ||
        !(info.ordered_kinds & ttr_reader_kinds(inputs->reader)))
        return OUTCOME_FINE;
    inputs->reader = ttr_sort(inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE
                          : inputs_report_failure(call, inputs_get_name(call), &error);
}

void explain_conversion(const struct call *call, const char *format)
{
    ttr_loss losses[LOSSES_MAX];
    size_t n = ttr_format_losses(format, losses, LOSSES_MAX);
    if (!call->set.explain)
        return;
    if (n > LOSSES_MAX)
        n = LOSSES_MAX;
    (void)fprintf(stderr,
                  n ? "%s cannot hold everything; where it occurs:\n" : "%s holds everything\n",
                  format);
    copy_loop_print_losses(call, losses, n, true);
}

/* Warns if the output is named like a compressed file, because outputs are not compressed. */
static void warn_of_suffix(const struct copy_loop *copy_loop, const char *format)
{
    const char *path = copy_loop->path;
    struct stat about;
    if (!path || convert_is_folder(format) || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    if (get_stdout_batch_size(path, strlen(path)) < strlen(path))
        print_note(copy_loop->call, "%s: warning: it is not compressed, whatever its name says",
                   path);
}

static void print_conversion_result(const struct copy_loop *copy_loop, const char *format,
                                    uint64_t begin_ns)
{
    if (copy_loop->call->set.json)
        return;
    const char *to = copy_loop->call->set.dry_run        ? "nowhere (dry run)"
                     : strcmp(copy_loop->path, "-") == 0 ? "standard output"
                                                         : copy_loop->path;
    print_note(copy_loop->call, "%s: %s, %s of %s in %s", to, units_events(copy_loop->events).s,
               units_size(copy_loop->bytes).s, format, units_duration(progress_now() - begin_ns).s);
}

/* Returns true if an interrupted copy had written every event: all inputs have ended, and the
 * sorter is empty. */
static bool has_delivered_all_events(const struct copy_loop *copy_loop)
{
    ttr_batch batch;
    return !is_report_of_part(copy_loop->in) && ttr_read(copy_loop->in, &batch, NULL) == TTR_END;
}

/* Returns true if the inputs are folders of which no file has any bytes, except metadata. */
static bool has_no_streams(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (; ttr_reader_report(reader, n, &report); n++)
        if (!format_query_has(report.format, TTR_FORMAT_FOLDER) || report.disk_size > 0 ||
            report.bytes > 0 || report.events > 0)
            return false;
    return n > 0;
}

/* Warns of traces without streams. Returns the outcome. */
static int check_stream_count(const struct copy_loop *copy_loop, int outcome)
{
    if (outcome != OUTCOME_FINE || copy_loop->events > 0 || !has_no_streams(copy_loop->in))
        return outcome;
    print_note(copy_loop->call,
               "%s: warning: the trace has no stream with data, only metadata: no events",
               inputs_get_name(copy_loop->call));
    return OUTCOME_NO;
}

int convert_run(struct copy_loop *copy_loop, const char *format, uint64_t begin_ns)
{
    int outcome = copy_loop_run(copy_loop);
    const bool is_cut = outcome == OUTCOME_FINE && copy_loop->call->set.sort &&
                        interrupt_was_received() && !has_delivered_all_events(copy_loop);
    bool has_output = copy_loop->out != NULL;
    outcome = copy_loop_finish(copy_loop, outcome);
    if (outcome == OUTCOME_FINE && has_output)
        print_conversion_result(copy_loop, format, begin_ns);
    if (outcome == OUTCOME_FINE && has_output)
        warn_of_suffix(copy_loop, format);
    const bool is_complete = outcome == OUTCOME_FINE;
    outcome = copy_loop_report_no_matches(copy_loop, outcome);
    if (is_complete && is_cut) /* the sorter has read more events than were written */
        print_note(copy_loop->call,
                   "warning: sorting had not ended when it was interrupted: only the first %s were "
                   "written",
                   units_events(copy_loop->events).s);
    else if (is_complete)
        report_interruption(copy_loop->call, copy_loop->in);
    outcome = warn_about_findings(copy_loop->call, copy_loop->in, outcome);
    outcome = check_stream_count(copy_loop, outcome);
    if (copy_loop->call->set.json && has_output && (outcome <= OUTCOME_NO || copy_loop->is_partial))
        copy_report_print(copy_loop, format, progress_now() - begin_ns, outcome);
    return outcome;
}

/* Returns true if all readable inputs have this format. They are then copied record by record, in
 * stored order. */
static bool writes_complete_archive(ttr_reader *reader, const char *format)
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (; ttr_reader_report(reader, n, &report); n++)
        if (strcmp(report.format, format) != 0 && format_query_has(report.format, TTR_FORMAT_READS))
            return false;
    return n > 0;
}

/* Returns the flags for reading one input. If the input is copied in its own format, the reader
 * also returns definitions and, without a filter, streams that cannot be opened, so that the copy
 * keeps all bytes. A copy with other times, order or debug information consists of re-encoded
 * events and needs neither. */
static uint32_t get_reading_flags(const struct call *call, const char *format)
{
    const struct settings *set = &call->set;
    bool is_moved = set->offsets.n > 0 || set->clock_offset != 0 || set->clock_offset_ns != 0;
    bool may_copy = call->paths_n == 1 && !is_moved && !debug_info_is_requested(set);
    const uint32_t definitions =
        selection_is_given(call) ? TTR_READ_DEFINITIONS : TTR_READ_DEFINITIONS | TTR_READ_ENCRYPTED;
    return inputs_get_symbol_flags(format) |
           (may_copy && format_query_has(format, TTR_FORMAT_READS) ? definitions : 0);
}

/* Returns the profile format that --to or the suffix of the output names. Returns NULL if neither
 * does. */
static const char *find_profile_format(const struct call *call)
{
    ttr_profile_format format;
    const char *to = call->set.to, *output = call->set.output;
    for (size_t i = 0; to && ttr_profile_format_get(i, &format); i++)
        if (strcmp(format.name, to) == 0)
            return to;
    return to || !output ? NULL : guess_profile_format(output, guess_output_format(output) != NULL);
}

/* Writes a profile like "tracetta flame". */
static int convert_profile(struct call *call, const char *format)
{
    const struct settings *set = &call->set;
    const char *option = set->dry_run   ? "dry-run"
                         : set->explain ? "explain"
                         : set->sort    ? "sort"
                         : set->json    ? "json"
                                        : NULL;
    if (option)
        return report_misuse("convert", "--%s is not for profiles: leave it out to write %s",
                             option, format);
    call->set.to = format;
    return run_flame(call);
}

int run_convert(struct call *call)
{
    struct inputs inputs;
    uint64_t begin_ns = progress_now();
    const char *path = call->set.dry_run ? NULL : call->set.output;
    const char *format = call->set.to;
    if (!path && !call->set.dry_run)
        return report_misuse("convert",
                             "no output: use -o OUTPUT (\"-\" is standard output), or --dry-run");
    const char *profile = find_profile_format(call), *tables = find_table_format(format, path);
    if (tables)
        return convert_to_tables(call, tables);
    if (profile)
        return convert_profile(call, profile);
    if (!format && call->set.output)
        format = guess_output_format(call->set.output);
    if (!format)
        return report_misuse("convert",
                             "the suffix of \"%s\" does not name a format: use --to=FORMAT",
                             call->set.output ? call->set.output : "--dry-run");
    call->set.to = format; /* the suffix of the output may have selected the format */
    int outcome = copy_report_check(call);
    if (outcome == OUTCOME_FINE)
        outcome = check_output_path(call, call->set.output, format);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&inputs, call, get_reading_flags(call, format));
    if (outcome != OUTCOME_FINE)
        return outcome;
    call->set.sort = call->set.sort && !inputs.is_in_order;
    explain_conversion(call, format);
    const ttr_reader *opened = inputs.reader;
    bool is_copy =
        (inputs.flags & TTR_READ_DEFINITIONS) && writes_complete_archive(inputs.reader, format);
    outcome = is_copy ? OUTCOME_FINE : check_output_order(&inputs, call, format);
    if (outcome != OUTCOME_FINE) {
        inputs_close(&inputs);
        return outcome;
    }
    if (!is_copy)
        outcome = inputs_prepare_stacks(&inputs, call, format);
    struct copy_loop copy_loop = {
        .call = call, .t = inputs.t, .in = inputs.reader, .inputs = &inputs, .path = path};
    if (outcome == OUTCOME_FINE)
        outcome = copy_loop_open(&copy_loop, format, 0);
    const bool is_stream_order =
        outcome == OUTCOME_FINE && ttr_writer_allow_stream_order(copy_loop.out, copy_loop.in);
    if (outcome == OUTCOME_FINE && !is_copy && !is_stream_order && inputs.reader == opened)
        inputs_enable_parallel_writing(&inputs, call, copy_loop.out);
    if (outcome == OUTCOME_FINE)
        outcome = convert_run(&copy_loop, format, begin_ns);
    outcome = inputs_warn_if_changed(&inputs, call, outcome);
    inputs_close(&inputs);
    return outcome;
}
