/* Directories: opens all traces below one directory, merged by time.
 *
 * |  DIR/a.fxt                    a file is a trace, or skipped with a remark
 * |  DIR/b/metadata, DIR/b/s0     a folder that is a trace; its files are not searched
 * |  DIR/c/...                    other folders are searched, up to FOLDER_LEVELS_MAX levels
 *
 * Order of calls: search_folder -> add_folder_names (sorted, so a directory always gives the same
 * trace)
 * -> add_path -> add_file or add_folder. Folders of a multi-folder format (CTF) are only collected;
 * finish opens them together, since they may be one trace, and merges all readers.
 *
 * Failures. An input that is not a trace is a remark on the first trace. An unreadable file or
 * folder, or a broken trace, is damage, reported by a reader in its place; it is an error if
 * nothing else can be read. A folder is damage, too, if its main file is unreadable, empty or
 * zeroed (as after a crash) or missing, while its other files have content that cannot be read
 * alone.
 *
 * Left out: hidden names; folders called "index" that hold only index files, which belong to the
 * traces next to them; anything that is neither file nor folder. Links within the directory are
 * followed, but no folder is searched twice, so there are no loops. Links out of the directory are
 * followed with TTR_READ_FOLLOW_LINKS only. Other links are notes on the first trace. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/pair_map.h"
#include "base/regular_file.h"
#include "base/status.h"
#include "formats/open.h"
#include "formats/table.h"
#include "model/context.h"
#include "model/diagnostics.h"
#include "model/reader.h"

#define UNUSABLE_MAIN_FILE_TEXT                                                                    \
    "%s is %s, so that the files beside it cannot be read: put a whole copy of it there, or read " \
    "%s with format option ctf.metadata=FILE"

/* A folder that is a trace, or one of several folders of the same trace. The function `finish`
 * opens it. */
struct part {
    const struct format *format;
    struct found_folder found;
};

/* Inputs that were skipped for the same reason: their number, and the path of the first one. */
struct skipped {
    uint64_t n;
    char *first; /* path of the first skipped input, allocated in search.arena */
};

struct search {
    ttr *t;
    const ttr_read_options *options;
    open_file_function open_file;
    char path[PATH_MAX]; /* path of the file or folder that is being examined */
    /* length of `path` in bytes, and length of the searched directory's path with its final slash
     */
    size_t n, root_n;
    /* path of the searched directory without symbolic links; "" until it is needed */
    char root[PATH_MAX];
    unsigned level;
    struct pair_map seen; /* set of (device, inode) of the folders that were searched */
    struct arena arena;   /* memory for the paths in `first` of struct skipped */
    struct skipped no_trace, too_deep, unusable, nowhere, outside;
    struct skipped unplaced; /* skipped inputs that the reader of no format reports */
    bool has_file;           /* true if a file in the current folder is a trace */
    /* name of the main file that a file in the current folder needs; NULL if no file needs one */
    const char *main_file;
    const char *unusable_why;
    ttr_reader **reader;
    size_t readers_n, readers_capacity;
    /* readers that report unreadable traces as damage, merged after the others */
    ttr_reader **unreadable;
    size_t unreadable_n, unreadable_capacity;
    ttr_error reason;  /* error with which the first unreadable trace failed */
    struct part *part; /* folders that the function `finish` opens */
    size_t parts_n, parts_capacity;
    /* number of elements of `part` of which the main file is usable */
    size_t readable_parts_n;
    uint64_t files;
};

/* Names of all files and folders in one folder. */
struct names {
    struct arena arena;
    const char **name;
    size_t n, capacity;
};

static ttr_status search_folder(struct search *search, const struct stat *about, ttr_error *error);

/* Counts a skipped input, and stores the path of the first one. If memory runs out, only the path
 * is lost. */
static void count_skipped(struct search *search, struct skipped *skipped)
{
    if (skipped->n++ == 0)
        skipped->first = arena_copy(&search->arena, search->path, search->n);
}

/* Copies `reason` to `error` and returns its status. Puts the current path in front of the text,
 * unless the text contains the path. */
