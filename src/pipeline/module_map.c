/* Modules per process, sorted by address. Recorded sizes may be too large, so modules may overlap.
 * An address then belongs to the module with the highest start at or below it. */
#include "pipeline/module_map.h"

#include <string.h>

struct module_map_process {
    struct load *load; /* loaded modules, sorted by base address */
    size_t n, room;
};

bool module_map_init(struct module_map *module_map, const struct alloc *alloc)
{
    *module_map = (struct module_map){.alloc = alloc};
    pair_map_init(&module_map->process_of, alloc);
    buffer_init(&module_map->key, alloc);
    return intern_init(&module_map->known, alloc);
}

void module_map_free(struct module_map *module_map)
{
    for (size_t i = 0; i < module_map->processes_n; i++)
        alloc_free(module_map->alloc, module_map->process[i].load, module_map->process[i].room,
                   sizeof *module_map->process[i].load);
    alloc_free(module_map->alloc, module_map->process, module_map->processes_room,
               sizeof *module_map->process);
    alloc_free(module_map->alloc, module_map->binary, module_map->binaries_room,
               sizeof *module_map->binary);
    intern_free(&module_map->known);
    pair_map_free(&module_map->process_of);
    buffer_free(&module_map->key);
}

/* --- Binaries --- */

static void add_key_text(struct buffer *key, ttr_text text)
{
    if (text.n)
        buffer_add(key, text.p, text.n);
    buffer_add_byte(key, 0); /* terminates the text, since paths are passed to the C library */
}

/* Returns the id of a binary description, added if it is new. Returns 0 if memory runs out. */
static uint32_t intern_binary(struct module_map *module_map, const ttr_binary *binary)
{
    struct buffer *key = &module_map->key;
    const size_t lengths[] = {binary->path.n, binary->build_id.n, binary->debug_link.n,
                              binary->debug_link_crc, binary->is_pic};
    buffer_clear(key);
    add_key_text(key, binary->path);
    add_key_text(key, binary->build_id);
    add_key_text(key, binary->debug_link);
    buffer_add(key, lengths, sizeof lengths);
    uint32_t id = key->failed ? UINT32_MAX : intern_add(&module_map->known, key->bytes, key->n);
    if (id == UINT32_MAX)
        return 0;
    if (id < module_map->binaries_n)
        return id;
    if (!alloc_reserve(module_map->alloc, (void **)&module_map->binary, &module_map->binaries_room,
                       (size_t)id + 1, sizeof *module_map->binary))
        return 0;
    const char *text = intern_get(&module_map->known, id).p;
    if (module_map->binaries_n == 0)
        module_map->binary[0] = (ttr_binary){.size = sizeof(ttr_binary)};
    module_map->binaries_n = (size_t)id + 1;
    module_map->binary[id] = *binary;
    module_map->binary[id].number = id;
    module_map->binary[id].path.p = text;
    module_map->binary[id].build_id.p = text + binary->path.n + 1;
    module_map->binary[id].debug_link.p = text + binary->path.n + 1 + binary->build_id.n + 1;
    return id;
}

/* --- Modules --- */

static struct module_map_process *find_process(const struct module_map *module_map,
                                               const struct module_place *where)
{
    const uint32_t *index = pair_map_get(&module_map->process_of, where->trace, where->pid);
    return index ? &module_map->process[*index] : NULL;
}

static struct module_map_process *add_process(struct module_map *module_map,
                                              const struct module_place *where)
{
    if (!alloc_reserve(module_map->alloc, (void **)&module_map->process,
                       &module_map->processes_room, module_map->processes_n + 1,
                       sizeof *module_map->process) ||
        !pair_map_put(&module_map->process_of, where->trace, where->pid,
                      (uint32_t)module_map->processes_n))
        return NULL;
    module_map->process[module_map->processes_n] = (struct module_map_process){NULL, 0, 0};
    return &module_map->process[module_map->processes_n++];
}

