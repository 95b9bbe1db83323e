/* Events after damage within a packet (ctf_salvage.c). The trace has one packet of 600 events of 13
 * bytes, with 32-bit timestamps: u8 id, u32 time, u32 number, u32 check. */
#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "support/support.h"

enum { EVENTS = 600, HEAD = 36, EVENT = 13, CONTENT = HEAD + EVENTS * EVENT, PADDING = 60 };

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {\n"
    "  integer { size = 32; align = 8; } magic; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "stream { packet.context := struct {\n"
    "    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;\n"
    "    integer { size = 64; align = 8; map = clock.c.value; } timestamp_end;\n"
    "    integer { size = 64; align = 8; } content_size;\n"
    "    integer { size = 64; align = 8; } packet_size; };\n"
    "  event.header := struct { integer { size = 8; align = 8; } id;\n"
    "    integer { size = 32; align = 8; map = clock.c.value; } timestamp; }; };\n"
    "event { name = tick; id = 3; fields := struct {\n"
    "  integer { size = 32; align = 8; } number; integer { size = 32; align = 8; } check; }; };\n";

struct trace {
    uint8_t bytes[CONTENT + PADDING];
    size_t n;
};

struct result {
    unsigned n, known; /* known: number, check and time as written */
    uint64_t damage;
};

static uint64_t time_of(unsigned i)
{
    return 1000000 + 5000 * (uint64_t)i;
}

static void make_trace(struct trace *trace)
{
    uint8_t *p = trace->bytes;
    memset(trace, 0, sizeof *trace);
    trace->n = sizeof trace->bytes;
    store_u32le(p, 0xC1FC1FC1);
    store_u64le(p + 4, time_of(0));
    store_u64le(p + 12, time_of(EVENTS));
    store_u64le(p + 20, CONTENT * 8);
    store_u64le(p + 28, (CONTENT + PADDING) * 8);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint8_t *event = p + HEAD + EVENT * i;
        event[0] = 3;
        store_u32le(event + 1, (uint32_t)time_of(i));
        store_u32le(event + 5, i);
        store_u32le(event + 9, ~i);
    }
}

static void read_trace(const struct trace *trace, struct result *result)
{
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"stream", trace->bytes, trace->n}};
    ttr_error error = {0};
    ttr_batch batch;
    ttr_field number, check;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, NULL, &error);
    *result = (struct result){.n = 0};
    while (reader && ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            bool is_known = ttr_field_find(t, event, "number", &number) &&
                            ttr_field_find(t, event, "check", &check) &&
                            check.value.v.u == (uint32_t)~number.value.v.u &&
                            event->ticks == time_of((unsigned)number.value.v.u);
            result->known += is_known;
            result->n++;
        }
    assert_int_equal(error.status, TTR_OK);
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; reader && ttr_reader_report(reader, i, &report); i++)
        result->damage += report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
}

static void undamaged_packet_returns_all_events(void **state)
{
    struct trace trace;
    struct result result;
    (void)state;
    make_trace(&trace);
    read_trace(&trace, &result);
    assert_int_equal(result.known, EVENTS);
    assert_int_equal(result.damage, 0);
}

/* Damages the bytes at each eleventh offset of the packet's events; at most `lost` events may be
 * missing on average, at most `added` be wrong, and events that are missing must be reported. */
static void check_each_offset(void (*damage)(struct trace *trace, size_t at), unsigned lost,
                              unsigned added)
{
    struct trace trace;
    struct result result;
    unsigned trials = 0, missing = 0, wrong = 0;
    for (size_t at = HEAD; at < HEAD + (EVENTS - 60) * EVENT; at += 11, trials++) {
        make_trace(&trace);
        damage(&trace, at);
        read_trace(&trace, &result);
        missing += EVENTS - result.known;
        wrong += result.n - result.known;
        if (result.n < EVENTS - 1 && !result.damage)
            fail_msg("%u events at offset %zu, and no damage reported", result.n, at);
    }
    if (missing > lost * trials || wrong > added * trials)
        fail_msg("%u events missing and %u wrong in %u trials", missing, wrong, trials);
}

static void zero_bytes(struct trace *trace, size_t at)
{
    memset(trace->bytes + at, 0, 130); /* ten events */
}

static void remove_byte(struct trace *trace, size_t at)
{
    memmove(trace->bytes + at, trace->bytes + at + 1, CONTENT - at);
}

static void set_unknown_id(struct trace *trace, size_t at)
{
    trace->bytes[at - (at - HEAD) % EVENT] = 99;
}

static void set_late_time(struct trace *trace, size_t at)
{
    trace->bytes[at - (at - HEAD) % EVENT + 4] ^= 0x40; /* adds 2^30 ns */
}

static void zeroed_bytes_lose_only_their_events(void **state)
{
    (void)state;
    check_each_offset(zero_bytes, 12, 1);
}

static void removed_byte_loses_few_events(void **state)
{
    (void)state;
    check_each_offset(remove_byte, 2, 1);
}

static void unknown_id_loses_one_event(void **state)
{
    (void)state;
    check_each_offset(set_unknown_id, 2, 0);
}

static void damaged_timestamp_loses_one_event(void **state)
{
    (void)state;
    check_each_offset(set_late_time, 2, 1);
}

/* Events with id 0 and a zero time are valid if the clock is zero, too. */
static void events_of_zero_bytes_at_time_zero_remain(void **state)
{
    static const char *const names[] = {"name = tick; id = 3;", "name = tick; id = 0;"};
    struct trace trace;
    (void)state;
    make_trace(&trace);
    store_u64le(trace.bytes + 4, 0);
    memset(trace.bytes + HEAD, 0, 20 * EVENT);
    for (unsigned i = 20; i < EVENTS; i++)
        trace.bytes[HEAD + EVENT * i] = 0;
    char text[sizeof metadata];
    memcpy(text, metadata, sizeof metadata);
    memcpy(strstr(text, names[0]), names[1], strlen(names[1]));
    const ttr_file files[] = {{"metadata", text, sizeof text - 1},
                              {"stream", trace.bytes, trace.n}};
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "trace", files, 2, NULL, &error);
    unsigned n = 0;
    while (reader && ttr_read(reader, &batch, &error) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, EVENTS);
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undamaged_packet_returns_all_events),
        cmocka_unit_test(zeroed_bytes_lose_only_their_events),
        cmocka_unit_test(removed_byte_loses_few_events),
        cmocka_unit_test(unknown_id_loses_one_event),
        cmocka_unit_test(damaged_timestamp_loses_one_event),
        cmocka_unit_test(events_of_zero_bytes_at_time_zero_remain),
    };
    return cmocka_run_group_tests_name("ctf_salvage", tests, NULL, NULL);
}
