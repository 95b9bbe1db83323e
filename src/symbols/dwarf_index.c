/* Functions and lines by DWARF.
 *
 * The ranges of a unit are those of its first entry. The functions of a unit are listed when an
 * address in the unit is looked up first. Those of all units are listed when an address outside of
 * all units is looked up first.
 *
 * An address in inlined code gets the line of the call: tracepoints are inlined, and the call is
 * the line in the program's source.
 *
 * With is_exact, the results are those of babeltrace2, which finds less: only functions directly
 * below their unit that have a lowest address, and only lines that begin at the address. It ends
 * the search at the first unexpected entry in a function. */
#include "symbols/dwarf_index.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#include "base/regular_file.h"

/* limit of the nesting depth of blocks, and of the namespaces and types in which functions are
 * searched */
#define DEPTH_MAX 16u

/* Addresses [low, high) of a unit or function, identified by a number. */
struct span {
    uint64_t low, high, reach; /* reach: the highest `high` of this span and those before it */
    uint32_t id;
};

struct spans {
    struct span *span; /* sorted by low */
    size_t n, room;
};

struct unit {
    Dwarf_Die die;
    struct spans spans; /* address ranges of the unit's functions */
    Dwarf_Die *function;
    size_t functions_n, functions_room;
    bool is_listed;
};

struct dwarf_index {
    Dwarf *dwarf;
    struct unit *unit;
    size_t units_n, units_room;
    struct spans spans; /* address ranges of the units */
    const struct symbol_rules *rules;
    char path[PATH_MAX]; /* the file, with links resolved; "" = unknown */
};

/* --- Spans --- */

/* Makes room for one more item in an array. Returns false if memory runs out. */
static bool reserve_items(void **items, size_t *room, size_t n, size_t size)
{
    if (n < *room)
        return true;
    size_t more = *room ? *room * 2 : 16;
    void *grown = reallocarray(*items, more, size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

static bool add_span(struct spans *spans, uint64_t low, uint64_t high, uint32_t id)
{
    if (low >= high)
        return true;
    if (!reserve_items((void **)&spans->span, &spans->room, spans->n, sizeof *spans->span))
        return false;
    spans->span[spans->n++] = (struct span){.low = low, .high = high, .id = id};
    return true;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    return left->low != right->low ? (left->low < right->low ? -1 : 1)
                                   : (left->id > right->id) - (left->id < right->id);
}

static void sort_spans(struct spans *spans)
{
    uint64_t reach = 0;
    if (spans->n)
        qsort(spans->span, spans->n, sizeof *spans->span, compare_spans);
    for (size_t i = 0; i < spans->n; i++) {
        reach = spans->span[i].high > reach ? spans->span[i].high : reach;
        spans->span[i].reach = reach;
    }
}

/* Returns the lowest id, `from` or above, of the spans that contain an address. Returns UINT32_MAX
 * if none does. */
static uint32_t find_span(const struct spans *spans, uint64_t address, uint32_t from)
{
    size_t low = 0, high = spans->n;
    uint32_t found = UINT32_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->span[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && spans->span[low - 1].reach > address) {
        const struct span *span = &spans->span[--low];
        if (span->high > address && span->id >= from && span->id < found)
            found = span->id;
    }
    return found;
}

/* Adds all address ranges of a DWARF entry. Returns false if memory runs out. */
static bool add_ranges(struct spans *spans, Dwarf_Die *die, uint32_t id)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0)
        if (!add_span(spans, low, high, id))
            return false;
    return true;
}

/* --- Entries --- */

/* Replaces *die by its next sibling. Returns false, with *die unchanged, if there is none. */
static bool move_to_sibling(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 ||
        /* offsets of siblings ascend; anything else is damage */
        dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
        return false;
    *die = next;
    return true;
}

static bool move_to_child(Dwarf_Die *die)
{
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return false;
    *die = child;
    return true;
}

/* --- Listing --- */

static bool add_function(struct unit *unit, Dwarf_Die *die)
{
    if (!reserve_items((void **)&unit->function, &unit->functions_room, unit->functions_n,
                       sizeof *unit->function))
        return false;
    unit->function[unit->functions_n] = *die;
    return add_ranges(&unit->spans, die, (uint32_t)unit->functions_n++);
}

/* Returns true if an entry with this tag may contain functions. */
static bool can_contain_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_module;
}

/* Lists the functions among the children of an entry. */
static void list_children(const struct dwarf_index *index, struct unit *unit, Dwarf_Die die,
                          unsigned depth)
{
    if (!move_to_child(&die))
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram &&
            (!add_function(unit, &die) || symbol_rules_is_cancelled(index->rules)))
            return;
        if (!index->rules->is_exact && depth < DEPTH_MAX && can_contain_functions(tag))
            list_children(index, unit, die, depth + 1);
    } while (move_to_sibling(&die));
}

/* --- Files that the DWARF data names, which libdw opens without checks --- */

/* Returns true unless the file is a FIFO, a device or the like. `name` is relative to `folder`,
 * which is relative to the folder of the ELF file; NULL = that folder. */
