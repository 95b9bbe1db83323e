/* Tests of output folders: complete or absent, only traces are replaced, and many files use few
 * descriptors. */
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/failing_readdir.h"
#include "support/files.h"
#include "support/support.h"

static char place[32], target[64];

static int make_place(void **state)
{
    (void)state;
    (void)snprintf(place, sizeof place, "/tmp/ttr-folder-XXXXXX");
    if (!mkdtemp(place))
        return -1;
    (void)snprintf(target, sizeof target, "%s/out.x", place);
    return 0;
}

static int drop_place(void **state)
{
    (void)state;
    return files_remove(place);
}

static const char *in_target(const char *name)
{
    static char path[4][128];
    static unsigned at;
    at = (at + 1) % 4;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", target, name);
    return path[at];
}

static struct folder_sink *begin(bool overwrite, ttr_error *error)
{
    return folder_create(alloc_default(),
                         &(struct folder_output_options){target, {"mark", NULL}, overwrite, NULL},
                         error);
}

static void put(struct folder_sink *folder, const char *name, const char *text)
{
    struct sink *sink = folder_create_file(folder, name, NULL);
    assert_non_null(sink);
    assert_int_equal(sink_write(sink, text, strlen(text), NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
}

/* Writes and finishes a folder with the mark file, which contains `text`. */
static void write_complete_folder(bool overwrite, const char *text)
{
    struct folder_sink *folder = begin(overwrite, NULL);
    assert_non_null(folder);
    put(folder, "mark", text);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
}

static void folder_appears_when_finished(void **state)
{
    (void)state;
    struct stat about;
    mode_t mask = umask(027);
    struct folder_sink *folder = begin(false, NULL);
    assert_non_null(folder);
    put(folder, "mark", "one");
    put(folder, "index/deep/a.idx", "two");
    assert_int_equal(folder_bytes_written(folder), 6);
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(stat(folder_temporary_path(folder), &about), 0);
    assert_int_equal(files_count(place), 1);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    (void)umask(mask);
    assert_int_equal(files_count(place), 1);
    files_expect(in_target("mark"), "one");
    files_expect(in_target("index/deep/a.idx"), "two");
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0750);
    assert_int_equal(stat(in_target("mark"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void abandoned_folder_leaves_no_files(void **state)
{
    (void)state;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    put(folder, "index/a", "two");
    struct sink *sink = folder_create_file(folder, "begun", NULL);
    assert_int_equal(sink_write(sink, "x", 1, NULL), TTR_OK);
    sink_abandon(folder_create_file(folder, "given up", NULL));
    folder_abandon(folder);
    assert_int_equal(files_count(place), 0);
    folder_abandon(NULL);
}

static void abandoned_file_is_missing_in_folder(void **state)
{
    (void)state;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    struct sink *sink = folder_create_file(folder, "begun", NULL);
    assert_int_equal(sink_write(sink, "four", 4, NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), 7);
    sink_abandon(sink);
    assert_int_equal(folder_bytes_written(folder), 3);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    assert_int_equal(files_count(target), 1);
}

static void unended_file_makes_finish_fail(void **state)
{
    (void)state;
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_create_file(folder, "late", NULL);
    assert_int_equal(sink_write(sink, "x", 1, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "late"));
    assert_int_equal(files_count(place), 0);
}

static void existing_trace_needs_overwrite(void **state)
{
    (void)state;
    ttr_error error;
    struct stat about;
    write_complete_folder(false, "old");
    assert_int_equal(mkdir(in_target("index"), 0700) | symlink("/etc", in_target("index/link")), 0);
    assert_int_equal(chmod(target, 0700), 0);
    assert_null(begin(false, &error));
    assert_int_equal(error.sys, EEXIST);
    assert_non_null(strstr(error.text, target));
    write_complete_folder(true, "new");
    files_expect(in_target("mark"), "new");
    assert_int_equal(files_count(target), 1);
    assert_int_equal(files_count(place), 1);
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static void foreign_file_prevents_replacement(void **state)
{
    static const char *const names[] = {".hidden", "notes.txt", "index/notes", "sub/stream"};
    (void)state;
    ttr_error error;
    write_complete_folder(false, "old");
    assert_int_equal(mkdir(in_target("index"), 0700), 0);
    files_write(in_target("index/stream.idx"), "x");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char first[16];
        (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(names[i], "/"), names[i]);
        if (i == 3)
            assert_int_equal(mkdir(in_target(first), 0700), 0);
        files_write(in_target(names[i]), "what I found\n");
        assert_null(begin(true, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        assert_non_null(strstr(error.text, i == 3 ? "/sub in it" : names[i]));
        assert_int_equal(unlink(in_target(names[i])), 0);
    }
    assert_int_equal(rmdir(in_target("sub")), 0);
    write_complete_folder(true, "new");
    files_expect(in_target("mark"), "new");
    assert_int_equal(files_count(target), 1);
}

static void unreadable_folder_is_not_treated_as_empty(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(mkdir(target, 0700), 0);
    files_write(in_target("thesis"), "years of work");
    for (readdir_fails_at = 1; readdir_fails_at <= 3; readdir_fails_at++) {
        readdir_calls = 0;
        assert_null(begin(false, &error));
        assert_int_equal(error.sys, EEXIST);
    }
    readdir_fails_at = 0;
    files_expect(in_target("thesis"), "years of work");
}

static void unreadable_sibling_prevents_replacement(void **state)
{
    (void)state;
    ttr_error error;
    write_complete_folder(false, "old");
    files_write(in_target("notes.txt"), "what I found\n");
    /* the first entries are read before the mark is opened by its name */
    for (readdir_fails_at = 1; readdir_fails_at <= 4; readdir_fails_at++) {
        readdir_calls = 0;
        assert_null(begin(true, &error));
        assert_int_equal(error.status, TTR_E_IO);
        assert_int_equal(error.sys, EIO);
        assert_non_null(strstr(error.text, "cannot read all of"));
    }
    readdir_fails_at = 0;
    files_expect(in_target("mark"), "old");
    files_expect(in_target("notes.txt"), "what I found\n");
}

static void folder_without_trace_is_never_replaced(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(mkdir(target, 0700), 0);
    files_write(in_target("thesis"), "years of work");
    assert_null(begin(true, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "mark"));
    assert_int_equal(mkdir(in_target("mark"), 0700), 0);
    assert_null(begin(true, &error));
    files_expect(in_target("thesis"), "years of work");
    assert_int_equal(files_count(place), 1);
}

static void empty_folder_is_replaced(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(mkdir(target, 0700), 0);
    write_complete_folder(false, "new");
    files_expect(in_target("mark"), "new");
    assert_int_equal(unlink(in_target("mark")), 0);
    struct folder_sink *folder = begin(false, NULL);
    assert_non_null(folder);
    files_write(in_target("came"), "meanwhile");
    assert_int_equal(folder_finish(folder, &error), TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    files_expect(in_target("came"), "meanwhile");
    assert_int_equal(files_count(place), 1);
}

static void target_created_meanwhile_is_not_overwritten(void **state)
{
    (void)state;
    ttr_error error;
    struct folder_sink *folder = begin(true, NULL);
    put(folder, "mark", "one");
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(folder_finish(folder, &error), TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    assert_int_equal(files_count(target), 0);
    assert_int_equal(files_count(place), 1);
}

static void link_to_trace_stays_a_link(void **state)
{
    (void)state;
    struct stat about;
    write_complete_folder(false, "old");
    char real[80];
    (void)snprintf(real, sizeof real, "%s/real.x", place);
    assert_int_equal(rename(target, real), 0);
    assert_int_equal(symlink("real.x", target), 0);
    write_complete_folder(true, "new");
    assert_int_equal(lstat(target, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    (void)strncat(real, "/mark", 6);
    files_expect(real, "new");
    assert_int_equal(files_count(place), 2);
}

static void unwritable_path_is_reported_with_its_name(void **state)
{
    (void)state;
    static const char *const misuse[] = {"", ".", "..", "/", "./", "a/..", "//"};
    ttr_error error;
    for (size_t i = 0; i < sizeof misuse / sizeof *misuse; i++) {
        assert_null(folder_create(
            alloc_default(), &(struct folder_output_options){misuse[i], {"mark", NULL}, true, NULL},
            &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    assert_null(folder_create(
        alloc_default(),
        &(struct folder_output_options){"/tmp/no-such-folder/x", {"mark", NULL}, false, NULL},
        &error));
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "/tmp/no-such-folder/x"));
    files_write(target, "a file");
    assert_null(begin(true, &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_int_equal(unlink(target) | symlink("nowhere", target), 0);
    assert_null(begin(true, &error));
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "dangling link"));
}

static void read_only_folder_is_reported_with_reason(void **state)
{
    (void)state;
    ttr_error error;
    uid_t user = geteuid();
    assert_int_equal(chmod(place, 0555), 0);
    if (user == 0)
        assert_int_equal(setresuid((uid_t)-1, 65534, (uid_t)-1), 0);
    struct folder_sink *folder = begin(false, &error);
    if (user == 0)
        assert_int_equal(setresuid((uid_t)-1, 0, (uid_t)-1), 0);
    assert_null(folder);
    assert_int_equal(error.sys, EACCES);
    assert_int_equal(chmod(place, 0700), 0);
}

static void name_outside_folder_is_misuse(void **state)
{
    (void)state;
    static const char *const names[] = {"", "/a", "a/", "..", "../a", "a/../b", "a//b", "./a", "."};
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(folder_create_file(folder, names[i], &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    put(folder, "..a/.b", "fine");
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
}

static void duplicate_file_name_is_refused(void **state)
{
    (void)state;
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    assert_null(folder_create_file(folder, "mark", &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, in_target("mark")));
    assert_null(folder_create_file(folder, "mark/below", &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    files_expect(in_target("mark"), "one");
}

/* Writes n bytes to one file in small writes, and finishes it. Returns the first error. */
static ttr_status write_bytes(size_t n, ttr_error *error)
{
    static const char bytes[1000];
    struct folder_sink *folder = begin(false, error);
    struct sink *sink = folder_create_file(folder, "stream", error);
    for (size_t at = 0; at < n; at += sizeof bytes)
        if (sink_write(sink, bytes, n - at < sizeof bytes ? n - at : sizeof bytes, NULL) != TTR_OK)
            break;
    ttr_status status = sink_finish(sink, error);
    if (status == TTR_OK)
        return folder_finish(folder, error);
    assert_int_equal(folder_finish(folder, NULL),
                     TTR_E_IO); /* finishing fails also if the caller ignores the failed write */
    return status;
}

static void full_disk_removes_folder_and_names_file(void **state)
{
    (void)state;
    ttr_error error;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 50000, .rlim_max = old.rlim_max}), 0);
    ttr_status much = write_bytes(50001, &error);
    int left = files_count(place);
    ttr_status enough = write_bytes(50000, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, before);
    assert_int_equal(much, TTR_E_IO);
    assert_int_equal(error.sys, EFBIG);
    assert_non_null(strstr(error.text, in_target("stream")));
    assert_int_equal(left, 0);
    assert_int_equal(enough, TTR_OK);
}

static void file_bytes_are_overwritten(void **state)
{
    (void)state;
    char bytes[16] = "";
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_create_file(folder, "stream", NULL);
    assert_int_equal(sink_write(sink, "head and rest", 13, NULL), TTR_OK);
    assert_int_equal(sink_overwrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "!", 1, NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    FILE *file = fopen(in_target("stream"), "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 14);
    assert_memory_equal(bytes, "HEAD and rest!", 14);
    (void)fclose(file);
}

/* A failed overwrite makes folder_finish fail, because bytes are missing. */
static void failed_overwrite_removes_folder(void **state)
{
    (void)state;
    ttr_error error;
    struct rlimit old;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_create_file(folder, "stream", NULL);
    assert_int_equal(sink_write(sink, "head", 4, NULL), TTR_OK);
    assert_int_equal(sink_overwrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max}), 0);
    ttr_status status = sink_overwrite(sink, 0, "head", 4, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(status, TTR_E_IO);
    assert_int_equal(error.sys, EMFILE);
    sink_abandon(sink);
    assert_int_equal(folder_finish(folder, NULL), TTR_E_IO);
    assert_int_equal(files_count(place), 0);
}

static void ten_thousand_open_files_use_few_descriptors(void **state)
{
    (void)state;
    enum { FILES = 10000 };
    static struct sink *sinks[FILES];
    char name[32];
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct folder_sink *folder = begin(false, NULL);
    for (int limit = 40; limit <= 200;
         limit += 160) { /* limits below and above the size of the pool */
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = (rlim_t)limit,
                                                                   .rlim_max = old.rlim_max}),
                         0);
        for (int i = limit == 40 ? 0 : FILES / 2; i < (limit == 40 ? FILES / 2 : FILES); i++) {
            (void)snprintf(name, sizeof name, "%d/%d", i % 10, i);
            sinks[i] = folder_create_file(folder, name, NULL);
            assert_non_null(sinks[i]);
            assert_int_equal(sink_write(sinks[i], &i, sizeof i, NULL), TTR_OK);
            assert_int_equal(sink_flush(sinks[i / 2], NULL), TTR_OK);
        }
    }
    for (int i = 0; i < FILES; i++)
        assert_int_equal(sink_write(sinks[i], "more", 4, NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), FILES * 8);
    for (int i = FILES - 1; i >= 0; i--)
        assert_int_equal(sink_finish(sinks[i], NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), FILES * 8);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    struct folder *made = folder_open(alloc_default(), NULL, target, 1, false, NULL);
    assert_non_null(folder_get_file(made, FILES - 1));
    for (size_t i = 0; folder_get_file(made, i); i++) {
        uint8_t *bytes;
        size_t n;
        int number;
        assert_int_equal(folder_read_file(made, folder_get_file(made, i), 100, &bytes, &n, NULL),
                         TTR_OK);
        assert_int_equal(n, 8);
        memcpy(&number, bytes, sizeof number);
        assert_int_equal(number, strtol(strchr(folder_get_file(made, i)->name, '/') + 1, NULL, 10));
        support_assert_text(bytes + 4, 4, "more");
        alloc_free(alloc_default(), bytes, n + 1, 1);
    }
    folder_close(made);
}

static void dry_run_counts_and_writes_nothing(void **state)
{
    (void)state;
    struct folder_sink *folder = folder_create_dry_run(alloc_default(), NULL);
    assert_null(folder_temporary_path(folder));
    put(folder, "mark", "one");
    struct sink *sink = folder_create_file(folder, "a/b", NULL);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sink_write(sink, place, sizeof place, NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), 3 + 100 * sizeof place);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    assert_int_equal(files_count(place), 0);
}

static bool writes_through(const struct alloc *alloc)
{
    struct folder_sink *folder = folder_create(
        alloc, &(struct folder_output_options){target, {"mark", NULL}, true, NULL}, NULL);
    struct folder_sink *nowhere = folder_create_dry_run(alloc, NULL);
    bool is_fine = folder && nowhere;
    if (folder) {
        struct sink *sinks[2] = {folder_create_file(folder, "mark", NULL),
                                 folder_create_file(folder, "a/b", NULL)};
        for (int i = 0; i < 2; i++) {
            is_fine = is_fine && sinks[i] && sink_write(sinks[i], "x", 1, NULL) == TTR_OK;
            if (sinks[i])
                is_fine = sink_finish(sinks[i], NULL) == TTR_OK && is_fine;
        }
    }
    if (is_fine)
        assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    else
        folder_abandon(folder);
    folder_abandon(nowhere);
    assert_int_equal(files_count(place), is_fine);
    return is_fine;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(writes_through);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folder_appears_when_finished),
        TEST(abandoned_folder_leaves_no_files),
        TEST(abandoned_file_is_missing_in_folder),
        TEST(unended_file_makes_finish_fail),
        TEST(existing_trace_needs_overwrite),
        TEST(foreign_file_prevents_replacement),
        TEST(unreadable_folder_is_not_treated_as_empty),
        TEST(unreadable_sibling_prevents_replacement),
        TEST(folder_without_trace_is_never_replaced),
        TEST(empty_folder_is_replaced),
        TEST(target_created_meanwhile_is_not_overwritten),
        TEST(link_to_trace_stays_a_link),
        TEST(unwritable_path_is_reported_with_its_name),
        TEST(read_only_folder_is_reported_with_reason),
        TEST(name_outside_folder_is_misuse),
        TEST(duplicate_file_name_is_refused),
        TEST(full_disk_removes_folder_and_names_file),
        TEST(file_bytes_are_overwritten),
        TEST(failed_overwrite_removes_folder),
        TEST(ten_thousand_open_files_use_few_descriptors),
        TEST(dry_run_counts_and_writes_nothing),
        TEST(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
