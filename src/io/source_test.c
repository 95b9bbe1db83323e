/* Tests of sources over uncompressed bytes: every split, growth, truncation and failure returns the
 * same bytes as one read. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/source_window.h"
#include "support/support.h"

enum { INPUT = 3 << 20 };

/* Bytes computed from their offset, so that a shift by any distance is detected. */
static uint8_t byte_at(uint64_t i)
{
    return (uint8_t)((i * 2654435761u) >> 13);
}

static uint8_t *new_input(size_t n)
{
    uint8_t *bytes = alloc_zero(alloc_default(), n, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_at(i);
    return bytes;
}

/* Creates a file with a modification time an hour ago: without a lease, young files are not mapped.
 */
static void write_file(const char *path, size_t n)
{
    uint8_t *bytes = new_input(n);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    struct timespec then = {.tv_sec = time(NULL) - 3600};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){then, then}, 0), 0);
    alloc_free(alloc_default(), bytes, n, 1);
}

/* A file path in a temporary folder of the test. */
struct test_path {
    char folder[32], path[48];
};

static void make_test_path(struct test_path *test_path)
{
    (void)snprintf(test_path->folder, sizeof test_path->folder, "/tmp/ttr-source-XXXXXX");
    assert_non_null(mkdtemp(test_path->folder));
    (void)snprintf(test_path->path, sizeof test_path->path, "%s/input.bin", test_path->folder);
}

static void remove_test_path(const struct test_path *test_path)
{
    (void)unlink(test_path->path);
    assert_int_equal(rmdir(test_path->folder), 0);
}

/* Returns true if files in the test's folder can be mapped. */
static bool may_map(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool may = source_is_safe_to_map(fd);
    (void)close(fd);
    return may;
}

static void check_window(const struct window *window, uint64_t offset)
{
    assert_int_equal(window->offset, offset);
    assert_non_null(window->bytes);
    for (size_t i = 0; i < window->n; i++)
        if (window->bytes[i] != byte_at(offset + i))
            fail_msg("byte %llu is wrong", (unsigned long long)(offset + i));
}

/* Reads to the end in records of random sizes. Returns the number of bytes read. */
static uint64_t read_records(struct source *source, size_t longest, uint64_t seed)
{
    struct window window;
    uint64_t offset = 0;
    for (;;) {
        size_t need = 1 + (size_t)(support_random(&seed) % longest);
        ttr_error error;
        assert_int_equal(source_fill(source, offset, need, &window, &error), TTR_OK);
        check_window(&window, offset);
        assert_true(window.n >= need || window.at_end);
        if (window.n == 0)
            return offset;
        size_t take = window.n < need ? window.n : need;
        offset += take + (window.n - take) / 3;
    }
}

/* A pull callback's state: returns the input in pieces. */
struct script {
    uint64_t at, n;   /* bytes returned so far, bytes in total */
    uint64_t fail_at; /* the read at or after this byte fails with `reason`; UINT64_MAX: never */
    int reason;
    uint64_t seed;       /* 0: one byte per read */
    unsigned interrupts; /* one in this many reads returns EINTR; 0: never */
    uint64_t asked;      /* largest read requested */
};

static int64_t script_pull(void *ctx, void *to, size_t n)
{
    struct script *script = ctx;
    script->asked = n > script->asked ? n : script->asked;
    if (script->interrupts && support_random(&script->seed) % script->interrupts == 0) {
        errno = EINTR;
        return -1;
    }
    if (script->at >= script->fail_at) {
        errno = script->reason;
        return -1;
    }
    uint64_t give = script->seed ? 1 + support_random(&script->seed) % 9000 : 1;
    give = give < n ? give : n;
    give = give < script->n - script->at ? give : script->n - script->at;
    if (give > script->fail_at - script->at)
        give = script->fail_at - script->at;
    for (uint64_t i = 0; i < give; i++)
        ((uint8_t *)to)[i] = byte_at(script->at + i);
    script->at += give;
    return (int64_t)give;
}

static void pulled_input_of_any_split_reads_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct script script = {.n = seed ? 300000 : 20000,
                                .fail_at = UINT64_MAX,
                                .seed = seed,
                                .interrupts = seed % 3 ? 5 : 0};
        struct source_options options = {.chunk = seed % 2 ? 0 : 1 + 997 * seed};
        struct source *source =
            source_open_callback(alloc_default(), script_pull, &script, &options, NULL);
        assert_non_null(source);
        assert_int_equal(read_records(source, 1 + 700 * seed, seed + 1), script.n);
        assert_int_equal(source_disk_bytes_read(source), script.n);
        source_close(source);
    }
}

