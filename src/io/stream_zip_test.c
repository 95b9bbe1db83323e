/* Tests of compressed sources: every format, member layout, split, truncation and damage returns
 * what decodes, then one error, then the end. */
#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <lzma.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "base/sanitizer.h"
#include "io/source.h"
#include "support/support.h"

enum { KINDS = 5, PLAIN = 400000 };

static const char *const kind_names[KINDS] = {"gzip", "zstd", "lz4", "bzip2", "xz"};

/* Fills a buffer with bytes that compress somewhat and do not repeat. */
static void fill_plain(struct buffer *plain, size_t n, uint64_t seed)
{
    buffer_init(plain, alloc_default());
    while (plain->n < n) {
        char line[64];
        uint64_t x = support_random(&seed);
        (void)snprintf(line, sizeof line, "event %llu took %llu ns\n",
                       (unsigned long long)(x % 1000), (unsigned long long)(x >> 50));
        buffer_add_text(plain, line);
    }
    plain->n = n;
}

static size_t gzip_bytes(uint8_t *to, size_t room, const struct buffer *plain)
{
    z_stream z = {.next_in = plain->bytes,
                  .avail_in = (uInt)plain->n,
                  .next_out = to,
                  .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return z.total_out;
}

static size_t bzip2_bytes(uint8_t *to, size_t room, const struct buffer *plain)
{
    unsigned n = (unsigned)room;
    assert_int_equal(
        BZ2_bzBuffToBuffCompress((char *)to, &n, (char *)plain->bytes, (unsigned)plain->n, 1, 0, 0),
        BZ_OK);
    return n;
}

/* Compresses with a checksum, which ZSTD_compress omits. */
static size_t zstd_bytes(uint8_t *to, size_t room, const struct buffer *plain)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
    size_t n = ZSTD_compress2(context, to, room, plain->bytes, plain->n);
    (void)ZSTD_freeCCtx(context);
    return n;
}

static size_t lz4_bytes(uint8_t *to, size_t room, const struct buffer *plain)
{
    LZ4F_preferences_t settings = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    return LZ4F_compressFrame(to, room, plain->bytes, plain->n, &settings);
}

/* Appends one member of a format to `to`. */
static void compress_to(struct buffer *to, int kind, const struct buffer *plain)
{
    size_t room = plain->n + plain->n / 4 + 5000, n = 0;
    uint8_t *at = buffer_room(to, room);
    assert_non_null(at);
    switch (kind) {
    case 0:
        n = gzip_bytes(at, room, plain);
        break;
    case 1:
        n = zstd_bytes(at, room, plain);
        break;
    case 2:
        n = lz4_bytes(at, room, plain);
        break;
    case 3:
        n = bzip2_bytes(at, room, plain);
        break;
    default:
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain->bytes, plain->n,
                                                 at, &n, room),
                         LZMA_OK);
    }
    assert_true(n <= room);
    sanitizer_mark_written(at, n);
    buffer_commit(to, n);
}

/* A pull callback's state: returns compressed bytes in random pieces. */
struct drip {
    const struct buffer *bytes;
    size_t at, fail_at;
    uint64_t seed; /* 0: one byte per read; UINT64_MAX: as many as fit */
};

static int64_t drip_pull(void *ctx, void *to, size_t n)
{
    struct drip *drip = ctx;
    if (drip->at >= drip->fail_at) {
        errno = EIO;
        return -1;
    }
    size_t give = drip->seed == UINT64_MAX ? n
                  : drip->seed             ? 1 + (size_t)(support_random(&drip->seed) % 5000)
                                           : 1;
    give = give < n ? give : n;
    give = give < drip->bytes->n - drip->at ? give : drip->bytes->n - drip->at;
    give = give < drip->fail_at - drip->at ? give : drip->fail_at - drip->at;
    if (give)
        memcpy(to, drip->bytes->bytes + drip->at, give);
    drip->at += give;
    return (int64_t)give;
}

struct outcome {
    uint64_t n;      /* bytes read */
    int errors;      /* number of failed fills */
    ttr_error error; /* the last error */
};

