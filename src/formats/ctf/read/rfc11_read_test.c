/* Streams of RFC v1.1 that are larger than any window: packets of megabytes, plain, compressed and
 * enciphered, from disk (mapped and read) and from memory, give the same events; limits hold. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tracetta/read.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "support/support.h"

#define EVENTS 200000u /* in a packet: 2.4 MB */
#define UNKNOWN 5u     /* every so many events have an id that nobody declared */
#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static const char metadata[] =
    "trace { major = 1; minor = 1; alignment = packed; }\n"
    "section { name = s; event { header_type = type2; context { event_size = true; } } }\n"
    "event { name = e; id = 1; section = s; fields = { { uint32_t, a } }; }\n";

/* The content of a packet: times from `begin` on, a counts events. */
static void make_content(struct buffer *content, uint32_t begin)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint8_t event[12];
        store_u32le(event, begin + i);
        store_u16le(event + 4, i % UNKNOWN == 0 ? 9 : 1);
        store_u16le(event + 6, 4);
        store_u32le(event + 8, i);
        buffer_add(content, event, sizeof event);
    }
    assert_false(content->failed);
}

static void make_stream(struct buffer *stream)
{
    static const uint8_t schemes[][2] = {
        {0, 0}, {RFC11_GZIP, 0}, {0, RFC11_AES}, {RFC11_BZIP2, RFC11_AES}};
    uint8_t key[RFC11_KEY];
    (void)support_hex(key, sizeof key, KEY);
    buffer_init(stream, alloc_default());
    for (uint32_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct buffer content;
        struct rfc11_pack_options how = {.compression = schemes[i][0],
                                         .encryption = schemes[i][1],
                                         .checksum = RFC11_CRC32,
                                         .key = {key},
                                         .iv = {(uint8_t)i},
                                         .align = 4096};
        struct rfc11_packet packet = {.section_packet_count = i, .section_packet_count_bits = 32};
        packet.timestamp_begin = (uint64_t)i * EVENTS;
        packet.timestamp_end = packet.timestamp_begin + EVENTS - 1;
        buffer_init(&content, alloc_default());
        make_content(&content, i * EVENTS);
        assert_int_equal(rfc11_append_packet(&packet, content.bytes, content.n, &how, stream, NULL),
                         TTR_OK);
        buffer_free(&content);
    }
}

struct sum {
    uint64_t events, fields, regions;
};

static void read_all(ttr *t, ttr_reader *reader, struct sum *sum)
{
    ttr_batch batch;
    ttr_error error;
    ttr_report report = {.size = sizeof report};
    ttr_status status;
    *sum = (struct sum){0};
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            ttr_fields fields;
            ttr_field field;
            ttr_fields_begin(t, ttr_batch_at(&batch, i), &fields);
            while (ttr_fields_next(&fields, &field))
                sum->fields += field.value.v.u;
            sum->events++;
        }
    assert_int_equal(status, TTR_END);
    assert_true(ttr_reader_report(reader, 0, &report));
    sum->regions = report.damage_regions;
}

static void check_sum(const struct sum *sum, unsigned packets)
{
    uint64_t numbers = 0, known = 0;
    for (uint32_t i = 0; i < EVENTS; i++)
        if (i % UNKNOWN) {
            numbers += i + 4; /* a and payload_size */
            known++;
        }
    assert_int_equal(sum->events, packets * known);
    assert_int_equal(sum->fields, packets * numbers);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void large_packets_read_the_same_from_disk_and_memory(void **state)
{
    (void)state;
    char folder[] = "/tmp/rfc11-read-XXXXXX", path[200];
    const char *const format_options[] = {"key-env=RFC11_READ_KEY", NULL};
    static const uint32_t flags[] = {0, TTR_READ_NO_MMAP, TTR_READ_DEFINITIONS,
                                     TTR_READ_NO_MMAP | TTR_READ_DEFINITIONS};
    struct buffer stream;
    struct sum sum;
    ttr *t = ttr_new(NULL);
    make_stream(&stream);
    (void)setenv("RFC11_READ_KEY", KEY, 1);
    assert_non_null(mkdtemp(folder));
    write_file(folder, "metadata", metadata, sizeof metadata - 1);
    write_file(folder, "s", stream.bytes, stream.n);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        ttr_read_options options = {
            .size = sizeof options, .flags = flags[i], .format_options = format_options};
        ttr_reader *reader = ttr_open(t, folder, &options, NULL);
        assert_non_null(reader);
        read_all(t, reader, &sum);
        sum.events -=
            flags[i] & TTR_READ_DEFINITIONS ? 1 : 0; /* the stream's; damaged packets have none */
        check_sum(&sum, 4);
        ttr_close(reader);
    }
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", stream.bytes, stream.n}};
    ttr_read_options options = {.size = sizeof options, .format_options = format_options};
    ttr_reader *reader = ttr_open_files(t, "memory", files, 2, &options, NULL);
    assert_non_null(reader);
    read_all(t, reader, &sum);
    check_sum(&sum, 4);
    ttr_close(reader);
    ttr_free(t);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, i ? "s" : "metadata");
        (void)unlink(path);
    }
    (void)rmdir(folder);
    buffer_free(&stream);
}

