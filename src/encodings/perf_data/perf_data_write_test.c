/* Tests of the perf.data writer. The expected bytes are written by hand from linux/perf_event.h and
 * perf.data-file-format.txt, in both byte orders. */
#include "encodings/perf_data/perf_data_write.h"

#include <stdlib.h>

#include <zstd.h>

#include "encodings/perf_data/perf_zstd.h"
#include "encodings/tracepoint/tracing_data_write.h"
#include "support/support.h"

#define TYPE \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_CPU)

struct writing {
    struct buffer to;
    struct perf_data_writer put;
};

static void open_writing(struct writing *w, const struct alloc *alloc, bool is_big, bool is_pipe,
                         int level)
{
    buffer_init(&w->to, alloc);
    const struct perf_data_writer_spec spec = {.alloc = alloc,
                                               .to = &w->to,
                                               .is_big_endian = is_big,
                                               .is_pipe = is_pipe,
                                               .zstd_level = level};
    assert_true(perf_data_writer_new(&w->put, &spec));
}

static void close_writing(struct writing *w)
{
    assert_false(perf_data_writer_failed(&w->put));
    perf_data_writer_free(&w->put);
    buffer_free(&w->to);
}

static void declare_event(struct perf_data_writer *put, const char *name, uint64_t id)
{
    uint8_t bytes[PERF_ATTR_VER7];
    const struct perf_attr attr = {.type = PERF_TYPE_TRACEPOINT_EVENT,
                                   .config = 0x174,
                                   .period = 1,
                                   .sample_type = TYPE,
                                   .flags = UINT64_C(1) << PERF_FLAG_SAMPLE_ID_ALL |
                                            1u << PERF_FLAG_DISABLED};
    perf_attr_serialize(&attr, put->spec.is_big_endian, bytes);
    perf_data_writer_add_event(put, bytes, (ttr_text){name, strlen(name)}, &id, 1);
}

static void attribute_layout_matches_kernel_in_both_byte_orders(void **state)
{
    (void)state;
    uint8_t bytes[PERF_ATTR_VER7];
    const struct perf_attr attr = {.type = 1,
                                   .wakeup = 5,
                                   .config = 2,
                                   .period = 3,
                                   .sample_type = 0x10087,
                                   .read_format = 4,
                                   .flags = UINT64_C(1) << PERF_FLAG_SAMPLE_ID_ALL |
                                            1u << PERF_FLAG_INHERIT,
                                   .clockid = 7,
                                   .max_stack = 9};
    perf_attr_serialize(&attr, false, bytes);
    support_assert_hex(bytes, 56,
                       "01000000 80000000 0200000000000000 0300000000000000 8700010000000000 "
                       "0400000000000000 0200040000000000 05000000 00000000");
    support_assert_hex(bytes + PERF_ATTR_CLOCKID, 20,
                       "07000000 0000000000000000 00000000 0900 0000");
    perf_attr_serialize(&attr, true, bytes);
    support_assert_hex(bytes, 56,
                       "00000001 00000080 0000000000000002 0000000000000003 0000000000010087 "
                       "0000000000000004 4000200000000000 00000005 00000000");
    support_assert_hex(bytes + PERF_ATTR_CLOCKID, 20,
                       "00000007 0000000000000000 00000000 0009 0000");
}

