/* Which .NET process is meant, and how to reach it.
 *
 * Ownership: a list is the caller's; what is chosen from it is borrowed from it. */
#ifndef TRACETTA_CLI_DOTNET_DOTNET_CHOICE_H
#define TRACETTA_CLI_DOTNET_DOTNET_CHOICE_H

#include <stdbool.h>

#include <tracetta/tracetta.h>

struct call;

/* True when a word is the process's pid, or its name, or its program with ".dll". */
bool dotnet_is_meant(const char *word, const ttr_dotnet_process *process);

/* Tells why no process is meant by a word.  Gives OUTCOME_INPUT. */
int dotnet_tell_none(const char *word);

/* Finds the one process that a word means.  OUTCOME_FINE, or after telling what is wrong: there is
 * none, there are several, or it is another user's. */
int dotnet_choose(const ttr_dotnet_list *list, const char *word, ttr_dotnet_process *process);

/* The name of a user, or the number; borrowed until the next call. */
const char *dotnet_user(uint32_t uid);

/* "dd:hh:mm:ss", or with fewer parts, or "30s": nanoseconds, more than 0. */
bool dotnet_parse_duration(const char *text, uint64_t *ns);

#endif
