/* Tests of input folders: which entries are listed, in which order, and which are skipped. */
#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/descriptor_pool.h"
#include "support/failing_readdir.h"
#include "support/support.h"

static char place[] = "/tmp/ttr-folder-XXXXXX";

static const char *in_place(const char *name)
{
    static char path[4][256];
    static unsigned at;
    at = (at + 1) % 4;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", place, name);
    return path[at];
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_place(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Creates the files and links: a, b -> a, .hidden, nowhere -> missing, fifo, sub/c, sub/.d,
 * sub/deep/e, .secret/f, around -> . */
static int make_test_folder(void **state)
{
    (void)state;
    if (!mkdtemp(place))
        return -1;
    write_file("b", "bees");
    write_file(".hidden", "x");
    assert_int_equal(mkdir(in_place("sub"), 0700) | mkdir(in_place("sub/deep"), 0700) |
                         mkdir(in_place(".secret"), 0700),
                     0);
    write_file("sub/c", "");
    write_file("sub/.d", "x");
    write_file("sub/deep/e", "eee");
    write_file(".secret/f", "x");
    assert_int_equal(symlink("b", in_place("a")) | symlink("missing", in_place("nowhere")) |
                         symlink(".", in_place("around")),
                     0);
    return mkfifo(in_place("fifo"), 0600);
}

static int drop_place(void **state)
{
    static const char *const names[] = {"a",    "b",         ".hidden", "nowhere",    "around",
                                        "fifo", "sub/c",     "sub/.d",  "sub/deep/e", "sub/deep",
                                        "sub",  ".secret/f", ".secret"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(in_place(names[i]));
    return rmdir(place);
}

static void assert_names(const struct folder *folder, const char *expected)
{
    char names[256] = "";
    size_t n = 0;
    for (size_t i = 0; folder_get_file(folder, i); i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "",
                              folder_get_file(folder, i)->name);
    assert_string_equal(names, expected);
}

static void assert_size(const struct folder *folder, const struct folder_file *file,
                        uint64_t expected)
{
    uint64_t size;
    assert_true(folder_file_size(folder, file, &size));
    assert_int_equal(size, expected);
}

static void listing_is_sorted_and_skips_hidden_and_non_files(void **state)
{
    (void)state;
    struct folder *folder = folder_open(alloc_default(), NULL, place, 0, false, NULL);
    assert_non_null(folder);
    assert_names(folder, "a b");
    enum folder_skip why;
    assert_string_equal(folder_get_skipped_entry(folder, 0, &why), "fifo");
    assert_int_equal(why, FOLDER_SKIP_SPECIAL);
    assert_string_equal(folder_get_skipped_entry(folder, 1, &why), "nowhere");
    assert_int_equal(why, FOLDER_SKIP_DANGLING);
    assert_null(folder_get_skipped_entry(folder, 2, &why));
    assert_true(folder_get_file(folder, 0)->is_link);
    assert_false(folder_get_file(folder, 1)->is_link);
    assert_size(folder, folder_get_file(folder, 0), 4);
    assert_null(folder_find_file(folder, ".hidden"));
    assert_null(folder_find_file(folder, "sub/c"));
    folder_close(folder);
}

static void link_out_of_the_folder_is_skipped_unless_followed(void **state)
{
    (void)state;
    enum folder_skip why;
    char up[PATH_MAX];
    (void)snprintf(up, sizeof up, "../../%s/b", strrchr(place, '/') + 1);
    assert_int_equal(symlink("../b", in_place("sub/inside")) |
                         symlink("/etc/passwd", in_place("z")) | symlink(up, in_place("sub/back")),
                     0);
    struct folder *folder = folder_open(alloc_default(), NULL, place, 1, false, NULL);
    assert_names(folder, "a b sub/back sub/c sub/inside");
    assert_string_equal(folder_get_skipped_entry(folder, 2, &why), "z");
    assert_int_equal(why, FOLDER_SKIP_OUTSIDE);
    folder_close(folder);
    folder = folder_open(alloc_default(), NULL, in_place("sub"), 0, false, NULL);
    assert_names(folder, "c");
    folder_close(folder);
    folder = folder_open(alloc_default(), NULL, place, 1, true, NULL);
    assert_names(folder, "a b sub/back sub/c sub/inside z");
    folder_close(folder);
    assert_int_equal(
        unlink(in_place("z")) | unlink(in_place("sub/inside")) | unlink(in_place("sub/back")), 0);
}

static void too_long_path_differs_from_missing_file(void **state)
{
    (void)state;
    char path[PATH_MAX];
    ttr_error error;
    uint64_t size;
    size_t n = (size_t)snprintf(path, sizeof path, "%s", place);
    while (n + 2 <= PATH_MAX - 5)
        n += (size_t)snprintf(path + n, sizeof path - n, "/.");
    struct folder *folder = folder_open(alloc_default(), NULL, path, 1, false, NULL);
    assert_names(folder, "a b sub/c");
    assert_size(folder, folder_get_file(folder, 1), 4);
    assert_true(folder_file_size(folder, folder_get_file(folder, 2), &size));
    assert_int_equal(size, FOLDER_SIZE_UNKNOWN);
    assert_null(folder_open_file(folder, folder_get_file(folder, 2), NULL, &error));
    assert_int_equal(error.sys, ENAMETOOLONG);
    folder_close(folder);
}

static void listing_respects_depth_and_folder_links(void **state)
{
    (void)state;
    struct folder *folder = folder_open(alloc_default(), NULL, place, 1, false, NULL);
    assert_names(folder, "a b sub/c");
    folder_close(folder);
    folder = folder_open(alloc_default(), NULL, place, 2, false, NULL);
    assert_names(folder, "a b sub/c sub/deep/e");
    assert_ptr_equal(folder_find_file(folder, "sub/deep/e"), folder_get_file(folder, 3));
    assert_size(folder, folder_find_file(folder, "sub/deep/e"), 3);
    assert_false(folder_has_index(folder));
    uint64_t size;
    assert_int_equal(unlink(in_place("sub/deep/e")), 0);
    assert_false(
        folder_file_size(folder, folder_get_file(folder, 3), &size)); /* the file is gone */
    assert_int_equal(size, 0);
    write_file("sub/deep/e", "eee");
    folder_close(folder);
}

static void trailing_slash_is_not_doubled(void **state)
{
    (void)state;
    char path[256];
    struct folder *folder = folder_open(alloc_default(), NULL, in_place("sub//"), 0, false, NULL);
    assert_non_null(folder);
    assert_string_equal(folder_path(folder), in_place("sub"));
    folder_file_path(folder, folder_get_file(folder, 0), path, sizeof path);
    assert_string_equal(path, in_place("sub/c"));
    folder_close(folder);
    folder = folder_open(alloc_default(), NULL, "/", 0, false, NULL);
    assert_string_equal(folder_path(folder), "/");
    folder_file_path(folder, &(struct folder_file){.name = "x"}, path, sizeof path);
    assert_string_equal(path, "/x");
    folder_close(folder);
}

static void relative_path_is_empty_unless_set(void **state)
{
    (void)state;
    struct folder *folder =
        folder_open(alloc_default(), NULL, in_place("sub/deep"), 0, false, NULL);
    size_t n = strlen(in_place("sub/deep"));
    assert_string_equal(folder_relative_path(folder), "");
    folder_set_relative_start(folder, n - 8);
    assert_string_equal(folder_relative_path(folder), "sub/deep");
    folder_set_relative_start(folder, n + 1);
    assert_string_equal(folder_relative_path(folder), "");
    folder_close(folder);
}

static void source_reads_file_content(void **state)
{
    (void)state;
    struct window window;
    struct folder *folder = folder_open(alloc_default(), NULL, place, 2, false, NULL);
    struct source *source =
        folder_open_file(folder, folder_find_file(folder, "sub/deep/e"), NULL, NULL);
    assert_non_null(source);
    assert_int_equal(source_fill(source, 0, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "eee");
    source_close(source);
    folder_close(folder);
}

static void folder_read_returns_zero_terminated_file_within_limit(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t n;
    ttr_error error;
    struct folder *folder = folder_open(alloc_default(), NULL, place, 1, false, NULL);
    assert_int_equal(folder_read_file(folder, folder_find_file(folder, "b"), 4, &bytes, &n, &error),
                     TTR_OK);
    support_assert_text(bytes, n, "bees");
    assert_int_equal(bytes[n], 0);
    alloc_free(alloc_default(), bytes, n + 1, 1);
    assert_int_equal(folder_read_file(folder, folder_find_file(folder, "b"), 3, &bytes, &n, &error),
                     TTR_E_LIMIT);
    assert_non_null(strstr(error.text, "/b exceeds the limit of 3 bytes"));
    assert_null(bytes);
    assert_int_equal(
        folder_read_file(folder, folder_find_file(folder, "sub/c"), UINT64_MAX, &bytes, &n, &error),
        TTR_OK);
    assert_int_equal(n, 0);
    alloc_free(alloc_default(), bytes, 1, 1);
    struct folder_file gone = {.name = "gone"};
    assert_int_equal(folder_read_file(folder, &gone, 4, &bytes, &n, &error), TTR_E_IO);
    assert_int_equal(folder_read_file(folder, &gone, 4, &bytes, &n, NULL), TTR_E_IO);
    assert_non_null(strstr(error.text, "/gone"));
    folder_close(folder);
}

static void memory_folder_equals_disk_folder(void **state)
{
    (void)state;
    const ttr_file files[] = {{"metadata", "meta", 4}, {"index/a", "", 0}, {"a", "stream", 6}};
    struct window window;
    uint8_t *bytes;
    size_t n;
    struct folder *folder = folder_open_memory(alloc_default(), "trace", files, 3, NULL);
    assert_names(folder, "a index/a metadata");
    assert_string_equal(folder_path(folder), "trace");
    assert_null(folder_find_file(folder, "b"));
    struct source *source = folder_open_file(folder, folder_find_file(folder, "a"), NULL, NULL);
    assert_int_equal(source_fill(source, 0, 6, &window, NULL), TTR_OK);
    assert_ptr_equal(window.bytes, files[2].bytes);
    source_close(source);
    assert_int_equal(
        folder_read_file(folder, folder_find_file(folder, "metadata"), 100, &bytes, &n, NULL),
        TTR_OK);
    support_assert_text(bytes, n, "meta");
    alloc_free(alloc_default(), bytes, n + 1, 1);
    folder_close(folder);
}

static void duplicate_memory_file_names_are_refused(void **state)
{
    (void)state;
    ttr_error error;
    const ttr_file files[] = {{"a", "1", 1}, {"b", "2", 1}, {"a", "3", 1}};
    assert_null(folder_open_memory(alloc_default(), "trace", files, 3, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "have the name a"));
    struct folder *folder = folder_open_memory(alloc_default(), "trace", NULL, 0, &error);
    assert_null(folder_get_file(folder, 0));
    assert_null(folder_find_file(folder, "a"));
    folder_close(folder);
}

static void non_folder_is_reported_with_its_name(void **state)
{
    (void)state;
    ttr_error error;
    assert_null(folder_open(alloc_default(), NULL, in_place("b"), 0, false, &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_non_null(strstr(error.text, in_place("b")));
    assert_null(folder_open(alloc_default(), NULL, in_place("missing"), 0, false, &error));
    assert_int_equal(error.sys, ENOENT);
}

/* Creates a folder "many" of sparse files of one size. Their modification time is an hour ago, so
 * that they can be mapped. */
static void make_many(unsigned n, off_t size)
{
    char name[32];
    struct timespec then = {.tv_sec = time(NULL) - 3600};
    assert_int_equal(mkdir(in_place("many"), 0700), 0);
    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "many/%06u", i);
        int fd = open(in_place(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, &i, sizeof i, size - 4), 4);
        assert_int_equal(futimens(fd, (struct timespec[]){then, then}), 0);
        (void)close(fd);
    }
}

static void drop_many(const struct folder *folder)
{
    char path[256];
    for (size_t i = 0; folder_get_file(folder, i); i++) {
        folder_file_path(folder, folder_get_file(folder, i), path, sizeof path);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(in_place("many")), 0);
}

/* Factor for memory under ThreadSanitizer and MemorySanitizer, which keep shadow memory for each
 * word. */
#define SHADOW 1
#ifdef __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef SHADOW
#define SHADOW 5
#endif
#endif

static long resident_kib(void)
{
    long pages = 0, skipped = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &skipped, &pages), 2);
    assert_int_equal(fclose(file), 0);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

enum {
    MANY = 10000,
    SMALL_SIZE = 1000,
    LARGE = 512,
    LARGE_SIZE = 400000
}; /* small files too are larger than what opening reads */

static struct source *sources[MANY];

static void ten_thousand_sources_use_few_descriptors(void **state)
{
    (void)state;
    struct rlimit old;
    struct window window;
    make_many(MANY, SMALL_SIZE);
    struct folder *folder = folder_open(alloc_default(), NULL, in_place("many"), 0, false, NULL);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    for (rlim_t limit = 40; limit <= 200;
         limit += 160) { /* limits below and above the size of the pool */
        assert_int_equal(
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = limit, .rlim_max = old.rlim_max}),
            0);
        for (unsigned i = 0; i < MANY; i++)
            assert_non_null(sources[i] =
                                folder_open_file(folder, folder_get_file(folder, i),
                                                 &(struct source_options){.chunk = 16}, NULL));
        for (unsigned i = 0; i < MANY; i++) {
            unsigned number;
            assert_int_equal(source_fill(sources[i], 3, 10, &window, NULL), TTR_OK);
            assert_int_equal(
                source_peek_at(sources[i], SMALL_SIZE - 4, &number, sizeof number, NULL),
                sizeof number);
            assert_int_equal(number, i);
        }
        for (unsigned i = 0; i < MANY; i++) {
            assert_int_equal(source_fill(sources[i], SMALL_SIZE - 4, 4, &window, NULL), TTR_OK);
            assert_memory_equal(window.bytes, &i, sizeof i);
            source_close(sources[i]);
        }
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    drop_many(folder);
    folder_close(folder);
}

static void readdir_error_is_reported(void **state)
{
    (void)state;
    ttr_error error = {0};
    make_many(8, SMALL_SIZE);
    for (readdir_fails_at = 1; readdir_fails_at < 8; readdir_fails_at++) {
        readdir_calls = 0;
        assert_null(folder_open(alloc_default(), NULL, in_place("many"), 0, false, &error));
        assert_int_equal(error.status, TTR_E_IO);
        assert_int_equal(error.sys, EIO);
    }
    readdir_fails_at = 0;
    struct folder *folder = folder_open(alloc_default(), NULL, in_place("many"), 0, false, &error);
    assert_non_null(folder);
    drop_many(folder);
    folder_close(folder);
}

enum { FOLDERS = 100 };

static unsigned open_count(void)
{
    unsigned n = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        n++;
    assert_int_equal(closedir(directory), 0);
    return n;
}

static void folders_with_one_pool_share_descriptors(void **state)
{
    (void)state;
    struct rlimit old;
    struct window window;
    struct folder *folder[FOLDERS];
    make_many(FOLDERS, SMALL_SIZE);
    const unsigned before = open_count();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 32, .rlim_max = old.rlim_max}), 0);
    struct descriptor_pool *pool = descriptor_pool_new(alloc_default());
    assert_non_null(pool);
    for (unsigned i = 0; i < FOLDERS; i++) {
        assert_non_null(folder[i] =
                            folder_open(alloc_default(), pool, in_place("many"), 0, false, NULL));
        assert_non_null(sources[i] = folder_open_file(folder[i], folder_get_file(folder[i], i),
                                                      &(struct source_options){.chunk = 16}, NULL));
    }
    assert_in_range(open_count(), before + 1,
                    before + 16); /* the pool leaves half of the limit to others */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    for (unsigned i = 0; i < FOLDERS; i++) {
        assert_int_equal(source_fill(sources[i], SMALL_SIZE - 4, 4, &window, NULL), TTR_OK);
        assert_memory_equal(window.bytes, &i, sizeof i);
    }
    assert_in_range(open_count(), before + 17,
                    before + FOLDERS); /* with a higher limit the pool keeps more files open */
    for (unsigned i = 0; i < FOLDERS; i++)
        source_close(sources[i]);
    drop_many(folder[0]);
    for (unsigned i = 0; i < FOLDERS; i++)
        folder_close(folder[i]);
    descriptor_pool_unref(pool);
    assert_int_equal(open_count(), before);
}

