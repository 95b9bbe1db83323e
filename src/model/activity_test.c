/* Activities: paths of ids, tasks of names, and spans from start and stop events. */
#include "model/activity.h"

#include "base/endian.h"
#include "model/context.h"
#include "support/support.h"

/* Stores the checksum of an id as .NET does. */
static void seal(uint8_t *id, uint32_t pid)
{
    store_u32le(id + 12,
                (load_u32le(id) + load_u32le(id + 4) + load_u32le(id + 8) + 0x599D99ADu) ^ pid);
}

static void check_text(const uint8_t *id, uint64_t pid, const char *expected)
{
    char text[ACTIVITY_TEXT_MAX + 1] = {0};
    size_t n = activity_format_id(text, id, pid);
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
}

static void path_id_formats_as_path(void **state)
{
    (void)state;
    uint8_t small[16] = {0x12, 0xA0}, one_byte[16] = {0x1C, 0xFF, 0xC1, 0x02},
            words[16] = {0x1D, 0x34, 0x12, 0xF0, 1, 2, 3, 4};
    uint8_t overflow[16] = {0x1B, 0xD0, 0x34, 0x12}, longest[16];
    seal(small, 0);
    check_text(small, 0, "//1/2/10/");
    seal(small, 4321);
    check_text(small, 4321, "//1/2/10/");
    /* the checksum of another process: not a path */
    check_text(small, 4322, "12a0000000000000000000005e299e59");
    seal(one_byte, 0); /* a 1-byte component, then one with its top bits in the low nibble */
    check_text(one_byte, 0, "//1/255/258/");
    seal(words, 0);
    check_text(words, 0, "//1/4660/67305985/");
    seal(overflow, 0);
    check_text(overflow, 0, "//1$4660/");
    memset(longest, 0xAA, sizeof longest);
    seal(longest, 0);
    check_text(longest, 0,
               "//10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/10/");
}

static void non_path_id_formats_as_hexadecimal(void **state)
{
    (void)state;
    uint8_t plain[16] = {0x12, 0xA0, 0, 0, 1}, none[16] = {0}, bad[16] = {0x1B, 0x10}, cut[16];
    check_text(plain, 0, "12a00000010000000000000000000000");
    seal(none, 0); /* an empty path */
    check_text(none, 0, "000000000000000000000000ad999d59");
    seal(bad, 0); /* an overflow without a number */
    check_text(bad, 0, "1b1000000000000000000000c8a99d59");
    memset(cut, 0x11, sizeof cut);
    cut[11] = 0x1F; /* a 4-byte component that exceeds the path */
    seal(cut, 0);
    check_text(cut, 0, "//1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/");
}

static void parent_length_drops_last_component(void **state)
{
    (void)state;
    assert_int_equal(activity_parent_length((ttr_text){"//1/22/3/", 9}), 7);
    assert_int_equal(activity_parent_length((ttr_text){"//1/22/", 7}), 4);
    assert_int_equal(activity_parent_length((ttr_text){"//1/", 4}), 0);
    assert_int_equal(activity_parent_length((ttr_text){"//1$22/", 7}), 0);
    assert_int_equal(activity_parent_length((ttr_text){"12a0", 4}), 0);
}

static ttr_id text(ttr *t, const char *p)
{
    return ttr_text_add(t, p, strlen(p));
}

static void task_drops_start_and_stop_suffix(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"RequestStart", "Request"},
                                           {"RequestStop", "Request"},
                                           {"Task/Start", "Task"},
                                           {"GCSuspendEEEnd_V1", "GCSuspendEE"},
                                           {"ContentionStart_V12", "Contention"},
                                           {"Stop", "Stop"},
                                           {"/Stop", "/Stop"},
                                           {"Restart", "Restart"},
                                           {"x", "x"}};
    ttr *t = ttr_new(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(ttr_text_get(t, activity_task_of_name(t, text(t, names[i][0]))).p,
                            names[i][1]);
    assert_int_equal(activity_opcode_of_name((ttr_text){"RequestStart", 12}), ACTIVITY_START);
    assert_int_equal(activity_opcode_of_name((ttr_text){"Stop", 4}), ACTIVITY_STOP);
    assert_int_equal(activity_opcode_of_name((ttr_text){"Restart", 7}), 0);
    ttr_free(t);
}

static void start_and_stop_become_async_span(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint8_t id[16] = {1}, other[16] = {[15] = 1};
    ttr_id task = activity_task_of_name(t, text(t, "RequestStart"));
    ttr_event start = {.kind = TTR_KIND_INSTANT,
                       .opcode = 1,
                       .activity = id,
                       .name = text(t, "RequestStart"),
                       .thread = context_thread(t, 0, 1, 1)},
              stop = start, plain = start;
    stop.opcode = 2;
    stop.thread = context_thread(t, 0, 1, 2);
    plain.opcode = 0;
    activity_make_span(t, &start, task);
    activity_make_span(t, &stop, task);
    activity_make_span(t, &plain, task);
    assert_int_equal(start.kind, TTR_KIND_ASYNC_BEGIN);
    assert_int_equal(stop.kind, TTR_KIND_ASYNC_END);
    assert_int_equal(plain.kind, TTR_KIND_INSTANT);
    assert_true(start.link == stop.link); /* linked by the id, on any thread */
    assert_int_equal(activity_span_name(t, &start), task);
    assert_int_equal(activity_span_name(t, &plain), plain.name);
    ttr_event again = {.kind = TTR_KIND_INSTANT,
                       .opcode = 1,
                       .activity = other,
                       .thread = start.thread},
              bare = again, moved = again;
    bare.activity = moved.activity = NULL;
    moved.thread = stop.thread;
    activity_make_span(t, &again, task);
    activity_make_span(t, &bare, task);
    activity_make_span(t, &moved, task);
    assert_true(again.link != start.link);
    assert_true(bare.link != moved.link); /* linked by the thread */
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_id_formats_as_path),
        cmocka_unit_test(non_path_id_formats_as_hexadecimal),
        cmocka_unit_test(parent_length_drops_last_component),
        cmocka_unit_test(task_drops_start_and_stop_suffix),
        cmocka_unit_test(start_and_stop_become_async_span),
    };
    return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
