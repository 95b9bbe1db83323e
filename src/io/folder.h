/* Input and output folders, for traces that consist of many files. Input: names and
 * sources of the regular files of a folder on disk or of a list in memory. Output: files are
 * created in a temporary folder next to the target, which is renamed when all are complete;
 * folder_abandon removes it. Threads: one thread at a time. */
#ifndef TRACETTA_IO_FOLDER_H
#define TRACETTA_IO_FOLDER_H

#include <tracetta/advanced.h>

#include "io/sink.h"
#include "io/source.h"

/* Levels of subfolders that are searched for traces. */
#define FOLDER_LEVELS_MAX 8u

/* Folder in an LTTng trace that contains its packet index files. folder_is_index_file returns true
 * for the name of a file in it. */
#define FOLDER_INDEX "index"
bool folder_is_index_file(const char *name);

struct folder;

/* Returns true if the folder contains packet index files (FOLDER_INDEX). */
bool folder_has_index(const struct folder *folder);

struct folder_file {
    const char *
        /* path relative to the folder, such as "index/channel0_0.idx"; valid until folder_close */
        name;
    bool is_link;
};

/* Lists the regular files of a folder, sorted by name. Follows links to files in the folder, and to
 * files outside of it if `follows_links` is set; skips names that start with '.'. Lists subfolders
 * that are not links down to `depth` levels; 0 = none. Sources use descriptors of `pool`, or of a
 * new pool if it is NULL. Returns NULL with `error` if a folder cannot be read. */
struct folder *folder_open(const struct alloc *alloc, struct descriptor_pool *pool,
                           const char *path, unsigned depth, bool follows_links, ttr_error *error);

/* Creates a folder of files in memory, borrowed until folder_close. Lists all files, also those
 * with names that start with '.'. Fails with TTR_E_MISUSE if two files have the same name. */
struct folder *folder_open_memory(const struct alloc *alloc, const char *name,
                                  const ttr_file *files, size_t n, ttr_error *error);

/* folder_get_file returns the i-th file, or NULL after the last. folder_find_file returns the file
 * with that name, or NULL. */
const struct folder_file *folder_get_file(const struct folder *folder, size_t i);
const struct folder_file *folder_find_file(const struct folder *folder, const char *name);

/* Why an entry of a folder is skipped. */
enum folder_skip {
    FOLDER_SKIP_SPECIAL,  /* a FIFO, a socket or a device */
    FOLDER_SKIP_DANGLING, /* a link without a target */
    FOLDER_SKIP_OUTSIDE   /* a link to a file outside of the folder */
};

/* Returns the name of the i-th skipped entry, and sets *why. Returns NULL after the last. */
const char *folder_get_skipped_entry(const struct folder *folder, size_t i, enum folder_skip *why);

/* folder_path returns the path of the folder. folder_file_path writes the path of one of its files
 * to `to`, truncated to `size` bytes. */
const char *folder_path(const struct folder *folder);
void folder_file_path(const struct folder *folder, const struct folder_file *file, char *to,
                      size_t size);

#define FOLDER_SIZE_UNKNOWN UINT64_MAX

/* Stores the size of a file in bytes, or FOLDER_SIZE_UNKNOWN if stat fails. Returns false if the
 * file does not exist any more. */
bool folder_file_size(const struct folder *folder, const struct folder_file *file, uint64_t *size);

/* folder_set_relative_start sets the index in the folder's path at which the path relative to the
 * user's directory starts. folder_relative_path returns that relative path, "" if the index was not
 * set or is after the end. */
void folder_set_relative_start(struct folder *folder, size_t from);
const char *folder_relative_path(const struct folder *folder);

/* Opens a file. The caller closes the source, before or after the folder. Any number of sources may
 * be open, because they share a few descriptors; use source_chunk_size to bound the memory of their
 * windows. Bytes of a folder in memory are borrowed. */
