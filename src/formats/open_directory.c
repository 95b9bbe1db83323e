/* Opening a directory: all traces below it, merged by time.
 *
 * A folder that is a trace is opened as one, and nothing in it is looked at; elsewhere each file is
 * a trace or none, and folders are gone into.  All is taken in the order of its names, so that the
 * same directory always gives the same trace.  Left out: hidden names, folders called "index" with
 * nothing but index files in them (they belong to traces beside them), and what is neither file nor
 * folder.  Links are followed, but no folder is gone into twice, so that there are no loops; one
 * that leads nowhere is told on the first trace.  What is no trace is passed over with a remark
 * there; what cannot be read (a file or folder that may not be looked at, a broken trace of many
 * files) is damage, told in its place, or an error where nothing else is there.  A folder whose
 * anchor may not be read, or is empty, as a killed tracer may leave it, while others of its files
 * are not and none can be read alone, is damage too, told in its place where the format can; and so
 * is one without a good anchor in which a file is part of such a trace by what it begins with. */
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
#include "base/pairmap.h"
#include "base/status.h"
#include "formats/open.h"
#include "formats/table.h"
#include "model/context.h"
#include "model/notes.h"
#include "model/reader.h"

#define UNTOLD                                                                                     \
    "%s is %s, so that the files beside it cannot be read: put a whole copy of it there, or read " \
    "%s with format option ctf.metadata=FILE"

/* A folder that is a trace, or a part of one. */
struct part {
    const struct format *format;
    struct folder_found found;
};

/* What was passed over for one reason. */
struct passed {
    uint64_t n;
    char *first; /* its path, in the arena */
};

struct search {
    ttr *t;
    const ttr_read_options *options;
    open_file_function open_file;
    char path[PATH_MAX]; /* of what is looked at */
    size_t n, root_n;    /* root_n: of the directory that was named, with a slash behind it */
    unsigned level;
    struct pairmap seen; /* folders: (device, inode) */
    struct arena arena;  /* of `first` */
    struct passed no_trace, too_deep, untold, nowhere;
    struct passed
        unplaced;       /* of those untold, the ones of formats that put nothing in their places */
    bool has_file;      /* the folder at hand has one that is a trace */
    const char *anchor; /* the folder at hand has one that is part of a trace which this file should
                           tell of; NULL = none is known */
    const char *untold_why;
    ttr_reader **reader;
    size_t readers_n, readers_capacity;
    ttr_reader **unreadable; /* what stands for traces that cannot be read */
    size_t unreadable_n, unreadable_capacity;
    ttr_error reason;  /* why the first of them cannot */
    struct part *part; /* opened when all were found */
    size_t parts_n, parts_capacity;
    size_t told_n; /* of them that can be read */
    uint64_t files;
};

/* Names in a folder. */
struct names {
    struct arena arena;
    const char **name;
    size_t n, capacity;
};

static ttr_status search_folder(struct search *search, const struct stat *about, ttr_error *error);

/* Counts what is passed over; without memory its name is missing only. */
static void pass_over(struct search *search, struct passed *passed)
{
    if (passed->n++ == 0)
        passed->first = arena_copy(&search->arena, search->path, search->n);
}

/* The failure of one file, which its text may name already. */
static ttr_status fail_named(const char *path, const ttr_error *reason, ttr_error *error)
{
    const bool is_named = reason->status == TTR_E_NOMEM || strstr(reason->text, path);
    const ttr_error own = *reason; /* which may be the other one */
    const ttr_status status = fail(error, own.status, own.offset, "%s%s%s", is_named ? "" : path,
                                   is_named ? "" : ": ", own.text);
    return fail_option(error, status, own.option);
}

/* The anchor that a file wants which was refused alone; NULL = none. */
static const char *wanted_anchor(const ttr_error *reason)
{
    const struct format *format = format_find(reason->format);
    return format && format->folder && !format->folder->reads_alone ? format->folder->anchor : NULL;
}

