/* Resynchronisation after damage for V1, V2 and V6, which have no marks between events (V1, V2) or
 * blocks (V6). (Objects of V3 to V5 start with tags and a name, see nettrace_objects.c.)
 *
 * V1, V2. An event is accepted if its three sizes agree and its metadata number is defined. The
 * first accepted position after the damage is the next event.
 *
 * V6. A block has only a size and a kind before it, and nearly any word could be a size and a kind.
 * So candidates are checked by content:
 *
 *   [size|kind] content          is_valid_content(): rows of that kind fill the content exactly
 *               [size|kind] ...  is_block_chain_at(): three such blocks follow each other,
 *                                or fewer up to the end mark
 *
 * Order of calls: nettrace_read_block6() calls nettrace_measure_block6() for each block, before
 * decoding. If the content is plausible and another block can start after it, the size is trusted.
 * If not, find_block_after_this() looks for a chain at any other position. nettrace_resync()
 * searches after bytes that are not a block.
 *
 * A block of events is large, so only its first header is checked at first
 * (is_plausible_content()); the complete check follows only in doubt.
 *
 * Invariants: the scan stops at the size of a fixed window (SEARCH_BYTES), so results do not depend
 * on how many bytes a read returns. The end mark, four zero bytes, is accepted only at the end of
 * the input: zeros are everywhere.
 *
 * Cost: search->work limits the bytes checked to WORK_EACH times the input, so input that looks
 * like blocks at each position costs a small multiple of its size.
 *
 * Left out: the Trace block, which is read only once, at the start. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

/* bytes that are searched: a few blocks, since recorders write up to about 1 MiB per block */
#define SEARCH_BYTES ((uint64_t)8 << 20)
#define WORK_EACH 64u    /* bytes of content that may be checked, per byte of input */
#define METADATA_MIN 20u /* bytes of the smallest payload of metadata in V1 and V2 */

/* --- Search in V1 and V2 --- */

/* Returns true if metadata, or an event with known metadata, start at `p`. */
static bool is_flat_event(const struct nettrace_reader *reader, const uint8_t *p,
                          const uint8_t *end)
{
    struct nettrace_header h = {.next = p};
    const struct nettrace_header_range span = nettrace_make_header_range(p, end, CODEC_OLDEST);
    if (!nettrace_decode_header(&h, &span, false))
        return false;
    return h.metadata ? nettrace_find_type(&reader->types, h.metadata) != NULL
                      : h.payload_size >= METADATA_MIN;
}

/* Returns the offset of the next event of V1 or V2, which have no blocks; n if there is none. */
static size_t find_flat_event(const struct nettrace_reader *reader, const uint8_t *p, size_t n)
{
    for (size_t at = 1; at < n; at++)
        if (is_flat_event(reader, p + at, p + n))
            return at;
    return n;
}

/* --- Search in V6 --- */

enum { END_BYTES = 4, HEAD_BYTES = 4, KINDS = NETTRACE_BLOCK_LABELS + 1 };

static uint32_t get_block6_size(const uint8_t *head)
{
    return load_u32le(head) & 0xffffff;
}

static unsigned get_block6_kind(const uint8_t *head)
{
    return head[3];
}

/* Moves `c` to the first event of an event block and decodes it. Returns false if the block header
 * or the event is invalid, or the event has no metadata number. */
static bool parse_first_event(struct cursor *c, struct nettrace_header_range *span,
                              struct nettrace_header *h)
{
    struct cursor head = *c;
    uint16_t size = cursor_u16le(&head), flags = cursor_u16le(&head);
    uint64_t least = cursor_u64le(&head), most = cursor_u64le(&head);
    if (size < NETTRACE_BLOCK_HEADER || flags > NETTRACE_BLOCK_COMPRESSED || least > most ||
        !cursor_skip(c, size))
        return false;
    *span = nettrace_make_header_range(
        c->p, c->end, flags & NETTRACE_BLOCK_COMPRESSED ? CODEC_COMPRESSED : CODEC_PLAIN_V6);
    *h = (struct nettrace_header){.next = c->p};
    return c->p == c->end || (nettrace_decode_header(h, span, true) && h->metadata != 0);
}

/* The consume_ functions move the cursor over valid content of one kind of block. They return
 * false at the first row that is invalid. */
