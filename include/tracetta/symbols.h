/* libtracetta-symbols: functions and lines of source code at addresses of programs, from ELF files,
 * DWARF and debuginfod servers.
 *
 * A library of its own (pkg-config: tracetta-symbols), since it needs elfutils and libtracetta does
 * not.  It is not part of tracetta.h.  A ttr_symbols with ttr_symbols_locate is what ttr_debug_info
 * (ttr_debug_options) and ttr_profile_new (ttr_profile_options) call for an address.
 *
 * Ownership: the caller frees what ttr_symbols_new returns; texts in answers belong to it.  Memory
 * comes from malloc, as elfutils' own does.  Thread rule: one thread at a time for a ttr_symbols;
 * with servers, one thread of the process, since libdebuginfod reads the list of servers from the
 * environment. */
#ifndef TRACETTA_SYMBOLS_H
#define TRACETTA_SYMBOLS_H

#include "read.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_symbols ttr_symbols;

#define TTR_SYMBOLS_FULL_PATHS 1u /* answers have full paths, not only the last parts of them */
#define TTR_SYMBOLS_LIKE_BABELTRACE2 2u /* find what babeltrace2 finds, which is less */
#define TTR_SYMBOLS_NO_MMAP 4u          /* never map files: for files that may shrink */
#define TTR_SYMBOLS_LISTS \
    8u /* also read the lists of functions in /proc/kallsyms and /tmp/perf-PID.map */

typedef struct ttr_symbols_options {
    size_t size;              /* sizeof(ttr_symbols_options) */
    uint32_t flags;           /* TTR_SYMBOLS_*; others are TTR_E_MISUSE */
    const char *debug_folder; /* root of debug information; NULL = /usr/lib/debug */
    const char *prefix;       /* folder that the paths of the trace are below; NULL = none */
    const char *servers;      /* URLs of debuginfod servers, separated by blanks; "" = those of
                                 DEBUGINFOD_URLS, else they are set as DEBUGINFOD_URLS; NULL = none */
    ttr_progress progress;    /* called about each second while a server is waited for; false ends
                                 the waiting; may be NULL */
    void (*warn)(void *user_data, const char *text); /* called once if the servers fail, which are
                                                        not asked again; may be NULL */
    void *user_data;                                 /* of both */
} ttr_symbols_options;

/* Makes a symbolizer; NULL options are fine.  The options are copied, their strings are borrowed
 * until ttr_symbols_free.  Returns NULL with `error`: TTR_E_UNSUPPORTED if libdebuginfod is needed
 * and cannot be loaded, TTR_E_MISUSE if there are no servers to ask, TTR_E_NOMEM. */
TTR_API ttr_symbols *ttr_symbols_new(const ttr_symbols_options *options, ttr_error *error);

/* Frees a symbolizer and closes its files.  NULL is fine. */
TTR_API void ttr_symbols_free(ttr_symbols *symbols);

/* Finds the function and line at an address of a binary: a ttr_symbolizer, whose first argument is
 * the ttr_symbols.  What is not known stays as it was in `place`.  The texts live until the next
 * call. */
TTR_API void ttr_symbols_locate(void *symbols, const ttr_binary *binary, uint64_t address,
                                ttr_location *place);

/* Why functions and lines of a binary are unknown. */
typedef enum ttr_symbols_problem {
    TTR_SYMBOLS_MISSING = 1,   /* there is no such file */
    TTR_SYMBOLS_OTHER = 2,     /* the file has another build id than the traced one */
    TTR_SYMBOLS_NO_PROGRAM = 3 /* the file is not a program or library */
} ttr_symbols_problem;

/* Returns the number of binaries that had a problem so far, each counted once; *first becomes the
 * path of the first of them, "" if there are none. */
TTR_API size_t ttr_symbols_problems(const ttr_symbols *symbols, ttr_symbols_problem problem,
                                    const char **first);

#ifdef __cplusplus
}
#endif
#endif