static bool is_named_file_safe(const struct dwarf_index *index, const char *folder,
                               const char *name)
{
    char path[3 * PATH_MAX];
    const char *slash = strrchr(index->path, '/');
    const bool is_absolute = name[0] == '/' || (folder && folder[0] == '/');
    const int start = is_absolute || !slash ? 0 : (int)(slash + 1 - index->path);
    const bool has_folder = folder && name[0] != '/';
    const int n = snprintf(path, sizeof path, "%.*s%s%s%s", start, index->path,
                           has_folder ? folder : "", has_folder ? "/" : "", name);
    return n < 0 || n >= PATH_MAX /* open would refuse it */ || open_regular_file_or_none(path);
}

/* Returns true unless the separate file of a unit (split DWARF) is a FIFO or the like. */
static bool is_split_safe(const struct dwarf_index *index, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    char package[PATH_MAX + 8];
    if (!dwarf_attr(unit, DW_AT_dwo_name, &attribute) &&
        !dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute))
        return true;
    const char *name = dwarf_formstring(&attribute), *folder = NULL;
    if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
        folder = dwarf_formstring(&attribute);
    (void)snprintf(package, sizeof package, "%s.dwp", index->path);
    return name && is_named_file_safe(index, NULL, name) &&
           is_named_file_safe(index, folder, name) && open_regular_file_or_none(package);
}

/* Returns true unless the file with the data that several files share (dwz) is a FIFO or the like.
 */
static bool is_shared_file_safe(const struct dwarf_index *index)
{
    const char *name;
    const void *id;
    return dwelf_dwarf_gnu_debugaltlink(index->dwarf, &name, &id) <= 0 ||
           is_named_file_safe(index, NULL, name);
}

static void list_functions(const struct dwarf_index *index, struct unit *unit)
{
    Dwarf_Die split;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die *top = &unit->die;
    if (unit->is_listed)
        return;
    unit->is_listed = true;
    if (!index->rules->is_exact && is_split_safe(index, &unit->die) &&
        dwarf_cu_info(unit->die.cu, &version, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        split.addr)
        top = &split; /* split DWARF: the entries of the unit are in a separate file */
    list_children(index, unit, *top, 0);
    sort_spans(&unit->spans);
}

static bool list_units(struct dwarf_index *index)
{
    Dwarf_Off at = 0, next;
    size_t header;
    while (dwarf_nextcu(index->dwarf, at, &next, &header, NULL, NULL, NULL) == 0 && next > at) {
        if (symbol_rules_is_cancelled(index->rules) ||
            !reserve_items((void **)&index->unit, &index->units_room, index->units_n,
                           sizeof *index->unit))
            return false;
        struct unit *unit = &index->unit[index->units_n];
        *unit = (struct unit){.is_listed = false};
        if (dwarf_offdie(index->dwarf, at + header, &unit->die)) {
            if (!add_ranges(&index->spans, &unit->die, (uint32_t)index->units_n))
                return false;
            index->units_n++;
        }
        at = next;
    }
    sort_spans(&index->spans);
    return index->units_n > 0;
}

struct dwarf_index *dwarf_index_new(Elf *elf, const char *path, const struct symbol_rules *rules)
{
    struct dwarf_index *index = calloc(1, sizeof *index);
    if (!index)
        return NULL;
    index->rules = rules;
    if (!realpath(path, index->path))
        index->path[0] = '\0';
    index->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (index->dwarf && is_shared_file_safe(index) && list_units(index))
        return index;
    dwarf_index_free(index);
    return NULL;
}

void dwarf_index_free(struct dwarf_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->units_n; i++) {
        free(index->unit[i].spans.span);
        free(index->unit[i].function);
    }
    free(index->unit);
    free(index->spans.span);
    (void)dwarf_end(index->dwarf);
    free(index);
}

/* --- Functions --- */

/* Returns the function of a unit that contains the address; NULL = none. */
static Dwarf_Die *find_unit_function(const struct dwarf_index *index, struct unit *unit,
                                     uint64_t address)
{
    list_functions(index, unit);
    uint32_t id = find_span(&unit->spans, address, 0);
    return id == UINT32_MAX ? NULL : &unit->function[id];
}

/* Finds the function at an address, first in the units that contain the address, then in all units.
 * Returns NULL if there is none. */
static Dwarf_Die *find_function(struct dwarf_index *index, uint64_t address)
{
    Dwarf_Die *found = NULL;
    uint32_t i = 0;
    for (; !found && (i = find_span(&index->spans, address, i)) != UINT32_MAX; i++)
        found = find_unit_function(index, &index->unit[i], address);
    for (i = 0; !found && i < index->units_n && !symbol_rules_is_cancelled(index->rules); i++)
        found = find_unit_function(index, &index->unit[i], address);
    return found;
}

/* Returns the mangled name, which has namespaces, classes and parameters; NULL if there is none. */
static const char *get_linkage_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) ||
                   dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute)
               ? dwarf_formstring(&attribute)
               : NULL;
}

