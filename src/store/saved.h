/* Layout of a saved store (tracetta/store.h): ttr_store_save writes it, ttr_store_load reads it.
 *
 *     [0 .. 7]   "TTRSTORE"
 *     [8 .. 15]  version: hash of the definitions of all tables, and of the byte order
 *     [16 .. 23] size of the file
 *     [24 .. 47] section of the directory
 *     [48 .. 55] hash of bytes 0 to 47
 *     sections: strings, columns, parts; then the directory
 *
 * A section has offset, size and hash, 8 bytes each. Its hash folds the hashes of pieces of 64 KiB.
 * Numbers of the head and the directory are little-endian; those of columns have the byte order of
 * the machine.
 *
 * The directory:
 *     key: size (4), bytes
 *     events (8), first time (8), last time (8), 1 if events are out of order (1)
 *     strings: number (4), section: for each, size (4) and bytes; id 0, which is "", is left out
 *     the tables of store_definitions, then number of class tables (4), then those. A table:
 *         class table: name (text id, 4), number of its fields (4), for each: name (4), type (1)
 *         is_wanted (1), rows (8), for each column: is_filled (1), if so its section
 *     parts: number (4), for each: size of the name (1), name, section
 *
 * The section of a column of n rows has (n - 1) / 1024 heads of 16 bytes (base, width, has_null,
 * zeros), the numbers of the blocks, and the last 1 to 1,024 values of 8 bytes. */
#ifndef TRACETTA_STORE_SAVED_H
#define TRACETTA_STORE_SAVED_H

#include "store/store.h"

#define SAVED_HEAD 56u
#define SAVED_MAGIC "TTRSTORE"
#define SAVED_PIECE ((size_t)64 << 10)
#define SAVED_BLOCK_HEAD 16u
#define SAVED_SECTION 24u /* bytes of offset, size and hash */
#define SAVED_PARTS_MAX 64u
#define SAVED_PART_NAME_MAX 64u
#define SAVED_DIRECTORY_MAX ((uint64_t)64 << 20)
#define SAVED_CLASSES_MAX 8192u
#define SAVED_ROWS_MAX ((uint64_t)1 << 40)
#define SAVED_KEY_MAX ((uint64_t)16 << 20)

struct saved_section {
    uint64_t offset, size, hash;
};

/* A part of a loaded store. */
struct saved_part {
    char name[SAVED_PART_NAME_MAX];
    struct saved_section section;
};

/* Returns the version of the file format and of the tables. */
uint64_t saved_version(void);

/* Returns TTR_E_MISUSE: a loaded store has no state to add events to. */
ttr_status store_fail_loaded(ttr_error *error);

/* Adds the next piece to the hash of a section, which starts with 0. */
uint64_t saved_hash_add(uint64_t hash, const void *piece, size_t n);

#endif
