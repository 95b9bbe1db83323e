/* Replacements in the text of a statement, before SQLite sees it.
 *
 * A result column without AS has its text as its name.  If a part of it is replaced, the column
 * gets the text as the user wrote it as its name. */
#ifndef TRACETTA_QUERY_QUERY_EDITS_H
#define TRACETTA_QUERY_QUERY_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql;

/* Bytes [at, at + n) of a text become `text`. */
struct query_edit {
    uint32_t at, n;
    char *text;           /* allocated by SQLite */
    size_t new_at, new_n; /* bytes of the new text; valid after query_edits_apply */
};

struct query_edits {
    struct query_edit *list; /* in order of `at` after query_edits_apply */
    size_t n, capacity;
    bool is_failed; /* memory was exhausted */
};

/* Adds a replacement, and owns `text` from now on.  Replacements must not overlap. */
void query_edits_add(struct query_edits *edits, uint32_t at, uint32_t n, char *text);

/* Returns the new text of the statement, which ends at byte `end`; to be freed with sqlite3_free.
 * Returns NULL if there are no replacements, or if memory is exhausted. */
char *query_edits_apply(struct query_edits *edits, const struct sql *sql, size_t end);

/* Returns the offset in the old text of an offset in the new one. */
size_t query_edits_find_offset(const struct query_edits *edits, size_t offset);

void query_edits_free(struct query_edits *edits);

#endif
