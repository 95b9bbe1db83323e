/* Hundreds of streams: copying, re-encoding, checking and counting stay within memory limits. */
#include "formats/ctf/read/ctf_many_streams_made_test.h"

/* Copies all streams one after another, with the memory of a few. */
static void copy_scattered(ttr_reader *in, ttr_writer *out)
{
    ttr_batch batch;
    ttr_status status;
    unsigned source = 0;
    assert_true(ttr_writer_allow_stream_order(out, in));
    for (; (status = ttr_read(in, &batch, NULL)) == TTR_OK;
         source = ttr_batch_at(&batch, batch.n - 1)->source) {
        assert_true(ttr_batch_at(&batch, 0)->source >= source);
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    }
    assert_int_equal(status, TTR_END);
    assert_false(ttr_writer_allow_stream_order(out, in)); /* after the first read it is too late */
    ttr_close(in);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
}

static void expect_copies_of_many(const char *const *version, unsigned changed)
{
    static struct many many;
    char folder[] = "/tmp/tracetta-many-XXXXXX", path[64];
    const ttr_options options = {.size = sizeof options, .max_memory = COPY_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = version};
    ttr *t = ttr_new(&options);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/copy", folder);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    assert_true(in && out);
    copy_scattered(in, out);
    for (unsigned i = changed; i < STREAMS + 1; i++)
        files_expect_copy(path, &many.file[i]);
    ttr_free(t);
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

static void copies_of_many_streams_stay_within_memory_limit(void **state)
{
    (void)state;
    expect_copies_of_many(NULL, 0);
}

static void copies_with_translated_metadata_stay_within_memory_limit(void **state)
{
    static const char *const other_version[] = {"version=2", NULL};
    (void)state;
    expect_copies_of_many(other_version, 1); /* everything except the metadata is copied */
}

static void streams_read_one_after_another_free_their_memory(void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = UNORDERED_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_UNORDERED};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    uint64_t events = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, false);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
    assert_non_null(in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        events += batch.n;
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_END);
    assert_int_equal(events, (uint64_t)STREAMS * EVENTS);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

/* Writes the trace to a folder; the stream files are hard links to one file. */
static void make_folder(const struct many *many, const char *folder)
{
    char path[PATH_MAX], first[PATH_MAX];
    (void)snprintf(first, sizeof first, "%s/%s", folder, many->file[1].name);
    for (unsigned i = 0; i < STREAMS + 1; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, many->file[i].name);
        if (i > 1) {
            assert_int_equal(link(first, path), 0);
            continue;
        }
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(many->file[i].bytes, 1, many->file[i].n, file), many->file[i].n);
        assert_int_equal(fclose(file), 0);
    }
}

