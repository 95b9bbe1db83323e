/* Recording programs that have trace points (trace.h): the manager of their sessions.
 *
 * A manager listens on a Unix socket.  Programs that find its path in the environment variable
 * TRACETTA_TRACE_SOCKET connect, and write events into ring buffers in memory that the manager
 * made.  The manager copies them into one FXT archive, with a section per program and one clock.
 *
 * Order of calls: ttr_manager_open, ttr_manager_run ..., ttr_manager_close.  A manager is used by
 * one thread.  It trusts no program: a program that breaks the rules is disconnected, what it wrote
 * before is kept, and others go on. */
#ifndef TRACETTA_RECORD_H
#define TRACETTA_RECORD_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_manager ttr_manager;

/* How rings behave when they are full.  STREAMING: events that do not fit are dropped and counted.
 * CIRCULAR: the newest events replace the oldest; they are written by ttr_manager_snapshot and at
 * the end.  ONESHOT: recording of a thread ends when its ring is full. */
enum ttr_manager_mode { TTR_MANAGER_STREAMING, TTR_MANAGER_CIRCULAR, TTR_MANAGER_ONESHOT };

typedef struct ttr_manager_options {
    size_t size;
    int fd;             /* output, borrowed; written from its position on */
    const char *socket; /* path to create, at most 107 bytes, in a folder that only this user may
                           write to; NULL = one that session.h finds */
    enum ttr_manager_mode mode;
    size_t buffer_bytes; /* ring per thread; 0 = 512 KiB, at most 256 MiB; rounded up to 64 KiB */
    const char *categories; /* "net.*,-net.debug,disk:5"; NULL = all */
    uint64_t zone_min_ns;   /* shorter zones are left out */
    uint32_t max_programs;  /* connected at the same time; 0 = 256 */
    bool is_compressed;     /* each piece of the archive is a zstd frame */
    int live_fd; /* second output for the same pieces, like a pipe, borrowed; 0 = none; its failure
                    ends that output alone */
    /* A rotation starts another file before a file exceeds rotate_bytes, or if it is rotate_ms old,
     * with the descriptor that next_output returns; -1 continues the current file up to the next
     * limit.  The caller
     * closes the descriptors.  Each file is complete in itself. */
    uint64_t rotate_bytes, rotate_ms; /* 0 = not; one piece of up to 66 KiB may exceed the size */
    int (*next_output)(void *user_data);
    void *user_data;
    const char *output_name; /* of the output, for ttr_session_get_info; NULL = none */
    uint64_t max_bytes;      /* size of all files together; ttr_manager_stop_requested is true when
                                it is reached; 0 = not limited */
} ttr_manager_options;

/* Creates the socket and writes the head of the archive.  Returns NULL with `error`: TTR_E_MISUSE
 * for invalid options, TTR_E_IO if the socket or the output fails. */
TTR_API ttr_manager *ttr_manager_open(const ttr_manager_options *options, ttr_error *error);

/* Serves programs for `limit_ms`, or until `wake_fd` (-1 = none) is readable.  Returns TTR_OK, or
 * TTR_E_IO when the output cannot be written or its file was deleted: then the archive ends after
 * its last complete piece, events are still consumed and counted as unwritten, and later calls
 * return TTR_OK. */
TTR_API TTR_MUST ttr_status ttr_manager_run(ttr_manager *manager, unsigned limit_ms, int wake_fd,
                                            ttr_error *error);

/* A running program that can be recorded: it has categories. */
typedef struct ttr_traceable {
    uint64_t pid;
    char name[16];    /* as the kernel has it */
    uint32_t modules; /* program and libraries with categories, also unloaded ones */
    bool is_recorded; /* it has a session now */
} ttr_traceable;

/* Stores up to n running programs that this user may record.  Returns the number of programs, which
 * may be larger. */
TTR_API size_t ttr_traceable_find(ttr_traceable *programs, size_t n);

/* Asks a running program to connect; it does so at its next event.  Its children are recorded only
 * if they are attached too.  Returns TTR_E_MISUSE if it has no categories or is recorded already,
 * TTR_E_IO if this user may not record it. */
TTR_API TTR_MUST ttr_status ttr_manager_attach(ttr_manager *manager, uint64_t pid,
                                               ttr_error *error);

/* Changes how rings behave when they are full, in running programs too.  Writes all events that are
 * in rings before.  After a change to ONESHOT, a thread records nothing more if its ring was full
 * before. */
TTR_API TTR_MUST ttr_status ttr_manager_set_mode(ttr_manager *manager, enum ttr_manager_mode mode,
                                                 ttr_error *error);

/* Writes all events that are in rings now. */
TTR_API TTR_MUST ttr_status ttr_manager_snapshot(ttr_manager *manager, ttr_error *error);

/* Returns true once if a program asked for a snapshot; copies the name of the trigger, which is ""
 * if it is not valid UTF-8. */
TTR_API bool ttr_manager_triggered(ttr_manager *manager, char name[108]);

/* Returns true after ttr_session_stop, and when max_bytes is reached: the caller is to close the
 * manager. */
TTR_API bool ttr_manager_stop_requested(const ttr_manager *manager);

/* Returns the path of the socket, for TRACETTA_TRACE_SOCKET of a program.  Valid until the manager
 * is closed. */
TTR_API const char *ttr_manager_socket(const ttr_manager *manager);

typedef struct ttr_manager_stats {
    size_t size;
    uint64_t events;      /* in the archive */
    uint64_t dropped;     /* events that found no space, as the programs count them */
    uint64_t overwritten; /* bytes of rings that were overwritten, in circular mode */
    uint64_t unwritten;   /* bytes of events that the output did not accept */
    uint64_t invalid;     /* bytes of invalid records, which are left out */
    uint64_t bytes;       /* of the archive */
    uint32_t programs;    /* that ever connected */
    uint32_t connected;   /* now */
    uint32_t refused;     /* connections refused: other user, other version, too many */
    uint32_t expelled;    /* programs disconnected because they broke the rules */
    uint32_t open_zones;  /* zones that were open when their program ended */
    bool is_limited;      /* max_bytes is reached; later events are unwritten */
} ttr_manager_stats;

/* Copies the counts since the manager was opened. */
TTR_API void ttr_manager_get_stats(const ttr_manager *manager, ttr_manager_stats *stats);

/* A connected program. */
typedef struct ttr_manager_program {
    uint64_t pid;
    const char *name; /* as the program gave it; valid until the next call */
    uint32_t threads; /* rings in use */
    uint64_t dropped; /* events */
} ttr_manager_program;

/* Copies the i-th connected program; returns false after the last. */
TTR_API bool ttr_manager_program_at(const ttr_manager *manager, size_t i,
                                    ttr_manager_program *program);

/* Reads the rest of all rings, completes the archive, disconnects all programs, removes the socket
 * and frees the manager.  NULL is allowed.  Returns TTR_E_IO if the archive could not be completed.
 */
TTR_API ttr_status ttr_manager_close(ttr_manager *manager, ttr_error *error);

#ifdef __cplusplus
}
#endif

#endif