static bool is_strict(const struct search *search)
{
    return search->options && search->options->flags & TTR_READ_STRICT;
}

/* What stands at the path cannot be read: told in its place, if it is that one's own failure. */
static ttr_status pass_unreadable(struct search *search, const ttr_error *reason, ttr_error *error)
{
    ttr_error named = *reason;
    const ttr_status status = fail_named(search->path, reason, &named);
    const bool is_own = status != TTR_E_NOMEM && status != TTR_E_MISUSE && status != TTR_AGAIN &&
                        !is_strict(search);
    if (!is_own)
        return fail_option(error, fail(error, status, named.offset, "%s", named.text),
                           named.option);
    if (search->unreadable_n == 0)
        search->reason = named;
    if (!alloc_reserve(&search->t->counted, (void **)&search->unreadable,
                       &search->unreadable_capacity, search->unreadable_n + 1,
                       sizeof(ttr_reader *)))
        return fail_memory(error);
    ttr_error own = {0};
    ttr_reader *reader = open_unreadable(search->t, search->path, &named, &own);
    if (!reader)
        return fail(error, own.status, own.offset, "%s", own.text);
    search->unreadable[search->unreadable_n++] = reader;
    return TTR_OK;
}

/* Takes a reader into the list; NULL with a reason is passed over or a failure. */
static ttr_status take(struct search *search, ttr_reader *reader, const ttr_error *reason,
                       ttr_error *error)
{
    if (!reader && reason->status == TTR_E_UNSUPPORTED) {
        pass_over(search, &search->no_trace);
        return TTR_OK;
    }
    if (!reader)
        return pass_unreadable(search, reason, error);
    if (alloc_reserve(&search->t->counted, (void **)&search->reader, &search->readers_capacity,
                      search->readers_n + 1, sizeof(ttr_reader *))) {
        search->reader[search->readers_n++] = reader;
        return TTR_OK;
    }
    ttr_close(reader);
    return fail_memory(error);
}

static ttr_status take_file(struct search *search, ttr_error *error)
{
    ttr_error reason = {0};
    ttr_read_options each =
        search->options ? *search->options : (ttr_read_options){.size = sizeof each};
    /* Tables of several files mean nothing behind each other. */
    each.flags &= ~TTR_READ_DEFINITIONS;
    search->files++;
    ttr_reader *reader = search->open_file(search->t, search->path, &each, &reason);
    search->has_file |= reader != NULL;
    if (!reader && reason.status == TTR_E_UNSUPPORTED && wanted_anchor(&reason))
        search->anchor = wanted_anchor(&reason);
    return take(search, reader, &reason, error);
}

/* Appends a name to the path; false where it grows longer than any path can be. */
static bool descend(struct search *search, const char *name)
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

/* All names that are not hidden, in order. */
static ttr_status names_read(struct names *names, const char *folder, ttr_error *error)
{
    const struct alloc *alloc = names->arena.alloc;
    DIR *directory = opendir(folder);
    if (!directory)
        return fail_sys(error, errno, NO_OFFSET, "cannot look into %s", folder);
    bool is_fine = true;
    const struct dirent *entry;
    /* Nobody else has this stream, which is all that POSIX asks for. */
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
    const int reason = is_fine ? errno : 0; /* else it ended */
    (void)closedir(directory);
    if (!is_fine)
        return fail_memory(error);
    if (reason)
        return fail_sys(error, reason, NO_OFFSET, "cannot read on in %s", folder);
    if (names->n)
        qsort(names->name, names->n, sizeof *names->name, compare_names);
    return TTR_OK;
}

/* Whether the folder at the path is LTTng's index of the files beside it. */
static ttr_status find_index(const struct search *search, bool *is_index, ttr_error *error)
{
    struct names names = {.n = 0};
    arena_init(&names.arena, &search->t->counted);
    ttr_status status = names_read(&names, search->path, error);
    *is_index = status == TTR_OK;
    for (size_t i = 0; i < names.n && *is_index; i++)
        *is_index = folder_is_index_file(names.name[i]);
    names_free(&names);
    return status;
}

