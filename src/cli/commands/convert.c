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

#include <tracetta/formats.h>

#include "cli/input/debug_info.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/commands/copy_report.h"
#include "cli/commands/profiles.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

#define LOSSES_MAX 64u

static bool has_ability(const char *format, uint32_t ability)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (strcmp(info.name, format) == 0)
            return info.abilities & ability;
    return false;
}

bool convert_writes(const char *format)
{
    return has_ability(format, TTR_FORMAT_WRITES);
}

bool convert_is_folder(const char *format)
{
    return has_ability(format, TTR_FORMAT_FOLDER);
}

/* Whether a name of n bytes ends with a dot and one of the words. */
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

const char *convert_guess(const char *path)
{
    ttr_format_info info;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') /* the name of a folder may end with a slash */
        n--;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.extensions && ends_with_any(path, n, info.extensions))
            return info.name;
    return NULL;
}

size_t convert_bare_size(const char *path, size_t n)
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

int convert_order(struct inputs *inputs, const struct call *call, const char *format)
{
    ttr_error error = {0};
    if (!has_ability(format, TTR_FORMAT_ORDERED) || inputs->is_in_order)
        return OUTCOME_FINE;
    inputs->reader = ttr_sort(inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE : inputs_failed(call, inputs_name(call), &error);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a file is directly in a folder, compared by inode. Also returns true if the folder cannot
 * be listed, with errno set; errno is 0 otherwise. */
static bool is_in_folder(const char *folder, const struct stat *file)
{
    struct stat about;
    bool is_it = false;
    const struct dirent *entry;
    DIR *directory = opendir(folder);
    errno = 0;
    if (!directory)
        return false;
    /* No other thread uses this stream, which is all that POSIX requires. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, !is_it && (entry = readdir(directory)))
        is_it =
            fstatat(dirfd(directory), entry->d_name, &about, 0) == 0 && is_same_file(&about, file);
    const int sys = is_it ? 0 : errno;
    (void)closedir(directory);
    errno = sys;
    return is_it || sys;
}

/* Whether a path is a folder or is below it. Both paths are real paths. */
static bool is_below(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return strncmp(folder, path, n) == 0 && (path[n] == '\0' || path[n] == '/' || n == 1);
}

/* Whether an output folder contains an input, or an input contains it. The folder is replaced as a
 * unit, so neither may be. */
static bool holds_input(const char *output, const char *input)
{
    char outer[PATH_MAX], inner[PATH_MAX];
    return realpath(output, outer) && realpath(input, inner) &&
           (is_below(outer, inner) || is_below(inner, outer));
}

/* Whether an existing output is an input, or is in one. errno is set as by is_in_folder. */
static bool is_read_from(const char *input, const char *output, const struct stat *about_output)
{
    struct stat about;
    int result = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(input, &about);
    if (result != 0)
        return false;
    const bool is_it = S_ISDIR(about_output->st_mode)
                           ? strcmp(input, "-") != 0 && holds_input(output, input)
                           : is_same_file(&about, about_output) ||
                                 (S_ISDIR(about.st_mode) && holds_input(output, input));
    errno = 0;
    if (is_it || S_ISDIR(about_output->st_mode))
        return is_it;
    return S_ISDIR(about.st_mode) && is_in_folder(input, about_output);
}

/* Finds the real path of the nearest existing folder above a path. */
static bool find_folder_of(const char *path, char real[PATH_MAX])
{
    char above[PATH_MAX];
    size_t n = strlen(path);
    if (n + sizeof "./" > sizeof above)
        return false;
    (void)snprintf(above, sizeof above, "%s%s", path[0] == '/' ? "" : "./", path);
    do {
        n = strlen(above);
        while (n > 1 && above[n - 1] == '/')
            n--;
        while (n > 1 && above[n - 1] != '/')
            n--;
        above[n] = '\0';
    } while (!realpath(above, real) && n > 2);
    return realpath(above, real) != NULL;
}

/* Whether a file of this name may stand for the trace in its folder ("metadata"). */
static bool is_anchor(const char *name)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.anchor && strcmp(info.anchor, name) == 0)
            return true;
    return false;
}

/* Finds the folder that an input is, or the folder of the trace if the input is its anchor file. */
static bool stat_input_folder(const char *input, struct stat *folder)
{
    char beside[PATH_MAX];
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    if (strcmp(input, "-") == 0 || stat(input, folder) != 0)
        return false;
    if (S_ISDIR(folder->st_mode))
        return true;
    return is_anchor(name) &&
           snprintf(beside, sizeof beside, "%.*s.", (int)(name - input), input) <
               (int)sizeof beside &&
           stat(beside, folder) == 0;
}

/* Whether a path, which need not be there yet, is inside an input's folder: below the same folder
 * by whatever name. */
static bool is_inside(const char *input, const char *path)
{
    char real[PATH_MAX];
    struct stat folder, about;
    if (!stat_input_folder(input, &folder) || !find_folder_of(path, real))
        return false;
    for (;;) {
        if (stat(real, &about) == 0 && is_same_file(&folder, &about))
            return true;
        char *slash = strrchr(real, '/');
        if (!slash || !real[1])
            return false;
        slash[slash == real] = '\0';
    }
}

int convert_check_output(const struct call *call, const char *path, const char *format)
{
    struct stat output;
    const char *verb = call->command->name;
    const bool may_be_folder = !format || convert_is_folder(format);
    if (!path || strcmp(path, "-") == 0)
        return OUTCOME_FINE;
    const bool is_there = stat(path, &output) == 0,
               is_kept = is_there &&
                         (S_ISREG(output.st_mode) || (may_be_folder && S_ISDIR(output.st_mode)));
    for (size_t i = 0; i < call->paths_n; i++) {
        const bool is_read = is_kept && is_read_from(call->path[i], path, &output);
        if (is_read && errno) {
            talk_failure(call->path[i], "cannot be listed, so the output \"%s\" may be in it: %s",
                         path, strerror(errno));
            return OUTCOME_INPUT;
        }
        if (is_read)
            return talk_misuse(verb, "the output \"%s\" is an input: inputs are never touched",
                               path);
        if ((is_kept || !is_there) && is_inside(call->path[i], path))
            return talk_misuse(verb,
                               "the output \"%s\" would be inside of the input \"%s\", and inputs "
                               "are never touched: write to a place outside of it",
                               path, call->path[i]);
    }
    return OUTCOME_FINE;
}

void convert_explain(const struct call *call, const char *format)
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
    pump_print_losses(call, losses, n, true);
}

