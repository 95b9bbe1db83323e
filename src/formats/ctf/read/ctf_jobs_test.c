/* Text written by several threads is the same as text written by one.  The trace is made
 * here byte by byte. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/support.h"
#include "support/writing.h"

#define STREAMS 6u
#define PACKETS 40u
#define EVENTS 700u /* of a packet */

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; "
    "} := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "
    "content_size; u64 packet_size; };\n"
    "  event.header := struct { u32 id; ts timestamp; }; event.context := struct { u32 vpid; u32 "
    "vtid; }; };\n"
    "event { name = \"text\"; id = 0; stream_id = 0; fields := struct { string s; }; };\n"
    "event { name = \"number\"; id = 1; stream_id = 0; fields := struct { u64 n; }; };\n"
    "event { name = \"list\"; id = 2; stream_id = 0; fields := struct { u32 len; u32 v[len]; }; "
    "};\n"
    "event { name = \"wide\"; id = 3; stream_id = 0; fields := struct { integer { size = 128; "
    "align = 8; } w; }; };\n";

static void add_u32(struct buffer *to, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

static void add_u64(struct buffer *to, uint64_t x)
{
    add_u32(to, (uint32_t)x);
    add_u32(to, (uint32_t)(x >> 32));
}

static uint32_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 20);
}

static void add_event(struct buffer *to, uint64_t time, uint64_t *seed)
{
    uint32_t random = next_random(seed), id = random % 4;
    add_u32(to, id);
    add_u64(to, time);
    add_u32(to, 100 + (random >> 4) % 3);
    add_u32(to, 200 + (random >> 7) % 50 / 40);
    if (id == 0)
        buffer_add(to, "some text", 10);
    else if (id == 1 || id == 3)
        add_u64(to, random);
    if (id == 3)
        add_u64(to, random);
    if (id != 2)
        return;
    add_u32(to, (random >> 9) % 4);
    for (uint32_t i = 0; i < (random >> 9) % 4; i++)
        add_u32(to, i);
}

static void add_packet(struct buffer *to, uint64_t *time, uint64_t *seed)
{
    size_t begin = to->n;
    uint64_t first = *time;
    add_u32(to, 0xC1FC1FC1u);
    add_u32(to, 0);
    buffer_add_zeros(to, 32);
    for (unsigned i = 0; i < EVENTS; i++)
        add_event(to, *time += 1 + next_random(seed) % 1000, seed);
    uint64_t bits = (to->n - begin) * 8, context[4] = {first, *time, bits, bits};
    for (unsigned i = 0; i < 32; i++)
        to->bytes[begin + 8 + i] = (uint8_t)(context[i / 8] >> 8 * (i % 8));
}

struct trace {
    struct buffer stream[STREAMS];
    ttr_file files[STREAMS + 1];
};

static void make_trace(struct trace *trace)
{
    static const char *const names[STREAMS] = {"a", "b", "c", "d", "e", "f"};
    uint64_t seed = 88172645463325252u;
    trace->files[0] = (ttr_file){.name = "metadata", .bytes = metadata, .n = sizeof metadata - 1};
    for (unsigned i = 0; i < STREAMS; i++) {
        uint64_t time = i;
        buffer_init(&trace->stream[i], alloc_default());
        for (unsigned k = 0; k < PACKETS; k++)
            add_packet(&trace->stream[i], &time, &seed);
        trace->files[i + 1] =
            (ttr_file){.name = names[i], .bytes = trace->stream[i].bytes, .n = trace->stream[i].n};
    }
}

static void drop_trace(struct trace *trace)
{
    for (unsigned i = 0; i < STREAMS; i++)
        buffer_free(&trace->stream[i]);
}

/* --- Threads that read the same once more --- */

/* What other threads open, and how often they did. */
struct again {
    const ttr_file *files;
    unsigned streams;
    atomic_uint opened;
};

static ttr_reader *open_again(void *ctx, ttr *t)
{
    struct again *again = ctx;
    ttr_error error = {0};
    atomic_fetch_add(&again->opened, 1);
    return again->files ? ttr_open_files(t, "made", again->files, again->streams + 1, NULL, &error)
                        : NULL;
}

/* How a trace is written: by how many other threads, which read `again`; so many batches of it, or
 * all; the output fails behind so many bytes. */
struct sharing {
    const char *format;
    unsigned threads, streams;
    struct again *again;
    uint64_t batches;
    size_t fails_at;
    bool is_cut; /* the last batch has one event less */
};

struct output {
    struct buffer *to;
    size_t fails_at;
};

static int64_t take_bytes(void *ctx, const void *bytes, size_t n)
{
    struct output *output = ctx;
    if (output->to->n + n > output->fails_at) {
        errno = ENOSPC;
        return -1;
    }
    buffer_add(output->to, bytes, n);
    return (int64_t)n;
}

