/* The kernel's tracing files: which tracepoints there are, and how their events are laid out.
 * Ownership: what tracefs_read gives is the caller's buffer. */
#ifndef TRACETTA_PERF_EVENTS_TRACEFS_H
#define TRACETTA_PERF_EVENTS_TRACEFS_H

#include <stdbool.h>

#include "base/buffer.h"

#define TRACEFS_PATH 512u

struct tracefs {
    char root[TRACEFS_PATH]; /* "/sys/kernel/tracing" */
};

/* Finds where it is mounted, or takes `root` where that is not NULL.  False with errno where there is none we may look into. */
bool tracefs_find(struct tracefs *tracefs, const char *root);

/* Replaces a buffer's content by that of a file below it ("events/sched/sched_switch/format"), with a zero behind that does not count.  False with errno. */
bool tracefs_read(const struct tracefs *tracefs, const char *name, struct buffer *to);

/* The same for any file. */
bool tracefs_read_file(const char *path, struct buffer *to);

/* Called with each tracepoint's system and name, in no order; returning false ends it. */
typedef bool (*tracefs_visit)(void *own, const char *system, const char *name);

/* Visits the tracepoints of systems and names that match globs; false with errno when the list cannot be read. */
bool tracefs_each(const struct tracefs *tracefs, const char *systems, const char *names, tracefs_visit visit, void *own);

#endif
