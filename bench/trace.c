/* Cost of trace points (tracetta/trace.h), and of the manager per byte.
 *
 *   usage: bench_trace [SLICES]
 *
 * Each operation runs in slices of 2,000; slices of all operations alternate, so that a busy
 * machine disturbs all alike.  Prints the median of the thread's CPU time per operation, in
 * nanoseconds. The rings are circular, so that nothing is dropped.
 *
 * Peers in the same table: LTTng-UST if it was found when this was built (bench/trace_peers starts
 * a session with the event tracetta_bench:instant); spall.h, Tracy, NanoLog and Perfetto if the
 * build option bench_peers names a folder with them (bench/build_peers). spall.h has zones only,
 * and writes its full buffers to /dev/null, as NanoLog does. Tracy has no server, so it keeps its
 * events in memory. Peers that are missing are listed as skipped. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/record.h>
#include <tracetta/trace.h>

#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "trace_lttng.h"
#endif

#ifdef BENCH_SPALL
#include <spall.h>
#endif

#ifdef BENCH_TRACY
#include <tracy/TracyC.h>
#endif

#include "trace_peer.h"

#define BENCH_CATEGORIES(X) X(on, "bench.on", "recorded") X(off, "skipped", "not recorded")
TTR_CATEGORIES_DECLARE(BENCH_CATEGORIES);
TTR_CATEGORIES_DEFINE(BENCH_CATEGORIES);

#define LOOPS 2000
#define SLICES_MAX 2000
#define COLLECT_SECONDS 2

static volatile uint64_t sink;

static void run_empty(void)
{
    for (int i = 0; i < LOOPS; i++)
        __asm__ volatile("" ::: "memory");
}

static void run_disabled(void)
{
    for (int i = 0; i < LOOPS; i++) {
        TTR_INSTANT(off, "disabled", TTR_ARG("n", i));
        __asm__ volatile("" ::: "memory");
    }
}

static void run_clock(void)
{
    for (int i = 0; i < LOOPS; i++)
        sink = ttr_trace_now();
}

static void run_two_clocks(void)
{
    for (int i = 0; i < LOOPS; i++) {
        sink = ttr_trace_now();
        sink = ttr_trace_now();
    }
}

static void run_instant(void)
{
    for (int i = 0; i < LOOPS; i++)
        TTR_INSTANT(on, "instant", TTR_ARG("n", i));
}

static void run_text(void)
{
    for (int i = 0; i < LOOPS; i++)
        TTR_INSTANT(on, "text", TTR_ARG("name", "hello"));
}

static void run_zone(void)
{
    for (int i = 0; i < LOOPS; i++) {
        TTR_ZONE(on, "zone");
        __asm__ volatile("" ::: "memory");
    }
}

static void run_zone_argument(void)
{
    for (int i = 0; i < LOOPS; i++) {
        TTR_ZONE(on, "zone with an argument", TTR_ARG("n", i));
        __asm__ volatile("" ::: "memory");
    }
}

static void run_laps(void)
{
    TTR_ZONE(on, "first lap");
    for (int i = 0; i < LOOPS; i++)
        TTR_LAP(on, "lap");
}

#ifdef BENCH_LTTNG
static void run_lttng(void)
{
    for (int i = 0; i < LOOPS; i++)
        lttng_ust_tracepoint(tracetta_bench, instant, i);
}

/* No session enables this event. */
static void run_lttng_disabled(void)
{
    for (int i = 0; i < LOOPS; i++)
        lttng_ust_tracepoint(tracetta_bench, disabled, i);
}
#endif

#ifdef BENCH_SPALL
static SpallProfile spall_profile;
static SpallBuffer spall_buffer;

static void run_spall(void)
{
    for (int i = 0; i < LOOPS; i++) {
        spall_buffer_begin(&spall_profile, &spall_buffer, "zone", 4, ttr_trace_now());
        spall_buffer_end(&spall_profile, &spall_buffer, ttr_trace_now());
    }
}

static bool start_spall(void)
{
    static uint8_t bytes[1 << 20];
    spall_buffer = (SpallBuffer){.data = bytes, .length = sizeof bytes};
    return spall_init_file("/dev/null", 1, &spall_profile) &&
           spall_buffer_init(&spall_profile, &spall_buffer);
}
#endif

#ifdef BENCH_TRACY
static void run_tracy_zone(void)
{
    for (int i = 0; i < LOOPS; i++) {
        TracyCZone(zone, 1);
        TracyCZoneEnd(zone);
    }
}

static void run_tracy_number(void)
{
    for (int i = 0; i < LOOPS; i++)
        TracyCPlotI("number", i);
}
#endif

#ifdef BENCH_NANOLOG
static void run_nanolog_integers(void)
{
    run_nanolog_integer(LOOPS);
}

static void run_nanolog_disabled_site(void)
{
    run_nanolog_disabled(LOOPS);
}
#endif

#ifdef BENCH_PERFETTO
static void run_perfetto_instants(void)
{
    run_perfetto_instant(LOOPS);
}

static void run_perfetto_zones(void)
{
    run_perfetto_zone(LOOPS);
}

static void run_perfetto_disabled_site(void)
{
    run_perfetto_disabled(LOOPS);
}
#endif