/* As many streams as a large machine has CPUs, read in turn as a merge does. */
static void many_large_files_use_little_memory(void **state)
{
    (void)state;
    make_many(LARGE, LARGE_SIZE);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        struct source_options options = {.no_mmap = no_mmap, .chunk = source_chunk_size(LARGE)};
        struct folder *folder =
            folder_open(alloc_default(), NULL, in_place("many"), 0, false, NULL);
        long before = resident_kib(), most = 0;
        volatile unsigned sum = 0;
        for (unsigned i = 0; i < LARGE; i++)
            assert_non_null(
                sources[i] = folder_open_file(folder, folder_get_file(folder, i), &options, NULL));
        struct window window = {.n = 0};
        for (uint64_t at = 0; at < LARGE_SIZE; at += 10000) {
            for (unsigned i = 0; i < LARGE; i++) {
                assert_int_equal(source_fill(sources[i], at, 10000, &window, NULL), TTR_OK);
                for (size_t k = 0; k < window.n; k += 4096)
                    sum += window.bytes[k];
            }
            long now = resident_kib();
            most = now > most ? now : most;
        }
        for (unsigned i = 0; i < LARGE; i++)
            source_close(sources[i]);
        assert_int_equal(sum, 0);
        if (most - before >
            SHADOW * (24 << 10)) /* 16 MiB of windows, plus other memory per source */
            fail_msg("%ld KiB", most - before);
        if (no_mmap)
            drop_many(folder);
        folder_close(folder);
    }
    assert_int_equal(source_chunk_size(1), 0);
    assert_int_equal(source_chunk_size(100), 81920);
    assert_int_equal(source_chunk_size(100000), 4096);
}

