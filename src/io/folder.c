/* Input folders: lists the regular files below a path, or a list of files in memory, sorted by
 * name.
 *
 * Symbolic links to files in the folder are followed; links to other files are not, unless the user
 * wants that, and links to folders never: a trace does not extend outside its folder, and there are
 * no cycles. Anything else (a FIFO, a socket, a dangling link) is
 * skipped, so that nothing here blocks; its name is available through folder_get_skipped_entry. */
#include "io/folder.h"

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
#include "base/status.h"
#include "io/descriptor_pool.h"

/* bytes of the first block for names; small, as there may be thousands of folders with few files
 * each */
enum { NAMES_BLOCK_MIN = 256 };

struct entry {
    struct folder_file file;
    const void *bytes; /* content of a file in memory; NULL for files on disk */
    size_t n;
};

struct skipped {
    const char *name;
    enum folder_skip why;
};

struct folder {
    const struct alloc *alloc;
    struct arena names;
    char *path;
    /* suffix of `path` that is relative to the directory that the user named; see
     * folder_set_relative_start */
    const char *relative_path;
    struct entry *entry;
    size_t n, capacity;
    struct skipped *skipped; /* directory entries that are neither files nor folders */
    size_t skipped_n, skipped_capacity;
    /* pool of descriptors of the folder's sources; may outlive the folder */
    struct descriptor_pool *pool;
    bool is_memory, has_index;
    size_t chunk; /* maximum window size in bytes; 0 = no limit */
};

bool folder_is_index_file(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".idx") == 0;
}

bool folder_has_index(const struct folder *folder)
{
    return folder->has_index;
}

void folder_close(struct folder *folder)
{
    if (!folder)
        return;
    alloc_free(folder->alloc, folder->entry, folder->capacity, sizeof *folder->entry);
    alloc_free(folder->alloc, folder->skipped, folder->skipped_capacity, sizeof *folder->skipped);
    descriptor_pool_unref(folder->pool);
    arena_free(&folder->names);
    alloc_free(folder->alloc, folder, 1, sizeof *folder);
}

static struct folder *folder_new(const struct alloc *alloc, struct descriptor_pool *pool,
                                 const char *path)
{
    struct folder *folder = alloc_zero(alloc, 1, sizeof *folder);
    size_t n = strlen(path);
    if (!folder)
        return NULL;
    folder->alloc = alloc;
    arena_init_small(&folder->names, alloc, NAMES_BLOCK_MIN);
    while (n > 1 && path[n - 1] == '/')
        n--;
    folder->path = arena_copy(&folder->names, path, n);
    folder->pool = pool ? descriptor_pool_ref(pool) : descriptor_pool_new(alloc);
    if (folder->path && folder->pool)
        return folder;
    folder_close(folder);
    return NULL;
}

static bool add_entry(struct folder *folder, const struct entry *entry)
{
    static const char index[] = FOLDER_INDEX "/";
    if (!alloc_reserve(folder->alloc, (void **)&folder->entry, &folder->capacity, folder->n + 1,
                       sizeof *folder->entry))
        return false;
    folder->has_index |= strncmp(entry->file.name, index, sizeof index - 1) == 0;
    folder->entry[folder->n] = *entry;
    folder->entry[folder->n].file.name =
        arena_copy(&folder->names, entry->file.name, strlen(entry->file.name));
    return folder->entry[folder->n++].file.name != NULL;
}

static bool add_skipped_entry(struct folder *folder, const char *name, enum folder_skip why)
{
    if (!alloc_reserve(folder->alloc, (void **)&folder->skipped, &folder->skipped_capacity,
                       folder->skipped_n + 1, sizeof *folder->skipped))
        return false;
    folder->skipped[folder->skipped_n] =
        (struct skipped){arena_copy(&folder->names, name, strlen(name)), why};
    return folder->skipped[folder->skipped_n++].name != NULL;
}

/* State of the recursive listing. `name` is the current path relative to the top folder, "" at the
 * top. */
struct listing {
    struct folder *folder;
    char name[PATH_MAX];
    size_t n;
    unsigned depth; /* levels of subfolders still to be listed */
    bool follows_links;
    char top[PATH_MAX]; /* path of the top folder without links; "" = not needed yet */
};

