/* Reproducible damage to bytes: the same seed damages in the same way. Used by the damage campaigns
 * (damage.c, damage_folder.c). */
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

/* The position of a record's size, and the bytes that a record starts with. */
struct mutate_format {
    size_t size_at; /* bytes from the start of the record */
    unsigned size_bytes;
    bool is_big_endian;
    unsigned shift, bits; /* position and width of the size within that integer, in bits */
    uint8_t magic[8];
    size_t magic_n;
};

struct mutate_input {
    const uint8_t *bytes; /* the intact file */
    size_t n;
    const uint64_t *records; /* offsets of its records */
    size_t records_n;
    const uint8_t *other; /* another file, for MUTATE_SPLICE */
    size_t other_n;
    const struct mutate_format *format;
};

/* Returns the name of a mutation, like "flip-1". */
const char *mutate_name(enum mutation mutation);

/* Returns the bytes that `to` of mutate() must hold for an input. */
size_t mutate_room(const struct mutate_input *input);

/* Writes the damaged bytes and returns their number. `*state` is the state of the random generator
 * (support_random). */
size_t mutate(const struct mutate_input *input, enum mutation mutation, uint64_t *state,
              uint8_t *to);

#endif
