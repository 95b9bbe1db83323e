/* Check of an output path against the inputs. Files and folders are compared by device and inode,
 * so that links do not matter. */
#include "cli/input/output_check.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/input/format_query.h"
#include "cli/ui/messages.h"

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns true if a file is directly in a folder, compared by inode. Also returns true, with errno
 * set, if the folder cannot be listed; otherwise errno is 0. */
static bool is_file_in_folder(const char *folder, const struct stat *file)
{
    struct stat about;
    bool is_it = false;
    const struct dirent *entry;
    DIR *directory = opendir(folder);
    errno = 0;
    if (!directory)
        return false;
    /* POSIX only requires that no other thread uses this stream. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, !is_it && (entry = readdir(directory)))
        is_it =
            fstatat(dirfd(directory), entry->d_name, &about, 0) == 0 && is_same_file(&about, file);
    const int sys = is_it ? 0 : errno;
    (void)closedir(directory);
    errno = sys;
    return is_it || sys;
}

/* Returns true if a path is a folder or below it. Both are real paths. */
static bool is_path_inside_folder(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return strncmp(folder, path, n) == 0 && (path[n] == '\0' || path[n] == '/' || n == 1);
}

/* Returns true if an output folder contains an input, or is inside one. The folder is replaced
 * completely, so neither is allowed. */
static bool holds_input(const char *output, const char *input)
{
    char outer[PATH_MAX], inner[PATH_MAX];
    return realpath(output, outer) && realpath(input, inner) &&
           (is_path_inside_folder(outer, inner) || is_path_inside_folder(inner, outer));
}

/* Returns true if an existing output is an input, or is in an input folder. Sets errno like
 * is_file_in_folder. */
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
    return S_ISDIR(about.st_mode) && is_file_in_folder(input, about_output);
}

/* Finds the real path of the nearest existing folder above a path. Returns false if there is
 * none. */
static bool find_parent_folder(const char *path, char real[PATH_MAX])
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

/* Returns true if a file with this name makes its folder a trace ("metadata"). */
static bool is_main_file(const char *name)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.main_file && strcmp(info.main_file, name) == 0)
            return true;
    return false;
}

/* Finds the folder of an input: the input itself, or the folder around it if the input is a main
 * file file. */
static bool stat_input_folder(const char *input, struct stat *folder)
{
    char beside[PATH_MAX];
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    if (strcmp(input, "-") == 0 || stat(input, folder) != 0)
        return false;
    if (S_ISDIR(folder->st_mode))
        return true;
    return is_main_file(name) &&
           snprintf(beside, sizeof beside, "%.*s.", (int)(name - input), input) <
               (int)sizeof beside &&
           stat(beside, folder) == 0;
}

/* Returns true if a path, which may not exist yet, is inside of an input folder, under any name of
 * that folder. */
static bool is_path_inside_input(const char *input, const char *path)
{
    char real[PATH_MAX];
    struct stat folder, about;
    if (!stat_input_folder(input, &folder) || !find_parent_folder(path, real))
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

int check_output_path(const struct call *call, const char *path, const char *format)
{
    struct stat output;
    const char *verb = call->command->name;
    const bool may_be_folder = !format || format_query_has(format, TTR_FORMAT_FOLDER);
    if (!path || strcmp(path, "-") == 0)
        return OUTCOME_FINE;
    const bool is_there = stat(path, &output) == 0,
               is_kept = is_there &&
                         (S_ISREG(output.st_mode) || (may_be_folder && S_ISDIR(output.st_mode)));
    for (size_t i = 0; i < call->paths_n; i++) {
        const bool is_read = is_kept && is_read_from(call->path[i], path, &output);
        if (is_read && errno) {
            report_failure_text(call->path[i],
                                "cannot be listed, so the output \"%s\" may be in it: %s", path,
                                strerror(errno));
            return OUTCOME_INPUT;
        }
        if (is_read)
            return report_misuse(verb, "the output \"%s\" is an input: inputs are never touched",
                                 path);
        if ((is_kept || !is_there) && is_path_inside_input(call->path[i], path))
            return report_misuse(
                verb,
                "the output \"%s\" would be inside of the input \"%s\", and inputs "
                "are never touched: write to a place outside of it",
                path, call->path[i]);
    }
    return OUTCOME_FINE;
}