/* Warns if the name of the output ends like that of a compressed file. */
static void warn_of_suffix(const struct pump *pump, const char *format)
{
    const char *path = pump->path;
    struct stat about;
    if (!path || convert_is_folder(format) || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    if (convert_bare_size(path, strlen(path)) < strlen(path))
        talk_note(pump->call, "%s: warning: it is not compressed, whatever its name says", path);
}

static void print_success(const struct pump *pump, const char *format, uint64_t begin_ns)
{
    if (pump->call->set.json)
        return;
    const char *to = pump->call->set.dry_run        ? "nowhere (dry run)"
                     : strcmp(pump->path, "-") == 0 ? "standard output"
                                                    : pump->path;
    talk_note(pump->call, "%s: %s, %s of %s in %s", to, units_events(pump->events).s,
              units_size(pump->bytes).s, format, units_duration(progress_now() - begin_ns).s);
}

/* Whether an interrupted copy had already delivered every event: all inputs are at their ends and
 * the sorter is empty. */
static bool is_all_delivered(const struct pump *pump)
{
    ttr_batch batch;
    return !report_is_of_part(pump->in) && ttr_read(pump->in, &batch, NULL) == TTR_END;
}

int convert_run(struct pump *pump, const char *format, uint64_t begin_ns)
{
    int outcome = pump_run(pump);
    const bool is_cut = outcome == OUTCOME_FINE && pump->call->set.sort && interrupt_came() &&
                        !is_all_delivered(pump);
    bool has_output = pump->out != NULL;
    outcome = pump_end(pump, outcome);
    if (outcome == OUTCOME_FINE && has_output)
        print_success(pump, format, begin_ns);
    if (outcome == OUTCOME_FINE && has_output)
        warn_of_suffix(pump, format);
    const bool is_complete = outcome == OUTCOME_FINE;
    outcome = pump_check_matches(pump, outcome);
    if (is_complete && is_cut) /* sorting read more events than were written */
        talk_note(pump->call,
                  "warning: sorting had not ended when it was interrupted: only the first %s were "
                  "written",
                  units_events(pump->events).s);
    else if (is_complete)
        report_interrupted(pump->call, pump->in);
    outcome = report_warn(pump->call, pump->in, outcome);
    if (pump->call->set.json && has_output && (outcome <= OUTCOME_NO || pump->is_partial))
        copy_report_print(pump, format, progress_now() - begin_ns, outcome);
    return outcome;
}

/* Whether all readable inputs have a format. Then they are copied as they are stored, in their own
 * order. */
static bool is_all_of(ttr_reader *reader, const char *format)
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (; ttr_reader_report(reader, n, &report); n++)
        if (strcmp(report.format, format) != 0 && has_ability(report.format, TTR_FORMAT_READS))
            return false;
    return n > 0;
}

