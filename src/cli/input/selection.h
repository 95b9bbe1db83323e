/* The events that options select: by time, name, thread and the like. */
#ifndef TRACETTA_CLI_INPUT_SELECTION_H
#define TRACETTA_CLI_INPUT_SELECTION_H

#include "cli/input/input_list.h"

/* Adds times; the result is the nearest that 64 bits can hold. */
int64_t selection_add_times(int64_t a, int64_t b);

/* Whether all inputs of a reader are ordered by time. */
bool selection_is_ordered(ttr_reader *reader);

/* --align=begin: adds to the offset of each input, so that all begin with the first.  Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int selection_align_begins(const struct inputs *inputs, const struct call *call);

/* Finds the range of --start and --end: sets from_ns and to_ns.  Returns OUTCOME_FINE, or the
 * outcome after reporting an error. */
int selection_resolve_times(struct inputs *inputs, const struct call *call);

/* Puts a filter on the reader.  Returns OUTCOME_FINE, or the outcome after reporting an error. */
int selection_add_filter(struct inputs *inputs, const struct call *call);

/* Whether options select some of the events only. */
bool selection_is_given(const struct call *call);

/* Counts the events of a batch that match the filters of the call. */
uint64_t selection_count_matches(const struct call *call, const ttr_batch *batch);

/* Reports that no event matched the filters, unless there are matches or no filter.  Returns
 * OUTCOME_NO then, else the given outcome. */
int selection_check_matches(const struct call *call, bool has_matches, int outcome);

#endif
