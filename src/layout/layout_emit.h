/* Step generation: functions that structure (layout_emit.c) and values (layout_emit_values.c)
 * share.
 *
 * A fixed-size field that is not returned has no step of its own. Its bits are added to `pending`,
 * and the next step that moves the read position skips them. */
#ifndef TRACETTA_LAYOUT_LAYOUT_EMIT_H
#define TRACETTA_LAYOUT_LAYOUT_EMIT_H

#include "layout/layout_compile.h"

/* emit_moving appends a step that moves the read position past the pending bits. emit_still appends
 * a step that reads `bits` bits at the current position and leaves it. Both return NULL if
 * compilation failed. */
TTR_MUST struct step *emit_moving(struct compiler *c, enum step_code code);
TTR_MUST struct step *emit_still(struct compiler *c, enum step_code code, uint64_t bits);

/* Aligns the next field to 1 << log2 bits. */
TTR_MUST bool emit_align(struct compiler *c, unsigned log2);

/* Emits a step that sets the byte order of the bits before it, because the next step is reached on
 * several paths with different orders. */
TTR_MUST bool emit_byte_order(struct compiler *c);

/* Marks the next step as a jump target, so that it is not merged with the step before it. */
void emit_label(struct compiler *c);

/* Stores in `slot` the slot of a type's length or selector. If a record may lack that number, also
 * emits a step that fails on such a record. */
TTR_MUST bool emit_slot(struct compiler *c, const struct type *type, uint8_t *slot);

/* Returns true if the program returns the current field. The record-size program returns none;
 * other programs skip hidden members. */
static inline bool emit_returns_fields(const struct compiler *c)
{
    return c->program != PROGRAM_RECORD_SIZE && c->hidden == 0;
}

/* Emit the steps of a number, a LEB128 number, a zero-terminated text, and a text or bytes of a
 * given length. */
TTR_MUST bool emit_number(struct compiler *c, const struct type *type);
TTR_MUST bool emit_leb(struct compiler *c, const struct type *type);
TTR_MUST bool emit_string(struct compiler *c, const struct type *type);
TTR_MUST bool emit_bytes(struct compiler *c, const struct type *type);

/* Emits the step that saves the length stored directly before a sequence's elements, in
 * STEP_INLINE_SLOT. */
TTR_MUST bool emit_inline_length(struct compiler *c, const struct type *type);

/* Number of elements of an array: the constant `count` if is_fixed, else the value in `slot`. */
struct emit_count {
    uint64_t count;
    uint8_t slot;
    bool is_fixed;
};

/* Emits steps that skip `count` elements of fixed size. The first element is aligned to 1 << align
 * bits; an empty array is not aligned. */

TTR_MUST bool emit_skip_elements(struct compiler *c, const struct folded_element *each,
                                 const struct emit_count *count, unsigned align);

/* Returns true if the elements are numbers of whole bytes at byte boundaries, so that two steps
 * return all of them without a loop. */
bool emit_has_plain_elements(const struct type *element, const struct position *position,
                             const struct folded_element *each);

/* Emits the step of the array field and the two steps that return its elements. */
TTR_MUST bool emit_elements(struct compiler *c, const struct type *type,
                            const struct folded_element *each, const struct emit_count *count,
                            unsigned align);

/* Build lookup tables in the layout's arena. Return NULL if memory runs out. */
const void *compile_label_table(struct compiler *c, const struct type *type);
const void *compile_selector_ranges(struct compiler *c, const struct type *type);
const void *compile_option_table(struct compiler *c, const struct type *type,
                                 const uint32_t *steps);

#endif
