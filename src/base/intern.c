/* String interning by a hash table with open addressing and linear probing. A slot stores 32 bits
 * of the hash next to the id: most mismatches are decided without reading the string, and growing
 * does not hash again. At least a quarter of the slots is free. Left out: removal; a table lives as
 * long as its trace. */
#include "base/intern.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

#define INTERN_SLOTS_MIN 64

struct intern_slot {
    uint32_t hash;
    uint32_t id_plus_1; /* 0 if the slot is free */
};

static bool slot_holds(const struct intern *table, const struct intern_slot *slot, uint32_t hash,
                       struct intern_text wanted)
{
    if (slot->hash != hash)
        return false;
    const struct intern_text *text = &table->text[slot->id_plus_1 - 1];
    return text->n == wanted.n && memcmp(text->p, wanted.p, wanted.n) == 0;
}

/* Returns the slot that has the string, or else the free slot in which to insert it. */
static struct intern_slot *find_slot(const struct intern *table, uint32_t hash,
                                     struct intern_text wanted)
{
    size_t mask = table->slots_n - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct intern_slot *slot = &table->slots[at];
        if (slot->id_plus_1 == 0 || slot_holds(table, slot, hash, wanted))
            return slot;
    }
}

/* Doubles the table if fewer than a quarter of the slots would stay free. Returns false if memory
 * is out. */
static bool reserve_slot(struct intern *table)
{
    if (table->n < table->slots_n - table->slots_n / 4)
        return true;
    size_t grown_n = table->slots_n ? table->slots_n * 2 : INTERN_SLOTS_MIN;
    struct intern_slot *grown = alloc_zero(table->arena.alloc, grown_n, sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < table->slots_n; i++) {
        size_t at = table->slots[i].hash & (grown_n - 1);
        if (table->slots[i].id_plus_1 == 0)
            continue;
        while (grown[at].id_plus_1 != 0)
            at = (at + 1) & (grown_n - 1);
        grown[at] = table->slots[i];
    }
    alloc_free(table->arena.alloc, table->slots, table->slots_n, sizeof *grown);
    table->slots = grown;
    table->slots_n = grown_n;
    return true;
}

static uint32_t add_text(struct intern *table, uint32_t hash, struct intern_text wanted)
{
    void *text = table->text;
    if (table->n >= UINT32_MAX - 1 || !reserve_slot(table))
        return UINT32_MAX;
    if (!alloc_reserve(table->arena.alloc, &text, &table->capacity, (size_t)table->n + 1,
                       sizeof *table->text))
        return UINT32_MAX;
    table->text = text;
    const char *copy = arena_copy(&table->arena, wanted.p, wanted.n);
    if (!copy)
        return UINT32_MAX;
    table->text[table->n] = (struct intern_text){copy, wanted.n};
    *find_slot(table, hash, wanted) = (struct intern_slot){hash, table->n + 1};
    return table->n++;
}

_Bool intern_init(struct intern *table, const struct alloc *alloc)
{
    *table = (struct intern){.slots_n = 0};
    arena_init(&table->arena, alloc);
    struct intern_text empty = {"", 0};
    if (!reserve_slot(table) || add_text(table, (uint32_t)hash_bytes("", 0), empty) != 0) {
        intern_free(table);
        return false;
    }
    return true;
}

void intern_free(struct intern *table)
{
    const struct alloc *alloc = table->arena.alloc;
    alloc_free(alloc, table->text, table->capacity, sizeof *table->text);
    alloc_free(alloc, table->slots, table->slots_n, sizeof *table->slots);
    arena_free(&table->arena);
    table->text = NULL;
    table->slots = NULL;
    table->n = 0;
    table->capacity = table->slots_n = 0;
}

uint32_t intern_add(struct intern *table, const void *bytes, size_t n)
{
    struct intern_text wanted = {bytes, n};
    if (n == 0)
        return 0;
    uint32_t hash = (uint32_t)hash_bytes(bytes, n);
    const struct intern_slot *slot = find_slot(table, hash, wanted);
    return slot->id_plus_1 ? slot->id_plus_1 - 1 : add_text(table, hash, wanted);
}

uint32_t intern_find(const struct intern *table, const void *bytes, size_t n)
{
    struct intern_text wanted = {bytes, n};
    if (n == 0)
        return 0;
    const struct intern_slot *slot = find_slot(table, (uint32_t)hash_bytes(bytes, n), wanted);
    return slot->id_plus_1 - 1; /* a free slot (0) yields UINT32_MAX */
}
