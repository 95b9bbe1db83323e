/* Finds pages and sections that are not at their declared offsets, since the file has lost bytes
 * before them, or has additional ones (TRACE-DAT-MOVED). trace_dat_chunks.c finds compressed
 * chunks.
 *
 *   declared   | page A            | page B            |
 *   file       | page A, cut     | page B            |       2 bytes of page A are missing
 *
 * Each candidate offset within TRACE_DAT_MOVED_MAX bytes of the declared one is checked, those
 * before it first. The contents must prove what they are: the events of a page form a chain to its
 * exact end, options fill their section, compressed data start with the magic number.
 *
 * Cost: constant per candidate, except for those with a plausible page header; there are at most
 * CHAINS_MAX of these in a search, and TRACE_DAT_SEARCHES_MAX searches without success in a file.
 */
#include <inttypes.h>

#include "formats/trace_dat/trace_dat.h"

#define CHAINS_MAX 64u
#define PAGE_MAX 65536u /* bytes; larger pages are not searched */
/* number of bytes of options that are checked to be complete */
#define OPTIONS_BYTES ((uint64_t)1 << 18)
#define SECTION_HEAD_BYTES ((uint64_t)(TRACE_DAT_SECTION + TRACE_DAT_CHUNK_HEAD))

/* Range of the file that contains all candidates: loaded bytes, and the declared offset in them. */
struct candidates {
    const struct trace_dat_reader *reader;
    struct cursor bytes;
    uint64_t declared;
    uint32_t page_bytes; /* pages only */
    unsigned id;         /* sections only */
    unsigned chains;     /* number of pages of which the events were checked */
};

/* --- Checks of one candidate --- */

/* Returns true if the events of a page end exactly where the header of the page says, and a quarter
 * of them or more are of known kinds: formats may be damaged, too. */
static bool has_valid_events(const struct trace_dat_reader *reader, struct ring_buffer_page *page)
{
    struct ring_buffer_event event;
    enum ring_buffer_step step;
    unsigned n = 0, known = 0;
    while ((step = ring_buffer_next_event(page, &event)) == RING_BUFFER_EVENT) {
        const struct tracepoint_raw raw = {event.p, event.n};
        known += tracepoints_is_plausible(reader->data.all, raw);
        n++;
    }
    return step == RING_BUFFER_END && known > 0 && known >= n / 4;
}

static bool is_page(struct candidates *in, struct cursor c)
{
    const struct tracing_data *data = &in->reader->data;
    const struct ring_buffer_layout layout = {data->is_big_endian, data->commit_bytes,
                                              data->page_data};
    struct ring_buffer_page page;
    const uint8_t *p = cursor_read_bytes(&c, in->page_bytes);
    if (!p || in->chains >= CHAINS_MAX || in->page_bytes < data->page_data)
        return false;
    struct cursor commit = cursor_init(p + 8, data->commit_bytes, 0);
    if (tracing_data_read_number(data, &commit, data->commit_bytes) == 0 ||
        !ring_buffer_begin_page(&layout, p, in->page_bytes, false, &page) || page.p == page.end)
        return false;
    in->chains++;
    return has_valid_events(in->reader, &page);
}

/* Returns true if options fill the cursor's bytes, and the last is the one that ends them. */
static bool are_options(const struct tracing_data *data, struct cursor c)
{
    unsigned option = TRACE_DAT_STRINGS;
    while (!c.failed && cursor_left(&c) && option != TRACE_DAT_DONE) {
        option = (unsigned)tracing_data_read_number(data, &c, 2);
        (void)cursor_slice(&c, tracing_data_read_number(data, &c, 4));
    }
    return !c.failed && option == TRACE_DAT_DONE && cursor_left(&c) == 0;
}

/* Reads the header of a section. Returns false if it is not plausible. */
static bool read_section_head(const struct candidates *in, struct cursor *c, unsigned *flags,
                              uint64_t *size)
{
    const struct tracing_data *data = &in->reader->data;
    const unsigned id = (unsigned)tracing_data_read_number(data, c, 2);
    *flags = (unsigned)tracing_data_read_number(data, c, 2);
    const uint64_t description = tracing_data_read_number(data, c, 4);
    *size = tracing_data_read_number(data, c, 8);
    return !c->failed && id == in->id && *flags <= TRACE_DAT_COMPRESSED &&
           description <= in->reader->size && *size <= in->reader->size;
}

static bool has_section_head(struct candidates *in, struct cursor c)
{
    unsigned flags;
    uint64_t size;
    return read_section_head(in, &c, &flags, &size);
}

