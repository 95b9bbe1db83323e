/* Order index of a reader: for each position in its sequence of events, the minimum time of all
 * later events. ttr_order_index_find builds it in a first pass over the input. ttr_sort_indexed
 * uses it in a second pass: an event earlier than this minimum can be returned at once, without
 * reading the input to its end. */
#ifndef TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H
#define TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H

#include <tracetta/analyse.h>

#include "base/alloc.h"

/* Returns the minimum time in ns of the events that follow the first `taken` events; definitions do
 * not count. Returns INT64_MIN if unknown. */
int64_t order_index_floor(const ttr_order_index *disorder, uint64_t taken);

#endif