static bool consume_events(struct cursor *c)
{
    struct nettrace_header h;
    struct nettrace_header_range span;
    if (!parse_first_event(c, &span, &h))
        return false;
    while (h.next < c->end && nettrace_decode_header(&h, &span, true))
        continue;
    (void)cursor_skip(c, (uint64_t)((h.next > h.start ? h.next : h.start) - span.origin));
    return c->p == c->end;
}

static bool consume_rows(struct cursor *c, uint16_t least)
{
    while (cursor_left(c) > 0) {
        uint16_t size = cursor_u16le(c);
        if (size < least || !cursor_skip(c, size))
            return false;
    }
    return true;
}

static bool consume_metadata(struct cursor *c)
{
    enum { ROW_MIN = 6 };
    return cursor_skip(c, cursor_u16le(c)) && consume_rows(c, ROW_MIN);
}

/* any bytes are valid varints, so larger content does not prove that the block is valid */
static bool consume_sequence_pairs(struct cursor *c)
{
    enum { BYTES_MAX = 65536 };
    if (cursor_left(c) > BYTES_MAX)
        return false;
    while (cursor_left(c) > 0 && !c->failed)
        (void)nettrace_read_varint(c), (void)nettrace_read_varint(c);
    return true;
}

static bool consume_point(struct cursor *c)
{
    enum { FLAGS = 3 };
    (void)cursor_u64le(c);
    uint32_t flags = cursor_u32le(c), n = cursor_u32le(c);
    return flags <= FLAGS && cursor_left(c) >= (uint64_t)n * 2 && (n > 0 || cursor_left(c) == 0) &&
           consume_sequence_pairs(c);
}

static bool consume_stacks(struct cursor *c)
{
    (void)cursor_u32le(c);
    for (uint32_t n = cursor_u32le(c); n > 0 && !c->failed; n--)
        (void)cursor_skip(c, cursor_u32le(c));
    return true;
}

static bool consume_label_lists(struct cursor *c)
{
    (void)cursor_u32le(c);
    for (uint32_t n = cursor_u32le(c); n > 0; n--)
        if (!nettrace_skip_label_list(c))
            return false;
    return true;
}

static bool consume_content(unsigned kind, struct cursor *c)
{
    switch (kind) {
    case NETTRACE_BLOCK_EVENTS:
        return consume_events(c);
    case NETTRACE_BLOCK_METADATA:
        return consume_metadata(c);
    case NETTRACE_BLOCK_POINT:
        return consume_point(c);
    case NETTRACE_BLOCK_STACKS:
        return consume_stacks(c);
    case NETTRACE_BLOCK_THREADS:
        return cursor_left(c) > 0 && consume_rows(c, 1);
    case NETTRACE_BLOCK_ENDED_THREADS:
        return cursor_left(c) > 0 && consume_sequence_pairs(c);
    case NETTRACE_BLOCK_LABELS:
        return consume_label_lists(c);
    default:
        return false;
    }
}

/* Returns true if all content of a block is valid for its kind. */
static bool is_valid_content(unsigned kind, struct cursor *c)
{
    return consume_content(kind, c) && !c->failed && cursor_left(c) == 0;
}

/* --- Stricter checks of content in V6, for blocks at unexpected positions --- */

/* Skips a row of the thread table. Returns false if it contains an unknown kind of label. */
static bool skip_thread_row(struct cursor row)
{
    enum { NAME = 1, PID, TID, PAIR };
    (void)nettrace_read_varint(&row);
    bool is_valid = cursor_left(&row) > 0;
    while (is_valid && cursor_left(&row) > 0 && !row.failed) {
        uint8_t kind = cursor_u8(&row);
        is_valid = kind >= NAME && kind <= PAIR;
        if (kind == PID || kind == TID)
            (void)nettrace_read_varint(&row);
        else
            (void)nettrace_read_string(&row);
        if (kind == PAIR)
            (void)nettrace_read_string(&row);
    }
    return is_valid && !row.failed;
}

static bool skip_metadata_row(struct cursor row)
{
    (void)nettrace_read_varint(&row);
    ttr_text provider = nettrace_read_string(&row);
    (void)nettrace_read_varint(&row);
    (void)nettrace_read_string(&row);
    return !row.failed && provider.n > 0;
}

static bool skip_rows(struct cursor *c, bool (*skip_row)(struct cursor row))
{
    while (cursor_left(c) > 0) {
        struct cursor row = cursor_slice(c, cursor_u16le(c));
        if (c->failed || !skip_row(row))
            return false;
    }
    return true;
}

/* Returns true if all threads of `n` pairs are declared; if `n` is 0, of all pairs up to the
 * end. */
