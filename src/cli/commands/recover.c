/* recover: a copy of a damaged trace without the damage.
 *
 * The input is only read.  Every good record is copied byte for byte, in the order of the file, so
 * that recovering a recovered file changes nothing.  Records that damage kept apart become
 * neighbours in the copy, and may then be judged by each other, or be known as copies of others; so
 * the copy is read again, and copied again while it is not clean. Of a directory of traces each is
 * recovered by itself, to the same place below the output; what one of them fails at does not end
 * the others.  What the directory tells of how one of them is read (longer metadata of another
 * folder of the same trace) goes with it. Copies are not compressed, and not called as if they
 * were. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/convert.h"
#include "cli/commands/copy_report.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"
#include "cli/input/trace_iter.h"

#define LONGER_OPTION "ctf.longer-metadata="

/* Copies of copies at the most; each is smaller than the one before it. */
#define PASSES_MAX 8

/* What was done so far. */
struct total {
    size_t traces, failed;
    uint64_t kept;           /* events */
    uint64_t regions, bytes; /* of damage */
    bool ends_early;         /* damage reaches the end of a file */
};

/* Where a trace is, and where its copy goes. */
struct place {
    char *path, *output;
    char *longer;  /* option that tells what else it is read by, or NULL */
    size_t bare_n; /* bytes of the path without the suffix of its compression */
};

struct places {
    struct place *list;
    size_t n;
};

/* The file beside an output that lists what was damaged. */
struct sidecar {
    char *path, *temporary; /* NULL when none is wanted */
};

/* A file or folder, which can be read again and have another file beside it. */
static bool is_kept_target(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 &&
           (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* The path without slashes at its end, and a suffix. */
static char *join(const char *path, const char *suffix)
{
    size_t n = strlen(path), size;
    while (n > 1 && path[n - 1] == '/')
        n--;
    size = n + strlen(suffix) + 1;
    char *joined = malloc(size);
    if (joined)
        (void)snprintf(joined, size, "%.*s%s", (int)n, path, suffix);
    return joined;
}

/* A path below a folder. */
static char *join_below(const char *folder, const char *rest)
{
    char *parent = join(folder, "/");
    const size_t n = parent ? strlen(parent) : 0, size = n + strlen(rest) + 1;
    char *joined = parent ? malloc(size) : NULL;
    if (joined)
        (void)snprintf(joined, size, "%s%s", parent, rest);
    free(parent);
    return joined;
}

/* Decides where the list goes; refuses to replace one without --overwrite. */
static int plan_sidecar(const struct call *call, struct sidecar *sidecar)
{
    struct stat about;
    *sidecar = (struct sidecar){0};
    if (call->set.no_sidecar || !is_kept_target(call->set.output))
        return OUTCOME_FINE;
    sidecar->path = join(call->set.output, ".damage.json");
    sidecar->temporary = join(call->set.output, ".damage.json.new");
    if (!sidecar->path || !sidecar->temporary) {
        talk_failure(call->set.output, "out of memory");
        return OUTCOME_OUTPUT;
    }
    if (call->set.overwrite || stat(sidecar->path, &about) != 0)
        return OUTCOME_FINE;
    talk_failure(sidecar->path,
                 "exists already; --overwrite (-f) replaces it, --no-sidecar does without");
    return OUTCOME_OUTPUT;
}

static void put_sidecar(FILE *to, const struct call *call, ttr_reader *reader,
                        const struct findings *found)
{
    struct json json = {.to = to};
    ttr_report report = {.size = sizeof report};
    bool has_report = ttr_reader_report(reader, 0, &report);
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "tracetta.damage/1");
    json_string(&json, "input", call->path[0]);
    json_string(&json, "output", call->set.output);
    json_string(&json, "format", has_report ? report.format : "");
    json_uint(&json, "bytes", found->bytes);
    json_open(&json, "damage", '{');
    json_uint(&json, "regions", found->damage_regions);
    json_uint(&json, "bytes", found->damage_bytes);
    json_close(&json, '}');
    report_json_regions(&json, reader);
    json_close(&json, '}');
}

/* Writes the list, or removes that of an earlier recovery when there is nothing to list. */
static int write_sidecar(const struct sidecar *sidecar, const struct call *call, ttr_reader *reader)
{
    struct findings found = report_sum(reader);
    if (!sidecar->path)
        return OUTCOME_FINE;
    if (found.damage_regions == 0) {
        (void)unlink(sidecar->path);
        return OUTCOME_FINE;
    }
    FILE *to = fopen(sidecar->temporary, "wx"); /* who knows whose it is */
    bool is_fine = to != NULL;
    if (to) {
        put_sidecar(to, call, reader, &found);
        is_fine = !ferror(to);
        is_fine = fclose(to) == 0 && is_fine;
    }
    if (is_fine && rename(sidecar->temporary, sidecar->path) == 0)
        return OUTCOME_FINE;
    if (!to && errno == EEXIST)
        talk_failure(sidecar->temporary,
                     "exists already: remove it, or do without by --no-sidecar");
    else
        (void)talk_cannot_write(to ? sidecar->path : sidecar->temporary, errno);
    if (to)
        (void)unlink(sidecar->temporary);
    return OUTCOME_OUTPUT;
}

/* Whether a key of n bytes is one of those in a list. */
static bool is_among(const char *key, size_t n, const char *list)
{
    for (size_t word_n; *list; list += word_n + (list[word_n] == ' ')) {
        word_n = strcspn(list, " ");
        if (word_n == n && memcmp(list, key, n) == 0)
            return true;
    }
    return false;
}

/* Whether an option ("KEY=VALUE", or "FORMAT.KEY=VALUE") tells how the input is read, or how much
 * of it, and not what is true of its copy, too. */
static bool is_of_input(const char *option)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        const size_t n = strlen(info.name);
        const char *key =
            strncmp(option, info.name, n) == 0 && option[n] == '.' ? option + n + 1 : option;
        if (is_among(key, strcspn(key, "="), info.input_options))
            return true;
    }
    return false;
}

