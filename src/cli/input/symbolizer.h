/* Finds functions and lines by address with libtracetta-symbols, which it loads. Ownership:
 * symbolizer_free frees everything. Thread rule: one thread at a time. */
#ifndef TRACETTA_CLI_INPUT_SYMBOLIZER_H
#define TRACETTA_CLI_INPUT_SYMBOLIZER_H

#include <tracetta/debug_info.h>
#include <tracetta/symbols.h>

struct call;
struct symbolizer;

/* Loads the library and creates a symbolizer for `options` (except callbacks). Returns
 * OUTCOME_FINE, or OUTCOME_MISUSE after reporting an error that names `option`, the command's
 * option that needs the library. */
int symbolizer_new(struct symbolizer **symbolizer, const struct call *call, const char *option,
                   const ttr_symbols_options *options);

/* Creates a symbolizer that loads the library at its first lookup. If the library is missing,
 * prints one warning and finds nothing. Returns NULL if memory runs out. */
struct symbolizer *symbolizer_new_lazy(const struct call *call, const ttr_symbols_options *options);

void symbolizer_free(struct symbolizer *symbolizer);

/* Implements ttr_symbolizer; ctx is the struct symbolizer. */
void symbolizer_locate(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place);

/* Warns of binaries of the trace that could not be used. */
void symbolizer_report(const struct symbolizer *symbolizer);

#endif
