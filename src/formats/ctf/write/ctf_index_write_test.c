/* LTTng indexes: written in constant memory, and kept from the source if they are valid. */
#include <stdio.h>
#include <stdlib.h>
#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/bit_writer.h"
#include "base/buffer.h"
#include "base/endian.h"
#include "support/files.h"
#include "support/support.h"

#define PACKETS 200000u /* their index is larger than COPY_MEMORY */
#define PACKET_BYTES 24u
#define COPY_MEMORY (6u << 20)

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32;\ntypealias integer { size = 64; align = "
    "8; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "stream { packet.context := struct { u64 content_size; u64 packet_size; }; };\n"
    "event { name = e; fields := struct { u32 v; }; };\n";

/* Makes packets of one event each, and their LTTng index. */
static void make_small_packets(struct buffer *stream, struct buffer *index)
{
    static const uint32_t head[] = {0xc1f1dcc1, 1, 1, 72};
    buffer_init(stream, alloc_default());
    buffer_init(index, alloc_default());
    struct bit_writer put = bit_writer_init(index);
    for (size_t i = 0; i < 4; i++)
        bit_writer_add_be(&put, head[i], 32);
    for (uint32_t i = 0; i < PACKETS; i++) {
        uint8_t packet[PACKET_BYTES] = {0};
        const uint64_t bits = sizeof packet * 8, numbers[9] = {stream->n, bits, bits};
        store_u32le(packet, 0xc1fc1fc1);
        store_u64le(packet + 4, bits);
        store_u64le(packet + 12, bits);
        store_u32le(packet + 20, i);
        buffer_add(stream, packet, sizeof packet);
        for (size_t k = 0; k < 9; k++)
            bit_writer_add_be(&put, numbers[k], 64);
    }
    index->bytes[16 + 72 * 3 + 71] =
        7; /* an index number that the packets do not record: only a kept index has it */
}

/* Copies the files with a limited heap. */
static void copy_small_packets(const char *path, const ttr_file *files, size_t n,
                               const char *const *how)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    const ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .ctx = heap.alloc.ctx};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = how};
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(&options);
    ttr_reader *in = ttr_open_files(t, "made", files, n, &reading, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    assert_true(in && out);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(status, TTR_END);
    ttr_close(in);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    assert_true(heap.peak < COPY_MEMORY);
    ttr_free(t);
}

static void index_of_many_packets_is_written_in_constant_memory(void **state)
{
    static const char *const with_index[] = {"index=yes", NULL}, *const encoded[] = {
                                                                     "index=yes", "byte-order=be",
                                                                     NULL};
    (void)state;
    char folder[] = "/tmp/tracetta-many-XXXXXX", path[64];
    struct buffer stream, index;
    assert_non_null(mkdtemp(folder));
    make_small_packets(&stream, &index);
    ttr_file file[] = {{.name = "metadata", .bytes = metadata, .n = sizeof metadata - 1},
                       {.name = "stream", .bytes = stream.bytes, .n = stream.n},
                       {.name = "index/stream.idx", .bytes = index.bytes, .n = index.n}};
    /* Cases: no index; the source's index; transcoded; a stale index; a new index. */
    (void)snprintf(path, sizeof path, "%s/none", folder);
    copy_small_packets(path, file, 2, NULL);
    files_expect_copy(path, &file[1]);
    (void)snprintf(path, sizeof path, "%s/kept", folder);
    copy_small_packets(path, file, 3, NULL);
    files_expect_copy(path, &file[1]);
    files_expect_copy(path, &file[2]);
    (void)snprintf(path, sizeof path, "%s/anew", folder);
    copy_small_packets(path, file, 3, encoded);
    (void)snprintf(path, sizeof path, "%s/stale", folder);
    index.bytes[16 + 72 * (PACKETS - 1) + 7] ^= 1; /* offset of the last packet */
    copy_small_packets(path, file, 3, NULL);
    index.bytes[16 + 72 * (PACKETS - 1) + 7] ^= 1;
    index.bytes[16 + 72 * 3 + 71] = 0;
    files_expect_copy(path, &file[2]);
    (void)snprintf(path, sizeof path, "%s/made", folder);
    copy_small_packets(path, file, 2, with_index);
    files_expect_copy(path, &file[1]);
    files_expect_copy(path, &file[2]);
    buffer_free(&stream);
    buffer_free(&index);
    assert_int_equal(files_remove(folder), 0);
}

/* Copies files with index=yes. Returns how many indexes were lost. */
static uint64_t copy_with_index(const char *path, const ttr_file *files, size_t n)
{
    static const char *const with_index[] = {"index=yes", NULL};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = with_index};
    const ttr_loss *losses;
    ttr_batch batch;
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open_files(t, "made", files, n, &reading, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    uint64_t lost = 0;
    assert_true(in && out);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    ttr_close(in);
    if (ttr_writer_end(out, &error) != TTR_OK)
        fail_msg("%s", error.text);
    for (size_t i = ttr_losses(out, &losses); i-- > 0;)
        lost += strcmp(losses[i].code, "stream.index") == 0 ? losses[i].count : 0;
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_free(t);
    return lost;
}

/* File systems allow names of 255 bytes, and an index name is four bytes longer than its stream's.
 */
static void index_with_too_long_name_is_counted_as_lost(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-names-XXXXXX", path[64], name[253] = "", index_name[264];
    struct buffer stream, index;
    assert_non_null(mkdtemp(folder));
    make_small_packets(&stream, &index);
    for (size_t n = 251; n < 253; n++) {
        memset(name, 'n', n);
        (void)snprintf(index_name, sizeof index_name, "index/%s.idx", name);
        const ttr_file file[] = {{.name = "metadata", .bytes = metadata, .n = sizeof metadata - 1},
                                 {.name = name, .bytes = stream.bytes, .n = stream.n},
                                 {.name = index_name, .bytes = index.bytes, .n = index.n}};
        for (size_t given = 2; given <= 3;
             given++) { /* 2 = the source has no index and one is made; 3 = the source's is kept */
            (void)snprintf(path, sizeof path, "%s/%zu-%zu", folder, n, given);
            assert_int_equal(copy_with_index(path, file, given), n == 252);
            files_expect_copy(path, &file[1]);
        }
        if (n == 251)
            files_expect_copy(path, &file[2]);
    }
    buffer_free(&stream);
    buffer_free(&index);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_of_many_packets_is_written_in_constant_memory),
        cmocka_unit_test(index_with_too_long_name_is_counted_as_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
