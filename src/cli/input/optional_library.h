/* Libraries that the command loads when they are first needed, so that it starts without them and
 * without the libraries that they need.  A library is one row of the table in optional_library.c.
 */
#ifndef TRACETTA_CLI_INPUT_OPTIONAL_LIBRARY_H
#define TRACETTA_CLI_INPUT_OPTIONAL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum optional_library {
    LIBRARY_SYMBOLS, /* libtracetta-symbols: tracetta/symbols.h */
    LIBRARY_QUERY    /* libtracetta-query: tracetta/query.h */
};

/* A function to find: its name, and the pointer to function that receives its address. */
struct library_function {
    const char *name;
    void *to;
};

#define LIBRARY_REASON 600u

/* Loads a library, which stays loaded, and finds functions of it.  Returns false if it or one of
 * them is missing: `reason` names the file, what to install, and the error of the system. */
bool library_load(enum optional_library library, const struct library_function *functions, size_t n,
                  char reason[LIBRARY_REASON]);

#endif
