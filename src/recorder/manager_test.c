/* The manager with real programs: how they connect, end, are filtered, and misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "support/recorder_scene.h"
#include "support/support.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

/* --- Programs --- */

static void every_event_of_two_programs_is_in_the_archive(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene_open();
    pid_t children[] = {scene_start(scene_write_slowly, 40000),
                        scene_start(scene_write_slowly, 40000)};
    ttr_manager_program program;
    ttr_error error;
    for (unsigned i = 0; i < 100 && !ttr_manager_program_at(scene.manager, 1, &program); i++)
        assert_int_equal(ttr_manager_run(scene.manager, 10, -1, &error), TTR_OK);
    assert_true(ttr_manager_program_at(scene.manager, 0, &program));
    assert_true(program.pid == (uint64_t)children[0] || program.pid == (uint64_t)children[1]);
    scene_serve(children, 2);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_int_equal(stats.programs, 2);
    assert_int_equal(reading.threads_n, 2);
    assert_int_equal(reading.events + reading.lost, 80000);
    assert_int_equal(reading.events, stats.events);
    assert_int_equal(reading.lost, stats.dropped);
    assert_int_equal(reading.thread[0].gaps + reading.thread[1].gaps, reading.lost);
    assert_int_equal(stats.invalid, 0);
}

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

static void drops_are_counted_exactly(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(write_by_four_threads, 200000);
    scene_serve(&child, 1);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    uint64_t gaps = 0, unseen = 0;
    for (size_t i = 0; i < reading.threads_n; i++) {
        gaps += reading.thread[i].gaps;
        unseen += 200000 - reading.thread[i].next;
    }
    assert_int_equal(reading.threads_n, 4);
    assert_int_equal(reading.events + reading.lost, 4 * 200000);
    assert_int_equal(gaps + unseen, reading.lost);
}

#define KILLS 30u
#define KILLS_NIGHTLY 1000u

/* Rounds of the test below; TTR_KILLS sets another number. */
static uint64_t kills(void)
{
    const char *text = getenv("TTR_KILLS");
    if (text)
        return strtoull(text, NULL, 10);
    return getenv("TTR_NIGHTLY") ? KILLS_NIGHTLY : KILLS;
}

static void killed_program_loses_no_committed_event(void **state)
{
    (void)state;
    uint64_t seed = 1, events = 0;
    for (uint64_t round = 0; round < kills(); round++) {
        ttr_manager_stats stats;
        ttr_error error;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t moment = 1 + (seed >> 33) % 50000;
        scene.options.buffer_bytes = 8u << 20;
        scene_open();
        pid_t child = scene_start(scene_write_numbers, UINT64_MAX);
        while (__atomic_load_n(scene.committed, __ATOMIC_ACQUIRE) < moment)
            assert_int_equal(ttr_manager_run(scene.manager, 1, -1, &error), TTR_OK);
        kill(child, SIGKILL);
        scene_serve(&child, 1);
        scene_close(&stats);
        const uint64_t committed = *scene.committed;
        const struct scene_reading reading = scene_read();
        assert_int_equal(reading.threads_n, 1);
        /* The event that was committed last may not be counted yet, or its number is in a drop. */
        assert_in_range(reading.events + reading.lost, committed, committed + 1);
        events += committed;
    }
    if (kills() > KILLS)
        print_message("# %llu programs were killed, %llu committed events\n",
                      (unsigned long long)kills(), (unsigned long long)events);
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
    scene_open();
    pid_t child = scene_start(open_zones_and_die, 1);
    scene_serve(&child, 1);
    scene_close(&stats);
    assert_int_equal(stats.open_zones, 2);
    assert_int_equal(scene_read().begins, 2);
}

