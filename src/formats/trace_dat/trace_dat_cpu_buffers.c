/* CPU buffers: read the pages of one CPU in one ring buffer, and return their events in order. */
#include <inttypes.h>

#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

/* memory limit in bytes for all CPU buffers together, which share it equally if there are many */
#define BUFFERS_BYTES ((size_t)8 << 20)
#define BUFFER_BYTES ((size_t)256 << 10) /* memory limit in bytes for one CPU buffer */
/* number of bytes in which the next chunk is searched for after damage */
#define RESYNC_BYTES ((uint64_t)4 << 20)
/* magic number of a zstd frame (RFC 8878, section 3.1.1) */
#define ZSTD_MAGIC 0xfd2fb528u
#define ZLIB_HEAD 0x78 /* first byte of zlib data: deflate with a window of 32 KiB */

ttr_status trace_dat_add_cpu_buffer(struct trace_dat_reader *reader,
                                    const struct trace_dat_cpu_buffer *cpu_buffer, ttr_text buffer)
{
    struct input *in = reader->in;
    if (cpu_buffer->left == 0)
        return TTR_OK;
    if (cpu_buffer->page_bytes < 64 || cpu_buffer->page_bytes > TRACE_DAT_PAGE_MAX)
        return input_add_damage(in, cpu_buffer->at, cpu_buffer->left, "trace_dat.bad-page-size",
                                reader->error,
                                "pages of %u bytes are impossible; CPU %u is not read",
                                cpu_buffer->page_bytes, cpu_buffer->cpu);
    uint64_t room = cpu_buffer->at < reader->size ? reader->size - cpu_buffer->at : 0,
             size = cpu_buffer->left < room ? cpu_buffer->left : room;
    if (size > reader->size - reader->cpu_buffers_bytes)
        return input_add_damage(
            in, cpu_buffer->at, 0, "trace_dat.overlap", reader->error,
            "with the events of CPU %u here, all have more bytes than the file: "
            "they overlap, and these are not read",
            cpu_buffer->cpu);
    reader->cpu_buffers_bytes += size;
    ttr_id name = buffer.n ? ttr_text_add(reader->t, buffer.p, buffer.n) : 0;
    ttr_id track = context_add_track(
        reader->t, &(ttr_track){.number = cpu_buffer->cpu, .name = name, .source = in->id});
    if (!track || (buffer.n && !name) ||
        !alloc_reserve(&reader->t->counted, (void **)&reader->cpu_buffer,
                       &reader->cpu_buffers_capacity, reader->cpu_buffers_n + 1,
                       sizeof *reader->cpu_buffer))
        return fail_memory(reader->error);
    struct trace_dat_cpu_buffer *added = &reader->cpu_buffer[reader->cpu_buffers_n++];
    *added = *cpu_buffer;
    added->track = track;
    added->needs_refill = true;
    if (cpu_buffer->is_compressed && cpu_buffer->left <= UINT64_MAX - sizeof cpu_buffer->chunks)
        /* the size that trace-cmd stores does not include the count itself */
        added->left += sizeof cpu_buffer->chunks;
    if (added->left <= room)
        return TTR_OK;
    added->left = room;
    return input_add_damage(in, reader->size, 0, "trace_dat.cut", reader->error,
                            "the file ends inside the events of CPU %u: %" PRIu64 " of %" PRIu64
                            " bytes are present",
                            cpu_buffer->cpu, room, cpu_buffer->left);
}

static struct ring_buffer_layout get_page_layout(const struct trace_dat_reader *reader)
{
    return (struct ring_buffer_layout){reader->data.is_big_endian, reader->data.commit_bytes,
                                       reader->data.page_data};
}

/* Starts to read the next valid page in memory. Returns false if no page remains, or if the page
 * is damaged. */
static bool begin_page(struct trace_dat_reader *reader, struct trace_dat_cpu_buffer *cpu_buffer)
{
    struct ring_buffer_layout layout = get_page_layout(reader);
    size_t left = cpu_buffer->n - cpu_buffer->next,
           n = left < cpu_buffer->page_bytes ? left : cpu_buffer->page_bytes;
    if (n == 0 || !ring_buffer_begin_page(&layout, cpu_buffer->buffer + cpu_buffer->next, n,
                                          n < cpu_buffer->page_bytes, &cpu_buffer->page))
        return false;
    cpu_buffer->next += n;
    return true;
}

