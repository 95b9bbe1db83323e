/* Location of tracefs and the ioctls of user_events.
 *
 * Life of a user event: tracefs_open("user_events_data"), tracefs_register for each tracepoint,
 * write() with its index on that descriptor, tracefs_unregister. The kernel sets and clears `bit`
 * in the registered word while a consumer records. Left out: all other files of tracefs. Thread
 * rule: stateless functions. */
#ifndef TRACETTA_PROVIDER_TRACEFS_H
#define TRACETTA_PROVIDER_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/error.h>

#define TRACEFS_PATH_MAX 4096u

/* Fields of every EventHeader tracepoint, in user_events syntax. The space after each ';' matters:
 * without it, Linux 6.4 to 6.8 treat the fields as those of a different event. */
#define TRACEFS_EVENT_HEADER \
    " u8 eventheader_flags; u8 version; u16 id; u16 tag; u8 opcode; u8 level"

#define TRACEFS_REG_PERSIST 1u
#define TRACEFS_REG_MULTI_FORMAT 2u

/* Finds tracefs: at `given`, at /sys/kernel/tracing, or at the first mount in /proc/mounts. Fails
 * with TTR_E_IO if there is none. */
TTR_MUST ttr_status tracefs_find(const char *given, char path[TRACEFS_PATH_MAX], ttr_error *error);

/* Opens a tracefs file for writing. Returns a descriptor, or -1 with an error that suggests a
 * remedy. */
int tracefs_open(const char *tracefs, const char *name, ttr_error *error);

/* Arguments of one registration. */
struct tracefs_registration {
    const char *command; /* tracepoint name and field list */
    uint32_t *enabled;
    unsigned bit;
    unsigned flags; /* TRACEFS_REG_* */
};

/* Registers a tracepoint. Returns 0 with the index for write(), or an errno. */
int tracefs_register(int fd, const struct tracefs_registration *registration, uint32_t *index);

/* Ends the registration of one bit of a word. Returns 0 or an errno. */
int tracefs_unregister(int fd, uint32_t *enabled, unsigned bit);

/* Deletes an unused tracepoint. Returns 0 or an errno (EBUSY if in use). */
int tracefs_delete(int fd, const char *name);

#endif
