/* Compares two copies of a packet byte by byte, in blocks. If they differ, decodes each copy like
 * a stream file that contains only this packet. */
#include "formats/ctf/read/ctf_duplicate_packets.h"

#include <string.h>

#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/read/rfc11_read.h"
#include "model/input.h"

#define PART ((size_t)64 << 10)

/* Reads up to n bytes of a packet copy, from byte `at` of the packet on. Returns 0 if they cannot
 * be read. */
static size_t peek_packet_bytes(const struct ctf_packet_copy *copy, uint64_t at, uint8_t *bytes,
                                size_t n)
{
    ttr_error error;
    int64_t got = source_peek_at(copy->reader->in->source, copy->offset + at, bytes, n, &error);
    return got > 0 ? (size_t)got : 0;
}

static bool packet_copies_are_equal(const struct ctf_packet_copy *first,
                                    const struct ctf_packet_copy *second, uint64_t size)
{
    const struct alloc *alloc = &first->reader->trace->t->counted;
    uint8_t *bytes = alloc_zero(alloc, 2, PART);
    bool is_same = true;
    if (!bytes) /* assume that the copies are equal, as they nearly always are */
        return true;
    for (uint64_t at = 0; at < size && is_same;) {
        size_t n = size - at < PART ? (size_t)(size - at) : PART;
        size_t got = peek_packet_bytes(first, at, bytes, n);
        is_same = got == peek_packet_bytes(second, at, bytes + PART, n) &&
                  memcmp(bytes, bytes + PART, got) == 0;
        at = got == n ? at + n : size;
    }
    alloc_free(alloc, bytes, 2, PART);
    return is_same;
}

/* Decodes a packet as a stream file of the trace to which the reader `like` belongs. Returns false
 * if there is damage, or memory runs out. */
static bool packet_decodes_without_damage(const struct ctf_reader *like, const uint8_t *bytes,
                                          size_t n)
{
    ttr *t = like->trace->t;
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    struct source *source = source_open_memory(&t->counted, bytes, n, NULL, &error);
    struct input *in = source ? input_new(t, source, &format_ctf, "", NULL, &error) : NULL;
    if (!in)
        return false;
    ctf_trace_add_input(like->trace, in, like->file, like->number);
    if (like->trace->class->description.version == CTF_RFC_1_1)
        rfc11_assign_stream_class(in->ctx);
    context_share_attributes(t, in->id, like->trace->thread_source);
    while ((status = ttr_read(&in->base, &batch, &error)) == TTR_OK)
        ;
    const bool is_fine = status == TTR_END && in->notes.damage_regions == 0;
    ttr_close(&in->base);
    return is_fine;
}

static bool is_packet_undamaged(const struct ctf_packet_copy *copy, uint64_t size)
{
    const struct alloc *alloc = &copy->reader->trace->t->counted;
    uint8_t *bytes = alloc_zero(alloc, (size_t)size, 1);
    if (!bytes)
        return false;
    const size_t n = peek_packet_bytes(copy, 0, bytes, (size_t)size);
    const bool is_fine = n == size && packet_decodes_without_damage(copy->reader, bytes, n);
    alloc_free(alloc, bytes, (size_t)size, 1);
    return is_fine;
}

/* Reports that copies of a packet differ and were not decoded, so it is unknown which copy is
 * valid. Reports this once per trace. */
static void report_undecoded_duplicate(const struct ctf_packet_copy *first,
                                       const struct ctf_packet_copy *second, uint64_t size)
{
    struct ctf_trace *trace = first->reader->trace;
    if (trace->has_undecoded_duplicates || packet_copies_are_equal(first, second, size))
        return;
    trace->has_undecoded_duplicates = true;
    input_add_diagnostic(
        first->reader->in, TTR_SEVERITY_ODD, first->offset, "ctf.unread-twin",
        "a packet of %s differs in %s, and %s: the first copy is read, even if damaged, and "
        "so for all such packets; to see the others, read the traces one by one",
        first->reader->file, second->reader->file,
        size > CTF_DUPLICATE_BYTES_MAX ? "is too large to be compared"
                                       : "too many were compared already");
}

bool ctf_second_copy_is_better(const struct ctf_packet_copy *first,
                               const struct ctf_packet_copy *second, uint64_t size_bytes)
{
    struct ctf_trace *trace = first->reader->trace;
    if (size_bytes > CTF_DUPLICATE_BYTES_MAX ||
        trace->decoded_duplicates >= CTF_DECODED_DUPLICATES_MAX) {
        report_undecoded_duplicate(first, second, size_bytes);
        return false;
    }
    if (packet_copies_are_equal(first, second, size_bytes))
        return false;
    trace->decoded_duplicates++;
    if (is_packet_undamaged(first, size_bytes))
        return false;
    const bool is_better = is_packet_undamaged(second, size_bytes);
    trace->has_damaged_duplicates |= !is_better;
    return is_better;
}
