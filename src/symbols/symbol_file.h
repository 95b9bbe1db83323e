/* A file with symbols: an executable, a library, or what was stripped from one.
 *
 * Ownership: what is found belongs to the file, until it is closed. */
#ifndef TRACETTA_SYMBOLS_SYMBOL_FILE_H
#define TRACETTA_SYMBOLS_SYMBOL_FILE_H

#include <stddef.h>

#include "symbols/dwarf_index.h"

struct symbol_file;

/* How files are opened. */
struct symbol_rules {
    bool is_exact; /* find what babeltrace2 finds, and no more */
    bool no_mmap;
};

/* Opens a file.  NULL if it cannot be read or is not an ELF file; *is_damaged is true for the
 * latter. */
struct symbol_file *symbol_file_open(const char *path, const struct symbol_rules *rules,
                                     bool *is_damaged);

void symbol_file_close(struct symbol_file *file);

const char *symbol_file_path(const struct symbol_file *file);

/* Returns the size of its build id and stores the bytes in *id; 0 if it has none. */
size_t symbol_file_build_id(const struct symbol_file *file, const void **id);

/* Returns the name of the file with its debug information, and stores the CRC 32 of that file; NULL
 * if it has no debug link. */
const char *symbol_file_link(const struct symbol_file *file, uint32_t *crc);

/* Its index of DWARF; NULL = it has none. */
struct dwarf_index *symbol_file_dwarf(const struct symbol_file *file);

/* Converts an offset in the file to the virtual address of the program header that contains it;
 * returns the offset if none does. */
uint64_t symbol_file_address(const struct symbol_file *file, uint64_t offset);

/* Returns the function with the nearest symbol at or below an address; NULL = none, or the table is
 * partial and the address is not in that function. */
const char *symbol_file_function(struct symbol_file *file, uint64_t address, uint64_t *low);

#endif
