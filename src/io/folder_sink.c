/* Output folders: files are written in a hidden temporary folder next to the target, which is
 * renamed to the target when all files are complete.
 *
 * A trace may have more files than the process may have descriptors, so the files share a pool
 * (io/descriptor_pool.h). An old folder is exchanged with the new one atomically and then removed.
 * File systems without atomic exchange (some network ones) rename the old folder aside first. */
#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/status.h"
#include "base/utf.h"
#include "io/descriptor_pool.h"
#include "io/source.h"
#include "io/temporary_path.h"

enum {
    PART_BUFFER_SIZE =
        /* size in bytes of the write buffer of an open file; packets are larger and are written
         * directly */
    16 << 10,
    REMOVE_FDS = 16 /* maximum number of descriptors that nftw opens */
};

struct part {
    struct folder_sink *folder;
    struct sink *sink;
    struct part *previous, *next; /* neighbours in the folder's list of unfinished files */
    char *path;                   /* path in the temporary folder */
    /* size of `path` in bytes; index in it of the name relative to the folder */
    size_t path_size, name_at;
    struct shared_file file;
};

struct folder_sink {
    const struct alloc *alloc;
    /* final path of the folder; path of the temporary folder, NULL if there is none to remove */
    char *target, *temporary;
    size_t target_size, temporary_size;
    /* overwrite: the caller allows replacing traces; replaces: the target exists already */
    bool overwrite, replaces;
    bool is_dry_run; /* dry run: bytes are discarded and counted */
    bool is_broken;  /* writing one of the files failed */
    struct part *parts;
    struct descriptor_pool *pool; /* descriptors of the files; NULL for a dry run */
    uint64_t bytes;               /* size of all finished files */
};

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

/* Removes a folder recursively without following links. Returns 0 or an errno. */
static int remove_tree(const char *path)
{
    errno = 0;
    return nftw(path, remove_entry, REMOVE_FDS, FTW_DEPTH | FTW_PHYS) == 0 ? 0
           : errno                                                         ? errno
                                                                           : EIO;
}

static void clear_temporary_path(struct folder_sink *folder)
{
    alloc_free(folder->alloc, folder->temporary, folder->temporary_size, 1);
    folder->temporary = NULL;
}

static void folder_sink_free(struct folder_sink *folder)
{
    while (folder->parts)
        sink_abandon(folder->parts->sink); /* sink_abandon also removes the file from the list */
    if (folder->temporary)
        (void)remove_tree(folder->temporary);
    clear_temporary_path(folder);
    descriptor_pool_unref(folder->pool);
    alloc_free(folder->alloc, folder->target, folder->target_size, 1);
    alloc_free(folder->alloc, folder, 1, sizeof *folder);
}

static bool set_target_path(struct folder_sink *folder, const char *path, size_t n,
                            ttr_error *error)
{
    char *target = alloc_resize(folder->alloc, folder->target, folder->target_size, n + 1, 1);
    if (!target) {
        (void)fail_memory(error);
        return false;
    }
    memcpy(target, path, n);
    target[n] = '\0';
    folder->target = target;
    folder->target_size = n + 1;
    return true;
}

/* Returns true if a folder has no entries, so that removing it loses nothing. */
static bool is_empty_file(const char *path)
{
    unsigned n = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    /* The stream is not shared with other threads, as POSIX requires for readdir. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, n <= 2 && readdir(directory))
        n++;
    n += errno ? 3 : 0; /* on an error assume that the folder has entries */
    (void)closedir(directory);
    return n <= 2; /* "." and ".." */
}

/* Returns true if a folder or one of its subfolders contains a regular file of that name. Does not
 * follow links to folders. */
static bool contains_file(const char *path, const char *name, unsigned depth)
{
    char file[PATH_MAX];
    struct stat about;
    int n = snprintf(file, sizeof file, "%s/%s", path, name);
    if (n > 0 && (size_t)n < sizeof file && stat(file, &about) == 0 && S_ISREG(about.st_mode))
        return true;
    DIR *directory = depth ? opendir(path) : NULL;
    const struct dirent *entry;
    bool is_found = false;
    /* cppcheck-suppress readdirCalled */
    while (directory && !is_found && (entry = readdir(directory))) {
        n = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        bool is_inner = entry->d_name[0] != '.' && n > 0 && (size_t)n < sizeof file &&
                        lstat(file, &about) == 0 && S_ISDIR(about.st_mode);
        is_found = is_inner && contains_file(file, name, depth - 1);
    }
    if (directory)
        (void)closedir(directory);
    return is_found;
}

