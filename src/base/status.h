/* Filling a ttr_error.  `error` may be NULL everywhere: the status alone is returned then. */
#ifndef TRACETTA_BASE_STATUS_H
#define TRACETTA_BASE_STATUS_H

#include <tracetta/error.h>

#define NO_OFFSET UINT64_MAX

/* Fills `error` and gives back `status`, so that `return fail(error, TTR_E_IO, at, "...")` reads
 * well.  The text says what was found, what was expected and what to try; it is cut at a character
 * boundary where it does not fit. */
ttr_status fail(ttr_error *error, ttr_status status, uint64_t offset, const char *format, ...)
    TTR_PRINTF(4, 5);

/* The same for a failed system call: appends strerror(sys) to the text. */
ttr_status fail_sys(ttr_error *error, int sys, uint64_t offset, const char *format, ...)
    TTR_PRINTF(4, 5);

/* Says which option the text of a failure names: see ttr_error; of TTR_OK nothing.  Gives back the
 * status. */
ttr_status fail_option(ttr_error *error, ttr_status status, const char *option);

/* Out of memory: needs none to be told. */
ttr_status fail_memory(ttr_error *error);

#endif
