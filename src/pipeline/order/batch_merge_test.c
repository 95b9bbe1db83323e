/* Rounds give what a merge gives: by time, ties by input, an event before the one it follows right
 * behind that; whatever the inputs do. */
#include "pipeline/order/batch_merge.h"

#include <stdlib.h>

#include "model/input.h"
#include "pipeline/order/radix_sort.h"
#include "support/support.h"

#define LANES 70u
#define EVENTS 48000u
#define MERGED 9000u /* of them, at random */
#define BURST_LANES 6u
#define BURST_EVENTS 8000u /* of a lane */
#define IDLE_EVENTS 100u   /* of them, before the burst */
#define BURST_READS 200u   /* of all lanes */
#define LONG_PAUSE (INT64_C(1) << 47)

/* An input that is read up to times, in the ways that readers have. */
struct lane {
    ttr_reader base;
    const ttr_event *event;
    size_t n, at, reads;
    uint64_t seed;
    bool holds;     /* ends reads as a window does that must move */
    bool oversteps; /* gives the event that it should stop at */
    bool pauses;    /* has nothing for now, at times */
    bool runs;      /* goes on by itself where it stopped */
    bool lies; /* stops at times that are later than what comes, as one does that finds damage there
                */
    ttr_status ending;
};

static bool happens(struct lane *lane, bool may, unsigned one_of)
{
    return may && support_random(&lane->seed) % one_of == 0;
}

static const struct reader_ops lane_ops;

struct lane_run {
    struct reader_run base;
    struct lane *lane;
};

_Static_assert(sizeof(struct lane_run) <= READER_RUN, "a run has a place of that size");

/* Stops at times before the next event, as at one that is not usual. */
static bool go(struct reader_run *base, struct reader_some *some)
{
    struct lane *lane = ((struct lane_run *)base)->lane;
    assert_true(some->room >= INPUT_BATCH_LEAST);
    while (lane->at < lane->n && some->n < some->room && !happens(lane, true, 7)) {
        const ttr_event *next = &lane->event[lane->at];
        if (next->time >= some->until) {
            some->is_stopped = true;
            some->next = next->time;
            return true;
        }
        some->events[some->n++] = *next;
        lane->at++;
    }
    return some->n == some->room;
}

/* The same without views, and all of it or nothing. */
static bool hunt(struct reader_run *base, struct reader_hunt *hunt)
{
    struct lane *lane = ((struct lane_run *)base)->lane;
    const size_t begin = lane->at;
    int64_t time = hunt->since;
    assert_true(hunt->room >= INPUT_BATCH_LEAST);
    while (lane->at < lane->n && hunt->n < hunt->room && !happens(lane, true, 7) &&
           lane->event[lane->at].time >= time) {
        const ttr_event *next = &lane->event[lane->at];
        time = next->time;
        if (time >= hunt->until) {
            hunt->is_stopped = true;
            hunt->next = time;
            return true;
        }
        hunt->slim[hunt->n] =
            (struct reader_slim){.payload = (const uint8_t *)next, .lane = hunt->lane};
        hunt->key[hunt->n] = ((uint64_t)time << READER_PLACE_BITS) + hunt->key_base + hunt->n;
        hunt->n++;
        lane->at++;
    }
    if (hunt->n == hunt->room)
        return true;
    lane->at = begin;
    return false;
}

/* The event is told by the payload alone, so that a time that the key does not hold shows. */
static uint32_t view(const struct reader_slims *slims, const uint64_t *key, uint32_t n,
                     ttr_event *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct reader_slim *slim = &slims->slim[key[i] & READER_PLACE];
        if (!slim->payload)
            return i;
        to[i] = *(const ttr_event *)(const void *)slim->payload;
        assert_int_equal(to[i].time, (int64_t)((key[i] >> READER_PLACE_BITS) + slims->origin));
        assert_ptr_equal(((const struct lane_run *)&slims->runs[slim->lane])->lane->base.ops,
                         &lane_ops);
    }
    return n;
}

static const struct reader_run_ops run_ops = {.go = go, .hunt = hunt, .view = view};

static ttr_status read_some(ttr_reader *base, struct reader_some *some, ttr_error *error)
{
    struct lane *lane = (struct lane *)base;
    if (!some)
        return TTR_OK;
    lane->reads++;
    assert_true(some->room >= INPUT_BATCH_LEAST);
    if (some->n == 0 && happens(lane, lane->pauses, 5))
        return TTR_AGAIN;
    struct lane_run *run = (struct lane_run *)some->run;
    *run = (struct lane_run){.base.ops = lane->runs ? &run_ops : NULL, .lane = lane};
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

static const struct reader_ops lane_ops = {.next = read_never, .some = read_some};

struct scene {
    struct lane lane[LANES];
    ttr_reader *in[LANES];
    ttr_event event[EVENTS];
    struct order_key key[EVENTS], spare[EVENTS];
    size_t n;
    uint64_t seed;
};

/* Times that mostly rise, by steps of the scene's kind. */
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
                              .runs = seed & 8,
                              .ending = TTR_END};
        fill_lane(scene, lane, i, &seed, step);
        scene->in[i] = &lane->base;
    }
    order_keys(scene->key, scene->spare, scene->n);
    return scene;
}

