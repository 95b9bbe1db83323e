/* Opens sources: finds out what the path is, whether its bytes are compressed, and which kind of
 * window to use; then dispatches to that window's functions.
 *
 * Order of calls:
 *   source_open -> open, fstat -> raw stream (stream_raw.c)
 *               -> decompression streams if the first bytes are a magic number (stream_zip.c)
 *               -> a thread that runs them, unless the file is small (stream_thread.c)
 *               -> window: mapped, or buffered (source_mapped.c, source_buffered.c)
 * Opening reads the first bytes, so opening a pipe waits for them. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "io/stream_thread.h"
#include "io/stream_zip.h"
#include "io/source_window.h"

#define LIMIT_DEFAULT (UINT64_C(4) << 30)

/* Compressed files up to this size, in bytes, are decompressed without a thread: starting one would
 * take longer. */
enum { SMALL_FILE_MAX = 64 << 10 };

/* Smaller windows are read with pread: mapping and unmapping them would cost several times as much
 * as copying. */
enum { MAPPED_CHUNK_MIN = 512 << 10 };

/* Lower bound of mapped windows for sparse reading. It is lower, because mapping does not read
 * pages that are skipped. */
enum { MAPPED_SPARSE_CHUNK_MIN = 64 << 10 };

/* Returns true if windows of `chunk` bytes (0 = default) are large enough to be mapped. */
static bool is_mappable_size(size_t chunk, bool is_sparse)
{
    return !chunk || chunk >= (is_sparse ? MAPPED_SPARSE_CHUNK_MIN : MAPPED_CHUNK_MIN);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->ops)
        source->ops->close(source);
    byte_stream_close(source->stream);
    if (source->shared.pool)
        /* errors are ignored: the file was only read */
        (void)shared_file_close(&source->shared);
    descriptor_pool_unref(source->shared.pool);
    alloc_free(source->alloc, source->name, source->name_size, 1);
    alloc_free(source->alloc, source, 1, sizeof *source);
}

void source_free_window(struct source *source)
{
    source->ops->close(source);
    memset(&source->in, 0, sizeof source->in);
    source->shown.bytes = source_empty_window;
    source->shown.offset += source->shown.n;
    source->shown.n = 0;
}

/* Allocates a source with a name and options but without bytes. Returns NULL with `error` if memory
 * is out. */
static struct source *source_new(const struct alloc *alloc, const char *name,
                                 const struct source_options *options, ttr_error *error)
{
    struct source *source = alloc_zero(alloc, 1, sizeof *source);
    size_t size = strlen(name) + 1;
    if (source) {
        source->alloc = alloc;
        source->name = alloc_zero(alloc, size, 1);
        source->name_size = size;
    }
    if (!source || !source->name) {
        source_close(source);
        (void)fail_memory(error);
        return NULL;
    }
    memcpy(source->name, name, size);
    source->compression = "";
    source->chunk = options ? options->chunk : 0;
    source->limit = options && options->limit ? options->limit : LIMIT_DEFAULT;
    source->shown.bytes = source_empty_window;
    return source;
}

/* Sets `disk` as the raw stream of the source. NULL means that memory was out: fails. */
static bool set_raw_stream(struct source *source, struct byte_stream *disk, ttr_error *error)
{
    source->disk = disk;
    source->stream = disk;
    if (disk)
        disk->name = source->name;
    else
        (void)fail_memory(error);
    return disk != NULL;
}

static const char *open_error_advice(int reason)
{
    switch (reason) {
    case ENOENT:
        return " (is the name right?)";
    case EACCES:
        return " (check its permissions and those of its folders)";
    case EMFILE:
        return " (raise the limit of open files: ulimit -n)";
    default:
        return "";
    }
}

/* A descriptor from which a source is created. */
struct opened {
    int fd;
    bool is_owned; /* the source closes the descriptor */
    const char *name;
    struct descriptor_pool
        /* pool that will own the descriptor of a regular file, or NULL; if set, `name` is the
         * file's path */
        *shared;
};

/* Creates the raw stream of the source from a descriptor. On failure the caller still owns the
 * descriptor. */
