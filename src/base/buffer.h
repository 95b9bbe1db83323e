/* A growing byte buffer for writers.  An append that finds no memory sets `failed` and drops its
 * bytes; later appends do nothing, so a run of appends can be checked once at its end. */
#ifndef TRACETTA_BASE_BUFFER_H
#define TRACETTA_BASE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

struct buffer {
    const struct alloc *alloc;
    uint8_t *bytes;
    size_t n, capacity;
    bool failed;
};

void buffer_init(struct buffer *buffer, const struct alloc *alloc);
void buffer_free(struct buffer *buffer);

/* Slow path of buffer_room; false when memory is out (failed is then set). */
bool buffer_grow(struct buffer *buffer, size_t more);

/* Has the buffer take so many bytes of memory, where it takes fewer; without the memory it stays as
 * it is, and grows when it must. */
void buffer_reserve(struct buffer *buffer, size_t capacity);

/* Makes room for `more` bytes and gives their place, NULL when memory is out; buffer_filled says
 * how many were written. A byte stays spare, so that even no bytes at all have a place. */
static inline uint8_t *buffer_room(struct buffer *buffer, size_t more)
{
    if (buffer->failed || (buffer->capacity - buffer->n <= more && !buffer_grow(buffer, more)))
        return NULL;
    return buffer->bytes + buffer->n;
}

static inline void buffer_filled(struct buffer *buffer, size_t n)
{
    buffer->n += n;
}

static inline void buffer_add(struct buffer *buffer, const void *bytes, size_t n)
{
    uint8_t *at = buffer_room(buffer, n);
    if (at && n) {
        memcpy(at, bytes, n);
        buffer->n += n;
    }
}

static inline void buffer_add_byte(struct buffer *buffer, uint8_t byte)
{
    uint8_t *at = buffer_room(buffer, 1);
    if (at) {
        *at = byte;
        buffer->n++;
    }
}

/* Appends a C string without its zero. */
static inline void buffer_add_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

/* Appends n zero bytes. */
void buffer_add_zeros(struct buffer *buffer, size_t n);

static inline void buffer_clear(struct buffer *buffer)
{
    buffer->n = 0;
}

#endif
