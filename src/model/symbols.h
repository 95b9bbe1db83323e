/* Symbols: functions and mapped files, found by address, process and time.
 *
 * Functions (named ranges) and mappings (ranges of files in memory) are in separate tables. Ranges
 * may overlap, since memory is reused. Among the ranges that contain an address, the search prefers
 * the one loaded last before the requested time, else the one loaded first after it. A range of
 * unknown load time, as in rundown events at the end of a trace, has SYMBOLS_TIME_UNKNOWN. Modules
 * have numbers, because some are named after their ranges were added.
 *
 * Memory: 48 bytes per range and 32 for its index; none unless a reader was asked for symbols.
 * Thread rule: that of the context. */
#ifndef TRACETTA_MODEL_SYMBOLS_H
#define TRACETTA_MODEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/debug_info.h>
#include <tracetta/event.h>

#include "base/pair_map.h"

#define SYMBOLS_TIME_UNKNOWN INT64_MIN

enum symbol_kind { SYMBOL_FUNCTION, SYMBOL_MAPPING, SYMBOL_KINDS };

struct symbol_range {
    uint64_t start, size;
    uint64_t offset;  /* offset of `start` in the module's file; 0 for functions */
    int64_t from;     /* time in ns at which the range was loaded */
    uint32_t process; /* index of the process in the context */
    ttr_id name;      /* function: "Namespace.Name(arguments)"; mapping: 0 */
    uint32_t module;  /* module number from symbols_add_module; 0 = none */
};

/* A mapped file. */
struct symbol_module {
    ttr_id name;     /* display name of the file; 0 = not known yet */
    ttr_id path;     /* path of the file on the traced machine, 0 = unknown */
    ttr_id build_id; /* bytes of the build id as a string; 0 = see symbols_get_module_build_id */
    uint16_t source; /* source that recorded the path */
};

struct symbol_table {
    /* the first `sorted` are sorted by (process, start); later ones are in order of arrival */
    struct symbol_range *range;
    uint64_t *reach; /* for each sorted range: highest end address among it and the earlier ranges
                      * of its process */
    size_t n, sorted, capacity, reach_capacity;
    /* (start, process) to the index of the last added range with this start */
    struct pair_map latest;
};

struct symbols {
    const struct alloc *alloc;
    struct symbol_table table[SYMBOL_KINDS];
    struct pair_map modules;      /* (module number in the trace, process) to module number */
    struct symbol_module *module; /* [i] is the module with number i + 1 */
    size_t modules_n, modules_capacity;
    struct pair_map build_ids; /* (path id, source) to the string id of the file's build id */
    /* number of ranges that replaced another one at the same address; 0 = symbols do not depend on
     * time */
    uint32_t reused;
};

void symbols_init(struct symbols *symbols, const struct alloc *alloc);
void symbols_free(struct symbols *symbols);

/* Returns the module number for a module of the trace; adds the module if it is new. Returns 0 if
 * memory runs out. */
TTR_MUST uint32_t symbols_add_module(struct symbols *symbols, uint32_t process, uint64_t number);

/* Sets the name of a module, which all its ranges share. */
void symbols_set_module_name(struct symbols *symbols, uint32_t module, ttr_id name);

/* Set the path of a module, and the build id of the file at a path. `build_id` is the string id of
 * the id's bytes. symbols_set_build_id returns false if memory runs out. */
void symbols_set_module_path(struct symbols *symbols, uint32_t module, uint16_t source,
                             ttr_id path);
TTR_MUST bool symbols_set_build_id(struct symbols *symbols, uint16_t source, ttr_id path,
                                   ttr_id build_id);

/* Returns the build id of a module, its bytes as a string; 0 = unknown. */
ttr_id symbols_get_module_build_id(const struct symbols *symbols,
                                   const struct symbol_module *module);

/* Adds the module, mapping or function of an object event. Ignores other events, and mappings that
 * the reader of their format adds itself. Returns false if memory runs out. */
TTR_MUST bool symbols_add_object(ttr *t, const ttr_event *event);

/* Returns the mapping of a file that contains an address. Searches the thread's process, its
 * ancestors, and the kernel. NULL = none. */
const struct symbol_range *symbols_find_mapping(ttr *t, ttr_id thread, uint64_t address,
                                                int64_t time);

/* Returns the function that contains an address, found like symbols_find_mapping. NULL = none. */
const struct symbol_range *symbols_find_function(ttr *t, ttr_id thread, uint64_t address,
                                                 int64_t time);

/* Returns true if the function or mapping at an address depends on the time, because memory was
 * reused. */
bool symbols_change_with_time(ttr *t, ttr_id thread, uint64_t address);

/* Returns the function that a symbolizer finds at an address of a mapped file, as a string id; 0 =
 * unknown. */
ttr_id symbols_locate(ttr *t, ttr_symbolizer locate, void *ctx, ttr_id thread, uint64_t address,
                      int64_t time);

/* A function and the line of an address in it; 0 = unknown. */
struct symbol_line {
    ttr_id function, file;
    int64_t number; /* of the line, from 1; -1 = unknown */
};

/* Returns the function and line that the symbolizer of the context finds. */
struct symbol_line symbols_locate_line(ttr *t, ttr_id thread, uint64_t address, int64_t time);

/* Adds a range; ignores empty ones and repetitions. Returns false if memory runs out. */
TTR_MUST bool symbols_add(struct symbols *symbols, enum symbol_kind kind,
                          const struct symbol_range *range);

/* Returns the range that contains an address at a time, borrowed until the next add. Returns NULL
 * if there is none, or if memory for sorting runs out. */
const struct symbol_range *symbols_find(struct symbols *symbols, enum symbol_kind kind,
                                        uint32_t process, uint64_t address, int64_t time);

#endif
