/* Detection of FXT traces and of their byte order.
 *
 * A trace with the magic number is recognized by it. Without one, the records at the start must be
 * exactly as long as their headers declare. The file suffix never decides.
 *
 * A stream of a single provider has no magic number, since the trace manager writes it. It starts
 * with an initialization record. Its header has no variable bits, so three records suffice. Any
 * other start needs twelve records. These bids are lower than that of any real magic number. */
#include "formats/fxt/fxt_read.h"

enum {
    BID_MAGIC = 64,
    /* bid of a trace that starts with an initialization record (all bits of its header are fixed)
     * and two more valid records */
    BID_INITIALIZATION = 24,
    BID_CHAIN = 12,
    CHAIN_SHORT = 3,
    CHAIN_LONG = 12
};

static bool starts_with_magic(const uint8_t *bytes, size_t n, bool is_big)
{
    return n >= FXT_WORD_BYTES && fxt_load_u64(bytes, is_big) == FXT_MAGIC;
}

bool fxt_has_magic(const uint8_t *bytes, size_t n)
{
    return starts_with_magic(bytes, n, false) || starts_with_magic(bytes, n, true);
}

/* Returns the bid (a BID_... constant, or 0) of bytes without a magic number, if they are records
 * of FXT in this byte order. */
static unsigned rate_records_as_fxt(const uint8_t *bytes, size_t n, bool is_whole, bool is_big)
{
    struct fxt_span span = {bytes, n / FXT_WORD_BYTES, is_big};
    if (span.words < CHAIN_SHORT || fxt_load_u64(bytes, is_big) == 0)
        return 0;
    bool is_init = fxt_get_record_type(fxt_load_u64(bytes, is_big)) == FXT_INITIALIZATION;
    unsigned chain = is_init ? CHAIN_SHORT : CHAIN_LONG;
    if (fxt_count_clean_records(&span, is_whole, chain) < chain)
        return 0;
    /* a shorter file must contain at least CHAIN_SHORT valid records, in six words or more */
    struct fxt_span part = {bytes, span.words, is_big};
    bool is_enough = fxt_count_clean_records(&part, false, CHAIN_SHORT) >= CHAIN_SHORT &&
                     span.words >= (uint64_t)2 * CHAIN_SHORT;
    return !is_enough ? 0 : is_init ? BID_INITIALIZATION : BID_CHAIN;
}

unsigned fxt_bid(const struct peek *peek)
{
    if (fxt_has_magic(peek->bytes, peek->n))
        return BID_MAGIC;
    unsigned little = rate_records_as_fxt(peek->bytes, peek->n, peek->is_whole, false);
    return little ? little : rate_records_as_fxt(peek->bytes, peek->n, peek->is_whole, true);
}

bool fxt_is_big_endian(const uint8_t *bytes, size_t n, bool is_whole)
{
    if (fxt_has_magic(bytes, n))
        return starts_with_magic(bytes, n, true);
    return !rate_records_as_fxt(bytes, n, is_whole, false) &&
           rate_records_as_fxt(bytes, n, is_whole, true);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Returns true for files of EZTrace and StarPU, which are also called FxT, but are not FXT: they
 * start with a small 32-bit machine number, and the first 512 bytes contain the text of uname. */
static bool is_eztrace_fxt(const struct peek *peek)
{
    static const char system[] = "Linux ";
    if (peek->n < 512 || peek->bytes[0] || peek->bytes[1] || peek->bytes[2] ||
        peek->bytes[3] == 0 || peek->bytes[3] > 16)
        return false;
    for (size_t at = 0; at < 512 - sizeof system; at++)
        if (memcmp(peek->bytes + at, system, sizeof system - 1) == 0)
            return true;
    return false;
}

const char *fxt_explain_refusal(const struct peek *peek)
{
    if (is_eztrace_fxt(peek))
        return "this is a trace of the FxT library (EZTrace, StarPU), which shares nothing with "
               "Fuchsia's FXT but the suffix; "
               "read it with fxt_print or eztrace_convert";
    if (peek->path && ends_with(peek->path, ".fxt") && peek->n >= FXT_WORD_BYTES)
        return "named .fxt, but it has no Fuchsia magic (10 00 04 46 78 54 16 00) and does not "
               "begin with records of that format; "
               "files of EZTrace and StarPU (FxT) have the same suffix; ttr_read_options.from = "
               "fxt reads it all the same";
    return NULL;
}
