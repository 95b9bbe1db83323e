/* Saved stores of traces: their names, the folder, its size; see the header. */
#include "cli/input/trace_cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/input/file_stamp.h"
#include "cli/input/input_list.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define SUFFIX ".store"
#define TEMPORARY_SUFFIX ".tmp"
#define TEMPORARY_AGE_MAX 3600 /* seconds after which a temporary file has no process any more */
#define RECENT_SECONDS 2       /* a file system may have times of this resolution */
#define WORTHWHILE_NS ((uint64_t)300000000)
#define WORTHWHILE_BYTES ((uint64_t)16 << 20)
#define SIZE_MAX_DEFAULT ((uint64_t)1 << 30)
#define STORES_MAX 4096u

/* --- Key --- */

/* Prints an option that was given. */
static void print_option(FILE *to, const struct option_row *row, const struct settings *set)
{
    const char *at = (const char *)set + row->at;
    const struct words *words = (const struct words *)(const void *)at;
    const struct moment *moment = (const struct moment *)(const void *)at;
    switch (row->type) {
    case OPTION_FLAG:
        if (*at)
            (void)fprintf(to, "%s\n", row->name);
        break;
    case OPTION_TEXT:
    case OPTION_MAYBE: {
        const char *text;
        memcpy(&text, at, sizeof text);
        if (text)
            (void)fprintf(to, "%s %zu %s\n", row->name, strlen(text), text);
        break;
    }
    case OPTION_WORDS:
        for (size_t i = 0; i < words->n; i++)
            (void)fprintf(to, "%s %zu %s\n", row->name, strlen(words->list[i]), words->list[i]);
        break;
    case OPTION_MOMENT:
    case OPTION_TIME:
        if (moment->option)
            (void)fprintf(to, "%s %d %" PRId64 " %s\n", row->name, moment->kind, moment->ns,
                          moment->text ? moment->text : "");
        break;
    default: {
        uint64_t number;
        memcpy(&number, at, sizeof number);
        if (number)
            (void)fprintf(to, "%s %" PRIu64 "\n", row->name, number);
    }
    }
}

/* Prints the options that decide which events are read. */
static void print_options(FILE *to, const struct call *call)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++)
        if ((row->group == GROUP_FILTER || row->group == GROUP_INPUT) &&
            (row->verbs & call->command->verb))
            print_option(to, row, &call->set);
}

/* Returns true if other files or warnings of opening belong to the result. */
static bool has_unsaved_option(const struct settings *set)
{
    return set->no_cache || set->metadata_file || set->format_options.n || set->stream_intersection;
}