static bool are_thread_pairs(const struct nettrace_reader *reader, struct cursor *c, uint32_t n)
{
    for (uint32_t i = 0; n ? i < n : cursor_left(c) > 0; i++) {
        uint64_t index = nettrace_read_varint(c);
        (void)nettrace_read_varint(c);
        if (c->failed || !pair_map_get(&reader->threads.by_index, index, 0))
            return false;
    }
    return cursor_left(c) == 0;
}

static bool are_stack_sizes(const struct nettrace_reader *reader, struct cursor *c)
{
    (void)cursor_u32le(c);
    uint32_t n = cursor_u32le(c), bytes = 0;
    bool is_valid = n > 0;
    for (; n > 0 && is_valid; n--) {
        bytes = cursor_u32le(c);
        is_valid = !c->failed && bytes % reader->pointer_bytes == 0 && cursor_skip(c, bytes);
    }
    return is_valid;
}

/* Returns true if content that is_valid_content() accepts is hardly anything else by chance. */
static bool is_convincing_content(const struct nettrace_reader *reader, unsigned kind,
                                  struct cursor c)
{
    enum { HEAD_MAX = 64, POINT_HEAD = 12 };
    uint32_t n;
    switch (kind) {
    case NETTRACE_BLOCK_EVENTS:
        return cursor_u16le(&c) < HEAD_MAX;
    case NETTRACE_BLOCK_METADATA:
        n = cursor_u16le(&c);
        return n < HEAD_MAX && cursor_skip(&c, n) && skip_rows(&c, skip_metadata_row);
    case NETTRACE_BLOCK_POINT:
        (void)cursor_skip(&c, POINT_HEAD);
        n = cursor_u32le(&c);
        return n > 0 && are_thread_pairs(reader, &c, n);
    case NETTRACE_BLOCK_STACKS:
        return are_stack_sizes(reader, &c);
    case NETTRACE_BLOCK_THREADS:
        return skip_rows(&c, skip_thread_row);
    case NETTRACE_BLOCK_ENDED_THREADS:
        return are_thread_pairs(reader, &c, 0);
    case NETTRACE_BLOCK_LABELS:
        (void)cursor_u32le(&c);
        return cursor_u32le(&c) > 0;
    default:
        return false;
    }
}

/* State of a search for blocks in bytes of the input. is_end: the input ends after these bytes. */
struct block_search {
    const struct nettrace_reader *reader;
    const uint8_t *p;
    size_t n;
    uint64_t work;    /* bytes of content that may still be checked */
    unsigned chain_n; /* number of blocks in the chain that was found */
    bool is_end;
};

enum { CHAIN = 3 };

/* Finds a chain of blocks by sizes and kinds only: three consecutive blocks, or fewer before the
 * end mark. Stores their positions and returns their number; 0 if no chain starts at `at`. */
static unsigned measure_chain(const struct block_search *search, size_t at, size_t *positions)
{
    bool is_end_mark = false;
    for (unsigned i = 0; i < CHAIN; i++) {
        size_t left = search->n - at;
        const uint8_t *p = search->p + at;
        if (search->is_end && left == 0 && is_end_mark)
            return i;
        if (left < HEAD_BYTES)
            return 0;
        uint32_t size = get_block6_size(p);
        is_end_mark = get_block6_kind(p) == NETTRACE_BLOCK_END;
        if (is_end_mark ? size > 0 || !search->is_end || left > END_BYTES
                        : get_block6_kind(p) >= KINDS || size > left - HEAD_BYTES)
            return 0;
        positions[i] = at;
        at += HEAD_BYTES + size;
    }
    return CHAIN;
}

/* Returns true if the block at index `at` is complete and its content is valid. */
static bool is_valid_block_at(struct block_search *search, size_t at)
{
    const uint8_t *p = search->p + at;
    struct cursor c = cursor_init(p + HEAD_BYTES, get_block6_size(p), 0);
    if (get_block6_kind(p) == NETTRACE_BLOCK_END)
        return true;
    if (search->work == 0)
        return false;
    bool is_valid = is_convincing_content(search->reader, get_block6_kind(p), c) &&
                    is_valid_content(get_block6_kind(p), &c);
    search->work -= c.offset < search->work ? c.offset : search->work;
    return is_valid;
}

/* Returns true if a chain of valid blocks starts at `at`. Checks sizes first, which exclude nearly
 * all positions, so that contents are rarely checked. */