/* Opens the output, by its own metadata: those given are the input's, and need not fit what was
 * written. */
static int open_output(struct inputs *inputs, const struct call *call, uint32_t flags)
{
    struct call own = *call;
    const struct words *given = &call->set.format_options;
    const char **list = calloc(given->n + 1, sizeof *list);
    if (!list) {
        talk_failure(call->set.output, "out of memory");
        return OUTCOME_OUTPUT;
    }
    own.set.metadata_file = NULL;
    own.set.format_options = (struct words){.list = list};
    for (size_t i = 0; i < given->n; i++)
        if (!is_of_input(given->list[i]))
            list[own.set.format_options.n++] = given->list[i];
    int outcome = inputs_open_one(inputs, &own, call->set.output, flags);
    free(list);
    return outcome == OUTCOME_FINE ? OUTCOME_FINE : OUTCOME_OUTPUT;
}

/* What was found in an output that was read again. */
struct again {
    struct findings found;
    bool is_whole; /* read to its end */
};

/* Reads the output again. */
static int read_again(const struct call *call, struct again *result)
{
    struct inputs again;
    struct progress progress;
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    int outcome = open_output(&again, call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    (void)ttr_read_scattered(
        again.reader); /* as check reads, with a window for one stream at a time */
    progress_begin(&progress, call, again.t, again.reader, "verifying");
    do {
        status = ttr_read(again.reader, &batch, &error);
    } while ((status == TTR_OK || status == TTR_AGAIN) && progress_step(&progress));
    progress_end(&progress);
    *result = (struct again){.found = report_sum(again.reader), .is_whole = status == TTR_END};
    inputs_close(&again);
    if (status == TTR_OK || status == TTR_AGAIN || status == TTR_END)
        return OUTCOME_FINE;
    char own[TALK_TEXT];
    talk_failure(call->set.output, "cannot be read after recovery: %s; the input is as it was",
                 talk_error_text(&error, own));
    return OUTCOME_OUTPUT;
}

/* Copies the output onto itself, without what is damaged in it. */
static int copy_again(const struct call *call, uint64_t *events)
{
    struct inputs inputs;
    ttr_report report = {.size = sizeof report};
    int outcome = open_output(&inputs, call, TTR_READ_DEFINITIONS);
    if (outcome != OUTCOME_FINE)
        return outcome;
    bool has_report = ttr_reader_report(inputs.reader, 0, &report);
    struct pump pump = {.call = call, .t = inputs.t, .in = inputs.reader, .path = call->set.output};
    if (outcome == OUTCOME_FINE && has_report)
        outcome = pump_open(&pump, report.format, TTR_WRITE_OVERWRITE);
    if (outcome == OUTCOME_FINE)
        (void)ttr_write_scattered(pump.out, pump.in);
    if (outcome == OUTCOME_FINE)
        outcome = pump_run(&pump);
    outcome = pump_end(&pump, outcome);
    *events = inputs.reader ? report_sum(inputs.reader).events : 0;
    inputs_close(&inputs);
    return outcome;
}

/* Whether what is read of the output is not what was written, for a reason that another copy does
 * away with. */
static bool wants_copy(const struct call *call, const struct again *again)
{
    const struct findings *found = &again->found;
    if (found->damage_regions)
        talk_note(call, "%s: %s places read as damaged now that others are gone; once more",
                  call->set.output, units_count(found->damage_regions).s);
    else if (again->is_whole && found->twice)
        talk_note(
            call,
            "%s: packets stand in it twice (%s), as can be seen now that damage is gone; once more",
            call->set.output, units_count(found->twice).s);
    else
        return false;
    return true;
}

/* The output must be clean and hold all events that went into it; more when a record can be read
 * now that nothing is in its way. */
static int verify(const struct call *call, uint64_t events)
{
    struct again again = {.is_whole = true};
    int outcome = is_kept_target(call->set.output) ? read_again(call, &again) : OUTCOME_FINE;
    for (int pass = 0; pass < PASSES_MAX && outcome == OUTCOME_FINE && wants_copy(call, &again);
         pass++) {
        outcome = copy_again(call, &events);
        if (outcome == OUTCOME_FINE)
            outcome = read_again(call, &again);
    }
    if (outcome != OUTCOME_FINE || !is_kept_target(call->set.output))
        return outcome;
    if (!again.is_whole || (again.found.damage_regions == 0 && again.found.events >= events)) {
        talk_note(call, "%s: %s", call->set.output,
                  again.is_whole ? "verified, clean" : "not verified to the end");
        return OUTCOME_FINE;
    }
    talk_failure(call->set.output,
                 "is not clean after recovery: %" PRIu64 " damaged places, %" PRIu64 " of %" PRIu64
                 " events read; the input is as it was",
                 again.found.damage_regions, again.found.events, events);
    return OUTCOME_OUTPUT;
}

/* Counts events that go to the output: an option may leave out some of those that are read. */
static void count_kept(void *own, const ttr_batch *batch)
{
    uint64_t *kept = own;
    for (uint32_t i = 0; i < batch->n; i++) {
        const uint8_t kind = ttr_batch_at(batch, i)->kind;
        *kept += kind != TTR_KIND_DEFINITION && kind != TTR_KIND_GAP;
    }
}

static void tell(const struct call *call, const struct findings *found, uint64_t kept)
{
    const char *output = strcmp(call->set.output, "-") == 0 ? "standard output" : call->set.output;
    talk_note(call, "%s: kept %s; %s damaged place%s (%s)", output, units_events(kept).s,
              units_count(found->damage_regions).s, found->damage_regions == 1 ? "" : "s",
              units_size(found->damage_bytes).s);
}

/* What became of the traces of a directory, which are so many. */
static void tell_total(const struct call *call, const struct total *total, size_t n)
{
    const size_t made = total->traces - total->failed;
    talk_note(call, "%s: %s trace%s, kept %s; %s damaged place%s (%s)", call->set.output,
              units_count(made).s, made == 1 ? "" : "s", units_events(total->kept).s,
              units_count(total->regions).s, total->regions == 1 ? "" : "s",
              units_size(total->bytes).s);
    if (total->traces < n)
        talk_note(call, "warning: this is not of all: %s of the traces of %s %s not begun",
                  units_count(n - total->traces).s, call->path[0],
                  n - total->traces == 1 ? "was" : "were");
    if (total->failed)
        talk_failure(call->path[0], "%s of its traces could not be recovered",
                     units_count(total->failed).s);
}

/* Copies are what was inside of a compressed file; one that is called as if it were compressed
 * surprises whoever unpacks it. */
static void tell_compression(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    const char *output = call->set.output;
    const bool is_packed = ttr_reader_report(reader, 0, &report) && *report.compression &&
                           !convert_is_folder(report.format);
    if (strcmp(output, "-") == 0 || !is_kept_target(output) || convert_is_folder(report.format))
        return;
    if (convert_bare_size(output, strlen(output)) < strlen(output))
        talk_note(call, "%s: warning: it is not compressed, whatever its name says", output);
    else if (is_packed)
        talk_note(call, "%s: not compressed, as %s is", output, call->path[0]);
}

/* Everything after the copy itself. */
static int conclude(const struct call *call, struct inputs *inputs, const struct sidecar *sidecar,
                    const struct pump *pump, struct total *total)
{
    struct findings found = report_sum(inputs->reader);
    const uint64_t *kept = pump->own;
    tell(call, &found, *kept);
    tell_compression(call, inputs->reader);
    total->kept += *kept;
    total->regions += found.damage_regions;
    total->bytes += found.damage_bytes;
    total->ends_early = total->ends_early || report_ends_early(inputs->reader);
    if (report_ends_early(inputs->reader))
        talk_note(call, "%s: damage reaches the end of a file, so more may be missing",
                  call->path[0]);
    report_interrupted(call, inputs->reader);
    int outcome = write_sidecar(sidecar, call, inputs->reader);
    inputs_close(inputs); /* memory for one reader at a time */
    if (outcome == OUTCOME_FINE)
        outcome = verify(call, *kept);
    return outcome == OUTCOME_FINE && (found.damage_regions || pump->is_partial) ? OUTCOME_NO
                                                                                 : outcome;
}

static int copy(const struct call *call, struct inputs *inputs, const struct sidecar *sidecar,
                struct total *total)
{
    ttr_report report = {.size = sizeof report};
    bool has_report = ttr_reader_report(inputs->reader, 0, &report);
    if (!has_report || !convert_writes(report.format)) {
        talk_failure(call->path[0],
                     "format %s cannot be written, so it cannot be recovered; \"tracetta convert\" "
                     "to another format keeps what can be read",
                     has_report ? report.format : "");
        return OUTCOME_MISUSE;
    }
    uint64_t kept = 0;
    struct pump pump = {.call = call,
                        .t = inputs->t,
                        .in = inputs->reader,
                        .path = call->set.output,
                        .see = count_kept,
                        .own = &kept};
    int outcome = pump_open(&pump, report.format, 0);
    if (outcome == OUTCOME_FINE)
        (void)ttr_write_scattered(pump.out, pump.in);
    if (outcome == OUTCOME_FINE)
        outcome = pump_run(&pump);
    /* What can be read before a fatal failure is just what this verb is asked for. */
    struct findings found = report_sum(inputs->reader);
    if (outcome == OUTCOME_FINE && found.events == 0 && found.damage_regions) {
        talk_failure(call->path[0], "nothing in it can be used");
        outcome = OUTCOME_INPUT;
    }
    outcome = pump_end(&pump, outcome);
    return outcome == OUTCOME_FINE || pump.is_partial
               ? conclude(call, inputs, sidecar, &pump, total)
               : outcome;
}

/* Not a directory of several traces; all files of a trace that is a folder stand right in it. */
static bool is_one_trace(const char *path, ttr_reader *reader)
{
    struct stat about;
    ttr_report report = {.size = sizeof report};
    size_t n = strlen(path);
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return true;
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        const char *rest = report.path.n > n ? report.path.p + n + (path[n - 1] != '/') : "";
        if (!convert_is_folder(report.format) || strncmp(report.path.p, path, n) != 0 ||
            strchr(rest, '/'))
            return false;
    }
    return true;
}

