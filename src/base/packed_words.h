/* Packed words: an encoding that omits zero bytes, for temporary data on disk (event views and
 * fields are mostly zeros). It is the packed encoding of Cap'n Proto.
 *
 * A word of eight bytes becomes a tag with a bit per non-zero byte, then the non-zero bytes. A tag
 * of 00 or ff is followed by a count n of further words:
 *
 *     00 | n                         1 + n words of zeros
 *     ff | 8 bytes | n | 8 n bytes   1 + n words stored unpacked
 *     xx | 1 to 7 bytes              one word
 *
 * The packed size is at most 10/8 of the input. Threads: the functions have no state. */
#ifndef TRACETTA_BASE_PACKED_WORDS_H
#define TRACETTA_BASE_PACKED_WORDS_H

#include "base/buffer.h"
#include "base/cursor.h"

/* Returns n rounded up to a multiple of 8: the size of n bytes after unpacking. */
static inline size_t packed_words_padded_size(size_t n)
{
    return n + (8 - n % 8) % 8;
}

/* Appends n bytes in packed form, padded with zeros to a multiple of 8. Sets to->failed if memory
 * is out. */
void packed_words_append(struct buffer *to, const void *bytes, size_t n);

/* Unpacks packed_words_padded_size(n) bytes into `to`, which were packed by one packed_words_append
 * of n bytes. Returns false if the input ends early or is invalid. */
bool packed_words_read(struct cursor *from, uint8_t *to, size_t n);

#endif
