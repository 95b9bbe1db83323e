/* Folders of sources that send frames. */
#include "network/folder_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

void folder_capture_init(struct folder_capture *folder, const struct alloc *alloc)
{
    *folder = (struct folder_capture){.alloc = alloc};
}

static void free_parts(const struct folder_capture *folder, struct part_file *file)
{
    for (uint32_t i = 0; i < file->parts_n; i++)
        if (file->parts[i].bytes)
            alloc_free(folder->alloc, file->parts[i].bytes, file->parts[i].n + 1, 1);
    alloc_free(folder->alloc, file->parts, file->parts_n, sizeof *file->parts);
}

void folder_capture_free(struct folder_capture *folder)
{
    for (size_t i = 0; i < folder->files_n; i++)
        free_parts(folder, &folder->files[i]);
    alloc_free(folder->alloc, folder->files, folder->files_capacity, sizeof *folder->files);
    folder->files = NULL;
    folder->files_n = folder->files_capacity = 0;
}

void folder_capture_forget(struct folder_capture *folder, uint32_t number)
{
    for (size_t i = 0; i < folder->files_n; i++)
        if (folder->files[i].number == number) {
            free_parts(folder, &folder->files[i]);
            folder->files[i] = folder->files[--folder->files_n];
            return;
        }
}

/* --- Files --- */

/* Writes the path of a file to `path`, with the prefix before its last name. */
static ttr_status make_path(const struct capture *capture, const char *name, size_t name_n,
                            const char *prefix, char path[PATH_MAX], ttr_error *error)
{
    size_t dir_n = name_n;
    while (dir_n > 0 && name[dir_n - 1] != '/')
        dir_n--;
    int n = snprintf(path, PATH_MAX, "%s/%.*s%s%.*s", capture->path, (int)dir_n, name, prefix,
                     (int)(name_n - dir_n), name + dir_n);
    return n > 0 && n < PATH_MAX ? TTR_OK
                                 : fail(error, TTR_E_LIMIT, NO_OFFSET,
                                        "the path of %.*s is too long", (int)name_n, name);
}

/* Creates the folders of a path below capture->path. */
static void make_folders(const struct capture *capture, char path[PATH_MAX])
{
    for (char *at = path + strlen(capture->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
}

/* Opens a file for appending. Creates the folders of its name if they are missing. Returns the
 * descriptor, or -1 with errno. */
static int open_file(const struct capture *capture, char path[PATH_MAX])
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
    int fd = open(path, flags, 0666);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    make_folders(capture, path);
    return open(path, flags, 0666);
}

/* Returns the number of bytes written; fewer than n with errno after a failure. */
static size_t write_bytes(int fd, const uint8_t *bytes, size_t n)
{
    size_t written = 0;
    while (written < n) {
        ssize_t got = write(fd, bytes + written, n - written);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        written += (size_t)got;
    }
    return written;
}

ttr_status folder_capture_append(struct capture *capture, const struct file_frame *frame,
                                 ttr_error *error)
{
    char path[PATH_MAX];
    struct stat before;
    ttr_status status = make_path(capture, frame->name, frame->name_n, "", path, error);
    if (status != TTR_OK)
        return status;
    int fd = open_file(capture, path);
    if (fd < 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot create %s", path);
    bool has_size = fstat(fd, &before) == 0;
    size_t n = write_bytes(fd, frame->content, frame->content_n);
    if (n < frame->content_n) {
        status = fail_sys(error, errno, NO_OFFSET, "cannot write %s", path);
        if (has_size)
            (void)!ftruncate(fd, before.st_size);
    }
    if (close(fd) != 0 && status == TTR_OK)
        status = fail_sys(error, errno, NO_OFFSET, "cannot write %s", path);
    capture->size += status == TTR_OK ? n : 0;
    return status;
}

/* --- Files in parts --- */

/* Writes a complete file under a hidden name and renames it, so that readers see all of it. */
static ttr_status write_part_file(struct capture *capture, const struct part_file *file,
                                  ttr_error *error)
{
    char path[PATH_MAX], hidden[PATH_MAX];
    const size_t name_n = strlen(file->name);
    ttr_status status = make_path(capture, file->name, name_n, "", path, error);
    if (status == TTR_OK)
        status = make_path(capture, file->name, name_n, ".", hidden, error);
    if (status != TTR_OK)
        return status;
    (void)unlink(hidden);
    int fd = open_file(capture, hidden);
    bool is_written = fd >= 0;
    for (uint32_t i = 0; i < file->parts_n && is_written; i++)
        is_written = write_bytes(fd, file->parts[i].bytes, file->parts[i].n) == file->parts[i].n;
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && is_written) {
        reason = errno;
        is_written = false;
    }
    if (is_written && rename(hidden, path) != 0) {
        reason = errno;
        is_written = false;
    }
    if (is_written) {
        capture->size += file->bytes;
        return TTR_OK;
    }
    if (fd >= 0)
        (void)unlink(hidden);
    return fail_sys(error, reason, NO_OFFSET, "cannot write %s", path);
}

/* Returns the file of a part; adds it if it is new. Returns NULL if a limit refuses it or memory is
 * out. */
static struct part_file *find_part_file(struct folder_capture *folder,
                                        const struct file_frame *frame)
{
    void *list = folder->files;
    for (size_t i = 0; i < folder->files_n; i++) {
        struct part_file *file = &folder->files[i];
        if (file->number == frame->file)
            return file->parts_n == frame->parts && strlen(file->name) == frame->name_n &&
                           memcmp(file->name, frame->name, frame->name_n) == 0
                       ? file
                       : NULL;
    }
    if (folder->files_n >= FOLDER_CAPTURE_FILES_MAX ||
        !alloc_reserve(folder->alloc, &list, &folder->files_capacity, folder->files_n + 1,
                       sizeof *folder->files))
        return NULL;
    folder->files = list;
    struct part_file *file = &folder->files[folder->files_n];
    *file =
        (struct part_file){.number = frame->file,
                           .parts_n = frame->parts,
                           .missing_n = frame->parts,
                           .parts = alloc_zero(folder->alloc, frame->parts, sizeof *file->parts)};
    if (!file->parts)
        return NULL;
    memcpy(file->name, frame->name, frame->name_n);
    folder->files_n++;
    return file;
}

uint64_t folder_capture_bytes(const struct folder_capture *folder)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < folder->files_n; i++)
        bytes += folder->files[i].bytes;
    return bytes;
}