static void sample_values_are_in_kernel_order(void **state)
{
    (void)state;
    const uint64_t chain[] = {0xfffffffffffffe00, 0x1234};
    const struct perf_sample sample = {.ip = 1,
                                       .pid = 2,
                                       .tid = 3,
                                       .time = 4,
                                       .addr = 5,
                                       .id = 6,
                                       .stream_id = 7,
                                       .cpu = 8,
                                       .period = 9,
                                       .chain = chain,
                                       .chain_n = 2,
                                       .raw = {{"ab", 2}, {"cde", 3}}};
    const uint64_t all = TYPE | PERF_SAMPLE_HAS_IP | PERF_SAMPLE_HAS_ADDR | PERF_SAMPLE_HAS_ID |
                         PERF_SAMPLE_HAS_STREAM_ID | PERF_SAMPLE_HAS_PERIOD |
                         PERF_SAMPLE_HAS_CALLCHAIN | PERF_SAMPLE_HAS_RAW;
    struct writing w;
    open_writing(&w, alloc_default(), false, false, 0);
    assert_true(perf_data_writer_add_sample(&w.put, all, PERF_MISC_USER, &sample));
    support_assert_hex(w.to.bytes, w.to.n,
                       "09000000 0200 7800 0600000000000000 0100000000000000 02000000 03000000 "
                       "0400000000000000 0500000000000000 0600000000000000 "
                       "0700000000000000 08000000 00000000 0900000000000000 0200000000000000 "
                       "00feffffffffffff 3412000000000000 0c000000 6162636465 00000000000000");
    close_writing(&w);
    open_writing(&w, alloc_default(), true, false, 0);
    assert_true(perf_data_writer_add_sample(&w.put, TYPE | PERF_SAMPLE_HAS_RAW, 0, &sample));
    support_assert_hex(w.to.bytes, w.to.n,
                       "00000009 0000 0038 0000000000000006 00000002 00000003 0000000000000004 "
                       "00000008 00000000 0000000c 6162636465 00000000000000");
    close_writing(&w);
}

static void oversized_sample_is_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[65536];
    struct writing w;
    open_writing(&w, alloc_default(), false, false, 0);
    assert_false(perf_data_writer_add_sample(&w.put, PERF_SAMPLE_HAS_RAW, 0,
                                             &(struct perf_sample){.raw = {{bytes, 65525}}}));
    assert_false(perf_data_writer_add_sample(
        &w.put, PERF_SAMPLE_HAS_RAW, 0,
        &(struct perf_sample){.raw = {{bytes, 65536}, {bytes, 65536}}}));
    assert_int_equal(w.to.n, 0);
    assert_true(perf_data_writer_add_sample(&w.put, PERF_SAMPLE_HAS_RAW, 0,
                                            &(struct perf_sample){.raw = {{bytes, 65516}}}));
    assert_int_equal(w.to.n, 65528);
    close_writing(&w);
}

static void record_trailer_follows_sample_type(void **state)
{
    (void)state;
    const struct perf_sample about = {.pid = 2, .tid = 3, .time = 4, .id = 6, .cpu = 8};
    const uint8_t build_id[] = {0xaa, 0xbb};
    struct perf_mapping mapping = {.pid = 2,
                                   .tid = 3,
                                   .prot = 5,
                                   .flags = 2,
                                   .start = 0x1000,
                                   .size = 0x2000,
                                   .offset = 0x3000,
                                   .major = 8,
                                   .minor = 1,
                                   .inode = 99,
                                   .generation = 1,
                                   .path = {"/bin/true", 9}};
    struct writing w;
    open_writing(&w, alloc_default(), false, false, 0);
    perf_data_writer_add_comm(&w.put, TYPE, &about, (ttr_text){"sixteen letters!", 16}, true);
    support_assert_hex(w.to.bytes, w.to.n,
                       "03000000 0020 4000 02000000 03000000 7369787465656e206c65747465727300 "
                       "02000000 03000000 0400000000000000 08000000 00000000 0600000000000000");
    buffer_clear(&w.to);
    perf_data_writer_add_mapping(&w.put, 0, &about, &mapping);
    support_assert_hex(
        w.to.bytes, w.to.n,
        "0a000000 0200 5800 02000000 03000000 0010000000000000 0020000000000000 0030000000000000 "
        "08000000 01000000 "
        "6300000000000000 0100000000000000 05000000 02000000 2f62696e2f74727565 00000000000000");
    buffer_clear(&w.to);
    mapping.build_id = build_id, mapping.build_id_n = sizeof build_id, mapping.prot = 1;
    perf_data_writer_add_mapping(&w.put, 0, &about, &mapping);
    support_assert_hex(w.to.bytes, 72,
                       "0a000000 0260 5800 02000000 03000000 0010000000000000 0020000000000000 "
                       "0030000000000000 02000000 aabb0000 "
                       "0000000000000000 0000000000000000 01000000 02000000");
    buffer_clear(&w.to);
    perf_data_writer_add_task(&w.put, PERF_SAMPLE_HAS_TIME, &about, 1, 1);
    perf_data_writer_add_lost(&w.put, 0, &about, 7);
    perf_data_writer_finish_round(&w.put);
    support_assert_hex(
        w.to.bytes, w.to.n,
        "07000000 0000 2800 02000000 01000000 03000000 01000000 0400000000000000 0400000000000000"
        "02000000 0000 1800 0600000000000000 0700000000000000 44000000 0000 0800");
    close_writing(&w);
}

