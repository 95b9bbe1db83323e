/* A file with symbols: an executable, a library, or what was stripped from one.
 *
 * Ownership: what is found belongs to the file, until it is closed. */
#ifndef TRACETTA_CLI_INPUT_SYMBOL_FILE_H
#define TRACETTA_CLI_INPUT_SYMBOL_FILE_H

#include <stddef.h>

#include "cli/input/symbol_dwarf.h"

struct symbol_file;

/* How files are opened. */
struct symbol_rules {
    bool is_exact; /* find what babeltrace2 finds, and no more */
    bool no_mmap;
};

/* Opens a file; NULL where it cannot be read, or is none (then *is_damaged). */
struct symbol_file *symbol_file_open(const char *path, const struct symbol_rules *rules,
                                     bool *is_damaged);

void symbol_file_close(struct symbol_file *file);

const char *symbol_file_path(const struct symbol_file *file);

/* Its build id; 0 bytes where it has none. */
size_t symbol_file_build_id(const struct symbol_file *file, const void **id);

/* The name of the file that its debug information was put into, and the CRC 32 of that; NULL where
 * it says nothing. */
const char *symbol_file_link(const struct symbol_file *file, uint32_t *crc);

/* Its index of DWARF; NULL = has none. */
struct dwarf_index *symbol_file_dwarf(const struct symbol_file *file);

/* The address at which a place in the file is loaded where nothing is moved; the place itself where
 * the file does not say. */
uint64_t symbol_file_address(const struct symbol_file *file, uint64_t offset);

/* Finds the function whose symbol is nearest below an address; NULL = none, or it may be another's
 * that has no symbol. */
const char *symbol_file_function(struct symbol_file *file, uint64_t address, uint64_t *low);

#endif
