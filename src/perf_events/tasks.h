/* What was there before a recording: processes, threads, and files mapped as code, told by records
 * as the kernel would have told them. */
#ifndef TRACETTA_PERF_EVENTS_TASKS_H
#define TRACETTA_PERF_EVENTS_TASKS_H

#include "encodings/perf_data/perf_data_write.h"
#include "perf_events/build_id.h"

/* How the records are to be. */
struct tasks {
    struct perf_put *put;
    uint64_t sample_type;
    uint64_t id;        /* of the event that such records are of */
    struct buffer text; /* for files of /proc */
    struct build_ids *build_ids;
    uint64_t told; /* threads */
};

/* Tells of one process, or of all (0).  Those that end meanwhile, or that we may not look at, are
 * left out as far as that goes. */
void tasks_tell(struct tasks *tasks, uint64_t pid);

/* Tells of the code of the kernel and its modules, where we may know addresses. */
void tasks_tell_kernel(struct tasks *tasks);

#endif
