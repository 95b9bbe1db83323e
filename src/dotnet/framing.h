/* Incremental scanner for the block boundaries of a .NET event stream (nettrace 4 and 6, netperf).
 *
 * A recording may stop at any byte. The scanner knows the offset of the last complete block, so
 * that the output file can be truncated there and completed by an end tag. Payloads are skipped by
 * their sizes; damage inside a block is not noticed.
 *
 * FastSerialization (netperf and nettrace 4) has objects:
 *
 *     [tag][tag][1][version 4][oldest reader 4][name length 4][name][6]   type
 *     [size 4][padding to 4][payload][6]                                  payload
 *
 * The tag is 5 in nettrace and 4 in netperf. The object "Trace" has no size and no padding.
 *
 * The stream ends with tag 1. nettrace 6 has only [size 24 bits | kind 8 bits][payload] blocks;
 * kind 0 ends the stream.
 *
 * Call order: framing_init, then framing_scan for each received buffer of any size. State: a small
 * automaton; its states are the values of framing_state; a field that is split over buffers is
 * collected in `part`. Invariant: complete_end <= at. Cost: constant per block; payload bytes are
 * not read. Memory: sizeof(struct framing). Thread rule: none, plain data. */
#ifndef TRACETTA_DOTNET_FRAMING_H
#define TRACETTA_DOTNET_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMING_FIELD_MAX                                                   \
    64u /* size in bytes of the longest field that is collected; type names \
         * are shorter */

enum framing_state {
    FRAMING_MAGIC, /* the first 8 bytes */
    FRAMING_HEAD,  /* the rest of the file header */
    FRAMING_TAG,   /* first byte of an object, or the end tag */
    /* [0] tag | [1] the same tag | [2] 1 | [3..6] version | [7..10] minimum version of a reader |
     * [11..14] length of the name */
    FRAMING_TYPE,
    FRAMING_NAME, /* type name and the closing tag 6 */
    FRAMING_SIZE,
    FRAMING_CLOSE,  /* closing tag 6 after the payload of an object */
    FRAMING_BLOCK,  /* nettrace 6: [0..2] size | [3] kind */
    FRAMING_OVER,   /* the end tag was read; later bytes are ignored */
    FRAMING_UNKNOWN /* another format, or damage; the scan has stopped */
};

struct framing {
    enum framing_state state;
    uint64_t at;           /* number of bytes scanned so far */
    uint64_t complete_end; /* stream offset after the last complete block */
    uint64_t skip;         /* bytes of the current payload still to skip */
    bool is_foreign;       /* the first 8 bytes belong to no known format */
    /* number of bytes collected in `part`, and size of the current field */
    uint32_t part_n, field_n;
    uint8_t part[FRAMING_FIELD_MAX];
};

void framing_init(struct framing *framing);

/* Scans the next n bytes of the stream and updates `at` and `complete_end`. */
void framing_scan(struct framing *framing, const uint8_t *bytes, size_t n);

#endif