struct source *folder_open_file(struct folder *folder, const struct folder_file *file,
                                const struct source_options *options, ttr_error *error);

/* Limits the windows of the folder's sources to `chunk` bytes (rounded by the kind of source),
 * except for longer records; 0 = no limit. */
void folder_limit_windows(struct folder *folder, size_t chunk);

/* Reads a complete file of at most `limit` bytes, else fails with TTR_E_LIMIT. The caller frees
 * `*bytes` with alloc_free and a count of `*n + 1`. */
TTR_MUST ttr_status folder_read_file(struct folder *folder, const struct folder_file *file,
                                     uint64_t limit, uint8_t **bytes, size_t *n, ttr_error *error);

/* Reads a regular file that folder_open does not list because its name starts with '.'. Sets *bytes
 * to NULL if the folder has no such file. */
TTR_MUST ttr_status folder_read_hidden_file(struct folder *folder, const char *name, uint64_t limit,
                                            uint8_t **bytes, size_t *n, ttr_error *error);

void folder_close(struct folder *folder);

/* --- Output folders --- */

struct folder_sink;

/* How to recognise a trace that may be overwritten. `name` is a file that every such trace has
 * ("metadata"). `is_part` compares the first FOLDER_PREFIX_SIZE decompressed bytes of that file and
 * of another file: do both belong to one trace? NULL accepts every file. */
#define FOLDER_PREFIX_SIZE ((size_t)64 << 10)

struct file_prefix {
    const uint8_t *bytes;
    size_t n;
};

struct trace_marker {
    const char *name;
    bool (*is_part)(const struct file_prefix *mark, const struct file_prefix *file);
};

/* The output folder to create. */
struct folder_output_options {
    const char *path;
    struct trace_marker mark;
    bool overwrite;
    struct descriptor_pool *shared; /* descriptor pool to use; NULL = a new pool for this folder */
};

/* Creates an output folder. An existing folder that is not empty is refused, unless `overwrite` is
 * set and it contains nothing but traces. That is: it or a subfolder has a file `mark.name`, and it
 * has no hidden names, no text files, no other files that `is_part` rejects, no subfolders of a
 * trace except "index", and no files next to subfolders with traces. Returns NULL with `error` on
 * failure. */
struct folder_sink *folder_create(const struct alloc *alloc,
                                  const struct folder_output_options *target, ttr_error *error);

/* Creates an output folder that discards all data but counts it: for dry runs. */
struct folder_sink *folder_create_dry_run(const struct alloc *alloc, ttr_error *error);

/* Creates a file, and missing folders of its name ("index/a.idx"). The caller ends the file with
 * sink_finish or sink_abandon. folder_finish fails if files are still open; folder_abandon ends
 * them. Any number of files may be open, since few of them have a descriptor at a time. Returns
 * NULL with `error` if the file cannot be created or exists already. */
struct sink *folder_create_file(struct folder_sink *folder, const char *name, ttr_error *error);

/* Renames a file or folder within the output folder and creates missing folders. Files in it must
 * be ended. Succeeds if `from` does not exist. */
TTR_MUST ttr_status folder_rename(struct folder_sink *folder, const char *from, const char *to,
                                  ttr_error *error);

/* folder_bytes_written returns the size of all files so far. folder_temporary_path returns the path
 * of the temporary folder, for a signal handler that removes it; NULL for a dry run. */
uint64_t folder_bytes_written(const struct folder_sink *folder);
const char *folder_temporary_path(const struct folder_sink *folder);

/* Writes the buffered bytes of all open files to these files. */
TTR_MUST ttr_status folder_flush(struct folder_sink *folder, ttr_error *error);

/* Renames the folder to its target and frees it. Frees it also on failure. */
TTR_MUST ttr_status folder_finish(struct folder_sink *folder, ttr_error *error);

/* Removes everything written and frees the folder. NULL is allowed. */
void folder_abandon(struct folder_sink *folder);

#endif