/* Why stat has failed: the file is gone, or a link leads nowhere; else what is missing would not
 * show. */
static ttr_status pass_missing(struct search *search, int reason, ttr_error *error)
{
    struct stat link;
    if (reason != ENOENT && reason != ELOOP)
        return fail_sys(error, reason, NO_OFFSET, "cannot look at %s", search->path);
    if (lstat(search->path, &link) == 0)
        pass_over(search, &search->nowhere);
    return TTR_OK;
}

/* A folder below the one that was named: what keeps all of it from being looked at is its own
 * failure. */
static ttr_status take_folder(struct search *search, const char *name, const struct stat *about,
                              ttr_error *error)
{
    ttr_error reason = {0};
    bool is_index = false;
    const size_t n = search->n;
    ttr_status status =
        strcmp(name, FOLDER_INDEX) == 0 ? find_index(search, &is_index, &reason) : TTR_OK;
    if (status == TTR_OK && is_index)
        return TTR_OK;
    if (status == TTR_OK && search->level == FOLDER_LEVELS_MAX) {
        pass_over(search, &search->too_deep);
        return TTR_OK;
    }
    search->level++;
    if (status == TTR_OK)
        status = search_folder(search, about, &reason);
    search->level--;
    search->n = n;
    search->path[n] = '\0';
    return status == TTR_OK ? TTR_OK : pass_unreadable(search, &reason, error);
}

/* What stands at the path, whatever it is. */
static ttr_status take_path(struct search *search, const char *name, ttr_error *error)
{
    struct stat about;
    if (stat(search->path, &about) != 0)
        return pass_missing(search, errno, error);
    if (S_ISREG(about.st_mode))
        return take_file(search, error);
    return S_ISDIR(about.st_mode) ? take_folder(search, name, &about, error) : TTR_OK;
}

/* The format whose folders have an anchor of this name, or NULL. */
static const struct format *anchored_format(const char *name)
{
    for (size_t i = 0; format_at(i); i++)
        if (format_at(i)->folder && strcmp(format_at(i)->folder->anchor, name) == 0)
            return format_at(i);
    return NULL;
}

/* Whether a file begins with nothing but zeros, as those do whose bytes a crash has cost. */
static bool is_zeros(const char *path)
{
    uint8_t bytes[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        (void)close(fd);
    return n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n - 1) == 0;
}

/* The anchor of the folder at hand where it is empty, full of zeros or no file at all, and another
 * file is not; NULL = nothing is wrong. */
static const char *find_untold(struct search *search, const struct names *names)
{
    const char *empty = NULL;
    bool has_bytes = false;
    size_t n = search->n;
    for (size_t i = 0; i < names->n; i++) {
        struct stat about;
        if (!descend(search, names->name[i]) || stat(search->path, &about) != 0)
            about = (struct stat){.st_mode = 0}; /* a link that leads nowhere */
        const bool is_anchor = anchored_format(names->name[i]) != NULL,
                   is_file = S_ISREG(about.st_mode);
        const bool has_some =
            is_file && about.st_size > 0 && !(is_anchor && is_zeros(search->path));
        search->n = n;
        search->path[n] = '\0';
        has_bytes |= has_some;
        if (!S_ISDIR(about.st_mode) && !has_some && is_anchor)
            empty = names->name[i];
    }
    return has_bytes ? empty : NULL;
}

/* Keeps the folder at the path; why: NULL where it can be read. */
static ttr_status keep_part(struct search *search, const struct format *format, const char *why,
                            ttr_error *error)
{
    const struct alloc *alloc = &search->t->counted;
    if (!alloc_reserve(alloc, (void **)&search->part, &search->parts_capacity, search->parts_n + 1,
                       sizeof *search->part))
        return fail_memory(error);
    struct folder *folder =
        folder_open(alloc, search->t->descriptors, search->path, OPEN_FOLDER_DEPTH, error);
    if (!folder)
        return error ? error->status : TTR_E_IO;
    folder_set_place(folder, search->root_n);
    search->part[search->parts_n++] = (struct part){format, {folder, why}};
    search->told_n += !why;
    return TTR_OK;
}

