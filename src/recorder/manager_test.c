/* The manager with real programs: forked children connect to it, write numbered events, and end in
 * different ways.  The archive is read word by word, against the layout of the specification. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/record.h>
#include <tracetta/trace.h>

#include "support/support.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

#define TEST_CATEGORIES(X) X(net, "net", "network") X(disk, "disk.slow", "files")
TTR_CATEGORIES_DEFINE(TEST_CATEGORIES);

#define WORDS_MAX (8u << 20)
#define THREADS_MAX 64u

struct scene {
    char folder[64], path[96], socket[96];
    ttr_manager *manager;
    int fd;
    ttr_manager_options options;
    uint64_t *committed; /* shared with the children */
    uint64_t *words;
    size_t words_n;
};

static struct scene scene;

static int set_up(void **state)
{
    (void)state;
    snprintf(scene.folder, sizeof scene.folder, "/tmp/tracetta-manager-%d", (int)getpid());
    snprintf(scene.path, sizeof scene.path, "%s/archive.fxt", scene.folder);
    snprintf(scene.socket, sizeof scene.socket, "%s/socket", scene.folder);
    assert_int_equal(mkdir(scene.folder, 0700), 0);
    scene.fd = open(scene.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(scene.fd >= 0);
    scene.options =
        (ttr_manager_options){.size = sizeof scene.options, .fd = scene.fd, .socket = scene.socket};
    scene.committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv(TRACE_SOCKET_VARIABLE, scene.socket, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv(TRACE_SOCKET_VARIABLE);
    free(scene.words);
    scene.words = NULL;
    munmap(scene.committed, 4096);
    close(scene.fd);
    unlink(scene.path);
    return rmdir(scene.folder);
}

static void open_manager(void)
{
    ttr_error error;
    scene.manager = ttr_manager_open(&scene.options, &error);
    if (!scene.manager)
        fail_msg("%s", error.text);
}

/* Starts a child that runs `body` and exits. */
static pid_t start_child(void (*body)(uint64_t), uint64_t argument)
{
    const pid_t child = fork();
    if (child == 0) {
        body(argument);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

/* Serves until all children have ended. */
static void serve(pid_t *children, size_t n)
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

static void close_manager(ttr_manager_stats *stats)
{
    ttr_error error;
    assert_int_equal(ttr_manager_run(scene.manager, 0, -1, &error), TTR_OK);
    assert_int_equal(ttr_manager_snapshot(scene.manager, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, stats);
    assert_int_equal(ttr_manager_close(scene.manager, &error), TTR_OK);
    scene.words = malloc(WORDS_MAX * 8);
    assert_non_null(scene.words);
    const ssize_t n = pread(scene.fd, scene.words, WORDS_MAX * 8, 0);
    assert_true(n >= 8 && n % 8 == 0);
    scene.words_n = (size_t)n / 8;
}

/* --- Reading the archive --- */

struct reading {
    uint64_t provider, pid, tid;
    uint64_t events, lost, begins;
    uint64_t thread[THREADS_MAX], next[THREADS_MAX], seen[THREADS_MAX], gaps[THREADS_MAX];
    size_t threads_n;
};

static void read_event(struct reading *reading, const uint64_t *record)
{
    const unsigned type = record[0] >> 16 & 15;
    size_t i = 0;
    if (record[0] >> 32 == 0x800b800e) {
        reading->lost += record[8];
        return;
    }
    reading->begins += type == 2;
    if (type != 0)
        return;
    while (i < reading->threads_n && reading->thread[i] != reading->tid)
        i++;
    assert_true(i < THREADS_MAX);
    if (i == reading->threads_n)
        reading->thread[reading->threads_n++] = reading->tid;
    assert_true(record[3] >= reading->next[i]);
    reading->gaps[i] += record[3] - reading->next[i];
    reading->next[i] = record[3] + 1;
    reading->seen[i]++;
    reading->events++;
}

/* Reads all records: instants have one argument, the number of the event in its thread. */
static struct reading read_archive(void)
{
    struct reading reading = {0};
    assert_int_equal(scene.words[0], TRACE_FXT_MAGIC);
    for (size_t at = 1, n; at < scene.words_n; at += n) {
        const uint64_t *record = scene.words + at;
        n = record[0] >> 4 & 0xfff;
        assert_true(n > 0 && n <= scene.words_n - at);
        switch (record[0] & 15) {
        case 0:
            reading.provider = record[0] >> 20 & 0xffffffff;
            break;
        case TRACE_FXT_THREAD:
            reading.pid = record[1];
            reading.tid = record[2];
            break;
        case TRACE_FXT_EVENT:
            read_event(&reading, record);
            break;
        default:
            break;
        }
    }
    return reading;
}

/* --- Programs --- */

static void write_numbers(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        __atomic_store_n(scene.committed, i + 1, __ATOMIC_RELEASE);
    }
}

static void write_numbers_slowly(uint64_t n)
{
    const struct timespec rest = {0, 1000000};
    for (uint64_t i = 0; i < n; i++) {
        TTR_INSTANT(net, "numbered", TTR_ARG("n", i));
        if (i % 1000 == 999)
            nanosleep(&rest, NULL);
    }
}

static void every_event_of_two_programs_is_in_the_archive(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    open_manager();
    pid_t children[] = {start_child(write_numbers_slowly, 40000),
                        start_child(write_numbers_slowly, 40000)};
    ttr_manager_program program;
    ttr_error error;
    for (unsigned i = 0; i < 100 && !ttr_manager_program_at(scene.manager, 1, &program); i++)
        assert_int_equal(ttr_manager_run(scene.manager, 10, -1, &error), TTR_OK);
    assert_true(ttr_manager_program_at(scene.manager, 0, &program));
    assert_true(program.pid == (uint64_t)children[0] || program.pid == (uint64_t)children[1]);
    serve(children, 2);
    close_manager(&stats);
    const struct reading reading = read_archive();
    assert_int_equal(stats.programs, 2);
    assert_int_equal(reading.threads_n, 2);
    assert_int_equal(reading.events + reading.lost, 80000);
    assert_int_equal(reading.events, stats.events);
    assert_int_equal(reading.lost, stats.dropped);
    assert_int_equal(reading.gaps[0] + reading.gaps[1], reading.lost);
    assert_int_equal(stats.invalid, 0);
}

static void *run_writer(void *n)
{
    write_numbers((uint64_t)(uintptr_t)n);
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

static void drops_are_counted_exactly(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    open_manager();
    pid_t child = start_child(write_by_four_threads, 200000);
    serve(&child, 1);
    close_manager(&stats);
    const struct reading reading = read_archive();
    uint64_t gaps = 0, unseen = 0;
    for (size_t i = 0; i < reading.threads_n; i++) {
        gaps += reading.gaps[i];
        unseen += 200000 - reading.next[i];
    }
    assert_int_equal(reading.threads_n, 4);
    assert_int_equal(reading.events + reading.lost, 4 * 200000);
    assert_int_equal(gaps + unseen, reading.lost);
}

static void killed_program_loses_no_committed_event(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++) {
        ttr_manager_stats stats;
        ttr_error error;
        *scene.committed = 0;
        assert_int_equal(lseek(scene.fd, 0, SEEK_SET), 0);
        assert_int_equal(ftruncate(scene.fd, 0), 0);
        scene.options.buffer_bytes = 8u << 20;
        open_manager();
        pid_t child = start_child(write_numbers, UINT64_MAX);
        while (*scene.committed < 100 + 5000 * round)
            assert_int_equal(ttr_manager_run(scene.manager, 1, -1, &error), TTR_OK);
        kill(child, SIGKILL);
        serve(&child, 1);
        close_manager(&stats);
        const uint64_t committed = *scene.committed;
        const struct reading reading = read_archive();
        assert_int_equal(reading.threads_n, 1);
        /* The event that was committed last may not be counted yet, or its number is in a drop. */
        assert_in_range(reading.events + reading.lost, committed, committed + 1);
        free(scene.words);
        scene.words = NULL;
    }
}

static void open_zones_and_die(uint64_t n)
{
    TTR_ZONE(net, "outer");
    {
        TTR_ZONE(disk, "inner", TTR_ARG("n", n));
        raise(SIGKILL);
    }
}

static void zones_of_a_killed_program_are_begun(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    open_manager();
    pid_t child = start_child(open_zones_and_die, 1);
    serve(&child, 1);
    close_manager(&stats);
    assert_int_equal(stats.open_zones, 2);
    assert_int_equal(read_archive().begins, 2);
}

static void circular_mode_has_the_newest_events(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 4 * TRACE_CHUNK;
    open_manager();
    pid_t child = start_child(write_numbers, 100000);
    serve(&child, 1);
    close_manager(&stats);
    const struct reading reading = read_archive();
    assert_int_equal(reading.next[0], 100000);
    assert_in_range(reading.events, 3 * TRACE_CHUNK / 32 - 10, 4 * TRACE_CHUNK / 32);
    assert_int_equal(reading.lost, 0);
    assert_true(stats.overwritten > 0);
}

static void filter_is_applied_by_the_manager(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.categories = "disk.*";
    open_manager();
    pid_t child = start_child(write_numbers, 1000);
    serve(&child, 1);
    close_manager(&stats);
    assert_int_equal(stats.programs, 1);
    assert_int_equal(stats.events, 0);
}

/* --- Hostile programs --- */

static int connect_by_hand(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, scene.socket, strlen(scene.socket));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void garbage_in_messages_is_refused(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    char garbage[128];
    memset(garbage, 0xa5, sizeof garbage);
    open_manager();
    const int fd = connect_by_hand();
    assert_int_equal(send(fd, garbage, sizeof garbage, 0), sizeof garbage);
    const int short_fd = connect_by_hand();
    assert_int_equal(send(short_fd, garbage, 3, 0), 3);
    assert_int_equal(ttr_manager_run(scene.manager, 20, -1, &error), TTR_OK);
    pid_t child = start_child(write_numbers_slowly, 1000);
    serve(&child, 1);
    close(fd);
    close(short_fd);
    close_manager(&stats);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.events, 1000);
}

/* Overwrites the shared memory of this program with random bytes, and publishes random positions.
 */
static void damage_memory(uint64_t seed)
{
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
    struct trace_header *header = ttr_trace_thread.memory;
    struct trace_ring_header *ring = ttr_trace_thread.ring[0].shared;
    uint64_t *words = (uint64_t *)(void *)ring;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t value = seed >> 7;
        switch (seed >> 61) {
        case 0:
            __atomic_store_n(&ring->commit, seed >> 20 & (i % 3 ? 0x7fff8 : UINT64_MAX),
                             __ATOMIC_RELEASE);
            break;
        case 1:
            __atomic_store_n(&header->strings_used, value & 0x3ffff8, __ATOMIC_RELEASE);
            break;
        case 2:
            __atomic_store_n(&ring->open_zones[0], value, __ATOMIC_RELEASE);
            break;
        case 3:
            __atomic_store_n(&header->rings_used, (uint32_t)value, __ATOMIC_RELEASE);
            break;
        default:
            words[seed % ((TRACE_PAGE + 8 * TRACE_CHUNK) / 8)] = seed * 3;
        }
    }
}

static void hostile_memory_harms_no_other_program(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    open_manager();
    pid_t children[6] = {start_child(write_numbers_slowly, 20000)};
    for (uint64_t i = 1; i < 6; i++)
        children[i] = start_child(damage_memory, i * 7919);
    serve(children, 6);
    close_manager(&stats);
    const uint64_t honest = 20000;
    assert_int_equal(stats.programs, 6);
    assert_true(stats.events >= honest);
}

static void full_output_keeps_complete_pieces(void **state)
{
    (void)state;
    ttr_error error;
    signal(SIGXFSZ, SIG_IGN);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0)
        skip();
    scene.options.fd = full;
    assert_null(ttr_manager_open(&scene.options, &error));
    assert_int_equal(error.status, TTR_E_IO);
    close(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_event_of_two_programs_is_in_the_archive, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(drops_are_counted_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_program_loses_no_committed_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zones_of_a_killed_program_are_begun, set_up, tear_down),
        cmocka_unit_test_setup_teardown(circular_mode_has_the_newest_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_is_applied_by_the_manager, set_up, tear_down),
        cmocka_unit_test_setup_teardown(garbage_in_messages_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_memory_harms_no_other_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_output_keeps_complete_pieces, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
