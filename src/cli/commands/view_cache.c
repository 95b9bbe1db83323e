/* The saved store of a view; see the header. */
#include "cli/commands/view_cache.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/commands/saved_findings.h"

ttr_store *view_cache_load(struct view_cache *cache, const struct call *call,
                           const char *const *tables, ttr **t)
{
    const ttr_store_options options = {
        .size = sizeof options, .names = tables, .memory = call->set.memory_max};
    *cache = (struct view_cache){.file = -1};
    trace_cache_begin(&cache->cache, call, "view");
    cache->file = trace_cache_open(&cache->cache);
    if (cache->file < 0)
        return NULL;
    *t = ttr_new(NULL);
    const ttr_text key = {cache->cache.key, cache->cache.key_n};
    ttr_store *store = *t ? ttr_store_load(*t, cache->file, key, &options, NULL) : NULL;
    cache->findings = store ? saved_findings_read_part(store, SAVED_FINDINGS) : NULL;
    if (cache->findings)
        return store;
    ttr_store_free(store);
    ttr_free(*t);
    *t = NULL;
    return NULL;
}

void view_cache_save(const struct view_cache *cache, const struct call *call, ttr_reader *reader,
                     const ttr_store *store)
{
    char *findings = NULL;
    size_t n = 0;
    if (!store || !trace_cache_is_worthwhile(&cache->cache))
        return;
    if (saved_findings_collect(call, reader, &findings, &n)) {
        const ttr_store_part part = {SAVED_FINDINGS, findings, n};
        trace_cache_write(&cache->cache, call, store, &part, 1);
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
