/* Test programs without cmocka say here, a line a case, how they went (Test Anything Protocol). One
 * thread; what is said counts for the process. */
#ifndef TRACETTA_TESTS_SUPPORT_TAP_H
#define TRACETTA_TESTS_SUPPORT_TAP_H

#include <stdbool.h>

/* Says how a case went, and what it is; gives `ok`. */
bool tap_case(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that a case is skipped, and why. */
void tap_skip(const char *what, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* Says how many cases there were; gives what the program is to exit with: not 0 where one failed,
 * or there was none. */
int tap_end(void);

#endif
