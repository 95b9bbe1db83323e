/* A JSON value as a tree, for metadata. Each value has its byte range, its key and its parent; the
 * order is that of the text. Ownership: nodes and strings are in the caller's arena; the text need
 * not outlive json_tree_read. Duplicate keys are all kept. Threads: a complete tree is constant and
 * may be read by several threads. */
#ifndef TRACETTA_BASE_JSON_TREE_H
#define TRACETTA_BASE_JSON_TREE_H

#include "base/json_reader.h"

struct json_value {
    struct json_token
        /* kind and scalar value; for an object or array, `end` is the offset after its closing
         * bracket */
        token;
    const char *key; /* key of an object member, else ""; zero-terminated */
    size_t key_n;
    uint64_t key_offset;
    struct json_value *parent, *next; /* enclosing value, and next value in it */
    struct json_value *first, *last;  /* first and last member or element, or NULL */
    size_t count;                     /* number of members or elements */
};

struct json_limits {
    unsigned depth; /* largest nesting depth allowed, see json_reader_init */
    bool allows_trailing_commas;
    /* limit of the memory for nodes and strings in bytes; beyond it reading fails with
     * TTR_E_LIMIT */
    size_t memory;
};

struct json_tree {
    struct json_value *root;
    uint64_t commas, commas_offset; /* number of trailing commas, offset of the first */
    /* number of U+FFFD inserted for invalid characters, offset of the first */
    uint64_t replaced, replaced_offset;
};

/* Reads a text that consists of one value. Fails as json_reader_next does. */
TTR_MUST ttr_status json_tree_read(struct json_tree *tree, struct arena *arena, struct cursor text,
                                   const struct json_limits *limits, ttr_error *error);

/* Returns the first member of an object with this key. Returns NULL if there is none or the value
 * is not an object. */
const struct json_value *json_find_member(const struct json_value *object, const char *key);

/* Returns true if the value is a string equal to `text`. */
bool json_text_equals(const struct json_value *value, const char *text);

/* Finds the first duplicate key of an object: sets `*second` to its second member, or to NULL.
 * Allocates a hash table from `arena` for large objects; fails with TTR_E_NOMEM only. */
TTR_MUST ttr_status json_find_duplicate(const struct json_value *object, struct arena *arena,
                                        const struct json_value **second);

/* Writes the path of a value in its tree, such as "options[2].field-class" ("" for the root), and a
 * zero. If it does not fit, keeps its end after "...". Bytes that are not printable become '?'.
 * Returns the length. `size` is at least 4. */
size_t json_path(const struct json_value *value, char *to, size_t size);

#endif
