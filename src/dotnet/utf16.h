/* Strings of the diagnostics protocol: UTF-16 in messages, UTF-8 in memory. Invalid input becomes
 * U+FFFD. */
#ifndef TRACETTA_DOTNET_UTF16_H
#define TRACETTA_DOTNET_UTF16_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"

/* Appends the number of UTF-16 units and the units, with a terminating zero. NULL and "" are
 * written as the number 0. */
void utf16_append(struct buffer *to, const char *text);

/* Reads a number of UTF-16 units and the units; converts them, up to the first zero, in `arena`.
 * Returns NULL with from->failed set if the input ends early. Returns NULL without it if memory is
 * exhausted. */
const char *utf16_parse(struct cursor *from, struct arena *arena);

#endif
