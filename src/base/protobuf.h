/* The protobuf wire format, written: varints, fixed words, and length-delimited parts whose length is known only at their end.
 * A part opened with protobuf_open gets a five-byte length slot that protobuf_close fills with a padded varint, which every
 * decoder accepts; so nothing is written twice or moved. */
#ifndef TRACETTA_BASE_PROTOBUF_H
#define TRACETTA_BASE_PROTOBUF_H

#include "base/buffer.h"

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

/* Opens a nested message and gives the mark that closes it.  Messages longer than 2^35-1 bytes are our own mistake. */
size_t protobuf_open(struct buffer *to, uint32_t field);
void protobuf_close(struct buffer *to, size_t mark);

#endif
