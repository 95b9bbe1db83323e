/* What all fuzz targets share: input in pieces, output into memory, a heap that knows its peak, and
 * a stop. The pieces and the heap belong to the caller; the thread rule is that of libFuzzer, one
 * input at a time. */
#ifndef TRACETTA_TESTS_FUZZ_H
#define TRACETTA_TESTS_FUZZ_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "support/support.h"

/* Memory for one input: what an empty one may take, and so much for each byte. */
#define FUZZ_MEMORY_BASE ((size_t)16 << 20)
#define FUZZ_MEMORY_PER_BYTE 64u

/* Runs one input; returns 0. Each target has it under a name of its own (target.c.in). */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A fuzz target of this program. */
struct fuzz_target {
    const char *name;
    int (*run)(const uint8_t *bytes, size_t n);
    const char *anchor; /* name of the file that opens a trace of many files; NULL: one file */
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a name of NULL */

/* Returns the target of that name, or NULL. */
const struct fuzz_target *fuzz_target_find(const char *name);

/* Says why on standard error and aborts: the input is then kept. */
_Noreturn void fuzz_stop(const char *why);

/* Bytes that are handed out in pieces of at most `chunk`. */
struct fuzz_chunks {
    const uint8_t *bytes;
    size_t n, at, chunk;
};

/* A ttr_pull over a fuzz_chunks. */
int64_t fuzz_pull(void *ctx, void *to, size_t n);

/* A ttr_push into a struct buffer, full after 32 MiB: repeated references to one long text can make
 * much of few bytes. */
int64_t fuzz_push(void *ctx, const void *bytes, size_t n);

/* Makes a context that counts its memory in the heap. */
ttr *fuzz_context(struct support_heap *heap);

/* Frees it, and stops when it leaked or held more than an input of n bytes may take beyond
 * `allowance`. */
void fuzz_context_free(ttr *t, const struct support_heap *heap, size_t n, size_t allowance);

#endif
