/* Sources that share a file with others: their windows get smaller and show the same. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"
#include "support/support.h"

#define INPUT 300000u
#define PAGE 4096u /* what a mapped window may show more, where it begins */

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 24);
}

static void narrow_windows_show_the_same_bytes_and_no_more(void **state)
{
    (void)state;
    static const size_t chunks[] = {16384, 65536}; /* read; mapped where it may be */
    char path[] = "/tmp/tracetta-narrow-XXXXXX";
    static uint8_t bytes[INPUT];
    for (size_t i = 0; i < INPUT; i++)
        bytes[i] = byte_at(i);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, bytes, INPUT), INPUT);
    (void)close(fd);
    for (unsigned i = 0; i < 4; i++) {
        const size_t chunk = chunks[i % 2];
        struct window window;
        struct source *source =
            source_open(alloc_default(), path, &(struct source_options){.no_mmap = i / 2}, NULL);
        assert_non_null(source);
        source_narrow(source, chunk);
        source_narrow(source, 2 * chunk); /* is no narrowing */
        for (uint64_t at = 0; at < INPUT; at += 9001) {
            assert_int_equal(source_fill(source, at, 3000, &window, NULL), TTR_OK);
            assert_int_equal(window.offset, at);
            assert_in_range(window.n, window.at_end ? INPUT - at : 3000, chunk + PAGE);
            assert_memory_equal(window.bytes, bytes + at, window.n);
        }
        source_close(source);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_windows_show_the_same_bytes_and_no_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
