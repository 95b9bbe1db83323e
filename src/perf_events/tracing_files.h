/* The kernel's tracing files: which tracepoints there are, and how their events are laid out.
 * Ownership: what tracing_files_read gives is the caller's buffer. */
#ifndef TRACETTA_PERF_EVENTS_TRACING_FILES_H
#define TRACETTA_PERF_EVENTS_TRACING_FILES_H

#include <stdbool.h>

#include "base/buffer.h"

#define TRACING_FILES_PATH 512u

struct tracing_files {
    char root[TRACING_FILES_PATH]; /* "/sys/kernel/tracing" */
};

/* Finds where it is mounted, or takes `root` where that is not NULL.  False with errno where there
 * is none we may look into. */
bool tracing_files_find(struct tracing_files *tracefs, const char *root);

/* Replaces a buffer's content by that of a file below it ("events/sched/sched_switch/format"), with
 * a zero behind that does not count.  False with errno. */
bool tracing_files_read(const struct tracing_files *tracefs, const char *name, struct buffer *to);

/* The same for any file. */
bool tracing_files_read_path(const char *path, struct buffer *to);

/* Called with each tracepoint's system and name, in no order; returning false ends it. */
typedef bool (*tracing_files_visit)(void *own, const char *system, const char *name);

/* Visits the tracepoints of systems and names that match globs; false with errno when the list
 * cannot be read. */
bool tracing_files_each(const struct tracing_files *tracefs, const char *systems, const char *names,
                        tracing_files_visit visit, void *own);

#endif
