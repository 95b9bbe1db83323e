/* Decoders for gzip, zstd, lz4, bzip2 and xz, each as three functions over its library: begin,
 * step, end.
 *
 * The libraries allocate with malloc, not with the caller's allocator: they allocate on the
 * decompression thread, and the caller's allocator need not be thread-safe. Their memory is bounded
 * by the limits below. After an error, zstd and lz4 do not report what the failed call wrote. So
 * they get at most as much input per call as they ask for, about one block. Left out: zlib and raw
 * deflate, which have no magic bytes; the legacy formats of lz4 and lzma, which no tracer writes.
 */
#define ZLIB_CONST
#include "io/decoder.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/sanitizer.h"

enum {
    HEADER_MIN = 7, /* the shortest zstd or lz4 frame, in bytes */
    /* windowBits of inflateInit2 in zlib.h: largest window, gzip wrapper only */
    GZIP_WINDOW_BITS = 15 + 16,
    XZ_MEMORY_MAX = 256 << 20, /* bytes; xz -9 needs 65 MiB to decode */
    /* log2 of the window size: 128 MiB, the limit of the zstd command without --long */
    ZSTD_WINDOW_LOG_MAX = 27
};

static void advance_io(struct decode_io *io, size_t in_left, size_t out_left)
{
    io->in += io->in_n - in_left;
    io->out += io->out_n - out_left;
    io->in_n = in_left;
    io->out_n = out_left;
}

static size_t minimum(size_t n, size_t most)
{
    return n < most ? n : most;
}

static bool gzip_begin(void *state)
{
    z_stream *z = state;
    return (z->state ? inflateReset(z) : inflateInit2(z, GZIP_WINDOW_BITS)) == Z_OK;
}

static enum decode_result gzip_step(void *state, struct decode_io *io)
{
    z_stream *z = state;
    z->next_in = io->in;
    z->avail_in = (uInt)io->in_n;
    z->next_out = io->out;
    z->avail_out = (uInt)io->out_n;
    int result = inflate(z, Z_NO_FLUSH);
    advance_io(io, z->avail_in, z->avail_out);
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR:
        /* zlib made no progress: it needs input or output room */
        return DECODE_CONTINUE;
    case Z_STREAM_END:
        return DECODE_MEMBER_END;
    case Z_MEM_ERROR:
        return DECODE_NO_MEMORY;
    default:
        io->reason = z->msg ? z->msg : "not a gzip member";
        return DECODE_DAMAGED;
    }
}

static void gzip_end(void *state)
{
    (void)inflateEnd(state);
}

struct zstd_state {
    ZSTD_DCtx *context;
    size_t wanted; /* number of input bytes that zstd asks for in the next step */
};

static bool zstd_begin(void *state)
{
    struct zstd_state *zstd = state;
    zstd->wanted = HEADER_MIN;
    if (zstd->context)
        return !ZSTD_isError(ZSTD_DCtx_reset(zstd->context, ZSTD_reset_session_only));
    zstd->context = ZSTD_createDCtx();
    return zstd->context && !ZSTD_isError(ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax,
                                                                 ZSTD_WINDOW_LOG_MAX));
}

static enum decode_result zstd_step(void *state, struct decode_io *io)
{
    struct zstd_state *zstd = state;
    ZSTD_inBuffer in = {.src = io->in, .size = minimum(io->in_n, zstd->wanted), .pos = 0};
    ZSTD_outBuffer out = {.dst = io->out, .size = io->out_n, .pos = 0};
    size_t result = ZSTD_decompressStream(zstd->context, &out, &in);
    advance_io(io, io->in_n - in.pos, out.size - out.pos);
    zstd->wanted = result;
    if (!ZSTD_isError(result))
        return result == 0 ? DECODE_MEMBER_END : DECODE_CONTINUE;
    io->reason = ZSTD_getErrorName(result);
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return DECODE_TOO_LARGE;
    case ZSTD_error_memory_allocation:
        return DECODE_NO_MEMORY;
    default:
        return DECODE_DAMAGED;
    }
}

static void zstd_end(void *state)
{
    struct zstd_state *zstd = state;
    (void)ZSTD_freeDCtx(zstd->context);
}

struct lz4_state {
    LZ4F_dctx *context;
    size_t wanted; /* number of input bytes that lz4 asks for in the next step */
};

static bool lz4_begin(void *state)
{
    struct lz4_state *lz4 = state;
    lz4->wanted = HEADER_MIN;
    if (!lz4->context)
        return !LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION));
    LZ4F_resetDecompressionContext(lz4->context);
    return true;
}

static enum decode_result lz4_step(void *state, struct decode_io *io)
{
    struct lz4_state *lz4 = state;
    size_t in_used = minimum(io->in_n, lz4->wanted), out_used = io->out_n;
    size_t result = LZ4F_decompress(lz4->context, io->out, &out_used, io->in, &in_used, NULL);
    if (LZ4F_isError(result)) {
        io->reason = LZ4F_getErrorName(result);
        return strstr(io->reason, "allocation_failed") ? DECODE_NO_MEMORY : DECODE_DAMAGED;
    }
    advance_io(io, io->in_n - in_used, io->out_n - out_used);
    lz4->wanted = result;
    return result == 0 ? DECODE_MEMBER_END : DECODE_CONTINUE;
}

static void lz4_end(void *state)
{
    struct lz4_state *lz4 = state;
    (void)LZ4F_freeDecompressionContext(lz4->context);
}

