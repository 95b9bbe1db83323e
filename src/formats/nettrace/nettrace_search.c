/* What comes next behind damage, where nothing marks it: events of V1 and V2, blocks of V6.
 * (Objects of V3 to V5 begin with tags and a name, see nettrace_objects.c.)
 *
 * An event of V1 or V2 is believed when its three sizes agree and its metadata are known; a block
 * of V6 when what it holds fills it exactly, and so do the two behind it, or all up to the end. How
 * much is looked at is bounded: a part of the input that looks like blocks everywhere costs no more
 * than a few times its size. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define SEARCH_BYTES ((uint64_t)8 << 20) /* some blocks: recorders put about 1 MiB in one */
#define WORK_EACH 16u    /* bytes of blocks that are looked through for each byte of the input */
#define METADATA_MIN 20u /* bytes of the metadata of V1 and V2, the least */

/* --- V1, V2 --- */

/* Whether an event whose metadata are known, or metadata, begin here. */
static bool is_flat_event(const struct nettrace_reader *reader, const uint8_t *p,
                          const uint8_t *end)
{
    struct nettrace_header h = {.next = p};
    const struct nettrace_span span = nettrace_span_over(p, end, CODEC_OLDEST);
    if (!nettrace_header_next(&h, &span, false))
        return false;
    return h.metadata ? nettrace_type_of(&reader->types, h.metadata) != NULL
                      : h.payload_size >= METADATA_MIN;
}

static size_t find_flat_event(const struct nettrace_reader *reader, const uint8_t *p, size_t n)
{
    for (size_t at = 1; at < n; at++)
        if (is_flat_event(reader, p + at, p + n))
            return at;
    return n;
}

/* --- V6 --- */

enum { END_BYTES = 4, HEAD_BYTES = 4, KINDS = NETTRACE_BLOCK_LABELS + 1 };

static uint32_t size_of(const uint8_t *head)
{
    return load_u32le(head) & 0xffffff;
}

static unsigned kind_of(const uint8_t *head)
{
    return head[3];
}

/* The head of a block of events, which is left behind, and its first event, which says of which
 * metadata it is. */
static bool take_first(struct cursor *c, struct nettrace_span *span, struct nettrace_header *h)
{
    struct cursor head = *c;
    uint16_t size = cursor_u16le(&head), flags = cursor_u16le(&head);
    uint64_t least = cursor_u64le(&head), most = cursor_u64le(&head);
    if (size < NETTRACE_BLOCK_HEADER || flags > NETTRACE_BLOCK_COMPRESSED || least > most ||
        !cursor_skip(c, size))
        return false;
    *span = nettrace_span_over(
        c->p, c->end, flags & NETTRACE_BLOCK_COMPRESSED ? CODEC_COMPRESSED : CODEC_PLAIN_V6);
    *h = (struct nettrace_header){.next = c->p};
    return c->p == c->end || (nettrace_header_next(h, span, true) && h->metadata != 0);
}

/* Each of these moves behind what it believes, and is true where that is all. */
static bool are_events(struct cursor *c)
{
    struct nettrace_header h;
    struct nettrace_span span;
    if (!take_first(c, &span, &h))
        return false;
    while (h.next < c->end && nettrace_header_next(&h, &span, true))
        continue;
    (void)cursor_skip(c, (uint64_t)((h.next > h.start ? h.next : h.start) - span.origin));
    return c->p == c->end;
}

static bool are_rows(struct cursor *c, uint16_t least)
{
    while (cursor_left(c) > 0) {
        uint16_t size = cursor_u16le(c);
        if (size < least || !cursor_skip(c, size))
            return false;
    }
    return true;
}

static bool are_metadata(struct cursor *c)
{
    enum { ROW_MIN = 6 };
    return cursor_skip(c, cursor_u16le(c)) && are_rows(c, ROW_MIN);
}

/* Any bytes are numbers: of many nothing is believed. */
static bool are_counts(struct cursor *c)
{
    enum { BYTES_MAX = 65536 };
    if (cursor_left(c) > BYTES_MAX)
        return false;
    while (cursor_left(c) > 0 && !c->failed)
        (void)nettrace_take_varint(c), (void)nettrace_take_varint(c);
    return true;
}

static bool is_point(struct cursor *c)
{
    enum { FLAGS = 3 };
    (void)cursor_u64le(c);
    uint32_t flags = cursor_u32le(c), n = cursor_u32le(c);
    return flags <= FLAGS && cursor_left(c) >= (uint64_t)n * 2 && (n > 0 || cursor_left(c) == 0) &&
           are_counts(c);
}

static bool are_stacks(struct cursor *c)
{
    (void)cursor_u32le(c);
    for (uint32_t n = cursor_u32le(c); n > 0 && !c->failed; n--)
        (void)cursor_skip(c, cursor_u32le(c));
    return true;
}