/* Why the anchor at the path tells nothing. */
static const char *why_untold(const char *path)
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
    return is_zeros(path) ? "full of zeros" : "none of any known kind";
}

/* Keeps the folder at hand as one whose anchor is not good. */
static ttr_status take_untold(struct search *search, const char *anchor, ttr_error *error)
{
    size_t n = search->n;
    char text[PATH_MAX + sizeof UNTOLD + 128];
    const struct format *format = anchored_format(anchor);
    if (!descend(search, anchor))
        return TTR_OK;
    const char *why = why_untold(search->path);
    if (search->untold.n == 0)
        search->untold_why = why;
    pass_over(search, &search->untold);
    if (!format->folder->open_several || is_strict(search))
        pass_over(search, &search->unplaced);
    (void)snprintf(text, sizeof text, UNTOLD, search->path, why, "that folder alone");
    search->n = n;
    search->path[n] = '\0';
    if (!format->folder->open_several ||
        is_strict(search)) /* strict reading ends at the first of them */
        return TTR_OK;
    const char *sentence = arena_copy(&search->arena, text, strlen(text));
    return sentence ? keep_part(search, format, sentence, error) : fail_memory(error);
}

/* The anchor of the folder at the path that is there and may not be read, or NULL. */
static const char *find_locked(struct search *search)
{
    const char *locked = NULL;
    size_t n = search->n;
    for (size_t i = 0; format_at(i) && !locked; i++) {
        const struct format_folder *of = format_at(i)->folder;
        const char *anchor = of ? of->anchor : NULL;
        if (anchor && descend(search, anchor))
            locked =
                access(search->path, F_OK) == 0 && access(search->path, R_OK) != 0 ? anchor : NULL;
        search->n = n;
        search->path[n] = '\0';
    }
    return locked;
}

/* Nothing says of what format the folder at the path is: among others one whose anchor is locked is
 * untold, all else a failure. */
static ttr_status take_locked(struct search *search, const ttr_error *reason, ttr_error *error)
{
    const char *anchor = reason->status == TTR_E_IO && search->level > 0 && !is_strict(search)
                             ? find_locked(search)
                             : NULL;
    return anchor ? take_untold(search, anchor, error) : fail_named(search->path, reason, error);
}

/* Takes what stands under a name of the folder at hand. */
static ttr_status take_name(struct search *search, const char *name, ttr_error *error)
{
    size_t n = search->n;
    ttr_status status = descend(search, name) ? take_path(search, name, error) : TTR_OK;
    search->n = n;
    search->path[n] = '\0';
    return status;
}

static ttr_status take_names(struct search *search, ttr_error *error)
{
    struct names names = {.n = 0};
    const bool has_file = search->has_file;
    const char *anchor = search->anchor;
    arena_init(&names.arena, &search->t->counted);
    search->has_file = false;
    search->anchor = NULL;
    ttr_status status = names_read(&names, search->path, error);
    for (size_t i = 0; i < names.n && status == TTR_OK && context_goes_on(search->t); i++)
        status = take_name(search, names.name[i], error);
    const char *untold = search->anchor ? search->anchor : find_untold(search, &names);
    if (untold && !search->has_file && status == TTR_OK)
        status = take_untold(search, untold, error);
    search->has_file = has_file;
    search->anchor = anchor;
    names_free(&names);
    return status;
}

