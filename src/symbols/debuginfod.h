/* Files from debuginfod servers, by build id. libdebuginfod (elfutils) is loaded at run time, since
 * most callers do not need it. That library caches files, and also that a file is missing.
 * Ownership: debuginfod_free frees everything. Thread rule: one thread per process. */
#ifndef TRACETTA_SYMBOLS_DEBUGINFOD_H
#define TRACETTA_SYMBOLS_DEBUGINFOD_H

#include <tracetta/symbols.h>

struct debuginfod;

/* Loads libdebuginfod. The options (servers and callbacks) are borrowed. Returns NULL with the
 * `error` for ttr_symbols_new. */
struct debuginfod *debuginfod_new(const ttr_symbols_options *options, ttr_error *error);

void debuginfod_free(struct debuginfod *servers);

/* Fetches a file by build id: the debug information, or (is_program) the program or library.
 * Returns the file's path, which the caller frees. Returns NULL if no server has the file or no
 * server answers. A failure of the servers is reported once; then no further requests are sent. */
char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program);

#endif
