/* Check of an output path against the inputs. */
#ifndef TRACETTA_CLI_INPUT_OUTPUT_CHECK_H
#define TRACETTA_CLI_INPUT_OUTPUT_CHECK_H

struct call;

/* Refuses an output that would replace an input, or that is inside one. The path may be NULL (no
 * output), and the format may be NULL (not known yet). Returns OUTCOME_FINE, or OUTCOME_MISUSE
 * after reporting it. */
int check_output_path(const struct call *call, const char *path, const char *format);

#endif
