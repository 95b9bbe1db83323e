/* Golden vectors of trace.dat, derived from its manual pages and the decisions in README.md. */
#include <zlib.h>
#include <zstd.h>

#include <tracetta/advanced.h>

#include "formats/trace_dat/trace_dat.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"

static void fill_compressible(uint8_t *bytes, size_t n)
{
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(support_random(&random) % 9 ? 'a' + i % 26 : support_random(&random));
}

/* Damaged compressed data yields a prefix of the original, most of what precedes the damage. */
static void damaged_compressed_data_yields_prefix(void **state)
{
    enum { N = 600000, BLOCK = 128 << 10 };
    static uint8_t bytes[N], packed[2 * N], out[N];
    uLongf zlib_n = sizeof packed;
    (void)state;
    fill_compressible(bytes, N);
    struct trace_dat_reader zlib = {.compression = "zlib"}, zstd = {.compression = "zstd"};
    assert_int_equal(compress(packed, &zlib_n, bytes, N), Z_OK);
    assert_int_equal(trace_dat_decompress(&zlib, packed, zlib_n, out, N), N);
    size_t n = trace_dat_decompress(&zlib, packed, zlib_n / 2, out, N);
    assert_in_range(n, N * 4 / 10, N * 6 / 10);
    assert_memory_equal(out, bytes, n);
    size_t zstd_n = ZSTD_compress(packed, sizeof packed, bytes, N, 3);
    assert_int_equal(trace_dat_decompress(&zstd, packed, zstd_n, out, N), N);
    n = trace_dat_decompress(&zstd, packed, zstd_n / 2, out, N);
    assert_in_range(n, N * 6 / 10 - 2 * BLOCK, N * 6 / 10);
    assert_memory_equal(out, bytes, n);
    memset(packed + zstd_n / 2, 0, zstd_n / 2);
    n = trace_dat_decompress(&zstd, packed, zstd_n, out, N);
    assert_true(n >= BLOCK);
    assert_memory_equal(out, bytes, BLOCK);
}

struct pipe {
    const struct hexa *hexa;
    size_t at;
};

static int64_t read_from_memory(void *ctx, void *to, size_t n)
{
    struct pipe *pipe = ctx;
    const size_t left = pipe->hexa->n - pipe->at, taken = n < left ? n : left;
    memcpy(to, pipe->hexa->bytes + pipe->at, taken);
    pipe->at += taken;
    return (int64_t)taken;
}

static bool progress_continues(void *ctx)
{
    return *(const bool *)ctx;
}

/* A pipe is stored completely before it is read, which may take long: progress callbacks can cancel
 * it. */
static void progress_callback_cancels_storing_of_pipe(void **state)
{
    (void)state;
    struct hexa hexa;
    vectors_load(&hexa, "src/formats/trace_dat/vectors/version-7.hexa");
    for (unsigned i = 0; i < 2; i++) {
        bool goes_on = i == 0;
        struct pipe pipe = {.hexa = &hexa};
        ttr_report report = {.size = sizeof report};
        uint64_t told = 0;
        ttr *t = ttr_new(NULL);
        ttr_progress_set(t, progress_continues, &goes_on);
        ttr_reader *reader = ttr_open_pull(t, read_from_memory, &pipe, "pipe", NULL, NULL);
        assert_true(reader && ttr_reader_report(reader, 0, &report));
        for (size_t k = 0; k < report.notes_n; k++)
            told += strcmp(report.notes[k].code, "trace_dat.ended-early") == 0
                        ? report.notes[k].count
                        : 0;
        assert_int_equal(told, !goes_on);
        ttr_close(reader);
        ttr_free(t);
    }
    hexa_free(&hexa);
}

/* Reads a trace to its end. Returns the peak of its memory. */
static size_t read_peak(const struct hexa *hexa)
{
    struct support_heap heap;
    ttr_batch batch;
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .user_data = heap.alloc.ctx});
    ttr_reader *reader = ttr_open_memory(t, hexa->bytes, hexa->n, "memory", NULL, NULL);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        ;
    ttr_close(reader);
    ttr_free(t);
    support_heap_check(&heap);
    return heap.peak;
}

/* A chunk declares the size that it decompresses to. The memory grows with the data instead. */
static void declared_chunk_size_takes_no_memory(void **state)
{
    static const uint8_t sizes[] = {75, 0, 0, 0, 64, 0, 0, 0, 0x78, 1};
    struct hexa hexa;
    (void)state;
    vectors_load(&hexa, "src/formats/trace_dat/vectors-bad/chunks.hexa");
    const size_t usual = read_peak(&hexa);
    uint8_t *at = memmem(hexa.bytes, hexa.n, sizes, sizeof sizes);
    assert_non_null(at);
    at[4] = 0;
    at[7] = 1; /* 16 MiB, which is allowed */
    assert_in_range(read_peak(&hexa), 1, usual + ((size_t)1 << 20));
    hexa_free(&hexa);
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(declared_chunk_size_takes_no_memory),
        cmocka_unit_test(damaged_compressed_data_yields_prefix),
        cmocka_unit_test(progress_callback_cancels_storing_of_pipe)};
    static const struct vectors_suite suite = {
        .format = "trace_dat",
        .folders = {{"vectors", VECTORS_USUAL}, {"vectors-bad", VECTORS_USUAL}},
        .others = others,
        .others_n = sizeof others / sizeof *others,
    };
    return vectors_run(&suite);
}
