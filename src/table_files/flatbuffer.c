/* Building of FlatBuffers; see the header. */
#include "table_files/flatbuffer.h"

#include <stdlib.h>
#include <string.h>

/* Returns the address of n more bytes in front of the buffer, or NULL if memory is exhausted. */
static uint8_t *prepend(struct flat *flat, size_t n)
{
    if (!flat->is_failed && (!flat->p || flat->capacity - flat->n < n)) {
        const size_t capacity = 2 * flat->capacity + n + 256;
        uint8_t *grown = malloc(capacity);
        flat->is_failed = !grown;
        if (grown) {
            if (flat->n)
                memcpy(grown + capacity - flat->n, flat->p + flat->capacity - flat->n, flat->n);
            free(flat->p);
            flat->p = grown;
            flat->capacity = capacity;
        }
    }
    if (flat->is_failed)
        return NULL;
    flat->n += n;
    return flat->p + flat->capacity - flat->n;
}

static void prepend_number(struct flat *flat, uint64_t number, size_t size)
{
    uint8_t *to = prepend(flat, size);
    for (size_t i = 0; to && i < size; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

/* Pads so that after `n` more bytes the buffer is aligned to `alignment`. */
static void align_buffer(struct flat *flat, size_t n, size_t alignment)
{
    const size_t pad = (0 - (flat->n + n)) & (alignment - 1);
    uint8_t *to = prepend(flat, pad);
    if (to)
        memset(to, 0, pad);
}

void flat_add_number(struct flat *flat, uint64_t number, size_t size)
{
    align_buffer(flat, size, size);
    prepend_number(flat, number, size);
}

/* Writes a reference: the distance from itself to an object that was written before. */
static void add_reference(struct flat *flat, flat_position position)
{
    align_buffer(flat, 4, 4);
    prepend_number(flat, flat->n + 4 - position, 4);
}

flat_position flat_add_text(struct flat *flat, const char *text, size_t n)
{
    align_buffer(flat, n + 1, 4);
    prepend_number(flat, 0, 1);
    uint8_t *to = prepend(flat, n);
    if (to && n)
        memcpy(to, text, n);
    prepend_number(flat, n, 4);
    return (flat_position)flat->n;
}

flat_position flat_add_references(struct flat *flat, const flat_position *list, size_t n)
{
    align_buffer(flat, 4 * n, 4);
    for (size_t i = n; i-- > 0;)
        add_reference(flat, list[i]);
    prepend_number(flat, n, 4);
    return (flat_position)flat->n;
}

void flat_begin_vector(struct flat *flat, size_t n, size_t size)
{
    align_buffer(flat, n * size, 8); /* the elements; their number is in front of them */
}

flat_position flat_end_vector(struct flat *flat, size_t n)
{
    prepend_number(flat, n, 4);
    return (flat_position)flat->n;
}

void flat_begin_table(struct flat *flat)
{
    memset(flat->fields, 0, sizeof flat->fields);
    flat->table_start = (uint32_t)flat->n;
}

void flat_field_number(struct flat *flat, unsigned field, uint64_t number, size_t size)
{
    flat_add_number(flat, number, size);
    flat->fields[field] = (uint32_t)flat->n;
}

void flat_field_reference(struct flat *flat, unsigned field, flat_position position)
{
    add_reference(flat, position);
    flat->fields[field] = (uint32_t)flat->n;
}

flat_position flat_end_table(struct flat *flat)
{
    unsigned n = FLAT_FIELDS_MAX;
    while (n > 0 && flat->fields[n - 1] == 0)
        n--;
    /* The distance to the vtable, which is in front of the table. */
    align_buffer(flat, 4, 4);
    prepend_number(flat, 4 + 2 * (uint64_t)n, 4);
    const uint32_t table = (uint32_t)flat->n;
    for (unsigned i = n; i-- > 0;)
        prepend_number(flat, flat->fields[i] ? table - flat->fields[i] : 0, 2);
    prepend_number(flat, table - flat->table_start, 2);
    prepend_number(flat, 4 + 2 * (uint64_t)n, 2);
    return table;
}

const uint8_t *flat_finish(struct flat *flat, flat_position root)
{
    align_buffer(flat, 4, 8);
    add_reference(flat, root);
    return flat->is_failed ? NULL : flat->p + flat->capacity - flat->n;
}

void flat_free(struct flat *flat)
{
    free(flat->p);
    *flat = (struct flat){.p = NULL};
}
