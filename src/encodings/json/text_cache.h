/* Cache of the context's strings in escaped form: each string is escaped once, after which an event
 * costs one copy per string. Memory grows with the number of distinct strings used. Ownership:
 * pieces live until text_cache_free. Thread rule: one thread at a time. */
#ifndef TRACETTA_ENCODINGS_JSON_TEXT_CACHE_H
#define TRACETTA_ENCODINGS_JSON_TEXT_CACHE_H

#include <tracetta/event.h>

#include "base/arena.h"
#include "base/buffer.h"

/* Appends `n` bytes in escaped form. Returns the number of characters that cannot be restored from
 * it. */
typedef size_t (*text_encode)(struct buffer *to, const void *p, size_t n);

#define TEXT_CACHE_PADDING 16u

struct text_piece {
    /* escaped text; NULL until requested; TEXT_CACHE_PADDING bytes after it may be read, too */
    ttr_text text;
    size_t changed; /* number of characters that cannot be restored from the text */
    uint64_t hash;  /* hash of the escaped form */
};

struct text_cache {
    const struct alloc *alloc;
    text_encode encode;
    struct arena arena;
    struct buffer scratch;
    struct text_piece *pieces; /* array of pieces, by string id */
    size_t pieces_n;
    bool failed; /* true if memory has run out; texts returned since then are empty */
};

void text_cache_init(struct text_cache *cache, const struct alloc *alloc, text_encode encode);
void text_cache_free(struct text_cache *cache);

/* Escapes a string that is not in the cache yet, for text_cache_get. */
const struct text_piece *text_cache_escape(struct text_cache *cache, const ttr *t, ttr_id id);

/* Returns the escaped form of a string; text.p is never NULL. The struct is valid until the next
 * call, the text until text_cache_free. */
static inline const struct text_piece *text_cache_get(struct text_cache *cache, const ttr *t,
                                                      ttr_id id)
{
    if (id < cache->pieces_n && cache->pieces[id].text.p)
        return &cache->pieces[id];
    return text_cache_escape(cache, t, id);
}

#endif
