/* Opening a source: what the path is, whether its bytes are compressed, which kind of window shows
 * them; then dispatch.
 *
 * A compressed input gets its decoders (inflate.c) and, unless it is small, a thread that runs them
 * (decode.c).  The first bytes are looked at while opening, so opening a pipe waits for them. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "io/decode.h"
#include "io/inflate.h"
#include "io/source_window.h"

#define LIMIT_DEFAULT (UINT64_C(4) << 30)

/* A compressed file up to here is decoded without a thread: starting one would take longer. */
enum { SMALL_FILE = 64 << 10 };

/* Windows smaller than this are read: to map and unmap them costs several times as much as to copy
 * them. */
enum { MAPPED_WORTH = 512 << 10 };

/* The same where only parts of them are looked at. */
enum { MAPPED_SPARSE = 64 << 10 };

/* Whether windows of so many bytes may be mapped. */
static bool is_mapped_size(size_t chunk, bool is_sparse)
{
    return !chunk || chunk >= (is_sparse ? MAPPED_SPARSE : MAPPED_WORTH);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->ops)
        source->ops->close(source);
    feed_close(source->feed);
    if (source->shared.pool)
        (void)shared_file_close(&source->shared); /* opened for reading: nothing can be lost */
    descriptors_drop(source->shared.pool);
    alloc_free(source->alloc, source->name, source->name_size, 1);
    alloc_free(source->alloc, source, 1, sizeof *source);
}

void source_rest(struct source *source)
{
    source->ops->close(source);
    memset(&source->in, 0, sizeof source->in);
    source->shown.bytes = source_nothing;
    source->shown.offset += source->shown.n;
    source->shown.n = 0;
}

/* A source that has a name and options but no bytes yet. */
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
    source->shown.bytes = source_nothing;
    return source;
}

/* Puts the raw feed under the source; false when it could not be made. */
static bool source_take(struct source *source, struct feed *disk, ttr_error *error)
{
    source->disk = disk;
    source->feed = disk;
    if (disk)
        disk->name = source->name;
    else
        (void)fail_memory(error);
    return disk != NULL;
}

static const char *open_hint(int reason)
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

/* A descriptor on its way into a source. */
struct opened {
    int fd;
    bool is_owned; /* closed with the source */
    const char *name;
    struct descriptors
        *shared; /* to leave it to where it is a regular file, or NULL; then `name` is its path */
};

/* The descriptor becomes the source's feed; false when it cannot, it is then still the caller's. */
static bool take_fd(struct source *source, const struct opened *opened, ttr_error *error)
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
    /* A shell may have read the beginning of standard input. */
    off_t at = is_regular && !opened->shared ? lseek(opened->fd, 0, SEEK_CUR) : 0;
    uint64_t start = at > 0 ? (uint64_t)at : 0;
    if (is_regular && (uint64_t)about.st_size > start)
        source->disk_size = (uint64_t)about.st_size - start;
    source->in.mapped.start = start;
    if (!source_take(source,
                     feed_of_fd(source->alloc, opened->fd, opened->is_owned, is_regular, start),
                     error))
        return false;
    if (is_regular && opened->shared) {
        source->shared = (struct shared_file){
            .pool = descriptors_hold(opened->shared), .path = source->name, .flags = O_RDONLY};
        shared_file_adopt(&source->shared, opened->fd, &about);
        feed_share(source->disk, &source->shared);
    }
    return true;
}

/* Puts decoders over compressed bytes; false when memory is out. */
static bool decompress(struct source *source, const struct source_options *options,
                       ttr_error *error)
{
    if (options && options->no_decompress)
        return true;
    bool is_done = inflate_over(source->alloc, &source->feed, &source->compression);
    bool is_small = source->disk_size && source->disk_size <= SMALL_FILE;
    if (is_done && source->feed != source->disk && !is_small)
        is_done = decode_ahead(source->alloc, &source->feed, source->disk);
    if (!is_done)
        (void)fail_memory(error);
    return is_done;
}

/* Chooses the window of a descriptor. */
static void choose_window(struct source *source, const struct source_options *options)
{
    bool no_mmap =
        options && (options->no_mmap || !is_mapped_size(options->chunk, options->is_sparse));
    uint64_t start = source->in.mapped.start;
    memset(&source->in, 0, sizeof source->in);
    source->ops = &source_stream_ops;
    if (source->feed != source->disk || !source->disk->may_grow || no_mmap)
        return;
    int fd = feed_take_fd(source->disk);
    bool is_safe = fd >= 0 && source_file_is_safe_to_map(fd);
    if (fd >= 0)
        feed_give_fd(source->disk);
    if (!is_safe)
        return;
    source->ops = &source_mapped_ops;
    source->in.mapped.start = start;
    source->in.mapped.page = (size_t)sysconf(_SC_PAGESIZE);
}

void source_narrow(struct source *source, size_t chunk)
{
    const bool is_mapped = source->ops == &source_mapped_ops;
    if ((source->ops != &source_stream_ops && !is_mapped) || !source->disk->may_grow ||
        (source->chunk && source->chunk <= chunk))
        return;
    source->chunk = source->options.chunk = chunk;
    source->options.is_sparse = true;
    if (!is_mapped || is_mapped_size(chunk, true))
        return;
    memset(&source->in, 0, sizeof source->in);
    source->ops = &source_stream_ops;
}

static struct source *open_fd(const struct alloc *alloc, const struct opened *opened,
                              const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, opened->name, options, error);
    if (!source || !take_fd(source, opened, error)) {
        source_close(source);
        if (opened->is_owned)
            (void)close(opened->fd);
        return NULL;
    }
    if (decompress(source, options, error)) {
        choose_window(source, options);
        return source;
    }
    source_close(source);
    return NULL;
}

