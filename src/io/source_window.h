/* The internals of a source: the kinds of window and their shared state. Private to src/io.
 *
 *   kind     bytes                                            implemented in
 *   memory   the caller's bytes                               source_buffered.c
 *   stream   a buffer refilled from a byte stream             source_buffered.c
 *   given    a buffer that the caller appends to              source_buffered.c
 *   mapped   a moving mapping of a regular file               source_mapped.c */
#ifndef TRACETTA_IO_SOURCE_WINDOW_H
#define TRACETTA_IO_SOURCE_WINDOW_H

#include "io/descriptor_pool.h"
#include "io/byte_stream.h"
#include "io/source.h"

struct source_ops {
    /* Moves source->shown. `offset` is not before the current window, and `need` is within the
     * limit. On failure `shown` has the bytes before the error. */
    ttr_status (*fill)(struct source *source, uint64_t offset, size_t need, ttr_error *error);
    void (*close)(struct source *source);
};

struct source {
    const struct source_ops *ops;
    const struct alloc *alloc;
    char *name; /* file name for messages */
    size_t name_size;
    const char *compression;
    struct byte_stream *disk; /* raw stream, from which all others read; closed together with
                               * `stream` */
    /* stream to read from: `disk`, or a decompression or thread stream on top of it */
    struct byte_stream *stream;
    bool has_path; /* `name` is the path of a regular file that source_open has opened with
                    * `options` */
    struct source_options options;
    struct shared_file shared; /* shared.pool is NULL if `disk` owns the descriptor */
    uint64_t disk_size;        /* size of the file in bytes; 0 = unknown */
    size_t chunk;              /* bytes per refill; 0 = the default of this kind of window */
    uint64_t limit;
    struct window shown;
    union {
        struct {
            const uint8_t *bytes;
            size_t n;
        } memory;
        struct {
            uint8_t *bytes;
            size_t capacity, start, n; /* the window is [start, start + n) */
            /* appendable source: number of future bytes to discard */
            uint64_t passed;
        } buffer; /* used by buffered and appendable sources */
        struct {
            uint8_t *map; /* start of the mapping; NULL while nothing is mapped */
            size_t n;
            uint64_t at; /* file offset of map[0], a multiple of the page size */
            /* file offset at which the input starts (not 0 for redirected standard input) */
            uint64_t start;
            int fd; /* descriptor, valid only during a fill */
            size_t page;
        } mapped;
    } in;
};

/* Non-NULL address of a window of 0 bytes. */
extern const uint8_t source_empty_window[1];

extern const struct source_ops source_memory_ops, source_buffered_ops, source_appendable_ops,
    source_mapped_ops;

/* Appends bytes to an appendable source. Returns false if memory runs out. */
bool source_buffered_append(struct source *source, const void *bytes, size_t n);

/* Returns true if mapping the regular file `fd` is safe from SIGBUS and worthwhile: local, not open
 * for writing, at least 64 KiB. */
bool source_is_safe_to_map(int fd);

#endif