/* --- Traces of a directory --- */

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    return strcmp(left->path, right->path);
}

static void free_place(struct place *place)
{
    free(place->path);
    free(place->output);
    free(place->longer);
}

static void free_places(struct places *places)
{
    for (; places->n > 0; places->n--)
        free_place(&places->list[places->n - 1]);
    free(places->list);
}

/* The folder of a trace that is one, though its format does not say so of each file; else what the
 * report says.  What cannot be read of a trace is told of its folder, which is no file in another
 * one. */
static ttr_text path_of(const ttr_report *report)
{
    struct stat about;
    ttr_text path = report->trace_path;
    const char *slash = memrchr(path.p, '/', path.n);
    const bool is_own = path.n == report->path.n && memcmp(path.p, report->path.p, path.n) == 0;
    if (is_own && slash && convert_is_folder(report->format) &&
        (stat(report->path.p, &about) != 0 || !S_ISDIR(about.st_mode)))
        path.n = (size_t)(slash - path.p);
    return path;
}

/* A place of its own for the trace of a report; false when memory is out. */
static bool fill_place(const ttr *t, const ttr_report *report, struct place *place)
{
    ttr_value longer;
    const ttr_text path = path_of(report);
    const bool is_packed = path.n == report->path.n && *report->compression;
    *place = (struct place){.path = strndup(path.p, path.n),
                            .bare_n = is_packed ? convert_bare_size(path.p, path.n) : path.n};
    if (!place->path || !traces_attribute(t, report->trace, "trace.longer_metadata", &longer))
        return place->path != NULL;
    place->longer = malloc(sizeof LONGER_OPTION + longer.text.n);
    if (place->longer)
        (void)snprintf(place->longer, sizeof LONGER_OPTION + longer.text.n, "%s%.*s", LONGER_OPTION,
                       (int)longer.text.n, longer.text.p);
    return place->longer != NULL;
}

