/* CPU buffers: read the pages of one CPU in one ring buffer, and return their events in order. */
#include <inttypes.h>

#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

/* memory limit in bytes for all CPU buffers together, which share it equally if there are many */
#define BUFFERS_BYTES ((size_t)8 << 20)
#define BUFFER_BYTES ((size_t)256 << 10) /* memory limit in bytes for one CPU buffer */

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
    added->declared = cpu_buffer->at;
    added->needs_refill = true;
    if (cpu_buffer->is_compressed && cpu_buffer->left <= UINT64_MAX - sizeof cpu_buffer->chunks)
        /* the size that trace-cmd stores does not include the count itself */
        added->left += sizeof cpu_buffer->chunks;
    if (added->left <= room)
        return TTR_OK;
    added->missing = added->left - room;
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

static ttr_status read_uncompressed_pages(struct trace_dat_reader *reader,
                                          struct trace_dat_cpu_buffer *cpu_buffer)
{
    size_t share = BUFFERS_BYTES / reader->cpu_buffers_n,
           most = share < BUFFER_BYTES ? share : BUFFER_BYTES;
    size_t want = most / cpu_buffer->page_bytes * cpu_buffer->page_bytes;
    want = want ? want : cpu_buffer->page_bytes;
    want = cpu_buffer->left < want ? (size_t)cpu_buffer->left : want;
    ttr_status status = trace_dat_reserve_pages(reader, cpu_buffer, want);
    if (status == TTR_OK)
        status =
            trace_dat_read_at(reader, cpu_buffer->at, cpu_buffer->buffer, want, &cpu_buffer->n);
    cpu_buffer->offset = cpu_buffer->at;
    cpu_buffer->at += cpu_buffer->n;
    cpu_buffer->left = cpu_buffer->n ? cpu_buffer->left - cpu_buffer->n : 0;
    return status;
}

static bool is_plausible_event(const void *ctx, const uint8_t *p, size_t n)
{
    const struct trace_dat_reader *reader = ctx;
    return tracepoints_is_plausible(reader->data.all, (struct tracepoint_raw){p, n});
}

/* Sets *n to the number of bytes that are missing from the current page: the next page, or the end
 * of the file, comes earlier by as many. */
static ttr_status count_missing_bytes(struct trace_dat_reader *reader,
                                      const struct trace_dat_cpu_buffer *cpu_buffer, uint64_t *n)
{
    const uint64_t next = cpu_buffer->offset + cpu_buffer->next;
    uint64_t found = next;
    *n = 0;
    if (cpu_buffer->is_compressed)
        return TTR_OK;
    ttr_status status = trace_dat_find_page(reader, next, cpu_buffer->page_bytes, &found);
    if (found < next)
        *n = next - found;
    else if (next >= reader->size && cpu_buffer->missing < cpu_buffer->page_bytes)
        *n = cpu_buffer->missing;
    return status;
}

/* Moves to the next plausible event of a damaged page, or to the end of the page. `missing` bytes
 * of the page are missing. */
static void resync_page(struct trace_dat_reader *reader, struct ring_buffer_page *page,
                        uint64_t missing)
{
    struct ring_buffer_page shortened = *page;
    if (missing == 0 && ring_buffer_resync(page, is_plausible_event, reader))
        return;
    ring_buffer_shorten_page(&shortened, (size_t)missing);
    if (missing && ring_buffer_resync(&shortened, is_plausible_event, reader))
        *page = shortened;
    else
        page->p = page->end;
}

/* Searches for the next event after an event that extends beyond its page, possibly because a size
 * earlier in the page is damaged. Continues at the next plausible event, or with the next page. */
static ttr_status find_next_event_in_page(struct trace_dat_reader *reader,
                                          struct trace_dat_cpu_buffer *cpu_buffer)
{
    const uint8_t *from = cpu_buffer->page.sure;
    uint64_t offset = cpu_buffer->is_compressed
                          ? cpu_buffer->offset
                          : cpu_buffer->offset + (uint64_t)(from - cpu_buffer->buffer),
             missing;
    ttr_status status = count_missing_bytes(reader, cpu_buffer, &missing);
    if (status != TTR_OK)
        return status;
    resync_page(reader, &cpu_buffer->page, missing);
    return input_add_damage(
        reader->in, offset, cpu_buffer->is_compressed ? 0 : (uint64_t)(cpu_buffer->page.p - from),
        "trace_dat.bad-event", reader->error,
        "an event of CPU %u is damaged; reading continues with the next plausible event or page",
        cpu_buffer->cpu);
}

/* If the next page is not at its declared offset, moves the CPU buffer and drops the pages in
 * memory. */
static ttr_status relocate_pages(struct trace_dat_reader *reader,
                                 struct trace_dat_cpu_buffer *cpu_buffer, bool *is_moved)
{
    const uint64_t next = cpu_buffer->offset + cpu_buffer->next,
                   unread = cpu_buffer->n - cpu_buffer->next + cpu_buffer->left;
    uint64_t found = next;
    *is_moved = false;
    if (cpu_buffer->is_compressed || cpu_buffer->moved_back >= TRACE_DAT_MOVED_BACK_MAX)
        return TTR_OK;
    ttr_status status = trace_dat_find_page(reader, next, cpu_buffer->page_bytes, &found);
    if (status != TTR_OK || found == next)
        return status;
    *is_moved = true;
    cpu_buffer->n = cpu_buffer->next = 0;
    return trace_dat_move_cpu_buffer(reader, cpu_buffer, next, unread, found);
}

/* Reports damage, and skips the damaged part of a page or the entire page. */
static ttr_status skip_damaged_page(struct trace_dat_reader *reader,
                                    struct trace_dat_cpu_buffer *cpu_buffer)
{
    size_t left = cpu_buffer->n - cpu_buffer->next;
    bool is_moved;
    if (cpu_buffer->page.p < cpu_buffer->page.end)
        return find_next_event_in_page(reader, cpu_buffer);
    ttr_status status = relocate_pages(reader, cpu_buffer, &is_moved);
    if (status != TTR_OK || is_moved)
        return status;
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
        status = cpu_buffer->is_compressed ? trace_dat_read_chunk(reader, cpu_buffer)
                                           : read_uncompressed_pages(reader, cpu_buffer);
    }
    cpu_buffer->needs_refill = *has_event = false;
    return status;
}