struct source *source_open(const struct alloc *alloc, const char *path,
                           const struct source_options *options, ttr_error *error)
{
    if (strcmp(path, "-") == 0)
        return open_fd(alloc, &(struct opened){STDIN_FILENO, false, "standard input", NULL},
                       options, error);
    struct descriptors *shared = options ? options->shared : NULL;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && (errno == EINTR || (errno == EMFILE && shared && descriptors_spare(shared))));
    if (fd < 0) {
        int reason = errno;
        (void)fail_sys(error, reason, NO_OFFSET, "cannot open %s%s",
                       *path ? path : "a file without a name", open_hint(reason));
        return NULL;
    }
    struct source *source =
        open_fd(alloc, &(struct opened){fd, true, path, shared}, options, error);
    if (source) {
        source->has_path = source->disk->may_grow;
        source->options = options ? *options : (struct source_options){.chunk = 0};
    }
    return source;
}

struct source *source_again(const struct source *source)
{
    return source->has_path ? source_open(source->alloc, source->name, &source->options, NULL)
                            : NULL;
}

struct source *source_open_fd(const struct alloc *alloc, int fd,
                              const struct source_options *options, ttr_error *error)
{
    char name[32];
    (void)snprintf(name, sizeof name, "descriptor %d", fd);
    return open_fd(alloc, &(struct opened){fd, true, name, NULL}, options, error);
}

struct source *source_open_memory(const struct alloc *alloc, const void *bytes, size_t n,
                                  const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, "memory", options, error);
    if (!source)
        return NULL;
    source->disk_size = n;
    if (!source_take(source, feed_of_memory(alloc, bytes, n), error) ||
        !decompress(source, options, error)) {
        source_close(source);
        return NULL;
    }
    source->ops = &source_stream_ops;
    if (source->feed != source->disk)
        return source;
    source->ops = &source_memory_ops;
    source->in.memory.bytes = bytes;
    source->in.memory.n = n;
    return source;
}

struct source *source_open_pull(const struct alloc *alloc, source_pull pull, void *own,
                                const struct source_options *options, ttr_error *error)
{
    struct source *source = source_new(alloc, "input", options, error);
    if (!source)
        return NULL;
    if (!source_take(source, feed_of_pull(alloc, pull, own), error) ||
        !decompress(source, options, error)) {
        source_close(source);
        return NULL;
    }
    source->ops = &source_stream_ops;
    return source;
}

struct source *source_open_given(const struct alloc *alloc, const char *name, ttr_error *error)
{
    struct source *source = source_new(alloc, name, NULL, error);
    if (source)
        source->ops = &source_given_ops;
    return source;
}

bool source_give(struct source *source, const void *bytes, size_t n)
{
    return source_stream_append(source, bytes, n);
}

ttr_status source_fill(struct source *source, uint64_t offset, size_t need, struct window *window,
                       ttr_error *error)
{
    const struct window *shown = &source->shown;
    if (offset < shown->offset)
        return fail(error, TTR_E_MISUSE, offset,
                    "%s: byte %llu is before the window, which begins at %llu", source->name,
                    (unsigned long long)offset, (unsigned long long)shown->offset);
    if (need > source->limit)
        return fail(error, TTR_E_LIMIT, offset,
                    "%s: a record at byte %llu wants %zu bytes, over the limit of %llu",
                    source->name, (unsigned long long)offset, need,
                    (unsigned long long)source->limit);
    ttr_status status = source->ops->fill(source, offset, need, error);
    *window = source->shown;
    return status;
}

bool source_is_seekable(const struct source *source)
{
    return source->ops == &source_memory_ops ||
           (source->disk && source->feed == source->disk && source->disk->may_grow);
}

int64_t source_peek_at(const struct source *source, uint64_t offset, void *to, size_t n,
                       ttr_error *error)
{
    if (!source_is_seekable(source)) {
        (void)fail(error, TTR_E_UNSUPPORTED, offset,
                   "%s is read as it comes: there is no looking ahead to byte %llu", source->name,
                   (unsigned long long)offset);
        return -1;
    }
    if (source->ops != &source_memory_ops)
        return feed_read_at(source->disk, offset, to, n, error);
    uint64_t left = offset < source->in.memory.n ? source->in.memory.n - offset : 0;
    n = n < left ? n : (size_t)left;
    if (n)
        memcpy(to, source->in.memory.bytes + offset, n);
    return (int64_t)n;
}

void source_foretell(const struct source *source, uint64_t offset, size_t n)
{
    if (source_is_seekable(source) && source->ops != &source_memory_ops)
        feed_foretell(source->disk, offset, n);
}

const char *source_compression(const struct source *source)
{
    return source->compression;
}

uint64_t source_disk_size(const struct source *source)
{
    return source->disk_size;
}

uint64_t source_disk_used(const struct source *source)
{
    /* Mapped and borrowed bytes never pass the feed. */
    uint64_t used = source->ops == &source_stream_ops ? feed_used(source->disk)
                                                      : source->shown.offset + source->shown.n;
    bool is_past =
        source->disk_size && used > source->disk_size; /* a jump went further than the input */
    return is_past ? source->disk_size : used;
}

uint64_t source_end(const struct source *source)
{
    const struct window *shown = &source->shown;
    uint64_t behind = shown->n ? shown->offset + shown->n : 0;
    if (source_is_seekable(source))
        return behind > source->disk_size ? behind : source->disk_size;
    if (!shown->at_end)
        return UINT64_MAX;
    if (behind || source->ops != &source_stream_ops)
        return behind ? behind : shown->offset;
    return feed_used(source->feed);
}
