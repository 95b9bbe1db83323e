/* Tests of source_limit_window: smaller windows show the same bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"
#include "support/support.h"

#define INPUT 300000u
/* a mapped window may be larger by up to a page, because it starts at a page boundary */
#define PAGE 4096u

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 24);
}

static void narrowed_windows_show_same_bytes(void **state)
{
    (void)state;
    /* one size that is read, one that may be mapped */
    static const size_t chunks[] = {16384, 65536};
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
        source_limit_window(source, chunk);
        /* not smaller than the current windows, so without effect */
        source_limit_window(source, 2 * chunk);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(narrowed_windows_show_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
