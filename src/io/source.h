/* Bytes in: files, pipes, memory and compressed streams behind one window.
 *
 * A source shows a window of consecutive bytes.  source_fill makes the window begin at the given
 * offset and hold at least `need` bytes if the input has them; the window's bytes stay valid until
 * the next source_fill or source_close.  The window never goes backwards, so pipes and compressed
 * files work like any other.  Nothing may be read past the window. Memory: about 1 to 4 MiB a
 * source, more only while a single record needs it (bounded by `limit`). Thread rule: one thread at
 * a time; a compressed source (unless it is a small file) runs its decoder on a thread of its own
 * behind the window, and a pull function is then called from there. */
#ifndef TRACETTA_IO_SOURCE_H
#define TRACETTA_IO_SOURCE_H

#include <stdbool.h>

#include "base/alloc.h"

struct source;
struct descriptors;

struct window {
    const uint8_t *bytes; /* first byte shown, never NULL after a good fill */
    size_t n;             /* bytes shown */
    uint64_t offset;      /* their place in the uncompressed input */
    bool at_end;          /* the input ends with this window */
};

struct source_options {
    bool no_mmap;       /* pread even where mapping looks safe */
    bool no_decompress; /* take the bytes as they are */
    size_t chunk; /* bytes a refill asks for; 0 = default (1 MiB; 4 MiB when mapped), small ones are
                     never mapped; see source_chunk */
    bool is_sparse; /* much of the file will be passed over: small windows are mapped, too, so that
                       only what is looked at is read */
    uint64_t limit; /* most bytes one window may grow to; 0 = 4 GiB */
    struct descriptors
        *shared; /* the source holds no descriptor of its own for a regular file; NULL = it does */
};

/* The chunk with which the windows of n sources that are open at once take 8 MiB together, or up to
 * 18 where they are hundreds, 12 where they are more, or a page each, as long as records are small.
 */
static inline size_t source_chunk(size_t n)
{
    const size_t least = (size_t)32 << 10, usual = ((size_t)8 << 20) / (n ? n : 1) & ~(size_t)0xfff,
                 small = ((size_t)12 << 20) / (n ? n : 1) & ~(size_t)0xfff;
    if (usual >= least)
        return usual > (size_t)1 << 20 ? 0 : usual;
    return n <= ((size_t)18 << 20) / least ? least : small < 4096 ? 4096 : small;
}

/* Reads up to n bytes into `to`: the count, 0 at the end, or -1 with errno set.  For inputs that
 * live elsewhere. */
typedef int64_t (*source_pull)(void *own, void *to, size_t n);

/* Opens a path: a regular file (mapped where safe: local, not open for writing elsewhere), a FIFO,
 * a device, or "-" for standard input.  gzip, zstd, lz4 (frame), bzip2 and xz are recognised by
 * content and decoded, also several members one after another and one inside the other (at most 4
 * levels).  The first bytes are looked at here, so a pipe is waited for.  A directory is
 * TTR_E_MISUSE.  NULL with `error` filled when it cannot be opened. */
struct source *source_open(const struct alloc *alloc, const char *path,
                           const struct source_options *options, ttr_error *error);

/* The same over memory (borrowed until close), an open file descriptor (taken over, and closed also
 * when this fails), or a pull function (source_close waits for a call under way to return). */
struct source *source_open_memory(const struct alloc *alloc, const void *bytes, size_t n,
                                  const struct source_options *options, ttr_error *error);
struct source *source_open_fd(const struct alloc *alloc, int fd,
                              const struct source_options *options, ttr_error *error);
struct source *source_open_pull(const struct alloc *alloc, source_pull pull, void *own,
                                const struct source_options *options, ttr_error *error);

/* A source of bytes that its user gives it, as they come over a connection: the window ends
 * (at_end) where they do, until more are given. `name` stands for it in messages.  source_give
 * copies; what a window showed before is then gone.  False when memory is out. */
struct source *source_open_given(const struct alloc *alloc, const char *name, ttr_error *error);
TTR_MUST bool source_give(struct source *source, const void *bytes, size_t n);

/* Moves the window to begin at `offset` (not before the present window's offset) and to hold at
 * least `need` bytes, fewer only when the input ends there (at_end is then set).  TTR_OK also with
 * an empty window at the end, or past it. A jump past the window costs nothing where the source is
 * seekable; elsewhere what lies between is read and forgotten. at_end is known for sure only when
 * `need` could not be met: a pipe may end just after a full window.  A file that grows after at_end
 * shows the new bytes at a later fill. A failure below (TTR_E_IO; a damaged compressed stream:
 * TTR_E_MALFORMED or TTR_E_TRUNCATED with the place in the compressed file in its text) is told
 * once, by the first fill that cannot have its `need`; the window then holds what came before it,
 * and at the next fill it is at_end.  TTR_E_LIMIT when `need` is over the limit; the window is then
 * unchanged. */
TTR_MUST ttr_status source_fill(struct source *source, uint64_t offset, size_t need,
                                struct window *window, ttr_error *error);

/* True for memory and for regular files that are not compressed: jumps cost nothing and
 * source_peek_at works. */
bool source_is_seekable(const struct source *source);

/* Frees what a window takes, where that is the source's own: nothing is shown any more, and nothing
 * may be asked for. */
void source_rest(struct source *source);

/* Copies up to n bytes from any `offset`, also before the window, which stays as it is: the count,
 * fewer only at the end of the input, or -1 with `error` where reading fails or the source is not
 * seekable (TTR_E_UNSUPPORTED). */
int64_t source_peek_at(const struct source *source, uint64_t offset, void *to, size_t n,
                       ttr_error *error);

/* Says that source_peek_at will soon be asked for such bytes: a disk can have many of them under
 * way at once.  Does nothing where that is of no use. */
void source_foretell(const struct source *source, uint64_t offset, size_t n);

/* What is known: "gzip", "zstd", "lz4", "bzip2", "xz" or ""; the size on disk (0 = unknown); bytes
 * consumed from disk so far. */
const char *source_compression(const struct source *source);
uint64_t source_disk_size(const struct source *source);
uint64_t source_disk_used(const struct source *source);

/* Where the uncompressed bytes end, as far as it is known by now: a file may still grow.
 * UINT64_MAX: not known yet. */
uint64_t source_end(const struct source *source);

/* Gives a regular file windows of so many bytes where it would have larger ones, and as if it had
 * been opened as sparse.  Before the first fill. */
void source_narrow(struct source *source, size_t chunk);

/* Opens the same regular file once more from its beginning, for a look ahead; NULL where that
 * cannot be (a pipe, memory, a file that came as a descriptor, or an open that fails). */
struct source *source_again(const struct source *source);

void source_close(struct source *source);

#endif
