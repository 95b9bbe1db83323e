/* Messages on stderr, one line each: "tracetta: FILE: byte N: text". */
#ifndef TRACETTA_CLI_UI_MESSAGES_H
#define TRACETTA_CLI_UI_MESSAGES_H

#include <tracetta/report.h>

struct call;

/* Returns "damage", "odd" or "remark". */
const char *print_diagnostic_severity(ttr_severity severity);

/* Reports misuse, with a hint to the help of the command `verb` (NULL: of the program). Returns
 * OUTCOME_MISUSE. */
int report_misuse(const char *verb, const char *format, ...) TTR_PRINTF(2, 3);

/* Reports an error of the library; with --verbose also its status, format, record and line. */
void report_error(const struct call *call, const char *path, const ttr_error *error);

/* Reports an error that the command has with a path. */
void report_failure_text(const char *path, const char *format, ...) TTR_PRINTF(2, 3);

/* Reports by an errno why an output cannot be written, with advice. Returns OUTCOME_OUTPUT. */
int report_unwritable_output(const char *path, int reason);

/* Reports that stdout could not be written. Returns OUTCOME_OUTPUT, or OUTCOME_FINE if its reader
 * has closed the pipe. */
int report_output_error(int reason);

/* Prints a note, unless --quiet is given. */
void print_note(const struct call *call, const char *format, ...) TTR_PRINTF(2, 3);

/* size in bytes of a buffer for a text of the library */
#define MESSAGE_TEXT_MAX 1024u

/* Return a text of the library in which the command's option (--from) replaces the library's
 * (ttr_read_options.from). The result is `ctx`, or the original text if nothing is replaced. */
const char *message_error_text(const ttr_error *error, char ctx[MESSAGE_TEXT_MAX]);
const char *message_note_text(const ttr_diagnostic *note, char ctx[MESSAGE_TEXT_MAX]);

/* Returns the word of a list that is most similar to `word`, or NULL if none is similar enough.
 * `at` returns the i-th word of the list, NULL after the last. */
const char *print_nearest_word(const char *word, const char *(*at)(const void *ctx, size_t i),
                               const void *ctx);

#endif
