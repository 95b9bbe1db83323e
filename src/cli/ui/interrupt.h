/* Signals: the first Ctrl-C ends the work so that outputs are whole, the second ends the command.
 *
 * The only writable globals of the command are in interrupt.c, for the handler. */
#ifndef TRACETTA_CLI_UI_INTERRUPT_H
#define TRACETTA_CLI_UI_INTERRUPT_H

#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP; ignores SIGPIPE and SIGXFSZ (a closed pipe and a limit of
 * size are then errors of a write); ends with a message at SIGBUS, which comes when a mapped file
 * is cut. */
void interrupt_init(void);

/* The signal that came, or 0. */
int interrupt_came(void);

/* A descriptor that becomes readable when a signal comes, -1 where there is none: for poll. */
int interrupt_wait_fd(void);

/* From now on SIGUSR2 asks for a dump; interrupt_dump_came tells whether it came since the last
 * time this was asked. */
void interrupt_take_dumps(void);
bool interrupt_dump_came(void);

/* A file or folder to remove when the command is ended at once; NULL for none.  Borrowed. */
void interrupt_remove(const char *path);

#endif