/* Returns true if a file looks like text: its first 4 KiB are UTF-8 without control characters, and
 * its last byte is a newline. Stream files of traces hardly ever do. */
static bool is_text_file(const char *path)
{
    uint8_t bytes[4096], last = 0;
    struct stat about;
    int fd = regular_file_open(path, &about);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;
    bool is_plain = n > 0 && pread(fd, &last, 1, about.st_size - 1) == 1 && last == '\n';
    if (fd >= 0)
        (void)close(fd);
    for (ssize_t i = 0; i < n && is_plain; i++)
        is_plain = bytes[i] >= ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r');
    if ((size_t)n == sizeof bytes)
        /* the read of 4 KiB may have ended inside a character */
        while (n > 0 && bytes[n - 1] >= 0x80)
            n--;
    return is_plain && utf8_is_valid(bytes, (size_t)n);
}

/* State of the search for files that are not part of a trace, in a folder to be replaced. */
struct old_folder {
    const struct alloc *alloc;
    char path[PATH_MAX]; /* path of the entry that is being checked */
    const struct trace_marker *mark;
    /* first bytes of the current mark file (FOLDER_PREFIX_SIZE), then room for as many bytes of the
     * file to compare */
    uint8_t *begin;
    size_t mark_n;
    bool has_mark; /* the current folder contains the mark file: it is a trace */
    bool is_index; /* the current folder is the "index" folder of a trace */
    int reason;    /* 0, or the errno of an entry that cannot be read */
};

static bool find_foreign_entry(struct old_folder *old);

/* Reads the first FOLDER_PREFIX_SIZE bytes of a file, decompressed, since traces may contain
 * compressed files. Returns their number, 0 also if the file cannot be read. */
static size_t read_prefix(const struct old_folder *old, uint8_t *bytes)
{
    const struct source_options how = {.no_mmap = true, .chunk = FOLDER_PREFIX_SIZE};
    struct window window;
    ttr_error error;
    struct source *source = source_open(old->alloc, old->path, &how, &error);
    const bool has_any =
        source && source_fill(source, 0, FOLDER_PREFIX_SIZE, &window, &error) == TTR_OK;
    const size_t n = !has_any ? 0 : window.n < FOLDER_PREFIX_SIZE ? window.n : FOLDER_PREFIX_SIZE;
    if (n)
        memcpy(bytes, window.bytes, n);
    source_close(source);
    return n;
}

/* Returns true for "stream" and "stream_12". Converters use these names for streams without a name,
 * so such a file is accepted without checking its content. */
static bool is_file_of_unnamed_stream(const char *name)
{
    static const char word[] = "stream";
    const char *rest = name + sizeof word - 1;
    if (strncmp(name, word, sizeof word - 1) != 0)
        return false;
    return !*rest ||
           (*rest == '_' && rest[1] && strspn(rest + 1, "0123456789") == strlen(rest + 1));
}

/* Returns true if the regular file at old->path belongs to another trace than the mark file in the
 * same folder, or to none. */
static bool is_unrelated_file(struct old_folder *old, const char *name)
{
    if (strcmp(name, old->mark->name) == 0)
        return false;
    if (!is_file_of_unnamed_stream(name) && is_text_file(old->path))
        return true;
    if (!old->mark->is_part)
        return false;
    const struct file_prefix mark = {old->begin, old->mark_n},
                             file = {old->begin + FOLDER_PREFIX_SIZE,
                                     read_prefix(old, old->begin + FOLDER_PREFIX_SIZE)};
    return file.n > 0 && !old->mark->is_part(&mark, &file);
}

/* Reads the first bytes of the mark file in the current folder. */
static void read_mark_prefix(struct old_folder *old)
{
    const size_t n = strlen(old->path);
    const int written = snprintf(old->path + n, sizeof old->path - n, "/%s", old->mark->name);
    old->mark_n =
        written > 0 && (size_t)written < sizeof old->path - n ? read_prefix(old, old->begin) : 0;
    old->path[n] = '\0';
}

/* Returns true if the entry at old->path is not part of a trace, or is a folder that contains such
 * an entry. */