static ttr_status list_folder(struct listing *listing, int fd, ttr_error *error);

/* Appends a path component to listing->name. Returns false if the path exceeds PATH_MAX. */
static bool append_component(struct listing *listing, const char *name)
{
    size_t n = strlen(name), slash = listing->n > 0;
    if (n + slash >= sizeof listing->name - listing->n)
        return false;
    if (slash)
        listing->name[listing->n] = '/';
    memcpy(listing->name + listing->n + slash, name, n + 1);
    listing->n += n + slash;
    return true;
}

/* Lists a subfolder. A subfolder that cannot be opened is an error, because its missing files would
 * not be noticed. */
static ttr_status list_subfolder(struct listing *listing, int above, const char *name,
                                 ttr_error *error)
{
    if (listing->depth == 0)
        return TTR_OK;
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot read the folder %s/%s",
                        listing->folder->path, listing->name);
    listing->depth--;
    ttr_status status = list_folder(listing, fd, error);
    listing->depth++;
    return status;
}

/* Returns the type of a directory entry (S_IFMT bits), or 0 if it is gone. Most file systems report
 * the type in the entry itself, without a call of stat. */
static mode_t get_entry_type(int fd, const struct dirent *entry)
{
    struct stat about;
    if (entry->d_type != DT_UNKNOWN)
        return (mode_t)DTTOIF(entry->d_type);
    return fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 ? about.st_mode & S_IFMT
                                                                        : 0;
}

/* Returns true if the link at the current name does not lead to a file below the top folder. */
static bool is_outside_folder(struct listing *listing)
{
    char path[PATH_MAX], target[PATH_MAX];
    if (!listing->top[0] && !realpath(listing->folder->path, listing->top))
        return true;
    const int n_path = snprintf(path, sizeof path, "%s/%s", listing->folder->path, listing->name);
    if (n_path < 0 || n_path >= PATH_MAX || !realpath(path, target))
        return true;
    const size_t n = strcmp(listing->top, "/") == 0 ? 0 : strlen(listing->top);
    return strncmp(target, listing->top, n) != 0 || target[n] != '/';
}

static ttr_status skip_entry(struct listing *listing, enum folder_skip why, ttr_error *error)
{
    return add_skipped_entry(listing->folder, listing->name, why) ? TTR_OK : fail_memory(error);
}

static ttr_status list_entry(struct listing *listing, int fd, const struct dirent *found,
                             ttr_error *error)
{
    struct stat about;
    mode_t type = get_entry_type(fd, found);
    if (type == 0)
        return TTR_OK;
    bool is_link = type == S_IFLNK;
    if (is_link && fstatat(fd, found->d_name, &about, 0) != 0)
        return skip_entry(listing, FOLDER_SKIP_DANGLING, error);
    if (is_link)
        type = about.st_mode & S_IFMT;
    if (is_link && type == S_IFREG && !listing->follows_links && is_outside_folder(listing))
        return skip_entry(listing, FOLDER_SKIP_OUTSIDE, error);
    if (type == S_IFDIR)
        return is_link ? TTR_OK : list_subfolder(listing, fd, found->d_name, error);
    if (type != S_IFREG)
        return skip_entry(listing, FOLDER_SKIP_SPECIAL, error);
    struct entry entry = {.file = {.name = listing->name, .is_link = is_link}};
    return add_entry(listing->folder, &entry) ? TTR_OK : fail_memory(error);
}

/* Lists an open folder recursively and closes its descriptor. */
static ttr_status list_folder(struct listing *listing, int fd, ttr_error *error)
{
    ttr_status status = TTR_OK;
    size_t n = listing->n;
    const struct dirent *entry;
    DIR *directory = fdopendir(fd);
    if (!directory) {
        status =
            fail_sys(error, errno, NO_OFFSET, "cannot read the folder %s", listing->folder->path);
        (void)close(fd);
        return status;
    }
    /* The stream is not shared with other threads, as POSIX requires for readdir. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, status == TTR_OK && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.' || !append_component(listing, entry->d_name))
            continue;
        status = list_entry(listing, fd, entry, error);
        listing->n = n;
        listing->name[n] = '\0';
    }
    if (status == TTR_OK && errno) /* readdir failed: not the end of the folder */
        status = fail_sys(error, errno, NO_OFFSET, "cannot read the rest of the folder %s",
                          listing->folder->path);
    (void)closedir(directory);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return strcmp(left->file.name, right->file.name);
}

