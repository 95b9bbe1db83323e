/* Opening a directory: all traces in it, merged by time.
 *
 * Files are taken in the order of their names, so that the same directory always gives the same trace.  What is no trace is
 * passed over with a remark on the first trace; folders inside, hidden names, and what is no regular file without.  A trace that
 * cannot be read is an error. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "formats/table.h"
#include "model/context.h"
#include "model/input.h"

struct listing {
    ttr *t;
    char **path;
    size_t n, capacity;
    bool *is_passed; /* by file: no trace */
    ttr_reader **reader;
    size_t readers_n;
};

static void free_listing(struct listing *listing)
{
    const struct alloc *alloc = &listing->t->counted;
    for (size_t i = 0; i < listing->readers_n; i++)
        ttr_close(listing->reader[i]);
    for (size_t i = 0; i < listing->n; i++)
        alloc_free(alloc, listing->path[i], strlen(listing->path[i]) + 1, 1);
    alloc_free(alloc, listing->reader, listing->n, sizeof(ttr_reader *));
    alloc_free(alloc, listing->is_passed, listing->n, sizeof *listing->is_passed);
    alloc_free(alloc, listing->path, listing->capacity, sizeof *listing->path);
}

static bool add_path(struct listing *listing, const char *folder, const char *name)
{
    const struct alloc *alloc = &listing->t->counted;
    bool has_slash = folder[strlen(folder) - 1] == '/';
    size_t size = strlen(folder) + !has_slash + strlen(name) + 1; /* exact: free_listing takes it from the text */
    char *path = alloc_zero(alloc, size, 1);
    struct stat about;
    if (!path)
        return false;
    (void)snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        alloc_free(alloc, path, size, 1);
        return true;
    }
    if (!alloc_reserve(alloc, (void **)&listing->path, &listing->capacity, listing->n + 1, sizeof *listing->path)) {
        alloc_free(alloc, path, size, 1);
        return false;
    }
    listing->path[listing->n++] = path;
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

static ttr_status list_files(struct listing *listing, const char *folder, ttr_error *error)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return fail_sys(error, errno, NO_OFFSET, "cannot look into %s", folder);
    bool is_fine = true;
    const struct dirent *entry;
    /* Nobody else has this stream, which is all that POSIX asks for. */
    /* cppcheck-suppress readdirCalled */
    while (is_fine && (entry = readdir(directory)))
        is_fine = entry->d_name[0] == '.' || add_path(listing, folder, entry->d_name);
    (void)closedir(directory);
    if (!is_fine)
        return fail_memory(error);
    if (listing->n)
        qsort(listing->path, listing->n, sizeof *listing->path, compare_paths);
    return TTR_OK;
}

/* The failure of one file, which its text may name already. */
static ttr_status fail_named(const char *path, const ttr_error *reason, ttr_error *error)
{
    if (strstr(reason->text, path))
        return fail(error, reason->status, reason->offset, "%s", reason->text);
    return fail(error, reason->status, reason->offset, "%s: %s", path, reason->text);
}

static ttr_status open_files(struct listing *listing, const ttr_read_options *options, ttr_error *error)
{
    listing->reader = alloc_zero(&listing->t->counted, listing->n, sizeof(ttr_reader *));
    listing->is_passed = alloc_zero(&listing->t->counted, listing->n, sizeof *listing->is_passed);
    if (listing->n && (!listing->reader || !listing->is_passed))
        return fail_memory(error);
    for (size_t i = 0; i < listing->n; i++) {
        ttr_error reason = {0};
        ttr_reader *reader = ttr_open(listing->t, listing->path[i], options, &reason);
        if (reader)
            listing->reader[listing->readers_n++] = reader;
        else if (reason.status == TTR_E_UNSUPPORTED)
            listing->is_passed[i] = true;
        else
            return fail_named(listing->path[i], &reason, error);
    }
    return TTR_OK;
}

/* Readers of regular files are inputs, which have notes. */
static void note_passed(const struct listing *listing)
{
    struct input *first = (struct input *)listing->reader[0];
    for (size_t i = 0; i < listing->n; i++)
        if (listing->is_passed[i])
            input_note(first, TTR_NOTE_REMARK, 0, "directory.passed-over", "%s is no trace and was passed over", listing->path[i]);
}

ttr_reader *open_directory(ttr *t, const char *path, const ttr_read_options *options, ttr_error *error)
{
    struct listing listing = {.t = t};
    ttr_read_options each = options ? *options : (ttr_read_options){.size = sizeof each};
    ttr_reader *merged = NULL;
    /* Tables of several files mean nothing behind each other. */
    each.flags &= ~TTR_READ_DEFINITIONS;
    ttr_status status = list_files(&listing, path, error);
    if (status == TTR_OK)
        status = open_files(&listing, &each, error);
    if (status == TTR_OK && listing.readers_n == 0) {
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "the directory %s holds no trace (%zu files looked at)", path, listing.n);
    } else if (status == TTR_OK) {
        note_passed(&listing);
        merged = ttr_merge(t, listing.reader, listing.readers_n, error);
        listing.readers_n = 0;
    }
    free_listing(&listing);
    return merged;
}
