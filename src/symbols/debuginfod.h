/* Files from debuginfod servers, by build id.
 *
 * libdebuginfod (elfutils) is loaded here, since most callers do not need it.  It keeps the files
 * in its own cache and does not ask twice.  Ownership: debuginfod_free frees all.  Thread rule: one
 * thread of the process. */
#ifndef TRACETTA_SYMBOLS_DEBUGINFOD_H
#define TRACETTA_SYMBOLS_DEBUGINFOD_H

#include <tracetta/symbols.h>

struct debuginfod;

/* Loads the library, for the servers and with the callbacks of the options, which are borrowed.
 * NULL with `error`, as ttr_symbols_new. */
struct debuginfod *debuginfod_new(const ttr_symbols_options *options, ttr_error *error);

void debuginfod_free(struct debuginfod *servers);

/* Fetches the debug information of a build id, or the program or library itself.  Returns the path
 * of a file, which the caller frees; NULL if no server has it or none answers.  A failure of the
 * servers is reported once; they are not asked again. */
char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program);

#endif
