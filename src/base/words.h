/* Words of eight bytes with their zeros left out, for what is kept on disk for a while: views of
 * events and their fields are mostly zeros.
 *
 * A word is a byte with a bit for each of its bytes that is not 0, and these.  Behind no bit at all
 * stands how many more words of zeros follow, behind all eight how many words follow as they are:
 *
 *     00 | n                         1 + n words of zeros
 *     ff | 8 bytes | n | 8 n bytes   1 + n words with hardly a zero in them
 *     xx | 1 to 7 bytes              one word
 *
 * What is packed is never more than 10/8 of what it was.  Thread rule: none, there is no state. */
#ifndef TRACETTA_BASE_WORDS_H
#define TRACETTA_BASE_WORDS_H

#include "base/buffer.h"
#include "base/cursor.h"

/* How many bytes the words take that n bytes stand in. */
static inline size_t words_size(size_t n)
{
    return n + (8 - n % 8) % 8;
}

/* Appends n bytes, with zeros behind them up to a whole word; to->failed when memory is out. */
void words_pack(struct buffer *to, const void *bytes, size_t n);

/* Takes words_size(n) bytes that words_pack was given by n; false where they are not there. */
bool words_unpack(struct cursor *from, uint8_t *to, size_t n);

#endif