/* Where the traces of a reader are, each once; false when memory is out. */
static bool list_traces(const struct inputs *inputs, struct places *places)
{
    ttr_reader *reader = inputs->reader;
    ttr_report report = {.size = sizeof report};
    size_t n = 0, kept = 0;
    while (ttr_reader_report(reader, n, &report))
        n++;
    places->list = calloc(n + 1, sizeof *places->list);
    for (; places->list && places->n < n && ttr_reader_report(reader, places->n, &report);
         places->n++)
        if (!fill_place(inputs->t, &report, &places->list[places->n])) {
            free_place(&places->list[places->n]);
            return false;
        }
    if (!places->list || n == 0)
        return places->list != NULL;
    qsort(places->list, n, sizeof *places->list, compare_places);
    for (size_t i = 0; i < n; i++) {
        if (kept && strcmp(places->list[kept - 1].path, places->list[i].path) == 0)
            free_place(&places->list[i]);
        else
            places->list[kept++] = places->list[i];
    }
    places->n = kept;
    return true;
}

/* --- Where their copies go --- */

/* Whether another trace's copy would have the bare name, too, or be in a folder that has it. */
static bool is_bare_taken(const struct places *places, size_t at)
{
    const struct place *own = &places->list[at];
    for (size_t i = 0; i < places->n; i++) {
        const struct place *other = &places->list[i];
        const bool is_below = other->bare_n > own->bare_n && other->path[own->bare_n] == '/';
        if (i != at && (is_below || other->bare_n == own->bare_n) &&
            memcmp(other->path, own->path, own->bare_n) == 0)
            return true;
    }
    return false;
}

