/* Damaged timestamps in packets that are longer than the range of their timestamps, so that the end
 * of the packet does not show a false wrap (ctf_false_wrap.c). Events have the headers of LTTng:
 * 5 bits of id and 27 bits of time, or id 31 and a complete time after each long pause. */
#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "support/support.h"

enum { EVENTS = 300, HEAD = 36, EVENT = 12, WIDE_EVENT = 21, EACH = 60, STREAM_MAX = 8192 };
#define STEP (UINT64_C(1) << 27)

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
    "  event.header := struct {\n"
    "    enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;\n"
    "    variant <id> {\n"
    "      struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;\n"
    "      struct { integer { size = 32; align = 8; } id;\n"
    "        integer { size = 64; align = 8; map = clock.c.value; } timestamp; } extended;\n"
    "    } v; } align(8); };\n"
    "event { name = tick; id = 3; fields := struct {\n"
    "  integer { size = 32; align = 8; } number; integer { size = 32; align = 8; } check; }; };\n";

struct trace {
    uint8_t bytes[STREAM_MAX];
    size_t n;
    uint64_t time[EVENTS];
    size_t event_at[EVENTS]; /* offset of the header */
};

struct result {
    unsigned n, known; /* known: number, check and time as written */
    uint64_t damage;
};

/* Makes one packet of events with these times. */
static void make_packet(struct trace *trace)
{
    uint8_t *p = trace->bytes;
    memset(trace->bytes, 0, sizeof trace->bytes);
    trace->n = HEAD;
    for (unsigned i = 0; i < EVENTS; i++) {
        const bool is_wide = i > 0 && trace->time[i] - trace->time[i - 1] >= STEP;
        uint8_t *event = p + trace->n, *fields = event + (is_wide ? WIDE_EVENT : EVENT) - 8;
        trace->event_at[i] = trace->n;
        if (is_wide) {
            event[0] = 31;
            store_u32le(event + 1, 3);
            store_u64le(event + 5, trace->time[i]);
        } else {
            store_u32le(event, 3 | (uint32_t)((trace->time[i] & (STEP - 1)) << 5));
        }
        store_u32le(fields, i);
        store_u32le(fields + 4, ~i);
        trace->n += is_wide ? WIDE_EVENT : EVENT;
        assert_true(trace->n < STREAM_MAX);
    }
    store_u32le(p, 0xC1FC1FC1);
    store_u64le(p + 4, trace->time[0]);
    store_u64le(p + 12, trace->time[EVENTS - 1] + 40 * STEP);
    store_u64le(p + 20, trace->n * 8);
    store_u64le(p + 28, trace->n * 8);
}

/* Bursts of EACH events, at distances of 20 us, with pauses of five steps between them. */
static void make_bursts(struct trace *trace)
{
    uint64_t time = 70 * STEP + 1000000;
    for (unsigned i = 0; i < EVENTS; i++, time += i % EACH ? 20000 + i % 7 : 5 * STEP + 12345)
        trace->time[i] = time;
    make_packet(trace);
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
            result->known += ttr_field_find(t, event, "number", &number) &&
                             ttr_field_find(t, event, "check", &check) &&
                             check.value.v.u == (uint32_t)~number.value.v.u &&
                             number.value.v.u < EVENTS &&
                             event->ticks == trace->time[number.value.v.u];
            result->n++;
        }
    assert_int_equal(error.status, TTR_OK);
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; reader && ttr_reader_report(reader, i, &report); i++)
        result->damage += report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
}

static void expect_undamaged(const struct trace *trace)
{
    struct result result;
    read_trace(trace, &result);
    assert_int_equal(result.known, EVENTS);
    assert_int_equal(result.damage, 0);
}

static void undamaged_bursts_have_no_damage(void **state)
{
    struct trace trace;
    (void)state;
    make_bursts(&trace);
    expect_undamaged(&trace);
}

/* Any bit of any compact timestamp: all other events keep their time. A bit above the distance of
 * events makes a false wrap, which must be reported. If the bit is near that distance, the event
 * before can have the wrong timestamp as well. */
static void flipped_timestamp_bit_moves_one_event(void **state)
{
    struct trace trace;
    struct result result;
    (void)state;
    for (unsigned i = 1; i + 1 < EVENTS; i += 3)
        for (unsigned bit = i % 4; bit < 27; bit += 4) {
            if (i % EACH == 0 || (i + 1) % EACH == 0)
                continue;
            make_bursts(&trace);
            trace.bytes[trace.event_at[i] + (5 + bit) / 8] ^= (uint8_t)(1u << (5 + bit) % 8);
            read_trace(&trace, &result);
            if (result.n != EVENTS || result.known < EVENTS - (bit > 15 ? 1u : 2u))
                fail_msg("bit %u of event %u: %u events, %u unchanged", bit, i, result.n,
                         result.known);
            if (bit > 15 && result.damage != 1)
                fail_msg("bit %u of event %u: not reported", bit, i);
        }
}

/* Two pauses of which the sum is nearly a step, with one event between them, at all phases of the
 * clock. No bit of this event leads to a time of the bursts around it. */
static void pauses_of_a_step_are_not_damage(void **state)
{
    struct trace trace;
    (void)state;
    for (uint64_t phase = 0; phase < 40; phase++) {
        uint64_t time = 70 * STEP + phase * (STEP / 40);
        for (unsigned i = 0; i < EVENTS; i++) {
            trace.time[i] = time;
            time += i % 20 == 10   ? STEP / 3 + phase * 777777
                    : i % 20 == 11 ? STEP - STEP / 3 - phase * 777777 + 3000
                                   : 1500;
        }
        make_packet(&trace);
        expect_undamaged(&trace);
    }
}

/* Intervals from zero to two steps without any order. */
static void sparse_events_are_not_damage(void **state)
{
    struct trace trace;
    uint64_t seed = 1;
    (void)state;
    for (unsigned k = 0; k < 200; k++) {
        uint64_t time = 70 * STEP;
        for (unsigned i = 0; i < EVENTS; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            trace.time[i] = time += (seed >> 36) % (k % 2 ? 2 * STEP : STEP);
        }
        make_packet(&trace);
        expect_undamaged(&trace);
    }
}

/* Zeroed bytes: only a complete timestamp in them may move the events up to the next one. */
static void zeroed_bytes_move_no_later_event(void **state)
{
    struct trace trace;
    struct result result;
    unsigned missing = 0, trials = 0;
    (void)state;
    for (unsigned i = 2; i + 12 < EVENTS; i++)
        for (unsigned at = 0; at < EVENT; at += 5) {
            if ((i % EACH) < 2 || (i + 12) % EACH < 13)
                continue;
            make_bursts(&trace);
            memset(trace.bytes + trace.event_at[i] + at, 0, 100); /* nine events */
            read_trace(&trace, &result);
            missing += EVENTS - result.known;
            trials++;
            if (result.known + 9 < EVENTS && !result.damage)
                fail_msg("zeros at byte %u of event %u: not reported", at, i);
        }
    if (missing > 12 * trials)
        fail_msg("%u events missing or moved in %u trials", missing, trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undamaged_bursts_have_no_damage),
        cmocka_unit_test(flipped_timestamp_bit_moves_one_event),
        cmocka_unit_test(pauses_of_a_step_are_not_damage),
        cmocka_unit_test(sparse_events_are_not_damage),
        cmocka_unit_test(zeroed_bytes_move_no_later_event),
    };
    return cmocka_run_group_tests_name("ctf_false_wrap", tests, NULL, NULL);
}
