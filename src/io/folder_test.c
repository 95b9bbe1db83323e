/* Folders in: what is listed, in which order, and what is not. */
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

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

/* a, b -> a, .hidden, nowhere -> missing, fifo, sub/c, sub/.d, sub/deep/e, .secret/f, around -> . */
static int make_place(void **state)
{
    (void)state;
    if (!mkdtemp(place))
        return -1;
    write_file("b", "bees");
    write_file(".hidden", "x");
    assert_int_equal(mkdir(in_place("sub"), 0700) | mkdir(in_place("sub/deep"), 0700) | mkdir(in_place(".secret"), 0700), 0);
    write_file("sub/c", "");
    write_file("sub/.d", "x");
    write_file("sub/deep/e", "eee");
    write_file(".secret/f", "x");
    assert_int_equal(symlink("b", in_place("a")) | symlink("missing", in_place("nowhere")) | symlink(".", in_place("around")), 0);
    return mkfifo(in_place("fifo"), 0600);
}

static int drop_place(void **state)
{
    static const char *const names[] = {"a", "b", ".hidden", "nowhere", "around", "fifo", "sub/c", "sub/.d", "sub/deep/e", "sub/deep",
                                        "sub", ".secret/f", ".secret"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(in_place(names[i]));
    return rmdir(place);
}

static void assert_names(const struct folder *folder, const char *expected)
{
    char names[256] = "";
    size_t n = 0;
    for (size_t i = 0; folder_at(folder, i); i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "", folder_at(folder, i)->name);
    assert_string_equal(names, expected);
}

static void files_are_listed_by_name_without_hidden_ones_and_what_is_no_file(void **state)
{
    (void)state;
    struct folder *folder = folder_open(alloc_default(), place, 0, NULL);
    assert_non_null(folder);
    assert_names(folder, "a b");
    assert_true(folder_at(folder, 0)->is_link);
    assert_false(folder_at(folder, 1)->is_link);
    assert_int_equal(folder_at(folder, 0)->size, 4);
    assert_null(folder_find(folder, ".hidden"));
    assert_null(folder_find(folder, "sub/c"));
    folder_close(folder);
}

static void subfolders_are_listed_as_deep_as_asked_but_links_to_folders_are_not(void **state)
{
    (void)state;
    struct folder *folder = folder_open(alloc_default(), place, 1, NULL);
    assert_names(folder, "a b sub/c");
    folder_close(folder);
    folder = folder_open(alloc_default(), place, 2, NULL);
    assert_names(folder, "a b sub/c sub/deep/e");
    assert_ptr_equal(folder_find(folder, "sub/deep/e"), folder_at(folder, 3));
    assert_int_equal(folder_find(folder, "sub/deep/e")->size, 3);
    folder_close(folder);
}

static void a_slash_at_the_end_of_the_path_does_not_double(void **state)
{
    (void)state;
    char path[256];
    struct folder *folder = folder_open(alloc_default(), in_place("sub//"), 0, NULL);
    assert_non_null(folder);
    assert_string_equal(folder_path(folder), in_place("sub"));
    folder_file_path(folder, folder_at(folder, 0), path, sizeof path);
    assert_string_equal(path, in_place("sub/c"));
    folder_close(folder);
    folder = folder_open(alloc_default(), "/", 0, NULL);
    assert_string_equal(folder_path(folder), "/");
    folder_file_path(folder, &(struct folder_file){.name = "x"}, path, sizeof path);
    assert_string_equal(path, "/x");
    folder_close(folder);
}

static void a_source_shows_the_bytes_of_a_file(void **state)
{
    (void)state;
    struct window window;
    struct folder *folder = folder_open(alloc_default(), place, 2, NULL);
    struct source *source = folder_source(folder, folder_find(folder, "sub/deep/e"), NULL, NULL);
    assert_non_null(source);
    assert_int_equal(source_fill(source, 0, 1, &window, NULL), TTR_OK);
    support_assert_text(window.bytes, window.n, "eee");
    source_close(source);
    folder_close(folder);
}

static void a_small_file_is_read_whole_with_a_zero_behind_it_and_no_more_than_allowed(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t n;
    ttr_error error;
    struct folder *folder = folder_open(alloc_default(), place, 1, NULL);
    assert_int_equal(folder_read(folder, folder_find(folder, "b"), 4, &bytes, &n, &error), TTR_OK);
    support_assert_text(bytes, n, "bees");
    assert_int_equal(bytes[n], 0);
    alloc_free(alloc_default(), bytes, n + 1, 1);
    assert_int_equal(folder_read(folder, folder_find(folder, "b"), 3, &bytes, &n, &error), TTR_E_LIMIT);
    assert_non_null(strstr(error.text, "/b is larger than the 3 bytes"));
    assert_null(bytes);
    assert_int_equal(folder_read(folder, folder_find(folder, "sub/c"), UINT64_MAX, &bytes, &n, &error), TTR_OK);
    assert_int_equal(n, 0);
    alloc_free(alloc_default(), bytes, 1, 1);
    struct folder_file gone = {.name = "gone"};
    assert_int_equal(folder_read(folder, &gone, 4, &bytes, &n, &error), TTR_E_IO);
    assert_int_equal(folder_read(folder, &gone, 4, &bytes, &n, NULL), TTR_E_IO);
    assert_non_null(strstr(error.text, "/gone"));
    folder_close(folder);
}

static void a_folder_in_memory_is_like_one_on_disk(void **state)
{
    (void)state;
    const struct folder_bytes files[] = {{"metadata", "meta", 4}, {"index/a", "", 0}, {"a", "stream", 6}};
    struct window window;
    uint8_t *bytes;
    size_t n;
    struct folder *folder = folder_open_memory(alloc_default(), "trace", files, 3, NULL);
    assert_names(folder, "a index/a metadata");
    assert_string_equal(folder_path(folder), "trace");
    assert_null(folder_find(folder, "b"));
    struct source *source = folder_source(folder, folder_find(folder, "a"), NULL, NULL);
    assert_int_equal(source_fill(source, 0, 6, &window, NULL), TTR_OK);
    assert_ptr_equal(window.bytes, files[2].bytes);
    source_close(source);
    assert_int_equal(folder_read(folder, folder_find(folder, "metadata"), 100, &bytes, &n, NULL), TTR_OK);
    support_assert_text(bytes, n, "meta");
    alloc_free(alloc_default(), bytes, n + 1, 1);
    folder_close(folder);
}

static void two_files_of_one_name_in_memory_are_refused(void **state)
{
    (void)state;
    ttr_error error;
    const struct folder_bytes files[] = {{"a", "1", 1}, {"b", "2", 1}, {"a", "3", 1}};
    assert_null(folder_open_memory(alloc_default(), "trace", files, 3, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "called a"));
    struct folder *folder = folder_open_memory(alloc_default(), "trace", NULL, 0, &error);
    assert_null(folder_at(folder, 0));
    assert_null(folder_find(folder, "a"));
    folder_close(folder);
}

static void what_is_no_folder_is_named(void **state)
{
    (void)state;
    ttr_error error;
    assert_null(folder_open(alloc_default(), in_place("b"), 0, &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_non_null(strstr(error.text, in_place("b")));
    assert_null(folder_open(alloc_default(), in_place("missing"), 0, &error));
    assert_int_equal(error.sys, ENOENT);
}

static bool lists_through(const struct alloc *alloc)
{
    struct folder *folder = folder_open(alloc, place, 2, NULL);
    struct folder *memory = folder_open_memory(alloc, "m", &(struct folder_bytes){"a", "1", 1}, 1, NULL);
    uint8_t *bytes = NULL;
    size_t n;
    bool is_fine = folder && memory;
    if (is_fine)
        is_fine = folder_read(folder, folder_find(folder, "b"), 10, &bytes, &n, NULL) == TTR_OK;
    if (bytes)
        alloc_free(alloc, bytes, n + 1, 1);
    folder_close(folder);
    folder_close(memory);
    return is_fine;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    support_fail_each(lists_through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_listed_by_name_without_hidden_ones_and_what_is_no_file),
        cmocka_unit_test(subfolders_are_listed_as_deep_as_asked_but_links_to_folders_are_not),
        cmocka_unit_test(a_slash_at_the_end_of_the_path_does_not_double),
        cmocka_unit_test(a_source_shows_the_bytes_of_a_file),
        cmocka_unit_test(a_small_file_is_read_whole_with_a_zero_behind_it_and_no_more_than_allowed),
        cmocka_unit_test(a_folder_in_memory_is_like_one_on_disk),
        cmocka_unit_test(two_files_of_one_name_in_memory_are_refused),
        cmocka_unit_test(what_is_no_folder_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("folder", tests, make_place, drop_place);
}
