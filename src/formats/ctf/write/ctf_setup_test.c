/* Cost of opening hundreds of stream files with a few events each: few system calls, no leaks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/files.h"
#include "support/support.h"

#define STREAMS 300u
#define EMPTY 3u        /* files without a byte; included in STREAMS */
#define EVENTS 5u       /* per stream */
#define PACKET 600u     /* bytes */
#define READS_OTHER 40u /* read calls for the metadata and by this test */

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; "
    "} := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size; }; "
    "event.header := struct { u32 id; ts timestamp; }; };\n"
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 number; }; };\n";

static void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

static void write_stream(const char *folder, unsigned i)
{
    char path[64];
    struct buffer to;
    buffer_init(&to, alloc_default());
    add_number(&to, 0xC1FC1FC1u, 4);
    add_number(&to, 0, 4);
    add_number(&to, UINT64_C(8) * (24 + EVENTS * 16), 8);
    add_number(&to, UINT64_C(8) * PACKET, 8);
    for (unsigned k = 0; k < EVENTS; k++) {
        add_number(&to, 0, 4);
        add_number(&to, 1000 + k * STREAMS + i, 8);
        add_number(&to, i, 4);
    }
    buffer_add_zeros(&to, PACKET - to.n);
    (void)snprintf(path, sizeof path, "%s/s%03u", folder, i);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, to.bytes, i % (STREAMS / EMPTY) == 1 ? 0 : to.n),
                     i % (STREAMS / EMPTY) == 1 ? 0 : to.n);
    assert_int_equal(close(fd), 0);
    buffer_free(&to);
}

static void make_trace(char *folder)
{
    char path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/metadata", folder);
    files_write(path, metadata);
    for (unsigned i = 0; i < STREAMS; i++)
        write_stream(folder, i);
}

/* Reads the trace and asserts that the streams' events come in turn. */
static void read_trace(ttr *t, const char *folder)
{
    ttr_batch batch;
    ttr_error error;
    ttr_report report = {.size = sizeof report};
    ttr_status status;
    uint64_t given = 0;
    int64_t last = 0;
    ttr_reader *in = ttr_open(t, folder, NULL, &error);
    assert_non_null(in);
    for (; (status = ttr_read(in, &batch, &error)) == TTR_OK; given += batch.n)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_fields fields;
            ttr_field field;
            assert_true(event->time > last);
            last = event->time;
            ttr_fields_begin(t, event, &fields);
            assert_true(ttr_fields_next(&fields, &field));
            assert_int_equal(field.value.v.u, (uint64_t)(event->time - 1000) % STREAMS);
        }
    assert_int_equal(status, TTR_END);
    assert_int_equal(given, (STREAMS - EMPTY) * EVENTS);
    for (size_t i = 0; i < STREAMS - EMPTY; i++) {
        assert_true(ttr_reader_report(in, i, &report));
        assert_int_equal(report.events, EVENTS);
        assert_int_equal(report.bytes, PACKET);
        assert_int_equal(report.notes_n, 0);
    }
    assert_false(ttr_reader_report(in, STREAMS - EMPTY, &report)); /* empty files have no report */
    ttr_close(in);
}

/* Returns the number of read calls of this process; 0 if the system does not count them. */
static unsigned long count_read_calls(void)
{
    char text[512] = "";
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    const char *at = n > 0 ? strstr(text, "syscr: ") : NULL;
    return at ? strtoul(at + strlen("syscr: "), NULL, 10) : 0;
}

static void small_stream_opens_with_two_reads(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-setup-XXXXXX";
    struct support_heap heap;
    make_trace(folder);
    support_heap_init(&heap, 0);
    const ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
    ttr *t = ttr_new(&options);
    const unsigned long first = count_read_calls(), before = count_read_calls();
    /* false under tools that read on behalf of the program, such as tracers */
    const bool is_reported = before == first + 1;
    read_trace(t, folder);
    assert_true(!is_reported || count_read_calls() - before <= 2 * STREAMS + READS_OTHER);
    read_trace(t, folder); /* a second time with the same library handle */
    ttr_free(t);
    support_heap_check(&heap);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_stream_opens_with_two_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
