/* convert: a trace in another format, or a part of one in the same. */
#include "convert.h"

#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "report.h"
#include "talk.h"

#define LOSSES_MAX 64u

bool convert_writes(const char *format)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (strcmp(info.name, format) == 0)
            return info.abilities & TTR_FORMAT_WRITES;
    return false;
}

const char *convert_guess(const char *path)
{
    static const char *const suffixes[] = {".fxt", "fxt", ".ftf", "fxt", ".heph", "heph", ".trace", "heph", ".json", "chrome",
                                           ".pftrace", "perfetto", ".perfetto-trace", "perfetto", ".perfetto", "perfetto",
                                           ".jsonl", "jsonl", ".ndjson", "jsonl", ".csv", "csv", ".txt", "text", NULL};
    size_t n = strlen(path);
    for (size_t i = 0; suffixes[i]; i += 2) {
        size_t suffix_n = strlen(suffixes[i]);
        if (n > suffix_n && strcasecmp(path + n - suffix_n, suffixes[i]) == 0)
            return suffixes[i + 1];
    }
    return NULL;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a file is one of a folder's, by whatever name. */
static bool is_in_folder(const char *folder, const struct stat *file)
{
    struct stat about;
    bool is_it = false;
    const struct dirent *entry;
    DIR *directory = opendir(folder);
    if (!directory)
        return false;
    /* Nobody else has this stream, which is all that POSIX asks for. */
    /* cppcheck-suppress readdirCalled */
    while (!is_it && (entry = readdir(directory)))
        is_it = fstatat(dirfd(directory), entry->d_name, &about, 0) == 0 && is_same_file(&about, file);
    (void)closedir(directory);
    return is_it;
}

static bool is_read_from(const char *input, const struct stat *file)
{
    struct stat about;
    int result = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(input, &about);
    return result == 0 && (S_ISDIR(about.st_mode) ? is_in_folder(input, file) : is_same_file(&about, file));
}

int convert_check_output(const struct call *call, const char *path)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return OUTCOME_FINE;
    for (size_t i = 0; i < call->paths_n; i++)
        if (is_read_from(call->path[i], &output))
            return talk_misuse(call->command->name, "the output \"%s\" is an input: inputs are never touched", path);
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
    (void)fprintf(stderr, n ? "%s cannot hold everything; where it occurs:\n" : "%s holds everything\n", format);
    pump_print_losses(call, losses, n, true);
}

static void tell_success(const struct pump *pump, const char *format, uint64_t begin_ns)
{
    const char *to = pump->call->set.dry_run ? "nowhere (dry run)" : strcmp(pump->path, "-") == 0 ? "standard output" : pump->path;
    talk_note(pump->call, "%s: %s events, %s of %s in %s", to, units_count(pump->events).s,
              units_size(pump->bytes).s, format, units_duration(progress_now() - begin_ns).s);
}

int convert_run(struct pump *pump, const char *format, uint64_t begin_ns)
{
    int outcome = pump_run(pump);
    bool has_output = pump->out != NULL;
    pump_tell_losses(pump);
    outcome = pump_end(pump, outcome);
    if (outcome == OUTCOME_FINE && has_output)
        tell_success(pump, format, begin_ns);
    report_warn(pump->call, pump->in);
    return outcome;
}

/* A copy of one input to its own format keeps all bytes, for which the reader must give definitions too. */
static uint32_t reading_flags(const struct call *call, const char *format)
{
    ttr_format_info info;
    bool may_copy = call->paths_n == 1 && !call->set.sort && call->set.offsets.n == 0;
    for (size_t i = 0; may_copy && ttr_format_get(i, &info); i++)
        if (strcmp(info.name, format) == 0 && info.abilities & TTR_FORMAT_READS)
            return TTR_READ_DEFINITIONS;
    return 0;
}

int run_convert(struct call *call)
{
    struct inputs inputs;
    uint64_t begin_ns = progress_now();
    const char *path = call->set.dry_run ? NULL : call->set.output;
    const char *format = call->set.to;
    if (!path && !call->set.dry_run)
        return talk_misuse("convert", "where to? -o OUTPUT (\"-\" is standard output), or --dry-run");
    if (!format && call->set.output)
        format = convert_guess(call->set.output);
    if (!format)
        return talk_misuse("convert", "which format? \"%s\" does not tell: add --to=FORMAT", call->set.output ? call->set.output : "--dry-run");
    int outcome = convert_check_output(call, call->set.output);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&inputs, call, reading_flags(call, format));
    if (outcome != OUTCOME_FINE)
        return outcome;
    convert_explain(call, format);
    struct pump pump = {.call = call, .t = inputs.t, .in = inputs.reader, .path = path};
    outcome = pump_open(&pump, format, 0);
    if (outcome == OUTCOME_FINE)
        outcome = convert_run(&pump, format, begin_ns);
    inputs_close(&inputs);
    return outcome;
}
