/* Folders of sessions: those of dead managers are removed, those of living ones are not. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/session.h>

#include "recorder/session_folder.h"
#include "support/recorder_scene.h"
#include "support/support.h"

static int set_up(void **state)
{
    const int failed = scene_set_up(state);
    setenv("XDG_RUNTIME_DIR", scene.folder, 1);
    scene.options.socket = NULL; /* the manager chooses */
    return failed;
}

static int tear_down(void **state)
{
    unsetenv("XDG_RUNTIME_DIR");
    return scene_tear_down(state);
}

/* Binds a socket without a listener, as a killed manager leaves it. */
static void bind_and_close(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void close_manager(void)
{
    ttr_manager_stats stats;
    scene_close(&stats);
}

static void run_manager_until_killed(uint64_t unused)
{
    (void)unused;
    scene_open();
    snprintf((char *)scene.committed + 8, 108, "%s", ttr_manager_socket(scene.manager));
    __atomic_store_n(scene.committed, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static void next_manager_removes_the_folder_of_a_killed_one(void **state)
{
    (void)state;
    const struct timespec rest = {0, 1000000};
    const pid_t child = scene_start(run_manager_until_killed, 0);
    while (!__atomic_load_n(scene.committed, __ATOMIC_ACQUIRE))
        nanosleep(&rest, NULL);
    char socket_path[SESSION_SOCKET_MAX];
    memcpy(socket_path, scene.committed + 1, sizeof socket_path);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(access(socket_path, F_OK), 0);
    scene_open();
    *strrchr(socket_path, '/') = '\0';
    assert_int_equal(access(socket_path, F_OK), -1);
    assert_int_equal(access(ttr_manager_socket(scene.manager), F_OK), 0);
    close_manager();
}

static void list_removes_the_folder_of_a_killed_manager(void **state)
{
    (void)state;
    int lock_fd;
    uint64_t pids[4];
    char socket_path[SESSION_SOCKET_MAX];
    ttr_error error;
    assert_int_equal(session_folder_make(socket_path, &lock_fd, NULL), TTR_OK);
    bind_and_close(socket_path);
    close(lock_fd);
    (void)ttr_session_find(pids, 4);
    assert_int_equal(access(socket_path, F_OK), -1);
    assert_null(ttr_session_open((uint64_t)getpid(), &error));
    assert_non_null(strstr(error.text, "no session"));
    assert_null(ttr_session_open(1, &error));
}

/* Between bind and listen, a socket refuses connections like that of a dead manager. */
static void folder_of_a_manager_that_does_not_listen_yet_stays(void **state)
{
    (void)state;
    int lock_fd;
    uint64_t pids[4];
    char socket_path[SESSION_SOCKET_MAX];
    assert_int_equal(session_folder_make(socket_path, &lock_fd, NULL), TTR_OK);
    bind_and_close(socket_path);
    (void)ttr_session_find(pids, 4);
    session_folders_clean();
    assert_int_equal(access(socket_path, F_OK), 0);
    close(lock_fd);
}

/* Expects that cleaning leaves scene.folder/NAME with a file "socket" in it. */
static void expect_stays(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s/socket", scene.folder, name);
    session_folders_clean();
    assert_int_equal(access(path, F_OK), 0);
}

static void links_and_other_folders_stay(void **state)
{
    (void)state;
    char target[96], path[160];
    snprintf(target, sizeof target, "%s/target", scene.folder);
    assert_int_equal(mkdir(target, 0700), 0);
    snprintf(path, sizeof path, "%s/target/socket", scene.folder);
    bind_and_close(path);
    snprintf(path, sizeof path, "%s/tracetta-123-abcdef", scene.folder);
    assert_int_equal(symlink(target, path), 0);
    expect_stays("tracetta-123-abcdef");
    snprintf(path, sizeof path, "%s/tracetta-123-abcdefg", scene.folder);
    assert_int_equal(rename(target, path), 0); /* a name that no manager chooses */
    expect_stays("tracetta-123-abcdefg");
    snprintf(target, sizeof target, "%s/tracetta-124-abcdef", scene.folder);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(chmod(target, 0750), 0); /* another user may enter */
    expect_stays("tracetta-124-abcdef");
    assert_int_equal(chmod(target, 0700), 0);
    session_folders_clean();
    assert_int_equal(access(target, F_OK), -1);
}

/* A file in place of the socket was not made by a manager. */
static void folder_with_a_file_stays(void **state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s/tracetta-125-abcdef", scene.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/tracetta-125-abcdef/socket", scene.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    expect_stays("tracetta-125-abcdef");
}

/* Returns true if this process has a session. */
static bool is_listed(void)
{
    uint64_t pids[4];
    const size_t n = ttr_session_find(pids, 4);
    for (size_t i = 0; i < n && i < 4; i++)
        if (pids[i] == (uint64_t)getpid())
            return true;
    return false;
}

static void session_in_a_folder_that_others_can_enter_is_not_listed(void **state)
{
    (void)state;
    char folder[SESSION_SOCKET_MAX];
    scene_open();
    snprintf(folder, sizeof folder, "%s", ttr_manager_socket(scene.manager));
    *strrchr(folder, '/') = '\0';
    assert_true(is_listed());
    assert_int_equal(chmod(folder, 0755), 0);
    assert_false(is_listed());
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(is_listed());
    close_manager();
    assert_int_equal(access(folder, F_OK), -1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(next_manager_removes_the_folder_of_a_killed_one),
        CASE(list_removes_the_folder_of_a_killed_manager),
        CASE(folder_of_a_manager_that_does_not_listen_yet_stays),
        CASE(links_and_other_folders_stay),
        CASE(folder_with_a_file_stays),
        CASE(session_in_a_folder_that_others_can_enter_is_not_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
