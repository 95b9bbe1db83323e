/* Control of a running manager from another thread. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/session.h>

#include "recorder/recorder.h"
#include "recorder/session_folder.h"
#include "support/recorder_scene.h"
#include "support/support.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

/* Serves until the archive has n events. Fails the test after 20 s. */
static void serve_until(uint64_t n)
{
    ttr_error error;
    ttr_manager_stats stats = {.events = 0};
    for (unsigned i = 0; i < 1000 && stats.events < n; i++) {
        assert_int_equal(ttr_manager_run(scene.manager, 20, -1, &error), TTR_OK);
        ttr_manager_get_stats(scene.manager, &stats);
    }
    assert_true(stats.events >= n);
}

/* A manager that chose its own socket, with a program that writes until it is killed. */
static pid_t open_session(void)
{
    ttr_error error;
    ttr_manager_program program;
    setenv("XDG_RUNTIME_DIR", scene.folder, 1);
    scene.options.socket = NULL;
    scene.options.output_name = "archive.fxt";
    scene_open();
    setenv(TRACE_SOCKET_VARIABLE, ttr_manager_socket(scene.manager), 1);
    const pid_t child = scene_start(scene_write_slowly, UINT64_MAX);
    while (!ttr_manager_program_at(scene.manager, 0, &program))
        assert_int_equal(ttr_manager_run(scene.manager, 5, -1, &error), TTR_OK);
    if (scene.options.mode == TTR_MANAGER_CIRCULAR) /* nothing is read before a snapshot */
        assert_int_equal(ttr_manager_run(scene.manager, 300, -1, &error), TTR_OK);
    else
        serve_until(100);
    return child;
}

static void close_session(pid_t child, ttr_manager_stats *stats)
{
    kill(child, SIGKILL);
    scene_serve(&child, 1);
    scene_close(stats);
    unsetenv("XDG_RUNTIME_DIR");
}

/* Runs `control` in a thread, and the manager meanwhile. */
static void run_controlled(void *(*control)(void *))
{
    pthread_t thread;
    void *failed = NULL;
    ttr_error error;
    assert_int_equal(pthread_create(&thread, NULL, control, NULL), 0);
    while (pthread_tryjoin_np(thread, &failed) != 0)
        assert_int_equal(ttr_manager_run(scene.manager, 5, -1, &error), TTR_OK);
    if (failed)
        fail_msg("%s", (const char *)failed);
}

#define EXPECT(condition)                          \
    do {                                           \
        if (!(condition))                          \
            return (void *)(uintptr_t) #condition; \
    } while (0)

/* Returns the number of sessions of this process. Others of the same user may run. */
static size_t count_own_sessions(void)
{
    uint64_t pids[256];
    const size_t found = ttr_session_find(pids, 256);
    size_t n = 0;
    for (size_t i = 0; i < found && i < 256; i++)
        n += pids[i] == (uint64_t)getpid();
    return n;
}

static void *read_session(void *unused)
{
    (void)unused;
    ttr_session_info info;
    ttr_manager_program program;
    ttr_session_category category;
    EXPECT(count_own_sessions() == 1);
    ttr_session *session = ttr_session_open((uint64_t)getpid(), NULL);
    EXPECT(session);
    EXPECT(ttr_session_get_info(session, &info, NULL) == TTR_OK);
    EXPECT(info.stats.connected == 1 && info.stats.events > 0);
    EXPECT(info.mode == TTR_MANAGER_STREAMING && info.buffer_bytes == 512 * 1024);
    EXPECT(strcmp(info.output, "archive.fxt") == 0 && strcmp(info.categories, "") == 0);
    EXPECT(ttr_session_program_at(session, 0, &program, NULL) == TTR_OK && program.threads == 1);
    EXPECT(ttr_session_program_at(session, 1, &program, NULL) == TTR_END);
    EXPECT(ttr_session_category_at(session, 1, &category, NULL) == TTR_OK);
    EXPECT(strcmp(category.name, "disk.slow") == 0 && category.level == 5);
    EXPECT(ttr_session_category_at(session, 2, &category, NULL) == TTR_END);
    ttr_session_close(session);
    return NULL;
}

static void session_reports_programs_and_categories(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    const pid_t child = open_session();
    run_controlled(read_session);
    close_session(child, &stats);
}

