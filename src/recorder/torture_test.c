/* Threads, processes, signals and ends of all kinds, with exact accounting: every event that was
 * attempted is in the archive or counted as lost. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/recorder_scene.h"
#include "support/support.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

#define SHORT_THREADS 2000u /* TTR_THREADS sets another number */
#define FORKS 60u

static void *run_writer(void *n)
{
    scene_write_numbers((uint64_t)(uintptr_t)n);
    return NULL;
}

static void write_by_four_threads(uint64_t n)
{
    pthread_t thread[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, run_writer, (void *)(uintptr_t)n);
    for (size_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* No program was treated as hostile. */
static void assert_clean(const ttr_manager_stats *stats)
{
    assert_int_equal(stats->invalid, 0);
    assert_int_equal(stats->expelled, 0);
    assert_int_equal(stats->refused, 0);
    assert_int_equal(stats->unwritten, 0);
}

static void every_event_of_12_threads_is_accounted_for(enum ttr_manager_mode mode)
{
    ttr_manager_stats stats;
    const uint64_t n = 20000;
    scene.options.mode = mode;
    scene.options.buffer_bytes = 3 * TRACE_CHUNK;
    scene_open();
    pid_t children[3];
    for (size_t i = 0; i < 3; i++)
        children[i] = scene_start(write_by_four_threads, n);
    scene_serve(children, 3);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    uint64_t gaps = 0, gaps_inside = 0, unseen = 0;
    for (size_t i = 0; i < reading.threads_n; i++) {
        gaps += reading.thread[i].gaps;
        gaps_inside += reading.thread[i].gaps - reading.thread[i].first;
        unseen += n - reading.thread[i].next;
    }
    assert_clean(&stats);
    assert_int_equal(stats.events, reading.events);
    assert_int_equal(stats.dropped, reading.lost);
    assert_int_equal(reading.events + reading.lost, 12 * n);
    assert_int_equal(reading.threads_n, 12);
    assert_int_equal(gaps + unseen, reading.lost);
    /* Its first events are lost if a thread cannot lock the session in time to claim a ring. */
    assert_true(mode == TTR_MANAGER_STREAMING || gaps_inside == 0);
}

static void streaming_mode_accounts_for_every_event(void **state)
{
    (void)state;
    every_event_of_12_threads_is_accounted_for(TTR_MANAGER_STREAMING);
}

static void oneshot_mode_accounts_for_every_event(void **state)
{
    (void)state;
    every_event_of_12_threads_is_accounted_for(TTR_MANAGER_ONESHOT);
}

/* Snapshots are copied while the ring is being overwritten. */
static void snapshots_of_a_running_ring_are_valid(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(write_by_four_threads, 1000000);
    while (waitpid(child, NULL, WNOHANG) == 0) {
        assert_int_equal(ttr_manager_run(scene.manager, 1, -1, &error), TTR_OK);
        assert_int_equal(ttr_manager_snapshot(scene.manager, &error), TTR_OK);
    }
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_clean(&stats);
    assert_int_equal(reading.threads_n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(reading.thread[i].next, 1000000);
}

/* Modes change while 4 threads write. The numbers of each thread rise, and no program is
 * disconnected, although threads notice a change late. */
static void changes_of_the_mode_while_threads_write_are_no_violations(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    const uint64_t n = 1000000;
    unsigned changes = 0;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(write_by_four_threads, n);
    while (waitpid(child, NULL, WNOHANG) == 0) {
        assert_int_equal(ttr_manager_run(scene.manager, 1, -1, &error), TTR_OK);
        const enum ttr_manager_mode mode =
            ++changes % 2 ? TTR_MANAGER_STREAMING : TTR_MANAGER_CIRCULAR;
        assert_int_equal(ttr_manager_set_mode(scene.manager, mode, &error), TTR_OK);
    }
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_clean(&stats);
    assert_true(changes > 2);
    assert_int_equal(stats.events, reading.events);
    assert_int_equal(stats.dropped, reading.lost);
    assert_int_equal(reading.threads_n, 4);
    assert_true(reading.events + reading.lost <= 4 * n);
    if (stats.overwritten == 0)
        assert_int_equal(reading.events + reading.lost, 4 * n);
}

/* --- Threads that come and go --- */

static void write_by_short_threads(uint64_t n)
{
    pthread_t thread;
    for (uint64_t i = 0; i < n; i++) {
        if (pthread_create(&thread, NULL, run_writer, (void *)(uintptr_t)3) != 0)
            _exit(1);
        pthread_join(thread, NULL);
    }
}

static void events_of_short_threads_are_all_recorded(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene_open();
    const char *text = getenv("TTR_THREADS");
    const uint64_t n = text ? strtoull(text, NULL, 10) : SHORT_THREADS;
    pid_t child = scene_start(write_by_short_threads, n);
    scene_serve(&child, 1);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_clean(&stats);
    assert_int_equal(reading.events, 3 * n);
    assert_int_equal(reading.lost, 0);
}

static void circular_mode_reuses_rings_of_ended_threads(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(write_by_short_threads, TRACE_RINGS_MAX + 100);
    scene_serve(&child, 1);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_clean(&stats);
    /* A ring has two chunks, so the second thread of a ring overwrites nothing. */
    assert_int_equal(reading.events, 3 * (TRACE_RINGS_MAX + 100));
    assert_int_equal(reading.lost, 0);
}

static pthread_key_t late_key;

static void write_late(void *n)
{
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)(uintptr_t)n));
}

