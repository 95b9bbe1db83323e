/* Warnings about a trace as a text, to be printed again when its saved tables are used. */
#ifndef TRACETTA_CLI_COMMANDS_SAVED_FINDINGS_H
#define TRACETTA_CLI_COMMANDS_SAVED_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <tracetta/store.h>

struct call;

#define SAVED_FINDINGS "findings" /* name of the part of a saved store */

/* Collects the lines that warn_about_findings prints, after '1' if the trace is damaged, else '0'.
 * The caller frees the text. Returns false if memory is exhausted. */
bool saved_findings_collect(const struct call *call, ttr_reader *reader, char **text, size_t *n);

/* Prints the lines as notes. Returns the outcome: OUTCOME_NO if the trace is damaged. */
int saved_findings_print(const struct call *call, const char *text, int outcome);

/* Reads a part of a saved store as a text, which the caller frees. Returns NULL if it is missing,
 * empty, damaged, or larger than 1 MiB. */
char *saved_findings_read_part(const ttr_store *store, const char *name);

#endif