/* Returns the flags for reading one input that is copied to its own format. The reader then also
 * returns definitions, and without a filter also streams that cannot be opened, so that all bytes
 * are kept. Returns 0 if times, order or debug information change, which needs events. */
static uint32_t reading_flags(const struct call *call, const char *format)
{
    const struct settings *set = &call->set;
    bool is_moved = set->offsets.n > 0 || set->clock_offset != 0 || set->clock_offset_ns != 0;
    bool may_copy = call->paths_n == 1 && !is_moved && !debug_info_is_asked(set);
    const uint32_t definitions =
        selection_is_given(call) ? TTR_READ_DEFINITIONS : TTR_READ_DEFINITIONS | TTR_READ_SEALED;
    return may_copy && has_ability(format, TTR_FORMAT_READS) ? definitions : 0;
}

/* Returns the format of a profile, if --to or the suffix of the output names one, else NULL. */
static const char *find_profile_format(const struct call *call)
{
    ttr_profile_format format;
    const char *to = call->set.to, *output = call->set.output;
    for (size_t i = 0; to && ttr_profile_format_get(i, &format); i++)
        if (strcmp(format.name, to) == 0)
            return to;
    return to || !output ? NULL : profiles_guess(output, convert_guess(output) != NULL);
}

/* Writes a profile exactly as "tracetta flame" does. */
static int convert_profile(struct call *call, const char *format)
{
    const struct settings *set = &call->set;
    const char *option = set->dry_run   ? "dry-run"
                         : set->explain ? "explain"
                         : set->sort    ? "sort"
                         : set->json    ? "json"
                                        : NULL;
    if (option)
        return talk_misuse("convert", "--%s is not for profiles: leave it out to write %s", option,
                           format);
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
        return talk_misuse("convert",
                           "no output: use -o OUTPUT (\"-\" is standard output), or --dry-run");
    const char *profile = find_profile_format(call);
    if (profile)
        return convert_profile(call, profile);
    if (!format && call->set.output)
        format = convert_guess(call->set.output);
    if (!format)
        return talk_misuse("convert",
                           "the suffix of \"%s\" does not name a format: use --to=FORMAT",
                           call->set.output ? call->set.output : "--dry-run");
    call->set.to = format; /* also if the suffix named it */
    int outcome = copy_report_check(call);
    if (outcome == OUTCOME_FINE)
        outcome = convert_check_output(call, call->set.output, format);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&inputs, call, reading_flags(call, format));
    if (outcome != OUTCOME_FINE)
        return outcome;
    call->set.sort = call->set.sort && !inputs.is_in_order;
    convert_explain(call, format);
    const ttr_reader *opened = inputs.reader;
    bool is_copy = (inputs.flags & TTR_READ_DEFINITIONS) && is_all_of(inputs.reader, format);
    outcome = is_copy ? OUTCOME_FINE : convert_order(&inputs, call, format);
    if (outcome != OUTCOME_FINE) {
        inputs_close(&inputs);
        return outcome;
    }
    struct pump pump = {.call = call, .t = inputs.t, .in = inputs.reader, .path = path};
    outcome = pump_open(&pump, format, 0);
    const bool is_scattered = outcome == OUTCOME_FINE && ttr_write_scattered(pump.out, pump.in);
    if (outcome == OUTCOME_FINE && !is_copy && !is_scattered && inputs.reader == opened)
        inputs_share(&inputs, call, pump.out);
    if (outcome == OUTCOME_FINE)
        outcome = convert_run(&pump, format, begin_ns);
    outcome = inputs_tell_changed(&inputs, call, outcome);
    inputs_close(&inputs);
    return outcome;
}
