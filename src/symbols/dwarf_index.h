/* Functions and lines by DWARF.
 *
 * Ownership: what is found belongs to the index.  Thread rule: one thread at a time.  The file may
 * be damaged in any way that libdw survives. */
#ifndef TRACETTA_SYMBOLS_DWARF_INDEX_H
#define TRACETTA_SYMBOLS_DWARF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct dwarf_index;

/* What is at an address; NULL = not known. */
struct dwarf_found {
    const char *function;
    uint64_t function_low; /* its first address */
    const char *source;    /* path of the file */
    uint64_t line;
};

/* Makes an index of the DWARF of a file, which must outlive the index.  NULL if there is none, or
 * memory is out.  With `is_exact` it finds only the functions and lines that babeltrace2 finds. */
struct dwarf_index *dwarf_index_new(Elf *elf, bool is_exact);

void dwarf_index_free(struct dwarf_index *index);

/* Looks an address up. */
void dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_found *found);

#endif
