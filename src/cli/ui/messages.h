/* What is said on stderr: one line each, "tracetta: FILE: at byte N: text". */
#ifndef TRACETTA_CLI_UI_MESSAGES_H
#define TRACETTA_CLI_UI_MESSAGES_H

#include <tracetta/read.h>

struct call;

/* Tells of misuse and points to the help of the verb (NULL: of the whole command).  Gives
 * OUTCOME_MISUSE. */
int talk_misuse(const char *verb, const char *format, ...) TTR_PRINTF(2, 3);

/* Tells of a failure of the library; with --verbose also status, format, record and line. */
void talk_error(const struct call *call, const char *path, const ttr_error *error);

/* A failure of ours, about a path. */
void talk_failure(const char *path, const char *format, ...) TTR_PRINTF(2, 3);

/* Why an output cannot be written, by an errno, and what may help; gives OUTCOME_OUTPUT. */
int talk_cannot_write(const char *path, int reason);

/* What was to go to standard output did not: tells why and gives OUTCOME_OUTPUT, or OUTCOME_FINE
 * where only its reader has left. */
int talk_output_failed(int reason);

/* Worth a line unless --quiet. */
void talk_note(const struct call *call, const char *format, ...) TTR_PRINTF(2, 3);

/* Room for what the library says: of errors and of notes. */
#define TALK_TEXT 1024u

/* What the library says, in the words of the command: where it names an option of its own
 * (ttr_read_options.from), that is a flag here (--from).  Names of files and the like stay what
 * they are.  Each gives `own` or, where nothing changes, the text. */
const char *talk_error_text(const ttr_error *error, char own[TALK_TEXT]);
const char *talk_note_text(const ttr_note *note, char own[TALK_TEXT]);

/* The word of a list (given one by one by `at`, NULL past the end) most like `word`, or NULL when
 * none is near. */
const char *talk_nearest(const char *word, const char *(*at)(const void *own, size_t i),
                         const void *own);

#endif
