/* Build ids of mapped files, which identify the exact binary for later symbolization.
 *
 * They are read while the processes exist, once per file; those of the kernel and its modules come
 * from sysfs. If the inode differs from the mapped one, the file was replaced and gets no build id.
 * Ownership: build_ids_free. */
#ifndef TRACETTA_PERF_EVENTS_BUILD_ID_H
#define TRACETTA_PERF_EVENTS_BUILD_ID_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/key_map.h"

#define BUILD_ID_SIZE_MAX 20u /* bytes that perf.data can store */

struct build_id {
    uint8_t bytes[BUILD_ID_SIZE_MAX];
    uint8_t n; /* bytes used, 0 if unknown */
};

/* Cache of build ids. */
struct build_ids {
    struct key_map known;    /* hash of path and inode -> index in `list` */
    struct key_map returned; /* hashes of the paths for which build_ids_get_from_record has returned
                              * an id */
    struct build_id *list;
    size_t n, capacity;
    struct buffer text; /* scratch space for sysfs files */
};

void build_ids_init(struct build_ids *ids);
void build_ids_free(struct build_ids *ids);

/* Finds the GNU build id in ELF notes in the byte order of this machine. Returns n = 0 if there is
 * none. */
struct build_id find_build_id_in_notes(const void *bytes, size_t n);

/* Reads the build id of an ELF file. Returns n = 0 if the file has none, or if its inode is not
 * `inode`; 0 accepts any file. */
struct build_id read_file_build_id(const char *path, uint64_t inode);

/* Returns the build id of a file in the mount namespace of a process. Files are read once and
 * cached. */
struct build_id build_ids_find(struct build_ids *ids, uint64_t pid, const char *path,
                               uint64_t inode);

/* Returns the build id that an executable MMAP2 record lacks, and sets *path, borrowed from the
 * record. The kernel omits it before version 5.12, or if the ELF page is not in memory. Returns n =
 * 0 if the record has one, or for a path for which an id was returned before. */
struct build_id build_ids_get_from_record(struct build_ids *ids, const void *record, size_t n,
                                          ttr_text *path);

/* Returns the build id of the kernel (module NULL) or of one of its modules. */
struct build_id build_ids_get_kernel(struct build_ids *ids, const char *module);

#endif