/* Reads to the end and compares the bytes with `plain`. */
static struct outcome read_all(struct source *source, const struct buffer *plain)
{
    struct outcome outcome = {0};
    struct window window = {0};
    uint64_t offset = 0;
    assert_non_null(source);
    do {
        offset += window.n;
        if (source_fill(source, offset, 1, &window, &outcome.error) != TTR_OK)
            outcome.errors++;
        assert_true(outcome.errors <= 1);
        assert_int_equal(window.offset, offset);
        assert_true(offset + window.n <= plain->n);
        if (window.n)
            assert_memory_equal(window.bytes, plain->bytes + offset, window.n);
    } while (!window.at_end);
    outcome.n = offset + window.n;
    source_close(source);
    return outcome;
}

static struct outcome read_memory(const struct buffer *packed, size_t n, const struct buffer *plain)
{
    return read_all(source_open_memory(alloc_default(), packed->bytes, n, NULL, NULL), plain);
}

static void every_compression_decodes_from_any_split(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, PLAIN, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        for (uint64_t seed = 0; seed < 6; seed++) {
            struct drip drip = {
                .bytes = &packed, .fail_at = SIZE_MAX, .seed = seed == 5 ? UINT64_MAX : seed};
            struct source *source =
                source_open_callback(alloc_default(), drip_pull, &drip, NULL, NULL);
            assert_string_equal(source_compression(source), kind_names[kind]);
            struct outcome outcome = read_all(source, &plain);
            assert_int_equal(outcome.errors, 0);
            assert_int_equal(outcome.n, PLAIN);
        }
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

static void several_members_with_padding_are_decoded(void **state)
{
    (void)state;
    struct buffer plain, half;
    fill_plain(&half, 3000, 1);
    buffer_init(&plain, alloc_default());
    for (int i = 0; i < 40; i++)
        buffer_add(&plain, half.bytes, half.n);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        for (int i = 0; i < 40; i++) {
            compress_to(&packed, kind, &half);
            if (i % 10 == 9)
                buffer_add_zeros(&packed, 512);
        }
        struct drip drip = {.bytes = &packed, .fail_at = SIZE_MAX, .seed = 9};
        struct outcome outcome =
            read_all(source_open_callback(alloc_default(), drip_pull, &drip, NULL, NULL), &plain);
        assert_int_equal(outcome.errors, 0);
        assert_int_equal(outcome.n, plain.n);
        buffer_free(&packed);
    }
    buffer_free(&half);
    buffer_free(&plain);
}

static void zstd_skippable_frame_is_skipped(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 5000, 1);
    buffer_init(&packed, alloc_default());
    buffer_add(&packed, "\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
    compress_to(&packed, 1, &plain);
    buffer_add(&packed, "\x50\x2a\x4d\x18\x00\x00\x00\x00", 8);
    struct outcome outcome = read_memory(&packed, packed.n, &plain);
    assert_int_equal(outcome.errors, 0);
    assert_int_equal(outcome.n, plain.n);
    buffer_free(&packed);
    buffer_free(&plain);
}

