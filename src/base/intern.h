/* String interning: equal bytes get equal ids. Id 0 is the empty string. Strings may contain any
 * bytes, including NUL and invalid UTF-8. Ids and strings are valid until intern_free, and a
 * string's address never changes. */
#ifndef TRACETTA_BASE_INTERN_H
#define TRACETTA_BASE_INTERN_H

#include <stdint.h>

#include "base/arena.h"

struct intern_text {
    const char *p; /* followed by a zero byte that is not counted in n */
    size_t n;
};

struct intern {
    struct arena arena;
    struct intern_text *text; /* strings by id, `n` of them */
    uint32_t n;
    size_t capacity;
    struct intern_slot *slots; /* hash table; a power of two slots */
    size_t slots_n;
};

/* Creates a table that contains the empty string. Returns false if memory runs out. */
TTR_MUST _Bool intern_init(struct intern *table, const struct alloc *alloc);
void intern_free(struct intern *table);

/* Returns the id of a string and adds it if it is new. Returns UINT32_MAX if memory runs out. */
TTR_MUST uint32_t intern_add(struct intern *table, const void *bytes, size_t n);

/* Returns the id of a string, or UINT32_MAX if it was never added. */
uint32_t intern_find(const struct intern *table, const void *bytes, size_t n);

static inline struct intern_text intern_get(const struct intern *table, uint32_t id)
{
    return id < table->n ? table->text[id] : (struct intern_text){"", 0};
}

#endif
