/* Directories of traces: lists the traces and chooses the paths of their copies.
 *
 * Each copy has the same path below the output folder as its trace below the input. Copies are not
 * compressed, so the suffix of a compression is removed, unless another copy would then have that
 * path. The output folder may exist (with TTR_WRITE_OVERWRITE), but must contain only files that
 * copies replace, because others would be read as parts of the copies. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/status.h"
#include "recover/recover.h"

static bool is_folder_format(const char *format)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (strcmp(info.name, format) == 0)
            return info.abilities & TTR_FORMAT_FOLDER;
    return false;
}

bool recover_is_single_trace(const char *path, ttr_reader *reader)
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
        if (!is_folder_format(report.format) || strncmp(report.path.p, path, n) != 0 ||
            strchr(rest, '/'))
            return false;
    }
    return true;
}

/* --- Listing --- */

static int compare_entries(const void *a, const void *b)
{
    const struct recover_entry *left = a, *right = b;
    return strcmp(left->path, right->path);
}

/* Returns the length of a path without a compression suffix. */
static size_t get_length_without_suffix(ttr_text path)
{
    static const char *const suffixes[] = {".gz", ".zst", ".lz4", ".bz2", ".xz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(suffixes[i]);
        if (path.n > n && path.p[path.n - n - 1] != '/' &&
            strncasecmp(path.p + path.n - n, suffixes[i], n) == 0)
            return path.n - n;
    }
    return path.n;
}

/* Returns the path of the trace that a report describes. If the format has folders, this is the
 * folder, although the report of an unreadable trace may name a file in it. */
static ttr_text get_trace_path(const ttr_report *report)
{
    struct stat about;
    ttr_text path = report->trace_path;
    const char *slash = memrchr(path.p, '/', path.n);
    const bool is_own = path.n == report->path.n && memcmp(path.p, report->path.p, path.n) == 0;
    if (is_own && slash && is_folder_format(report->format) &&
        (stat(report->path.p, &about) != 0 || !S_ISDIR(about.st_mode)))
        path.n = (size_t)(slash - path.p);
    return path;
}

/* Sets *longer to the path of more complete metadata. The reader records it as an attribute of the
 * source if it finds such metadata in another folder of the same trace. Returns false if the source
 * has no such attribute. */
static bool find_longer_metadata(const ttr *t, uint16_t source, ttr_text *longer)
{
    static const char name[] = "trace.longer_metadata";
    ttr_attribute attribute;
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        if (attribute.name.n == sizeof name - 1 &&
            memcmp(attribute.name.p, name, sizeof name - 1) == 0) {
            *longer = attribute.value.text;
            return true;
        }
    return false;
}

/* Fills in the entry of the trace that a report describes. Returns false if memory runs out. */
static bool fill_recover_entry(struct recovery *recovery, const ttr *t, const ttr_report *report,
                               struct recover_entry *place)
{
    ttr_text longer;
    const ttr_text path = get_trace_path(report);
    const char *key = ttr_format_option_for(report->format, TTR_OPTION_LONGER_METADATA);
    const bool is_packed = path.n == report->path.n && *report->compression;
    *place = (struct recover_entry){.path = arena_copy(&recovery->arena, path.p, path.n),
                                    .bare_n = is_packed ? get_length_without_suffix(path) : path.n};
    if (!place->path || !key || !find_longer_metadata(t, report->trace, &longer))
        return place->path != NULL;
    const size_t size = strlen(key) + longer.n + 2;
    char *option = arena_alloc(&recovery->arena, size);
    if (option)
        (void)snprintf(option, size, "%s=%.*s", key, (int)longer.n, longer.p);
    place->longer = option;
    return option != NULL;
}

bool recover_list(struct recovery *recovery, const ttr *t, ttr_reader *reader,
                  struct recover_entries *places)
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0, kept = 0;
    for (; ttr_reader_report(reader, n, &report); n++) {
        if (!alloc_reserve(&recovery->alloc, (void **)&places->list, &places->room, n + 1,
                           sizeof *places->list) ||
            !fill_recover_entry(recovery, t, &report, &places->list[n]))
            return false;
    }
    if (n)
        qsort(places->list, n, sizeof *places->list, compare_entries);
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(places->list[kept - 1].path, places->list[i].path) != 0)
            places->list[kept++] = places->list[i];
    places->n = kept;
    return true;
}

/* --- Outputs --- */

/* Returns true if the path without suffix would collide: it is the path of another copy, or of a
 * folder that contains another copy. */
