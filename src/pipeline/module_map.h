/* Which binaries lie where in which process, as a trace tells it event by event.
 *
 * Ownership: binaries live as long as the table; a load until the next change.  Memory grows with
 * the number of different binaries and of processes, and with what is loaded at the same time, of
 * which a process has at most LOADS_MAX. */
#ifndef TRACETTA_PIPELINE_MODULE_MAP_H
#define TRACETTA_PIPELINE_MODULE_MAP_H

#include <tracetta/read.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "base/pair_map.h"

#define LOADS_MAX 8192u

/* A place in a process of a trace. */
struct load_place {
    uint64_t trace, pid, base;
};

/* A binary that was loaded at an address. */
struct load {
    uint64_t base, end;
    uint64_t reach;  /* the greatest end of this and those below */
    uint32_t binary; /* see loads_binary */
    uint32_t serial; /* no two loads have the same */
    bool is_closed; /* a dlclose was seen, which may have been the last: it is there until something
                       else is */
};

struct loads {
    const struct alloc *alloc;
    struct pair_map process_of; /* (trace, pid) to index */
    struct loads_process *process;
    size_t processes_n, processes_room;
    struct intern known; /* all that is told of a binary, in one string */
    ttr_binary *binary;  /* by id in `known`, [0] is none */
    size_t binaries_n, binaries_room;
    struct buffer key;
    uint32_t serial;
};

/* False when memory is out; free it all the same. */
TTR_MUST bool loads_init(struct loads *loads, const struct alloc *alloc);
void loads_free(struct loads *loads);

/* Nothing is loaded in that process: what is comes now. */
void loads_begin(struct loads *loads, const struct load_place *where);

/* A binary of so many bytes is loaded.  One that is said to be there already stays as it is.  False
 * when memory is out. */
TTR_MUST bool loads_add(struct loads *loads, const struct load_place *where, uint64_t size,
                        const ttr_binary *binary);

/* More is told of the binary loaded there: its build id or its debug link, where they are in
 * `more`.  False when memory is out. */
TTR_MUST bool loads_tell(struct loads *loads, const struct load_place *where,
                         const ttr_binary *more);

/* It is gone, or may be gone. */
void loads_remove(struct loads *loads, const struct load_place *where);
void loads_close(struct loads *loads, const struct load_place *where);

/* What lies at an address (`base`) by now; NULL = nothing known. */
const struct load *loads_find(const struct loads *loads, const struct load_place *where);

/* What is known of a binary. */
static inline const ttr_binary *loads_binary(const struct loads *loads, uint32_t binary)
{
    return &loads->binary[binary];
}

#endif
