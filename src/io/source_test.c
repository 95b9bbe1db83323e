/* Sources over plain bytes: every way of splitting, growing, cutting and failing gives the same
 * bytes as the whole. */
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

/* Bytes by their place, so that a shift by any distance shows. */
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

/* The file looks an hour old: where nobody may ask whether it is being written, young files are not
 * mapped. */
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

/* A path in a folder of this test's own. */
struct place {
    char folder[32], path[48];
};

static void make_place(struct place *place)
{
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/ttr-source-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(place->path, sizeof place->path, "%s/input.bin", place->folder);
}

static void drop_place(const struct place *place)
{
    (void)unlink(place->path);
    assert_int_equal(rmdir(place->folder), 0);
}

/* Whether the folder of tests lies where files are mapped at all. */
static bool may_map(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool may = source_file_is_safe_to_map(fd);
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

/* Reads to the end with records of random sizes; gives the bytes read. */
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

/* An input that comes in scripted pieces. */
struct script {
    uint64_t at, n;   /* bytes given so far, bytes in all */
    uint64_t fail_at; /* the read at or after this byte fails with `reason`; UINT64_MAX never */
    int reason;
    uint64_t seed;       /* 0: one byte a read */
    unsigned interrupts; /* one in so many reads gives EINTR; 0 never */
    uint64_t asked;      /* the largest read asked for */
};

static int64_t script_pull(void *own, void *to, size_t n)
{
    struct script *script = own;
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

static void any_split_of_a_pulled_input_reads_as_the_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct script script = {.n = seed ? 300000 : 20000,
                                .fail_at = UINT64_MAX,
                                .seed = seed,
                                .interrupts = seed % 3 ? 5 : 0};
        struct source_options options = {.chunk = seed % 2 ? 0 : 1 + 997 * seed};
        struct source *source =
            source_open_pull(alloc_default(), script_pull, &script, &options, NULL);
        assert_non_null(source);
        assert_int_equal(read_records(source, 1 + 700 * seed, seed + 1), script.n);
        assert_int_equal(source_disk_used(source), script.n);
        source_close(source);
    }
}

static void memory_reads_as_the_whole_in_chunks_of_any_size(void **state)
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
        assert_int_equal(source_disk_used(source), n);
        assert_string_equal(source_compression(source), "");
        source_close(source);
    }
    alloc_free(alloc_default(), bytes, n, 1);
}

static void memory_of_no_bytes_is_an_empty_window_at_the_end(void **state)
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

static void a_file_reads_the_same_mapped_and_not(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    static const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, INPUT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 4; i++) {
        size_t n = sizes[i / 4];
        write_file(place.path, n);
        struct source_options options = {.no_mmap = i % 2,
                                         .chunk = i / 2 % 2 ? (i % 2 ? 10000 : 600000) : 0};
        struct source *source = source_open(alloc_default(), place.path, &options, NULL);
        assert_non_null(source);
        assert_int_equal(source_disk_size(source), n);
        assert_int_equal(read_records(source, 20000, i + 1), n);
        assert_int_equal(source_disk_used(source), n);
        source_close(source);
    }
    drop_place(&place);
}

static void a_descriptor_reads_from_where_it_stands(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, 200000);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        int fd = open(place.path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(lseek(fd, 70001, SEEK_SET), 70001);
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = source_open_fd(alloc_default(), fd, &options, NULL);
        struct window window;
        assert_int_equal(source_fill(source, 0, 10, &window, NULL), TTR_OK);
        assert_int_equal(window.bytes[0], byte_at(70001));
        assert_int_equal(source_fill(source, 9, 200000, &window, NULL), TTR_OK);
        assert_int_equal(window.n, 200000 - 70001 - 9);
        assert_true(window.at_end);
        assert_int_equal(source_disk_size(source), 200000 - 70001);
        source_close(source);
        assert_int_equal(fcntl(fd, F_GETFD), -1);
    }
    drop_place(&place);
}

