/* One file with packets of many data streams: memory and events when it is read, and the file names
 * when it is rewritten. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/files.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_write.h"
#include "support/support.h"

#define STREAMS 300u
#define EVENTS 3u  /* per packet */
#define PACKETS 2u /* per stream */
#define SMALL 256u /* packet size, bytes */
#define LARGE 65536u
#define LARGE_PACKETS 64u
/* limit for reading 16 streams of one file; 16 windows of a MiB would exceed it */
#define MEMORY (12u << 20)
static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; "
    "} := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; u32 stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "
    "content_size; u64 packet_size; u32 of; };\n"
    "  event.header := struct { u32 id; ts timestamp; }; };\n"
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 own; }; };\n";

static void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

/* Appends a packet of a stream; its events contain the stream number. Their times start at *time,
 * which is advanced. */
static void add_packet(struct buffer *to, uint32_t stream, size_t bytes, uint64_t *time)
{
    const size_t end = to->n + bytes;
    add_number(to, 0xC1FC1FC1, 4);
    add_number(to, 0, 4);
    add_number(to, stream, 4);
    add_number(to, *time, 8);
    add_number(to, *time + EVENTS - 1, 8);
    add_number(to, (12 + 36 + EVENTS * 16) * 8, 8);
    add_number(to, bytes * 8, 8);
    add_number(to, stream, 4);
    for (unsigned i = 0; i < EVENTS; i++, ++*time) {
        add_number(to, 0, 4);
        add_number(to, *time, 8);
        add_number(to, stream, 4);
    }
    while (to->n < end)
        buffer_add_byte(to, 0);
}

/* Returns a file with packets of `streams` streams: the highest number first, then in turn. */
static struct buffer make_file(uint32_t streams, uint32_t packets, size_t bytes, uint64_t *time)
{
    struct buffer file;
    buffer_init(&file, alloc_default());
    for (uint32_t i = 0; i < packets; i++)
        add_packet(&file, streams - 1 - i % streams, bytes, time);
    assert_false(file.failed);
    return file;
}

/* Re-encodes a trace in memory to a folder. */
static void make_anew(const ttr_file *files, size_t n, const char *path, const char *option)
{
    const char *const options[] = {option, NULL};
    const ttr_write_options how = {.size = sizeof how, .format_options = options};
    ttr_error error = {0};
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open_files(t, "made", files, n, NULL, &error);
    ttr_writer *out = ttr_create(t, path, "ctf", &how, &error);
    assert_string_equal(error.text, "");
    while ((status = ttr_read(in, &batch, &error)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, &error), TTR_OK);
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_finish(out, &error), TTR_OK);
    ttr_close(in);
    ttr_free(t);
}

/* Returns the stream number that all events of a file contain; UINT64_MAX if the file does not
 * exist. */
static uint64_t stream_of_file(const char *folder, const char *name)
{
    char path[128];
    uint64_t stream = UINT64_MAX;
    ttr_batch batch;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, F_OK) != 0)
        return stream;
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            ttr_field field;
            assert_true(ttr_field_find(t, ttr_batch_at(&batch, i), "own", &field));
            assert_true(stream == UINT64_MAX || stream == field.value.v.u);
            stream = field.value.v.u;
        }
    ttr_close(in);
    ttr_free(t);
    return stream;
}

static void streams_of_one_file_are_numbered_in_order_of_appearance(void **state)
{
    (void)state;
    static const char *const options[] = {"version=1.8", "version=2", "version=1.1"};
    uint64_t time = 1000;
    struct buffer made = make_file(STREAMS, STREAMS * PACKETS, SMALL, &time);
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", made.bytes, made.n}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char folder[] = "/tmp/tracetta-lanes-XXXXXX", path[64], name[32] = "s";
        assert_non_null(mkdtemp(folder));
        (void)snprintf(path, sizeof path, "%s/out", folder);
        make_anew(files, 2, path, options[i]);
        for (uint32_t k = 1; k <= STREAMS; k++) {
            if (k > 1)
                (void)snprintf(name, sizeof name, "s-%u", k);
            if (k % 50 < 3)
                assert_int_equal(stream_of_file(path, name), STREAMS - k);
        }
        assert_int_equal(files_count(path),
                         STREAMS + 1 + (i < 2)); /* metadata, and an index except in v1.1 */
        assert_int_equal(files_remove(folder), 0);
    }
    buffer_free(&made);
}

