/* Folders of the traces in one output. A single trace is written to the output folder. Several
 * traces get sub-folders, named after their sources:
 *
 * |  sources a/x/1, a/x/2         ->  1, 2            (path after the common prefix)
 * |  sources /m/t, /n/t           ->  m/t, n/t        (as many last folders as distinguish them)
 *
 * The names are known only when all sources are known. Until then the first trace is written to the
 * output folder and the N-th to .trace-N; all are renamed at the end. A name is never hidden, never
 * "index", and never deeper than FOLDER_LEVELS_MAX, because readers would skip it. */
#include <stdio.h>

#include "formats/ctf/write/ctf_copy.h"

#include "base/number.h"
#include "base/status.h"
#include "io/folder.h"

/* bytes; longer folder names are cut off: file systems allow 255 bytes, and a number may be
 * appended */
#define PART_MAX 240u
/* bytes; sufficient for a path of FOLDER_LEVELS_MAX names of PART_MAX bytes, with prefixes and
 * slashes */
#define NAME_MAX_BYTES 2048u

bool ctf_output_dir_init(struct ctf_output_dir *home, struct ctf_writer *w,
                         const struct alloc *alloc, ttr_text path)
{
    char digits[NUMBER_MAX];
    static const char prefix[] = ".trace-";
    size_t n = w->output_dirs_n ? number_format_u64(digits, w->output_dirs_n + 1) : 0;
    *home = (struct ctf_output_dir){.folder_size = sizeof prefix + n + 1, .path_size = path.n + 1};
    home->folder = alloc_zero(alloc, home->folder_size, 1);
    home->path = alloc_zero(alloc, home->path_size, 1);
    if (!home->folder || !home->path ||
        !alloc_reserve(alloc, (void **)&w->output_dirs, &w->output_dirs_capacity,
                       w->output_dirs_n + 1, sizeof *w->output_dirs))
        return false;
    if (path.n)
        memcpy(home->path, path.p, path.n);
    if (n) {
        memcpy(home->folder, prefix, sizeof prefix - 1);
        memcpy(home->folder + sizeof prefix - 1, digits, n);
        home->folder[sizeof prefix - 1 + n] = '/';
    }
    w->output_dirs[w->output_dirs_n++] = home;
    return true;
}

void ctf_output_dir_free(struct ctf_output_dir *home, const struct alloc *alloc)
{
    alloc_free(alloc, home->folder, home->folder_size, 1);
    alloc_free(alloc, home->path, home->path_size, 1);
}

/* Returns the length in bytes of the longest path prefix that all traces share; it ends at a
 * folder boundary. */
static size_t find_common_path_length(const struct ctf_writer *w)
{
    const char *first = w->output_dirs[0]->path;
    size_t common = strlen(first);
    for (size_t i = 1; i < w->output_dirs_n; i++) {
        size_t n = 0;
        while (n < common && first[n] == w->output_dirs[i]->path[n])
            n++;
        bool is_whole = n == common &&
                        (w->output_dirs[i]->path[n] == '/' || !w->output_dirs[i]->path[n]) &&
                        (!first[n] || first[n] == '/');
        while (!is_whole && n > 0 && first[n - 1] != '/')
            n--;
        common = n;
    }
    return common;
}

/* Copies one folder name, cut off after PART_MAX bytes. Replaces a leading dot by an underscore,
 * and puts one before "index", because readers skip folders with such names. Returns the number of
 * bytes written. */
static size_t copy_folder_name(char *to, const char *from, size_t n)
{
    size_t before = n == sizeof FOLDER_INDEX - 1 && memcmp(from, FOLDER_INDEX, n) == 0;
    size_t kept = n < PART_MAX ? n : PART_MAX;
    to[0] = '_';
    memcpy(to + before, from, kept);
    if (to[0] == '.')
        to[0] = '_';
    return before + kept;
}

/* Copies the first FOLDER_LEVELS_MAX folders of a path to `to`, which has NAME_MAX_BYTES bytes. */
static void copy_folder_path(char *to, const char *from)
{
    size_t n = 0;
    for (unsigned level = 0; level < FOLDER_LEVELS_MAX; level++) {
        from += strspn(from, "/");
        size_t part = strcspn(from, "/");
        if (part == 0)
            break;
        if (n)
            to[n++] = '/';
        n += copy_folder_name(to + n, from, part);
        from += part;
    }
    to[n] = '\0';
}

static unsigned count_path_levels(const char *path)
{
    unsigned n = 0;
    for (const char *at = path; *at; at++)
        n += *at != '/' && (at == path || at[-1] == '/');
    return n;
}

/* Returns the last `n` folders of a path. */
static const char *find_last_path_levels(const char *path, unsigned n)
{
    const char *at = path + strlen(path);
    for (; n && at > path; n--) {
        while (at > path && at[-1] == '/')
            at--;
        while (at > path && at[-1] != '/')
            at--;
    }
    return at;
}