/* Writes the final header over the start of the file. */
static void rewrite_header(struct writing *w)
{
    perf_data_writer_store_header(&w->put, w->to.bytes);
}

static void file_sections_follow_records(void **state)
{
    (void)state;
    struct writing w;
    open_writing(&w, alloc_default(), false, false, 0);
    perf_data_writer_set_feature_text(&w.put, PERF_FEATURE_HOSTNAME, (ttr_text){"here", 4});
    declare_event(&w.put, "a:b", 17);
    perf_data_writer_begin(&w.put);
    assert_int_equal(w.put.data_at, 104 + 8 + 144);
    perf_data_writer_finish_round(&w.put);
    perf_data_writer_set_feature_clock(&w.put, 1, 5, 6);
    perf_data_writer_write_end(&w.put);
    rewrite_header(&w);
    support_assert_hex(w.to.bytes, 112,
                       "50455246494c4532 6800000000000000 9000000000000000 7000000000000000 "
                       "9000000000000000 0001000000000000 0800000000000000 "
                       "0000000000000000 0000000000000000 0810002000000000 "
                       "000000000000000000000000000000000000000000000000 1100000000000000");
    /* sections of 68, 216 and 24 bytes, which follow their table of three entries */
    support_assert_hex(w.to.bytes + 256, 56,
                       "4400000000000800 3801000000000000 4400000000000000 7c01000000000000 "
                       "d800000000000000 5402000000000000 1800000000000000");
    support_assert_hex(w.to.bytes + 312, 12, "40000000 68657265 00000000");
    assert_int_equal(w.to.n, 596 + 24);
    support_assert_hex(w.to.bytes + 596, 24, "01000000 01000000 0500000000000000 0600000000000000");
    close_writing(&w);
}

/* Before the end, everything up to the last mark is readable: the sections precede the records, and
 * the mark contains their table. */
static void live_file_readable_before_end(void **state)
{
    (void)state;
    uint8_t header[PERF_HEADER_BYTES];
    struct writing w;
    open_writing(&w, alloc_default(), false, false, 0);
    w.put.spec.is_live = true;
    perf_data_writer_set_feature_text(&w.put, PERF_FEATURE_HOSTNAME, (ttr_text){"here", 4});
    declare_event(&w.put, "a:b", 17);
    perf_data_writer_begin(&w.put);
    support_assert_hex(
        w.to.bytes + PERF_AT_DATA, 40,
        "1c02000000000000 0000000000000000 0000000000000000 0000000000000000 0910000000000000");
    support_assert_hex(w.to.bytes + 256, 12, "40000000 68657265 00000000");
    support_assert_hex(w.to.bytes + 0x21c, 48,
                       "41000000 0000 3000 ffffffffffffffff 0001000000000000 4400000000000000 "
                       "4401000000000000 d800000000000000");
    perf_data_writer_finish_round(&w.put);
    perf_data_writer_mark_readable(&w.put);
    perf_data_writer_finish_round(&w.put);
    perf_data_writer_store_header(&w.put, header);
    support_assert_hex(
        header + PERF_AT_DATA, 40,
        "1c02000000000000 3800000000000000 0000000000000000 0000000000000000 0910000000000000");
    assert_memory_equal(w.to.bytes + 0x21c + 0x38, w.to.bytes + 0x21c, 48);
    perf_data_writer_write_end(&w.put);
    rewrite_header(&w);
    support_assert_hex(
        w.to.bytes + PERF_AT_DATA, 40,
        "1c02000000000000 7000000000000000 0000000000000000 0000000000000000 0810000000000000");
    support_assert_hex(w.to.bytes + 0x21c + 0x70, 16, "ac02000000000000 4400000000000000");
    assert_int_equal(w.to.n, 0x2ac + 68 + 216);
    close_writing(&w);
}