static void a_file_that_shrinks_ends_where_it_was_cut(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        write_file(place.path, INPUT);
        struct source_options options = {.no_mmap = no_mmap, .chunk = 600000};
        struct source *source = source_open(alloc_default(), place.path, &options, NULL);
        struct window window;
        bool is_mapped = !no_mmap && may_map(place.path);
        assert_int_equal(source_fill(source, 0, 1000, &window, NULL), TTR_OK);
        assert_int_equal(truncate(place.path, 50000), 0);
        assert_int_equal(source_fill(source, 1000, 300000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        check_window(&window, 1000);
        assert_true(window.n == 49000 || !is_mapped); /* pread had more in its buffer already */
        assert_int_equal(truncate(place.path, 500), 0);
        assert_int_equal(source_fill(source, 1000 + window.n, 1, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 0);
        source_close(source);
    }
    drop_place(&place);
}

static void a_file_that_grows_shows_the_new_bytes_after_its_end(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        write_file(place.path, 100000);
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = source_open(alloc_default(), place.path, &options, NULL);
        struct window window;
        assert_int_equal(source_fill(source, 0, 200000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 100000);
        write_file(place.path, 150000);
        assert_int_equal(source_fill(source, 99990, 200000, &window, NULL), TTR_OK);
        assert_true(window.at_end);
        assert_int_equal(window.n, 50010);
        check_window(&window, 99990);
        source_close(source);
    }
    drop_place(&place);
}

static void a_file_open_for_writing_is_not_mapped(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, INPUT);
    int writer = open(place.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(futimens(writer, NULL), 0);
    assert_false(source_file_is_safe_to_map(writer));
    struct source *source = source_open(alloc_default(), place.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 100000, &window, NULL), TTR_OK);
    assert_int_equal(ftruncate(writer, 10), 0);
    check_window(&window, 0); /* a mapping would be gone: SIGBUS */
    source_close(source);
    assert_int_equal(close(writer), 0);
    drop_place(&place);
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

static void resident_memory_stays_flat_over_a_large_file(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, 1);
    assert_int_equal(truncate(place.path, 256 << 20), 0);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        struct source_options options = {.no_mmap = no_mmap};
        struct source *source = source_open(alloc_default(), place.path, &options, NULL);
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
    drop_place(&place);
}

static void a_small_file_takes_little_memory(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, 300);
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct source *source = source_open(&heap.alloc, place.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 8, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 300);
    source_close(source);
    assert_true(heap.peak < 70000);
    support_heap_check(&heap);
    drop_place(&place);
}

static void a_bogus_need_costs_no_more_than_twice_the_input(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct script script = {.n = 200000, .fail_at = UINT64_MAX, .seed = 7};
    struct source *source = source_open_pull(&heap.alloc, script_pull, &script, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, (size_t)3 << 30, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 200000);
    source_close(source);
    assert_true(heap.peak < 3 << 20);
    support_heap_check(&heap);
}

static void a_need_over_the_limit_is_refused_and_nothing_moves(void **state)
{
    (void)state;
    struct script script = {.n = 200000, .fail_at = UINT64_MAX, .seed = 7};
    struct source_options options = {.limit = 1000};
    struct source *source = source_open_pull(alloc_default(), script_pull, &script, &options, NULL);
    struct window window;
    ttr_error error;
    assert_int_equal(source_fill(source, 0, 1001, &window, &error), TTR_E_LIMIT);
    assert_int_equal(source_fill(source, 0, 1000, &window, &error), TTR_OK);
    check_window(&window, 0);
    source_close(source);
}

static void an_offset_before_the_window_is_misuse(void **state)
{
    (void)state;
    struct script script = {.n = 5000, .fail_at = UINT64_MAX, .seed = 7};
    struct source *source = source_open_pull(alloc_default(), script_pull, &script, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 100, &window, NULL), TTR_OK);
    assert_int_equal(source_fill(source, 50, 1, &window, NULL), TTR_OK);
    assert_int_equal(source_fill(source, 49, 1, &window, NULL), TTR_E_MISUSE);
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
            ? source_open_pull(alloc_default(), script_pull, script, &options, NULL)
            : source_open(alloc_default(), path, &options, NULL);
    assert_non_null(source);
    assert_int_equal(source_is_seekable(source), kind != KIND_PULLED);
    return source;
}

static void jumps_show_the_same_bytes_from_every_kind_of_source(void **state)
{
    (void)state;
    struct place place;
    struct script script;
    uint8_t *bytes = new_input(INPUT);
    make_place(&place);
    write_file(place.path, INPUT);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        uint64_t seed = 11;
        struct source *source = open_kind(kind, place.path, bytes, &script);
        struct window window = {0};
        for (uint64_t at = 5; at < INPUT; at += support_random(&seed) % 200000) {
            assert_int_equal(source_fill(source, at, 3000, &window, NULL), TTR_OK);
            check_window(&window, at);
            assert_true(window.n >= 3000 || (window.at_end && window.n == INPUT - at));
        }
        source_close(source);
    }
    alloc_free(alloc_default(), bytes, INPUT, 1);
    drop_place(&place);
}

