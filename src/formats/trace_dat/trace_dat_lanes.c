/* Lanes: reads the pages of one CPU in one buffer, and decodes their events in order. */
#include <inttypes.h>

#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

/* limit for all lanes together; with many lanes each gets less */
#define BUFFERS_BYTES ((size_t)8 << 20)
#define BUFFER_BYTES ((size_t)256 << 10) /* limit for one lane */

ttr_status trace_dat_lane_add(struct trace_dat_reader *reader, const struct trace_dat_lane *lane,
                              ttr_text buffer)
{
    struct input *in = reader->in;
    if (lane->left == 0)
        return TTR_OK;
    if (lane->page_bytes < 64 || lane->page_bytes > TRACE_DAT_PAGE_MAX)
        return input_add_damage(in, lane->at, lane->left, "trace_dat.bad-page-size", reader->error,
                                "pages of %u bytes are impossible; CPU %u is not read",
                                lane->page_bytes, lane->cpu);
    uint64_t room = lane->at < reader->size ? reader->size - lane->at : 0,
             size = lane->left < room ? lane->left : room;
    if (size > reader->size - reader->lanes_bytes)
        return input_add_damage(
            in, lane->at, 0, "trace_dat.overlap", reader->error,
            "with the events of CPU %u here, all have more bytes than the file: "
            "they overlap, and these are not read",
            lane->cpu);
    reader->lanes_bytes += size;
    ttr_id name = buffer.n ? ttr_text_add(reader->t, buffer.p, buffer.n) : 0;
    ttr_id track = context_add_track(
        reader->t, &(ttr_track){.number = lane->cpu, .name = name, .source = in->id});
    if (!track || (buffer.n && !name) ||
        !alloc_reserve(&reader->t->counted, (void **)&reader->lane, &reader->lanes_capacity,
                       reader->lanes_n + 1, sizeof *reader->lane))
        return fail_memory(reader->error);
    struct trace_dat_lane *added = &reader->lane[reader->lanes_n++];
    *added = *lane;
    added->track = track;
    added->is_stuck = true;
    if (lane->is_compressed && lane->left <= UINT64_MAX - sizeof lane->chunks)
        added->left += sizeof lane->chunks; /* trace-cmd does not include the count itself */
    if (added->left <= room)
        return TTR_OK;
    added->left = room;
    return input_add_damage(in, reader->size, 0, "trace_dat.cut", reader->error,
                            "the file ends inside the events of CPU %u: %" PRIu64 " of %" PRIu64
                            " bytes are present",
                            lane->cpu, room, lane->left);
}

static struct ring_buffer_layout page_layout_of(const struct trace_dat_reader *reader)
{
    return (struct ring_buffer_layout){reader->data.is_big_endian, reader->data.commit_bytes,
                                       reader->data.page_data};
}

/* Starts the next valid page in `buffer`.  Returns false if there is none, or if it is damaged. */
static bool lane_begin_page(struct trace_dat_reader *reader, struct trace_dat_lane *lane)
{
    struct ring_buffer_layout layout = page_layout_of(reader);
    size_t left = lane->n - lane->next, n = left < lane->page_bytes ? left : lane->page_bytes;
    if (n == 0 || !ring_buffer_begin_page(&layout, lane->buffer + lane->next, n,
                                          n < lane->page_bytes, &lane->page))
        return false;
    lane->next += n;
    return true;
}

bool trace_dat_lane_next(struct trace_dat_reader *reader, struct trace_dat_lane *lane)
{
    lane->is_gap = false;
    for (;;) {
        enum ring_buffer_step step = ring_buffer_next_event(&lane->page, &lane->event);
        if (step == RING_BUFFER_EVENT)
            return true;
        if (step == RING_BUFFER_DAMAGED || !lane_begin_page(reader, lane))
            break;
        if (lane->page.is_lossy) {
            lane->is_gap = true;
            lane->event = (struct ring_buffer_event){.time = lane->page.time};
            return true;
        }
    }
    lane->is_stuck = true;
    return false;
}

static ttr_status lane_reserve(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                               size_t n)
{
    return alloc_reserve(&reader->t->counted, (void **)&lane->buffer, &lane->capacity, n, 1)
               ? TTR_OK
               : fail_memory(reader->error);
}

static ttr_status lane_read_uncompressed(struct trace_dat_reader *reader,
                                         struct trace_dat_lane *lane)
{
    size_t share = BUFFERS_BYTES / reader->lanes_n,
           most = share < BUFFER_BYTES ? share : BUFFER_BYTES;
    size_t want = most / lane->page_bytes * lane->page_bytes;
    want = want ? want : lane->page_bytes;
    want = lane->left < want ? (size_t)lane->left : want;
    ttr_status status = lane_reserve(reader, lane, want);
    if (status == TTR_OK)
        status = trace_dat_read_at(reader, lane->at, lane->buffer, want, &lane->n);
    lane->offset = lane->at;
    lane->at += lane->n;
    lane->left = lane->n ? lane->left - lane->n : 0;
    return status;
}

/* Reads a u32 at the offset of the lane.  *is_there is false at its end. */
static ttr_status lane_read_u32(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                                uint32_t *value, bool *is_there)
{
    uint8_t bytes[4];
    size_t got = 0;
    ttr_status status = lane->left >= sizeof bytes
                            ? trace_dat_read_at(reader, lane->at, bytes, sizeof bytes, &got)
                            : TTR_OK;
    struct cursor c = cursor_init(bytes, got, lane->at);
    *value = (uint32_t)tracing_data_read_number(&reader->data, &c, 4);
    *is_there = !c.failed;
    lane->at += got;
    lane->left -= got;
    return status;
}