static void circular_mode_has_the_newest_events(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 4 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(scene_write_numbers, 100000);
    scene_serve(&child, 1);
    scene_close(&stats);
    const struct scene_reading reading = scene_read();
    assert_int_equal(reading.thread[0].next, 100000);
    assert_in_range(reading.events, 3 * TRACE_CHUNK / 32 - 10, 4 * TRACE_CHUNK / 32);
    assert_int_equal(reading.lost, 0);
    assert_true(stats.overwritten > 0);
}

static void filter_is_applied_by_the_manager(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.categories = "disk.*";
    scene_open();
    pid_t child = scene_start(scene_write_numbers, 1000);
    scene_serve(&child, 1);
    scene_close(&stats);
    assert_int_equal(stats.programs, 1);
    assert_int_equal(stats.events, 0);
}

static void write_and_trigger(uint64_t n)
{
    const struct timespec rest = {0, 200000000};
    scene_write_numbers(n);
    ttr_trace_trigger("slow");
    nanosleep(&rest, NULL);
    scene_write_numbers(100000); /* overwrites the ring */
}

static void trigger_has_its_name_and_snapshots_keep_what_is_overwritten_later(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    char name[108];
    scene.options.mode = TTR_MANAGER_CIRCULAR;
    scene.options.buffer_bytes = 2 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(write_and_trigger, 10);
    do
        assert_int_equal(ttr_manager_run(scene.manager, 5, -1, &error), TTR_OK);
    while (!ttr_manager_triggered(scene.manager, name));
    assert_string_equal(name, "slow");
    assert_false(ttr_manager_triggered(scene.manager, name));
    assert_int_equal(ttr_manager_snapshot(scene.manager, &error), TTR_OK);
    scene_serve(&child, 1);
    scene_close(&stats);
    /* The first instants of the thread are the ten of the snapshot. */
    uint64_t n = 0;
    for (size_t at = 1; at < scene.words_n && n < 10; at += scene.words[at] >> 4 & 0xfff)
        if ((scene.words[at] & 0xf000f) == TRACE_FXT_EVENT)
            assert_int_equal(scene.words[at + 3], n++);
    assert_int_equal(n, 10);
    assert_true(stats.overwritten > 0);
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
    scene_open();
    const int fd = connect_by_hand();
    assert_int_equal(send(fd, garbage, sizeof garbage, 0), sizeof garbage);
    const int short_fd = connect_by_hand();
    assert_int_equal(send(short_fd, garbage, 3, 0), 3);
    assert_int_equal(ttr_manager_run(scene.manager, 20, -1, &error), TTR_OK);
    pid_t child = scene_start(scene_write_slowly, 1000);
    scene_serve(&child, 1);
    close(fd);
    close(short_fd);
    scene_close(&stats);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.events, 1000);
}

/* Overwrites the shared memory of this program with random bytes, and publishes random positions:
 * in the first chunk, in the ring, and anywhere. Sleeps often, so that the manager reads many
 * states. */
static void damage_memory(uint64_t seed)
{
    static const uint64_t masks[] = {0xfff8, 0x7fff8, UINT64_MAX};
    const struct timespec rest = {0, 1000000};
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
    struct trace_header *header = ttr_trace_thread.memory;
    struct trace_ring_header *ring = ttr_trace_thread.ring[0].shared;
    uint64_t *words = (uint64_t *)(void *)ring;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t value = seed >> 7;
        switch (seed >> 61) {
        case 0:
            __atomic_store_n(&ring->commit, seed >> 20 & masks[i % 3], __ATOMIC_RELEASE);
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
        if (i % 500 == 499)
            nanosleep(&rest, NULL);
    }
}

/* Returns the instants of the main thread of a program. */
static uint64_t count_instants_of(pid_t pid)
{
    uint64_t n = 0;
    bool is_current = false;
    for (size_t at = 1; at < scene.words_n; at += scene.words[at] >> 4 & 0xfff) {
        const uint64_t *record = scene.words + at;
        if ((record[0] & 15) == TRACE_FXT_THREAD)
            is_current = record[1] == (uint64_t)pid && record[2] == (uint64_t)pid;
        n += is_current && (record[0] & 0xf000f) == TRACE_FXT_EVENT;
    }
    return n;
}

