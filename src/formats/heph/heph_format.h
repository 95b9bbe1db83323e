/* The Heph trace format 0.1.0 on one page: constants and drawings.  All integers are big-endian.
 *
 *   metadata packet   [0..3] 75 D1 1D 4D | [4..7] size | [8..9] name length | name | value
 *   event packet      [0..3] C1 FC 1F B7 | [4..7] size | [8..11] stream | [12..15] counter |
 * [16..23] substream [24..31] start ns | [32..39] end ns | [40..41] description length |
 * description | attributes attribute         [0..1] name length | name | type byte | value value
 * type 1 u64, 2 s64, 3 f64: 8 bytes | type 4 string: u16 length, bytes type 0x80 + one of these:
 * u16 count, then so many values
 *
 * `size` counts the whole packet.  Files written before March 2021 have no substream: start at 16,
 * end at 24, description length at 32; nothing in them says so (same magics, same version), see
 * heph_bid.c. */
#ifndef TRACETTA_FORMATS_HEPH_FORMAT_H
#define TRACETTA_FORMATS_HEPH_FORMAT_H

#include <stdint.h>

#define HEPH_MAGIC_METADATA 0x75D11D4Du
#define HEPH_MAGIC_EVENT 0xC1FC1FB7u

#define HEPH_FRAME 8u            /* magic and size */
#define HEPH_METADATA_HEADER 10u /* up to the option's name */
#define HEPH_EVENT_HEADER 42u    /* up to the description */
#define HEPH_EVENT_HEADER_OLD 34u
#define HEPH_EPOCH_PACKET 23u /* option "epoch" with its u64 */

#define HEPH_TYPE_UINT 1u
#define HEPH_TYPE_INT 2u
#define HEPH_TYPE_FLOAT 3u
#define HEPH_TYPE_TEXT 4u
#define HEPH_TYPE_ARRAY 0x80u

#define HEPH_TEXT_MAX 65535u /* bytes of a string, elements of an array */

/* The format allows 4 GiB packets; a damaged size must not make us hold that much, so more than
 * this is asked for. */
#define HEPH_PACKET_MAX_DEFAULT (UINT64_C(16) << 20)

/* Where the parts of an event header are. */
struct heph_layout {
    uint32_t header;    /* bytes up to the description */
    uint32_t substream; /* 0: has none */
    uint32_t start, end, description_length;
};

#endif
