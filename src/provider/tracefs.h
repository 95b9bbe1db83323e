/* Where tracefs is, and the commands of user_events: what providers, and the lists of tracepoints,
 * ask the kernel. Left out: everything but user_events.  Thread rule: plain functions. */
#ifndef TRACETTA_PROVIDER_TRACEFS_H
#define TRACETTA_PROVIDER_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/error.h>

#define TRACEFS_PATH 4096u

/* The fields of every EventHeader tracepoint.  A blank behind each ';': kernels 6.4 to 6.8 take the
 * same fields for others without. */
#define TRACEFS_EVENT_HEADER \
    " u8 eventheader_flags; u8 version; u16 id; u16 tag; u8 opcode; u8 level"

#define TRACEFS_REG_PERSIST 1u
#define TRACEFS_REG_MULTI_FORMAT 2u

/* Finds tracefs: `given`, else /sys/kernel/tracing, else what is mounted.  TTR_E_IO where there is
 * none. */
TTR_MUST ttr_status tracefs_find(const char *given, char path[TRACEFS_PATH], ttr_error *error);

/* Opens a file of tracefs for writing: its descriptor, or -1 with `error`, which says what to do.
 */
int tracefs_open(const char *tracefs, const char *name, ttr_error *error);

/* What is asked of user_events for one tracepoint. */
struct tracefs_registration {
    const char *command; /* name and fields */
    uint32_t *enabled;
    unsigned bit;
    unsigned flags; /* TRACEFS_REG_* */
};

/* Registers: 0 and the number to write with, or an errno. */
int tracefs_register(int fd, const struct tracefs_registration *registration, uint32_t *index);

/* Ends what was registered for a bit of a word: 0 or an errno. */
int tracefs_unregister(int fd, uint32_t *enabled, unsigned bit);

/* Deletes a tracepoint that nobody uses: 0 or an errno. */
int tracefs_delete(int fd, const char *name);

#endif
