/* A minimal format with traces that are folders, for tests of the code that all such formats share.
 *
 *   little.txt   "little trace\n": the main file
 *   NAME.bin     "LITTLE\0\0", then records of 24 bytes, sorted by time:
 *                [0..7] time | [8..15] duration | [16..23] value, all little-endian
 *   index/...    anything: not read
 *
 * A record with a duration (at most 1,000) is a span, others are instants; the field "value" is its
 * number. A record with a value of all ones is damaged. For a time range, the reader finds the
 * first record by binary search and ends after the last one. The writer makes a file for each
 * thread, named by its tid. Records of its own format are copied to a file of their original name,
 * if their definitions came before them. */
#ifndef TRACETTA_TESTS_SUPPORT_LITTLE_H
#define TRACETTA_TESTS_SUPPORT_LITTLE_H

#include "model/format.h"

extern const struct format format_little;

/* Appends a record. Returns the new end. */
uint8_t *little_record(uint8_t *to, uint64_t time, uint64_t duration, uint64_t value);

/* The first bytes of every file except the main file. */
#define LITTLE_MAGIC "LITTLE\0"
#define LITTLE_HEAD sizeof LITTLE_MAGIC
#define LITTLE_RECORD 24u
#define LITTLE_MAIN_FILE "little trace\n"

#endif
