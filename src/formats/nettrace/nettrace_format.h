/* nettrace, the format of .NET's EventPipe, in constants and drawings: all its versions.
 *
 *   V1, V2  .netperf of .NET Core 2.0   one object, its events one behind another; metadata are
 * events V3      .netperf of 2.1             blocks of the same events V4, V5  .nettrace of 3.0 and
 * later  blocks with compressed headers, metadata, stacks and sequence points apart; V5 only has
 * more in its metadata and does not say so V6      .nettrace, 2025             the same blocks
 * without the frame of objects
 *
 * Everything is little-endian; GUIDs as Windows stores them; z16 is UTF-16 up to a zero.
 *
 * V1 to V5:  "Nettrace" (V4, V5 only)   i32 20   "!FastSerialization.1"   objects   01
 *   object   [tag 5, V1 to V3: 4] [the same tag] [1]  i32 version  i32 least version  i32 length
 * name  [6]  payload  [6] Trace    year month weekday day hour minute second ms (u16 each, UTC) i64
 * ticks then   i64 ticks a second V3 and later: i32 bytes of a pointer   i32 pid   i32 processors
 * i32 ns between samples others   i32 size   zeros up to a multiple of 4 in the file   that many
 * bytes
 *
 * blocks of events and of metadata (V4 and later)
 *   [0..1] size of this header | [2..3] flags: 1 = compressed | [4..11] least ticks | [12..19] most
 * ticks | ... | events compressed event, each part where its flag is set, else as in the event
 * before (0 in the first of a block) u8 flags   1: varint metadata   2: varint sequence delta,
 * varint capture thread, varint processor   4: varint thread 8: varint stack   varint ticks delta,
 * always   16: GUID activity   32: GUID related activity   128: varint payload size   payload 64:
 * nothing behind is older.  V6: 16: varint label list, 32: none, threads are indexes
 */
#ifndef TRACETTA_NETTRACE_FORMAT_H
#define TRACETTA_NETTRACE_FORMAT_H

#include "encodings/dotnet/clr_metadata.h" /* types of fields */

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
    NETTRACE_BLOCK_COMPRESSED = 1, /* in its flags */
    NETTRACE_NAME_MAX = 64,        /* longest name of an object that is believed */
    NETTRACE_V6 = 6,
    NETTRACE_V6_HEAD = 20 /* magic, u32 0, u32 major, u32 minor */
};

/* Flags of a compressed header. */
enum {
    NETTRACE_HAS_METADATA = 1,
    NETTRACE_HAS_CAPTURE = 2,
    NETTRACE_HAS_THREAD = 4,
    NETTRACE_HAS_STACK = 8,
    NETTRACE_HAS_ACTIVITY = 16, /* V6: labels */
    NETTRACE_HAS_RELATED = 32,
    NETTRACE_IS_SORTED = 64,
    NETTRACE_HAS_SIZE = 128
};

/* Blocks of V6: u32 header = size | kind << 24. */
enum nettrace_block_kind {
    NETTRACE_BLOCK_END = 0,
    NETTRACE_BLOCK_TRACE = 1,
    NETTRACE_BLOCK_EVENTS = 2,
    NETTRACE_BLOCK_METADATA = 3,
    NETTRACE_BLOCK_POINT = 4, /* sequence point */
    NETTRACE_BLOCK_STACKS = 5,
    NETTRACE_BLOCK_THREADS = 6,
    NETTRACE_BLOCK_GONE = 7, /* threads that are no more */
    NETTRACE_BLOCK_LABELS = 8
};

/* What may follow the fields of metadata in V4 and V5: i32 bytes, u8 kind. */
enum nettrace_extra { NETTRACE_EXTRA_OPCODE = 1, NETTRACE_EXTRA_PARAMS = 2 };

#endif