/* Reports that the rest of a lane cannot be read, and ends the lane. */
static ttr_status lane_abandon_rest(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                                    const char *why)
{
    uint64_t left = lane->left;
    lane->left = 0;
    lane->chunks = 0;
    return input_add_damage(reader->in, lane->at, left, "trace_dat.bad-chunk", reader->error,
                            "CPU %u ends here: %s", lane->cpu, why);
}

/* Decompresses the current chunk.  Keeps the pages before any damage. */
static ttr_status lane_unpack_chunk(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                                    uint32_t packed, uint32_t whole)
{
    bool is_cut = packed > lane->left;
    uint64_t there = is_cut ? lane->left : packed;
    ttr_status status = lane_reserve(reader, lane, (size_t)whole + 1);
    if (status == TTR_OK)
        status = trace_dat_load_at(reader, lane->at, there);
    if (status != TTR_OK)
        return status;
    lane->offset = lane->at;
    lane->at += there;
    lane->left -= there;
    lane->chunks = is_cut ? 0 : lane->chunks - 1;
    lane->n = trace_dat_inflate(reader, reader->bytes.bytes, reader->bytes.n, lane->buffer, whole);
    if (lane->n == whole && !is_cut)
        return TTR_OK;
    return input_add_damage(
        reader->in, lane->offset, there,
        is_cut ? "trace_dat.bad-chunk" : "trace_dat.bad-compression", reader->error,
        is_cut
            ? "CPU %u ends inside a chunk that %s compressed: %zu of its %u bytes are decompressed"
            : "a chunk of CPU %u is damaged: %s decompresses %zu of its %u bytes; reading "
              "continues with the next",
        lane->cpu, reader->compression, lane->n, whole);
}

static ttr_status lane_read_chunk(struct trace_dat_reader *reader, struct trace_dat_lane *lane)
{
    uint32_t packed, whole;
    bool is_there = true;
    ttr_status status =
        lane->is_begun ? TTR_OK : lane_read_u32(reader, lane, &lane->chunks, &is_there);
    lane->is_begun = true;
    if (status != TTR_OK || (is_there && lane->chunks == 0)) {
        lane->left = 0;
        return status;
    }
    if (is_there)
        status = lane_read_u32(reader, lane, &packed, &is_there);
    if (status == TTR_OK && is_there)
        status = lane_read_u32(reader, lane, &whole, &is_there);
    if (status != TTR_OK)
        return status;
    if (!is_there || lane->left == 0)
        return lane_abandon_rest(reader, lane, "the next chunk is not there");
    if (whole > TRACE_DAT_CHUNK_MAX)
        return lane_abandon_rest(reader, lane, "a chunk of more than 16 MiB is none");
    return lane_unpack_chunk(reader, lane, packed, whole);
}

static bool is_plausible_event(const void *ctx, const uint8_t *p, size_t n)
{
    const struct trace_dat_reader *reader = ctx;
    return tracepoints_is_plausible(reader->data.all, (struct tracepoint_raw){p, n});
}

/* Resynchronizes after an event that extends over the end of its page, possibly because of a
 * damaged size earlier in the page: continues at the next plausible event, or with the next page.
 */
static ttr_status lane_resync(struct trace_dat_reader *reader, struct trace_dat_lane *lane)
{
    const uint8_t *from = lane->page.sure;
    uint64_t offset =
        lane->is_compressed ? lane->offset : lane->offset + (uint64_t)(from - lane->buffer);
    if (!ring_buffer_resync(&lane->page, is_plausible_event, reader))
        lane->page.p = lane->page.end;
    return input_add_damage(
        reader->in, offset, lane->is_compressed ? 0 : (uint64_t)(lane->page.p - from),
        "trace_dat.bad-event", reader->error,
        "an event of CPU %u is damaged; reading continues with the next plausible event or page",
        lane->cpu);
}

/* Reports damage and skips the damaged part of a page, or the page. */
static ttr_status lane_skip_damage(struct trace_dat_reader *reader, struct trace_dat_lane *lane)
{
    size_t left = lane->n - lane->next;
    if (lane->page.p < lane->page.end)
        return lane_resync(reader, lane);
    size_t n = left < lane->page_bytes ? left : lane->page_bytes;
    uint64_t offset = lane->is_compressed ? lane->offset : lane->offset + lane->next;
    lane->next += n;
    return input_add_damage(
        reader->in, offset, lane->is_compressed ? 0 : n, "trace_dat.bad-page", reader->error,
        "a page of CPU %u declares more bytes than a page has; reading continues with the next",
        lane->cpu);
}

ttr_status trace_dat_lane_continue(struct trace_dat_reader *reader, struct trace_dat_lane *lane,
                                   bool *has_event)
{
    ttr_status status = TTR_OK;
    *has_event = true;
    while (status == TTR_OK) {
        if (trace_dat_lane_next(reader, lane)) {
            lane->is_stuck = false;
            return TTR_OK;
        }
        if (lane->page.p < lane->page.end || lane->next < lane->n) {
            status = lane_skip_damage(reader, lane);
            continue;
        }
        lane->n = lane->next = 0;
        lane->page = (struct ring_buffer_page){0};
        if (lane->left == 0)
            break;
        status = lane->is_compressed ? lane_read_chunk(reader, lane)
                                     : lane_read_uncompressed(reader, lane);
    }
    lane->is_stuck = *has_event = false;
    return status;
}
