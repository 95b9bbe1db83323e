/* Files from debuginfod servers, by build id. libdebuginfod (elfutils) is loaded at run time, since
 * most callers do not need it. It caches files itself, also that a file is missing. Ownership:
 * debuginfod_free frees all. Thread rule: one thread per process. */
#ifndef TRACETTA_SYMBOLS_DEBUGINFOD_H
#define TRACETTA_SYMBOLS_DEBUGINFOD_H

#include <tracetta/symbols.h>

struct debuginfod;

/* Loads the library. The options (servers and callbacks) are borrowed. Returns NULL with `error`,
 * which is that of ttr_symbols_new. */
struct debuginfod *debuginfod_new(const ttr_symbols_options *options, ttr_error *error);

void debuginfod_free(struct debuginfod *servers);

/* Fetches the debug information with a build id, or (is_program) the program or library. Returns
 * the path of a file, which the caller frees. Returns NULL if no server has it or no server
 * answers. A failure of the servers is reported once; then no further requests are sent. */
char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program);

#endif