/* "s-2" is met first in one trace and last in the other, so the second trace must choose another
 * number. */
static void numbers_of_existing_files_are_skipped(void **state)
{
    (void)state;
    for (unsigned is_late = 0; is_late < 2; is_late++) {
        uint64_t early = 100, time = 1000, late = 100000;
        struct buffer made = make_file(3, 6, SMALL, &time),
                      other = make_file(1, 1, SMALL, is_late ? &late : &early);
        other.bytes[8] = 9; /* stream number of the packet, and the one in its events */
        for (unsigned i = 0; i < EVENTS; i++)
            other.bytes[48 + 12 + 16 * i] = 9;
        const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                                  {"s", made.bytes, made.n},
                                  {"s-2", other.bytes, other.n}};
        for (unsigned is_rfc = 0; is_rfc < 2; is_rfc++) {
            char folder[] = "/tmp/tracetta-lanes-XXXXXX", path[64];
            assert_non_null(mkdtemp(folder));
            (void)snprintf(path, sizeof path, "%s/out", folder);
            make_anew(files, 3, path, is_rfc ? "version=1.1" : "version=2");
            assert_int_equal(stream_of_file(path, "s"), 2);
            assert_int_equal(stream_of_file(path, "s-2"), is_late ? 1 : 9);
            assert_int_equal(stream_of_file(path, "s-3"), is_late ? 0 : 1);
            assert_int_equal(stream_of_file(path, is_late ? "s-2-2" : "s-4"), is_late ? 9 : 0);
            assert_int_equal(files_remove(folder), 0);
        }
        buffer_free(&made);
        buffer_free(&other);
    }
}

static void next_number_is_found_without_trying_used_ones(void **state)
{
    (void)state;
    struct ctf_writer w = {.traces_n = 0};
    struct ctf_trace_out trace = {.description.version = CTF_1_8}, other = trace;
    struct ctf_stream_class class = {.name = {"", 0}};
    const struct ctf_stream_class_out kind = {.class = &class};
    const uint64_t like = hash_bytes("s", 1);
    key_map_init(&w.names_in_use, alloc_default());
    assert_int_equal(ctf_find_last_name_number(&w, &trace, like), 0);
    assert_true(ctf_record_name_number(&w, &trace, like, 7));
    assert_int_equal(ctf_find_last_name_number(&w, &trace, like), 7);
    assert_int_equal(ctf_find_last_name_number(&w, &other, like), 0);
    assert_true(ctf_record_file_name(&w, &trace, &kind, (ttr_text){"s-7", 3}));
    assert_true(ctf_is_file_name_used(&w, &trace, (ttr_text){"s-7", 3}));
    assert_false(ctf_is_file_name_used(&w, &trace, (ttr_text){"s-8", 3}));
    assert_false(ctf_is_file_name_used(&w, &other, (ttr_text){"s-7", 3}));
    key_map_free(&w.names_in_use);
}