static void a_source_outlives_its_folder_and_notices_another_file_in_the_place_of_its_own(
    void **state)
{
    (void)state;
    struct window window;
    ttr_error error;
    struct rlimit old;
    make_many(70, 100000);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 100, .rlim_max = old.rlim_max}), 0);
    struct folder *folder = folder_open(alloc_default(), NULL, in_place("many"), 0, false, NULL);
    for (unsigned i = 0; i < 70; i++)
        assert_non_null(sources[i] =
                            folder_open_file(folder, folder_get_file(folder, i),
                                             &(struct source_options){.chunk = 4096}, NULL));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(rename(in_place("many/000069"), in_place("many/000000")),
                     0); /* the file opened first, so the pool has closed it */
    assert_int_equal(source_fill(sources[0], 50000, 10, &window, &error), TTR_E_IO);
    assert_int_equal(error.sys, ESTALE);
    assert_non_null(strstr(error.text, "many/000000"));
    assert_int_equal(source_fill(sources[1], 50000, 10, &window, &error), TTR_OK);
    folder_close(folder);
    assert_int_equal(source_fill(sources[1], 90000, 10, &window, &error), TTR_OK);
    for (unsigned i = 0; i < 70; i++)
        source_close(sources[i]);
    folder = folder_open(alloc_default(), NULL, in_place("many"), 0, false, NULL);
    drop_many(folder);
    folder_close(folder);
}