static void expect_merged(const struct scene *scene, struct rounds *rounds)
{
    ttr_batch batch;
    size_t given = 0;
    do {
        ttr_status status = rounds_next(rounds, &batch);
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

static void rounds_give_what_a_merge_gives(void **state)
{
    static const int64_t steps[] = {0, 3, 100, 100000, INT64_C(1) << 40};
    (void)state;
    for (uint64_t seed = 0; seed < 240; seed++) {
        struct scene *scene = new_scene(seed, steps[seed / 48]);
        struct rounds rounds;
        assert_true(rounds_can(scene->in, LANES));
        assert_true(rounds_init(&rounds, alloc_default(), scene->in, LANES,
                                1 + (uint32_t)(scene->seed % 100),
                                seed % 3 > 0)); /* with slims as where inputs are many */
        expect_merged(scene, &rounds);
        assert_int_equal(rounds.ending, TTR_END);
        rounds_free(&rounds);
        free(scene);
    }
}

static void an_input_that_fails_does_not_keep_others_from_being_read(void **state)
{
    (void)state;
    struct scene *scene = new_scene(3, 100);
    struct rounds rounds;
    scene->lane[4].ending = TTR_E_IO;
    assert_true(rounds_init(&rounds, alloc_default(), scene->in, LANES,
                            1 + (uint32_t)(scene->seed % 100), false));
    expect_merged(scene, &rounds);
    assert_int_equal(rounds.ending, TTR_E_IO);
    assert_int_equal(rounds.ending_error.status, TTR_E_IO);
    rounds_free(&rounds);
    free(scene);
}

/* The order is not promised then, but every event is given once. */
static void an_event_before_what_its_input_told_of_is_given_all_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct scene *scene = new_scene(seed, seed & 16 ? 100000 : 100);
        struct rounds rounds;
        ttr_batch batch;
        size_t given = 0, sum = 0;
        for (size_t i = 0; i < LANES; i++)
            scene->lane[i].lies = i % 3 == 0;
        assert_true(rounds_init(&rounds, alloc_default(), scene->in, LANES, 100, false));
        do {
            if (rounds_next(&rounds, &batch) == TTR_AGAIN) {
                batch.n = 1;
                continue;
            }
            for (uint32_t i = 0; i < batch.n; i++, given++)
                sum += ttr_batch_at(&batch, i)->offset;
        } while (batch.n > 0);
        assert_int_equal(given, scene->n);
        assert_int_equal(sum, scene->n * (scene->n - 1) / 2);
        rounds_free(&rounds);
        free(scene);
    }
}

/* Rounds are long when a burst comes.  None of the inputs then takes the room of the others, which
 * would be read for a few events again and again. */
static void a_burst_takes_few_reads(void **state)
{
    (void)state;
    struct scene *scene = new_scene(0, 0);
    struct rounds rounds;
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
    order_keys(scene->key, scene->spare, scene->n);
    assert_true(rounds_init(&rounds, alloc_default(), scene->in, BURST_LANES, 100, false));
    expect_merged(scene, &rounds);
    for (size_t i = 0; i < BURST_LANES; i++)
        reads += scene->lane[i].reads;
    assert_in_range(reads, BURST_LANES, BURST_READS);
    rounds_free(&rounds);
    free(scene);
}

static void few_inputs_and_those_of_other_kinds_have_no_rounds(void **state)
{
    static const struct reader_ops others = {.next = read_never};
    (void)state;
    struct scene *scene = new_scene(1, 100);
    assert_false(rounds_can(scene->in, ROUNDS_LEAST - 1));
    assert_true(rounds_can(scene->in, ROUNDS_LEAST));
    scene->lane[2].base.ops = &others;
    assert_false(rounds_can(scene->in, LANES));
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_give_what_a_merge_gives),
        cmocka_unit_test(an_input_that_fails_does_not_keep_others_from_being_read),
        cmocka_unit_test(an_event_before_what_its_input_told_of_is_given_all_the_same),
        cmocka_unit_test(a_burst_takes_few_reads),
        cmocka_unit_test(few_inputs_and_those_of_other_kinds_have_no_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