bool trace_dat_advance_to_next_event(struct trace_dat_reader *reader,
                                     struct trace_dat_cpu_buffer *cpu_buffer)
{
    cpu_buffer->is_gap = false;
    for (;;) {
        enum ring_buffer_step step = ring_buffer_next_event(&cpu_buffer->page, &cpu_buffer->event);
        if (step == RING_BUFFER_EVENT)
            return true;
        if (step == RING_BUFFER_DAMAGED || !begin_page(reader, cpu_buffer))
            break;
        if (cpu_buffer->page.is_lossy) {
            cpu_buffer->is_gap = true;
            cpu_buffer->event = (struct ring_buffer_event){.time = cpu_buffer->page.time};
            return true;
        }
    }
    cpu_buffer->needs_refill = true;
    return false;
}

static ttr_status reserve_buffer(struct trace_dat_reader *reader,
                                 struct trace_dat_cpu_buffer *cpu_buffer, size_t n)
{
    return alloc_reserve(&reader->t->counted, (void **)&cpu_buffer->buffer, &cpu_buffer->capacity,
                         n, 1)
               ? TTR_OK
               : fail_memory(reader->error);
}

static ttr_status read_uncompressed_pages(struct trace_dat_reader *reader,
                                          struct trace_dat_cpu_buffer *cpu_buffer)
{
    size_t share = BUFFERS_BYTES / reader->cpu_buffers_n,
           most = share < BUFFER_BYTES ? share : BUFFER_BYTES;
    size_t want = most / cpu_buffer->page_bytes * cpu_buffer->page_bytes;
    want = want ? want : cpu_buffer->page_bytes;
    want = cpu_buffer->left < want ? (size_t)cpu_buffer->left : want;
    ttr_status status = reserve_buffer(reader, cpu_buffer, want);
    if (status == TTR_OK)
        status =
            trace_dat_read_at(reader, cpu_buffer->at, cpu_buffer->buffer, want, &cpu_buffer->n);
    cpu_buffer->offset = cpu_buffer->at;
    cpu_buffer->at += cpu_buffer->n;
    cpu_buffer->left = cpu_buffer->n ? cpu_buffer->left - cpu_buffer->n : 0;
    return status;
}

/* Reads a u32 at the current file offset of a CPU buffer. Sets *is_there to false at the end of
 * the CPU buffer. */
static ttr_status read_buffer_u32(struct trace_dat_reader *reader,
                                  struct trace_dat_cpu_buffer *cpu_buffer, uint32_t *value,
                                  bool *is_there)
{
    uint8_t bytes[4];
    size_t got = 0;
    ttr_status status = cpu_buffer->left >= sizeof bytes
                            ? trace_dat_read_at(reader, cpu_buffer->at, bytes, sizeof bytes, &got)
                            : TTR_OK;
    struct cursor c = cursor_init(bytes, got, cpu_buffer->at);
    *value = (uint32_t)tracing_data_read_number(&reader->data, &c, 4);
    *is_there = !c.failed;
    cpu_buffer->at += got;
    cpu_buffer->left -= got;
    return status;
}

/* Returns true if a compressed chunk starts at the cursor: plausible sizes, followed by the magic
 * of zstd or a header of zlib (RFC 1950, section 2.2). */
static bool is_chunk_here(const struct trace_dat_reader *reader,
                          const struct trace_dat_cpu_buffer *cpu_buffer, struct cursor c,
                          uint64_t left)
{
    const uint64_t packed = tracing_data_read_number(&reader->data, &c, 4),
                   whole = tracing_data_read_number(&reader->data, &c, 4);
    const uint8_t *magic = cursor_read_bytes(&c, 4);
    if (!magic || packed < 4 || packed > left - TRACE_DAT_CHUNK_HEAD || whole == 0 ||
        whole > TRACE_DAT_CHUNK_MAX || whole % cpu_buffer->page_bytes != 0)
        return false;
    return strcmp(reader->compression, "zstd") == 0
               ? load_u32le(magic) == ZSTD_MAGIC
               : magic[0] == ZLIB_HEAD && load_u16be(magic) % 31 == 0;
}