static void *run_late_writer(void *n)
{
    pthread_setspecific(late_key, (void *)(uintptr_t)1);
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
    return n;
}

static void write_in_destructors(uint64_t n)
{
    pthread_t thread;
    pthread_key_create(&late_key, write_late);
    for (uint64_t i = 0; i < n; i++) {
        pthread_create(&thread, NULL, run_late_writer, NULL);
        pthread_join(thread, NULL);
    }
}

static void destructors_of_a_thread_may_write_events(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene_open();
    pid_t child = scene_start(write_in_destructors, 100);
    scene_serve(&child, 1);
    scene_close(&stats);
    assert_clean(&stats);
    assert_int_equal(scene_read().events, 200);
}

/* --- Signals --- */

static uint64_t attempts; /* of the handler */

static void write_in_handler(int signal_number)
{
    (void)signal_number;
    for (unsigned i = 0; i < 3; i++) {
        TTR_INSTANT(disk, "in a handler", TTR_ARG("n", attempts));
        attempts++;
    }
}

static void write_under_signals(uint64_t n)
{
    const struct itimerval timer = {{0, 20}, {0, 20}}, none = {{0, 0}, {0, 0}};
    const struct timespec rest = {0, 1000000};
    signal(SIGALRM, write_in_handler);
    TTR_INSTANT(disk, "first", TTR_ARG("n", attempts));
    attempts++;
    setitimer(ITIMER_REAL, &timer, NULL);
    for (uint64_t i = 0; i < n; i++) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        if (i % 2000 == 1999)
            nanosleep(&rest, NULL);
    }
    setitimer(ITIMER_REAL, &none, NULL);
    scene.committed[1] = attempts;
}

/* Counts the instants of the archive, also those of handlers, which have other numbers. */
static uint64_t count_instants(void)
{
    uint64_t n = 0;
    for (size_t at = 1; at < scene.words_n; at += scene.words[at] >> 4 & 0xfff)
        n += (scene.words[at] & 0xf000f) == TRACE_FXT_EVENT && scene.words[at] >> 32 != 0x800b800e;
    return n;
}

static void signals_every_20_us_lose_nothing_uncounted(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene_open();
    pid_t child = scene_start(write_under_signals, 300000);
    scene_serve(&child, 1);
    const uint64_t handler = scene.committed[1];
    scene_close(&stats);
    assert_clean(&stats);
    assert_true(handler > 1);
    assert_int_equal(stats.events, count_instants());
    assert_int_equal(stats.events + stats.dropped, 300000 + handler);
}

/* --- Forks --- */

static void write_and_fork(uint64_t n)
{
    TTR_ZONE(net, "parent");
    for (uint64_t i = 0; i < n; i++) {
        const pid_t child = fork();
        if (child == 0) {
            TTR_ZONE(net, "child");
            TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
            const pid_t grandchild = fork();
            if (grandchild == 0)
                break; /* ends the zones of both parents */
            int status;
            waitpid(grandchild, &status, 0);
            _exit(status != 0);
        }
        int status;
        waitpid(child, &status, 0);
        scene.committed[1] += status == 0;
    }
}

static void forks_inside_zones_are_programs_of_their_own(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene_open();
    pid_t child = scene_start(write_and_fork, FORKS);
    scene_serve(&child, 1);
    const uint64_t succeeded = scene.committed[1];
    scene_close(&stats);
    assert_clean(&stats);
    assert_int_equal(succeeded, FORKS);
    assert_int_equal(stats.programs, 1 + 2 * FORKS);
    assert_int_equal(scene_read().events, FORKS);
}

/* --- The manager ends --- */

static void write_until_disabled(uint64_t n)
{
    uint64_t i = 0;
    while (TTR_TRACE_ENABLED(net) && i < n) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        __atomic_store_n(scene.committed, ++i, __ATOMIC_RELEASE);
    }
    scene.committed[1] = !TTR_TRACE_ENABLED(net);
}

static void run_manager(uint64_t unused)
{
    ttr_error error;
    (void)unused;
    for (;;)
        if (ttr_manager_run(scene.manager, 10, -1, &error) != TTR_OK)
            _exit(1);
}

static void dead_manager_disables_categories(enum ttr_manager_mode mode)
{
    ttr_error error;
    scene.options.mode = mode;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    unsetenv(TRACE_SOCKET_VARIABLE); /* this child records nothing */
    const pid_t manager = scene_start(run_manager, 0);
    setenv(TRACE_SOCKET_VARIABLE, scene.socket, 1);
    const pid_t program = scene_start(write_until_disabled, UINT64_C(1) << 32);
    while (__atomic_load_n(scene.committed, __ATOMIC_ACQUIRE) < 10000)
        assert_int_equal(waitpid(program, NULL, WNOHANG), 0);
    kill(manager, SIGKILL);
    assert_int_equal(waitpid(manager, NULL, 0), manager);
    assert_int_equal(waitpid(program, NULL, 0), program);
    assert_int_equal(scene.committed[1], 1);
    assert_int_equal(ttr_manager_close(scene.manager, &error), TTR_OK);
}

