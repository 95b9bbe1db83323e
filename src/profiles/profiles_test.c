/* Tests for profile files: each format with failing allocations, a full disk, deep stacks and
 * hostile names. A failure must not leave a partial file. */
#include "support/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "base/utf.h"
#include "support/memory_reader.h"
#include "model/context.h"

#define DEEP 3000

static ttr_profile *make_profile(ttr *t, const ttr_event *events, size_t n, uint32_t flags)
{
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = events, .n = n});
    ttr_profile *profile = ttr_profile_new(
        t, reader, &(ttr_profile_options){.size = sizeof(ttr_profile_options), .flags = flags},
        NULL);
    ttr_close(reader);
    return profile;
}

/* Returns the content of a file, zero-terminated; the caller frees it. */
static char *read_whole_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 4 << 20);
    assert_non_null(text);
    *n = fread(text, 1, (4 << 20) - 1, file);
    (void)fclose(file);
    return text;
}

/* Writes format number `which` to /dev/null. Returns false only if memory is exhausted. */
static bool write_format(ttr *t, const ttr_event *events, size_t n, size_t which)
{
    ttr_profile_format format;
    ttr_error error = {0};
    assert_true(ttr_profile_format_get(which, &format));
    ttr_profile *profile = make_profile(t, events, n, format.flags);
    bool is_fine = profile && ttr_profile_write(profile, "/dev/null", format.name, "test", 0,
                                                &error) == TTR_OK;
    if (profile && !is_fine)
        assert_int_equal(error.status, TTR_E_NOMEM);
    ttr_profile_free(profile);
    return is_fine;
}

#define WRITE(number)                                                     \
    static bool write_##number(ttr *t, const ttr_event *events, size_t n) \
    {                                                                     \
        return write_format(t, events, n, number);                        \
    }
WRITE(0)
WRITE(1)
WRITE(2)
WRITE(3)
WRITE(4)

static void failed_allocation_fails_every_format(void **state)
{
    (void)state;
    bool (*const all[])(ttr *, const ttr_event *, size_t) = {write_0, write_1, write_2, write_3,
                                                             write_4};
    ttr_profile_format format;
    assert_false(ttr_profile_format_get(sizeof all / sizeof *all, &format));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_fail_each(all[i], 60);
}

static void full_disk_fails_every_format(void **state)
{
    (void)state;
    ttr_profile_format format;
    ttr_event events[200];
    ttr *t = ttr_new(NULL);
    memory_random_events(t, events, 200, 3, 1000);
    ttr_profile *profile = make_profile(t, events, 200, TTR_PROFILE_TIMELINE);
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++) {
        ttr_error error = {0};
        assert_int_equal(ttr_profile_write(profile, "/dev/full", format.name, "x", 0, &error),
                         TTR_E_IO);
        assert_int_equal(error.sys, ENOSPC);
    }
    ttr_profile_free(profile);
    memory_events_free(events, 200);
    ttr_free(t);
}

/* Makes a profile of a function that calls itself DEEP times, each call 2 ns shorter. Its name
 * needs escaping in every format. */
static ttr_profile *make_deep_profile(ttr *t, uint32_t flags)
{
    ttr_event *events = calloc(DEEP, sizeof *events);
    assert_non_null(events);
    for (int64_t i = 0; i < DEEP; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = i,
                                .duration = (uint64_t)(2 * DEEP - 2 * i),
                                .name = ttr_text_add(t, "<a>;\"\x01\xff&\n", 10),
                                .thread = context_thread(t, 0, 1, 1),
                                .offset = (uint64_t)i};
    ttr_profile *profile = make_profile(t, events, DEEP, flags);
    free(events);
    assert_non_null(profile);
    return profile;
}

static void deep_stack_with_special_characters_is_written(void **state)
{
    (void)state;
    ttr_profile_format format;
    ttr *t = ttr_new(NULL);
    size_t n;
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/tracetta-profiles-%ld", (long)getpid());
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++) {
        ttr_error error = {0};
        ttr_profile *profile = make_deep_profile(t, format.flags);
        assert_int_equal(
            ttr_profile_write(profile, path, format.name, "a<b>", TTR_WRITE_OVERWRITE, &error),
            TTR_OK);
        char *text = read_whole_file(path, &n);
        assert_true(n > 100);
        if (strcmp(format.name, "svg") == 0) {
            assert_non_null(strstr(text, "&lt;a&gt;;&quot;\xef\xbf\xbd\xef\xbf\xbd&amp;\n"));
            assert_null(strchr(text, '\x01'));
        }
        free(text);
        ttr_profile_free(profile);
    }
    (void)unlink(path);
    ttr_free(t);
}

/* Returns the number of lines of folded stacks, their deepest stack and the sum of their weights.
 */
static size_t read_folded(const char *text, size_t *depth_max, uint64_t *weight)
{
    size_t lines = 0, depth = 1;
    *depth_max = 0;
    *weight = 0;
    for (; *text; text++) {
        depth += *text == ';';
        if (*text != '\n')
            continue;
        const char *number = text;
        while (number[-1] != ' ')
            number--;
        *weight += strtoull(number, NULL, 10);
        *depth_max = depth > *depth_max ? depth : *depth_max;
        depth = 1;
        lines++;
    }
    return lines;
}

