/* Object events for the symbols of stacks: a module, the mapping of a module, a function.
 *
 * An object is emitted before the first event that needs it, on the thread of that event, and again
 * if memory was reused. Readers of the converted trace find the same names as in the original:
 * symbols_add_object (model/symbols.h) adds the objects to their tables.
 *
 *   module    name: file, link: its number, field build_id
 *   mapping   link: number of the module, fields start, size, address_in_module
 *   function  pointer object; link: address, fields function (its name), function_size, module
 *
 * Cost: stacks seen before cost a hash of their addresses. Memory: 16 bytes per distinct stack, 24
 * per address. */
#include <string.h>

#include "base/hash.h"
#include "model/context.h"
#include "model/symbols.h"
#include "pipeline/stacks/stacks.h"

#define BATCH 256u

/* The stack of an event, in progress. */
struct target {
    struct stack_symbols *symbols;
    const ttr_event *event;
    ttr_id thread; /* the thread that the stack belongs to */
    uint32_t process;
};

/* --- Object events --- */

static void begin_object_fields(ttr_fields *fields)
{
    fields->state[0] = 0;
}

static bool read_next_object_field(ttr_fields *fields, ttr_field *field)
{
    const struct object_fields *object = (const void *)fields->event->payload;
    if (fields->state[0] >= object->n)
        return false;
    *field = object->field[fields->state[0]++];
    return true;
}

static const struct field_ops object_ops = {.begin = begin_object_fields,
                                            .next = read_next_object_field};

/* Adds an object event without fields. Returns its fields; NULL if memory runs out. */
static struct object_fields *add_object(const struct target *target, ttr_object type, ttr_id name,
                                        uint64_t link)
{
    struct stack_symbols *symbols = target->symbols;
    if (!alloc_reserve(symbols->alloc, (void **)&symbols->event, &symbols->events_capacity,
                       symbols->n + 1, sizeof *symbols->event) ||
        !alloc_reserve(symbols->alloc, (void **)&symbols->fields, &symbols->fields_capacity,
                       symbols->n + 1, sizeof *symbols->fields))
        return NULL;
    if (!symbols->schema)
        symbols->schema = context_add_schema(symbols->t, &(struct schema){.ops = &object_ops});
    const ttr_event *like = target->event;
    symbols->event[symbols->n] = (ttr_event){.time = like->time,
                                             .ticks = like->ticks,
                                             .link = link,
                                             .schema = symbols->schema,
                                             .name = name,
                                             .track = like->track,
                                             .thread = target->thread,
                                             .offset = like->offset,
                                             .cpu = like->cpu,
                                             .source = like->source,
                                             .tag = (uint16_t)type,
                                             .kind = TTR_KIND_OBJECT,
                                             .flags = like->flags & TTR_EVENT_HAS_CPU};
    struct object_fields *fields = &symbols->fields[symbols->n++];
    fields->n = 0;
    return symbols->schema ? fields : NULL;
}

static void add_field(struct object_fields *object, const char *name, const ttr_value *value)
{
    object->field[object->n++] =
        (ttr_field){.name = {name, strlen(name)}, .group = TTR_GROUP_PAYLOAD, .value = *value};
}

static void add_number(struct object_fields *object, const char *name, uint64_t number,
                       ttr_display hint)
{
    add_field(object, name,
              &(ttr_value){.type = TTR_TYPE_UINT, .v.u = number, .hint = (uint8_t)hint});
}

/* --- Symbols --- */

/* Returns the path of a module if its file name is the module's name, else the name. */
static ttr_id choose_module_name(const ttr *t, const struct symbol_module *module)
{
    const ttr_text path = ttr_text_get(t, module->path), name = ttr_text_get(t, module->name);
    return path.n > name.n && path.p[path.n - name.n - 1] == '/' &&
                   memcmp(path.p + path.n - name.n, name.p, name.n) == 0
               ? module->path
               : module->name;
}

static bool add_module(const struct target *target, uint32_t number)
{
    struct stack_symbols *symbols = target->symbols;
    ttr *t = symbols->t;
    if (!number || pair_map_get(&symbols->modules, number, target->process))
        return true;
    const struct symbol_module *module = &t->symbols.module[number - 1];
    const ttr_id name = choose_module_name(t, module);
    if (!name)
        return true; /* the name may become known later */
    struct object_fields *fields = add_object(target, TTR_OBJECT_MODULE, name, number);
    if (!fields)
        return false;
    const ttr_id build_id = symbols_get_module_build_id(&t->symbols, module);
    if (build_id)
        add_field(fields, "build_id",
                  &(ttr_value){.type = TTR_TYPE_BYTES, .text = ttr_text_get(t, build_id)});
    return pair_map_put(&symbols->modules, number, target->process, 1);
}

