/* Types written in one line, for tests: "id:u5 time:u27 s:{x:i16> y:f32} n:u8 data:[p.n]u16"
 *
 *   u5 i16 f64 b3 t8 g4 n8   unsigned, signed, float, bits, bool, flags, null of that many bits
 *   U I                      LEB128 unsigned, signed
 *   s S16> S32               string; of 16- or 32-bit characters, little-endian or, with >,
 *                            big-endian
 *   T4 T(p.n) B4 B(p.n) W4>  text and blob of 4 bytes, or of p.n bytes; text in UTF-16 (with >:
 *                            big-endian)
 *   B(:u16) T(:u16)          the same with the length directly before it
 *   {name:type ...}          structure
 *   [3]type [p.n]type [:u16]type   array, sequence, sequence with its length directly before it
 *   ?p.n(1,3..5):type        optional; without parentheses it has no ranges
 *   |p.n(name=0..2:type,name=-1:type)   variant
 *
 * Suffixes of a number: > big-endian, ~ reversed, @32 aligned to 32 bits, /16 gcc bitfield in units
 * of 16, ^3 role 3, #16 shown in base 16, =A=1,B=2..5; labels. A structure or array has the
 * alignment of its members; }@64 raises it. Numbers of whole bytes are aligned to bytes, others to
 * bits. References start with a root: K packet header, k packet context, h event header, c common,
 * s specific context, p payload. */
#ifndef TRACETTA_TESTS_SUPPORT_TYPETEXT_H
#define TRACETTA_TESTS_SUPPORT_TYPETEXT_H

#include "base/arena.h"
#include "model/type.h"

/* Returns a structure of the members in the text, in the arena. Fails the test if the text is not
 * valid. */
const struct type *type_of_text(struct arena *arena, const char *text);

/* Parses "p.a.b" as a reference. */
struct type_reference reference_of_text(struct arena *arena, const char *text);

#endif
