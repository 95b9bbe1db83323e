/* Construction of errors. `error` may be NULL in all functions: only the status is returned then.
 */
#ifndef TRACETTA_BASE_STATUS_H
#define TRACETTA_BASE_STATUS_H

#include <tracetta/error.h>

#define NO_OFFSET UINT64_MAX

/* Fills `error` and returns `status`, for `return fail(error, TTR_E_IO, at, "...")`. The text names
 * what was found, what was expected and what to try. A text that is too long is truncated at a
 * character boundary. */
ttr_status fail(ttr_error *error, ttr_status status, uint64_t offset, const char *format, ...)
    TTR_PRINTF(4, 5);

/* Like fail, for a failed system call: the status is TTR_E_IO, and strerror(sys) is appended to the
 * text. */
ttr_status fail_sys(ttr_error *error, int sys, uint64_t offset, const char *format, ...)
    TTR_PRINTF(4, 5);

/* Stores in `error` which library option its text names (see ttr_error), so that a caller can name
 * its own option instead. Does nothing for TTR_OK. Returns `status`. */
ttr_status error_set_option(ttr_error *error, ttr_status status, const char *option);

/* Returns TTR_E_MISUSE for an argument of a public function that is NULL. */
ttr_status fail_null(ttr_error *error, const char *function, const char *argument);

/* Returns TTR_E_NOMEM; allocates nothing. */
ttr_status fail_memory(ttr_error *error);

#endif