static const struct operation {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"empty loop", run_empty},
    {"disabled site", run_disabled},
    {"clock", run_clock},
    {"two clocks", run_two_clocks},
    {"instant, integer", run_instant},
    {"instant, text", run_text},
    {"zone", run_zone},
    {"zone, integer", run_zone_argument},
    {"lap", run_laps},
#ifdef BENCH_LTTNG
    {"LTTng-UST, integer", run_lttng},
    {"LTTng-UST, disabled", run_lttng_disabled},
#endif
#ifdef BENCH_SPALL
    {"spall, zone", run_spall},
#endif
#ifdef BENCH_TRACY
    {"Tracy, zone", run_tracy_zone},
    {"Tracy, number", run_tracy_number},
#endif
#ifdef BENCH_NANOLOG
    {"NanoLog, integer", run_nanolog_integers},
    {"NanoLog, disabled", run_nanolog_disabled_site},
#endif
#ifdef BENCH_PERFETTO
    {"Perfetto, integer", run_perfetto_instants},
    {"Perfetto, zone", run_perfetto_zones},
    {"Perfetto, disabled", run_perfetto_disabled_site},
#endif
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* Prints the peers that were not found when this was built. */
static void print_skipped(void)
{
#ifndef BENCH_LTTNG
    puts("skipped: LTTng-UST: liblttng-ust-dev is not installed");
#endif
#ifndef BENCH_SPALL
    puts("skipped: spall: the folder of -Dbench_peers has no spall.h");
#endif
#ifndef BENCH_TRACY
    puts("skipped: Tracy: the folder of -Dbench_peers has no libTracyClient.so");
#endif
#ifndef BENCH_NANOLOG
    puts("skipped: NanoLog: the folder of -Dbench_peers has no libNanoLog.a");
#endif
#ifndef BENCH_PERFETTO
    puts("skipped: Perfetto: the folder of -Dbench_peers has no libperfetto_c.a");
#endif
}

/* Starts the peers that need it. Returns false on failure. */
static bool start_peers(void)
{
#ifdef BENCH_SPALL
    if (!start_spall())
        return false;
#endif
#ifdef BENCH_NANOLOG
    if (!start_nanolog())
        return false;
#endif
#ifdef BENCH_PERFETTO
    if (!start_perfetto())
        return false;
#endif
    return true;
}

static void stop_peers(void)
{
#ifdef BENCH_PERFETTO
    stop_perfetto();
#endif
}

static double cpu_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_operations(size_t slices)
{
    static double times[OPERATIONS][SLICES_MAX];
    for (size_t k = 0; k < slices; k++)
        for (size_t i = 0; i < OPERATIONS; i++) {
            const double start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
            operations[i].run();
            times[i][k] = (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start) / LOOPS;
        }
    for (size_t i = 0; i < OPERATIONS; i++) {
        qsort(times[i], slices, sizeof **times, compare);
        printf("%-20s %6.1f ns   p99 %6.1f\n", operations[i].name, times[i][slices / 2],
               times[i][slices * 99 / 100]);
    }
}

/* --- The manager --- */

static void write_without_end(void)
{
    for (;;)
        run_instant();
}

/* Serves a program that writes at full speed. Prints the bytes per second of the manager's CPU. */
static void measure_manager(void)
{
    char folder[] = "/tmp/tracetta-bench-XXXXXX", path[64];
    ttr_error error;
    FILE *output = fopen("/dev/null", "w");
    if (!output || !mkdtemp(folder))
        return;
    (void)snprintf(path, sizeof path, "%s/socket", folder);
    const ttr_manager_options options = {
        .size = sizeof options, .fd = fileno(output), .socket = path, .buffer_bytes = 4 << 20};
    ttr_manager *manager = ttr_manager_open(&options, &error);
    setenv("TRACETTA_TRACE_SOCKET", path, 1);
    const pid_t child = manager ? fork() : -1;
    if (child == 0)
        write_without_end();
    const double start = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (manager && ttr_manager_run(manager, COLLECT_SECONDS * 1000, -1, &error) == TTR_OK) {
        ttr_manager_stats stats;
        const double cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
        ttr_manager_get_stats(manager, &stats);
        printf("manager: %.2f GB/s, %.1f ns per event, %" PRIu64 " events, %" PRIu64 " dropped\n",
               (double)stats.bytes / cpu, cpu / (double)stats.events, stats.events, stats.dropped);
    }
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    (void)!ttr_manager_close(manager, &error);
    (void)rmdir(folder);
    fclose(output);
}

int main(int count, char **words)
{
    const size_t slices = count > 1 ? strtoul(words[1], NULL, 10) : 200;
    const ttr_trace_options options = {
        .size = sizeof options, .mode = TTR_TRACE_CIRCULAR, .categories = "bench.*"};
    if (slices == 0 || slices > SLICES_MAX || ttr_trace_start_file("/dev/null", &options) != 0)
        return 1;
    if (!start_peers()) {
        fputs("bench_trace: a peer does not start\n", stderr);
        return 1;
    }
    measure_operations(slices);
    print_skipped();
    stop_peers();
    if (ttr_trace_stop() != 0)
        return 1;
    measure_manager();
    return 0;
}
