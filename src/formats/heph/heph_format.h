/* The Heph trace format 0.1.0: constants and byte layouts. All integers are big-endian.
 *
 *   metadata packet
 *     [0..3] 75 D1 1D 4D | [4..7] size | [8..9] name length | name | value
 *
 *   event packet
 *     [0..3] C1 FC 1F B7 | [4..7] size | [8..11] stream | [12..15] counter | [16..23] substream
 *     [24..31] start ns | [32..39] end ns | [40..41] description length | description | attributes
 *
 *   attribute
 *     [0..1] name length | name | type byte | value
 *
 *   value
 *     type 1 u64, 2 s64, 3 f64: 8 bytes
 *     type 4 string: u16 length, then its bytes
 *     type 0x80 + one of these: u16 count, then that many values
 *
 * `size` is the size of the complete packet in bytes. Files written before March 2021 have no
 * substream: start is at 16, end at 24, description length at 32. Magic numbers and version are the
 * same (see heph_bid.c). */
#ifndef TRACETTA_FORMATS_HEPH_FORMAT_H
#define TRACETTA_FORMATS_HEPH_FORMAT_H

#include <stdint.h>

#define HEPH_MAGIC_METADATA 0x75D11D4Du
#define HEPH_MAGIC_EVENT 0xC1FC1FB7u

#define HEPH_FRAME_SIZE 8u /* size of magic number and size field, in bytes */
/* size of a metadata packet before the name of its option, in bytes */
#define HEPH_METADATA_HEADER 10u
/* size in bytes of an event header before the description; _OLD: in the layout without substream */
#define HEPH_EVENT_HEADER 42u
#define HEPH_EVENT_HEADER_OLD 34u
/* size in bytes of a metadata packet with the option "epoch" and its u64 value */
#define HEPH_EPOCH_PACKET 23u

#define HEPH_TYPE_UINT 1u
#define HEPH_TYPE_INT 2u
#define HEPH_TYPE_FLOAT 3u
#define HEPH_TYPE_TEXT 4u
#define HEPH_TYPE_ARRAY 0x80u

/* maximum number of bytes of a string, and of elements of an array */
#define HEPH_TEXT_MAX 65535u

/* Default maximum size of a packet, in bytes. The format allows 4 GiB, but a damaged size must not
 * cause such an allocation. Larger packets need option max_record. */
#define HEPH_PACKET_MAX_DEFAULT (UINT64_C(16) << 20)

/* Byte offsets of the members of an event header, which depend on the layout. */
struct heph_layout {
    uint32_t header;    /* size of the header in bytes */
    uint32_t substream; /* offset of the substream; 0 if the layout has none */
    uint32_t start, end, description_length;
};

#endif
