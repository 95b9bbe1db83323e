/* Copies a nettrace trace: keeps each chunk until all its events were returned, then writes it. */
#include "formats/nettrace/nettrace_copy.h"

#include <string.h>

#include "base/status.h"

void nettrace_copy_init(struct nettrace_copy *copy, const struct alloc *alloc,
                        const struct nettrace_reader *reader, uint16_t source)
{
    *copy = (struct nettrace_copy){.version = reader->version, .source = source};
    buffer_init(&copy->bytes, alloc);
    pair_map_init(&copy->dropped, alloc);
    pair_map_init(&copy->moved, alloc);
}

void nettrace_copy_free(struct nettrace_copy *copy, const struct alloc *alloc)
{
    buffer_free(&copy->bytes);
    pair_map_free(&copy->dropped);
    pair_map_free(&copy->moved);
    alloc_free(alloc, copy->held, copy->held_capacity, sizeof *copy->held);
    alloc_free(alloc, copy->marks, copy->marks_capacity, sizeof *copy->marks);
}

/* --- Bit set of the events to copy --- */

/* Returns how many events of a chunk arrived so far. */
static uint32_t count_arrived_events(const struct nettrace_copy *copy,
                                     const struct nettrace_chunk *chunk)
{
    uint64_t first = chunk->offset - copy->marks_from,
             /* first, last: bits of the chunk in the set, from the first byte to after the last
              * byte */
        last = first + chunk->size;
    uint32_t n = 0;
    for (uint64_t word = first / 64; word < copy->mark_words && word * 64 < last; word++) {
        uint64_t bits = copy->marks[word];
        bits &= word == first / 64 ? UINT64_MAX << first % 64 : UINT64_MAX;
        bits &= last - word * 64 < 64 ? (UINT64_C(1) << (last - word * 64)) - 1 : UINT64_MAX;
        n += (uint32_t)__builtin_popcountll(bits);
    }
    return n;
}

/* Extends the bit set to the bytes of a chunk. Drops the bits of chunks that were written. Returns
 * false if memory runs out. */
static bool reserve_marks(struct nettrace_copy *copy, const struct alloc *alloc,
                          const struct nettrace_chunk *chunk)
{
    bool is_first = copy->held_first == copy->held_n;
    uint64_t oldest = is_first ? chunk->offset : copy->held[copy->held_first].chunk.offset;
    size_t gone = (size_t)((oldest - copy->marks_from) / 64);
    if (is_first) {
        copy->mark_words = 0;
        copy->marks_from = chunk->offset & ~UINT64_C(63);
    } else if (gone > copy->mark_words / 2) {
        copy->mark_words -= gone;
        copy->marks_from += (uint64_t)gone * 64;
        memmove(copy->marks, copy->marks + gone, copy->mark_words * sizeof *copy->marks);
    }
    size_t need = (size_t)((chunk->offset + chunk->size - copy->marks_from) / 64) + 1;
    if (!alloc_reserve(alloc, (void **)&copy->marks, &copy->marks_capacity, need,
                       sizeof *copy->marks))
        return false;
    if (need > copy->mark_words) {
        memset(copy->marks + copy->mark_words, 0, (need - copy->mark_words) * sizeof *copy->marks);
        copy->mark_words = need;
    }
    return true;
}

/* --- Writing of chunks --- */

/* Writes a chunk unchanged, except for the padding of an object if its file offset changed. */
static void write_unchanged_chunk(const struct nettrace_copy *copy, struct ttr_writer *out,
                                  const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    enum { NAME_AT = 15, SIZE = 4 };
    bool is_object = copy->version >= 3 && copy->version < NETTRACE_V6 &&
                     chunk->kind >= NETTRACE_CHUNK_EVENTS && chunk->kind <= NETTRACE_CHUNK_OTHER;
    size_t head = is_object ? NAME_AT + load_u32le(bytes + NAME_AT - 4) + 1 + SIZE : 0;
    bool is_placed = ((ttr_writer_bytes(out) - chunk->offset) & 3) == 0 &&
                     ((chunk->offset + chunk->body) & 3) == 0;
    if (!is_object || is_placed) {
        buffer_add(&out->buffer, bytes, chunk->size);
        return;
    }
    buffer_add(&out->buffer, bytes, head);
    nettrace_append_padding(out);
    buffer_add(&out->buffer, bytes + chunk->body, chunk->size - chunk->body);
}

