/* Golden vectors of trace.dat, derived from its manual pages and the decisions in README.md. */
#include <stdio.h>
#include <stdlib.h>
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

/* Returns the number of events of a trace that are read by their formats: that have a name. */
static size_t count_named_events(const uint8_t *bytes, size_t n)
{
    ttr_batch batch;
    size_t named = 0;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, bytes, n, "memory", NULL, NULL);
    while (reader && ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            named += ttr_text_get(t, ttr_batch_at(&batch, i)->name).n > 0;
    ttr_close(reader);
    ttr_free(t);
    return named;
}

/* Offsets from which on bytes of a vector are removed one by one. */
struct removal {
    const char *vector;
    size_t from, to;
    size_t lost; /* number of events that one byte may cost */
};

/* All later parts of the file move by a byte. */
static void removed_byte_costs_at_most_the_event_around_it(void **state)
{
    static const struct removal removals[] = {
        {"vectors/version-6", 18, 223, 0},       /* layout of pages */
        {"vectors/version-6", 672, 896, 1},      /* pages of both CPUs */
        {"vectors/instance-6", 688, 832, 1},     /* pages of two buffers */
        {"vectors/instance-4096", 688, 1200, 0}, /* padding before the first page */
        {"vectors/instance-4096", 4096, 12288, 1},
        {"vectors/version-7", 316, 716, 0},   /* sections before the options */
        {"vectors/version-7", 917, 1110, 1},  /* pages */
        {"vectors-bad/chunks", 316, 716, 0},  /* sections before compressed pages */
        {"vectors-bad/chunks", 852, 896, 0}}; /* padding before them */
    (void)state;
    for (size_t i = 0; i < sizeof removals / sizeof *removals; i++) {
        const struct removal *removal = &removals[i];
        struct hexa hexa;
        char path[128];
        (void)snprintf(path, sizeof path, "src/formats/trace_dat/%s.hexa", removal->vector);
        vectors_load(&hexa, path);
        const size_t all = count_named_events(hexa.bytes, hexa.n);
        uint8_t *copy = malloc(hexa.n);
        assert_non_null(copy);
        assert_true(removal->to <= hexa.n);
        for (size_t at = removal->from; at < removal->to; at++) {
            memcpy(copy, hexa.bytes, at);
            memcpy(copy + at, hexa.bytes + at + 1, hexa.n - at - 1);
            if (count_named_events(copy, hexa.n - 1) + removal->lost < all)
                fail_msg("%s without byte %zu: %zu of %zu events", removal->vector, at,
                         count_named_events(copy, hexa.n - 1), all);
        }
        free(copy);
        hexa_free(&hexa);
    }
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(removed_byte_costs_at_most_the_event_around_it),
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
