/* The saved store of a view: a trace that was shown before is shown at once. */
#ifndef TRACETTA_CLI_COMMANDS_VIEW_CACHE_H
#define TRACETTA_CLI_COMMANDS_VIEW_CACHE_H

#include "cli/input/trace_cache.h"

struct view_cache {
    struct trace_cache cache;
    int file;       /* descriptor of the saved store; -1 = none */
    char *findings; /* warnings of the loaded store (saved_findings.h) */
};

/* Opens the saved store of a call's inputs, and loads it without tables into a new context. Returns
 * NULL if there is none. */
ttr_store *view_cache_open(struct view_cache *cache, const struct call *call, ttr **t);

/* Loads the named tables of the saved store into a new context. Returns NULL if it is damaged. */
ttr_store *view_cache_load(const struct view_cache *cache, const struct call *call,
                           const char *const *tables, ttr **t);

/* Saves a store that was read completely, with the rows of its view, if that pays. */
void view_cache_save(const struct view_cache *cache, const struct call *call, ttr_reader *reader,
                     const ttr_store *store, const ttr_store_part *rows, size_t rows_n);

/* Frees the cache. The loaded store must be freed before. */
void view_cache_free(struct view_cache *cache);

#endif
