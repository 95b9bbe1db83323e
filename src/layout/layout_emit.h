/* Making the steps of a program: what structure (layout_emit.c) and values (layout_emit_values.c)
 * share.
 *
 * A run of fixed fields is not a step: it is `pending`, which the next step that moves passes over.
 */
#ifndef TRACETTA_LAYOUT_LAYOUT_EMIT_H
#define TRACETTA_LAYOUT_LAYOUT_EMIT_H

#include "layout/layout_compile.h"

/* Adds a step that moves (takes over what is pending), or one that stands still and needs `bits` to
 * be there; NULL when c failed. */
TTR_MUST struct step *emit_moving(struct compiler *c, enum step_code code);
TTR_MUST struct step *emit_still(struct compiler *c, enum step_code code, uint64_t bits);

/* Makes the next field begin at a multiple of 1 << log2. */
TTR_MUST bool emit_align(struct compiler *c, unsigned log2);

/* Writes the byte order down for steps that are reached on several ways. */
TTR_MUST bool emit_mixed(struct compiler *c);

/* Steps jump to the step that is added next: it must not grow together with the one before. */
void emit_label(struct compiler *c);

/* The slot of a type's length or selector, with a check that it holds something. */
TTR_MUST bool emit_slot(struct compiler *c, const struct type *type, uint8_t *slot);

/* True where the program gives fields (not so when measuring, or inside of what is hidden). */
static inline bool emit_gives(const struct compiler *c)
{
    return c->program != PROGRAM_MEASURE && c->hidden == 0;
}

/* Numbers, texts, bytes. */
TTR_MUST bool emit_number(struct compiler *c, const struct type *type);
TTR_MUST bool emit_leb(struct compiler *c, const struct type *type);
TTR_MUST bool emit_string(struct compiler *c, const struct type *type);
TTR_MUST bool emit_bytes(struct compiler *c, const struct type *type);

/* The length before the elements of a sequence, into the slot for it. */
TTR_MUST bool emit_inline_length(struct compiler *c, const struct type *type);

/* Elements of fixed size, passed over; the first is aligned to `align` where there is one. */
struct emit_count {
    uint64_t count;
    uint8_t slot;
    bool is_fixed;
};
TTR_MUST bool emit_take(struct compiler *c, const struct fold_element *each,
                        const struct emit_count *count, unsigned align);

/* Elements that are plain numbers at whole bytes can be given without a loop: true where these are.
 */
bool emit_is_plain(const struct type *element, const struct place *place,
                   const struct fold_element *each);

/* The field that is given for each of them. */
TTR_MUST bool emit_elements(struct compiler *c, const struct type *type,
                            const struct fold_element *each, const struct emit_count *count,
                            unsigned align);

/* Tables in the arena; NULL when memory is out. */
const void *compile_labels(struct compiler *c, const struct type *type);
const void *compile_values(struct compiler *c, const struct type *type);
const void *compile_options(struct compiler *c, const struct type *type, const uint32_t *steps);

#endif
