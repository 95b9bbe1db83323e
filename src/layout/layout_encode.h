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
 * Memory: see base/bitput.h. */
#ifndef TRACETTA_LAYOUT_LAYOUT_ENCODE_H
#define TRACETTA_LAYOUT_LAYOUT_ENCODE_H

#include "base/bitput.h"
#include "layout/element_runs.h"
#include "model/type.h"

struct encode {
    struct bitput put;
    struct alike_walk walk;
    void (*relieve)(void *own,
                    struct bitput *put); /* called between elements of arrays where the buffer has
                                            ENCODE_RELIEF bytes; NULL = it has them all */
    void *own;
};

#define ENCODE_RELIEF ((size_t)256 << 10)

/* Begins with n fields, of which elements may stand together; values: of these, NULL where none do.
 */
static inline void encode_begin(struct encode *encode, const ttr_field *field, size_t n,
                                const struct buffer *values)
{
    alike_begin(&encode->walk, field, n, values);
    encode->relieve = NULL;
}

/* Encodes the next fields as the members of a struct (a root: no field stands for itself). */
void encode_members(struct encode *encode, const struct type *type);

#endif
