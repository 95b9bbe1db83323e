/* Profiles of the inputs, for commands that show or write them. */
#ifndef TRACETTA_CLI_COMMANDS_PROFILES_H
#define TRACETTA_CLI_COMMANDS_PROFILES_H

#include <tracetta/profile.h>

#include "cli/input/input_list.h"

struct profiling {
    struct inputs inputs;
    ttr_profile *profile; /* NULL if nothing could be read */
    /* outcome of reading the inputs; after a failure the profile has the data before the failure */
    int outcome;
};

/* Returns the profile format that matches the longest suffix of a path ("x.speedscope.json"), or
 * NULL. With wants_two, ignores suffixes of one component, since trace formats have such suffixes,
 * too. */
const char *guess_profile_format(const char *path, bool wants_two);

/* Returns the TTR_PROFILE_* flags that the options select, apart from those of the output
 * format. */
uint32_t get_profile_flags(const struct call *call);

/* Opens the inputs and reads a profile. If it returns OUTCOME_FINE, close_profiling must follow. On
 * failure, reports the error and returns the outcome. */
int open_profiling(struct profiling *profiling, const struct call *call, uint32_t flags);

/* Warns of damage and frees the profile. Returns the given outcome, but OUTCOME_NO instead of
 * OUTCOME_FINE after damage. */
int close_profiling(const struct call *call, struct profiling *profiling, int outcome);

/* Returns true if the profile has samples or spans. Otherwise reports that it is empty, and sets
 * the outcome. */
bool profiling_has_events(const struct call *call, const struct profiling *profiling, int *outcome);

/* Reports why an output failed, and returns the outcome. */
int report_profile_failure(const struct call *call, const char *name, const ttr_error *error);

#endif
