/* Selection of events by options: time, name, thread, kind and others. */
#ifndef TRACETTA_CLI_INPUT_SELECTION_H
#define TRACETTA_CLI_INPUT_SELECTION_H

#include "cli/input/input_list.h"

/* Adds two times, saturated to 64 bits. */
int64_t selection_add_times(int64_t a, int64_t b);

/* Returns true if all inputs of a reader are ordered by time. */
bool selection_is_ordered(ttr_reader *reader);

/* Implements --align=begin: adds to the offset of each input, so that all begin with the first.
 * Returns OUTCOME_FINE, or the outcome after reporting an error. */
int selection_align_begins(const struct inputs *inputs, const struct call *call);

/* Resolves --start and --end to inputs->from_ns and to_ns. Returns OUTCOME_FINE, or the outcome
 * after reporting an error. */
int selection_resolve_times(struct inputs *inputs, const struct call *call);

/* Wraps the reader in a filter if options select events. Returns OUTCOME_FINE, or the outcome after
 * reporting an error. */
int selection_add_filter(struct inputs *inputs, const struct call *call);

/* Returns true if an option selects events. */
bool selection_is_given(const struct call *call);

/* Returns true if an event of a batch matches the filters of the call. */
bool selection_has_match(const struct call *call, const ttr_batch *batch);

/* If a filter matched no event, reports that and returns OUTCOME_NO. Otherwise returns the given
 * outcome. */
int selection_check_matches(const struct call *call, bool has_matches, int outcome);

#endif
