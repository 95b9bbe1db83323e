/* Glob patterns for byte strings: "net*", "[ab]?", "[!0-9]", "\*". */
#ifndef TRACETTA_PIPELINE_GLOB_H
#define TRACETTA_PIPELINE_GLOB_H

#include <stdbool.h>

#include <tracetta/event.h>

/* Returns true if the pattern matches the complete text.  `?` matches a UTF-8 character, `*` any
 * number of bytes, a set one byte.  A "[" without "]" matches itself.  Case-sensitive.  At most
 * |pattern| * |text| steps. */
bool glob_matches(const char *pattern, ttr_text text);

#endif
