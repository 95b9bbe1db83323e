/* Reading of a time range with skipped blocks returns the same events as a filter, and reports no
 * loss. TTR_CORPUS is the folder of recorded traces; if it is not set the test passes with a line
 * that reports that. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/read.h>
#include <unistd.h>

#include "support/corpus.h"

struct part {
    uint64_t events, sum, lost, read;
    int64_t first, last;
};

/* Reads the events in [from, to). `skips`: the reader knows the range. */
static struct part read_part(const char *path, int64_t from, int64_t to, bool skips)
{
    struct part part = {.first = INT64_MAX, .last = INT64_MIN};
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    uint64_t address[4];
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open(t, path, NULL, NULL);
    assert_non_null(reader);
    const ttr_filter filter = {.size = sizeof filter, .from_ns = from, .to_ns = to};
    if (skips)
        reader = ttr_filter_new(reader, &filter, NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->time < from || event->time >= to || event->kind == TTR_KIND_GAP)
                continue;
            uint32_t n = ttr_event_frames(t, event, address, 4);
            ttr_text name = ttr_text_get(t, event->name);
            part.events++;
            part.sum += (uint64_t)event->time + event->offset + event->payload_size + name.n + n +
                        (n ? address[0] : 0);
            part.first = event->time < part.first ? event->time : part.first;
            part.last = event->time > part.last ? event->time : part.last;
        }
    assert_true(ttr_reader_report(reader, 0, &report));
    part.lost = report.lost;
    part.read = report.events;
    ttr_close(reader);
    ttr_free(t);
    return part;
}

static void range_reading_equals_filtered_reading(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool skips; /* the trace has enough blocks that some are skipped */
    } files[] = {{"recorded/mix_default.nettrace.xz", true},
                 {"recorded/mix_v3.netperf.xz", false},
                 {"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace.xz", true}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        if (!corpus_find("nettrace", files[i].name, path, sizeof path))
            continue;
        struct part all = read_part(path, INT64_MIN, INT64_MAX, false);
        for (int64_t k = 0; k < 3; k++) {
            int64_t width = (all.last - all.first) / 4, from = all.first + k * width + 17,
                    to = from + width;
            struct part wanted = read_part(path, from, to, false),
                        given = read_part(path, from, to, true);
            assert_int_equal(given.events, wanted.events);
            assert_true(given.sum == wanted.sum);
            assert_true(given.lost <= all.lost);
            assert_true(!files[i].skips || given.read < all.read);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(range_reading_equals_filtered_reading)};
    return cmocka_run_group_tests_name("nettrace_range", tests, NULL, NULL);
}
