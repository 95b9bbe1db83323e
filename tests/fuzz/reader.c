/* Fuzzes the reader of one format (-DFORMAT="fxt"): reads the input at once and in pieces and
 * touches every field. Aborts if the two reads differ, if memory or events exceed their share of
 * the input size, or if a copy of the events is damaged. The last byte selects the size of the
 * pieces and the flags. */
#include "support/dump.h"
#include "fuzz/fuzz.h"

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#ifndef FORMAT
#define FORMAT "fxt"
#endif

#ifndef EVENT_BYTES
#define EVENT_BYTES 4
#endif

/* Returns the limit of events for n input bytes. No record of FXT and Heph is smaller than 8 bytes,
 * and each yields at most an event and a gap before it. Other formats define EVENT_BYTES. */
static uint64_t events_max(size_t n)
{
    return 16 + n / EVENT_BYTES;
}

static void read_with(ttr *t, struct fuzz_chunks *chunks, uint32_t flags, struct dump *dump)
{
    ttr_read_options options = {.size = sizeof options, .from = FORMAT, .flags = flags};
    dump_init(dump);
    ttr_reader *reader =
        chunks->chunk
            ? ttr_open_pull(t, fuzz_pull, chunks, "fuzz", &options, &dump->error)
            : ttr_open_memory(t, chunks->bytes, chunks->n, "fuzz", &options, &dump->error);
    if (reader) {
        dump_events(dump, t, reader);
        dump_report(dump, reader);
    }
    ttr_close(reader);
}

/* Reads everything into a dump, in pieces, or at once if chunk is 0. */
static void read_all(struct fuzz_chunks *chunks, uint32_t flags, struct dump *dump)
{
    struct support_heap heap;
    ttr *t = fuzz_context(&heap);
    read_with(t, chunks, flags, dump);
    if (dump->events > events_max(chunks->n))
        fuzz_stop("more events than the input can hold");
    fuzz_context_free(t, &heap, chunks->n, 0);
}

static bool is_same(const struct buffer *a, const struct buffer *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint32_t flags = n && bytes[n - 1] & 0x80 ? TTR_READ_DEFINITIONS : 0;
    struct fuzz_chunks whole = {bytes, n, 0, 0},
                       parts = {bytes, n, 0, n ? (size_t)(bytes[n - 1] & 0x7f) + 1 : 1};
    struct dump one, two;
    read_all(&whole, flags, &one);
#ifdef PIPES_DIFFER /* what comes late in a pipe does not change the events before it */
    dump_free(&one);
    whole = (struct fuzz_chunks){bytes, n, 0, n + 1};
    read_all(&whole, flags, &one);
#endif
    read_all(&parts, flags, &two);
    if (!is_same(&one.text, &two.text) || !is_same(&one.raw, &two.raw))
        fuzz_stop("reading in pieces differs from reading at once");
    dump_free(&one);
    dump_free(&two);
    return 0;
}