static bool is_bare_path_used(const struct recover_entries *places, size_t at)
{
    const struct recover_entry *ctx = &places->list[at];
    for (size_t i = 0; i < places->n; i++) {
        const struct recover_entry *other = &places->list[i];
        const bool is_below = other->bare_n > ctx->bare_n && other->path[ctx->bare_n] == '/';
        if (i != at && (is_below || other->bare_n == ctx->bare_n) &&
            memcmp(other->path, ctx->path, ctx->bare_n) == 0)
            return true;
    }
    return false;
}

bool recover_assign_outputs(struct recovery *recovery, const char *input, const char *output,
                            struct recover_entries *places)
{
    size_t output_n = strlen(output);
    while (output_n > 1 && output[output_n - 1] == '/')
        output_n--;
    for (size_t i = 0; i < places->n; i++) {
        struct recover_entry *place = &places->list[i];
        const char *rest = place->path + strlen(input);
        const size_t dropped = strlen(place->path) - place->bare_n;
        rest += strspn(rest, "/");
        size_t rest_n = strlen(rest), size = output_n + rest_n + 2;
        char *path = arena_alloc(&recovery->arena, size);
        if (!path)
            return false;
        if (!is_bare_path_used(places, i))
            rest_n -= dropped;
        (void)snprintf(path, size, "%.*s/%.*s", (int)output_n, output, (int)rest_n, rest);
        place->output = path;
    }
    return true;
}

struct leftover_search {
    const struct recover_entries *places;
    /* suffix of the caller's files next to copies (ttr_recover_options) */
    const char *sidecar_suffix;
};

/* Returns true if a path is that of a copy, inside a copy, or that of the caller's file next to a
 * copy. */
static bool is_path_assigned(const struct leftover_search *search, const char *path)
{
    const struct recover_entries *places = search->places;
    for (size_t i = 0; i < places->n; i++) {
        const size_t n = strlen(places->list[i].output);
        if (strncmp(path, places->list[i].output, n) == 0 &&
            (!path[n] || path[n] == '/' ||
             (search->sidecar_suffix && strcmp(path + n, search->sidecar_suffix) == 0)))
            return true;
    }
    return false;
}

/* Finds a file below the folder `path` that no copy replaces, and stores its path in `path`.
 * Returns true with errno != 0 and the folder's path if a folder cannot be listed. Skips hidden
 * files, which are not read as parts of traces. */
static bool find_leftover_output(const struct leftover_search *search, char path[PATH_MAX])
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
                             (size_t)written >= PATH_MAX - n || is_path_assigned(search, path);
        if (!is_ours && lstat(path, &about) == 0)
            is_found = !S_ISDIR(about.st_mode) || find_leftover_output(search, path);
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
    n += errno ? 3 : 0; /* if listing fails, the folder may contain files */
    if (folder)
        (void)closedir(folder);
    return folder && n <= 2; /* "." and ".." */
}

ttr_status recover_check_folder(const struct recovery *recovery, const char *output,
                                const struct recover_entries *places, ttr_error *error)
{
    const struct leftover_search search = {places, recovery->options->sidecar_suffix};
    struct stat about;
    char path[PATH_MAX];
    if (strcmp(output, "-") == 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "a directory of traces cannot go to standard output: name a folder");
    if (stat(output, &about) != 0 || is_empty_folder(output))
        return TTR_OK;
    if (!S_ISDIR(about.st_mode))
        return fail(error, TTR_E_IO, NO_OFFSET,
                    "%s: not a folder: the traces of a directory need one; name another output",
                    output);
    if (!(recovery->writing.flags & TTR_WRITE_OVERWRITE))
        return error_set_option(
            error,
            fail(error, TTR_E_IO, NO_OFFSET,
                 "%s: exists already; TTR_WRITE_OVERWRITE replaces the traces in it", output),
            "TTR_WRITE_OVERWRITE");
    size_t n = strlen(output);
    while (n > 1 && output[n - 1] == '/')
        n--;
    if (snprintf(path, sizeof path, "%.*s", (int)n, output) >= (int)sizeof path ||
        !find_leftover_output(&search, path))
        return TTR_OK;
    if (errno)
        return fail_sys(
            error, errno, NO_OFFSET,
            "%s: cannot be listed, so it is unknown whether the copies replace all files in it",
            path);
    return fail(
        error, TTR_E_IO, NO_OFFSET,
        "%s: %s in it is not replaced by any of the traces that go there, and would be read as "
        "a part of them: move it away, or name another folder",
        output, path);
}