static bool set_descriptor(struct source *source, const struct opened *opened, ttr_error *error)
{
    struct stat about;
    if (fstat(opened->fd, &about) != 0) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot read %s", opened->name);
        return false;
    }
    if (S_ISDIR(about.st_mode)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "%s is a directory; name a file in it",
                   opened->name);
        return false;
    }
    bool is_regular = S_ISREG(about.st_mode);
    /* A shell may have read the beginning of standard input. Reading therefore starts at the
     * descriptor's current position. */
    off_t at = is_regular && !opened->shared ? lseek(opened->fd, 0, SEEK_CUR) : 0;
    uint64_t start = at > 0 ? (uint64_t)at : 0;
    if (is_regular && (uint64_t)about.st_size > start)
        source->disk_size = (uint64_t)about.st_size - start;
    source->in.mapped.start = start;
    if (!set_raw_stream(
            source,
            stream_raw_from_fd(source->alloc, opened->fd, opened->is_owned, is_regular, start),
            error))
        return false;
    if (is_regular && opened->shared) {
        source->shared = (struct shared_file){
            .pool = descriptor_pool_ref(opened->shared), .path = source->name, .flags = O_RDONLY};
        shared_file_adopt(&source->shared, opened->fd, &about);
        stream_raw_use_pool(source->disk, &source->shared);
    }
    return true;
}

/* Inserts decompression streams if the bytes are compressed. Returns false if memory runs out. */
static bool add_decompression(struct source *source, const struct source_options *options,
                              ttr_error *error)
{
    if (options && options->no_decompress)
        return true;
    bool is_done = stream_zip_open(source->alloc, &source->stream, &source->compression);
    bool is_small = source->disk_size && source->disk_size <= SMALL_FILE_MAX;
    if (is_done && source->stream != source->disk && !is_small)
        is_done = stream_thread_open(source->alloc, &source->stream, source->disk);
    if (!is_done)
        (void)fail_memory(error);
    return is_done;
}

/* Selects a mapped or a buffered window for a source with a descriptor. */
static void choose_window(struct source *source, const struct source_options *options)
{
    bool no_mmap =
        options && (options->no_mmap || !is_mappable_size(options->chunk, options->is_sparse));
    uint64_t start = source->in.mapped.start;
    memset(&source->in, 0, sizeof source->in);
    source->ops = &source_buffered_ops;
    if (source->stream != source->disk || !source->disk->may_grow || no_mmap)
        return;
    int fd = stream_raw_acquire_fd(source->disk);
    bool is_safe = fd >= 0 && source_is_safe_to_map(fd);
    if (fd >= 0)
        stream_raw_release_fd(source->disk);
    if (!is_safe)
        return;
    source->ops = &source_mapped_ops;
    source->in.mapped.start = start;
    source->in.mapped.page = (size_t)sysconf(_SC_PAGESIZE);
}

void source_limit_window(struct source *source, size_t chunk)
{
    const bool is_mapped = source->ops == &source_mapped_ops;
    if ((source->ops != &source_buffered_ops && !is_mapped) || !source->disk->may_grow ||
        (source->chunk && source->chunk <= chunk))
        return;
    source->chunk = source->options.chunk = chunk;
    source->options.is_sparse = true;
    if (!is_mapped || is_mappable_size(chunk, true))
        return;
    memset(&source->in, 0, sizeof source->in);
    source->ops = &source_buffered_ops;
}

static struct source *open_descriptor(const struct alloc *alloc, const struct opened *opened,
                                      const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, opened->name, options, error);
    if (!source || !set_descriptor(source, opened, error)) {
        source_close(source);
        if (opened->is_owned)
            (void)close(opened->fd);
        return NULL;
    }
    if (add_decompression(source, options, error)) {
        choose_window(source, options);
        return source;
    }
    source_close(source);
    return NULL;
}

struct source *source_open(const struct alloc *alloc, const char *path,
                           const struct source_options *options, ttr_error *error)
{
    SELF_ZONE(read, "open file");
    if (strcmp(path, "-") == 0)
        return open_descriptor(alloc, &(struct opened){STDIN_FILENO, false, "standard input", NULL},
                               options, error);
    struct descriptor_pool *shared = options ? options->shared : NULL;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 &&
           (errno == EINTR || (errno == EMFILE && shared && descriptor_pool_close_idle(shared))));
    if (fd < 0) {
        int reason = errno;
        (void)fail_sys(error, reason, NO_OFFSET, "cannot open %s%s",
                       *path ? path : "a file without a name", open_error_advice(reason));
        return NULL;
    }
    struct source *source =
        open_descriptor(alloc, &(struct opened){fd, true, path, shared}, options, error);
    if (source) {
        source->has_path = source->disk->may_grow;
        source->options = options ? *options : (struct source_options){.chunk = 0};
    }
    return source;
}

struct source *source_reopen(const struct source *source)
{
    return source->has_path ? source_open(source->alloc, source->name, &source->options, NULL)
                            : NULL;
}

