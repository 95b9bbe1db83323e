/* Start of a field iteration. The field iterator (layout_field_iter.c) uses it, and the fast path
 * (layout_decode_fast.c) at the first step that it cannot run. */
#include "layout/layout_program.h"

const struct op layout_iter_over[2] = {{.step = {.code = FIELD_END}},
                                       {.step = {.code = FIELD_END}}};

void layout_iter_begin(struct layout_iter *iter, const struct layout *layout,
                       const struct bits *bits, struct arena *scratch)
{
    iter->run.bits = *bits;
    iter->run.member = NULL;
    iter->run.value = 0;
    iter->scratch = scratch;
    layout_iter_reset(iter, layout, layout->iter);
}
