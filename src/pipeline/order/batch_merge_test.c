/* A windowed merge returns the same as a k-way merge for all behaviours of its inputs.  Order:
 * time, then input; an event that is earlier than its predecessor directly follows it. */
#include "pipeline/order/batch_merge.h"

#include <stdlib.h>

#include "model/input.h"
#include "pipeline/order/radix_sort.h"
#include "support/support.h"

#define LANES 70u
#define EVENTS 48000u
#define MERGED 9000u /* random events in total */
#define BURST_LANES 6u
#define BURST_EVENTS 8000u /* per lane */
#define IDLE_EVENTS 100u   /* of them before the burst */
#define BURST_READS 200u   /* upper limit for reads of all lanes together */
#define LONG_PAUSE (INT64_C(1) << 47)

/* An input that can be read up to a time; the flags are the behaviours that readers have. */
struct lane {
    ttr_reader base;
    const ttr_event *event;
    size_t n, at, reads;
    uint64_t seed;
    bool holds;     /* ends a read early, as an input does if its buffer must move */
    bool oversteps; /* returns the event at which it should stop */
    bool pauses;    /* has no data at times (TTR_AGAIN) */
    bool lies; /* announces times later than its next events, as an input does that finds damage */
    ttr_status ending;
};

static bool happens(struct lane *lane, bool may, unsigned one_of)
{
    return may && support_random(&lane->seed) % one_of == 0;
}

static ttr_status read_some(ttr_reader *base, struct reader_partial_read *some, ttr_error *error)
{
    struct lane *lane = (struct lane *)base;
    if (!some)
        return TTR_OK;
    lane->reads++;
    assert_true(some->room >= INPUT_BATCH_MIN);
    if (some->n == 0 && happens(lane, lane->pauses, 5))
        return TTR_AGAIN;
    while (lane->at < lane->n && some->n < some->room) {
        const ttr_event *next = &lane->event[lane->at];
        if (next->time >= some->until && !happens(lane, lane->oversteps, 3)) {
            some->is_stopped = true;
            some->next =
                next->time + (lane->lies ? (int64_t)(support_random(&lane->seed) % 100000) : 0);
            return TTR_OK;
        }
        some->events[some->n++] = *next;
        lane->at++;
        if (happens(lane, lane->holds, 9))
            return TTR_OK;
    }
    error->status = lane->ending;
    return some->n ? TTR_OK : lane->ending;
}

static ttr_status read_never(ttr_reader *reader, ttr_batch *batch, ttr_error *error)
{
    (void)reader, (void)batch, (void)error;
    fail_msg("read in two ways");
    return TTR_END;
}

static const struct reader_ops lane_ops = {.next = read_never, .read_until = read_some};

struct scene {
    struct lane lane[LANES];
    ttr_reader *in[LANES];
    ttr_event event[EVENTS];
    struct order_key key[EVENTS], spare[EVENTS];
    size_t n;
    uint64_t seed;
};

/* Fills a lane with times that mostly increase, by steps of the scene's kind. */
static void fill_lane(struct scene *scene, struct lane *lane, size_t number, uint64_t *seed,
                      int64_t step)
{
    int64_t time = (int64_t)(support_random(seed) % 100);
    uint64_t rank = 0;
    lane->event = scene->event + scene->n;
    lane->n = support_random(seed) % (2 * MERGED / LANES);
    lane->n = lane->n < MERGED - scene->n ? lane->n : MERGED - scene->n;
    for (size_t i = 0; i < lane->n; i++, scene->n++) {
        time += (int64_t)(support_random(seed) % (uint64_t)(step + 1));
        time += support_random(seed) % 200 == 0 ? LONG_PAUSE : 0;
        time -= support_random(seed) % 20 == 0 ? (int64_t)(support_random(seed) % 50) : 0;
        scene->event[scene->n] =
            (ttr_event){.kind = TTR_KIND_INSTANT, .time = time, .offset = scene->n};
        rank = order_time(time) > rank ? order_time(time) : rank;
        scene->key[scene->n] = (struct order_key){
            .rank = rank, .minor = (uint32_t)number, .index = (uint32_t)scene->n};
    }
}

static struct scene *new_scene(uint64_t seed, int64_t step)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->seed = seed;
    for (size_t i = 0; i < LANES; i++) {
        struct lane *lane = &scene->lane[i];
        *lane = (struct lane){.base = {.ops = &lane_ops, .order = TTR_ORDER_TIME},
                              .seed = seed + i + 1,
                              .holds = seed & 1,
                              .oversteps = seed & 2,
                              .pauses = seed & 4,
                              .ending = TTR_END};
        fill_lane(scene, lane, i, &seed, step);
        scene->in[i] = &lane->base;
    }
    radix_sort_keys(scene->key, scene->spare, scene->n);
    return scene;
}

static void expect_merged(const struct scene *scene, struct batch_merge *merge)
{
    ttr_batch batch;
    size_t given = 0;
    do {
        ttr_status status = batch_merge_next(merge, &batch);
        if (status == TTR_AGAIN) {
            batch.n = 1;
            continue;
        }
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++, given++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (given >= scene->n || event->offset != scene->key[given].index)
                fail_msg("seed %llu event %zu of %zu is %llu (%lld) and should be %u (%lld)",
                         (unsigned long long)scene->seed, given, scene->n,
                         (unsigned long long)event->offset, (long long)event->time,
                         given < scene->n ? scene->key[given].index : 0,
                         (long long)scene->event[scene->key[given].index].time);
        }
    } while (batch.n > 0);
    assert_int_equal(given, scene->n);
}