static ttr_status fail_with_path(const char *path, const ttr_error *reason, ttr_error *error)
{
    const bool is_named = reason->status == TTR_E_NOMEM || strstr(reason->text, path);
    const ttr_error ctx = *reason; /* `reason` and `error` may be the same object */
    const ttr_status status = fail(error, ctx.status, ctx.offset, "%s%s%s", is_named ? "" : path,
                                   is_named ? "" : ": ", ctx.text);
    return error_set_option(error, status, ctx.option);
}

/* Returns the name of the main file that a file needs, if `reason` shows that it cannot be read
 * alone; else NULL. */
static const char *find_missing_main_file(const ttr_error *reason)
{
    const struct format *format = format_find(reason->format);
    return format && format->folder && !format->folder->reads_alone ? format->folder->main_file
                                                                    : NULL;
}

static bool has_strict_flag(const struct search *search)
{
    return search->options && search->options->flags & TTR_READ_STRICT;
}

/* Adds a reader that reports `reason` as damage at the current path. Fails with `reason` if the
 * input is not its cause (memory, misuse), or if reading is strict. */
static ttr_status add_unreadable_reader(struct search *search, const ttr_error *reason,
                                        ttr_error *error)
{
    ttr_error named = *reason;
    const ttr_status status = fail_with_path(search->path, reason, &named);
    const bool is_own = status != TTR_E_NOMEM && status != TTR_E_MISUSE && status != TTR_AGAIN &&
                        !has_strict_flag(search);
    if (!is_own)
        return error_set_option(error, fail(error, status, named.offset, "%s", named.text),
                                named.option);
    if (search->unreadable_n == 0)
        search->reason = named;
    if (!alloc_reserve(&search->t->counted, (void **)&search->unreadable,
                       &search->unreadable_capacity, search->unreadable_n + 1,
                       sizeof(ttr_reader *)))
        return fail_memory(error);
    ttr_error ctx = {0};
    ttr_reader *reader = open_unreadable(search->t, search->path, &named, &ctx);
    if (!reader)
        return fail(error, ctx.status, ctx.offset, "%s", ctx.text);
    search->unreadable[search->unreadable_n++] = reader;
    return TTR_OK;
}

/* Adds an open reader to the list. If `reader` is NULL, counts the input as skipped or as
 * unreadable, according to `reason`. */
static ttr_status add_reader(struct search *search, ttr_reader *reader, const ttr_error *reason,
                             ttr_error *error)
{
    if (!reader && reason->status == TTR_E_UNSUPPORTED) {
        count_skipped(search, &search->no_trace);
        return TTR_OK;
    }
    if (!reader)
        return add_unreadable_reader(search, reason, error);
    if (alloc_reserve(&search->t->counted, (void **)&search->reader, &search->readers_capacity,
                      search->readers_n + 1, sizeof(ttr_reader *))) {
        search->reader[search->readers_n++] = reader;
        return TTR_OK;
    }
    ttr_close(reader);
    return fail_memory(error);
}

static ttr_status add_file(struct search *search, ttr_error *error)
{
    ttr_error reason = {0};
    ttr_read_options each =
        search->options ? *search->options : (ttr_read_options){.size = sizeof each};
    /* definitions are valid for one file only, so do not request them if several files are merged
     */
    each.flags &= ~TTR_READ_DEFINITIONS;
    search->files++;
    ttr_reader *reader = search->open_file(search->t, search->path, &each, &reason);
    search->has_file |= reader != NULL;
    if (!reader && reason.status == TTR_E_UNSUPPORTED && find_missing_main_file(&reason))
        search->main_file = find_missing_main_file(&reason);
    return add_reader(search, reader, &reason, error);
}

/* Appends a slash and a name to the current path. Returns false if the path would exceed
 * PATH_MAX. */
