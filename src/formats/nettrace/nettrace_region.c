/* Region writer: collects events between two sequence points and writes them as blocks.
 *
 * Order of calls: nettrace_intern_bytes() for stacks and label lists, nettrace_region_add_event()
 * for each event, nettrace_region_write_full_blocks() after each event,
 * nettrace_region_write_point() at the end.
 *
 *   region  = blocks up to REGION_BYTES, then a sequence point
 *   written   metadata | stacks | threads | labels | events        once per BLOCK_BYTES of events
 *             metadata | stacks | threads | labels | events
 *             sequence point: sequence number of each thread; stacks and labels start again at 1
 *
 * Invariant: each block of events is written after everything that its events refer to. Rows that
 * are new since the last block wait in buffers for that.
 *
 * Memory: one block of events, the rows that wait, and a hash table of the stacks and label lists
 * of the region, which NUMBERED_MAX limits.
 *
 * Left out: blocks per thread. All events are in order of time and marked as sorted, so one block
 * holds all threads. */
#include "base/hash.h"
#include "base/status.h"
#include "formats/nettrace/nettrace_writer.h"

#define BLOCK_BYTES ((size_t)100 << 10) /* block size that the runtime uses, too */
#define REGION_BYTES ((size_t)4 << 20)
#define NUMBERED_MAX 100000u

static void init_number_table(struct nettrace_number_table *table, const struct alloc *alloc)
{
    key_map_init(&table->known, alloc);
    buffer_init(&table->rows, alloc);
    table->first = 1;
}

static void clear_number_table(struct nettrace_number_table *table)
{
    const struct alloc *alloc = table->known.alloc;
    key_map_free(&table->known);
    key_map_init(&table->known, alloc);
    buffer_clear(&table->rows);
    table->first = 1;
    table->n = 0;
}

void nettrace_region_init(struct nettrace_region *region, const struct alloc *alloc)
{
    buffer_init(&region->events, alloc);
    buffer_init(&region->metadata, alloc);
    buffer_init(&region->threads, alloc);
    init_number_table(&region->stacks, alloc);
    init_number_table(&region->labels, alloc);
    region->least = UINT64_MAX;
    region->generation = 1;
}

void nettrace_region_free(struct nettrace_region *region)
{
    buffer_free(&region->events);
    buffer_free(&region->metadata);
    buffer_free(&region->threads);
    key_map_free(&region->stacks.known);
    key_map_free(&region->labels.known);
    buffer_free(&region->stacks.rows);
    buffer_free(&region->labels.rows);
}

uint32_t nettrace_intern_bytes(struct nettrace_number_table *table, const uint8_t *bytes, size_t n,
                               bool has_size)
{
    uint64_t hash = hash_bytes(bytes, n);
    const uint32_t *known = key_map_get(&table->known, hash);
    if (known)
        return *known;
    if (has_size)
        nettrace_append_u32(&table->rows, (uint32_t)n);
    buffer_add(&table->rows, bytes, n);
    uint32_t number = table->first + table->n++;
    return key_map_put(&table->known, hash, number) ? number : 0;
}

void nettrace_region_add_event(struct nettrace_writer *w, const struct nettrace_header *header,
                               const uint8_t *payload)
{
    struct nettrace_region *region = &w->region;
    uint8_t *at = buffer_room(&region->events, NETTRACE_HEADER_MAX + (size_t)header->payload_size);
    if (!at)
        return;
    uint8_t *end = nettrace_encode_header(at, &region->last, header, nettrace_is_v6(w));
    if (header->payload_size)
        memcpy(end, payload, header->payload_size);
    buffer_commit(&region->events, (size_t)(end - at) + header->payload_size);
    /* The next header is encoded relative to this one, whose activity ids may be freed by then:
     * copy them. */
    memcpy(region->activity, header->activity ? header->activity : region->none, 16);
    memcpy(region->related, header->related ? header->related : region->none, 16);
    region->last.activity = region->activity;
    region->last.related = region->related;
    region->least = header->ticks < region->least ? header->ticks : region->least;
    region->most = header->ticks > region->most ? header->ticks : region->most;
}

/* --- Blocks --- */

static void append_block_header(struct buffer *to, uint64_t least, uint64_t most)
{
    nettrace_append_u16(to, NETTRACE_BLOCK_HEADER);
    nettrace_append_u16(to, NETTRACE_BLOCK_COMPRESSED);
    nettrace_append_u64(to, least);
    nettrace_append_u64(to, most);
}

/* V4, V5: appends metadata records as events. In region->metadata each record is preceded by its
 * size. */
static void append_metadata_events(struct buffer *to, const struct buffer *rows)
{
    struct cursor c = cursor_init(rows->bytes, rows->n, 0);
    struct nettrace_header last = {0};
    append_block_header(to, 0, 0);
    while (cursor_left(&c) > 0) {
        struct cursor row = cursor_slice(&c, cursor_u32le(&c));
        struct nettrace_header header = {.cpu = UINT32_MAX,
                                         .sequence = 0,
                                         .flags = NETTRACE_IS_SORTED,
                                         .payload_size = (uint32_t)cursor_left(&row)};
        uint8_t *at = buffer_room(to, NETTRACE_HEADER_MAX);
        if (!at)
            return;
        buffer_commit(to, (size_t)(nettrace_encode_header(at, &last, &header, false) - at));
        buffer_add(to, row.p, cursor_left(&row));
    }
}

