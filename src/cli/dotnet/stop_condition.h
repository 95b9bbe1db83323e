/* The condition that ends a recording: an event of a provider, with a name and field values. */
#ifndef TRACETTA_CLI_DOTNET_STOP_CONDITION_H
#define TRACETTA_CLI_DOTNET_STOP_CONDITION_H

#include <stdbool.h>

#include <tracetta/event.h>

struct settings;

/* The parts of the condition; NULL = any. Borrowed from the settings. */
struct stopping {
    const char *provider, *event;
    const char *payload; /* "FIELD:VALUE,FIELD:VALUE": all must match */
};

/* Reads the condition from the options. Returns false if they contradict each other. */
bool stop_condition_parse(struct stopping *stopping, const struct settings *settings);

/* Returns true if there is a condition. */
bool stop_condition_is_set(const struct stopping *stopping);

/* Returns true if an event meets all conditions. */
bool stop_condition_is_met(const struct stopping *stopping, const ttr *t, const ttr_event *event);

#endif