static void stacks_are_cut_to_the_depth_of_their_format(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    size_t n, depth_max;
    uint64_t weight;
    char path[64];
    ttr_error error = {0};
    ttr_profile_format format;
    (void)snprintf(path, sizeof path, "/tmp/tracetta-profiles-%ld", (long)getpid());
    assert_true(ttr_profile_format_get(0, &format));
    assert_string_equal(format.name, "folded");
    ttr_profile *profile = make_deep_profile(t, format.flags);
    assert_int_equal(ttr_profile_write(profile, path, "folded", "", TTR_WRITE_OVERWRITE, &error),
                     TTR_OK);
    char *text = read_whole_file(path, &n);
    assert_int_equal(read_folded(text, &depth_max, &weight), format.depth_max);
    assert_int_equal(depth_max, format.depth_max);
    assert_int_equal(weight, 2 * DEEP); /* no weight is lost */
    free(text);
    ttr_profile_free(profile);
    (void)unlink(path);
    ttr_free(t);
}

static bool stop_at_third_call(void *user_data)
{
    unsigned *calls = user_data;
    return ++*calls < 3;
}

static void stopped_writing_leaves_complete_file_or_none(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    char path[64];
    size_t n, depth_max;
    uint64_t weight;
    ttr_profile_format format;
    (void)snprintf(path, sizeof path, "/tmp/tracetta-profiles-%ld", (long)getpid());
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++) {
        ttr_error error = {0};
        unsigned calls = 0;
        ttr_profile *profile = make_deep_profile(t, format.flags & ~TTR_PROFILE_TIMELINE);
        ttr_progress_set(t, stop_at_third_call, &calls);
        assert_int_equal(ttr_profile_write(profile, path, format.name, "", 0, &error), TTR_AGAIN);
        ttr_progress_set(t, NULL, NULL);
        assert_int_equal(error.status, TTR_AGAIN);
        const bool has_file = access(path, F_OK) == 0;
        assert_int_equal(has_file,
                         strcmp(format.name, "svg") != 0 && strcmp(format.name, "firefox") != 0);
        char *text = has_file ? read_whole_file(path, &n) : NULL;
        if (strcmp(format.name, "folded") == 0)
            assert_in_range(read_folded(text, &depth_max, &weight), 100, 200);
        if (strcmp(format.name, "speedscope") == 0)
            assert_string_equal(text + n - 3, "]}\n");
        free(text);
        (void)unlink(path);
        ttr_profile_free(profile);
    }
    ttr_free(t);
}

static void existing_file_without_overwrite_flag_is_kept(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/tracetta-profiles-%ld", (long)getpid());
    ttr_profile *profile = make_profile(t, NULL, 0, 0);
    assert_int_equal(ttr_profile_count(profile), 0);
    assert_int_equal(ttr_profile_write(profile, path, "speedscope", "x", 0, &error), TTR_OK);
    assert_int_equal(ttr_profile_write(profile, path, "speedscope", "x", 0, &error), TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    assert_int_equal(ttr_profile_write(profile, path, "firefox", "x", TTR_WRITE_OVERWRITE, &error),
                     TTR_OK);
    assert_int_equal(ttr_profile_write(profile, path, "picture", "x", 0, &error), TTR_E_MISUSE);
    (void)unlink(path);
    ttr_profile_free(profile);
    ttr_free(t);
}

static void control_characters_in_names_are_replaced(void **state)
{
    static const char hostile_name[] = "a\x1b[31m;b\xc2\x9b"
                                       "2Jc\xc2\x85\xff\x9b";
    ttr_profile_format format;
    ttr *t = ttr_new(NULL);
    ttr_event event = {.kind = TTR_KIND_SPAN,
                       .duration = 9,
                       .name = ttr_text_add(t, hostile_name, sizeof hostile_name - 1),
                       .thread = context_thread(t, 0, 1, 1)};
    char path[64];
    size_t n;
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/tracetta-profiles-%ld", (long)getpid());
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++) {
        if (strcmp(format.name, "pprof") == 0) /* skip: compressed */
            continue;
        ttr_error error = {0};
        ttr_profile *profile = make_profile(t, &event, 1, format.flags);
        assert_int_equal(ttr_profile_write(profile, path, format.name, hostile_name,
                                           TTR_WRITE_OVERWRITE, &error),
                         TTR_OK);
        char *text = read_whole_file(path, &n);
        for (size_t at = 0; at < n; at++)
            assert_true(text[at] == '\n' ||
                        utf8_control_length((const uint8_t *)text + at, n - at) == 0);
        assert_true(utf8_is_valid(text, n));
        if (strcmp(format.name, "folded") == 0)
            assert_string_equal(text, "a [31m:b 2Jc \xef\xbf\xbd\xef\xbf\xbd 9\n");
        free(text);
        ttr_profile_free(profile);
    }
    (void)unlink(path);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocation_fails_every_format),
        cmocka_unit_test(full_disk_fails_every_format),
        cmocka_unit_test(deep_stack_with_special_characters_is_written),
        cmocka_unit_test(stacks_are_cut_to_the_depth_of_their_format),
        cmocka_unit_test(stopped_writing_leaves_complete_file_or_none),
        cmocka_unit_test(control_characters_in_names_are_replaced),
        cmocka_unit_test(existing_file_without_overwrite_flag_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