static void late_event_attributes_follow_sections(void **state)
{
    (void)state;
    struct writing w;
    open_writing(&w, alloc_default(), true, false, 0);
    perf_data_writer_begin(&w.put);
    perf_data_writer_finish_round(&w.put);
    declare_event(&w.put, "a:b", 17);
    declare_event(&w.put, "c:d", 18);
    perf_data_writer_write_end(&w.put);
    rewrite_header(&w);
    support_assert_hex(w.to.bytes, 56,
                       "32454c494652 4550 0000000000000068 0000000000000090 0000000000000238 "
                       "0000000000000120 0000000000000068 0000000000000008");
    support_assert_hex(w.to.bytes + 0x228, 16, "0000000000000011 0000000000000012");
    support_assert_hex(w.to.bytes + 0x238 + 128, 16, "0000000000000228 0000000000000008");
    support_assert_hex(w.to.bytes + 0x238 + 144 + 128, 16, "0000000000000230 0000000000000008");
    assert_int_equal(w.to.n, 0x238 + 0x120);
    close_writing(&w);
}

static void pipe_contains_only_records(void **state)
{
    (void)state;
    struct writing w;
    open_writing(&w, alloc_default(), false, true, 0);
    perf_data_writer_begin(&w.put);
    declare_event(&w.put, "a:b", 17);
    perf_data_writer_set_tracing_data(&w.put, "tracing", 7);
    perf_data_writer_set_feature_cpus(&w.put, 4, 2);
    perf_data_writer_add_build_id(&w.put, 5, PERF_MISC_USER, (const uint8_t *)"\xaa\xbb", 2,
                                  (ttr_text){"/x", 2});
    perf_data_writer_write_end(&w.put);
    support_assert_hex(w.to.bytes, 32,
                       "50455246494c4532 1000000000000000 40000000 0000 9000 02000000 80000000");
    support_assert_hex(w.to.bytes + 16 + 136, 8, "1100000000000000");
    support_assert_hex(w.to.bytes + 160, 32,
                       "4e000000 0000 2000 0200000000000000 1100000000000000 613a620000000000");
    support_assert_hex(w.to.bytes + 192, 20, "42000000 0000 0c00 08000000 7472616369 6e6700");
    support_assert_hex(w.to.bytes + 212, 24,
                       "50000000 0000 1800 0700000000000000 04000000 02000000");
    support_assert_hex(
        w.to.bytes + 236, 38,
        "43000000 0280 6400 05000000 aabb000000000000 0000000000000000 00000000 02000000 2f78");
    assert_int_equal(w.to.n, 236 + 100);
    close_writing(&w);
}

static uint32_t read_u32_at(const struct buffer *from, size_t at)
{
    return load_u32le(from->bytes + at);
}

static void compressed_records_decompress_to_originals(void **state)
{
    (void)state;
    struct writing w;
    uint8_t *plain = calloc(1, 400000), *found = calloc(1, 400000);
    ZSTD_DStream *unpack = ZSTD_createDStream();
    ZSTD_outBuffer out = {.dst = found, .size = 400000};
    uint64_t seed = 1;
    size_t records = 0;
    assert_true(plain && found && unpack);
    /* the first half is random, so it cannot be compressed */
    for (size_t i = 0; i < 400000; i += 8)
        store_u64le(plain + i, i < 200000 ? support_random(&seed) : i % 64);
    open_writing(&w, alloc_default(), false, false, 3);
    perf_data_writer_begin(&w.put);
    for (size_t i = 0; i < 400000; i += 40)
        perf_data_writer_copy_records(&w.put, plain + i, 40);
    perf_data_writer_flush(&w.put);
    for (size_t at = (size_t)w.put.data_at; at < w.to.n;
         at += read_u32_at(&w.to, at + 4) >> 16, records++) {
        size_t before = out.pos;
        assert_int_equal(read_u32_at(&w.to, at), PERF_COMPRESSED);
        ZSTD_inBuffer in = {.src = w.to.bytes + at + 8,
                            .size = (read_u32_at(&w.to, at + 4) >> 16) - 8};
        while (in.pos < in.size)
            assert_false(ZSTD_isError(ZSTD_decompressStream(unpack, &out, &in)));
        assert_true(out.pos > before && out.pos - before <= PERF_ZSTD_PIECE_MAX);
    }
    assert_int_equal(out.pos, 400000);
    assert_memory_equal(plain, found, 400000);
    assert_int_equal(records, 7);
    assert_int_equal(w.put.data_at + w.put.data_bytes, w.to.n);
    perf_data_writer_write_end(&w.put);
    support_assert_hex(w.put.feature[PERF_FEATURE_COMPRESSED].bytes, 20,
                       "01000000 01000000 03000000 01000000 00f00000");
    (void)ZSTD_freeDStream(unpack);
    close_writing(&w);
    free(plain);
    free(found);
}

