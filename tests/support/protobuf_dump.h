/* An independent protobuf decoder for tests: prints field numbers, wire types and values, so that
 * expectations can be written by hand from a schema. It shares no code with the writer. */
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

/* Parses the next field of [*at, end); false at the end. Fails the test on bytes that are not valid
 * protobuf. */
bool protobuf_next(const uint8_t **at, const uint8_t *end, struct protobuf_item *item);

/* Finds the first field on a path of field numbers that ends with 0. Returns false if there is
 * none. */
bool protobuf_find(const void *bytes, size_t n, const uint32_t *path, struct protobuf_item *item);

/* Returns a message in one line: "8:5 11{9:1 23\"name\"} 47=00000000000000ff". `messages` lists the
 * paths of fields that are messages, like "11 11/4", separated by blanks. Other fields of wire type
 * 2 are printed as text. The caller frees the result. */
char *protobuf_text(const void *bytes, size_t n, const char *messages);

#endif