static void v1_1_file_names_match_the_longest_section(void **state)
{
    (void)state;
    struct ctf_writer w = {.traces_n = 0};
    struct ctf_stream_class class[] = {{.name = {"s", 1}}, {.name = {"s-2", 3}}};
    struct ctf_stream_class_out kind[] = {{.class = &class[0]}, {.class = &class[1]}},
                                *kinds[] = {&kind[0], &kind[1]};
    struct ctf_trace_out trace = {.description.version = CTF_RFC_1_1, .kinds = kinds, .kinds_n = 1};
    key_map_init(&w.names_in_use, alloc_default());
    assert_null(ctf_find_similar_class(&w, &trace, 1));
    assert_true(ctf_record_similar_class(&w, &trace, 1));
    trace.kinds_n = 2;
    assert_true(ctf_record_similar_class(&w, &trace, 2));
    assert_ptr_equal(ctf_find_similar_class(&w, &trace, 2), &kind[1]);
    assert_false(ctf_is_file_of_other_section(
        &w, &trace, &(struct ctf_file_candidate){{"s_3", 3}, 1, &kind[0]}));
    assert_false(ctf_is_file_of_other_section(&w, &trace,
                                              /* the longest matching name owns the file */
                                              &(struct ctf_file_candidate){{"s-3", 3}, 3, NULL}));
    assert_true(ctf_is_file_of_other_section(
        &w, &trace, &(struct ctf_file_candidate){{"s-2", 3}, 1, &kind[0]}));
    assert_true(ctf_is_file_of_other_section(
        &w, &trace, &(struct ctf_file_candidate){{"s-2_4", 5}, 3, &kind[0]}));
    assert_true(ctf_record_file_name(&w, &trace, &kind[0], (ttr_text){"s-5_1", 5}));
    assert_true(ctf_section_has_files(&w, &trace, (ttr_text){"s-5", 3}));
    assert_true(ctf_section_has_files(&w, &trace, (ttr_text){"s-5_1", 5}));
    assert_false(ctf_section_has_files(&w, &trace, (ttr_text){"s", 1}));
    assert_false(ctf_section_has_files(&w, &trace, (ttr_text){"s-", 2}));
    key_map_free(&w.names_in_use);
}

static void fields_in_a_shared_file_belong_to_their_own_packets(void **state)
{
    (void)state;
    uint64_t time = 1000, events = 0;
    struct buffer made = make_file(STREAMS, STREAMS * PACKETS, SMALL, &time);
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", made.bytes, made.n}};
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_track track;
    ttr_reader *in = ttr_open_files(t, "made", files, 2, NULL, NULL);
    assert_non_null(in);
    for (; ttr_read(in, &batch, NULL) == TTR_OK; events += batch.n)
        for (uint32_t i = 0; i < batch.n; i++) {
            ttr_fields walk;
            ttr_field field, of;
            assert_true(ttr_field_find(t, ttr_batch_at(&batch, i), "own", &field));
            assert_true(ttr_track_get(t, ttr_batch_at(&batch, i)->track, &track));
            assert_int_equal(track.number, field.value.v.u);
            ttr_fields_begin_group(t, ttr_batch_at(&batch, i), TTR_GROUP_PACKET, &walk);
            for (unsigned is_found = 0; !is_found && ttr_fields_next(&walk, &of);)
                if ((is_found = of.name.n == 2 && memcmp(of.name.p, "of", 2) == 0))
                    assert_int_equal(of.value.v.u, field.value.v.u);
        }
    assert_int_equal(events, STREAMS * PACKETS * EVENTS);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&made);
}

/* Read without mmap, since the allocator does not count mapped memory. */
static void inputs_of_one_file_share_one_window_size(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-lanes-XXXXXX", path[64];
    uint64_t time = 1000, events = 0;
    struct buffer made = make_file(CTF_QUEUES_MAX, CTF_QUEUES_MAX * LARGE_PACKETS, LARGE, &time);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/metadata", folder);
    files_write(path, metadata);
    (void)snprintf(path, sizeof path, "%s/s", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, made.bytes, made.n), made.n);
    (void)close(fd);
    buffer_free(&made);
    const ttr_options options = {.size = sizeof options, .max_memory = MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_NO_MMAP};
    ttr *t = ttr_new(&options);
    ttr_error error = {0};
    ttr_batch batch;
    ttr_status status;
    ttr_reader *in = ttr_open(t, folder, &reading, &error);
    assert_string_equal(error.text, "");
    for (; (status = ttr_read(in, &batch, &error)) == TTR_OK;)
        events += batch.n;
    assert_int_equal(status, TTR_END);
    assert_int_equal(events, CTF_QUEUES_MAX * LARGE_PACKETS * EVENTS);
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