/* Prints size and time of the library: a build of the same version may fill tables differently. */
static void print_library(FILE *to)
{
    Dl_info about;
    struct stat file;
    const void *function = dlsym(RTLD_DEFAULT, "ttr_new");
    if (function && dladdr(function, &about) && stat(about.dli_fname, &file) == 0)
        (void)fprintf(to, "library %jd %jd.%09ld\n", (intmax_t)file.st_size,
                      (intmax_t)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

static bool are_files(const struct call *call)
{
    struct stat about;
    bool are = !inputs_are_live(call);
    for (size_t i = 0; i < call->paths_n && are; i++)
        are =
            stat(call->path[i], &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    return are;
}

/* Makes the key: all that the tables depend on. Returns false if there is none. */
static bool make_key(struct trace_cache *cache, const struct call *call, const char *use)
{
    char real[PATH_MAX];
    struct timespec latest = {0}, now;
    cache->stamp = file_stamp_record(call->path, call->paths_n);
    FILE *to = cache->stamp ? open_memstream(&cache->key, &cache->key_n) : NULL;
    if (!to)
        return false;
    (void)fprintf(to, "%s\n", use);
    print_library(to);
    print_options(to, call);
    for (size_t i = 0; i < call->paths_n; i++)
        (void)fprintf(to, "input %s = %s\n", call->path[i],
                      realpath(call->path[i], real) ? real : "");
    cache->input_bytes = file_stamp_print(cache->stamp, to, &latest);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    cache->is_recent = latest.tv_sec + RECENT_SECONDS >= now.tv_sec;
    return fclose(to) == 0;
}

static uint64_t hash_key(const char *key, size_t n, uint64_t seed)
{
    uint64_t hash = 0xcbf29ce484222325u ^ seed; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3u;
    return hash;
}

/* --- Folder --- */

/* Finds the folder of the user. Returns false if there is none. */
static bool find_folder(struct trace_cache *cache)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (base && base[0] == '/')
        n = snprintf(cache->folder, sizeof cache->folder, "%s/tracetta", base);
    else if (home && home[0] == '/')
        n = snprintf(cache->folder, sizeof cache->folder, "%s/.cache/tracetta", home);
    else
        return false;
    return n > 0 && (size_t)n < sizeof cache->folder;
}

/* Makes the folder and its parent, for the user alone. Returns false if it belongs to others. */
static bool make_folder(const struct trace_cache *cache)
{
    char parent[sizeof cache->folder];
    struct stat about;
    memcpy(parent, cache->folder, sizeof parent);
    *strrchr(parent, '/') = '\0';
    (void)mkdir(parent, 0700);
    (void)mkdir(cache->folder, 0700);
    return lstat(cache->folder, &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == geteuid() && (about.st_mode & 077) == 0;
}

static uint64_t get_size_max(void)
{
    const char *text = getenv("TRACETTA_CACHE_SIZE");
    uint64_t bytes;
    return text && units_parse_size(text, &bytes) ? bytes : SIZE_MAX_DEFAULT;
}

void trace_cache_begin(struct trace_cache *cache, const struct call *call, const char *use)
{
    *cache = (struct trace_cache){.begin_ns = progress_now(), .size_max = get_size_max()};
    if (has_unsaved_option(&call->set) || cache->size_max == 0 || !are_files(call) ||
        !find_folder(cache) || !make_key(cache, call, use)) {
        trace_cache_end(cache);
        return;
    }
    (void)snprintf(cache->path, sizeof cache->path, "%s/%016" PRIx64 "%016" PRIx64 SUFFIX,
                   cache->folder, hash_key(cache->key, cache->key_n, 0),
                   hash_key(cache->key, cache->key_n, 0x9e3779b97f4a7c15u));
}

int trace_cache_open(const struct trace_cache *cache)
{
    struct stat about;
    const int fd =
        cache->key ? open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        (about.st_mode & 077) == 0) {
        /* the modification time is the time of the last use */
        (void)futimens(fd, NULL);
        return fd;
    }
    (void)close(fd);
    return -1;
}

bool trace_cache_is_worthwhile(const struct trace_cache *cache)
{
    return cache->key && !cache->is_recent &&
           (cache->input_bytes >= WORTHWHILE_BYTES ||
            progress_now() - cache->begin_ns >= WORTHWHILE_NS) &&
           file_stamp_equals(cache->stamp, true);
}

/* --- Size --- */

struct saved_file {
    char name[256];
    uint64_t bytes;
    struct timespec used;
};

static int compare_use(const void *left, const void *right)
{
    const struct saved_file *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), suffix_n = strlen(suffix);
    return n > suffix_n && n < sizeof((struct saved_file *)0)->name &&
           strcmp(name + n - suffix_n, suffix) == 0;
}

/* Lists the saved stores, and deletes temporary files that processes left. Returns their number. */
static size_t list_stores(DIR *folder, struct saved_file *files)
{
    const struct dirent *entry;
    struct stat about;
    size_t n = 0;
    while (n < STORES_MAX && (entry = readdir(folder))) {
        if (fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (has_suffix(entry->d_name, TEMPORARY_SUFFIX) &&
            time(NULL) - about.st_mtim.tv_sec > TEMPORARY_AGE_MAX)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        if (!has_suffix(entry->d_name, SUFFIX))
            continue;
        (void)snprintf(files[n].name, sizeof files[n].name, "%s", entry->d_name);
        files[n].bytes = (uint64_t)about.st_size;
        files[n++].used = about.st_mtim;
    }
    return n;
}

/* Deletes the stores that were not used for the longest time, until the others fit. */
static void limit_folder(const struct trace_cache *cache)
{
    DIR *folder = opendir(cache->folder);
    struct saved_file *files = folder ? calloc(STORES_MAX, sizeof *files) : NULL;
    uint64_t bytes = 0;
    const size_t n = files ? list_stores(folder, files) : 0;
    for (size_t i = 0; i < n; i++)
        bytes += files[i].bytes;
    if (n)
        qsort(files, n, sizeof *files, compare_use);
    for (size_t i = 0; i < n && bytes > cache->size_max; i++)
        if (unlinkat(dirfd(folder), files[i].name, 0) == 0)
            bytes -= files[i].bytes;
    free(files);
    if (folder)
        (void)closedir(folder);
}

/* --- Writing --- */

/* Returns the largest size of a store: a quarter of the free space remains for others. */
static uint64_t get_store_size_max(const struct trace_cache *cache, int fd)
{
    struct statvfs about;
    const uint64_t room =
        fstatvfs(fd, &about) == 0 ? (uint64_t)about.f_bavail * (uint64_t)about.f_frsize / 4 * 3 : 0;
    return room < cache->size_max ? room + 1 : cache->size_max;
}

void trace_cache_write(const struct trace_cache *cache, const struct call *call,
                       const ttr_store *store, const ttr_store_part *parts, size_t parts_n)
{
    char temporary[PATH_MAX + 32];
    ttr_error error = {.text = "the folder does not belong to the user alone"};
    if (!cache->key)
        return;
    (void)snprintf(temporary, sizeof temporary, "%s.%d" TEMPORARY_SUFFIX, cache->path,
                   (int)getpid());
    const int fd = make_folder(cache)
                       ? open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                       : -1;
    ttr_status status = TTR_E_IO;
    if (fd >= 0) {
        const ttr_store_save_options options = {.size = sizeof options,
                                                .key = {cache->key, cache->key_n},
                                                .parts = parts,
                                                .parts_n = parts_n,
                                                .size_max = get_store_size_max(cache, fd)};
        status = ttr_store_save(store, fd, &options, &error);
        if (close(fd) != 0 || (status == TTR_OK && rename(temporary, cache->path) != 0))
            status = TTR_E_IO;
        if (status != TTR_OK)
            (void)unlink(temporary);
        limit_folder(cache);
    }
    if (status != TTR_OK && call->set.verbose)
        print_note(call, "%s: nothing is saved for the next question: %s", cache->folder,
                   error.text);
}

void trace_cache_end(struct trace_cache *cache)
{
    file_stamp_free(cache->stamp);
    free(cache->key);
    cache->stamp = NULL;
    cache->key = NULL;
}