static bool is_block_chain_at(struct block_search *search, size_t at)
{
    size_t positions[CHAIN];
    unsigned n = measure_chain(search, at, positions);
    for (unsigned i = 0; i < n; i++)
        if (!is_valid_block_at(search, positions[i]))
            return false;
    search->chain_n = n;
    return n > 0;
}

/* Returns the first position, from `from` on, at which a chain of blocks starts; search->n if
 * there is none. */
static size_t find_block(struct block_search *search, size_t from)
{
    for (size_t at = from; at < search->n; at++)
        if (is_block_chain_at(search, at))
            return at;
    return search->n;
}

static struct block_search init_block_search(const struct nettrace_reader *reader,
                                             const struct nettrace_bytes *bytes)
{
    size_t n =
        bytes->n < SEARCH_BYTES
            ? bytes->n
            /* a fixed number, so that the result does not depend on the size of the window */
            : (size_t)SEARCH_BYTES;
    return (struct block_search){
        reader, bytes->p, n, WORK_EACH * (uint64_t)n, 0, bytes->n < SEARCH_BYTES};
}

/* Returns true if a block of this kind can have the content. Checks only the first event of event
 * blocks. */
static bool is_plausible_content(unsigned kind, struct cursor c)
{
    struct nettrace_header h;
    struct nettrace_header_range span;
    return kind == NETTRACE_BLOCK_EVENTS ? parse_first_event(&c, &span, &h)
                                         : is_valid_content(kind, &c);
}

/* Sets `may` if a block can start `skip` bytes after file offset `at`: a block of a known kind; if
 * `is_known` is false, also one after up to eight blocks of unknown kinds. Accepts an end mark
 * only at the end of the input or after an unknown kind. The window keeps the bytes from `at`
 * on. */
static ttr_status can_block_begin(struct nettrace_reader *reader, uint64_t at, uint64_t skip,
                                  bool is_known, bool *may)
{
    enum { STRANGERS = 8 };
    struct nettrace_bytes bytes;
    for (unsigned i = 0; i < (is_known ? 1 : STRANGERS); i++) {
        ttr_status status = nettrace_load_bytes(reader, at, skip + HEAD_BYTES + 1, &bytes);
        *may = status == TTR_OK && bytes.n == skip;
        if (status != TTR_OK || bytes.n < skip + HEAD_BYTES)
            return status;
        uint32_t size = get_block6_size(bytes.p + skip);
        unsigned kind = get_block6_kind(bytes.p + skip);
        *may =
            kind == NETTRACE_BLOCK_END && size == 0 && (bytes.n == skip + HEAD_BYTES || !is_known);
        if (kind == NETTRACE_BLOCK_END)
            return TTR_OK;
        skip += HEAD_BYTES;
        if (kind < KINDS) {
            status = nettrace_load_bytes(reader, at, skip + size, &bytes);
            *may = status == TTR_OK && bytes.n >= skip + size &&
                   is_plausible_content(kind, cursor_init(bytes.p + skip, size, 0));
            return status;
        }
        skip += size;
    }
    return TTR_OK;
}

/* Returns true if the bytes up to index `end` are valid content of the first block. */
static bool is_valid_content_up_to(const struct block_search *search, size_t end)
{
    struct cursor c = cursor_init(search->p, end, 0);
    return cursor_skip(&c, HEAD_BYTES) && is_valid_content(get_block6_kind(search->p), &c);
}

/* Searches for a chain of blocks that does not start where the size predicts. After an end mark,
 * accepts any position, unless another trace starts there. */
