/* Strings of the context as a text output spells them, escaped once: an event costs a copy per
 * string.  What is kept grows with the number of distinct strings used, as the context does.
 * Ownership: pieces live until text_cache_free. */
#ifndef TRACETTA_ENCODINGS_JSON_TEXT_CACHE_H
#define TRACETTA_ENCODINGS_JSON_TEXT_CACHE_H

#include <tracetta/event.h>

#include "base/arena.h"
#include "base/buffer.h"

/* Appends the escaped form of any bytes; gives 0 where the form holds them as they were. */
typedef size_t (*text_encode)(struct buffer *to, const void *p, size_t n);

#define TEXT_CACHE_PADDING 16u

struct text_piece {
    ttr_text text;  /* p NULL: not asked for yet; TEXT_CACHE_PADDING bytes behind it can be read */
    size_t changed; /* what `encode` gave */
    uint64_t hash;  /* of the escaped form */
};

struct text_cache {
    const struct alloc *alloc;
    text_encode encode;
    struct arena arena;
    struct buffer scratch;
    struct text_piece *pieces; /* by string id */
    size_t pieces_n;
    bool failed; /* memory was out: the pieces given since are empty */
};

void text_cache_init(struct text_cache *cache, const struct alloc *alloc, text_encode encode);
void text_cache_free(struct text_cache *cache);

/* Slow path of text_cache_get. */
const struct text_piece *text_cache_add(struct text_cache *cache, const ttr *t, ttr_id id);

/* Gives the escaped form of a string; text.p is never NULL.  The piece itself is good until the
 * next call. */
static inline const struct text_piece *text_cache_get(struct text_cache *cache, const ttr *t,
                                                      ttr_id id)
{
    if (id < cache->pieces_n && cache->pieces[id].text.p)
        return &cache->pieces[id];
    return text_cache_add(cache, t, id);
}

#endif