/* To the same place below the output; false when memory is out. */
static bool plan_outputs(const struct call *call, struct places *places)
{
    for (size_t i = 0; i < places->n; i++) {
        struct place *place = &places->list[i];
        const char *rest = place->path + strlen(call->path[0]);
        while (*rest == '/')
            rest++;
        place->output = join_below(call->set.output, rest);
        if (!place->output)
            return false;
        if (!is_bare_taken(places, i))
            place->output[strlen(place->output) - (strlen(place->path) - place->bare_n)] = '\0';
    }
    return true;
}

/* Whether a path is where the copy of a trace goes, or inside of that, or the list of what was
 * damaged in it. */
static bool is_planned(const struct places *places, const char *path)
{
    for (size_t i = 0; i < places->n; i++) {
        const size_t n = strlen(places->list[i].output);
        if (strncmp(path, places->list[i].output, n) == 0 &&
            (!path[n] || path[n] == '/' || strcmp(path + n, ".damage.json") == 0))
            return true;
    }
    return false;
}

/* Looks for a file below a folder, the path, which is no part of what is to be written; at its path
 * then, or at that of a folder that cannot be listed, with errno (else 0).  Hidden ones are
 * nobody's traces. */
static bool find_leftover(const struct places *places, char path[PATH_MAX])
{
    struct stat about;
    const size_t n = strlen(path);
    const struct dirent *entry;
    bool is_found = false;
    DIR *folder = opendir(path);
    int sys = folder ? 0 : errno;
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, folder && !is_found && (entry = readdir(folder))) {
        const int written =
            snprintf(path + n, PATH_MAX - n, "%s%s", path[n - 1] == '/' ? "" : "/", entry->d_name);
        const bool is_ours = entry->d_name[0] == '.' || written < 0 ||
                             (size_t)written >= PATH_MAX - n || is_planned(places, path);
        if (!is_ours && lstat(path, &about) == 0)
            is_found = !S_ISDIR(about.st_mode) || find_leftover(places, path);
        sys = is_found && S_ISDIR(about.st_mode) ? errno : 0;
        if (!is_found)
            path[n] = '\0';
    }
    sys = is_found || !folder ? sys : errno;
    if (folder)
        (void)closedir(folder);
    errno = sys;
    return is_found || sys;
}

