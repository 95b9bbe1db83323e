/* What a kernel recorded of user_events, read without the library: perf's ring buffer, perf.data
 * files, ftrace's pages; and registering past it. */
#ifndef TRACETTA_TESTS_KERNEL_RECORDED_H
#define TRACETTA_TESTS_KERNEL_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A registration of an EventHeader name; fd is -1 where it failed. */
struct recorded_registration {
    int fd;
    uint32_t index;
};

struct recorded_registration recorded_register(const char *name, uint32_t *enabled);
void recorded_unregister(struct recorded_registration *registration, uint32_t *enabled);

/* perf listening to one tracepoint of this process. */
struct recorded_perf {
    int fd;
    uint8_t *pages;
    size_t n;
};

/* `event` is SYSTEM/NAME. */
bool recorded_perf_open(struct recorded_perf *perf, const char *event);

/* Samples since the last call. */
unsigned recorded_perf_count(struct recorded_perf *perf);
void recorded_perf_close(struct recorded_perf *perf);

/* Whether the samples of a perf.data file, by time, are the events of a file of [u32 size of
 * all][name, zero][event], but for zeros behind them: 0, else 1 and why. */
int recorded_compare(const char *perf_data, const char *events);

/* Whether the events of the file stand in another one, in their order. */
int recorded_find(const char *pages, const char *events);

#endif