static ttr_status find_block_after_this(struct nettrace_reader *reader, uint64_t at,
                                        struct nettrace_block_extent *extent, bool is_end)
{
    struct nettrace_bytes bytes;
    ttr_status status = nettrace_load_bytes(reader, at, SEARCH_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    struct block_search search = init_block_search(reader, &bytes);
    bool is_other = is_end && search.n >= HEAD_BYTES + NETTRACE_MAGIC_BYTES &&
                    memcmp(bytes.p + HEAD_BYTES, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0;
    size_t found = is_other ? search.n : find_block(&search, 1);
    /* the last bytes of a block that is cut off may look like blocks and an end mark by chance */
    extent->is_short_chain = search.chain_n < CHAIN;
    bool is_chance =
        extent->is_cut && extent->is_short_chain && !is_valid_content_up_to(&search, found);
    bool is_elsewhere =
        found < search.n && !is_chance && (is_end || found != HEAD_BYTES + extent->size);
    extent->is_lost |= is_elsewhere;
    extent->next = is_elsewhere ? at + found : 0;
    return TTR_OK;
}

/* If a block has an unknown kind, or no block can start after it: searches for a chain of blocks
 * inside it. If there is one, the size of the block is wrong; else it counts as right. */
static ttr_status find_inner_block(struct nettrace_reader *reader, uint64_t at,
                                   struct nettrace_block_extent *extent)
{
    ttr_status status = find_block_after_this(reader, at, extent, false);
    if (extent->next >= at + HEAD_BYTES + extent->size || extent->is_short_chain) {
        extent->next = 0;
        extent->is_lost = false;
    }
    return status;
}

/* Returns true if a block of an unknown kind contains events, so its kind must be damaged. */
static bool is_event_block_of_unknown_kind(unsigned kind, struct cursor c)
{
    return kind >= KINDS && cursor_left(&c) > NETTRACE_BLOCK_HEADER && consume_events(&c);
}

ttr_status nettrace_measure_block6(struct nettrace_reader *reader, uint64_t at, uint32_t head,
                                   struct nettrace_block_extent *extent)
{
    struct nettrace_bytes bytes;
    bool may = false;
    unsigned kind = head >> 24;
    *extent = (struct nettrace_block_extent){.size = head & 0xffffff};
    uint64_t whole = HEAD_BYTES + extent->size;
    ttr_status status = nettrace_load_bytes(reader, at, whole, &bytes);
    if (status != TTR_OK)
        return status;
    extent->is_cut = bytes.n < whole;
    if (kind != NETTRACE_BLOCK_END && !extent->is_cut) {
        status =
            can_block_begin(reader, at, whole, kind < KINDS && kind != NETTRACE_BLOCK_TRACE, &may);
        if (status == TTR_OK)
            status = nettrace_load_bytes(reader, at, whole, &bytes);
        if (status != TTR_OK)
            return status;
        struct cursor c = cursor_init(bytes.p + HEAD_BYTES, (size_t)extent->size, 0);
        extent->is_strange = is_event_block_of_unknown_kind(kind, c);
        bool has_known = kind < KINDS && kind != NETTRACE_BLOCK_TRACE,
             is_fine = may && (!has_known || is_plausible_content(kind, c));
        bool is_doubtful =
            kind >= KINDS ? is_fine : !is_fine && has_known && is_valid_content(kind, &c);
        if (is_doubtful && !extent->is_strange)
            return find_inner_block(reader, at, extent);
        if (is_fine || extent->is_strange)
            return TTR_OK;
    }
    extent->is_lost = kind >= KINDS && !may;
    return find_block_after_this(reader, at, extent, kind == NETTRACE_BLOCK_END);
}

/* --- Skipping of damage in all versions --- */

/* Skips damaged bytes up to `found`. If nothing was found, skips only half of the window, since a
 * block may start in the second half. */
static ttr_status skip_damaged_bytes(struct nettrace_reader *reader, size_t n, size_t found,
                                     bool is_end)
{
    uint64_t at = reader->at, passed = found < n || is_end ? found : n / 2;
    reader->needs_resync = found == n && !is_end;
    reader->is_over = found == n && is_end;
    reader->at += passed;
    return input_add_damage(
        reader->in, at, passed, reader->is_over ? "nettrace.cut" : "nettrace.lost", reader->error,
        reader->is_over ? "the trace ends inside an event or a block, or without an end mark; all "
                          "complete events are kept"
                        : "no event or block starts here; skipped up to the next one");
}

ttr_status nettrace_resync(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    ttr_status status = nettrace_load_bytes(reader, reader->at, SEARCH_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    struct block_search search = init_block_search(reader, &bytes);
    bool is_v6 = reader->version >= NETTRACE_V6;
    size_t found = is_v6 ? find_block(&search, reader->needs_resync ? 0 : 1)
                         : find_flat_event(reader, bytes.p, search.n);
    bool is_end_mark = !is_v6 && !reader->needs_resync && search.n > 0 &&
                       bytes.p[0] == NETTRACE_END && found == search.n && search.is_end;
    if (is_end_mark) {
        reader->is_over = reader->has_end = true;
        nettrace_queue_chunk(reader, &(struct nettrace_chunk){.offset = reader->at++,
                                                              .size = 1,
                                                              .kind = NETTRACE_CHUNK_END});
        return TTR_OK;
    }
    return skip_damaged_bytes(reader, search.n, found, search.is_end);
}
