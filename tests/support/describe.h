/* A CTF description as text, for tests of the parsers and printers of all CTF languages: two
 * descriptions are equal if their texts are.
 *
 *   version 20 be uuid 000102...0f name "x" ns "y" uid "z" attributes {...}
 *   packet-header TYPE
 *   env "key" = 5
 *   clock "id" name "..." 1000000000 Hz + 5 s 7 cycles precision 3 unix
 *   stream 0 clock "id" name "..."
 *     packet-context TYPE
 *     event 5 name "..." level 3
 *       payload TYPE
 *
 * A TYPE: u32 le @8 base 16 role 1 {"label" 0..5 7..7}; bool8, bits8, i8, flags8, f32, vu, vi,
 * string, text[16], blob[REF], struct(a: TYPE, b: TYPE), array[4] TYPE, sequence[REF] TYPE,
 * optional[REF 1..2] TYPE, variant[REF](a 0..1: TYPE); "alias" = TYPE if the type is named. A REF:
 * payload.a.b. */
#ifndef TRACETTA_TESTS_SUPPORT_DESCRIBE_H
#define TRACETTA_TESTS_SUPPORT_DESCRIBE_H

#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"

/* Appends one type, or the complete description. */
void describe_type(struct buffer *to, const struct type *type);
void describe_ctf(struct buffer *to, const struct ctf_description *description);

/* Removes the names of types, which some printers do not write. */
void describe_forget_names(struct ctf_description *description);

#endif
