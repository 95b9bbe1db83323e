/* Signals: the first Ctrl-C ends the work and completes the outputs, the second ends the command at
 * once. All writable globals of the command are in interrupt.c. */
#ifndef TRACETTA_CLI_UI_INTERRUPT_H
#define TRACETTA_CLI_UI_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* Installs handlers for SIGINT, SIGTERM and SIGHUP. Ignores SIGPIPE and SIGXFSZ, so that writes
 * fail instead. Ends with a message at SIGBUS, which means that a mapped file was truncated. */
void interrupt_init(void);

/* Returns the number of the signal that was received, or 0. */
int interrupt_was_received(void);

/* Forgets the signal, for work that follows the usual end of a command. The next signal interrupts
 * that work. */
void interrupt_clear(void);

/* Ends reading after a time, as a signal does: interrupt_was_received then returns SIGALRM. 0 ns
 * cancels it. */
void interrupt_after(int64_t ns);

/* Returns a descriptor for poll that becomes readable at a signal, or -1. */
int interrupt_get_wake_fd(void);

/* interrupt_enable_dumps makes SIGUSR2 request a dump. interrupt_dump_was_received returns true if
 * it was received since the last call. */
void interrupt_enable_dumps(void);
bool interrupt_dump_was_received(void);

/* Sets a file or folder to remove if the command ends at once; NULL for none. The path is
 * borrowed. */
void interrupt_set_temporary_path(const char *path);

#endif
