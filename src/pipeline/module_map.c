/* Which binaries lie where.  A process has its loads in order of their addresses; where they
 * overlap (a trace may tell sizes that are too large), an address belongs to the one that begins
 * next below it. */
#include "pipeline/module_map.h"

#include <string.h>

struct loads_process {
    struct load *load; /* by base */
    size_t n, room;
};

bool loads_init(struct loads *loads, const struct alloc *alloc)
{
    *loads = (struct loads){.alloc = alloc};
    pair_map_init(&loads->process_of, alloc);
    buffer_init(&loads->key, alloc);
    return intern_init(&loads->known, alloc);
}

void loads_free(struct loads *loads)
{
    for (size_t i = 0; i < loads->processes_n; i++)
        alloc_free(loads->alloc, loads->process[i].load, loads->process[i].room,
                   sizeof *loads->process[i].load);
    alloc_free(loads->alloc, loads->process, loads->processes_room, sizeof *loads->process);
    alloc_free(loads->alloc, loads->binary, loads->binaries_room, sizeof *loads->binary);
    intern_free(&loads->known);
    pair_map_free(&loads->process_of);
    buffer_free(&loads->key);
}

/* --- Binaries --- */

static void add_key_text(struct buffer *key, ttr_text text)
{
    if (text.n)
        buffer_add(key, text.p, text.n);
    buffer_add_byte(key, 0); /* paths are for the C library */
}

/* Gives the id of all that is told of a binary; 0 when memory is out. */
static uint32_t intern_binary(struct loads *loads, const ttr_binary *binary)
{
    struct buffer *key = &loads->key;
    const size_t lengths[] = {binary->path.n, binary->build_id.n, binary->debug_link.n,
                              binary->debug_link_crc, binary->is_pic};
    buffer_clear(key);
    add_key_text(key, binary->path);
    add_key_text(key, binary->build_id);
    add_key_text(key, binary->debug_link);
    buffer_add(key, lengths, sizeof lengths);
    uint32_t id = key->failed ? UINT32_MAX : intern_add(&loads->known, key->bytes, key->n);
    if (id == UINT32_MAX)
        return 0;
    if (id < loads->binaries_n)
        return id;
    if (!alloc_reserve(loads->alloc, (void **)&loads->binary, &loads->binaries_room, (size_t)id + 1,
                       sizeof *loads->binary))
        return 0;
    const char *text = intern_get(&loads->known, id).p;
    if (loads->binaries_n == 0)
        loads->binary[0] = (ttr_binary){.size = sizeof(ttr_binary)};
    loads->binaries_n = (size_t)id + 1;
    loads->binary[id] = *binary;
    loads->binary[id].number = id;
    loads->binary[id].path.p = text;
    loads->binary[id].build_id.p = text + binary->path.n + 1;
    loads->binary[id].debug_link.p = text + binary->path.n + 1 + binary->build_id.n + 1;
    return id;
}

/* --- Loads --- */

static struct loads_process *find_process(const struct loads *loads, const struct load_place *where)
{
    const uint32_t *index = pair_map_get(&loads->process_of, where->trace, where->pid);
    return index ? &loads->process[*index] : NULL;
}

static struct loads_process *add_process(struct loads *loads, const struct load_place *where)
{
    if (!alloc_reserve(loads->alloc, (void **)&loads->process, &loads->processes_room,
                       loads->processes_n + 1, sizeof *loads->process) ||
        !pair_map_put(&loads->process_of, where->trace, where->pid, (uint32_t)loads->processes_n))
        return NULL;
    loads->process[loads->processes_n] = (struct loads_process){NULL, 0, 0};
    return &loads->process[loads->processes_n++];
}

/* How many loads of a process begin at or below an address. */
static size_t count_up_to(const struct loads_process *process, uint64_t address)
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

/* The load that begins at a place; NULL = none. */
static struct load *load_at(const struct loads *loads, const struct load_place *where)
{
    struct loads_process *process = find_process(loads, where);
    size_t n = process ? count_up_to(process, where->base) : 0;
    return n && process->load[n - 1].base == where->base ? &process->load[n - 1] : NULL;
}

static void set_reaches(struct loads_process *process, size_t from)
{
    for (size_t i = from; i < process->n; i++) {
        uint64_t below = i ? process->load[i - 1].reach : 0;
        process->load[i].reach = process->load[i].end > below ? process->load[i].end : below;
    }
}

/* Takes out what was closed and lies where something new is now. */
static void drop_closed(struct loads_process *process, uint64_t base, uint64_t end)
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
    set_reaches(process, 0);
}

static bool is_path_of(const ttr_binary *binary, ttr_text path)
{
    return binary->path.n == path.n && memcmp(binary->path.p, path.p, path.n) == 0;
}

void loads_begin(struct loads *loads, const struct load_place *where)
{
    struct loads_process *process = find_process(loads, where);
    if (process)
        process->n = 0;
}

bool loads_add(struct loads *loads, const struct load_place *where, uint64_t size,
               const ttr_binary *binary)
{
    uint64_t end = where->base + size < where->base ? UINT64_MAX : where->base + size;
    struct loads_process *process = find_process(loads, where);
    if (!process && !(process = add_process(loads, where)))
        return false;
    drop_closed(process, where->base, end);
    struct load *load = load_at(loads, where);
    if (load && is_path_of(loads_binary(loads, load->binary), binary->path))
        return true;
    uint32_t id = intern_binary(loads, binary);
    if (id == 0)
        return false;
    if (!load) {
        if (process->n == LOADS_MAX)
            return true;
        if (!alloc_reserve(loads->alloc, (void **)&process->load, &process->room, process->n + 1,
                           sizeof *process->load))
            return false;
        size_t at = count_up_to(process, where->base);
        load = &process->load[at];
        memmove(load + 1, load, (process->n++ - at) * sizeof *load);
    }
    *load = (struct load){.base = where->base, .end = end, .binary = id, .serial = ++loads->serial};
    set_reaches(process, (size_t)(load - process->load));
    return true;
}

bool loads_tell(struct loads *loads, const struct load_place *where, const ttr_binary *more)
{
    struct load *load = load_at(loads, where);
    if (!load)
        return true;
    ttr_binary all = *loads_binary(loads, load->binary);
    if (more->build_id.n)
        all.build_id = more->build_id;
    if (more->debug_link.n) {
        all.debug_link = more->debug_link;
        all.debug_link_crc = more->debug_link_crc;
    }
    uint32_t id = intern_binary(loads, &all);
    load->binary = id ? id : load->binary;
    return id != 0;
}

void loads_remove(struct loads *loads, const struct load_place *where)
{
    struct load *load = load_at(loads, where);
    if (!load)
        return;
    struct loads_process *process = find_process(loads, where);
    size_t at = (size_t)(load - process->load);
    memmove(load, load + 1, (--process->n - at) * sizeof *load);
    set_reaches(process, at);
}

void loads_close(struct loads *loads, const struct load_place *where)
{
    struct load *load = load_at(loads, where);
    if (load)
        load->is_closed = true;
}

const struct load *loads_find(const struct loads *loads, const struct load_place *where)
{
    const struct loads_process *process = find_process(loads, where);
    for (size_t n = process ? count_up_to(process, where->base) : 0; n > 0; n--) {
        const struct load *load = &process->load[n - 1];
        if (where->base < load->end)
            return load;
        if (where->base >= load->reach)
            break;
    }
    return NULL;
}
