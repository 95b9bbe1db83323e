/* Finding the next record after damage: three records in a row that are exactly what they say.
 *
 * Records stand at multiples of 8, so these places come first.  Where bytes were lost or added
 * nothing is aligned any more; so when the next aligned hit is far, every byte in between is tried,
 * with four records asked for because eight times as many places could look right by chance.  A run
 * of zeros that goes on is the unused end of a buffer and ends the search as well. Memory: a block
 * and a look ahead; time: linear in the bytes skipped. */
#include "formats/fxt/fxt_read.h"

#define BLOCK ((size_t)256 * 1024)
/* an aligned hit within the largest usual record is believed */
#define NEAR ((size_t)FXT_SIZE_MAX * FXT_WORD)
#define ZEROS_ENOUGH ((size_t)4096)
#define ZEROS_LAST ((size_t)64)
#define NOWHERE SIZE_MAX

/* The part of the window where the search is. */
struct search {
    const uint8_t *bytes;
    size_t n;       /* bytes to look at */
    size_t starts;  /* a record may begin before this place */
    size_t nonzero; /* places before are known to run into something else than zeros */
    bool is_end;
    const struct fxt_reader *reader;
};

/* Whether only zeros follow, to the end or for long.  A few may be the end of a record. */
static bool is_zero_run(struct search *search, size_t at)
{
    if (at < search->nonzero || search->bytes[at])
        return false;
    size_t end = at;
    while (end < search->n && search->bytes[end] == 0)
        end++;
    search->nonzero = end;
    return end - at >= ZEROS_ENOUGH ||
           (end - at >= ZEROS_LAST && end == search->n && search->is_end);
}

/* Records of one word are told from the arguments of a lost record by what they name: a provider we
 * know. */
static bool is_start(const struct fxt_reader *reader, const struct fxt_span *span)
{
    uint64_t header = fxt_load(span->bytes, span->is_big);
    if (fxt_size_words(header) != 1 || header == FXT_MAGIC)
        return true;
    return fxt_type(header) == FXT_METADATA &&
           pairmap_get(&reader->by_id, fxt_get(header, FXT_METADATA_PROVIDER), 0);
}

static bool is_record(const struct search *search, size_t at, unsigned chain)
{
    struct fxt_span span = {search->bytes + at, (search->n - at) / FXT_WORD,
                            search->reader->common.is_big};
    return span.words && is_start(search->reader, &span) &&
           fxt_chain(&span, search->is_end, chain) >= chain;
}

static size_t find_aligned(struct search *search, size_t first)
{
    for (size_t at = first; at < search->starts; at += FXT_WORD)
        if (is_record(search, at, 3) || is_zero_run(search, at))
            return at;
    return NOWHERE;
}

static size_t find_anywhere(const struct search *search, size_t first, size_t end)
{
    for (size_t at = first; at < end; at++)
        if (is_record(search, at, 4))
            return at;
    return NOWHERE;
}

/* The first place after `from` where a record begins, NOWHERE if none before search->starts. */
static size_t find_record(struct search *search, bool is_first)
{
    size_t aligned = find_aligned(search, is_first ? FXT_WORD : 0);
    if (aligned != NOWHERE && aligned <= NEAR && is_record(search, aligned, 3))
        return aligned;
    size_t end = aligned == NOWHERE ? search->starts : aligned;
    size_t anywhere = find_anywhere(search, is_first ? 1 : 0, end);
    return anywhere == NOWHERE ? aligned : anywhere;
}

bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_look *look, uint64_t first,
                    uint64_t end)
{
    struct search search = {.bytes = look->span.bytes,
                            .n = (size_t)look->span.words * FXT_WORD,
                            .is_end = look->is_end,
                            .reader = reader};
    for (uint64_t at = first; at < end && at < look->span.words; at++)
        if (is_record(&search, (size_t)at * FXT_WORD, 3))
            return true;
    return false;
}

ttr_status fxt_resync(struct fxt_reader *reader, uint64_t *offset)
{
    struct input *in = reader->in;
    for (uint64_t from = reader->at;;) {
        ttr_status status = input_fill(in, from, BLOCK + FXT_LOOKAHEAD, reader->error);
        if (status != TTR_OK)
            return status;
        const struct window *window = &in->window;
        struct search search = {.bytes = window->bytes, .n = window->n, .reader = reader};
        search.is_end = window->n < BLOCK + FXT_LOOKAHEAD;
        search.n = search.is_end ? window->n : BLOCK + FXT_LOOKAHEAD;
        search.starts = search.is_end ? search.n : BLOCK;
        size_t found = find_record(&search, from == reader->at);
        *offset = from + (found == NOWHERE ? search.starts : found);
        if (found != NOWHERE || search.is_end)
            return TTR_OK;
        from = *offset;
    }
}