static bool is_foreign_entry(struct old_folder *old, const char *name)
{
    struct stat about;
    if (lstat(old->path, &about) != 0)
        return false;
    if (name[0] == '.')
        return true;
    if (S_ISREG(about.st_mode) && old->is_index)
        return !folder_is_index_file(name);
    if (S_ISREG(about.st_mode))
        return !old->has_mark || is_unrelated_file(old, name);
    if (!S_ISDIR(about.st_mode) || is_empty_file(old->path))
        return false;
    const bool has_mark = old->has_mark, is_index = old->is_index;
    old->is_index = has_mark && strcmp(name, FOLDER_INDEX) == 0;
    bool is_found = is_index || (has_mark && !old->is_index) || find_foreign_entry(old);
    old->has_mark = has_mark;
    old->is_index = is_index;
    return is_found;
}

/* Searches the current folder for an entry that is not part of a trace, or that cannot be read.
 * Returns true if it finds one, with old->path set to the entry. */
static bool find_foreign_entry(struct old_folder *old)
{
    size_t n = strlen(old->path);
    DIR *directory = opendir(old->path);
    const struct dirent *entry;
    bool is_found = false;
    old->reason = directory ? 0 : errno;
    old->has_mark = !old->is_index && contains_file(old->path, old->mark->name, 0);
    if (old->has_mark)
        read_mark_prefix(old);
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, directory && !is_found && (entry = readdir(directory))) {
        bool is_named = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        int written = snprintf(old->path + n, sizeof old->path - n, "/%s", entry->d_name);
        is_found = is_named && written > 0 && (size_t)written < sizeof old->path - n &&
                   is_foreign_entry(old, entry->d_name);
        if (!is_found)
            old->path[n] = '\0';
    }
    if (!is_found && errno) /* readdir failed: not the end of the folder */
        old->reason = errno;
    if (directory)
        (void)closedir(directory);
    return is_found || old->reason;
}

/* Fails if the target contains anything but traces, because replacing the target would remove it.
 * Returns true if it failed. */
static bool check_for_foreign_entries(const struct folder_sink *folder,
                                      const struct trace_marker *mark, ttr_error *error)
{
    struct old_folder old = {.alloc = folder->alloc,
                             .mark = mark,
                             .begin = alloc_zero(folder->alloc, 2, FOLDER_PREFIX_SIZE)};
    int n = snprintf(old.path, sizeof old.path, "%s", folder->target);
    if (!old.begin) {
        (void)fail_memory(error);
        return true;
    }
    const bool is_found = n >= 0 && (size_t)n < sizeof old.path && find_foreign_entry(&old);
    alloc_free(folder->alloc, old.begin, 2, FOLDER_PREFIX_SIZE);
    if (is_found && old.reason)
        (void)fail_sys(error, old.reason, NO_OFFSET,
                       "will not replace the folder %s: cannot read all of %s", folder->target,
                       old.path);
    else if (is_found)
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "will not replace the folder %s: %s in it is not part of a trace; move it "
                   "away, or name another folder",
                   folder->target, old.path);
    return is_found;
}

/* Checks that an existing target may be replaced, and resolves links in its path. Returns false
 * with `error` if it may not. */
static bool check_is_replaceable(struct folder_sink *folder, const struct trace_marker *mark,
                                 ttr_error *error)
{
    char real[PATH_MAX];
    if (!is_empty_file(folder->target)) {
        if (!folder->overwrite)
            (void)fail_sys(error, EEXIST, NO_OFFSET,
                           "will not overwrite the folder %s; remove it, choose another name, or "
                           "ask to overwrite",
                           folder->target);
        else if (!contains_file(folder->target, mark->name, FOLDER_LEVELS_MAX))
            (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                       "will not replace the folder %s: it is not a trace of this format (no file "
                       "\"%s\" in it); "
                       "name a new folder in it",
                       folder->target, mark->name);
        if (!folder->overwrite || !contains_file(folder->target, mark->name, FOLDER_LEVELS_MAX) ||
            check_for_foreign_entries(folder, mark, error))
            return false;
    }
    if (!realpath(folder->target, real)) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot resolve the path %s", folder->target);
        return false;
    }
    folder->replaces = true;
    /* The target is the resolved path, so a link to it remains a link. */
    return set_target_path(folder, real, strlen(real), error);
}