static void bytes_after_last_member_are_reported_once(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, 100000, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        char place[32];
        (void)snprintf(place, sizeof place, "compressed byte %zu ", packed.n);
        buffer_add_text(&packed, "garbage that is no member");
        struct outcome outcome = read_memory(&packed, packed.n, &plain);
        assert_int_equal(outcome.n, plain.n);
        assert_int_equal(outcome.errors, 1);
        assert_int_equal(outcome.error.status, TTR_E_MALFORMED);
        assert_int_equal(outcome.error.offset, plain.n);
        assert_non_null(strstr(outcome.error.text, place));
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

/* Returns how many bytes at least must decode if the file is truncated at n of packed_n: all but
 * one block of the format. */
static uint64_t least_decoded(int kind, uint64_t plain_n, size_t n, size_t packed_n)
{
    static const uint64_t block[KINDS] = {66000, 132000, 66000, 110000, PLAIN};
    uint64_t share = plain_n * n / packed_n;
    return share > block[kind] + plain_n / 20 ? share - block[kind] - plain_n / 20 : 0;
}

static void truncated_file_decodes_up_to_cut(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, PLAIN, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        for (size_t n = 10; n < packed.n; n = n < 60 || n >= packed.n - 20 ? n + 1
                                              : n < packed.n - 3000        ? n + 2777
                                                                           : packed.n - 20) {
            struct outcome outcome = read_memory(&packed, n, &plain);
            assert_int_equal(outcome.errors, 1);
            assert_int_equal(outcome.error.status, TTR_E_TRUNCATED);
            assert_int_equal(outcome.error.offset, outcome.n);
            assert_true(outcome.n >= least_decoded(kind, plain.n, n, packed.n));
        }
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

static void truncated_magic_is_truncated_input(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 5000, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 0, &plain);
    buffer_add(&packed, "\x1f\x8b", 2);
    struct outcome outcome = read_memory(&packed, packed.n, &plain);
    assert_int_equal(outcome.n, plain.n);
    assert_int_equal(outcome.errors, 1);
    assert_int_equal(outcome.error.status, TTR_E_TRUNCATED);
    buffer_free(&packed);
    buffer_free(&plain);
}

static void magic_without_member_is_plain_input(void **state)
{
    (void)state;
    struct buffer plain;
    buffer_init(&plain, alloc_default());
    buffer_add(&plain, "BZh91AY", 7);
    assert_int_equal(read_memory(&plain, plain.n, &plain).n, 7);
    buffer_free(&plain);
}

/* Reads a damaged file without comparing bytes, because some damage is found only by a checksum at
 * the end. */
static ttr_status read_damaged(const struct buffer *packed)
{
    ttr_error error = {.status = TTR_OK};
    struct source *source =
        source_open_memory(alloc_default(), packed->bytes, packed->n, NULL, NULL);
    struct window window = {0};
    int errors = 0;
    do
        errors += source_fill(source, window.offset + window.n, 1, &window, &error) != TTR_OK;
    while (!window.at_end);
    source_close(source);
    assert_true(errors <= 1);
    return error.status;
}

static void damaged_file_ends_with_one_error(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, 100000, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        size_t found = 0, tried = 0;
        for (size_t at = 10; at < packed.n; at += 1 + packed.n / 150) {
            packed.bytes[at] ^= 0x55;
            ttr_status status = read_damaged(&packed);
            assert_true(status == TTR_OK || status == TTR_E_MALFORMED ||
                        status == TTR_E_TRUNCATED || status == TTR_E_LIMIT);
            found += status != TTR_OK;
            tried++;
            packed.bytes[at] ^= 0x55;
        }
        /* a changed bit may have no effect, for example in the gzip time stamp */
        assert_true(found + 2 >= tried);
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

static void blocks_before_damage_are_returned(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, PLAIN, 1);
    for (int kind = 0; kind < 4; kind++) { /* all but xz, which has a single block at this size */
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        memset(packed.bytes + packed.n * 9 / 10, 0xff, 300);
        struct source *source =
            source_open_memory(alloc_default(), packed.bytes, packed.n, NULL, NULL);
        struct window window;
        ttr_error error;
        assert_int_equal(source_fill(source, 0, 3 * PLAIN, &window, &error), TTR_E_MALFORMED);
        assert_true(window.n >= least_decoded(kind, PLAIN, packed.n * 9 / 10, packed.n));
        assert_true(window.n > PLAIN / 2);
        assert_memory_equal(window.bytes, plain.bytes, PLAIN / 2);
        assert_int_equal(source_fill(source, 0, 3 * PLAIN, &window, &error), TTR_OK);
        assert_true(window.at_end);
        source_close(source);
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

static void read_error_follows_decoded_bytes(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, PLAIN, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        for (size_t k = 20; k < packed.n; k += packed.n / 7) {
            struct drip drip = {.bytes = &packed, .fail_at = k, .seed = k};
            struct outcome outcome = read_all(
                source_open_callback(alloc_default(), drip_pull, &drip, NULL, NULL), &plain);
            assert_int_equal(outcome.errors, 1);
            assert_int_equal(outcome.error.status, TTR_E_IO);
            assert_int_equal(outcome.error.sys, EIO);
            assert_true(outcome.n >= least_decoded(kind, plain.n, k, packed.n));
        }
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

/* Compresses `plain` `levels` times; the outermost format is number `levels - 1`. */
static void nest(struct buffer *packed, const struct buffer *plain, int levels)
{
    fill_plain(packed, 0, 1);
    buffer_add(packed, plain->bytes, plain->n);
    for (int level = 0; level < levels; level++) {
        struct buffer inner = *packed;
        buffer_init(packed, alloc_default());
        compress_to(packed, level % KINDS, &inner);
        buffer_free(&inner);
    }
}

static void fifth_nested_level_is_not_decoded(void **state)
{
    (void)state;
    struct buffer plain, packed, fourth;
    fill_plain(&plain, 200000, 1);
    nest(&packed, &plain, 4);
    struct source *source = source_open_memory(alloc_default(), packed.bytes, packed.n, NULL, NULL);
    assert_string_equal(source_compression(source), "bzip2");
    assert_int_equal(read_all(source, &plain).n, plain.n);
    struct outcome cut = read_memory(&packed, packed.n / 2, &plain);
    assert_int_equal(cut.errors, 1);
    assert_int_equal(cut.error.status, TTR_E_TRUNCATED);
    buffer_free(&packed);
    nest(&packed, &plain, 5);
    nest(&fourth, &plain, 1);
    assert_int_equal(read_memory(&packed, packed.n, &fourth).n, fourth.n);
    buffer_free(&packed);
    buffer_free(&fourth);
    buffer_free(&plain);
}

static void no_decompress_returns_compressed_bytes(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 5000, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 0, &plain);
    struct source_options options = {.no_decompress = true};
    struct source *source =
        source_open_memory(alloc_default(), packed.bytes, packed.n, &options, NULL);
    assert_string_equal(source_compression(source), "");
    assert_int_equal(read_all(source, &packed).n, packed.n);
    buffer_free(&packed);
    buffer_free(&plain);
}

static void decompression_bomb_uses_little_memory(void **state)
{
    (void)state;
    struct buffer zeros, packed;
    buffer_init(&zeros, alloc_default());
    buffer_add_zeros(&zeros, 64 << 20);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 1, &zeros);
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct source *source = source_open_memory(&heap.alloc, packed.bytes, packed.n, NULL, NULL);
    assert_int_equal(read_all(source, &zeros).n, zeros.n);
    assert_true(heap.peak < 3 << 20);
    support_heap_check(&heap);
    buffer_free(&packed);
    buffer_free(&zeros);
}

static void huge_zstd_window_is_refused_with_advice(void **state)
{
    (void)state;
    /* magic, descriptor (no single segment, no content size), window with exponent 20: 2^30 bytes
     */
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x01, 0x00, 0x00};
    struct source *source = source_open_memory(alloc_default(), frame, sizeof frame, NULL, NULL);
    struct window window;
    ttr_error error;
    assert_int_equal(source_fill(source, 0, 1, &window, &error), TTR_E_LIMIT);
    assert_non_null(strstr(error.text, "zstd --long=31 -d"));
    source_close(source);
}

static void huge_xz_dictionary_is_refused_with_advice(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 5000, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 4, &plain);
    /* xz block header at offset 12: size in words minus 1, ..., filter 0x21, 1 byte of properties:
     * dictionary size; 35 means 3 * 2^28 bytes */
    uint8_t *header = packed.bytes + 12;
    size_t n = (size_t)header[0] * 4;
    uint8_t *filter = memmem(header, n, "\x21\x01", 2);
    assert_non_null(filter);
    filter[2] = 35;
    store_u32le(header + n, lzma_crc32(header, n, 0));
    struct outcome outcome = read_memory(&packed, packed.n, &plain);
    assert_int_equal(outcome.error.status, TTR_E_LIMIT);
    assert_non_null(strstr(outcome.error.text, "xz -d"));
    buffer_free(&packed);
    buffer_free(&plain);
}