/* Packets larger than a window must be complete for copies only, not for re-encoding. */
static void re_encoded_streams_do_not_keep_complete_packets(void **state)
{
    static struct many many;
    (void)state;
    static const char *const other_order[] = {"byte-order=be", NULL};
    const ttr_options options = {.size = sizeof options, .max_memory = ANEW_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = other_order};
    char folder[] = "/tmp/tracetta-many-XXXXXX";
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(&options);
    assert_non_null(mkdtemp(folder));
    make_many(&many, far_metadata, sizeof far_metadata - 1, MADE_FAR);
    make_folder(&many, folder);
    ttr_reader *in = ttr_open(t, folder, &reading, NULL);
    ttr_writer *out = ttr_create(t, NULL, "ctf", &writing, NULL);
    assert_true(in && out);
    (void)ttr_writer_allow_stream_order(out, in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

/* Opens the folder as one of `readers` readers. Returns true if the memory limit suffices. */
static bool fits(const char *folder, uint32_t readers)
{
    const ttr_options options = {.size = sizeof options, .max_memory = SHARED_MEMORY};
    const ttr_read_options reading = {
        .size = sizeof reading, .flags = TTR_READ_NO_MMAP, .readers = readers};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    ttr_reader *in = ttr_open(t, folder, &reading, NULL);
    assert_non_null(in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        ;
    ttr_close(in);
    ttr_free(t);
    return status == TTR_END;
}

static void parallel_readers_of_a_trace_share_window_memory(void **state)
{
    static struct many many;
    (void)state;
    char folder[] = "/tmp/tracetta-many-XXXXXX";
    assert_non_null(mkdtemp(folder));
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    make_folder(&many, folder);
    assert_false(fits(folder, 0));
    assert_true(fits(folder, 8));
    assert_true(fits(folder, UINT32_MAX)); /* more readers than pages of memory */
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

static void definitions_are_omitted_if_packets_cannot_be_copied(void **state)
{
    static struct many many;
    (void)state;
    ttr *t = ttr_new(NULL);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    static const char *const formats[] = {"ctf", "fxt", NULL};
    for (unsigned i = 0; i < 6; i++) {
        const bool is_moved = i >= 3;
        const ttr_read_options reading = {.size = sizeof reading,
                                          .flags = TTR_READ_DEFINITIONS,
                                          .copied_to = formats[i % 3],
                                          .time_offset = is_moved ? 7 : 0};
        ttr_batch batch;
        ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
        assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
        assert_int_equal(ttr_batch_at(&batch, 0)->kind == TTR_KIND_DEFINITION, i != 1 && !is_moved);
        ttr_close(in);
    }
    ttr_free(t);
    buffer_free(&many.stream);
}

static void damage_check_of_many_streams_stays_within_memory_limit(void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    unsigned source = 0;
    uint64_t events = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    assert_true(ttr_reader_allow_stream_order(in));
    for (; (status = ttr_read(in, &batch, NULL)) == TTR_OK; events += batch.n) {
        assert_true(ttr_batch_at(&batch, 0)->source >= source);
        source = ttr_batch_at(&batch, batch.n - 1)->source;
    }
    assert_int_equal(status, TTR_END);
    assert_int_equal(events, STREAMS * EVENTS);
    assert_false(ttr_reader_allow_stream_order(in)); /* after the first read it is too late */
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

/* A stream that begins before the previously read one ended is not disorder. */
static void summary_counts_backward_times_per_stream(void **state)
{
    static struct many many;
    struct buffer hit;
    ttr_summary summary;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    hit.bytes[24 + 4] = 0xff; /* first time, now later than the second */
    many.file[7].bytes = many.file[9].bytes = hit.bytes;
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    ttr_error error = {0};
    ttr_status status = ttr_summarize(t, in, &summary, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, TTR_OK);
    assert_int_equal(summary.events, STREAMS * EVENTS);
    assert_int_equal(summary.begin_ns, 1000);
    assert_int_equal(summary.end_ns, 1000 + (EVENTS - 1) * 10);
    assert_int_equal(summary.backward, 2);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&hit);
    buffer_free(&many.stream);
}

/* The last packet declares a size far beyond the end of the file. */
static void oversized_last_packet_does_not_change_stream_size(void **state)
{
    static struct many many;
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    const uint8_t far[8] = {0, 0, 0, 0, 1};
    memcpy(many.stream.bytes + 16, far, sizeof far);
    for (unsigned scattered = 0; scattered < 2; scattered++) {
        ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
        assert_true(scattered ? ttr_reader_allow_stream_order(in) : in != NULL);
        while (ttr_read(in, &batch, NULL) == TTR_OK)
            continue;
        for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
            assert_in_range(report.bytes, 1, many.stream.n);
        ttr_close(in);
    }
    ttr_free(t);
    buffer_free(&many.stream);
}

/* Instants are counted stream by stream, with one stream in memory at a time. */
static void counting_many_streams_without_spans_stays_within_memory_limit(void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    const ttr_stat_row *row;
    ttr_error error = {0};
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, &error);
    ttr_stat *stat = in ? ttr_stat_new(t, in, NULL, NULL, &error) : NULL;
    assert_string_equal(error.text, "");
    assert_non_null(stat);
    assert_int_equal(ttr_stat_rows(stat, &row), 1);
    assert_int_equal(row->count, STREAMS * EVENTS);
    assert_int_equal(row->first_ns, 1000);
    assert_int_equal(row->last_ns, 1000 + (EVENTS - 1) * 10);
    ttr_stat_free(stat);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

static void write_on(ttr_builder *builder, ttr_writer *out, ttr_kind kind, int64_t time,
                     uint32_t cpu)
{
    ttr_event_begin(builder, kind, time, NULL, "work");
    ttr_event_set_thread(builder, 1, 2);
    ttr_event_attributes(builder)->cpu = (uint16_t)cpu;
    ttr_event_attributes(builder)->flags |= TTR_EVENT_HAS_CPU;
    assert_int_equal(ttr_event_end(builder, out, NULL), TTR_OK);
}

/* A thread starts on one processor and ends on an earlier one, so all ends precede all begins in
 * their files. */
static void spans_across_streams_are_counted_in_time_order(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-many-XXXXXX", path[64];
    ttr *t = ttr_new(NULL);
    const ttr_stat_row *row;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/spans", folder);
    ttr_writer *out = ttr_create(t, path, "ctf", NULL, NULL);
    ttr_builder *builder = ttr_builder_new(t);
    assert_true(out && builder);
    for (int64_t i = 0; i < SPANS; i++) {
        write_on(builder, out, TTR_KIND_BEGIN, 1000 + 100 * i, 1);
        write_on(builder, out, TTR_KIND_END, 1000 + 100 * i + 7, 0);
    }
    ttr_builder_free(builder);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    ttr_stat *stat = ttr_stat_new(t, in, NULL, NULL, NULL);
    assert_int_equal(ttr_stat_rows(stat, &row), 1);
    assert_int_equal(row->kind, TTR_KIND_SPAN);
    assert_int_equal(row->count, SPANS);
    assert_int_equal(row->total, 7 * SPANS);
    assert_int_equal(ttr_stat_unmatched(stat), 0);
    ttr_stat_free(stat);
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_many_streams_stay_within_memory_limit),
        cmocka_unit_test(copies_with_translated_metadata_stay_within_memory_limit),
        cmocka_unit_test(streams_read_one_after_another_free_their_memory),
        cmocka_unit_test(re_encoded_streams_do_not_keep_complete_packets),
        cmocka_unit_test(parallel_readers_of_a_trace_share_window_memory),
        cmocka_unit_test(definitions_are_omitted_if_packets_cannot_be_copied),
        cmocka_unit_test(damage_check_of_many_streams_stays_within_memory_limit),
        cmocka_unit_test(summary_counts_backward_times_per_stream),
        cmocka_unit_test(oversized_last_packet_does_not_change_stream_size),
        cmocka_unit_test(counting_many_streams_without_spans_stays_within_memory_limit),
        cmocka_unit_test(spans_across_streams_are_counted_in_time_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
