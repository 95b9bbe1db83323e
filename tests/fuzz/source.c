/* Fuzzes sources: any bytes through the decoders of compressed input.  Shown at once from memory
 * and pulled in pieces they must be the same, also where they are damaged; memory is limited.  The
 * last byte says how large pieces and windows are. Left out: files and descriptors, which the tests
 * beside the code have. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "io/source.h"

/* A few compressed bytes may stand for very many; this much of them is looked at. */
#define SHOWN_MAX ((uint64_t)4 << 20)

struct shown {
    struct buffer bytes;
    ttr_status status;
    char compression[16];
};

/* Walks over the source in steps and closes it. */
static struct shown walk(struct source *source, size_t step)
{
    struct shown shown = {.status = TTR_E_IO};
    struct window window = {.n = 0};
    ttr_error error;
    buffer_init(&shown.bytes, alloc_default());
    if (!source)
        return shown;
    while ((shown.status = source_fill(source, shown.bytes.n, step, &window, &error)) == TTR_OK &&
           window.n && shown.bytes.n < SHOWN_MAX)
        buffer_add(&shown.bytes, window.bytes, window.n < step ? window.n : step);
    /* A failure is told by the fill that misses something: the bytes before it are shown. */
    if (shown.status != TTR_OK && source_fill(source, shown.bytes.n, 0, &window, &error) == TTR_OK)
        buffer_add(&shown.bytes, window.bytes, window.n);
    (void)snprintf(shown.compression, sizeof shown.compression, "%s", source_compression(source));
    source_close(source);
    return shown;
}

static void check_heap(const struct support_heap *heap)
{
    if (heap->blocks || heap->bytes)
        fuzz_stop("memory was not given back");
    if (heap->peak > FUZZ_MEMORY_BASE)
        fuzz_stop("a source takes too much memory");
}

/* Damaged data may give more or less before the damage is noticed: decoders work in blocks of what
 * they are given. */
static bool is_same(const struct shown *a, const struct shown *b)
{
    size_t n = a->bytes.n < b->bytes.n ? a->bytes.n : b->bytes.n;
    bool may_differ = a->status == TTR_E_MALFORMED && b->status == TTR_E_MALFORMED;
    /* Where the budget ends the walk, one may stop just before the damage that the other just
     * meets. */
    if (a->bytes.n >= SHOWN_MAX || b->bytes.n >= SHOWN_MAX)
        return n == 0 || memcmp(a->bytes.bytes, b->bytes.bytes, n) == 0;
    return (n == 0 || memcmp(a->bytes.bytes, b->bytes.bytes, n) == 0) &&
           (a->bytes.n == b->bytes.n || may_differ) && a->status == b->status &&
           strcmp(a->compression, b->compression) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    uint8_t how = n ? bytes[n - 1] : 0;
    struct fuzz_chunks chunks = {bytes, n, 0, (size_t)(how & 31) + 1};
    struct source_options options = {.chunk = how & 32 ? 64 : 0};
    /* Steps of 4 KiB divide all that is shown, so that both stop at the same place. */
    size_t step = how & 64 ? 512 : 4096;
    support_heap_init(&heap, 0);
    struct shown one = walk(source_open_memory(&heap.alloc, bytes, n, NULL, NULL), 4096);
    check_heap(&heap);
    support_heap_init(&heap, 0);
    struct shown two =
        walk(source_open_callback(&heap.alloc, fuzz_pull, &chunks, &options, NULL), step);
    check_heap(&heap);
    if (!is_same(&one, &two)) {
        (void)fprintf(stderr, "%zu bytes, %s, %s; in pieces %zu bytes, %s, %s\n", one.bytes.n,
                      ttr_status_text(one.status), one.compression, two.bytes.n,
                      ttr_status_text(two.status), two.compression);
        fuzz_stop("a source in pieces differs from the whole");
    }
    buffer_free(&one.bytes);
    buffer_free(&two.bytes);
    return 0;
}