static void windows_return_what_a_merge_returns(void **state)
{
    static const int64_t steps[] = {0, 3, 100, 100000, INT64_C(1) << 40};
    (void)state;
    for (uint64_t seed = 0; seed < 240; seed++) {
        struct scene *scene = new_scene(seed, steps[seed / 48]);
        struct batch_merge merge;
        assert_true(batch_merge_is_possible(scene->in, LANES));
        assert_true(batch_merge_init(&merge, alloc_default(), scene->in, LANES,
                                     1 + (uint32_t)(scene->seed % 100)));
        expect_merged(scene, &merge);
        assert_int_equal(merge.ending, TTR_END);
        batch_merge_free(&merge);
        free(scene);
    }
}

static void failing_input_leaves_others_readable(void **state)
{
    (void)state;
    struct scene *scene = new_scene(3, 100);
    struct batch_merge merge;
    scene->lane[4].ending = TTR_E_IO;
    assert_true(batch_merge_init(&merge, alloc_default(), scene->in, LANES,
                                 1 + (uint32_t)(scene->seed % 100)));
    expect_merged(scene, &merge);
    assert_int_equal(merge.ending, TTR_E_IO);
    assert_int_equal(merge.ending_error.status, TTR_E_IO);
    batch_merge_free(&merge);
    free(scene);
}

/* Such events are not ordered, but each is returned once. */
static void event_earlier_than_announced_is_returned(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct scene *scene = new_scene(seed, seed & 16 ? 100000 : 100);
        struct batch_merge merge;
        ttr_batch batch;
        size_t given = 0, sum = 0;
        for (size_t i = 0; i < LANES; i++)
            scene->lane[i].lies = i % 3 == 0;
        assert_true(batch_merge_init(&merge, alloc_default(), scene->in, LANES, 100));
        do {
            if (batch_merge_next(&merge, &batch) == TTR_AGAIN) {
                batch.n = 1;
                continue;
            }
            for (uint32_t i = 0; i < batch.n; i++, given++)
                sum += ttr_batch_at(&batch, i)->offset;
        } while (batch.n > 0);
        assert_int_equal(given, scene->n);
        assert_int_equal(sum, scene->n * (scene->n - 1) / 2);
        batch_merge_free(&merge);
        free(scene);
    }
}

/* Windows are long when the burst starts.  No input may then occupy the space of the others, since
 * these would be read again and again for a few events. */
static void burst_in_one_input_needs_few_reads(void **state)
{
    (void)state;
    struct scene *scene = new_scene(0, 0);
    struct batch_merge merge;
    size_t reads = 0;
    scene->n = (size_t)BURST_LANES * BURST_EVENTS;
    for (size_t i = 0; i < scene->n; i++) {
        const size_t lane = i / BURST_EVENTS, at = i % BURST_EVENTS;
        scene->event[i] = (ttr_event){
            .time = (int64_t)((at < IDLE_EVENTS ? at * 1000000 : IDLE_EVENTS * 1000000 + at * 10) +
                              lane),
            .offset = i};
        scene->key[i] = (struct order_key){.rank = order_time(scene->event[i].time),
                                           .minor = (uint32_t)lane,
                                           .index = (uint32_t)i};
    }
    for (size_t i = 0; i < BURST_LANES; i++)
        scene->lane[i] = (struct lane){.base = {.ops = &lane_ops, .order = TTR_ORDER_TIME},
                                       .event = scene->event + i * BURST_EVENTS,
                                       .n = BURST_EVENTS,
                                       .ending = TTR_END};
    radix_sort_keys(scene->key, scene->spare, scene->n);
    assert_true(batch_merge_init(&merge, alloc_default(), scene->in, BURST_LANES, 100));
    expect_merged(scene, &merge);
    for (size_t i = 0; i < BURST_LANES; i++)
        reads += scene->lane[i].reads;
    assert_in_range(reads, BURST_LANES, BURST_READS);
    batch_merge_free(&merge);
    free(scene);
}

static void few_inputs_and_those_of_other_kinds_have_no_windows(void **state)
{
    static const struct reader_ops others = {.next = read_never};
    (void)state;
    struct scene *scene = new_scene(1, 100);
    assert_false(batch_merge_is_possible(scene->in, BATCH_MERGE_INPUTS_MIN - 1));
    assert_true(batch_merge_is_possible(scene->in, BATCH_MERGE_INPUTS_MIN));
    scene->lane[2].base.ops = &others;
    assert_false(batch_merge_is_possible(scene->in, LANES));
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_return_what_a_merge_returns),
        cmocka_unit_test(failing_input_leaves_others_readable),
        cmocka_unit_test(event_earlier_than_announced_is_returned),
        cmocka_unit_test(burst_in_one_input_needs_few_reads),
        cmocka_unit_test(few_inputs_and_those_of_other_kinds_have_no_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
