/* Output of test programs without cmocka, one line per case, in the Test Anything Protocol (TAP).
 * One thread; the counters are per process. */
#ifndef TRACETTA_TESTS_SUPPORT_TAP_H
#define TRACETTA_TESTS_SUPPORT_TAP_H

#include <stdbool.h>

/* Prints the result of a case and its name. Returns `ok`. */
bool tap_case(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints that a case is skipped, and why. */
void tap_skip(const char *what, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* Prints the number of cases. Returns the exit status of the program: not 0 if a case failed or
 * there was none. */
int tap_end(void);

#endif
