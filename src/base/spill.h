/* A temporary file without a name, for data that does not fit in memory. It is deleted when it is
 * closed or the process ends, in any way. Threads: one thread at a time. */
#ifndef TRACETTA_BASE_SPILL_H
#define TRACETTA_BASE_SPILL_H

#include <tracetta/error.h>

struct spill {
    int file;     /* file descriptor; -1 until the first append */
    uint64_t end; /* size in bytes: offset of the next append */
    /* limit of `end` in bytes; 0 = nine tenths of the space that is free when the file is created
     */
    uint64_t size_max;
};

static inline void spill_init(struct spill *spill, uint64_t size_max)
{
    *spill = (struct spill){.file = -1, .size_max = size_max};
}

/* Appends n bytes; creates the file at the first call. Fails with TTR_E_IO or TTR_E_LIMIT,
 * `error->format` "temporary" and a text that names the folder and the remedy, also if the disk is
 * full or size_max is exceeded. */
TTR_MUST ttr_status spill_append(struct spill *spill, const void *bytes, size_t n,
                                 ttr_error *error);

/* Reads n bytes that were appended before, from offset `at`. Fails like spill_append. */
TTR_MUST ttr_status spill_read(const struct spill *spill, uint64_t at, void *to, size_t n,
                               ttr_error *error);

/* Fails like spill_read, for a caller that finds the bytes corrupted: they are not those that it
 * appended. */
TTR_MUST ttr_status spill_fail_corrupted(ttr_error *error);

/* Frees the disk space of a range, if the file system supports holes. The range must not be read
 * again. */
void spill_punch_hole(const struct spill *spill, uint64_t at, uint64_t n);

void spill_close(struct spill *spill);

#endif
