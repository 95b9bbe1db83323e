/* Texts of the protocol: UTF-16 there, UTF-8 here.  What is no character becomes U+FFFD. */
#ifndef TRACETTA_DOTNET_UTF16_H
#define TRACETTA_DOTNET_UTF16_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"

/* Appends a count and the units with a zero at the end; for an empty text or NULL a count of 0. */
void utf16_put(struct buffer *to, const char *text);

/* Takes a count and so many units, up to the first zero.  NULL with from->failed where the bytes
 * end early, and without it when memory is out. */
const char *utf16_take(struct cursor *from, struct arena *arena);

#endif
