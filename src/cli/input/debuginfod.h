/* Debug information from servers that know it by build id (debuginfod), where the user asked for
 * that.
 *
 * The library of elfutils is loaded when it is needed and not before; it keeps what came in its own
 * cache and asks for nothing twice. Ownership: debuginfod_free frees all.  Thread rule: one thread
 * at a time. */
#ifndef TRACETTA_CLI_INPUT_DEBUGINFOD_H
#define TRACETTA_CLI_INPUT_DEBUGINFOD_H

#include <tracetta/event.h>

struct call;
struct debuginfod;

/* Asks servers from now on: those of `urls`, or of DEBUGINFOD_URLS where that is "".  NULL after
 * telling why that cannot be. */
struct debuginfod *debuginfod_new(const struct call *call, const char *urls);

void debuginfod_free(struct debuginfod *servers);

/* Fetches the debug information of a build id, or the program or library itself: the path of a
 * file, which the caller frees; NULL where no server has it or none answers, which is told once. */
char *debuginfod_fetch(struct debuginfod *servers, ttr_text build_id, bool is_program);

#endif
