/* Reads a kernel's recordings of user_events without the library: perf's ring buffer, perf.data
 * files and ftrace's pages. Also registers tracepoints without the library. */
#ifndef TRACETTA_TESTS_KERNEL_RECORDED_H
#define TRACETTA_TESTS_KERNEL_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A registration of an EventHeader name; fd is -1 if it failed. */
struct recorded_registration {
    int fd;
    uint32_t index;
};

struct recorded_registration recorded_register(const char *name, uint32_t *enabled);
void recorded_unregister(struct recorded_registration *registration, uint32_t *enabled);

/* A perf event that records one tracepoint of this process. */
struct recorded_perf {
    int fd;
    uint8_t *pages;
    size_t n;
};

/* `event` is SYSTEM/NAME. */
bool recorded_perf_open(struct recorded_perf *perf, const char *event);

/* Returns the number of samples since the last call. */
unsigned recorded_perf_count(struct recorded_perf *perf);
void recorded_perf_close(struct recorded_perf *perf);

/* Compares the samples of a perf.data file, sorted by time, with a file of [u32 total size][name,
 * zero][event], ignoring zeros at the end of samples. Returns 0 if equal; else 1, after printing
 * why. */
int recorded_compare(const char *perf_data, const char *events);

/* Checks that `pages` contains the events in the same order. Returns 0 if so, else 1. */
int recorded_find(const char *pages, const char *events);

#endif
