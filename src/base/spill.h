/* A temporary file without a name, for what does not fit in memory.  It is gone when it is closed,
 * however the program ends. */
#ifndef TRACETTA_BASE_SPILL_H
#define TRACETTA_BASE_SPILL_H

#include <tracetta/error.h>

struct spill {
    int file;     /* -1 until the first append */
    uint64_t end; /* where the next append goes */
};

static inline void spill_init(struct spill *spill)
{
    *spill = (struct spill){.file = -1};
}

/* Appends; TTR_E_IO of the format "temporary" says which folder and what to do, also when the disk
 * is full. */
TTR_MUST ttr_status spill_append(struct spill *spill, const void *bytes, size_t n,
                                 ttr_error *error);

/* Reads n bytes that were appended before. */
TTR_MUST ttr_status spill_read(const struct spill *spill, uint64_t at, void *to, size_t n,
                               ttr_error *error);

/* What was read is not what was appended: the same failure. */
TTR_MUST ttr_status spill_damaged(ttr_error *error);

/* Gives disk space back where the file system can. */
void spill_forget(const struct spill *spill, uint64_t at, uint64_t n);

void spill_close(struct spill *spill);

#endif
