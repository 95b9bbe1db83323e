/* Index of the order of a reader: for each position, the minimum time of all later events.
 *
 * ttr_order_index_find makes it in a first pass over the input.  ttr_sort_indexed uses it in a
 * second pass: an event below the minimum of all later ones is final, and need not wait for the end
 * of the input. */
#ifndef TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H
#define TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H

#include <tracetta/analyse.h>

#include "base/alloc.h"

/* Returns the minimum time in ns of all events after the first `taken` events, definitions not
 * counted. Returns INT64_MIN if unknown. */
int64_t order_index_floor(const ttr_order_index *disorder, uint64_t taken);

#endif
