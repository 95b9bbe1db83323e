/* Build ids of the files that are mapped to be run: what tells whether a file found later is the
 * one that ran.
 *
 * They are read from the files while the processes are there, once for each file; and of the kernel
 * and its modules from sysfs.  A file that is not the mapped one any more (its inode is another)
 * has none.  Ownership: build_ids_free. */
#ifndef TRACETTA_PERF_EVENTS_BUILD_ID_H
#define TRACETTA_PERF_EVENTS_BUILD_ID_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/keymap.h"

#define BUILD_ID_MOST 20u /* bytes that a perf.data has room for */

struct build_id {
    uint8_t bytes[BUILD_ID_MOST];
    uint8_t n; /* 0 = none */
};

/* Of files that were looked at. */
struct build_ids {
    struct keymap known; /* hash of inode and path to a place in list */
    struct keymap told;  /* by hash of the path: those that build_ids_of_record gave */
    struct build_id *list;
    size_t n, capacity;
    struct buffer text; /* for files of sysfs */
};

void build_ids_init(struct build_ids *ids);
void build_ids_free(struct build_ids *ids);

/* The build id in notes as ELF files and sysfs have them, in the byte order of this machine. */
struct build_id build_id_in_notes(const void *bytes, size_t n);

/* Of an ELF file; `inode` 0 = whichever file is there. */
struct build_id build_id_of_file(const char *path, uint64_t inode);

/* Of a file as a process sees it. */
struct build_id build_ids_find(struct build_ids *ids, uint64_t pid, const char *path,
                               uint64_t inode);

/* Of the file of an MMAP2 record in which the kernel tells none, because it is too old or had not
 * read that part of the file; once for each path, which is the record's.  Nothing of what is not
 * there to be run. */
struct build_id build_ids_of_record(struct build_ids *ids, const void *record, size_t n,
                                    ttr_text *path);

/* Of the kernel (NULL), or of one of its modules. */
struct build_id build_ids_kernel(struct build_ids *ids, const char *module);

#endif
