/* Builds a tree from the tokens of the pull parser. Nodes link to their parent, so building needs
 * no recursion. Left out: changing a tree, and writing one (base/json_writer.h writes JSON). */
#include "base/json_tree.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"

/* Duplicates are searched by comparing pairs of members in objects up to this size, by a hash table
 * in larger ones. */
#define PAIRWISE_MAX 16

/* State of json_tree_read: the innermost open object or array, the pending key, and the bytes used
 * of the memory limit. */
struct tree_builder {
    struct json_reader reader;
    struct json_tree *tree;
    struct json_value *open;
    struct json_token key;
    const struct json_limits *limits;
    size_t used;
};

static ttr_status count_memory(struct tree_builder *b, size_t bytes, uint64_t offset,
                               ttr_error *error)
{
    if (bytes > b->limits->memory - b->used)
        return fail(error, TTR_E_LIMIT, offset, "the JSON text needs more than %zu bytes of memory",
                    b->limits->memory);
    b->used += bytes;
    return TTR_OK;
}

static void link_value(struct tree_builder *b, struct json_value *value)
{
    struct json_value *parent = b->open;
    value->parent = parent;
    if (!parent) {
        b->tree->root = value;
        return;
    }
    if (parent->last)
        parent->last->next = value;
    else
        parent->first = value;
    parent->last = value;
    parent->count++;
}

static ttr_status add_value(struct tree_builder *b, const struct json_token *token,
                            ttr_error *error)
{
    ttr_status status = count_memory(b, sizeof(struct json_value), token->offset, error);
    if (status != TTR_OK)
        return status;
    struct json_value *value = arena_alloc(b->reader.arena, sizeof *value);
    if (!value)
        return fail_memory(error);
    *value = (struct json_value){.token = *token, .key = "", .key_offset = token->offset};
    if (b->open && b->open->token.kind == JSON_OBJECT) {
        value->key = b->key.text;
        value->key_n = b->key.n;
        value->key_offset = b->key.offset;
    }
    link_value(b, value);
    if (token->kind == JSON_ARRAY || token->kind == JSON_OBJECT)
        b->open = value;
    return TTR_OK;
}