static bool check_target(struct folder_sink *folder, const struct trace_marker *mark,
                         ttr_error *error)
{
    struct stat about;
    if (stat(folder->target, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return check_is_replaceable(folder, mark, error);
        (void)fail_sys(error, ENOTDIR, NO_OFFSET, "cannot create the folder %s: the name is in use",
                       folder->target);
        return false;
    }
    if (errno != ENOENT) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot create %s%s", folder->target,
                       sink_error_advice(errno));
        return false;
    }
    if (lstat(folder->target, &about) != 0)
        return true;
    (void)fail_sys(error, ENOENT, NO_OFFSET,
                   "%s is a dangling link; remove it or create its target", folder->target);
    return false;
}

static bool create_temporary(struct folder_sink *folder, ttr_error *error)
{
    struct stat old;
    size_t size = folder->target_size + TEMPORARY_SUFFIX_MAX;
    folder->temporary = alloc_zero(folder->alloc, size, 1);
    folder->temporary_size = size;
    if (!folder->temporary) {
        (void)fail_memory(error);
        return false;
    }
    int result = -1;
    for (int i = 0; i < TEMPORARY_TRIES_MAX && result != 0; i++) {
        temporary_path(folder->temporary, size, folder->target);
        result = mkdir(folder->temporary, 0777);
        if (result != 0 && errno != EEXIST)
            break;
    }
    if (result == 0) {
        if (folder->replaces && stat(folder->target, &old) == 0)
            /* a failure is ignored: the file system may not support modes */
            (void)chmod(folder->temporary, (old.st_mode & 07777) | S_IRWXU);
        return true;
    }
    int reason = errno;
    clear_temporary_path(folder);
    (void)fail_sys(error, reason, NO_OFFSET, "cannot create %s%s", folder->target,
                   sink_error_advice(reason));
    return false;
}

static struct folder_sink *folder_sink_new(const struct alloc *alloc, ttr_error *error)
{
    struct folder_sink *folder = alloc_zero(alloc, 1, sizeof *folder);
    if (folder)
        folder->alloc = alloc;
    else
        (void)fail_memory(error);
    return folder;
}

struct folder_sink *folder_create(const struct alloc *alloc,
                                  const struct folder_output_options *target, ttr_error *error)
{
    const char *path = target->path;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *slash = memrchr(path, '/', n);
    const char *name = slash ? slash + 1 : path;
    size_t name_n = (size_t)(path + n - name);
    if (name_n == 0 || (name_n <= 2 && memcmp(name, "..", name_n) == 0)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "\"%s\" cannot be created; name a folder in it",
                   path);
        return NULL;
    }
    struct folder_sink *folder = folder_sink_new(alloc, error);
    if (!folder)
        return NULL;
    folder->overwrite = target->overwrite;
    folder->pool =
        target->shared ? descriptor_pool_ref(target->shared) : descriptor_pool_new(alloc);
    if (!folder->pool)
        (void)fail_memory(error);
    else if (set_target_path(folder, path, n, error) &&
             check_target(folder, &target->mark, error) && create_temporary(folder, error))
        return folder;
    folder_sink_free(folder);
    return NULL;
}

struct folder_sink *folder_create_dry_run(const struct alloc *alloc, ttr_error *error)
{
    struct folder_sink *folder = folder_sink_new(alloc, error);
    if (folder)
        folder->is_dry_run = true;
    return folder;
}

/* --- Files of an output folder --- */

/* Implements sink_part.push: appends to the file (O_APPEND), which is first reopened if the pool
 * has closed its descriptor. */
static int64_t part_write(void *ctx, const void *bytes, size_t n)
{
    struct part *part = ctx;
    if (part->folder->is_dry_run)
        return (int64_t)n;
    int fd = shared_file_acquire(&part->file);
    int64_t put = fd >= 0 ? write(fd, bytes, n) : -1;
    if (fd >= 0)
        shared_file_release(&part->file);
    part->folder->is_broken |= put < 0 && errno != EINTR && errno != EAGAIN;
    return put;
}

/* Implements sink_part.rewrite: overwrites bytes through a second descriptor, because pwrite
 * appends if O_APPEND is set. Returns 0 or an errno. */
