/* Strings of the protocol: UTF-16 on the wire, UTF-8 in memory. Invalid input becomes U+FFFD. */
#ifndef TRACETTA_DOTNET_UTF16_H
#define TRACETTA_DOTNET_UTF16_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"

/* Appends the unit count and the units with a final zero. NULL and "" become a count of 0. */
void utf16_append(struct buffer *to, const char *text);

/* Reads a count and its units up to the first zero, into `arena`. Returns NULL with from->failed
 * set if the bytes end early, and NULL without it if memory is exhausted. */
const char *utf16_parse(struct cursor *from, struct arena *arena);

#endif
