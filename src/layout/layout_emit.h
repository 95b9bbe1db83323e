/* Step generation: functions shared by structure (layout_emit.c) and values (layout_emit_values.c).
 *
 * Consecutive fixed-size fields are not a step of their own: their bits are `pending`, and the next
 * moving step skips them. */
#ifndef TRACETTA_LAYOUT_LAYOUT_EMIT_H
#define TRACETTA_LAYOUT_LAYOUT_EMIT_H

#include "layout/layout_compile.h"

/* Appends a moving step, which skips the pending bits, or a step that does not move and needs
 * `bits` bits. Returns NULL if compilation failed. */
TTR_MUST struct step *emit_moving(struct compiler *c, enum step_code code);
TTR_MUST struct step *emit_still(struct compiler *c, enum step_code code, uint64_t bits);

/* Aligns the next field to 1 << log2 bits. */
TTR_MUST bool emit_align(struct compiler *c, unsigned log2);

/* Emits the byte order as a step, because the next step is reached on several paths. */
TTR_MUST bool emit_byte_order(struct compiler *c);

/* Marks the next step as a jump target, so that it is not merged with the one before. */
void emit_label(struct compiler *c);

/* Returns in `slot` the slot of a type's length or selector. Emits a check if the number may be
 * absent. */
TTR_MUST bool emit_slot(struct compiler *c, const struct type *type, uint8_t *slot);

/* Returns true if the program returns the current field: not when measuring or inside hidden
 * members. */
static inline bool emit_returns_fields(const struct compiler *c)
{
    return c->program != PROGRAM_MEASURE && c->hidden == 0;
}

/* Emit a number, a LEB128 number, a zero-terminated text, and text or bytes of a known length. */
TTR_MUST bool emit_number(struct compiler *c, const struct type *type);
TTR_MUST bool emit_leb(struct compiler *c, const struct type *type);
TTR_MUST bool emit_string(struct compiler *c, const struct type *type);
TTR_MUST bool emit_bytes(struct compiler *c, const struct type *type);

/* Emits the length before the elements of a sequence; it is saved in STEP_INLINE_SLOT. */
TTR_MUST bool emit_inline_length(struct compiler *c, const struct type *type);

/* Emits steps that skip fixed-size elements. The first is aligned to 1 << align bits if there is
 * one. */
struct emit_count {
    uint64_t count;
    uint8_t slot;
    bool is_fixed;
};
TTR_MUST bool emit_skip_elements(struct compiler *c, const struct fold_element *each,
                                 const struct emit_count *count, unsigned align);

/* Returns true if the elements are plain numbers at whole bytes, so that they need no loop. */
bool emit_has_plain_elements(const struct type *element, const struct position *position,
                             const struct fold_element *each);

/* Emits the array field and the two steps that return its elements. */
TTR_MUST bool emit_elements(struct compiler *c, const struct type *type,
                            const struct fold_element *each, const struct emit_count *count,
                            unsigned align);

/* Build tables in the arena. Return NULL if memory runs out. */
const void *compile_label_table(struct compiler *c, const struct type *type);
const void *compile_selector_ranges(struct compiler *c, const struct type *type);
const void *compile_option_table(struct compiler *c, const struct type *type,
                                 const uint32_t *steps);

#endif
