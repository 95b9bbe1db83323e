/* A writer of the protobuf wire format: varints, fixed words and nested messages. The length of a
 * nested message precedes it and is known only at its end. There are two ways to write it:
 *   protobuf_begin_padded    reserves five bytes for the length; protobuf_end_padded fills them
 * with a padded varint, which every decoder accepts. Nothing is moved. protobuf_begin_message
 * reserves one byte; protobuf_end_message moves the message if it is longer than 127 bytes. Smaller
 * output for many small messages. */
#ifndef TRACETTA_BASE_PROTOBUF_H
#define TRACETTA_BASE_PROTOBUF_H

#include "base/buffer.h"

/* Writes a varint of 1 to PROTOBUF_VARINT_MAX bytes and returns the address after it. The caller
 * has reserved the room. */
#define PROTOBUF_VARINT_MAX 10

static inline uint8_t *protobuf_write_varint(uint8_t *at, uint64_t x)
{
    while (x >= 0x80) {
        *at++ = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    *at++ = (uint8_t)x;
    return at;
}

/* Append a field of wire type 0. Negative integers are written as their 64-bit two's complement. */
void protobuf_write_u64(struct buffer *to, uint32_t field, uint64_t x);
void protobuf_write_i64(struct buffer *to, uint32_t field, int64_t x);
void protobuf_write_bool(struct buffer *to, uint32_t field, bool x);

/* Append a field of wire type 1: eight bytes, little-endian. */
void protobuf_write_fixed64(struct buffer *to, uint32_t field, uint64_t x);
void protobuf_write_double(struct buffer *to, uint32_t field, double x);

/* Append a field of wire type 2 with n bytes. */
void protobuf_write_bytes(struct buffer *to, uint32_t field, const void *p, size_t n);
void protobuf_write_string(struct buffer *to, uint32_t field, const char *text);

/* protobuf_begin_padded starts a nested message and returns the offset that protobuf_end_padded
 * needs. A message must be shorter than 2^35 bytes. */
size_t protobuf_begin_padded(struct buffer *to, uint32_t field);
void protobuf_end_padded(struct buffer *to, size_t mark);

/* Starts a nested message that is probably shorter than 128 bytes and returns the offset that
 * protobuf_end_message needs. Offsets of enclosing messages stay valid. */
size_t protobuf_begin_message(struct buffer *to, uint32_t field);

/* Moves a message that needs a length of more than one byte, for protobuf_end_message. */
void protobuf_move_message(struct buffer *to, size_t mark);

static inline void protobuf_end_message(struct buffer *to, size_t mark)
{
    if (to->failed)
        return;
    size_t length = to->n - mark - 1;
    if (length < 0x80)
        to->bytes[mark] = (uint8_t)length;
    else
        protobuf_move_message(to, mark);
}

#endif
