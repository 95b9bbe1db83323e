/* The event that ends a recording. */
#ifndef TRACETTA_CLI_DOTNET_STOP_CONDITION_H
#define TRACETTA_CLI_DOTNET_STOP_CONDITION_H

#include <stdbool.h>

#include <tracetta/tracetta.h>

struct settings;

/* What is waited for; NULL = any.  Borrowed from the settings. */
struct stopping {
    const char *provider, *event;
    const char *payload; /* "FIELD:VALUE,FIELD:VALUE": all of them */
};

/* Reads the options.  False where they do not fit together. */
bool stopping_read(struct stopping *stopping, const struct settings *settings);

/* True when there is something to wait for. */
bool stopping_is_asked(const struct stopping *stopping);

/* True for the event that is waited for. */
bool stopping_is_met(const struct stopping *stopping, const ttr *t, const ttr_event *event);

#endif