/* V1, V2: writes the label table, which contains the offset of the end tag. */
static void write_label_table(const struct nettrace_copy *copy, struct ttr_writer *out,
                              const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    uint32_t i = 0;
    for (; chunk->size - i >= 4; i += 4) {
        uint32_t x = load_u32le(bytes + i);
        bool is_end = x == copy->end_before || x == copy->end_before + 1;
        nettrace_append_u32(&out->buffer,
                            is_end ? (uint32_t)(copy->end_now + (x - copy->end_before)) : x);
    }
    buffer_add(&out->buffer, bytes + i, chunk->size - i);
}

/* If damage destroyed the Trace object, which every trace needs, writes one with the values that
 * the reader assumed. */
static void write_missing_trace(struct nettrace_copy *copy, struct ttr_writer *out,
                                const struct nettrace_chunk *chunk)
{
    if (copy->has_trace || chunk->kind == NETTRACE_CHUNK_FILE_HEAD || copy->version < 3)
        return;
    copy->has_trace = true;
    if (chunk->kind == NETTRACE_CHUNK_TRACE)
        return;
    nettrace_append_trace(
        out, copy->version,
        &(struct nettrace_trace_info){.frequency = 1000000000, .pointer_bytes = 8});
}

/* Returns true if a block of events must be rebuilt: it is damaged, a filter removed some of its
 * events, or earlier events of its threads, which changes sequence numbers. */
static bool needs_rebuild(const struct nettrace_copy *copy, const struct ttr_writer *out,
                          const struct nettrace_chunk *chunk)
{
    bool is_moved = chunk->kind == NETTRACE_CHUNK_FLAT && ttr_writer_bytes(out) != chunk->offset;
    return chunk->is_part || is_moved || copy->dropped.used > 0 ||
           count_arrived_events(copy, chunk) < chunk->events;
}

static ttr_status write_chunk(struct nettrace_copy *copy, struct ttr_writer *out,
                              const struct nettrace_chunk *chunk, const uint8_t *bytes,
                              ttr_error *error)
{
    bool has_events = chunk->kind == NETTRACE_CHUNK_EVENTS || chunk->kind == NETTRACE_CHUNK_FLAT,
         is_fine = true;
    bool has_counts =
        chunk->kind == NETTRACE_CHUNK_POINT || chunk->kind == NETTRACE_CHUNK_ENDED_THREADS;
    write_missing_trace(copy, out, chunk);
    if (chunk->kind == NETTRACE_CHUNK_END) {
        copy->has_end = true;
        copy->end_before = chunk->offset;
        copy->end_now = ttr_writer_bytes(out);
    }
    if (has_events && needs_rebuild(copy, out, chunk))
        is_fine = chunk->kind == NETTRACE_CHUNK_EVENTS
                      ? nettrace_rebuild_events(copy, out, chunk, bytes)
                      : nettrace_rebuild_flat(copy, out, chunk, bytes);
    else if (chunk->is_part)
        nettrace_repair_chunk(copy, out, chunk, bytes);
    else if (has_counts && copy->dropped.used > 0)
        nettrace_rebuild_sequence_point(copy, out, chunk, bytes);
    else if (chunk->kind == NETTRACE_CHUNK_TRAILING && copy->version < 3)
        write_label_table(copy, out, chunk, bytes);
    else
        write_unchanged_chunk(copy, out, chunk, bytes);
    return is_fine ? output_drain(out, error) : fail_memory(error);
}

/* --- Chunks that wait for events --- */

