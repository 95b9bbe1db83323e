/* Hundreds of streams with small windows: batch merging and window moves must not change the
 * events. */
#include "formats/ctf/read/ctf_many_streams_made_test.h"

static void read_many(const char *metadata, size_t metadata_n, enum made made)
{
    const uint32_t events = made == MADE_FAR ? FAR_EVENTS : EVENTS;
    static struct many many;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    uint64_t given = 0;
    make_many(&many, metadata, metadata_n, made);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END;) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++, given++)
            expect_event(t, ttr_batch_at(&batch, i), given, made);
    }
    assert_int_equal(given, STREAMS * events);
    for (unsigned i = 0; i < STREAMS; i++) {
        assert_true(ttr_reader_report(in, i, &report));
        assert_int_equal(report.events, events);
        assert_int_equal(report.damage_regions, 0);
        assert_int_equal(report.first_ns, 1000);
        assert_int_equal(report.last_ns, 1000 + (events - 1) * 10);
    }
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

static void many_streams_are_ordered_by_time_then_stream(void **state)
{
    (void)state;
    read_many(plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
}

static void aligned_variant_options_survive_window_moves(void **state)
{
    (void)state;
    read_many(far_metadata, sizeof far_metadata - 1, MADE_FAR);
}

static void mixed_short_and_extended_headers_decode_id_and_time(void **state)
{
    (void)state;
    read_many(extended_metadata, sizeof extended_metadata - 1, MADE_EXTENDED);
}

static void extended_headers_ending_inside_a_byte_decode(void **state)
{
    (void)state;
    read_many(uneven_metadata, sizeof uneven_metadata - 1, MADE_EXTENDED);
}

/* --- Packet context and event header of an event --- */

#define OWN_EVENTS 300u

static const char own_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; "
    "} := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size; u32 own; };\n"
    "event.header := struct { u32 id; ts timestamp; u32 more; }; };\n"
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 number; string word; }; "
    "};\n"
    "event { name = \"far\"; id = 1; stream_id = 0; fields := struct { integer { size = 32; align "
    "= 2048; } number; string word; }; };\n";

/* Some of the first events have a field aligned to the packet's start, so the fast loop does not
 * read them. */
static bool is_aligned(uint32_t i)
{
    return i < OWN_EVENTS / 3 && i % 3 == 0;
}

/* Appends one packet of stream `ctx`. */
static void make_own(struct buffer *to, uint32_t ctx)
{
    char word[80];
    add_number(to, 0xC1FC1FC1u, 4);
    buffer_add_zeros(to, 20);
    add_number(to, ctx, 4);
    for (uint32_t i = 0; i < OWN_EVENTS; i++) {
        add_number(to, is_aligned(i), 4);
        add_number(to, 1000 + i * 10, 8);
        add_number(to, ctx + i, 4);
        if (is_aligned(i))
            buffer_add_zeros(to, (FAR - to->n % FAR) % FAR);
        add_number(to, ctx * OWN_EVENTS + i, 4);
        buffer_add(to, word, word_of(i + ctx, word) + 1);
    }
    for (unsigned i = 0; i < 16; i++)
        to->bytes[8 + i] = (uint8_t)(to->n * 8 >> 8 * (i % 8));
}

static uint64_t number_of_group(const ttr *t, const ttr_event *event, ttr_group group,
                                const char *name)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin_group(t, event, group, &fields);
    while (ttr_fields_next(&fields, &field))
        if (field.name.n == strlen(name) && memcmp(field.name.p, name, field.name.n) == 0)
            return field.value.v.u;
    fail_msg("no %s", name);
    return 0;
}

static void expect_own(const ttr *t, const ttr_event *event, uint32_t ctx, uint32_t i)
{
    char word[80];
    ttr_field field;
    const size_t n = word_of(i + ctx, word);
    assert_int_equal(event->time, 1000 + i * 10);
    assert_int_equal(number_of_group(t, event, TTR_GROUP_PACKET, "own"), ctx);
    assert_int_equal(number_of_group(t, event, TTR_GROUP_HEADER, "more"), ctx + i);
    assert_true(ttr_field_find(t, event, "number", &field));
    assert_int_equal(field.value.v.u, ctx * OWN_EVENTS + i);
    assert_true(ttr_field_find(t, event, "word", &field));
    assert_int_equal(field.value.text.n, n);
    assert_memory_equal(field.value.text.p, word, n);
}

static void packet_and_header_fields_belong_to_the_events_stream(void **state)
{
    (void)state;
    static struct buffer stream[STREAMS];
    static char name[STREAMS][8];
    static ttr_file file[STREAMS + 1];
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t given = 0;
    file[0] = (ttr_file){.name = "metadata", .bytes = own_metadata, .n = sizeof own_metadata - 1};
    for (unsigned i = 0; i < STREAMS; i++) {
        buffer_init(&stream[i], alloc_default());
        make_own(&stream[i], i);
        (void)snprintf(name[i], sizeof name[i], "s%03u", i);
        file[i + 1] = (ttr_file){.name = name[i], .bytes = stream[i].bytes, .n = stream[i].n};
    }
    ttr_reader *in = ttr_open_files(t, "made", file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END;) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++, given++)
            expect_own(t, ttr_batch_at(&batch, i), (uint32_t)(given % STREAMS),
                       (uint32_t)(given / STREAMS));
    }
    assert_int_equal(given, STREAMS * OWN_EVENTS);
    ttr_close(in);
    ttr_free(t);
    for (unsigned i = 0; i < STREAMS; i++)
        buffer_free(&stream[i]);
}

