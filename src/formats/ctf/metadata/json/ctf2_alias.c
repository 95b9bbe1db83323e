/* Field class aliases: a hash table by name, and copies of the JSON of those aliases that must be
 * built again for each use.
 *
 * Aliases inside aliases could expand a small text exponentially. So the types built for aliases
 * and the steps to resolve locations are counted and limited per description, far above real traces
 * (a kernel trace with all events needs about 100,000). */
#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

#define WORK_MAX (UINT64_C(1) << 24)
#define SLOTS_MIN 16

ttr_status ctf2_count_work(struct ctf2_parser *parser, const struct json_value *at, uint64_t work)
{
    parser->state->expansions += work;
    if (parser->state->expansions > WORK_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, at,
                                     "the metadata uses aliases and locations too often");
    return TTR_OK;
}

/* Returns the hash table slot of an alias; a free slot if no alias has this name. */
static struct ctf2_alias **find_alias_slot(const struct ctf2_state *state, uint64_t hash,
                                           const char *name, size_t n)
{
    size_t at = (size_t)hash & (state->slots_n - 1);
    for (;; at = (at + 1) & (state->slots_n - 1)) {
        const struct ctf2_alias *alias = state->slots[at];
        if (!alias ||
            (alias->hash == hash && alias->name.n == n && memcmp(alias->name.p, name, n) == 0))
            return &state->slots[at];
    }
}

const struct ctf2_alias *ctf2_find_alias(const struct ctf2_state *state, const char *name, size_t n)
{
    return state->slots_n ? *find_alias_slot(state, hash_bytes(name, n), name, n) : NULL;
}

/* Doubles the hash table if more than half of its slots are in use. Returns false if memory is
 * out. Does not free the old table, since it is in the arena. */
static bool reserve_alias_slot(struct ctf2_parser *parser)
{
    struct ctf2_state *state = parser->state, old = *state;
    if (2 * (state->aliases_n + 1) <= state->slots_n)
        return true;
    size_t n = old.slots_n ? 2 * old.slots_n : SLOTS_MIN;
    struct ctf2_alias **slots = ctf2_alloc(parser, n, sizeof *slots);
    if (!slots)
        return false;
    state->slots = slots;
    state->slots_n = n;
    for (size_t i = 0; i < old.slots_n; i++)
        if (old.slots[i])
            *find_alias_slot(state, old.slots[i]->hash, old.slots[i]->name.p,
                             old.slots[i]->name.n) = old.slots[i];
    return true;
}

/* Copies a value and all values inside it into the description's arena, and adds their number to
 * `*nodes`. Returns NULL if memory runs out. The limit on the depth of JSON texts also limits the
 * recursion. */
static struct json_value *copy_json_tree(struct ctf2_parser *parser, const struct json_value *from,
                                         uint64_t *nodes)
{
    struct arena *arena = &parser->description->arena;
    struct json_value *copy = ctf2_alloc(parser, 1, sizeof *copy);
    if (!copy)
        return NULL;
    ++*nodes;
    *copy = *from;
    copy->first = copy->last = copy->next = copy->parent = NULL;
    copy->token.text = arena_copy(arena, from->token.text, from->token.n);
    copy->key = arena_copy(arena, from->key, from->key_n);
    if (!copy->token.text || !copy->key)
        return NULL;
    for (const struct json_value *item = from->first; item; item = item->next) {
        struct json_value *kept = copy_json_tree(parser, item, nodes);
        if (!kept)
            return NULL;
        kept->parent = copy;
        if (copy->last)
            copy->last->next = kept;
        else
            copy->first = kept;
        copy->last = kept;
    }
    return copy;
}

/* Copies the built type of an alias, to give the copy the alias's name. */
static ttr_status copy_named_type(struct ctf2_parser *parser, const struct type *type,
                                  struct ctf2_alias *alias)
{
    struct type *named = ctf2_alloc(parser, 1, sizeof *named);
    if (!named)
        return TTR_E_NOMEM;
    *named = *type;
    named->name = alias->name;
    alias->type = named;
    return TTR_OK;
}

/* Builds the type of an alias, for all its uses. If the type contains roles or locations, keeps
 * the JSON instead, since their meaning depends on where the alias is used. */
static ttr_status define_alias(struct ctf2_parser *parser, const struct json_value *json,
                               struct ctf2_alias *alias)
{
    static const struct type *const no_roots[ROOT_COUNT];
    struct ctf2_build build = {
        .parser = parser, .roots = no_roots, .root = ROOT_PAYLOAD, .is_definition = true};
    const struct type *type = NULL;
    ttr_status status = ctf2_build_class(&build, json, &type);
    if (status != TTR_OK)
        return status;
    alias->height = build.deepest;
    alias->size = build.size;
    if (!build.is_contextual)
        return copy_named_type(parser, type, alias);
    const struct ctf2_alias *other =
        json->token.kind == JSON_TEXT
            ? ctf2_find_alias(parser->state, json->token.text, json->token.n)
            : NULL;
    alias->json = other ? other->json : copy_json_tree(parser, json, &alias->nodes);
    alias->nodes = other ? other->nodes : alias->nodes;
    return alias->json ? TTR_OK : fail_memory(parser->error);
}

ttr_status ctf2_add_alias(struct ctf2_parser *parser, const struct ctf2_object *object)
{
    struct ctf2_alias *alias = ctf2_alloc(parser, 1, sizeof *alias);
    if (!alias)
        return TTR_E_NOMEM;
    ttr_status status = ctf2_get_text(parser, object->at[CTF2_NAME], &alias->name);
    if (status != TTR_OK)
        return status;
    alias->hash = hash_bytes(alias->name.p, alias->name.n);
    if (ctf2_find_alias(parser->state, alias->name.p, alias->name.n))
        return ctf2_fail(parser, object->at[CTF2_NAME], "another field class alias has this name");
    status = define_alias(parser, object->at[CTF2_FIELD_CLASS], alias);
    if (status != TTR_OK)
        return status;
    if (!reserve_alias_slot(parser))
        return TTR_E_NOMEM;
    *find_alias_slot(parser->state, alias->hash, alias->name.p, alias->name.n) = alias;
    parser->state->aliases_n++;
    return TTR_OK;
}
