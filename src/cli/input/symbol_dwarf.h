/* Functions and lines by DWARF.
 *
 * Ownership: what is found belongs to the index.  Thread rule: one thread at a time.  The file may
 * be damaged in any way that libdw survives. */
#ifndef TRACETTA_CLI_INPUT_SYMBOL_DWARF_H
#define TRACETTA_CLI_INPUT_SYMBOL_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct dwarf_index;

/* What is at an address; NULL = not known. */
struct dwarf_found {
    const char *function;
    uint64_t function_low; /* where that begins */
    const char *source;    /* path of the file */
    uint64_t line;
};

/* Makes an index over the DWARF of a file, which is to outlive it.  NULL where there is none, or
 * memory is out.  With `is_exact` only those functions and lines are found that babeltrace2 finds.
 */
struct dwarf_index *dwarf_index_new(Elf *elf, bool is_exact);

void dwarf_index_free(struct dwarf_index *index);

/* Looks an address up. */
void dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_found *found);

#endif
