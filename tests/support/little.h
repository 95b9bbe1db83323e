/* A format whose trace is a folder, as small as one can be: for tests of everything around such
 * formats.
 *
 *   little.txt   "little trace\n": the anchor
 *   NAME.bin     "LITTLE\0\0", then records of 24 bytes: [0..7] time  [8..15] duration  [16..23]
 * value, little-endian, by time index/...    anything: not read
 *
 * A record with a duration (at most 1,000) is a span, others are instants; the field "value" is its
 * number.  A record whose value is all ones is damaged.  Where a range is asked for, its first
 * record is searched by halves and reading ends behind it. The writer makes a file for each thread,
 * called after its tid, and copies its own records, where their definitions came before them, to a
 * file of the name they came from. */
#ifndef TRACETTA_TESTS_SUPPORT_LITTLE_H
#define TRACETTA_TESTS_SUPPORT_LITTLE_H

#include "model/format.h"

extern const struct format format_little;

/* Appends a record to bytes; gives their new end. */
uint8_t *little_record(uint8_t *to, uint64_t time, uint64_t duration, uint64_t value);

/* How a file that is not the anchor begins. */
#define LITTLE_MAGIC "LITTLE\0"
#define LITTLE_HEAD sizeof LITTLE_MAGIC
#define LITTLE_RECORD 24u
#define LITTLE_ANCHOR "little trace\n"

#endif
