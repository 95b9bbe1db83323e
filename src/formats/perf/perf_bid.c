/* Is this perf.data?  By its magic in one of both byte orders, and by the size of the head, of
 * which there are two. */
#include "formats/perf/perf.h"

static bool has_magic(const struct peek *peek, const char *magic)
{
    return peek->n >= 8 && memcmp(peek->bytes, magic, 8) == 0;
}

unsigned perf_bid(const struct peek *peek)
{
    bool is_big = has_magic(peek, PERF_MAGIC_BIG);
    if (!is_big && !has_magic(peek, PERF_MAGIC))
        return 0;
    if (peek->n < PERF_PIPE_HEADER_BYTES)
        return 64;
    uint64_t size = perf_u64(peek->bytes + PERF_AT_HEADER_SIZE, is_big);
    return size == PERF_PIPE_HEADER_BYTES || size == PERF_HEADER_BYTES ? 128 : 64;
}

const char *perf_refuse(const struct peek *peek)
{
    return has_magic(peek, "PERFFILE")
               ? "a perf.data of Linux before 2.6.33, in a layout that perf gave up"
               : NULL;
}
