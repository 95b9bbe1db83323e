/* Stamps of files: size and modification time of each path. Files added to a folder are
 * distinguished from changed files, because they are not read. */
#include "cli/input/file_stamp.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 16u /* depth limit of nested folders, since links may form cycles */

struct step {
    char *path;
    struct stat about;
};

struct file_stamp {
    struct step *step;
    size_t n, capacity;
};

static bool add_folder_stat(struct file_stamp *print, const char *path, const struct stat *about)
{
    if (print->n == print->capacity) {
        const size_t capacity = print->capacity ? 2 * print->capacity : 16;
        struct step *grown = realloc(print->step, capacity * sizeof *grown);
        if (!grown)
            return false;
        print->step = grown;
        print->capacity = capacity;
    }
    print->step[print->n] = (struct step){strdup(path), *about};
    return print->step[print->n++].path != NULL;
}

/* Adds the stamps of a path and of everything below it. A file for which stat fails cannot be read,
 * so it has no stamp. */
static bool add_path_stats(struct file_stamp *print, const char *path, unsigned depth)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return true;
    bool is_fine = add_folder_stat(print, path, &about);
    DIR *folder = is_fine && S_ISDIR(about.st_mode) && depth < DEEPEST ? opendir(path) : NULL;
    const struct dirent *entry;
    while (errno = 0, folder && is_fine && (entry = readdir(folder))) {
        char below[PATH_MAX];
        const int n = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && n > 0 &&
            (size_t)n < sizeof below)
            is_fine = add_path_stats(print, below, depth + 1);
    }
    is_fine = is_fine && (!folder || !errno); /* a failed readdir may have hidden entries */
    if (folder)
        (void)closedir(folder);
    return is_fine;
}

struct file_stamp *file_stamp_record(char *const *path, size_t n)
{
    struct file_stamp *print = calloc(1, sizeof *print);
    bool is_fine = print != NULL;
    for (size_t i = 0; i < n && is_fine; i++)
        is_fine = add_path_stats(print, path[i], 0);
    if (is_fine)
        return print;
    file_stamp_free(print);
    return NULL;
}

static bool is_same_stat(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool file_stamp_equals(const struct file_stamp *print, bool with_folders)
{
    bool is_fine = true;
    for (size_t i = 0; i < print->n && is_fine; i++) {
        const struct step *step = &print->step[i];
        struct stat now;
        if (with_folders || !S_ISDIR(step->about.st_mode))
            is_fine = stat(step->path, &now) == 0 && is_same_stat(&step->about, &now);
    }
    return is_fine;
}

uint64_t file_stamp_print(const struct file_stamp *print, FILE *to, struct timespec *latest)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < print->n; i++) {
        const struct stat *about = &print->step[i].about;
        (void)fprintf(to, "%s %ju %ju %jd %jd.%09ld %jd.%09ld\n", print->step[i].path,
                      (uintmax_t)about->st_dev, (uintmax_t)about->st_ino, (intmax_t)about->st_size,
                      (intmax_t)about->st_mtim.tv_sec, about->st_mtim.tv_nsec,
                      (intmax_t)about->st_ctim.tv_sec, about->st_ctim.tv_nsec);
        bytes += S_ISREG(about->st_mode) ? (uint64_t)about->st_size : 0;
        if (about->st_ctim.tv_sec > latest->tv_sec)
            *latest = about->st_ctim;
        if (about->st_mtim.tv_sec > latest->tv_sec)
            *latest = about->st_mtim;
    }
    return bytes;
}

void file_stamp_free(struct file_stamp *print)
{
    if (!print)
        return;
    for (size_t i = 0; i < print->n; i++)
        free(print->step[i].path);
    free(print->step);
    free(print);
}
