/* Symbols by address: ranges are appended in order of arrival and sorted at the first search.
 *
 * Ranges may overlap, since code is unloaded and its memory reused. A search scans backwards from
 * the last range that starts at or before the address, while an earlier range may still reach it
 * (`reach`). SCAN_BACK_MAX limits the scan, because a hostile file may pile up ranges. */
#include "model/symbols.h"

#include <stdlib.h>

#include "model/context.h"

#define SCAN_BACK_MAX 256u
#define ANCESTORS_MAX 8u

void symbols_init(struct symbols *symbols, const struct alloc *alloc)
{
    *symbols = (struct symbols){.alloc = alloc};
    for (size_t i = 0; i < SYMBOL_KINDS; i++)
        pair_map_init(&symbols->table[i].latest, alloc);
    pair_map_init(&symbols->modules, alloc);
    pair_map_init(&symbols->build_ids, alloc);
}

void symbols_free(struct symbols *symbols)
{
    for (size_t i = 0; i < SYMBOL_KINDS; i++) {
        struct symbol_table *table = &symbols->table[i];
        alloc_free(symbols->alloc, table->range, table->capacity, sizeof *table->range);
        alloc_free(symbols->alloc, table->reach, table->reach_capacity, sizeof *table->reach);
        pair_map_free(&table->latest);
    }
    pair_map_free(&symbols->modules);
    pair_map_free(&symbols->build_ids);
    alloc_free(symbols->alloc, symbols->module, symbols->modules_capacity, sizeof *symbols->module);
    symbols_init(symbols, symbols->alloc);
}

uint32_t symbols_add_module(struct symbols *symbols, uint32_t process, uint64_t number)
{
    const uint32_t *known = pair_map_get(&symbols->modules, number, process);
    if (known)
        return *known;
    size_t n = symbols->modules_n;
    if (n >= UINT32_MAX - 1 ||
        !alloc_reserve(symbols->alloc, (void **)&symbols->module, &symbols->modules_capacity, n + 1,
                       sizeof *symbols->module) ||
        !pair_map_put(&symbols->modules, number, process, (uint32_t)n + 1))
        return 0;
    symbols->module[n] = (struct symbol_module){0};
    return (uint32_t)++symbols->modules_n;
}

void symbols_set_module_name(struct symbols *symbols, uint32_t module, ttr_id name)
{
    symbols->module[module - 1].name = name;
}

void symbols_set_module_path(struct symbols *symbols, uint32_t module, uint16_t source, ttr_id path)
{
    symbols->module[module - 1].path = path;
    symbols->module[module - 1].source = source;
}

bool symbols_set_build_id(struct symbols *symbols, uint16_t source, ttr_id path, ttr_id build_id)
{
    return pair_map_put(&symbols->build_ids, path, source, build_id);
}

ttr_id symbols_get_module_build_id(const struct symbols *symbols,
                                   const struct symbol_module *module)
{
    const uint32_t *known =
        module->path ? pair_map_get(&symbols->build_ids, module->path, module->source) : NULL;
    return module->build_id || !known ? module->build_id : *known;
}

static ttr_id get_module_file_name(const struct symbols *symbols, uint32_t module)
{
    return module ? symbols->module[module - 1].name : 0;
}

/* Returns the last added range with the same start and process, or NULL. Its indices are updated
 * whenever ranges are sorted. */
static const struct symbol_range *find_latest_range(const struct symbol_table *table,
                                                    const struct symbol_range *range)
{
    const uint32_t *at = pair_map_get(&table->latest, range->start, range->process);
    return at ? &table->range[*at] : NULL;
}

/* Returns true if a range adds nothing to an equal one of another module: symbols that
 * ttr_copy_symbols copied are read again before their module has a name. */
