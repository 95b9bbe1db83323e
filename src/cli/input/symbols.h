/* What is at an address of a program: its function and line, found in its file, or in where the
 * debug information of that was put.
 *
 * Ownership: options are borrowed.  Thread rule: one thread at a time. */
#ifndef TRACETTA_CLI_INPUT_SYMBOLS_H
#define TRACETTA_CLI_INPUT_SYMBOLS_H

#include <stdbool.h>

#include <tracetta/read.h>

struct call;
struct symbols;

struct symbols_options {
    const char *folder;  /* of debug information, NULL = /usr/lib/debug */
    const char *prefix;  /* of all paths of the trace, NULL = none */
    bool has_full_paths; /* paths are told whole */
    bool is_exact;       /* as babeltrace2, which knows less */
    bool no_mmap;
    struct debuginfod *servers; /* asked for what is not here; borrowed, NULL = nobody */
    const struct call *call;    /* for what is said on stderr */
};

/* NULL when memory is out. */
struct symbols *symbols_new(const struct symbols_options *options);

void symbols_free(struct symbols *symbols);

/* A ttr_locator (own = struct symbols).  The texts live until the next call. */
void symbols_locate(void *own, const ttr_binary *binary, uint64_t address, ttr_place *place);

/* Why functions and lines of a binary are unknown. */
enum symbols_trouble {
    SYMBOLS_FINE,
    SYMBOLS_MISSING, /* there is no such file */
    SYMBOLS_OTHER,   /* the file there is another one, by its build id */
    SYMBOLS_DAMAGED, /* the file there is none of a program */
    SYMBOLS_TROUBLES
};

/* How many binaries had a trouble, each counted once, and the path of the first. */
size_t symbols_count(const struct symbols *symbols, enum symbols_trouble trouble,
                     const char **first);

/* Says so on stderr. */
void symbols_tell(const struct symbols *symbols);

#endif
