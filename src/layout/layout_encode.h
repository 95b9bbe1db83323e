/* Encoder: writes fields as the bits of a type; the counterpart of layout/layout.h for types that a
 * writer created.
 *
 * Fields are in iteration order: a struct or array precedes its contents. The writer derived the
 * types from fields with the same types and nesting, so values and type members match by order. Its
 * types may add the following to the values: a length before the SEQUENCE, TEXT or BLOB that refers
 * to it; a struct of a length and its data; a struct of one scalar; a struct in place of an array
 * with elements of different types; an array of 8-bit numbers in place of bytes. Fields that do not
 * match the types are encoded as garbage, but never out of bounds.
 *
 * Left out: VARIANT and OPTIONAL (a writer declares one class per sequence of field types), FLAGS
 * and BITS of more than 64 bits, and character encodings of more than 8 bits. Memory: see
 * base/bit_writer.h. */
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

/* Starts encoding of n fields. */
static inline void encode_begin(struct field_encoder *encode, const ttr_field *field, size_t n)
{
    encode->field = field;
    encode->n = n;
    encode->at = 0;
}

/* Encodes the next fields as the members of a struct or root; the struct's own field has been
 * consumed. */
void encode_members(struct field_encoder *encode, const struct type *type);

#endif
