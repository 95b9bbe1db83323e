/* Limits per program: one that exceeds them is limited or disconnected, which is counted, and
 * another program loses nothing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "support/recorder_scene.h"
#include "support/support.h"

#define HONEST_EVENTS 5000u

/* Returns the instants "numbered" of a program. */
static uint64_t count_events_of(pid_t pid)
{
    uint64_t n = 0;
    bool is_current = false;
    for (size_t at = 1; at < scene.words_n; at += scene.words[at] >> 4 & 0xfff) {
        const uint64_t *record = scene.words + at;
        if ((record[0] & 15) == TRACE_FXT_THREAD && (record[0] >> 16 & 0xff) == TRACE_REAL_THREAD)
            is_current = record[1] == (uint64_t)pid;
        n += is_current && (record[0] & 0xf000f) == TRACE_FXT_EVENT && record[0] >> 63 == 0;
    }
    return n;
}

/* Runs a program that exceeds a limit beside an honest one, which loses nothing. */
static pid_t run_beside_honest_program(void (*body)(uint64_t), ttr_manager_stats *stats)
{
    scene_open();
    pid_t children[2] = {scene_start(scene_write_slowly, HONEST_EVENTS), scene_start(body, 0)};
    const pid_t honest = children[0], other = children[1];
    scene_serve(children, 2);
    scene_close(stats);
    assert_int_equal(count_events_of(honest), HONEST_EVENTS);
    return other;
}

/* --- Threads --- */

#define LARGE_RING ((size_t)256 << 20)
#define RINGS ((unsigned)(PROGRAM_MEMORY_MAX / LARGE_RING)) /* nearly: each has a page more */
#define THREADS (RINGS + 40u)

static pthread_barrier_t all_have_written;

static void *write_one_and_wait(void *unused)
{
    (void)unused;
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
    pthread_barrier_wait(&all_have_written);
    return NULL;
}

static void write_by_too_many_threads(uint64_t unused)
{
    (void)unused;
    pthread_t thread[THREADS];
    pthread_barrier_init(&all_have_written, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, write_one_and_wait, NULL) != 0)
            _exit(1);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void events_of_threads_above_the_limit_are_counted_as_lost(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = LARGE_RING;
    const pid_t other = run_beside_honest_program(write_by_too_many_threads, &stats);
    const uint64_t kept = count_events_of(other);
    assert_in_range(kept, RINGS - 1, RINGS);
    assert_int_equal(stats.dropped, THREADS - kept);
    assert_int_equal(scene_read().lost, stats.dropped);
    assert_int_equal(stats.expelled, 0);
}

/* --- Strings --- */

#define NAMES 40000u

static void write_with_too_many_names(uint64_t unused)
{
    (void)unused;
    const char *none[] = {NULL};
    for (unsigned i = 0; i < NAMES; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "name %u", i);
        ttr_trace_site *site =
            ttr_trace_site_new("net.many", name, TTR_TRACE_INSTANT, TTR_TRACE_INFORMATION, none, 0);
        if (!site)
            _exit(1);
        ttr_trace_site_write(site, ttr_trace_now(), 0, NULL);
    }
}

static void events_with_names_above_the_limit_are_counted_as_lost(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = 64 * TRACE_CHUNK;
    const pid_t other = run_beside_honest_program(write_with_too_many_names, &stats);
    const uint64_t kept = count_events_of(other);
    assert_in_range(kept, 30000, TRACE_FXT_STRINGS);
    assert_int_equal(kept + stats.dropped, NAMES);
    assert_int_equal(stats.expelled, 0);
    assert_int_equal(stats.invalid, 0);
}

/* --- Bytes --- */

#define WIDE_RING ((size_t)16 << 20)
#define WIDE_THREADS 4u
#define WIDE_EVENTS (WIDE_RING / 24 / 2) /* an event has 24 bytes, so half of a ring is filled */
#define FEW_EVENTS 10u
/* events that the byte limit of a pass admits: it may be exceeded by the rest of a chunk */
#define PASS_EVENTS ((RECORDER_PASS_BYTES + TRACE_CHUNK) / 24)

/* Words of the page that is shared with the children. */
enum { ARE_READY = 8, MAY_WRITE, HAVE_WRITTEN, MAY_END };

static void await_word(size_t i, uint64_t value)
{
    const struct timespec rest = {0, 1000000};
    while (__atomic_load_n(&scene.committed[i], __ATOMIC_ACQUIRE) < value)
        nanosleep(&rest, NULL);
}

/* Waits until the manager has enabled the category, and then for the test. */
static void await_start(void)
{
    const struct timespec rest = {0, 1000000};
    while (!TTR_TRACE_ENABLED(net))
        nanosleep(&rest, NULL);
    __atomic_fetch_add(&scene.committed[ARE_READY], 1, __ATOMIC_RELEASE);
    await_word(MAY_WRITE, 1);
}

static void *fill_half_a_ring(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < WIDE_EVENTS; i++)
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
    __atomic_fetch_add(&scene.committed[HAVE_WRITTEN], 1, __ATOMIC_RELEASE);
    await_word(MAY_END, 1);
    return NULL;
}

