/* Appends integers and texts to perf.data, in the byte order of the file. */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_BYTES_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_BYTES_H

#include "base/buffer.h"
#include "base/endian.h"

/* texts in feature sections are padded with zeros to a multiple of this (NAME_ALIGN of
 * tools/perf) */
#define PERF_TEXT_ALIGN 64u

static inline void perf_store_u16(uint8_t *to, bool is_big, uint16_t x)
{
    is_big ? store_u16be(to, x) : store_u16le(to, x);
}

static inline void perf_store_u32(uint8_t *to, bool is_big, uint32_t x)
{
    is_big ? store_u32be(to, x) : store_u32le(to, x);
}

static inline void perf_store_u64(uint8_t *to, bool is_big, uint64_t x)
{
    is_big ? store_u64be(to, x) : store_u64le(to, x);
}

static inline void perf_append_u32(struct buffer *to, bool is_big, uint32_t x)
{
    uint8_t bytes[4];
    perf_store_u32(bytes, is_big, x);
    buffer_add(to, bytes, sizeof bytes);
}

static inline void perf_append_u64(struct buffer *to, bool is_big, uint64_t x)
{
    uint8_t bytes[8];
    perf_store_u64(bytes, is_big, x);
    buffer_add(to, bytes, sizeof bytes);
}

/* Returns the size of a text of `n` bytes with a zero at its end, rounded up to a multiple of
 * `align`. */
static inline size_t perf_padded_size(size_t n, size_t align)
{
    return (n + 1 + align - 1) / align * align;
}

/* Appends a text in the form of feature sections: u32 padded size | text, zeros. */
static inline void perf_append_text(struct buffer *to, bool is_big, const void *text, size_t n)
{
    size_t padded = perf_padded_size(n, PERF_TEXT_ALIGN);
    perf_append_u32(to, is_big, (uint32_t)padded);
    buffer_add(to, text, n);
    buffer_add_zeros(to, padded - n);
}

#endif
