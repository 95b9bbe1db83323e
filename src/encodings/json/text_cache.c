/* Cache of escaped strings by string id. If memory runs out, lookups return an empty text and set
 * `failed`, so a caller needs only one check after many lookups. */
#include "encodings/json/text_cache.h"

#include "base/hash.h"

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

static const char padding[TEXT_CACHE_PADDING] = "";
static const struct text_piece nothing = {.text = {padding, 0}};

void text_cache_init(struct text_cache *cache, const struct alloc *alloc, text_encode encode)
{
    *cache = (struct text_cache){.alloc = alloc, .encode = encode};
    arena_init(&cache->arena, alloc);
    buffer_init(&cache->scratch, alloc);
}

void text_cache_free(struct text_cache *cache)
{
    alloc_free(cache->alloc, cache->pieces, cache->pieces_n, sizeof *cache->pieces);
    buffer_free(&cache->scratch);
    arena_free(&cache->arena);
}

static bool reserve_cache_slot(struct text_cache *cache, ttr_id id)
{
    size_t before = cache->pieces_n;
    if (!alloc_reserve(cache->alloc, (void **)&cache->pieces, &cache->pieces_n, (size_t)id + 1,
                       sizeof *cache->pieces))
        return false;
    if (cache->pieces_n > before)
        memset(cache->pieces + before, 0, (cache->pieces_n - before) * sizeof *cache->pieces);
    return true;
}

const struct text_piece *text_cache_escape(struct text_cache *cache, const ttr *t, ttr_id id)
{
    ttr_text text = ttr_text_get(t, id);
    struct buffer *scratch = &cache->scratch;
    if (id >= ttr_text_count(t))
        return &nothing;
    buffer_clear(scratch);
    size_t changed = cache->encode(scratch, text.p, text.n), n = scratch->n;
    buffer_add(scratch, padding, sizeof padding);
    const char *p = scratch->failed ? NULL : arena_copy(&cache->arena, scratch->bytes, scratch->n);
    if (!p || !reserve_cache_slot(cache, id)) {
        cache->failed = true;
        return &nothing;
    }
    cache->pieces[id] =
        (struct text_piece){.text = {p, n}, .changed = changed, .hash = hash_bytes(p, n)};
    return &cache->pieces[id];
}