static void bzip2_end(void *state)
{
    bz_stream *bz = state;
    if (bz->state)
        (void)BZ2_bzDecompressEnd(bz);
}

static bool bzip2_begin(void *state)
{
    bzip2_end(state); /* bzip2 has no reset function */
    memset(state, 0, sizeof(bz_stream));
    return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

static enum decode_result bzip2_step(void *state, struct decode_io *io)
{
    bz_stream *bz = state;
    /* next_in is not const, though bzip2 only reads through it */
    memcpy(&bz->next_in, &io->in, sizeof bz->next_in);
    bz->avail_in = (unsigned)io->in_n;
    bz->next_out = (char *)io->out;
    bz->avail_out = (unsigned)io->out_n;
    int result = BZ2_bzDecompress(bz);
    advance_io(io, bz->avail_in, bz->avail_out);
    switch (result) {
    case BZ_OK:
        return DECODE_CONTINUE;
    case BZ_STREAM_END:
        return DECODE_MEMBER_END;
    case BZ_MEM_ERROR:
        return DECODE_NO_MEMORY;
    default:
        io->reason =
            result == BZ_DATA_ERROR ? "checksum or structure is wrong" : "not a bzip2 block";
        return DECODE_DAMAGED;
    }
}

static bool xz_begin(void *state)
{
    return lzma_stream_decoder(state, XZ_MEMORY_MAX, 0) ==
           LZMA_OK; /* reuses the memory of the previous stream */
}

static enum decode_result xz_step(void *state, struct decode_io *io)
{
    lzma_stream *xz = state;
    xz->next_in = io->in;
    xz->avail_in = io->in_n;
    xz->next_out = io->out;
    xz->avail_out = io->out_n;
    sanitizer_enter_library();
    lzma_ret result = lzma_code(xz, LZMA_RUN);
    sanitizer_leave_library();
    advance_io(io, xz->avail_in, xz->avail_out);
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        /* liblzma made no progress: it needs input or output room */
        return DECODE_CONTINUE;
    case LZMA_STREAM_END:
        return DECODE_MEMBER_END;
    case LZMA_MEM_ERROR:
        return DECODE_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return DECODE_TOO_LARGE;
    case LZMA_OPTIONS_ERROR:
        io->reason = "options this liblzma does not know";
        return DECODE_DAMAGED;
    default:
        io->reason = "checksum or structure is wrong";
        return DECODE_DAMAGED;
    }
}

static void xz_end(void *state)
{
    lzma_end(state);
}

static const struct decoder decoders[] = {
    {"gzip", sizeof(z_stream), gzip_begin, gzip_step, gzip_end},
    {"zstd", sizeof(struct zstd_state), zstd_begin, zstd_step, zstd_end},
    {"lz4", sizeof(struct lz4_state), lz4_begin, lz4_step, lz4_end},
    {"bzip2", sizeof(bz_stream), bzip2_begin, bzip2_step, bzip2_end},
    {"xz", sizeof(lzma_stream), xz_begin, xz_step, xz_end},
};

/* Magic bytes of compressed members. The low half of the byte at index `loose` may have any value.
 *
 * RFC 1952 2.3.1 with CM = 8; RFC 8878 3.1.1 and, for skippable frames 0x184d2a50 to 5f, 3.1.2;
 * lz4_Frame_format.md; xz-file-format.txt 2.1.1.1. bzip2 has "BZh", the block size as a digit, then
 * 6 bytes: digits of pi if a block follows, of sqrt(pi) if the stream is empty. */
enum { NO_LOOSE_BYTE = 255 };

static const struct magic {
    const struct decoder *decoder;
    uint8_t n, loose;
    uint8_t bytes[DECODER_MAGIC_MAX];
} magics[] = {
    {&decoders[0], 3, NO_LOOSE_BYTE, {0x1f, 0x8b, 0x08}},
    {&decoders[1], 4, NO_LOOSE_BYTE, {0x28, 0xb5, 0x2f, 0xfd}},
    {&decoders[1], 4, 0, {0x50, 0x2a, 0x4d, 0x18}},
    {&decoders[2], 4, NO_LOOSE_BYTE, {0x04, 0x22, 0x4d, 0x18}},
    {&decoders[3], 10, 3, {'B', 'Z', 'h', '0', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59}},
    {&decoders[3], 10, 3, {'B', 'Z', 'h', '0', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90}},
    {&decoders[4], 6, NO_LOOSE_BYTE, {0xfd, '7', 'z', 'X', 'Z', 0x00}},
};

static enum decoder_match match_magic(const struct magic *magic, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n && i < magic->n; i++)
        if ((i == magic->loose ? bytes[i] & 0xf0 : bytes[i]) != magic->bytes[i])
            return DECODER_NO;
    return n < magic->n ? DECODER_MAYBE : DECODER_YES;
}

enum decoder_match decoder_match(const struct decoder *decoder, const uint8_t *bytes, size_t n)
{
    enum decoder_match best = DECODER_NO;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        enum decoder_match match =
            magics[i].decoder == decoder ? match_magic(&magics[i], bytes, n) : DECODER_NO;
        best = match > best ? match : best;
    }
    return best;
}

const struct decoder *decoder_detect(const uint8_t *bytes, size_t n, enum decoder_match *match)
{
    const struct decoder *found = NULL;
    *match = DECODER_NO;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        enum decoder_match here = match_magic(&magics[i], bytes, n);
        if (here == DECODER_YES)
            found = magics[i].decoder;
        *match = here > *match ? here : *match;
    }
    return found;
}
