/* Encoder: writes fields as the bits of a type; the counterpart of layout/layout.h for types that a
 * writer created itself.
 *
 * The fields of an event are in iteration order (a struct or array before its contents), and the
 * types were derived from fields of the same shape, so values and members match by order. A
 * writer's types may add the following to the values: a length before the SEQUENCE, TEXT or BLOB
 * that refers to it; a struct of such a pair; a struct of one scalar; a struct for an array of
 * unlike elements; an array of 8-bit numbers for bytes. Fields of another shape are encoded as
 * garbage, within bounds.
 *
 * Left out: VARIANT and OPTIONAL (a writer has a class per shape), FLAGS and BITS of more than 64
 * bits, and character encodings of more than 8 bits. Memory: see base/bit_writer.h. */
#ifndef TRACETTA_LAYOUT_LAYOUT_ENCODE_H
#define TRACETTA_LAYOUT_LAYOUT_ENCODE_H

#include "base/bit_writer.h"
#include "model/context.h"
#include "model/type.h"

struct field_encoder {
    struct bit_writer put;
    const ttr_field *field; /* all fields, borrowed */
    size_t n, at;           /* number of fields; index of the next one */
};

/* Starts with n fields. */
static inline void encode_begin(struct field_encoder *encode, const ttr_field *field, size_t n)
{
    encode->field = field;
    encode->n = n;
    encode->at = 0;
}

/* Encodes the next fields as the members of a struct. A root has no field of its own. */
void encode_members(struct field_encoder *encode, const struct type *type);

#endif
