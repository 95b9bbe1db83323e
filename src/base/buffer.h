/* A growing byte buffer.  If memory runs out, an append sets `failed` and drops its bytes, and
 * later appends do nothing.  So a run of appends needs one check of `failed` at its end. */
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

/* Grows the buffer for buffer_room, by doubling. Returns false and sets `failed` if memory is
 * out. */
bool buffer_grow(struct buffer *buffer, size_t more);

/* Ensures a capacity of at least `capacity` bytes. If memory runs out nothing changes: the buffer
 * grows later on demand. */
void buffer_reserve(struct buffer *buffer, size_t capacity);

/* Returns an address with room for `more` bytes, or NULL if memory runs out.  The caller stores
 * bytes there and calls buffer_commit with their number.  One byte always stays free, so the
 * address is valid even for 0 bytes. */
static inline uint8_t *buffer_room(struct buffer *buffer, size_t more)
{
    if (buffer->failed || (buffer->capacity - buffer->n <= more && !buffer_grow(buffer, more)))
        return NULL;
    return buffer->bytes + buffer->n;
}

static inline void buffer_commit(struct buffer *buffer, size_t n)
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

/* Appends a C string without its terminating zero. */
static inline void buffer_add_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

/* Appends n zero bytes, or sets `failed`. */
void buffer_add_zeros(struct buffer *buffer, size_t n);

static inline void buffer_clear(struct buffer *buffer)
{
    buffer->n = 0;
}

#endif
