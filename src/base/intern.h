/* Strings to small ids: equal bytes, equal id.  Id 0 is the empty string.  Text and ids live as
 * long as the table, and a string's bytes never move.  Any bytes are fine, NUL and broken UTF-8
 * too. */
#ifndef TRACETTA_BASE_INTERN_H
#define TRACETTA_BASE_INTERN_H

#include <stdint.h>

#include "base/arena.h"

struct intern_text {
    const char *p; /* followed by a zero byte that does not count */
    size_t n;
};

struct intern {
    struct arena arena;
    struct intern_text *text; /* by id */
    uint32_t n;
    size_t capacity;
    struct intern_slot *slots; /* open addressing; a power of two */
    size_t slots_n;
};

/* False when memory is out. */
TTR_MUST _Bool intern_init(struct intern *table, const struct alloc *alloc);
void intern_free(struct intern *table);

/* Gives the id of a string, adding it when new; UINT32_MAX when memory is out. */
TTR_MUST uint32_t intern_add(struct intern *table, const void *bytes, size_t n);

/* Gives the id of a string already there, or UINT32_MAX. */
uint32_t intern_find(const struct intern *table, const void *bytes, size_t n);

static inline struct intern_text intern_get(const struct intern *table, uint32_t id)
{
    return id < table->n ? table->text[id] : (struct intern_text){"", 0};
}

#endif