/* The folder at the path: one trace, or a place of traces. */
static ttr_status search_folder(struct search *search, const struct stat *about, ttr_error *error)
{
    const struct format *format;
    ttr_error reason = {0};
    if (pairmap_get(&search->seen, about->st_dev, about->st_ino))
        return TTR_OK;
    if (!pairmap_put(&search->seen, about->st_dev, about->st_ino, 1))
        return fail_memory(error);
    if (folder_format(search->t, search->path, search->options, &format, &reason) != TTR_OK)
        return take_locked(search, &reason, error);
    if (!format)
        return take_names(search, error);
    if (format->folder->open_several)
        return keep_part(search, format, NULL, error);
    ttr_reader *reader =
        open_folder(search->t, search->path, NULL, format, search->options, &reason);
    return take(search, reader, &reason, error);
}

static void note(const struct search *search, const struct passed *passed, const char *code,
                 const char *format, ...)
{
    struct notes *notes = reader_notes(search->reader[0]);
    const bool is_odd = passed == &search->too_deep || passed == &search->nowhere;
    ttr_severity severity = passed == &search->unplaced ? TTR_NOTE_DAMAGE
                            : is_odd                    ? TTR_NOTE_ODD
                                                        : TTR_NOTE_REMARK;
    for (uint64_t i = 0; notes && i < passed->n; i++) {
        va_list values;
        va_start(values, format);
        notes_add(notes, severity, &(ttr_region){.offset = NO_OFFSET, .code = code}, format,
                  values);
        va_end(values);
    }
}

/* Its name, also where there was no memory for it. */
static const char *untold_name(const struct passed *untold)
{
    return untold->first ? untold->first : "a file that others need";
}

static void note_passed(const struct search *search)
{
    const char *first = search->no_trace.first, *deep = search->too_deep.first,
               *nowhere = search->nowhere.first;
    note(search, &search->no_trace, "directory.passed-over", "%s is no trace and was passed over",
         first ? first : "a file");
    note(search, &search->unplaced, "directory.untold", UNTOLD, untold_name(&search->unplaced),
         search->untold_why, "that folder alone");
    note(search, &search->too_deep, "directory.too-deep",
         "%s is deeper than %u levels and was not looked into: what is in it must be named",
         deep ? deep : "a folder", FOLDER_LEVELS_MAX);
    note(search, &search->nowhere, "directory.no-file",
         "%s is a link that leads nowhere: it was passed over", nowhere ? nowhere : "a file");
}

/* Opens the folders of one format, the first one's, together. */
static ttr_status open_parts(struct search *search, ttr_error *error)
{
    const struct alloc *alloc = &search->t->counted;
    const struct format *format = search->part[0].format;
    struct folder_found *found = alloc_zero(alloc, search->parts_n, sizeof *found);
    const struct folder *first = NULL; /* that can be read */
    size_t n = 0, left = 0, told = 0;
    ttr_error reason = {0};
    if (!found)
        return fail_memory(error);
    for (size_t i = 0; i < search->parts_n; i++) {
        const struct part *part = &search->part[i];
        if (part->format != format) {
            search->part[left++] = *part;
            continue;
        }
        first = !first && !part->found.untold ? part->found.folder : first;
        told += !part->found.untold;
        found[n++] = part->found;
    }
    size_t capacity = search->parts_n;
    search->parts_n = left;
    (void)snprintf(search->path, sizeof search->path, "%s",
                   folder_path(first ? first : found[0].folder));
    search->n = strlen(search->path);
    ttr_read_options own;
    const bool has_others = search->readers_n > 0 || left > 0;
    ttr_reader *reader =
        format->folder->open_several(search->t, &(struct folders_found){found, n, has_others},
                                     options_of(format, search->options, &own), &reason);
    alloc_free(alloc, found, capacity, sizeof *found);
    if (told > 1) { /* the reason names one of them, which need not be the first */
        search->n = search->root_n;
        search->path[search->n] = '\0';
    }
    if (!reader && !has_others) /* nothing else is there to be read */
        return fail_named(search->path, &reason, error);
    return take(search, reader, &reason, error);
}

