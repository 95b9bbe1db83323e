/* Pending names apply from their position in the order, whatever the order of arrival. */
#include "support/support.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#include "model/context.h"
#include "model/pending_names.h"

#define MANY 500u

static ttr_id name_of(ttr *t, ttr_id id)
{
    ttr_thread thread;
    assert_true(ttr_thread_get(t, id, &thread));
    return thread.thread_name;
}

/* Adds two inputs with lanes 0 and 1. */
static void set_up(ttr *t, uint16_t source[2], struct pending_names *renames)
{
    for (uint32_t i = 0; i < 2; i++) {
        source[i] = context_add_source(t, i ? "b" : "a", "x");
        t->sources[source[i]].merge_position = i;
    }
    pending_names_init(renames, t);
}

static void batch_is_split_before_next_name(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source[2];
    struct pending_names renames;
    set_up(t, source, &renames);
    const ttr_id thread = context_thread(t, source[0], 1, 2), one = ttr_text_add(t, "one", 3),
                 two = ttr_text_add(t, "two", 3);
    assert_true(
        pending_names_add(&renames, &(struct rename){.thread = thread, .name = two}, 30, 1));
    assert_true(
        pending_names_add(&renames, &(struct rename){.thread = thread, .name = one}, 10, 0));
    const ttr_event event[5] = {{.time = 9, .source = source[1]},
                                {.time = 10, .source = source[0]},
                                {.time = 30, .source = source[0]},
                                {.time = 30, .source = source[1]},
                                {.time = 31, .source = source[0]}};
    static const uint32_t turned[5] = {4, 3, 2, 1, 0}, straight[5] = {0, 1, 2, 3, 4};
    ttr_batch batch = {.event = event, .n = 5}, rest;
    pending_names_split_batch(&renames, &batch, &rest);
    assert_int_equal(batch.n, 1);
    assert_int_equal(name_of(t, thread), 0);
    batch = rest;
    pending_names_split_batch(&renames, &batch, &rest);
    assert_int_equal(batch.n, 2); /* at the same time, but in a lower merge_position */
    assert_int_equal(ttr_batch_at(&batch, 0)->time, 10);
    assert_int_equal(name_of(t, thread), one);
    batch = rest;
    pending_names_split_batch(&renames, &batch, &rest);
    assert_int_equal(batch.n, 2);
    assert_int_equal(rest.n, 0);
    assert_int_equal(name_of(t, thread), two);
    assert_true(
        pending_names_add(&renames, &(struct rename){.thread = thread, .name = one}, 30, 1));
    batch = (ttr_batch){.event = event, .pick = straight, .n = 5};
    pending_names_split_batch(&renames, &batch, &rest);
    assert_int_equal(batch.n, 3);
    assert_ptr_equal(ttr_batch_at(&rest, 0), &event[3]);
    batch = (ttr_batch){.event = event, .pick = turned, .n = 5};
    /* out of time order: an event that is not before the name applies it */
    pending_names_split_batch(&renames, &batch, &rest);
    assert_int_equal(batch.n, 5);
    assert_int_equal(name_of(t, thread), one);
    pending_names_free(&renames);
    ttr_free(t);
}

static void names_apply_by_time_lane_and_arrival(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source[2];
    struct pending_names renames;
    uint64_t seed = 1;
    static uint32_t last[MANY]; /* expected: by time, the last name of the last merge_position */
    char text[16];
    set_up(t, source, &renames);
    const ttr_id thread = context_thread(t, source[0], 1, 2);
    static ttr_id name[MANY][2];
    for (uint32_t i = 0; i < 4 * MANY; i++) {
        const uint32_t time = (uint32_t)(support_random(&seed) % MANY), merge_position = i & 1;
        (void)snprintf(text, sizeof text, "%u", i);
        const ttr_id id = ttr_text_add(t, text, strlen(text));
        assert_true(pending_names_add(&renames, &(struct rename){.thread = thread, .name = id},
                                      time, merge_position));
        name[time][merge_position] = id;
        last[time] = name[time][1] ? name[time][1] : name[time][0];
    }
    ttr_id expected = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        const ttr_event event = {.time = i, .source = source[1]};
        const ttr_batch batch = {.event = &event, .n = 1};
        expected = last[i] ? last[i] : expected;
        assert_int_equal(pending_names_apply(&renames, &batch), 1);
        assert_int_equal(name_of(t, thread), expected);
    }
    assert_int_equal(renames.n, 0);
    pending_names_free(&renames);
    ttr_free(t);
}

static void name_is_copied_from_thread_or_set_on_process(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source[2];
    struct pending_names renames;
    ttr_thread about;
    set_up(t, source, &renames);
    const ttr_id parent = context_thread(t, source[0], 1, 1),
                 child = context_thread(t, source[0], 1, 2),
                 other = context_thread(t, source[0], 3, 3);
    const ttr_id name = ttr_text_add(t, "sh", 2), process = ttr_text_add(t, "bash", 4);
    assert_true(pending_names_add(&renames, &(struct rename){.thread = child, .like = parent}, 20,
                                  0)); /* queued before the name to copy is known */
    assert_true(pending_names_add(&renames, &(struct rename){.thread = other, .like = child}, 5,
                                  0)); /* the thread to copy from has no name yet */
    assert_true(
        pending_names_add(&renames, &(struct rename){.thread = parent, .name = name}, 10, 1));
    assert_true(pending_names_add(
        &renames, &(struct rename){.thread = child, .is_of_process = true, .name = process}, 30,
        1));
    pending_names_apply_all(&renames);
    assert_int_equal(name_of(t, child), name);
    assert_int_equal(name_of(t, other), 0);
    assert_true(ttr_thread_get(t, parent, &about));
    assert_int_equal(about.process_name, process);
    assert_true(ttr_thread_get(t, other, &about));
    assert_int_equal(about.process_name, 0);
    pending_names_free(&renames);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_is_split_before_next_name),
        cmocka_unit_test(names_apply_by_time_lane_and_arrival),
        cmocka_unit_test(name_is_copied_from_thread_or_set_on_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
