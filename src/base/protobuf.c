/* Protobuf fields appended to a buffer: https://protobuf.dev/programming-guides/encoding/
 *   field: varint(number << 3 | wire type), value
 *   wire type 0: varint | 1: eight bytes | 2: varint length, bytes
 * Each field reserves its bytes in the buffer once and is then written by plain stores. Left out:
 * groups, 32-bit words, packed and zigzag fields, reading. */
#include "base/protobuf.h"

#include "base/endian.h"
#include "base/never.h"

#define PROTOBUF_TAG_MAX 5
#define PROTOBUF_LENGTH_SLOT 5

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static uint8_t *write_tag(uint8_t *at, uint32_t field, enum wire_type type)
{
    return protobuf_write_varint(at, (uint64_t)field << 3 | type);
}

/* Reserves room for a tag and `more` bytes and writes the tag. Returns the address after it, or
 * NULL if memory runs out. */
static uint8_t *start_field(struct buffer *to, uint32_t field, enum wire_type type, size_t more)
{
    uint8_t *at = buffer_room(to, PROTOBUF_TAG_MAX + more);
    return at ? write_tag(at, field, type) : NULL;
}

static void end_field(struct buffer *to, const uint8_t *end)
{
    to->n = (size_t)(end - to->bytes);
}

void protobuf_write_u64(struct buffer *to, uint32_t field, uint64_t x)
{
    uint8_t *at = start_field(to, field, WIRE_VARINT, PROTOBUF_VARINT_MAX);
    if (at)
        end_field(to, protobuf_write_varint(at, x));
}

void protobuf_write_i64(struct buffer *to, uint32_t field, int64_t x)
{
    protobuf_write_u64(to, field, (uint64_t)x);
}

void protobuf_write_bool(struct buffer *to, uint32_t field, bool x)
{
    protobuf_write_u64(to, field, x);
}

void protobuf_write_fixed64(struct buffer *to, uint32_t field, uint64_t x)
{
    uint8_t *at = start_field(to, field, WIRE_FIXED64, sizeof x);
    if (at) {
        store_u64le(at, x);
        end_field(to, at + sizeof x);
    }
}

void protobuf_write_double(struct buffer *to, uint32_t field, double x)
{
    protobuf_write_fixed64(to, field, bits_of_double(x));
}

void protobuf_write_bytes(struct buffer *to, uint32_t field, const void *p, size_t n)
{
    /* No buffer can hold this many bytes; the check prevents an overflow of the sum below. */
    to->failed = to->failed || n > PTRDIFF_MAX;
    uint8_t *at = to->failed ? NULL : start_field(to, field, WIRE_LENGTH, PROTOBUF_VARINT_MAX + n);
    if (!at)
        return;
    at = protobuf_write_varint(at, n);
    if (n)
        memcpy(at, p, n);
    end_field(to, at + n);
}

void protobuf_write_string(struct buffer *to, uint32_t field, const char *text)
{
    protobuf_write_bytes(to, field, text, strlen(text));
}

size_t protobuf_begin_padded(struct buffer *to, uint32_t field)
{
    uint8_t *at = start_field(to, field, WIRE_LENGTH, PROTOBUF_LENGTH_SLOT);
    if (!at)
        return 0;
    end_field(to, at + PROTOBUF_LENGTH_SLOT);
    return to->n - PROTOBUF_LENGTH_SLOT;
}

void protobuf_end_padded(struct buffer *to, size_t mark)
{
    if (to->failed)
        return;
    uint64_t length = to->n - mark - PROTOBUF_LENGTH_SLOT;
    if (NEVER(length >> 35)) {
        to->failed = true;
        return;
    }
    uint8_t *at = to->bytes + mark;
    for (int i = 0; i < PROTOBUF_LENGTH_SLOT - 1; i++, length >>= 7)
        *at++ = (uint8_t)(length | 0x80);
    *at = (uint8_t)length;
}

size_t protobuf_begin_message(struct buffer *to, uint32_t field)
{
    uint8_t *at = start_field(to, field, WIRE_LENGTH, 1);
    if (!at)
        return 0;
    end_field(to, at + 1);
    return to->n - 1;
}

void protobuf_move_message(struct buffer *to, size_t mark)
{
    uint8_t length[PROTOBUF_VARINT_MAX];
    size_t n = to->n - mark - 1;
    size_t width = (size_t)(protobuf_write_varint(length, n) - length);
    if (!buffer_room(to, width - 1))
        return;
    uint8_t *at = to->bytes + mark;
    memmove(at + width, at + 1, n);
    memcpy(at, length, width);
    to->n += width - 1;
}
