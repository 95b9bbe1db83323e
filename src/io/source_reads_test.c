/* Tests of the number of system calls per file, which dominate the cost of hundreds of small files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/source.h"
#include "support/support.h"

#define MOST 2000u

static uint8_t bytes[MOST];

/* Creates a file of n random bytes. */
static void make_file(char *path, size_t n)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)support_random(&seed);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(close(fd), 0);
}

static void append(const char *path, size_t from, size_t to)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, bytes + from, to - from), to - from);
    assert_int_equal(close(fd), 0);
}

/* Returns the number of read calls of this process, without the one that finds it out; 0 if
 * /proc/self/io does not count them. */
static unsigned long count_reads(void)
{
    char text[512];
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "syscr: ");
    return at ? strtoul(at + strlen("syscr: "), NULL, 10) : 0;
}

/* Like count_reads, but skips the test if calls are not counted, as under tools that read files
 * themselves. */
static unsigned long reads(void)
{
    const unsigned long before = count_reads(), now = count_reads();
    if (now != before + 1)
        skip();
    return now;
}

static unsigned long reads_since(unsigned long before)
{
    return count_reads() - before - 1;
}

static void small_file_needs_two_reads(void **state)
{
    (void)state;
    char path[] = "/tmp/tracetta-reads-XXXXXX";
    struct window window;
    const unsigned long before = reads();
    make_file(path, 700);
    struct source *source =
        source_open(alloc_default(), path, &(struct source_options){.chunk = 32768}, NULL);
    assert_int_equal(reads_since(before), 1);
    assert_int_equal(source_fill(source, 0, 100, &window, NULL), TTR_OK);
    assert_int_equal(reads_since(before), 3); /* one of the three is the read of the counter */
    assert_true(window.at_end);
    assert_int_equal(window.n, 700);
    assert_memory_equal(window.bytes, bytes, 700);
    source_close(source);
    assert_int_equal(unlink(path), 0);
}

static void peeked_bytes_are_not_read_again(void **state)
{
    (void)state;
    char path[] = "/tmp/tracetta-reads-XXXXXX";
    uint8_t to[300];
    const unsigned long before = reads();
    make_file(path, 700);
    struct source *source = source_open(alloc_default(), path, NULL, NULL);
    for (size_t at = 0; at < 256; at++)
        assert_int_equal(source_peek_at(source, at, to, 256 - at, NULL), 256 - at);
    assert_int_equal(reads_since(before), 1);
    assert_memory_equal(to, bytes + 255, 1);
    assert_int_equal(source_peek_at(source, 200, to, 300, NULL), 300);
    assert_memory_equal(to, bytes + 200, 300);
    source_close(source);
    assert_int_equal(unlink(path), 0);
}

static void file_grown_after_open_is_read_on(void **state)
{
    (void)state;
    char path[] = "/tmp/tracetta-reads-XXXXXX";
    struct window window;
    uint8_t to[300];
    make_file(path, 100);
    struct source *source =
        source_open(alloc_default(), path, &(struct source_options){.chunk = 32768}, NULL);
    append(path, 100, 900);
    assert_int_equal(source_peek_at(source, 50, to, 300, NULL), 300);
    assert_memory_equal(to, bytes + 50, 300);
    assert_int_equal(source_fill(source, 20, 500, &window, NULL), TTR_OK);
    assert_true(window.n >= 500);
    assert_memory_equal(window.bytes, bytes + 20, window.n);
    assert_int_equal(source_fill(source, 20, MOST, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 880);
    append(path, 900, MOST);
    assert_int_equal(source_fill(source, 800, MOST, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, MOST - 800);
    assert_memory_equal(window.bytes, bytes + 800, window.n);
    source_close(source);
    assert_int_equal(unlink(path), 0);
}

static void file_longer_than_its_known_size_is_read_completely(void **state)
{
    (void)state;
    char path[] = "/tmp/tracetta-reads-XXXXXX";
    struct window window;
    make_file(path, 600);
    struct source *source =
        source_open(alloc_default(), path, &(struct source_options){.chunk = 32768}, NULL);
    assert_int_equal(source_fill(source, 0, 100, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 600);
    append(path, 600, 1000);
    assert_int_equal(source_fill(source, 600, 1, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 400);
    assert_memory_equal(window.bytes, bytes + 600, 400);
    source_close(source);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_file_needs_two_reads),
        cmocka_unit_test(peeked_bytes_are_not_read_again),
        cmocka_unit_test(file_grown_after_open_is_read_on),
        cmocka_unit_test(file_longer_than_its_known_size_is_read_completely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
