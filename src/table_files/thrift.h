/* The compact protocol of Thrift, as far as Parquet needs it: structs of integers, binaries, lists
 * and structs (apache/thrift: doc/specs/thrift-compact-protocol.md). */
#ifndef TRACETTA_TABLE_FILES_THRIFT_H
#define TRACETTA_TABLE_FILES_THRIFT_H

#include "table_files/bytes.h"

#define THRIFT_DEPTH_MAX 8u

enum thrift_type {
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift {
    struct bytes *to;
    int last[THRIFT_DEPTH_MAX]; /* id of the last field of each open struct */
    unsigned depth;
};

static inline void thrift_add_varint(struct bytes *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        bytes_add_u8(to, (uint8_t)(number | 0x80));
    bytes_add_u8(to, (uint8_t)number);
}

static inline uint64_t thrift_zigzag(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

/* Starts the outermost struct, or an element of a list of structs. */
static inline void thrift_begin(struct thrift *thrift)
{
    thrift->last[++thrift->depth % THRIFT_DEPTH_MAX] = 0;
}

static inline void thrift_end(struct thrift *thrift)
{
    bytes_add_u8(thrift->to, 0);
    thrift->depth--;
}

/* Writes the head of a field. Ids ascend by at most 15. */
static inline void thrift_field(struct thrift *thrift, int id, enum thrift_type type)
{
    int *last = &thrift->last[thrift->depth % THRIFT_DEPTH_MAX];
    bytes_add_u8(thrift->to, (uint8_t)((id - *last) << 4 | (int)type));
    *last = id;
}

static inline void thrift_i32(struct thrift *thrift, int id, int32_t number)
{
    thrift_field(thrift, id, THRIFT_I32);
    thrift_add_varint(thrift->to, thrift_zigzag(number));
}

static inline void thrift_i64(struct thrift *thrift, int id, int64_t number)
{
    thrift_field(thrift, id, THRIFT_I64);
    thrift_add_varint(thrift->to, thrift_zigzag(number));
}

/* Writes bytes as an element of a list. */
static inline void thrift_bytes(struct thrift *thrift, const void *p, size_t n)
{
    thrift_add_varint(thrift->to, n);
    bytes_add(thrift->to, p, n);
}

static inline void thrift_binary(struct thrift *thrift, int id, const void *p, size_t n)
{
    thrift_field(thrift, id, THRIFT_BINARY);
    thrift_bytes(thrift, p, n);
}

static inline void thrift_struct(struct thrift *thrift, int id)
{
    thrift_field(thrift, id, THRIFT_STRUCT);
    thrift_begin(thrift);
}

/* Starts a list; its elements follow. */
static inline void thrift_list(struct thrift *thrift, int id, enum thrift_type type, size_t n)
{
    thrift_field(thrift, id, THRIFT_LIST);
    bytes_add_u8(thrift->to, (uint8_t)((n < 15 ? n : 15) << 4 | (unsigned)type));
    if (n >= 15)
        thrift_add_varint(thrift->to, n);
}

#endif