static int compare_skipped(const void *a, const void *b)
{
    const struct skipped *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static void sort_entries(struct folder *folder)
{
    if (folder->n)
        qsort(folder->entry, folder->n, sizeof *folder->entry, compare_names);
    if (folder->skipped_n)
        qsort(folder->skipped, folder->skipped_n, sizeof *folder->skipped, compare_skipped);
}

struct folder *folder_open(const struct alloc *alloc, struct descriptor_pool *pool,
                           const char *path, unsigned depth, bool follows_links, ttr_error *error)
{
    struct folder *folder = folder_new(alloc, pool, path);
    if (!folder) {
        (void)fail_memory(error);
        return NULL;
    }
    struct listing listing = {.folder = folder, .depth = depth, .follows_links = follows_links};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ttr_status status = fd < 0
                            ? fail_sys(error, errno, NO_OFFSET, "cannot read the folder %s", path)
                            : list_folder(&listing, fd, error);
    if (status == TTR_OK) {
        sort_entries(folder);
        return folder;
    }
    folder_close(folder);
    return NULL;
}

struct folder *folder_open_memory(const struct alloc *alloc, const char *name,
                                  const ttr_file *files, size_t n, ttr_error *error)
{
    struct folder *folder = folder_new(alloc, NULL, name);
    bool is_ok = folder != NULL;
    for (size_t i = 0; is_ok && i < n; i++)
        is_ok = add_entry(folder, &(struct entry){.file = {.name = files[i].name},
                                                  .bytes = files[i].bytes,
                                                  .n = files[i].n});
    if (!is_ok) {
        folder_close(folder);
        (void)fail_memory(error);
        return NULL;
    }
    folder->is_memory = true;
    sort_entries(folder);
    for (size_t i = 1; i < folder->n; i++)
        if (compare_names(&folder->entry[i - 1], &folder->entry[i]) == 0) {
            (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "two files of %s have the name %s",
                       folder->path, folder->entry[i].file.name);
            folder_close(folder);
            return NULL;
        }
    return folder;
}

const struct folder_file *folder_get_file(const struct folder *folder, size_t i)
{
    return i < folder->n ? &folder->entry[i].file : NULL;
}

const char *folder_get_skipped_entry(const struct folder *folder, size_t i, enum folder_skip *why)
{
    *why = i < folder->skipped_n ? folder->skipped[i].why : FOLDER_SKIP_SPECIAL;
    return i < folder->skipped_n ? folder->skipped[i].name : NULL;
}

const struct folder_file *folder_find_file(const struct folder *folder, const char *name)
{
    const struct entry key = {.file = {.name = name}};
    const struct entry *entry =
        folder->n ? bsearch(&key, folder->entry, folder->n, sizeof *folder->entry, compare_names)
                  : NULL;
    return entry ? &entry->file : NULL;
}

const char *folder_path(const struct folder *folder)
{
    return folder->path;
}

void folder_set_relative_start(struct folder *folder, size_t from)
{
    size_t n = strlen(folder->path);
    folder->relative_path = folder->path + (from < n ? from : n);
}

const char *folder_relative_path(const struct folder *folder)
{
    return folder->relative_path ? folder->relative_path : "";
}

void folder_file_path(const struct folder *folder, const struct folder_file *file, char *to,
                      size_t size)
{
    const char *parts[] = {folder->path, "/", file->name};
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const bool has_slash = i == 1 && n && to[n - 1] == '/';
        const size_t part = has_slash ? 0 : strlen(parts[i]), room = size - 1 - n;
        memcpy(to + n, parts[i], part < room ? part : room);
        n += part < room ? part : room;
    }
    to[n] = '\0';
}

/* Writes the path for opening a file. Returns false if it exceeds PATH_MAX: a truncated path could
 * name another file. */