struct source *source_open_memory(const struct alloc *alloc, const void *bytes, size_t n,
                                  const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, "memory", options, error);
    if (!source)
        return NULL;
    source->disk_size = n;
    if (!set_raw_stream(source, stream_raw_from_memory(alloc, bytes, n), error) ||
        !add_decompression(source, options, error)) {
        source_close(source);
        return NULL;
    }
    source->ops = &source_buffered_ops;
    if (source->stream != source->disk)
        return source;
    source->ops = &source_memory_ops;
    source->in.memory.bytes = bytes;
    source->in.memory.n = n;
    return source;
}

struct source *source_open_callback(const struct alloc *alloc, source_read_fn pull, void *ctx,
                                    const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, "input", options, error);
    if (!source)
        return NULL;
    if (!set_raw_stream(
            source, stream_raw_from_callback(alloc, pull, options ? options->can_pull : NULL, ctx),
            error) ||
        !add_decompression(source, options, error)) {
        source_close(source);
        return NULL;
    }
    source->ops = &source_buffered_ops;
    return source;
}

bool source_is_paused(const struct source *source, unsigned ms)
{
    return source->disk && source->stream == source->disk && stream_raw_is_paused(source->disk, ms);
}

struct source *source_open_appendable(const struct alloc *alloc, const char *name, ttr_error *error)
{
    struct source *source = source_new(alloc, name, NULL, error);
    if (source)
        source->ops = &source_appendable_ops;
    return source;
}

bool source_append(struct source *source, const void *bytes, size_t n)
{
    return source_buffered_append(source, bytes, n);
}

ttr_status source_fill(struct source *source, uint64_t offset, size_t need, struct window *window,
                       ttr_error *error)
{
    SELF_ZONE(read, "fill window");
    const struct window *shown = &source->shown;
    if (offset < shown->offset)
        return fail(error, TTR_E_MISUSE, offset,
                    "%s: byte %llu is before the window, which starts at %llu", source->name,
                    (unsigned long long)offset, (unsigned long long)shown->offset);
    if (need > source->limit)
        return fail(error, TTR_E_LIMIT, offset,
                    "%s: a record at byte %llu needs %zu bytes, more than the limit of %llu",
                    source->name, (unsigned long long)offset, need,
                    (unsigned long long)source->limit);
    ttr_status status = source->ops->fill(source, offset, need, error);
    *window = source->shown;
    return status;
}

bool source_is_seekable(const struct source *source)
{
    return source->ops == &source_memory_ops ||
           (source->disk && source->stream == source->disk && source->disk->may_grow);
}

int64_t source_peek_at(const struct source *source, uint64_t offset, void *to, size_t n,
                       ttr_error *error)
{
    if (!source_is_seekable(source)) {
        (void)fail(error, TTR_E_UNSUPPORTED, offset,
                   "%s is not seekable: cannot read ahead at byte %llu", source->name,
                   (unsigned long long)offset);
        return -1;
    }
    if (source->ops != &source_memory_ops)
        return stream_raw_read_at(source->disk, offset, to, n, error);
    uint64_t left = offset < source->in.memory.n ? source->in.memory.n - offset : 0;
    n = n < left ? n : (size_t)left;
    if (n)
        memcpy(to, source->in.memory.bytes + offset, n);
    return (int64_t)n;
}

void source_prefetch(const struct source *source, uint64_t offset, size_t n)
{
    if (source_is_seekable(source) && source->ops != &source_memory_ops)
        stream_raw_prefetch(source->disk, offset, n);
}

const char *source_compression(const struct source *source)
{
    return source->compression;
}

uint64_t source_disk_size(const struct source *source)
{
    return source->disk_size;
}

uint64_t source_disk_bytes_read(const struct source *source)
{
    /* Mapped files and memory bypass the stream, so the end of the window is the progress. */
    uint64_t used = source->ops == &source_buffered_ops ? byte_stream_offset(source->disk)
                                                        : source->shown.offset + source->shown.n;
    bool is_past =
        /* skipped bytes may extend beyond the end of the input */
        source->disk_size && used > source->disk_size;
    return is_past ? source->disk_size : used;
}

uint64_t source_end_offset(const struct source *source)
{
    const struct window *shown = &source->shown;
    uint64_t end = shown->n ? shown->offset + shown->n : 0;
    if (source_is_seekable(source))
        return end > source->disk_size ? end : source->disk_size;
    if (!shown->at_end)
        return UINT64_MAX;
    if (end || source->ops != &source_buffered_ops)
        return end ? end : shown->offset;
    return byte_stream_offset(source->stream);
}
