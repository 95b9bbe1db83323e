/* Initial state of a recording: records for the processes, threads and code mappings that exist
 * when it starts. They have the form of the kernel's later records. */
#ifndef TRACETTA_PERF_EVENTS_TASKS_H
#define TRACETTA_PERF_EVENTS_TASKS_H

#include "encodings/perf_data/perf_data_write.h"
#include "perf_events/build_id.h"

/* Output of the records, and scratch memory. */
struct tasks {
    struct perf_data_writer *put;
    uint64_t sample_type;
    uint64_t id;        /* sample id of the dummy event, to which the records belong */
    struct buffer text; /* buffer for the content of /proc files */
    struct build_ids *build_ids;
    uint64_t threads_n; /* number of threads written */
};

/* Writes the records of one process, or of all if `pid` is 0. Skips processes that end meanwhile or
 * cannot be read. */
void tasks_write_processes(struct tasks *tasks, uint64_t pid);

/* Writes the code mappings of the kernel and its modules. Does nothing if kernel addresses are
 * hidden (kptr_restrict). */
void tasks_write_kernel_mappings(struct tasks *tasks);

#endif
