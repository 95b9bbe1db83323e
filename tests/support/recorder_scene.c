/* See recorder_scene.h. */
#include "support/recorder_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "support/files.h"
#include "support/support.h"
#include "trace/trace_internal.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

TTR_CATEGORIES_DEFINE(SCENE_CATEGORIES);

#define WORDS_MAX (16u << 20)
#define CONNECT_MS 1000 /* PATIENCE_MS of trace_connect.c */
#define CONNECT_TRIES 10
#define FOLDERS "/tmp/tracetta-manager-"
#define TEST_SECONDS 900 /* a test that hangs ends then, with its children and its file */

struct scene scene;

/* Removes the folders of tests that were killed. */
static void remove_dead_folders(void)
{
    glob_t found;
    if (glob(FOLDERS "*", GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const long pid = strtol(found.gl_pathv[i] + sizeof FOLDERS - 1, NULL, 10);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            (void)files_remove(found.gl_pathv[i]);
    }
    globfree(&found);
}

int scene_set_up(void **state)
{
    (void)state;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(TEST_SECONDS);
    remove_dead_folders();
    snprintf(scene.folder, sizeof scene.folder, FOLDERS "%d-XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(scene.folder));
    snprintf(scene.path, sizeof scene.path, "%s/archive.fxt", scene.folder);
    snprintf(scene.socket, sizeof scene.socket, "%s/socket", scene.folder);
    scene.fd = open(scene.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(scene.fd >= 0);
    scene.options =
        (ttr_manager_options){.size = sizeof scene.options, .fd = scene.fd, .socket = scene.socket};
    scene.committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(scene.committed != MAP_FAILED);
    setenv(TRACE_SOCKET_VARIABLE, scene.socket, 1);
    return 0;
}

int scene_tear_down(void **state)
{
    (void)state;
    unsetenv(TRACE_SOCKET_VARIABLE);
    free(scene.words);
    scene.words = NULL;
    munmap(scene.committed, 4096);
    close(scene.fd);
    return files_remove(scene.folder);
}

void scene_open(void)
{
    ttr_error error;
    free(scene.words);
    scene.words = NULL;
    memset(scene.committed, 0, 4096);
    assert_int_equal(lseek(scene.fd, 0, SEEK_SET), 0);
    assert_int_equal(ftruncate(scene.fd, 0), 0);
    scene.manager = ttr_manager_open(&scene.options, &error);
    if (!scene.manager)
        fail_msg("%s", error.text);
}

/* A forked process waits a second for its manager, which may not run for longer on a busy machine.
 * Connects again as long as attempts time out. */
static void connect_after_slow_fork(uint64_t begin_ms)
{
    for (unsigned i = 0; i < CONNECT_TRIES; i++) {
        const uint64_t now_ms = recorder_now_ms();
        if (trace_session.memory || now_ms - begin_ms < CONNECT_MS || !trace_lock())
            return;
        begin_ms = now_ms;
        trace_connect();
        trace_unlock();
    }
}

pid_t scene_start(void (*body)(uint64_t), uint64_t argument)
{
    const uint64_t begin_ms = recorder_now_ms();
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        connect_after_slow_fork(begin_ms);
        body(argument);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

void scene_serve(pid_t *children, size_t n)
{
    ttr_error error;
    size_t left = n;
    while (left > 0) {
        assert_int_equal(ttr_manager_run(scene.manager, 5, -1, &error), TTR_OK);
        for (size_t i = 0; i < n; i++)
            if (children[i] && waitpid(children[i], NULL, WNOHANG) == children[i]) {
                children[i] = 0;
                left--;
            }
    }
}

void scene_close(ttr_manager_stats *stats)
{
    ttr_error error;
    assert_int_equal(ttr_manager_run(scene.manager, 0, -1, &error), TTR_OK);
    assert_int_equal(ttr_manager_snapshot(scene.manager, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, stats);
    assert_int_equal(ttr_manager_close(scene.manager, &error), TTR_OK);
    scene.words = malloc(WORDS_MAX * 8);
    assert_non_null(scene.words);
    const ssize_t n = pread(scene.fd, scene.words, WORDS_MAX * 8, 0);
    assert_true(n >= 8 && (size_t)n < WORDS_MAX * 8);
    if (scene.options.is_compressed) {
        scene.words_n = (size_t)n;
        return;
    }
    assert_int_equal(n % 8, 0);
    scene.words_n = (size_t)n / 8;
}

/* --- Reading the archive --- */

static struct scene_thread *find_thread(struct scene_reading *reading, uint64_t tid)
{
    for (size_t i = 0; i < reading->threads_n; i++)
        if (reading->thread[i].tid == tid)
            return &reading->thread[i];
    if (reading->threads_n == SCENE_THREADS_MAX)
        return NULL;
    reading->thread[reading->threads_n].tid = tid;
    return &reading->thread[reading->threads_n++];
}

static void read_event(struct scene_reading *reading, uint64_t tid, const uint64_t *record)
{
    const unsigned type = record[0] >> 16 & 15;
    if (record[0] >> 32 == 0x800b800e) { /* "tracetta.trace", "events lost", inline */
        reading->lost += record[8];
        return;
    }
    reading->begins += type == 2;
    if (type != 0)
        return;
    reading->events++;
    struct scene_thread *thread = find_thread(reading, tid);
    if (!thread)
        return;
    assert_true(record[3] >= thread->next || reading->threads_n == SCENE_THREADS_MAX);
    if (thread->seen == 0)
        thread->first = record[3];
    thread->gaps += record[3] - thread->next;
    thread->next = record[3] + 1;
    thread->seen++;
}

struct scene_reading scene_read(void)
{
    struct scene_reading reading = {0};
    uint64_t tid = 0;
    assert_int_equal(scene.words[0], TRACE_FXT_MAGIC);
    for (size_t at = 1, n; at < scene.words_n; at += n) {
        const uint64_t *record = scene.words + at;
        n = record[0] >> 4 & 0xfff;
        assert_true(n > 0 && n <= scene.words_n - at);
        if ((record[0] & 15) == TRACE_FXT_THREAD && (record[0] >> 16 & 0xff) == TRACE_REAL_THREAD)
            tid = record[2];
        else if ((record[0] & 15) == TRACE_FXT_EVENT)
            read_event(&reading, tid, record);
    }
    return reading;
}

/* --- Programs --- */

void scene_write_numbers(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        __atomic_store_n(scene.committed, i + 1, __ATOMIC_RELEASE);
    }
}

void scene_write_slowly(uint64_t n)
{
    const struct timespec rest = {0, 1000000};
    for (uint64_t i = 0; i < n; i++) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        if (i % 1000 == 999)
            nanosleep(&rest, NULL);
    }
}