static ttr_status write_finished_chunks(struct nettrace_copy *copy, struct ttr_writer *out,
                                        uint64_t emitted_to, ttr_error *error)
{
    while (copy->held_first < copy->held_n) {
        const struct nettrace_held *held = &copy->held[copy->held_first];
        if (held->chunk.offset + held->chunk.size > emitted_to)
            break;
        const uint8_t *bytes = copy->bytes.bytes + held->at;
        struct nettrace_chunk chunk = held->chunk;
        chunk.segments = chunk.segments_bytes ? bytes + chunk.size : NULL;
        ttr_status status = write_chunk(copy, out, &chunk, bytes, error);
        if (status != TTR_OK)
            return status;
        copy->bytes_first = held->at + chunk.size + chunk.segments_bytes;
        copy->held_first++;
    }
    if (copy->held_first == copy->held_n) {
        copy->held_first = copy->held_n = 0;
        copy->bytes_first = 0;
        buffer_clear(&copy->bytes);
    }
    return TTR_OK;
}

/* Moves the bytes of waiting chunks to the start of the buffer if at least half of it is free. */
static void compact_waiting_bytes(struct nettrace_copy *copy)
{
    if (copy->bytes_first <= copy->bytes.n / 2)
        return;
    memmove(copy->bytes.bytes, copy->bytes.bytes + copy->bytes_first,
            copy->bytes.n - copy->bytes_first);
    copy->bytes.n -= copy->bytes_first;
    copy->held_n -= copy->held_first;
    memmove(copy->held, copy->held + copy->held_first, copy->held_n * sizeof *copy->held);
    for (size_t i = 0; i < copy->held_n; i++)
        copy->held[i].at -= copy->bytes_first;
    copy->held_first = copy->bytes_first = 0;
}

static ttr_status keep_chunk_until_events_arrive(struct nettrace_copy *copy,
                                                 const struct alloc *alloc,
                                                 const struct nettrace_chunk *chunk,
                                                 const uint8_t *bytes, ttr_error *error)
{
    compact_waiting_bytes(copy);
    if (!reserve_marks(copy, alloc, chunk) ||
        !alloc_reserve(alloc, (void **)&copy->held, &copy->held_capacity, copy->held_n + 1,
                       sizeof *copy->held))
        return fail_memory(error);
    copy->held[copy->held_n++] = (struct nettrace_held){*chunk, copy->bytes.n};
    buffer_add(&copy->bytes, bytes, chunk->size + chunk->segments_bytes);
    return copy->bytes.failed ? fail_memory(error) : TTR_OK;
}

ttr_status nettrace_copy_add_chunk(struct nettrace_copy *copy, struct ttr_writer *out,
                                   const ttr_event *event, ttr_error *error)
{
    uint32_t extra = (uint32_t)event->duration, size = event->payload_size - extra;
    struct nettrace_chunk chunk = {.offset = event->offset,
                                   .size = size,
                                   .segments = extra ? event->payload + size : NULL,
                                   .segments_bytes = extra,
                                   .body = event->body,
                                   .events = event->sequence,
                                   .kind = (uint8_t)event->tag,
                                   .is_part = (event->flags & TTR_EVENT_PARTIAL) != 0};
    ttr_status status = write_finished_chunks(copy, out, event->link, error);
    if (status != TTR_OK)
        return status;
    if (copy->held_first < copy->held_n || chunk.offset + chunk.size > event->link)
        return keep_chunk_until_events_arrive(copy, &out->t->counted, &chunk, event->payload,
                                              error);
    copy->mark_words = 0;
    return write_chunk(copy, out, &chunk, event->payload, error);
}

ttr_status nettrace_copy_finish(struct nettrace_copy *copy, struct ttr_writer *out,
                                ttr_error *error)
{
    ttr_status status = write_finished_chunks(copy, out, UINT64_MAX, error);
    if (status != TTR_OK || copy->has_end)
        return status;
    write_missing_trace(copy, out, &(struct nettrace_chunk){.kind = NETTRACE_CHUNK_END});
    uint64_t end = ttr_writer_bytes(out);
    nettrace_append_end_mark(out, copy->version);
    /* the label table has one entry, and its own offset at the end */
    if (copy->version < 3) {
        nettrace_append_u32(&out->buffer, 1);
        nettrace_append_u32(&out->buffer, (uint32_t)end);
        nettrace_append_u32(&out->buffer, (uint32_t)end + 1);
    }
    return out->buffer.failed ? fail_memory(error) : TTR_OK;
}
