/* Symbols from outside the tables of symbols.c: objects that a trace records as events, and
 * functions that a symbolizer of the program finds in files. */
#include <stdlib.h>
#include <string.h>

#include "model/context.h"
#include "model/symbols.h"

#define BUILD_ID_MAX 64u /* bytes of a build id that is written as text */

/* --- Object events --- */

static uint64_t read_number_field(const ttr *t, const ttr_event *event, const char *name)
{
    ttr_field field;
    return ttr_field_find(t, event, name, &field) && field.value.type == TTR_TYPE_UINT
               ? field.value.v.u
               : 0;
}

/* Parses "0x48dc54". Returns the number of bytes; 0 if the text is something else. */
static size_t parse_hex_bytes(ttr_text text, char bytes[BUILD_ID_MAX])
{
    static const char digits[] = "0123456789abcdef";
    if (text.n < 4 || text.n % 2 || text.n > 2 + 2 * BUILD_ID_MAX || memcmp(text.p, "0x", 2) != 0)
        return 0;
    for (size_t i = 2; i < text.n; i += 2) {
        const char *high = memchr(digits, text.p[i], 16);
        const char *low = memchr(digits, text.p[i + 1], 16);
        if (!high || !low)
            return 0;
        bytes[i / 2 - 1] = (char)((high - digits) << 4 | (low - digits));
    }
    return text.n / 2 - 1;
}

/* Sets the name of a module, and its path if the event is named after a path. */
static bool set_module_name(ttr *t, ttr_id name, struct symbol_module *module)
{
    const ttr_text text = ttr_text_get(t, name);
    module->name = name;
    for (size_t i = text.n; i-- > 0;)
        if (text.p[i] == '/' && i + 1 < text.n) {
            module->path = name;
            module->name = ttr_text_add(t, text.p + i + 1, text.n - i - 1);
            break;
        }
    return module->name || !name;
}

static bool set_module_of_event(ttr *t, const ttr_event *event, struct symbol_module *module)
{
    ttr_field field;
    if (!set_module_name(t, event->name, module))
        return false;
    if (!ttr_field_find(t, event, "build_id", &field))
        return true;
    char bytes[BUILD_ID_MAX];
    ttr_text id = field.value.type == TTR_TYPE_BYTES ? field.value.text : (ttr_text){bytes, 0};
    /* the format has no byte arrays: the build id is hexadecimal text */
    if (field.value.type == TTR_TYPE_TEXT)
        id.n = parse_hex_bytes(field.value.text, bytes);
    if (id.n == 0)
        return true;
    module->build_id = ttr_text_add(t, id.p, id.n);
    return module->build_id != 0;
}

/* Adds the function of a pointer object as ttr_stack_fields emits it. Ignores other pointers. */
static bool add_function_of_event(ttr *t, const ttr_event *event, uint32_t process)
{
    ttr_field name;
    const uint64_t size = read_number_field(t, event, "function_size");
    if (!size || !ttr_field_find(t, event, "function", &name) || name.value.type != TTR_TYPE_TEXT)
        return true;
    const uint64_t number = read_number_field(t, event, "module");
    const uint32_t module = number ? symbols_add_module(&t->symbols, process, number) : 0;
    const struct symbol_range range = {.start = event->link,
                                       .size = size,
                                       .from = event->time,
                                       .process = process,
                                       .name =
                                           ttr_text_add(t, name.value.text.p, name.value.text.n),
                                       .module = module};
    return (module || !number) && range.name && symbols_add(&t->symbols, SYMBOL_FUNCTION, &range);
}

bool symbols_add_object(ttr *t, const ttr_event *event)
{
    ttr_field field;
    const bool is_module = event->tag == TTR_OBJECT_MODULE;
    const bool is_pointer = event->tag == TTR_OBJECT_POINTER;
    if (event->kind != TTR_KIND_OBJECT ||
        (!is_module && !is_pointer && event->tag != TTR_OBJECT_MAPPING))
        return true;
    if (!event->thread || event->thread >= t->threads_n)
        return true; /* the process is unknown */
    if (is_pointer)
        return add_function_of_event(t, event, t->threads[event->thread].process);
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

/* Calls a symbolizer for the function and line of an address of a mapped file. Texts of `found` are
 * valid until its next call. */
static void locate_address(ttr *t, ttr_symbolizer locate, void *ctx,
                           const struct symbol_range *range, uint64_t address, ttr_location *found)
{
    const struct symbol_module *module =
        range && range->module ? &t->symbols.module[range->module - 1] : NULL;
    *found = (ttr_location){
        .size = sizeof *found, .binary = {"", 0}, .function = {"", 0}, .source = {"", 0}};
    if (!locate || !module || !module->path)
        return;
    ttr_id build_id = symbols_get_module_build_id(&t->symbols, module);
    ttr_binary binary = {.size = sizeof binary,
                         .number = range->module,
                         .path = ttr_text_get(t, module->path),
                         .build_id = ttr_text_get(t, build_id),
                         .debug_link = {"", 0},
                         .is_pic = true,
                         .has_offsets = true};
    locate(ctx, &binary, address - range->start + range->offset, found);
}

ttr_id symbols_locate(ttr *t, ttr_symbolizer locate, void *ctx, ttr_id thread, uint64_t address,
                      int64_t time)
{
    ttr_location found;
    locate_address(t, locate, ctx, symbols_find_mapping(t, thread, address, time), address, &found);
    size_t n = length_without_offset(found.function);
    return n ? ttr_text_add(t, found.function.p, n) : 0;
}

struct symbol_line symbols_locate_line(ttr *t, ttr_id thread, uint64_t address, int64_t time)
{
    ttr_location found;
    struct symbol_line line = {.number = -1};
    locate_address(t, t->locate, t->locate_ctx, symbols_find_mapping(t, thread, address, time),
                   address, &found);
    const size_t n = length_without_offset(found.function);
    size_t colon = found.source.n;
    while (colon > 0 && found.source.p[colon - 1] != ':')
        colon--;
    if (colon > 1) {
        line.file = ttr_text_add(t, found.source.p, colon - 1);
        line.number = strtoll(found.source.p + colon, NULL, 10);
    }
    line.function = n ? ttr_text_add(t, found.function.p, n) : 0;
    return line;
}

void ttr_set_symbolizer(ttr *t, ttr_symbolizer locate, void *user_data)
{
    t->locate = locate;
    t->locate_ctx = user_data;
}
