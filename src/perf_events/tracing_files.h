/* Access to tracefs: its tracepoints and their format files. File contents are stored in the
 * caller's buffer. */
#ifndef TRACETTA_PERF_EVENTS_TRACING_FILES_H
#define TRACETTA_PERF_EVENTS_TRACING_FILES_H

#include <stdbool.h>

#include "base/buffer.h"

#define TRACING_FILES_PATH_MAX 512u

struct tracing_files {
    char root[TRACING_FILES_PATH_MAX]; /* mount point, such as "/sys/kernel/tracing" */
};

/* Finds tracefs, or checks `root` if it is not NULL. Returns false with errno if it is missing or
 * not accessible. */
bool tracing_files_find(struct tracing_files *tracefs, const char *root);

/* Reads a file below the mount point, such as "events/sched/sched_switch/format", into `to`,
 * replacing its content. A zero byte follows the content but is not counted. Returns false with
 * errno. */
bool tracing_files_read(const struct tracing_files *tracefs, const char *name, struct buffer *to);

/* Reads a file with any path into `to`, like tracing_files_read. */
bool tracing_files_read_path(const char *path, struct buffer *to);

/* Callback of tracing_files_visit_systems: receives system and name of a tracepoint, in no defined
 * order. Returns false to stop. */
typedef bool (*tracing_files_visit)(void *ctx, const char *system, const char *name);

/* Calls `visit` for each tracepoint with a system and name that match the globs. Returns false with
 * errno if a directory cannot be listed. */
bool tracing_files_visit_systems(const struct tracing_files *tracefs, const char *systems,
                                 const char *names, tracing_files_visit visit, void *ctx);

#endif
