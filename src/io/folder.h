/* Folders in and out: what formats need whose trace is many files.
 *
 * In: names and sources of the regular files of a folder on disk or of a list in memory, behind one
 * interface. Out: files appear in a temporary folder beside the target, which is renamed when all
 * of them are whole; abandoned, nothing stays. Thread rule: one thread at a time. */
#ifndef TRACETTA_IO_FOLDER_H
#define TRACETTA_IO_FOLDER_H

#include <tracetta/read.h>

#include "io/sink.h"
#include "io/source.h"

/* How many folders below a directory traces are looked for. */
#define FOLDER_LEVELS_MAX 8u

/* LTTng's folder beside the stream files of a trace, and whether a file is one of those in it. */
#define FOLDER_INDEX "index"
bool folder_is_index_file(const char *name);

struct folder;

/* Whether there is anything in that folder. */
bool folder_has_index(const struct folder *folder);

struct folder_file {
    const char *
        name; /* below the folder, "index/channel0_0.idx"; zero-terminated, as long as the folder */
    bool is_link;
};

/* Opens a folder: lists its regular files (links to them too), names that begin with '.' left out,
 * in the order of their names, and those of its subfolders (no links) down to `depth` levels (0 =
 * its own files only).  Its sources take their descriptors from the pool, which others use too;
 * NULL: from one that is the folder's own.  NULL with `error` when one cannot be looked into. */
struct folder *folder_open(const struct alloc *alloc, struct descriptors *pool, const char *path,
                           unsigned depth, ttr_error *error);

/* The same of files in memory, borrowed until folder_close, all of them whatever they are called;
 * TTR_E_MISUSE where two have one name. */
struct folder *folder_open_memory(const struct alloc *alloc, const char *name,
                                  const ttr_file *files, size_t n, ttr_error *error);

/* The i-th file; NULL past the end.  And the one of that name, or NULL. */
const struct folder_file *folder_at(const struct folder *folder, size_t i);
const struct folder_file *folder_find(const struct folder *folder, const char *name);

/* The i-th name of something in the folder that is no file of any kind (a FIFO, a socket, a device,
 * or a link that leads nowhere: *is_link), and so was passed over; NULL past the end. */
const char *folder_other(const struct folder *folder, size_t i, bool *is_link);

/* The path of the folder, or of one of its files (for messages): written to `to`, cut to `size`. */
const char *folder_path(const struct folder *folder);
void folder_file_path(const struct folder *folder, const struct folder_file *file, char *to,
                      size_t size);

#define FOLDER_SIZE_UNKNOWN UINT64_MAX

/* Asks for the bytes that a file has on disk by now, or in memory: FOLDER_SIZE_UNKNOWN where there
 * is no telling; false, and none, where it is gone. */
bool folder_file_size(const struct folder *folder, const struct folder_file *file, uint64_t *size);

/* Where a folder lies below the directory that was asked for: the end of its path from a byte on
 * ("" unless that was said; one behind the path is the folder itself). */
void folder_set_place(struct folder *folder, size_t from);
const char *folder_place(const struct folder *folder);

/* Opens a file; the caller closes the source, before or after the folder.  The sources of a folder
 * share a few descriptors, so that there may be any number of them; with source_chunk they share
 * their memory too.  The bytes are borrowed from a folder in memory. */
struct source *folder_source(struct folder *folder, const struct folder_file *file,
                             const struct source_options *options, ttr_error *error);

/* Windows of the folder's sources show no more than `chunk` bytes (rounded by the kind of source)
 * where records let them; 0 = as asked. */
void folder_limit_windows(struct folder *folder, size_t chunk);

/* Reads a whole small file (at most `limit` bytes, else TTR_E_LIMIT) into memory of the seam:
 * *bytes is alloc_free'd by the caller with *n + 1. */
TTR_MUST ttr_status folder_read(struct folder *folder, const struct folder_file *file,
                                uint64_t limit, uint8_t **bytes, size_t *n, ttr_error *error);

void folder_close(struct folder *folder);

/* --- Out --- */

struct folder_sink;

/* How a folder is known that may be replaced: by a file of that name; and which files beside that
 * may be of the same trace, by the first FOLDER_BEGIN bytes of both, uncompressed.  `is_part` NULL:
 * any. */
#define FOLDER_BEGIN ((size_t)64 << 10)

struct folder_begin {
    const uint8_t *bytes;
    size_t n;
};

struct folder_mark {
    const char *name;
    bool (*is_part)(const struct folder_begin *mark, const struct folder_begin *file);
};

/* A folder to make. */
struct folder_target {
    const char *path;
    struct folder_mark mark;
    bool overwrite;
    struct descriptors *shared; /* a pool that others use too; NULL: one of the folder's own */
};

/* Begins a folder.  One that exists and is not empty is refused unless `overwrite`; then it is
 * replaced as a whole, and only if it looks like a trace: it holds a file called as `mark` says, or
 * a folder in it does, and nothing that no trace has (hidden names, files of text and others that
 * are no part, other folders than "index" in a trace, files beside folders that are one).  NULL
 * with `error` when it cannot be made. */
struct folder_sink *folder_create(const struct alloc *alloc, const struct folder_target *target,
                                  ttr_error *error);

/* A folder that keeps nothing: to see what would be written. */
struct folder_sink *folder_create_nowhere(const struct alloc *alloc, ttr_error *error);

/* Makes a file in it ("index/a.idx": folders are made as needed); the caller writes and ends it
 * with sink_finish or sink_abandon; those not ended go with the folder when that is abandoned, and
 * make its finish fail.  Any number of files may be under way: few of them are open at once.  NULL
 * with `error` when it cannot be made, or is there already. */
struct sink *folder_add(struct folder_sink *folder, const char *name, ttr_error *error);

/* Renames a file or folder in it that has no file under way any more; folders on the way are made.
 * What is not there is left so. */
TTR_MUST ttr_status folder_move(struct folder_sink *folder, const char *from, const char *to,
                                ttr_error *error);

/* Bytes in all files so far; path of the temporary folder for a signal handler, NULL for one that
 * keeps nothing. */
uint64_t folder_bytes_written(const struct folder_sink *folder);
const char *folder_temporary(const struct folder_sink *folder);

/* Hands what waits in the buffers of all files under way to the system. */
TTR_MUST ttr_status folder_flush(struct folder_sink *folder, ttr_error *error);

/* Puts the folder in place and frees, also when it fails. */
TTR_MUST ttr_status folder_finish(struct folder_sink *folder, ttr_error *error);

/* Removes what was written and frees.  NULL is fine. */
void folder_abandon(struct folder_sink *folder);

#endif
