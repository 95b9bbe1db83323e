/* Parts of convert, merge and recover: choice and check of the output, and the summary after
 * writing it. */
#ifndef TRACETTA_CLI_COMMANDS_CONVERT_H
#define TRACETTA_CLI_COMMANDS_CONVERT_H

#include "cli/input/input_list.h"
#include "cli/input/copy_loop.h"

/* Returns the format that the suffix of a path names, or NULL. */
const char *convert_guess(const char *path);

/* Returns the length of a path without the suffix of a compression (".gz", ".zst"). */
size_t convert_bare_size(const char *path, size_t n);

/* Sorts the events by time if the format requires it and the inputs are not sorted. Returns
 * OUTCOME_FINE, or the outcome after reporting an error; then the reader is closed. */
int convert_order(struct inputs *inputs, const struct call *call, const char *format);

/* Returns true if the library can write this format. */
bool convert_writes(const char *format);

/* Returns true if traces of this format are folders. */
bool convert_is_folder(const char *format);

/* With --explain, prints what a copy to this format loses. */
void convert_explain(const struct call *call, const char *format);

/* Runs a copy to its end and prints the summary. `begin_ns` is progress_now() of the start. */
int convert_run(struct copy_loop *copy_loop, const char *format, uint64_t begin_ns);

#endif
