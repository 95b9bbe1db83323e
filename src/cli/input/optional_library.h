/* Libraries that the command loads on first use, so that it starts without them and their
 * dependencies. optional_library.c has a table of them. */
#ifndef TRACETTA_CLI_INPUT_OPTIONAL_LIBRARY_H
#define TRACETTA_CLI_INPUT_OPTIONAL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum optional_library {
    LIBRARY_SYMBOLS, /* libtracetta-symbols: tracetta/symbols.h */
    LIBRARY_QUERY,   /* libtracetta-query: tracetta/query.h */
    LIBRARY_VIEW     /* libtracetta-view: tracetta/view.h */
};

/* A function to find in the library: its name, and the function pointer to set. */
struct library_function {
    const char *name;
    void *to;
};

#define LIBRARY_REASON 600u

/* Loads a library, which stays loaded, and finds functions in it. Returns false if the library or a
 * function is missing: `reason` names the file, the package to install, and the system's error. */
bool load_optional_library(enum optional_library library, const struct library_function *functions,
                           size_t n, char reason[LIBRARY_REASON]);

#endif
