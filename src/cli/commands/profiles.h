/* Profiles of the inputs, for the commands that show or write them. */
#ifndef TRACETTA_CLI_COMMANDS_PROFILES_H
#define TRACETTA_CLI_COMMANDS_PROFILES_H

#include <tracetta/tracetta.h>

#include "cli/input/input_list.h"

struct profiling {
    struct inputs inputs;
    ttr_profile *profile; /* NULL: there is not even a part */
    int outcome;          /* of reading: what came before a failure is in the profile */
};

/* TTR_PROFILE_* that options ask for, whatever the format. */
uint32_t profiles_flags(const struct call *call);

/* Opens the inputs and reads a profile.  OUTCOME_FINE, to be followed by profiles_close; or the
 * outcome after telling the user. */
int profiles_open(struct profiling *profiling, const struct call *call, uint32_t flags);

/* Warns of damage and frees; the outcome given, or OUTCOME_NO in place of a fine one when there was
 * damage. */
int profiles_close(const struct call *call, struct profiling *profiling, int outcome);

/* Whether there is anything to show; where not, tells the user and sets the outcome. */
bool profiles_has_any(const struct call *call, const struct profiling *profiling, int *outcome);

/* Tells why an output failed, and gives the outcome. */
int profiles_output_failed(const struct call *call, const char *name, const ttr_error *error);

#endif
