/* Block writer: collects events and writes them as blocks, with a sequence point after each
 * POINT_INTERVAL_BYTES.
 *
 * Order of calls: nettrace_intern_bytes() for stacks and label lists, nettrace_append_event()
 * for each event, nettrace_write_full_blocks() after each event,
 * nettrace_write_sequence_point() at the end.
 *
 *   written   metadata | stacks | threads | labels | events        once per BLOCK_BYTES of events
 *             metadata | stacks | threads | labels | events
 *             sequence point: sequence number of each thread; stacks and labels start again at 1
 *
 * Invariant: each block of events is written after everything that its events refer to. New rows
 * are collected in buffers and written before that block.
 *
 * Memory: one block of events, its new rows, and a hash table of up to NUMBERED_MAX stacks and
 * label lists since the last sequence point.
 *
 * Left out: blocks per thread. All events are in order of time and marked as sorted, so one block
 * holds all threads. */
#include "base/hash.h"
#include "base/status.h"
#include "formats/nettrace/nettrace_writer.h"

/* bytes per block, as the runtime's writer uses */
#define BLOCK_BYTES ((size_t)100 << 10)
#define POINT_INTERVAL_BYTES ((size_t)4 << 20)
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

void nettrace_block_writer_init(struct nettrace_block_writer *blocks, const struct alloc *alloc)
{
    buffer_init(&blocks->events, alloc);
    buffer_init(&blocks->metadata, alloc);
    buffer_init(&blocks->threads, alloc);
    init_number_table(&blocks->stacks, alloc);
    init_number_table(&blocks->labels, alloc);
    blocks->least = UINT64_MAX;
    blocks->generation = 1;
}

void nettrace_block_writer_free(struct nettrace_block_writer *blocks)
{
    buffer_free(&blocks->events);
    buffer_free(&blocks->metadata);
    buffer_free(&blocks->threads);
    key_map_free(&blocks->stacks.known);
    key_map_free(&blocks->labels.known);
    buffer_free(&blocks->stacks.rows);
    buffer_free(&blocks->labels.rows);
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

void nettrace_append_event(struct nettrace_writer *w, const struct nettrace_header *header,
                           const uint8_t *payload)
{
    struct nettrace_block_writer *blocks = &w->blocks;
    uint8_t *at = buffer_room(&blocks->events, NETTRACE_HEADER_MAX + (size_t)header->payload_size);
    if (!at)
        return;
    uint8_t *end = nettrace_encode_header(at, &blocks->last, header, nettrace_is_v6(w));
    if (header->payload_size)
        memcpy(end, payload, header->payload_size);
    buffer_commit(&blocks->events, (size_t)(end - at) + header->payload_size);
    /* the next header is encoded relative to this one; copy its activity ids, because they may be
     * freed by then */
    memcpy(blocks->activity, header->activity ? header->activity : blocks->none, 16);
    memcpy(blocks->related, header->related ? header->related : blocks->none, 16);
    blocks->last.activity = blocks->activity;
    blocks->last.related = blocks->related;
    blocks->least = header->ticks < blocks->least ? header->ticks : blocks->least;
    blocks->most = header->ticks > blocks->most ? header->ticks : blocks->most;
}

/* --- Writing of blocks --- */

static void append_block_header(struct buffer *to, uint64_t least, uint64_t most)
{
    nettrace_append_u16(to, NETTRACE_BLOCK_HEADER);
    nettrace_append_u16(to, NETTRACE_BLOCK_COMPRESSED);
    nettrace_append_u64(to, least);
    nettrace_append_u64(to, most);
}

/* V4, V5: appends metadata records in the form of events. In blocks->metadata, each record follows
 * its size. */
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
    struct buffer *rows = &w->blocks.metadata;
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
    if (w->blocks.threads.n == 0)
        return;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_THREADS);
    buffer_add(&out->buffer, w->blocks.threads.bytes, w->blocks.threads.n);
    nettrace_frame_end(out, &frame);
    buffer_clear(&w->blocks.threads);
}

/* Writes the collected events as a block, after the metadata, stacks, threads and labels to which
 * they refer. */
static void write_pending_block(struct ttr_writer *out)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_block_writer *blocks = &w->blocks;
    uint64_t before = ttr_writer_bytes(out);
    write_metadata_block(out);
    write_number_table(out, &blocks->stacks, NETTRACE_BLOCK_STACKS);
    write_thread_block(out);
    write_number_table(out, &blocks->labels, NETTRACE_BLOCK_LABELS);
    if (blocks->events.n) {
        struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_EVENTS);
        append_block_header(&out->buffer, blocks->least, blocks->most);
        buffer_add(&out->buffer, blocks->events.bytes, blocks->events.n);
        nettrace_frame_end(out, &frame);
    }
    blocks->bytes += (size_t)(ttr_writer_bytes(out) - before);
    buffer_clear(&blocks->events);
    blocks->last = (struct nettrace_header){0};
    blocks->least = UINT64_MAX;
    blocks->most = 0;
    w->is_out_of_memory |= blocks->events.failed || blocks->metadata.failed ||
                           blocks->threads.failed || blocks->stacks.rows.failed ||
                           blocks->labels.rows.failed;
}

/* --- Writing of sequence points --- */

/* Writes a sequence point with the sequence number of each thread; in V6 only of threads that were
 * declared since the thread table was last cleared. */
static void write_sequence_point(struct ttr_writer *out, bool clears_threads)
{
    enum { CLEARS_THREADS = 1 };
    struct nettrace_writer *w = out->ctx;
    const struct nettrace_block_writer *blocks = &w->blocks;
    struct buffer *to = &out->buffer;
    struct nettrace_frame frame = nettrace_frame_begin(out, w->version, NETTRACE_BLOCK_POINT);
    nettrace_append_u64(to, w->last_ticks);
    if (nettrace_is_v6(w))
        nettrace_append_u32(to, clears_threads ? CLEARS_THREADS : 0);
    size_t count_at = to->n;
    uint32_t n = 0;
    nettrace_append_u32(to, 0);
    const bool is_v6 = nettrace_is_v6(w);
    const size_t threads_n = is_v6 ? blocks->declared_n : w->threads_n;
    for (size_t i = 0; i < threads_n; i++) {
        const struct nettrace_output_thread *thread = &w->threads[is_v6 ? blocks->declared[i] : i];
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

ttr_status nettrace_write_sequence_point(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_block_writer *blocks = &w->blocks;
    bool clears_threads = nettrace_is_v6(w) && nettrace_threads_are_stale(out);
    write_pending_block(out);
    write_sequence_point(out, clears_threads);
    clear_number_table(&blocks->stacks);
    clear_number_table(&blocks->labels);
    blocks->bytes = 0;
    if (clears_threads) {
        blocks->generation++;
        blocks->declared_n = 0;
    }
    return output_drain(out, error);
}

ttr_status nettrace_write_full_blocks(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_block_writer *blocks = &w->blocks;
    bool is_crowded = blocks->stacks.first + blocks->stacks.n > NUMBERED_MAX ||
                      blocks->labels.first + blocks->labels.n > NUMBERED_MAX;
    bool is_full = blocks->events.n >= BLOCK_BYTES || blocks->stacks.rows.n >= 8 * BLOCK_BYTES ||
                   blocks->metadata.n >= 8 * BLOCK_BYTES;
    if (is_crowded || blocks->bytes >= POINT_INTERVAL_BYTES)
        return nettrace_write_sequence_point(out, error);
    if (is_full)
        write_pending_block(out);
    return output_drain(out, error);
}
