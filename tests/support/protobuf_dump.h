/* A protobuf decoder of its own for tests: prints field numbers, wire types and values, so that
 * expectations can be read and written by hand from a schema.  It shares nothing with the writer.
 */
#ifndef TRACETTA_TESTS_SUPPORT_PROTOBUF_DUMP_H
#define TRACETTA_TESTS_SUPPORT_PROTOBUF_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf_item {
    uint32_t field;
    unsigned wire;        /* 0 varint, 1 eight bytes, 2 length */
    uint64_t value;       /* of wire 0 and 1 */
    const uint8_t *bytes; /* of wire 2 */
    size_t n;
};

/* Takes the next field from [*at, end); false at the end.  Fails the test on bytes that are no
 * protobuf. */
bool protobuf_next(const uint8_t **at, const uint8_t *end, struct protobuf_item *item);

/* Finds the first field along a path of numbers that ends with 0; false when there is none. */
bool protobuf_find(const void *bytes, size_t n, const uint32_t *path, struct protobuf_item *item);

/* Prints a message in one line: "8:5 11{9:1 23\"name\"} 47=00000000000000ff".  `messages` tells
 * which fields are messages: paths such as "11 11/4", a blank between them.  Everything else of
 * wire type 2 is printed as text.  The caller frees. */
char *protobuf_text(const void *bytes, size_t n, const char *messages);

#endif