static void hostile_memory_harms_no_other_program(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.buffer_bytes = 16 * TRACE_CHUNK; /* all events of the honest program */
    scene_open();
    pid_t children[6] = {scene_start(scene_write_slowly, 20000)};
    const pid_t honest = children[0];
    for (uint64_t i = 1; i < 6; i++)
        children[i] = scene_start(damage_memory, i * 7919);
    scene_serve(children, 6);
    scene_close(&stats);
    assert_int_equal(stats.programs, 6);
    assert_int_equal(count_instants_of(honest), 20000);
    assert_true(stats.invalid > 0);
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

/* --- Outputs --- */

static int next_files[64];
static unsigned next_files_n;

static int open_next_file(void *user_data)
{
    (void)user_data;
    char path[] = "/tmp/tracetta-next-XXXXXX";
    const int fd = next_files_n < 64 ? mkstemp(path) : -1;
    if (fd >= 0) {
        unlink(path);
        next_files[next_files_n++] = fd;
    }
    return fd;
}

/* Reads a file of a rotation on its own. */
static struct scene_reading read_file(int fd)
{
    const ssize_t n = pread(fd, scene.words, 1 << 22, 0);
    assert_true(n >= 8 && n % 8 == 0);
    scene.words_n = (size_t)n / 8;
    return scene_read();
}

static void each_file_of_a_rotation_is_complete(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    next_files_n = 0;
    scene.options.rotate_bytes = 200000;
    scene.options.next_output = open_next_file;
    scene.options.buffer_bytes = 64 * TRACE_CHUNK;
    scene_open();
    pid_t children[] = {scene_start(scene_write_slowly, 30000),
                        scene_start(scene_write_slowly, 30000)};
    scene_serve(children, 2);
    scene_close(&stats);
    uint64_t events = scene_read().events;
    assert_in_range(next_files_n, 5, 40);
    assert_true(scene.words_n * 8 <= 200000);
    for (unsigned i = 0; i < next_files_n; i++) {
        const struct scene_reading reading = read_file(next_files[i]);
        assert_true(scene.words_n * 8 <= 200000);
        assert_true(scene.words[0] == TRACE_FXT_MAGIC);
        /* Two providers or one, each with its name, clock and the strings of its events. */
        assert_true(reading.events > 0 && reading.threads_n >= 1);
        events += reading.events;
        close(next_files[i]);
    }
    assert_int_equal(events, 60000);
    assert_int_equal(stats.events, 60000);
}

/* Fails twice, then opens files. */
static int open_after_two_failures(void *count)
{
    unsigned *n = count;
    return ++*n <= 2 ? -1 : open_next_file(NULL);
}

static void rotation_without_a_file_is_tried_again_at_the_next_limit(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    unsigned tries = 0;
    next_files_n = 0;
    scene.options.rotate_bytes = 200000;
    scene.options.next_output = open_after_two_failures;
    scene.options.user_data = &tries;
    scene.options.buffer_bytes = 64 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(scene_write_slowly, 40000);
    scene_serve(&child, 1);
    scene_close(&stats);
    uint64_t events = scene_read().events;
    assert_in_range(scene.words_n * 8, 500000, 600000); /* three limits */
    assert_in_range(tries, 4, 10);
    assert_int_equal(next_files_n, tries - 2);
    for (unsigned i = 0; i < next_files_n; i++) {
        events += read_file(next_files[i]).events;
        close(next_files[i]);
    }
    assert_int_equal(events, 40000);
}

/* --- Ends of the output --- */

static void deleted_output_ends_the_archive(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    ttr_status status = TTR_OK;
    scene_open();
    const pid_t child = scene_start(scene_write_slowly, UINT64_MAX);
    assert_int_equal(ttr_manager_run(scene.manager, 50, -1, &error), TTR_OK);
    assert_int_equal(unlink(scene.path), 0);
    for (unsigned i = 0; i < 200 && status == TTR_OK; i++)
        status = ttr_manager_run(scene.manager, 10, -1, &error);
    assert_int_equal(status, TTR_E_IO);
    assert_non_null(strstr(error.text, "deleted"));
    ttr_manager_get_stats(scene.manager, &stats);
    const uint64_t bytes = stats.bytes;
    assert_int_equal(ttr_manager_run(scene.manager, 100, -1, &error), TTR_OK);
    ttr_manager_get_stats(scene.manager, &stats);
    assert_int_equal(stats.bytes, bytes);
    assert_true(stats.unwritten > 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scene_close(&stats);
}

static void size_limit_asks_for_the_end(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    ttr_error error;
    scene.options.max_bytes = 300000;
    scene_open();
    const pid_t child = scene_start(scene_write_slowly, UINT64_MAX);
    for (unsigned i = 0; i < 1000 && !ttr_manager_stop_requested(scene.manager); i++)
        assert_int_equal(ttr_manager_run(scene.manager, 10, -1, &error), TTR_OK);
    assert_true(ttr_manager_stop_requested(scene.manager));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scene_close(&stats);
    assert_true(stats.is_limited && stats.unwritten > 0);
    assert_in_range(scene.words_n * 8, 300000 - TRACE_CHUNK - 1024, 300000);
    assert_int_equal(scene_read().events, stats.events);
}

static void compressed_archive_has_the_same_events(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    scene.options.is_compressed = true;
    scene.options.buffer_bytes = 64 * TRACE_CHUNK;
    int plain[2];
    assert_int_equal(pipe(plain), 0);
    (void)fcntl(plain[1], F_SETPIPE_SZ, 1 << 20);
    scene.options.live_fd = plain[1];
    scene_open();
    pid_t child = scene_start(scene_write_slowly, 10000);
    scene_serve(&child, 1);
    scene_close(&stats);
    close(plain[1]);
    static uint8_t live[1 << 20], unpacked[1 << 20];
    size_t live_n = 0;
    ssize_t n;
    while ((n = read(plain[0], live + live_n, sizeof live - live_n)) > 0)
        live_n += (size_t)n;
    close(plain[0]);
    const size_t size = ZSTD_decompress(unpacked, sizeof unpacked, scene.words, scene.words_n);
    assert_false(ZSTD_isError(size));
    /* The second output has the same words, and neither has a rewritten frequency. */
    assert_int_equal(size, live_n);
    assert_memory_equal(unpacked, live, size);
    assert_true(stats.bytes < size / 2);
    assert_int_equal(stats.bytes, scene.words_n);
}

static void closed_live_output_leaves_the_archive_complete(void **state)
{
    (void)state;
    ttr_manager_stats stats;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    scene.options.live_fd = ends[1];
    scene_open();
    pid_t child = scene_start(scene_write_slowly, 1000);
    scene_serve(&child, 1);
    scene_close(&stats);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(scene_read().events, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_event_of_two_programs_is_in_the_archive, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(drops_are_counted_exactly, scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(killed_program_loses_no_committed_event, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(zones_of_a_killed_program_are_begun, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(circular_mode_has_the_newest_events, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(
            trigger_has_its_name_and_snapshots_keep_what_is_overwritten_later, scene_set_up,
            scene_tear_down),
        cmocka_unit_test_setup_teardown(filter_is_applied_by_the_manager, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(garbage_in_messages_is_refused, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(hostile_memory_harms_no_other_program, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(each_file_of_a_rotation_is_complete, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(rotation_without_a_file_is_tried_again_at_the_next_limit,
                                        scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(deleted_output_ends_the_archive, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(size_limit_asks_for_the_end, scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(compressed_archive_has_the_same_events, scene_set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(closed_live_output_leaves_the_archive_complete,
                                        scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(full_output_keeps_complete_pieces, scene_set_up,
                                        scene_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
