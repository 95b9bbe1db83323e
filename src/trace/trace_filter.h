/* Filters of categories: a list of globs with levels, "net.*,-net.debug,disk:5". */
#ifndef TRACETTA_TRACE_TRACE_FILTER_H
#define TRACETTA_TRACE_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Returns false if a filter is malformed. NULL is valid. */
bool trace_filter_is_valid(const char *filter);

/* Returns the highest level of a category that a filter records; 0 = none. The last glob that
 * matches decides. NULL and "" record all. */
uint8_t trace_filter_level(const char *filter, const char *category);

#endif