/* Searches RESYNC_BYTES for the next chunk and continues there, or ends the CPU buffer. Reports
 * the skipped bytes as damage. */
static ttr_status skip_to_next_chunk(struct trace_dat_reader *reader,
                                     struct trace_dat_cpu_buffer *cpu_buffer, const char *why)
{
    const uint64_t left = cpu_buffer->left, begin = cpu_buffer->at;
    ttr_status status = trace_dat_load_at(reader, begin, left < RESYNC_BYTES ? left : RESYNC_BYTES);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, begin);
    while (cursor_left(&c) > TRACE_DAT_CHUNK_HEAD &&
           !is_chunk_here(reader, cpu_buffer, c, left - (c.offset - begin)))
        (void)cursor_skip(&c, 1);
    const bool is_found = cursor_left(&c) > TRACE_DAT_CHUNK_HEAD;
    cpu_buffer->at = is_found ? c.offset : begin + left;
    cpu_buffer->left = begin + left - cpu_buffer->at;
    /* the number of remaining chunks is unknown */
    cpu_buffer->chunks = is_found ? UINT32_MAX : 0;
    return input_add_damage(
        reader->in, begin, cpu_buffer->at - begin, "trace_dat.bad-chunk", reader->error,
        is_found ? "%s; CPU %u continues at the next chunk" : "%s; CPU %u ends here", why,
        cpu_buffer->cpu);
}

/* Decompresses the current chunk. If it is damaged, keeps the pages that precede the damage. */
static ttr_status decompress_chunk(struct trace_dat_reader *reader,
                                   struct trace_dat_cpu_buffer *cpu_buffer, uint32_t packed,
                                   uint32_t whole)
{
    bool is_cut = packed > cpu_buffer->left;
    uint64_t there = is_cut ? cpu_buffer->left : packed;
    ttr_status status = trace_dat_load_at(reader, cpu_buffer->at, there);
    size_t size = trace_dat_get_first_buffer_size(reader->bytes.n, whole);
    for (bool is_full = true; status == TTR_OK && is_full;
         size = trace_dat_get_next_buffer_size(size, whole)) {
        status = reserve_buffer(reader, cpu_buffer, size + 1);
        if (status == TTR_OK)
            cpu_buffer->n = trace_dat_decompress(reader, reader->bytes.bytes, reader->bytes.n,
                                                 cpu_buffer->buffer, size);
        is_full = cpu_buffer->n == size && size < whole;
    }
    if (status != TTR_OK)
        return status;
    cpu_buffer->offset = cpu_buffer->at;
    cpu_buffer->at += there;
    cpu_buffer->left -= there;
    cpu_buffer->chunks = is_cut ? 0 : cpu_buffer->chunks - 1;
    if (cpu_buffer->n == whole && !is_cut)
        return TTR_OK;
    return input_add_damage(
        reader->in, cpu_buffer->offset, there,
        is_cut ? "trace_dat.bad-chunk" : "trace_dat.bad-compression", reader->error,
        is_cut
            ? "CPU %u ends inside a chunk that %s compressed: %zu of its %u bytes are decompressed"
            : "a chunk of CPU %u is damaged: %s decompresses %zu of its %u bytes; reading "
              "continues with the next",
        cpu_buffer->cpu, reader->compression, cpu_buffer->n, whole);
}

