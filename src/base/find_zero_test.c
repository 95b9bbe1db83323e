/* Tests of the search for a zero byte against a byte loop, for all lengths and offsets. */
#include "base/find_zero.h"

#include <stdlib.h>

#include "support/support.h"

#define SIZE 112u

/* Copies the bytes from `from` to `end` into an allocation of exactly that size, so that the
 * sanitizer detects a read outside, and compares with a byte loop. */
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

static void first_zero_is_found_at_any_offset(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    for (size_t zero = 0; zero <= SIZE; zero++)
        for (size_t n = 0; n < SIZE - 40; n++)
            for (size_t before = 0; before <= 40; before += before < 18 ? 1 : 11) {
                memset(bytes, 1,
                       /* 0x01 bytes after a zero: a borrow in the bit trick marks them as zeros */
                       sizeof bytes);
                if (zero < SIZE)
                    bytes[zero] = 0;
                if (zero >= 8 && zero < SIZE)
                    bytes[zero - 8] = 0;
                expect_zero(40 - before, 40, 40 + n, bytes);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_zero_is_found_at_any_offset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