static void memory_in_any_chunk_size_reads_equal(void **state)
{
    (void)state;
    size_t n = 50000;
    uint8_t *bytes = new_input(n);
    for (size_t chunk = 0; chunk < 5000; chunk = chunk * 3 + 1) {
        struct source_options options = {.chunk = chunk};
        struct source *source = source_open_memory(alloc_default(), bytes, n, &options, NULL);
        assert_non_null(source);
        assert_int_equal(read_records(source, 333, chunk + 1), n);
        assert_int_equal(source_disk_size(source), n);
        assert_int_equal(source_disk_bytes_read(source), n);
        assert_string_equal(source_compression(source), "");
        source_close(source);
    }
    alloc_free(alloc_default(), bytes, n, 1);
}

static void empty_memory_is_empty_window_at_end(void **state)
{
    (void)state;
    struct source *source = source_open_memory(alloc_default(), NULL, 0, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 100, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 0);
    assert_non_null(window.bytes);
    source_close(source);
}

static void mapped_and_unmapped_file_read_equal(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    static const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, INPUT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 4; i++) {
        size_t n = sizes[i / 4];
        write_file(test_path.path, n);
        struct source_options options = {.no_mmap = i % 2,
                                         .chunk = i / 2 % 2 ? (i % 2 ? 10000 : 600000) : 0};
        struct source *source = source_open(alloc_default(), test_path.path, &options, NULL);
        assert_non_null(source);
        assert_int_equal(source_disk_size(source), n);
        assert_int_equal(read_records(source, 20000, i + 1), n);
        assert_int_equal(source_disk_bytes_read(source), n);
        source_close(source);
    }
    remove_test_path(&test_path);
}

/* Opens a descriptor as standard input, which stays open. Closes the descriptor itself. */
static struct source *open_as_stdin(int fd, const struct source_options *options)
{
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(close(fd), 0);
    return source_open(alloc_default(), "-", options, NULL);
}

static void descriptor_is_read_from_its_position(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, 200000);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        int fd = open(test_path.path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(lseek(fd, 70001, SEEK_SET), 70001);
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = open_as_stdin(fd, &options);
        struct window window;
        assert_int_equal(source_fill(source, 0, 10, &window, NULL), TTR_OK);
        assert_int_equal(window.bytes[0], byte_at(70001));
        assert_int_equal(source_fill(source, 9, 200000, &window, NULL), TTR_OK);
        assert_int_equal(window.n, 200000 - 70001 - 9);
        assert_true(window.at_end);
        assert_int_equal(source_disk_size(source), 200000 - 70001);
        source_close(source);
    }
    remove_test_path(&test_path);
}

static void truncated_file_ends_at_new_size(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        write_file(test_path.path, INPUT);
        struct source_options options = {.no_mmap = no_mmap, .chunk = 600000};
        struct source *source = source_open(alloc_default(), test_path.path, &options, NULL);
        struct window window;
        bool is_mapped = !no_mmap && may_map(test_path.path);
        assert_int_equal(source_fill(source, 0, 1000, &window, NULL), TTR_OK);
        assert_int_equal(truncate(test_path.path, 50000), 0);
        assert_int_equal(source_fill(source, 1000, 300000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        check_window(&window, 1000);
        /* pread has more bytes in its buffer already */
        assert_true(window.n == 49000 || !is_mapped);
        assert_int_equal(truncate(test_path.path, 500), 0);
        assert_int_equal(source_fill(source, 1000 + window.n, 1, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 0);
        source_close(source);
    }
    remove_test_path(&test_path);
}

static void grown_file_shows_new_bytes(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        write_file(test_path.path, 100000);
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = source_open(alloc_default(), test_path.path, &options, NULL);
        struct window window;
        assert_int_equal(source_fill(source, 0, 200000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 100000);
        write_file(test_path.path, 150000);
        assert_int_equal(source_fill(source, 99990, 200000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 50010);
        check_window(&window, 99990);
        source_close(source);
    }
    remove_test_path(&test_path);
}

static void file_open_for_writing_is_not_mapped(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, INPUT);
    int writer = open(test_path.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(futimens(writer, NULL), 0);
    assert_false(source_is_safe_to_map(writer));
    struct source *source = source_open(alloc_default(), test_path.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 100000, &window, NULL), TTR_OK);
    assert_int_equal(ftruncate(writer, 10), 0);
    check_window(&window, 0); /* a mapping would raise SIGBUS here */
    source_close(source);
    assert_int_equal(close(writer), 0);
    remove_test_path(&test_path);
}

static long resident_kib(void)
{
    long pages = 0, skipped = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &skipped, &pages), 2);
    assert_int_equal(fclose(file), 0);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void large_file_uses_constant_memory(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, 1);
    assert_int_equal(truncate(test_path.path, 256 << 20), 0);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = source_open(alloc_default(), test_path.path, &options, NULL);
        struct window window = {0};
        long before = resident_kib(), most = 0;
        volatile unsigned sum = 0;
        do {
            assert_int_equal(source_fill(source, window.offset + window.n, 1, &window, NULL),
                             TTR_OK);
            for (size_t i = 0; i < window.n; i += 4096)
                sum += window.bytes[i];
            long now = resident_kib();
            most = now > most ? now : most;
        } while (!window.at_end);
        assert_int_equal(window.offset + window.n, 256 << 20);
        assert_int_equal(sum, 0);
        assert_true(most - before < 12 << 10);
        source_close(source);
    }
    remove_test_path(&test_path);
}

