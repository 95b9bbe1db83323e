/* Saved stores of traces, in the user's cache folder: the second question to a trace does not read
 * it again.
 *
 *     trace_cache_begin, trace_cache_open -> ttr_store_load
 *     if that fails: read the trace, trace_cache_write; trace_cache_end
 *
 * A saved store belongs to the paths as they are written, to size, times and inode of all their
 * files, to the options that select events, and to the build of libtracetta.  Pipes, live traces
 * and files that changed in the last two seconds are not saved. */
#ifndef TRACETTA_CLI_INPUT_TRACE_CACHE_H
#define TRACETTA_CLI_INPUT_TRACE_CACHE_H

#include <limits.h>

#include <tracetta/store.h>

#include "cli/commands/command.h"

struct trace_cache {
    char *key; /* NULL = the inputs of this call are not saved */
    size_t key_n;
    struct file_stamp *stamp; /* files before they were read */
    uint64_t input_bytes;     /* size of all files */
    uint64_t begin_ns;        /* progress_now() at trace_cache_begin */
    uint64_t size_max;        /* bytes of all saved stores */
    char folder[PATH_MAX - 64], path[PATH_MAX];
    bool is_recent; /* a file has changed in the last seconds */
};

/* Prepares a cache for the inputs of a call. `use` distinguishes uses that save other tables. */
void trace_cache_begin(struct trace_cache *cache, const struct call *call, const char *use);

/* Opens the saved store. Returns a descriptor, or -1 if there is none that is the user's own. */
int trace_cache_open(const struct trace_cache *cache);

/* Returns true if it pays to save a store: reading took long or the inputs are large, and no file
 * has changed since trace_cache_begin. */
bool trace_cache_is_worthwhile(const struct trace_cache *cache);

/* Saves a store, replacing an older one, and deletes the stores that were not used for the longest
 * time if there are too many. A failure is only noted with --verbose. */
void trace_cache_write(const struct trace_cache *cache, const struct call *call,
                       const ttr_store *store, const ttr_store_part *parts, size_t parts_n);

void trace_cache_end(struct trace_cache *cache);

#endif