/* Writes as told; gives how that ended, the bytes, and what was counted. */
static ttr_status write_shared(const struct trace *trace, const struct sharing *how,
                               struct buffer *to, uint64_t counts[3])
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const ttr_loss *losses;
    struct output output = {.to = to, .fails_at = how->fails_at ? how->fails_at : SIZE_MAX};
    ttr_reader *in = ttr_open_files(t, "made", trace->files, how->streams + 1, NULL, &error);
    ttr_writer *out = ttr_create_push(t, take_bytes, &output, how->format, NULL, &error);
    ttr_batch batch;
    ttr_status status = TTR_OK;
    assert_true(in && out);
    assert_true(ttr_writer_parallel(out, how->threads, open_again, how->again) ==
                (how->threads > 0));
    buffer_clear(to);
    for (uint64_t i = 0; status == TTR_OK && (how->batches == 0 || i < how->batches) &&
                         ttr_read(in, &batch, &error) == TTR_OK;
         i++) {
        batch.n -= how->is_cut && i + 1 == how->batches;
        status = ttr_write(out, &batch, &error);
    }
    counts[0] = ttr_writer_events(out);
    counts[1] = counts[2] = 0;
    for (size_t n = ttr_losses(out, &losses), i = 0; i < n; i++) {
        counts[1] += losses[i].count;
        counts[2] = counts[2] * 31 + losses[i].first_offset;
    }
    if (status == TTR_OK)
        status = ttr_finish(out, &error);
    else
        ttr_writer_abort(out);
    if (status != TTR_OK && how->fails_at)
        assert_int_equal(error.sys, ENOSPC);
    if (how->fails_at)
        counts[0] = counts[1] = counts[2] = 0; /* as far as it got */
    ttr_close(in);
    ttr_free(t);
    return status;
}

/* Writes without other threads and with one and two of them, which must be the same. */
static void check_sharing(const struct trace *trace, struct sharing how,
                          const struct again *read_again)
{
    struct buffer alone, shared;
    uint64_t counted[3], counts[3];
    buffer_init(&alone, alloc_default());
    buffer_init(&shared, alloc_default());
    const ttr_status expected = write_shared(trace, &how, &alone, counted);
    for (how.threads = 1; how.threads <= 2; how.threads++) {
        struct again again = {.files = read_again->files, .streams = read_again->streams};
        how.again = &again;
        assert_int_equal(write_shared(trace, &how, &shared, counts), expected);
        assert_true(how.fails_at || shared.n == alone.n);
        assert_memory_equal(shared.bytes, alone.bytes, shared.n < alone.n ? shared.n : alone.n);
        assert_memory_equal(counts, counted, sizeof counted);
    }
    buffer_free(&alone);
    buffer_free(&shared);
}

static void threads_that_read_the_same_change_nothing_of_what_is_written(void **state)
{
    (void)state;
    static const char *const formats[] = {"jsonl", "text", "babeltrace2"};
    struct trace trace;
    make_trace(&trace);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned streams = 1; streams <= STREAMS; streams += streams == 1 ? 1 : STREAMS - 2)
            check_sharing(&trace, (struct sharing){.format = formats[i], .streams = streams},
                          &(struct again){.files = trace.files, .streams = streams});
    drop_trace(&trace);
}

/* The trace has changed, or cannot be opened any more. */
static void threads_that_read_something_else_are_sent_away(void **state)
{
    (void)state;
    struct trace trace;
    make_trace(&trace);
    check_sharing(&trace, (struct sharing){.format = "text", .streams = 2},
                  &(struct again){.files = trace.files, .streams = 3});
    check_sharing(&trace, (struct sharing){.format = "text", .streams = 3},
                  &(struct again){.files = trace.files, .streams = 2});
    check_sharing(&trace, (struct sharing){.format = "text", .streams = 2},
                  &(struct again){.files = NULL});
    trace.files[2].n -= 12345; /* is read so, and was whole when it was opened again */
    ttr_file whole[STREAMS + 1];
    memcpy(whole, trace.files, sizeof whole);
    whole[2].n += 12345;
    check_sharing(&trace, (struct sharing){.format = "babeltrace2", .streams = 2},
                  &(struct again){.files = whole, .streams = 2});
    drop_trace(&trace);
}

static void output_that_ends_early_is_what_it_would_be_alone(void **state)
{
    (void)state;
    struct trace trace;
    make_trace(&trace);
    const struct again same = {.files = trace.files, .streams = 2};
    for (uint64_t batches = 1; batches < 200; batches += 1 + batches / 3) {
        check_sharing(&trace,
                      (struct sharing){.format = "babeltrace2", .streams = 2, .batches = batches},
                      &same);
        check_sharing(
            &trace,
            (struct sharing){.format = "text", .streams = 2, .batches = batches, .is_cut = true},
            &same);
    }
    drop_trace(&trace);
}

static void an_output_that_fails_ends_all_threads(void **state)
{
    (void)state;
    struct trace trace;
    make_trace(&trace);
    const struct again same = {.files = trace.files, .streams = 2};
    for (size_t bytes = 1; bytes < 2000000; bytes *= 7)
        check_sharing(&trace, (struct sharing){.format = "text", .streams = 2, .fails_at = bytes},
                      &same);
    drop_trace(&trace);
}

static void formats_whose_events_do_not_stand_alone_are_not_shared(void **state)
{
    (void)state;
    static const char *const formats[] = {"fxt", "chrome", "csv"};
    struct again again = {.files = NULL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        ttr *t = ttr_new(NULL);
        ttr_error error = {0};
        ttr_writer *out = ttr_create(t, NULL, formats[i], NULL, &error);
        assert_non_null(out);
        assert_false(ttr_writer_parallel(out, 1, open_again, &again));
        ttr_writer_abort(out);
        ttr_free(t);
    }
    assert_int_equal(atomic_load(&again.opened), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_read_the_same_change_nothing_of_what_is_written),
        cmocka_unit_test(threads_that_read_something_else_are_sent_away),
        cmocka_unit_test(output_that_ends_early_is_what_it_would_be_alone),
        cmocka_unit_test(an_output_that_fails_ends_all_threads),
        cmocka_unit_test(formats_whose_events_do_not_stand_alone_are_not_shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