static int part_rewrite(void *ctx, uint64_t at, const void *bytes, size_t n)
{
    const struct part *part = ctx;
    const uint8_t *from = bytes;
    int fd, reason = 0;
    if (part->folder->is_dry_run)
        return 0;
    while ((fd = open(part->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        if ((errno != EMFILE && errno != ENFILE) ||
            !descriptor_pool_close_idle(part->folder->pool)) {
            reason = errno;
            part->folder->is_broken = true;
            return reason;
        }
    while (n && !reason) {
        const ssize_t put = pwrite(fd, from, n, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        reason = put > 0 ? 0 : put < 0 ? errno : EIO;
        from += put > 0 ? put : 0;
        at += put > 0 ? (uint64_t)put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    if (close(fd) != 0 && !reason)
        reason = errno;
    part->folder->is_broken |= reason != 0;
    return reason;
}

static void part_free(struct part *part)
{
    const struct alloc *alloc = part->folder->alloc;
    if (part->previous)
        part->previous->next = part->next;
    else if (part->folder->parts == part)
        part->folder->parts = part->next;
    if (part->next)
        part->next->previous = part->previous;
    alloc_free(alloc, part->path, part->path_size, 1);
    alloc_free(alloc, part, 1, sizeof *part);
}

static int part_finish(void *ctx, bool is_whole)
{
    struct part *part = ctx;
    struct folder_sink *folder = part->folder;
    int reason = folder->is_dry_run ? 0 : shared_file_close(&part->file);
    if (part->sink && is_whole)
        folder->bytes += sink_offset(part->sink);
    if (!is_whole && !folder->is_dry_run)
        (void)unlink(part->path);
    folder->is_broken |= is_whole && reason != 0;
    part_free(part);
    return reason;
}

/* Returns true if the name stays within the folder: components separated by single slashes, without
 * "." and "..". */
static bool is_name_inside(const char *name)
{
    for (const char *at = name;; at++) {
        size_t n = strcspn(at, "/");
        if (n == 0 || (n <= 2 && memcmp(at, "..", n) == 0))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* Creates the missing folders of a path, from index `from` on. Returns 0 or an errno. */
static int make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int result = mkdir(path, 0777);
        *slash = '/';
        if (result != 0 && errno != EEXIST)
            return errno;
    }
    return 0;
}

static struct part *part_new(struct folder_sink *folder, const char *name)
{
    struct part *part = alloc_zero(folder->alloc, 1, sizeof *part);
    if (!part)
        return NULL;
    part->folder = folder;
    part->name_at = (folder->temporary ? strlen(folder->temporary) : 0) + 1;
    part->path_size = part->name_at + strlen(name) + 1;
    part->path = alloc_zero(folder->alloc, part->path_size, 1);
    part->next = folder->parts;
    if (part->next)
        part->next->previous = part;
    folder->parts = part;
    if (!part->path) {
        part_free(part);
        return NULL;
    }
    (void)snprintf(part->path, part->path_size, "%s/%s", folder->temporary ? folder->temporary : "",
                   name);
    part->file = (struct shared_file){.pool = folder->pool,
                                      .path = part->path,
                                      .fd = -1,
                                      .flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CREAT | O_EXCL};
    return part;
}

/* Creates the file. Returns 0 or an errno, EEXIST if a file of this name exists. */
static int create_file(struct part *part)
{
    const struct folder_sink *folder = part->folder;
    if (folder->is_dry_run)
        return 0;
    int reason = make_folders(part->path, part->name_at);
    if (reason)
        return reason;
    if (shared_file_acquire(&part->file) < 0)
        return errno;
    shared_file_release(&part->file);
    return 0;
}

struct sink *folder_create_file(struct folder_sink *folder, const char *name, ttr_error *error)
{
    char path[PATH_MAX]; /* path that the file will have in the finished folder, for messages */
    if (!is_name_inside(name)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "\"%s\" is not a valid file name in a folder",
                   name);
        return NULL;
    }
    struct part *part = part_new(folder, name);
    if (!part) {
        (void)fail_memory(error);
        return NULL;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder->target ? folder->target : "", name);
    int reason = create_file(part);
    if (reason == EEXIST)
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "%s would be written twice: another file of this trace has that name", path);
    else if (reason)
        (void)fail_sys(error, reason, NO_OFFSET, "cannot create %s%s", path,
                       sink_error_advice(reason));
    if (reason) {
        part_free(part); /* not part_finish, which would remove the existing file */
        return NULL;
    }
    part->sink = sink_open_part(
        folder->alloc, path,
        &(struct sink_part){part_write, part_rewrite, part_finish, part, PART_BUFFER_SIZE}, error);
    if (!part->sink) {
        (void)part_finish(part, false);
        return NULL;
    }
    return part->sink;
}

ttr_status folder_rename(struct folder_sink *folder, const char *from, const char *to,
                         ttr_error *error)
{
    char old[PATH_MAX], new[PATH_MAX];
    if (folder->is_dry_run)
        return TTR_OK;
    if (!is_name_inside(from) || !is_name_inside(to))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%s\" and \"%s\" are not valid names in a folder", from, to);
    int old_n = snprintf(old, sizeof old, "%s/%s", folder->temporary, from);
    int new_n = snprintf(new, sizeof new, "%s/%s", folder->temporary, to);
    int reason = (size_t)old_n >= sizeof old || (size_t)new_n >= sizeof new
                     ? ENAMETOOLONG
                     : make_folders(new, strlen(folder->temporary) + 1);
    if (reason == 0 && rename(old, new) != 0 && errno != ENOENT)
        reason = errno;
    return reason ? fail_sys(error, reason, NO_OFFSET, "cannot rename %s/%s to %s", folder->target,
                             from, to)
                  : TTR_OK;
}

uint64_t folder_bytes_written(const struct folder_sink *folder)
{
    uint64_t bytes = folder->bytes;
    for (const struct part *part = folder->parts; part; part = part->next)
        bytes += sink_offset(part->sink);
    return bytes;
}

ttr_status folder_flush(struct folder_sink *folder, ttr_error *error)
{
    for (struct part *part = folder->parts; part; part = part->next) {
        ttr_status status = sink_flush(part->sink, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

const char *folder_temporary_path(const struct folder_sink *folder)
{
    return folder->temporary;
}

/* --- Finishing --- */

/* Renames the old folder aside and the new one to the target. If the second rename fails, undoes
 * the first. Returns 0 or an errno. */
static int replace_by_two_renames(struct folder_sink *folder)
{
    char aside[PATH_MAX];
    if (folder->temporary_size > sizeof aside)
        return ENAMETOOLONG;
    temporary_path(aside, sizeof aside, folder->target);
    if (rename(folder->target, aside) != 0)
        return errno;
    if (rename(folder->temporary, folder->target) != 0) {
        int reason = errno;
        (void)rename(aside, folder->target);
        return reason;
    }
    /* both names are derived from the same target, so they have the same size */
    memcpy(folder->temporary, aside, strlen(aside) + 1);
    return 0;
}

/* Exchanges the old and the new folder atomically; the old one then has the temporary name. Returns
 * 0 or an errno. */
static int exchange_with_target(struct folder_sink *folder)
{
    if (is_empty_file(folder->target))
        return rename(folder->temporary, folder->target) == 0 ? 0 : errno;
    if (!folder->overwrite)
        return EEXIST; /* entries were added after the output was created */
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->target, RENAME_EXCHANGE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? replace_by_two_renames(folder) : errno;
}

/* Renames the temporary folder to the target. Fails if a folder was created there meanwhile.
 * Returns 0 or an errno. */
static int rename_to_target(const struct folder_sink *folder)
{
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->target, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    return rename(folder->temporary, folder->target) == 0
               ? 0
               : errno; /* rename fails if the target is now a folder with entries */
}

/* Removes the replaced folder, which the exchange has given the temporary name. */
static ttr_status remove_old_folder(struct folder_sink *folder, ttr_error *error)
{
    int reason = remove_tree(folder->temporary);
    ttr_status status =
        reason ? fail_sys(error, reason, NO_OFFSET,
                          "%s is complete, but the folder it replaced could not be removed: %s",
                          folder->target, folder->temporary)
               : TTR_OK;
    clear_temporary_path(folder);
    return status;
}

ttr_status folder_finish(struct folder_sink *folder, ttr_error *error)
{
    ttr_status status = TTR_OK;
    bool had_old = folder->replaces && !is_empty_file(folder->target);
    if (folder->parts)
        status = fail(error, TTR_E_MISUSE, NO_OFFSET, "the file %s of a folder was not ended",
                      folder->parts->path + folder->parts->name_at);
    else if (folder->is_broken)
        status = fail(error, TTR_E_IO, NO_OFFSET, "a file of %s could not be written completely",
                      folder->target);
    else if (!folder->is_dry_run) {
        int reason = folder->replaces ? exchange_with_target(folder) : rename_to_target(folder);
        if (reason)
            status = fail_sys(error, reason, NO_OFFSET, "cannot rename the temporary file to %s",
                              folder->target);
        else if (had_old)
            status = remove_old_folder(folder, error);
        else
            clear_temporary_path(folder);
    }
    folder_sink_free(folder);
    return status;
}

void folder_abandon(struct folder_sink *folder)
{
    if (folder)
        folder_sink_free(folder);
}
