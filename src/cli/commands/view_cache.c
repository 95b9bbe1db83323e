/* The saved store of a view; see the header. */
#include "cli/commands/view_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/view.h>

#include "cli/commands/saved_findings.h"

/* Loads tables of the saved store into a new context. Returns NULL if it is missing or damaged. */
static ttr_store *load_store(const struct view_cache *cache, const struct call *call,
                             const char *const *tables, ttr **t)
{
    const ttr_store_options options = {
        .size = sizeof options, .names = tables, .memory = call->set.memory_max};
    const ttr_text key = {cache->cache.key, cache->cache.key_n};
    *t = cache->file < 0 ? NULL : ttr_new(NULL);
    ttr_store *store = *t ? ttr_store_load(*t, cache->file, key, &options, NULL) : NULL;
    if (!store) {
        ttr_free(*t);
        *t = NULL;
    }
    return store;
}

ttr_store *view_cache_open(struct view_cache *cache, const struct call *call, ttr **t)
{
    static const char *const none[] = {NULL};
    *cache = (struct view_cache){.file = -1};
    trace_cache_begin(&cache->cache, call, "view");
    cache->file = trace_cache_open(&cache->cache);
    ttr_store *store = load_store(cache, call, none, t);
    cache->findings = store ? saved_findings_read_part(store, SAVED_FINDINGS) : NULL;
    if (cache->findings)
        return store;
    ttr_store_free(store);
    ttr_free(*t);
    *t = NULL;
    return NULL;
}

ttr_store *view_cache_load(const struct view_cache *cache, const struct call *call,
                           const char *const *tables, ttr **t)
{
    return load_store(cache, call, tables, t);
}

void view_cache_save(const struct view_cache *cache, const struct call *call, ttr_reader *reader,
                     const ttr_store *store, const ttr_store_part *rows, size_t rows_n)
{
    ttr_store_part parts[TTR_VIEW_PARTS + 1];
    char *findings = NULL;
    size_t n = 0;
    if (!store || rows_n == 0 || !trace_cache_is_worthwhile(&cache->cache))
        return;
    if (saved_findings_collect(call, reader, &findings, &n)) {
        memcpy(parts, rows, rows_n * sizeof *rows);
        parts[rows_n] = (ttr_store_part){SAVED_FINDINGS, findings, n};
        trace_cache_write(&cache->cache, call, store, parts, rows_n + 1);
    }
    free(findings);
}

void view_cache_free(struct view_cache *cache)
{
    if (cache->file >= 0)
        (void)close(cache->file);
    cache->file = -1;
    trace_cache_end(&cache->cache);
    free(cache->findings);
    cache->findings = NULL;
}