static ttr_status add_token(struct tree_builder *b, const struct json_token *token,
                            ttr_error *error)
{
    ttr_status status = token->n ? count_memory(b, token->n, token->offset, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    switch (token->kind) {
    case JSON_END:
        return TTR_OK;
    case JSON_KEY:
        b->key = *token;
        return TTR_OK;
    case JSON_ARRAY_END:
    case JSON_OBJECT_END:
        b->open->token.end = token->end;
        b->open = b->open->parent;
        return TTR_OK;
    default:
        return add_value(b, token, error);
    }
}

static bool has_same_key(const struct json_value *a, const struct json_value *b)
{
    return a->key_n == b->key_n && memcmp(a->key, b->key, a->key_n) == 0;
}

static const struct json_value *find_duplicate_in_pairs(const struct json_value *object)
{
    for (const struct json_value *b = object->first; b; b = b->next)
        for (const struct json_value *a = object->first; a != b; a = a->next)
            if (has_same_key(a, b))
                return b;
    return NULL;
}

/* Returns a member with the key of an earlier one, or NULL. The table has at least twice as many
 * slots as there are keys, so each probe ends at a free slot. */
static const struct json_value *find_duplicate_in_table(const struct json_value *object,
                                                        const struct json_value **slots, size_t n)
{
    for (const struct json_value *value = object->first; value; value = value->next) {
        size_t at = (size_t)hash_bytes(value->key, value->key_n) & (n - 1);
        for (; slots[at]; at = (at + 1) & (n - 1))
            if (has_same_key(slots[at], value))
                return value;
        slots[at] = value;
    }
    return NULL;
}

static size_t index_in_parent(const struct json_value *value)
{
    size_t index = 0;
    for (const struct json_value *other = value->parent->first; other != value; other = other->next)
        index++;
    return index;
}

/* Prepends n bytes to the text at to[*at]; bytes that are not printable become '?'. Returns false
 * if they do not fit. */
static bool prepend_text(char *to, size_t *at, const char *bytes, size_t n)
{
    if (n > *at)
        return false;
    *at -= n;
    for (size_t i = 0; i < n; i++)
        to[*at + i] = bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '?';
    return true;
}

/* Prepends the step from the parent to the value to a path: ".key" or "[index]". Returns false if
 * it does not fit. */
static bool prepend_step(char *to, size_t *at, const struct json_value *value)
{
    if (value->parent->token.kind == JSON_OBJECT)
        return prepend_text(to, at, value->key, value->key_n) &&
               (!value->parent->parent || prepend_text(to, at, ".", 1));
    char digits[NUMBER_MAX];
    size_t n = number_format_u64(digits, index_in_parent(value));
    return prepend_text(to, at, "]", 1) && prepend_text(to, at, digits, n) &&
           prepend_text(to, at, "[", 1);
}

ttr_status json_tree_read(struct json_tree *tree, struct arena *arena, struct cursor text,
                          const struct json_limits *limits, ttr_error *error)
{
    struct tree_builder b = {.tree = tree, .limits = limits};
    struct json_token token = {.kind = JSON_NULL};
    *tree = (struct json_tree){.root = NULL};
    json_reader_init(&b.reader, arena, text, limits->depth);
    b.reader.allows_trailing_commas = limits->allows_trailing_commas;
    while (true) {
        ttr_status status = json_reader_next(&b.reader, &token, error);
        if (status == TTR_OK)
            status = add_token(&b, &token, error);
        if (status != TTR_OK)
            return status;
        if (token.kind == JSON_END)
            break;
    }
    tree->commas = b.reader.commas;
    tree->commas_offset = b.reader.commas_offset;
    tree->replaced = b.reader.replaced;
    tree->replaced_offset = b.reader.replaced_offset;
    return TTR_OK;
}

const struct json_value *json_find_member(const struct json_value *object, const char *key)
{
    size_t n = strlen(key);
    if (object->token.kind != JSON_OBJECT)
        return NULL;
    for (const struct json_value *value = object->first; value; value = value->next)
        if (value->key_n == n && memcmp(value->key, key, n) == 0)
            return value;
    return NULL;
}

bool json_text_equals(const struct json_value *value, const char *text)
{
    return value->token.kind == JSON_TEXT && value->token.n == strlen(text) &&
           memcmp(value->token.text, text, value->token.n) == 0;
}

ttr_status json_find_duplicate(const struct json_value *object, struct arena *arena,
                               const struct json_value **second)
{
    *second = NULL;
    if (object->token.kind != JSON_OBJECT)
        return TTR_OK;
    if (object->count <= PAIRWISE_MAX) {
        *second = find_duplicate_in_pairs(object);
        return TTR_OK;
    }
    size_t n = PAIRWISE_MAX;
    while (n < 2 * object->count)
        n *= 2;
    const struct json_value **slots = arena_alloc(arena, n * sizeof *slots);
    if (!slots)
        return TTR_E_NOMEM;
    memset(slots, 0, n * sizeof *slots);
    *second = find_duplicate_in_table(object, slots, n);
    return TTR_OK;
}

size_t json_path(const struct json_value *value, char *to, size_t size)
{
    size_t at = size - 1;
    bool fits = true;
    to[at] = '\0';
    for (; value->parent && fits; value = value->parent)
        fits = prepend_step(to, &at, value);
    if (!fits) {
        at += to[at] == '.';
        at = at < 3 ? 3 : at;
        memcpy(to + at - 3, "...", 3);
        at -= 3;
    }
    size_t n = size - 1 - at;
    memmove(to, to + at, n + 1);
    return n;
}