static void small_file_uses_little_memory(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, 300);
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct source *source = source_open(&heap.alloc, test_path.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 8, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 300);
    source_close(source);
    assert_true(heap.peak < 70000);
    support_heap_check(&heap);
    remove_test_path(&test_path);
}

static void bogus_need_allocates_at_most_twice_the_input(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct script script = {.n = 200000, .fail_at = UINT64_MAX, .seed = 7};
    struct source *source = source_open_callback(&heap.alloc, script_pull, &script, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, (size_t)3 << 30, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 200000);
    source_close(source);
    assert_true(heap.peak < 3 << 20);
    support_heap_check(&heap);
}

static void need_over_limit_leaves_window_unchanged(void **state)
{
    (void)state;
    struct script script = {.n = 200000, .fail_at = UINT64_MAX, .seed = 7};
    struct source_options options = {.limit = 1000};
    struct source *source =
        source_open_callback(alloc_default(), script_pull, &script, &options, NULL);
    struct window window;
    ttr_error error;
    assert_int_equal(source_fill(source, 0, 1001, &window, &error), TTR_E_LIMIT);
    assert_int_equal(source_fill(source, 0, 1000, &window, &error), TTR_OK);
    check_window(&window, 0);
    source_close(source);
}

static void offset_before_window_is_misuse(void **state)
{
    (void)state;
    struct script script = {.n = 5000, .fail_at = UINT64_MAX, .seed = 7};
    struct source *source = source_open_callback(alloc_default(), script_pull, &script, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 100, &window, NULL), TTR_OK);
    assert_int_equal(source_fill(source, 50, 1, &window, NULL), TTR_OK);
    assert_int_equal(source_fill(source, 49, 1, &window, NULL), TTR_E_MISUSE);
    source_close(source);
}

static bool refuse_pull(void *ctx, unsigned ms)
{
    (void)ctx;
    return ms > 5;
}

