/* Glob patterns for byte strings: "net*", "[ab]?", "[!0-9]", "\*". */
#ifndef TRACETTA_PIPELINE_GLOB_H
#define TRACETTA_PIPELINE_GLOB_H

#include <stdbool.h>

#include <tracetta/event.h>

/* Whether the whole text matches the pattern.  `?` is one character of UTF-8, `*` any number of
 * bytes; a set is of bytes; a
 * "[" that is never closed stands for itself.  Case counts.  Takes at most |pattern| * |text|
 * steps. */
bool glob_matches(const char *pattern, ttr_text text);

#endif
