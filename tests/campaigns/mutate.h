/* Damage to bytes, reproducibly: the same seed damages the same way.  For the damage campaign
 * (damage.c). */
#ifndef TRACETTA_TESTS_CAMPAIGNS_MUTATE_H
#define TRACETTA_TESTS_CAMPAIGNS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mutation {
    MUTATE_FLIP_1,
    MUTATE_FLIP_10,
    MUTATE_FLIP_100,
    MUTATE_SET_BYTE,
    MUTATE_ZERO_512,
    MUTATE_ZERO_4K,
    MUTATE_CUT,
    MUTATE_DUPLICATE,
    MUTATE_SWAP,
    MUTATE_TRUNCATE,
    MUTATE_SPLICE,
    MUTATE_SIZE,
    MUTATE_PLANT,
    MUTATIONS
};

/* Where the size of a record is, and what begins one. */
struct mutate_format {
    size_t size_at; /* bytes behind the record's beginning */
    unsigned size_bytes;
    bool is_big_endian;
    unsigned shift, bits; /* of the size in that integer */
    uint8_t magic[8];
    size_t magic_n;
};

struct mutate_input {
    const uint8_t *bytes; /* the intact file */
    size_t n;
    const uint64_t *records; /* offsets of its records */
    size_t records_n;
    const uint8_t *other; /* another file, to splice with */
    size_t other_n;
    const struct mutate_format *format;
};

/* The name of a mutation, "flip-1". */
const char *mutate_name(enum mutation mutation);

/* Bytes that `to` must hold for an input. */
size_t mutate_room(const struct mutate_input *input);

/* Writes the damaged bytes and gives their count; `*state` is the seed (support_random). */
size_t mutate(const struct mutate_input *input, enum mutation mutation, uint64_t *state,
              uint8_t *to);

#endif