static void a_jump_past_the_end_is_an_empty_window_there(void **state)
{
    (void)state;
    static const uint64_t places[] = {INPUT, INPUT + 1, (uint64_t)1 << 40, INT64_MAX, UINT64_MAX};
    struct place place;
    struct script script;
    uint8_t *bytes = new_input(INPUT);
    make_place(&place);
    write_file(place.path, INPUT);
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            struct source *source = open_kind(kind, place.path, bytes, &script);
            struct window window;
            assert_int_equal(source_fill(source, 100, 1, &window, NULL), TTR_OK);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(source_fill(source, places[i], 1, &window, NULL), TTR_OK);
                assert_true(window.at_end);
                assert_int_equal(window.n, 0);
                assert_int_equal(window.offset, places[i]);
            }
            assert_in_range(source_disk_used(source), 0, INPUT);
            source_close(source);
        }
    alloc_free(alloc_default(), bytes, INPUT, 1);
    drop_place(&place);
}

static void given_bytes_are_shown_up_to_where_they_end(void **state)
{
    (void)state;
    struct window window = {.n = 9};
    struct source *source = source_open_given(alloc_default(), "packets", NULL);
    assert_non_null(source);
    assert_false(source_is_seekable(source));
    assert_int_equal(source_fill(source, 0, 4, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 0);
    assert_true(window.at_end);
    assert_true(source_give(source, "abc", 3));
    assert_true(source_give(source, "defg", 4));
    assert_int_equal(source_fill(source, 2, 4, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "cdefg");
    assert_true(window.at_end);
    assert_true(source_give(source, "hi", 2));
    assert_int_equal(source_fill(source, 6, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "ghi");
    assert_int_equal(window.offset, 6);
    assert_int_equal(source_disk_used(source), 9);
    source_close(source);
}

static void a_window_beyond_what_is_given_waits_for_the_bytes_there(void **state)
{
    (void)state;
    struct window window;
    ttr_error error;
    struct source *source = source_open_given(alloc_default(), "packets", NULL);
    assert_non_null(source);
    assert_true(source_give(source, "ab", 2));
    assert_int_equal(source_fill(source, 5, 1, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 0);
    assert_int_equal(window.offset, 5);
    assert_true(source_give(source, "cd", 2));
    assert_true(source_give(source, "efg", 3));
    assert_int_equal(source_fill(source, 5, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "fg");
    assert_int_equal(source_fill(source, 4, 1, &window, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "packets"));
    source_close(source);
}

static bool give_some(const struct alloc *alloc)
{
    struct source *source = source_open_given(alloc, "packets", NULL);
    bool is_fine = source && source_give(source, "0123456789abcdef", 16);
    source_close(source);
    return is_fine;
}

static void giving_survives_failing_memory(void **state)
{
    (void)state;
    support_fail_each(give_some);
}

static void a_jump_over_a_read_error_tells_it(void **state)
{
    (void)state;
    struct script script = {.n = 5000, .fail_at = 3000, .reason = EIO, .seed = 7};
    struct source *source = source_open_pull(alloc_default(), script_pull, &script, NULL, NULL);
    struct window window;
    ttr_error error;
    assert_int_equal(source_fill(source, 4000, 10, &window, &error), TTR_E_IO);
    assert_int_equal(error.offset, 3000);
    assert_int_equal(source_fill(source, 4000, 10, &window, &error), TTR_OK);
    assert_true(window.at_end);
    assert_int_equal(window.n, 0);
    source_close(source);
}

static void any_place_of_a_file_or_memory_can_be_peeked_at(void **state)
{
    (void)state;
    static const uint64_t places[] = {INPUT - 5, 0, 700000, 1, INPUT, UINT64_MAX};
    struct place place;
    struct script script;
    ttr_error error;
    uint8_t *bytes = new_input(INPUT);
    make_place(&place);
    write_file(place.path, INPUT);
    for (enum kind kind = 0; kind < KIND_PULLED; kind++) {
        struct source *source = open_kind(kind, place.path, bytes, &script);
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
    struct source *source = open_kind(KIND_PULLED, place.path, bytes, &script);
    assert_int_equal(source_peek_at(source, 0, bytes, 1, &error), -1);
    assert_int_equal(error.status, TTR_E_UNSUPPORTED);
    source_close(source);
    alloc_free(alloc_default(), bytes, INPUT, 1);
    drop_place(&place);
}

static void a_read_error_is_told_once_after_all_bytes_before_it(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 3000; k = k * 2 + 1) {
        struct script script = {.n = 5000, .fail_at = k, .reason = EIO, .seed = k + 1};
        struct source *source = source_open_pull(alloc_default(), script_pull, &script, NULL, NULL);
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

/* Writes to a descriptor in bits with pauses, then closes it. */
static void *write_slowly(void *own)
{
    int fd = *(const int *)own;
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

static void a_pipe_reads_as_the_whole_also_when_it_does_not_block(void **state)
{
    (void)state;
    for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(fcntl(ends[0], F_SETFL, flags), 0);
        pthread_t writer;
        assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
        struct source *source = source_open_fd(alloc_default(), ends[0], NULL, NULL);
        assert_non_null(source);
        assert_int_equal(read_records(source, 3000, 5), 100000);
        assert_int_equal(source_disk_size(source), 0);
        source_close(source);
        assert_int_equal(pthread_join(writer, NULL), 0);
    }
}

static void a_fifo_and_a_device_are_read_as_they_come(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    assert_int_equal(mkfifo(place.path, 0600), 0);
    int fd = open(place.path, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(fd, "\x00\x01", 2), 2);
    struct source *source = source_open(alloc_default(), place.path, NULL, NULL);
    struct window window;
    assert_int_equal(source_fill(source, 0, 2, &window, NULL), TTR_OK);
    assert_int_equal(window.n, 2);
    source_close(source);
    assert_int_equal(close(fd), 0);
    source = source_open(alloc_default(), "/dev/null", NULL, NULL);
    assert_int_equal(source_fill(source, 0, 1, &window, NULL), TTR_OK);
    assert_true(window.at_end);
    source_close(source);
    drop_place(&place);
}

static void standard_input_reads_a_file_from_where_it_stands_and_stays_open(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, 100000);
    int saved = dup(STDIN_FILENO), fd = open(place.path, O_RDONLY | O_CLOEXEC);
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
    drop_place(&place);
}

static void a_descriptor_that_cannot_be_read_is_told_by_the_first_fill(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    write_file(place.path, 100);
    for (int i = 0; i < 2; i++) {
        int fd = open(i ? "/dev/null" : place.path, O_WRONLY | O_CLOEXEC);
        struct source *source = source_open_fd(alloc_default(), fd, NULL, NULL);
        struct window window;
        ttr_error error;
        assert_int_equal(source_fill(source, 0, 1, &window, &error), TTR_E_IO);
        assert_int_equal(error.sys, EBADF);
        source_close(source);
    }
    drop_place(&place);
}

static void what_cannot_be_opened_is_named_with_the_reason(void **state)
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
    assert_null(source_open_fd(alloc_default(), 1000, NULL, &error));
    assert_int_equal(error.sys, EBADF);
}

/* Opens and reads one input of each kind; false when memory ran out on the way. */
static bool read_all_kinds(const struct alloc *alloc)
{
    struct script script = {.n = 300000, .fail_at = UINT64_MAX, .seed = 3};
    struct source *sources[3] = {
        source_open_pull(alloc, script_pull, &script, NULL, NULL),
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

static void every_allocation_may_fail(void **state)
{
    (void)state;
    support_fail_each(read_all_kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_of_a_pulled_input_reads_as_the_whole),
        cmocka_unit_test(memory_reads_as_the_whole_in_chunks_of_any_size),
        cmocka_unit_test(memory_of_no_bytes_is_an_empty_window_at_the_end),
        cmocka_unit_test(a_file_reads_the_same_mapped_and_not),
        cmocka_unit_test(a_descriptor_reads_from_where_it_stands),
        cmocka_unit_test(a_file_that_shrinks_ends_where_it_was_cut),
        cmocka_unit_test(a_file_that_grows_shows_the_new_bytes_after_its_end),
        cmocka_unit_test(a_file_open_for_writing_is_not_mapped),
        cmocka_unit_test(resident_memory_stays_flat_over_a_large_file),
        cmocka_unit_test(a_small_file_takes_little_memory),
        cmocka_unit_test(a_bogus_need_costs_no_more_than_twice_the_input),
        cmocka_unit_test(a_need_over_the_limit_is_refused_and_nothing_moves),
        cmocka_unit_test(an_offset_before_the_window_is_misuse),
        cmocka_unit_test(jumps_show_the_same_bytes_from_every_kind_of_source),
        cmocka_unit_test(a_jump_past_the_end_is_an_empty_window_there),
        cmocka_unit_test(a_jump_over_a_read_error_tells_it),
        cmocka_unit_test(given_bytes_are_shown_up_to_where_they_end),
        cmocka_unit_test(a_window_beyond_what_is_given_waits_for_the_bytes_there),
        cmocka_unit_test(giving_survives_failing_memory),
        cmocka_unit_test(any_place_of_a_file_or_memory_can_be_peeked_at),
        cmocka_unit_test(a_read_error_is_told_once_after_all_bytes_before_it),
        cmocka_unit_test(a_pipe_reads_as_the_whole_also_when_it_does_not_block),
        cmocka_unit_test(a_fifo_and_a_device_are_read_as_they_come),
        cmocka_unit_test(standard_input_reads_a_file_from_where_it_stands_and_stays_open),
        cmocka_unit_test(a_descriptor_that_cannot_be_read_is_told_by_the_first_fill),
        cmocka_unit_test(what_cannot_be_opened_is_named_with_the_reason),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