/* Returns the memory of an open trace, bytes. */
static uint64_t memory_of_trace(ttr *t, const ttr_file *file)
{
    const uint64_t before = t->memory;
    ttr_batch batch;
    ttr_reader *in = ttr_open_files(t, "made", file, 2, NULL, NULL);
    assert_non_null(in);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    assert_true(t->memory > before);
    const uint64_t memory = t->memory - before;
    ttr_close(in);
    return memory;
}

static void trace_after_a_thousand_others_uses_no_more_memory(void **state)
{
    (void)state;
    struct buffer stream;
    ttr *t = ttr_new(NULL);
    buffer_init(&stream, alloc_default());
    make_own(&stream, 0);
    const ttr_file file[2] = {
        {.name = "metadata", .bytes = own_metadata, .n = sizeof own_metadata - 1},
        {.name = "s", .bytes = stream.bytes, .n = stream.n}};
    (void)memory_of_trace(t, file);
    const uint64_t early = memory_of_trace(t, file);
    for (unsigned i = 0; i < 1000; i++)
        (void)memory_of_trace(t, file);
    assert_int_equal(memory_of_trace(t, file), early);
    ttr_free(t);
    buffer_free(&stream);
}

/* Returns the offset of an event in the first packet. */
static size_t place_of_event(uint32_t number)
{
    char word[80];
    size_t at = 24;
    for (uint32_t i = 0; i < number; i++)
        at += 4 + 8 + 4 + word_of(i, word) + 1;
    return at;
}

/* Reads the first n streams, one of them with the bytes `hit`; expects `given` events in order. */
static void read_hit(struct many *many, unsigned n, const struct buffer *hit, uint64_t given)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    int64_t last = INT64_MIN;
    const ttr_file whole = many->file[n / 2];
    many->file[n / 2].bytes = hit->bytes;
    ttr_reader *in = ttr_open_files(t, "made", many->file, n + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END; given -= batch.n) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++) {
            const int64_t time = ttr_batch_at(&batch, i)->time;
            assert_true(time >= last);
            last = time;
        }
    }
    assert_int_equal(given, 0);
    many->file[n / 2] = whole;
    ttr_close(in);
    ttr_free(t);
}

/* Bytes that are not an event must not change the clock, so later packets keep their order. */
static void late_time_in_damage_does_not_delay_later_packets(void **state)
{
    static const unsigned streams[] = {6, STREAMS}; /* merged event by event, and in batches */
    static struct many many;
    (void)state;
    struct buffer hit;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, false);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    const size_t at = place_of_event(HIT), last = place_of_event(PACKET_EVENTS - 1),
                 end = place_of_event(PACKET_EVENTS) - 1;
    for (unsigned i = 0; i < 2; i++) {
        hit.bytes[at] = 0xff; /* highest byte of the id */
        hit.bytes[at + 4 + 6] = 1;
        read_hit(&many, streams[i], &hit, (uint64_t)streams[i] * EVENTS - (PACKET_EVENTS - HIT));
        memcpy(hit.bytes, many.stream.bytes, hit.n);
        hit.bytes[end] = 'x'; /* its text has no terminator */
        hit.bytes[last + 4 + 6] = 1;
        read_hit(&many, streams[i], &hit, (uint64_t)streams[i] * EVENTS - 1);
        memcpy(hit.bytes, many.stream.bytes, hit.n);
    }
    buffer_free(&hit);
    buffer_free(&many.stream);
}

/* A time that does not fit in 64 bits of ns is not "later": the stream must be read on instead of
 * waited for. */
static void time_beyond_64_bits_in_one_stream_does_not_hang(void **state)
{
    (void)state;
    static struct many many;
    struct buffer hit;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t given = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    hit.bytes[place_of_event(HIT) + 4 + 7] = 0x82; /* highest byte of the time */
    many.file[STREAMS / 2].bytes = hit.bytes;
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END; given += batch.n)
        assert_int_equal(status, TTR_OK);
    assert_in_range(given, (uint64_t)(STREAMS - 1) * EVENTS, (uint64_t)STREAMS * EVENTS + 1);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&hit);
    buffer_free(&many.stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_streams_are_ordered_by_time_then_stream),
        cmocka_unit_test(aligned_variant_options_survive_window_moves),
        cmocka_unit_test(mixed_short_and_extended_headers_decode_id_and_time),
        cmocka_unit_test(extended_headers_ending_inside_a_byte_decode),
        cmocka_unit_test(packet_and_header_fields_belong_to_the_events_stream),
        cmocka_unit_test(trace_after_a_thousand_others_uses_no_more_memory),
        cmocka_unit_test(time_beyond_64_bits_in_one_stream_does_not_hang),
        cmocka_unit_test(late_time_in_damage_does_not_delay_later_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