static bool append_to_path(struct search *search, const char *name)
{
    size_t n = strlen(name), slash = search->n > 0 && search->path[search->n - 1] != '/';
    if (n + slash >= sizeof search->path - search->n)
        return false;
    if (slash)
        search->path[search->n] = '/';
    memcpy(search->path + search->n + slash, name, n + 1);
    search->n += n + slash;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

static void names_free(struct names *names)
{
    alloc_free(names->arena.alloc, names->name, names->capacity, sizeof *names->name);
    arena_free(&names->arena);
}

/* Reads the names in a folder, except hidden ones, and sorts them. */
static ttr_status read_names(struct names *names, const char *folder, ttr_error *error)
{
    const struct alloc *alloc = names->arena.alloc;
    DIR *directory = opendir(folder);
    if (!directory)
        return fail_sys(error, errno, NO_OFFSET, "cannot look into %s", folder);
    bool is_fine = true;
    const struct dirent *entry;
    /* POSIX allows threads to call readdir at the same time for different streams. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, is_fine && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        is_fine = alloc_reserve(alloc, (void **)&names->name, &names->capacity, names->n + 1,
                                sizeof *names->name);
        const char *name =
            is_fine ? arena_copy(&names->arena, entry->d_name, strlen(entry->d_name)) : NULL;
        is_fine = name != NULL;
        if (is_fine)
            names->name[names->n++] = name;
    }
    const int reason = is_fine ? errno : 0; /* errno is 0 if readdir reached the end */
    (void)closedir(directory);
    if (!is_fine)
        return fail_memory(error);
    if (reason)
        return fail_sys(error, reason, NO_OFFSET, "cannot read on in %s", folder);
    if (names->n)
        qsort(names->name, names->n, sizeof *names->name, compare_names);
    return TTR_OK;
}

/* Sets *is_index to true if the folder at the current path contains only LTTng's index of the
 * files beside it. */
static ttr_status check_index_folder(const struct search *search, bool *is_index, ttr_error *error)
{
    struct names names = {.n = 0};
    arena_init(&names.arena, &search->t->counted);
    ttr_status status = read_names(&names, search->path, error);
    *is_index = status == TTR_OK;
    for (size_t i = 0; i < names.n && *is_index; i++)
        *is_index = folder_is_index_file(names.name[i]);
    names_free(&names);
    return status;
}

/* Decides what a failed stat of the current path means. Ignores a file that was deleted meanwhile,
 * and counts a dangling link. Fails for all other reasons, because a trace could be missed. */
static ttr_status ignore_or_report_failed_stat(struct search *search, int reason, ttr_error *error)
{
    struct stat link;
    if (reason != ENOENT && reason != ELOOP)
        return fail_sys(error, reason, NO_OFFSET, "cannot look at %s", search->path);
    if (lstat(search->path, &link) == 0)
        count_skipped(search, &search->nowhere);
    return TTR_OK;
}

/* Searches a sub-folder. If the sub-folder cannot be searched, reports this as its damage. */
static ttr_status add_folder(struct search *search, const char *name, const struct stat *about,
                             ttr_error *error)
{
    ttr_error reason = {0};
    bool is_index = false;
    const size_t n = search->n;
    ttr_status status =
        strcmp(name, FOLDER_INDEX) == 0 ? check_index_folder(search, &is_index, &reason) : TTR_OK;
    if (status == TTR_OK && is_index)
        return TTR_OK;
    if (status == TTR_OK && search->level == FOLDER_LEVELS_MAX) {
        count_skipped(search, &search->too_deep);
        return TTR_OK;
    }
    search->level++;
    if (status == TTR_OK)
        status = search_folder(search, about, &reason);
    search->level--;
    search->n = n;
    search->path[n] = '\0';
    return status == TTR_OK ? TTR_OK : add_unreadable_reader(search, &reason, error);
}

/* Returns true if the current path is a link that leads out of the searched directory. */
static bool is_link_to_outside(struct search *search)
{
    struct stat link;
    char target[PATH_MAX];
    if (lstat(search->path, &link) != 0 || !S_ISLNK(link.st_mode))
        return false;
    if (!search->root[0]) {
        const char next = search->path[search->root_n];
        search->path[search->root_n] = '\0';
        const bool is_resolved = realpath(search->path, search->root) != NULL;
        search->path[search->root_n] = next;
        if (!is_resolved)
            return true;
    }
    const size_t n = strcmp(search->root, "/") == 0 ? 0 : strlen(search->root);
    return !realpath(search->path, target) || strncmp(target, search->root, n) != 0 ||
           (target[n] != '/' && target[n] != '\0');
}

/* Adds the file or folder at the current path to the traces to open. */
static ttr_status add_path(struct search *search, const char *name, ttr_error *error)
{
    struct stat about;
    if (stat(search->path, &about) != 0)
        return ignore_or_report_failed_stat(search, errno, error);
    if (!(search->options && search->options->flags & TTR_READ_FOLLOW_LINKS) &&
        is_link_to_outside(search)) {
        count_skipped(search, &search->outside);
        return TTR_OK;
    }
    if (S_ISREG(about.st_mode))
        return add_file(search, error);
    return S_ISDIR(about.st_mode) ? add_folder(search, name, &about, error) : TTR_OK;
}

/* Returns the format of which folders have a main file with this name; NULL if there is none. */
static const struct format *find_format_of_main_file(const char *name)
{
    for (size_t i = 0; format_at(i); i++)
        if (format_at(i)->folder && strcmp(format_at(i)->folder->main_file, name) == 0)
            return format_at(i);
    return NULL;
}

/* Returns true if the first bytes of a file are all zero, which happens after a crash. */
static bool is_file_all_zeros(const char *path)
{
    uint8_t bytes[4096];
    struct stat about;
    const int fd = regular_file_open(path, &about);
    const ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        (void)close(fd);
    return n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n - 1) == 0;
}

