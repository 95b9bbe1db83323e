/* Helpers shared by all fuzz targets: input in pieces, output into memory, a heap that records its
 * peak, and an abort function. The caller owns pieces and heap. One thread, as libFuzzer runs one
 * input at a time. */
#ifndef TRACETTA_TESTS_FUZZ_H
#define TRACETTA_TESTS_FUZZ_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "support/support.h"

/* Memory limit for one input: a base, and so much per input byte. */
#define FUZZ_MEMORY_BASE ((size_t)16 << 20)
#define FUZZ_MEMORY_PER_BYTE 64u

/* Runs one input; returns 0. Each target defines it under its own name (target.c.in). */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A fuzz target of this program. */
struct fuzz_target {
    const char *name;
    int (*run)(const uint8_t *bytes, size_t n);
    /* name of the file that opens a trace of many files; NULL = the trace is one file */
    const char *main_file;
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a name of NULL */

/* Returns the target of that name, or NULL. */
const struct fuzz_target *fuzz_target_find(const char *name);

/* Prints the reason to stderr and aborts; libFuzzer then stores the input. */
_Noreturn void fuzz_stop(const char *why);

/* Input that is returned in pieces of at most `chunk` bytes. */
struct fuzz_chunks {
    const uint8_t *bytes;
    size_t n, at, chunk;
};

/* A ttr_pull over a fuzz_chunks. */
int64_t fuzz_pull(void *ctx, void *to, size_t n);

/* A ttr_push into a struct buffer that is full after 32 MiB, since repeated references to one long
 * text can expand a small input. */
int64_t fuzz_push(void *ctx, const void *bytes, size_t n);

/* Makes a context that allocates from the heap. */
ttr *fuzz_context(struct support_heap *heap);

/* Frees the context. Aborts on a leak, or if the peak exceeds the limit for n input bytes by more
 * than `allowance`. */
void fuzz_context_free(ttr *t, const struct support_heap *heap, size_t n, size_t allowance);

#endif
