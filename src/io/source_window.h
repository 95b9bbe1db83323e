/* Inside a source: the three kinds of window and what they share.  Only the files of this folder
 * look in here.
 *
 *   memory   shows the caller's bytes where they lie          source_stream.c
 *   stream   a buffer refilled from a feed                    source_stream.c
 *   given    what its user appended                           source_stream.c
 *   mapped   a sliding mapping of a regular file              source_file.c */
#ifndef TRACETTA_IO_SOURCE_WINDOW_H
#define TRACETTA_IO_SOURCE_WINDOW_H

#include "io/descriptors.h"
#include "io/feed.h"
#include "io/source.h"

struct source_ops {
    /* Moves source->shown; offset is not before the present window, need not over the limit.  On
     * failure `shown` still holds what there is. */
    ttr_status (*fill)(struct source *source, uint64_t offset, size_t need, ttr_error *error);
    void (*close)(struct source *source);
};

struct source {
    const struct source_ops *ops;
    const struct alloc *alloc;
    char *name; /* as messages call it */
    size_t name_size;
    const char *compression;
    struct feed *disk; /* the raw bytes; owned by `feed` */
    struct feed *feed; /* what the window shows: `disk` or a decoder over it */
    bool has_path;     /* `name` is the path of a regular file, opened with `options` */
    struct source_options options;
    struct shared_file shared; /* pool NULL = the descriptor is the feed's */
    uint64_t disk_size;        /* 0 = unknown */
    size_t chunk;              /* 0 = the default of the kind */
    uint64_t limit;
    struct window shown;
    union {
        struct {
            const uint8_t *bytes;
            size_t n;
        } memory;
        struct {
            uint8_t *bytes;
            size_t capacity, start, n; /* shown: [start, start + n) */
            uint64_t passed; /* given: this many of the bytes to come lie before the window */
        } stream;            /* also of the kind `given` */
        struct {
            uint8_t *map; /* NULL while nothing is mapped */
            size_t n;
            uint64_t at;    /* offset in the file of map[0], a multiple of the page size */
            uint64_t start; /* offset in the file where the input begins */
            int fd;         /* during a fill */
            size_t page;
        } mapped;
    } in;
};

/* A place to point at while nothing can be shown. */
extern const uint8_t source_nothing[1];

extern const struct source_ops source_memory_ops, source_stream_ops, source_given_ops,
    source_mapped_ops;

/* Appends to a source of the kind `given`; false when memory is out. */
bool source_stream_append(struct source *source, const void *bytes, size_t n);

/* True when mapping `fd`, a regular file, cannot be expected to end in SIGBUS: local, large enough
 * to be worth it, and nobody writes it. */
bool source_file_is_safe_to_map(int fd);

#endif