ttr_status folder_capture_add_part(struct folder_capture *folder, struct capture *capture,
                                   const struct file_frame *frame, bool *is_refused,
                                   ttr_error *error)
{
    struct part_file *file = find_part_file(folder, frame);
    *is_refused =
        !file || folder_capture_bytes(folder) + frame->content_n > FOLDER_CAPTURE_BYTES_MAX;
    if (*is_refused || file->parts[frame->number].bytes)
        return TTR_OK;
    struct frame_part *part = &file->parts[frame->number];
    part->bytes = alloc_zero(folder->alloc, frame->content_n + 1, 1);
    if (!part->bytes)
        return fail_memory(error);
    memcpy(part->bytes, frame->content, frame->content_n);
    part->n = frame->content_n;
    file->bytes += part->n;
    file->missing_n--;
    return file->missing_n || !capture ? TTR_OK : write_part_file(capture, file, error);
}

/* Returns the length of the folder in the path of a file, with the slash. Returns SIZE_MAX if its
 * last name is another one. */
static size_t get_folder_length(const char *path, const char *last)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    return strcmp(path + n, last) == 0 ? n : SIZE_MAX;
}

ttr_status folder_capture_replace(const struct folder_capture *folder, struct capture *capture,
                                  const char *main_file, const char *name,
                                  const struct buffer *content, ttr_error *error)
{
    const struct part_file *first = NULL;
    for (size_t i = 0; i < folder->files_n; i++) {
        const struct part_file *file = &folder->files[i];
        if (!file->missing_n && get_folder_length(file->name, main_file) != SIZE_MAX &&
            (!first || file->number < first->number))
            first = file;
    }
    if (!first)
        return TTR_OK;
    struct frame_part part = {.bytes = content->bytes, .n = content->n};
    struct part_file file = {.parts = &part, .parts_n = 1};
    const int n = snprintf(file.name, sizeof file.name, "%.*s%s",
                           (int)get_folder_length(first->name, main_file), first->name, name);
    if (n < 0 || (size_t)n >= sizeof file.name)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "the path of %s is too long", name);
    return write_part_file(capture, &file, error);
}

bool folder_capture_is_complete(const struct folder_capture *folder)
{
    for (size_t i = 0; i < folder->files_n; i++)
        if (folder->files[i].missing_n)
            return false;
    return folder->files_n > 0;
}

ttr_status folder_capture_rotate(struct folder_capture *folder, struct capture *capture,
                                 ttr_error *error)
{
    ttr_status status = capture_rotate(capture, error);
    for (size_t i = 0; i < folder->files_n && status == TTR_OK; i++)
        if (!folder->files[i].missing_n)
            status = write_part_file(capture, &folder->files[i], error);
    return status;
}
