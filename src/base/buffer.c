/* Functions of the growing byte buffer that are not inlined. The capacity doubles, so n appended
 * bytes cost O(n) copies. Left out: shrinking. */
#include "base/buffer.h"

#define BUFFER_CAPACITY_MIN 256

void buffer_init(struct buffer *buffer, const struct alloc *alloc)
{
    *buffer = (struct buffer){.alloc = alloc};
}

void buffer_free(struct buffer *buffer)
{
    alloc_free(buffer->alloc, buffer->bytes, buffer->capacity, 1);
    buffer_init(buffer, buffer->alloc);
}

bool buffer_grow(struct buffer *buffer, size_t more)
{
    size_t need;
    size_t grown = buffer->capacity ? buffer->capacity : BUFFER_CAPACITY_MIN / 2;
    /* buffer_room promises one byte more than requested */
    buffer->failed = buffer->failed || __builtin_add_overflow(buffer->n, more, &need) ||
                     __builtin_add_overflow(need, 1, &need) ||
                     __builtin_add_overflow(grown, grown, &grown);
    if (buffer->failed)
        return false;
    if (grown < need)
        grown = need;
    uint8_t *bytes = alloc_resize(buffer->alloc, buffer->bytes, buffer->capacity, grown, 1);
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = grown;
    return true;
}

void buffer_reserve(struct buffer *buffer, size_t capacity)
{
    uint8_t *bytes = capacity > buffer->capacity
                         ? alloc_resize(buffer->alloc, buffer->bytes, buffer->capacity, capacity, 1)
                         : NULL;
    if (bytes) {
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
}

void buffer_add_zeros(struct buffer *buffer, size_t n)
{
    uint8_t *at = buffer_room(buffer, n);
    if (at) {
        memset(at, 0, n);
        buffer->n += n;
    }
}
