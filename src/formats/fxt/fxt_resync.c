/* Resync: finds the next record after damage.
 *
 * Purpose: after lost, added or overwritten bytes, find the first offset where the trace can be
 * read again without mistaking payload bytes for records.
 *
 * Order of calls: fxt_read.c calls fxt_find_next_record when neither the size nor the content of a
 * record leads to another record. It calls fxt_has_record to check that a suspicious size does not
 * cover real records.
 *
 * Algorithm: linear search with verification. A candidate is accepted if N consecutive records from
 * there are clean: reserved bits zero, values in range, header size equal to the size of the
 * content (fxt_count_clean_records).
 *
 *   damage              aligned candidates, every 8 bytes: N = 3
 *   |xxxxxxxx|.......|.......|.......|[record][record][record]
 *            ^^^^^^^^^^^^^^^^^^^^^^^^^ every byte: N = 4, only if the aligned hit is far
 *
 * Records are aligned to 8 bytes, so aligned offsets are searched first. If bytes were lost or
 * added, later records are not aligned. Then every byte offset before the aligned hit is searched;
 * N is 4 because there are eight times as many chances for a false match. A long run of zeros also
 * ends the search, as the unused end of a buffer.
 *
 * Invariants: the search starts at least one byte after the damaged record. Candidates lie in the
 * first BLOCK bytes; a block and FXT_LOOKAHEAD bytes after it are always loaded together, so the
 * result does not depend on the window size. Cost: memory for one block and the look-ahead. Time is
 * linear in the bytes skipped: most candidates fail at their first word. Left out: repair of the
 * damaged bytes, and resync inside a large record. */
#include "formats/fxt/fxt_read.h"

#define SEARCH_BLOCK ((size_t)256 * 1024)
/* bytes; maximum size of a record that is not large. If an aligned match is nearer than this,
 * unaligned offsets are not searched */
#define NEAR_MAX ((size_t)FXT_SIZE_MAX * FXT_WORD_BYTES)
#define ZERO_RUN_MIN ((size_t)4096)
#define ZERO_TAIL_MIN ((size_t)64)
#define NOT_FOUND SIZE_MAX

/* State of a search for a record in bytes of the window. */
struct search {
    const uint8_t *bytes;
    size_t n;              /* number of bytes to examine */
    size_t candidates_end; /* index in `bytes` before which the record must start */
    /* a run of zeros that starts below this index is too short to count */
    size_t zeros_checked_to;
    bool is_end;
    const struct fxt_reader *reader;
};

/* Returns true if only zeros follow `at`, for 4 KiB or up to the end of the input. Fewer zeros may
 * be the end of a record. */
static bool is_zero_run(struct search *search, size_t at)
{
    if (at < search->zeros_checked_to || search->bytes[at])
        return false;
    size_t end = at;
    while (end < search->n && search->bytes[end] == 0)
        end++;
    search->zeros_checked_to = end;
    return end - at >= ZERO_RUN_MIN ||
           (end - at >= ZERO_TAIL_MIN && end == search->n && search->is_end);
}

/* Returns true if the first word of the span may be the header of a record. Many words of
 * arguments look like the header of a record with one word; such a header must be of a known
 * provider. */
static bool may_start_record(const struct fxt_reader *reader, const struct fxt_span *span)
{
    uint64_t header = fxt_load_u64(span->bytes, span->is_big);
    if (fxt_get_record_words(header) != 1 || header == FXT_MAGIC)
        return true;
    return fxt_get_record_type(header) == FXT_METADATA &&
           pair_map_get(&reader->by_id, fxt_get_bits(header, FXT_METADATA_PROVIDER), 0);
}

static bool starts_record_chain(const struct search *search, size_t at, unsigned chain)
{
    struct fxt_span span = {search->bytes + at, (search->n - at) / FXT_WORD_BYTES,
                            search->reader->common.is_big};
    return span.words && may_start_record(search->reader, &span) &&
           fxt_count_clean_records(&span, search->is_end, chain) >= chain;
}

static size_t find_aligned_record(struct search *search, size_t first)
{
    for (size_t at = first; at < search->candidates_end; at += FXT_WORD_BYTES)
        if (starts_record_chain(search, at, 3) || is_zero_run(search, at))
            return at;
    return NOT_FOUND;
}

static size_t find_unaligned_record(const struct search *search, size_t first, size_t end)
{
    for (size_t at = first; at < end; at++)
        if (starts_record_chain(search, at, 4))
            return at;
    return NOT_FOUND;
}

/* Returns the index of the first record found; NOWHERE if there is none below
 * search->candidates_end. is_first: skip the damaged record at index 0. */
static size_t find_record(struct search *search, bool is_first)
{
    size_t aligned = find_aligned_record(search, is_first ? FXT_WORD_BYTES : 0);
    if (aligned != NOT_FOUND && aligned <= NEAR_MAX && starts_record_chain(search, aligned, 3))
        return aligned;
    size_t end = aligned == NOT_FOUND ? search->candidates_end : aligned;
    size_t anywhere = find_unaligned_record(search, is_first ? 1 : 0, end);
    return anywhere == NOT_FOUND ? aligned : anywhere;
}

bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                    uint64_t first, uint64_t end)
{
    struct search search = {.bytes = look->span.bytes,
                            .n = (size_t)look->span.words * FXT_WORD_BYTES,
                            .is_end = look->is_end,
                            .reader = reader};
    for (uint64_t at = first; at < end && at < look->span.words; at++)
        if (starts_record_chain(&search, (size_t)at * FXT_WORD_BYTES, 3))
            return true;
    return false;
}

ttr_status fxt_find_next_record(struct fxt_reader *reader, uint64_t *offset)
{
    struct input *in = reader->in;
    for (uint64_t from = reader->at;;) {
        ttr_status status = input_fill(in, from, SEARCH_BLOCK + FXT_LOOKAHEAD, reader->error);
        if (status != TTR_OK)
            return status;
        const struct window *window = &in->window;
        struct search search = {.bytes = window->bytes, .n = window->n, .reader = reader};
        search.is_end = window->n < SEARCH_BLOCK + FXT_LOOKAHEAD;
        search.n = search.is_end ? window->n : SEARCH_BLOCK + FXT_LOOKAHEAD;
        search.candidates_end = search.is_end ? search.n : SEARCH_BLOCK;
        size_t found = find_record(&search, from == reader->at);
        *offset = from + (found == NOT_FOUND ? search.candidates_end : found);
        if (found != NOT_FOUND || search.is_end)
            return TTR_OK;
        from = *offset;
    }
}
