/* Assertions about a trace as SQL: "p99(frame) < 16ms", or a statement that must return no rows. */
#ifndef TRACETTA_CLI_COMMANDS_ASSERTION_H
#define TRACETTA_CLI_COMMANDS_ASSERTION_H

#include <stdbool.h>

#define ASSERTION_SQL_BYTES 4096u

struct assertion {
    const char *text;  /* text of the assertion, as given */
    bool is_statement; /* SQL that must return no rows; else SQL that returns a value and whether it
                        * is as asserted */
    bool is_duration;  /* the value is in ns */
    char sql[ASSERTION_SQL_BYTES];
};

/* Translates a text. Returns false with the reason, and the byte of the text that is wrong. */
bool assertion_parse(const char *text, struct assertion *assertion, const char **reason,
                     unsigned *offset);

#endif
