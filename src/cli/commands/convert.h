/* What convert, merge and recover share: where the output goes, and the line that says how it went.
 */
#ifndef TRACETTA_CLI_COMMANDS_CONVERT_H
#define TRACETTA_CLI_COMMANDS_CONVERT_H

#include "cli/input/input_list.h"
#include "cli/input/copy_loop.h"

/* The format that a path's suffix stands for; NULL where it is none. */
const char *convert_guess(const char *path);

/* How many bytes of a name are left without the suffix of a compression; all where it has none. */
size_t convert_bare_size(const char *path, size_t n);

/* Sorts what is to be written where the format wants events by time and they are not; OUTCOME_FINE,
 * or after telling the user why not (the reader is closed then). */
int convert_order(struct inputs *inputs, const struct call *call, const char *format);

/* True for a format that can be written. */
bool convert_writes(const char *format);

/* True for a format whose traces are folders. */
bool convert_is_folder(const char *format);

/* OUTCOME_FINE, or OUTCOME_MISUSE after telling that an output of this path would replace an input,
 * or what an input is part of.  A path of NULL is fine, a format of NULL is one that is not known
 * yet. */
int convert_check_output(const struct call *call, const char *path, const char *format);

/* With --explain: prints what the format may lose. */
void convert_explain(const struct call *call, const char *format);

/* Runs the pump to its end and says how it went; `begin_ns` is progress_now() of the start. */
int convert_run(struct pump *pump, const char *format, uint64_t begin_ns);

#endif