static void set_function_name(const struct dwarf_index *index, Dwarf_Die *function,
                              uint64_t address, struct dwarf_found *found)
{
    Dwarf_Addr low;
    if (dwarf_lowpc(function, &low) != 0) {
        if (index->rules->is_exact || dwarf_entrypc(function, &low) != 0 || low > address)
            return;
    }
    found->function = index->rules->is_exact ? NULL : get_linkage_name(function);
    if (!found->function)
        found->function = dwarf_diename(function);
    found->function_low = low;
}

/* --- Lines --- */

enum inlined {
    INLINED_NO,
    INLINED_YES,
    INLINED_BROKEN /* unexpected data: the search ends */
};

/* Reads file and line of an inlined call. */
static bool read_inlined_call(const struct unit *unit, Dwarf_Die *die, struct dwarf_found *found)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word line;
    Dwarf_Sword file;
    Dwarf_Die top = unit->die;
    size_t files_n;
    if (!dwarf_attr(die, DW_AT_call_file, &attribute) || dwarf_formsdata(&attribute, &file) != 0 ||
        file < 0 || dwarf_getsrcfiles(&top, &files, &files_n) != 0 || (uint64_t)file >= files_n)
        return false;
    const char *source = dwarf_filesrc(files, (size_t)file, NULL, NULL);
    if (!source || !dwarf_attr(die, DW_AT_call_line, &attribute) ||
        dwarf_formudata(&attribute, &line) != 0)
        return false;
    found->source = source;
    found->line = line;
    return true;
}

/* Replaces *die by the outermost inlined call below it that contains the address. Returns false if
 * there is none. */
static bool find_inlined(Dwarf_Die *die, uint64_t address, unsigned depth)
{
    Dwarf_Die child = *die;
    if (depth == DEPTH_MAX || !move_to_child(&child))
        return false;
    do {
        Dwarf_Die found = child;
        if (dwarf_haspc(&child, address) != 1)
            continue;
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine ||
            find_inlined(&found, address, depth + 1)) {
            *die = found;
            return true;
        }
    } while (move_to_sibling(&child));
    return false;
}

/* Finds inlined code with the algorithm of babeltrace2. From a block that contains the address, the
 * search continues after the first child of the block, and only forward. The last entry reached is
 * the result if it contains the address. A function without children counts as damaged. */
static enum inlined find_inlined_exact(Dwarf_Die *die, uint64_t address)
{
    bool has_it = false;
    if (!move_to_child(die))
        return INLINED_BROKEN;
    do {
        int has = dwarf_haspc(die, address);
        has_it = has == 1;
        if (has < 0 || dwarf_tag(die) == DW_TAG_invalid)
            return INLINED_BROKEN;
        if (has_it && dwarf_tag(die) == DW_TAG_inlined_subroutine)
            break;
        if (has_it && dwarf_haschildren(die) > 0 && !move_to_child(die))
            return INLINED_BROKEN;
    } while (move_to_sibling(die));
    return has_it ? INLINED_YES : INLINED_NO;
}

static enum inlined find_call(const struct dwarf_index *index, struct unit *unit, uint64_t address,
                              struct dwarf_found *found)
{
    const Dwarf_Die *function = find_unit_function(index, unit, address);
    if (!function)
        return INLINED_NO;
    Dwarf_Die die = *function;
    enum inlined inlined;
    if (index->rules->is_exact)
        inlined = find_inlined_exact(&die, address);
    else
        inlined = find_inlined(&die, address, 0) ? INLINED_YES : INLINED_NO;
    if (inlined != INLINED_YES)
        return inlined;
    if (read_inlined_call(unit, &die, found))
        return INLINED_YES;
    return index->rules->is_exact ? INLINED_BROKEN : INLINED_NO;
}

/* Finds the row of a unit's line table for an address and stores its source file and line. Returns
 * false if there is none. */
static bool find_line_row(const struct dwarf_index *index, struct unit *unit, uint64_t address,
                          struct dwarf_found *found)
{
    Dwarf_Addr at;
    int line;
    Dwarf_Line *row = dwarf_getsrc_die(&unit->die, address);
    if (!row || dwarf_lineaddr(row, &at) != 0 || (index->rules->is_exact && at != address) ||
        dwarf_lineno(row, &line) != 0 || line < 0)
        return false;
    if (line == 0 && !index->rules->is_exact)
        return false;
    found->source = dwarf_linesrc(row, NULL, NULL);
    found->line = (uint64_t)line;
    return found->source != NULL;
}

static void find_source_line(const struct dwarf_index *index, uint64_t address,
                             struct dwarf_found *found)
{
    for (uint32_t i = 0; (i = find_span(&index->spans, address, i)) != UINT32_MAX; i++) {
        if (find_call(index, &index->unit[i], address, found) != INLINED_NO ||
            find_line_row(index, &index->unit[i], address, found))
            return;
    }
}

void dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_found *found)
{
    *found = (struct dwarf_found){NULL, 0, NULL, 0};
    Dwarf_Die *function = find_function(index, address);
    if (function)
        set_function_name(index, function, address, found);
    find_source_line(index, address, found);
}