/* Returns the number of modules of a process that start at or below an address. */
static size_t count_modules_up_to(const struct module_map_process *process, uint64_t address)
{
    size_t low = 0, high = process->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (process->load[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the module that starts at an address of a process, or NULL. */
static struct load *find_module_at(const struct module_map *module_map,
                                   const struct module_place *where)
{
    struct module_map_process *process = find_process(module_map, where);
    size_t n = process ? count_modules_up_to(process, where->base) : 0;
    return n && process->load[n - 1].base == where->base ? &process->load[n - 1] : NULL;
}

static void update_reach_from(struct module_map_process *process, size_t from)
{
    for (size_t i = from; i < process->n; i++) {
        uint64_t below = i ? process->load[i - 1].reach : 0;
        process->load[i].reach = process->load[i].end > below ? process->load[i].end : below;
    }
}

/* Removes the closed modules that overlap a new module at [base, end). */
static void remove_closed_modules(struct module_map_process *process, uint64_t base, uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->n; i++) {
        const struct load *load = &process->load[i];
        if (!load->is_closed || load->end <= base || load->base >= end)
            process->load[kept++] = *load;
    }
    if (kept == process->n)
        return;
    process->n = kept;
    update_reach_from(process, 0);
}

static bool is_path_of_module(const ttr_binary *binary, ttr_text path)
{
    return binary->path.n == path.n && memcmp(binary->path.p, path.p, path.n) == 0;
}

void module_map_clear(struct module_map *module_map, const struct module_place *where)
{
    struct module_map_process *process = find_process(module_map, where);
    if (process)
        process->n = 0;
}

bool module_map_add(struct module_map *module_map, const struct module_place *where, uint64_t size,
                    const ttr_binary *binary)
{
    uint64_t end = where->base + size < where->base ? UINT64_MAX : where->base + size;
    struct module_map_process *process = find_process(module_map, where);
    if (!process && !(process = add_process(module_map, where)))
        return false;
    remove_closed_modules(process, where->base, end);
    struct load *load = find_module_at(module_map, where);
    if (load && is_path_of_module(module_map_binary(module_map, load->binary), binary->path))
        return true;
    uint32_t id = intern_binary(module_map, binary);
    if (id == 0)
        return false;
    if (!load) {
        if (process->n == MODULES_MAX)
            return true;
        if (!alloc_reserve(module_map->alloc, (void **)&process->load, &process->room,
                           process->n + 1, sizeof *process->load))
            return false;
        size_t at = count_modules_up_to(process, where->base);
        load = &process->load[at];
        memmove(load + 1, load, (process->n++ - at) * sizeof *load);
    }
    *load = (struct load){
        .base = where->base, .end = end, .binary = id, .serial = ++module_map->serial};
    update_reach_from(process, (size_t)(load - process->load));
    return true;
}

bool module_map_describe(struct module_map *module_map, const struct module_place *where,
                         const ttr_binary *more)
{
    struct load *load = find_module_at(module_map, where);
    if (!load)
        return true;
    ttr_binary all = *module_map_binary(module_map, load->binary);
    if (more->build_id.n)
        all.build_id = more->build_id;
    if (more->debug_link.n) {
        all.debug_link = more->debug_link;
        all.debug_link_crc = more->debug_link_crc;
    }
    uint32_t id = intern_binary(module_map, &all);
    load->binary = id ? id : load->binary;
    return id != 0;
}

void module_map_remove(struct module_map *module_map, const struct module_place *where)
{
    struct load *load = find_module_at(module_map, where);
    if (!load)
        return;
    struct module_map_process *process = find_process(module_map, where);
    size_t at = (size_t)(load - process->load);
    memmove(load, load + 1, (--process->n - at) * sizeof *load);
    update_reach_from(process, at);
}

void module_map_close(struct module_map *module_map, const struct module_place *where)
{
    struct load *load = find_module_at(module_map, where);
    if (load)
        load->is_closed = true;
}

const struct load *module_map_find(const struct module_map *module_map,
                                   const struct module_place *where)
{
    const struct module_map_process *process = find_process(module_map, where);
    for (size_t n = process ? count_modules_up_to(process, where->base) : 0; n > 0; n--) {
        const struct load *load = &process->load[n - 1];
        if (where->base < load->end)
            return load;
        if (where->base >= load->reach)
            break;
    }
    return NULL;
}
