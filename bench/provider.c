/* Measures the cost of an event to the program that writes it, compared with a bare write() of the
 * same bytes.
 *
 *   usage: provider [ROUNDS]
 *
 * Each row is measured in short slices of CPU time of this thread. Slices of all rows alternate, so
 * that frequency changes affect all alike; the median is printed.
 *
 *   loop        the empty loop that all rows contain; it is subtracted from the others
 *   disabled    TTR_WRITE with four fields, without a consumer
 *   assembled   the same with a backend that discards the event
 *   ... FILE    the bare write() to FILE; TTR_WRITE and a composer with a backend that writes to
 * FILE
 *
 * FILE is /dev/null, and trace_marker if it is writable. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/provider.h>

#define CALLS 2000u
#define MOST_ROUNDS 1000u

TTR_PROVIDER_DEFINE(bench, "Bench_Provider");

struct target {
    int fd; /* -1: no file; the event is discarded */
    uint8_t last[256];
    size_t last_n;
};

static int add(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    *index = ctx ? 0 : 1;
    (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static int write_event(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct target *target = ctx;
    uint8_t *block = event - 4;
    memcpy(block, &index, 4);
    target->last_n = n + 4;
    if (target->fd >= 0)
        return write(target->fd, block, n + 4) < 0;
    return 0;
}

static int keep_event(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct target *target = ctx;
    memcpy(target->last, &index, 4);
    memcpy(target->last + 4, event, n < 252 ? n : 252);
    target->last_n = n + 4;
    return 0;
}

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void write_one(uint32_t i)
{
    static const char path[] = "/var/lib/example";
    TTR_WRITE(bench, "FileRead", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U32("number", i),
              TTR_U64("bytes", (uint64_t)i * 4096), TTR_TEXT("path", path), TTR_I32("result", 0));
}

static void run_loop(struct target *target, ttr_tracepoint *point, ttr_composer *composer)
{
    (void)target, (void)point, (void)composer;
    for (uint32_t i = 0; i < CALLS; i++)
        __asm__ volatile("" ::: "memory");
}

static void run_write(struct target *target, ttr_tracepoint *point, ttr_composer *composer)
{
    (void)target, (void)point, (void)composer;
    for (uint32_t i = 0; i < CALLS; i++) {
        __asm__ volatile("" ::: "memory");
        write_one(i);
    }
}

static void run_bare(struct target *target, ttr_tracepoint *point, ttr_composer *composer)
{
    (void)point, (void)composer;
    for (uint32_t i = 0; i < CALLS; i++)
        if (write(target->fd, target->last, target->last_n) < 0)
            abort();
}

static void run_composed(struct target *target, ttr_tracepoint *point, ttr_composer *composer)
{
    (void)target;
    static const ttr_field_shape number = {"number", TTR_EH_VALUE32, 0, 0},
                                 bytes = {"bytes", TTR_EH_VALUE64, 0, 0};
    static const ttr_field_shape path = {"path", TTR_EH_ZSTRING8, 0, 0},
                                 result = {"result", TTR_EH_VALUE32, TTR_EH_AS_INT, 0};
    const int32_t zero = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        const uint64_t size = (uint64_t)i * 4096;
        ttr_compose_begin(composer, "FileRead");
        ttr_compose_value(composer, &number, &i, 4);
        ttr_compose_value(composer, &bytes, &size, 8);
        ttr_compose_value(composer, &path, "/var/lib/example", SIZE_MAX);
        ttr_compose_value(composer, &result, &zero, 4);
        if (ttr_compose_write(composer, point) != TTR_OK)
            abort();
    }
}

struct row {
    const char *name;
    void (*run)(struct target *target, ttr_tracepoint *point, ttr_composer *composer);
    struct target *target;
    double ns[MOST_ROUNDS]; /* ns per call in each round */
};

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void show(struct row *rows, size_t n, unsigned rounds)
{
    for (size_t i = 0; i < n; i++)
        qsort(rows[i].ns, rounds, sizeof rows[i].ns[0], by_value);
    (void)printf("%-26s %7.1f ns\n", rows[0].name, rows[0].ns[rounds / 2]);
    for (size_t i = 1; i < n; i++)
        (void)printf("%-26s %7.1f ns   (quarters %.1f to %.1f)\n", rows[i].name,
                     rows[i].ns[rounds / 2] - rows[0].ns[rounds / 2],
                     rows[i].ns[rounds / 4] - rows[0].ns[rounds / 2],
                     rows[i].ns[rounds * 3 / 4] - rows[0].ns[rounds / 2]);
}

/* Returns a backend that writes to the target's file, or with `keeps` stores the event in the
 * target. */
static ttr_backend *backend_into(struct target *target, bool keeps)
{
    const ttr_backend_functions functions = {sizeof functions, add, NULL,
                                             keeps ? keep_event : write_event};
    return ttr_backend_new(&functions, target, NULL);
}

static void open_or_close(const struct row *row, ttr_backend *backend, bool opens)
{
    ttr_error error;
    if (!backend || row->run == run_loop || row->run == run_bare)
        return;
    if (!opens)
        ttr_provider_close(&bench);
    else if (ttr_provider_open(&bench, backend, &error) != TTR_OK)
        (void)fprintf(stderr, "%s\n", error.text);
}

int main(int argc, char **argv)
{
    static struct target nowhere = {.fd = -1}, null = {.fd = -1}, marker = {.fd = -1};
    static struct row rows[] = {{"loop", run_loop, NULL, {0}},
                                {"disabled", run_write, NULL, {0}},
                                {"assembled", run_write, &nowhere, {0}},
                                {"bare /dev/null", run_bare, &null, {0}},
                                {"TTR_WRITE /dev/null", run_write, &null, {0}},
                                {"composer /dev/null", run_composed, &null, {0}},
                                {"bare trace_marker", run_bare, &marker, {0}},
                                {"TTR_WRITE trace_marker", run_write, &marker, {0}},
                                {"composer trace_marker", run_composed, &marker, {0}}};
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 101;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    null.fd = open("/dev/null", O_WRONLY);
    marker.fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
    size_t n = marker.fd >= 0 ? sizeof rows / sizeof *rows : 6;
    ttr_composer *composer = ttr_composer_new();
    ttr_tracepoint *point = ttr_provider_point(&bench, 4, 2, NULL);
    ttr_backend *keeper = backend_into(&null, true), *backends[sizeof rows / sizeof *rows];
    open_or_close(&rows[1], keeper, true);
    write_one(7);
    ttr_provider_close(&bench);
    marker.last_n = null.last_n;
    memcpy(marker.last, null.last, sizeof null.last);
    for (size_t i = 0; i < n; i++)
        backends[i] = rows[i].target ? backend_into(rows[i].target, false) : NULL;
    (void)printf("%zu bytes an event, %u calls a slice, %u slices each; CPU time\n", null.last_n,
                 CALLS, rounds);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < n; i++) {
            open_or_close(&rows[i], backends[i], true);
            uint64_t begin = now();
            rows[i].run(rows[i].target, point, composer);
            rows[i].ns[round] = (double)(now() - begin) / CALLS;
            open_or_close(&rows[i], backends[i], false);
        }
    show(rows, n, rounds);
    return 0;
}