/* Returns the name of the current folder's main file if the file is empty, all zeros or not a
 * regular file, although another file has content. Returns NULL in all other cases. */
static const char *find_empty_main_file(struct search *search, const struct names *names)
{
    const char *empty = NULL;
    bool has_bytes = false;
    size_t n = search->n;
    for (size_t i = 0; i < names->n; i++) {
        struct stat about;
        if (!append_to_path(search, names->name[i]) || stat(search->path, &about) != 0)
            /* stat has failed, as for a dangling link */
            about = (struct stat){.st_mode = 0};
        const bool is_main_file = find_format_of_main_file(names->name[i]) != NULL,
                   is_file = S_ISREG(about.st_mode);
        const bool has_some =
            is_file && about.st_size > 0 && !(is_main_file && is_file_all_zeros(search->path));
        search->n = n;
        search->path[n] = '\0';
        has_bytes |= has_some;
        if (!S_ISDIR(about.st_mode) && !has_some && is_main_file)
            empty = names->name[i];
    }
    return has_bytes ? empty : NULL;
}

/* Adds the folder at the current path to the folders that `finish` opens. `why` is the reason why
 * its main file is unusable, or NULL if it is usable. */
static ttr_status add_reader_of_format(struct search *search, const struct format *format,
                                       const char *why, ttr_error *error)
{
    const struct alloc *alloc = &search->t->counted;
    if (!alloc_reserve(alloc, (void **)&search->part, &search->parts_capacity, search->parts_n + 1,
                       sizeof *search->part))
        return fail_memory(error);
    struct folder *folder =
        folder_open(alloc, search->t->descriptor_pool, search->path, OPEN_FOLDER_DEPTH,
                    search->options && search->options->flags & TTR_READ_FOLLOW_LINKS, error);
    if (!folder)
        return error ? error->status : TTR_E_IO;
    folder_set_relative_start(folder, search->root_n);
    search->part[search->parts_n++] = (struct part){format, {folder, why}};
    search->readable_parts_n += !why;
    return TTR_OK;
}