static void packets_stop_unpacking_at_the_limit(void **state)
{
    (void)state;
    const char *const format_options[] = {"unpacked-max=1200048", "key-env=RFC11_READ_KEY", NULL},
                      *const wrong[] = {"unpacked-max=47", NULL};
    struct buffer stream;
    struct sum sum;
    ttr_error error;
    ttr *t = ttr_new(NULL);
    make_stream(&stream);
    (void)setenv("RFC11_READ_KEY", KEY, 1);
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", stream.bytes, stream.n}};
    ttr_read_options options = {.size = sizeof options, .format_options = format_options};
    ttr_reader *reader = ttr_open_files(t, "memory", files, 2, &options, NULL);
    assert_non_null(reader);
    read_all(t, reader, &sum);
    /* The plain packet is whole; of the compressed ones half is; of the one only enciphered
     * nothing, since it is too large from the begin. */
    assert_int_equal(sum.events, EVENTS / UNKNOWN * (UNKNOWN - 1) * 2);
    ttr_close(reader);
    options.format_options = wrong;
    assert_null(ttr_open_files(t, "memory", files, 2, &options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "unpacked-max"));
    ttr_free(t);
    buffer_free(&stream);
}

/* What is lost of a packet that was unpacked lies inside of what is stored of it, wherever in the
 * unpacked bytes it begins. */
static void damage_in_unpacked_packets_lies_inside_of_their_stored_bytes(void **state)
{
    (void)state;
    static const char plain[] =
        "trace { major = 1; minor = 1; alignment = packed; }\nsection { name = s; event { "
        "header_type = type2; } }\n"
        "event { name = e; id = 1; section = s; fields = { { uint32_t, a } }; }\n";
    static const uint32_t unknown_at[] = {10, 900, 9990, UINT32_MAX};
    for (size_t k = 0; k < 4; k++) {
        struct buffer stream, content;
        struct rfc11_pack_options how = {.compression = RFC11_GZIP, .align = 4096};
        struct rfc11_packet packet = {.section_packet_count_bits = 32, .timestamp_end = 10000};
        ttr_report report = {.size = sizeof report};
        struct sum sum;
        ttr *t = ttr_new(NULL);
        buffer_init(&stream, alloc_default());
        buffer_init(&content, alloc_default());
        for (uint32_t i = 0; i < 10000; i++) {
            uint8_t event[10] = {0};
            store_u32le(event, i);
            store_u16le(event + 4, i == unknown_at[k] ? 9 : 1);
            buffer_add(&content, event, sizeof event);
        }
        /* The last one cuts the last event. */
        assert_int_equal(rfc11_append_packet(&packet, content.bytes,
                                             content.n - (unknown_at[k] == UINT32_MAX), &how,
                                             &stream, NULL),
                         TTR_OK);
        packet.section_packet_count = 1;
        assert_int_equal(rfc11_append_packet(&packet, content.bytes, 20, &how, &stream, NULL),
                         TTR_OK);
        const ttr_file files[] = {{"metadata", plain, sizeof plain - 1},
                                  {"s", stream.bytes, stream.n}};
        ttr_reader *reader = ttr_open_files(t, "memory", files, 2, NULL, NULL);
        assert_non_null(reader);
        read_all(t, reader, &sum);
        assert_int_equal(sum.events, (k < 3 ? unknown_at[k] : 9999) + 2);
        assert_true(ttr_reader_report(reader, 0, &report));
        assert_int_equal(report.regions_n, 1);
        assert_true(report.regions[0].offset + report.regions[0].bytes <=
                    load_u32le(stream.bytes + 8)); /* content_size */
        for (size_t i = 0; i < report.notes_n; i++)
            assert_null(strstr(report.notes[i].text, "18446744073709"));
        ttr_close(reader);
        ttr_free(t);
        buffer_free(&content);
        buffer_free(&stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_packets_read_the_same_from_disk_and_memory),
        cmocka_unit_test(packets_stop_unpacking_at_the_limit),
        cmocka_unit_test(damage_in_unpacked_packets_lies_inside_of_their_stored_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
