/* Lists of functions in text files: the kernel's /proc/kallsyms, and /tmp/perf-PID.map, in which
 * runtimes with a JIT compiler list the functions that they compiled. Ownership: results belong to
 * the lists, until these are freed. Thread rule: one thread at a time. */
#ifndef TRACETTA_SYMBOLS_SYMBOL_LIST_H
#define TRACETTA_SYMBOLS_SYMBOL_LIST_H

#include <tracetta/debug_info.h>

#include "symbols/symbol_rules.h"

struct symbol_lists;

/* Creates empty lists, which are read on demand. Borrows the rules. Returns NULL if memory runs
 * out. */
struct symbol_lists *symbol_lists_new(const struct symbol_rules *rules);
void symbol_lists_free(struct symbol_lists *lists);

/* Returns true if one of these files lists the functions of a binary. */
bool symbol_lists_covers(const ttr_binary *binary);

/* Implements ttr_symbolizer; user_data is a struct symbol_lists. Finds functions, but no lines. */
void symbol_lists_locate(void *ctx, const ttr_binary *binary, uint64_t address,
                         ttr_location *place);

#endif
