/* What is known of a reader's order once it was read to its end: for each place, how early an event
 * behind it may still be. */
#ifndef TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H
#define TRACETTA_PIPELINE_ORDER_ORDER_INDEX_H

#include <tracetta/analyse.h>

#include "base/alloc.h"

/* No event behind the first `taken` (definitions do not count) is earlier; INT64_MIN where nothing
 * is known of those. */
int64_t disorder_floor(const ttr_order_index *disorder, uint64_t taken);

#endif
