/* A strict JSON checker (RFC 8259) for tests: UTF-8, escapes, numbers, no duplicate names in one
 * object. */
#ifndef TRACETTA_TESTS_SUPPORT_JSON_CHECK_H
#define TRACETTA_TESTS_SUPPORT_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the bytes are exactly one JSON value with optional blanks around it. */
bool json_check(const char *p, size_t n);

/* Fails the test unless each line is one JSON value without blanks around it. */
void json_check_lines(const char *p, size_t n);

#endif