static void source_without_more_bytes_is_paused(void **state)
{
    (void)state;
    struct script script = {.n = 5000, .fail_at = UINT64_MAX, .seed = 7};
    const struct source_options options = {.can_pull = refuse_pull};
    struct source *source =
        source_open_callback(alloc_default(), script_pull, &script, &options, NULL);
    struct window window;
    assert_false(source_is_paused(source, 5)); /* peeked bytes are not in the window yet */
    assert_int_equal(source_fill(source, 0, 5000, &window, NULL), TTR_OK);
    assert_true(source_is_paused(source, 5));
    assert_false(source_is_paused(source, 6));
    assert_int_equal(source_fill(source, 0, 5001, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_false(source_is_paused(source, 5));
    source_close(source);
}

/* One source of each kind over the same bytes. */
enum kind { KIND_MAPPED, KIND_READ, KIND_MEMORY, KIND_PULLED, KINDS };

static struct source *open_kind(enum kind kind, const char *path, const uint8_t *bytes,
                                struct script *script)
{
    struct source_options options = {.no_mmap = kind == KIND_READ,
                                     .chunk = kind == KIND_MAPPED ? 512 << 10 : 1 << 14};
    *script = (struct script){.n = INPUT, .fail_at = UINT64_MAX, .seed = 3};
    struct source *source =
        kind == KIND_MEMORY ? source_open_memory(alloc_default(), bytes, INPUT, &options, NULL)
        : kind == KIND_PULLED
            ? source_open_callback(alloc_default(), script_pull, script, &options, NULL)
            : source_open(alloc_default(), path, &options, NULL);
    assert_non_null(source);
    assert_int_equal(source_is_seekable(source), kind != KIND_PULLED);
    return source;
}

static void jumps_in_every_kind_show_same_bytes(void **state)
{
    (void)state;
    struct test_path test_path;
    struct script script;
    uint8_t *bytes = new_input(INPUT);
    make_test_path(&test_path);
    write_file(test_path.path, INPUT);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        uint64_t seed = 11;
        struct source *source = open_kind(kind, test_path.path, bytes, &script);
        struct window window = {0};
        for (uint64_t at = 5; at < INPUT; at += support_random(&seed) % 200000) {
            assert_int_equal(source_fill(source, at, 3000, &window, NULL), TTR_OK);
            check_window(&window, at);
            assert_true(window.n >= 3000 || (window.at_end && window.n == INPUT - at));
        }
        source_close(source);
    }
    alloc_free(alloc_default(), bytes, INPUT, 1);
    remove_test_path(&test_path);
}

static void jump_past_end_shows_empty_window(void **state)
{
    (void)state;
    static const uint64_t places[] = {INPUT, INPUT + 1, (uint64_t)1 << 40, INT64_MAX, UINT64_MAX};
    struct test_path test_path;
    struct script script;
    uint8_t *bytes = new_input(INPUT);
    make_test_path(&test_path);
    write_file(test_path.path, INPUT);
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            struct source *source = open_kind(kind, test_path.path, bytes, &script);
            struct window window;
            assert_int_equal(source_fill(source, 100, 1, &window, NULL), TTR_OK);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(source_fill(source, places[i], 1, &window, NULL), TTR_OK);
                assert_true(window.at_end);
                assert_int_equal(window.n, 0);
                assert_int_equal(window.offset, places[i]);
            }
            assert_in_range(source_disk_bytes_read(source), 0, INPUT);
            source_close(source);
        }
    alloc_free(alloc_default(), bytes, INPUT, 1);
    remove_test_path(&test_path);
}

