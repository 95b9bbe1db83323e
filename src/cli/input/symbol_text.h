/* Functions that a text names: the kernel's /proc/kallsyms, and /tmp/perf-PID.map, where runtimes
 * leave the names of what they compile.
 *
 * Ownership: what is found belongs to the texts, until they are freed.  Thread rule: one thread at
 * a time. */
#ifndef TRACETTA_CLI_INPUT_SYMBOL_TEXT_H
#define TRACETTA_CLI_INPUT_SYMBOL_TEXT_H

#include <tracetta/read.h>

struct symbol_texts;

/* NULL when memory is out. */
struct symbol_texts *symbol_texts_new(void);
void symbol_texts_free(struct symbol_texts *texts);

/* Whether such a text may know what is in a binary. */
bool symbol_texts_knows(const ttr_binary *binary);

/* A ttr_locator (own = struct symbol_texts): only the function is told. */
void symbol_texts_locate(void *own, const ttr_binary *binary, uint64_t address, ttr_place *place);

#endif
