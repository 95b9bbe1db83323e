/* Reading at any offset of the file, and decompression of sections and chunks. */
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/sanitizer.h"
#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

#define HOLD_BYTES ((size_t)1 << 20)
/* number of compressed bytes that are passed to zstd at once */
#define PIECE ((size_t)4096)

/* Copies an input that is not seekable to a temporary file, and makes the reader use that file. */
static ttr_status copy_to_temporary_file(struct trace_dat_reader *reader)
{
    struct input *in = reader->in;
    for (uint64_t at = 0;;) {
        ttr_status status = input_fill(in, at, HOLD_BYTES, reader->error);
        if (status != TTR_OK)
            return status;
        if (in->window.n == 0)
            return TTR_OK;
        status = spill_append(&reader->spill, in->window.bytes, in->window.n, reader->error);
        if (status != TTR_OK)
            return status;
        at = in->window.offset + in->window.n;
        reader->size = at;
        if (!context_should_continue(reader->t)) {
            input_add_diagnostic(in, TTR_SEVERITY_REMARK, at, "trace_dat.ended-early",
                                 "reading was cancelled before the complete file was stored");
            return TTR_OK;
        }
    }
}

ttr_status trace_dat_make_seekable(struct trace_dat_reader *reader)
{
    struct input *in = reader->in;
    if (source_is_seekable(in->source)) {
        reader->size = source_disk_size(in->source);
        return TTR_OK;
    }
    ttr_status status = copy_to_temporary_file(reader);
    in->size = reader->size;
    return status;
}

ttr_status trace_dat_read_at(struct trace_dat_reader *reader, uint64_t offset, void *to, size_t n,
                             size_t *got)
{
    uint64_t left = offset < reader->size ? reader->size - offset : 0;
    *got = n < left ? n : (size_t)left;
    if (*got == 0)
        return TTR_OK;
    if (reader->spill.file >= 0)
        return spill_read(&reader->spill, offset, to, *got, reader->error);
    int64_t copied = source_peek_at(reader->in->source, offset, to, *got, reader->error);
    if (copied < 0)
        return TTR_E_IO;
    *got = (size_t)copied;
    return TTR_OK;
}

ttr_status trace_dat_load_at(struct trace_dat_reader *reader, uint64_t offset, uint64_t n)
{
    uint64_t left = offset < reader->size ? reader->size - offset : 0;
    size_t want = (size_t)(n < left ? n : left), got = 0;
    buffer_clear(&reader->bytes);
    uint8_t *to = buffer_room(&reader->bytes, want + 1);
    if (!to)
        return fail_memory(reader->error);
    ttr_status status = trace_dat_read_at(reader, offset, to, want, &got);
    buffer_commit(&reader->bytes, got);
    return status;
}

ttr_status trace_dat_reserve_pages(struct trace_dat_reader *reader,
                                   struct trace_dat_cpu_buffer *cpu_buffer, size_t n)
{
    return alloc_reserve(&reader->t->counted, (void **)&cpu_buffer->buffer, &cpu_buffer->capacity,
                         n, 1)
               ? TTR_OK
               : fail_memory(reader->error);
}

/* Decompresses with zstd in steps of PIECE bytes: if all bytes of a damaged frame were passed at
 * once, zstd would return no data. */
static size_t decompress_zstd(const void *from, size_t from_n, void *to, size_t to_n)
{
    ZSTD_inBuffer in = {from, 0, 0};
    ZSTD_outBuffer out = {to, to_n, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    for (size_t left = 1; stream && left && in.pos < from_n && !ZSTD_isError(left);) {
        in.size = from_n - in.pos < PIECE ? from_n : in.pos + PIECE;
        left = ZSTD_decompressStream(stream, &out, &in);
    }
    (void)ZSTD_freeDStream(stream);
    return out.pos;
}

static size_t decompress_zlib(const void *from, size_t from_n, void *to, size_t to_n)
{
    z_stream stream = {.next_out = to, .avail_out = (uInt)to_n};
    stream.next_in = from;
    stream.avail_in = (uInt)from_n;
    if (inflateInit(&stream) != Z_OK)
        return 0;
    int status = inflate(&stream, Z_SYNC_FLUSH);
    size_t n = to_n - stream.avail_out;
    (void)inflateEnd(&stream);
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR ||
                   status == Z_DATA_ERROR
               ? n
               : 0;
}

size_t trace_dat_get_first_buffer_size(size_t packed, size_t whole)
{
    const size_t usual = packed < SIZE_MAX / 128 ? packed * 64 + 65536 : SIZE_MAX;
    return whole < usual ? whole : usual;
}

size_t trace_dat_get_next_buffer_size(size_t size, size_t whole)
{
    return size < whole / 4 ? size * 4 : whole;
}

size_t trace_dat_decompress(const struct trace_dat_reader *reader, const void *from, size_t from_n,
                            void *to, size_t to_n)
{
    bool is_zstd = strcmp(reader->compression, "zstd") == 0;
    size_t n = 0;
    if (is_zstd && ZSTD_decompress(to, to_n, from, from_n) == to_n)
        n = to_n;
    else if (is_zstd)
        n = decompress_zstd(from, from_n, to, to_n);
    else if (strcmp(reader->compression, "zlib") == 0)
        n = decompress_zlib(from, from_n, to, to_n);
    sanitizer_mark_written(to, n);
    return n;
}
