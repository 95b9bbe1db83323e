/* Functions and lines at addresses, by libtracetta-symbols, which is loaded here.
 *
 * Ownership: symbolizer_free frees all.  Thread rule: one thread at a time. */
#ifndef TRACETTA_CLI_INPUT_SYMBOLIZER_H
#define TRACETTA_CLI_INPUT_SYMBOLIZER_H

#include <tracetta/read.h>
#include <tracetta/symbols.h>

struct call;
struct symbolizer;

/* Loads the library and makes a symbolizer for `options`, without its callbacks.  OUTCOME_FINE, or
 * OUTCOME_MISUSE after an error about `option`, the option of the command that needs it. */
int symbolizer_new(struct symbolizer **symbolizer, const struct call *call, const char *option,
                   const ttr_symbols_options *options);

/* Makes a symbolizer that loads the library at its first look-up.  If it is missing, a warning is
 * printed once and nothing is found.  NULL when memory is out. */
struct symbolizer *symbolizer_new_lazy(const struct call *call, const ttr_symbols_options *options);

void symbolizer_free(struct symbolizer *symbolizer);

/* A ttr_symbolizer, whose first argument is the struct symbolizer. */
void symbolizer_locate(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place);

/* Warns about binaries of the trace that could not be used. */
void symbolizer_report(const struct symbolizer *symbolizer);

#endif
