/* Folders out: one appears whole or not at all, nothing that is no trace is ever replaced, and many
 * files need few descriptors. */
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
                         &(struct folder_target){target, {"mark", NULL}, overwrite, NULL}, error);
}

static void put(struct folder_sink *folder, const char *name, const char *text)
{
    struct sink *sink = folder_add(folder, name, NULL);
    assert_non_null(sink);
    assert_int_equal(sink_write(sink, text, strlen(text), NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
}

/* A folder that holds the mark with this text. */
static void put_whole(bool overwrite, const char *text)
{
    struct folder_sink *folder = begin(overwrite, NULL);
    assert_non_null(folder);
    put(folder, "mark", text);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
}

static void a_folder_appears_only_when_it_is_finished(void **state)
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
    assert_int_equal(stat(folder_temporary(folder), &about), 0);
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

static void an_abandoned_folder_leaves_nothing_behind(void **state)
{
    (void)state;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    put(folder, "index/a", "two");
    struct sink *sink = folder_add(folder, "begun", NULL);
    assert_int_equal(sink_write(sink, "x", 1, NULL), TTR_OK);
    sink_abandon(folder_add(folder, "given up", NULL));
    folder_abandon(folder);
    assert_int_equal(files_count(place), 0);
    folder_abandon(NULL);
}

static void an_abandoned_file_is_not_in_the_folder(void **state)
{
    (void)state;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    struct sink *sink = folder_add(folder, "begun", NULL);
    assert_int_equal(sink_write(sink, "four", 4, NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), 7);
    sink_abandon(sink);
    assert_int_equal(folder_bytes_written(folder), 3);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    assert_int_equal(files_count(target), 1);
}

static void a_file_that_was_not_ended_is_misuse(void **state)
{
    (void)state;
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_add(folder, "late", NULL);
    assert_int_equal(sink_write(sink, "x", 1, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "late"));
    assert_int_equal(files_count(place), 0);
}

static void an_existing_trace_is_refused_unless_asked_to_overwrite(void **state)
{
    (void)state;
    ttr_error error;
    struct stat about;
    put_whole(false, "old");
    assert_int_equal(mkdir(in_target("index"), 0700) | symlink("/etc", in_target("index/link")), 0);
    assert_int_equal(chmod(target, 0700), 0);
    assert_null(begin(false, &error));
    assert_int_equal(error.sys, EEXIST);
    assert_non_null(strstr(error.text, target));
    put_whole(true, "new");
    files_expect(in_target("mark"), "new");
    assert_int_equal(files_count(target), 1);
    assert_int_equal(files_count(place), 1);
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static void what_is_no_part_of_a_trace_keeps_its_folder(void **state)
{
    static const char *const names[] = {".hidden", "notes.txt", "index/notes", "sub/stream"};
    (void)state;
    ttr_error error;
    put_whole(false, "old");
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
    put_whole(true, "new");
    files_expect(in_target("mark"), "new");
    assert_int_equal(files_count(target), 1);
}

static void a_folder_that_cannot_be_read_to_its_end_is_not_taken_for_empty(void **state)
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

static void a_trace_is_not_replaced_where_what_is_beside_it_cannot_be_seen(void **state)
{
    (void)state;
    ttr_error error;
    put_whole(false, "old");
    files_write(in_target("notes.txt"), "what I found\n");
    for (readdir_fails_at = 1; readdir_fails_at <= 4;
         readdir_fails_at++) { /* the mark is found by its name */
        readdir_calls = 0;
        assert_null(begin(true, &error));
        assert_int_equal(error.status, TTR_E_IO);
        assert_int_equal(error.sys, EIO);
        assert_non_null(strstr(error.text, "cannot see all that is in"));
    }
    readdir_fails_at = 0;
    files_expect(in_target("mark"), "old");
    files_expect(in_target("notes.txt"), "what I found\n");
}

static void a_folder_that_is_no_trace_is_never_replaced(void **state)
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

static void an_empty_folder_is_taken(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(mkdir(target, 0700), 0);
    put_whole(false, "new");
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

static void a_folder_or_file_that_came_meanwhile_is_not_overwritten(void **state)
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

static void a_link_to_a_trace_stays_a_link(void **state)
{
    (void)state;
    struct stat about;
    put_whole(false, "old");
    char real[80];
    (void)snprintf(real, sizeof real, "%s/real.x", place);
    assert_int_equal(rename(target, real), 0);
    assert_int_equal(symlink("real.x", target), 0);
    put_whole(true, "new");
    assert_int_equal(lstat(target, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    (void)strncat(real, "/mark", 6);
    files_expect(real, "new");
    assert_int_equal(files_count(place), 2);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    static const char *const misuse[] = {"", ".", "..", "/", "./", "a/..", "//"};
    ttr_error error;
    for (size_t i = 0; i < sizeof misuse / sizeof *misuse; i++) {
        assert_null(folder_create(alloc_default(),
                                  &(struct folder_target){misuse[i], {"mark", NULL}, true, NULL},
                                  &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    assert_null(folder_create(
        alloc_default(),
        &(struct folder_target){"/tmp/no-such-folder/x", {"mark", NULL}, false, NULL}, &error));
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "/tmp/no-such-folder/x"));
    files_write(target, "a file");
    assert_null(begin(true, &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_int_equal(unlink(target) | symlink("nowhere", target), 0);
    assert_null(begin(true, &error));
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "leads nowhere"));
}

static void a_folder_nobody_may_write_in_is_told_with_the_reason(void **state)
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

static void a_name_that_leads_out_of_the_folder_is_misuse(void **state)
{
    (void)state;
    static const char *const names[] = {"", "/a", "a/", "..", "../a", "a/../b", "a//b", "./a", "."};
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(folder_add(folder, names[i], &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    put(folder, "..a/.b", "fine");
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
}

static void a_second_file_of_one_name_is_refused_and_the_first_stays(void **state)
{
    (void)state;
    ttr_error error;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "one");
    assert_null(folder_add(folder, "mark", &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, in_target("mark")));
    assert_null(folder_add(folder, "mark/below", &error));
    assert_int_equal(error.sys, ENOTDIR);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    files_expect(in_target("mark"), "one");
}

/* Writes n bytes in pieces and ends everything; the status of what failed first. */
static ttr_status write_bytes(size_t n, ttr_error *error)
{
    static const char bytes[1000];
    struct folder_sink *folder = begin(false, error);
    struct sink *sink = folder_add(folder, "stream", error);
    for (size_t at = 0; at < n; at += sizeof bytes)
        if (sink_write(sink, bytes, n - at < sizeof bytes ? n - at : sizeof bytes, NULL) != TTR_OK)
            break;
    ttr_status status = sink_finish(sink, error);
    if (status == TTR_OK)
        return folder_finish(folder, error);
    assert_int_equal(folder_finish(folder, NULL),
                     TTR_E_IO); /* also a writer that does not look makes no folder */
    return status;
}

static void a_full_disk_leaves_nothing_and_is_told_with_the_file(void **state)
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

static void bytes_of_a_file_are_written_anew(void **state)
{
    (void)state;
    char bytes[16] = "";
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_add(folder, "stream", NULL);
    assert_int_equal(sink_write(sink, "head and rest", 13, NULL), TTR_OK);
    assert_int_equal(sink_rewrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "!", 1, NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    FILE *file = fopen(in_target("stream"), "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 14);
    assert_memory_equal(bytes, "HEAD and rest!", 14);
    (void)fclose(file);
}

/* Nor is one that lacks such a file: what was to be there is lost. */
static void a_folder_is_not_there_where_bytes_cannot_be_written_anew(void **state)
{
    (void)state;
    ttr_error error;
    struct rlimit old;
    struct folder_sink *folder = begin(false, NULL);
    put(folder, "mark", "");
    struct sink *sink = folder_add(folder, "stream", NULL);
    assert_int_equal(sink_write(sink, "head", 4, NULL), TTR_OK);
    assert_int_equal(sink_rewrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max}), 0);
    ttr_status status = sink_rewrite(sink, 0, "head", 4, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(status, TTR_E_IO);
    assert_int_equal(error.sys, EMFILE);
    sink_abandon(sink);
    assert_int_equal(folder_finish(folder, NULL), TTR_E_IO);
    assert_int_equal(files_count(place), 0);
}

static void ten_thousand_files_under_way_need_few_descriptors(void **state)
{
    (void)state;
    enum { FILES = 10000 };
    static struct sink *sinks[FILES];
    char name[32];
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct folder_sink *folder = begin(false, NULL);
    for (int limit = 40; limit <= 200;
         limit += 160) { /* less and more than the folder would like to have */
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = (rlim_t)limit,
                                                                   .rlim_max = old.rlim_max}),
                         0);
        for (int i = limit == 40 ? 0 : FILES / 2; i < (limit == 40 ? FILES / 2 : FILES); i++) {
            (void)snprintf(name, sizeof name, "%d/%d", i % 10, i);
            sinks[i] = folder_add(folder, name, NULL);
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
    struct folder *made = folder_open(alloc_default(), NULL, target, 1, NULL);
    assert_non_null(folder_at(made, FILES - 1));
    for (size_t i = 0; folder_at(made, i); i++) {
        uint8_t *bytes;
        size_t n;
        int number;
        assert_int_equal(folder_read(made, folder_at(made, i), 100, &bytes, &n, NULL), TTR_OK);
        assert_int_equal(n, 8);
        memcpy(&number, bytes, sizeof number);
        assert_int_equal(number, strtol(strchr(folder_at(made, i)->name, '/') + 1, NULL, 10));
        support_assert_text(bytes + 4, 4, "more");
        alloc_free(alloc_default(), bytes, n + 1, 1);
    }
    folder_close(made);
}

static void a_folder_that_is_nowhere_counts_and_keeps_nothing(void **state)
{
    (void)state;
    struct folder_sink *folder = folder_create_nowhere(alloc_default(), NULL);
    assert_null(folder_temporary(folder));
    put(folder, "mark", "one");
    struct sink *sink = folder_add(folder, "a/b", NULL);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sink_write(sink, place, sizeof place, NULL), TTR_OK);
    assert_int_equal(folder_bytes_written(folder), 3 + 100 * sizeof place);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(folder_finish(folder, NULL), TTR_OK);
    assert_int_equal(files_count(place), 0);
}

static bool writes_through(const struct alloc *alloc)
{
    struct folder_sink *folder =
        folder_create(alloc, &(struct folder_target){target, {"mark", NULL}, true, NULL}, NULL);
    struct folder_sink *nowhere = folder_create_nowhere(alloc, NULL);
    bool is_fine = folder && nowhere;
    if (folder) {
        struct sink *sinks[2] = {folder_add(folder, "mark", NULL), folder_add(folder, "a/b", NULL)};
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

static void every_allocation_may_fail(void **state)
{
    (void)state;
    support_fail_each(writes_through);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_appears_only_when_it_is_finished),
        TEST(an_abandoned_folder_leaves_nothing_behind),
        TEST(an_abandoned_file_is_not_in_the_folder),
        TEST(a_file_that_was_not_ended_is_misuse),
        TEST(an_existing_trace_is_refused_unless_asked_to_overwrite),
        TEST(what_is_no_part_of_a_trace_keeps_its_folder),
        TEST(a_folder_that_cannot_be_read_to_its_end_is_not_taken_for_empty),
        TEST(a_trace_is_not_replaced_where_what_is_beside_it_cannot_be_seen),
        TEST(a_folder_that_is_no_trace_is_never_replaced),
        TEST(an_empty_folder_is_taken),
        TEST(a_folder_or_file_that_came_meanwhile_is_not_overwritten),
        TEST(a_link_to_a_trace_stays_a_link),
        TEST(a_place_that_cannot_be_written_is_named),
        TEST(a_folder_nobody_may_write_in_is_told_with_the_reason),
        TEST(a_name_that_leads_out_of_the_folder_is_misuse),
        TEST(a_second_file_of_one_name_is_refused_and_the_first_stays),
        TEST(a_full_disk_leaves_nothing_and_is_told_with_the_file),
        TEST(bytes_of_a_file_are_written_anew),
        TEST(a_folder_is_not_there_where_bytes_cannot_be_written_anew),
        TEST(ten_thousand_files_under_way_need_few_descriptors),
        TEST(a_folder_that_is_nowhere_counts_and_keeps_nothing),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