static void write_metadata_block(struct ttr_writer *out)
{
    struct nettrace_writer *w = out->ctx;
    struct buffer *rows = &w->region.metadata;
    if (rows->n == 0)
        return;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_METADATA);
    if (nettrace_is_v6(w)) {
        nettrace_append_u16(&out->buffer, 0);
        buffer_add(&out->buffer, rows->bytes, rows->n);
    } else {
        append_metadata_events(&out->buffer, rows);
    }
    nettrace_frame_end(out, &frame);
    buffer_clear(rows);
}

static void write_number_table(struct ttr_writer *out, struct nettrace_number_table *table,
                               enum nettrace_block_kind kind)
{
    struct nettrace_writer *w = out->ctx;
    if (table->n == 0)
        return;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, kind);
    nettrace_append_u32(&out->buffer, table->first);
    nettrace_append_u32(&out->buffer, table->n);
    buffer_add(&out->buffer, table->rows.bytes, table->rows.n);
    nettrace_frame_end(out, &frame);
    buffer_clear(&table->rows);
    table->first += table->n;
    table->n = 0;
}

static void write_thread_block(struct ttr_writer *out)
{
    struct nettrace_writer *w = out->ctx;
    if (w->region.threads.n == 0)
        return;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_THREADS);
    buffer_add(&out->buffer, w->region.threads.bytes, w->region.threads.n);
    nettrace_frame_end(out, &frame);
    buffer_clear(&w->region.threads);
}

/* Writes the pending events as a block, after the metadata, stacks, threads and labels that they
 * refer to. */
static void write_pending_block(struct ttr_writer *out)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_region *region = &w->region;
    uint64_t before = ttr_writer_bytes(out);
    write_metadata_block(out);
    write_number_table(out, &region->stacks, NETTRACE_BLOCK_STACKS);
    write_thread_block(out);
    write_number_table(out, &region->labels, NETTRACE_BLOCK_LABELS);
    if (region->events.n) {
        struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_EVENTS);
        append_block_header(&out->buffer, region->least, region->most);
        buffer_add(&out->buffer, region->events.bytes, region->events.n);
        nettrace_frame_end(out, &frame);
    }
    region->bytes += (size_t)(ttr_writer_bytes(out) - before);
    buffer_clear(&region->events);
    region->last = (struct nettrace_header){0};
    region->least = UINT64_MAX;
    region->most = 0;
    w->is_out_of_memory |= region->events.failed || region->metadata.failed ||
                           region->threads.failed || region->stacks.rows.failed ||
                           region->labels.rows.failed;
}

/* --- Sequence points --- */

/* Writes a sequence point with the sequence number of each thread; in V6 only of threads declared
 * since the thread table was last cleared. */
static void write_sequence_point(struct ttr_writer *out, bool forgets_threads)
{
    enum { FORGETS_THREADS = 1 };
    struct nettrace_writer *w = out->ctx;
    const struct nettrace_region *region = &w->region;
    struct buffer *to = &out->buffer;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_POINT);
    nettrace_append_u64(to, w->last_ticks);
    if (nettrace_is_v6(w))
        nettrace_append_u32(to, forgets_threads ? FORGETS_THREADS : 0);
    size_t count_at = to->n;
    uint32_t n = 0;
    nettrace_append_u32(to, 0);
    const bool is_v6 = nettrace_is_v6(w);
    const size_t threads_n = is_v6 ? region->declared_n : w->threads_n;
    for (size_t i = 0; i < threads_n; i++) {
        const struct nettrace_output_thread *thread = &w->threads[is_v6 ? region->declared[i] : i];
        if (!is_v6 && thread->sequence == 0)
            continue;
        n++;
        if (is_v6) {
            nettrace_append_varint(to, thread->index);
            nettrace_append_varint(to, thread->sequence);
        } else {
            nettrace_append_u64(to, thread->tid);
            nettrace_append_u32(to, thread->sequence);
        }
    }
    if (!to->failed)
        store_u32le(to->bytes + count_at, n);
    nettrace_frame_end(out, &frame);
}

ttr_status nettrace_region_write_point(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_region *region = &w->region;
    bool forgets_threads = nettrace_is_v6(w) && nettrace_threads_are_stale(out);
    write_pending_block(out);
    write_sequence_point(out, forgets_threads);
    clear_number_table(&region->stacks);
    clear_number_table(&region->labels);
    region->bytes = 0;
    if (forgets_threads) {
        region->generation++;
        region->declared_n = 0;
    }
    return output_drain(out, error);
}

ttr_status nettrace_region_write_full_blocks(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_region *region = &w->region;
    bool is_crowded = region->stacks.first + region->stacks.n > NUMBERED_MAX ||
                      region->labels.first + region->labels.n > NUMBERED_MAX;
    bool is_full = region->events.n >= BLOCK_BYTES || region->stacks.rows.n >= 8 * BLOCK_BYTES ||
                   region->metadata.n >= 8 * BLOCK_BYTES;
    if (is_crowded || region->bytes >= REGION_BYTES)
        return nettrace_region_write_point(out, error);
    if (is_full)
        write_pending_block(out);
    return output_drain(out, error);
}
