/* Golden vectors of the format, from the specification and its decisions (README.md). */
#include <zlib.h>
#include <zstd.h>

#include "formats/trace_dat/trace_dat.h"
#include "support.h"
#include "vectors.h"

static void fill(uint8_t *bytes, size_t n)
{
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(support_random(&random) % 9 ? 'a' + i % 26 : support_random(&random));
}

/* Cut anywhere, or overwritten: what comes out stands at the begin, and is most of what could. */
static void what_is_compressed_gives_what_stands_before_damage(void **state)
{
    enum { N = 600000, BLOCK = 128 << 10 };
    static uint8_t bytes[N], packed[2 * N], out[N];
    uLongf zlib_n = sizeof packed;
    (void)state;
    fill(bytes, N);
    struct trace_dat_reader zlib = {.compression = "zlib"}, zstd = {.compression = "zstd"};
    assert_int_equal(compress(packed, &zlib_n, bytes, N), Z_OK);
    assert_int_equal(trace_dat_inflate(&zlib, packed, zlib_n, out, N), N);
    size_t n = trace_dat_inflate(&zlib, packed, zlib_n / 2, out, N);
    assert_in_range(n, N * 4 / 10, N * 6 / 10);
    assert_memory_equal(out, bytes, n);
    size_t zstd_n = ZSTD_compress(packed, sizeof packed, bytes, N, 3);
    assert_int_equal(trace_dat_inflate(&zstd, packed, zstd_n, out, N), N);
    n = trace_dat_inflate(&zstd, packed, zstd_n / 2, out, N);
    assert_in_range(n, N * 6 / 10 - 2 * BLOCK, N * 6 / 10);
    assert_memory_equal(out, bytes, n);
    memset(packed + zstd_n / 2, 0, zstd_n / 2);
    n = trace_dat_inflate(&zstd, packed, zstd_n, out, N);
    assert_true(n >= BLOCK);
    assert_memory_equal(out, bytes, BLOCK);
}

int main(void)
{
    static const struct CMUnitTest others[] = {cmocka_unit_test(what_is_compressed_gives_what_stands_before_damage)};
    static const struct vectors_suite suite = {
        .format = "trace_dat",
        .folders = {{"vectors", VECTORS_USUAL}, {"vectors-bad", VECTORS_USUAL}},
        .others = others,
        .others_n = sizeof others / sizeof *others,
    };
    return vectors_run(&suite);
}
