/* The protobuf wire format, written: varints, fixed words, and length-delimited parts whose length
 * is known only at their end. Two ways to write such a part: protobuf_open gives it a five-byte
 * length slot that protobuf_close fills with a padded varint, which every decoder accepts, so
 * nothing is moved; protobuf_begin gives it a one-byte slot, and protobuf_end moves the part when
 * it came out longer than 127 bytes.  The second is for many small messages. */
#ifndef TRACETTA_BASE_PROTOBUF_H
#define TRACETTA_BASE_PROTOBUF_H

#include "base/buffer.h"

/* Writes a varint, 1 to PROTOBUF_VARINT_MAX bytes, and gives the place after it: for writers that
 * have asked for room. */
#define PROTOBUF_VARINT_MAX 10

static inline uint8_t *protobuf_varint(uint8_t *at, uint64_t x)
{
    while (x >= 0x80) {
        *at++ = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    *at++ = (uint8_t)x;
    return at;
}

/* Field of wire type 0.  Negative int32/int64 go in as their 64-bit two's complement. */
void protobuf_u64(struct buffer *to, uint32_t field, uint64_t x);
void protobuf_i64(struct buffer *to, uint32_t field, int64_t x);
void protobuf_bool(struct buffer *to, uint32_t field, bool x);

/* Field of wire type 1. */
void protobuf_fixed64(struct buffer *to, uint32_t field, uint64_t x);
void protobuf_double(struct buffer *to, uint32_t field, double x);

/* Field of wire type 2 with known bytes. */
void protobuf_bytes(struct buffer *to, uint32_t field, const void *p, size_t n);
void protobuf_string(struct buffer *to, uint32_t field, const char *text);

/* Opens a nested message and gives the mark that closes it.  Messages longer than 2^35-1 bytes are
 * our own mistake. */
size_t protobuf_open(struct buffer *to, uint32_t field);
void protobuf_close(struct buffer *to, size_t mark);

/* Begins a nested message that is likely to be small and gives the mark that ends it; marks of
 * messages around it stay good. */
size_t protobuf_begin(struct buffer *to, uint32_t field);

/* Slow path of protobuf_end: the message at the mark is longer than one byte can tell. */
void protobuf_widen(struct buffer *to, size_t mark);

static inline void protobuf_end(struct buffer *to, size_t mark)
{
    if (to->failed)
        return;
    size_t length = to->n - mark - 1;
    if (length < 0x80)
        to->bytes[mark] = (uint8_t)length;
    else
        protobuf_widen(to, mark);
}

#endif
