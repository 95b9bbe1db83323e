/* Symbol tables of the resolver: named types in scopes, and the members and labels of a type by
 * name. Both are hash tables, so that each lookup costs O(1) in large metadata. */
#include <string.h>

#include "base/hash.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define NAMES_FIRST 64u

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* Returns the hash table slot of a name in a scope; a free slot if the table does not contain the
 * name. */
static struct tsdl_name *find_name_slot(const struct tsdl_names *names, uint32_t scope,
                                        ttr_text name)
{
    size_t mask = names->slots_n - 1,
           i = (size_t)hash_pair(hash_bytes(name.p, name.n), scope) & mask;
    for (;; i = (i + 1) & mask) {
        struct tsdl_name *slot = &names->slot[i];
        if (!slot->name.p || (slot->scope == scope && texts_are_equal(slot->name, name)))
            return slot;
    }
}

const void *tsdl_names_find(const struct tsdl_names *names, uint32_t scope, ttr_text name)
{
    return names->slots_n ? find_name_slot(names, scope, name)->what : NULL;
}

static bool grow_name_table(struct tsdl_names *names, struct arena *arena)
{
    struct tsdl_names old = *names;
    size_t slots_n = old.slots_n ? 2 * old.slots_n : NAMES_FIRST;
    struct tsdl_name *slot = arena_alloc(arena, slots_n * sizeof *slot);
    if (!slot)
        return false;
    memset(slot, 0, slots_n * sizeof *slot);
    names->slot = slot;
    names->slots_n = slots_n;
    for (size_t i = 0; i < old.slots_n; i++)
        if (old.slot[i].name.p)
            *find_name_slot(names, old.slot[i].scope, old.slot[i].name) = old.slot[i];
    return true;
}

bool tsdl_names_add(struct tsdl_names *names, struct arena *arena, uint32_t scope, ttr_text name,
                    const void *what)
{
    if (2 * (names->used + 1) > names->slots_n && !grow_name_table(names, arena))
        return false;
    struct tsdl_name *slot = find_name_slot(names, scope, name);
    names->used += !slot->name.p;
    *slot = (struct tsdl_name){.name = name, .scope = scope, .what = what};
    return true;
}

int64_t tsdl_find_member(const struct tsdl_type *type, ttr_text name)
{
    const struct type_member *members = type->type.members;
    if (type->index_n == 0) {
        for (uint32_t i = 0; i < type->type.members_n; i++)
            if (texts_are_equal(members[i].name, name))
                return i;
        return -1;
    }
    uint32_t mask = type->index_n - 1;
    for (uint32_t i = (uint32_t)hash_bytes(name.p, name.n) & mask; type->index[i];
         i = (i + 1) & mask)
        if (texts_are_equal(members[type->index[i] - 1].name, name))
            return type->index[i] - 1;
    return -1;
}

const struct type_label *tsdl_find_label(const struct tsdl_type *type, ttr_text name)
{
    const struct type_labels *labels = type->type.labels;
    if (type->index_n == 0) {
        for (uint32_t i = 0; i < labels->n; i++)
            if (texts_are_equal(labels->label[i].name, name))
                return &labels->label[i];
        return NULL;
    }
    uint32_t mask = type->index_n - 1;
    for (uint32_t i = (uint32_t)hash_bytes(name.p, name.n) & mask; type->index[i];
         i = (i + 1) & mask)
        if (texts_are_equal(labels->label[type->index[i] - 1].name, name))
            return &labels->label[type->index[i] - 1];
    return NULL;
}