static bool full_path(const struct folder *folder, const struct folder_file *file,
                      char path[PATH_MAX])
{
    folder_file_path(folder, file, path, PATH_MAX);
    return strlen(folder->path) + 1 + strlen(file->name) < PATH_MAX;
}

bool folder_file_size(const struct folder *folder, const struct folder_file *file, uint64_t *size)
{
    /* `file` is the first member of entry */
    const struct entry *entry = (const struct entry *)(const void *)file;
    char path[PATH_MAX];
    struct stat about;
    *size = entry->n;
    if (folder->is_memory)
        return true;
    const int sys = !full_path(folder, file, path) ? ENAMETOOLONG
                    : stat(path, &about) != 0      ? errno
                                                   : 0;
    const bool is_gone = sys == ENOENT || sys == ENOTDIR;
    *size = is_gone ? 0 : sys ? FOLDER_SIZE_UNKNOWN : (uint64_t)about.st_size;
    return !is_gone;
}

void folder_limit_windows(struct folder *folder, size_t chunk)
{
    folder->chunk = chunk;
}

struct source *folder_open_file(struct folder *folder, const struct folder_file *file,
                                const struct source_options *options, ttr_error *error)
{
    /* `file` is the first member of entry */
    const struct entry *entry = (const struct entry *)(const void *)file;
    struct source_options how = options ? *options : (struct source_options){.shared = NULL};
    char path[PATH_MAX];
    if (folder->chunk && (!how.chunk || how.chunk > folder->chunk))
        how.chunk = folder->chunk;
    if (folder->is_memory)
        return source_open_memory(folder->alloc, entry->bytes, entry->n, &how, error);
    how.shared = folder->pool;
    if (!full_path(folder, file, path)) {
        (void)fail_sys(error, ENAMETOOLONG, NO_OFFSET, "cannot open %s in its folder", file->name);
        return NULL;
    }
    return source_open(folder->alloc, path, &how, error);
}

/* Copies the window to newly allocated memory, followed by a zero byte. Fails only if memory runs
 * out. */
static ttr_status copy_window(const struct folder *folder, const struct window *window,
                              uint8_t **bytes, size_t *n, ttr_error *error)
{
    *bytes = alloc_resize(folder->alloc, NULL, 0, window->n + 1, 1);
    if (!*bytes)
        return fail_memory(error);
    memcpy(*bytes, window->bytes, window->n);
    (*bytes)[window->n] = 0;
    *n = window->n;
    return TTR_OK;
}

ttr_status folder_read_file(struct folder *folder, const struct folder_file *file, uint64_t limit,
                            uint8_t **bytes, size_t *n, ttr_error *error)
{
    struct window window;
    char path[PATH_MAX];
    ttr_error ctx;
    *bytes = NULL;
    *n = 0;
    struct source *source =
        folder_open_file(folder, file, &(struct source_options){.limit = UINT64_MAX}, &ctx);
    if (!source && error)
        *error = ctx;
    if (!source)
        return ctx.status;
    /* One byte more than the limit is requested, to detect a larger file. */
    ttr_status status = source_fill(
        source, 0, limit < SIZE_MAX / 2 ? (size_t)limit + 1 : SIZE_MAX / 2, &window, error);
    if (status == TTR_OK && window.n > limit) {
        folder_file_path(folder, file, path, sizeof path);
        status = fail(error, TTR_E_LIMIT, limit, "%s exceeds the limit of %llu bytes", path,
                      (unsigned long long)limit);
    }
    if (status == TTR_OK)
        status = copy_window(folder, &window, bytes, n, error);
    source_close(source);
    return status;
}

ttr_status folder_read_hidden_file(struct folder *folder, const char *name, uint64_t limit,
                                   uint8_t **bytes, size_t *n, ttr_error *error)
{
    const struct entry hidden = {.file = {.name = name}};
    const struct folder_file *file =
        folder->is_memory ? folder_find_file(folder, name) : &hidden.file;
    struct stat about;
    char path[PATH_MAX];
    *bytes = NULL;
    *n = 0;
    if (!file || (!folder->is_memory && (!full_path(folder, file, path) ||
                                         lstat(path, &about) != 0 || !S_ISREG(about.st_mode))))
        return TTR_OK;
    return folder_read_file(folder, file, limit, bytes, n, error);
}