static bool is_empty_folder(const char *path)
{
    unsigned n = 0;
    DIR *folder = opendir(path);
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, folder && n <= 2 && readdir(folder))
        n++;
    n += errno ? 3 : 0; /* what cannot be seen may be there */
    if (folder)
        (void)closedir(folder);
    return folder && n <= 2; /* "." and ".." */
}

/* What is in the output must not be read as a part of what is written there. */
static int check_folder(const struct call *call, const struct places *places)
{
    struct stat about;
    char path[PATH_MAX];
    if (stat(call->set.output, &about) != 0 || is_empty_folder(call->set.output))
        return OUTCOME_FINE;
    if (!S_ISDIR(about.st_mode)) {
        talk_failure(call->set.output,
                     "is no folder, which the traces of \"%s\" are to go to: name another one",
                     call->path[0]);
        return OUTCOME_OUTPUT;
    }
    if (!call->set.overwrite) {
        talk_failure(call->set.output,
                     "exists already; --overwrite (-f) replaces the traces in it");
        return OUTCOME_OUTPUT;
    }
    size_t n = strlen(call->set.output);
    while (n > 1 && call->set.output[n - 1] == '/')
        n--;
    if (snprintf(path, sizeof path, "%.*s", (int)n, call->set.output) >= (int)sizeof path ||
        !find_leftover(places, path))
        return OUTCOME_FINE;
    if (errno) {
        talk_failure(path,
                     "cannot be listed, so that nobody knows whether all in it is replaced: %s",
                     strerror(errno));
        return OUTCOME_OUTPUT;
    }
    talk_failure(call->set.output,
                 "%s in it is not replaced by any of the traces that go there, and would stand "
                 "among them: move that away, or name another folder",
                 path);
    return OUTCOME_OUTPUT;
}

/* Makes the folders that a path is in, from its first `from` bytes on; false with errno. */
static bool make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_there)
            return false;
    }
    return true;
}

