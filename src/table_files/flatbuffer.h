/* Building of FlatBuffers (flatbuffers.dev/internals), as far as Arrow needs them.
 *
 * A buffer is built from its end to its start, so that a table is written after what it refers to.
 * Positions are counted from the end. */
#ifndef TRACETTA_TABLE_FILES_FLATBUFFER_H
#define TRACETTA_TABLE_FILES_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAT_FIELDS_MAX 8u

struct flat {
    uint8_t *p; /* buffer of `capacity` bytes; the last `n` are used */
    size_t n, capacity;
    bool is_failed;
    uint32_t fields[FLAT_FIELDS_MAX]; /* position of each field of the open table; 0 = absent */
    uint32_t table_start;
};

typedef uint32_t flat_position; /* bytes from the end of the buffer to an object */

/* Writes a number of 1, 2, 4 or 8 bytes, aligned to its size. */
void flat_add_number(struct flat *flat, uint64_t number, size_t size);

flat_position flat_add_text(struct flat *flat, const char *text, size_t n);

/* Writes a vector of references to tables, or of nothing if n is 0. */
flat_position flat_add_references(struct flat *flat, const flat_position *list, size_t n);

/* Starts a vector of n structs of `size` bytes, aligned to 8: then the numbers of the structs are
 * added from the last to the first, and flat_end_vector ends it. */
void flat_begin_vector(struct flat *flat, size_t n, size_t size);
flat_position flat_end_vector(struct flat *flat, size_t n);

/* Write a table: its fields, then its end. Values of 0 need not be written. */
void flat_begin_table(struct flat *flat);
void flat_field_number(struct flat *flat, unsigned field, uint64_t number, size_t size);
void flat_field_reference(struct flat *flat, unsigned field, flat_position position);
flat_position flat_end_table(struct flat *flat);

/* Ends the buffer with a reference to its root table, so that its size is a multiple of 8. Returns
 * its first byte, or NULL if memory was exhausted. */
const uint8_t *flat_finish(struct flat *flat, flat_position root);

void flat_free(struct flat *flat);

#endif
