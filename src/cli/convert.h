/* What convert, merge and recover share: where the output goes, and the line that says how it went. */
#ifndef TRACETTA_CLI_CONVERT_H
#define TRACETTA_CLI_CONVERT_H

#include "inputs.h"
#include "pump.h"

/* The format that a path's suffix stands for; NULL where it is none. */
const char *convert_guess(const char *path);

/* True for a format that can be written. */
bool convert_writes(const char *format);

/* OUTCOME_FINE, or OUTCOME_MISUSE after telling that an output of this path would replace an input.  NULL is fine. */
int convert_check_output(const struct call *call, const char *path);

/* With --explain: prints what the format may lose. */
void convert_explain(const struct call *call, const char *format);

/* Runs the pump to its end and says how it went; `begin_ns` is progress_now() of the start. */
int convert_run(struct pump *pump, const char *format, uint64_t begin_ns);

#endif