static void failed_thread_start_decodes_in_place(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 200000, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 0, &plain);
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0; /* so creating the eventfd fails */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct drip drip = {.bytes = &packed, .fail_at = SIZE_MAX, .seed = 3};
    struct source *source = source_open_callback(alloc_default(), drip_pull, &drip, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    struct outcome outcome = read_all(source, &plain);
    assert_int_equal(outcome.errors, 0);
    assert_int_equal(outcome.n, plain.n);
    buffer_free(&packed);
    buffer_free(&plain);
}

static void source_closes_while_decoding(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 3 << 20, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 2, &plain);
    for (uint64_t i = 0; i < 30; i++) {
        struct drip drip = {.bytes = &packed, .fail_at = SIZE_MAX, .seed = i + 1};
        struct source *source = source_open_callback(alloc_default(), drip_pull, &drip, NULL, NULL);
        struct window window = {0};
        for (uint64_t fills = 0; fills < i % 5; fills++)
            assert_int_equal(source_fill(source, window.offset + window.n, 1, &window, NULL),
                             TTR_OK);
        source_close(source);
    }
    buffer_free(&packed);
    buffer_free(&plain);
}

static void source_closes_while_pipe_is_silent(void **state)
{
    (void)state;
    struct buffer plain, packed;
    fill_plain(&plain, 30000, 1);
    buffer_init(&packed, alloc_default());
    compress_to(&packed, 0, &plain);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], packed.bytes, packed.n - 20), (ssize_t)packed.n - 20);
    char path[32];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct source *source = source_open(alloc_default(), path, NULL, NULL);
    assert_non_null(source);
    struct window window;
    assert_int_equal(source_fill(source, 0, 1000, &window, NULL), TTR_OK);
    assert_memory_equal(window.bytes, plain.bytes, 1000);
    usleep(2000); /* gives the thread time to block in the read */
    source_close(source);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
    buffer_free(&packed);
    buffer_free(&plain);
}