/* Returns how often the diagnostic is reported. */
static uint64_t count_notes(const struct buffer *made, const char *code)
{
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", made->bytes, made->n}};
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    uint64_t count = 0;
    ttr_reader *in = ttr_open_files(t, "made", files, 2, NULL, NULL);
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        continue;
    for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            count += strcmp(report.notes[k].code, code) == 0 ? report.notes[k].count : 0;
    ttr_close(in);
    ttr_free(t);
    return count;
}

/* Above CTF_QUEUES_MAX, streams share inputs; backward times are still detected per stream. */
static void overlapping_streams_in_one_input_are_not_backward(void **state)
{
    (void)state;
    struct buffer made;
    buffer_init(&made, alloc_default());
    for (uint64_t i = 0, time = 0; i < 3 * CTF_QUEUES_MAX; i++) {
        time = 5000 - 10 * i;
        add_packet(&made, (uint32_t)i, SMALL, &time);
    }
    assert_int_equal(count_notes(&made, "ctf.backward"), 0);
    /* the last packet of this stream goes back, with other streams in between */
    uint64_t time = 100;
    add_packet(&made, 3 * CTF_QUEUES_MAX - 1, SMALL, &time);
    assert_false(made.failed);
    assert_int_equal(count_notes(&made, "ctf.backward"), 1);
    buffer_free(&made);
}

static void truncated_header_is_reported_once_per_file(void **state)
{
    (void)state;
    uint64_t time = 1000;
    struct buffer made = make_file(CTF_QUEUES_MAX + 4, 2 * CTF_QUEUES_MAX, SMALL, &time);
    made.n -= SMALL - 20;
    assert_int_equal(count_notes(&made, "ctf.cut-header"), 1);
    buffer_free(&made);
}

static void packets_of_other_queues_are_skipped_by_entry_points(void **state)
{
    (void)state;
    struct ctf_packet_queue queue[] = {{.number = 1, .has_number = true},
                                       {.number = 2, .has_number = true},
                                       {.number = 1, .has_number = true}};
    struct ctf_entry_point mark[] = {
        {.offset = 0}, {.offset = 200}, {.offset = 400}, {.offset = 600}};
    uint8_t queue_of[] = {0, 1, 1, 1, 1, 2, 1, 1};
    struct ctf_file_index file_index = {.queue = queue,
                                        .n = 3,
                                        .packets = 8,
                                        .queue_of = queue_of,
                                        .entry_points = mark,
                                        .entry_points_n = 4,
                                        .stride = 2};
    uint64_t i = 1;
    assert_ptr_equal(ctf_skip_other_queues(&file_index, 0, &i),
                     &mark[2]); /* the fifth packet is of the same stream */
    assert_int_equal(i, 4);
    assert_null(ctf_skip_other_queues(&file_index, 0, &i));
    assert_int_equal(i, 4);
    i = 6;
    assert_null(ctf_skip_other_queues(&file_index, 0,
                                      /* the last indexed packet is read, since the packets after it
                                       * may be of any queue */
                                      &i));
    i = 1;
    assert_null(ctf_skip_other_queues(&file_index, 1, &i));
    file_index.has_foreign_packets = true;
    assert_null(ctf_skip_other_queues(&file_index, 0, &i));
    assert_int_equal(i, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_one_file_are_numbered_in_order_of_appearance),
        cmocka_unit_test(numbers_of_existing_files_are_skipped),
        cmocka_unit_test(next_number_is_found_without_trying_used_ones),
        cmocka_unit_test(v1_1_file_names_match_the_longest_section),
        cmocka_unit_test(fields_in_a_shared_file_belong_to_their_own_packets),
        cmocka_unit_test(inputs_of_one_file_share_one_window_size),
        cmocka_unit_test(overlapping_streams_in_one_input_are_not_backward),
        cmocka_unit_test(truncated_header_is_reported_once_per_file),
        cmocka_unit_test(packets_of_other_queues_are_skipped_by_entry_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