static bool is_dir_name_used(char (*names)[NAME_MAX_BYTES], size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]), ctx = strlen(name), shorter = length < ctx ? length : ctx;
        bool is_inside = memcmp(names[i], name, shorter) == 0 &&
                         (length == ctx || (length < ctx ? name[length] : names[i][ctx]) == '/');
        if (is_inside)
            return true;
    }
    return false;
}

/* Names each trace by the last `levels` folders of its path. Returns false if two names are equal,
 * or one is a parent folder of another. */
static bool assign_distinct_names(const struct ctf_writer *w, char (*names)[NAME_MAX_BYTES],
                                  unsigned levels)
{
    for (size_t i = 0; i < w->output_dirs_n; i++) {
        copy_folder_path(names[i], find_last_path_levels(w->output_dirs[i]->path, levels));
        if (!*names[i] || is_dir_name_used(names, i, names[i]))
            return false;
    }
    return true;
}

/* Returns how many of the last folders of each path are needed to make all names different.
 * Returns 0 if the path after the common prefix should be the name. */
static unsigned find_distinct_levels(const struct ctf_writer *w, char (*names)[NAME_MAX_BYTES],
                                     size_t common)
{
    bool is_apart = w->output_dirs[0]->path[strspn(w->output_dirs[0]->path, "/")] &&
                    strspn(w->output_dirs[0]->path, "/") >= common;
    for (size_t i = 0; i < w->output_dirs_n && !is_apart; i++)
        is_apart = count_path_levels(w->output_dirs[i]->path + common) > FOLDER_LEVELS_MAX;
    unsigned levels = is_apart ? 1 : 0;
    while (levels && levels < FOLDER_LEVELS_MAX && !assign_distinct_names(w, names, levels))
        levels++;
    return levels;
}

/* Names the i-th trace by `path`. While an earlier trace has the same name, or one is a parent
 * folder of the other, appends a number to the first folder. */
static void assign_output_dir_name(const struct ctf_writer *w, char (*names)[NAME_MAX_BYTES],
                                   size_t i, const char *path)
{
    char *name = names[i], rest[NAME_MAX_BYTES];
    copy_folder_path(name, path);
    if (!*name)
        copy_folder_path(name, find_last_path_levels(w->output_dirs[i]->path, 1));
    if (!*name)
        memcpy(name, "trace", sizeof "trace");
    size_t n = strcspn(name, "/");
    memcpy(rest, name + n, strlen(name + n) + 1);
    for (uint64_t number = 2; is_dir_name_used(names, i, name); number++) {
        name[n] = '-';
        size_t end = n + 1 + number_format_u64(name + n + 1, number);
        memcpy(name + end, rest, strlen(rest) + 1);
    }
}

#define FIRST ".trace-1"

/* Moves the files of the first trace from the output folder to the sub-folder .trace-1, so that it
 * can be renamed like all other traces. */
static ttr_status move_first_trace(struct ttr_writer *out, ttr_error *error)
{
    const struct ctf_writer *w = out->ctx;
    char to[NAME_MAX_BYTES];
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < w->copies_n + w->streams_n + 2 && status == TTR_OK; i++) {
        const struct ctf_output_dir *home = i < w->copies_n ? &w->copies[i]->trace->home
                                            : i < w->copies_n + w->streams_n
                                                ? &w->streams[i - w->copies_n]->trace->home
                                                : w->output_dirs[0];
        const char *file = i < w->copies_n                   ? w->copies[i]->name
                           : i < w->copies_n + w->streams_n  ? w->streams[i - w->copies_n]->name
                           : i == w->copies_n + w->streams_n ? "index"
                                                             : "metadata";
        if (home != w->output_dirs[0] || !file)
            continue;
        (void)snprintf(to, sizeof to, FIRST "/%s", file);
        status = folder_rename(out->folder, file, to, error);
    }
    return status;
}

ttr_status ctf_output_dirs_rename(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    if (w->output_dirs_n < 2)
        return TTR_OK;
    char(*names)[NAME_MAX_BYTES] = alloc_zero(alloc, w->output_dirs_n, sizeof *names);
    if (!names)
        return fail_memory(error);
    size_t common = find_common_path_length(w);
    unsigned levels = find_distinct_levels(w, names, common);
    for (size_t i = 0; i < w->output_dirs_n; i++)
        assign_output_dir_name(w, names, i,
                               levels ? find_last_path_levels(w->output_dirs[i]->path, levels)
                                      : w->output_dirs[i]->path + common);
    ttr_status status = move_first_trace(out, error);
    for (size_t i = 0; i < w->output_dirs_n && status == TTR_OK; i++) {
        char *folder = w->output_dirs[i]->folder;
        if (i)
            folder[strlen(folder) - 1] = '\0';
        status = folder_rename(out->folder, i ? folder : FIRST, names[i], error);
    }
    alloc_free(alloc, names, w->output_dirs_n, sizeof *names);
    return status;
}