/* Writes 32 MiB while the manager does not read. */
static void fill_rings(uint64_t unused)
{
    (void)unused;
    pthread_t thread[WIDE_THREADS];
    await_start();
    for (size_t i = 0; i < WIDE_THREADS; i++)
        pthread_create(&thread[i], NULL, fill_half_a_ring, NULL);
    for (size_t i = 0; i < WIDE_THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void write_few(uint64_t unused)
{
    (void)unused;
    await_start();
    for (uint64_t i = 0; i < FEW_EVENTS; i++)
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
    __atomic_fetch_add(&scene.committed[HAVE_WRITTEN], 1, __ATOMIC_RELEASE);
    await_word(MAY_END, 1);
}

/* Returns the number of threads that wrote the first `bytes` bytes of events of a program. */
static size_t count_threads_before(pid_t pid, uint64_t bytes)
{
    uint64_t tids[2 * WIDE_THREADS], before = 0;
    size_t n = 0, words;
    bool is_current = false;
    for (size_t at = 1; at < scene.words_n && before < bytes; at += words) {
        const uint64_t *record = scene.words + at;
        words = record[0] >> 4 & 0xfff;
        if ((record[0] & 15) == TRACE_FXT_EVENT) {
            before += is_current ? words * 8 : 0;
            continue;
        }
        if ((record[0] & 15) != TRACE_FXT_THREAD)
            continue;
        is_current = record[1] == (uint64_t)pid;
        size_t i = 0;
        while (i < n && tids[i] != record[2])
            i++;
        if (is_current && i == n && n < 2 * WIDE_THREADS)
            tids[n++] = record[2];
    }
    return n;
}

static void full_rings_of_a_program_delay_no_other_program_or_thread(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    scene.options.buffer_bytes = WIDE_RING;
    scene_open();
    pid_t children[2] = {scene_start(fill_rings, 0), scene_start(write_few, 0)};
    const pid_t greedy = children[0], modest = children[1];
    while (__atomic_load_n(&scene.committed[ARE_READY], __ATOMIC_ACQUIRE) < 2)
        assert_int_equal(ttr_manager_run(scene.manager, 5, -1, &error), TTR_OK);
    __atomic_store_n(&scene.committed[MAY_WRITE], 1, __ATOMIC_RELEASE);
    await_word(HAVE_WRITTEN, WIDE_THREADS + 1);
    assert_int_equal(ttr_manager_run(scene.manager, 0, -1, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, &stats);
    assert_in_range(stats.events, FEW_EVENTS + 1, FEW_EVENTS + PASS_EVENTS);
    for (unsigned i = 1; i < WIDE_THREADS; i++)
        assert_int_equal(ttr_manager_run(scene.manager, 0, -1, &error), TTR_OK);
    __atomic_store_n(&scene.committed[MAY_END], 1, __ATOMIC_RELEASE);
    scene_serve(children, 2);
    scene_close(&stats);
    assert_int_equal(count_events_of(modest), FEW_EVENTS);
    assert_int_equal(count_events_of(greedy), WIDE_THREADS * WIDE_EVENTS);
    assert_int_equal(count_threads_before(greedy, WIDE_THREADS * RECORDER_PASS_BYTES),
                     WIDE_THREADS);
    assert_int_equal(stats.dropped, 0);
}

/* --- Categories and connections --- */

static int connect_by_hand(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, scene.socket, strlen(scene.socket));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        _exit(1);
    return fd;
}

static void send_too_many_categories(uint64_t unused)
{
    (void)unused;
    const int fd = connect_by_hand();
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC,
                                    .version = TRACE_VERSION,
                                    .kind = TRACE_HELLO,
                                    .text = "greedy"};
    (void)!send(fd, &message, sizeof message, MSG_NOSIGNAL);
    message.kind = TRACE_CATEGORY;
    for (uint32_t i = 0; i < PROGRAM_CATEGORIES_MAX + 100; i++) {
        message.a = i / TRACE_PAGE;
        message.b = i % TRACE_PAGE;
        if (send(fd, &message, sizeof message, MSG_NOSIGNAL) < 0)
            return; /* disconnected */
    }
    while (recv(fd, &message, sizeof message, 0) > 0)
        ;
}

static void program_with_too_many_categories_is_disconnected(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = 64 * TRACE_CHUNK;
    (void)run_beside_honest_program(send_too_many_categories, &stats);
    assert_int_equal(stats.programs, 3); /* the child also connects by itself */
    assert_int_equal(stats.expelled, 1);
}

static void connect_many_times(uint64_t unused)
{
    (void)unused;
    char byte;
    int fds[8];
    for (unsigned i = 0; i < 8; i++)
        fds[i] = connect_by_hand();
    /* Those that are refused are closed by the manager. */
    if (recv(fds[7], &byte, 1, 0) != 0)
        _exit(1);
}

static void programs_above_the_limit_are_refused(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.max_programs = 4;
    (void)run_beside_honest_program(connect_many_times, &stats);
    assert_true(stats.refused >= 4);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(events_of_threads_above_the_limit_are_counted_as_lost),
        CASE(events_with_names_above_the_limit_are_counted_as_lost),
        CASE(full_rings_of_a_program_delay_no_other_program_or_thread),
        CASE(program_with_too_many_categories_is_disconnected),
        CASE(programs_above_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