/* Reads every second source to its end, in turn. */
static void *read_half(void *ctx)
{
    unsigned from = *(const unsigned *)ctx;
    struct window window;
    for (uint64_t at = 0; at < 100000; at += 5000)
        for (unsigned i = from; i < from + 100; i++)
            if (source_fill(sources[i], at, 5000, &window, NULL) != TTR_OK || window.n < 5000)
                return ctx;
    return NULL;
}

static void two_threads_share_folder_descriptors(void **state)
{
    (void)state;
    unsigned from[2] = {0, 100};
    pthread_t thread[2];
    make_many(200, 100000);
    struct folder *folder = folder_open(alloc_default(), NULL, in_place("many"), 0, false, NULL);
    for (unsigned i = 0; i < 200; i++)
        assert_non_null(sources[i] =
                            folder_open_file(folder, folder_get_file(folder, i),
                                             &(struct source_options){.chunk = 4096}, NULL));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_half, &from[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    for (unsigned i = 0; i < 200; i++)
        source_close(sources[i]);
    drop_many(folder);
    folder_close(folder);
}

static bool lists_through(const struct alloc *alloc)
{
    struct folder *folder = folder_open(alloc, NULL, place, 2, false, NULL);
    struct folder *memory = folder_open_memory(alloc, "m", &(ttr_file){"a", "1", 1}, 1, NULL);
    uint8_t *bytes = NULL;
    size_t n;
    bool is_fine = folder && memory;
    if (is_fine)
        is_fine =
            folder_read_file(folder, folder_find_file(folder, "b"), 10, &bytes, &n, NULL) == TTR_OK;
    if (bytes)
        alloc_free(alloc, bytes, n + 1, 1);
    folder_close(folder);
    folder_close(memory);
    return is_fine;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(lists_through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_is_sorted_and_skips_hidden_and_non_files),
        cmocka_unit_test(link_out_of_the_folder_is_skipped_unless_followed),
        cmocka_unit_test(too_long_path_differs_from_missing_file),
        cmocka_unit_test(listing_respects_depth_and_folder_links),
        cmocka_unit_test(trailing_slash_is_not_doubled),
        cmocka_unit_test(relative_path_is_empty_unless_set),
        cmocka_unit_test(source_reads_file_content),
        cmocka_unit_test(folder_read_returns_zero_terminated_file_within_limit),
        cmocka_unit_test(memory_folder_equals_disk_folder),
        cmocka_unit_test(duplicate_memory_file_names_are_refused),
        cmocka_unit_test(non_folder_is_reported_with_its_name),
        cmocka_unit_test(ten_thousand_sources_use_few_descriptors),
        cmocka_unit_test(readdir_error_is_reported),
        cmocka_unit_test(folders_with_one_pool_share_descriptors),
        cmocka_unit_test(many_large_files_use_little_memory),
        cmocka_unit_test(
            a_source_outlives_its_folder_and_notices_another_file_in_the_place_of_its_own),
        cmocka_unit_test(two_threads_share_folder_descriptors),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("folder", tests, make_test_folder, drop_place);
}
