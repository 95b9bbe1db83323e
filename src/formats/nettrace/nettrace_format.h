/* Constants and byte layouts of nettrace, the format of .NET's EventPipe, in all its versions.
 *
 *   V1, V2  .netperf of .NET Core 2.0   one object; events without blocks; metadata are events
 *   V3      .netperf of .NET Core 2.1   blocks of the same events
 *   V4, V5  .nettrace of .NET 3.0 on    blocks with compressed headers; metadata, stacks and
 *                                       sequence points in other blocks.  V5 only adds to
 *                                       the metadata and has the same version number in the file.
 *   V6      .nettrace since 2025        the same blocks without object frames
 *
 * All integers are little-endian. GUIDs have the byte order of Windows. z16: UTF-16 with a final
 * zero.
 *
 *   V1 to V5   "Nettrace" (V4 and V5 only)   i32 20   "!FastSerialization.1"   objects   u8 1
 *   object     [5; V1 to V3: 4] [the same tag] [1]  i32 version  i32 oldest reader
 *              i32 length  name  [6]  payload  [6]
 *   Trace      year month weekday day hour minute second ms (u16 each, UTC)  i64 ticks at that date
 *              i64 ticks per second   from V3 on: i32 pointer bytes  i32 pid  i32 processors
 *              i32 ns between samples
 *   other      i32 size   zeros up to a multiple of 4 in the file   content of that size
 *
 * Content of blocks of events and of metadata, from V4 on:
 *
 *   [0..1] size of this header | [2..3] flags: 1 = compressed | [4..11] lowest ticks
 *   | [12..19] highest ticks | possible additions | events
 *
 * Compressed event. A member without its flag has the value of the previous event, 0 in the first
 * event of a block.
 *
 *   u8 flags     1: varint metadata number      2: varint sequence delta, varint capture thread,
 *   varint processor      4: varint thread      8: varint stack      always: varint ticks delta
 *   16: GUID activity     32: GUID related activity    128: varint payload size     payload
 *   64: sorted, no later event in the file is older
 *   V6: 16 is varint label list, 32 is unused, threads are indexes into the thread table */
#ifndef TRACETTA_NETTRACE_FORMAT_H
#define TRACETTA_NETTRACE_FORMAT_H

#include "encodings/dotnet/clr_metadata.h" /* type codes of fields */

#define NETTRACE_MAGIC "Nettrace"
#define NETTRACE_MAGIC_BYTES 8u
#define NETTRACE_SERIALIZATION "!FastSerialization.1"
#define NETTRACE_SERIALIZATION_BYTES 20u

enum nettrace_tag {
    NETTRACE_NULL = 1,
    NETTRACE_BEGIN = 4,
    NETTRACE_BEGIN_PRIVATE = 5,
    NETTRACE_END = 6
};

enum {
    NETTRACE_TRACE_OLD = 32, /* bytes of the Trace object before V3 */
    NETTRACE_TRACE_BYTES = 48,
    NETTRACE_BLOCK_HEADER = 20,
    NETTRACE_BLOCK_COMPRESSED = 1, /* block header: event headers are compressed */
    /* longest object name that is accepted; real names have up to 38 bytes */
    NETTRACE_NAME_MAX = 64,
    NETTRACE_V6 = 6,
    NETTRACE_V6_HEAD = 20 /* bytes at the start of the file: magic, u32 0, u32 major, u32 minor */
};

/* Flags in the first byte of a compressed header: which members follow. */
enum {
    NETTRACE_HAS_METADATA = 1,
    NETTRACE_HAS_CAPTURE = 2,
    NETTRACE_HAS_THREAD = 4,
    NETTRACE_HAS_STACK = 8,
    NETTRACE_HAS_ACTIVITY = 16, /* activity id; in V6 the label list */
    NETTRACE_HAS_RELATED = 32,
    NETTRACE_IS_SORTED = 64,
    NETTRACE_HAS_SIZE = 128
};

/* Kinds of V6 blocks. The first word of a block is its size | kind << 24. */
enum nettrace_block_kind {
    NETTRACE_BLOCK_END = 0,
    NETTRACE_BLOCK_TRACE = 1,
    NETTRACE_BLOCK_EVENTS = 2,
    NETTRACE_BLOCK_METADATA = 3,
    NETTRACE_BLOCK_POINT = 4, /* sequence point */
    NETTRACE_BLOCK_STACKS = 5,
    NETTRACE_BLOCK_THREADS = 6,
    NETTRACE_BLOCK_ENDED_THREADS = 7, /* list of threads that ended */
    NETTRACE_BLOCK_LABELS = 8
};

/* Tags of data after the fields in metadata of V4 and V5: i32 size, u8 kind, content. */
enum nettrace_extra { NETTRACE_EXTRA_OPCODE = 1, NETTRACE_EXTRA_PARAMS = 2 };

#endif