/* Returns the reason why the main file at `path` is unusable. */
static const char *describe_unusable_main_file(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return lstat(path, &about) == 0 ? "a link that leads nowhere" : "missing";
    if (!S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? "a folder" : "a FIFO, a socket or a device";
    if (about.st_size == 0)
        return "empty (a tracer that still records may not have written it yet)";
    if (access(path, R_OK) != 0)
        return "not to be read (permission denied)";
    return is_file_all_zeros(path) ? "full of zeros" : "none of any known kind";
}

/* Adds the current folder, of which the main file is unusable, and counts it. */
static ttr_status add_folder_without_main_file(struct search *search, const char *main_file,
                                               ttr_error *error)
{
    size_t n = search->n;
    char text[PATH_MAX + sizeof UNUSABLE_MAIN_FILE_TEXT + 128];
    const struct format *format = find_format_of_main_file(main_file);
    if (!append_to_path(search, main_file))
        return TTR_OK;
    const char *why = describe_unusable_main_file(search->path);
    if (search->unusable.n == 0)
        search->unusable_why = why;
    count_skipped(search, &search->unusable);
    if (!format->folder->open_together || has_strict_flag(search))
        count_skipped(search, &search->unplaced);
    (void)snprintf(text, sizeof text, UNUSABLE_MAIN_FILE_TEXT, search->path, why,
                   "that folder alone");
    search->n = n;
    search->path[n] = '\0';
    if (!format->folder->open_together ||
        has_strict_flag(search)) /* strict reading fails at the first unusable main file */
        return TTR_OK;
    const char *sentence = arena_copy(&search->arena, text, strlen(text));
    return sentence ? add_reader_of_format(search, format, sentence, error) : fail_memory(error);
}

/* Returns the name of a main file in the current folder that exists but cannot be read; NULL if
 * there is none. */
static const char *find_unreadable_main_file(struct search *search)
{
    const char *locked = NULL;
    size_t n = search->n;
    for (size_t i = 0; format_at(i) && !locked; i++) {
        const struct format_folder *of = format_at(i)->folder;
        const char *main_file = of ? of->main_file : NULL;
        if (main_file && append_to_path(search, main_file))
            locked = access(search->path, F_OK) == 0 && access(search->path, R_OK) != 0 ? main_file
                                                                                        : NULL;
        search->n = n;
        search->path[n] = '\0';
    }
    return locked;
}

/* Reports damage if a main file in the folder at the current path cannot be read; otherwise fails
 * with `reason`. Called if the folder's format could not be determined. */
static ttr_status report_undetectable_folder(struct search *search, const ttr_error *reason,
                                             ttr_error *error)
{
    const char *main_file =
        reason->status == TTR_E_IO && search->level > 0 && !has_strict_flag(search)
            ? find_unreadable_main_file(search)
            : NULL;
    return main_file ? add_folder_without_main_file(search, main_file, error)
                     : fail_with_path(search->path, reason, error);
}

/* Adds the file or folder with this name in the current folder to the traces to open. */
static ttr_status add_entry_of_current_folder(struct search *search, const char *name,
                                              ttr_error *error)
{
    size_t n = search->n;
    ttr_status status = append_to_path(search, name) ? add_path(search, name, error) : TTR_OK;
    search->n = n;
    search->path[n] = '\0';
    return status;
}

static ttr_status add_folder_names(struct search *search, ttr_error *error)
{
    struct names names = {.n = 0};
    const bool has_file = search->has_file;
    const char *main_file = search->main_file;
    arena_init(&names.arena, &search->t->counted);
    search->has_file = false;
    search->main_file = NULL;
    ttr_status status = read_names(&names, search->path, error);
    for (size_t i = 0; i < names.n && status == TTR_OK && context_should_continue(search->t); i++)
        status = add_entry_of_current_folder(search, names.name[i], error);
    const char *unusable =
        search->main_file ? search->main_file : find_empty_main_file(search, &names);
    if (unusable && !search->has_file && status == TTR_OK)
        status = add_folder_without_main_file(search, unusable, error);
    search->has_file = has_file;
    search->main_file = main_file;
    names_free(&names);
    return status;
}

/* Opens the folder at the current path as a trace, or searches it for traces. */
static ttr_status search_folder(struct search *search, const struct stat *about, ttr_error *error)
{
    const struct format *format;
    ttr_error reason = {0};
    if (pair_map_get(&search->seen, about->st_dev, about->st_ino))
        return TTR_OK;
    if (!pair_map_put(&search->seen, about->st_dev, about->st_ino, 1))
        return fail_memory(error);
    if (find_folder_format(search->t, search->path, search->options, &format, &reason) != TTR_OK)
        return report_undetectable_folder(search, &reason, error);
    if (!format)
        return add_folder_names(search, error);
    if (format->folder->open_together)
        return add_reader_of_format(search, format, NULL, error);
    ttr_reader *reader =
        open_folder(search->t, search->path, NULL, format, search->options, &reason);
    return add_reader(search, reader, &reason, error);
}

static void add_skip_notes(const struct search *search, const struct skipped *skipped,
                           const char *code, const char *format, ...)
{
    struct diagnostics *notes = reader_get_diagnostics(search->reader[0]);
    const bool is_odd =
        skipped == &search->too_deep || skipped == &search->nowhere || skipped == &search->outside;
    ttr_severity severity = skipped == &search->unplaced ? TTR_SEVERITY_DAMAGE
                            : is_odd                     ? TTR_SEVERITY_ODD
                                                         : TTR_SEVERITY_REMARK;
    for (uint64_t i = 0; notes && i < skipped->n; i++) {
        va_list values;
        va_start(values, format);
        diagnostics_add(notes, severity, &(ttr_region){.offset = NO_OFFSET, .code = code}, format,
                        values);
        va_end(values);
    }
}

/* Returns the path of the first skipped input, or a substitute if there was no memory for the
 * path. */
static const char *get_path_of_first_skipped_input(const struct skipped *unusable)
{
    return unusable->first ? unusable->first : "a file that others need";
}

static void add_all_skip_notes(const struct search *search)
{
    const char *first = search->no_trace.first, *deep = search->too_deep.first,
               *nowhere = search->nowhere.first, *outside = search->outside.first;
    add_skip_notes(search, &search->no_trace, "directory.passed-over",
                   "%s is not a trace and was skipped", first ? first : "a file");
    add_skip_notes(search, &search->unplaced, "directory.bad-main-file", UNUSABLE_MAIN_FILE_TEXT,
                   get_path_of_first_skipped_input(&search->unplaced), search->unusable_why,
                   "that folder alone");
    add_skip_notes(
        search, &search->too_deep, "directory.too-deep",
        "%s is deeper than %u levels and was not looked into: what is in it must be named",
        deep ? deep : "a folder", FOLDER_LEVELS_MAX);
    add_skip_notes(search, &search->nowhere, "directory.no-file",
                   "%s is a link that leads nowhere: it was passed over",
                   nowhere ? nowhere : "a file");
    add_skip_notes(search, &search->outside, "directory.link",
                   "%s is a link out of the directory and was skipped",
                   outside ? outside : "a file");
}

/* Opens all folders that have the same format as the first one, and removes them from the list. */
static ttr_status open_parts_of_one_format(struct search *search, ttr_error *error)
{
    const struct alloc *alloc = &search->t->counted;
    const struct format *format = search->part[0].format;
    struct found_folder *found = alloc_zero(alloc, search->parts_n, sizeof *found);
    const struct folder *first = NULL; /* first folder with a usable main file */
    size_t n = 0, left = 0, traces_n = 0;
    ttr_error reason = {0};
    if (!found)
        return fail_memory(error);
    for (size_t i = 0; i < search->parts_n; i++) {
        const struct part *part = &search->part[i];
        if (part->format != format) {
            search->part[left++] = *part;
            continue;
        }
        first = !first && !part->found.unreadable_reason ? part->found.folder : first;
        traces_n += !part->found.unreadable_reason;
        found[n++] = part->found;
    }
    size_t capacity = search->parts_n;
    search->parts_n = left;
    (void)snprintf(search->path, sizeof search->path, "%s",
                   folder_path(first ? first : found[0].folder));
    search->n = strlen(search->path);
    ttr_read_options ctx;
    const bool has_others = search->readers_n > 0 || left > 0;
    ttr_reader *reader = format->folder->open_together(
        search->t, &(struct found_folders){found, n, has_others},
        select_reader_options(format, search->options, &ctx), &reason);
    alloc_free(alloc, found, capacity, sizeof *found);
    /* with several traces, the path of only one would be misleading */
    if (traces_n > 1) {
        search->n = search->root_n;
        search->path[search->n] = '\0';
    }
    if (!reader && !has_others) /* true if the directory contains nothing else that can be read */
        return fail_with_path(search->path, &reason, error);
    return add_reader(search, reader, &reason, error);
}

/* Returns true if the searched directory itself contains files, so that it is the trace's folder.
 */
static bool directory_has_files(struct search *search, const char *path)
{
    struct folder *folder =
        folder_open(&search->t->counted, search->t->descriptor_pool, path, 0, false, NULL);
    bool is_there = folder && folder_get_file(folder, 0);
    folder_close(folder);
    return is_there;
}

/* Appends the readers of unreadable traces to the list. They are last, because a merged trace has
 * the properties of its first reader. */
static bool append_unreadable_readers(struct search *search, ttr_error *error)
{
    const size_t n = search->readers_n + search->unreadable_n;
    if (!alloc_reserve(&search->t->counted, (void **)&search->reader, &search->readers_capacity, n,
                       sizeof(ttr_reader *)))
        return fail_memory(error) == TTR_OK;
    for (size_t i = 0; i < search->unreadable_n; i++) {
        search->unreadable[i]->per_source_format = search->reader[0]->per_source_format;
        search->reader[search->readers_n++] = search->unreadable[i];
    }
    search->unreadable_n = 0;
    return true;
}

static ttr_reader *merge_found_readers(struct search *search, const char *path, ttr_error *error)
{
    /* Repeat until all folders are open. If nothing can be read, fail with the reason why the main
     * files are unusable. */
    while (search->parts_n > 0 && search->readers_n + search->readable_parts_n > 0)
        if (open_parts_of_one_format(search, error) != TTR_OK)
            return NULL;
    const struct format *anchored =
        search->readers_n == 0 ? find_format_with_file_option(search->options) : NULL;
    if (anchored && directory_has_files(search, path))
        return open_folder(search->t, path, NULL, anchored, search->options, error);
    if (search->unusable.n && (has_strict_flag(search) || search->readers_n == 0)) {
        (void)fail(error, search->readers_n ? TTR_E_MALFORMED : TTR_E_UNSUPPORTED, NO_OFFSET,
                   UNUSABLE_MAIN_FILE_TEXT, get_path_of_first_skipped_input(&search->unusable),
                   search->unusable_why, search->readers_n ? "that folder alone" : "the folder");
        (void)error_set_option(error, TTR_E_MALFORMED, "ctf.metadata");
        return NULL;
    }
    if (search->readers_n == 0 && search->unreadable_n) {
        (void)error_set_option(
            error,
            fail(error, search->reason.status, search->reason.offset, "%s", search->reason.text),
            search->reason.option);
        return NULL;
    }
    if (search->readers_n == 0) {
        const ttr_status status = fail(
            error, TTR_E_UNSUPPORTED, NO_OFFSET,
            "the directory %s has no trace (%llu file%s looked at%s%s)", path,
            (unsigned long long)search->files, search->files == 1 ? "" : "s",
            search->too_deep.n
                ? "; some folders are too deep to be looked into, which must be named"
                : "",
            search->outside.n ? "; links out of it are skipped: TTR_READ_FOLLOW_LINKS reads them"
                              : "");
        if (search->outside.n)
            (void)error_set_option(error, status, "follow_links");
        return NULL;
    }
    add_all_skip_notes(search);
    if (!append_unreadable_readers(search, error))
        return NULL;
    size_t n = search->readers_n;
    search->readers_n = 0; /* ttr_merge has become the owner of the readers */
    if (n == 1 && search->reader[0]->order == TTR_ORDER_TIME)
        return search->reader[0];
    return ttr_merge(search->t, search->reader, n, error);
}

ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options,
                           open_file_function open_file, ttr_error *error)
{
    struct search search = {.t = t, .options = options, .open_file = open_file};
    struct stat about;
    ttr_reader *merged = NULL;
    arena_init(&search.arena, &t->counted);
    pair_map_init(&search.seen, &t->counted);
    bool is_there = stat(path, &about) == 0 && append_to_path(&search, path);
    search.root_n = search.n + (search.n > 0 && search.path[search.n - 1] != '/');
    if (!is_there)
        (void)fail_sys(error, errno ? errno : ENAMETOOLONG, NO_OFFSET, "cannot look into %s", path);
    else if (search_folder(&search, &about, error) == TTR_OK)
        merged = merge_found_readers(&search, path, error);
    for (size_t i = 0; i < search.readers_n; i++)
        ttr_close(search.reader[i]);
    for (size_t i = 0; i < search.unreadable_n; i++)
        ttr_close(search.unreadable[i]);
    for (size_t i = 0; i < search.parts_n; i++)
        folder_close(search.part[i].found.folder);
    alloc_free(&t->counted, search.unreadable, search.unreadable_capacity, sizeof(ttr_reader *));
    alloc_free(&t->counted, search.part, search.parts_capacity, sizeof *search.part);
    alloc_free(&t->counted, search.reader, search.readers_capacity, sizeof(ttr_reader *));
    pair_map_free(&search.seen);
    arena_free(&search.arena);
    return merged;
}