static void *change_filter(void *unused)
{
    (void)unused;
    ttr_session_category category;
    ttr_error error;
    ttr_session *session = ttr_session_open((uint64_t)getpid(), NULL);
    EXPECT(session);
    EXPECT(ttr_session_set_categories(session, "net:9", &error) == TTR_E_MISUSE);
    EXPECT(strstr(error.text, "net:9"));
    EXPECT(ttr_session_set_categories(session, "-net,disk.*:2", NULL) == TTR_OK);
    EXPECT(ttr_session_category_at(session, 0, &category, NULL) == TTR_OK && category.level == 0);
    EXPECT(ttr_session_category_at(session, 1, &category, NULL) == TTR_OK && category.level == 2);
    ttr_session_close(session);
    return NULL;
}

static void filter_of_a_running_program_is_replaced(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    const pid_t child = open_session();
    run_controlled(change_filter);
    assert_int_equal(ttr_manager_run(scene.manager, 50, -1, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, &stats);
    const uint64_t before = stats.events;
    assert_int_equal(ttr_manager_run(scene.manager, 50, -1, &error), TTR_OK);
    close_session(child, &stats);
    assert_int_equal(stats.events, before);
}

static void *take_snapshot(void *unused)
{
    (void)unused;
    ttr_session_info info;
    ttr_session *session = ttr_session_open((uint64_t)getpid(), NULL);
    EXPECT(session);
    EXPECT(ttr_session_get_info(session, &info, NULL) == TTR_OK && info.stats.events == 0);
    EXPECT(ttr_session_snapshot(session, NULL) == TTR_OK);
    EXPECT(ttr_session_get_info(session, &info, NULL) == TTR_OK && info.stats.events >= 100);
    ttr_session_close(session);
    return NULL;
}

static void snapshot_writes_circular_rings(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    const pid_t child = open_session();
    run_controlled(take_snapshot);
    close_session(child, &stats);
}

static void *set_streaming(void *unused)
{
    (void)unused;
    ttr_session_info info;
    ttr_error error;
    ttr_session *session = ttr_session_open((uint64_t)getpid(), NULL);
    EXPECT(session);
    EXPECT(ttr_session_get_info(session, &info, NULL) == TTR_OK);
    EXPECT(info.mode == TTR_MANAGER_CIRCULAR && info.stats.events == 0);
    EXPECT(ttr_session_set_mode(session, TTR_MANAGER_STREAMING, NULL) == TTR_OK);
    EXPECT(ttr_session_get_info(session, &info, NULL) == TTR_OK);
    EXPECT(info.mode == TTR_MANAGER_STREAMING && info.stats.events > 0);
    EXPECT(ttr_session_set_mode(session, (enum ttr_manager_mode)3, &error) == TTR_E_MISUSE);
    EXPECT(strstr(error.text, "mode 3 does not exist"));
    ttr_session_close(session);
    return NULL;
}

/* A flight recorder that a controller changes into a recording of all events, and back. */
static void mode_of_running_programs_is_changed(void **state)
{
    (void)state;
    ttr_manager_stats stats, later;
    ttr_error error;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    const pid_t child = open_session();
    run_controlled(set_streaming);
    ttr_manager_get_stats(scene.manager, &stats);
    serve_until(stats.events + 1000);
    assert_int_equal(ttr_manager_set_mode(scene.manager, TTR_MANAGER_CIRCULAR, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, &stats);
    assert_int_equal(ttr_manager_run(scene.manager, 50, -1, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, &later);
    assert_int_equal(later.events, stats.events);
    close_session(child, &stats);
    assert_true(stats.events > later.events);
    assert_int_equal(stats.expelled + stats.invalid, 0);
}

static void *stop(void *unused)
{
    (void)unused;
    ttr_session *session = ttr_session_open((uint64_t)getpid(), NULL);
    EXPECT(session);
    EXPECT(ttr_session_stop(session, NULL) == TTR_OK);
    ttr_session_close(session);
    return NULL;
}

static void stop_is_reported_to_the_caller(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    const pid_t child = open_session();
    assert_false(ttr_manager_stop_requested(scene.manager));
    run_controlled(stop);
    assert_true(ttr_manager_stop_requested(scene.manager));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scene_close(&stats);
    assert_true(stats.events >= 100);
    unsetenv("XDG_RUNTIME_DIR");
}

/* A manager that first sends an answer to an earlier request. */
static void *answer_late(void *listener)
{
    struct trace_message message;
    const int fd = accept(*(const int *)listener, NULL, NULL);
    EXPECT(recv(fd, &message, sizeof message, 0) == sizeof message);
    struct trace_answer answer = {.magic = TRACE_MESSAGE_MAGIC,
                                  .status = TRACE_ANSWER_FAILED,
                                  .request = message.number - 1,
                                  .text = "late"};
    EXPECT(send(fd, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer);
    answer = (struct trace_answer){
        .magic = TRACE_MESSAGE_MAGIC, .status = TRACE_ANSWER_DONE, .request = message.number};
    EXPECT(send(fd, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer);
    EXPECT(recv(fd, &message, sizeof message, 0) == 0);
    close(fd);
    return NULL;
}

static void late_answer_is_not_read_as_that_of_the_next_request(void **state)
{
    (void)state;
    int lock_fd;
    char socket_path[SESSION_SOCKET_MAX];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    setenv("XDG_RUNTIME_DIR", scene.folder, 1);
    assert_int_equal(session_folder_make(socket_path, &lock_fd, NULL), TTR_OK);
    memcpy(address.sun_path, socket_path, strlen(socket_path));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    ttr_error error;
    ttr_session *session = ttr_session_open((uint64_t)getpid(), &error);
    assert_non_null(session);
    pthread_t thread;
    void *failed = NULL;
    assert_int_equal(pthread_create(&thread, NULL, answer_late, &fd), 0);
    assert_int_equal(ttr_session_stop(session, &error), TTR_OK);
    ttr_session_close(session);
    pthread_join(thread, &failed);
    if (failed)
        fail_msg("%s", (const char *)failed);
    close(fd);
    unlink(socket_path);
    session_folder_remove(socket_path);
    close(lock_fd);
    unsetenv("XDG_RUNTIME_DIR");
}

static void unknown_requests_fail(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct trace_message message = {
        .magic = TRACE_MESSAGE_MAGIC, .version = TRACE_VERSION, .kind = TRACE_CONTROL, .a = 99};
    struct trace_answer answer;
    const pid_t child = open_session();
    memcpy(address.sun_path, ttr_manager_socket(scene.manager),
           strlen(ttr_manager_socket(scene.manager)));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, &message, sizeof message, 0), sizeof message);
    assert_int_equal(ttr_manager_run(scene.manager, 20, -1, &error), TTR_OK);
    assert_int_equal(recv(fd, &answer, sizeof answer, 0), sizeof answer);
    assert_int_equal(answer.status, TRACE_ANSWER_FAILED);
    close(fd);
    close_session(child, &stats);
    assert_int_equal(stats.expelled, 0);
}

/* --- Attaching --- */

static void write_until_told(uint64_t unused)
{
    (void)unused;
    while (*scene.committed < UINT64_MAX) {
        const struct timespec pause = {0, 1000000};
        TTR_ZONE(net, "turn");
        TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
        nanosleep(&pause, NULL);
    }
}

/* Starts a program without a manager. */
static pid_t start_alone(void)
{
    unsetenv(TRACE_SOCKET_VARIABLE);
    return scene_start(write_until_told, 0);
}

static ttr_status attach_when_ready(pid_t child, ttr_error *error)
{
    ttr_status status = TTR_E_MISUSE;
    for (unsigned i = 0; i < 100 && status != TTR_OK; i++) {
        status = ttr_manager_attach(scene.manager, (uint64_t)child, error);
        usleep(5000);
    }
    return status;
}

static void running_program_is_attached_twice_in_turn(void **state)
{
    (void)state;
    ttr_error error;
    ttr_manager_stats stats;
    pid_t child = start_alone();
    for (unsigned round = 0; round < 2; round++) {
        scene_open();
        if (attach_when_ready(child, &error) != TTR_OK)
            fail_msg("%s", error.text);
        assert_int_equal(ttr_manager_attach(scene.manager, (uint64_t)child, &error), TTR_E_MISUSE);
        serve_until(50);
        assert_int_equal(ttr_manager_attach(scene.manager, (uint64_t)child, &error), TTR_E_MISUSE);
        assert_non_null(strstr(error.text, "recorded already"));
        scene_close(&stats);
        assert_int_equal(stats.programs, 1);
        assert_int_equal(stats.dropped, 0);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Serves a program, and then sends it an answer that it does not wait for any more. */
static void serve_with_late_answer(uint64_t unused)
{
    ttr_error error;
    ttr_manager_program program;
    const struct trace_message late = {
        .magic = TRACE_MESSAGE_MAGIC, .version = TRACE_VERSION, .kind = TRACE_SYNC};
    (void)unused;
    while (!ttr_manager_program_at(scene.manager, 0, &program))
        if (ttr_manager_run(scene.manager, 5, -1, &error) != TTR_OK)
            _exit(1);
    if (ttr_manager_run(scene.manager, 200, -1, &error) != TTR_OK ||
        send(scene.manager->programs[0].socket_fd, &late, sizeof late, MSG_NOSIGNAL) < 0)
        _exit(1);
    __atomic_store_n(scene.committed, 1, __ATOMIC_RELEASE);
    pause();
}

static void program_with_an_unread_answer_is_attached_after_its_manager_was_killed(void **state)
{
    (void)state;
    ttr_error error;
    ttr_manager_stats stats;
    scene_open();
    unsetenv(TRACE_SOCKET_VARIABLE);
    const pid_t manager = scene_start(serve_with_late_answer, 0);
    setenv(TRACE_SOCKET_VARIABLE, scene.socket, 1);
    const pid_t program = scene_start(write_until_told, 0);
    while (__atomic_load_n(scene.committed, __ATOMIC_ACQUIRE) == 0)
        assert_int_equal(waitpid(manager, NULL, WNOHANG), 0);
    assert_int_equal(ttr_manager_close(scene.manager, &error), TTR_OK);
    kill(manager, SIGKILL);
    assert_int_equal(waitpid(manager, NULL, 0), manager);
    scene_open();
    assert_int_equal(attach_when_ready(program, &error), TTR_OK);
    serve_until(50);
    kill(program, SIGKILL);
    assert_int_equal(waitpid(program, NULL, 0), program);
    scene_close(&stats);
    assert_int_equal(stats.programs, 1);
}

static void filter_holds_from_the_first_event_of_an_attached_program(void **state)
{
    (void)state;
    ttr_error error;
    ttr_manager_stats stats;
    const pid_t child = start_alone();
    scene.options.categories = "-net";
    scene_open();
    assert_int_equal(attach_when_ready(child, &error), TTR_OK);
    ttr_manager_program program;
    for (unsigned i = 0; i < 50 && !ttr_manager_program_at(scene.manager, 0, &program); i++)
        assert_int_equal(ttr_manager_run(scene.manager, 100, -1, &error), TTR_OK);
    assert_int_equal(ttr_manager_run(scene.manager, 100, -1, &error), TTR_OK);
    scene_close(&stats);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(stats.programs, 1);
    assert_int_equal(stats.events, 0);
}

static void sleep_with_trace_points(uint64_t unused)
{
    (void)unused;
    pause();
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
}

static void ignore_signal(int number)
{
    (void)number;
}

static void manager_that_gave_up_leaves_categories_disabled(void **state)
{
    (void)state;
    ttr_error error;
    ttr_manager_stats stats;
    unsetenv(TRACE_SOCKET_VARIABLE);
    signal(SIGUSR1, ignore_signal);
    const pid_t child = scene_start(sleep_with_trace_points, 0);
    scene_open();
    assert_int_equal(attach_when_ready(child, &error), TTR_OK);
    scene_close(&stats);
    assert_int_equal(stats.programs, 0);
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) { /* the first signal may come before pause() */
        kill(child, SIGUSR1);
        usleep(1000);
    }
    assert_int_equal(status, 0);
    signal(SIGUSR1, SIG_DFL);
}

/* Returns true if a program that is not recorded is found. */
static bool is_found(pid_t pid)
{
    static ttr_traceable list[256];
    const size_t n = ttr_traceable_find(list, 256);
    for (size_t i = 0; i < n && i < 256; i++)
        if (list[i].pid == (uint64_t)pid && list[i].modules >= 1 && !list[i].is_recorded)
            return true;
    return false;
}

static void programs_with_trace_points_are_found(void **state)
{
    (void)state;
    const pid_t child = start_alone();
    bool was_found = false;
    for (unsigned i = 0; i < 1000 && !was_found; i++) {
        usleep(5000);
        was_found = is_found(child);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(was_found);
}

static void process_without_trace_points_is_refused(void **state)
{
    (void)state;
    ttr_error error;
    ttr_manager_stats stats;
    scene_open();
    unsetenv(TRACE_SOCKET_VARIABLE);
    pid_t child;
    char name[] = "sleep", seconds[] = "10", *words[] = {name, seconds, NULL};
    assert_int_equal(posix_spawnp(&child, name, NULL, NULL, words, environ), 0);
    assert_int_equal(ttr_manager_attach(scene.manager, (uint64_t)child, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "libtracetta-trace"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scene_close(&stats);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(session_reports_programs_and_categories),
        CASE(filter_of_a_running_program_is_replaced),
        CASE(snapshot_writes_circular_rings),
        CASE(mode_of_running_programs_is_changed),
        CASE(stop_is_reported_to_the_caller),
        CASE(late_answer_is_not_read_as_that_of_the_next_request),
        CASE(unknown_requests_fail),
        CASE(running_program_is_attached_twice_in_turn),
        CASE(program_with_an_unread_answer_is_attached_after_its_manager_was_killed),
        CASE(filter_holds_from_the_first_event_of_an_attached_program),
        CASE(manager_that_gave_up_leaves_categories_disabled),
        CASE(programs_with_trace_points_are_found),
        CASE(process_without_trace_points_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
