/* Start of an iteration, shared by the field iterator (layout_field_iter.c) and the fast path,
 * which continues as an iteration at the first step that it does not support. */
#include "layout/layout_program.h"

const struct op layout_walk_over[2] = {{.step = {.code = FIELD_END}},
                                       {.step = {.code = FIELD_END}}};

void layout_iter_begin(struct layout_iter *walk, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch)
{
    walk->run.bits = *bits;
    walk->run.member = NULL;
    walk->run.value = 0;
    walk->scratch = scratch;
    layout_iter_reset(walk, layout, layout->walk);
}