static void given_bytes_end_the_window(void **state)
{
    (void)state;
    struct window window = {.n = 9};
    struct source *source = source_open_appendable(alloc_default(), "packets", NULL);
    assert_non_null(source);
    assert_false(source_is_seekable(source));
    assert_int_equal(source_fill(source, 0, 4, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 0);
    assert_true(window.at_end);
    assert_true(source_append(source, "abc", 3));
    assert_true(source_append(source, "defg", 4));
    assert_int_equal(source_fill(source, 2, 4, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "cdefg");
    assert_true(window.at_end);
    assert_true(source_append(source, "hi", 2));
    assert_int_equal(source_fill(source, 6, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "ghi");
    assert_int_equal(window.offset, 6);
    assert_int_equal(source_disk_bytes_read(source), 9);
    source_close(source);
}

static void window_after_given_bytes_waits_for_them(void **state)
{
    (void)state;
    struct window window;
    ttr_error error;
    struct source *source = source_open_appendable(alloc_default(), "packets", NULL);
    assert_non_null(source);
    assert_true(source_append(source, "ab", 2));
    assert_int_equal(source_fill(source, 5, 1, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 0);
    assert_int_equal(window.offset, 5);
    assert_true(source_append(source, "cd", 2));
    assert_true(source_append(source, "efg", 3));
    assert_int_equal(source_fill(source, 5, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "fg");
    assert_int_equal(source_fill(source, 4, 1, &window, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "packets"));
    source_close(source);
}

static bool give_some(const struct alloc *alloc)
{
    struct source *source = source_open_appendable(alloc, "packets", NULL);
    bool is_fine = source && source_append(source, "0123456789abcdef", 16);
    source_close(source);
    return is_fine;
}

static void failed_give_leaves_source_usable(void **state)
{
    (void)state;
    support_fail_each(give_some);
}

static void jump_over_read_error_reports_it(void **state)
{
    (void)state;
    struct script script = {.n = 5000, .fail_at = 3000, .reason = EIO, .seed = 7};
    struct source *source = source_open_callback(alloc_default(), script_pull, &script, NULL, NULL);
    struct window window;
    ttr_error error;
    assert_int_equal(source_fill(source, 4000, 10, &window, &error), TTR_E_IO);
    assert_int_equal(error.offset, 3000);
    assert_int_equal(source_fill(source, 4000, 10, &window, &error), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 0);
    source_close(source);
}

static void peek_at_reads_any_offset(void **state)
{
    (void)state;
    static const uint64_t places[] = {INPUT - 5, 0, 700000, 1, INPUT, UINT64_MAX};
    struct test_path test_path;
    struct script script;
    ttr_error error;
    uint8_t *bytes = new_input(INPUT);
    make_test_path(&test_path);
    write_file(test_path.path, INPUT);
    for (enum kind kind = 0; kind < KIND_PULLED; kind++) {
        struct source *source = open_kind(kind, test_path.path, bytes, &script);
        struct window window;
        assert_int_equal(source_fill(source, 300, 1000, &window, NULL), TTR_OK);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            uint8_t some[10];
            int64_t n = source_peek_at(source, places[i], some, sizeof some, NULL);
            assert_int_equal(n, places[i] >= INPUT ? 0 : i == 0 ? 5 : 10);
            check_window(&(struct window){.bytes = some, .n = (size_t)n, .offset = places[i]},
                         places[i]);
        }
        check_window(&window, 300);
        assert_int_equal(source_fill(source, 300 + window.n, 1000, &window, NULL), TTR_OK);
        check_window(&window, window.offset);
        source_close(source);
    }
    struct source *source = open_kind(KIND_PULLED, test_path.path, bytes, &script);
    assert_int_equal(source_peek_at(source, 0, bytes, 1, &error), -1);
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    source_close(source);
    alloc_free(alloc_default(), bytes, INPUT, 1);
    remove_test_path(&test_path);
}

static void read_error_is_reported_once_after_all_bytes(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 3000; k = k * 2 + 1) {
        struct script script = {.n = 5000, .fail_at = k, .reason = EIO, .seed = k + 1};
        struct source *source =
            source_open_callback(alloc_default(), script_pull, &script, NULL, NULL);
        struct window window;
        ttr_error error;
        assert_int_equal(source_fill(source, 0, (size_t)k, &window, &error), TTR_OK);
        assert_int_equal(source_fill(source, 0, (size_t)k + 1, &window, &error), TTR_E_IO);
        assert_int_equal(error.sys, EIO);
        assert_int_equal(error.offset, k);
        assert_non_null(strstr(error.text, "cannot read input"));
        assert_int_equal(window.n, k);
        check_window(&window, 0);
        assert_int_equal(source_fill(source, 0, (size_t)k + 1, &window, &error), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, k);
        source_close(source);
    }
}

/* Writes to a descriptor in small pieces with pauses, then closes it. */
static void *write_slowly(void *ctx)
{
    int fd = *(const int *)ctx;
    for (uint64_t at = 0; at < 100000;) {
        uint8_t bytes[777];
        size_t n = 100000 - at < sizeof bytes ? (size_t)(100000 - at) : sizeof bytes;
        for (size_t i = 0; i < n; i++)
            bytes[i] = byte_at(at + i);
        if (write(fd, bytes, n) != (ssize_t)n)
            break;
        at += n;
        if (at % 7 == 0)
            usleep(200);
    }
    (void)close(fd);
    return NULL;
}

static void blocking_and_nonblocking_pipe_read_equal(void **state)
{
    (void)state;
    for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(fcntl(ends[0], F_SETFL, flags), 0);
        pthread_t writer;
        assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
        struct source *source = open_as_stdin(ends[0], NULL);
        assert_non_null(source);
        assert_int_equal(read_records(source, 3000, 5), 100000);
        assert_int_equal(source_disk_size(source), 0);
        source_close(source);
        assert_int_equal(pthread_join(writer, NULL), 0);
    }
}

static void fifo_and_device_are_read(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    assert_int_equal(mkfifo(test_path.path, 0600), 0);
    int fd = open(test_path.path, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(fd, "\x00\x01", 2), 2);
    struct source *source = source_open(alloc_default(), test_path.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 2, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 2);
    source_close(source);
    assert_int_equal(close(fd), 0);
    source = source_open(alloc_default(), "/dev/null", NULL, NULL);
    assert_int_equal(source_fill(source, 0, 1, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    source_close(source);
    remove_test_path(&test_path);
}

static void standard_input_is_read_from_its_position(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, 100000);
    int saved = dup(STDIN_FILENO), fd = open(test_path.path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(lseek(STDIN_FILENO, 7, SEEK_SET), 7);
    struct source *source = source_open(alloc_default(), "-", NULL, NULL);
    struct window window = {0};
    ttr_status status = source_fill(source, 0, 100000, &window, NULL);
    assert_int_equal(window.bytes[0], byte_at(7));
    source_close(source);
    int is_open = fcntl(STDIN_FILENO, F_GETFD);
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO || saved < 0);
    assert_int_equal(status, TTR_OK);
    assert_int_equal(window.n, 100000 - 7);
    assert_true(is_open >= 0);
    (void)close(saved);
    (void)close(fd);
    remove_test_path(&test_path);
}

static void unreadable_descriptor_fails_at_first_fill(void **state)
{
    (void)state;
    struct test_path test_path;
    make_test_path(&test_path);
    write_file(test_path.path, 100);
    for (int i = 0; i < 2; i++) {
        int fd = open(i ? "/dev/null" : test_path.path, O_WRONLY | O_CLOEXEC);
        struct source *source = open_as_stdin(fd, NULL);
        struct window window;
        ttr_error error;
        assert_int_equal(source_fill(source, 0, 1, &window, &error), TTR_E_IO);
        assert_int_equal(error.sys, EBADF);
        source_close(source);
    }
    remove_test_path(&test_path);
}

static void failed_open_names_file_and_reason(void **state)
{
    (void)state;
    ttr_error error;
    assert_null(source_open(alloc_default(), "/tmp/no-such-file.fxt", NULL, &error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "/tmp/no-such-file.fxt"));
    assert_non_null(strstr(error.text, "No such file"));
    assert_null(source_open(alloc_default(), "/tmp", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "/tmp is a directory"));
}

/* Opens and reads one input of each kind. Returns false if memory ran out. */
static bool read_all_kinds(const struct alloc *alloc)
{
    struct script script = {.n = 300000, .fail_at = UINT64_MAX, .seed = 3};
    struct source *sources[3] = {
        source_open_callback(alloc, script_pull, &script, NULL, NULL),
        source_open(alloc, "/proc/self/exe", &(struct source_options){.no_mmap = true}, NULL),
        source_open(alloc, "/proc/self/exe", NULL, NULL)};
    bool is_through = true;
    for (size_t i = 0; i < 3; i++) {
        struct window window;
        ttr_status status =
            sources[i] ? source_fill(sources[i], 0, 70000, &window, NULL) : TTR_E_NOMEM;
        if (status == TTR_OK)
            status = source_fill(sources[i], 10, 200000, &window, NULL);
        assert_true(status == TTR_OK || status == TTR_E_NOMEM);
        is_through = is_through && status == TTR_OK;
        source_close(sources[i]);
    }
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(read_all_kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulled_input_of_any_split_reads_equal),
        cmocka_unit_test(memory_in_any_chunk_size_reads_equal),
        cmocka_unit_test(empty_memory_is_empty_window_at_end),
        cmocka_unit_test(mapped_and_unmapped_file_read_equal),
        cmocka_unit_test(descriptor_is_read_from_its_position),
        cmocka_unit_test(truncated_file_ends_at_new_size),
        cmocka_unit_test(grown_file_shows_new_bytes),
        cmocka_unit_test(file_open_for_writing_is_not_mapped),
        cmocka_unit_test(large_file_uses_constant_memory),
        cmocka_unit_test(small_file_uses_little_memory),
        cmocka_unit_test(bogus_need_allocates_at_most_twice_the_input),
        cmocka_unit_test(need_over_limit_leaves_window_unchanged),
        cmocka_unit_test(source_without_more_bytes_is_paused),
        cmocka_unit_test(offset_before_window_is_misuse),
        cmocka_unit_test(jumps_in_every_kind_show_same_bytes),
        cmocka_unit_test(jump_past_end_shows_empty_window),
        cmocka_unit_test(jump_over_read_error_reports_it),
        cmocka_unit_test(given_bytes_end_the_window),
        cmocka_unit_test(window_after_given_bytes_waits_for_them),
        cmocka_unit_test(failed_give_leaves_source_usable),
        cmocka_unit_test(peek_at_reads_any_offset),
        cmocka_unit_test(read_error_is_reported_once_after_all_bytes),
        cmocka_unit_test(blocking_and_nonblocking_pipe_read_equal),
        cmocka_unit_test(fifo_and_device_are_read),
        cmocka_unit_test(standard_input_is_read_from_its_position),
        cmocka_unit_test(unreadable_descriptor_fails_at_first_fill),
        cmocka_unit_test(failed_open_names_file_and_reason),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
