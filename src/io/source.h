/* Buffered input: files, pipes, memory and compressed streams through one interface.
 *
 * A source shows a window of consecutive bytes of its input:
 *
 *     input    |.......|=========================|..........|
 *                      ^ offset      window      ^ offset + n
 *
 * source_fill moves the window: it starts at the given offset and has at least `need` bytes, unless
 * the input ends before. The bytes of the window are valid until the next source_fill or
 * source_close. The window never moves backwards, so pipes and compressed files work like regular
 * files. Bytes outside the window must not be read. Memory: 1 to 4 MiB per source, more only while
 * a single record needs it (bounded by `limit`). Threads: one thread at a time. A compressed
 * source, unless it is a small file, decompresses on a thread of its own; a pull callback is then
 * called from that thread. */
#ifndef TRACETTA_IO_SOURCE_H
#define TRACETTA_IO_SOURCE_H

#include <stdbool.h>

#include "base/alloc.h"

struct source;
struct descriptor_pool;

struct window {
    const uint8_t *bytes; /* first byte of the window; never NULL after a successful fill */
    size_t n;             /* bytes in the window */
    uint64_t offset;      /* offset of the first byte in the uncompressed input */
    bool at_end;          /* true if the input ends with this window */
};

struct source_options {
    bool no_mmap;       /* read with pread even if mapping would be safe */
    bool no_decompress; /* return compressed input as it is */
    /* bytes per refill; 0 = default (1 MiB, mapped 4 MiB). Small chunks are never mapped. See
     * source_chunk_size */
    size_t chunk;
    /* the caller will skip most of the file: small windows are mapped too, so that only accessed
     * pages are read */
    bool is_sparse;
    uint64_t limit; /* maximum window size in bytes; 0 = 4 GiB */
    /* source_open_callback: returns false if the callback would still wait after `ms` milliseconds;
     * NULL = unknown */
    bool (*can_pull)(void *ctx, unsigned ms);
    struct descriptor_pool
        /* pool that provides the descriptor of a regular file; NULL = the source keeps its own
         * descriptor open */
        *shared;
};

/* Returns the chunk size for n sources that are open at once. All windows together then use 8 MiB,
 * up to 18 MiB for hundreds of sources, and 12 MiB (or a page each) for more. Longer records need
 * more. */
static inline size_t source_chunk_size(size_t n)
{
    const size_t least = (size_t)32 << 10, usual = ((size_t)8 << 20) / (n ? n : 1) & ~(size_t)0xfff,
                 small = ((size_t)12 << 20) / (n ? n : 1) & ~(size_t)0xfff;
    if (usual >= least)
        return usual > (size_t)1 << 20 ? 0 : usual;
    return n <= ((size_t)18 << 20) / least ? least : small < 4096 ? 4096 : small;
}

/* Reads up to n bytes into `to`. Returns the count, 0 at the end, or -1 with errno set. Callback
 * for inputs that are not files. */
typedef int64_t (*source_read_fn)(void *ctx, void *to, size_t n);

/* Opens a path: a regular file, a FIFO, a device, or "-" for standard input. Regular files are
 * mapped if that is safe: local and not open for writing. gzip, zstd, lz4 (frame), bzip2 and xz are
 * recognised by content and decompressed, also with several members and up to 4 nested levels.
 * Reads the first bytes, so it waits for a pipe. Returns NULL with `error` on failure; a directory
 * is TTR_E_MISUSE. */
struct source *source_open(const struct alloc *alloc, const char *path,
                           const struct source_options *options, ttr_error *error);

/* Like source_open, for memory (borrowed until close) or a pull callback. source_close waits until
 * a running call returns. */
struct source *source_open_memory(const struct alloc *alloc, const void *bytes, size_t n,
                                  const struct source_options *options, ttr_error *error);
struct source *source_open_callback(const struct alloc *alloc, source_read_fn pull, void *ctx,
                                    const struct source_options *options, ttr_error *error);

/* source_open_appendable creates a source without input; the caller appends bytes with
 * source_append as they arrive over a connection. The window ends (at_end) with the bytes appended
 * so far. `name` is used in messages. source_append copies the bytes, invalidates the window, and
 * returns false if memory runs out. */
struct source *source_open_appendable(const struct alloc *alloc, const char *name,
                                      ttr_error *error);
TTR_MUST bool source_append(struct source *source, const void *bytes, size_t n);

/* Moves the window to start at `offset`, which is not before the current window's offset, and to
 * have at least `need` bytes; fewer only at the end of the input (at_end is then set). An empty
 * window at or after the end is TTR_OK. Skipping beyond the window is free if the source is
 * seekable; otherwise the bytes between are read and discarded. at_end is reliable only if `need`
 * was not met: a pipe may end exactly after a full window. If a file grows after at_end, a later
 * fill returns the new bytes. A read error is reported once, by the first fill that cannot meet its
 * `need`; the window then has the bytes before the error, and the next fill sets at_end. Errors are
 * TTR_E_IO, or for damaged compressed data TTR_E_MALFORMED and TTR_E_TRUNCATED with the compressed
 * offset in the text. TTR_E_LIMIT if `need` exceeds the limit; the window is unchanged then. */
TTR_MUST ttr_status source_fill(struct source *source, uint64_t offset, size_t need,
                                struct window *window, ttr_error *error);

/* Returns true for memory and uncompressed regular files: skipping is free and source_peek_at
 * works. */
bool source_is_seekable(const struct source *source);

/* Returns true if no byte after the window arrives within `ms` milliseconds. Returns false if that
 * is unknown: only callbacks with can_pull and without compression can pause. */
bool source_is_paused(const struct source *source, unsigned ms);

/* Frees the memory of the window. The caller must not fill the source again. */
void source_free_window(struct source *source);

/* Copies up to n bytes from any `offset` to `to`, without moving the window. Returns the count,
 * which is less than n only at the end of the input. Returns -1 with `error` if reading fails or
 * the source is not seekable (TTR_E_UNSUPPORTED). */
int64_t source_peek_at(const struct source *source, uint64_t offset, void *to, size_t n,
                       ttr_error *error);

/* Asks the kernel to read a range that a later source_peek_at needs, so that several ranges are
 * read from disk concurrently. Only regular files support this; other sources ignore it. */
void source_prefetch(const struct source *source, uint64_t offset, size_t n);

/* Return the compression ("gzip", "zstd", "lz4", "bzip2", "xz" or ""), the size on disk in bytes (0
 * = unknown), and the bytes read from disk so far. */
const char *source_compression(const struct source *source);
uint64_t source_disk_size(const struct source *source);
uint64_t source_disk_bytes_read(const struct source *source);

/* Returns the offset of the end of the uncompressed input as known now (a file may still grow), or
 * UINT64_MAX if unknown. */
uint64_t source_end_offset(const struct source *source);

/* Reduces the windows of a regular file to `chunk` bytes and treats it as opened with is_sparse.
 * Must precede the first fill. Does nothing for other sources. */
void source_limit_window(struct source *source, size_t chunk);

/* Opens the regular file of a source again, from its start, for reading ahead. Returns NULL if
 * opening fails or the input is a pipe, memory or a descriptor. */
struct source *source_reopen(const struct source *source);

void source_close(struct source *source);

#endif
