/* Compression of perf.data records with zstd; perf_zstd.h describes it. */
#include "base/sanitizer.h"
#include "encodings/perf_data/perf_zstd.h"

#include <zstd.h>

struct perf_zstd {
    const struct alloc *alloc;
    ZSTD_CStream *stream;
};

struct perf_zstd *perf_zstd_new(const struct alloc *alloc, int level)
{
    struct perf_zstd *made = alloc_zero(alloc, 1, sizeof *made);
    if (!made)
        return NULL;
    made->alloc = alloc;
    made->stream = ZSTD_createCStream();
    if (made->stream && !ZSTD_isError(ZSTD_initCStream(made->stream, level)))
        return made;
    perf_zstd_free(made);
    return NULL;
}

void perf_zstd_free(struct perf_zstd *stream)
{
    if (!stream)
        return;
    (void)ZSTD_freeCStream(stream->stream);
    alloc_free(stream->alloc, stream, 1, sizeof *stream);
}

size_t perf_zstd_compress(struct perf_zstd *stream, const void *bytes, size_t n, void *to,
                          size_t room)
{
    ZSTD_inBuffer in = {.src = bytes, .size = n};
    ZSTD_outBuffer out = {.dst = to, .size = room};
    size_t left = ZSTD_compressStream2(stream->stream, &out, &in, ZSTD_e_flush);
    sanitizer_mark_written(to, out.pos);
    return ZSTD_isError(left) || left > 0 || in.pos < in.size ? 0 : out.pos;
}
