/* One record in the middle is destroyed: every event before and behind it is read as it was, and
 * the damage is told of where it is.
 *
 * For the containers of Linux tracing, by recorded traces (TTR_CORPUS).  Several records of each
 * are destroyed, one at a time. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/read.h>

#include "base/endian.h"
#include "support/corpus.h"
#include "campaigns/campaign.h"
#include "campaigns/outcome.h"
#include "support/support.h"

#define TRIES 12u

struct event {
    uint64_t hash, offset;
    uint32_t size; /* of the payload */
};

struct trace {
    uint8_t *bytes;
    size_t n;
    struct event *events;
    size_t events_n;
    uint64_t regions, from, to; /* of the first region */
};

static void keep(struct trace *trace, const ttr *t, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_GAP)
            continue;
        trace->events = realloc(trace->events, (trace->events_n + 1) * sizeof *trace->events);
        assert_non_null(trace->events);
        trace->events[trace->events_n++] =
            (struct event){outcome_hash(t, event), event->offset, event->payload_size};
    }
}

static void read_trace(struct trace *trace, const char *format)
{
    ttr_read_options options = {.size = sizeof options, .from = format};
    ttr_report report = {.size = sizeof report};
    ttr *t = ttr_new(NULL);
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    ttr_reader *reader = ttr_open_memory(t, trace->bytes, trace->n, "bytes", &options, &error);
    assert_non_null(reader);
    trace->events_n = 0;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        keep(trace, t, &batch);
    assert_int_equal(status, TTR_END);
    assert_true(ttr_reader_report(reader, 0, &report));
    trace->regions = report.damage_regions;
    trace->from = report.regions_n ? report.regions[0].offset : 0;
    trace->to = report.regions_n ? trace->from + report.regions[0].bytes : 0;
    ttr_close(reader);
    ttr_free(t);
}

static void expect_all_but_one(const struct trace *whole, const struct trace *damaged,
                               size_t missing)
{
    assert_int_equal(damaged->events_n, whole->events_n - 1);
    for (size_t i = 0; i < damaged->events_n; i++)
        if (damaged->events[i].hash != whole->events[i + (i >= missing)].hash)
            fail_msg("event %zu is another one, where event %zu of %zu was destroyed", i, missing,
                     whole->events_n);
}

/* Lets an event of a ring buffer reach over its page: a length stands before it where its type is
 * 0, else there is none, but 0 demands one. */
static void overreach(uint8_t *data, uint32_t size)
{
    uint32_t before = load_u32le(data - 4);
    bool has_length = before >= size + 1 && before <= size + 4;
    memset(has_length ? data - 4 : data, 0xff, 4);
    data[-4] = has_length ? data[-4] : data[-4] & 0xe0;
}

static void destroy_one(const struct campaign_middle *middle, const struct trace *whole,
                        size_t missing)
{
    struct trace damaged = {.bytes = malloc(whole->n), .n = whole->n};
    uint64_t record = whole->events[missing].offset;
    assert_non_null(damaged.bytes);
    memcpy(damaged.bytes, whole->bytes, whole->n);
    if (middle->bytes)
        memcpy(damaged.bytes + record + middle->shift, middle->bytes, middle->n);
    else
        overreach(damaged.bytes + record, whole->events[missing].size);
    read_trace(&damaged, middle->format);
    expect_all_but_one(whole, &damaged, missing);
    assert_int_equal(damaged.regions, 1);
    assert_true(damaged.from <= record && record < damaged.to);
    free(damaged.bytes);
    free(damaged.events);
}

static bool load(const char *name, struct trace *trace)
{
    char path[600];
    FILE *file = corpus_find(".", name, path, sizeof path) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    (void)fseek(file, 0, SEEK_END);
    trace->n = (size_t)ftell(file);
    rewind(file);
    trace->bytes = malloc(trace->n + 1);
    bool is_read = trace->bytes && fread(trace->bytes, 1, trace->n, file) == trace->n;
    (void)fclose(file);
    return is_read;
}

static void destroy_several(const struct campaign_middle *middle)
{
    struct trace whole = {.bytes = NULL};
    if (!load(middle->path, &whole))
        return;
    read_trace(&whole, middle->format);
    assert_true(whole.events_n > 20);
    assert_int_equal(whole.regions, 0);
    print_message("# %s: %zu events\n", middle->path, whole.events_n);
    for (size_t k = 1; k <= TRIES; k++)
        destroy_one(middle, &whole, whole.events_n * k / (TRIES + 2));
    free(whole.bytes);
    free(whole.events);
}

static void all_events_around_a_destroyed_record_are_read(void **state)
{
    (void)state;
    const struct format_campaigns *of;
    for (size_t i = 0; (of = format_campaigns_at(i)); i++)
        for (size_t k = 0; k < of->middles_n; k++)
            destroy_several(&of->middles[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_events_around_a_destroyed_record_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