static void program_outlives_a_streaming_manager(void **state)
{
    (void)state;
    dead_manager_disables_categories(TTR_MANAGER_STREAMING);
}

static void program_outlives_a_circular_manager(void **state)
{
    (void)state;
    dead_manager_disables_categories(TTR_MANAGER_CIRCULAR);
}

static void program_outlives_a_oneshot_manager(void **state)
{
    (void)state;
    dead_manager_disables_categories(TTR_MANAGER_ONESHOT);
}

/* --- Soak --- */

#define SOAK_SECONDS 2u /* TTR_SOAK sets another number */
#define SOAK_THREADS 4u

static uint64_t soak_seconds(void)
{
    const char *text = getenv("TTR_SOAK");
    return text ? strtoull(text, NULL, 10) : SOAK_SECONDS;
}

static uint64_t read_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* Writes about 200,000 events per second until `end`, and adds their number to a shared counter. */
static void *write_until(void *end)
{
    const struct timespec rest = {0, 5000000};
    uint64_t n = 0;
    while (read_seconds() < (uint64_t)(uintptr_t)end) {
        for (unsigned i = 0; i < 500; i++, n += 2) {
            TTR_ZONE(net, "turn", TTR_ARG("n", n));
            TTR_INSTANT(disk, "step");
        }
        nanosleep(&rest, NULL);
    }
    __atomic_fetch_add(scene.committed, n, __ATOMIC_RELAXED);
    return NULL;
}

static void write_by_threads_until(uint64_t end)
{
    pthread_t thread[SOAK_THREADS];
    for (size_t i = 0; i < SOAK_THREADS; i++)
        pthread_create(&thread[i], NULL, write_until, (void *)(uintptr_t)end);
    for (size_t i = 0; i < SOAK_THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* A file that vanishes when the next one is opened. */
static int open_soak_file(void *files)
{
    static int current = -1;
    char path[128];
    snprintf(path, sizeof path, "%s/next", scene.folder);
    if (current >= 0)
        close(current);
    current = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink(path);
    ++*(unsigned *)files;
    return current;
}

/* Returns the private memory of this process in KiB. */
static uint64_t read_private_kib(void)
{
    unsigned long long pages = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu %llu", &pages, &resident, &shared), 3);
    fclose(file);
    return (resident - shared) * 4;
}

static void long_recording_accounts_for_every_event_in_constant_memory(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    unsigned files = 0;
    pid_t children[2];
    const uint64_t start = read_seconds(), end = start + soak_seconds() + 1;
    scene.options.rotate_bytes = 32u << 20;
    scene.options.next_output = open_soak_file;
    scene.options.user_data = &files;
    scene_open();
    for (size_t i = 0; i < 2; i++)
        children[i] = scene_start(write_by_threads_until, end);
    while (read_seconds() < start + soak_seconds() / 4 + 1)
        assert_int_equal(ttr_manager_run(scene.manager, 100, -1, &error), TTR_OK);
    const uint64_t early_kib = read_private_kib();
    while (read_seconds() < end - 1)
        assert_int_equal(ttr_manager_run(scene.manager, 100, -1, &error), TTR_OK);
    const uint64_t late_kib = read_private_kib();
    scene_serve(children, 2);
    ttr_manager_get_stats(scene.manager, &stats);
    scene_close(&stats);
    print_message(
        "# soak: %llu s, %llu events, %llu dropped, %llu MiB in %u files, memory %llu and "
        "%llu KiB\n",
        (unsigned long long)soak_seconds(), (unsigned long long)stats.events,
        (unsigned long long)stats.dropped, (unsigned long long)(stats.bytes >> 20), files + 1,
        (unsigned long long)early_kib, (unsigned long long)late_kib);
    assert_clean(&stats);
    assert_int_equal(stats.events + stats.dropped, *scene.committed);
    /* a part of the first figure: sanitizers keep more memory per thread that ended */
    assert_true(late_kib <= early_kib + early_kib / 5 + 1024);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(streaming_mode_accounts_for_every_event),
        CASE(oneshot_mode_accounts_for_every_event),
        CASE(snapshots_of_a_running_ring_are_valid),
        CASE(changes_of_the_mode_while_threads_write_are_no_violations),
        CASE(events_of_short_threads_are_all_recorded),
        CASE(circular_mode_reuses_rings_of_ended_threads),
        CASE(destructors_of_a_thread_may_write_events),
        CASE(signals_every_20_us_lose_nothing_uncounted),
        CASE(forks_inside_zones_are_programs_of_their_own),
        CASE(long_recording_accounts_for_every_event_in_constant_memory),
        CASE(program_outlives_a_streaming_manager),
        CASE(program_outlives_a_circular_manager),
        CASE(program_outlives_a_oneshot_manager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