static bool is_section(struct candidates *in, struct cursor c)
{
    unsigned flags;
    uint64_t size;
    if (!read_section_head(in, &c, &flags, &size))
        return false;
    if (flags & TRACE_DAT_COMPRESSED && in->id != TRACE_DAT_BUFFER)
        return tracing_data_read_number(&in->reader->data, &c, 4) + TRACE_DAT_CHUNK_HEAD == size;
    return in->id != TRACE_DAT_DONE ||
           (size && are_options(&in->reader->data, cursor_slice(&c, size)));
}

/* --- Search --- */

/* Loads the candidates, each with `size` bytes. */
static ttr_status load_candidates(struct trace_dat_reader *reader, struct candidates *in,
                                  uint64_t size)
{
    const uint64_t begin =
        in->declared > TRACE_DAT_MOVED_MAX ? in->declared - TRACE_DAT_MOVED_MAX : 0;
    ttr_status status =
        trace_dat_load_at(reader, begin, in->declared - begin + TRACE_DAT_MOVED_MAX + size);
    in->reader = reader;
    in->bytes = cursor_init(reader->bytes.bytes, reader->bytes.n, begin);
    return status;
}

/* Returns true if `is` accepts the candidate that is `moved` bytes after the declared offset. */
static bool is_candidate(struct candidates *in, int64_t moved,
                         bool (*is)(struct candidates *, struct cursor))
{
    const int64_t at = (int64_t)(in->declared - in->bytes.offset) + moved;
    struct cursor c = in->bytes;
    return at >= 0 && cursor_skip(&c, (uint64_t)at) && is(in, c);
}

/* Returns the offset of the first candidate less than `limit` bytes away that `is` accepts; the
 * declared offset if there is none. */
static uint64_t search_candidates(struct trace_dat_reader *reader, struct candidates *in,
                                  int64_t limit, bool (*is)(struct candidates *, struct cursor))
{
    for (int64_t moved = 1; moved < limit; moved++)
        if (is_candidate(in, -moved, is))
            return in->declared - (uint64_t)moved;
    for (int64_t moved = 1; moved < limit; moved++)
        if (is_candidate(in, moved, is))
            return in->declared + (uint64_t)moved;
    reader->failed_searches++;
    return in->declared;
}

ttr_status trace_dat_find_page(struct trace_dat_reader *reader, uint64_t declared,
                               uint32_t page_bytes, uint64_t *found)
{
    struct candidates in = {.declared = declared, .page_bytes = page_bytes};
    *found = declared;
    if (reader->failed_searches >= TRACE_DAT_SEARCHES_MAX || page_bytes > PAGE_MAX)
        return TTR_OK;
    ttr_status status = load_candidates(reader, &in, 2 * (uint64_t)page_bytes);
    if (status != TTR_OK || is_candidate(&in, 0, is_page) || is_candidate(&in, page_bytes, is_page))
        return status;
    *found = search_candidates(
        reader, &in, page_bytes < TRACE_DAT_MOVED_MAX ? page_bytes : TRACE_DAT_MOVED_MAX, is_page);
    return TTR_OK;
}

ttr_status trace_dat_find_section(struct trace_dat_reader *reader, uint64_t declared, unsigned id,
                                  uint64_t *found)
{
    struct candidates in = {.declared = declared, .id = id};
    *found = declared;
    if (reader->failed_searches >= TRACE_DAT_SEARCHES_MAX)
        return TTR_OK;
    ttr_status status =
        load_candidates(reader, &in, id == TRACE_DAT_DONE ? OPTIONS_BYTES : SECTION_HEAD_BYTES);
    if (status == TTR_OK && !is_candidate(&in, 0, has_section_head))
        *found = search_candidates(reader, &in, TRACE_DAT_MOVED_MAX + 1, is_section);
    return status;
}

ttr_status trace_dat_move_cpu_buffer(struct trace_dat_reader *reader,
                                     struct trace_dat_cpu_buffer *cpu_buffer, uint64_t declared,
                                     uint64_t unread, uint64_t found)
{
    const bool is_earlier = found < declared;
    const uint64_t moved = is_earlier ? declared - found : found - declared,
                   end = is_earlier && moved < cpu_buffer->missing ? moved : cpu_buffer->missing,
                   there = reader->size - found;
    cpu_buffer->at = found;
    cpu_buffer->left = unread;
    if (is_earlier) {
        cpu_buffer->moved_back += moved;
        /* the same bytes of the file's end are read */
        cpu_buffer->left += end;
        cpu_buffer->missing -= end;
    }
    cpu_buffer->left = cpu_buffer->left < there ? cpu_buffer->left : there;
    return input_add_damage(
        reader->in, found, 0, "trace_dat.moved", reader->error,
        "events of CPU %u are %" PRIu64 " bytes %s their declared offset; bytes of the file are %s",
        cpu_buffer->cpu, moved, is_earlier ? "before" : "after", is_earlier ? "missing" : "added");
}
