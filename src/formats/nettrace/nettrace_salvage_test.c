/* Events after damage within a block (nettrace_salvage.c): traces of 3,000 events in blocks
 * of about 100 KiB, of which one byte is removed, 40 bytes are zeroed, or one bit of a time delta
 * is inverted.
 */
#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/support.h"
#include "support/writing.h"

enum { EVENTS = 3000, STEP = 3989, TRACE_MAX = 300000 };

struct result {
    uint64_t damage; /* ranges reported */
    unsigned known;  /* events with the times and values that were written */
    unsigned n;
};

static int64_t time_of(unsigned i)
{
    return 1000000000 + 1000 * (int64_t)i + (int64_t)(i * 37 % 100);
}

/* Writes events with a number and a text of varying length. */
static void write_trace(struct writing *w, const char *version)
{
    const char *const options[] = {version, NULL};
    char text[40];
    writing_open(w, "nettrace", 0, options);
    for (unsigned i = 0; i < EVENTS; i++) {
        static const char *const names[] = {"Open", "Read", "Close"};
        (void)snprintf(text, sizeof text, "/tmp/file%.*s%u", (int)(i % 23),
                       "abcdefghijklmnopqrstuvw", i);
        writing_begin(w, TTR_KIND_INSTANT, time_of(i), names[i % 3]);
        ttr_add_text(w->builder, "path", text);
        ttr_add_uint(w->builder, "number", i);
        writing_end(w);
    }
    writing_finish(w);
    assert_int_equal(w->status, TTR_OK);
    assert_true(w->n < TRACE_MAX);
}

static void read_trace(const uint8_t *bytes, size_t n, struct result *result)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr_field field;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, bytes, n, "trace", NULL, &error);
    *result = (struct result){.damage = 0};
    while (reader && ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_GAP)
                continue;
            bool has_number = ttr_field_find(t, event, "number", &field);
            result->known += has_number && field.value.v.u < EVENTS &&
                             event->time == time_of((unsigned)field.value.v.u);
            result->n++;
        }
    ttr_report report = {.size = sizeof report};
    if (reader && ttr_reader_report(reader, 0, &report))
        result->damage = report.damage_regions;
    ttr_close(reader);
    ttr_free(t);
}

static const char *const versions[] = {"version=4", "version=5", "version=6"};

/* The first block is undamaged: it shows that blocks of this trace have exact times. The end of the
 * last one is not known if it is damaged at its end. */
enum { FIRST = 110000, LAST = 1000 };

static void removed_byte_loses_few_events_and_is_reported(void **state)
{
    static uint8_t bytes[TRACE_MAX];
    (void)state;
    for (size_t v = 0; v < 3; v++) {
        struct writing w;
        struct result result;
        unsigned trials = 0, known = 0;
        write_trace(&w, versions[v]);
        for (size_t at = FIRST; at < w.n - LAST; at += STEP, trials++) {
            memcpy(bytes, w.text, at);
            memcpy(bytes + at, w.text + at + 1, w.n - at - 1);
            read_trace(bytes, w.n - 1, &result);
            assert_true(result.damage > 0);
            known += result.known;
        }
        writing_close(&w);
        assert_true(trials > 20);
        /* of 1,500 events in a block, at most twelve on average */
        if (known < trials * (EVENTS - 12))
            fail_msg("%s: %u of %u events in %u trials", versions[v], known, trials * EVENTS,
                     trials);
    }
}

static void zeroed_bytes_lose_few_events(void **state)
{
    static uint8_t bytes[TRACE_MAX];
    (void)state;
    for (size_t v = 0; v < 3; v++) {
        struct writing w;
        struct result result;
        unsigned trials = 0, known = 0, added = 0;
        write_trace(&w, versions[v]);
        for (size_t at = FIRST; at < w.n - LAST; at += STEP, trials++) {
            memcpy(bytes, w.text, w.n);
            memset(bytes + at, 0, 40);
            read_trace(bytes, w.n, &result);
            known += result.known;
            added += result.n - result.known;
        }
        writing_close(&w);
        if (known < trials * (EVENTS - 5) || added > trials * 3)
            fail_msg("%s: %u of %u events, %u others in %u trials", versions[v], known,
                     trials * EVENTS, added, trials);
    }
}

/* The delta of event 500 is a varint of two bytes before the payload; its bits 0 to 6 are in the
 * first byte. The same two bytes occur in other events, so all positions are tried, and those are
 * checked at which the reader reports a damaged time. */
static void inverted_bit_of_a_time_is_corrected_and_reported(void **state)
{
    static uint8_t bytes[TRACE_MAX];
    struct writing w;
    struct result result;
    unsigned found = 0;
    (void)state;
    write_trace(&w, versions[0]);
    for (size_t at = FIRST; at < w.n - LAST; at++) {
        uint8_t byte = (uint8_t)w.text[at], next = (uint8_t)w.text[at + 1];
        bool may_be_delta = byte >= 0x80 && next >= 0x06 && next <= 0x0a; /* 800 to 1400 ns */
        if (!may_be_delta)
            continue;
        memcpy(bytes, w.text, w.n);
        bytes[at + 1] ^= 0x40; /* adds 8192 ns to this event and all after it */
        read_trace(bytes, w.n, &result);
        assert_int_equal(result.n, EVENTS);
        assert_true(result.damage > 0 || result.known >= EVENTS - 1);
        if (result.damage)
            assert_true(result.known >= EVENTS - 1);
        found += result.damage > 0;
    }
    writing_close(&w);
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removed_byte_loses_few_events_and_is_reported),
        cmocka_unit_test(zeroed_bytes_lose_few_events),
        cmocka_unit_test(inverted_bit_of_a_time_is_corrected_and_reported),
    };
    return cmocka_run_group_tests_name("nettrace_salvage", tests, NULL, NULL);
}
