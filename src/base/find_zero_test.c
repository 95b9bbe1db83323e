/* The search for a zero byte against the plain one, at all sizes and places. */
#include "base/find_zero.h"

#include <stdlib.h>

#include "support/support.h"

#define SIZE 112u

/* Zeros at `first` and `second`, the bytes between `from` and `end` in a block of their own. */
static void expect_zero(size_t from, size_t at, size_t end, const uint8_t *bytes)
{
    uint8_t *block = malloc(end - from ? end - from : 1);
    memcpy(block, bytes + from, end - from);
    const uint8_t *found = find_zero(block, block + (at - from), block + (end - from));
    const uint8_t *wanted = end > at ? memchr(block + (at - from), 0, end - at) : NULL;
    if (found != wanted)
        fail_msg("from %zu, at %zu, to %zu: found %td, wanted %td", from, at, end,
                 found ? found - block : -1, wanted ? wanted - block : -1);
    free(block);
}

static void the_first_zero_is_found_at_any_place(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    for (size_t zero = 0; zero <= SIZE; zero++)
        for (size_t n = 0; n < SIZE - 40; n++)
            for (size_t before = 0; before <= 40; before += before < 18 ? 1 : 11) {
                memset(bytes, 1,
                       sizeof bytes); /* ones: what bit tricks take for zeros behind a zero */
                if (zero < SIZE)
                    bytes[zero] = 0;
                if (zero >= 8 && zero < SIZE)
                    bytes[zero - 8] = 0;
                expect_zero(40 - before, 40, 40 + n, bytes);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_zero_is_found_at_any_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
