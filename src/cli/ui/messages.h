/* Messages on stderr, one line each: "tracetta: FILE: byte N: text". */
#ifndef TRACETTA_CLI_UI_MESSAGES_H
#define TRACETTA_CLI_UI_MESSAGES_H

#include <tracetta/read.h>

struct call;

/* Returns "damage", "odd" or "remark". */
const char *talk_severity(ttr_severity severity);

/* Reports wrong usage, with a hint to the help of the command (NULL: of the program). Returns
 * OUTCOME_MISUSE. */
int talk_misuse(const char *verb, const char *format, ...) TTR_PRINTF(2, 3);

/* Reports an error of the library; with --verbose also status, format, record and line. */
void talk_error(const struct call *call, const char *path, const ttr_error *error);

/* Reports an error of the command about a path. */
void talk_failure(const char *path, const char *format, ...) TTR_PRINTF(2, 3);

/* Reports why an output cannot be written, by its errno, with advice. Returns OUTCOME_OUTPUT. */
int talk_cannot_write(const char *path, int reason);

/* Reports that stdout could not be written. Returns OUTCOME_OUTPUT, or OUTCOME_FINE if its reader
 * has closed the pipe. */
int talk_output_failed(int reason);

/* Prints a note, unless --quiet is given. */
void talk_note(const struct call *call, const char *format, ...) TTR_PRINTF(2, 3);

/* bytes for a text of the library */
#define TALK_TEXT 1024u

/* Return a text of the library in which an option of the library (ttr_read_options.from) is
 * replaced by the option of the command (--from). The result is `own`, or the text itself if
 * nothing changes. */
const char *talk_error_text(const ttr_error *error, char own[TALK_TEXT]);
const char *talk_note_text(const ttr_note *note, char own[TALK_TEXT]);

/* Returns the word of a list most similar to `word`, or NULL if none is similar. `at` returns the
 * i-th word, and NULL after the last. */
const char *talk_nearest(const char *word, const char *(*at)(const void *own, size_t i),
                         const void *own);

#endif