static bool add_mapping(const struct target *target, const struct symbol_range *mapping)
{
    struct stack_symbols *symbols = target->symbols;
    const struct symbol_range range = *mapping;
    const uint32_t *known = pair_map_get(&symbols->mappings, range.start, target->process);
    if (!add_module(target, range.module))
        return false;
    if (known && *known == range.module)
        return true;
    struct object_fields *fields = add_object(target, TTR_OBJECT_MAPPING, 0, range.module);
    if (!fields)
        return false;
    add_number(fields, "start", range.start, TTR_DISPLAY_POINTER);
    add_number(fields, "size", range.size, TTR_DISPLAY_NONE);
    add_number(fields, "address_in_module", range.offset, TTR_DISPLAY_POINTER);
    return pair_map_put(&symbols->mappings, range.start, target->process, range.module);
}

/* Adds a function, unless it is the one last emitted for the address. */
static bool add_function(const struct target *target, uint64_t address,
                         const struct symbol_range *function)
{
    struct stack_symbols *symbols = target->symbols;
    const uint32_t *known = pair_map_get(&symbols->functions, address, target->process);
    if (known && *known == function->name)
        return true;
    if (!pair_map_put(&symbols->functions, address, target->process, function->name) ||
        !add_module(target, function->module))
        return false;
    if (!function->name)
        return true;
    /* other addresses of the function may have announced it */
    known = pair_map_get(&symbols->functions, function->start, target->process);
    if (known && *known == function->name && address != function->start)
        return true;
    struct object_fields *fields =
        add_object(target, TTR_OBJECT_POINTER, symbols->name_of_function, function->start);
    if (!fields)
        return false;
    add_field(fields, "function",
              &(ttr_value){.type = TTR_TYPE_TEXT,
                           .text = ttr_text_get(symbols->t, function->name),
                           .text_id = function->name});
    add_number(fields, "function_size", function->size, TTR_DISPLAY_NONE);
    add_number(fields, "module", function->module, TTR_DISPLAY_NONE);
    return pair_map_put(&symbols->functions, function->start, target->process, function->name);
}

/* Adds the symbols of an address. A function that only a symbolizer of the program knows has the
 * size 1, since its bounds are unknown. */
static bool add_address(const struct target *target, uint64_t address)
{
    struct stack_symbols *symbols = target->symbols;
    ttr *t = symbols->t;
    const int64_t time = target->event->time;
    if (!t->symbols.reused && pair_map_get(&symbols->functions, address, target->process))
        return true;
    const struct symbol_range *mapping = symbols_find_mapping(t, target->thread, address, time);
    if (mapping && !add_mapping(target, mapping))
        return false;
    const struct symbol_range *function = symbols_find_function(t, target->thread, address, time);
    struct symbol_range found = {.start = address, .size = 1};
    if (function)
        found = *function;
    else if (mapping) {
        found.module = mapping->module;
        found.name = symbols_locate(t, t->locate, t->locate_ctx, target->thread, address, time);
    }
    return add_function(target, address, &found);
}

/* --- Interface --- */

void stack_symbols_init(struct stack_symbols *symbols, ttr *t)
{
    *symbols = (struct stack_symbols){.t = t, .alloc = &t->counted};
    key_map_init(&symbols->stacks, symbols->alloc);
    pair_map_init(&symbols->functions, symbols->alloc);
    pair_map_init(&symbols->mappings, symbols->alloc);
    pair_map_init(&symbols->modules, symbols->alloc);
}

void stack_symbols_free(struct stack_symbols *symbols)
{
    if (symbols->schema)
        context_drop_schema(symbols->t, symbols->schema);
    key_map_free(&symbols->stacks);
    pair_map_free(&symbols->functions);
    pair_map_free(&symbols->mappings);
    pair_map_free(&symbols->modules);
    alloc_free(symbols->alloc, symbols->event, symbols->events_capacity, sizeof *symbols->event);
    alloc_free(symbols->alloc, symbols->fields, symbols->fields_capacity, sizeof *symbols->fields);
}

bool stack_symbols_add(struct stack_symbols *symbols, const ttr_event *event,
                       const uint64_t *addresses, uint32_t n)
{
    ttr *t = symbols->t;
    const ttr_id thread = event->kind == TTR_KIND_SWITCH && event->link < t->threads_n
                              ? (ttr_id)event->link
                              : event->thread;
    if (!thread || thread >= t->threads_n || n == 0)
        return true; /* symbols belong to a process */
    const struct target target = {symbols, event, thread, t->threads[thread].process};
    uint64_t key = hash_pair(hash_bytes(addresses, n * sizeof *addresses), target.process);
    key += key == 0;
    if (!t->symbols.reused && key_map_get(&symbols->stacks, key))
        return true;
    if (!symbols->name_of_function)
        symbols->name_of_function = ttr_text_add(t, "function", 8);
    for (uint32_t i = 0; i < n; i++)
        if (!add_address(&target, addresses[i]))
            return false;
    return symbols->name_of_function && key_map_put(&symbols->stacks, key, 1);
}

ttr_batch stack_symbols_batch(const struct stack_symbols *symbols, size_t first)
{
    const size_t left = symbols->n - first;
    const uint32_t n = left < BATCH ? (uint32_t)left : BATCH;
    for (size_t i = first; i < first + n; i++) {
        symbols->event[i].payload = (const uint8_t *)&symbols->fields[i];
        symbols->event[i].payload_size = sizeof symbols->fields[i];
    }
    return (ttr_batch){.event = symbols->event + first, .n = n};
}
