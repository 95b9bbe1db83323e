/* Symbols: which code stood at which address of which process, and from when on.
 *
 * Two kinds live apart: functions, which have names of their own, and mappings, the parts of files
 * in memory.  Ranges may be used again: of those that hold an address the one loaded last before
 * the time asked for counts, else the one loaded first after it.  What was loaded nobody knows when
 * (told at the end, for all of the trace) has the time SYMBOLS_TIME_UNKNOWN.  Modules have numbers
 * of their own, since some are named only after what is in them. Memory: 48 bytes a range and 32
 * for finding it again, none unless a reader was asked for symbols.  Thread rule: that of the
 * context.
 */
#ifndef TRACETTA_MODEL_SYMBOLS_H
#define TRACETTA_MODEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#include "base/pair_map.h"

#define SYMBOLS_TIME_UNKNOWN INT64_MIN

enum symbol_kind { SYMBOL_FUNCTION, SYMBOL_MAPPING, SYMBOL_KINDS };

struct symbol_range {
    uint64_t start, size;
    uint64_t offset;  /* of its start in the module; 0 for functions */
    int64_t from;     /* ns: when it was loaded */
    uint32_t process; /* index in the context */
    ttr_id name;      /* function: "Namespace.Name(arguments)"; mapping: 0 */
    uint32_t module;  /* see symbols_add_module, 0 = none */
};

/* A file that is mapped, or a part of one. */
struct symbol_module {
    ttr_id name;     /* as it is shown, 0 = not known yet */
    ttr_id path;     /* where it was, 0 = not told */
    uint16_t source; /* whose paths these are */
};

struct symbol_table {
    struct symbol_range *range; /* the first `sorted` by (process, start), then as they came */
    uint64_t
        *reach; /* beside the sorted ones: the highest end of those of the process up to here */
    size_t n, sorted, capacity, reach_capacity;
    struct pair_map latest; /* (start, process) to what was added last there */
};

struct symbols {
    const struct alloc *alloc;
    struct symbol_table table[SYMBOL_KINDS];
    struct pair_map modules;      /* (the trace's number of it, process) to ours */
    struct symbol_module *module; /* by ours less 1 */
    size_t modules_n, modules_capacity;
    struct pair_map
        build_ids;   /* (path, source) to the id of a text: the build id of what was there */
    uint32_t reused; /* how often a place got another name: addresses seen before and after may
                        differ in meaning */
};

void symbols_init(struct symbols *symbols, const struct alloc *alloc);
void symbols_free(struct symbols *symbols);

/* Gives our number of a module that the trace gives a number; 0 when memory is out. */
TTR_MUST uint32_t symbols_add_module(struct symbols *symbols, uint32_t process, uint64_t number);

/* Names it; ranges that have it already have that name too. */
void symbols_set_module_name(struct symbols *symbols, uint32_t module, ttr_id name);

/* Says where it was; and what was there, of a path: `build_id` is the id of its bytes as a text.
 * False when memory is out. */
void symbols_set_module_path(struct symbols *symbols, uint32_t module, uint16_t source,
                             ttr_id path);
TTR_MUST bool symbols_set_build_id(struct symbols *symbols, uint16_t source, ttr_id path,
                                   ttr_id build_id);

/* The part of a module that holds an address in the process of a thread, or of one that it came
 * from, or of its kernel; NULL = nothing is known. */
const struct symbol_range *symbols_find_mapping(ttr *t, ttr_id thread, uint64_t address,
                                                int64_t time);

/* Adds a range; what is known already is not added again, and an empty one not at all.  False when
 * memory is out. */
TTR_MUST bool symbols_add(struct symbols *symbols, enum symbol_kind kind,
                          const struct symbol_range *range);

/* What holds the address at the time, borrowed until the next add; NULL when nothing is known, or
 * memory is out for sorting. */
const struct symbol_range *symbols_find(struct symbols *symbols, enum symbol_kind kind,
                                        uint32_t process, uint64_t address, int64_t time);

#endif
