/* Symbols from runtime events: methods with their addresses, and modules.
 *
 * The runtime emits an event when it has compiled or loaded a method. For methods that exist when
 * tracing ends, it emits "rundown" events instead, from another provider, at the end of the trace.
 *
 *   method   u64 method   u64 module   u64 start   u32 bytes   u32 token   u32 flags
 *            z16 namespace   z16 name   z16 signature   more
 *   module   u64 module   u64 assembly   [domain modules: u64 domain]   u32 flags   u32 0
 *            z16 path   more
 *
 *   Runtime  143 MethodLoadVerbose             151 DomainModuleLoad     152 ModuleLoad
 *   Rundown  143, 144 MethodDCStart-, EndVerbose     151, 152 DomainModuleDCStart, End
 *            153, 154 ModuleDCStart, End
 *
 * Names are those of dotnet-trace: a function is "Namespace.Name(arguments)", a module is the file
 * name of its path without suffix. A method may come before its module. Methods of the rundown are
 * valid at any time, since their load time is not recorded (SYMBOLS_TIME_UNKNOWN).
 *
 * Order of calls: nettrace_read_batch() passes each event of a batch to nettrace_add_symbols(), if
 * the caller wants symbols.
 *
 * Left out: methods without names (id 141), which are stubs, and unloading of methods. */
#include "base/status.h"
#include "base/utf.h"
#include "formats/nettrace/nettrace.h"

/* maximum of UTF-16 units in namespace, name and signature; longer texts are cut off */
#define NAME_UNITS_MAX 16384u

uint8_t nettrace_get_symbol_kind(ttr_text provider, uint32_t id)
{
    static const char runtime[] = "Microsoft-Windows-DotNETRuntime",
                      rundown[] = "Microsoft-Windows-DotNETRuntimeRundown";
    if (provider.n == sizeof runtime - 1 && memcmp(provider.p, runtime, provider.n) == 0)
        return id == 143   ? SYMBOLS_METHOD
               : id == 151 ? SYMBOLS_MODULE_OF_DOMAIN
               : id == 152 ? SYMBOLS_MODULE
                           : SYMBOLS_NONE;
    if (provider.n == sizeof rundown - 1 && memcmp(provider.p, rundown, provider.n) == 0)
        return id == 143 || id == 144   ? SYMBOLS_METHOD_RUNDOWN
               : id == 151 || id == 152 ? SYMBOLS_MODULE_OF_DOMAIN
               : id == 153 || id == 154 ? SYMBOLS_MODULE
                                        : SYMBOLS_NONE;
    return SYMBOLS_NONE;
}

/* Appends UTF-16 text up to its zero as UTF-8. Sets c->failed if the zero is missing. */
static void append_utf16_as_utf8(struct buffer *to, struct cursor *c)
{
    size_t units = 0, room = cursor_left(c) / 2;
    while (units < room && load_u16le(c->p + 2 * units) != 0)
        units++;
    if (units == room) {
        c->failed = true;
        return;
    }
    size_t used = units < NAME_UNITS_MAX ? units : NAME_UNITS_MAX;
    uint8_t *at = buffer_room(to, 3 * used + 1);
    if (at)
        buffer_commit(to, utf8_from_utf16le((char *)at, c->p, used));
    (void)cursor_skip(c, 2 * units + 2);
}

/* Returns the file name in a path, without its suffix. */
static ttr_text get_module_name(const struct buffer *path)
{
    const char *p = (const char *)path->bytes;
    size_t begin = 0, end = path->n;
    for (size_t i = 0; i < path->n; i++)
        if (p[i] == '/' || p[i] == '\\')
            begin = i + 1;
    for (size_t i = begin + 1; i < path->n; i++)
        if (p[i] == '.')
            end = i;
    /* names of precompiled images of older runtimes end with ".ni.dll", such as
     * "System.Linq.ni.dll" */
    if (end - begin > 3 && memcmp(p + end - 3, ".ni", 3) == 0)
        end -= 3;
    return (ttr_text){p + begin, end - begin};
}

static bool add_module(struct nettrace_reader *reader, const ttr_event *event, bool is_of_domain)
{
    ttr *t = reader->t;
    struct cursor c = cursor_init(event->payload, event->payload_size, event->offset);
    uint64_t number = cursor_u64le(&c);
    (void)cursor_skip(&c, (is_of_domain ? 16u : 8u) + 8u);
    buffer_clear(&reader->symbol);
    if (!c.failed)
        append_utf16_as_utf8(&reader->symbol, &c);
    if (c.failed)
        return true;
    if (reader->symbol.failed)
        return false;
    ttr_text name = reader->symbol.n ? get_module_name(&reader->symbol) : (ttr_text){"", 0};
    uint32_t module = symbols_add_module(&t->symbols, t->threads[event->thread].process, number);
    ttr_id id = name.n ? ttr_text_add(t, name.p, name.n) : 0;
    if (module && id)
        symbols_set_module_name(&t->symbols, module, id);
    return module && (id || !name.n);
}

static bool add_method(struct nettrace_reader *reader, const ttr_event *event, bool is_rundown)
{
    ttr *t = reader->t;
    struct buffer *name = &reader->symbol;
    struct cursor c = cursor_init(event->payload, event->payload_size, event->offset);
    (void)cursor_skip(&c, 8);
    uint64_t module = cursor_u64le(&c), start = cursor_u64le(&c);
    uint32_t size = cursor_u32le(&c);
    (void)cursor_skip(&c, 8);
    buffer_clear(name);
    if (!c.failed)
        append_utf16_as_utf8(name, &c);
    buffer_add_byte(name, '.');
    append_utf16_as_utf8(name, &c);
    size_t arguments = name->n;
    append_utf16_as_utf8(name, &c);
    if (c.failed)
        /* a payload that is cut off declares no symbol; the event itself is still returned */
        return true;
    if (name->failed)
        return false;
    const uint8_t *open = memchr(name->bytes + arguments, '(', name->n - arguments);
    size_t from = open ? (size_t)(open - name->bytes) : name->n;
    memmove(name->bytes + arguments, name->bytes + from, name->n - from);
    struct symbol_range range = {.start = start,
                                 .size = size,
                                 .from = is_rundown ? SYMBOLS_TIME_UNKNOWN : event->time,
                                 .process = t->threads[event->thread].process,
                                 .name = ttr_text_add(t, name->bytes, arguments + name->n - from)};
    range.module = symbols_add_module(&t->symbols, range.process, module);
    return range.name && range.module && symbols_add(&t->symbols, SYMBOL_FUNCTION, &range);
}

bool nettrace_add_symbols(struct nettrace_reader *reader, const ttr_event *event)
{
    const struct nettrace_type *type =
        event->schema ? context_schema(reader->t, event->schema)->ctx : NULL;
    uint8_t kind = type ? type->symbols_kind : SYMBOLS_NONE;
    if (kind >= SYMBOLS_PROCESS)
        return nettrace_add_universal_symbols(reader, event, kind);
    switch (reader->in->flags & TTR_READ_SYMBOLS ? kind : SYMBOLS_NONE) {
    case SYMBOLS_METHOD:
    case SYMBOLS_METHOD_RUNDOWN:
        return add_method(reader, event, kind == SYMBOLS_METHOD_RUNDOWN);
    case SYMBOLS_MODULE:
    case SYMBOLS_MODULE_OF_DOMAIN:
        return add_module(reader, event, kind == SYMBOLS_MODULE_OF_DOMAIN);
    default:
        return true;
    }
}
