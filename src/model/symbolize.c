/* Symbols from outside the tables of symbols.c: objects that a trace records as events, and
 * functions that a symbolizer of the program finds in files. */
#include <string.h>

#include "model/context.h"
#include "model/symbols.h"

/* --- Object events --- */

static uint64_t read_number_field(const ttr *t, const ttr_event *event, const char *name)
{
    ttr_field field;
    return ttr_field_find(t, event, name, &field) && field.value.type == TTR_TYPE_UINT
               ? field.value.v.u
               : 0;
}

static bool set_module_of_event(ttr *t, const ttr_event *event, struct symbol_module *module)
{
    ttr_field field;
    module->name = event->name;
    if (!ttr_field_find(t, event, "build_id", &field) || field.value.type != TTR_TYPE_BYTES ||
        field.value.text.n == 0)
        return true;
    module->build_id = ttr_text_add(t, field.value.text.p, field.value.text.n);
    return module->build_id != 0;
}

bool symbols_add_object(ttr *t, const ttr_event *event)
{
    ttr_field field;
    const bool is_module = event->tag == TTR_OBJECT_MODULE;
    if (event->kind != TTR_KIND_OBJECT || (!is_module && event->tag != TTR_OBJECT_MAPPING))
        return true;
    if (!event->thread || event->thread >= t->threads_n)
        return true; /* the process is unknown */
    if (!is_module && !ttr_field_find(t, event, "address_in_module", &field))
        return true; /* the reader of this format (perf) adds them itself */
    uint32_t process = t->threads[event->thread].process;
    uint32_t module = symbols_add_module(&t->symbols, process, event->link);
    if (!module)
        return false;
    if (is_module)
        return set_module_of_event(t, event, &t->symbols.module[module - 1]);
    struct symbol_range range = {.start = read_number_field(t, event, "start"),
                                 .size = read_number_field(t, event, "size"),
                                 .from = event->time,
                                 .offset = read_number_field(t, event, "address_in_module"),
                                 .process = process,
                                 .module = module};
    return symbols_add(&t->symbols, SYMBOL_MAPPING, &range);
}

/* --- Files --- */

/* Returns the length of a function's name without the offset at its end: "main" of "main+0x14". */
static size_t length_without_offset(ttr_text function)
{
    for (size_t i = function.n; i-- > 0;)
        if (function.p[i] == '+')
            return i;
    return function.n;
}

ttr_id symbols_locate(ttr *t, ttr_symbolizer locate, void *ctx, ttr_id thread, uint64_t address,
                      int64_t time)
{
    const struct symbol_range *range = symbols_find_mapping(t, thread, address, time);
    const struct symbol_module *module =
        range && range->module ? &t->symbols.module[range->module - 1] : NULL;
    if (!locate || !module || !module->path)
        return 0;
    ttr_location found = {
        .size = sizeof found, .binary = {"", 0}, .function = {"", 0}, .source = {"", 0}};
    ttr_id build_id = symbols_get_module_build_id(&t->symbols, module);
    ttr_binary binary = {.size = sizeof binary,
                         .number = range->module,
                         .path = ttr_text_get(t, module->path),
                         .build_id = ttr_text_get(t, build_id),
                         .debug_link = {"", 0},
                         .is_pic = true,
                         .has_offsets = true};
    locate(ctx, &binary, address - range->start + range->offset, &found);
    size_t n = length_without_offset(found.function);
    return n ? ttr_text_add(t, found.function.p, n) : 0;
}

void ttr_set_symbolizer(ttr *t, ttr_symbolizer locate, void *user_data)
{
    t->locate = locate;
    t->locate_ctx = user_data;
}
