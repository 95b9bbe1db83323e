/* A growing buffer of bytes. If memory is exhausted, `is_failed` is set and later appends do
 * nothing, so that a run of appends needs one check. */
#ifndef TRACETTA_TABLE_FILES_BYTES_H
#define TRACETTA_TABLE_FILES_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *p;
    size_t n, capacity;
    bool is_failed;
};

/* Returns an address with room for n bytes, or NULL; the caller adds to bytes->n what it wrote. */
static inline uint8_t *bytes_room(struct bytes *bytes, size_t n)
{
    if (!bytes->is_failed && (!bytes->p || bytes->capacity - bytes->n < n)) {
        const size_t capacity = 2 * bytes->capacity + n + 64;
        uint8_t *grown = realloc(bytes->p, capacity);
        bytes->is_failed = !grown;
        if (grown) {
            bytes->p = grown;
            bytes->capacity = capacity;
        }
    }
    return bytes->is_failed ? NULL : bytes->p + bytes->n;
}

static inline void bytes_add(struct bytes *bytes, const void *p, size_t n)
{
    uint8_t *to = bytes_room(bytes, n);
    if (to && n) {
        memcpy(to, p, n);
        bytes->n += n;
    }
}

static inline void bytes_add_u8(struct bytes *bytes, uint8_t byte)
{
    bytes_add(bytes, &byte, 1);
}

/* Appends the low n bytes of a number, little-endian. */
static inline void bytes_add_number(struct bytes *bytes, uint64_t number, size_t n)
{
    uint8_t *to = bytes_room(bytes, n);
    for (size_t i = 0; to && i < n; i++)
        to[i] = (uint8_t)(number >> (8 * i));
    bytes->n += to ? n : 0;
}

static inline void bytes_add_zeros(struct bytes *bytes, size_t n)
{
    uint8_t *to = bytes_room(bytes, n);
    if (to) {
        memset(to, 0, n);
        bytes->n += n;
    }
}

static inline void bytes_free(struct bytes *bytes)
{
    free(bytes->p);
    *bytes = (struct bytes){.p = NULL};
}

#endif
