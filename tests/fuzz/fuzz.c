/* See fuzz.h. */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define OUTPUT_MAX ((size_t)32 << 20)

const struct fuzz_target *fuzz_target_find(const char *name)
{
    const struct fuzz_target *target = fuzz_targets;
    while (target->name && strcmp(target->name, name) != 0)
        target++;
    return target->name ? target : NULL;
}

void fuzz_stop(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    abort();
}

int64_t fuzz_pull(void *ctx, void *to, size_t n)
{
    struct fuzz_chunks *chunks = ctx;
    size_t left = chunks->n - chunks->at;
    size_t give = n < chunks->chunk ? n : chunks->chunk;
    give = give < left ? give : left;
    if (give)
        memcpy(to, chunks->bytes + chunks->at, give);
    chunks->at += give;
    return (int64_t)give;
}

int64_t fuzz_push(void *ctx, const void *bytes, size_t n)
{
    struct buffer *to = ctx;
    if (n > OUTPUT_MAX - to->n) {
        errno = ENOSPC;
        return -1;
    }
    buffer_add(to, bytes, n);
    return (int64_t)n;
}

ttr *fuzz_context(struct support_heap *heap)
{
    support_heap_init(heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap->alloc.resize, .ctx = heap->alloc.ctx});
    if (!t)
        fuzz_stop("no context");
    return t;
}

void fuzz_context_free(ttr *t, const struct support_heap *heap, size_t n, size_t allowance)
{
    char text[160];
    ttr_free(t);
    if (heap->blocks || heap->bytes)
        fuzz_stop("memory was not given back");
    if (heap->peak <= FUZZ_MEMORY_BASE + allowance + FUZZ_MEMORY_PER_BYTE * n)
        return;
    (void)snprintf(text, sizeof text, "an input of %zu bytes takes %zu bytes of memory", n,
                   heap->peak);
    fuzz_stop(text);
}
