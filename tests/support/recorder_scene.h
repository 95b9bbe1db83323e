/* The manager with real programs, for its tests: forked children connect to it and write numbered
 * events. The archive is read word by word, against the layout of the specification. */
#ifndef TRACETTA_SUPPORT_RECORDER_SCENE_H
#define TRACETTA_SUPPORT_RECORDER_SCENE_H

#include <sys/types.h>

#include <tracetta/record.h>
#include <tracetta/trace.h>

#define SCENE_CATEGORIES(X) X(net, "net", "network") X(disk, "disk.slow", "files")
TTR_CATEGORIES_DECLARE(SCENE_CATEGORIES);

#define SCENE_THREADS_MAX 64u

struct scene {
    char folder[64], path[96], socket[96];
    ttr_manager *manager;
    int fd;
    ttr_manager_options options;
    uint64_t *committed; /* a page that is shared with the children */
    uint64_t *words;     /* of the archive, after scene_close */
    size_t words_n;      /* of a compressed archive: bytes */
};
extern struct scene scene;

/* Set up and tear down a test. */
int scene_set_up(void **state);
int scene_tear_down(void **state);

/* Opens the manager with scene.options and an empty output. */
void scene_open(void);

/* Starts a child that runs `body` and exits. */
pid_t scene_start(void (*body)(uint64_t), uint64_t argument);

/* Serves until all children have ended; sets them to 0. */
void scene_serve(pid_t *children, size_t n);

/* Closes the manager and reads the archive. */
void scene_close(ttr_manager_stats *stats);

/* Events of the archive. Instants have one argument, the number of the event in its thread. */
struct scene_reading {
    uint64_t events; /* instants */
    uint64_t lost;   /* counted as lost */
    uint64_t begins;
    size_t threads_n; /* threads with instants, at most SCENE_THREADS_MAX are kept one by one */
    struct scene_thread {
        uint64_t tid, next, seen;
        uint64_t first; /* number of the first event */
        uint64_t gaps;  /* numbers that are missing before the last event */
    } thread[SCENE_THREADS_MAX];
};

/* Reads all records of the archive. Numbers rise in each thread, which is checked if there are at
 * most SCENE_THREADS_MAX threads. */
struct scene_reading scene_read(void);

/* Writes instants with the numbers 0 to n - 1, and sets *scene.committed after each one. */
void scene_write_numbers(uint64_t n);

/* The same, at most 1,000 per millisecond. */
void scene_write_slowly(uint64_t n);

#endif
