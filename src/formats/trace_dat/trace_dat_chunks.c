/* Compressed pages of a CPU buffer: u32 count, then chunks { u32 packed, u32 unpacked, bytes }. */
#include <inttypes.h>

#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

/* number of bytes in which the next chunk is searched for after damage */
#define RESYNC_BYTES ((uint64_t)4 << 20)
#define CHUNKS_MAX 65536u /* a list of more chunks is not searched */
/* number of bytes up to the magic number of the first chunk */
#define CHUNK_LIST_HEAD ((uint64_t)4 + TRACE_DAT_CHUNK_HEAD + 4)
/* magic number of a zstd frame (RFC 8878, section 3.1.1) */
#define ZSTD_MAGIC 0xfd2fb528u
#define ZLIB_HEAD 0x78 /* first byte of zlib data: deflate with a window of 32 KiB */

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
        status = trace_dat_reserve_pages(reader, cpu_buffer, size + 1);
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

/* Returns true if compressed pages of `declared` bytes are at file offset `at`, which is not the
 * declared offset of another CPU: the number of chunks, and as many chunks with that sum of
 * sizes. */
static bool is_chunk_list_at(struct trace_dat_reader *reader, uint64_t at, uint64_t declared)
{
    uint8_t bytes[TRACE_DAT_CHUNK_HEAD];
    size_t got;
    for (size_t i = 0; i < reader->cpu_buffers_n; i++)
        if (reader->cpu_buffer[i].declared == at)
            return false;
    if (reader->failed_searches >= TRACE_DAT_SEARCHES_MAX ||
        trace_dat_read_at(reader, at, bytes, 4, &got) != TTR_OK)
        return false;
    struct cursor c = cursor_init(bytes, got, at);
    const uint64_t chunks = tracing_data_read_number(&reader->data, &c, 4), end = at + declared;
    uint64_t next = at + 4;
    reader->failed_searches++;
    for (uint64_t i = 0; i < chunks; i++) {
        if (next >= end || i >= CHUNKS_MAX ||
            trace_dat_read_at(reader, next, bytes, sizeof bytes, &got) != TTR_OK)
            return false;
        c = cursor_init(bytes, got, next);
        next += TRACE_DAT_CHUNK_HEAD + tracing_data_read_number(&reader->data, &c, 4);
        if (c.failed)
            return false;
    }
    reader->failed_searches -= next == end;
    return next == end;
}

/* Moves the CPU buffer if its next chunk is less than TRACE_DAT_MOVED_MAX bytes before the declared
 * offset, since bytes of the file are missing. */
static ttr_status relocate_chunk(struct trace_dat_reader *reader,
                                 struct trace_dat_cpu_buffer *cpu_buffer)
{
    const bool is_first = !cpu_buffer->has_chunk_count;
    const uint64_t declared = cpu_buffer->at, whole = cpu_buffer->left + cpu_buffer->missing,
                   count_bytes = is_first ? 4 : 0, from = is_first ? 0 : cpu_buffer->offset,
                   begin = declared - from > TRACE_DAT_MOVED_MAX ? declared - TRACE_DAT_MOVED_MAX
                                                                 : from;
    if (cpu_buffer->moved_back >= TRACE_DAT_MOVED_BACK_MAX)
        return TTR_OK;
    ttr_status status = trace_dat_load_at(reader, begin, declared - begin + CHUNK_LIST_HEAD);
    struct cursor c = cursor_init(reader->bytes.bytes, reader->bytes.n, begin);
    struct cursor chunk = c;
    (void)cursor_skip(&chunk, declared - begin + count_bytes);
    if (status != TTR_OK || is_chunk_here(reader, cpu_buffer, chunk, UINT64_MAX))
        return status;
    for (uint64_t at = declared; at-- > begin;) {
        chunk = c;
        if (cursor_skip(&chunk, at - begin + count_bytes) &&
            is_chunk_here(reader, cpu_buffer, chunk, reader->size - at) &&
            (!is_first || is_chunk_list_at(reader, at, whole)))
            return trace_dat_move_cpu_buffer(reader, cpu_buffer, declared, cpu_buffer->left, at);
    }
    return TTR_OK;
}

ttr_status trace_dat_read_chunk(struct trace_dat_reader *reader,
                                struct trace_dat_cpu_buffer *cpu_buffer)
{
    uint32_t packed, whole;
    bool is_there = true;
    const bool is_first = !cpu_buffer->has_chunk_count;
    ttr_status status = relocate_chunk(reader, cpu_buffer);
    if (status == TTR_OK && is_first)
        status = read_buffer_u32(reader, cpu_buffer, &cpu_buffer->chunks, &is_there);
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