static bool are_labels(struct cursor *c)
{
    (void)cursor_u32le(c);
    for (uint32_t n = cursor_u32le(c); n > 0; n--)
        if (!nettrace_labels_pass(c))
            return false;
    return true;
}

static bool is_kind(unsigned kind, struct cursor *c)
{
    switch (kind) {
    case NETTRACE_BLOCK_EVENTS:
        return are_events(c);
    case NETTRACE_BLOCK_METADATA:
        return are_metadata(c);
    case NETTRACE_BLOCK_POINT:
        return is_point(c);
    case NETTRACE_BLOCK_STACKS:
        return are_stacks(c);
    case NETTRACE_BLOCK_THREADS:
        return cursor_left(c) > 0 && are_rows(c, 1);
    case NETTRACE_BLOCK_GONE:
        return cursor_left(c) > 0 && are_counts(c);
    case NETTRACE_BLOCK_LABELS:
        return are_labels(c);
    default:
        return false;
    }
}

/* Whether what a block holds is what its kind says, and all of it. */
static bool is_content(unsigned kind, struct cursor *c)
{
    return is_kind(kind, c) && !c->failed && cursor_left(c) == 0;
}

/* The blocks of a part of the input; `is_end`: nothing follows it. */
struct search {
    const uint8_t *p;
    size_t n;
    uint64_t work; /* bytes that may still be looked through */
    bool is_end;
};

/* Whether a block begins at `at` that is whole, with the size of all of it; the end mark is one
 * where the input ends behind it. */
static bool is_block_at(struct search *search, size_t at, size_t *size)
{
    size_t left = search->n - at;
    const uint8_t *p = search->p + at;
    if (left < HEAD_BYTES)
        return false;
    *size = HEAD_BYTES + (size_t)size_of(p);
    if (*size == END_BYTES && kind_of(p) == NETTRACE_BLOCK_END)
        return search->is_end && left == END_BYTES;
    if (*size > left || kind_of(p) >= KINDS || search->work == 0)
        return false;
    struct cursor c = cursor_over(p + HEAD_BYTES, *size - HEAD_BYTES, 0);
    bool is_whole = is_content(kind_of(p), &c);
    search->work -= c.offset < search->work ? c.offset : search->work;
    return is_whole;
}

/* Whether blocks follow each other from `at` on, up to the end of what is looked at or long enough.
 */
static bool is_chain(struct search *search, size_t at)
{
    enum { CHAIN = 3 };
    size_t size;
    for (unsigned i = 0; i < CHAIN; i++) {
        if (search->is_end && at == search->n && i > 0)
            return true;
        if (!is_block_at(search, at, &size))
            return false;
        at += size;
    }
    return true;
}

/* Where the next block begins behind `from` that others follow; the count of bytes where none does.
 */
static size_t find_block(struct search *search, size_t from)
{
    for (size_t at = from; at < search->n; at++)
        if (is_chain(search, at))
            return at;
    return search->n;
}

static struct search search_over(const struct nettrace_bytes *bytes)
{
    size_t n = bytes->n < SEARCH_BYTES
                   ? bytes->n
                   : (size_t)SEARCH_BYTES; /* what is looked at does not hang on what is shown */
    return (struct search){bytes->p, n, WORK_EACH * (uint64_t)n, bytes->n < SEARCH_BYTES};
}

/* Whether what follows a word looks like the block that the word says; of events only the first is
 * looked at. */
static bool looks_like(unsigned kind, struct cursor c)
{
    struct nettrace_header h;
    struct nettrace_span span;
    return kind == NETTRACE_BLOCK_EVENTS ? take_first(&c, &span, &h) : is_content(kind, &c);
}

/* Whether a block seems to begin `skip` bytes behind `at`, which stays in the window: one of a
 * known kind, behind a block of an unknown kind also some more of these.  Zeros are found anywhere,
 * so the end mark counts only at the end of the input, but behind what is not known. */
static ttr_status may_begin(struct nettrace_reader *reader, uint64_t at, uint64_t skip,
                            bool is_known, bool *may)
{
    enum { STRANGERS = 8 };
    struct nettrace_bytes bytes;
    for (unsigned i = 0; i < (is_known ? 1 : STRANGERS); i++) {
        ttr_status status = nettrace_show(reader, at, skip + HEAD_BYTES + 1, &bytes);
        *may = status == TTR_OK && bytes.n == skip;
        if (status != TTR_OK || bytes.n < skip + HEAD_BYTES)
            return status;
        uint32_t size = size_of(bytes.p + skip);
        unsigned kind = kind_of(bytes.p + skip);
        *may =
            kind == NETTRACE_BLOCK_END && size == 0 && (bytes.n == skip + HEAD_BYTES || !is_known);
        if (kind == NETTRACE_BLOCK_END)
            return TTR_OK;
        skip += HEAD_BYTES;
        if (kind < KINDS) {
            status = nettrace_show(reader, at, skip + size, &bytes);
            *may = status == TTR_OK && bytes.n >= skip + size &&
                   looks_like(kind, cursor_over(bytes.p + skip, size, 0));
            return status;
        }
        skip += size;
    }
    return TTR_OK;
}