static ttr_status read_compressed_chunk(struct trace_dat_reader *reader,
                                        struct trace_dat_cpu_buffer *cpu_buffer)
{
    uint32_t packed, whole;
    bool is_there = true;
    const bool is_first = !cpu_buffer->has_chunk_count;
    ttr_status status =
        !is_first ? TTR_OK : read_buffer_u32(reader, cpu_buffer, &cpu_buffer->chunks, &is_there);
    cpu_buffer->has_chunk_count = true;
    if (status == TTR_OK && is_there && cpu_buffer->chunks == 0 && is_first && cpu_buffer->left)
        return skip_to_next_chunk(reader, cpu_buffer, "the number of compressed chunks is 0");
    if (status != TTR_OK || (is_there && cpu_buffer->chunks == 0)) {
        cpu_buffer->left = 0;
        return status;
    }
    if (is_there)
        status = read_buffer_u32(reader, cpu_buffer, &packed, &is_there);
    if (status == TTR_OK && is_there)
        status = read_buffer_u32(reader, cpu_buffer, &whole, &is_there);
    if (status != TTR_OK)
        return status;
    if (!is_there || cpu_buffer->left == 0)
        return skip_to_next_chunk(reader, cpu_buffer, "a compressed chunk is missing");
    if (whole > TRACE_DAT_CHUNK_MAX || whole == 0)
        return skip_to_next_chunk(reader, cpu_buffer,
                                  "a compressed chunk of 0 or of more than 16 MiB is impossible");
    return decompress_chunk(reader, cpu_buffer, packed, whole);
}

static bool is_plausible_event(const void *ctx, const uint8_t *p, size_t n)
{
    const struct trace_dat_reader *reader = ctx;
    return tracepoints_is_plausible(reader->data.all, (struct tracepoint_raw){p, n});
}

/* Searches for the next event after an event that extends beyond its page, possibly because a size
 * earlier in the page is damaged. Continues at the next plausible event, or with the next page. */
static ttr_status find_next_event_in_page(struct trace_dat_reader *reader,
                                          struct trace_dat_cpu_buffer *cpu_buffer)
{
    const uint8_t *from = cpu_buffer->page.sure;
    uint64_t offset = cpu_buffer->is_compressed
                          ? cpu_buffer->offset
                          : cpu_buffer->offset + (uint64_t)(from - cpu_buffer->buffer);
    if (!ring_buffer_resync(&cpu_buffer->page, is_plausible_event, reader))
        cpu_buffer->page.p = cpu_buffer->page.end;
    return input_add_damage(
        reader->in, offset, cpu_buffer->is_compressed ? 0 : (uint64_t)(cpu_buffer->page.p - from),
        "trace_dat.bad-event", reader->error,
        "an event of CPU %u is damaged; reading continues with the next plausible event or page",
        cpu_buffer->cpu);
}

/* Reports damage, and skips the damaged part of a page or the entire page. */
static ttr_status skip_damaged_page(struct trace_dat_reader *reader,
                                    struct trace_dat_cpu_buffer *cpu_buffer)
{
    size_t left = cpu_buffer->n - cpu_buffer->next;
    if (cpu_buffer->page.p < cpu_buffer->page.end)
        return find_next_event_in_page(reader, cpu_buffer);
    size_t n = left < cpu_buffer->page_bytes ? left : cpu_buffer->page_bytes;
    uint64_t offset =
        cpu_buffer->is_compressed ? cpu_buffer->offset : cpu_buffer->offset + cpu_buffer->next;
    cpu_buffer->next += n;
    return input_add_damage(
        reader->in, offset, cpu_buffer->is_compressed ? 0 : n, "trace_dat.bad-page", reader->error,
        "a page of CPU %u declares more bytes than a page has; reading continues with the next",
        cpu_buffer->cpu);
}

ttr_status trace_dat_refill_cpu_buffer(struct trace_dat_reader *reader,
                                       struct trace_dat_cpu_buffer *cpu_buffer, bool *has_event)
{
    ttr_status status = TTR_OK;
    *has_event = true;
    while (status == TTR_OK) {
        if (trace_dat_advance_to_next_event(reader, cpu_buffer)) {
            cpu_buffer->needs_refill = false;
            return TTR_OK;
        }
        if (cpu_buffer->page.p < cpu_buffer->page.end || cpu_buffer->next < cpu_buffer->n) {
            status = skip_damaged_page(reader, cpu_buffer);
            continue;
        }
        cpu_buffer->n = cpu_buffer->next = 0;
        cpu_buffer->page = (struct ring_buffer_page){0};
        if (cpu_buffer->left == 0)
            break;
        status = cpu_buffer->is_compressed ? read_compressed_chunk(reader, cpu_buffer)
                                           : read_uncompressed_pages(reader, cpu_buffer);
    }
    cpu_buffer->needs_refill = *has_event = false;
    return status;
}
