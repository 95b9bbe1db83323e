/* Lists of functions in text files: the kernel's /proc/kallsyms, and /tmp/perf-PID.map, in which
 * runtimes with a JIT compiler write the functions they compiled.
 *
 * Ownership: what is found belongs to the lists, until they are freed.  Thread rule: one thread at
 * a time. */
#ifndef TRACETTA_SYMBOLS_SYMBOL_LIST_H
#define TRACETTA_SYMBOLS_SYMBOL_LIST_H

#include <tracetta/read.h>

struct symbol_lists;

/* NULL when memory is out. */
struct symbol_lists *symbol_lists_new(void);
void symbol_lists_free(struct symbol_lists *lists);

/* Returns true for a binary whose functions are in such a list. */
bool symbol_lists_knows(const ttr_binary *binary);

/* A ttr_symbolizer, whose first argument is the struct symbol_lists; it finds functions only. */
void symbol_lists_locate(void *ctx, const ttr_binary *binary, uint64_t address,
                         ttr_location *place);

#endif
