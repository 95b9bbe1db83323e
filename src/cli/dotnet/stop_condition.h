/* The event that ends a recording. */
#ifndef TRACETTA_CLI_DOTNET_STOP_CONDITION_H
#define TRACETTA_CLI_DOTNET_STOP_CONDITION_H

#include <stdbool.h>

#include <tracetta/event.h>

struct settings;

/* The conditions; NULL = any. Borrowed from the settings. */
struct stopping {
    const char *provider, *event;
    const char *payload; /* "FIELD:VALUE,FIELD:VALUE": all must match */
};

/* Reads the options. Returns false if they do not fit together. */
bool stopping_read(struct stopping *stopping, const struct settings *settings);

/* Whether there is a condition. */
bool stopping_has_condition(const struct stopping *stopping);

/* Whether an event meets all conditions. */
bool stopping_is_met(const struct stopping *stopping, const ttr *t, const ttr_event *event);

#endif
