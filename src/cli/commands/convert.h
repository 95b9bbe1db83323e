/* Functions that convert, merge and recover share: choice of the output format, copying, and the
 * summary. */
#ifndef TRACETTA_CLI_COMMANDS_CONVERT_H
#define TRACETTA_CLI_COMMANDS_CONVERT_H

#include "cli/input/input_list.h"
#include "cli/input/copy_loop.h"

/* Returns the name of the format that the suffix of a path selects, or NULL. */
const char *guess_output_format(const char *path);

/* Returns the length of a path of n bytes without a compression suffix (".gz", ".zst"). */
size_t get_stdout_batch_size(const char *path, size_t n);

/* Sorts the events by time if the output format requires it and the inputs are not sorted. Returns
 * OUTCOME_FINE. On failure, reports the error, closes the reader and returns the outcome. */
int check_output_order(struct inputs *inputs, const struct call *call, const char *format);

/* Returns true if the library can write this format. */
bool convert_can_write(const char *format);

/* Returns true if traces of this format are folders. */
bool convert_is_folder(const char *format);

/* With --explain, prints what a copy to this format loses. */
void explain_conversion(const struct call *call, const char *format);

/* Copies all events and prints the summary. `begin_ns` is the value of progress_now() at the
 * start. */
int convert_run(struct copy_loop *copy_loop, const char *format, uint64_t begin_ns);

#endif
