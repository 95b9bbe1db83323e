/* Where a stream of nettrace or netperf is whole: the ends of its blocks, found by their sizes
 * without looking into them.
 *
 * So that a stream that stops anywhere can be closed behind its last block and read as a file that
 * is complete.  Streams of FastSerialization (netperf, nettrace 4): tags and a name around each
 * object; nettrace 6: a size and a kind before each block.  Thread rule: plain data. */
#ifndef TRACETTA_DOTNET_FRAMING_H
#define TRACETTA_DOTNET_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMING_PART 64u /* the longest part that is looked at: a name of a type */

enum framing_place {
    FRAMING_MAGIC, /* the first 8 bytes */
    FRAMING_HEAD,  /* the rest of the head of the file */
    FRAMING_TAG,   /* the first byte of an object, or of the end */
    FRAMING_TYPE,  /* [0] tag | [1] the same | [2] 1 | [3..6] version | [7..10] oldest version of a
                      reader | [11..14] length of the name */
    FRAMING_NAME,  /* and the tag 6 behind it */
    FRAMING_SIZE,
    FRAMING_CLOSE,  /* the tag 6 behind an object */
    FRAMING_BLOCK,  /* of nettrace 6: size and kind */
    FRAMING_OVER,   /* the stream has said that it ends */
    FRAMING_UNKNOWN /* it is something else */
};

struct framing {
    enum framing_place place;
    uint64_t at;           /* bytes seen */
    uint64_t whole;        /* up to here it is whole */
    uint64_t skip;         /* bytes of a payload still to pass over */
    uint32_t part_n, want; /* of the part at hand: bytes there, bytes it has */
    uint8_t part[FRAMING_PART];
};

void framing_init(struct framing *framing);

/* Looks at the next n bytes of the stream. */
void framing_pass(struct framing *framing, const uint8_t *bytes, size_t n);

#endif
