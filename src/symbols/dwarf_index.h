/* Functions and lines by DWARF. Ownership: results belong to the index. Thread rule: one thread at
 * a time. The file may be damaged in any way that libdw survives. */
#ifndef TRACETTA_SYMBOLS_DWARF_INDEX_H
#define TRACETTA_SYMBOLS_DWARF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "symbols/symbol_rules.h"

struct dwarf_index;

/* Function and line at an address; NULL = unknown. */
struct dwarf_found {
    const char *function;
    uint64_t function_low; /* first address of the function */
    const char *source;    /* path of the source file */
    uint64_t line;
};

/* Creates an index of the DWARF data of a file at `path`; file and rules must outlive the index.
 * Returns NULL if there is none, memory runs out, or the data continues in a file that is not
 * regular. With rules->is_exact the index finds only the functions and lines that babeltrace2
 * finds. */
struct dwarf_index *dwarf_index_new(Elf *elf, const char *path, const struct symbol_rules *rules);

void dwarf_index_free(struct dwarf_index *index);

/* Finds the function and the line at an address. */
void dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_found *found);

#endif
