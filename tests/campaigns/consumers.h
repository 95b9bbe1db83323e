/* All that a program may do with a damaged trace after opening it: the consumers of events, for the
 * damage campaign (damage.c). */
#ifndef TRACETTA_TESTS_CAMPAIGNS_CONSUMERS_H
#define TRACETTA_TESTS_CAMPAIGNS_CONSUMERS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of consumers: statistics, trees, profiles, meaning, order, and each writer. */
size_t consumers_count(void);

/* Reads the bytes in a format, with symbols, into the i-th consumer. Returns the consumer's name if
 * it fails for another reason than that the trace cannot be opened, else NULL. */
const char *consumers_run(size_t i, const char *format, const uint8_t *bytes, size_t n);

#endif