static void formats_are_grouped_by_system(void **state)
{
    (void)state;
    const struct tracing_machine machine = {.is_big_endian = true,
                                            .long_bytes = 4,
                                            .page_bytes = 4096,
                                            .header_page = {"page", 4},
                                            .header_event = {"event", 5},
                                            .comms = {"1 init\n", 7}};
    struct tracing_writer put;
    struct buffer to;
    buffer_init(&to, alloc_default());
    tracing_writer_init(&put, alloc_default());
    tracing_writer_add_format(&put, (ttr_text){"a", 1}, (ttr_text){"one", 3});
    tracing_writer_add_format(&put, (ttr_text){"b", 1}, (ttr_text){"two", 3});
    tracing_writer_add_format(&put, (ttr_text){"a", 1}, (ttr_text){"three", 5});
    tracing_writer_append_block(&put, &machine, &to);
    support_assert_hex(to.bytes, to.n,
                       "17084474726163696e67 302e3600 01 04 00001000 6865616465725f7061676500 "
                       "0000000000000004 70616765 "
                       "6865616465725f6576656e7400 0000000000000005 6576656e74 00000000 00000002 "
                       "6100 00000002 0000000000000003 6f6e65 0000000000000005 7468726565 6200 "
                       "00000001 0000000000000003 74776f "
                       "00000000 00000000 0000000000000007 3120696e69740a");
    size_t before = to.n;
    tracing_writer_add_event_header(&put, (ttr_text){"P_L5K1", 6}, 77);
    tracing_writer_append_block(&put, &machine, &to);
    assert_non_null(memmem(to.bytes + before, to.n - before,
                           "name: P_L5K1\nID: 77\nformat:\n\tfield:unsigned short common_type;",
                           60));
    assert_non_null(memmem(to.bytes + before, to.n - before,
                           "\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n", 57));
    tracing_writer_free(&put);
    buffer_free(&to);
}

static bool write_all(const struct alloc *alloc)
{
    struct buffer to;
    struct perf_data_writer put;
    buffer_init(&to, alloc);
    const struct perf_data_writer_spec spec = {.alloc = alloc, .to = &to, .zstd_level = 1};
    bool is_good = perf_data_writer_new(&put, &spec);
    if (is_good) {
        perf_data_writer_set_feature_text(&put, PERF_FEATURE_HOSTNAME, (ttr_text){"here", 4});
        perf_data_writer_set_feature_texts(&put, PERF_FEATURE_CMDLINE,
                                           (const ttr_text[]){{"a", 1}, {"b", 1}}, 2);
        perf_data_writer_add_build_id(&put, 5, PERF_MISC_USER, (const uint8_t *)"\xaa\xbb", 2,
                                      (ttr_text){"/x", 2});
        perf_data_writer_set_tracing_data(&put, "tracing", 7);
        declare_event(&put, "a:b", 17);
        perf_data_writer_begin(&put);
        is_good = perf_data_writer_add_sample(&put, TYPE, 0, &(struct perf_sample){.id = 17});
        perf_data_writer_write_end(&put);
        is_good = is_good && !perf_data_writer_failed(&put);
    }
    perf_data_writer_free(&put);
    buffer_free(&to);
    return is_good;
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    support_fail_each(write_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attribute_layout_matches_kernel_in_both_byte_orders),
        cmocka_unit_test(sample_values_are_in_kernel_order),
        cmocka_unit_test(oversized_sample_is_refused),
        cmocka_unit_test(record_trailer_follows_sample_type),
        cmocka_unit_test(file_sections_follow_records),
        cmocka_unit_test(live_file_readable_before_end),
        cmocka_unit_test(late_event_attributes_follow_sections),
        cmocka_unit_test(pipe_contains_only_records),
        cmocka_unit_test(compressed_records_decompress_to_originals),
        cmocka_unit_test(formats_are_grouped_by_system),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
