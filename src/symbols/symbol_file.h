/* A file with symbols: an executable, a library, or a separate file with the symbols of one.
 * Ownership: results belong to the file and are valid until it is closed. */
#ifndef TRACETTA_SYMBOLS_SYMBOL_FILE_H
#define TRACETTA_SYMBOLS_SYMBOL_FILE_H

#include <stddef.h>

#include "symbols/dwarf_index.h"
#include "symbols/symbol_rules.h"

struct symbol_file;

/* Opens a file. Returns NULL if it cannot be read, or if it is not an ELF file; the latter also
 * sets *is_damaged. */
struct symbol_file *symbol_file_open(const char *path, const struct symbol_rules *rules,
                                     bool *is_damaged);

void symbol_file_close(struct symbol_file *file);

const char *symbol_file_path(const struct symbol_file *file);

/* Returns the size of the file's build id and stores its bytes in *id. Returns 0 if the file has
 * none. */
size_t symbol_file_build_id(const struct symbol_file *file, const void **id);

/* Returns the name of the separate debug information file (debug link) and stores the CRC-32 of
 * that file. Returns NULL if the file has no debug link. */
const char *symbol_file_link(const struct symbol_file *file, uint32_t *crc);

/* Returns the DWARF index of the file; NULL if the file has no DWARF data. */
struct dwarf_index *symbol_file_dwarf(const struct symbol_file *file);

/* Converts a file offset to a virtual address, using the program header that contains the offset.
 * Returns the offset unchanged if none contains it. */
uint64_t symbol_file_address(const struct symbol_file *file, uint64_t offset);

/* Returns the name of the function at an address: that of the nearest symbol at or below it.
 * Returns NULL if there is none, or if only exported functions are known and the address is after
 * the end of that function. */
const char *symbol_file_function(struct symbol_file *file, uint64_t address, uint64_t *low);

#endif
