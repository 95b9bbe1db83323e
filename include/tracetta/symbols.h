/* libtracetta-symbols: finds functions and source lines in ELF files, DWARF and debuginfod servers.
 *
 * A separate library (pkg-config: tracetta-symbols), because it needs elfutils.  ttr_symbols_locate
 * is a ttr_symbolizer for ttr_debug_options and ttr_profile_options, with a ttr_symbols as its
 * user_data.
 *
 * Only regular files are read.  DEBUGINFOD_MAXSIZE limits files of servers, to 2 GiB by default.
 *
 * The caller frees a ttr_symbols; texts of its answers belong to it.  Memory is allocated with
 * malloc.  Use a ttr_symbols on one thread at a time.  With servers only one thread of the process
 * may use the library, since libdebuginfod reads DEBUGINFOD_URLS from the environment. */
#ifndef TRACETTA_SYMBOLS_H
#define TRACETTA_SYMBOLS_H

#include "debug_info.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_symbols ttr_symbols;

/* return complete paths of sources and binaries, not only file names */
#define TTR_SYMBOLS_FULL_PATHS 1u
#define TTR_SYMBOLS_LIKE_BABELTRACE2 2u /* find only what babeltrace2 finds */
/* do not map files into memory: for files that may be truncated */
#define TTR_SYMBOLS_NO_MMAP 4u
/* also read the symbol lists /proc/kallsyms and /tmp/perf-PID.map; the latter if it is a regular
 * file of the user or of root */
#define TTR_SYMBOLS_LISTS 8u

typedef struct ttr_symbols_options {
    size_t size;
    uint32_t flags;           /* TTR_SYMBOLS_*; unknown bits are TTR_E_MISUSE */
    const char *debug_folder; /* root of separate debug information; NULL = /usr/lib/debug */
    const char *prefix;       /* folder prepended to all paths of the trace; NULL = none */
    /* URLs of debuginfod servers, separated by blanks, set as DEBUGINFOD_URLS; "" = use
     * DEBUGINFOD_URLS; NULL = no servers */
    const char *servers;
    /* called often; false ends the look-up and all later ones without a result; may be NULL */
    ttr_progress progress;
    /* called when a server fails, which is then not used any more, and for files of servers that
     * are too large; may be NULL */
    void (*warn)(void *user_data, const char *text);
    void *user_data; /* passed to progress and warn */
} ttr_symbols_options;

/* Creates a symbolizer.  Options are copied, but their strings are borrowed until ttr_symbols_free.
 * Returns NULL with `error`: TTR_E_UNSUPPORTED if libdebuginfod is needed but not installed,
 * TTR_E_MISUSE if no servers are configured, TTR_E_NOMEM. */
TTR_API ttr_symbols *ttr_symbols_new(const ttr_symbols_options *options, ttr_error *error);

/* Frees a symbolizer and closes its files. */
TTR_API void ttr_symbols_free(ttr_symbols *symbols);

/* Finds the function and source line of an address; `symbols` is the ttr_symbols.  Members of
 * `place` that cannot be found are not changed; texts are valid until the next call.  Names of C++
 * and Rust are demangled, except with TTR_SYMBOLS_LIKE_BABELTRACE2. */
TTR_API void ttr_symbols_locate(void *symbols, const ttr_binary *binary, uint64_t address,
                                ttr_location *place);

/* Why a binary cannot be symbolized. */
typedef enum ttr_symbols_problem {
    TTR_SYMBOLS_MISSING = 1,   /* the file does not exist */
    TTR_SYMBOLS_OTHER = 2,     /* the build id of the file differs from that in the trace */
    TTR_SYMBOLS_NO_PROGRAM = 3 /* the file is not an ELF program or library */
} ttr_symbols_problem;

/* Returns the number of binaries with a problem so far.  Sets *first to the path of the first one,
 * or "". */
TTR_API size_t ttr_symbols_problems(const ttr_symbols *symbols, ttr_symbols_problem problem,
                                    const char **first);

#ifdef __cplusplus
}
#endif
#endif
