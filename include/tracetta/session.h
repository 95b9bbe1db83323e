/* Sessions that record programs with trace points (record.h), and their control from outside.
 *
 * Each manager of this user that chose its own socket is a session, named by the process that runs
 * it.  Only the same user and root can control it.
 *
 * Functions return TTR_OK; TTR_END after the last row of a list; TTR_E_MISUSE if the session does
 * not exist or refuses the request; TTR_E_IO if it ended or does not answer within 5 seconds.  A
 * ttr_session is used by one thread at a time. */
#ifndef TRACETTA_SESSION_H
#define TRACETTA_SESSION_H

#include <stdbool.h>

#include "error.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_session ttr_session;

/* Stores the processes of up to n sessions of this user, in ascending order.  Returns the number of
 * sessions, which may be larger. */
TTR_API size_t ttr_session_find(uint64_t *pids, size_t n);

/* Connects to a session.  pid 0 is the only session of this user.  Returns NULL with `error`. */
TTR_API ttr_session *ttr_session_open(uint64_t pid, ttr_error *error);

/* Closes the connection.  The session goes on.  NULL is allowed. */
TTR_API void ttr_session_close(ttr_session *session);

typedef struct ttr_session_info {
    size_t size;
    uint64_t pid; /* of the manager */
    enum ttr_manager_mode mode;
    uint64_t buffer_bytes;   /* ring per thread */
    const char *output;      /* name of the output; borrowed until the next call */
    const char *categories;  /* filter; "" = all; borrowed, at most 180 bytes are shown */
    ttr_manager_stats stats; /* counts so far */
} ttr_session_info;

/* Copies what is known of the session. */
TTR_API TTR_MUST ttr_status ttr_session_get_info(ttr_session *session, ttr_session_info *info,
                                                 ttr_error *error);

/* Copies the i-th program that is connected. */
TTR_API TTR_MUST ttr_status ttr_session_program_at(ttr_session *session, size_t i,
                                                   ttr_manager_program *program, ttr_error *error);

/* A category of a program. */
typedef struct ttr_session_category {
    uint64_t pid;
    const char *name; /* borrowed until the next call */
    unsigned level;   /* highest level that is recorded; 0 = disabled */
} ttr_session_category;

/* Copies the i-th category of all programs. */
TTR_API TTR_MUST ttr_status ttr_session_category_at(ttr_session *session, size_t i,
                                                    ttr_session_category *category,
                                                    ttr_error *error);

/* Replaces the filter, of at most 107 bytes: "net.*,-net.debug,disk:5"; "" enables all.  Categories
 * are switched in running programs before the function returns. */
TTR_API TTR_MUST ttr_status ttr_session_set_categories(ttr_session *session, const char *filter,
                                                       ttr_error *error);

/* Changes how rings behave when they are full; see ttr_manager_set_mode. */
TTR_API TTR_MUST ttr_status ttr_session_set_mode(ttr_session *session, enum ttr_manager_mode mode,
                                                 ttr_error *error);

/* Writes all events that are in rings now. */
TTR_API TTR_MUST ttr_status ttr_session_snapshot(ttr_session *session, ttr_error *error);

/* Asks the manager to end the recording and to complete its output.  The programs go on. */
TTR_API TTR_MUST ttr_status ttr_session_stop(ttr_session *session, ttr_error *error);

#ifdef __cplusplus
}
#endif

#endif
