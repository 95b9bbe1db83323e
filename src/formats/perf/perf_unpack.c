/* Decompression of records: the payloads of COMPRESSED records form one zstd stream, in which
 * records may span payloads (PERF-PACK-1).
 *
 *   COMPRESSED    | header 8 | payload to the end of the record      |
 *   COMPRESSED2   | header 8 | u64 bytes | payload | zeros to 8       |
 *
 * Unpacked records are queued with the others. The file offset of each payload is kept for
 * diagnostics. After a decompression error the stream is not used again (PERF-BAD-4). */
#include "base/sanitizer.h"
#include "base/status.h"
#include "formats/perf/perf.h"
#include "io/decoder.h"

#define ROOM ((size_t)128 * 1024)

/* State of the zstd decoder; perf_unpacked.decoder owns it. */
struct unpacker {
    const struct decoder *decoder;
    void *state;
};

static ttr_status fail_decompression(struct perf_reader *reader, const struct perf_view *record,
                                     const char *why)
{
    reader->unpacked.is_broken = true;
    return input_add_damage(
        reader->in, record->offset, record->size, "perf.bad-compression", reader->error,
        "a compressed record cannot be decompressed (%s); all later ones are lost",
        why ? why : "damaged");
}

/* Creates the decoder of a stream that starts with the first payload. */
static ttr_status start_decompression(struct perf_reader *reader, const struct perf_view *record,
                                      const struct cursor *piece)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    enum decoder_match match;
    const struct decoder *decoder = decoder_detect(piece->p, cursor_left(piece), &match);
    if (!decoder)
        return fail_decompression(reader, record, "expected a frame of zstd");
    struct unpacker *unpacker = alloc_zero(alloc, 1, sizeof *unpacker);
    reader->unpacked.decoder = unpacker;
    if (!unpacker)
        return fail_memory(reader->error);
    unpacker->decoder = decoder;
    unpacker->state = alloc_zero(alloc, 1, decoder->state_size);
    return unpacker->state && decoder->begin(unpacker->state) ? TTR_OK : fail_memory(reader->error);
}

/* Decompresses the next part of a record, at most ROOM bytes. */
static ttr_status decompress_chunk(struct perf_reader *reader, const struct perf_view *record,
                                   const struct cursor *piece, bool *is_done)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    const struct unpacker *unpacker = unpacked->decoder;
    struct decode_io io = {.in = piece->p, .in_n = cursor_left(piece), .out_n = ROOM};
    enum decode_result result = DECODE_CONTINUE;
    if (!alloc_reserve(&reader->trace->t->counted, (void **)&unpacked->bytes, &unpacked->capacity,
                       unpacked->n + ROOM, 1))
        return fail_memory(reader->error);
    io.out = unpacked->bytes + unpacked->n;
    bool is_stuck = false;
    while (result == DECODE_CONTINUE && io.out_n > 0 && !is_stuck) {
        size_t in_n = io.in_n, out_n = io.out_n;
        const uint8_t *out = io.out;
        result = unpacker->decoder->step(unpacker->state, &io);
        sanitizer_mark_written(out, (size_t)(io.out - out));
        is_stuck = in_n == io.in_n && out_n == io.out_n;
        if (result == DECODE_MEMBER_END)
            result = !unpacker->decoder->begin(unpacker->state) ? DECODE_NO_MEMORY
                     : io.in_n > 0                              ? DECODE_CONTINUE
                                                                : result;
    }
    unpacked->n += ROOM - io.out_n;
    unpacked->done = (uint32_t)(io.in - record->p);
    *is_done = io.out_n > 0;
    if (result == DECODE_NO_MEMORY)
        return fail_memory(reader->error);
    return result == DECODE_DAMAGED || result == DECODE_TOO_LARGE
               ? fail_decompression(reader, record, io.reason)
               : TTR_OK;
}

static bool add_unpacked_piece(struct perf_reader *reader, uint64_t offset)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    if (!alloc_reserve(&reader->trace->t->counted, (void **)&unpacked->pieces,
                       &unpacked->pieces_capacity, unpacked->pieces_n + 1,
                       sizeof *unpacked->pieces))
        return false;
    unpacked->pieces[unpacked->pieces_n++] =
        (struct perf_piece){unpacked->from + unpacked->n, offset};
    return true;
}

ttr_status perf_decompress_chunk(struct perf_reader *reader, const struct perf_view *record,
                                 bool *is_done)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    struct perf_cursor at = {cursor_init(record->p, record->size, record->offset),
                             reader->trace->is_big};
    (void)cursor_skip(&at.c, PERF_RECORD_HEADER);
    if (record->type == PERF_COMPRESSED2) {
        uint64_t n = perf_read_u64(&at), left = cursor_left(&at.c);
        at.c = cursor_slice(&at.c, n < left ? n : left);
    }
    *is_done = true;
    ttr_status status = TTR_OK;
    bool has_begun = unpacked->done > 0;
    if (has_begun)
        (void)cursor_skip(&at.c, (uint64_t)(record->p + unpacked->done - at.c.p));
    else if (!unpacked->is_broken && cursor_left(&at.c) > 0 && !unpacked->decoder)
        status = start_decompression(reader, record, &at.c);
    if (status != TTR_OK || unpacked->is_broken || (!has_begun && cursor_left(&at.c) == 0))
        return status;
    if (!has_begun && !add_unpacked_piece(reader, record->offset))
        return fail_memory(reader->error);
    status = decompress_chunk(reader, record, &at.c, is_done);
    if (*is_done || unpacked->is_broken) {
        *is_done = true;
        unpacked->done = 0;
    }
    return status;
}

uint64_t perf_get_compressed_file_offset(const struct perf_unpacked *unpacked, uint64_t at)
{
    size_t low = 0, n = unpacked->pieces_n;
    while (n > 1) {
        size_t half = n / 2;
        low += unpacked->pieces[low + half].at <= at ? half : 0;
        n -= half;
    }
    return unpacked->pieces_n ? unpacked->pieces[low].offset : 0;
}

void perf_free_unpacked_bytes(struct perf_reader *reader)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    const struct alloc *alloc = &reader->in->base.t->counted;
    struct unpacker *unpacker = unpacked->decoder;
    if (unpacker && unpacker->state)
        unpacker->decoder->end(unpacker->state);
    if (unpacker)
        alloc_free(alloc, unpacker->state, 1, unpacker->decoder->state_size);
    alloc_free(alloc, unpacker, 1, sizeof *unpacker);
    alloc_free(alloc, unpacked->bytes, unpacked->capacity, 1);
    alloc_free(alloc, unpacked->pieces, unpacked->pieces_capacity, sizeof *unpacked->pieces);
}