/* Whether files lie in the directory itself, which is then the folder of that trace. */
static bool has_files(struct search *search, const char *path)
{
    struct folder *folder = folder_open(&search->t->counted, search->t->descriptors, path, 0, NULL);
    bool is_there = folder && folder_at(folder, 0);
    folder_close(folder);
    return is_there;
}

/* Puts what stands for traces that cannot be read behind the others.  It has no events, so it is no
 * reason to take tables of a trace beside it for mixed up. */
static bool add_unreadable(struct search *search, ttr_error *error)
{
    const size_t n = search->readers_n + search->unreadable_n;
    if (!alloc_reserve(&search->t->counted, (void **)&search->reader, &search->readers_capacity, n,
                       sizeof(ttr_reader *)))
        return fail_memory(error) == TTR_OK;
    for (size_t i = 0; i < search->unreadable_n; i++) {
        search->unreadable[i]->apart = search->reader[0]->apart;
        search->reader[search->readers_n++] = search->unreadable[i];
    }
    search->unreadable_n = 0;
    return true;
}

static ttr_reader *finish(struct search *search, const char *path, ttr_error *error)
{
    /* Beside nothing that can be read, what is untold is the reason. */
    while (search->parts_n > 0 && search->readers_n + search->told_n > 0)
        if (open_parts(search, error) != TTR_OK)
            return NULL;
    const struct format *anchored =
        search->readers_n == 0 ? format_anchored(search->options) : NULL;
    if (anchored && has_files(search, path))
        return open_folder(search->t, path, NULL, anchored, search->options, error);
    if (search->untold.n && (is_strict(search) || search->readers_n == 0)) {
        (void)fail(error, search->readers_n ? TTR_E_MALFORMED : TTR_E_UNSUPPORTED, NO_OFFSET,
                   UNTOLD, untold_name(&search->untold), search->untold_why,
                   search->readers_n ? "that folder alone" : "the folder");
        (void)fail_option(error, TTR_E_MALFORMED, "ctf.metadata");
        return NULL;
    }
    if (search->readers_n == 0 && search->unreadable_n) {
        (void)fail_option(
            error,
            fail(error, search->reason.status, search->reason.offset, "%s", search->reason.text),
            search->reason.option);
        return NULL;
    }
    if (search->readers_n == 0) {
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                   "the directory %s holds no trace (%llu file%s looked at%s)", path,
                   (unsigned long long)search->files, search->files == 1 ? "" : "s",
                   search->too_deep.n
                       ? "; some folders are too deep to be looked into, which must be named"
                       : "");
        return NULL;
    }
    note_passed(search);
    if (!add_unreadable(search, error))
        return NULL;
    size_t n = search->readers_n;
    search->readers_n = 0; /* taken over */
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
    pairmap_init(&search.seen, &t->counted);
    bool is_there = stat(path, &about) == 0 && descend(&search, path);
    search.root_n = search.n + (search.n > 0 && search.path[search.n - 1] != '/');
    if (!is_there)
        (void)fail_sys(error, errno ? errno : ENAMETOOLONG, NO_OFFSET, "cannot look into %s", path);
    else if (search_folder(&search, &about, error) == TTR_OK)
        merged = finish(&search, path, error);
    for (size_t i = 0; i < search.readers_n; i++)
        ttr_close(search.reader[i]);
    for (size_t i = 0; i < search.unreadable_n; i++)
        ttr_close(search.unreadable[i]);
    for (size_t i = 0; i < search.parts_n; i++)
        folder_close(search.part[i].found.folder);
    alloc_free(&t->counted, search.unreadable, search.unreadable_capacity, sizeof(ttr_reader *));
    alloc_free(&t->counted, search.part, search.parts_capacity, sizeof *search.part);
    alloc_free(&t->counted, search.reader, search.readers_capacity, sizeof(ttr_reader *));
    pairmap_free(&search.seen);
    arena_free(&search.arena);
    return merged;
}
