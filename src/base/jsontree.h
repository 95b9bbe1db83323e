/* A JSON value as a small tree, for metadata: every value knows its bytes, its key and its parent;
 * order is that of the text.
 *
 * Ownership: nodes and strings live in the caller's arena; the text itself may go.  Keys that come
 * twice are both there. Thread rule: plain data; whoever holds the arena may read it. */
#ifndef TRACETTA_BASE_JSONTREE_H
#define TRACETTA_BASE_JSONTREE_H

#include "base/jsonread.h"

struct json_value {
    struct json_token
        token;       /* kind and scalar value; of an object or array, `end` is behind its bracket */
    const char *key; /* in an object; else "" */
    size_t key_n;
    uint64_t key_offset;
    struct json_value *parent, *next; /* the value around it, the value behind it there */
    struct json_value *first, *last;  /* of an object or array */
    size_t count;                     /* how many values there */
};

struct json_limits {
    unsigned depth; /* see json_read_begin */
    bool takes_commas;
    size_t memory; /* bytes of nodes and strings together; more is TTR_E_LIMIT */
};

struct json_tree {
    struct json_value *root;
    uint64_t commas, commas_offset, replaced, replaced_offset; /* see struct json_reader */
};

/* Reads the one value of a text.  Failures as json_read_next. */
TTR_MUST ttr_status json_tree_read(struct json_tree *tree, struct arena *arena, struct cursor text,
                                   const struct json_limits *limits, ttr_error *error);

/* The first value of an object with this key; NULL when there is none, or when it is no object. */
const struct json_value *json_find(const struct json_value *object, const char *key);

/* True where the value is a string with this text. */
bool json_is_text(const struct json_value *value, const char *text);

/* Looks for a key that comes twice in an object: `*second` is its second value, or NULL.  Takes
 * memory of `arena` for large objects; TTR_E_NOMEM when there is none. */
TTR_MUST ttr_status json_find_twice(const struct json_value *object, struct arena *arena,
                                    const struct json_value **second);

/* Writes where a value is in its tree, as "options[2].field-class" ("" for the root), and a zero;
 * keeps the end where all does not fit.  Bytes that are not printable are '?'.  Gives the length;
 * `size` is at least 4. */
size_t json_path(const struct json_value *value, char *to, size_t size);

#endif
