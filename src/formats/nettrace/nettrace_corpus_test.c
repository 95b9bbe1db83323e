/* Recorded traces of five versions of the runtime: the number of events that TraceEvent counts, in
 * order of time, without loss or damage, and every field can be decoded. TTR_CORPUS is the folder
 * of recorded traces; if it is not set the tests pass with a line that reports that. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/read.h>

#include "support/corpus.h"
#include "support/support.h"

/* Events were counted by TraceEvent, samples and stacks by this library's fields. */
struct recorded {
    const char *name;
    uint64_t events;
    const char *version;
    uint64_t lost;
    bool has_notes; /* the trace has remarks */
};

static const struct recorded recorded[] = {
    {"VoiceMemo.23092.nettrace.xz", 108450, "4", 0, false},
    {"dotnetdiag-single-thread.nettrace.xz", 27951, "4", 0, false},
    {"erlendthune-RememberCalendar.nettrace.xz", 4693, "4", 0, false},
    {"eventpipe-dotnetcore2.1-linux-x64-objver3.netperf.xz", 26146, "3", 0, false},
    {"eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf.xz", 12, "3", 0, false},
    {"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz", 105540, "4", 0, false},
    {"eventpipe-dotnetcore5.0-win-x64-arraytypes.nettrace.xz", 1970, "4", 0, false},
    {"only_managed_samples.nettrace.xz", 37603, "4", 0, false},
    {"recorded/c3.nettrace.xz", 689, "4", 0, false},
    {"recorded/counters.nettrace.xz", 2378, "4", 0, false},
    {"recorded/csc_default.nettrace.xz", 41735, "4", 0, false},
    {"recorded/emit.nettrace.xz", 1503, "4", 0, false},
    {"recorded/mix_default.nettrace.xz", 27499, "4", 0, false},
    {"recorded/mix_v3.netperf.xz", 4591, "3", 0, false},
    {"v6/v6_plain.nettrace", 9, "6", 7, true},
    {"v6/v6_minimal.nettrace", 0, "6", 0, false},
    {"v6/v6_ptr4.nettrace", 1, "6", 0, false},
};

/* Decodes all fields and the stack of an event. */
static void decode_all_fields(const ttr *t, const ttr_event *event, uint64_t *frames)
{
    ttr_fields fields;
    ttr_field field;
    uint64_t address[128];
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        assert_non_null(field.name.p);
    uint32_t n = ttr_event_frames(t, event, address, 128);
    for (uint32_t i = 0; i < n && i < 128; i++)
        assert_true(address[i] != 0);
    assert_true(event->stack || n == 0);
    *frames += n;
}

static void check_recorded(const struct recorded *expected, const char *path)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_STRICT};
    ttr_reader *reader = ttr_open(t, path, &options, &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    int64_t last = INT64_MIN;
    uint64_t frames = 0;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            assert_true(event->time >= last);
            last = event->time;
            decode_all_fields(t, event, &frames);
        }
    }
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(status, TTR_END);
    assert_int_equal(report.events, expected->events);
    assert_int_equal(report.lost, expected->lost);
    assert_true(expected->has_notes || report.notes_n == 0);
    assert_string_equal(report.version, expected->version);
    assert_true(frames > 0 || strcmp(expected->version, "6") == 0);
    ttr_close(reader);
    ttr_free(t);
}

static void recorded_traces_match_counts_of_traceevent_in_order(void **state)
{
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (corpus_find("nettrace", recorded[i].name, path, sizeof path))
            check_recorded(&recorded[i], path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_traces_match_counts_of_traceevent_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
