/* The modules (binaries at an address) of each process, kept up to date event by event.
 *
 * Descriptions of binaries are valid as long as the table, modules until the next change.  Memory
 * grows with the number of different binaries, of processes, and of modules loaded at the same
 * time, at most MODULES_MAX per process. */
#ifndef TRACETTA_PIPELINE_MODULE_MAP_H
#define TRACETTA_PIPELINE_MODULE_MAP_H

#include <tracetta/debug_info.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "base/pair_map.h"

#define MODULES_MAX 8192u

/* An address in a process; `trace` and `pid` identify the process. */
struct module_place {
    uint64_t trace, pid, base;
};

/* A binary that is loaded at an address. */
struct load {
    uint64_t base, end;
    uint64_t reach;  /* highest end of this module and of all modules at lower addresses */
    uint32_t binary; /* id of the description; see module_map_binary */
    uint32_t serial; /* unique among all modules */
    /* dlclose was recorded, but the module may have been opened several times; the entry is removed
     * when another module overlaps it */
    bool is_closed;
};

struct module_map {
    const struct alloc *alloc;
    struct pair_map process_of; /* key: (trace, pid); value: index */
    struct module_map_process *process;
    size_t processes_n, processes_room;
    struct intern known; /* binary descriptions encoded as strings */
    ttr_binary *binary;  /* binaries, indexed by id in `known`; [0] is unused */
    size_t binaries_n, binaries_room;
    struct buffer key;
    uint32_t serial;
};

/* Initializes an empty table.  Returns false if memory is exhausted; call module_map_free in either
 * case. */
TTR_MUST bool module_map_init(struct module_map *module_map, const struct alloc *alloc);
void module_map_free(struct module_map *module_map);

/* Removes all modules of a process. Called when the trace starts to list them again. */
void module_map_clear(struct module_map *module_map, const struct module_place *where);

/* Adds a module of `size` bytes at where->base. Does nothing if the same module is already known
 * there. Returns false if memory runs out. */
TTR_MUST bool module_map_add(struct module_map *module_map, const struct module_place *where,
                             uint64_t size, const ttr_binary *binary);

/* Adds the build id or the debug link in `more` to the description of the module at an address.
 * Returns false if memory is exhausted. */
TTR_MUST bool module_map_describe(struct module_map *module_map, const struct module_place *where,
                                  const ttr_binary *more);

/* module_map_remove removes an unloaded module. module_map_close marks a module that dlclose may
 * have unloaded. */
void module_map_remove(struct module_map *module_map, const struct module_place *where);
void module_map_close(struct module_map *module_map, const struct module_place *where);

/* Returns the module of a process that contains the address where->base, or NULL. */
const struct load *module_map_find(const struct module_map *module_map,
                                   const struct module_place *where);

/* Returns the description that belongs to load.binary. */
static inline const ttr_binary *module_map_binary(const struct module_map *module_map,
                                                  uint32_t binary)
{
    return &module_map->binary[binary];
}

#endif