static bool is_known_module(const struct symbols *symbols, const struct symbol_range *known,
                            const struct symbol_range *range)
{
    const ttr_id known_name = get_module_file_name(symbols, known->module);
    const ttr_id name = get_module_file_name(symbols, range->module);
    return known->module == range->module ||
           (known->from == range->from && known_name && (!name || name == known_name));
}

/* Returns true if a range repeats one that is known. */
static bool is_repetition(const struct symbols *symbols, const struct symbol_range *known,
                          const struct symbol_range *range)
{
    return known->start == range->start && known->process == range->process &&
           known->size == range->size && known->name == range->name &&
           known->offset == range->offset && is_known_module(symbols, known, range);
}

bool symbols_add(struct symbols *symbols, enum symbol_kind kind, const struct symbol_range *range)
{
    struct symbol_table *table = &symbols->table[kind];
    const struct symbol_range *before = find_latest_range(table, range);
    if (range->size == 0 || (before && is_repetition(symbols, before, range)))
        return true;
    if (table->n >= UINT32_MAX ||
        !alloc_reserve(symbols->alloc, (void **)&table->range, &table->capacity, table->n + 1,
                       sizeof *table->range) ||
        !pair_map_put(&table->latest, range->start, range->process, (uint32_t)table->n))
        return false;
    symbols->reused += before && range->from != SYMBOLS_TIME_UNKNOWN;
    table->range[table->n++] = *range;
    return true;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct symbol_range *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

static uint64_t get_range_end(const struct symbol_range *range)
{
    return range->size > UINT64_MAX - range->start ? UINT64_MAX : range->start + range->size;
}

static bool sort_ranges(struct symbols *symbols, struct symbol_table *table)
{
    if (table->sorted == table->n)
        return true;
    if (!alloc_reserve(symbols->alloc, (void **)&table->reach, &table->reach_capacity, table->n,
                       sizeof *table->reach))
        return false;
    qsort(table->range, table->n, sizeof *table->range, compare_ranges);
    for (size_t i = 0; i < table->n; i++) {
        const struct symbol_range *range = &table->range[i];
        bool continues = i > 0 && range[-1].process == range->process;
        table->reach[i] = get_range_end(range);
        if (continues && table->reach[i - 1] > table->reach[i])
            table->reach[i] = table->reach[i - 1];
        uint32_t *latest = pair_map_get(&table->latest, range->start, range->process);
        if (latest)
            *latest = (uint32_t)i;
    }
    table->sorted = table->n;
    return true;
}

/* Returns the number of ranges of earlier processes, plus those of this process that start at or
 * before an address. */
static size_t count_ranges_up_to(const struct symbol_table *table, uint32_t process,
                                 uint64_t address)
{
    size_t low = 0, high = table->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct symbol_range *range = &table->range[middle];
        if (range->process < process || (range->process == process && range->start <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns true if range `a` is a better match for a time than `b`: loaded last before the time,
 * else loaded first after it. */
static bool is_closer_in_time(const struct symbol_range *a, const struct symbol_range *b,
                              int64_t time)
{
    bool is_a_before = a->from <= time, is_b_before = b->from <= time;
    if (is_a_before != is_b_before)
        return is_a_before;
    return is_a_before ? a->from > b->from : a->from < b->from;
}

const struct symbol_range *symbols_find(struct symbols *symbols, enum symbol_kind kind,
                                        uint32_t process, uint64_t address, int64_t time)
{
    struct symbol_table *table = &symbols->table[kind];
    const struct symbol_range *best = NULL;
    if (!sort_ranges(symbols, table))
        return NULL;
    size_t end = count_ranges_up_to(table, process, address), tries = 0;
    for (size_t i = end; i-- > 0 && tries < SCAN_BACK_MAX; tries++) {
        const struct symbol_range *range = &table->range[i];
        if (range->process != process || table->reach[i] <= address)
            break;
        if (address < get_range_end(range) && (!best || is_closer_in_time(range, best, time)))
            best = range;
    }
    return best;
}

/* Searches a process, then the processes it was forked from: a forked process has the mappings that
 * its parent had at that time, until it executes another program. Prefers a range that was loaded
 * before `time`. */
static const struct symbol_range *find_in_ancestors(ttr *t, enum symbol_kind kind, ttr_id thread,
                                                    uint64_t address, int64_t time)
{
    const struct symbol_range *later = NULL; /* loaded after `time` by the process itself */
    uint32_t process = t->threads[thread].process;
    for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
        const struct symbol_range *range = symbols_find(&t->symbols, kind, process, address, time);
        if (range && range->from <= time)
            return range;
        later = i == 0 ? range : later;
        if (!t->processes[process].parent)
            break;
        time = t->processes[process].forked < time ? t->processes[process].forked : time;
        process = t->processes[process].parent - 1;
    }
    return later;
}

static const struct symbol_range *find_in_process_or_kernel(ttr *t, enum symbol_kind kind,
                                                            ttr_id thread, uint64_t address,
                                                            int64_t time)
{
    const struct symbol_range *range = find_in_ancestors(t, kind, thread, address, time);
    uint32_t kernel = t->sources[t->threads[thread].source].kernel;
    return range || !kernel ? range : symbols_find(&t->symbols, kind, kernel - 1, address, time);
}

/* Returns true if several ranges of the process that is found first contain an address. */
static bool has_several_ranges(ttr *t, enum symbol_kind kind, ttr_id thread, uint64_t address)
{
    const struct symbol_table *table = &t->symbols.table[kind];
    const struct symbol_range *found = find_in_process_or_kernel(t, kind, thread, address, 0);
    if (!found)
        return false;
    size_t end = count_ranges_up_to(table, found->process, address), n = 0, tries = 0;
    for (size_t i = end; i-- > 0 && n < 2 && tries < SCAN_BACK_MAX; tries++) {
        if (table->range[i].process != found->process || table->reach[i] <= address)
            break;
        n += address < get_range_end(&table->range[i]);
    }
    return n > 1;
}

bool symbols_change_with_time(ttr *t, ttr_id thread, uint64_t address)
{
    return t->symbols.reused && thread < t->threads_n &&
           (has_several_ranges(t, SYMBOL_FUNCTION, thread, address) ||
            has_several_ranges(t, SYMBOL_MAPPING, thread, address));
}

const struct symbol_range *symbols_find_mapping(ttr *t, ttr_id thread, uint64_t address,
                                                int64_t time)
{
    return thread && thread < t->threads_n
               ? find_in_process_or_kernel(t, SYMBOL_MAPPING, thread, address, time)
               : NULL;
}

const struct symbol_range *symbols_find_function(ttr *t, ttr_id thread, uint64_t address,
                                                 int64_t time)
{
    return thread && thread < t->threads_n
               ? find_in_process_or_kernel(t, SYMBOL_FUNCTION, thread, address, time)
               : NULL;
}

bool ttr_symbol_get(ttr *t, ttr_id thread, uint64_t address, int64_t time, ttr_symbol *symbol)
{
    *symbol = (ttr_symbol){0};
    if (!thread || thread >= t->threads_n)
        return false; /* the process of thread 0 is unknown */
    const struct symbol_range *function =
        find_in_process_or_kernel(t, SYMBOL_FUNCTION, thread, address, time);
    const struct symbol_range *mapping =
        find_in_process_or_kernel(t, SYMBOL_MAPPING, thread, address, time);
    if (mapping) {
        symbol->module = get_module_file_name(&t->symbols, mapping->module);
        symbol->offset = address - mapping->start + mapping->offset;
    }
    if (function) {
        symbol->name = function->name;
        ttr_id ctx = get_module_file_name(&t->symbols, function->module);
        symbol->module = ctx ? ctx : symbol->module;
        symbol->start = function->start;
        symbol->size_bytes = function->size;
    }
    return function || mapping;
}
