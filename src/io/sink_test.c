/* Tests of sinks: a file appears completely or not at all, errors repeat and name the path, links
 * and modes are kept. */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/files.h"
#include "support/support.h"

/* A temporary folder of the test, and a file path in it. */
struct place {
    char folder[32], path[64];
};

static void make_place(struct place *place)
{
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/ttr-sink-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(place->path, sizeof place->path, "%s/out.fxt", place->folder);
}

static void drop_place(const struct place *place)
{
    (void)unlink(place->path);
    assert_int_equal(rmdir(place->folder), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void file_appears_when_finished(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    assert_non_null(sink);
    assert_int_equal(sink_write(sink, "hello ", 6, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "there", 5, NULL), TTR_OK);
    assert_int_equal(sink_flush(sink, NULL), TTR_OK);
    assert_int_equal(sink_offset(sink), 11);
    assert_int_equal(access(place.path, F_OK), -1);
    files_expect(sink_temporary_path(sink), "hello there");
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    files_expect(place.path, "hello there");
    assert_int_equal(files_count(place.folder), 1);
    mode_t mask = umask(0);
    (void)umask(mask);
    assert_int_equal(mode_of(place.path), 0666 & ~mask);
    drop_place(&place);
}

static void abandoned_file_leaves_no_files(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    assert_int_equal(sink_write(sink, "x", 1, NULL), TTR_OK);
    sink_abandon(sink);
    sink_abandon(NULL);
    assert_int_equal(files_count(place.folder), 0);
    drop_place(&place);
}

static void existing_file_needs_overwrite(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    files_write(place.path, "old");
    assert_int_equal(chmod(place.path, 0640), 0);
    ttr_error error;
    assert_null(sink_open(alloc_default(), place.path, false, &error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    assert_non_null(strstr(error.text, place.path));
    struct sink *sink = sink_open(alloc_default(), place.path, true, &error);
    assert_int_equal(sink_write(sink, "new", 3, NULL), TTR_OK);
    files_expect(place.path, "old");
    assert_int_equal(sink_finish(sink, &error), TTR_OK);
    files_expect(place.path, "new");
    assert_int_equal(mode_of(place.path), 0640);
    assert_int_equal(files_count(place.folder), 1);
    drop_place(&place);
}

static void file_created_meanwhile_is_not_overwritten(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    files_write(place.path, "theirs");
    ttr_error error;
    assert_int_equal(sink_finish(sink, &error), TTR_E_IO);
    assert_int_equal(error.sys, EEXIST);
    files_expect(place.path, "theirs");
    assert_int_equal(files_count(place.folder), 1);
    drop_place(&place);
}

static void replaced_link_target_keeps_link(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    char link[64];
    (void)snprintf(link, sizeof link, "%s/link", place.folder);
    assert_int_equal(symlink("out.fxt", link), 0);
    ttr_error error;
    assert_null(sink_open(alloc_default(), link, true, &error));
    assert_non_null(strstr(error.text, "dangling link"));
    files_write(place.path, "old");
    struct sink *sink = sink_open(alloc_default(), link, true, NULL);
    assert_int_equal(sink_write(sink, "new", 3, NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    files_expect(place.path, "new");
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(unlink(link), 0);
    drop_place(&place);
}

static void longest_name_gets_temporary_file(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    char path[300], name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    (void)snprintf(path, sizeof path, "%s/%s", place.folder, name);
    struct sink *sink = sink_open(alloc_default(), path, false, NULL);
    assert_non_null(sink);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(unlink(path), 0);
    drop_place(&place);
}

static void unwritable_path_is_reported_with_its_name(void **state)
{
    (void)state;
    ttr_error error;
    assert_null(sink_open(alloc_default(), "/tmp", true, &error));
    assert_int_equal(error.sys, EISDIR);
    assert_null(sink_open(alloc_default(), "", true, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(sink_open(alloc_default(), "/tmp/no-such-folder/x.fxt", false, &error));
    assert_int_equal(error.sys, ENOENT);
    assert_non_null(strstr(error.text, "/tmp/no-such-folder/x.fxt"));
}

static void writable_file_in_read_only_folder_is_explained(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    files_write(place.path, "old");
    assert_int_equal(chmod(place.path, 0666), 0);
    assert_int_equal(chmod(place.folder, 0555), 0);
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(setresuid((uid_t)-1, 65534, (uid_t)-1), 0);
    ttr_error error;
    struct sink *sink = sink_open(alloc_default(), place.path, true, &error);
    if (user == 0)
        assert_int_equal(setresuid((uid_t)-1, 0, (uid_t)-1), 0);
    assert_null(sink);
    assert_int_equal(error.sys, EACCES);
    assert_non_null(strstr(error.text, "its folder is not"));
    files_expect(place.path, "old");
    assert_int_equal(chmod(place.folder, 0755), 0);
    drop_place(&place);
}

static void full_device_error_repeats_with_its_name(void **state)
{
    (void)state;
    struct sink *sink = sink_open(alloc_default(), "/dev/full", false, NULL);
    assert_non_null(sink);
    assert_null(sink_temporary_path(sink));
    ttr_error error;
    assert_int_equal(sink_write(sink, "x", 1, &error), TTR_OK);
    assert_int_equal(sink_flush(sink, &error), TTR_E_IO);
    assert_int_equal(error.sys, ENOSPC);
    assert_non_null(strstr(error.text, "/dev/full"));
    memset(&error, 0, sizeof error);
    assert_int_equal(sink_write(sink, "x", 1, &error), TTR_E_IO);
    assert_int_equal(error.sys, ENOSPC);
    memset(&error, 0, sizeof error);
    assert_int_equal(sink_finish(sink, &error), TTR_E_IO);
    assert_int_equal(error.sys, ENOSPC);
}

static void closed_pipe_is_reported_as_epipe(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo(place.path, 0600), 0);
    int reader = open(place.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    assert_non_null(sink);
    assert_int_equal(close(reader), 0);
    ttr_error error;
    assert_int_equal(sink_write(sink, "x", 1, &error), TTR_OK);
    assert_int_equal(sink_finish(sink, &error), TTR_E_IO);
    assert_int_equal(error.sys, EPIPE);
    assert_non_null(strstr(error.text, place.path));
    drop_place(&place);
}

/* Waits, then reads all bytes. */
static void *read_late(void *ctx)
{
    static uint8_t bytes[65536];
    uint64_t *sum = ctx;
    int fd = (int)*sum;
    *sum = 0;
    usleep(20000);
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;)
        *sum += (uint64_t)got;
    return NULL;
}

static void full_nonblocking_pipe_is_polled(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    assert_int_equal(mkfifo(place.path, 0600), 0);
    int reader = open(place.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(fcntl(reader, F_SETFL, 0), 0);
    int saved = dup(STDOUT_FILENO), writer = open(place.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    uint64_t sum = (uint64_t)reader;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_late, &sum), 0);
    struct sink *sink = sink_open(alloc_default(), "-", false, NULL);
    static const uint8_t bytes[1000000];
    assert_int_equal(dup2(writer, STDOUT_FILENO), STDOUT_FILENO);
    ttr_status status = sink_write(sink, bytes, sizeof bytes, NULL);
    ttr_status finished = sink_finish(sink, NULL);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(writer);
    (void)close(saved);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, TTR_OK);
    assert_int_equal(finished, TTR_OK);
    assert_int_equal(sum, sizeof bytes);
    (void)close(reader);
    drop_place(&place);
}

static void socket_without_listener_is_refused(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", place.path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    ttr_error error;
    assert_null(sink_open(alloc_default(), place.path, true, &error));
    assert_int_equal(error.sys, ECONNREFUSED);
    assert_non_null(strstr(error.text, place.path));
    assert_int_equal(close(fd), 0);
    drop_place(&place);
}

static void listening_socket_is_connected(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", place.path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 1), 0);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    assert_non_null(sink);
    assert_int_equal(sink_write(sink, "hi", 2, NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    int peer = accept(listening, NULL, NULL);
    char bytes[4];
    assert_int_equal(read(peer, bytes, sizeof bytes), 2);
    assert_int_equal(close(peer), 0);
    assert_int_equal(close(listening), 0);
    drop_place(&place);
}

/* A push callback's state: accepts random numbers of bytes, with EINTR and EAGAIN between, and
 * fails at byte `fail_at`. */
struct taker {
    uint64_t at, fail_at, seed;
    bool is_wrong;
};

static int64_t take(void *ctx, const void *bytes, size_t n)
{
    struct taker *taker = ctx;
    uint64_t dice = support_random(&taker->seed);
    if (dice % 7 == 0) {
        errno = dice % 2 ? EINTR : EAGAIN;
        return -1;
    }
    if (taker->at >= taker->fail_at) {
        errno = ENOSPC;
        return -1;
    }
    uint64_t count = 1 + dice % 100000;
    count = count < n ? count : n;
    count = count < taker->fail_at - taker->at ? count : taker->fail_at - taker->at;
    for (uint64_t i = 0; i < count; i++)
        taker->is_wrong |= ((const uint8_t *)bytes)[i] != (uint8_t)((taker->at + i) % 251);
    taker->at += count;
    return (int64_t)count;
}

enum { OUTPUT = 1 << 20 };

static ttr_status write_output(struct sink *sink, uint64_t seed)
{
    static uint8_t bytes[400000 + 251];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i % 251);
    ttr_status status = TTR_OK;
    while (status == TTR_OK && sink_offset(sink) < OUTPUT) {
        uint64_t n = support_random(&seed) % (support_random(&seed) % 4 ? 1000 : 400000);
        n = n < OUTPUT - sink_offset(sink) ? n : OUTPUT - sink_offset(sink);
        status = sink_write(sink, bytes + sink_offset(sink) % 251, (size_t)n, NULL);
    }
    return status;
}

/* A push callback's state: accepts at most three bytes per call, and fails when `room` is used up.
 */
struct narrow {
    char got[64];
    size_t n, room;
};

static int64_t push_narrow(void *ctx, const void *bytes, size_t n)
{
    struct narrow *to = ctx;
    n = n < 3 ? n : 3;
    if (to->n + n > to->room) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(to->got + to->n, bytes, n);
    to->n += n;
    return (int64_t)n;
}

static void short_and_interrupted_writes_continue(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct taker taker = {.fail_at = UINT64_MAX, .seed = seed};
        struct sink *sink = sink_open_callback(alloc_default(), take, &taker, NULL);
        assert_int_equal(write_output(sink, seed), TTR_OK);
        assert_int_equal(sink_finish(sink, NULL), TTR_OK);
        assert_int_equal(taker.at, OUTPUT);
        assert_false(taker.is_wrong);
    }
}

static void unbuffered_write_follows_buffered_bytes(void **state)
{
    (void)state;
    struct narrow to = {.room = sizeof to.got};
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct sink *sink = sink_open_callback(&heap.alloc, push_narrow, &to, NULL);
    const size_t requests = heap.requests;
    assert_int_equal(sink_write_unbuffered(sink, "first ", 6, NULL), TTR_OK);
    assert_int_equal(to.n, 6);
    assert_int_equal(heap.requests, requests);
    assert_int_equal(sink_write(sink, "second ", 7, NULL), TTR_OK);
    assert_int_equal(to.n, 6);
    assert_int_equal(sink_write_unbuffered(sink, "third", 5, NULL), TTR_OK);
    assert_int_equal(sink_offset(sink), 18);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(to.n, 18);
    assert_memory_equal(to.got, "first second third", 18);
    support_heap_check(&heap);
}

static void full_disk_at_any_byte_is_reported_by_finish(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < OUTPUT; k = k * 2 + 1) {
        struct taker taker = {.fail_at = k, .seed = k + 1};
        struct sink *sink = sink_open_callback(alloc_default(), take, &taker, NULL);
        (void)!write_output(sink, k + 1);
        ttr_error error;
        assert_int_equal(sink_finish(sink, &error), TTR_E_IO);
        assert_int_equal(error.sys, ENOSPC);
        assert_int_equal(taker.at, k);
        assert_false(taker.is_wrong);
    }
}

static void check_standard_output(const char *name)
{
    int saved = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(dup2(null, STDOUT_FILENO), STDOUT_FILENO);
    struct sink *sink = sink_open(alloc_default(), name, false, NULL);
    ttr_status written = sink_write(sink, "x", 1, NULL), finished = sink_finish(sink, NULL);
    int is_open = fcntl(STDOUT_FILENO, F_GETFD);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(written, TTR_OK);
    assert_int_equal(finished, TTR_OK);
    assert_true(is_open >= 0);
    (void)close(saved);
    (void)close(null);
}

static void standard_output_stays_open(void **state)
{
    (void)state;
    check_standard_output("-");
    check_standard_output("/dev/stdout");
}

static bool write_a_file(const struct alloc *alloc)
{
    struct place place;
    make_place(&place);
    files_write(place.path, "old");
    ttr_error error = {.status = TTR_OK};
    struct sink *sink = sink_open(alloc, place.path, true, &error);
    bool is_through = sink != NULL;
    assert_true(is_through || error.status == TTR_E_NOMEM);
    if (sink)
        assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    files_expect(place.path, is_through ? "" : "old");
    drop_place(&place);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(write_a_file);
}

static void file_bytes_are_overwritten(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct sink *sink = sink_open(alloc_default(), place.path, false, NULL);
    assert_true(sink_can_overwrite(sink));
    assert_int_equal(sink_delay_output(sink, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "head body", 9, NULL), TTR_OK);
    assert_int_equal(sink_overwrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, " tail", 5, NULL), TTR_OK);
    assert_int_equal(sink_overwrite(sink, 12, "TL", 2, NULL), TTR_OK);
    assert_int_equal(sink_overwrite(sink, 13, "xx", 2, NULL), TTR_E_MISUSE);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    files_expect(place.path, "HEAD body taTL");
    drop_place(&place);
}

static void held_bytes_are_written_at_finish(void **state)
{
    (void)state;
    struct narrow to = {.room = sizeof to.got};
    struct sink *sink = sink_open_callback(alloc_default(), push_narrow, &to, NULL);
    assert_false(sink_can_overwrite(sink));
    assert_int_equal(sink_delay_output(sink, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "head body", 9, NULL), TTR_OK);
    assert_int_equal(sink_flush(sink, NULL), TTR_OK);
    assert_int_equal(to.n, 0);
    assert_int_equal(sink_overwrite(sink, 0, "HEAD", 4, NULL), TTR_OK);
    assert_int_equal(sink_insert_prefix(sink, "hat ", 4, NULL), TTR_OK);
    assert_int_equal(sink_insert_prefix(sink, "two", 3, NULL), TTR_E_MISUSE);
    assert_int_equal(sink_offset(sink), 13);
    assert_int_equal(sink_finish(sink, NULL), TTR_OK);
    assert_int_equal(to.n, 13);
    assert_memory_equal(to.got, "hat HEAD body", 13);
}

static void written_bytes_cannot_be_held_or_overwritten(void **state)
{
    (void)state;
    ttr_error error;
    struct narrow to = {.room = sizeof to.got};
    struct sink *sink = sink_open_callback(alloc_default(), push_narrow, &to, NULL);
    assert_int_equal(sink_write(sink, "out", 3, NULL), TTR_OK);
    assert_int_equal(sink_delay_output(sink, &error), TTR_E_MISUSE);
    assert_int_equal(sink_overwrite(sink, 0, "O", 1, &error), TTR_E_MISUSE);
    assert_int_equal(sink_insert_prefix(sink, "O", 1, &error), TTR_E_MISUSE);
    sink_abandon(sink);
    to.room = 4;
    to.n = 0;
    sink = sink_open_callback(alloc_default(), push_narrow, &to, NULL);
    assert_int_equal(sink_delay_output(sink, NULL), TTR_OK);
    assert_int_equal(sink_write(sink, "too much", 8, NULL), TTR_OK);
    assert_int_equal(sink_finish(sink, &error), TTR_E_IO);
    assert_int_equal(error.sys, ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_appears_when_finished),
        cmocka_unit_test(abandoned_file_leaves_no_files),
        cmocka_unit_test(existing_file_needs_overwrite),
        cmocka_unit_test(file_created_meanwhile_is_not_overwritten),
        cmocka_unit_test(replaced_link_target_keeps_link),
        cmocka_unit_test(longest_name_gets_temporary_file),
        cmocka_unit_test(unwritable_path_is_reported_with_its_name),
        cmocka_unit_test(writable_file_in_read_only_folder_is_explained),
        cmocka_unit_test(full_device_error_repeats_with_its_name),
        cmocka_unit_test(closed_pipe_is_reported_as_epipe),
        cmocka_unit_test(full_nonblocking_pipe_is_polled),
        cmocka_unit_test(socket_without_listener_is_refused),
        cmocka_unit_test(listening_socket_is_connected),
        cmocka_unit_test(short_and_interrupted_writes_continue),
        cmocka_unit_test(unbuffered_write_follows_buffered_bytes),
        cmocka_unit_test(full_disk_at_any_byte_is_reported_by_finish),
        cmocka_unit_test(standard_output_stays_open),
        cmocka_unit_test(failed_allocation_is_reported),
        cmocka_unit_test(file_bytes_are_overwritten),
        cmocka_unit_test(held_bytes_are_written_at_finish),
        cmocka_unit_test(written_bytes_cannot_be_held_or_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
