/* Pairing with a limit to set; see ttr_pair_spans. */
#ifndef TRACETTA_PIPELINE_SPANS_PAIR_H
#define TRACETTA_PIPELINE_SPANS_PAIR_H

#include <tracetta/read.h>

/* ttr_pair_spans with at most `max_open` begins waiting for their ends; the others and their ends
 * pass as they are. */
ttr_reader *pair_reader(ttr_reader *in, uint32_t max_open, ttr_error *error);

#endif
