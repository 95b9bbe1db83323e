/* Copies the symbols of one context to another.
 *
 * Some traces have their symbols at the end, but writers need them at the first stack. A program
 * then reads the inputs twice: once in a context of its own for the symbols, and once for the
 * events. Ids differ between contexts, so processes are matched by input and pid, and names are
 * added to the strings of the target. */
#include "base/status.h"
#include "model/context.h"
#include "model/symbols.h"

struct symbol_copy {
    ttr *to;
    const ttr *from;
    /* number of the process or module in the target plus 1, by its number in `from`; 0 = not
     * matched yet */
    uint32_t *processes, *modules;
};

/* Returns the input of the target with the same path and format; UINT16_MAX if there is none. */
static uint16_t match_source(const struct symbol_copy *copy, uint16_t source)
{
    const struct source_entry *sought = &copy->from->sources[source];
    ttr_text path = ttr_text_get(copy->from, sought->path);
    for (size_t i = 0; i < copy->to->sources_n; i++) {
        ttr_text other = ttr_text_get(copy->to, copy->to->sources[i].path);
        if (sought->format == copy->to->sources[i].format && path.n == other.n &&
            memcmp(path.p, other.p, path.n) == 0)
            return (uint16_t)i;
    }
    return UINT16_MAX;
}

static ttr_id copy_text(const struct symbol_copy *copy, ttr_id id)
{
    ttr_text text = ttr_text_get(copy->from, id);
    return ttr_text_add(copy->to, text.p, text.n);
}

/* Sets *to to the process of the target, adding it if it is new; UINT32_MAX if its input is not in
 * the target. Returns false if memory runs out. */
static bool match_process(struct symbol_copy *copy, uint32_t from, uint32_t *to)
{
    const struct process *process = &copy->from->processes[from];
    uint32_t *known = &copy->processes[from];
    uint16_t source = match_source(copy, process->source);
    if (*known == 0 && source != UINT16_MAX) {
        ttr_id thread = context_process_thread(copy->to, source, process->pid);
        if (!thread)
            return false;
        *known = copy->to->threads[thread].process + 1;
        if (copy->from->sources[process->source].kernel == from + 1)
            copy->to->sources[source].kernel = *known;
    }
    *to = *known - 1;
    return true;
}

/* Sets *to to the module of the target, adding it if it is new. Returns false if memory runs out.
 */
static bool match_module(struct symbol_copy *copy, uint32_t process, uint32_t from, uint32_t *to)
{
    struct symbols *symbols = &copy->to->symbols;
    *to = 0;
    if (!from)
        return true;
    uint32_t *known = &copy->modules[from - 1];
    if (*known == 0) {
        const struct symbol_module *module = &copy->from->symbols.module[from - 1];
        const ttr_id build_id = symbols_get_module_build_id(&copy->from->symbols, module);
        /* The link of a module is not stored; numbers from the top do not collide with links. */
        const uint32_t made = symbols_add_module(symbols, process, UINT64_MAX - from);
        if (!made)
            return false;
        symbols->module[made - 1] = (struct symbol_module){.name = copy_text(copy, module->name),
                                                           .path = copy_text(copy, module->path),
                                                           .build_id = copy_text(copy, build_id)};
        *known = made;
    }
    *to = *known;
    return true;
}

static bool copy_table(struct symbol_copy *copy, enum symbol_kind kind)
{
    const struct symbol_table *table = &copy->from->symbols.table[kind];
    for (size_t i = 0; i < table->n; i++) {
        struct symbol_range range = table->range[i];
        uint32_t module = range.module;
        if (!match_process(copy, range.process, &range.process))
            return false;
        if (range.process == UINT32_MAX)
            continue;
        range.name = copy_text(copy, range.name);
        if ((!range.name && table->range[i].name) ||
            !match_module(copy, range.process, module, &range.module) ||
            !symbols_add(&copy->to->symbols, kind, &range))
            return false;
    }
    return true;
}

/* Copies which process was forked from which, since children share the symbols of their parents. */
static bool copy_parents(struct symbol_copy *copy)
{
    for (uint32_t i = 0; i < copy->from->processes_n; i++) {
        uint32_t child, parent;
        if (!copy->from->processes[i].parent)
            continue;
        if (!match_process(copy, i, &child) ||
            !match_process(copy, copy->from->processes[i].parent - 1, &parent))
            return false;
        if (child != UINT32_MAX && parent != UINT32_MAX)
            copy->to->processes[child].parent = parent + 1;
    }
    return true;
}

ttr_status ttr_copy_symbols(ttr *to, const ttr *from, ttr_error *error)
{
    struct symbol_copy copy = {
        .to = to,
        .from = from,
        .processes = alloc_zero(&to->counted, from->processes_n, sizeof *copy.processes),
        .modules = alloc_zero(&to->counted, from->symbols.modules_n, sizeof *copy.modules)};
    const bool is_fine = copy.processes && copy.modules && copy_parents(&copy) &&
                         copy_table(&copy, SYMBOL_FUNCTION) && copy_table(&copy, SYMBOL_MAPPING);
    alloc_free(&to->counted, copy.processes, from->processes_n, sizeof *copy.processes);
    alloc_free(&to->counted, copy.modules, from->symbols.modules_n, sizeof *copy.modules);
    return is_fine ? TTR_OK : fail_memory(error);
}
