/* The vector tests that all formats share; see vectors.h. */
#include <stdio.h>

#include "support/support.h"
#include "support/vectors.h"

#define TESTS_MAX 16u
#define SOURCES "src/formats/"

typedef void (*vectors_way_function)(const char *folder, const char *format);

/* Runs one check on each folder of vectors that it applies to. */
static void go(void *const *state, unsigned way, vectors_way_function function)
{
    const struct vectors_suite *suite = *state;
    char folder[128];
    for (const struct vectors_folder *at = suite->folders; at->name; at++) {
        (void)snprintf(folder, sizeof folder, SOURCES "%s/%s", suite->format, at->name);
        if (at->ways & way)
            function(folder, suite->format);
    }
}

static void vectors_give_what_they_say(void **state)
{
    go(state, VECTORS_AS_WRITTEN, vectors_read_as_written);
}

static void definitions_and_events_are_every_byte(void **state)
{
    go(state, VECTORS_EVERY_BYTE, vectors_give_every_byte);
}

static void prefixes_give_the_first_events(void **state)
{
    go(state, VECTORS_CUT, vectors_read_when_cut);
}

static void pieces_give_what_the_whole_gives(void **state)
{
    go(state, VECTORS_IN_PIECES, vectors_read_in_pieces);
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    go(state, VECTORS_WITHOUT_MEMORY, vectors_read_without_memory);
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    go(state, VECTORS_STRICT, vectors_refused_when_strict);
}

int vectors_run(const struct vectors_suite *suite)
{
    static const struct {
        unsigned way;
        struct CMUnitTest test;
    } ways[] = {
        {VECTORS_AS_WRITTEN, cmocka_unit_test(vectors_give_what_they_say)},
        {VECTORS_EVERY_BYTE, cmocka_unit_test(definitions_and_events_are_every_byte)},
        {VECTORS_CUT, cmocka_unit_test(prefixes_give_the_first_events)},
        {VECTORS_IN_PIECES, cmocka_unit_test(pieces_give_what_the_whole_gives)},
        {VECTORS_WITHOUT_MEMORY,
         cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks)},
        {VECTORS_STRICT, cmocka_unit_test(strict_mode_refuses_damage_where_it_is)},
    };
    struct CMUnitTest tests[TESTS_MAX];
    size_t n = 0;
    unsigned all = 0;
    for (const struct vectors_folder *at = suite->folders; at->name; at++)
        all |= at->ways;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!(ways[i].way & all))
            continue;
        tests[n] = ways[i].test;
        tests[n++].initial_state = (void *)(uintptr_t)suite;
    }
    for (size_t i = 0; i < suite->others_n && n < TESTS_MAX; i++)
        tests[n++] = suite->others[i];
    return _cmocka_run_group_tests(suite->format, tests, n, NULL, NULL);
}
