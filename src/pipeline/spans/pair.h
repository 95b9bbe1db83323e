/* Pairing of begin and end events, with a limit of open spans; see ttr_pair_spans. */
#ifndef TRACETTA_PIPELINE_SPANS_PAIR_H
#define TRACETTA_PIPELINE_SPANS_PAIR_H

#include <tracetta/tracetta.h>

/* Returns a reader of paired spans in which at most `max_open` begins wait for their ends. Further
 * begins, and their ends, pass unchanged. Owns `in`, even on failure. */
ttr_reader *pair_reader(ttr_reader *in, uint32_t max_open, ttr_error *error);

#endif
