/* Selects a .NET process by pid or name.
 *
 * Ownership: a list is the caller's; a process found in it is borrowed from it. */
#ifndef TRACETTA_CLI_DOTNET_DOTNET_CHOICE_H
#define TRACETTA_CLI_DOTNET_DOTNET_CHOICE_H

#include <stdbool.h>

#include <tracetta/collect.h>

struct call;

/* Returns true if a word is the pid of a process, its name, or its name with ".dll". */
bool dotnet_process_matches(const char *word, const ttr_dotnet_process *process);

/* Reports that a word matches no process. Returns OUTCOME_INPUT. */
int dotnet_report_no_match(const char *word);

/* Finds the one process that matches a word and returns OUTCOME_FINE. Otherwise reports that none
 * matches, that several do, or that the process belongs to another user, and returns the
 * outcome. */
int dotnet_choose_process(const ttr_dotnet_list *list, const char *word,
                          ttr_dotnet_process *process);

/* Returns the name of a user, or the number as text. Borrowed until the next call. */
const char *format_user_name(uint32_t uid);

/* Parses "dd:hh:mm:ss" (with fewer parts, too) or "30s" into nanoseconds. Returns false for other
 * texts and for 0. */
bool dotnet_parse_duration(const char *text, uint64_t *ns);

#endif