/* Looks for another place where the next block begins; behind the end mark any is, but those of
 * another trace. */
static ttr_status look_elsewhere(struct nettrace_reader *reader, uint64_t at,
                                 struct nettrace_extent6 *extent, bool is_end)
{
    struct nettrace_bytes bytes;
    ttr_status status = nettrace_show(reader, at, SEARCH_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    struct search search = search_over(&bytes);
    bool is_other = is_end && search.n >= HEAD_BYTES + NETTRACE_MAGIC_BYTES &&
                    memcmp(bytes.p + HEAD_BYTES, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0;
    size_t found = is_other ? search.n : find_block(&search, 1);
    bool is_elsewhere = found < search.n && (is_end || found != HEAD_BYTES + extent->size);
    extent->is_lost |= is_elsewhere;
    extent->next = is_elsewhere ? at + found : 0;
    return TTR_OK;
}

/* A block of a kind that nobody knows: it may be one of events whose kind is damaged. */
static bool are_strange_events(unsigned kind, struct cursor c)
{
    return kind >= KINDS && cursor_left(&c) > NETTRACE_BLOCK_HEADER && are_events(&c);
}

ttr_status nettrace_extent6(struct nettrace_reader *reader, uint64_t at, uint32_t head,
                            struct nettrace_extent6 *extent)
{
    struct nettrace_bytes bytes;
    bool may = false;
    unsigned kind = head >> 24;
    *extent = (struct nettrace_extent6){.size = head & 0xffffff};
    uint64_t whole = HEAD_BYTES + extent->size;
    ttr_status status = nettrace_show(reader, at, whole, &bytes);
    if (status != TTR_OK)
        return status;
    extent->is_cut = bytes.n < whole;
    if (kind != NETTRACE_BLOCK_END && !extent->is_cut) {
        status = may_begin(reader, at, whole, kind < KINDS && kind != NETTRACE_BLOCK_TRACE, &may);
        if (status == TTR_OK)
            status = nettrace_show(reader, at, whole, &bytes);
        if (status != TTR_OK)
            return status;
        struct cursor c = cursor_over(bytes.p + HEAD_BYTES, (size_t)extent->size, 0);
        extent->is_strange = are_strange_events(kind, c);
        bool has_known = kind < KINDS && kind != NETTRACE_BLOCK_TRACE,
             is_fine = may && (!has_known || looks_like(kind, c));
        if (is_fine || extent->is_strange || (has_known && is_content(kind, &c)))
            return TTR_OK;
    }
    extent->is_lost = kind >= KINDS && !may;
    return look_elsewhere(reader, at, extent, kind == NETTRACE_BLOCK_END);
}

/* --- Both --- */

/* Passes over what is damaged: up to what was found, else up to where it may still begin. */
static ttr_status pass(struct nettrace_reader *reader, size_t n, size_t found, bool is_end)
{
    uint64_t at = reader->at, passed = found < n || is_end ? found : n / 2;
    reader->is_lost = found == n && !is_end;
    reader->is_over = found == n && is_end;
    reader->at += passed;
    return input_damage(
        reader->in, at, passed, reader->is_over ? "nettrace.cut" : "nettrace.lost", reader->error,
        reader->is_over ? "the trace ends inside an event or a block, or without its end mark; all "
                          "that is whole is given"
                        : "no event or block begins here; passed over up to the next that does");
}

ttr_status nettrace_search(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    ttr_status status = nettrace_show(reader, reader->at, SEARCH_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    struct search search = search_over(&bytes);
    bool is_v6 = reader->version >= NETTRACE_V6;
    size_t found = is_v6 ? find_block(&search, reader->is_lost ? 0 : 1)
                         : find_flat_event(reader, bytes.p, search.n);
    bool is_end_mark = !is_v6 && !reader->is_lost && search.n > 0 && bytes.p[0] == NETTRACE_END &&
                       found == search.n && search.is_end;
    if (is_end_mark) {
        reader->is_over = reader->has_end = true;
        nettrace_piece_add(reader, &(struct nettrace_piece){.offset = reader->at++,
                                                            .size = 1,
                                                            .kind = NETTRACE_PIECE_END});
        return TTR_OK;
    }
    return pass(reader, search.n, found, search.is_end);
}