static void large_file_is_decoded_on_a_thread(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, 6 << 20, 1);
    for (int kind = 0; kind < 3; kind++) {
        struct buffer packed;
        buffer_init(&packed, alloc_default());
        compress_to(&packed, kind, &plain);
        char path[] = "/tmp/ttr-inflate-XXXXXX";
        int fd = mkostemp(path, O_CLOEXEC);
        assert_int_equal(write(fd, packed.bytes, packed.n), (ssize_t)packed.n);
        assert_int_equal(close(fd), 0);
        struct source *source = source_open(alloc_default(), path, NULL, NULL);
        assert_int_equal(source_disk_size(source), packed.n);
        struct window window;
        assert_int_equal(source_fill(source, 0, plain.n + 1, &window, NULL), TTR_OK);
        assert_int_equal(window.n, plain.n);
        assert_memory_equal(window.bytes, plain.bytes, plain.n);
        assert_int_equal(source_disk_bytes_read(source), packed.n);
        source_close(source);
        assert_int_equal(unlink(path), 0);
        buffer_free(&packed);
    }
    buffer_free(&plain);
}

static struct buffer nested;

static bool read_nested(const struct alloc *alloc)
{
    bool is_through = true;
    for (int with_thread = 0; with_thread < 2 && is_through; with_thread++) {
        struct drip drip = {.bytes = &nested, .fail_at = SIZE_MAX, .seed = UINT64_MAX};
        ttr_error error = {.status = TTR_OK};
        struct source *source =
            with_thread ? source_open_callback(alloc, drip_pull, &drip, NULL, &error)
                        : source_open_memory(alloc, nested.bytes, nested.n, NULL, &error);
        struct window window;
        ttr_status status = source ? source_fill(source, 0, 90000, &window, &error) : error.status;
        assert_true(status == TTR_OK || status == TTR_E_NOMEM);
        is_through = status == TTR_OK;
        source_close(source);
    }
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    struct buffer plain;
    fill_plain(&plain, 100000, 1);
    nest(&nested, &plain, 2);
    support_fail_each(read_nested);
    buffer_free(&nested);
    buffer_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compression_decodes_from_any_split),
        cmocka_unit_test(several_members_with_padding_are_decoded),
        cmocka_unit_test(zstd_skippable_frame_is_skipped),
        cmocka_unit_test(bytes_after_last_member_are_reported_once),
        cmocka_unit_test(truncated_file_decodes_up_to_cut),
        cmocka_unit_test(truncated_magic_is_truncated_input),
        cmocka_unit_test(magic_without_member_is_plain_input),
        cmocka_unit_test(damaged_file_ends_with_one_error),
        cmocka_unit_test(blocks_before_damage_are_returned),
        cmocka_unit_test(read_error_follows_decoded_bytes),
        cmocka_unit_test(fifth_nested_level_is_not_decoded),
        cmocka_unit_test(no_decompress_returns_compressed_bytes),
        cmocka_unit_test(decompression_bomb_uses_little_memory),
        cmocka_unit_test(huge_zstd_window_is_refused_with_advice),
        cmocka_unit_test(huge_xz_dictionary_is_refused_with_advice),
        cmocka_unit_test(failed_thread_start_decodes_in_place),
        cmocka_unit_test(source_closes_while_decoding),
        cmocka_unit_test(source_closes_while_pipe_is_silent),
        cmocka_unit_test(large_file_is_decoded_on_a_thread),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