/* Recovers what was opened. */
static int recover_opened(const struct call *call, struct inputs *inputs, struct total *total)
{
    struct sidecar sidecar = {0};
    int outcome = plan_sidecar(call, &sidecar);
    if (outcome == OUTCOME_FINE)
        outcome = convert_check_output(call, sidecar.path, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = copy(call, inputs, &sidecar, total);
    free(sidecar.path);
    free(sidecar.temporary);
    return outcome;
}

/* Recovers one of several.  Links in an output that is there may lead back to any of them. */
static int recover_to(const struct call *call, const struct place *place,
                      const struct words *options, struct total *total)
{
    struct inputs inputs;
    struct call own = *call;
    char *path = place->path, *output = place->output;
    own.path = &path;
    own.set.output = output;
    own.set.format_options = *options;
    int outcome = convert_check_output(call, output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = convert_check_output(&own, output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open_one(&inputs, &own, path, TTR_READ_DEFINITIONS);
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = make_folders(output, 1) ? recover_opened(&own, &inputs, total)
                                      : talk_cannot_write(output, errno);
    inputs_close(&inputs);
    return outcome;
}

/* Recovers a trace of the directory to its place below the output. */
static void recover_below(const struct call *call, const struct place *place, struct total *total,
                          int *worst)
{
    const struct words *given = &call->set.format_options;
    const char **list = calloc(given->n + 2, sizeof *list);
    struct words options = {.list = list, .n = given->n};
    int outcome = OUTCOME_OUTPUT;
    if (list && given->n)
        memcpy(list, given->list, given->n * sizeof *list);
    if (list && place->longer)
        list[options.n++] = place->longer;
    if (list)
        outcome = recover_to(call, place, &options, total);
    else
        talk_failure(place->path, "out of memory");
    free(list);
    total->traces++;
    total->failed += outcome > OUTCOME_NO;
    *worst = outcome > *worst ? outcome : *worst;
}

/* Recovers each trace of a directory; the worst outcome. */
static int recover_all(const struct call *call, struct places *places, struct total *total)
{
    int worst = OUTCOME_FINE;
    if (strcmp(call->set.output, "-") == 0)
        return talk_misuse("recover",
                           "\"%s\" is a directory of traces: they go to a folder, -o FOLDER",
                           call->path[0]);
    if (!plan_outputs(call, places)) {
        talk_failure(call->path[0], "out of memory");
        return OUTCOME_OUTPUT;
    }
    int outcome = check_folder(call, places);
    if (outcome != OUTCOME_FINE)
        return outcome;
    for (size_t i = 0; i < places->n && !interrupt_came(); i++)
        recover_below(call, &places->list[i], total, &worst);
    tell_total(call, total, places->n);
    if (worst == OUTCOME_INPUT &&
        total->failed <
            total->traces) /* what is lost is damage of the whole, as it is to all that read it */
        worst = OUTCOME_NO;
    return total->traces < places->n && worst == OUTCOME_FINE ? OUTCOME_NO : worst;
}

/* Prints the report of --json: docs/user/json.md has the schema. */
static void put_report(const struct call *call, const struct total *total, int outcome)
{
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "tracetta.recover/1");
    json_string(&json, "input", call->path[0]);
    json_string(&json, "output", call->set.output);
    json_int(&json, "status", outcome);
    json_uint(&json, "traces", total->traces);
    json_uint(&json, "failed", total->failed);
    json_uint(&json, "events", total->kept);
    json_bool(&json, "interrupted", interrupt_came() != 0);
    json_bool(&json, "ends_early", total->ends_early);
    json_open(&json, "damage", '{');
    json_uint(&json, "regions", total->regions);
    json_uint(&json, "bytes", total->bytes);
    json_close(&json, '}');
    json_close(&json, '}');
}

int run_recover(struct call *call)
{
    struct inputs inputs;
    struct places places = {0};
    struct total total = {0};
    if (!call->set.output)
        return talk_misuse("recover", "no output: use -o OUTPUT");
    int outcome = copy_report_check(call);
    if (outcome == OUTCOME_FINE)
        outcome = convert_check_output(call, call->set.output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open_one(&inputs, call, call->path[0], TTR_READ_DEFINITIONS);
    if (outcome != OUTCOME_FINE)
        return outcome;
    const bool is_one = is_one_trace(call->path[0], inputs.reader),
               is_listed = is_one || list_traces(&inputs, &places);
    if (is_one)
        outcome = recover_opened(call, &inputs, &total);
    inputs_close(&inputs);
    if (!is_listed)
        talk_failure(call->path[0], "out of memory");
    if (!is_one)
        outcome = is_listed ? recover_all(call, &places, &total) : OUTCOME_INPUT;
    free_places(&places);
    total.traces += is_one;
    total.failed += is_one && outcome > OUTCOME_NO;
    if (call->set.json && total.traces > total.failed)
        put_report(call, &total, outcome);
    return outcome;
}
