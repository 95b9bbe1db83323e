/* Encoding: fields into the bits that a type describes, the counterpart of layout/layout.h for
 * types that a writer made itself.
 *
 * The fields of an event stand one behind another as a walk gave them (a struct or array before
 * what is in it), and the types have been made from fields of that very shape, so that each value
 * finds its place by order alone.  What a writer's types may hold beyond the values themselves: a
 * length right before the SEQUENCE, TEXT or BLOB that refers to it; an array or bytes wrapped in a
 * struct of such a pair; a scalar wrapped in a struct of one member; an array of unlike elements as
 * a struct; bytes as an array of 8-bit numbers. Fields of another shape come out as nonsense, but
 * nothing is read or written where it should not be. Not encoded: VARIANT and OPTIONAL (a writer
 * has a class for each shape), FLAGS and BITS wider than 64 bits, other encodings than 8-bit.
 * Memory: see base/bit_writer.h. */
#ifndef TRACETTA_LAYOUT_LAYOUT_ENCODE_H
#define TRACETTA_LAYOUT_LAYOUT_ENCODE_H

#include "base/bit_writer.h"
#include "model/context.h"
#include "model/type.h"

struct field_encoder {
    struct bit_writer put;
    const ttr_field *field; /* all fields, borrowed */
    size_t n, at;           /* how many there are; index of the next one */
};

/* Begins with n fields. */
static inline void encode_begin(struct field_encoder *encode, const ttr_field *field, size_t n)
{
    encode->field = field;
    encode->n = n;
    encode->at = 0;
}

/* Encodes the next fields as the members of a struct (a root: no field stands for itself). */
void encode_members(struct field_encoder *encode, const struct type *type);

#endif
